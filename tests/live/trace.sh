# trace - ground truth: arguments, results, strings, fields, order, losses.
# needs: root
program traced
T=$TMP/traced

# trace ARGS...: its output in $TMP/out, what it says in $TMP/err.
trace() {
	status=0
	"$SONDE" trace "$@" >"$TMP/out" 2>"$TMP/err" || status=$?
}

# shows NAME TEXT: a line has just this text, behind its first four columns.
shows() {
	if WANT=$2 awk '
		BEGIN { want = ENVIRON["WANT"] }
		NR > 1 {
			sub(/^[0-9]+ +[0-9]+ +[^ ]+ +/, "")
			sub(/ +/, " ")
			found = found || $0 == want
		}
		END { exit !found }' "$TMP/out"; then
		pass "$1"
	else
		fail "$1" "no line '$2' in: $(cat "$TMP/out" "$TMP/err")"
	fi
}

# is NAME WANTED GOT
is() {
	[ "$2" = "$3" ] && pass "$1" || fail "$1" "$3 instead of $2:" \
		"$(head -n 5 "$TMP/out"; cat "$TMP/err")"
}

# says NAME TEXT: on stderr.
says() {
	grep -qF -- "$2" "$TMP/err" && pass "$1" ||
		fail "$1" "no '$2' in: $(cat "$TMP/err")"
}

# A program's functions.
trace "$T:six" "r:$T:six" "r:$T:fails" -- "$T"
shows arguments "six arg1=0x1 arg2=0xfffffffffffffffe arg3=0x3\
 arg4=0x40000000000 arg5=0x5 arg6=0x6"
shows result "six retval=4398046511117"
shows "negative int" "fails retval=-5 (0xfffffffb)"
head -n 1 "$TMP/out" | grep -qxE 'PID {5}TID {5}COMM {12}FUNC {13}-' &&
	pass header || fail header "$(head -n 1 "$TMP/out")"

trace -s 1 "r:$T:text" -- "$T"
shows "string with quotes and an escape" \
	'text retval="say \x22hi\x22\x0a\x1b[1m"'
shows "string" 'text retval="and more"'
trace -s 1 -Z 5 "$T:text" -- "$T"
grep -q 'text  *arg1="01234"\.\.\. arg2=0x4 ' "$TMP/out" &&
	pass "long string is marked" ||
	fail "long string is marked" "$(cat "$TMP/out")"
says "long string is counted" "longer than -Z 5: "

# USDT: every kind of argument, each place with its own.
trace "u:$T:*" -- "$T"
case $(uname -m) in
x86_64)
	shows "usdt registers" \
		"traced:reg arg1=-5 arg2=2 arg3=4294967291 arg4=255 arg5=-5"
	shows "usdt memory and constants" \
		"traced:mem arg1=30 arg2=-7 arg3=5 arg4=4294967295 arg5=20"
	shows "usdt scaled index" "traced:sib arg1=30 arg2=40"
	shows "usdt globals" "traced:rip arg1=77 arg2=42"
	shows "usdt at the end of a mapping" \
		"traced:end arg1=513 arg2=? arg3=9"
	shows "usdt that cannot be had" "traced:none arg1=? arg2=2"
	shows "usdt first place" "traced:twice arg1=-5"
	shows "usdt second place" "traced:twice arg1=20"
	says "what cannot be read is counted" "shown as ?: 2"
	trace "u:$T:raised" -- "$T"
	shows "usdt semaphore" "traced:raised arg1=2"
	# Before 4.20: raised by sonde, and lowered however it ends.
	SONDE_WITHOUT=ref_ctr
	export SONDE_WITHOUT
	start "$T" 100000 2 say
	trace -M 3 -p "$pid" "u:$T:raised"
	is "raised in a process" 4 "$(wc -l <"$TMP/out")"
	trace -M 3 "u:$T:raised" "u:$T:re[g]"
	says "raised wherever it is mapped" "raised in the 1 processes that map"
	: >"$TMP/out"
	(exec "$SONDE" trace -d 60 -p "$pid" "u:$T:*" >"$TMP/out" \
		2>"$TMP/err") &
	tracer=$!
	wait_until grep -q ' traced:raised ' "$TMP/out"
	kill $tracer
	status=0
	wait $tracer || status=$?
	is "raised until SIGTERM" 0 $status
	kill -USR1 "$pid"
	wait_until grep -q semaphore "$TMP/started.log"
	is "lowered at the end" "semaphore 0" "$(cat "$TMP/started.log")"
	start "$T" 300 20
	trace -p "$pid" "u:$T:raised"
	is "its process ends first" 0 $status
	trace "u:$T:raised" -- "$T"
	says "not raised in what starts later" "those that start later"
	unset SONDE_WITHOUT
	trace -s 1 "u:$T:string" -- "$T"
	shows "usdt string" 'traced:string arg1="word" arg2=3'
	trace -s 1,2 "u:$T:string" -- "$T"
	shows "usdt number that is said to be a string" \
		'traced:string arg1="word" arg2=3'
	trace -s 1,2,4 "u:$T:reg" -- "$T"
	shows "usdt narrow numbers said to be strings" \
		"traced:reg arg1=-5 arg2=? (0x2) arg3=4294967291 arg4=255\
 arg5=-5"
	says "strings that are not there, counted" "address is none: 1"
	says "strings that are not there, a remedy" "hint: a string is in"
	;;
aarch64)
	shows "usdt registers" "traced:reg arg1=-5 arg2=2 arg3=4294967291"
	shows "usdt memory and constants" \
		"traced:mem arg1=30 arg2=-7 arg3=5 arg4=20"
	trace -s 1,2 "u:$T:reg" -- "$T"
	shows "usdt narrow numbers said to be strings" \
		"traced:reg arg1=-5 arg2=? (0x2) arg3=4294967291"
	;;
esac

# bcc's filters and formats: with arguments, results, fields, texts.
trace "$T:six (arg1 >= 998 && (int)arg2 == -2) \"n=%d of %s %lld\", arg1,\
 \$comm, arg4" -- "$T" 1000
shows "filter and format" "six n=999 of traced 4398046511104"
is "lines that pass" 4 "$(wc -l <"$TMP/out")"
trace -M 3 "$T:six (arg1 % 100 == 0)" -- "$T" 1000
shows "-M counts those that pass" "six arg1=0x12c arg2=0xfffffffffffffffe\
 arg3=0x3 arg4=0x40000000000 arg5=0x5 arg6=0x6"
is "-M counts those that pass: lines" 4 "$(wc -l <"$TMP/out")"
trace "$T:six(u8 n, long b) (n == 1) \"%d %ld\", n, b" -- "$T" 257
is "signature" 3 "$(grep -c . "$TMP/out")"
shows "signature, values" "six 1 -2"
trace "r:$T:text (STRCMP(\"and more\", retval)) \"<%s>\", retval" -- "$T" 3
shows "compared texts" "text <and more>"
is "compared texts: lines" 4 "$(wc -l <"$TMP/out")"
trace "r:$T:fails ((int)retval < 0) \"%d %x %u\", retval, retval, retval" \
	"$T:six (arg1 == 1) \"six\"" -- "$T" 2
shows "each probe its own" "six six"
shows "result as an int" "fails -5 fffffffb 4294967291"
trace "t:sched:sched_process_exec (STRCMP(\"/bin/true\", args->filename))\
 \"%s %d|%-4u|%04d\", args->filename, args->pid - args->old_pid, \$uid,\
 \$gid" -- sh -c '/bin/true; /bin/ls >/dev/null'
shows "fields" "sched:sched_process_exec /bin/true 0|0   |0000"
is "fields: lines" 2 "$(wc -l <"$TMP/out")"
trace "$T:six \"%U|%K\", 8, 8" -- "$T"
shows "names of no address" "six [unknown]|0x8"
trace "$T:six (arg1 / (arg2 + 2))" -- "$T" 2
says "what is not decided" "asks for could not be read: 2"
for without in none ringbuf; do
	SONDE_WITHOUT=$without
	export SONDE_WITHOUT
	trace -b 16 "$T:six (arg1 == 20000)" -- "$T" 20000
	is "the kernel filters, without $without" "2 0" \
		"$(wc -l <"$TMP/out") $(grep -c lost "$TMP/err")"
done
unset SONDE_WITHOUT
if [ "$(uname -m)" = x86_64 ]; then
	trace "u:$T:string (arg2 == 3) \"%s %d\", arg1, arg2" -- "$T"
	shows "usdt probe" "traced:string word 3"
fi
if [ -e /sys/kernel/tracing/events/syscalls ]; then
	trace "t:syscalls:sys_enter_openat (STRCMP(\"$T\", args->filename))\
 \"%d %s %x\", args->dfd, args->filename, args->flags" -- \
		sh -c "cat '$T' >/dev/null"
	shows "syscall" "syscalls:sys_enter_openat -100 $T 0"
	is "syscall: lines" 2 "$(wc -l <"$TMP/out")"
fi

# Tracepoints: fields by name, strings where the record says.
cp "$T" "$TMP/other"
long=$TMP/$(printf '%0120d' 7)
cp "$T" "$long"
trace t:sched:sched_process_exec -- sh -c "'$TMP/other'; '$long'; true"
grep -q " sched:sched_process_exec filename=\"$TMP/other\" pid=[0-9]* old_p" \
	"$TMP/out" && pass "exec's file" ||
	fail "exec's file" "$(cat "$TMP/out" "$TMP/err")"
grep -q " filename=\"/[^\"]*0\"\.\.\. pid=" "$TMP/out" &&
	pass "long file name is marked" ||
	fail "long file name is marked" "$(cat "$TMP/out")"
if [ -e /sys/kernel/tracing/events/syscalls ]; then
	trace -s 2 -f "$T" t:syscalls:sys_enter_openat -- \
		sh -c "cat '$T' '$T' >/dev/null"
	grep -q ' dfd=-100 filename="'"$T"'" flags=' "$TMP/out" &&
		pass "syscall's string" ||
		fail "syscall's string" "$(cat "$TMP/out" "$TMP/err")"
	is "message filter" 2 "$(awk 'END { print NR - 1 }' "$TMP/out")"
fi
trace rt:sched_process_exec -- sh -c "'$TMP/other'; true"
grep -q ' sched_process_exec [a-z]*[1-6]*=0xf' "$TMP/out" &&
	pass "raw tracepoint" ||
	fail "raw tracepoint" "$(cat "$TMP/out" "$TMP/err")"

# Exactly as many lines as hits, as asked for, and of whom.
trace "$T:six" -- "$T" 1000
is "a line for each hit" 1001 "$(wc -l <"$TMP/out")"
awk 'NR > 1 && $5 != sprintf("arg1=0x%x", NR - 1) { bad = 1 }
	END { exit bad }' "$TMP/out" && pass "in order" ||
	fail "in order" "$(head -n 20 "$TMP/out")"
trace -M 7 "$T:six" -- "$T" 1000
is "-M" 8 "$(wc -l <"$TMP/out")"
start "$T" 100000 1
other=$pid
start "$T" 100000 1
trace -M 20 -p "$pid" "$T:six"
is "-p" "20 $pid" "$(awk 'NR > 1 { n++; p[$1] } END { for (i in p)
	print n, i }' "$TMP/out")"
trace -M 20 -L "$other" -C -T "$T:six"
is "-L -C -T" "20 $other" "$(awk 'NR > 1 && $1 ~ /^..:..:..$/ { n++; p[$3] }
	END { for (i in p) print n, i }' "$TMP/out")"
trace -M 2000 -t "$T:six"
is "two processes, in the order of time" "2000 0 2" "$(awk 'NR > 1 { n++
	late += $1 < last; last = $1; p[$2] }
	END { for (i in p) k++; print n, late + 0, k }' "$TMP/out")"
trace -M 5 -n race "$T:six"
is "-n" "5" "$(grep -c ' traced ' "$TMP/out")"
trace -d 1 -n nobody "$T:six"
is "-n of nobody" 1 "$(wc -l <"$TMP/out")"

# A line is visible at once: head ends before the trace does.
"$SONDE" trace "$T:six" 2>"$TMP/err" | head -n 2 >"$TMP/out"
is "visible at once, closed pipe" 2 "$(wc -l <"$TMP/out")"
[ ! -s "$TMP/err" ] && pass "a closed pipe is no error" ||
	fail "a closed pipe is no error" "$(cat "$TMP/err")"
if [ -e /dev/full ]; then
	status=0
	"$SONDE" trace "$T:six" >/dev/full 2>"$TMP/err" || status=$?
	is "full disk" 1 $status
	says "full disk is said" "No space left"
fi
stop

# Stacks, also of a process that is gone before they are named. (Before 6.11 a
# function whose return is probed hides its caller from those it calls.)
stack() {
	if awk -v want="$2" '/^ / { all = all $1 " " }
		END { exit index(all, want) != 1 }' "$TMP/out"; then
		pass "$1"
	else
		fail "$1" "$(cat "$TMP/out" "$TMP/err")"
	fi
}
trace -U "$T:fails" -- "$T"
stack "user stack" "fails outer main "
trace -U "r:$T:fails" -- "$T"
stack "user stack of a result" "outer main "
trace -K t:sched:sched_process_exec -- sh -c "'$TMP/other'; true"
grep -q '^        [a-z_]*exec' "$TMP/out" && pass "kernel stack" ||
	fail "kernel stack" "$(cat "$TMP/out" "$TMP/err")"

# Losses: what is printed and what is said to be lost is what there was.
hits=20000
in_guest && hits=3000
trace -b 1 "$T:six" -- "$T" $hits
lost=$(sed -n 's/^note: \([0-9]*\) hits lost.*/\1/p' "$TMP/err")
is "lost and printed" $hits $(($(wc -l <"$TMP/out") - 1 + ${lost:-0}))
if [ "${lost:-0}" -gt 0 ]; then
	says "lost of which probe" "$lost of six"
	says "lost in which process" "$lost in process "
fi

# Before Linux 5.8: a perf buffer for each CPU.
SONDE_WITHOUT=ringbuf
export SONDE_WITHOUT
trace -t -b 256 "$T:six" -- sh -c "'$T' 500 & '$T' 500; wait"
lost=$(sed -n 's/^note: \([0-9]*\) hits lost.*/\1/p' "$TMP/err")
is "perf buffers, in the order of time" "1000 0" "$(awk -v n="${lost:-0}" '
	NR > 1 { n++; late += $1 < last; last = $1 }
	END { print n, late + 0 }' "$TMP/out")"
trace -b 1 "$T:six" -- "$T" $hits
lost=$(sed -n 's/^note: \([0-9]*\) hits lost.*/\1/p' "$TMP/err")
is "perf buffers, lost and printed" $hits \
	$(($(wc -l <"$TMP/out") - 1 + ${lost:-0}))
unset SONDE_WITHOUT

# refused NAME TEXT ARGS...
refused() {
	name=$1 text=$2
	shift 2
	trace "$@"
	is "$name" 2 $status
	says "$name: why" "$text"
}
refused format "%x %ld" "$T:six \"%q\", arg2"
refused filter "'==' compares" 'p::f (arg3 = 100)'
refused "a forgotten --" "goes behind --" "$T:six" "$T"
refused "argument 0" "arguments count from 1" -s 0 "$T:six"
refused "nothing" "what to trace is missing"

# What only shows once the probe is found. failed NAME TEXT SPEC
failed() {
	trace "$3"
	is "$1" 1 $status
	says "$1: why" "$2"
}
failed "no such field" "has no such field" \
	't:sched:sched_process_exec (args->none)'
failed "a field that is no text" "this field is no text" \
	't:sched:sched_process_exec "%s", args->pid'
failed "an argument of a result" "a return has retval" "r:$T:six (arg1)"
failed "a result of an entry" "only a return has it" "$T:six (retval)"
