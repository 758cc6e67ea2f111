# seeds.sh - makes the corpora of the fuzz targets: sh seeds.sh FOLDER
#
# One function per target, named after it; its working folder is FOLDER/TARGET.
# Seeds that an earlier run found stay.
set -eu
export LC_ALL=C

have() { command -v "$1" >/dev/null 2>&1; }

kallsyms() {
	cat >kernel <<'E'
0000000000000000 A __per_cpu_start
000000000001b000 A cpu_hw
ffffffff81000000 T _text
ffffffff81000000 T startup_64
ffffffff81000100 t f.isra.0
ffffffff81000200 W weak
ffffffff81000300 t $x
ffffffff81001000 T _etext
ffffffff82000000 D data
ffffffff83000000 T _sinittext
ffffffff83000100 t init
ffffffff83001000 T _einittext
ffffffffc0000010 t inside	[m1]
ffffffffc0002000 d data	[m1]
ffffffffc0005000 t bpf_prog_6deef7357e7b4530_f	[bpf]
ffffffffc0006000 t kprobe_insn_page	[__builtin__kprobes]
E
	{
		cat kernel
		printf '\0m1 16384 - - Live 0xffffffffc0000000\n'
		printf 'nv 9 0 - Live 0x0000000000000000 (POE)\nbad\n'
	} >modules
	cat >waits <<'E'
ffffffff81000000 T _stext
ffffffff81052340 t do_nanosleep
ffffffff81052400 T hrtimer_nanosleep
ffffffff81052500 t next
ffffffff81231080 t do_sys_poll
ffffffff81231180 t do_poll
ffffffff81231480 t more
ffffffff81700040 T schedule
ffffffff81700100 T last
ffffffff81800000 T _etext
E
	printf '0000000000000000 T a\n0000000000000000 t b\n' >hidden
	printf 'c0008000 T _text\nc0008100 T f\nbf000000 t g\t[m]\n' >arm
	printf 'ffff800008000000 T __irqentry_text_end\n%s' \
		'ffff800008000100 T no_newline' >end
}

# build NAME FLAGS...: asm.S, as small as the linker makes it.
build() {
	name=$1
	shift
	gcc -nostdlib -Wl,-z,noseparate-code -Wl,-z,max-page-size=4096 \
		-o "$name" "$@" asm.S 2>/dev/null || rm -f "$name"
}

elf() {
	printf '\177ELF\1\2\1' >short
	have gcc || return 0
	cat >asm.S <<'E'
.globl _start, outer
.type outer,@function
.type inner,@function
.type zs,@function
_start: call f@plt
outer: nop
inner: nop
.size inner,.-inner
 ret
.size outer,.-outer
zs: ret
E
	# Other machines have their own call.
	gcc -c -o object asm.S 2>/dev/null ||
		sed -i 's/call f@plt/nop/' asm.S
	build shared -shared
	build lazy -shared -Wl,-z,lazy -Wl,--hash-style=sysv
	build static -static
	build narrow -shared -m32
	for f in shared narrow; do
		[ -e $f ] || continue
		cp $f $f-bare
		# e_shoff, e_shnum: no section headers, so .dynamic counts.
		at=40 count=60
		[ $f = shared ] || at=32 count=48
		printf '\0\0\0\0\0\0\0\0' | head -c $(((at == 40) * 4 + 4)) |
			dd of=$f-bare bs=1 seek=$at conv=notrunc status=none
		printf '\0\0' | dd of=$f-bare bs=1 seek=$count conv=notrunc \
			status=none
	done
	if [ -e shared ] && have objcopy && command xz -k shared; then
		cp shared packed
		objcopy --strip-all --add-section .gnu_debugdata=shared.xz \
			packed
	fi 2>/dev/null
	build linked -shared -Wl,--build-id
	if [ -e linked ] && have objcopy; then
		objcopy --strip-all --add-gnu-debuglink=shared linked
	fi
	rm -f asm.S object shared.xz
}

# Numbers as 32-bit words, in octal; what follows is one file each of the Go 1.2
# and 1.20 layouts, with two functions. The first byte tells the file.
gopclntab() {
	w() { for n; do printf "\\$(printf %o $((n & 255)))\\$(
		printf %o $((n >> 8 & 255)))\\$(
		printf %o $((n >> 16 & 255)))\\$(
		printf %o $((n >> 24 & 255)))"; done; }
	for kind in 0 4; do
		{
			printf "\\$kind\373\377\377\377\0\0\1\4"
			w 2 4096 36 4112 44 4128 0
			w 4096 52 4112 57
			printf 'main\0f\0'
		} >old$kind
	done
	for kind in 1 5 11; do
		{
			printf "\\$kind\361\377\377\377\0\0\1\10"
			w 2 0 1 0 $((kind == 11 ? 0 : 4096)) 0 72 0
			w 72 0 72 0 72 0 80 0
			printf 'main\0\0f\0'
			w 0 20 16 28 32 0 0 16 6
		} >new$kind
	done
}

xz() {
	command xz --version >/dev/null 2>&1 || return 0
	for check in none crc32 crc64 sha256; do
		echo hello hello hello hello |
			command xz -c --check=$check >$check
	done
	head -c 3000 /dev/zero | command xz -c --block-size=1000 >blocks
	head -c 3000 /dev/urandom | command xz -c >plain
	ls -l / | command xz -c --lzma2=lc=0,lp=3,pb=0 >other
}

# The notes of two probes: one in order, one odd; versions and Go's mark.
usdt() {
	have gcc || return 0
	cat >asm.S <<'E'
.globl _start, outer
.type _start,@function
.type outer,@function
_start: nop
one: ret
.size _start,.-_start
outer: nop
two: nop
 ret
.size outer,.-outer
.section .note.stapsdt,"a","note"
.balign 4
.4byte 8,12f-11f,3
.asciz "stapsdt"
11: .8byte one,_.stapsdt.base,semaphore
.asciz "pp"
.asciz "a__b"
.asciz "-4@%edx 8@16(%rsi,%rcx,8) 4@gvar(%rip) -4@$-7 8@[sp, 8]"
12: .balign 4
.4byte 8,14f-13f,3
.asciz "stapsdt"
13: .8byte two,0,0
.asciz "pp"
.asciz "b"
.asciz ""
14: .balign 4
.section .stapsdt.base,"a"
_.stapsdt.base: .byte 0
.data
semaphore: .2byte 0
.type gvar,@object
gvar: .4byte 1
.size gvar,4
E
	build static -static
	[ ! -e static ] || cp static bare
	[ ! -e bare ] || printf '\0\0\0\0\0\0\0\0' |
		dd of=bare bs=1 seek=40 conv=notrunc status=none
	cat >asm.S <<'E'
.globl old, new
.symver old,f@V1
.symver new,f@@V2
.type old,@function
.type new,@function
old: ret
.size old,.-old
new: ret
.size new,.-new
.section .go.buildinfo,"aw"
.balign 16
.ascii "\377 Go buildinf:\010\002"
.balign 32
.ascii "\010go1.21.3"
E
	printf 'V1 { local: x; }; V2 { } V1;\n' >map
	build versions -shared -Wl,--version-script,map
	rm -f asm.S map
}

# The first byte tells the machine.
usdt_args() {
	printf '\0-4@%%edx 1@%%ah 8@16(%%rsi,%%rcx,8) 8@gs+8-4(%%rip)' >x86
	printf '\0-4@$-7 8f@%%rax 8@%%xmm0 8@$0xff 4@twin(%%rip) %%rdi' >more
	printf '\200-8@gvar(,%%rax,4) 4@%%fs:16 8@x@GOTPCREL(%%rip)' >fixed
	printf '\1-4@%%eax 4@8(%%ebp) 4@gvar' >i386
	printf '\2-4@[sp, 8] 8@[x0, x1, lsl #3] 4@w3 8@5 8@[x1, #:lo12:.L]' \
		>aarch64
	printf '\3-4@[r11, #-8] 4@#5 4@fp 4@[r1, r2, lsl #2]' >arm
	printf '\4-4@-20(s0) 8@a0 8@zero 4@5' >riscv
	printf '\5-4@8(9)' >other
}

# Little endian, as the hosts are that sonde knows.
ldcache() {
	{
		printf 'glibc-ld.so.cache1.1\1\0\0\0\13\0\0\0'
		head -c 20 /dev/zero
		printf '\3\0\0\0\110\0\0\0\115\0\0\0'
		head -c 12 /dev/zero
		printf 'a.so\0/a.so\0'
	} >new
	{
		printf 'ld.so-1.7.0\0\1\0\0\0\3\0\0\0\0\0\0\0\5\0\0\0'
		printf 'a.so\0/a\0'
	} >old
	{
		printf 'ld.so-1.7.0\0\0\0\0\0'
		cat new
	} >both
}

x86_length() {
	printf '\125\110\211\345\110\201\354\0\1\0\0\363\303\302\10' >code
	printf '\305\375\157\6\304\343\175\71\301\1\142\361\376\110\157' >vex
	printf '\146\17\72\17\301\10\217\351\170\200\300\367\300\1\0\0' >maps
}

maps() {
	cat /proc/self/maps >own || :
	cat >hostile <<'E'
08048000-08049000 r-xp 00000000 08:01 12 /a b\012c;\x
1000-2000 r-xp 00000000 00:05 9          /memfd:x y;z (deleted)
2000-3000 rwxp 00000000 00:00 0
3000-4000 r-xp 00002000 00:05 9          /memfd:x y;z (deleted)
7000-8000 r-xp 00000000 00:00 0          [vdso]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0   [vsyscall]
zz
9000-8000 r-xp 0 0:0 0
E
	printf '1-2 r-xp 0 0:0 0 [anon:x]\n3-4 r-xp 0 0:' >half
}

jitmap() {
	printf '1000 100 old\n1010 10 in\n1018 4 deep\nff0 20 head\n' >overlap
	printf '10 5\n10 0 f\nzz\nffffffffffffffff 10 f\n0x20 0x5 g\r\n' >bad
	printf '10 5 a\0b\n20 5 half' >nul
	{ printf '10 5 '; head -c 5000 /dev/zero | tr '\0' a; echo; } >long
}

folded() {
	printf 'a;b 1\n\n;; 5\nx_[k];-;y;--;z_[w] 2.5\r\n' >lines
	printf '[unknown];0xff;[m+0x1] 3\nbad\nq 1 2\nq -1\n' >kinds
	printf 'q 18446744073709551615\nq;r 18446744073709551615\nz 1%s' \
		8446744073709551616 >large
	printf 'a\0b;\377;\357\277\276;\345\207\275 9\n &<>"; 1' >bytes
}

perf_script() {
	{
		printf 'tmux: server 1/2 [001] 1.5: 9 cpu-clock:ppp: \n'
		printf '\tffff8 do_idle+0x1f ([kernel.kallsyms])\n'
		printf '\t  7f1 [unknown] (/tmp/a (deleted))\n  a.c:5\n'
		printf '\t  7f2 f (inlined)\n\t 3\n\nb 3 \n\t1 g\n\tx\n'
	} >samples
	printf ' cafe 1 1.0: 2 e:  7f f+0x1 (x)\n ca 1 1.0: o:\n' >plain
	printf '# ========\n# a 5\na 1 2.3: e: 9 4.5: e:\nstray' >banner
}

btf() {
	# struct s { int; s *a; }, whose numbers are octal words.
	w() { for n; do printf "\\$n\\0\\0\\0"; done; }
	{
		printf '\237\353\1\0'
		w 30 0 74 74 14
		w 1 0; w 4; printf '\40\0\0\1'
		w 0; printf '\0\0\0\2'; w 3
		w 5; printf '\2\0\0\4'; w 20 5 1 0 7 2 100
		printf '\0int\0s\0a\0read\0'
	} >small
	have gcc && have objcopy || return 0
	cat >source.c <<'E'
typedef struct s s_t;
struct s { int a; union { int b; struct { char c; short d; }; };
	struct in { int x; } e; const s_t *f; int g[3][2]; int h:3, i:7; };
enum big { HUGE = 0x100000001LL, MINUS = -1 };
enum small { ONE = 1 };
typedef void (*btf_trace_tick)(void *, struct s *, enum small, double);
btf_trace_tick tick;
enum big big;
volatile s_t var;
long read(struct s *s, const char *buf, unsigned long n, ...)
{
	return s->a + buf[n] + ONE + big;
}
E
	gcc -gbtf -c -o object source.c 2>/dev/null &&
		objcopy -O binary --only-section=.BTF \
			--set-section-flags .BTF=alloc object compiled &&
		[ -s compiled ] || rm -f compiled
	rm -f source.c object
}

options() {
	printf -- '-f\n--num=7\n-l1,2\nx\n--\ncmd\n-f' >good
	printf -- '-n\n0\n--list\n1,,2\n--nun\n-ft\n' >bad
}

# The first byte is the rules: 1 bpftrace's, 2 regular expressions, 4 pairs.
spec() {
	printf '@vfs_read, p::f+0x10,r:c:mall*c,t:sched:*,u:c:p:n' >bcc
	printf '@"/a,b:c d":"f(int, \\"x\\\\)"+4,p:x:0x12,foo.isra.0' >quoted
	printf 'Akprobe:m:f+8,kr:f,f:f,fr:f,u:x:y,ur:x:y,U:x:p:y' >bpftrace
	printf 'At:a:b,rt:x,s:faults:9,h:cycles,p:hz:99,i:1s,BEGIN,END' >events
	printf 'Bvfs_(a|b){1,2}[,:][[:alpha:]]+,t:.*:x.*' >regex
	printf 'Dsched:*,[a-z]x[!b]?*' >pairs
	printf '@a,,b' >empty
}

# Ten bytes are a word, its size and its sign.
action() {
	word='\377\377\377\377\377\377\377\377'
	printf "${word}31f (arg1 > 5 && (arg2 & 7) == 1 || !retval)" >filter
	printf "${word}21f(int a, char *b) (a < -5) \"%%d %%s\", a, b" >types
	printf "${word}00f (STRCMP(\"x\", args->f)) \"%%-5lx%%c%%%%\", 1, 2" \
		>format
	printf "${word}10a:\"b c\" ((u8)arg1 / 0644 <= ~-1 << 2)" >casts
}

# One of ours, and all that this kernel has where tracefs is mounted.
tp_format() {
	cat >own <<'E'
name: own
ID: 372
format:
	field:unsigned short common_type;	offset:0;	size:2;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char comm[16];	offset:8;	size:16;	signed:0;
	field:__data_loc char[] d;	offset:24;	size:4;	signed:0;
	field:__rel_loc u64[] r;	offset:28;	size:4;	signed:0;
	field:unsigned long args[6];	offset:32;	size:48;
	field:const char *const * p;	offset:80;	size:8;	signed:0;
	field:long state;	offset:88;	size:8;	signed:1;
	field:dev_t dev;	offset:96;	size:4;	signed:0;

E
	{
		printf 'print fmt: "%%s %%*x %%pS %%d,%%d", (REC->state & '
		printf '((0x0 | 1) << 1)) ? __print_flags(REC->state & 7, "|"'
		printf ', { 0x1, "S" }, { (( unsigned long)1UL << 1), "D" }, '
		printf '{ 0, ((void *)0) }) : "R", 1, REC->args[0], REC->p, '
		printf '((unsigned int) ((REC->dev) >> 20)), __print_symbolic('
		printf "REC->dev, { -1, \"A\" }, { N, \"B\" }, "
		printf "{ 'c', \"C\" })\n"
	} >>own
	for dir in /sys/kernel/tracing /sys/kernel/debug/tracing; do
		[ ! -r "$dir/events/sched/sched_switch/format" ] ||
			events_copy "$dir/events" "$PWD"
	done
}

runnable() {
	{
		printf '8 (a) R (b) R 1 8 8 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 9 '
		printf '1 1 18446744073709551615 1 2 3 4 5 0 0 0 0 0 0 0 17 3 '
		printf '0 0 0\n'
	} >stat
	echo '0.20 0.18 0.12 3/80 11206' >loadavg
}

# Checksums are put right by the target: "0000" stands for them. A head; string
# 0 "a", file 0, module 0, task 0, and rows with frames of all kinds; a note; an
# end. Nothing of this machine, whose files would be looked at.
raw() {
	{
		printf '\223sonde\r\n\1\0'
		printf '\1\17\1\4test\13\7samples0000'
		printf '\2\77\1\1a\2\0\0\7\10\1\2\1\2\1\0\100\100'
		printf '\3\0\100\100\1\3\4\0\1'
		printf '\15\0\0\2\13\1\5\7'
		printf '\35\0\1\1\15\0\1\3\40\3\7\11'
		printf '\155\0\0\2\17\0\2\1\1\5\2\0\0\0\5\3\11\40\3'
		printf '0000\3\4lost0000\4\4\21\2ok0000'
	} >made
}

# events_copy FROM TO: each format in a file of its own, by one program.
events_copy() {
	(cd "$1" && awk -v to="$2" '
		FNR == 1 {
			close(file)
			file = FILENAME
			gsub("/", ".", file)
			file = to "/" file
		}
		{ print >file }' */*/format)
}

# One name a file: those of the unit test, which has all parts of the grammars,
# and costly ones: <3 ab> in these is ababab.
demangle() {
	sed -n 's/^	\({ \)\{0,1\}"\(_[^"]*\)",.*/\2/p' \
		"$SEEDS/../unit/demangle.c" | awk '
		{
			while (match($0, /<[0-9]+ [^>]*>/)) {
				split(substr($0, RSTART + 1, RLENGTH - 2), run)
				text = ""
				while (run[1]-- > 0)
					text = text run[2]
				$0 = substr($0, 1, RSTART - 1) text \
					substr($0, RSTART + RLENGTH)
			}
			printf "%s", $0 >FNR
			close(FNR)
		}'
}

SEEDS=$(cd "$(dirname "$0")" && pwd)
for source in tests/fuzz/*.c; do
	target=$(basename "$source" .c)
	[ "$target" != main ] || continue
	mkdir -p "$1/$target"
	(cd "$1/$target" && $target)
done
