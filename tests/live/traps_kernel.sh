# traps_kernel - names of kernel functions on a live kernel that changes, or
# that hides them.
# needs: host root
cd "$TMP" || exit 1
restrict=/proc/sys/kernel/kptr_restrict
before=$(cat $restrict 2>/dev/null)
restore() {
	stop
	[ -z "$before" ] || echo "$before" >$restrict
}
trap restore EXIT
hidden() {
	[ "$(awk 'NR == 1 { print $1 }' /proc/kallsyms)" = 0000000000000000 ]
}

# BPF programs of before, loaded and gone meanwhile, and new ones: each has its
# own name, or none. All have the same code, so the same tag.          G1-08
program bpfspin
programs_come_and_go() {
	start ./bpfspin early 4000 4000
	sleep 0.3
	cp "$TMP/started.log" name
	start sh -c 'sleep 0.5; ./bpfspin gone 500 0
		sleep 0.2; exec ./bpfspin late 500 6000'
	"$SONDE" profile -f -K --comm bpfspin -F 999 3 >found 2>notes
	stop
	prefix=$(sed -n 's/early$//p' name)
	for n in early late; do
		grep -qE "bpf_test_run;$prefix$n [0-9]+\$" found &&
			pass "a BPF program: $n" ||
			fail "a BPF program: $n" "$(grep -o 'bpf_prog.*' \
				found | sort | uniq -c | head -n 3)"
	done
	grep -qE 'bpf_test_run;0xf[0-9a-f]{15} [0-9]+$' found &&
		pass "a BPF program that is gone is an address" ||
		fail "a BPF program that is gone is an address" \
			"$(grep -o 'bpf_test_run;.*' found | head -n 3)"
	! grep -q "${prefix}gone" found && pass "and has no other's name" ||
		fail "and has no other's name" "$(grep gone found | head -n 2)"
}
if hidden; then
	skip "BPF programs" "addresses are hidden"
elif [ "$(cat /proc/sys/net/core/bpf_jit_enable 2>/dev/null)" = 0 ]; then
	skip "BPF programs" "no JIT compiler"
else
	programs_come_and_go
fi

# busy_kernel COMMAND...: a profile of kernel stacks by COMMAND while a program
# reads zeros.
busy_kernel() {
	start dd if=/dev/zero of=/dev/null bs=1M
	"$@" profile -f -K --comm dd -F 499 1 >found 2>notes
	stop
}

# What a compiler made of a function that is not there itself.         G1-12
only_variants() {
	"$SONDE" list 'kprobe:*.isra.0' 2>notes |
		sed -n 's/^kprobe:\([^:]*\)\.isra\.0$/\1/p' |
		while read -r n; do
			grep -q " $n\$" /proc/kallsyms || {
				echo "$n"
				break
			}
		done
}
if needs "variants of a function" kprobes; then
	n=$(only_variants)
	if [ -z "$n" ]; then
		skip "variants of a function" "this kernel has none"
	else
		timeout 60 "$SONDE" funccount --duration 1 "$n" >found 2>notes
		grep -qF "hint: there is $n.isra.0" notes &&
			pass "variants of a function" ||
			fail "variants of a function" "$n: $(cat notes)"
	fi
fi

# Hidden addresses: said once, with the remedy; numbers, not names.
if [ -n "$before" ] && echo 2 >$restrict 2>/dev/null; then
	busy_kernel "$SONDE"
	echo "$before" >$restrict
	[ "$(grep -c 'addresses are hidden' notes)" = 1 ] &&
		grep -q 'hint: sysctl kernel.kptr_restrict' notes &&
		pass "hidden addresses are said once" ||
		fail "hidden addresses are said once" "$(cat notes)"
	grep -q '^dd;' found && ! grep -qvE \
		'^dd(;0x[0-9a-f]{8,16})* [0-9]+$' found &&
		pass "hidden addresses: no names" ||
		fail "hidden addresses: no names" "$(head -n 2 found)"
	echo 1 >$restrict
	busy_kernel "$SONDE"
	echo "$before" >$restrict
	grep -q ';vfs_read' found && pass "kptr_restrict 1 hides nothing" ||
		fail "kptr_restrict 1 hides nothing" "$(cat notes)"
else
	skip "hidden addresses" "kptr_restrict cannot be set here"
fi

# Neither kallsyms nor modules; no /proc/kcore (not needed).           G1-16
masked() {
	unshare -m --propagation private sh -c '
		for f; do
			[ ! -e $f ] || mount --bind /dev/null $f || exit 9
		done
		shift $#
		exec "$SONDE" profile -f -K --comm dd -F 499 1' sh "$@"
}
export SONDE
if unshare -m true 2>/dev/null; then
	start dd if=/dev/zero of=/dev/null bs=1M
	masked /proc/kcore >found 2>notes
	grep -q ';vfs_read' found && pass "without /proc/kcore" ||
		fail "without /proc/kcore" "$(cat notes)"
	masked /proc/modules >found 2>notes
	grep -q ';vfs_read' found && pass "without /proc/modules" ||
		fail "without /proc/modules" "$(cat notes)"
	masked /proc/kallsyms >found 2>notes
	grep -q '^dd;0x' found && [ "$(grep -c kallsyms notes)" = 1 ] &&
		pass "without /proc/kallsyms: addresses, said once" ||
		fail "without /proc/kallsyms: addresses, said once" \
			"$(cat notes)"
	unshare -m --propagation private sh -c 'umount -l /proc &&
		exec "$SONDE" profile -f --comm dd -F 499 1' >found 2>notes
	stop
	grep -qE '[;]read;.*;vfs_read' found &&
		pass "without /proc" || skip "without /proc" \
		"$(head -n 1 notes) (a detached mount needs Linux 5.2)"
else
	skip "masked files" "no mount namespaces"
fi

# Another user gets no wrong names, but the reason.
if have setpriv; then
	cp "$SONDE" sonde
	chmod 755 . sonde
	setpriv --reuid 65534 --clear-groups ./sonde profile -f 1 >found 2>notes
	status=$?
	{ [ $status = 0 ] && [ -s found ]; } || { [ $status = 1 ] &&
		[ ! -s found ] && grep -q '^hint: ' notes; } &&
		pass "as another user" ||
		fail "as another user" "$status: $(cat notes)"
	setpriv --reuid 65534 --clear-groups ./sonde sym -k \
		ffffffff81000000 >found 2>notes && [ -s found ] ||
		grep -q 'hidden' notes && pass "names as another user" ||
		fail "names as another user" "$(cat found notes)"
	setpriv --reuid 65534 --clear-groups unshare -Ur ./sonde profile -f 1 \
		>found 2>notes
	if grep -q '^unshare' notes; then
		skip "root of a user namespace" "$(cat notes)"
	else
		grep -q '^hint: root of a user namespace' notes &&
			! grep -q memory notes &&
			pass "root of a user namespace" ||
			fail "root of a user namespace" "$(cat notes)"
	fi
else
	skip "as another user" "no setpriv"
fi
