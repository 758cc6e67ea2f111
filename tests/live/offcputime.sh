# offcputime.sh - waits that their programs have measured themselves.
# needs: root

program sleeper
# Emulated CPUs are slow: there the second kind of program is tried less often.
kinds="first btf"
in_guest && kinds=first
# Of what a program measures, less than that is no waiting: where there is no
# disk all is less. An emulated CPU puts a thread aside at any time.
few=1000 aside=0
in_guest && few=30000 aside=30000

# rung KIND: first, or without that.
rung() {
	rung=$1
	SONDE_WITHOUT=
	[ "$1" = first ] || { rung=without-$1; SONDE_WITHOUT=$1; }
	export SONDE_WITHOUT
}
S=$TMP/sleeper

# Time, in us, that is neither a thread's nor its waiting: interrupts, and what
# another machine takes.
elsewhere() { awk '/^cpu / { print ($7 + $8 + $9) * 10000 }' /proc/stat; }

# waited NAME ARGS...: folded stacks in $TMP/out, what sonde says in $TMP/err.
waited() {
	name=$1
	shift
	status=0 slack=$(elsewhere)
	timeout 100 "$SONDE" offcputime -f -o "$TMP/out.folded" "$@" \
		>"$TMP/said" 2>"$TMP/err" </dev/null || status=$?
	slack=$(($(elsewhere) - slack))
	[ $status = 0 ] || fail "$name" "status $status: $(cat "$TMP/err")"
	return $status
}

# us PATTERN [BUT]: the sum of the lines that match, but not the other.
us() { awk -v p="$1" -v but="${2:-^$}" '$0 ~ p && $0 !~ but { n += $NF }
	END { print n + 0 }' "$TMP/out.folded"; }

# within NAME GOT WANTED: 1 %, and 2 ms for the way into the function and out,
# which takes an emulated CPU longer. A thread may be pushed aside while it
# reads the clocks, in off(): that is in what it measured, or not. A host may
# keep it to itself when threads of its own go: who comes then has come unseen,
# and such a sleep is told as lost.
within() {
	lost=$(sed -n 's/.*, \([0-9]*\) sleeps lost$/\1/p' "$TMP/err")
	parts=100 us=$((2000 + slack + $(us ';off;') + ${lost:-0} * ms * 1500))
	! in_guest || parts=20 us=$((us + 30000))
	if awk -v got="$2" -v want="$3" -v parts=$parts -v us=$us 'BEGIN {
		d = got > want ? got - want : want - got
		exit !(want > 0 && d <= want / parts + us) }'; then
		pass "$1"
	else
		fail "$1" "$2 us, not $3: $(cat "$TMP/out.folded" \
			"$TMP/err")"
	fi
}

# measured FUNCTION: what the program said.
measured() { sed -n "s/^$1 //p" "$TMP/said"; }

# sleeps RUNG FUNCTION PART ARGS...: its time, in stacks with that part.
sleeps() {
	rung=$1 function=$2 part=$3
	shift 3
	waited "$rung-$function" -- "$S" "$@" || return
	within "$rung-$function" "$(us ";$function;.*$part")" \
		"$(measured "$function")"
}

# Enough for 2 ms to be a part of a per cent: on a busy machine the clock of a
# thread's CPU time is read a little before it goes, and after.
ms=20
times=25
dd if=/dev/zero of="$TMP/pages" bs=1048576 count=8 2>/dev/null
sync
for kind in first btf bpf; do
	rung $kind
	sleeps "$rung" naps nanosleep nap $times $ms
	sleeps "$rung" reads pipe_read pipe $times $ms
	sleeps "$rung" waits futex futex $times $ms
	# Interrupts count neither as the thread's time nor as waiting.
	waited "$rung-faults" -- "$S" file 8 "$TMP/pages" &&
		check "$rung-faults" awk -v got="$(us ';faults;' ';off;')" \
			-v most="$(measured faults)" -v few=$few 'BEGIN {
			exit !(got <= most * 1.01 + 2000 &&
			       (got >= most / 3 || most < few)) }'
	case $kind in
	bpf) want='summed up in user space' ;;
	*) want='off-CPU in' ;;
	esac
	check "$rung-taken" grep -q "$want" "$TMP/err"
done
export SONDE_WITHOUT=

# The kernel part of a stack begins in the scheduler, not in the tracing.
waited begins -K -- "$S" nap 5 10 &&
	check begins grep -q ';_*schedule [0-9]*$' "$TMP/out.folded"
check no-frames-of-tracing sh -c "! grep -qE 'bpf_|trace' '$TMP/out.folded'"
waited user-only -U -- "$S" nap 5 10 &&
	check user-only grep -q ';naps [0-9]*$' "$TMP/out.folded"

# --- what waits still
asleep() { # RUNG
	start "$S" hang 30000
	waited "$1-asleep" -p "$pid" 1
	check "$1-asleep-before" test ! -s "$TMP/out.folded"
	stop
	waited "$1-asleep" 3 -- "$S" hang 30000 || return
	check "$1-asleep" awk -v got="$(us ';hangs;')" 'BEGIN {
		exit !(got > 2000000 && got < 3500000) }'
	check "$1-asleep-said" grep -q 'of it of 1 that wait still' \
		"$TMP/err"
	waited "$1-finished" --finished 1 -- "$S" hang 30000 || return
	check "$1-finished" test "$(us ';hangs;')" -le $aside
}
asleep first
SONDE_WITHOUT=bpf asleep without-bpf
# Its signal handler ends it: what it waited until then is known.
waited ended -- "$S" hang 1500 &&
	check ended test "$(us ';hangs;')" -gt 1400000

# --- threads that come and go
for kind in first bpf; do
	rung $kind
	waited "$rung-short" -- "$S" short 50 $ms &&
		within "$rung-short" "$(us ';naps;')" "$(measured naps)"
done
export SONDE_WITHOUT=

# --- lengths
waited least -m 15000 --state 1 -- "$S" nap 10 10
short=$(us ';naps;')
waited most -M 15000 --state 1 -- "$S" nap 10 30
# Each nap lasts 10 ms, on a busy machine longer; none lasts less than 30.
check most test "$(us ';naps;')" = 0
waited least-of-all -m 29000 -- "$S" nap 10 30 &&
	within least "$(us ';naps;')" "$(measured naps)"
check least-leaves-out test "$short" -lt "$(measured naps)"

# --- states
for kind in $kinds; do
	rung $kind
	waited "$rung-state-1" --state 1 -- "$S" nap $times $ms &&
		within "$rung-state-1" "$(us ';naps;.*nanosleep')" \
			"$(measured naps)"
	waited "$rung-state-2" --state 2 -- "$S" nap 5 10 &&
		check "$rung-state-2" test "$(us ';naps;')" = 0
	waited "$rung-state-2-file" --state 2 -- "$S" file 8 "$TMP/pages" &&
		check "$rung-state-2-file" test "$(us ';naps;')" = 0
	# Two that share a CPU are half of the time each aside.
	waited "$rung-state-0" --state 0 -- "$S" spin 2 1000 &&
		within "$rung-state-0" "$(us ';spins;')" "$(measured spins)"
	waited "$rung-state-3" --state 3 -- "$S" spin 2 1000 &&
		check "$rung-state-3" test "$(us ';spins;')" = 0
done
export SONDE_WITHOUT=
if SONDE_WITHOUT=btf "$SONDE" offcputime --state 256 1 >/dev/null \
	2>"$TMP/err"; then
	fail state-not-told "it passed"
else
	check state-not-told grep -q 'does not tell the bits 0x100' "$TMP/err"
fi

# --- wakers
for kind in $kinds; do
	rung $kind
	waited "$rung-waker-pipe" --wakers -- "$S" pipe $times $ms &&
		within "$rung-waker-pipe" \
			"$(us ';reads;.*;--;.*;wakes;.*;sleeper ')" \
			"$(measured reads)"
	waited "$rung-waker-futex" --wakers -- "$S" futex $times $ms &&
		within "$rung-waker-futex" \
			"$(us ';waits;.*;--;.*;sets;.*;sleeper ')" \
			"$(measured waits)"
	check "$rung-waker-told" sh -c \
		"! grep -q 'without one of the stacks' '$TMP/err'"
done
export SONDE_WITHOUT=
timeout 60 "$SONDE" offcputime --wakers -d -- "$S" pipe 5 10 >"$TMP/text" \
	2>"$TMP/err"
awk '/^    waker:           sleeper [0-9]+$/ { step = 1 }
	step == 1 && /^    wakes$/ { step = 2 }
	step == 2 && /^    -$/ { step = 3 }
	step == 3 && /^    try_to_wake_up/ { step = 4 }
	step == 4 && /^    --               --$/ { step = 5 }
	step == 5 && /schedule$/ { step = 6 }
	step == 6 && /^    -$/ { step = 7 }
	step == 7 && /^    reads$/ { step = 8 }
	step == 8 && /^    target:          sleeper [0-9]+$/ { step = 9 }
	step == 9 && /^        [0-9]+$/ { found = 1 }
	END { exit !found }' "$TMP/text" && pass waker-layout ||
	fail waker-layout "$(cat "$TMP/text" "$TMP/err")"

# --- layout of bcc
timeout 60 "$SONDE" offcputime -d 2 -- "$S" nap 5 10 >"$TMP/text" 2>"$TMP/err"
head -n 1 "$TMP/text" >"$TMP/first"
echo "Tracing off-CPU time (us) of the command by user + kernel stack" \
	"for 2 secs." | cmp -s - "$TMP/first" && pass header ||
	fail header "$(cat "$TMP/first")"
awk '/^    _*schedule$/ { step = 1 }
	step == 1 && /^    --$/ { step = 2 }
	step == 2 && /^    naps$/ { step = 3 }
	step == 3 && /^    main$/ { step = 4 }
	step == 4 && /^    -                sleeper \([0-9]+\)$/ { step = 5 }
	step == 5 && /^        [0-9]+$/ { found = 1 }
	END { exit !found }' "$TMP/text" && pass layout ||
	fail layout "$(cat "$TMP/text" "$TMP/err")"
timeout 60 "$SONDE" offcputime -o "$TMP/w.svg" -- "$S" nap 5 10 \
	>"$TMP/said" 2>&1
check svg is_svg "$TMP/w.svg"
check svg-unit grep -q '<title>naps ([0-9,]* us, ' "$TMP/w.svg"

# --- whom
start "$S" nap 20000 5
waited pid -p "$pid" 1 && check pid test "$(us '^sleeper;.*;naps;')" -gt 500000
check pid-alone sh -c "! grep -v '^sleeper;' '$TMP/out.folded' | grep -q ."
waited tid -t "$pid" 1 && check tid test "$(us ';naps;')" -gt 300000
waited comm --comm sleeper 1 && check comm test "$(us ';naps;')" -gt 100000
stop
kernel_thread() { ! grep -qE ';(main|naps);' "$TMP/out.folded"; }
for kind in first btf bpf; do
	rung $kind
	start "$S" nap 20000 5
	waited "$rung-k" -k 1 && check "$rung-k" kernel_thread
	check "$rung-k-any" grep -q 'kthread' "$TMP/out.folded"
	waited "$rung-u" -u 1 && check "$rung-u" grep -q ';naps;' \
		"$TMP/out.folded"
	in_guest || check "$rung-u-no-kthread" sh -c \
		"! grep -q ';kthread;' '$TMP/out.folded'"
	stop
done
export SONDE_WITHOUT=
# A kernel thread's row has its name and no user part, known or unknown.
waited kernel-rows -k 1 && check kernel-rows sh -c \
	"grep -q '^[^;][^;]*;.*ret_from_fork' '$TMP/out.folded' &&
	! grep -qi 'unknown\|missed' '$TMP/out.folded'"
check no-idle sh -c "! grep -q '^swapper' '$TMP/out.folded'"

# --- a number that is used again is another process's
if [ -w /proc/sys/kernel/ns_last_pid ] && in_guest; then
	waited reuse -- sh -c "'$S' nap 1 1 & old=\$!; wait \$old
		'$S' reuse \$old" &&
		check reuse awk -v got="$(us ';naps;')" 'BEGIN {
			exit !(got > 20000 && got < 2000000) }'
fi

# --- losses are told
waited few-stacks --stack-storage-size 1 -- "$S" pipe 20 5 &&
	check few-stacks grep -q 'without one of the stacks' "$TMP/err"
check few-stacks-shown grep -q 'Missed .* Stack' "$TMP/out.folded"

refused() { # NAME TEXT ARGS...
	name=$1 text=$2
	shift 2
	status=0
	"$SONDE" offcputime "$@" >/dev/null 2>"$TMP/err" || status=$?
	[ $status = 2 ] && grep -qF -- "$text" "$TMP/err" && pass "$name" ||
		fail "$name" "status $status: $(cat "$TMP/err")"
}
refused both-threads 'exclude' -u -k 1
refused both-stacks 'exclude' -U -K 1
refused no-stacks '-k' -k -U 1
refused duration 'duration' 0
refused two-durations 'one duration' 1 2
for option in --wakers '--state 1' '-C 0'; do
	if SONDE_WITHOUT=bpf "$SONDE" offcputime $option 1 >/dev/null \
		2>"$TMP/err"; then
		fail "without-bpf$option" "it passed"
	else
		check "without-bpf$option" grep -q 'without bpf(2)' \
			"$TMP/err"
	fi
done
