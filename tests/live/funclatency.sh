# funclatency.sh - known numbers of calls of known length.
# needs: root

program naps gofake
N=$TMP/naps

# timed NAME ARGS...: run it; the result is in $TMP/out, $TMP/err.
timed() {
	name=$1
	shift
	status=0
	timeout 100 "$SONDE" funclatency "$@" >"$TMP/out" 2>"$TMP/err" ||
		status=$?
	[ $status = 0 ] || fail "$name" "status $status: $(cat "$TMP/err")"
	return $status
}

count() { sed -n 's/^avg = .*, count: \([0-9]*\)$/\1/p' "$TMP/out"; }

# rows [FUNCTION] MIN: how many calls took MIN units or longer.
rows() {
	awk -v name="${2:-}" -v min="$1" '
		/^Function = / { on = $3 == name; next }
		(name == "" || on) && $2 == "->" && $1 >= min { n += $5 }
		END { print n + 0 }' "$TMP/out"
}

# same NAME GOT WANTED; nearly so in a guest, see below.
same() {
	if [ "$2" = "$3" ] || { in_guest && [ "$3" -gt 8 ] &&
		[ "$2" -lt "$3" ] && [ "$2" -ge $(($3 * 3 / 4)) ]; } \
		2>/dev/null; then
		pass "$1"
	else
		fail "$1" "$2, not $3: $(cat "$TMP/out" "$TMP/err")"
	fi
}

# least NAME GOT WANTED
least() {
	if [ "$2" -ge "$3" ]; then
		pass "$1"
	else
		fail "$1" "$2 < $3: $(cat "$TMP/out" "$TMP/err")"
	fi
}

# told N: N calls that were timed, and in a guest those that it says were not:
# an emulated kernel loses a return now and then, and what runs beside this
# there takes the kernel's return probes, too.
told() {
	if in_guest; then
		awk -v n="$1" '/not timed/ { n += $NF }
			END { print n + 0 }' "$TMP/err"
	else
		echo "$1"
	fi
}
quiet() { in_guest || same "$1" "$(grep -c 'not timed' "$TMP/err")" 0; }

# A call is never shorter than it slept; on a busy machine it may be longer.
if timed threads -u "$N:nap" -- "$N" threads; then
	same threads "$(told "$(count)")" 120
	same threads-1ms "$(told "$(rows 512)")" 120
	least threads-2ms "$(rows 1024)" 60
	least threads-4ms "$(rows 2048)" 30
	quiet threads-quiet
	row='^       512 -> 1023       : [0-9]+ +\|[* ]{40}\|$'
	if grep -qx '     usecs               : count     distribution' \
		"$TMP/out" && grep -qE "$row" "$TMP/out"; then
		pass layout
	else
		fail layout "$(cat "$TMP/out")"
	fi
fi
if timed units -m "$N:nap" -- "$N" threads; then
	least units-ms "$(rows 2)" 80
	least units-average "$(sed -n 's/^avg = \([0-9]*\) msecs.*/\1/p' \
		"$TMP/out")" 2
fi
if timed deep "$N:deep" -- "$N" deep 20; then
	same deep "$(count)" 21
	same deep-all-long "$(rows 524288)" 21
fi
if timed deeper "$N:deep" -- "$N" deep 99; then
	same deeper "$(count)" 31
	check deeper-said grep -q 'within too many others: 69$' "$TMP/err"
fi
if timed level -l 2 "$N:deep" -- "$N" deep 20; then
	same level "$(count)" 2
fi
if timed jump -F "$N:outer" "$N:inner" "$N:settled" -- "$N" jump; then
	same jump "$(count)" 20
	same jump-settled "$(rows 524288 settled)" 20
	same jump-said "$(awk '/not timed/ { n += $NF } END { print n }' \
		"$TMP/err")" 40
fi
if timed short "$N:leaving" -- "$N" short 2000; then
	same short "$(count)" ""
	same short-said "$(sed -n 's/.*thread ended within .*: //p' \
		"$TMP/err")" 2000
	check short-room sh -c '! grep -q "too many threads" "$1"' sh "$TMP/err"
fi
if timed each -F "$N:nap" "$N:deep" -- "$N" threads; then
	same each "$(rows 0 nap)" 120
	same each-others "$(grep -c '^Function = ' "$TMP/out")" 1
fi

# begin ARGS...: in the background, until it has begun; $sonde is its pid.
begin() {
	: >"$TMP/out"		# not what an earlier one said
	"$SONDE" funclatency "$@" >"$TMP/out" 2>"$TMP/err" &
	sonde=$!
	started="$started $sonde"
	tries=0
	until grep -q '^Tracing' "$TMP/out" || [ $tries = 300 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
}

# A target that is killed within: its starts are freed.
begin "$N:staying"
start "$N" stay
# waiting PID: its threads that have gone to sleep of themselves.
waiting() {
	awk '/^voluntary_ctxt_switches/ && $2 > 0 { n++ }
		END { print n + 0 }' /proc/"$1"/task/*/status
}
tries=0
until [ "$(waiting "$pid")" = 4 ] || [ $tries = 200 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
sleep 1
kill -9 "$pid"
wait "$pid" 2>/dev/null
kill $sonde
wait $sonde
status=$?
# From 7.0 on the kernel may leave out one exit, while a CPU has put another
# aside within the program: that call is told as under way.
ended=$(sed -n 's/.*thread ended within .*: //p' "$TMP/err")
under=$(sed -n 's/.*under way at the end: //p' "$TMP/err")
same killed "$status $((ended + under)) $((ended > 1))" "0 3 1"

# With -p it ends with the process, in which calls were under way before.
start "$N" stay
begin -p "$pid" "$N:staying"
kill -9 "$pid"
wait "$pid" 2>/dev/null
wait $sonde
same target-gone "$? $(count)" "0 "

# All threads of a process, also after an exec.
mkfifo "$TMP/go"
start sh -c 'read -r line <"$1"; exec "$2" threads' sh "$TMP/go" "$N"
begin -p "$pid" "$N:nap"
echo go >"$TMP/go"
wait $sonde
same target-ends $? 0
same target "$(count)" 120

# Nothing stays behind, also of many turns.
i=0
while [ $i -lt 20 ]; do
	"$SONDE" funclatency "$N:nap" -- true >"$TMP/out" 2>"$TMP/err" || break
	i=$((i + 1))
done
same again $i 20

# Go: a uretprobe would kill it, and a thread is not a goroutine.
if needs go-fake arch=x86_64 && timed go-fake -m "$TMP/gofake:main.work" \
	-- "$TMP/gofake"; then
	same go-fake "$(count)" 8
	same go-fake-long "$(rows 16)" 8
	same go-fake-alive "$(cat "$TMP/err")" ""
fi

cat >"$TMP/main.go" <<'GO'
package main

import (
	"runtime"
	"sync"
	"time"
)

//go:noinline
func grow(n int) byte {
	var pad [256]byte
	if n > 0 {
		pad[n&255] = grow(n - 1)
	}
	return pad[(n+1)&255]
}

//go:noinline
func nap(ms int) {
	grow(200)
	runtime.Gosched()
	time.Sleep(time.Duration(ms) * time.Millisecond)
	runtime.Gosched()
}

func main() {
	var wg sync.WaitGroup
	for g := 0; g < 50; g++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for ms := 8; ms <= 32; ms *= 2 {
				nap(ms)
			}
		}()
	}
	wg.Wait()
}
GO
if needs go go; then
	export GOCACHE="$TMP/gocache" GOPATH="$TMP/gopath"
	check go-build go build -o "$TMP/goprogram" "$TMP/main.go"
	if timed go -Fm "$TMP/goprogram:main.nap" \
		"$TMP/goprogram:main.main" -- "$TMP/goprogram"; then
		same go "$(count)" 151
		same go-8ms "$(rows 8 main.nap)" 150
		least go-16ms "$(rows 16 main.nap)" 100
		least go-32ms "$(rows 32 main.nap)" 50
		same go-main "$(rows 32 main.main)" 1
	fi
fi

# The kernel's: what usleep() comes to.
for probe in hrtimer_nanosleep kprobe:hrtimer_nanosleep \
	fentry:hrtimer_nanosleep; do
	needs "$probe" kprobes || continue
	case $probe in
	fentry*)
		since=6.1
		[ "$(uname -m)" = x86_64 ] || since=6.4
		needs "$probe" "kernel>=$since" || continue
		;;
	esac
	if timed "$probe" "$probe" -- "$N" threads; then
		same "$probe" "$(told "$(count)")" 120
		same "$probe-1ms" "$(told "$(rows 524288)")" 120
		least "$probe-4ms" "$(rows 2097152)" 25
		quiet "$probe-quiet"
	fi
done
if needs many kprobes && timed many -F 'hrtimer_nanoslee*' 'vfs_rea*' \
	-- "$N" threads; then
	same many "$(told "$(rows 524288 hrtimer_nanosleep)")" 120
fi

# More calls at a time than the kernel may have return probes for: those whose
# return it misses are not lost in silence.
if needs misses kprobes; then
	mkfifo "$TMP/pipe"
	exec 9<>"$TMP/pipe"
	begin vfs_read
	readers=
	while [ "$(echo $readers | wc -w)" -lt 64 ]; do
		start cat "$TMP/pipe"
		readers="$readers $pid"
	done
	sleep 3
	kill $readers
	wait $readers 2>/dev/null
	kill $sonde
	wait $sonde
	least misses "$(awk -v n="$(count)" '/not timed/ { n += $NF }
		END { print n + 0 }' "$TMP/err")" 64
	exec 9>&-
fi

# refused NAME TEXT ARGS...
refused() {
	name=$1 text=$2
	shift 2
	if "$SONDE" funclatency "$@" >"$TMP/out" 2>"$TMP/err"; then
		fail "$name" "it runs"
	elif grep -qF "$text" "$TMP/err"; then
		pass "$name"
	else
		fail "$name" "$(cat "$TMP/err")"
	fi
}
refused tracepoint "takes no tracepoint" t:sched:sched_switch
refused inside "only a whole function has a return" "uprobe:$N:nap+4"
refused nothing "is missing"
if needs go-old host && ! in_guest; then
	sed 's/go1\.21\.0/go1.16.0/' "$TMP/gofake" >"$TMP/goold"
	refused go-old "older than 1.17" "$TMP/goold:main.work"
fi
