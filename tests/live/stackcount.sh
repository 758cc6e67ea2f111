# stackcount - stacks behind probes, each caller exactly once; stacksnoop.
# needs: root
program calls mates

# chain NAME WANT PROBE: the folded stacks, from main on, of the calls program.
chain() {
	n=$1 want=$2
	shift 2
	timeout 60 "$SONDE" stackcount -f "$@" -- "$TMP/calls" 100 \
		>"$TMP/out" 2>"$TMP/err"
	got=$(sed 's/.*;main/main/' "$TMP/out" | sort)
	[ "$got" = "$want" ] && grep -q ' 0 lost$' "$TMP/err" && pass "$n" ||
		fail "$n" "$got $(cat "$TMP/err")"
}

chain "a function" "main;outer;inner 100" -U "$TMP/calls:inner"
chain "a function without a frame" "main;outer;bare 100" -U "$TMP/calls:bare"
chain "a function called by pointer" "main;work 100" -U "$TMP/calls:work"
chain "a recursion" "main;rec 100
main;rec;rec 100
main;rec;rec;rec 100" -U "$TMP/calls:rec"
chain "kernel stacks, too" "main;outer;inner 100" "$TMP/calls:inner"
chain "several" "main;outer;bare 100
main;outer;inner 100" -U "$TMP/calls:inner" "$TMP/calls:bare"
chain "another kind of probe beside it" "main;outer;inner 100" -U \
	"$TMP/calls:inner" rt:sched_process_fork
chain "--skip" "main;outer 100" -U --skip 1 "$TMP/calls:inner"
for without in ringbuf get_stack attach_cookie uprobe_pmu; do
	SONDE_WITHOUT=$without chain "without $without" \
		"main;outer;inner 100" -U "$TMP/calls:inner"
done

timeout 60 "$SONDE" stackcount -U -f --depth 2 "$TMP/calls:inner" -- \
	"$TMP/calls" 100 >"$TMP/out" 2>"$TMP/err"
[ "$(cat "$TMP/out")" = "calls;outer;inner 100" ] && pass "--depth" ||
	fail "--depth" "$(cat "$TMP/out" "$TMP/err")"

# Text is leaf first, with the process below, as bcc has it.
timeout 60 "$SONDE" stackcount -U "$TMP/calls:inner" -- "$TMP/calls" 100 \
	>"$TMP/out" 2>"$TMP/err"
sed -n '2,4p' "$TMP/out" | tr -d '\n' | grep -q '^  inner  outer  main$' &&
	grep -q '^    calls \[[0-9]*\]$' "$TMP/out" &&
	grep -q '^    100$' "$TMP/out" && pass "text" ||
	fail "text" "$(cat "$TMP/out" "$TMP/err")"
timeout 60 "$SONDE" stackcount -o "$TMP/x.svg" "$TMP/calls:inner" -- \
	"$TMP/calls" 100 2>"$TMP/err"
is_svg "$TMP/x.svg" && grep -q 'inner (100 hits' "$TMP/x.svg" &&
	pass "a flame graph" || fail "a flame graph" "$(cat "$TMP/err")"

# A process of -p, without its children.
start sh -c 'while :; do "$1" 50; sleep 0.1; done' sh "$TMP/calls"
timeout 60 "$SONDE" stackcount -U -f -D 1 -p "$pid" "$TMP/calls:inner" \
	>"$TMP/out" 2>"$TMP/err"
stop
[ ! -s "$TMP/out" ] && grep -q '^note: 0 hits' "$TMP/err" &&
	! grep -q descendants "$TMP/err" && pass "-p, not its children" ||
	fail "-p, not its children" "$(cat "$TMP/out" "$TMP/err")"

# -P: each process by itself, also where two have one name.
twice='"$1" 100; "$1" 100'
per_process() { # NAME WANT OPTION...
	n=$1 want=$2
	shift 2
	timeout 60 "$SONDE" stackcount "$@" "$TMP/calls:inner" -- \
		sh -c "$twice" sh "$TMP/calls" >"$TMP/out" 2>"$TMP/err"
	got=$(sed -n 's/^calls-\([0-9]*\);.*inner 100$/\1/p
		s/^    calls \[\([0-9]*\)\]$/\1/p
		s/^calls;.* \([0-9]*\)$/together \1/p' "$TMP/out" |
		sort -u | wc -l)
	[ "$got" = "$want" ] && pass "$n" ||
		fail "$n" "$got $(cat "$TMP/out" "$TMP/err")"
}
per_process "-P, folded" 2 -U -P -f
per_process "-P, text" 2 -U -P
per_process "folded without -P" 1 -U -f
timeout 60 "$SONDE" stackcount -U -P -o "$TMP/p.svg" "$TMP/calls:inner" -- \
	sh -c "$twice" sh "$TMP/calls" 2>"$TMP/err"
[ "$(grep -o '>calls-[0-9]* (100 hits' "$TMP/p.svg" | sort -u | wc -l)" = 2 ] &&
	pass "-P, a flame graph" ||
	fail "-P, a flame graph" "$(grep -o '>calls[^<]*' "$TMP/p.svg")"

# Kernel stacks of all together: a tracepoint leads to no frame of ours.
timeout 60 "$SONDE" stackcount -K -f t:sched:sched_process_exec -- \
	"$TMP/calls" 1 >"$TMP/out" 2>"$TMP/err"
grep -q '^all;.*execve.* 1$' "$TMP/out" && ! grep -q bpf "$TMP/out" &&
	pass "a tracepoint" ||
	fail "a tracepoint" "$(cat "$TMP/out" "$TMP/err")"

# The same of a raw tracepoint, whose program runs within the traced function.
leaf_of() {
	timeout 60 "$SONDE" "$@" -- "$TMP/calls" 1 2>"$TMP/err" |
		sed -n '/execve/s/ 1$//; /execve/s/.*;//p'
}
want=$(leaf_of stackcount -K -f t:sched:sched_process_exec)
got=$(leaf_of stackcount -K -f rt:sched_process_exec)
[ -n "$got" ] && [ "$got" = "$want" ] && pass "a raw tracepoint" ||
	fail "a raw tracepoint" "$got, not $want"
for tool in "trace -K" "stacksnoop -K"; do
	timeout 60 "$SONDE" $tool rt:sched_process_exec -- "$TMP/calls" 1 \
		>"$TMP/out" 2>"$TMP/err"
	grep -A 1 sched_process_exec "$TMP/out" | tail -n 1 |
		grep -q "^[[:space:]]*$want$" &&
		pass "a raw tracepoint: $tool" ||
		fail "a raw tracepoint: $tool" "$(cat "$TMP/out" "$TMP/err")"
done

# What is lost is told once: a hit without a row whose record found no room.
rounds=$(in_guest && echo 5000 || echo 100000)
timeout 60 "$SONDE" stackcount -U -f --hash-storage-size 1 \
	--stack-storage-size 1 "$TMP/calls:[iorw]*" -- "$TMP/calls" $rounds \
	>"$TMP/out" 2>"$TMP/err"
awk '/ hits in / { hits = $2; lost = $(NF - 1) }
	/^note: hits lost, / { told += $NF }
	/^note: records lost, / { told += $NF }
	FILENAME != "'"$TMP/err"'" { n += $NF }
	END { exit !(hits == n + lost && told == lost) }' "$TMP/out" \
	"$TMP/err" && pass "losses are told once" ||
	fail "losses are told once" "$(tail -n 5 "$TMP/out"; cat "$TMP/err")"

# Intervals begin anew.
timeout 60 "$SONDE" stackcount -U -f -i 1 "$TMP/calls:inner" -- sh -c \
	'sleep 0.3; "$1" 100; sleep 1.5; "$1" 200' sh "$TMP/calls" \
	>"$TMP/out" 2>"$TMP/err"
[ "$(awk '{ n += $NF } END { print n }' "$TMP/out")" = 300 ] &&
	pass "intervals" || fail "intervals" "$(cat "$TMP/out" "$TMP/err")"

# Each hit with its stack, at once.
timeout 60 "$SONDE" stacksnoop -v -M 3 "$TMP/calls:rec" -- "$TMP/calls" 5 \
	>"$TMP/out" 2>"$TMP/err"
awk '/^\t/ { s = s $1 ";"; next }
	/ calls / { n++ }
	/^$/ { print s; s = "" }
	END { exit n != 3 }' "$TMP/out" >"$TMP/got" &&
	grep -q '^rec;main;' "$TMP/got" &&
	grep -q '^rec;rec;main;' "$TMP/got" &&
	grep -q '^rec;rec;rec;main;' "$TMP/got" && pass "stacksnoop" ||
	fail "stacksnoop" "$(cat "$TMP/out" "$TMP/err")"
{ timeout 20 "$SONDE" stacksnoop "$TMP/calls:rec" -- "$TMP/calls" 5000 \
	2>"$TMP/err"; echo $? >"$TMP/status"; } | head -n 2 >/dev/null
[ "$(cat "$TMP/status")" = 0 ] && ! grep -q "cannot write" "$TMP/err" &&
	pass "stacksnoop: closed pipe" ||
	fail "stacksnoop: closed pipe" "$(cat "$TMP/status" "$TMP/err")"

# Tasks that take the CPU from each other leave each other's stacks alone.
timeout 60 "$SONDE" stacksnoop -v -U "$TMP/mates:hit" -- "$TMP/mates" 3000 \
	>"$TMP/out" 2>"$TMP/err"
awk '/^[0-9]/ { if (saw != who) bad++; who = NF == 5 ? $2 : "?"; saw = ""; n++ }
	/^\tmate/ { saw = saw $1 }
	END { print n, bad + 0; exit !(n > 3000 && !bad && saw == who) }' \
	"$TMP/out" >"$TMP/got" && pass "stacksnoop: whose stack" ||
	fail "stacksnoop: whose stack" "$(cat "$TMP/got" "$TMP/err")"

if meets kprobes; then
	timeout 60 "$SONDE" stackcount -K -f vfs_write -- dd if=/dev/zero \
		of=/dev/null bs=1 count=200 >"$TMP/out" 2>"$TMP/err"
	awk '/sys_write;vfs_write [0-9]+$/ { n += $NF }
		END { exit !(n >= 200 && n < 220) }' "$TMP/out" &&
		pass "a kernel function, its caller once" ||
		fail "a kernel function, its caller once" \
			"$(cat "$TMP/out" "$TMP/err")"
	# What runs our program may be a function of the kernel that is traced.
	for kind in kprobe kretprobe fentry fexit; do
		timeout 60 "$SONDE" stackcount -K -f $kind:vfs_write -- dd \
			if=/dev/zero of=/dev/null bs=1 count=200 >"$TMP/out" \
			2>"$TMP/err" || continue
		[ -s "$TMP/out" ] && ! grep -q bpf "$TMP/out" &&
			pass "no frame of ours: $kind" ||
			fail "no frame of ours: $kind" "$(cat "$TMP/out")"
	done
	timeout 60 "$SONDE" stackcount -K -f bpf_prog_load -- \
		"$SONDE" stackcount -D 1 rt:sched_process_exec >"$TMP/out" \
		2>"$TMP/err"
	grep -q ';bpf_prog_load [0-9]*$' "$TMP/out" &&
		pass "a function that loads programs" ||
		fail "a function that loads programs" \
			"$(cat "$TMP/out" "$TMP/err")"
	timeout 60 "$SONDE" stacksnoop -M 1 vfs_write -- dd if=/dev/zero \
		of=/dev/null bs=1 count=200 >"$TMP/out" 2>"$TMP/err"
	grep -q '	vfs_write$' "$TMP/out" &&
		pass "stacksnoop: the kernel" ||
		fail "stacksnoop: the kernel" "$(cat "$TMP/out" "$TMP/err")"
fi
