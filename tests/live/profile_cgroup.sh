# profile_cgroup - a cgroup of either version: only the tasks in it.
# needs: root
program chain

mkdir "$TMP/cg1" "$TMP/cg2"
if mount -t cgroup2 none "$TMP/cg2" 2>/dev/null; then
	# Where nobody has done that yet, it also brings perf's controller.
	in_guest && echo +pids >"$TMP/cg2/cgroup.subtree_control"
	mkdir "$TMP/cg2/sonde-test"
	start "$TMP/chain"
	echo "$pid" >"$TMP/cg2/sonde-test/cgroup.procs"
	for without in none bpf; do
		# A v1 hierarchy may hold the controller that perf needs.
		if [ $without = bpf ] &&
		   ! grep -q '^perf_event[[:space:]]*0' /proc/cgroups; then
			skip "cgroup v2, without bpf" "perf_event is v1's here"
			continue
		fi
		SONDE_WITHOUT=$without "$SONDE" profile -f --cgroup \
			"$TMP/cg2/sonde-test" 1 >"$TMP/cg.folded" 2>"$TMP/err"
		! grep -qv '^chain;' "$TMP/cg.folded" &&
			[ -s "$TMP/cg.folded" ] &&
			pass "cgroup v2, without $without" ||
			fail "cgroup v2, without $without" "$(cat "$TMP/err")"
	done
	stop
	rmdir "$TMP/cg2/sonde-test"
	umount "$TMP/cg2"
else
	skip "cgroup v2" "cannot be mounted"
fi
if mount -t cgroup -o perf_event none "$TMP/cg1" 2>/dev/null; then
	mkdir "$TMP/cg1/sonde-test"
	start "$TMP/chain"
	echo "$pid" >"$TMP/cg1/sonde-test/cgroup.procs"
	"$SONDE" profile -f --cgroup "$TMP/cg1/sonde-test" 1 \
		>"$TMP/cg.folded" 2>"$TMP/err"
	! grep -qv '^chain;' "$TMP/cg.folded" && [ -s "$TMP/cg.folded" ] &&
		pass "cgroup v1" || fail "cgroup v1" "$(cat "$TMP/err")"
	stop
	rmdir "$TMP/cg1/sonde-test"
	umount "$TMP/cg1"
else
	skip "cgroup v1" "no perf_event hierarchy can be mounted"
fi
