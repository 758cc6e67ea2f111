# profile_filters - only what was asked for: processes, commands, events.
# needs: root
program chain pages

# Filters let through what they name, and nothing else.
start "$TMP/chain"
cpu=$(awk '{ print $39 }' "/proc/$pid/stat")
have taskset && taskset -p "$(printf %x $((1 << cpu)))" "$pid" >/dev/null
# profiled NAME ARGUMENTS...: into $TMP/NAME.folded, beside the others.
profiled() {
	n=$1
	shift
	"$SONDE" profile -f "$@" 2 >"$TMP/$n.folded" 2>/dev/null &
	profiles="$profiles $!"
}
profiles=
profiled pid -p "$pid"
profiled tid -U -L "$pid"
profiled comm -U --comm chain
profiled other -U --comm chai
profiled user -U -p "$pid"
profiled kernel -K -a -F 999
profiled count -U -p "$pid" -c 10000000
profiled address -U -A -p "$pid"
profiled cpu -U -C "$cpu"
wait $profiles
stop
for f in pid tid comm; do
	[ -s "$TMP/$f.folded" ] && ! grep -qv '^chain[; ]' "$TMP/$f.folded" &&
		pass "filter by $f" ||
		fail "filter by $f" "$(head -n 3 "$TMP/$f.folded")"
done
[ ! -s "$TMP/other.folded" ] && pass "filter by another comm" ||
	fail "filter by another comm" "$(head -n 3 "$TMP/other.folded")"
grep -q ';main;top;mid;leaf [0-9]*$' "$TMP/user.folded" &&
	pass "user stacks only" ||
	fail "user stacks only" "$(head -n 3 "$TMP/user.folded")"
! grep -q ';main' "$TMP/kernel.folded" && grep -q '_\[k\]' \
	"$TMP/kernel.folded" && pass "kernel stacks only" ||
	fail "kernel stacks only" "$(head -n 3 "$TMP/kernel.folded")"
# A hundred a second of CPU time, where an emulated CPU keeps up.
few=50
in_guest && few=3
awk -v few=$few '{ n += $NF } END { exit !(n > few && n < 220) }' \
	"$TMP/count.folded" &&
	pass "every COUNT events" ||
	fail "every COUNT events" "$(cat "$TMP/count.folded")"
grep -q ';0x[0-9a-f]* leaf [0-9]*$' "$TMP/address.folded" &&
	pass "addresses" ||
	fail "addresses" "$(head -n 3 "$TMP/address.folded")"
[ -s "$TMP/cpu.folded" ] && pass "one CPU" || fail "one CPU" "no stack"

# A command ends the profile; its exit is not ours.
"$SONDE" profile -f -F 999 -- sh -c "$TMP/chain -300; exit 3" \
	>"$TMP/child.folded" 2>"$TMP/err"
status=$?
[ $status = 0 ] && grep -q '^chain;.*;main;top;mid;leaf' "$TMP/child.folded" &&
	! grep -qv -e '^chain;' -e '^sh;' "$TMP/child.folded" &&
	pass "a command and its descendants" ||
	fail "a command and its descendants" "$status $(cat "$TMP/err")"

# Most descendants live less than a sample's period: about every 25th is hit,
# by chance and in the right proportion. (An emulated CPU that others disturb
# does less in its 4 ms.)
children=200 few=40
in_guest && children=60 few=0
cat >"$TMP/brief" <<'E'
i=0
while [ $i -lt "$2" ]; do
	"$1" 4
	i=$((i + 1))
done
E
"$SONDE" profile -f -U -- sh "$TMP/brief" "$TMP/chain" $children \
	>"$TMP/brief.folded" 2>"$TMP/err"
awk -v few=$few '/;main;top;mid;leaf/ { n += $NF }
	END { exit !(n > few && n < 140) }' "$TMP/brief.folded" &&
	pass "short-lived descendants" ||
	fail "short-lived descendants" "$(cat "$TMP/brief.folded" "$TMP/err")"
SONDE_WITHOUT=tracefs "$SONDE" profile -f -U -F 999 -- "$TMP/chain" -300 \
	>"$TMP/inherit.folded" 2>"$TMP/err"
grep -q ';main;top;mid;leaf' "$TMP/inherit.folded" &&
	grep -q 'hardly ever sampled' "$TMP/err" &&
	pass "descendants by inheritance say so" ||
	fail "descendants by inheritance say so" "$(cat "$TMP/err")"

# Rare events are all counted: a page fault for each new page.
"$SONDE" profile -f -U -e page-faults -- "$TMP/pages" 300 >"$TMP/faults" \
	2>/dev/null
new=$(awk '/;main;touch / { n += $NF } END { print n + 0 }' \
	"$TMP/faults")
[ "$new" = 300 ] && pass "page faults" ||
	fail "page faults" "$(cat "$TMP/faults")"
