# funccount - counts that are known by construction, by every way to attach.
# needs: root
program calls

# counts NAME WANT ARGUMENTS...: of the calls program; WANT is "FUNC N" rows.
counts() {
	n=$1 want=$2
	shift 2
	timeout 60 "$SONDE" funccount "$@" -- "$TMP/calls" 500 \
		>"$TMP/out" 2>"$TMP/err"
	got=$(awk '/^FUNC /{ on = 1; next } on && NF == 2 { print $1, $2 }' \
		"$TMP/out")
	[ "$got" = "$want" ] && pass "$n" ||
		fail "$n" "$got $(cat "$TMP/err")"
}

# refused NAME STATUS TEXT ARGUMENTS...
refused() {
	n=$1 want=$2 text=$3
	shift 3
	timeout 60 "$SONDE" funccount "$@" >"$TMP/out" 2>"$TMP/err"
	status=$?
	[ $status = "$want" ] && grep -q -e "$text" "$TMP/err" && pass "$n" ||
		fail "$n" "$status $(cat "$TMP/err")"
}

four='bare 500
inner 500
outer 500
rec 1500'
for without in none attach_cookie perf_link,ringbuf uprobe_pmu; do
	SONDE_WITHOUT=$without counts "a program, without $without" "$four" \
		"$TMP/calls:bare" "$TMP/calls:inner" \
		"$TMP/calls:outer" "$TMP/calls:rec"
done
counts "a glob" "inner 500
outer 500" "$TMP/calls:[io]*er"
if meets arch=x86_64; then
	counts "one of a glob that cannot be probed" "inner 500
outer 500" "$TMP/calls:[iol]*er"
	# Of a program that runs, the kernel says so.
	start "$TMP/calls" 2000000000
	timeout 60 "$SONDE" funccount -d 1 -p "$pid" "$TMP/calls:[iol]*er" \
		>"$TMP/out" 2>"$TMP/err"
	stop
	grep -q '^note: 1 of the probes.*such as l[a-z]*er: ' "$TMP/err" &&
		grep -q '^inner' "$TMP/out" && pass "it is said" ||
		fail "it is said" "$(cat "$TMP/out" "$TMP/err")"
fi
counts "a regular expression" "$four" -r "$TMP/calls:(bare|inner|outer|rec)"
counts "bpftrace's spelling" "rec 1500" "uprobe:$TMP/calls:rec"
counts "a return" "rec 1500" "r:$TMP/calls:rec"
counts "a comma list" "inner 500
rec 1500" "$TMP/calls:inner,$TMP/calls:rec"
counts "a tracepoint" "sched:sched_process_exec 1" \
	"t:sched:sched_process_exec"
counts "a raw tracepoint" "sched_process_exec 1" "rt:sched_process_exec"
counts "a tracepoint by perf" "syscalls:sys_enter_exit_group 1" \
	t:syscalls:sys_enter_exit_group
counts "a command's exit" "sched:sched_process_exit 1" \
	t:sched:sched_process_exit
counts "an entry and a return" "calls:rec 1500
r:calls:rec 1500" "$TMP/calls:rec" "r:$TMP/calls:rec"
counts "nobody of that name" "" --comm nobody "$TMP/calls:rec"
counts "by name" "rec 1500" --comm calls "$TMP/calls:rec"

# A process that runs already, told by -p; its end ends the count.
mkfifo "$TMP/go"
start sh -c 'read -r line <"$1"; exec "$2" 300' sh "$TMP/go" "$TMP/calls"
: >"$TMP/out"
timeout 60 "$SONDE" funccount -p "$pid" "$TMP/calls:rec" >"$TMP/out" \
	2>"$TMP/err" &
counter=$!
wait_until grep -q ^Tracing "$TMP/out"
echo >"$TMP/go"
wait $counter
grep -q '^rec  *900$' "$TMP/out" && pass "-p, until it ends" ||
	fail "-p, until it ends" "$(cat "$TMP/out" "$TMP/err")"
stop

# One that does not map the file is told, for nothing else would show why there
# are no hits; one that does is not.
mapping() { # NAME WANT PROBE
	timeout 60 "$SONDE" funccount -d 1 -p "$pid" "$3" >"$TMP/out" \
		2>"$TMP/err"
	[ "$(grep -c "process $pid does not map" "$TMP/err")" = "$2" ] &&
		pass "$1" || fail "$1" "$(cat "$TMP/out" "$TMP/err")"
}
cp "$TMP/calls" "$TMP/unused"
start "$TMP/calls" 1000000000
mapping "a file that is not mapped" 1 "$TMP/unused:main"
mapping "a file that is mapped" 0 "$TMP/calls:main"
(cd "$TMP" && mapping "a file that is mapped, by another path" 0 ./calls:main)
stop

# Intervals begin anew: their sums are the whole.
timeout 60 "$SONDE" funccount -i 1 -T "$TMP/calls:rec" -- sh -c \
	'sleep 0.3; "$1" 100; sleep 1.5; "$1" 200' sh "$TMP/calls" >"$TMP/out" \
	2>"$TMP/err"
sum=$(awk '$1 == "rec" { n += $2 } END { print n + 0 }' "$TMP/out")
[ "$sum" = 900 ] && grep -q '^[0-2][0-9]:[0-5][0-9]:[0-5][0-9]$' "$TMP/out" &&
	pass "intervals" || fail "intervals" "$(cat "$TMP/out" "$TMP/err")"

refused "no probe" 2 "what to count is missing"
refused "no such function" 1 "the nearest is: inner" "$TMP/calls:iner"
refused "no such file" 1 "no such" /nonexistent:f
refused "a tracepoint as list writes it" 1 \
	"hint: t:sched:sched_switch is a tracepoint" sched:sched_switch
refused "not an ELF file" 1 "no ELF file" "$TMP/err:f"
refused "nothing matches" 1 "no function that matches" "$TMP/calls:zzz*"
refused "no such tracepoint" 1 "the nearest is: sched_switch" \
	t:sched:sched_swich
refused "an empty name" 2 "expected" "t:sched:"
refused "between instructions" 1 "no instruction begins" \
	"uprobe:$TMP/calls:main+2"

refused "a CPU that is not there" 2 "not online" -c 4095 "$TMP/calls:rec"
if have nm; then
	at=$(nm "$TMP/calls" | awk '$3 == "main" { print $1 }')
	at=$(printf '0x%x' $((0x$at + 2)))
	refused "an address within an instruction" 1 "no instruction begins" \
		"$TMP/calls:$at"
fi

if meets kprobes; then
	for without in none kprobe_pmu kprobe_multi,attach_cookie; do
		SONDE_WITHOUT=$without timeout 60 "$SONDE" funccount \
			'vfs_rea[d]' vfs_write -- dd if=/dev/zero of=/dev/null \
			bs=1 count=500 >"$TMP/out" 2>"$TMP/err"
		awk '$1 ~ /^vfs_(read|write)$/ && $2 >= 500 && $2 < 540 { n++ }
			END { exit n != 2 }' "$TMP/out" &&
			pass "kernel functions, without $without" ||
			fail "kernel functions, without $without" \
				"$(cat "$TMP/out" "$TMP/err")"
	done
	for name in read sys_read ksys_read; do
		timeout 60 "$SONDE" funccount $name -- dd if=/dev/zero \
			of=/dev/null bs=1 count=500 >"$TMP/out" 2>"$TMP/err"
		awk '$2 >= 500 && $2 < 540 { n++ } END { exit n != 1 }' \
			"$TMP/out" && pass "a system call: $name" ||
			fail "a system call: $name" \
				"$(cat "$TMP/out" "$TMP/err")"
	done
	refused "no such kernel function" 1 "the nearest is: vfs_read" vfs_raed
	left=$(cat /sys/kernel/tracing/kprobe_events 2>/dev/null)
	[ -z "$left" ] && pass "no named probe is left" ||
		fail "no named probe is left" "$left"
else
	refused "no kprobes" 1 "CONFIG_KPROBE" vfs_read
fi
