# boot - the trace of a boot, kept by a child, while we become the init. As
# process 1: in a guest, by ./build.sh guest KERNEL boot.
# needs: host root
chain=$PROGRAMS/chain

# boot ARGUMENTS...: in a process group of its own; output in $TMP/out, err.
boot() { timeout 60 "$SONDE" boot "$@" >"$TMP/out" 2>"$TMP/err" </dev/null; }

# keeper: the pid of the child that keeps the trace of process $pid.
keeper() {
	for file in /proc/[0-9]*/stat; do
		awk -v parent="$1" '$4 == parent && /\(@sonde-boot\)/ {
			print $1 }' "$file" 2>/dev/null
	done
}
# ended PID: wait until it is no more, half a minute at most.
ended() {
	tries=0
	while grep -q '^State:.[^ZX]' "/proc/$1/status" 2>/dev/null; do
		sleep 0.1
		tries=$((tries + 1))
		[ $tries -lt 300 ] || return 1
	done
}

# The pipe of the output ends with the keeper, the result is whole then.
"$SONDE" boot --for 2 -f -F 499 -- "$chain" 1500 2>"$TMP/err" | cat >"$TMP/out"
grep -q '^chain;.*main;top;mid;leaf ' "$TMP/out" && pass "result" ||
	fail "result" "$(cat "$TMP/err")"
grep -q 'samples in' "$TMP/err" && pass "says how much" ||
	fail "says how much" "$(cat "$TMP/err")"

# It samples before the command begins, however short that is.
"$SONDE" boot --for 1 -f -F 499 -- true 2>"$TMP/err" | cat >"$TMP/out"
grep -q '^[0-9]* samples\|note: .* samples' "$TMP/err" &&
	pass "outlives the command" ||
	fail "outlives the command" "$(cat "$TMP/err")"

# A file is there at the end, not before; relative paths, too.
(cd "$TMP" && boot --for 1 -o late.svg -- sh -c 'ls late.svg; exec "$0" 500' \
	"$chain")
[ ! -s "$TMP/out" ] && pass "no file before the end" ||
	fail "no file before the end" "$(cat "$TMP/out")"
tries=0
while [ ! -s "$TMP/late.svg" ] && [ $tries -lt 300 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
sleep 0.2
is_svg "$TMP/late.svg" && pass "file" || fail "file" "$(cat "$TMP/err")"

# What the init gets is as we got it: descriptors, signals, arguments.
cat >"$TMP/init" <<'INIT'
#!/bin/sh
echo "$0 $*"
for n in 0 1 2 3 4 5 6 7 8; do
	[ -e "/proc/$$/fd/$n" ] && echo "$n $(readlink "/proc/$$/fd/$n")"
done
grep "^Sig[BI]" /proc/self/status
INIT
chmod +x "$TMP/init"
handed() {
	"$@" "$TMP/init" a 'b c' >"$TMP/out1" 3</dev/null 4>&- 2>&1
	sed 's,pipe:.*,pipe,' "$TMP/out1"
}
run_boot() { "$SONDE" boot --for 1 -o "$TMP/x.txt" -- "$@"; }
handed env >"$TMP/want"
handed run_boot | grep -v '^note: ' >"$TMP/got"
cmp -s "$TMP/want" "$TMP/got" && pass "handed on" ||
	fail "handed on" "$(diff "$TMP/want" "$TMP/got")"
(trap '' PIPE HUP; handed env <&-) >"$TMP/want"
(trap '' PIPE HUP; handed run_boot <&-) | grep -v '^note: ' >"$TMP/got"
cmp -s "$TMP/want" "$TMP/got" && pass "handed on, closed and ignored" ||
	fail "handed on, closed and ignored" "$(diff "$TMP/want" "$TMP/got")"

# The keeper: its name, its session; SIGHUP passes, SIGTERM ends it.
start "$SONDE" boot --for 60 -f -F 499 -- "$chain" 60000
child=
tries=0
while [ -z "$child" ] && [ $tries -lt 100 ]; do
	sleep 0.1
	child=$(keeper "$pid")
	tries=$((tries + 1))
done
[ "$(head -c 1 "/proc/$child/cmdline")" = @ ] && pass "marked" ||
	fail "marked" "$(tr '\0' ' ' <"/proc/$child/cmdline")"
[ "$(awk '{ print $6 }' "/proc/$child/stat")" = "$child" ] &&
	pass "session of its own" ||
	fail "session of its own" "$(cat "/proc/$child/stat")"
[ "$(readlink "/proc/$child/cwd")" = / ] && pass "folder let go" ||
	fail "folder let go" "$(readlink "/proc/$child/cwd")"
tries=0
while ! tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q "^$chain" &&
      [ $tries -lt 200 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
sleep 0.5
kill -HUP "$child"
sleep 0.3
grep -q '^State:.[^ZX]' "/proc/$child/status" && pass "SIGHUP passes" ||
	fail "SIGHUP passes" "$(cat "$TMP/started.log")"
kill "$child"
kill "$child" 2>/dev/null
ended "$child" && grep -q '^chain;.*leaf ' "$TMP/started.log" &&
	pass "SIGTERM ends it" ||
	fail "SIGTERM ends it" "$(tail -n 3 "$TMP/started.log")"
stop

# A file that cannot be had: said, and the result is not lost.
fallback() {
	"$SONDE" boot --for 1 -F 499 -o "$2" -- "$chain" 900 2>"$TMP/err" |
		cat >"$TMP/out"
	grep -q "^sonde: .*$3" "$TMP/err" && grep -q leaf "$TMP/out" &&
		pass "$1" || fail "$1" "$(cat "$TMP/err")"
}
fallback "no such folder" "$TMP/none/x.svg" "none/x.svg: cannot write: No such"
ln -s /dev/full "$TMP/full.svg"
[ ! -e /dev/full ] || fallback "full disk" "$TMP/full.svg" "No space left"
grep -q '^chain;.*;leaf ' "$TMP/out" && pass "as folded stacks" ||
	fail "as folded stacks" "$(head -n 3 "$TMP/out")"

# The boot goes on without a trace; but a mistake is one.
status=0
SONDE_WITHOUT=bpf,perf boot --cgroup /nonexistent -- echo on || status=$?
[ $status = 0 ] && grep -qx on "$TMP/out" &&
	grep -q 'goes on without a trace' "$TMP/err" && pass "goes on" ||
	fail "goes on" "$status $(cat "$TMP/out" "$TMP/err")"
# refuses NAME STATUS TEXT ARGUMENTS...
refuses() {
	n=$1 want=$2 text=$3 status=0
	shift 3
	boot "$@" || status=$?
	[ $status = "$want" ] && grep -q "^sonde: .*$text" "$TMP/err" &&
		[ ! -s "$TMP/out" ] && pass "$n" ||
		fail "$n" "status $status: $(cat "$TMP/out" "$TMP/err")"
}
refuses "no command" 2 "init to become" --for 1
refuses "nothing at all" 2 "init to become"
refuses "empty command" 2 "init to become" --for 1 --
refuses "bad number" 2 "a number expected" --for x -- echo on
refuses "unknown option" 2 "no option --fro" --fro 1 -- echo on
refuses "no such command" 127 "./none.: No such" --for 1 -f -- /none
: >"$TMP/plain"
refuses "not a program" 126 "plain': Permission denied" \
	--for 1 -f -- "$TMP/plain"
printf '#!/nonexistent\n' >"$TMP/script"
chmod +x "$TMP/script"
refuses "no interpreter" 127 "script': No such" \
	--for 1 -f -- "$TMP/script"
grep -q '^hint: it is there' "$TMP/err" && pass "no interpreter: said" ||
	fail "no interpreter: said" "$(cat "$TMP/err")"

# Without --, as on a kernel's command line.
boot --for=1 "--output=$TMP/y.txt" /bin/echo && [ ! -s "$TMP/err" ] &&
	[ "$(cat "$TMP/out")" = "" ] && pass "last word" ||
	fail "last word" "$(cat "$TMP/err")"
# Such a link has the command's name.
ln -s "$SONDE" "$TMP/boot"
"$TMP/boot" --for 1 -o "$TMP/z.txt" -- echo on >"$TMP/out" 2>&1
grep -qx on "$TMP/out" && pass "link" || fail "link" "$(cat "$TMP/out")"

# Process 1 of a pid namespace: a new root is where the result goes.
if unshare --pid --fork --mount true 2>/dev/null; then
	mkdir -p "$TMP/new"
	cat >"$TMP/switch" <<'SWITCH'
mount -t tmpfs new "$2" && cd "$2" || exit
mkdir bin proc old lib lib64 usr
for folder in bin lib lib64 usr; do
	[ -e "/$folder" ] && mount --rbind "/$folder" "$folder"
done
pivot_root . old && cd / && mount -t proc proc /proc && umount -l /old
"$1" 100 2>/dev/null
i=0
while [ ! -s /boot.folded ] && [ $i -lt 100 ]; do
	sleep 0.2
	i=$((i + 1))
done
sleep 1
cat /boot.folded
SWITCH
	timeout 60 unshare --pid --fork --mount "$SONDE" boot --for 2 -F 499 \
		-o /boot.folded -- sh "$TMP/switch" "$chain" "$TMP/new" \
		>"$TMP/out" 2>"$TMP/err"
	grep -q ';.* [0-9]*$' "$TMP/out" && [ ! -e /boot.folded ] &&
		pass "new root" ||
		fail "new root" "$(tail -n 3 "$TMP/out" "$TMP/err")"
else
	skip "new root" "no pid namespace can be made"
fi
