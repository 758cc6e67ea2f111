# faults - every system call and every allocation of a profile fails in turn.
# beside others
# needs: host root
#
# tests/faults/sweep.c has the theory. By hand, all of it, or one case:
#   sh -c '. tests/lib.sh; TMP=/tmp/f FAULTS=all; . tests/live/faults.sh'
#   /tmp/f/sweep out/sonde /tmp/f/chain /tmp/f one folded openat 3 EMFILE
case $(uname -m) in
x86_64|aarch64) ;;
*) skip faults "registers of $(uname -m) not known"; exit 0 ;;
esac
mkdir -p "$TMP"
faults=tests/faults
sanitize="-fsanitize=address,undefined -fno-omit-frame-pointer"

gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -O1 -o "$TMP/sweep" \
	$faults/sweep.c $faults/inject.c $faults/judge.c $faults/calls.c ||
	{ fail "build of the sweep" "gcc failed"; exit 1; }
# musl's start leaves frame pointers alone, so that stacks are whole.
cc=gcc
have musl-gcc && cc=musl-gcc
$cc -static -no-pie -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls \
	-o "$TMP/chain" tests/programs/chain.c ||
	{ fail "build of chain" "$cc failed"; exit 1; }

# The program under the sanitizers, with allocations that can fail.
objects=
for source in $(find bpfasm src -name '*.c' | grep -v '^src/base/vec.c$'); do
	objects="$objects out/asan/$(echo "$source" | sed 's,/,.,g; s,c$,o,')"
done
gcc -std=c11 -D_GNU_SOURCE -Isrc -O1 -g $sanitize -o "$TMP/sonde-faults" \
	$faults/vec_fault.c $objects ||
	{ fail "build with failing allocations" "gcc failed"; exit 1; }
# sweep NAME BINARY ARGUMENTS...: into its own folder, $TMP/NAME.
sweep() {
	name=$1 binary=$2
	shift 2
	mkdir -p "$TMP/$name"
	status=0
	"$TMP/sweep" "$binary" "$TMP/chain" "$TMP/$name" "$@" \
		>"$TMP/$name/log" 2>&1 || status=$?
	echo $status >"$TMP/$name/status"
}

# judge NAME: at least 100 cases, and none failed.
judge() {
	cat "$TMP/$1/log"
	tried=$(sed -n 's/^\([0-9]*\) cases tried.*/\1/p' "$TMP/$1/log")
	[ "$(cat "$TMP/$1/status")" = 0 ] && [ "${tried:-0}" -ge 100 ] &&
		pass "$1" || fail "$1" "$(tail -n 1 "$TMP/$1/log")"
}

# Each waits much of its time: the two run beside each other.
sweep calls "$SONDE" ${FAULTS:-} &
calls=$!
sweep allocations "$TMP/sonde-faults" allocations ${FAULTS:-}
wait $calls
judge calls
judge allocations

# Each allocation of sonde flame fails, and all from it on: it says so.
flame_starved() {
	n=$1
	shift
	tried=0
	total=$(FAULT_REPORT=9 "$TMP/sonde-faults" flame "$@" 9>&1 \
		>"$TMP/flame.out" 2>"$TMP/flame.err")
	while [ $tried -lt "${total:-0}" ]; do
		tried=$((tried + 1))
		for nth in $tried $tried+; do
			FAULT_ALLOCATION=$nth "$TMP/sonde-faults" flame "$@" \
				>"$TMP/flame.out" 2>"$TMP/flame.err"
			[ $? = 1 ] && grep -q 'memory' "$TMP/flame.err" ||
				fail "$n" "$nth: $(head -n 3 "$TMP/flame.err")"
		done
	done
	[ $tried -gt 20 ] && pass "$n $tried" || fail "$n" "$tried cases"
}
printf 'a;b_[k];c 3\na;d 4\n' >"$TMP/folded"
printf 'a 1 1.0: e:\n\t1 f (x)\n\t2 [unknown] (/lib/y)\n\n' >"$TMP/script"
flame_starved "flame of perf script" -o "$TMP/x.svg" "$TMP/script"
flame_starved "flame to json" -o "$TMP/x.json" "$TMP/folded"
flame_starved "flame to pprof" -o "$TMP/x.pb" "$TMP/folded"
flame_starved "flame compared" --diff "$TMP/script" -o "$TMP/x.svg" \
	"$TMP/folded"
