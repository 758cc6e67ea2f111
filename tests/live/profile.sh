# profile - ground truth: shares, chains, counts, processes that come and go.
# needs: root
program split chain leaf manystacks execer
total() { awk '{ n += $NF } END { print n + 0 }' "$1"; }
matching() { awk -v re="$2" '$0 ~ re { n += $NF } END { print n + 0 }' "$1"; }

# Samples that a test needs to say something, and the part of them that is in
# the loop: an emulated CPU takes fewer, and long to read the clock.
enough=200 percent=95 few=30 loops=100000
in_guest && enough=50 percent=90 few=5 loops=1000000

# Two functions at 70 and 30 of 100: within 3 sigma of a binomial count.
seconds=4
in_guest && seconds=2
start "$TMP/split"
"$SONDE" profile -f -U -F 997 -p "$pid" $seconds >"$TMP/split.folded" \
	2>"$TMP/err"
stop
awk -v enough=$enough '
	/seventy [0-9]+$/ { a += $NF }
	/thirty [0-9]+$/ { b += $NF }
	END {
		n = a + b
		off = a - 0.7 * n
		variance = n * 0.7 * 0.3
		printf "%d of %d samples in seventy: %.2f variances\n", a, n,
			off * off / (variance ? variance : 1)
		exit !(n > enough && off * off < 9 * variance)
	}' "$TMP/split.folded" >"$TMP/msg" && pass "70/30 split" ||
	fail "70/30 split" "$(cat "$TMP/msg" "$TMP/err")"
cat "$TMP/msg"

# A known chain, root first; the few that miss a caller were in a prologue.
start "$TMP/chain" 3600000 $loops
"$SONDE" profile -f -F 999 -p "$pid" $((seconds - 1)) >"$TMP/chain.folded" \
	2>"$TMP/err"
"$SONDE" profile -F 99 -p "$pid" 1 >"$TMP/chain.txt" 2>>"$TMP/err"
stop
all=$(total "$TMP/chain.folded")
whole=$(matching "$TMP/chain.folded" ';main;top;mid;leaf( |;)')
rootless=$(awk '!/;main[; ]/ { n += $NF } END { print n + 0 }' \
	"$TMP/chain.folded")
echo "$rootless of $all stacks do not reach main"
[ "$all" -gt $enough ] && [ $((whole * 100)) -ge $((all * percent)) ] &&
	pass "chain in order" ||
	fail "chain in order" "$whole of $all: $(head -n 3 "$TMP/chain.folded")"
[ $((rootless * 100)) -le $((all * 5)) ] && pass "few rootless stacks" ||
	fail "few rootless stacks" "$rootless of $all"
awk '/^    leaf$/ { l = NR } /^    mid$/ { m = NR } /^    top$/ { t = NR }
	/^    main$/ { n = NR }
	/^    -                chain \([0-9]+\)$/ { c = NR }
	END { exit !(l && l < m && m < t && t < n && n < c) }' \
	"$TMP/chain.txt" && pass "text layout" ||
	fail "text layout" "$(cat "$TMP/chain.txt")"

# A leaf without a frame of its own, as compilers make them in programs that
# otherwise have frame pointers: its caller must not be missing.
"$SONDE" profile -f -F 999 -- "$TMP/leaf" -1000 >"$TMP/leaf.folded" \
	2>"$TMP/err"
all=$(matching "$TMP/leaf.folded" ';leaf [0-9]+$')
whole=$(matching "$TMP/leaf.folded" ';main;top;mid;leaf [0-9]+$')
[ "$all" -gt $few ] && [ $((whole * 100)) -ge $((all * 98)) ] &&
	pass "frameless leaf keeps its caller" ||
	fail "frameless leaf keeps its caller" \
		"$whole of $all: $(head -n 3 "$TMP/leaf.folded")"

# A process that ended long before the profile did, and one that became
# another program under the same pid and name, keep their names.
start "$SONDE" profile -U -F 499 --output "$TMP/gone.folded" 120
wait_until samples "$pid"
"$TMP/chain" -700 &
chain=$!
"$TMP/execer" 700 "$TMP/chain" -700
wait $chain
kill "$pid"
wait "$pid"
[ "$(matching "$TMP/gone.folded" '^chain;.*;main;top;mid;leaf')" -gt $few ] &&
	pass "process that exits keeps its names" ||
	fail "process that exits keeps its names" "$(grep ^chain \
		"$TMP/gone.folded" | head -n 3; cat "$TMP/started.log")"
[ "$(matching "$TMP/gone.folded" ';main;before_exec')" -gt $few ] &&
	pass "names from before an exec" ||
	fail "names from before an exec" "$(grep -v chain \
		"$TMP/gone.folded" | head -n 5)"

# More stacks than the table holds: none lost, the total is what was sampled.
# (An emulated CPU is slow: it would do nothing but sample at that rate, and its
# clock skips many periods.)
stacks=20000 table=16384 us=500 hz=4999 least=19000 few=3800
in_guest && stacks=800 table=128 us=3000 hz=997 least=150 few=30
"$SONDE" profile -f -U -F $hz --stack-storage-size $table -- \
	"$TMP/manystacks" $stacks $us >"$TMP/many.folded" 2>"$TMP/err"
lines=$(grep -c '^manystacks;' "$TMP/many.folded")
echo "$lines different stacks: $(head -n 1 "$TMP/err")"
[ "$lines" -ge $least ] && pass "$stacks stacks" ||
	fail "$stacks stacks" "only $lines"
grep -q ' 0 lost$' "$TMP/err" &&
	! grep -qv -e ' 0 lost$' -e throttled "$TMP/err" &&
	pass "nothing lost" || fail "nothing lost" "$(cat "$TMP/err")"
said=$(sed -n 's/^note: \([0-9]*\) samples.*/\1/p' "$TMP/err")
[ "$(total "$TMP/many.folded")" = "$said" ] && pass "total exact" ||
	fail "total exact" "$(total "$TMP/many.folded") printed, $said said"

# The same with a table that is far too small, so that nearly all stacks go
# down the whole ladder.
"$SONDE" profile -f -U -F $hz --stack-storage-size 16 \
	--hash-storage-size 16 -- "$TMP/manystacks" $((stacks / 5)) $us \
	>"$TMP/few.folded" 2>"$TMP/err"
lines=$(grep -c '^manystacks;' "$TMP/few.folded")
[ "$lines" -ge $few ] && grep -q ' 0 lost$' "$TMP/err" &&
	pass "tables of 16 entries lose nothing" ||
	fail "tables of 16 entries lose nothing" "$lines $(cat "$TMP/err")"
