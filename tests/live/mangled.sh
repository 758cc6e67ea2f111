# mangled - C++'s and Rust's names in commands that print them; and --mangled.
# beside others
# needs: root
program mangled

raw_top=_ZN2ns3topIiEEvT_ raw_leaf=_RINvC1a4leafAhj3_E
raw_mid='_ZN14_$LT$usize$GT$3mid17h0123456789abcdefE'
enough=2
in_guest && enough=4

# has NAME TEXT FILE: that text is in it.
has() {
	grep -qF -e "$2" "$3" && pass "$1" ||
		fail "$1" "no $2: $(head -n 5 "$3" "$TMP/err")"
}

# Of "TEXT N", the address in front of the function that main() calls.
address_of_top() {
	sed -n 's/.*;0x[0-9a-f]* main;0x\([0-9a-f]*\) .*/\1/p' "$1" |
		head -n 1
}

sampled() {
	option=$1 whole=$2 first=$3
	"$SONDE" profile $option -f -U -F 199 -p "$pid" $enough >"$TMP/out" \
		2>"$TMP/err"
	has "profile $option" ";main;$whole " "$TMP/out"
	has "profile $option, what is no name" ";_Z1f_;" "$TMP/out"
	"$SONDE" flame <"$TMP/out" >"$TMP/x.svg" 2>"$TMP/err"
	[ ! -s "$TMP/err" ] && is_svg "$TMP/x.svg" &&
		pass "flame of profile $option" ||
		fail "flame of profile $option" "$(cat "$TMP/err")"
	"$SONDE" profile $option -A -f -U -F 199 -p "$pid" 1 >"$TMP/out" \
		2>"$TMP/err"
	"$SONDE" sym $option -p "$pid" "$(address_of_top "$TMP/out")" \
		>"$TMP/sym" 2>"$TMP/err"
	has "sym $option" "$first+0x" "$TMP/sym"
}

start "$TMP/mangled"
top='void ns::top<int>(int)'
sampled "" "$top;<usize>::mid;a::leaf::<[u8\\x3b 3]>" "$top"
sampled --mangled "$raw_top;$raw_mid;$raw_leaf" "$raw_top"
stop

# probed TEXT OPTION COMMAND...: who calls the innermost function.
probed() {
	text=$1 option=$2
	shift 2
	timeout 60 "$SONDE" "$@" $option "$TMP/mangled:$raw_leaf" -- \
		"$TMP/mangled" 50 >"$TMP/out" 2>"$TMP/err"
	has "$1 $option" "$text" "$TMP/out"
}

for command in "stackcount -U" "stacksnoop -U -M 5" "trace -U -M 5"; do
	probed "$top" "" $command
	probed "$raw_top" --mangled $command
done
for command in profile stackcount stacksnoop trace offcputime loadsnoop \
	memleak sym; do
	"$SONDE" help $command >"$TMP/out"
	has "help $command" --mangled "$TMP/out"
done
