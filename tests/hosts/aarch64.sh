# aarch64 - a PMU, and a CPU 0 that can leave.
# guest: aarch64-6.1
program chain leaf
spin "$TMP/chain"
for without in none bpf; do
	export SONDE_WITHOUT=$without
	can "cpu-cycles, without $without" -U -e cpu-cycles -F 199 2
	chain_named "cpu-cycles: names, without $without" 40
	whole "cpu-cycles: nothing lost, without $without"
done
unset SONDE_WITHOUT
cannot "instructions" -e instructions 1		# QEMU counts none
says "instructions: why" "this host does not offer that event"
stop

# Images that a program cannot tell apart: the command's is the one it becomes.
for i in 1 2 3; do
	SONDE_WITHOUT=raw_tracepoint can "without raw_tracepoint $i" -U -F 499 \
		-- "$TMP/chain" 700
	chain_named "names without raw_tracepoint $i" 20
done

zero=/sys/devices/system/cpu/cpu0/online
if echo 0 >$zero; then
	for without in none ringbuf bpf; do
		export SONDE_WITHOUT=$without
		can "without CPU 0, without $without" -U -F 199 \
			-- "$TMP/chain" 700
		chain_named "CPU 1 alone, without $without" 20
	done
	unset SONDE_WITHOUT
	rung "without CPU 0" yes "$in_kernel"
	zero_comes() {
		echo 1 >$zero
		sleep 1
		taskset 1 "$TMP/leaf" 1500
	}
	during "CPU 0 comes back" zero_comes -U
	[ "$(matching '^leaf;.*;leaf [0-9]+$')" -ge 5 ] &&
		pass "CPU 0 is sampled" || fail "CPU 0 is sampled" \
		"$(cat "$TMP/out" "$TMP/err")"
else
	skip "without CPU 0" "it cannot leave"
fi
kernel_is_well
