# profile_rungs - each rung of the ladders, and the ways in and out.
# needs: root
program chain

# The second rung, in user space; also for a user on a process of his own.
SONDE_WITHOUT=bpf "$SONDE" profile -f -F 999 -- "$TMP/chain" -500 \
	>"$TMP/here.folded" 2>"$TMP/err"
grep -q ';main;top;mid;leaf [0-9]' "$TMP/here.folded" &&
	grep -q ' 0 lost$' "$TMP/err" && pass "without bpf(2)" ||
	fail "without bpf(2)" "$(cat "$TMP/err")"
start "$TMP/chain"
SONDE_WITHOUT=bpf "$SONDE" profile -f -U -F 99 -p "$pid" 1 \
	>"$TMP/here.folded" 2>"$TMP/err"
stop
! grep -qv '^chain;' "$TMP/here.folded" && [ -s "$TMP/here.folded" ] &&
	pass "without bpf(2): one process" ||
	fail "without bpf(2): one process" "$(cat "$TMP/err")"
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] &&
   have setpriv; then
	chmod 755 "$TMP"
	cp "$SONDE" "$TMP/sonde"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/sonde" \
		profile -f -F 999 -- "$TMP/chain" -500 >"$TMP/user.folded" \
		2>"$TMP/err"
	grep -q ';main;top;mid;leaf' "$TMP/user.folded" &&
		pass "an ordinary user" ||
		fail "an ordinary user" "$(cat "$TMP/err")"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/sonde" \
		profile -f 1 >"$TMP/user.folded" 2>"$TMP/err"
	[ $? = 1 ] && grep -q 'kernel.perf_event_paranoid' "$TMP/err" &&
		pass "an ordinary user, all processes: refused" ||
		fail "an ordinary user, all processes: refused" \
			"$(cat "$TMP/err")"
	# Whose children come and go: as many samples as its own time asks for,
	# or a third of them on a machine where others work.
	if needs "a user's process that forks" 'kernel>=5.13'; then
		program parent
		start setpriv --reuid 65534 --regid 65534 --clear-groups \
			"$TMP/parent"
		used() { awk '{ print $14 }' "/proc/$pid/stat"; }
		before=$(used)
		setpriv --reuid 65534 --regid 65534 --clear-groups \
			"$TMP/sonde" profile -f -F 499 -p "$pid" 2 \
			>"$TMP/user.folded" 2>"$TMP/err"
		awk -v ticks=$(($(used) - before)) '/;own / { n += $NF }
			END { exit !(ticks && n * 3 > ticks * 4.99) }' \
			"$TMP/user.folded" &&
			pass "a user's process that forks" ||
			fail "a user's process that forks" \
				"$(($(used) - before)) $(cat "$TMP/err")"
		stop
	fi
else
	skip "an ordinary user" "kernel.perf_event_paranoid above 2"
fi

# Nothing mounted: by the new mount calls, by a mount namespace, not at all.
if unshare -m true 2>/dev/null; then
	for without in none fsopen fsopen,mount; do
		SONDE_WITHOUT=$without unshare -m sh -c 'umount -l /sys
			umount -l /proc; exec "$@"' sh "$SONDE" profile -f \
			-F 999 -- "$TMP/chain" -300 >"$TMP/bare" \
			2>"$TMP/err"
		grep -q ';main;top;mid;leaf' "$TMP/bare" &&
			pass "nothing mounted, without $without" ||
			fail "nothing mounted, without $without" \
				"$(cat "$TMP/err")"
	done
else
	skip "nothing mounted" "unshare -m is not possible"
fi

# The rungs that this kernel does not need: each, and all of them.
for without in ringbuf get_stack raw_tracepoint \
	ringbuf,get_stack,raw_tracepoint; do
	case $without in *,*) half= ;; *) half=-U ;; esac
	SONDE_WITHOUT=$without "$SONDE" profile -f $half -F 499 -- \
		"$TMP/chain" -500 >"$TMP/rung" 2>"$TMP/err"
	grep -q ';main;top;mid;leaf' "$TMP/rung" &&
		grep -q ' 0 lost$' "$TMP/err" && pass "without $without" ||
		fail "without $without" "$(cat "$TMP/err")"
done

# Ctrl-C ends it and prints; everything hangs on descriptors, so nothing is
# left in the kernel even after kill -9.
# (What a shell starts in the background ignores SIGINT: this is in front.)
front_samples() { [ -s "$TMP/pid" ] && samples "$(cat "$TMP/pid")"; }
{ wait_until front_samples; kill -INT "$(cat "$TMP/pid")"; } &
sh -c 'echo $$ >"$1"; exec "$2" profile -f 60' sh "$TMP/pid" "$SONDE" \
	>"$TMP/int.folded" 2>"$TMP/err"
[ $? = 0 ] && grep -q "samples in" "$TMP/err" && pass "Ctrl-C prints" ||
	fail "Ctrl-C prints" "$(cat "$TMP/err")"
wait
start "$SONDE" profile -f
programs_of() { cat "/proc/$1/fdinfo/"* | grep '^prog_id'; }
wait_until programs_of "$pid" >/dev/null
mine=$(programs_of "$pid" 2>/dev/null)
kill -9 "$pid"
wait "$pid" 2>/dev/null
left=$(find /proc/[0-9]*/fdinfo -type f 2>/dev/null |
	xargs grep -hxF "$mine" 2>/dev/null)
[ -n "$mine" ] && [ -z "$left" ] && pass "kill -9 leaves nothing" ||
	fail "kill -9 leaves nothing" "had: $mine, left: $left"

# No environment at all, and a pipe between the two commands.
env -i "$SONDE" profile -f 1 2>"$TMP/err" | env -i "$SONDE" flame \
	>"$TMP/x.svg" 2>>"$TMP/err"
is_svg "$TMP/x.svg" && pass "empty environment, by a pipe" ||
	fail "empty environment, by a pipe" "$(cat "$TMP/err")"
