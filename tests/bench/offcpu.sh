# offcpu.sh - what offcputime costs two threads that hand a byte to and fro, and
# how exact it is; sourced by bench.sh, whose functions it uses. Figures are CPU
# time for each round trip of two switches or more: other processes do not
# disturb that.
ROUNDS=${ROUNDS:-50000}

# pingpong FILE COMMAND...: one more figure, in ns, while the command runs.
pingpong() {
	to=$1
	shift
	if [ $# -gt 0 ]; then
		have "$1" || return 0
		: >"$B/peer"
		"$@" >"$B/peer" 2>&1 &
		peer=$!
		tries=0		# some say that they trace only at the end
		until grep -q Tracing "$B/peer" || [ $tries = 60 ]; do
			sleep 0.1
			tries=$((tries + 1))
		done
	fi
	$pin "$B/sleeper" pingpong "$ROUNDS" |
		awk -v n="$ROUNDS" '/^cpu/ { print $2 * 1000 / n }' >>"$to"
	[ $# = 0 ] || { kill $peer; wait $peer || true; } 2>/dev/null
}

# The same as bpftrace's offcputime.bt, on the tracepoint: there are kernels
# without kprobes.
BT='tracepoint:sched:sched_switch {
	@start[args->prev_pid] = nsecs;
	@kernel[args->prev_pid] = kstack; @user[args->prev_pid] = ustack;
	$start = @start[args->next_pid];
	if ($start != 0) {
		@[@kernel[args->next_pid], @user[args->next_pid],
		  args->next_comm] = sum(nsecs - $start);
		delete(@start[args->next_pid]);
	} }'

shown() { # FILE
	[ -s "$B/$1" ] || { echo "not installed"; return; }
	echo "$(middle "$1") $(middle off-alone)" | awk '{
		printf "%.1f us, throughput -%.0f %%", $1 / 1000,
			100 - 100 * $2 / $1 }'
}

gcc -O1 -pthread -fno-omit-frame-pointer -o "$B/sleeper" \
	tests/programs/sleeper.c
for pin in "taskset -c 0" ""; do
	rm -f "$B"/off-*
	i=0
	while [ $i -lt "$RUNS" ]; do
		pingpong "$B/off-alone"
		pingpong "$B/off-sonde" out/sonde offcputime
		pingpong "$B/off-bpftrace" bpftrace -B none \
			-e "BEGIN { printf(\"Tracing\\n\"); } $BT"
		pingpong "$B/off-libbpf" offcputime 1000
		i=$((i + 1))
	done
	where="any CPU"
	[ -z "$pin" ] || where="one CPU"
	row "offcputime: pipe ping-pong, $where" \
		"$(shown off-sonde)" "bpftrace: $(shown off-bpftrace)" \
		"<= bpftrace"
	row "  alone $(middle off-alone | awk '{
		printf "%.1f us", $1 / 1000 }')" "" \
		"bcc (libbpf): $(shown off-libbpf)" ""
done
out/sonde offcputime -f -- "$B/sleeper" nap 50 20 >"$B/nap" 2>"$B/err"
row "offcputime: 50 naps of 20 ms" "$(awk '/^naps / { want = $2 }
	/;naps;/ { got += $NF }
	END { printf "%.2f %%", 100 * got / want - 100 }' "$B/nap")" "" \
	"within 1 % of what the program measured"
