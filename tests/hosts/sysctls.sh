# sysctls - kptr_restrict, perf_event_paranoid, perf_event_max_stack.
# guest: 6.1
program chain as
sysctls=/proc/sys/kernel
user="$TMP/as 1000"
chmod 755 "$TMP" "$TMP/chain"
kernel_names() { matching ';(entry_|do_|__x64_|asm_|sysvec_|el0)'; }

# Names of the kernel, and what is said when there are none.
spin /programs/busy
for restrict in 0 1 2; do
	echo $restrict >$sysctls/kptr_restrict
	can "kptr_restrict $restrict" -F 199 1
	if [ $restrict = 2 ]; then
		says "kptr_restrict 2: why" "sysctl kernel.kptr_restrict is 2"
		[ "$(kernel_names)" = 0 ] && pass "kptr_restrict 2: no names" ||
			fail "kptr_restrict 2: no names" "$(cat "$TMP/out")"
		run "kptr_restrict 2: doctor" doctor
		grep -q '^profile .*kernel names.*kptr_restrict is 2' \
			"$TMP/out" && pass "kptr_restrict 2: doctor" ||
			fail "kptr_restrict 2: doctor" "$(cat "$TMP/out")"
	else
		[ "$(kernel_names)" -gt 0 ] && pass "kptr_restrict $restrict:" \
			"names" || fail "kptr_restrict $restrict: names" \
			"$(cat "$TMP/out" "$TMP/err")"
	fi
done
echo 0 >$sysctls/kptr_restrict
stop

# Who may sample what: root all, another user nothing, or own processes.
for paranoid in 3 2 1 0; do
	echo $paranoid >$sysctls/perf_event_paranoid
	who=
	n="root, paranoid $paranoid"
	rung "$n" yes "$in_kernel"
	who=$user
	n="user, paranoid $paranoid"
	case $paranoid in
	3)
		rung "$n" no none
		cannot "$n" 1
		says "$n: why" "sysctl kernel.perf_event_paranoid is above 2"
		cannot "$n, own" -- "$TMP/chain" 300
		says "$n, own: why" \
			"sysctl kernel.perf_event_paranoid is above 2"
		continue
		;;
	2) rung "$n" yes "$own" ;;
	1) rung "$n" yes "own processes only" ;;
	0) rung "$n" yes "$in_rings" ;;
	esac
	can "$n, own" -F 199 -- "$TMP/chain" 1000
	chain_named "$n, own: names" 40
	if [ $paranoid = 0 ]; then
		can "$n, all" 1
	else
		cannot "$n, all" 1
		says "$n, all: why" "kernel.perf_event_paranoid below 1"
	fi
done
who=
echo 2 >$sysctls/perf_event_paranoid

# The deepest stack: the rest is cut and said so, and deeper ones are whole.
deep() {
	n=$1
	shift
	can "$n" -U -F 199 -- timeout 2 /programs/behave deep 150
	depth=$(awk -F ';' 'NF > most { most = NF } END { print most + 0 }' \
		"$TMP/out")
	echo "$n: $depth names deep"
}
for without in none bpf; do
	export SONDE_WITHOUT=$without
	echo 16 >$sysctls/perf_event_max_stack
	deep "max_stack 16, without $without"
	[ "$depth" -ge 15 ] && [ "$depth" -le 19 ] && pass "$n: depth" ||
		fail "$n: depth" "$depth"
	says "$n: says so" "sysctl kernel.perf_event_max_stack"
	echo 512 >$sysctls/perf_event_max_stack
	deep "max_stack 512, without $without"
	[ "$depth" -ge 150 ] && pass "$n: depth" || fail "$n: depth" "$depth"
	silent "$n: says nothing" "deeper"
done
unset SONDE_WITHOUT
kernel_is_well
