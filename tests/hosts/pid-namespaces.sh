# pid-namespaces - seen from outside, from inside, and one within the other.
# guest: 5.10
# guest: 7.2
program chain split

start unshare -p -f --mount-proc "$TMP/chain"
outer=$pid pid=
while [ -z "$pid" ]; do
	sleep 0.2
	pid=$(grep -l "^PPid:.$outer\$" /proc/[0-9]*/status | cut -d/ -f3)
done
renice -n 19 -p "$pid" >/dev/null
for without in none bpf; do
	export SONDE_WITHOUT=$without
	can "tracer outside, target inside, without $without" -F 199 \
		-p "$pid" 1
	chain_named "$n: names" 40
	[ "$(matching '^chain;')" = "$(total)" ] && pass "$n: it alone" ||
		fail "$n: it alone" "$(cat "$TMP/out")"
done
unset SONDE_WITHOUT
kill "$pid"

# With a /proc of its own, or the one from outside, whose numbers mean other
# processes; the pid that it gets is one from outside.
cat >"$TMP/inner" <<'END'
"$TMP/target" 60000 &
target=$!
renice -n 19 -p $target >/dev/null
sonde() {
	file=$1
	shift
	timeout 60 $SONDE profile -f -U -F 199 "$@" >"$TMP/out.$file" \
		2>"$TMP/err.$file"
	echo $? >"$TMP/status.$file"
}
sonde target -p $target 1
sonde all 1
sonde own -- "$TMP/chain" 700
sonde not -p $1 1
timeout 60 $SONDE doctor >"$TMP/doctor"
kill $target
END
cp "$TMP/chain" "$TMP/target"
# take FILE: the result of that run there; target_named: of whom it is.
take() {
	cp "$TMP/out.$1" "$TMP/out"
	cp "$TMP/err.$1" "$TMP/err"
	status=$(cat "$TMP/status.$1")
}
target_named() {
	all=$(matching '^target;')
	whole=$(matching '^target;.*;main;top;mid;leaf( |;)')
	[ "$status" = 0 ] && [ "$all" -ge 10 ] &&
		[ $((whole * 100)) -ge $((all * 75)) ] && pass "$1" ||
		fail "$1" "status $status, $whole of $all: $(cat "$TMP/out" \
			"$TMP/err")"
}
inside() {
	export SONDE_WITHOUT=$1
	n="inside, without $1${2:+, $2}"
	unshare -p -f $2 sh "$TMP/inner" "$pid"
	unset SONDE_WITHOUT
	take target
	target_named "$n: -p"
	[ "$(matching '^target;')" = "$(total)" ] && pass "$n: it alone" ||
		fail "$n: it alone" "$(cat "$TMP/out")"
	take all
	target_named "$n: all"
	[ "$(matching split)" = 0 ] && pass "$n: not what is outside" ||
		fail "$n: not what is outside" "$(cat "$TMP/out")"
	says "$n: what is outside" "outside this pid namespace"
	take own
	chain_named "$n: a command" 20
	says "$n: a command's short-lived" "hardly ever sampled"
	take not
	[ "$status" = 1 ] && pass "$n: no pid from outside" ||
		fail "$n: no pid from outside" "$(cat "$TMP/err")"
	says "$n: no pid from outside: why" "no such process"
	grep -q "^profile .*fork tracepoint in a pid namespace" \
		"$TMP/doctor" && pass "$n: doctor" ||
		fail "$n: doctor" "$(cat "$TMP/doctor")"
}
# One namespace within the other: programs have no numbers for it.
cat >"$TMP/outer" <<'END'
unshare -p -f --mount-proc "$TMP/target" 60000 &
while [ -z "${target:-}" ]; do
	sleep 0.2
	target=$(grep -l "^PPid:.$!\$" /proc/[0-9]*/status | cut -d/ -f3)
done
timeout 60 $SONDE profile -f -U -F 199 -p $target 1 >"$TMP/out.deep" \
	2>"$TMP/err.deep"
echo $? >"$TMP/status.deep"
kill $target
END
export TMP
unshare -p -f --mount-proc sh "$TMP/outer"
take deep
target_named "a namespace within"
says "a namespace within: how" "stacks are counted in user space"

spin "$TMP/split"
inside none --mount-proc
inside none ""
inside ns_pid ""
inside bpf --mount-proc
stop
kernel_is_well
