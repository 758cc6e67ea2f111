# doctor - one line a command, whatever the host is like.
columns() { awk -F '  +' -v n="$1" '{ print $n }'; }

"$SONDE" doctor >"$TMP/out" 2>"$TMP/err"
status=$?
[ ! -s "$TMP/err" ] && pass "nothing on stderr" ||
	fail "nothing on stderr" "$(cat "$TMP/err")"
awk -F '  +' 'NF != 5 { print FNR ": " NF " columns" }' "$TMP/out" \
	>"$TMP/bad"
[ ! -s "$TMP/bad" ] && pass "five columns" ||
	fail "five columns" "$(cat "$TMP/bad" "$TMP/out")"
"$SONDE" help | sed -n 's/^  \([a-z]*\)  .*/\1/p' >"$TMP/commands"
sed 1d "$TMP/out" | columns 1 | cmp -s - "$TMP/commands" &&
	pass "every command once" ||
	fail "every command once" "$(cat "$TMP/out")"
works=$(sed 1d "$TMP/out" | awk -F '  +' '$1 == "profile" { print $2 }')
case $works/$status in
yes/0|no/1) pass "exit status" ;;
*) fail "exit status" "profile: $works, exit status $status" ;;
esac

# As many remedies as things that are missing.
awk -F '  +' 'NR > 1 && split($4, a, "; ") != split($5, b, "; ")' "$TMP/out" \
	>"$TMP/bad"
[ ! -s "$TMP/bad" ] && pass "a remedy for each" ||
	fail "a remedy for each" "$(cat "$TMP/bad")"

"$SONDE" doctor --verbose >"$TMP/verbose" 2>"$TMP/err"
head -n "$(wc -l <"$TMP/out")" "$TMP/verbose" | cmp -s - "$TMP/out" &&
	pass "verbose adds only" || fail "verbose adds only" \
	"$(cat "$TMP/verbose")"
awk -F '  +' '/^FEATURE/ { on = 1 }
	on && (NF != 3 || (NR > 1 && $2 !~ /^(HERE|yes|no)$/))' \
	"$TMP/verbose" >"$TMP/bad"
[ ! -s "$TMP/bad" ] && pass "verbose columns" ||
	fail "verbose columns" "$(cat "$TMP/bad")"
for feature in bpf ringbuf get_stack ns_pid read_user raw_tracepoint \
	read_kernel kprobe_pmu uprobe_pmu kprobe_stack perf_link \
	attach_cookie func_ip kprobe_multi uprobe_multi btf fentry task_iter \
	/proc /sys tracefs "perf events of CPUs" "kernel names"; do
	grep -q "^$feature  *\(yes\|no\)  " "$TMP/verbose" ||
		fail "verbose: $feature" "missing"
done

# The same in another locale, without an environment, with stdin closed.
env -i "$SONDE" doctor >"$TMP/bare" 2>&1 <&-
cmp -s "$TMP/bare" "$TMP/out" && pass "bare environment" ||
	fail "bare environment" "$(cat "$TMP/bare")"
LC_ALL=de_DE.UTF-8 LANG=tr_TR TERM= "$SONDE" doctor >"$TMP/other" 2>&1
cmp -s "$TMP/other" "$TMP/out" && pass "other locale" ||
	fail "other locale" "$(cat "$TMP/other")"

"$SONDE" doctor 5 >/dev/null 2>&1
[ $? = 2 ] && pass "no arguments" || fail "no arguments" "not refused"
if [ -e /dev/full ]; then
	"$SONDE" doctor >/dev/full 2>/dev/null
	[ $? = 1 ] && pass "full disk" || fail "full disk" "not noticed"
fi

is_root || { skip "doctor of roots" "needs root"; exit 0; }
[ "$works" = yes ] || { skip "rungs" "profile does not work here"; exit 0; }

# line WITHOUT: the profile line when features count as missing.
line() { SONDE_WITHOUT=$1 "$SONDE" doctor 2>&1 | grep '^profile '; }
line bpf >"$TMP/line"
grep -q 'yes  *counted in user space: perf rings  *BPF' "$TMP/line" &&
	pass "second rung" || fail "second rung" "$(cat "$TMP/line")"
line ringbuf,get_stack,raw_tracepoint,tracefs >"$TMP/line"
grep -q 'BPF ring buffer; bpf_get_stack; raw tracepoints; fork trace' \
	"$TMP/line" && pass "parts" || fail "parts" "$(cat "$TMP/line")"

# Nothing mounted; reached, or not at all.
bare() {
	SONDE_WITHOUT=$1 unshare -m sh -c '
		umount -l /sys/kernel/tracing /sys/kernel/debug 2>/dev/null
		umount -l /sys && umount -l /proc && exec "$0" doctor' \
		"$SONDE" 2>&1 | grep '^profile '
}
if unshare -m true 2>/dev/null; then
	bare "" >"$TMP/line"
	grep -q '/proc not mounted; /sys not mounted.*reached by fsopen' \
		"$TMP/line" || grep -q 'private mount' "$TMP/line" &&
		pass "nothing mounted" ||
		fail "nothing mounted" "$(cat "$TMP/line")"
	bare fsopen >"$TMP/line"
	grep -q 'private mount namespace' "$TMP/line" &&
		pass "private mount" ||
		fail "private mount" "$(cat "$TMP/line")"
	bare fsopen,mount >"$TMP/line"
	grep -q '^profile  *yes .*/proc not mounted; /sys not mounted' \
		"$TMP/line" && pass "no way to /proc" ||
		fail "no way to /proc" "$(cat "$TMP/line")"
else
	skip "nothing mounted" "no mount namespace can be made"
fi
