# lockdown-integrity - the kernel's memory may be read, not written.
# guest: 6.1 -a lockdown=integrity
program chain
spin "$TMP/chain"
can "lockdown=integrity" -F 199 1
chain_named "names" 40
[ "$(matching ';(entry_|do_|asm_|sysvec_)')" -gt 0 ] ||
	echo "no kernel stack"
whole "nothing lost"
silent "in the kernel" "user space"
rung "lockdown=integrity" yes "$in_kernel"
run "verbose doctor" doctor -v
grep -q '^lockdown  *yes  *integrity' "$TMP/out" && pass "doctor tells it" ||
	fail "doctor tells it" "$(cat "$TMP/out")"
stop
kernel_is_well
