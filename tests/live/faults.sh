# faults - every system call and every allocation of a profile fails in turn.
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
