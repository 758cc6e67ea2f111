# loadsnoop - the tasks of an overload, with their stacks, each once.
# needs: root
program load
cpus=$(grep -c '^cpu[0-9]' /proc/stat)

# crowd TASKS [CPU]: busy tasks, whose numbers are in $TMP/tasks.
crowd() {
	start "$TMP/load" "$1" 240000 ${2:-}
	wait_until grep -q all "$TMP/started.log"
	grep '^[0-9]' "$TMP/started.log" >"$TMP/tasks"
}

# snoop ARGUMENTS...: in a window that is long enough for guests.
snoop() {
	status=0
	timeout 100 "$SONDE" loadsnoop --window 8000 "$@" >"$TMP/out" \
		2>"$TMP/err" || status=$?
}
said() { cat "$TMP/err"; grep -v '^	' "$TMP/out" | head -n 40; }

# missing: of whom the awk program below says that its stack is not all there,
# and what was shown of it.
missing() {
	[ -s "$TMP/bad" ] || return 0
	cat "$TMP/bad"
	sed -n "/^$(cut -d' ' -f2 "$TMP/bad") /,/^$/p" "$TMP/out"
}

# listed NAME OVERLOADS: in each of these, every task of the crowd once, with
# its functions in order below it, leaf first.
listed() {
	awk -v want="$2" '
	FNR == NR { crowd[$1]; next }
	/ tasks run or want to, on / { n++; task = 0 }
	/^[0-9]+ +[0-9]+ +[0-9]+ +[a-zR]+ / { task = $2; seen[n, task]++ }
	/^$/ { task = 0 }
	/^\t0x[0-9a-f]+ [^ ]/ && task in crowd {
		if ($2 == "burn" && !at[n, task]) at[n, task] = 1
		if ($2 == "work") {
			if (at[n, task] > 1) exit bad = 1
			at[n, task] = at[n, task] == 1 ? 2 : 3
		}
		if ($2 == "main" && at[n, task] >= 2) whole[n, task] = 1
	}
	END {
		if (bad || n != want) exit 1
		for (i = 1; i <= n; i++)
			for (t in crowd)
				if (seen[i, t] != 1 || !whole[i, t]) {
					print i, t, seen[i, t], at[i, t]
					exit 1
				}
	}' "$TMP/tasks" "$TMP/out" >"$TMP/bad" && [ $status = 0 ] &&
		pass "$1" || fail "$1" "$status $(missing; said)"
}

# quiet NAME ARGUMENTS...: no overload then.
quiet() {
	n=$1
	shift
	snoop "$@" 1
	[ $status = 0 ] && ! grep -q 'tasks run' "$TMP/out" &&
		grep -q '^note: 0 overloads in ' "$TMP/err" && pass "$n" ||
		fail "$n" "$(said)"
}

crowd $((5 * cpus))
snoop -n 3 -M 2 -i 1
listed "five tasks a CPU, and again after the rest" 2
grep -q '^note: 2 overloads in .* 0 samples lost$' "$TMP/err" &&
	pass "what was lost is said" ||
	fail "what was lost is said" "$(cat "$TMP/err")"
awk '/^CPU 0: / { for (i = 3; i <= NF; i += 3) sum += $i }
	/ tasks run or want/ { total += $2 }
	END { exit !(sum > 0 && sum == total) }' "$TMP/out" &&
	pass "the load of each CPU" ||
	fail "the load of each CPU" "$(said)"

ways() { sed -n 's/^Waiting .*(\(.*\))\.\.\..*/\1/p' "$TMP/out"; }

# What waits has left user space: its kernel stack is that of the moment.
if "$SONDE" doctor --verbose | grep -q '^task_iter  *yes'; then
	awk '/^[0-9]+ .* waits .* load$/ { w = 1; next }
		w && /^\t0xffff[0-9a-f]+ / { n++ }
		{ w = 0 }
		END { exit !n }' "$TMP/out" && pass "kernel stacks" ||
		fail "kernel stacks" "$(head -n 40 "$TMP/out")"
fi

# by NAME WAY: it is taken where there are kprobes, else /proc/loadavg is read.
by() {
	meets kprobes && want=$2 || want=/proc/loadavg
	case $(ways) in
	"$want"*) pass "$1: its way" ;;
	*) fail "$1: its way" "$(ways): $(cat "$TMP/err")" ;;
	esac
}

# Whatever the way, the same verdict: once with and once without an overload.
verdict() {
	n=$1 way=$2
	snoop -v -n 3 -M 1 60
	listed "$n" 1
	by "$n" "$way"
	cp "$TMP/err" "$TMP/verbose"
	in_guest && [ "$way" != /proc/loadavg ] || quiet "$n: not too many" \
		-n 60
}
quiet "not too many" -n 60
for without in ${LOADSNOOP_WITHOUT:-fentry fentry,kprobe btf task_iter bpf \
	btf,rq_layout}; do
	export SONDE_WITHOUT=$without
	case $without in
	fentry|btf) way="rq->nr_running, by kprobe" ;;
	task_iter) way="rq->nr_running" ;;	# by fentry, or kprobe
	*) way=/proc/loadavg ;;
	esac
	verdict "without $without" "$way"
	meets kprobes || continue
	case $without in
	btf) text="rq->nr_running is at byte" ;;
	*rq_layout) text="disagree with /proc/loadavg" ;;
	*) continue ;;
	esac
	grep -q "$text" "$TMP/verbose" && pass "without $without: it is said" ||
		fail "without $without: it is said" "$(cat "$TMP/verbose")"
done
unset SONDE_WITHOUT
stop

# All on one CPU: too many there, whatever the others do.
crowd 6 0
for without in none fentry,kprobe; do
	export SONDE_WITHOUT=$without
	snoop -n 4 --per-cpu -M 1 60
	listed "--per-cpu without $without" 1
	quiet "--per-cpu without $without: not too many" -n 60 --per-cpu
done
unset SONDE_WITHOUT
stop

! in_guest || exit 0		# they are slow, and it would be the same

crowd $((5 * cpus))
# Others are left out, which is said; the load is that of all.
first=$(head -n 1 "$TMP/tasks")
snoop -n 3 -M 1 -p "$first"
[ "$(grep -cE '^[0-9]+ +[0-9]+ +[0-9]+ +[a-zR]+ ' "$TMP/out")" = 1 ] &&
	grep -q "^$first " "$TMP/out" &&
	grep -q ' tasks are left out, as asked' "$TMP/out" && pass "-p" ||
	fail "-p" "$(said)"
snoop -n 3 -M 1 -K --comm load
! grep -q ' burn$' "$TMP/out" && grep -q ' load$' "$TMP/out" &&
	! grep '^[0-9]' "$TMP/out" | grep -qv -e ' load$' -e 'tasks ' &&
	pass "-K, --comm" || fail "-K, --comm" "$(said)"

# In the first one's rest the record goes on.
snoop -n 3 -M 2 -i 5 --comm load --before 5
listed "--before: the tasks" 2
grep -q '^The 5 s before: [0-9]* samples' "$TMP/out" &&
	grep -q '^    burn$' "$TMP/out" && pass "--before" ||
	fail "--before" "$(said)"

snoop -n 3 -M 2 -i 1 --comm load -o "$TMP/load.svg"
is_svg "$TMP/load.svg" && grep -q "burn ($((2 * 5 * cpus)) tasks" \
	"$TMP/load.svg" && pass "a flame graph" ||
	fail "a flame graph" "$(said; grep -o 'burn ([^)]*' "$TMP/load.svg")"
snoop -n 3 -M 1 --comm load -o "$TMP/load.folded"
[ "$(awk '/^load;.*;main;work;burn/ { n += $NF } END { print n }' \
	"$TMP/load.folded")" = $((5 * cpus)) ] && pass "folded" ||
	fail "folded" "$(cat "$TMP/load.folded")"

# Ends: with the command, at a signal.
snoop -n 3 -i 100 -- sleep 3
grep -q '^note: 1 overloads' "$TMP/err" && pass "a command" ||
	fail "a command" "$(said)"
rm -f "$TMP/out"
"$SONDE" loadsnoop -n 3 -i 100 >"$TMP/out" 2>"$TMP/err" &
snooper=$!
wait_until grep -q 'tasks run' "$TMP/out"
kill $snooper
wait $snooper
[ $? = 0 ] && grep -q '^note: 1 overloads' "$TMP/err" && pass "a signal" ||
	fail "a signal" "$(said)"
{ timeout 60 "$SONDE" loadsnoop -n 3 -i 0 2>"$TMP/err"
	echo $? >"$TMP/status"; } | head -n 1 >/dev/null
[ "$(cat "$TMP/status")" = 0 ] && ! grep -q 'cannot write' "$TMP/err" &&
	pass "a closed pipe" || fail "a closed pipe" "$(cat "$TMP/err")"
stop

# One CPU, and a moment: most of these cannot run in it.
crowd 60 0
timeout 60 "$SONDE" loadsnoop -n 20 --comm load --window 1 -M 1 >"$TMP/out" \
	2>"$TMP/err"
stop
awk '/^[0-9]+ +[0-9]+ +[0-9]+ +[a-zR]+ / { n++; none = $5 == "-" }
	/^\t0x[0-9a-f]+ burn$/ && none { exit bad = 1 }
	/^[0-9]+ +[0-9]+ .* - +load$/ { without++ }
	/ tasks were not seen to run in / { said = $1; of = $4 }
	END { exit bad || n != 60 || of != 60 || without < 10 ||
		without != said }' "$TMP/out" &&
	pass "tasks that did not run" ||
	fail "tasks that did not run" "$(said)"

for args in "-n 0" "--before 100" "--comm sixteencharacters" "1 2" \
	"-d 1 2" "-p 1 -t 1"; do
	"$SONDE" loadsnoop $args >"$TMP/out" 2>"$TMP/err"
	[ $? = 2 ] && [ -s "$TMP/err" ] && pass "usage: $args" ||
		fail "usage: $args" "$(cat "$TMP/err")"
done
