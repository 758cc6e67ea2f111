# sym.sh - `sonde sym` against what compilers and linkers make, and nm knows.
# beside others
# needs: host

cd "$TMP" || exit 1

# poke FILE OFFSET HEX: overwrite bytes.
poke() {
	rest=$3
	while [ -n "$rest" ]; do
		printf "\\$(printf %03o "0x${rest%"${rest#??}"}")"
		rest=${rest#??}
	done | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# section_number FILE NAME; header_at FILE NAME: where its header is (64 bit).
section_number() {
	readelf -SW "$1" 2>/dev/null |
		sed -n 's/^ *\[ *\([0-9]*\)\] \([^ ]*\) .*/\1 \2/p' |
		awk -v n="$2" '$2 == n { print $1; exit }'
}
sections_at() { readelf -hW "$1" | awk '/Start of section/ { print $5 }'; }
header_at() {
	echo $(($(sections_at "$1") + 64 * $(section_number "$1" "$2")))
}

# is NAME WANTED ARGUMENTS...: what sym prints, lines joined by blanks.
is() {
	name=$1 wanted=$2
	shift 2
	got=$("$SONDE" sym "$@" 2>"$TMP/stderr" | tr '\n' ' ')
	if [ "$got" = "$wanted " ]; then
		pass "$name"
	else
		fail "$name" "got '$got', not '$wanted' $(head -n 1 stderr)"
	fi
}

# refuses NAME STATUS TEXT ARGUMENTS...: exit status and error message.
refuses() {
	name=$1 wanted=$2 text=$3
	shift 3
	status=0
	"$SONDE" sym "$@" >/dev/null 2>stderr </dev/null || status=$?
	if [ $status -eq "$wanted" ] && grep -qF -- "$text" stderr; then
		pass "$name"
	else
		fail "$name" "status $status: $(head -n 1 stderr)"
	fi
}

# address FILE NAME: its vaddr by nm, .dynsym where it was stripped.
address() {
	{ nm "$1" 2>/dev/null; nm -D "$1" 2>/dev/null; } |
		awk -v n="$2" '$3 == n { print $1; exit }'
}

# plus HEX NUMBER
plus() { printf '%x' $((0x$1 + $2)); }

cat >hot.c <<'E'
__attribute__((noinline)) long hot(long n)
{
	volatile long s = 0;
	while (n--)
		s += n;
	return s;
}
E
cat >main.c <<'E'
long hot(long);
int main(void) { return hot(100); }
E
cat >nested.s <<'E'
.globl outer, inner_nc, zs, after, al
.type outer, @function
.type inner_nc, @function
.type zs, @function
.type after, @function
.type al, @function
outer: nop
 nop
inner_nc: nop
 nop
.size inner_nc, .-inner_nc
 nop
 nop
.size outer, .-outer
.balign 64
zs: nop
 nop
.zero 4096
al:
after: nop
 nop
.size after, .-after
.size al, .-al
E

sym_nested() {
	gcc -shared -nostdlib -o nested.so nested.s
	o=$(address nested.so outer)
	z=$(address nested.so zs)
	a=$(address nested.so after)
	is nested 'outer+0x1 inner_nc+0x0 outer+0x4 [nested.so+0x1006]' \
		nested.so "$(plus "$o" 1)" "$(plus "$o" 2)" "$(plus "$o" 4)" \
		"$(plus "$o" 6)"
	is size-zero 'zs+0x0 zs+0x1001 al+0x1' nested.so "$z" \
		"$(plus "$z" 4097)" "$(plus "$a" 1)"
	strip -o stripped.so nested.so
	is size-zero-dynamic "zs+0x0 [stripped.so+0x$(plus "$z" 1)] al+0x1" \
		stripped.so "$z" "$(plus "$z" 1)" "$(plus "$a" 1)"
	is far '0xffffffffffffffff 0x0' nested.so ffffffffffffffff 0
}

# Segment layouts: bfd and lld, PIE, not PIE, static; by vaddr and by offset.
sym_layouts() {
	for how in "gcc -O1 -no-pie" "gcc -O1 -pie -fPIE" \
		"clang -O1 -fuse-ld=lld -no-pie" \
		"clang -O1 -fuse-ld=lld -pie -fPIE" \
		"gcc -O1 -static" "gcc -O1 -shared -fPIC -fuse-ld=gold" \
		"gcc -O1 -shared -fPIC -Wl,-z,noseparate-code"; do
		name=layout-$(echo "$how" | tr -c 'A-Za-z0-9\n' -)
		if ! $how -o layout main.c hot.c 2>cc.log; then
			skip "$name" "$(head -n 1 cc.log)"
			continue
		fi
		h=$(address layout hot)
		# Offset, vaddr and size of the executable segment.
		delta=$(readelf -lW layout | awk '
			$1 == "LOAD" && / R E / { print $3 "-" $2; exit }')
		is "$name" hot+0x4 layout "$(plus "$h" 4)"
		got=$("$SONDE" sym --offset layout \
			"$(printf '%x' $((0x$h + 4 - ($delta))))")
		if [ "$got" = hot+0x4 ]; then
			pass "$name-offset"
		else
			fail "$name-offset" "got '$got'"
		fi
	done
}

# What was stripped does not get the name of what was not.
sym_stripped_static() {
	cat >three.c <<'E'
int first(int x) { return x * 3; }
static __attribute__((noinline)) long inner(long n)
{
	volatile long s = 0;
	while (n--)
		s += n;
	return s;
}
long last(long n) { return inner(n) + 1; }
E
	gcc -shared -fPIC -O1 -fno-toplevel-reorder -o three.so three.c
	i=$(address three.so inner)
	is static 'inner+0x2' three.so "$(plus "$i" 2)"
	strip three.so
	is static-stripped "[three.so+0x$(plus "$i" 2)]" three.so \
		"$(plus "$i" 2)"
	f=$(address three.so first)
	is exported 'first+0x1' three.so "$(plus "$f" 1)"
}

# The file of debug information has names, but other offsets.
sym_debug_file() {
	gcc -O1 -g -no-pie -o full main.c hot.c
	objcopy --only-keep-debug full full.debug
	h=$(address full hot)
	is debug-file 'hot+0x1' full.debug "$(plus "$h" 1)"
	for z in zlib zstd; do
		gcc -O1 -g -gz=$z -no-pie -o compressed main.c hot.c \
			2>/dev/null || continue
		is compressed-$z 'hot+0x1' compressed "$(plus "$(address \
			compressed hot)" 1)"
	done
}

# Each damage and what is left: names of .symtab, or none, but never a crash.
sym_damaged() {
	h=$(plus "$(address full hot)" 4)
	for size in 0000000000000000 0100000000000000 1700000000000000; do
		cp full f
		poke f $(($(header_at full .symtab) + 56)) $size
		is entsize-$size hot+0x4 f "$h"
	done
	cp full f
	poke f $(($(header_at full .symtab) + 32)) f8ffffffffffff7f
	is symtab-size hot+0x4 f "$h"
	cp full f
	poke f $(($(header_at full .strtab) + 24)) f0ffffffffffffff
	is strtab-offset "[f+0x$h]" f "$h"
	cp full f
	poke f 40 f0ffffffffffffff
	is section-headers-gone "[f+0x$h]" f "$h"
	for at in 0 1 63 64 700 5000; do
		head -c $at full >f
		"$SONDE" sym f "$h" >/dev/null 2>&1
		[ $? -le 1 ] && pass "cut-$at" || fail "cut-$at" "crashed"
	done
}

# 20 KB on disk; in 64 MiB of address space and a second.
sym_sparse() {
	h=$(plus "$(address full hot)" 4)
	cp full big5
	n=$(readelf -hW full | awk '/Number of section/ { print $5 }')
	dd if=full bs=1 skip="$(sections_at full)" count=$((64 * n)) \
		of=headers status=none
	if ! truncate -s 5G big5 2>/dev/null; then
		skip sparse "no sparse files here"
		return
	fi
	dd if=headers of=big5 bs=1 seek=5000000000 conv=notrunc status=none
	poke big5 40 00f2052a01000000
	got=$(ulimit -v 65536; timeout 1 "$SONDE" sym big5 "$h")
	[ "$got" = hot+0x4 ] && pass sparse || fail sparse "got '$got'"
	rm -f big5
}

# More sections than 16 bits count.
sym_sections() {
	awk 'BEGIN { for (i = 0; i < 66000; i++) {
		printf ".section .text.f%d,\"ax\",@progbits\n", i
		printf ".globl f%d\n.type f%d,@function\nf%d: nop\n", i, i, i
		printf ".size f%d,.-f%d\n", i, i } }' >many.s
	if as -o many.o many.s && timeout 60 ld -shared --unique \
		-o many.so many.o 2>ld.log; then
		a=$(address many.so f65500)
		is many-sections f65500+0x0 many.so "$a"
	else
		skip many-sections "ld: $(head -n 1 ld.log)"
	fi
	rm -f many.*
}

# Without section headers: .dynsym by PT_DYNAMIC, either hash.
sym_no_headers() {
	for hash in gnu sysv both; do
		gcc -O1 -shared -fPIC -Wl,--hash-style=$hash -o bare.so hot.c
		h=$(address bare.so hot)
		poke bare.so 40 0000000000000000
		poke bare.so 60 00000000
		is no-headers-$hash 'hot+0x1' bare.so "$(plus "$h" 1)"
	done
}

sym_kinds() {
	cat >kinds.s <<'E'
.globl _start, fast
.type fast, @gnu_indirect_function
.data
local: .byte 0
.text
_start: nop
1: nop
.Lhidden: nop
fast: nop
.size fast, .-fast
E
	as -o kinds.o kinds.s && ld -o kinds kinds.o
	is labels '_start+0x0 _start+0x2 fast+0x0' kinds \
		"$(address kinds _start)" \
		"$(plus "$(address kinds _start)" 2)" "$(address kinds fast)"
	strip -x -o kinds-x kinds	# what is between may be another's
	is "labels, without local symbols" \
		'_start+0x0 [kinds-x+0x401002] fast+0x0' kinds-x \
		"$(address kinds _start)" \
		"$(plus "$(address kinds _start)" 2)" "$(address kinds fast)"
	refuses object 1 'relocatable object' kinds.o 0
	printf '%s\n' '.globl spin32' '.type spin32, @function' \
		'spin32: nop' ' jmp spin32' '.size spin32, .-spin32' >spin32.s
	if as --32 -o spin32.o spin32.s &&
	   ld -m elf_i386 -e spin32 -o spin32 spin32.o; then
		is narrow 'spin32+0x1' spin32 \
			"$(plus "$(address spin32 spin32)" 1)"
	else
		skip narrow "no 32-bit target in binutils"
	fi
}

# Code of other machines, of which clang and lld make files here.
sym_machines() {
	if ! have clang || ! have ld.lld; then
		skip machines "no clang and lld"
		return
	fi
	cat >other.c <<'E'
extern int imported(int);
int other(int x) { return imported(x) + 1; }
E
	for target in aarch64 armv7a riscv64 mips powerpc64le; do
		if ! clang --target=$target-linux-gnu -O1 -fPIC -c \
			-o other.o other.c 2>cc.log ||
		   ! ld.lld -shared -o other.so other.o 2>cc.log; then
			skip machine-$target "$(head -n 1 cc.log)"
			continue
		fi
		a=$(readelf -sW other.so | awk '$NF == "other" || /<other>/ {
			print $2; exit }')
		a=$(printf '%x' $((0x$a & ~1)))
		is machine-$target 'other+0x4' other.so "$(plus "$a" 4)"
		[ $target = aarch64 ] || continue
		p=$(readelf -SW other.so | sed -n \
			's/.* \.plt *PROGBITS *\([0-9a-f]*\) .*/\1/p')
		is plt-aarch64 '[plt]+0x4 imported@plt+0x4' other.so \
			"$(plus "$p" 4)" "$(plus "$p" 36)"
	done
}

# Every stub that objdump names has this name here, too.
sym_plt() {
	printf '%s\n' '#include <unistd.h>' '#include <stdlib.h>' \
		'void *keep = (void *)abort;' \
		'int main(void) { abort(); return usleep(1) + getpid(); }' \
		>plt.c
	for how in -Wl,-z,lazy -Wl,-z,now -fno-plt -fcf-protection=full \
		"-fcf-protection=full -Wl,-z,ibtplt -Wl,-z,lazy" \
		"-fcf-protection=none -Wl,-z,now" "-fuse-ld=lld" \
		"-fuse-ld=lld -Wl,-z,force-ibt" "-fuse-ld=gold"; do
		name=plt$(echo "$how" | tr -c 'A-Za-z0-9\n' -)
		if ! gcc -O1 $how -o plt plt.c 2>cc.log; then
			skip "$name" "$(head -n 1 cc.log)"
			continue
		fi
		strip -o plt.stripped plt
		objdump -d plt | sed -n \
			's/^\([0-9a-f]*\) <\(.*@plt\)>:/\1 \2+0x0/p' |
			grep -v 'ABS' >stubs
		cut -d' ' -f1 stubs | "$SONDE" sym plt >got
		cut -d' ' -f1 stubs | "$SONDE" sym plt.stripped >got2
		cut -d' ' -f2 stubs >wanted
		if cmp -s got wanted && cmp -s got2 wanted; then
			pass "$name"
		else
			fail "$name" "$(diff wanted got | head -n 4) $(
				diff wanted got2 | head -n 4)"
		fi
	done
}

# Every sized function of a library has one of its names.
sym_library() {
	lib=$(ldd /bin/ls 2>/dev/null | awk '$1 ~ /^libc\.so/ { print $3 }')
	if [ ! -r "${lib:-}" ]; then
		skip library "no libc.so.6"
		return
	fi
	readelf --dyn-syms -W "$lib" | awk '
		($4 == "FUNC" || $4 == "IFUNC") && $7 != "UND" && $3 != 0 {
			sub(/@.*/, "", $8); print $2, $8 "+0x0" }' |
		sort -u >known
	cut -d' ' -f1 known | sort -u >addresses
	"$SONDE" sym "$lib" <addresses >names
	paste -d' ' addresses names | sort >got
	lost=$(comm -13 known got | wc -l)
	if [ "$lost" = 0 ] && [ "$(wc -l <got)" -gt 1000 ]; then
		pass library
	else
		fail library "$lost of $(wc -l <got), first: $(
			comm -13 known got | head -n 1)"
	fi
}

# Every function of the running kernel has one of its names.
sym_kernel() {
	if ! is_root || [ "$(awk 'NR == 1 { print $1 }' /proc/kallsyms)" = \
		0000000000000000 ]; then
		skip kernel "addresses are hidden"
		return
	fi
	awk '$2 ~ /[tTwW]/ && !/ [$]/ && !/_e(init)?text$/ {
		print $1, $3 "+0x0" ($4 ? " " $4 : "") }' /proc/kallsyms |
		sort -u >known
	awk '{ print $1 }' known | sort -u | awk 'NR % 7 == 0' >addresses
	"$SONDE" sym -k <addresses >names
	paste -d' ' addresses names | sort >got
	lost=$(comm -13 known got | wc -l)
	[ "$lost" = 0 ] && pass kernel ||
		fail kernel "$lost: $(comm -13 known got | head -n 1)"
	end=$(awk '$3 == "_etext" { print $1 }' /proc/kallsyms)
	is kernel-end "0x$end" -k "$end"
}

sym_kallsyms_files() {
	printf '%s\n' '0000000000000000 A __per_cpu_start' \
		'000000000001b000 A cpu_hw' 'ffffffff81000000 T _text' \
		'ffffffff81000100 T f' >k
	is tiny-addresses '0x1b010 f+0x4 0xffffffff85000100' --kallsyms k \
		0x1b010 0xffffffff81000104 ffffffff85000100
	printf '%s\n' 'm1 16384 - - Live 0xffffffffc0000000' \
		'nv 9 0 - Live 0x0000000000000000 (POE)' bad >m
	printf 'ffffffffc0000010 t in\t[m1]\n' >>k
	is modules 'in+0x3fe0 [m1] 0xffffffffc0004000' --kallsyms k \
		--modules m ffffffffc0003ff0 ffffffffc0004000
	grep -q 'm: 1 malformed' stderr && pass bad-rows ||
		fail bad-rows "$(cat stderr)"
	printf '0000000000000000 T a\n0000000000000000 t b\n' >hidden
	refuses hidden 1 'every address is hidden' --kallsyms hidden 0
	refuses no-rows 1 'no line of it is a symbol' --kallsyms m 0
	printf 'ffffffff81000000 T \033[31mred\n' >>k
	is escaped 'f+0x4' --kallsyms k ffffffff81000104
}

# A process: code at its own bias, and what is no code.
sym_process() {
	echo 'int main(void) { for (;;) ; }' >loop.c
	gcc -O1 -fPIE -pie -o loop loop.c
	start ./loop
	base=$(awk '/ r--p 00000000 .*loop/ { sub("-.*", ""); print; exit }' \
		"/proc/$pid/maps")
	main=$(nm loop | awk '$3 == "main" { print $1 }')
	is process 'main+0x1 0x10' -p "$pid" \
		"$(printf %x $((0x$base + 0x$main + 1)))" 10
	stop
	refuses no-process 1 'no such process' -p 4194303 0
	refuses process-and-kernel 2 'exclude each other' -k -p 1 0
}

sym_usage() {
	refuses no-file 2 'which file?'
	refuses bad-address 2 "'zz': not a hexadecimal address" nested.so zz
	refuses wide-address 2 'not a hexadecimal' nested.so 10000000000000000
	refuses missing 1 'nowhere: No such file' nowhere 0
	refuses device 1 'not a regular file' /dev/zero 0
	refuses folder 1 'not a regular file' . 0
	refuses not-elf 1 'not an ELF file' main.c 0
	refuses kernel-offset 2 '--offset' -k --offset 0
	refuses option 2 'no option --kernal' --kernal 0
	mkfifo fifo
	refuses fifo 1 'not a regular file' fifo 0
	printf '1001\n\nzz\n 0x1002 \n' | "$SONDE" sym nested.so >got 2>stderr
	status=$?
	if [ $status = 1 ] && [ "$(tr '\n' ' ' <got)" = \
		'outer+0x1 inner_nc+0x0 ' ] && grep -q 'line 3' stderr; then
		pass stdin
	else
		fail stdin "status $status: $(cat got stderr)"
	fi
	"$SONDE" sym nested.so 1001 >/dev/full 2>stderr
	[ $? = 1 ] && grep -q 'cannot write' stderr && pass full-disk ||
		fail full-disk "$(cat stderr)"
	name=$(printf 'odd\033[31m')
	cp nested.so "$name"
	is odd-name '[odd\x1b[31m+0x1006]' "$name" 1006
}

if have gcc && have readelf && have nm; then
	sym_nested
	sym_layouts
	sym_stripped_static
	sym_debug_file
	sym_damaged
	sym_sparse
	sym_sections
	sym_no_headers
	sym_kinds
	sym_machines
	sym_plt
	sym_library
	sym_process
	sym_usage
else
	skip files "no gcc and binutils"
fi
sym_kernel
sym_kallsyms_files
