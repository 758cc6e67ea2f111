# memlock - before Linux 5.11 the memory of BPF counts as locked memory.
# guest: 5.10
program chain as
spin "$TMP/chain"
ulimit -l
(ulimit -l 64
can "a limit that it may raise" -F 199 1
silent "a limit that it may raise: in the kernel" "user space"
chain_named "a limit that it may raise: names" 40

who="$TMP/as -24"			# CAP_SYS_RESOURCE
can "a limit that it may not raise" -F 199 1
chain_named "a limit that it may not raise: names" 40
says "a limit that it may not raise: where" \
	"stacks are counted in user space"
says "a limit that it may not raise: why" "BPF memory counts as locked"
cat "$TMP/err"
can "the same, a command" -F 199 -- "$TMP/chain" 700
rung "a limit that it may not raise" yes "$in_rings"
grep -q '^profile .*BPF.*ulimit -l' "$TMP/out" && pass "doctor tells it" ||
	fail "doctor tells it" "$(cat "$TMP/out")"
)
ulimit -l unlimited
who="$TMP/as -24"
can "no limit" -F 199 1
silent "no limit: in the kernel" "user space"
stop
kernel_is_well
