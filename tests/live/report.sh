# report - what --raw recorded is named as it would have been where it ran; on
# the build machine, for an emulated one may name what ends at once otherwise
# the one time than the other. tests/guest/desk does it from a guest.
# beside others
# needs: host root
program chain leaf calls allocs behave
R=$TMP/x.raw

# recorded NAME COMMAND...: sonde with --raw $R, live names to $TMP/live.
recorded() {
	name=$1 command=$2
	shift 2
	timeout 100 "$SONDE" "$command" --raw "$R" "$@" >"$TMP/live" \
		2>"$TMP/err" </dev/null ||
		fail "$name" "$(tail -n 3 "$TMP/err")"
}

# reported ARGUMENTS...: folded, to $TMP/out.
reported() {
	timeout 100 "$SONDE" report -f "$@" >"$TMP/out" 2>"$TMP/said"
}

# alike NAME [MORE]: what is reported is what was named live, and enough.
alike() {
	if [ -s "$TMP/live" ] && cmp -s "$TMP/live" "$TMP/out"; then
		pass "$1"
	else
		fail "$1" "$(diff "$TMP/live" "$TMP/out" |
			grep '^[-+<>]' | head -n 6)" \
			"$(tail -n 2 "$TMP/said")"
	fi
}

count() { awk '{ n += $NF } END { print n + 0 }' "$1"; }

# The same rows, named twice.
for without in none bpf map_batch; do
	export SONDE_WITHOUT=$without
	recorded "profile, without $without" profile -f -a -F 499 \
		-- "$TMP/chain" -400
	reported "$R"
	alike "profile, without $without"
	grep -q ';main;top;mid;leaf' "$TMP/out" && pass "names, too" ||
		fail "names, too" "$(head -n 2 "$TMP/out")"
done
unset SONDE_WITHOUT
recorded "a caller without a frame" profile -f -U -F 499 -- "$TMP/leaf" -400
reported "$R"
alike "a caller without a frame"
recorded "stackcount" stackcount -f -U "$TMP/calls:inner" "$TMP/calls:bare" \
	-- "$TMP/calls" 100
reported "$R"
alike "stackcount"
grep -q ';outer;bare 100$' "$TMP/out" && pass "a caller at an entry" ||
	fail "a caller at an entry" "$(cat "$TMP/out")"
recorded "--skip, --depth" stackcount -f --skip 1 --depth 2 \
	t:sched:sched_switch -d -- sh -c "sleep 0.1; $TMP/chain 100"
reported "$R"
alike "--skip, --depth"
recorded "offcputime" offcputime -f -- sleep 0.2
reported "$R"
alike "offcputime"
recorded "offcputime --wakers" offcputime -f --wakers -- sleep 0.2
reported "$R"
alike "offcputime --wakers"
recorded "memleak" memleak --output "$TMP/m.folded" -- "$TMP/allocs" malloc 7
cp "$TMP/m.folded" "$TMP/live"
reported "$R"
alike "memleak"
recorded "memleak alone" memleak -- "$TMP/allocs" malloc 7
[ "$(count "$TMP/m.folded")" -gt 0 ] && ! grep -q bytes "$TMP/live" &&
	pass "memleak alone prints nothing" ||
	fail "memleak alone prints nothing" "$(cat "$TMP/live")"
reported "$R"
cp "$TMP/m.folded" "$TMP/live"
alike "memleak alone"

# Processes that end before anything of them is read.
export SONDE_WITHOUT=bpf
recorded "short lives" profile -F 999 -- sh -c 'i=0
	while [ $i -lt 50 ]; do ls /usr/bin >/dev/null; i=$((i + 1)); done'
unset SONDE_WITHOUT
reported "$R"
grep -q 'files that were not read, as their processes ended' "$TMP/said" &&
	! grep -q 'without a build-id' "$TMP/said" && pass "short lives" ||
	fail "short lives" "$(cat "$TMP/said")"

# Awkward processes: code in memory, copied, of a JIT, in files that are none.
cd "$TMP" || exit
echo no ELF file >text
for what in "copy" "writable" "heap" "anon" "jit noise" "file $TMP/text" \
	"handler" "leader" "fork" "memfd made"; do
	start ./behave $what
done
cd "$OLDPWD" || exit
sleep 1
seconds=2
in_guest && seconds=4
recorded "awkward processes" profile -f -F 299 $seconds
stop
grep '^behave\|^made' "$TMP/live" >"$TMP/live.some"
mv "$TMP/live.some" "$TMP/live"
reported "$R"
grep '^behave\|^made' "$TMP/out" >"$TMP/out.some"
mv "$TMP/out.some" "$TMP/out"
# What was in memory alone cannot be found elsewhere.
sed -i '/memfd/d; /^made/d' "$TMP/live" "$TMP/out"
alike "awkward processes"
grep -q ';jit_fn ' "$TMP/out" && pass "a JIT's names" ||
	fail "a JIT's names" "$(grep copy "$TMP/out" | head -n 3)"

# The whole machine, alone: nothing goes to stdout.
start "$TMP/chain"
recorded "alone" profile -F 199 1
stop
[ -s "$TMP/live" ] && fail "alone prints nothing" "$(cat "$TMP/live")" ||
	pass "alone prints nothing"
reported "$R"
grep -q 'main;top;mid;leaf' "$TMP/out" && pass "alone" ||
	fail "alone" "$(tail -n 3 "$TMP/out" "$TMP/said")"
n=$(sed -n 's/^note: \([0-9]*\) samples.*/\1/p' "$TMP/err")
[ "$(count "$TMP/out")" = "$n" ] && pass "no sample is missing" ||
	fail "no sample is missing" "$(count "$TMP/out") of $n"

# Layouts, endings, several files, the standard streams.
"$SONDE" report "$R" >"$TMP/out" 2>"$TMP/said"
head -n 1 "$TMP/out" | grep -q "^profile of .* (Linux .*UTC: cpu-clock, 199" &&
	grep -q '^    leaf$' "$TMP/out" &&
	grep -q '^    -  *chain ([0-9]*)$' "$TMP/out" && pass "text" ||
	fail "text" "$(head -n 20 "$TMP/out")"
"$SONDE" report -o "$TMP/x.svg" --title Board "$R" 2>"$TMP/said"
is_svg "$TMP/x.svg" && grep -q '>Board<' "$TMP/x.svg" &&
	pass "a flame graph" || fail "a flame graph" "$(cat "$TMP/said")"
"$SONDE" report -o "$TMP/x.svg" "$R" 2>"$TMP/said"
"$SONDE" flame -o "$TMP/y.svg" "$R" 2>"$TMP/err"
cat "$R" | "$SONDE" flame >"$TMP/z.svg" 2>>"$TMP/err"
cmp -s "$TMP/x.svg" "$TMP/y.svg" && cmp -s "$TMP/x.svg" "$TMP/z.svg" &&
	pass "sonde flame of a raw file" ||
	fail "sonde flame of a raw file" "$(cat "$TMP/err")"
echo 'a;b 3' >"$TMP/x.folded"
"$SONDE" flame -o "$TMP/y.folded" "$TMP/x.folded" "$R" "$R" 2>"$TMP/err"
[ "$(count "$TMP/y.folded")" = $((2 * n + 3)) ] && pass "with others" ||
	fail "with others" "$(count "$TMP/y.folded"), not 3 and twice $n"
"$SONDE" flame --diff "$R" -o "$TMP/y.txt" "$R" 2>"$TMP/err"
[ "$(wc -l <"$TMP/y.txt")" = 2 ] && pass "with itself" ||
	fail "with itself" "$(cat "$TMP/y.txt" "$TMP/err")"
reported "$R" "$R"
[ "$(count "$TMP/out")" = $((2 * n)) ] && pass "two files" ||
	fail "two files" "$(count "$TMP/out"), not twice $n"
"$SONDE" profile --raw - -F 499 -- "$TMP/chain" -200 2>"$TMP/err" |
	"$SONDE" report -f - >"$TMP/out" 2>"$TMP/said"
grep -q ';main;top;mid;leaf' "$TMP/out" && pass "through a pipe" ||
	fail "through a pipe" "$(cat "$TMP/err" "$TMP/said")"
for command in profile offcputime; do
	{ "$SONDE" $command --raw - -- "$TMP/chain" -100 2>"$TMP/err"
	  echo $? >"$TMP/status"; } | head -c 8 >"$TMP/out"
	gone='output: the reader is gone: [1-9][0-9]* bytes were written'
	[ "$(cat "$TMP/status")" = 1 ] && grep -q "$gone" "$TMP/err" &&
		pass "$command, a reader that goes away" ||
		fail "$command, a reader that goes away" "$(cat "$TMP/err")"
done
mkfifo "$TMP/pipe"
timeout 60 "$SONDE" profile --raw "$TMP/pipe" -- "$TMP/chain" -100 \
	2>"$TMP/err" &
wait_until grep -q 'pipe: waits for a reader of this pipe' "$TMP/err"
"$SONDE" report -f - <"$TMP/pipe" >"$TMP/out" 2>"$TMP/said"
wait $!
grep -q 'waits for a reader' "$TMP/err" && grep -q ';leaf' "$TMP/out" &&
	pass "a pipe without a reader" ||
	fail "a pipe without a reader" "$(cat "$TMP/err" "$TMP/said")"
"$SONDE" profile -f --raw - 1 >"$TMP/out" 2>"$TMP/err"
[ $? = 1 ] && grep -q 'cannot both go' "$TMP/err" && pass "both to stdout" ||
	fail "both to stdout" "$(cat "$TMP/err")"
"$SONDE" report >"$TMP/out" 2>&1
[ $? = 2 ] && pass "no file" || fail "no file" "$(cat "$TMP/out")"
"$SONDE" report "$TMP/nothing" >"$TMP/out" 2>&1
[ $? = 1 ] && grep -q 'nothing: cannot open' "$TMP/out" && pass "none there" ||
	fail "none there" "$(cat "$TMP/out")"
recorded "other units" offcputime -- sleep 0.1
cp "$R" "$TMP/y.raw"
recorded "again" profile -- "$TMP/chain" -100
recorded "another rate" profile -F 99 -- "$TMP/chain" -100
cp "$R" "$TMP/slow.raw"
recorded "a rate" profile -F 499 -- "$TMP/chain" -100
unlike='profile, cpu-clock, 499 Hz, in samples: cannot be added to'
! reported "$TMP/slow.raw" "$R" && grep -q "$unlike $TMP/slow.raw: profile, \
cpu-clock, 99 Hz, in samples" "$TMP/said" &&
	pass "rates are not mixed" ||
	fail "rates are not mixed" "$(cat "$TMP/said")"
recorded "faults" profile -e page-faults -- "$TMP/chain" -10
cp "$R" "$TMP/faults.raw"
recorded "switches" profile -e context-switches -- sleep 0.1
! reported "$TMP/faults.raw" "$R" && grep -q "context-switches, 1 events a \
sample, in .* page-faults, 1 events" "$TMP/said" &&
	pass "events are not mixed" ||
	fail "events are not mixed" "$(cat "$TMP/said")"
recorded "a rate" profile -F 499 -- "$TMP/chain" -100
timeout 60 "$SONDE" profile --raw "$TMP/one.svg" -o "$TMP/one.svg" \
	-- true 2>"$TMP/err" && fail "one file for both" "no error" ||
	pass "one file for both"
! reported "$R" "$TMP/y.raw" && grep -q 'cannot be added' "$TMP/said" &&
	pass "other units are not added" ||
	fail "other units are not added" "$(cat "$TMP/said")"

# A file that did not arrive as it was sent.
reported "$R"
all=$(count "$TMP/out")
size=$(wc -c <"$R")
head -c $((size - 3)) "$R" >"$TMP/cut.raw"
! reported "$TMP/cut.raw" && [ "$(count "$TMP/out")" = "$all" ] &&
	grep -q "cut off at byte $((size - 3)): what came before" \
	"$TMP/said" && pass "cut off" || fail "cut off" "$(cat "$TMP/said")"
"$SONDE" report -o "$TMP/cut.svg" "$TMP/cut.raw" 2>"$TMP/said"
"$SONDE" report "$TMP/cut.raw" >"$TMP/out" 2>"$TMP/said"
grep -q 'UTC: partial, [1-9][0-9]* stacks<' "$TMP/cut.svg" &&
	head -n 1 "$TMP/out" | grep -q 'UTC: partial, [1-9][0-9]* stacks$' &&
	pass "the result is partial" ||
	fail "the result is partial" "$(head -n 3 "$TMP/out")"
! "$SONDE" flame "$TMP/cut.raw" >"$TMP/cut.svg" 2>"$TMP/said" &&
	grep -q 'UTC: partial, [1-9][0-9]* stacks<' "$TMP/cut.svg" &&
	grep -q "cut off at byte" "$TMP/said" && pass "also of sonde flame" ||
	fail "also of sonde flame" "$(cat "$TMP/said")"
head -c 100 "$R" >"$TMP/cut.raw"
! reported "$TMP/cut.raw" && grep -q "used, 0 stacks" "$TMP/said" &&
	[ ! -s "$TMP/out" ] &&
	pass "cut off early" || fail "cut off early" "$(cat "$TMP/said")"
! reported "$TMP/cut.raw" "$R" && [ "$(count "$TMP/out")" = "$all" ] &&
	pass "another one beside it" ||
	fail "another one beside it" "$(cat "$TMP/said")"
: >"$TMP/empty.raw"
! reported "$R" "$TMP/empty.raw" && [ "$(count "$TMP/out")" = "$all" ] &&
	grep -q "cut off at byte 0" "$TMP/said" && pass "an empty one" ||
	fail "an empty one" "$(cat "$TMP/said")"
cat "$R" "$R" >"$TMP/twice.raw"
! reported "$TMP/twice.raw" && [ "$(count "$TMP/out")" = "$all" ] &&
	grep -q "another recording begins at byte $size" "$TMP/said" &&
	pass "one behind the other" ||
	fail "one behind the other" "$(cat "$TMP/said")"
# A full disk: what it had room for is worth keeping.
mkdir "$TMP/small" "$TMP/copies"
for i in $(seq 60); do
	cp "$TMP/chain" "$TMP/copies/program-with-a-name-$i"
done
if unshare -m sh -c 'mount -t tmpfs -o size=4k none "$1" &&
	"$2" profile --raw "$1/x.raw" -F 999 -- sh -c '\''
		for program; do "$program" -10; done'\'' sh "$5"/* 2>"$3"
	status=$?
	cat "$1/x.raw" >"$4"
	exit $status' sh "$TMP/small" "$SONDE" "$TMP/said" "$TMP/cut.raw" \
	"$TMP/copies"; then
	fail "a full disk" "no error: $(wc -c <"$TMP/cut.raw")"
else
	reported "$TMP/cut.raw"
	[ -s "$TMP/out" ] && grep -q "cut off at byte 4096" "$TMP/said" &&
		pass "a full disk" || fail "a full disk" "$(cat "$TMP/said")"
fi
{ head -c 200 "$R"; printf '\377\377'; tail -c +203 "$R"; } >"$TMP/bad.raw"
reported "$TMP/bad.raw"
grep -q "damaged at byte" "$TMP/said" && pass "damaged" ||
	fail "damaged" "$(cat "$TMP/said")"
sed 's/$/\r/' "$R" >"$TMP/bad.raw"
! reported "$TMP/bad.raw" && grep -q 'line ends were changed' "$TMP/said" &&
	pass "a line that is not clear" ||
	fail "a line that is not clear" "$(cat "$TMP/said")"
echo "not one" >"$TMP/bad.raw"
! reported "$TMP/bad.raw" && grep -q 'not a raw file' "$TMP/said" &&
	pass "another file" || fail "another file" "$(cat "$TMP/said")"

# The kernel's names from files; the second list is of another place.
if [ "$(head -c 16 /proc/kallsyms)" != 0000000000000000 ] ||
   grep -q '[1-9a-f].* _stext$' /proc/kallsyms; then
	start "$TMP/chain"
	recorded "kernel" profile -f -K -F 499 -- dd if=/dev/zero \
		of=/dev/null bs=64k count=40000
	stop
	cat /proc/kallsyms >"$TMP/kallsyms"
	reported --kallsyms "$TMP/kallsyms" "$R"
	# Programs and modules are not placed for sure by a list alone.
	keep() { grep -v 'bpf_\|\[' "$1" | grep -v 0x >"$1.k"; mv "$1.k" "$1"; }
	keep "$TMP/live"
	keep "$TMP/out"
	alike "--kallsyms"
	text=$(sed -n 's/^\(........\).* _stext$/\1/p' "$TMP/kallsyms")
	grep "^$text" "$TMP/kallsyms" | grep -v '\[' |
		sed "s/^$text/ffff1234/" >"$TMP/System.map"
	reported --system-map "$TMP/System.map" "$R"
	keep "$TMP/out"
	alike "--system-map of another place"
	echo "ffff123400000123 T _stext" >"$TMP/System.map"
	reported --system-map "$TMP/System.map" "$R"
	grep -q 'not used for' "$TMP/said" && pass "of another kernel" ||
		fail "of another kernel" "$(cat "$TMP/said")"
else
	skip "kernel names" "they are hidden"
fi
echo "hello" >"$TMP/System.map"
! reported --system-map "$TMP/System.map" "$R" &&
	grep -q 'System.map: not a list of' "$TMP/said" && pass "no list" ||
	fail "no list" "$(cat "$TMP/said")"

# What the device has is stripped; what was stripped is elsewhere.
if have strip && strip -o "$TMP/device" "$TMP/chain" 2>"$TMP/err" &&
   have readelf && readelf -n "$TMP/chain" | grep -q 'Build ID'; then
	recorded "stripped" profile -F 499 -- "$TMP/device" -400
	reported "$R"
	grep -q leaf "$TMP/out" && fail "stripped" "$(head -n 3 "$TMP/out")" ||
		pass "stripped"
	mkdir -p "$TMP/root/build" "$TMP/root$TMP"
	cp "$TMP/device" "$TMP/root$TMP/device"
	cp "$TMP/chain" "$TMP/root/build/x.unstripped"
	reported --symfs "$TMP/root" "$R"
	grep -q '^device;.*;main;top;mid;leaf' "$TMP/out" &&
		pass "by build-id" || fail "by build-id" "$(cat "$TMP/said")"
	rm "$TMP/root/build/x.unstripped"
	cp "$TMP/chain" "$TMP/root$TMP/device"
	reported --symfs "$TMP/root" "$R"
	grep -q '^device;.*;main;top;mid;leaf' "$TMP/out" &&
		pass "by path" || fail "by path" "$(cat "$TMP/said")"
	cp "$TMP/leaf" "$TMP/root$TMP/device"
	rm "$TMP/device"
	reported --symfs "$TMP/root" "$R"
	[ "$(grep -c 'was recorded: not used' "$TMP/said")" = 1 ] &&
		! grep -q leaf "$TMP/out" && pass "another build" ||
		fail "another build" "$(cat "$TMP/said")"
	mkdir "$TMP/many"
	(cd "$TMP/many" && seq 10001 | xargs touch)
	reported --symfs "$TMP/many" "$R"
	grep -q "many: it is large, and all of it is searched" "$TMP/said" &&
		pass "a large tree" || fail "a large tree" "$(cat "$TMP/said")"
	# --symfs / has more than files below it.
	mkdir -p "$TMP/all/proc" "$TMP/all/sys"
	unshare -m sh -c 'cd "$1" && mount --rbind /proc all/proc &&
		mount --rbind /sys all/sys &&
		exec timeout 60 "$2" report -f --symfs all "$3" >out 2>said' \
		sh "$TMP" "$SONDE" "$R" &&
		! grep -q "it is large" "$TMP/said" &&
		pass "all of a machine" ||
		fail "all of a machine" "$(tail -n 3 "$TMP/said")"
	id=$(readelf -n "$TMP/chain" | sed -n 's/.*Build ID: //p')
	rest=${id#??}
	folder=$TMP/debug/.build-id/${id%"$rest"}
	mkdir -p "$folder"
	objcopy --only-keep-debug "$TMP/chain" "$folder/$rest.debug"
	"$SONDE" report -f --debug-dir "$TMP/debug" "$R" >"$TMP/out" \
		2>"$TMP/said"
	grep -q '^device;.*;main;top;mid;leaf' "$TMP/out" &&
		pass "a debug file" || fail "a debug file" \
		"$(cat "$TMP/out" "$TMP/said")"
else
	skip "stripped programs" "no binutils here, or no build-ids"
fi

# The device's side reads no file of symbols.
if have strace; then
	strace -f -o "$TMP/calls" -e trace=open,openat,openat2,read \
		"$SONDE" profile --raw "$R" -- "$TMP/chain" -300 \
		2>"$TMP/err"
	sonde=$(sed -n '1s/ .*//p' "$TMP/calls")
	grep "^$sonde .*open" "$TMP/calls" |
		grep 'map_files\|"exe"\|\.so\|chain"' >"$TMP/opened"
	name="no file of symbols is opened"
	[ ! -s "$TMP/opened" ] && pass "$name" ||
		fail "$name" "$(head -n 3 "$TMP/opened")"
	n=$(awk -v pid="$sonde" '$1 == pid && /kallsyms/ { of = 1; next }
		$1 == pid && of && /read\(/ { n += $NF; next }
		$1 == pid && of { exit }
		END { print n + 0 }' "$TMP/calls")
	[ "$n" -le 65536 ] && pass "kallsyms is not read" ||
		fail "kallsyms is not read" "$n bytes"
else
	skip "no file of symbols is opened" "needs strace"
fi
