# small - little memory: what a profile takes of it, and that it is right.
# guest: 5.10 -m 64
# guest: 6.1 -m 96
# guest: 7.2 -m 96
program chain split measure
spin "$TMP/chain"
spin "$TMP/split"

# What is sonde's: its own pages at their most (as wait4(2) tells), the BPF maps
# (fdinfo: pages that the kernel holds for them, before Linux 5.11 at full
# length) and the rings, which no counter of its pages holds.
"$TMP/measure" "$TMP/use" "$SONDE" profile -f 10 \
	>"$TMP/out" 2>"$TMP/err" &
measure=$!
sleep 5
sonde=$(grep -l "^PPid:.$measure\$" /proc/[0-9]*/status | cut -d/ -f3)
maps=$(cat /proc/"$sonde"/fdinfo/* | awk '/^memlock:/ { n += $2 }
	END { print int(n / 1024) }')
grep perf_event "/proc/$sonde/maps" | cut -d' ' -f1 | tr - ' ' >"$TMP/rings"
rings=0
while read -r from to; do
	rings=$((rings + (0x$to - 0x$from) / 1024))
done <"$TMP/rings"
cat /proc/$sonde/fdinfo/*; cat /proc/$sonde/maps /proc/$sonde/status
status=0
wait "$measure" || status=$?
read -r wall cpu rss <"$TMP/use"
sum=$((rss + maps + rings))
echo "$rss KiB of its own, $maps of maps, $rings of rings: $sum KiB"
[ $status = 0 ] && [ "$maps" -gt 100 ] && [ $sum -le 8192 ] &&
	pass "profile within 8 MiB" ||
	fail "profile within 8 MiB" "status $status, $sum KiB"
chain_named "names" 100
whole "nothing lost"
stop
kernel_is_well
