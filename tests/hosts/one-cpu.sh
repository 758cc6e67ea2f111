# one-cpu - a single CPU; with maxcpus=1 there is another that can come online.
# guest: 5.10 -q '-smp 1'
# guest: 7.2 -a maxcpus=1
program chain leaf
spin "$TMP/chain"
for without in none bpf; do
	export SONDE_WITHOUT=$without
	can "one CPU, without $without" -U -F 199 1
	chain_named "names, without $without" 40
	whole "nothing lost, without $without"
done
unset SONDE_WITHOUT
can "its number" -C 0 1
cannot "another number" -C 1 1
says "another number: why" "CPU 1: not online"
rung "one CPU" yes "$in_kernel"

# The other CPU comes in the middle, and what runs there alone is sampled.
online=/sys/devices/system/cpu/cpu1/online
if [ -e $online ]; then
	one_comes() {
		echo 1 >$online
		sleep 1
		taskset 2 "$TMP/leaf" 1500
	}
	during "a CPU that comes" one_comes -U
	[ "$(matching '^leaf;.*;leaf [0-9]+$')" -ge 5 ] &&
		pass "a CPU that comes: sampled" ||
		fail "a CPU that comes: sampled" "$(cat "$TMP/out")"
fi
stop
kernel_is_well
