# nosmt - the second thread of the only core is there, and stays offline.
# guest: 6.1 -q '-cpu max,vendor=GenuineIntel -smp 2,cores=1,threads=2' -a nosmt
program chain
[ "$(cat /sys/devices/system/cpu/online)" = 0 ] && pass "one thread" ||
	fail "one thread" "$(cat /sys/devices/system/cpu/online)"
spin "$TMP/chain"
for without in none ringbuf bpf; do
	export SONDE_WITHOUT=$without
	can "one thread of two, without $without" -U -F 199 1
	chain_named "names, without $without" 40
	whole "nothing lost, without $without"
done
unset SONDE_WITHOUT
cannot "the other thread" -C 1 1
says "the other thread: why" "CPU 1: not online"
stop
kernel_is_well
