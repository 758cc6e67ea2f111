# list - what can be probed, and which BPF programs are loaded.
# beside others
program chain notes

# lists NAME ARGUMENTS...: into $TMP/out, with exit status 0, quietly.
lists() {
	n=$1
	shift
	timeout 60 "$SONDE" list "$@" >"$TMP/out" 2>"$TMP/err"
	status=$?
	[ $status = 0 ] && sort -u "$TMP/out" | cmp -s - "$TMP/out" &&
		pass "$n" || fail "$n" "$status $(head -n 5 "$TMP/out")" \
		"$(cat "$TMP/err")"
}

# refused NAME STATUS TEXT ARGUMENTS...
refused() {
	n=$1 want=$2 text=$3
	shift 3
	timeout 60 "$SONDE" list "$@" >"$TMP/out" 2>"$TMP/err"
	status=$?
	[ $status = "$want" ] && [ ! -s "$TMP/out" ] &&
		grep -qF -e "$text" "$TMP/err" && pass "$n" ||
		fail "$n" "$status $(cat "$TMP/out" "$TMP/err")"
}

has() { grep -qxF -e "$1" "$TMP/out"; }

lists "functions of a file" "$TMP/chain:[lm]*[fd]"
[ "$(cat "$TMP/out")" = "uprobe:$TMP/chain:leaf
uprobe:$TMP/chain:mid" ] && pass "which match" ||
	fail "which match" "$(cat "$TMP/out")"
lists "one function" "$TMP/chain:main"
has "uprobe:$TMP/chain:main" && pass "in the long form" ||
	fail "in the long form" "$(cat "$TMP/out")"
lists "by expression" -r "$TMP/chain:ma(in|ximum)"
[ "$(cat "$TMP/out")" = "uprobe:$TMP/chain:main" ] &&
	pass "that alone" || fail "that alone" "$(cat "$TMP/out")"
refused "no such function" 1 "the nearest is: main" "$TMP/chain:mian"
refused "no match" 1 "no function that matches" "$TMP/chain:zz*"
refused "no such file" 1 "no such program or library" "$TMP/none:x*"
refused "no spec" 2 "type" "nonsense:a:b:c"

# USDT probes, by file and by process.
lists "USDT probes" -l "$TMP/notes"
[ "$(cat "$TMP/out")" = "usdt:$TMP/notes:notes:first
usdt:$TMP/notes:notes:second" ] && pass "each once" ||
	fail "each once" "$(cat "$TMP/out")"
lists "a USDT probe" -l "$TMP/notes" "notes:sec*"
[ "$(cat "$TMP/out")" = "usdt:$TMP/notes:notes:second" ] && pass "it alone" ||
	fail "it alone" "$(cat "$TMP/out")"
"$SONDE" list -v "u:$TMP/notes:*" 2>&1 | sed "s,$TMP/,,g
	s/ 0x[1-9a-f][0-9a-f]*/ 0xN/" >"$TMP/out"
case $(uname -m) in
x86_64) one=rdi two='*(rbp-20)' three=rax ;;
*) one=x0 two='*(sp+8)' three=x1 ;;
esac
cat >"$TMP/want" <<X
usdt:notes:notes:first [sema 0x0]
  location #1 notes 0xN
    argument #1 8 unsigned bytes @ $one
    argument #2 4 signed bytes @ $two
  location #2 notes 0xN
    argument #1 1 unsigned bytes @ $three
    argument #2 unavailable
    argument #3 4 unsigned bytes @ 7
usdt:notes:notes:second [sema 0xN]
  location #1 notes 0xN
    argument #1 1 unsigned bytes @ $three
    argument #2 unavailable
    argument #3 4 unsigned bytes @ 7
X
sed 's/ unavailable: .*/ unavailable/' "$TMP/out" | cmp -s - "$TMP/want" &&
	pass "locations and arguments" ||
	fail "locations and arguments" "$(cat "$TMP/out")"
start "$TMP/notes"
sleep 0.3
lists "of a process" -p $pid
grep -q '^usdt:.*/notes:notes:first$' "$TMP/out" && pass "it has them" ||
	fail "it has them" "$(cat "$TMP/out")"
lists "of a process, some" -p $pid 'notes:s*'
grep -q '^usdt:.*/notes:notes:second$' "$TMP/out" && pass "it has that" ||
	fail "it has that" "$(cat "$TMP/out")"
lists "functions of a process" -p $pid "p:$TMP/notes:main"
grep -q '^uprobe:.*/notes:main$' "$TMP/out" && pass "and these" ||
	fail "and these" "$(cat "$TMP/out")"
refused "no such process" 1 "process" -p 4194304
lists "a closed pipe" "$TMP/chain:*"
"$SONDE" list "$TMP/chain:*" 2>"$TMP/err" | head -n 1 >/dev/null
[ ! -s "$TMP/err" ] && pass "is quiet" || fail "is quiet" "$(cat "$TMP/err")"

# A name that no terminal should see.
odd=$TMP/$(printf 'a\033[2Jb c')
cp "$TMP/notes" "$odd"
"$SONDE" list -l "$odd" >"$TMP/out" 2>&1
grep -qF 'a\x1b[2Jb c":notes:first' "$TMP/out" && pass "escaped" ||
	fail "escaped" "$(cat "$TMP/out")"

# What is listed, other commands take, also of files with odd names.
if needs "listed, attached" root; then
	for name in plain "a b" "a,b:c" "a*[b]" 'a"b\'; do
		cp "$TMP/notes" "$TMP/$name"
		cp "$TMP/chain" "$TMP/$name.c"
		{ "$SONDE" list -l "$TMP/$name"
		"$SONDE" list "p:\"$(echo "$TMP/$name.c" |
			sed 's/[\\"]/\\&/g')\":m*"; } >"$TMP/out" 2>"$TMP/err"
		n=0
		while read -r probe; do
			timeout 60 "$SONDE" funccount "$probe" -- true \
				>"$TMP/out2" 2>>"$TMP/err" &&
				grep -q '^Tracing [12] ' "$TMP/out2" &&
				n=$((n + 1))
		done <"$TMP/out"
		[ $n -ge 4 ] && [ $n = "$(wc -l <"$TMP/out")" ] &&
			pass "listed, attached: $name" ||
			fail "listed, attached: $name" "$n" \
				"$(cat "$TMP/out" "$TMP/err")"
	done
fi

"$SONDE" tplist -l "$TMP/notes" | grep -q notes:first && pass "tplist" ||
	fail tplist "nothing"

if needs "tracepoints" root; then
	lists "tracepoints" 'sched:sched_pro*'
	has sched:sched_process_fork && has sched:sched_process_exec &&
		pass "of a category" || fail "of a category" \
		"$(cat "$TMP/out")"
	"$SONDE" list -v sched:sched_process_exec >"$TMP/out"
	has "    __data_loc char[] filename;" && has "    pid_t old_pid;" &&
		pass "fields" || fail "fields" "$(cat "$TMP/out")"
	"$SONDE" tplist >"$TMP/out"
	has syscalls:sys_enter_openat || has sched:sched_switch &&
		pass "all" || fail "all" "$(head -n 3 "$TMP/out")"
	refused "no such tracepoint" 1 "the nearest is: sched_switch" \
		sched:sched_swich
	lists "functions of the kernel" 'vfs_rea*'
	has kprobe:vfs_read && pass "vfs_read" ||
		fail "vfs_read" "$(cat "$TMP/out" "$TMP/err")"
	lists "one of the kernel" p::vfs_read
	refused "no such function of the kernel" 1 "the nearest is: " vfs_raed
fi

if needs "programs" root awk; then
	"$SONDE" execsnoop -d 60 >"$TMP/snoop" 2>&1 &
	snooper=$!
	tries=0
	while ! grep -q PCOMM "$TMP/snoop" && [ $tries -lt 100 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	"$SONDE" list >"$TMP/out" 2>"$TMP/err"
	awk -v p=$snooper '$1 == p && $3 == "prog" && $4 == 1 { found = 1 }
		END { exit !found }' "$TMP/out" && pass "by process" ||
		fail "by process" "$(cat "$TMP/out" "$TMP/err")"
	"$SONDE" bpflist -v | grep -q ' raw_tracepoint execution$' &&
		pass "by name" || fail "by name" "$("$SONDE" list -v)"
	kill $snooper
	wait $snooper
fi
