# cgroup - probes in a cgroup: version 2 counts, version 1 is refused with the
# reason.
# needs: root
program traced

mkdir "$TMP/cg1" "$TMP/cg2"
if mount -t cgroup2 none "$TMP/cg2" 2>/dev/null; then
	mkdir "$TMP/cg2/sonde-probes"
	start "$TMP/traced" 100000 1
	outside=$pid
	start "$TMP/traced" 100000 1
	echo "$pid" >"$TMP/cg2/sonde-probes/cgroup.procs"
	"$SONDE" trace -M 20 --cgroup "$TMP/cg2/sonde-probes" \
		"$TMP/traced:six" >"$TMP/out" 2>"$TMP/err"
	awk -v pid="$pid" 'NR > 1 { n++; other += $1 != pid }
		END { exit n != 20 || other }' "$TMP/out" &&
		pass "version 2" ||
		fail "version 2" "not $outside: $(cat "$TMP/out" "$TMP/err")"
	stop
	rmdir "$TMP/cg2/sonde-probes"
	umount "$TMP/cg2"
else
	skip "version 2" "cannot be mounted"
fi
if mount -t cgroup -o perf_event none "$TMP/cg1" 2>/dev/null; then
	status=0
	"$SONDE" funccount --cgroup "$TMP/cg1" "$TMP/traced:six" \
		>"$TMP/out" 2>"$TMP/err" || status=$?
	[ $status = 1 ] && grep -q 'a cgroup of version 1: ' "$TMP/err" &&
		grep -q '^hint: -p takes ' "$TMP/err" && pass "version 1" ||
		fail "version 1" "$status: $(cat "$TMP/err")"
	umount "$TMP/cg1"
else
	skip "version 1" "no perf_event hierarchy can be mounted"
fi
