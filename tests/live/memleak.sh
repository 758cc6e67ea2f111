# memleak.sh - outstanding bytes of programs that know theirs; double frees.
# needs: root

program allocs ownalloc
A=$TMP/allocs
O=$TMP/ownalloc

# traced ARGS...: run it; the result is in $TMP/out, $TMP/err.
traced() {
	status=0
	echo "a line" | timeout 100 "$SONDE" memleak --blocks 50000 "$@" \
		>"$TMP/out" 2>"$TMP/err" || status=$?
	[ $status = 0 ]
}

# left [FUNCTION]: "BYTES BLOCKS" of the last output's rows, or of those with
# that function in their stacks.
left() {
	awk -v name="${1:-}" '
		function take() {
			if (row && (name == "" || hit)) {
				bytes += b
				blocks += n
			}
			row = hit = 0
		}
		/Top .* stacks/ { row = bytes = blocks = 0 }
		/Double frees/ { take() }
		/ bytes in .* allocations from stack$/ {
			take()
			row = 1
			b = $1
			n = $4
		}
		name != "" && index($0, "\t" name) { hit = 1 }
		END { take(); print bytes + 0, blocks + 0 }' "$TMP/out"
}
wanted_left() { sed -n 's/^= //p' "$TMP/out"; }
doubles() {
	awk '/ bytes at 0x.* of process/ { n += $1 } END { print n + 0 }' \
		"$TMP/out"
}

say() { cat "$TMP/out" "$TMP/err" | tail -n 40 | tr '\n' '|'; }

# lenient GOT WANTED: an emulated kernel loses a return now and then, and tells.
lenient() {
	in_guest && grep -q 'return was not seen\|partial' "$TMP/err"
}

# same NAME GOT WANTED
same() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	elif lenient; then
		skip "$1" "the kernel lost a return: $2, not $3"
	else
		fail "$1" "$2, not $3: $(say)"
	fi
}

# exact NAME [FUNCTION] -- PROGRAM ARGS...
exact() {
	name=$1
	shift
	function=
	[ "$1" = -- ] || { function=$1; shift; }
	shift
	traced -T 1000 -- "$@"
	same "$name" "$(left $function)" "$(wanted_left)"
}

each='calloc posix mmap mremap'
resized='fails zero grows'
if ! in_guest; then
	each="$each malloc unmap-part overflow memalign aligned valloc pvalloc
		strdup asprintf getline munmap"
	resized="$resized null shrinks many"
fi
for how in $each; do
	exact "$how" -- "$A" $how
done
for how in $resized; do
	exact "realloc-$how" -- "$A" realloc-$how
done
exact reallocarray -- "$A" reallocarray
exact churn -- "$A" churn 500
exact threads four -- "$A" threads $(in_guest && echo 500 || echo 20000)
exact 'the leader ends' second -- "$A" leader
exact fork -- "$A" fork
exact exec -- "$A" exec

if ! in_guest; then
# Sizes: limits are inclusive, nonsense is refused.
sized() {
	traced "$@" -- "$A" sizes
	left
}
same '-z 100' "$(sized -z 100)" '201 2'
same '-Z 100' "$(sized -Z 100)" '199 2'
same '-z 100 -Z 100' "$(sized -z 100 -Z 100)" '100 1'
for args in '-z 101 -Z 100' '-z -1' '-Z text' '-s 0' '-o -3' \
	'--sort color' '5 x' '1 2 3'; do
	status=0
	"$SONDE" memleak $args -- true >"$TMP/out" 2>"$TMP/err" || status=$?
	same "refused: $args" $status 2
done
traced -s 10 -- "$A" threads 2000
got=$(left four | cut -d' ' -f2)
[ "$got" -gt 280 ] && [ "$got" -lt 520 ] && pass 'one of ten' ||
	fail 'one of ten' "$got, not 400: $(say)"
fi

# Double frees.
traced -- "$O" double
same 'a double free' "$(doubles)" 1
n=0
for what in allocated freed 'freed again'; do
	grep -A 9 "^	    $what\$" "$TMP/out" | grep -q use && n=$((n + 1))
done
same 'its three stacks' $n 3
traced -- "$O" between
same 'allocated in between' "$(doubles) $(left)" '0 0 0'
rounds=$(in_guest && echo 50 || echo 500)
traced -- "$O" race $rounds
same 'freed by two at once' "$(doubles)" $rounds
in_guest || {
	traced --no-double-frees -- "$O" double
	same 'not looked for' "$(doubles)" 0
}

# Allocators of the program's own; calls left by a jump.
exact 'an own allocator' -- "$O" plain
same 'is named' "$(grep -c ' in .*/ownalloc$' "$TMP/err")" 1
exact 'operator new' -- "$O" new
traced -T 1000 -- "$O" jump 500
got=$(left | cut -d' ' -f2)
if [ "$got" -ge 250 ] && grep -q 'return was not seen: 1$' "$TMP/err"; then
	pass 'left by a jump'
else
	fail 'left by a jump' "$got: $(say)"
fi
[ "$(uname -m)" != x86_64 ] ||
	same 'left by a jump, exactly' "$got" 500

# A process that runs: what it had is not known, and freed by it no matter.
mkfifo "$TMP/go"
"$A" late - <"$TMP/go" >"$TMP/late" &
pid=$!
started="$started $pid"
exec 7>"$TMP/go"
wait_until grep -q ready "$TMP/late"
: >"$TMP/out"
timeout 100 "$SONDE" memleak -o 0 -p $pid 1 60 >"$TMP/out" 2>"$TMP/err" &
tracer=$!
started="$started $tracer"
wait_until grep -q Top "$TMP/out"
echo >&7
wait_until grep -q '200 bytes' "$TMP/out"
kill $tracer
wait $tracer
same 'a running process' "$(left) $(doubles)" '200 1 0'
grep -q 'allocation was not seen.*: 1$' "$TMP/err" &&
	pass 'what it had before' || fail 'what it had before' "$(say)"

kill $pid
in_guest || {
	traced -t -- "$A" realloc-shrinks
	same '-t' "$(grep -cE 'exited.* = 100?$|entered.* = 100$' \
		"$TMP/out")" 3
	traced -a -- "$A" malloc
	same 'each block' "$(grep -c '	addr = [0-9a-f]* size = 100$' \
		"$TMP/out")" 1
}

# More blocks than the table holds; the file formats; growth.
traced --blocks 100 -- "$A" churn 2000
got=$(left | cut -d' ' -f2)
[ "$got" -le 100 ] && grep -q 'partial' "$TMP/out" &&
	grep -q 'table of blocks is full: [0-9]' "$TMP/err" &&
	pass 'a full table' || fail 'a full table' "$(say)"
if ! in_guest; then
traced --output "$TMP/m.svg" -- "$A" malloc
is_svg "$TMP/m.svg" && grep -q '100 bytes' "$TMP/m.svg" &&
	pass 'a flame graph' || fail 'a flame graph' "$(say)"
traced --output "$TMP/m.folded" -- "$A" malloc
same 'folded' "$(grep -c ';main;.* 100$' "$TMP/m.folded")" 1
traced --growth -- "$A" malloc
same 'growth' "$(grep -c '+100 bytes in +1 allocations' "$TMP/out")" 1
traced -c "$A malloc"
same '-c' "$(left)" '100 1'
fi
rungs=uprobe_pmu
in_guest || rungs="$rungs ringbuf uprobe_multi uprobe_multi,attach_cookie
	uprobe_multi,uprobe_pmu map_batch get_stack"
for without in $rungs; do
	export SONDE_WITHOUT=$without
	exact "without $without" -- "$A" churn 300
	unset SONDE_WITHOUT
done
in_guest || {
	traced -O "$O" -- "$O" plain
	same '-O' "$(left)" '40 1'
}

# The kernel: pages of a file in memory stay.
: >"$TMP/err"
timeout 100 "$SONDE" memleak -v -o 0 1000 >"$TMP/out" 2>"$TMP/err" &
tracer=$!
started="$started $tracer"
wait_until grep -q 'ready after' "$TMP/err"
dd if=/dev/zero of="$TMP/pages" bs=65536 count=64 2>"$TMP/log"
kill $tracer
wait $tracer
got=$(left | cut -d' ' -f1)
if [ "$got" -ge $((4 << 20)) ]; then
	pass 'the kernel'
else
	fail 'the kernel' "$got: $(say)"
fi
