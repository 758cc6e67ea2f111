# traps_output - hostile names in the output of a profile, in every format.
# needs: host root
cd "$TMP" || exit 1
program behave
newline='
'
bytes() { printf "$1"; }

# Names that forge lines or frames, imitate the format, or are no UTF-8; the
# last ones are cut by the kernel within a character.  G7-01, -02, -04, -06, -08
named() {
	cp behave "n$1"
	start nice -n 19 "./n$1" name "$2"
}
named 1 'a;b'
named 2 "a${newline}123 root"
named 3 "$(bytes '\033[31mx')"
named 4 'foo [w] 21332'
named 5 '- 5'
named 6 '--'
named 7 '@[1]: 3'
named 8 'all'
named 9 '-'
named 10 'swapper'
named 11 '(x)'
named 12 "$(bytes 'k\377\260')"
named 13 '<&>"]]>'
named 14 ' 7'
named 15 ''
named 16 "$(bytes 'a\tb\r\001\177')"
named 17 "$(bytes '\346\274\242\346\274\242\346\274\242\346\274\242abc')x"
named 18 "$(bytes 'abcdefghijklmn\303\251')"
named 19 "$(bytes '\302\233J\342\200\256x')"
named 20 "$(bytes '\355\240\200\357\277\276')"
cat >wanted <<'X'
a\x3bb
a\x0a123 root
\x1b[31mx
foo [w] 21332
- 5
-\x2d
@[1]: 3
all
\x2d
swapper
(x)
k\xff\xb0
<&>"]]>
 7

a\x09b\x0d\x01\x7f
X

# A path with a newline, a semicolon and an escape, of a library without names.
odd=$(bytes 'lib;\n\033[2J 5.so')
echo 'void f(void) { for (;;) ; } int main(void) { f(); }' >spin.c
gcc -O1 -fno-omit-frame-pointer -o "$odd" spin.c && strip "$odd"
start nice -n 19 "./$odd"

sleep 0.2
"$SONDE" profile -f -U -F 1999 2 >folded 2>notes
"$SONDE" profile -F 499 --output out.txt 1 2>>notes
"$SONDE" profile -F 499 --output out.svg 1 2>>notes
LANG=xx_XX.bogus LC_ALL=de_DE.UTF-8 TERM=bogus COLUMNS=5 \
	"$SONDE" profile -F 499 -f -U 1 >german 2>>notes
stop

while IFS= read -r name; do
	name="$name;" awk '
		BEGIN { name = ENVIRON["name"] }
		index($0, name) == 1 && /;main;spin;hot [0-9]+$/ { n++ }
		END { exit n != 1 }' folded &&
		pass "a thread named '$name'" ||
		fail "a thread named '$name'" "$(cut -d';' -f1,2 folded |
			sort -u | head -n 40 | tr '\n' '|')"
done <wanted
[ "$(grep -c ';main;spin;hot [0-9]*$' folded)" -ge 20 ] &&
	pass "a row for each thread" ||
	fail "a row for each thread" "$(cut -d';' -f1 folded | tr '\n' '|')"

# tame FILE CASE: printable characters and newlines alone, valid UTF-8.
tame() {
	LC_ALL=C tr -d '\n' <"$1" | LC_ALL=C grep -q '[[:cntrl:]]' &&
		fail "$2: no control characters" "in $1" ||
		pass "$2: no control characters"
	iconv -f UTF-8 -t UTF-16 "$1" >utf16 2>msg && pass "$2: UTF-8" ||
		fail "$2: UTF-8" "$(cat msg)"
}
tame folded folded
tame out.txt text
tame german "any locale"
grep -qvE '^[^;]*(;[^;]+)* [0-9]+$' folded && fail "rows of one shape" \
	"$(grep -vE '^[^;]*(;[^;]+)* [0-9]+$' folded | head -n 2)" ||
	pass "rows of one shape"
grep -qF '[lib\x3b\x0a\x1b[2J 5.so+0x' folded && pass "a file of an odd name" ||
	fail "a file of an odd name" "$(grep 'x1b.2J' folded | head -n 2)"
cut -d';' -f1 folded | grep -E '^(k.x|a.x|all|foo|-)' | sort -u >one
cut -d';' -f1 german | grep -E '^(k.x|a.x|all|foo|-)' | sort -u >other
comm -13 one other >bad
[ -s other ] && [ ! -s bad ] && pass "the same in every locale" ||
	fail "the same in every locale" "$(head -n 3 bad)"

# What we wrote we read back: no row is lost or changed, whatever its names.
"$SONDE" flame folded >again.svg 2>msg
samples=$(awk '{ n += $NF } END { print n }' folded)
grep -q "<title>all ($(echo "$samples" | sed ':a
	s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta') samples" again.svg ||
	grep -q "<title>all ($samples samples" again.svg &&
	[ ! -s msg ] && pass "folded rows read back" ||
	fail "folded rows read back" \
		"$samples, $(grep -o '<title>all[^<]*' again.svg; cat msg)"
if have xmllint; then
	for f in out again; do
		xmllint --noout $f.svg 2>msg && pass "SVG of odd names ($f)" ||
			fail "SVG of odd names ($f)" "$(head -n 2 msg)"
	done
	! LC_ALL=C grep -qE '&#(x1b|27);|"NaN"|="-[0-9]|width="0"' \
		out.svg again.svg && pass "no impossible attribute" ||
		fail "no impossible attribute" "$(grep -hoE \
			'="-[0-9][^"]*"|"NaN"' out.svg again.svg | head -n 2)"
else
	skip "SVG of odd names" "no xmllint"
fi

# Nothing sampled: valid output that says so.                          G7-18
start sleep 30
for f in svg folded txt; do
	"$SONDE" profile -p "$pid" --output none.$f 1 2>none.err &&
		[ -e none.$f ] && grep -q '^note: 0 samples' none.err &&
		pass "nothing sampled: $f" ||
		fail "nothing sampled: $f" "$(cat none.err)"
done
stop
[ ! -s none.folded ] && pass "no samples, no rows" ||
	fail "no samples, no rows" "$(cat none.folded)"
! have xmllint || check "SVG of nothing" xmllint --noout none.svg

# Neither environment nor terminal: no colours, nothing that waits.    G10-12
env -i "$SONDE" profile -f -U 1 >bare 2>msg && tame msg "notes"

# A closed standard file: what is meant for it does not get into another.
"$SONDE" profile -F 99 --output closed.svg 1 2>&-
[ $? = 0 ] && ! grep -q '^note' closed.svg && grep -q '</svg>' closed.svg &&
	pass "without standard error" ||
	fail "without standard error" "$(tail -n 2 closed.svg)"
busy="n=200000; while [ \$((n -= 1)) -gt 0 ]; do :; done"
"$SONDE" profile -f -- sh -c "$busy" >&- 2>msg
[ $? = 1 ] && grep -q 'standard output: cannot write' msg &&
	pass "without standard output" ||
	fail "without standard output" "$(cat msg)"
"$SONDE" flame <&- >msg 2>&1
[ $? = 1 ] && grep -q 'standard input\|stdin' msg &&
	pass "without standard input" ||
	fail "without standard input" "$(cat msg)"
