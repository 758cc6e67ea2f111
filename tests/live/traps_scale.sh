# traps_scale - many processes, mappings and symbols; things that come again.
# needs: host root
cd "$TMP" || exit 1
tree=$OLDPWD
program many behave twolibs bigsyms
gcc -O1 -o measure "$tree/tests/programs/measure.c" || exit 1

# measured ARGUMENTS...: $wall ms and $rss KB of a profile into found, notes.
measured() {
	./measure use "$SONDE" profile -f "$@" >found 2>notes
	read -r wall cpu rss <use
	wall=${wall%.*} cpu=${cpu%.*}
	echo "profile $*: $wall ms, $cpu ms of CPU, $rss KB"
}

# within CASE KB MS: no more memory and wall time than that.
within() {
	[ "$rss" -le "$2" ] && pass "$1: memory" || fail "$1: memory" "$rss KB"
	[ "$wall" -le "$3" ] && pass "$1: ends in time" ||
		fail "$1: ends in time" "$wall ms"
}

# share NAME PATTERN: percent of a thread name's samples that match.
share() {
	awk -v re="$2" -v name="$1;" 'index($0, name) == 1 { all += $NF
		if ($0 ~ re) n += $NF }
		END { print all ? int(100 * n / all) : -1 }' found
}

# 2,000 processes at once.
start ./many burn 2000 2 ./many
measured -U -F 1999 --comm many 4
within "2,000 processes" 65536 20000
stop
n=$(share many ';(hot|clock|clock_gettime|main|__vdso_clock_gettime) [0-9]+$')
u=$(share many '\[unknown\]')
[ "$n" -ge 50 ] && [ "$u" -le 20 ] && pass "2,000 processes: names" ||
	fail "2,000 processes: names" "$n %, unknown $u %: $(cat notes)"

# Processes that are gone before anybody can look: they cost no memory.
start ./many run 3
measured -F 999 3
within "processes one after another" 65536 10000
stop
echo "$(cat started.log) processes meanwhile"

# One process with 30,000 mappings of code; what is open meanwhile.
cp "$SONDE" file
start ./behave rows 30000 ./file
tries=0
while [ "$(wc -l <"/proc/$pid/maps")" -lt 30000 ] && [ $tries -lt 100 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
sleep 0.2
measured -U -F 999 -p "$pid" 2
within "30,000 mappings" 65536 10000
[ "$(share behave ';main;spin;hot [0-9]+$')" -ge 95 ] &&
	pass "30,000 mappings: names" ||
	fail "30,000 mappings: names" "$(head -n 2 found; cat notes)"
start "$SONDE" profile -f -U -p "$pid" 2
sleep 1
open=$(find "/proc/$pid/fd" -mindepth 1 | wc -l)
stop
[ "$open" -gt 5 ] && [ "$open" -le 100 ] && pass "few open files" ||
	fail "few open files" "$open"

# A million symbols, in a program that 300 processes run.              G8-12
printf '.text\n.globl pad\npad: .zero 16000000\n%s\n' \
	'.section .note.GNU-stack,"",@progbits' >pad.s
if [ "$(df -Pk . | awk 'END { print $4 }')" -lt 1000000 ]; then
	skip "a million symbols" "less than 1 GB of room"
elif gcc -O1 -fno-omit-frame-pointer -o big "$tree/tests/programs/many.c" \
	pad.s && ./bigsyms big 1000000 100 "$(nm big |
	awk '$3 == "pad" { print $1 }')"; then
	start ./many burn 300 10 ./big
	measured -U -F 999 --comm big 3
	stop
	within "a million symbols" 204800 10000
	[ "$(share big ';hot [0-9]+$')" -ge 10 ] &&
		pass "a million symbols: names" ||
		fail "a million symbols: names" "$(head -n 2 found; cat notes)"
	rm -f big
else
	skip "a million symbols" "gcc cannot build it"
fi

# The same PIE program twice under one profile, at two bases.          G8-10
cp many twice
(sleep 0.2; timeout 0.6 ./twice child 400; timeout 0.6 ./twice child 400) &
measured -U -F 999 --comm twice 3
wait $!
[ "$(share twice ';main;child;hot [0-9]+$|;main;hot [0-9]+$')" -ge 30 ] &&
	[ "$(share twice '\[(unknown|twice)')" -le 2 ] &&
	pass "a program that runs twice" ||
	fail "a program that runs twice" "$(head -n 3 found; cat notes)"

# Libraries that take turns at one address: a right name or an address.
for l in a b; do
	printf 'void f%s(long n) { volatile long s = 0; while (n--) s += n; }' \
		$l >$l.c
	gcc -O1 -shared -fPIC -fno-omit-frame-pointer -o $l.so $l.c
done
start ./twolibs ./a.so ./b.so
sleep 0.2
measured -U -F 1999 -p "$pid" 2
stop
[ "$(sort -u started.log | wc -l)" = 1 ] ||
	echo "the libraries were not at one address: $(cat started.log)"
[ "$(share twolibs ';phase_[ab];')" -ge 80 ] &&
	! grep -qE ';phase_a;fb |;phase_b;fa ' found &&
	pass "libraries that take turns at one address" ||
	fail "libraries that take turns at one address" \
		"$(grep phase_ found | head -n 4)"

# Many processes with many mappings, seen at once: sampling ends on time,
# however long their maps take to read.
start nice -n 19 ./behave crowd 8000 ./file 60
sleep 1
measured -U -F 999 --comm behave 2
stop
within "60 processes of 8,000 mappings" 65536 20000
sampled=$(sed -n '1s/^note: .* samples in \([0-9]*\)\..*/\1/p' notes)
[ "$sampled" = 2 ] && [ "$(share behave ';hot [0-9]+$')" -gt 0 ] &&
	pass "60 processes of 8,000 mappings: sampled for 2 s" ||
	fail "60 processes of 8,000 mappings: sampled for 2 s" "$(cat notes)"
