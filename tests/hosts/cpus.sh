# cpus - more possible CPUs than are there, and one that leaves and comes back.
# guest: 6.1 -q '-smp 2,maxcpus=64'
program chain leaf
grep -H . /sys/devices/system/cpu/possible /sys/devices/system/cpu/online
online=/sys/devices/system/cpu/cpu1/online

spin "$TMP/chain"
for without in none ringbuf bpf; do
	export SONDE_WITHOUT=$without
	can "2 of 64, without $without" -U -F 199 1
	chain_named "names, without $without" 40
	whole "nothing lost, without $without"
done
unset SONDE_WITHOUT
can "kernel stacks" 1
stop

# A CPU leaves and comes back: what then runs on it alone is sampled, and before
# that it had been sampled, too.
one_leaves() {
	sleep 1
	echo 0 >$online
	sleep 1
	kill "$pid"
	echo 1 >$online
	sleep 1
	taskset 2 "$TMP/leaf" 1500
}
for without in none bpf; do
	export SONDE_WITHOUT=$without
	spin taskset 2 "$TMP/chain"
	during "CPU 1 leaves and comes, without $without" one_leaves -U
	stop
	whole "CPU 1: nothing lost, without $without"
	[ "$(matching '^chain;.*;leaf [0-9]+$')" -ge 5 ] &&
		pass "CPU 1: before, without $without" ||
		fail "CPU 1: before, without $without" "$(cat "$TMP/out")"
	[ "$(matching '^leaf;.*;leaf [0-9]+$')" -ge 5 ] &&
		pass "CPU 1: after, without $without" ||
		fail "CPU 1: after, without $without" "$(cat "$TMP/out")"
done
unset SONDE_WITHOUT
echo 0 >$online
cannot "a CPU that is offline" -C 1 1
says "a CPU that is offline: why" "CPU 1: not online"
cannot "a CPU that cannot be" -C 300 1
echo 1 >$online
kernel_is_well
