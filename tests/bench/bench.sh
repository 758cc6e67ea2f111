# bench.sh - what sonde costs, beside its peers in the same run; sourced by
# build.sh. Each line: what was measured, the figure, the peer's, the target.
# Figures are medians of $RUNS runs; machines are noisy, so compare ratios.

RUNS=${RUNS:-5}

row() { printf '%-44s %-26s %-34s %s\n' "$1" "$2" "$3" "$4"; }

# median FIELD COMMAND...: of WALL_MS (1), CPU_MS (2), RSS_KB (3).
median() {
	field=$1
	shift
	i=0
	: >"$B/runs"
	while [ $i -lt "$RUNS" ]; do
		"$B/measure" "$B/one" "$@" >/dev/null 2>"$B/err" </dev/null ||
			true
		cat "$B/one" >>"$B/runs"
		i=$((i + 1))
	done
	sort -n -k "$field,$field" "$B/runs" | awk -v f="$field" \
		-v n="$RUNS" 'NR == int((n + 1) / 2) { print $f }'
}

# all COMMAND...: "WALL ms, CPU ms, RSS MB", medians by CPU time.
all() {
	median 2 "$@" >/dev/null
	sort -n -k 2,2 "$B/runs" | awk -v n="$RUNS" 'NR == int((n + 1) / 2) {
		printf "%.0f ms, %.0f ms CPU, %.1f MB", $1, $2, $3 / 1024 }'
}

peer() { # NAME COMMAND...
	name=$1
	shift
	if have "$1"; then
		echo "$name: $(RUNS=3 all "$@")"
	else
		echo "$name: not installed"
	fi
}

bench_size() {
	linked=$(readelf -lW out/sonde | grep -c INTERP || true)
	linked=$linked/$(readelf -dW out/sonde 2>/dev/null |
		grep -c NEEDED || true)
	row "size of out/sonde; INTERP/NEEDED" \
		"$(($(stat -c %s out/sonde) / 1024)) KB; $linked" \
		"ply 245 KB" "<= 560 KB; 0/0"
}

bench_start() {
	i=0
	: >"$B/starts"
	while [ $i -lt "$RUNS" ]; do
		out/sonde profile -v 1 2>"$B/err" >/dev/null &
		pid=$!
		sleep 0.5
		rss=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status")
		wait $pid
		ms=$(sed -n 's/.*sampling after \([0-9.]*\) ms.*/\1/p' "$B/err")
		echo "$ms $rss" >>"$B/starts"
		i=$((i + 1))
	done
	row "profile: start to first sample enabled" \
		"$(sort -n "$B/starts" | awk -v n="$RUNS" \
			'NR == int((n + 1) / 2) {
			printf "%.1f ms, %.1f MB", $1, $2 / 1024 }')" \
		"$(peer bpftrace bpftrace -e 'BEGIN { exit(); }')" \
		"<= 15 ms, <= 4 MB"
}

bench_whole() {
	row "profile -F 99 1, symbolized" "$(all out/sonde profile -F 99 1)" \
		"$(peer bcc profile-bpfcc -F 99 1)" \
		"<= 1150 ms, 2x cat, 16 MB"
	row "  cat /proc/kallsyms" "$(all cat /proc/kallsyms)" "" ""
}

# Busy loops on every CPU; the share of Hz x CPUs x 3 s that was counted.
bench_samples() {
	gcc -O1 -fno-omit-frame-pointer -o "$B/split" tests/programs/split.c
	cpus=$(getconf _NPROCESSORS_ONLN)
	spinners=
	i=0
	while [ $i -lt "$cpus" ]; do
		timeout 120 "$B/split" &
		spinners="$spinners $!"
		i=$((i + 1))
	done
	for hz in 99 999 4999; do
		"$B/measure" "$B/one" out/sonde profile -f -F $hz 3 \
			>"$B/folded" 2>"$B/err"
		n=$(awk '{ n += $NF } END { print n }' "$B/folded")
		row "samples at $hz Hz, $cpus busy CPUs, 3 s" \
			"$(share "$n" $((hz * cpus * 3)) "$B/one")" \
			"bpftrace: $(samples_peer $hz $cpus)" \
			"99..101 %, <= 100 ms at 4999"
	done
	kill $spinners
	wait $spinners 2>/dev/null || true
}

# share COUNT OF FILE: of the samples wanted, and the CPU time in FILE.
share() {
	awk -v n="$1" -v of="$2" '{ printf "%.1f %%, %.0f ms CPU",
		100 * n / of, $2 }' "$3"
}

samples_peer() {
	have bpftrace || { echo "not installed"; return; }
	"$B/measure" "$B/peer" bpftrace -e "profile:hz:$1 {
		@[kstack, ustack, comm] = count(); @n = count(); }
		interval:s:3 { print(@n); clear(@n); exit(); }" \
		>"$B/bpftrace" 2>/dev/null || true
	share "$(sed -n 's/^@n: //p' "$B/bpftrace" | head -n 1)" \
		$(($1 * $2 * 3)) "$B/peer"
}

bench_stacks() {
	gcc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls \
		-o "$B/manystacks" tests/programs/manystacks.c
	out/sonde profile -f -U -F 4999 -- "$B/manystacks" >"$B/folded" \
		2>"$B/err"
	row "20,000 distinct stacks in 10 s" \
		"$(grep -c '^manystacks;' "$B/folded") lines, $(sed -n \
		's/.*, \([0-9]* lost\)$/\1/p' "$B/err")" \
		"bcc: loses by the table's hash" "0 lost"
}

bench_kallsyms() {
	# One address, so that all but reading and sorting is nothing.
	row "kallsyms read, sorted, ready" \
		"$(all out/sonde sym --kernel 0xffffffff81000000)" \
		"cat: $(all cat /proc/kallsyms)" "<= 1.5x cat, <= 6 MB"
}

bench_symbols() {
	lib=$(ls /usr/lib/*/libLLVM-*.so.1 2>/dev/null | head -n 1)
	[ -n "$lib" ] || { row "user symbols" "no libLLVM here" "" ""; return; }
	nm -D --defined-only "$lib" | awk '$2 ~ /[TtWw]/ { print "0x" $1 }' |
		awk 'NR <= 35000' >"$B/addresses"
	while [ "$(wc -l <"$B/addresses")" -lt 35000 ]; do
		cat "$B/addresses" "$B/addresses" | head -n 35000 >"$B/more"
		mv "$B/more" "$B/addresses"
	done
	row "35,000 addresses of $(basename "$lib")" \
		"$(all sh -c "out/sonde sym '$lib' <'$B/addresses'")" \
		"$(peer llvm llvm-symbolizer --version >/dev/null 2>&1
		peer llvm-symbolizer sh -c "llvm-symbolizer --obj='$lib' \
			<'$B/addresses'")" "<= 24 MB"
	row "  one address: the table load alone" \
		"$(all out/sonde sym "$lib" "$(head -n 1 "$B/addresses")")" \
		"" "the rest: >= 1,000,000/s"
}

# What the device has to do for --raw, both CPUs busy; and one library named
# from a raw file.
bench_raw() {
	spinners=
	for cpu in $(seq "$(getconf _NPROCESSORS_ONLN)"); do
		timeout 120 sh -c 'while :; do :; done' &
		spinners="$spinners $!"
	done
	row "profile --raw -F 99 10, busy CPUs" \
		"$(RUNS=3 all out/sonde profile -F 99 --raw "$B/x.raw" 10)" \
		"without: $(RUNS=1 all out/sonde profile -F 99 10)" \
		"<= 20 ms CPU, 3 MB"
	kill $spinners
	wait $spinners 2>/dev/null || true
	row "  its file" "$(stat -c %s "$B/x.raw") bytes" "" "<= 65536"
	bench_report
}

bench_report() {
	lib=$(ls /usr/lib/*/libLLVM-*.so.1 2>/dev/null | head -n 1)
	[ -n "$lib" ] || { row "report" "no libLLVM here" "" ""; return; }
	nm -D --defined-only "$lib" | awk '$2 ~ /[TtWw]/ { print "0x" $1 }' |
		head -n 35000 >"$B/addresses"
	gcc -O1 -Isrc -Iinclude -D_GNU_SOURCE -o "$B/raw" tests/bench/raw.c \
		src/raw/write.c src/raw/fields.c src/base/crc.c \
		src/base/buf.c src/base/intern.c src/base/vec.c
	id=$(readelf -n "$lib" 2>/dev/null | sed -n 's/.*Build ID: //p')
	code=$(readelf -lW "$lib" | awk '/LOAD.* R E / { print $2, $5, $3 }')
	"$B/raw" "$lib" "$id" $code <"$B/addresses" >"$B/lib.raw"
	"$B/raw" /none "$id" $code <"$B/addresses" >"$B/none.raw"
	row "report: 35,000 rows of $(basename "$lib")" \
		"$(all out/sonde report -f "$B/lib.raw")" \
		"named live: $(all sh -c \
			"out/sonde sym '$lib' <'$B/addresses'")" \
		"<= live, and the rows"
	row "  the rows alone, without the library" \
		"$(all out/sonde report -f "$B/none.raw")" "" ""
}

# What $1 does of the names in a file, in millions a second.
names_a_second() {
	"$B/measure" "$B/one" $1 <"$2" >"$B/out" 2>"$B/err"
	awk -v n="$(wc -l <"$2")" '{
		printf "%.2f M/s", n / $2 / 1000 }' "$B/one"
}

# Its names are the longest there are.
rust_compiler() {
	have rustc || return 0
	ls "$(rustc --print sysroot)"/lib/librustc_driver-*.so
}

# By CPU time; c++filt also reads and writes them.
bench_names() {
	build
	$CC $BASE $SMALL -static -o "$B/demangle" tests/bench/demangle.c \
		out/hot/*.o out/obj/src.sym.demangle*.o \
		out/obj/src.base.buf.o out/obj/src.base.vec.o
	for lib in $(ls /usr/lib/*/libLLVM-*.so.1 2>/dev/null | head -n 1) \
		/usr/lib/*/libstdc++.so.6 $(rust_compiler); do
		[ -e "$lib" ] || continue
		nm "$lib" 2>/dev/null >"$B/symbols"
		[ -s "$B/symbols" ] || nm -D "$lib" >"$B/symbols"
		awk '{ sub(/@.*/, "", $NF); print $NF }' "$B/symbols" |
			grep -E '^_[ZR]' | sort -u >"$B/names"
		row "$(wc -l <"$B/names") names of $(basename "$lib")" \
			"$("$B/demangle" time <"$B/names" | awk '{
				printf "%.2f M/s", $1 / 1e6 }')" \
			"c++filt: $(names_a_second c++filt "$B/names")" \
			">= 1,000,000/s"
	done
}

bench_flame() { sh tests/bench/flame.sh; }
bench_offcpu() { . tests/bench/offcpu.sh; }

# one_probe FILE COMMAND...: append the CPU time of a call of hot() while it is
# probed, in ns; with $spin "calls", of a system call.
one_probe() {
	to=$1
	shift
	have "$1" || return 0
	: >"$B/begun"
	"$@" >"$B/begun" 2>"$B/err" &
	prober=$!
	tries=0
	until grep -q Tracing "$B/begun" || [ $tries = 200 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
	"$B/probe" ${spin:-spin} 100000 >>"$to"
	kill $prober 2>/dev/null || true
	wait $prober 2>/dev/null || true
}

# compared FILE BARE: the median of the one and its ratio to the other's.
compared() {
	[ -s "$B/$1" ] || { echo "not installed"; return; }
	sort -n "$B/$1" | awk -v bare="$(sort -n "$B/$2" | awk -v n="$RUNS" \
		'NR == int((n + 1) / 2)')" -v n="$RUNS" \
		'NR == int((n + 1) / 2) { printf "%.0f ns, %.2fx", $1,
		$1 / bare }'
}

bench_uprobes() {
	gcc -O1 -o "$B/probe" tests/bench/probe.c
	hot=0x$(nm "$B/probe" | sed -n 's/ T hot$//p')
	i=0
	while [ $i -lt "$RUNS" ]; do
		one_probe "$B/bare-u" "$B/probe" bare u "$hot"
		one_probe "$B/count" out/sonde funccount "$B/probe:hot"
		one_probe "$B/count-peer" bpftrace -B none -e \
			"BEGIN { printf(\"Tracing\\n\"); }
			uprobe:$B/probe:hot { @ = count(); }"
		one_probe "$B/bare-r" "$B/probe" bare r "$hot"
		one_probe "$B/latency" out/sonde funclatency "$B/probe:hot"
		one_probe "$B/latency-peer" bpftrace -B none -e \
			"BEGIN { printf(\"Tracing\\n\"); }
			uprobe:$B/probe:hot { @s[tid] = nsecs; }
			uretprobe:$B/probe:hot /@s[tid]/ {
			@ = hist(nsecs - @s[tid]); delete(@s[tid]); }"
		i=$((i + 1))
	done
	row "uprobe: count, beside one that does nothing" \
		"$(compared count bare-u)" \
		"bpftrace: $(compared count-peer bare-u)" "<= 1.1x"
	row "uprobe and uretprobe: histogram, the same" \
		"$(compared latency bare-r)" \
		"bpftrace: $(compared latency-peer bare-r)" "<= 1.25x"
}

# middle FILE: the median of its numbers.
middle() { sort -n "$B/$1" | sed -n "$(((RUNS + 1) / 2))p"; }

# beyond FILE FILE: how much more the first's median is than untraced calls,
# and its ratio to the other's.
beyond() {
	[ -s "$B/$1" ] || { echo "not installed"; return; }
	echo "$(middle "$1") $(middle "$2") $(middle untraced)" | awk '{
		ratio = $2 > $3 ? ($1 - $3) / ($2 - $3) : 0
		printf "%.0f ns, %.2fx", $1 - $3, ratio
	}'
}

# bpf_script FILE PROGRAM: one_probe by bpftrace.
bpf_script() {
	one_probe "$1" bpftrace -B none -e \
		"BEGIN { printf(\"Tracing\\n\"); } $2"
}

# What a tracepoint on every system call costs each call.
bench_syscalls() {
	gcc -O1 -o "$B/probe" tests/bench/probe.c
	spin=calls point=raw_syscalls:sys_enter
	i=0
	while [ $i -lt "$RUNS" ]; do
		"$B/probe" calls 100000 >>"$B/untraced"
		one_probe "$B/t-count" out/sonde funccount t:$point
		bpf_script "$B/t-count-peer" \
			"tracepoint:$point { @ = count(); }"
		one_probe "$B/t-kernel-bare" "$B/probe" stacks k
		one_probe "$B/t-kernel" out/sonde stackcount -K t:$point
		bpf_script "$B/t-kernel-peer" \
			"tracepoint:$point { @[kstack] = count(); }"
		one_probe "$B/t-user-bare" "$B/probe" stacks u
		one_probe "$B/t-user" out/sonde stackcount -U t:$point
		bpf_script "$B/t-user-peer" \
			"tracepoint:$point { @[ustack] = count(); }"
		i=$((i + 1))
	done
	spin=
	row "tracepoint: count" "$(beyond t-count t-count-peer)" \
		"bpftrace: $(beyond t-count-peer t-count-peer)" "<= 0.6x"
	for half in kernel user; do
		row "tracepoint: $half stacks, beside a bare program" \
			"$(beyond t-$half t-$half-bare)" \
			"bpftrace: $(beyond t-$half-peer t-$half-bare)" \
			"<= 1.15x"
	done
}

# A line for each of 400,000 events a second, to a file.
bench_storm() {
	gcc -O1 -o "$B/probe" tests/bench/probe.c
	"$B/probe" offer 400000 2 >"$B/alone"
	out/sonde trace t:syscalls:sys_enter_getppid -- \
		"$B/probe" offer 400000 2 >"$B/lines" 2>"$B/err"
	row "trace: 400,000 events/s to a file" \
		"$(grep -c getppid "$B/lines") lines, $(grep -o '[0-9]* lost' \
		"$B/err" | head -n 1), offered $(grep -E '^[0-9]+ [0-9]+$' \
		"$B/lines" | cut -d' ' -f1)/s" \
		"untraced: $(cut -d' ' -f1 "$B/alone")/s" \
		"0 lost, 400,000/s"
	rm -f "$B/lines"
}

# From the start of a command to its first result.
bench_probe_start() {
	row "trace -M 1 of a tracepoint, whole" \
		"$(all out/sonde trace -M 1 t:raw_syscalls:sys_enter)" \
		"$(peer bpftrace bpftrace -e \
			't:raw_syscalls:sys_enter { exit(); }')" ""
	for command in "trace t:raw_syscalls:sys_enter" "trace c:getppid" \
		"stackcount c:getppid" "stackcount t:raw_syscalls:sys_enter" \
		"stacksnoop c:getppid" "funccount c:getppid" \
		"funclatency c:getppid" "execsnoop"; do
		row "$command: from its start to ready" \
			"$(ready "$command")" "" \
			"<= 20 ms, the kernel's attaching apart"
	done
}

# ready COMMAND: medians, in ms, until it waits for hits: without what the
# kernel takes to set the probe, and that; and the CPU time, which a load does
# not change.
ready() {
	i=0
	: >"$B/ready"
	while [ $i -lt "$RUNS" ]; do
		out/sonde $1 --verbose -- true 2>&1 >/dev/null |
			awk '/setting .* took/ { kernel += $(NF - 1) }
			/ready after/ { print $(NF - 1) - kernel, kernel + 0,
				$4 }
			' >>"$B/ready"
		i=$((i + 1))
	done
	sort -n "$B/ready" | awk -v n="$RUNS" 'NR == int((n + 1) / 2) {
		printf "%.1f + %.1f ms, %.0f ms CPU", $1, $2, $3 }'
}

# From the start to many functions of the kernel attached, where each has its
# own probe and where one link takes them all; emulated.
bench_vfs() {
	. tests/guest.sh
	for kernel in 6.1 6.12; do
		(guest -i $kernel 'for i in 1 2 3; do
			sonde funccount --verbose -d 1 "vfs_*"
		done') >"$B/vfs" 2>&1 || true
		row "guest $kernel: funccount 'vfs_*' to ready" \
			"$(awk '/setting .* took/ { n = $3; kernel = $(NF - 1) }
			/ready after/ { printf "%.0f %.0f %d\n",
				$(NF - 1), kernel, n }' "$B/vfs" | sort -n |
			awk 'NR == 2 { printf "%d ms, %d functions", $1, $3
				kernel = $2 }
			END { printf "; %d ms the kernel", kernel }')" \
			"" "<= 1000 ms"
	done
}

# a_pair COMMAND...: what it makes of the CPU time of a malloc() and free().
a_pair() {
	"$@" 2>/dev/null | sed -n 's/^\([0-9]*\) ns.pair$/\1/p' | head -n 1
}

# The same kept by bcc's memleak; where that finds no kernel headers, by
# bpftrace: size, time and stack of each block, and a sum.
memleak_peer() {
	pairs=$1
	if have memleak-bpfcc && timeout 60 memleak-bpfcc -c true 1 1 \
		2>/dev/null | grep -q Attaching; then
		echo "bcc: $(a_pair memleak-bpfcc -c "$B/pairs $pairs" 600 1)"
		return
	fi
	have bpftrace || { echo "not installed"; return; }
	libc=$(ldd "$B/pairs" | sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')
	echo "bpftrace: $(a_pair bpftrace -q -c "$B/pairs $pairs" -e "
		uprobe:$libc:malloc { @size[tid] = arg0; }
		uretprobe:$libc:malloc /@size[tid]/ {
			@blocks[retval] = (@size[tid], nsecs, ustack);
			@bytes = sum(@size[tid]);
			delete(@size[tid]);
		}
		uprobe:$libc:free { delete(@blocks[arg0]); }")"
}

bench_memleak() {
	gcc -O1 -fno-builtin -fno-omit-frame-pointer -pthread \
		-o "$B/pairs" tests/bench/pairs.c
	pairs=${PAIRS:-1000000}
	row "memleak: 2 threads x $pairs malloc/free" \
		"$(a_pair out/sonde memleak 600 -- "$B/pairs" $pairs) ns/pair" \
		"$(memleak_peer $pairs) ns/pair" "<= the peer's"
	row "  --no-double-frees; untraced" \
		"$(a_pair out/sonde memleak --no-double-frees 600 -- \
			"$B/pairs" $pairs) ns/pair" \
		"$(a_pair "$B/pairs" $pairs) ns/pair" ""
	blocks=${BLOCKS:-20000000}
	out/sonde memleak 600 -- "$B/pairs" keep $blocks >"$B/out" \
		2>"$B/err" &
	tracer=$! most=0
	while now=$(awk '/^VmHWM/ { print $2 }' /proc/$tracer/status \
		2>/dev/null) && [ -n "$now" ]; do
		most=$now
		sleep 0.2
	done
	wait $tracer
	row "memleak: $blocks live blocks" \
		"RSS $((most / 1024)) MB, $(
		grep -q '(partial)' "$B/out" && echo partial), $(
		sed -n 's/.*is full: \([0-9]*\),.*/\1 told/p' "$B/err")" "" \
		"bounded RSS, partial"
}

# running PID: ns that it has run.
running() { cut -d' ' -f1 "/proc/$1/schedstat"; }

# at_rest ARGUMENTS...: what a watcher that finds nothing takes of one CPU.
at_rest() {
	out/sonde loadsnoop -n 1000000 "$@" >/dev/null 2>"$B/err" &
	pid=$!
	sleep 2
	from=$(running $pid)
	sleep 10
	to=$(running $pid)
	kill $pid
	wait $pid || true
	echo "$from $to" | awk '{ printf "%.3f %%", ($2 - $1) / 1e8 }'
}

# From the start of a burst of 10 tasks a CPU to their list; how many of them
# are in it.
bench_loadsnoop() {
	gcc -O1 -o "$B/load" tests/programs/load.c
	tasks=$((10 * $(getconf _NPROCESSORS_ONLN)))
	row "loadsnoop at rest" "$(at_rest) of one CPU" \
		"--before 5: $(at_rest --before 5)" "<= 0.1 %"
	i=0
	: >"$B/bursts"
	while [ $i -lt "$RUNS" ]; do
		TZ=UTC0 out/sonde loadsnoop -n 8 -M 1 10 >"$B/list" \
			2>"$B/err" &
		pid=$!
		sleep 1
		"$B/load" $tasks 1500 >"$B/load.log"
		wait $pid || true
		awk 'FNR == NR { if ($1 == "since") since = $2
				else if ($1 != "all") crowd[$1]; next }
			/ tasks run or want/ { split($1, t, ":")
				ms = (t[1] * 60 + t[2]) * 60000 + t[3] * 1000 }
			$2 in crowd && !seen[$2]++ { n++ }
			END { printf "%.0f %d\n", ms - since, n }' \
			"$B/load.log" "$B/list" >>"$B/bursts"
		i=$((i + 1))
	done
	row "loadsnoop: a burst of $tasks tasks is listed after" \
		"$(sort -n "$B/bursts" | awk -v n="$RUNS" -v of=$tasks '
			NR == int((n + 1) / 2) { ms = $1 }
			{ most = $1; if (NR == 1 || $2 < least) least = $2 }
			END { printf "%d ms (at most %d), %d of %d", ms, most,
				least, of }')" \
		"" "<= 100 ms, all of them"
}

run_bench() {
	filter=${1:-}
	build
	B=$(mktemp -d)
	gcc -O1 -o "$B/measure" tests/programs/measure.c
	row WHAT SONDE PEER TARGET
	for bench in size start whole samples stacks kallsyms symbols raw \
		names flame uprobes syscalls storm probe_start vfs offcpu \
		memleak loadsnoop; do
		case $bench in
		*"$filter"*) "bench_$bench" ;;
		esac
	done
	rm -rf "$B"
}
