# rt - PREEMPT_RT, where locks sleep and interrupts are threads.
# guest: rt-6.1
program chain split
grep -q 1 /sys/kernel/realtime && pass "is PREEMPT_RT" || fail "is PREEMPT_RT"
spin "$TMP/chain"
chain=$pid
spin "$TMP/split"
can "PREEMPT_RT" -F 199 2
chain_named "names" 60
whole "nothing lost"
can "-p" -U -F 199 -p "$chain" 1
[ "$(matching '^chain;')" = "$(total)" ] && [ "$(total)" -gt 5 ] &&
	pass "-p alone" || fail "-p alone" "$(cat "$TMP/out")"
for without in none ringbuf bpf; do
	export SONDE_WITHOUT=$without
	can "a command, without $without" -U -F 199 -- "$TMP/chain" 1000
	chain_named "a command, without $without: names" 30
	whole "a command, without $without: nothing lost"
done
unset SONDE_WITHOUT
rung "PREEMPT_RT" yes "$in_kernel"
stop
(LOADSNOOP_WITHOUT="fentry btf" live tests/live/loadsnoop.sh)
kernel_is_well
