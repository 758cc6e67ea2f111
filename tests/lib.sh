# lib.sh - what a live test needs; sourced by tests/live/*.sh.
#
# A live test runs on the build machine or in a guest (tests/guest.sh), where it
# finds busybox and no compiler. What it cannot do without stands in a line
# `# needs: NEED...` of its own:
#   host              the build machine; the guests do not get it
#   root              all rights
#   arch=CPU          as uname -m says it
#   kernel>=MAJOR.MINOR
#   kprobes           the kernel can probe its functions
#   anything else     a program
# It has the tree as working folder, $SONDE the binary, $TMP a folder of its own
# that is removed afterwards. It reports each case by one of
#   pass NAME          fail NAME WHY...          skip NAME REASON...
# and ends only processes that it started, by pid.
set -u
export LC_ALL=C
SONDE=${SONDE:-$PWD/out/sonde}
started=

pass() { echo "PASS $1"; }
fail() { n=$1; shift; echo "FAIL $n: $*"; }
skip() { n=$1; shift; echo "SKIP $n: $*"; }

# check NAME COMMAND...: pass when the command succeeds.
check() {
	n=$1
	shift
	if "$@" >"$TMP/check.log" 2>&1; then
		pass "$n"
	else
		fail "$n" "$* ($(tail -n 3 "$TMP/check.log" | tr '\n' ' '))"
	fi
}

# wait_until CONDITION...: until that command succeeds, for a minute at most:
# machines that do much else are slow.
wait_until() {
	waits=0
	until "$@" 2>/dev/null; do
		waits=$((waits + 1))
		[ $waits -lt 600 ] || return 1
		sleep 0.1
	done
}

# became_another PID: it is not this shell's copy any more, or not at all.
became_another() {
	! cmp -s "/proc/$$/cmdline" "/proc/$1/cmdline"
}

# samples PID: it is a sonde that samples.
samples() { ls -l "/proc/$1/fd" | grep -q perf_event; }

# start COMMAND...: run in the background, for two minutes of CPU time at most;
# $pid is the program's own pid. stop: end all that was started.
start() {
	(ulimit -t 120; exec "$@") >"$TMP/started.log" 2>&1 &
	pid=$!
	started="$started $pid"
	wait_until became_another "$pid"
}
# One that does not end within two seconds, such as a parent that waits for its
# vfork child, is killed.
stop() {
	for p in $started; do
		kill "$p" 2>/dev/null
	done
	tries=0
	for p in $started; do
		while [ $tries -lt 20 ] &&
		      grep -q '^State:.[^ZX]' "/proc/$p/status" 2>/dev/null; do
			sleep 0.1
			tries=$((tries + 1))
		done
		kill -9 "$p" 2>/dev/null
		wait "$p" 2>/dev/null
	done
	started=
}
trap stop EXIT

in_guest() { [ -e /guest.conf ]; }
is_root() { [ "$(id -u)" = 0 ]; }
have() { command -v "$1" >/dev/null 2>&1; }

# program NAME...: put tests/programs/NAME.c, compiled, at $TMP/NAME.
program() {
	for n; do
		cp "$PROGRAMS/$n" "$TMP/$n" || exit 1
	done
}

# is_svg FILE: well-formed, as far as this machine can tell.
is_svg() {
	[ -s "$1" ] || return 1
	if have xmllint; then
		xmllint --huge --noout "$1" 2>"$TMP/xml"
	else
		head -n 1 "$1" | grep -q '^<?xml' &&
			tail -n 1 "$1" | grep -qx '</svg>'
	fi
}

# kernel_is VERSION: that or a later one, by two numbers.
kernel_is() {
	uname -r | awk -F '[.-]' -v want="$1" '{
		split(want, w, ".")
		exit !($1 > w[1] || ($1 == w[1] && $2 >= w[2]))
	}'
}

# meets NEED: see the top.
meets() {
	case $1 in
	host) return 0 ;;
	root) is_root ;;
	arch=*) [ "$(uname -m)" = "${1#*=}" ] ;;
	kernel\>=*) kernel_is "${1#*=}" ;;
	kprobes) [ -e /sys/bus/event_source/devices/kprobe ] ;;
	*) have "$1" ;;
	esac
}

# needs NAME NEED...: true when all are met, else NAME is skipped.
needs() {
	n=$1
	shift
	for need; do
		meets "$need" || { skip "$n" "needs $need"; return 1; }
	done
}

# live SCRIPT: run a test, if what it needs as a whole is there.
live() {
	! needs all $(sed -n 's/^# needs: //p' "$1") || . "$1"
}
