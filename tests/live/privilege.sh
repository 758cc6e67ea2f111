# privilege - roots and users with some capabilities and without others.
# needs: host root setpriv
if ! setpriv --bounding-set -syslog true 2>/dev/null; then
	skip privilege "this root may not drop capabilities"
	exit 0
fi
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
restrict=$(cat /proc/sys/kernel/kptr_restrict)
chmod 711 "$TMP"
cp "$SONDE" "$TMP/sonde"
chmod 755 "$TMP/sonde"
program split
chmod 755 "$TMP/split"

# Who: `without CAPS` is root without these, `user CAPS` another user with.
without() {
	caps=$(echo ",$1" | sed 's/,/,-/g; s/^,//')
	shift
	setpriv --bounding-set "$caps" "$@"
}
user() {
	caps=$(echo ",$1" | sed 's/,/,+/g; s/^,//')
	[ "$caps" != + ] || caps=-all
	shift
	setpriv --reuid 65534 --regid 65534 --clear-groups \
		--inh-caps "$caps" --ambient-caps "$caps" "$@"
}

# can NAME WHO CAPS PROFILE-ARGUMENTS: it profiles; the rest is in $TMP/err.
can() {
	n=$1 who=$2 caps=$3
	shift 3
	$who "$caps" timeout 30 "$TMP/sonde" profile -f "$@" \
		>"$TMP/out" 2>"$TMP/err" && [ -s "$TMP/out" ] && pass "$n" ||
		fail "$n" "$(cat "$TMP/err")"
}
# cannot: the same, but exit status 1 and an error with its object.
cannot() {
	n=$1 who=$2 caps=$3 status=0
	shift 3
	$who "$caps" timeout 30 "$TMP/sonde" profile -f "$@" \
		>"$TMP/out" 2>"$TMP/err" || status=$?
	[ $status = 1 ] && grep -q '^sonde: profile: ' "$TMP/err" &&
		pass "$n" || fail "$n" "status $status: $(cat "$TMP/err")"
}
# says NAME TEXT, silent NAME TEXT: what stderr holds, and does not.
says() {
	grep -qF -- "$2" "$TMP/err" && pass "$1" ||
		fail "$1" "no '$2' in: $(cat "$TMP/err")"
}
silent() {
	grep -qF -- "$2" "$TMP/err" && fail "$1" "$(cat "$TMP/err")" ||
		pass "$1"
}

# doctor_line: the columns of profile, by a vertical bar.
doctor_line() {
	awk -F '  +' '$1 == "profile" { print $2 "|" $3 "|" $4 "|" $5 }'
}
# rung NAME WHO CAPS WORKS RUNG: what doctor says, and its exit status.
rung() {
	n="doctor: $1" who=$2 caps=$3 want=$4 rung=$5 status=0
	$who "$caps" "$TMP/sonde" doctor >"$TMP/out" 2>"$TMP/err" || status=$?
	line=$(doctor_line <"$TMP/out")
	case $want/$status/$line in
	yes/0/"yes|$rung|"*|no/1/"no|$rung|"*) pass "$n" ;;
	*) fail "$n" "status $status: $line $(cat "$TMP/err")" ;;
	esac
}
in_kernel="counted in the kernel: BPF"
in_rings="counted in user space: perf rings"
own="own processes only, user stacks"
[ "$paranoid" -gt 1 ] || own="own processes only"

start "$TMP/split"
spin=$pid

# Root without one of them: the others do.
for cap in sys_admin bpf perfmon dac_read_search dac_override \
	checkpoint_restore; do
	can "root without $cap" without $cap -p "$spin" 1
	says "root without $cap: names" "0 lost"
	silent "root without $cap: in the kernel" "bpf(2) cannot be used"
	rung "root without $cap" without $cap yes "$in_kernel"
done

can "root without sys_ptrace" without sys_ptrace -p "$spin" 1
silent "root without sys_ptrace: in the kernel" "bpf(2) cannot be used"
says "root without sys_ptrace: which" "this root lacks CAP_SYS_PTRACE"
rung "root without sys_ptrace" without sys_ptrace yes "$in_kernel"
grep -q "^profile .*names of others' processes" "$TMP/out" &&
	pass "doctor: names of others" || fail "doctor: names of others" \
	"$(cat "$TMP/out")"

can "root without syslog" without syslog -p "$spin" 1
if [ "$restrict" = 0 ] && [ "$paranoid" -le 1 ]; then
	skip "root without syslog: names" "sysctls show them to all"
else
	without syslog "$TMP/sonde" doctor >"$TMP/err" 2>&1
	says "doctor: root without syslog" "this root lacks CAP_SYSLOG"
	without syslog "$TMP/sonde" sym -k 0xffffffff81000000 >"$TMP/err" 2>&1
	says "sym -k without syslog" "this root lacks CAP_SYSLOG"
fi

# Without two: the next way, or the name of what is missing.
can "root without bpf" without sys_admin,bpf 1
says "root without bpf: says so" "CAP_BPF is missing beside CAP_PERFMON"
rung "root without bpf" without sys_admin,bpf yes "$in_rings"

if [ "$paranoid" -lt 1 ]; then
	skip "without perfmon" "perf_event_paranoid is $paranoid"
else
	cannot "root without perfmon" without sys_admin,perfmon 1
	says "root without perfmon: says so" "this root lacks CAP_PERFMON"
	silent "root without perfmon: is root" "run it as root"
	can "root without perfmon, own command" without sys_admin,perfmon \
		-- timeout 1 "$TMP/split"
	rung "root without perfmon" without sys_admin,perfmon yes "$own"
	cannot "root without any" without all 1
	says "root without any: says so" "this root lacks CAP_SYS_ADMIN"
	cannot "root without any, one with more" without all -p "$spin" 1
	says "root without any, one with more: says so" \
		"takes processes with more rights"
	can "root without any, own command" without all \
		-- timeout 1 "$TMP/split"
	rung "root without any" without all yes "$own"
fi

# A user with both: what is of others has no names.
can "user with bpf and perfmon" user bpf,perfmon 1
silent "user with bpf and perfmon: in the kernel" "bpf(2) cannot be used"
says "user with bpf and perfmon: others" "CAP_SYS_PTRACE"
rung "user with bpf and perfmon" user bpf,perfmon yes "$in_kernel"
can "user with bpf and perfmon, command" user bpf,perfmon \
	-- timeout 1 "$TMP/split"
grep -q 'split;.*seventy' "$TMP/out" && pass "own names" ||
	fail "own names" "$(head -n 3 "$TMP/out" "$TMP/err")"
says "user with bpf and perfmon: tracefs" "tracefs is "
can "user with ptrace, too" user bpf,perfmon,sys_ptrace -p "$spin" 1
grep -q 'split;.*seventy' "$TMP/out" && pass "names with ptrace" ||
	fail "names with ptrace" "$(head -n 3 "$TMP/out" "$TMP/err")"
rung "user with perfmon" user perfmon yes "$in_rings"

# A user with none: own processes by the second rung.
if [ "$paranoid" -lt 1 ]; then
	skip "user with none" "perf_event_paranoid is $paranoid"
elif [ "$paranoid" -gt 2 ]; then
	rung "user with none" user "" no none
	cannot "user with none" user "" 1
	says "user with none: why" "is above 2"
else
	cannot "user with none, whole host" user "" 1
	says "user with none, whole host: why" "own processes only"
	cannot "user with none, process of root" user "" -p "$spin" 1
	says "user with none, process of root: why" "another user"
	silent "user with none, process of root: not that" "paranoid below"
	can "user with none, own command" user "" -- timeout 1 "$TMP/split"
	grep -q 'split;.*seventy' "$TMP/out" && pass "names without rights" ||
		fail "names without rights" "$(cat "$TMP/out" "$TMP/err")"
	rung "user with none" user "" yes "$own"
fi

# Root of a user namespace is a user here.
if unshare -r true 2>/dev/null && [ "$paranoid" -ge 1 ]; then
	namespace() { shift; unshare -r "$@"; }
	cannot "root of a user namespace" namespace "" 1
	says "root of a user namespace: why" "root of a user namespace"
	[ "$paranoid" -gt 2 ] || {
		can "root of a user namespace, own command" namespace "" \
			-- timeout 1 "$TMP/split"
		rung "root of a user namespace" namespace "" yes "$own"
	}
else
	skip "root of a user namespace" "none can be made, or all may sample"
fi
