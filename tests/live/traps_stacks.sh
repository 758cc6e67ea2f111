# traps_stacks - stacks that are broken, deep, of the kernel alone, or empty.
# needs: host root
cd "$TMP" || exit 1
program behave

# be NAME ARGUMENTS...: behave under the name NAME.
be() {
	cp behave "$1"
	n=$1
	shift
	start "./$n" "$@"
}
of() { awk -v name="$1;" 'index($0, name) == 1' "${2:-found}"; }
total() { awk '{ n += $NF } END { print n + 0 }'; }

# A register that other programs keep the frame in counts here.        G3-04
cat >counter.c <<'C'
static volatile long sink;
__attribute__((noinline)) void inner(void)
{
	__asm__ volatile(
		"push %%rbp\n mov $200000, %%ebp\n"
		"1: sub $1, %%rbp\n jnz 1b\n pop %%rbp" ::: "memory");
	sink++;
}
int main(void) { for (;;) inner(); }
C
[ "$(uname -m)" = x86_64 ] &&
	gcc -O2 -fomit-frame-pointer -mno-red-zone -o counter counter.c &&
	start ./counter

# Both halves, either alone, and a system call that runs all the time. G3-12
cat >reads.c <<'C'
#include <fcntl.h>
#include <unistd.h>
static char bytes[1 << 20];
__attribute__((noinline)) static void get(int fd)
{
	for (;;)
		if (read(fd, bytes, sizeof(bytes)) < 0)
			return;
}
int main(void) { get(open("/dev/zero", O_RDONLY)); return 1; }
C
gcc -O1 -fno-omit-frame-pointer -o reads reads.c && start ./reads

be deep deep 500
be wide wide 500
be handler handler

sleep 0.2
"$SONDE" profile -f -d -F 1999 2 >found 2>notes
"$SONDE" profile -f -d -K --comm reads -F 999 1 >kernel 2>>notes
"$SONDE" profile -f -d -U --comm reads -F 999 1 >user 2>>notes
stop
"$SONDE" profile -f -I -F 499 1 >idle 2>>notes

if of counter >rows && [ -s rows ]; then
	# At most one frame that means nothing, where the stack ends, so that
	# all of them are few rows.
	awk '{ n = gsub(/\[unknown\]/, "&"); if (n > 1 ||
		(n && $0 !~ /^counter;\[unknown\]/)) bad++ }
		END { exit bad > 0 }' rows &&
		pass "a stack ends at what is no code" ||
		fail "a stack ends at what is no code" "$(head -n 3 rows)"
	few=$(grep -c . rows)
	[ "$few" -le 40 ] && pass "stacks with one nonsense are one row" ||
		fail "stacks with one nonsense are one row" "$few rows"
	[ "$(grep -c 'hint: stacks are followed by frame pointers' notes)" \
		-le 4 ] && pass "a hint at frame pointers, once a run" ||
		fail "a hint at frame pointers, once a run" "$(cat notes)"
else
	skip "a stack ends at what is no code" "not for this machine"
fi

# The delimiter stands between two halves and nowhere else; the kernel's part
# is above the user's.
both=$(of reads | grep -cE ';main;.*;-;.*;vfs_read')
[ "$both" -gt 0 ] && pass "kernel above user" ||
	fail "kernel above user" "$(of reads | head -n 3)"
grep -E '^[^;]*;-;|;- [0-9]+$|;-;.*;-;' found kernel user >bad
[ ! -s bad ] && pass "a delimiter only between two halves" ||
	fail "a delimiter only between two halves" "$(head -n 3 bad)"
grep -q '^reads;' kernel && ! grep -qE ';(main|get|-)[; ]' kernel &&
	pass "kernel half alone" ||
	fail "kernel half alone" "$(head -n 2 kernel)"
grep -qE '^reads;.*;main;' user && ! grep -qE 'vfs_read|;-;' user &&
	pass "user half alone" || fail "user half alone" "$(head -n 2 user)"

# Printed rows that are equal are one row, and no sample goes lost.    G3-14
for f in found kernel user idle; do
	sed 's/ [0-9]*$//' $f | sort | uniq -d
done >bad
[ ! -s bad ] && pass "no two equal rows" ||
	fail "no two equal rows" "$(head -n 2 bad)"
said=$(sed -n '1s/^note: \([0-9]*\) samples.*/\1/p' notes)
[ "$(total <found)" = "$said" ] && pass "rows sum up to the samples" ||
	fail "rows sum up to the samples" "$(total <found), not $said"

# Deeper than the kernel follows: the innermost frames, and a word of it.
limit=$(cat /proc/sys/kernel/perf_event_max_stack)
for n in deep wide; do
	of $n >rows
	frames=$(awk -F';' 'NR == 1 { print NF - 1 }' rows)
	grep -qE ';down;spin;hot [0-9]+$' rows && [ "$frames" -ge "$limit" ] &&
		pass "innermost frames of a stack 500 deep ($n)" ||
		fail "innermost frames of a stack 500 deep ($n)" \
			"$frames frames, $(head -n 1 rows | cut -c1-200)"
done
grep -q 'deeper than the limit .*perf_event_max_stack' notes &&
	pass "stacks that are cut are said" ||
	fail "stacks that are cut are said" "$(cat notes)"
of handler | grep -qE ';handle;spin;hot [0-9]+$' &&
	pass "a signal handler on its own stack" ||
	fail "a signal handler on its own stack" "$(of handler | head -n 2)"

# Kernel threads and idle CPUs have names and counts, and no user part. G3-08
grep -E '^(swapper|kworker|ksoftirqd|rcu|migration|kcompactd|jbd2)[^;]*;' \
	idle found >rows
grep -q '^swapper/[0-9]*;' rows && pass "idle CPUs on request" ||
	skip "idle CPUs on request" "no CPU was idle for a second"
! grep -qE 'unknown|;-;' rows && pass "kernel threads have no user part" ||
	fail "kernel threads have no user part" \
		"$(grep -E 'unknown|;-;' rows | head -n 2)"
! grep -q '^swapper/' found && pass "idle CPUs are left out otherwise" ||
	fail "idle CPUs are left out otherwise" "$(grep ^swapper found)"

# One text row for each stack, with its kernel thread's name and number.
"$SONDE" profile -F 499 -I 1 >text 2>/dev/null
awk '/^    -                .* \([0-9]+\)$/ { names++ }
	/^        [0-9]+$/ { counts++ }
	END { exit !(names && names == counts) }' text &&
	pass "each stack as text has a name and a count" ||
	fail "each stack as text has a name and a count" "$(head -n 20 text)"
