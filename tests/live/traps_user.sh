# traps_user - functions of programs that are built, mapped or replaced oddly.
#
# All programs run at once, each under a name of its own, and one profile of
# the whole system says what it found in each of them.
# needs: host root
if ! have gcc || ! have readelf; then
	skip traps_user "no gcc and binutils"
	exit 0
fi
cd "$TMP" || exit 1
tree=$OLDPWD
program behave
mounts=
pids=
unmount_all() {
	stop
	for m in $mounts; do
		umount -l "$m"
	done
	for p in $pids; do
		rm -f "/tmp/perf-$p.map" "/tmp/perf-$p.map.other"
	done
}
trap unmount_all EXIT

# All the time that the rest is built, what is built already spins.
idly() { start nice -n 19 "$@"; }

# be NAME ARGUMENTS...: behave in a file, and so under a thread name, NAME.
be() {
	cp behave "$1"
	n=$1
	shift
	idly "./$n" "$@"
}

# frames NAME PATTERN PERCENT CASE: so many of the stacks of the thread name
# match, and some do.
frames() {
	name="$1;" re=$2 awk -v least="$3" '
		BEGIN { name = ENVIRON["name"]; re = ENVIRON["re"] }
		index($0, name) == 1 { all += $NF }
		index($0, name) == 1 && $0 ~ re { n += $NF }
		END {
			printf "%d of %d", n, all
			exit !(n && n * 100 >= all * least)
		}' found >count && pass "$4" ||
		fail "$4" "$(cat count): $(grep -F "$1;" found | head -n 2)"
}

# never NAME PATTERN CASE: no stack of the thread name matches.
never() {
	grep -F "$1;" found | grep -E "$2" >bad
	[ ! -s bad ] && grep -qF "$1;" found && pass "$3" ||
		fail "$3" "$(head -n 2 bad)"
}

cat >hot.c <<'C'
__attribute__((noinline)) long hot(long n)
{
	volatile long s = 0;
	while (n--)
		s += n;
	return s;
}
C
cat >caller.c <<'C'
long hot(long);
int main(void) { for (;;) hot(100000); }
C

# Layouts of programs and libraries: prelinked bases, no page boundary between
# segments, lld's p_vaddr that differs from p_offset.                  G2-02
layouts="shared shared_packed pie nopie static static_pie based packed huge_page
	lld_pie"
layout_flags() {
	case $1 in
	shared) echo -fuse-ld=lld ;;
	shared_packed) echo -Wl,-z,noseparate-code ;;
	pie) echo -pie -fPIE ;;
	nopie) echo -no-pie ;;
	static) echo -static ;;
	static_pie) echo -static-pie -fPIE ;;
	based) echo -pie -fPIE -Wl,-Ttext-segment=0x7000000 ;;
	packed) echo -no-pie -Wl,-z,noseparate-code ;;
	huge_page) echo -no-pie -Wl,-z,max-page-size=0x200000 ;;
	lld_pie) echo -pie -fPIE -fuse-ld=lld ;;
	esac
}
start_layout() {
	flags="$(layout_flags "$1") -O1 -fno-omit-frame-pointer"
	case $1 in
	shared*)
		gcc -shared -fPIC $flags -o "$1.so" hot.c 2>cc.log &&
		gcc -O1 -o "$1" caller.c "./$1.so" 2>>cc.log ;;
	*)
		gcc $flags -o "$1" caller.c hot.c 2>cc.log ;;
	esac && idly "./$1"
}
started_layouts=
for l in $layouts; do
	if start_layout $l; then
		started_layouts="$started_layouts $l"
	else
		skip "layout $l" "$(grep -v warning cc.log | head -n 1)"
	fi
done

# Static functions of a stripped library.                              G2-06
cat >three.c <<'C'
int first(int x) { return x * 3; }
static __attribute__((noinline)) long inner(long n)
{
	volatile long s = 0;
	while (n--)
		s += n;
	return s;
}
long last(long n) { return inner(n) + 1; }
C
sed 's/hot/last/g' caller.c >last.c
gcc -shared -fPIC -O1 -fno-toplevel-reorder -o three.so three.c
strip three.so
gcc -O1 -o strip3 last.c ./three.so
idly ./strip3

# A binary that was deleted, and another put at its path.              G2-24
sed 's/hot/not/g' hot.c caller.c >other.c
gcc -O1 -o other other.c
be gone spin
runs() { [ "$(readlink "/proc/$1/exe")" = "$(pwd -P)/$2" ]; }
wait_until runs "$pid" gone
rm gone
cp other gone

# A memfd with a name of blanks and a semicolon.                       G2-26
be mem memfd 'x y;z'

# Text moved to anonymous memory; other unusual mappings of code.      G2-28
be copied copy
be copied_all copy_all
be copied_in copy_in
be written writable
be heapcode heap
be stackcode stack
be anoncode anon
be filecode file "$TMP/odd;name"

# Code at an offset of 9 TB of a sparse file, in a second segment.
cat >far.lds <<'C'
PHDRS { a PT_LOAD FLAGS(5); b PT_LOAD FLAGS(5); }
SECTIONS {
	. = 0x400000 + SIZEOF_HEADERS;
	.text : { *(.text) } :a
	. = 0x900000000;
	.text2 : { *(.text2) } :b
	/DISCARD/ : { *(.note*) *(.eh_frame) *(.data) *(.bss) }
}
C
cat >far.s <<'C'
.globl _start, far
.type _start, @function
.type far, @function
.text
_start:	push %rbp
	mov %rsp, %rbp
	movabs $far, %rax
1:	call *%rax
	jmp 1b
.size _start, .-_start
.section .text2, "ax"
far:	push %rbp
	mov %rsp, %rbp
	mov $1000, %ecx
2:	loop 2b
	pop %rbp
	ret
.size far, .-far
C
as -o far.o far.s 2>ld.log && ld -T far.lds -o far far.o 2>>ld.log &&
	idly ./far || skip "code beyond 4 GiB of its file" "$(cat ld.log)"

# A 32-bit program.                                                    G2-30
cat >narrow.s <<'C'
.globl _start, spin32
.type _start, @function
.type spin32, @function
_start:	push %ebp
	mov %esp, %ebp
1:	call spin32
	jmp 1b
.size _start, .-_start
spin32:	push %ebp
	mov %esp, %ebp
	mov $100000, %ecx
2:	loop 2b
	pop %ebp
	ret
.size spin32, .-spin32
C
as --32 -o narrow.o narrow.s 2>ld.log &&
	ld -m elf_i386 -o narrow narrow.o 2>>ld.log && idly ./narrow

# JIT maps that their process wrote, well and badly.                   G2-32
for kind in noise overlap name long link owner sparse fifo; do
	be "jit_$kind" jit $kind
	pids="$pids $pid"
done

# A JIT map in a /tmp and under a number that only the target sees.    G2-32
mkdir private_tmp
cp behave jit_inside
idly unshare -m --propagation private -fp --kill-child --mount-proc sh -c '
	mount --bind "$1" /tmp && exec "$2" jit noise' sh "$PWD/private_tmp" \
	"/proc/self/cwd/jit_inside"

# Stubs of the procedure linkage table.                                G2-34
echo 'void stub(void) {}' >stub.c
cat >calls.c <<'C'
void stub(void);
int main(void) { for (;;) stub(); }
C
gcc -O1 -shared -fPIC -o libstub.so stub.c
for how in lazy ibt; do
	flags=-Wl,-z,lazy
	[ $how = lazy ] || flags=-fcf-protection=full
	gcc -O1 -fno-omit-frame-pointer $flags -o plt_$how calls.c \
		./libstub.so && strip plt_$how && idly ./plt_$how
done

# Another file at the same path in the mount namespace of the profiler; a file
# system that is mounted nowhere any more; an overlay; a root of its own.
mkdir here there
cp behave there/elsewhere
cp other here/elsewhere
idly unshare -m --propagation private sh -c '
	mount --bind there here && exec here/elsewhere spin'
mkdir lazy lower upper work over root
if mount -t tmpfs none lazy 2>/dev/null; then
	cp behave lazy/unmounted
	idly lazy/unmounted spin
	sleep 0.1
	umount -l lazy
fi
cp behave lower/stacked
if mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work \
	over 2>/dev/null; then
	mounts="$PWD/over"
	idly over/stacked spin
fi
if gcc -O1 -static -fno-omit-frame-pointer -o root/rooted \
	"$tree/tests/programs/behave.c" 2>/dev/null; then
	idly chroot root /rooted spin
fi

# Processes of another user, who may not read their own program, in a pid
# namespace of their own, forked, without their first thread.
cp behave secret
chmod 111 secret
idly ./secret user
cp behave inner
idly unshare -fp --kill-child --mount-proc ./inner spin
be forked fork
be vforked vfork
be orphan leader

# Text that is moved under the eyes of the profiler.                   G2-28
for how in copy copy_all copy_in; do
	be late_$how $how late
done

sleep 0.3
"$SONDE" profile -f -U -F 1999 3 >found 2>notes
stop

for l in $started_layouts; do
	frames $l ';hot [0-9]+$' 95 "layout $l"
done
frames strip3 ';\[three\.so\+0x[0-9a-f]+\] ' 90 \
	"a static function of a stripped library is an offset"
never strip3 'first|;last [0-9]' \
	"a static function of a stripped library gets no other's name"
frames gone ';main;spin;hot ' 95 "a deleted and replaced binary"
never gone 'not' "the replacement of a binary names nothing"
frames 'memfd:x y\x3bz' ';main;spin;hot [0-9]+$' 95 "a memfd of an odd name"
for how in "" _all _in; do
	frames copied$how ';main;spin;hot ' 95 \
		"text that was moved to anonymous memory: copy$how"
	frames late_copy$how ';main;(spin;)?hot ' 85 \
		"text that is moved later: copy$how"
done
frames written ';main;spin;hot ' 95 "text that was made writable"
frames heapcode ';run_copy;\[heap\+0x[0-9a-f]+\] ' 90 "code on the heap"
frames stackcode ';run_copy;\[(anon|stack)\+0x[0-9a-f]+\] ' 90 \
	"code on the stack"
frames anoncode ';run_copy;\[anon\+0x[0-9a-f]+\] ' 90 "code without a file"
frames filecode ';run_copy;\[odd\\x3bname\+0x1[0-9a-f]+\] ' 90 \
	"code in a file that is no ELF file"
[ ! -x far ] || frames far ';_start;far [0-9]+$' 90 \
	"code beyond 4 GiB of its file"
[ ! -x narrow ] || frames narrow ";_start;spin32 [0-9]+$" 95 \
	"a 32-bit program"
for kind in noise overlap long; do
	frames jit_$kind ';run_copy;jit_fn [0-9]+$' 90 "JIT map: $kind"
done
frames jit_name ';run_copy;a\\x3bb \\x1b\[2J 7 [0-9]+$' 90 "JIT map: name"
for kind in link owner sparse fifo; do
	frames jit_$kind ';run_copy;\[anon\+0x[0-9a-f]+\] ' 90 "JIT map: $kind"
	never jit_$kind jit_fn "JIT map: $kind names nothing"
done
[ "$(grep -c 'perf-[0-9]*.map of process .* not used$' notes)" = 4 ] &&
	pass "one notice for each JIT map that is not used" ||
	fail "one notice for each JIT map that is not used" "$(cat notes)"
frames jit_inside ';run_copy;jit_fn [0-9]+$' 90 \
	"JIT map: in a mount and a pid namespace"
for how in lazy ibt; do
	frames plt_$how ';stub(@plt)? [0-9]+$' 30 "linkage table: $how"
	frames plt_$how ';stub@plt [0-9]+$' 5 "stubs of linkage table: $how"
	never plt_$how '_init|_start [0-9]' \
		"linkage table, $how: no neighbour's name"
done
frames elsewhere ';main;spin;hot ' 95 \
	"another file at the same path in another mount namespace"
frames unmounted ';main;spin;hot ' 95 "a file system unmounted since"
[ -z "$mounts" ] && skip "a stacked file system" "no overlayfs" ||
	frames stacked ';main;spin;hot ' 95 "a stacked file system"
[ ! -x root/rooted ] || frames rooted ';main;spin;hot ' 95 \
	"a root folder of its own"
frames secret ';main;spin;hot ' 95 "another user's unreadable program"
frames inner ';main;spin;hot ' 95 "a pid namespace of its own"
frames forked ';main;spin;hot ' 95 "a child by fork, no exec"
frames vforked ';main;processes;spin;hot ' 95 "a child by vfork, no exec"
frames orphan ';thread;spin;hot ' 95 "threads that outlive the first"

# Probes in libraries of lld, in 32-bit programs; imports.    G2-02 G2-30 G2-10
sed 's/for (;;)/for (int i = 0; i < 30; i++)/' caller.c >some.c
counted() {
	n=$1 spec=$2
	shift 2
	timeout 60 "$SONDE" funccount "$spec" -- "$@" >found 2>notes
	[ "$(awk -v f="${spec##*:}" '$1 == f { print $2 }' found)" = 30 ] &&
		pass "$n" || fail "$n" "$(cat found notes)"
}
[ ! -e shared.so ] || ! gcc -O1 -o some some.c ./shared.so || {
	counted "a probe in a library of lld" "$TMP/shared.so:hot" ./some
	timeout 60 "$SONDE" funccount "$TMP/some:hot" -- ./some 2>notes
	grep -q 'hot: .*/some only calls it' notes &&
		pass "no probe in what only calls" ||
		fail "no probe in what only calls" "$(cat notes)"
}
sed 's/1:	call/	mov $30, %esi\n&/; s/	jmp 1b/	dec %esi\n	jnz 1b/
	s/^.size _start/	mov $1, %eax\n	int $0x80\n&/' narrow.s >some.s
as --32 -o some.o some.s 2>ld.log && ld -m elf_i386 -o narrow30 some.o \
	2>>ld.log && [ -x narrow ] &&
	counted "a probe in a 32-bit program" "$TMP/narrow30:spin32" ./narrow30

# The profiler itself in a pid namespace: with a /proc of its own, and with
# the one that counts as the outer namespace does.
inside() {
	unshare -fp $1 timeout 10 sh -c '
		./behave spin & p=$!
		sleep 0.2
		"$SONDE" profile -f -U -F 499 -p $p 1
		kill $p' >found 2>notes
	frames behave ';main;spin;hot ' 95 "$2"
}
export SONDE
if unshare -fp true 2>/dev/null; then
	inside --mount-proc "profiler and program in a pid namespace"
	inside "" "a pid namespace with the /proc of another"
else
	skip "a pid namespace" "not allowed here"
fi
