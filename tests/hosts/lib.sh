# lib.sh - what the tests of tests/hosts/ share; it runs in a guest.
#
# Such a test has one line `# guest: KERNEL [OPTIONS]`, or several, each of
# which boots it once: OPTIONS are those of `./build.sh guest`, as a shell
# quotes them. The notation is that of tests/lib.sh.
export SONDE=/bin/sonde PROGRAMS=/programs TMP=/tmp/test
mkdir -p "$TMP"
cd / || exit 1
. tests/lib.sh
# An emulated CPU takes long for a sample: the kernel would lower the rate.
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent

# run NAME ARGUMENTS...: sonde; $status, $TMP/out, $TMP/err. A signal ends it
# never, and what it writes has no memory errors of the kernel beside it.
run() {
	n=$1 status=0
	shift
	timeout 100 $who "$SONDE" "$@" >"$TMP/out" 2>"$TMP/err" || status=$?
	[ $status -lt 124 ] ||
		fail "$n: it ends" "status $status: $(cat "$TMP/err")"
}
who=

# spin COMMAND...: start it and see it run, but from then on sonde goes first:
# guests are slow.
spin() {
	start "$@"
	while [ "$(cut -d' ' -f14 "/proc/$pid/stat")" -lt 5 ]; do
		sleep 0.1
	done
	renice -n 19 -p "$pid" >/dev/null
}

# can NAME ARGUMENTS...: sonde profile -f succeeds and prints stacks.
can() {
	n=$1
	shift
	run "$n" profile -f "$@"
	[ $status = 0 ] && [ -s "$TMP/out" ] && pass "$n" ||
		fail "$n" "status $status: $(cat "$TMP/err")"
}
# cannot NAME ARGUMENTS...: it fails with an error that has its object.
cannot() {
	n=$1
	shift
	run "$n" profile -f "$@"
	[ $status = 1 ] && grep -q '^sonde: profile: ' "$TMP/err" &&
		pass "$n" || fail "$n" "status $status: $(cat "$TMP/err")"
}

# during NAME STEPS PROFILE-ARGUMENTS...: profile from before the function STEPS
# until after it.
during() {
	n=$1 steps=$2 status=0
	shift 2
	"$SONDE" profile -f "$@" >"$TMP/out" 2>"$TMP/err" &
	sonde=$!
	sleep 1
	$steps
	sleep 0.5
	kill "$sonde"
	wait "$sonde" || status=$?
	[ $status = 0 ] && [ -s "$TMP/out" ] && pass "$n" ||
		fail "$n" "status $status: $(cat "$TMP/err")"
}

# says NAME TEXT, silent NAME TEXT: what stderr holds, and does not.
says() {
	grep -qF -- "$2" "$TMP/err" && pass "$1" ||
		fail "$1" "no '$2' in: $(cat "$TMP/err")"
}
silent() {
	grep -qF -- "$2" "$TMP/err" && fail "$1" "$(cat "$TMP/err")" ||
		pass "$1"
}

total() { awk '{ n += $NF } END { print n + 0 }' "$TMP/out"; }
# matching RE: samples in the stacks that match.
matching() {
	awk -v re="$1" '$0 ~ re { n += $NF } END { print n + 0 }' "$TMP/out"
}

# chain_named NAME SAMPLES: so many of the program chain, or at least a fifth of
# them, for others may keep this machine busy; and most with their functions in
# order: an emulated CPU takes long to read the clock, and to exec a program,
# where only the kernel has names.
chain_named() {
	all=$(matching '^chain;')
	whole=$(matching '^chain;.*;main;top;mid;leaf( |;)')
	[ $((all * 5)) -ge "$2" ] && [ $((whole * 100)) -ge $((all * 75)) ] &&
		pass "$1" || fail "$1" "$whole of $all: $(grep '^chain;' \
		"$TMP/out" | head -n 3; cat "$TMP/err")"
}

# whole NAME: nothing was lost, and the total is what was said.
whole() {
	said=$(sed -n 's/^note: \([0-9]*\) samples.*, 0 lost$/\1/p' "$TMP/err")
	[ "$said" = "$(total)" ] && pass "$1" ||
		fail "$1" "$(total) printed: $(cat "$TMP/err")"
}

# rung NAME WORKS RUNG: what doctor says of profile, and its exit status.
rung() {
	run "$1" doctor
	line=$(awk -F '  +' '$1 == "profile" {
		print $2 "|" $3 "|" $4 "|" $5 }' "$TMP/out")
	case $2/$status/$line in
	yes/0/"yes|$3|"*|no/1/"no|$3|"*) pass "doctor: $1" ;;
	*) fail "doctor: $1" "status $status: $line $(cat "$TMP/err")" ;;
	esac
}
in_kernel="counted in the kernel: BPF"
in_rings="counted in user space: perf rings"
own="own processes only, user stacks"

# kernel_is_well: nothing was killed for memory, nothing complained.
kernel_is_well() {
	dmesg | grep -E 'Out of memory|oom-kill|segfault|WARNING:|BUG:' \
		>"$TMP/dmesg"
	[ ! -s "$TMP/dmesg" ] && pass "kernel is well" ||
		fail "kernel is well" "$(head -n 3 "$TMP/dmesg")"
}
