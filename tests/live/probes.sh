# probes - what a trace leaves behind, how it ends, and odd places of probes.
# needs: host root
#
# Not in guests: two CPUs that an emulator runs do not bear a storm of system
# calls beside probes that come and go (5.10 ended in a soft lockup).
program storm calls bpfids behave execs
cd "$TMP" || exit 1
tracing=/sys/kernel/tracing
[ -e $tracing/trace ] || tracing=/sys/kernel/debug/tracing
mkfifo ready

# ended PID: it is gone, but for its parent's taking note.
ended() { ! grep -q '^State:.[^ZX]' "/proc/$1/status"; }

# header: a trace that was started has said that it runs.
header() { grep -qE '^(Tracing|PID|TIME|PCOMM)' started.log; }

# named PID: tracefs has probes of this process.
named() { cat $tracing/[ku]probe_events | grep -q ":sonde_$1/"; }

# count NAME: what funccount said of it, 0 when nothing.
count() { awk -v n="$1" '$1 == n { c = $2 } END { print c + 0 }' out; }

# same NAME WANT GOT
same() { [ "$2" = "$3" ] && pass "$1" ||
	fail "$1" "$3 instead of $2: $(tail -n 3 err)"; }

# Many times on and off. Others may trace meanwhile, so a few more are none.
runs=150
! in_guest || runs=25
before=$(./bpfids)
bad=
i=0
while [ $i -lt $runs ]; do
	timeout 60 "$SONDE" funccount "$TMP/calls:rec" \
		rt:sched_process_exec -- ./calls 2 >out 2>err || break
	[ "$(count rec)" = 6 ] || bad="$(cat out err)"
	i=$((i + 1))
done
few_more() { [ "$(./bpfids)" -lt $((before + runs)) ]; }
same "on and off" $runs $i
same "each time all is counted" "" "$bad"
check "no program, map or link is left" wait_until few_more

# A storm on all CPUs, and signals that come twice, as those of timeout do.
cpus=$(grep -c '^processor' /proc/cpuinfo)
storms() {
	i=0
	while [ $i -lt "$cpus" ]; do
		start nice -n 5 ./storm
		i=$((i + 1))
	done
}
storms
flood=$pid
ends() {
	n=$1 result=$2
	shift 2
	start "$SONDE" "$@"
	tracer=$pid
	wait_until header
	sleep 0.3
	kill -HUP $tracer
	kill -TERM $tracer
	wait_until ended $tracer || kill -9 $tracer
	wait $tracer
	status=$?
	grep -qE "$result" started.log && [ $status = 0 ] && pass "$n" ||
		fail "$n" "$status: $(tail -n 3 started.log)"
}
ends "funccount ends in a storm" '^hot  *[1-9]' funccount "$TMP/storm:hot"
ends "of a tracepoint" '^sys_enter  *[1-9]' funccount rt:sys_enter
ends "stackcount ends" '^note: [1-9][0-9]* hits in .* 0 lost$' stackcount \
	"$TMP/storm:hot"
ends "of kernel stacks" '^note: [1-9][0-9]* hits in ' stackcount -K \
	t:syscalls:sys_enter_getppid
ends "funclatency ends" 'count: [1-9]' funclatency "$TMP/storm:hot"
ends "trace ends" '^[0-9].*getppid' trace t:syscalls:sys_enter_getppid
ends "stacksnoop ends" '^	main' stacksnoop "$TMP/storm:hot"
ends "execsnoop ends" '^PCOMM' execsnoop
timeout -k 60 -s INT 4 "$SONDE" funccount "$TMP/storm:hot" >out 2>err
[ "$(count hot)" -gt 0 ] && pass "Ctrl-C" || fail "Ctrl-C" "$(cat out err)"

# Who floods the ring does not hide what others lose; every hit is told of.
timeout 60 "$SONDE" trace -b 1 "$TMP/storm:hot" "$TMP/calls:rec" -- \
	sh -c './storm 200000 /dev/zero & ./calls 5000; wait' >out 2>err
lost() { sed -n "s,^note: *\([0-9]*\) $1,\1,p" err; }
shown() { awk -v f="$1" '$4 == f { n++ } END { print n + 0 }' out; }
for f in rec:15000 hot:200000; do
	one=$(lost "of ${f%:*}\$")
	same "lost or shown: ${f%:*}" "${f#*:}" \
		$(($(shown ${f%:*}) + ${one:-0}))
done
p=$(awk '$4 == "rec" { print $1; exit }' out)
q=$(awk '$4 == "hot" { print $1; exit }' out)
for p in $p:15000 $q:200000; do
	one=$(lost "in process ${p%:*}\$")
	same "lost or shown of one process, ${p#*:}" "${p#*:}" \
		$(($(awk -v p="${p%:*}" '$1 == p { n++ }
			END { print n + 0 }' out) + ${one:-0}))
done
timeout 60 "$SONDE" stacksnoop "$TMP/calls:rec" -- ./calls 30000 >out 2>err
one=$(sed -n 's/.*the ring to user space was full: //p' err)
same "lost or shown: stacksnoop" 90000 \
	$(($(grep -c '^[0-9].* rec$' out) + ${one:-0}))
for table in hash stack; do
	timeout 60 "$SONDE" stackcount -f --$table-storage-size 1 \
		"$TMP/calls:rec" "$TMP/calls:inner" -- ./calls 5000 >out 2>err
	one=$(sed -n 's/.* \([0-9]*\) lost$/\1/p' err)
	same "lost or counted: a $table table of one" 20000 \
		$(($(awk '{ n += $NF } END { print n + 0 }' out) + one))
done
stop

# Killed: what has a name in tracefs goes when the next one sets such.
killed() {
	start "$SONDE" "$@"
	wait_until header
	tracer=$pid
	! named $tracer || was_named=1
	kill -9 $tracer
	wait_until ended $tracer
	wait $tracer 2>/dev/null
	killed="$killed $tracer"
}
killed= was_named=
export SONDE_WITHOUT=uprobe_pmu,kprobe_pmu,kprobe_multi
for command in funccount stackcount trace stacksnoop funclatency; do
	killed $command "$TMP/storm:hot"
	! meets kprobes || killed $command vfs_read
done
timeout 60 "$SONDE" funccount "$TMP/calls:rec" -- ./calls 2 >out 2>err
same "a trace after those that were killed" 6 "$(count rec)"
unset SONDE_WITHOUT
left=
for p in $killed; do
	! named $p || left="$left $p"
done
[ -n "$was_named" ] && same "none of theirs is left" "" "$left" ||
	skip "none of theirs is left" "they had no names"

# One place that two ways lead to is hit once.
timeout 60 "$SONDE" funccount "$TMP/calls:rec" ./calls:rec './calls:re[c]' \
	-- ./calls 100 >out 2>err
same "the same probe, told thrice" 300 "$(count rec)"

# counted NAME WANT SPEC: hits of `hot` in the process that waits for a byte.
counted() {
	n=$1 want=$2
	waiting=$pid
	: >out
	timeout 60 "$SONDE" funccount -p $waiting "$3" >out 2>err &
	tracer=$!
	running() { grep -q ^Tracing out || ended $tracer; }
	wait_until running
	echo >ready
	wait $tracer
	same "$n" "$want" "$(count hot)"
	kill $waiting 2>/dev/null
	wait $waiting 2>/dev/null
}
waits() { start "$@"; wait_until sh -c "tr '\\0' ' ' </proc/$pid/cmdline |
	grep -q '^[^ ]*storm[^ ]* [0-9]'"; }
cp storm storm_gone
waits "$TMP/storm_gone" 700 ready
rm storm_gone
cp calls storm_gone
counted "a deleted program, by its path" 700 "$TMP/storm_gone:hot"
cp storm storm_away
waits "$TMP/storm_away" 701 ready
rm storm_away
counted "a deleted program, by its name" 701 storm_away:hot
start ./behave memfd 'x y:z'
wait_until grep -q memfd "/proc/$pid/maps"
timeout 60 "$SONDE" funccount -d 1 -p $pid "$pid:hot" >out 2>err
[ "$(count hot)" -gt 0 ] && pass "a memfd" || fail "a memfd" "$(cat out err)"
stop
mkdir here there
cp storm there/storm_ns
cp calls here/storm_ns
if needs "a mount namespace" unshare && unshare -m true 2>/dev/null; then
	waits unshare -m sh -c 'mount --bind there here &&
		exec "$1" 702 ready' sh "$TMP/here/storm_ns"
	counted "a program of another mount namespace" 702 \
		"$TMP/here/storm_ns:hot"
fi

# Names that would move the cursor or forge lines.
odd=$(printf 'a\nFUNC 7\033[2Jb')
mkdir "$odd"
cp calls "$odd/$odd"
clean() { ! LC_ALL=C tr -d '\n\t -~' <"$1" | grep -q . &&
	! grep -q '^FUNC 7' "$1"; }
for command in funccount funclatency stackcount trace stacksnoop list; do
	for f in rec nonesuch 'zz*'; do
		set -- "\"$TMP/$odd/$odd\":$f"
		[ $command = list ] || set -- "$@" -- "./$odd/$odd" 2
		timeout 60 "$SONDE" $command "$@" >odd.$f 2>&1
		status=$?
		clean odd.$f && { [ $f = rec ] || [ $status = 1 ]; } &&
			[ -s odd.$f ] && pass "an odd path: $command, $f" ||
			fail "an odd path: $command, $f" "$(cat odd.$f)"
	done
	[ $command = list ] || grep -q rec odd.rec && pass "$command works" ||
		fail "$command works" "$(cat odd.rec)"
done
timeout 60 "$SONDE" execsnoop -- "./$odd/$odd" 2 >out 2>&1
clean out && grep -qF 'a\x0aFUNC 7\x1b[2Jb' out && pass "execsnoop" ||
	fail "execsnoop" "$(cat out)"

# Functions of one name; a library of another mount namespace.
if needs "two functions of one name" gcc host; then
	cat >a.c <<'C'
static __attribute__((noinline)) int twin(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}
int first(int n) { return twin(n) + 1; }
C
	sed 's/first/second/' a.c >b.c
	cat >main.c <<'C'
#include <unistd.h>
int first(int), second(int);
int main(int argc, char **argv)
{
	char c;
	if (argc > 1 && read(0, &c, 1) != 1)
		return 1;
	for (int i = 0; i < 100; i++) {
		first(i);
		if (i % 2)
			second(i);
	}
	return 0;
}
C
	gcc -O1 -o twins main.c a.c b.c
	for command in funccount funclatency stackcount stacksnoop trace; do
		timeout 60 "$SONDE" $command ./twins:twin -- ./twins \
			>out 2>err
		[ $? = 1 ] && [ "$(grep -c '0x.* is twin$' err)" = 2 ] &&
			pass "$command lists both" ||
			fail "$command lists both" "$(cat out err)"
	done
	timeout 60 "$SONDE" funccount './twins:twi*' -- ./twins >out 2>err
	same "a glob takes both" 150 "$(count twin)"
	mkdir one two
	gcc -shared -fPIC -O1 -o one/libtwin.so a.c b.c
	gcc -shared -fPIC -O1 -o two/libtwin.so b.c
	gcc -O1 -o storm_lib main.c -Lone -ltwin -Wl,-rpath,"$TMP/two"
	for lib in libtwin.so twin "$TMP/two/libtwin.so"; do
		start unshare -m sh -c 'mount --bind one two &&
			exec ./storm_lib 1 <ready'
		mapped() { grep -q libtwin "/proc/$pid/maps"; }
		exec 9<>ready
		wait_until mapped
		: >out
		timeout 60 "$SONDE" funccount -p $pid "$lib:first" \
			>out 2>err &
		tracer=$!
		running() { grep -q ^Tracing out || ended $tracer; }
		wait_until running
		echo >&9
		wait $tracer
		exec 9>&-
		same "a library of another mount namespace: ${lib##*/}" \
			100 "$(count first)"
		stop
	done
fi

# The result does not wait until hundreds of probes are taken off.
timeout 120 "$SONDE" funccount -d 1 't:syscalls:sys_enter_s*' -- \
	./storm 100 /dev/zero >out 2>&1
awk '/^FUNC/ { r = 1 } /detaching/ && !r { bad = 1 } END { exit bad || !r }' \
	out && pass "counts come before detaching" ||
	fail "counts come before detaching" "$(tail -n 3 out)"
