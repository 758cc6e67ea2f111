# debug_files.sh - stripped files whose symbols lie in files of their own: where
# these are found, and what is not taken for one (G2-04, G2-22).
# beside others
# needs: host root gcc objcopy strip nm
cd "$TMP" || exit 1

cat >prog.c <<'C'
#include <unistd.h>
static volatile long sum;
static __attribute__((noinline)) void inner(long n)
{
	while (n--)
		sum += n;
}
static __attribute__((noinline)) void outer(void)
{
	inner(100000);
	sum++;
}
int main(void)
{
	for (;;) {
		outer();
		getppid();
	}
}
C

# make DIR GCC-OPTION...: full, its debug file dbg and what is left, prog.
make() {
	mkdir -p "$1"
	dir=$1
	shift
	gcc -g -O1 -fno-omit-frame-pointer "$@" -o "$dir/full" prog.c
	objcopy --only-keep-debug "$dir/full" "$dir/dbg"
	strip -o "$dir/prog" "$dir/full"
}

# plus2 FILE NAME: an address in a function.
plus2() {
	nm "$1" >symbols
	awk -v n="$2" '$3 == n { print "0x" $1 }' symbols >at
	printf %x $(($(cat at) + 2))
}

# is NAME WANTED FILE [OPTION...]: what inner and outer of $full are in it.
is() {
	name=$1 want=$2 file=$3
	shift 3
	got=$("$SONDE" sym "$@" "$file" "$(plus2 "$full" inner)" \
		"$(plus2 "$full" outer)" 2>notes | tr '\n' ' ')
	[ "$got" = "$want " ] && pass "$name" ||
		fail "$name" "$got $(cat notes)"
}
named='inner+0x2 outer+0x2'
# bare FILE: without names.
bare() {
	printf '[%s+0x%s] [%s+0x%s]' "${1##*/}" "$(plus2 "$full" inner)" \
		"${1##*/}" "$(plus2 "$full" outer)"
}
# no NAME FILE [OPTION...]
no() {
	name=$1 file=$2
	shift 2
	is "$name" "$(bare "$file")" "$file" "$@"
}

# id FILE: its build-id as debuggers make a path of it.
id() {
	readelf -n "$1" 2>/dev/null | sed -n \
		's|.*Build ID: \(..\)\(.*\)|\1/\2|p'
}
# by_id FILE DIR [OF]: put it into DIR/.build-id, as the file of OF.
by_id() {
	as=$(id "${3:-$1}")
	mkdir -p "$2/.build-id/${as%/*}"
	rm -f "$2/.build-id/$as.debug"
	cp "$1" "$2/.build-id/$as.debug"
}

places() {
	full=a/full
	make a -no-pie
	no "nothing is found" a/prog
	by_id a/dbg by
	is "--debug-dir" "$named" a/prog --debug-dir by
	mkdir -p deep/down/there
	cp a/full deep/down/there/other-name
	is "--symfs, by build-id" "$named" a/prog --symfs deep
	mkdir -p "tree$PWD/a"
	cp a/full "tree$PWD/a/prog"
	is "--symfs, by path" "$named" a/prog --symfs tree
	(cd a && objcopy --add-gnu-debuglink=dbg prog linked)
	is "the link, beside it" "$named" a/linked
	mkdir a/.debug
	mv a/dbg a/.debug
	is "the link, in .debug" "$named" a/linked
	mkdir -p "dir$PWD/a"
	mv a/.debug/dbg "dir$PWD/a"
	is "the link, below --debug-dir" "$named" a/linked --debug-dir dir
	cp "dir$PWD/a/dbg" a/.debug
	mv a/.debug/dbg a/dbg
	for how in -pie "-pie -fuse-ld=lld" "-static -no-pie"; do
		[ "${how#*lld}" = "$how" ] || have ld.lld || continue
		rm -rf b by
		make b $how
		full=b/full
		by_id b/dbg by
		is "its own addresses count: $how" "$named" b/prog \
			--debug-dir by
	done
}

# told WHY: the file that was found is named, and why it is not used.
told() {
	grep -q "^note: /.*$1.*: not used" notes && pass "which is told: $1" ||
		fail "which is told: $1" "$(cat notes)"
}

# What another one than the right file is.
others() {
	full=a/full
	rm -rf by deep
	make c -no-pie -DOTHER=1 -O2
	by_id c/dbg by a/full
	no "another build" a/prog --debug-dir by
	grep -q "its build-id is $(id c/full | tr -d /), not $(id a/full |
		tr -d /) as of .*a/prog: not used" notes &&
		pass "another build is named" ||
		fail "another build is named" "$(cat notes)"
	by_id a/prog by
	no "a file without symbols" a/prog --debug-dir by
	told "it has no .symtab"
	by_id a/dbg by
	rm -f fifo
	mkfifo fifo
	mv fifo "by/.build-id/$(id a/full).debug"
	no "a FIFO" a/prog --debug-dir by
	head -c 100 /dev/urandom >"c/noise"
	by_id c/noise by a/full
	no "no ELF file" a/prog --debug-dir by
	told "no ELF file"
	cp a/dbg a/cut
	truncate -s 900 a/cut
	by_id a/cut by a/full
	no "a debug file that is cut" a/prog --debug-dir by
	told "it has no"
	cp a/dbg a/machine
	printf '\267' | dd of=a/machine bs=1 seek=18 conv=notrunc status=none
	by_id a/machine by a/full
	no "of another machine" a/prog --debug-dir by
	told "of another machine"
	cp c/dbg a/dbg.c
	mv a/dbg a/dbg.a
	mv a/dbg.c a/dbg
	no "a link to another build" a/linked
	cp a/dbg.a a/.debug/dbg
	is "the right one behind another" "$named" a/linked
	! grep -q 'not used' notes && pass "which is not told" ||
		fail "which is not told" "$(cat notes)"
	rm a/.debug/dbg
	mv a/dbg.a a/dbg
}

# link NAME SUM OUT: a/prog with a link of that text.
link() {
	printf '%s\0' "$1" >text
	while [ $(($(wc -c <text) % 4)) != 0 ]; do printf '\0' >>text; done
	printf "$2" >>text
	objcopy --add-section .gnu_debuglink=text a/prog "$3"
}

links() {
	full=a/full
	by_id a/dbg by
	for name in ../a/dbg ../../../../../../etc/passwd "$PWD/a/dbg" . .. \
		'' hostile; do
		link "$name" '\1\2\3\4' a/hostile
		no "a link to '${name##*"$PWD"}'" a/hostile
	done
	printf 'dbg' >text
	objcopy --add-section .gnu_debuglink=text a/prog a/hostile
	no "a link that is cut" a/hostile
}

# The checksum, where there is no build-id.
sums() {
	make d -no-pie -Wl,--build-id=none
	full=d/full
	(cd d && objcopy --add-gnu-debuglink=dbg prog linked)
	is "the checksum is right" "$named" d/linked
	printf x >>d/dbg
	no "the checksum is wrong" d/linked
	told "not the checksum"
	truncate -s 3G d/dbg
	no "a debug file of 3 GiB" d/linked
	told "too large for the checksum"
	rm d/dbg
	mkdir d/dbg
	no "a folder in its place" d/linked
	told "/d/dbg: not a regular file"
	mkdir -p "sums$PWD/d"
	cp d/full "sums$PWD/d/prog"
	is "no build-id, by its path" "$named" d/prog --symfs sums
	grep -q "taken by their path alone: 1" notes && pass "which is told" ||
		fail "which is told" "$(cat notes)"
}

# root DIR: a folder for a process to have as "/", with the static program.
root() {
	mkdir -p "$1/bin" "$1/usr/lib/debug"
	cp e/linked "$1/bin/linked"
}

# stacks NAME WANTED-FRAME [OPTION...]: of the process that was started.
stacks() {
	name=$1 want=$2
	shift 2
	timeout 60 "$SONDE" profile -f -p $pid "$@" 1 >folded 2>notes
	grep -q "$want" folded && pass "$name" ||
		fail "$name" "$(head -n 3 folded) $(cat notes)"
}

processes() {
	make e -static -no-pie
	(cd e && objcopy --add-gnu-debuglink=dbg prog linked)
	full=e/full
	root r
	start chroot r /bin/linked
	stacks "a process without" 'linked+0x'
	by_id e/dbg by
	stacks "a process, --debug-dir" ';main;outer;inner' --debug-dir by
	by_id e/dbg r/usr/lib/debug
	stacks "its own /usr/lib/debug" ';main;outer;inner'
	# That only it sees the file: a link out of its root leads nowhere.
	as=r/usr/lib/debug/.build-id/$(id e/full).debug
	ln -sf "$PWD/e/dbg" "$as"
	stacks "a link out of its root" 'linked+0x'
	mkdir -p "r$PWD/e"
	cp e/dbg "r$PWD/e/dbg"
	stacks "the same link within it" ';main;outer;inner'
	rm "$as"
	mkdir -p r/usr/lib/debug/bin
	cp e/dbg r/usr/lib/debug/bin
	stacks "the link, below its /usr/lib/debug" ';main;outer;inner'
	cp c/dbg r/usr/lib/debug/bin/dbg
	stacks "of another build, there" 'linked+0x'
	grep -q 'not used' notes && pass "which is said" ||
		fail "which is said" "$(cat notes)"
	stop
}

probes() {
	full=a/full
	rm -rf by
	by_id a/dbg by
	start a/prog
	timeout 60 "$SONDE" stackcount -f -p $pid -D 1 --debug-dir by \
		"$PWD/a/prog:inner" >folded 2>notes
	grep -q 'main;outer;inner [1-9]' folded &&
		pass "a static function is probed" ||
		fail "a static function is probed" "$(cat folded notes)"
	timeout 60 "$SONDE" funccount -p $pid -d 1 --debug-dir by \
		"$PWD/a/prog:inner" >counts 2>notes
	grep -q '^inner  *[1-9]' counts && pass "and counted" ||
		fail "and counted" "$(cat counts notes)"
	stop
	"$SONDE" list --symfs a "$PWD/a/prog:*nner" >listed 2>notes
	grep -q ':inner' listed && pass "and listed" ||
		fail "and listed" "$(cat listed notes)"
	for command in stackcount profile trace memleak list sym report; do
		status=0
		"$SONDE" $command --debug-dir none a/prog:inner >folded \
			2>notes || status=$?
		[ $status = 1 ] &&
			grep -q -- '--debug-dir none: No such' notes &&
			pass "$command: a folder that is not there" ||
			fail "$command: a folder that is not there" \
				"$status $(cat notes)"
	done
}

# What was recorded is named by the link, too: in the tree that is given.
recorded() {
	start a/linked
	timeout 60 "$SONDE" profile -p $pid --raw x.raw 1 2>notes
	stop
	mkdir -p "image$PWD/a"
	cp a/linked a/dbg "image$PWD/a"
	"$SONDE" report -f --symfs image x.raw >folded 2>>notes
	grep -q ';main;outer;inner' folded && pass "a report, by the link" ||
		fail "a report, by the link" "$(head -n 3 folded) $(cat notes)"
}

places
others
links
sums
processes
probes
recorded
