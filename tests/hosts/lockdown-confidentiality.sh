# lockdown-confidentiality - no program may read the kernel's memory.
# guest: 5.10 -a lockdown=confidentiality
# guest: 7.2 -a lockdown=confidentiality
program chain
spin "$TMP/chain"
can "lockdown=confidentiality" -F 199 1
chain_named "names" 40
whole "nothing lost"
silent "in the kernel" "user space"
can "a command" -U -F 199 -- "$TMP/chain" 1000
chain_named "names of a command" 30
says "a command: tracefs" "kernel lockdown=confidentiality closes tracefs"
rung "lockdown=confidentiality" yes "$in_kernel"
run "verbose doctor" doctor -v
grep -q '^lockdown  *yes  *confidentiality' "$TMP/out" &&
	pass "doctor tells it" || fail "doctor tells it" "$(cat "$TMP/out")"
SONDE_WITHOUT=bpf can "without bpf" -F 199 1
chain_named "names without bpf" 40
stop
kernel_is_well
