# profile_input - bad input: each refused with object and cause.
# needs: host root
program chain

# refused NAME STATUS PATTERN ARGUMENTS...: exit status and message; nothing
# on stdout, no BPF program left behind.
refused() {
	n=$1 want=$2 pattern=$3
	shift 3
	timeout 60 "$SONDE" "$@" >"$TMP/out" 2>"$TMP/err"
	status=$?
	if [ $status != "$want" ]; then
		fail "$n" "exit $status, not $want: $(cat "$TMP/err")"
	elif ! grep -q -- "$pattern" "$TMP/err"; then
		fail "$n" "said: $(cat "$TMP/err")"
	elif [ -s "$TMP/out" ]; then
		fail "$n" "printed: $(head -n 3 "$TMP/out")"
	else
		pass "$n"
	fi
}

mkdir "$TMP/folder.svg"
refused "pid that is not there" 1 "-p 4194303: no such process" \
	profile -p 4194303 1
refused "tid that is not there" 1 "-L 4194303: no such thread" \
	profile -L 4194303 1
refused "pid 0" 1 "-p 0: no such process" profile -p 0 1
refused "pid out of range" 2 "not within 0..4194304" profile -p 99999999999 1
refused "pid that is no number" 2 "numbers expected" profile -p 12x 1
refused "empty pid" 2 "numbers expected" profile -p 1,,2 1
limit=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
refused "frequency above the limit" 2 "kernel.perf_event_max_sample_rate" \
	profile -F $((limit + 1)) 1
refused "frequency 0" 2 "must be at least 1" profile -F 0 1
refused "negative frequency" 2 "a number expected" profile -F -5 1
refused "overflowing frequency" 2 "-F '99999999999999999999'" \
	profile -F 99999999999999999999 1
refused "-F and -c" 2 "-F and -c exclude each other" profile -F 99 -c 100 1
refused "-U and -K" 2 "-U and -K exclude each other" profile -U -K 1
refused "-p and -L" 2 "-p and -L exclude each other" profile -p 1 -L 1 1
refused "-p and a command" 2 "excludes -p and -L" profile -p 1 -- true
refused "two durations" 2 "one duration is enough" profile 1 2
refused "duration twice" 2 "already gives the duration" profile --duration 1 2
refused "duration 0" 2 "a duration in seconds expected" profile 0
refused "duration text" 2 "a duration in seconds expected" profile soon
refused "unknown option" 2 "no option --frequenci" profile --frequenci 9
refused "nearest option" 2 "the nearest is --frequency" profile --frequenci 9
refused "unknown letter" 2 "no option -Z" profile -Z
refused "missing value" 2 "-F needs HZ" profile -F
refused "no command after --" 2 "needs a command" profile --
refused "unknown command" 2 "the nearest is: sonde profile" profil
refused "unknown event" 2 "the nearest is -e cpu-cycles" profile -e cpu-cycle 1
refused "CPU that is not there" 1 "CPU 4095: not online" profile -C 4095 1
refused "unwritable output" 1 "/nonexistent/x.svg: cannot write" \
	profile --output /nonexistent/x.svg 1
refused "output is a folder" 1 "cannot write" \
	profile --output "$TMP/folder.svg" 1
refused "unknown ending" 1 "must be .svg, .folded, .txt, .json or .pb" \
	profile --output "$TMP/x.png" 1
refused "command that is not there" 1 "cannot run '/nonexistent'" \
	profile -- /nonexistent
refused "cgroup that is none" 1 "not a folder of a cgroup file system" \
	profile --cgroup /tmp 1
refused "long --comm" 2 "at most 15" profile --comm sixteencharacters 1

[ ! -e "$TMP/x.png" ] && pass "no file of an unknown ending" ||
	fail "no file of an unknown ending" "it was made"
"$SONDE" profile -p 4194303 --output "$TMP/none.svg" 1 2>/dev/null
[ ! -e "$TMP/none.svg" ] && pass "a failed run leaves no file" ||
	fail "a failed run leaves no file" "none.svg is there"
echo precious >"$TMP/kept.svg"
"$SONDE" profile --output "$TMP/kept.svg" -- /nonexistent 2>/dev/null
[ "$(cat "$TMP/kept.svg")" = precious ] &&
	pass "a failed run keeps an old file" ||
	fail "a failed run keeps an old file" "it is gone"

# A full disk is an error; a reader that goes away is none.
"$SONDE" profile -f -- "$TMP/chain" 300 >/dev/full 2>"$TMP/err"
[ $? = 1 ] && grep -q "standard output: cannot write: No space" "$TMP/err" &&
	pass "full disk" || fail "full disk" "$(cat "$TMP/err")"
{ timeout 60 "$SONDE" profile -F 999 1 2>"$TMP/err"; echo $? >"$TMP/status"; } |
	head -n 1 >/dev/null
grep -q "cannot write" "$TMP/err" && fail "closed pipe" "$(cat "$TMP/err")" ||
	pass "closed pipe"
