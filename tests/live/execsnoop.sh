# execsnoop - programs that are executed in a known order, in known ways.
# needs: root kernel>=5.3
program execs
E=$TMP/execs

# snoop OPTIONS... -- COMMAND: lines to $TMP/out, what they say to $TMP/lines.
snoop() {
	timeout 100 "$SONDE" execsnoop "$@" >"$TMP/out" 2>"$TMP/err"
	status=$?
	sed 1d "$TMP/out" | sed "s,$TMP,T,g" |
		awk '$4 ~ /^-?[0-9]+$/' >"$TMP/lines"
	# PCOMM and ARGS, for PIDs are not known.
	awk '{ line = $1; for (i = 4; i <= NF; i++) line = line " " $i
		print line }' "$TMP/lines" >"$TMP/got"
}

# same NAME: $TMP/got is what stdin says, and nothing was lost.
same() {
	cat >"$TMP/want"
	if cmp -s "$TMP/want" "$TMP/got" && said_no_more &&
	   [ $status = 0 ]; then
		pass "$1"
	else
		fail "$1" "status $status: $(diff "$TMP/want" "$TMP/got")" \
			"$(cat "$TMP/err")"
	fi
}

# missed: how many of the machine's executions and forks the kernel has not
# shown: from 7.0 on, while a task is put aside within the program, the CPU runs
# it for nobody; and none at tracepoints while it is at work on a BPF map.
missed() {
	awk '/^note: [0-9]+ executions or calls not seen/ { n += $2 }
		/^note: (forks|execs or exits) not seen/ { n += $NF }
		END { print n + 0 }' "$TMP/err"
}
# said_no_more: nothing else was said.
said_no_more() {
	! grep -qv '^note: [0-9a-z ]* not seen, their CPU' "$TMP/err"
}

cat >"$TMP/script" <<X
#!/bin/sh -e
"$E" "$E" done one "" "two  three" "\$(printf 'a\nb\033[2Jc')" >/dev/null
"$E" "$E" done '...' '?'
X
chmod +x "$TMP/script"
script_lines() {
	cat <<'X'
script 0 T/script arg
execs 0 T/execs T/execs done one two three a\x0ab\x1b[2Jc
execs 0 T/execs T/execs done ... ?
X
}
for without in none ringbuf btf btf,ringbuf; do
	[ "$without" = none ] || export SONDE_WITHOUT=$without
	# Two blanks count as one here.
	snoop -- "$TMP/script" arg
	script_lines | same "a script and its programs, without $without"
	snoop -x -- "$E" "$E" fail
	case $without in
	btf*) [ "$(grep -c ' -[29] ' "$TMP/got")" = 2 ] &&
		pass "calls that fail, without $without" ||
		fail "calls that fail, without $without" "$(cat "$TMP/got")" ;;
	*) same "calls that fail, without $without" <<'X'
execs 0 T/execs T/execs fail
execs -2 /nonexistent/file of what is\x0anot there
execs -9 relative of what is\x0anot there
X
	esac
	snoop -- "$E" "$E" thread
	same "a thread that executes, without $without" <<'X'
execs 0 T/execs T/execs thread
execs 0 T/execs T/execs done from a thread
X
	snoop -c -- "$E" "$E" storm 300
	awk -v e="$E" -v missed="$(missed)" '
		$1 == e && $2 <= 301 && $2 + missed >= 301 { found = 1 }
		END { exit !found }' "$TMP/out" && said_no_more &&
		pass "counts, without $without" ||
		fail "counts, without $without" \
		"$(cat "$TMP/out" "$TMP/err")"
	unset SONDE_WITHOUT
done

snoop -- "$E" "$E" twice
same "the same process again" <<'X'
execs 0 T/execs T/execs twice
execs 0 T/execs T/execs once
execs 0 T/execs T/execs done
X
awk '{ print $2, $3 }' "$TMP/lines" | sort -u | wc -l >"$TMP/pids"
[ "$(cat "$TMP/pids")" -eq 1 ] && pass "one PID and PPID" ||
	fail "one PID and PPID" "$(cat "$TMP/lines")"

snoop -- "$E" "$E" empty
sed -n 2p "$TMP/got" >"$TMP/second"
case $(cat "$TMP/second") in
"execs 0 T/execs") pass "no arguments" ;;
*) fail "no arguments" "$(cat "$TMP/got" "$TMP/err")" ;;
esac

snoop -x -- "$E" "$E" at
if grep -q ' -2 ' "$TMP/got"; then
	skip "by a descriptor" "this kernel finds no such file"
else
	grep -q '^[^ ]* 0 /dev/fd/[0-9]* T/execs done at$' "$TMP/got" &&
		pass "by a descriptor" ||
		fail "by a descriptor" "$(cat "$TMP/got")"
fi

snoop -- "$E" "$E" many 500
sed -n 2p "$TMP/got" | grep -q ' done 0 1 [0-9 ]* 16 \.\.\.$' &&
	pass "twenty arguments" || fail "twenty arguments" \
	"$(cut -c 1-300 "$TMP/got")"
snoop --max-args 1000 --max-bytes 100000 -- "$E" "$E" many 500
[ "$(sed -n 2p "$TMP/got" | awk '{ print NF, $NF }')" = "505 499" ] &&
	pass "five hundred arguments" || fail "five hundred arguments" \
	"$(cut -c 1-300 "$TMP/got")"
snoop --max-bytes 200000 -- "$E" "$E" long 131000
[ "$(sed -n 2p "$TMP/got" | awk '{ print length($NF) }')" = 131000 ] &&
	pass "a long argument" || fail "a long argument" "$(cat "$TMP/err")"
snoop -- "$E" "$E" long 131000
sed -n 2p "$TMP/got" | grep -q 'xxx \.\.\.$' && pass "a long one is cut" ||
	fail "a long one is cut" "$(cut -c 1-300 "$TMP/got")"

for without in none ringbuf; do
	[ "$without" = none ] || export SONDE_WITHOUT=$without
	snoop -- "$E" "$E" storm 500
	unset SONDE_WITHOUT
	sed 1d "$TMP/got" | awk '{ print $NF }' >"$TMP/numbers"
	awk -v missed="$(missed)" 'NR > 1 && $1 <= last { bad = 1 }
		{ last = $1 }
		END { exit bad || NR > 500 || NR + missed < 500 }' \
		"$TMP/numbers" && said_no_more &&
		pass "a storm, all in order, without $without" ||
		fail "a storm, all in order, without $without" \
		"$(wc -l <"$TMP/numbers") $(cat "$TMP/err") $(awk '
		NR > 1 && $NF != n { print last; print; n = $NF }
		NR > 1 { n++ }
		{ last = $0 }' "$TMP/got")"
done

snoop -l 'done.*7$' -- "$E" "$E" storm 20
[ "$(awk '{ print $NF }' "$TMP/got" | tr '\n' ' ')" = "7 17 " ] &&
	pass "by line" || fail "by line" "$(cat "$TMP/got")"
snoop -n '^nobody$' -- "$E" "$E" storm 3
[ ! -s "$TMP/got" ] && pass "by name" || fail "by name" "$(cat "$TMP/got")"
snoop -u 4711 -- "$E" "$E" storm 3
[ ! -s "$TMP/got" ] && pass "by user" || fail "by user" "$(cat "$TMP/got")"
snoop -q -U -t -- "$E" "$E" done 'a"b'
grep -q ' 0      execs .* 0 "'"$E"'" "'"$E"'" "done" "a\\"b"$' "$TMP/out" &&
	grep -q '^TIME(s)  UID    PCOMM            PID     PPID    RET ARGS$' \
	"$TMP/out" && pass "columns" || fail "columns" "$(cat "$TMP/out")"

if needs "a pid namespace" unshare host; then
	timeout 60 unshare -p -f --mount-proc "$SONDE" execsnoop -- "$E" "$E" \
		thread >"$TMP/out" 2>"$TMP/err"
	[ "$(awk '$4 == 0 { print $2 < 10, $NF }' "$TMP/out" |
		tr '\n' ' ')" = "1 thread 1 thread " ] &&
		pass "pids of it" || fail "pids of it" \
		"$(cat "$TMP/out" "$TMP/err")"
fi

# A parent of another branch: this shell's child.
: >"$TMP/out"
timeout 60 "$SONDE" execsnoop -P $$ -d 3 >"$TMP/out" 2>"$TMP/err" &
watcher=$!
tries=0
while ! grep -q PCOMM "$TMP/out" && [ $tries -lt 100 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
"$E" "$E" done mine
"$E" "$E" storm 1
wait $watcher
awk '/execs/ { print $NF }' "$TMP/out" | tr '\n' ' ' >"$TMP/got"
[ "$(cat "$TMP/got")" = "mine 1 " ] && pass "by parent" ||
	fail "by parent" "$(cat "$TMP/out" "$TMP/err")"

# refused NAME STATUS TEXT OPTIONS...
refused() {
	n=$1 want=$2 text=$3
	shift 3
	timeout 60 "$SONDE" execsnoop "$@" >"$TMP/out" 2>"$TMP/err"
	status=$?
	[ $status = "$want" ] && grep -qF -e "$text" "$TMP/err" && pass "$n" ||
		fail "$n" "$status $(cat "$TMP/err")"
}
refused "no such user" 2 "no such user" -u nosuchuser
refused "no expression" 2 "execsnoop: a(b" -l 'a(b'
refused "no argument" 2 "takes options" something
