# names - functions of files whose symbol table was taken away: by the one that
# Go programs keep for themselves, and by one that was packed into the file.
# beside others
# needs: host gcc readelf objcopy nm
cd "$TMP" || exit 1

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
cat >caller.c <<'C'
long last(long);
int main(void) { for (;;) last(100000); }
C
gcc -shared -fPIC -O1 -g -fno-omit-frame-pointer -fno-toplevel-reorder \
	-o full.so three.c

# packed FULL OUT XZ-OPTION...: as distributions do it: what .dynsym lacks.
packed() {
	full=$1 out=$2
	shift 2
	nm -D "$full" -f posix --defined-only | cut -d' ' -f1 | sort >dynamic
	nm "$full" -f posix --defined-only | awk '$2 ~ /[TtD]/ { print $1 }' |
		sort | comm -13 dynamic - >keep
	objcopy --only-keep-debug "$full" debug 2>objcopy.log
	objcopy -S --remove-section .comment --keep-symbols=keep debug mini \
		2>>objcopy.log
	strip -o "$out" "$full"
	rm -f mini.xz
	xz -k "$@" mini
	objcopy --add-section .gnu_debugdata=mini.xz "$out"
}

# address NAME: of full.so, plus 2.
address() {
	nm full.so | awk -v n="$1" '$3 == n { print "0x" $1 }' >at
	printf %x $(($(cat at) + 2))
}

# is NAME WANTED FILE: what three functions are in it.
is() {
	got=$("$SONDE" sym "$3" "$(address first)" "$(address inner)" \
		"$(address last)" 2>notes | tr '\n' ' ')
	[ "$got" = "$2 " ] && pass "$1" || fail "$1" "$got $(cat notes)"
}

packed_tables() {
	for how in -6 -0 --check=crc32 --check=none \
		"--lzma2=lc=0,lp=4,pb=0" --block-size=100; do
		packed full.so three.so $how
		is "a packed table: xz $how" 'first+0x2 inner+0x2 last+0x2' \
			three.so
		[ ! -s notes ] || fail "no notice" "$(cat notes)"
	done
	packed full.so other.so --x86 --lzma2
	without="first+0x2 [other.so+0x$(address inner)] last+0x2"
	is "a table packed by another filter" "$without" other.so
	grep -q 'debugdata: packed in a way' notes && pass "which is said" ||
		fail "which is said" "$(cat notes)"
	# A byte in the middle of the packed ones.
	strip -o other.so full.so
	xz -kf mini
	size=$(wc -c <mini.xz)
	printf '\125' | dd of=mini.xz bs=1 seek=$((size / 2)) conv=notrunc \
		status=none
	objcopy --add-section .gnu_debugdata=mini.xz other.so
	is "a damaged table" "$without" other.so
	grep -q 'gnu_debugdata: malformed' notes && pass "which is said, too" ||
		fail "which is said, too" "$(cat notes)"
	# The table of another machine; one within itself.
	cp full.so wrong
	printf '\267' | dd of=wrong bs=1 seek=18 conv=notrunc status=none
	xz -kf wrong
	strip -o other.so full.so
	objcopy --add-section .gnu_debugdata=wrong.xz other.so
	is "a table of another machine" "$without" other.so
	cp three.so other.so
	objcopy --remove-section .gnu_debugdata other.so
	xz -kf three.so
	objcopy --add-section .gnu_debugdata=three.so.xz other.so
	is "a packed table in a packed file" "$without" other.so
	head -c 400000000 /dev/zero | xz -1 >zeros.xz
	objcopy --update-section .gnu_debugdata=zeros.xz other.so
	got=$(ulimit -v 200000
		"$SONDE" sym other.so "$(address first)" 2>notes)
	[ "$got" = first+0x2 ] && grep -q 'too large' notes &&
		pass "a table of 400 MB" ||
		fail "a table of 400 MB" "$got $(cat notes)"
	gcc -O1 -fno-omit-frame-pointer -o spin caller.c ./three.so
}

# A stack and a probe know the names, too.
packed_live() {
	start ./spin
	"$SONDE" profile -f -U -F 499 -p "$pid" 1 >found 2>notes
	grep -q 'main;last;inner [0-9]' found &&
		pass "a packed table: stacks" ||
		fail "a packed table: stacks" "$(head -n 2 found) $(cat notes)"
	"$SONDE" funccount --duration 1 "$TMP/three.so:inn*" >found 2>notes
	grep -q '^inner  *[1-9]' found && pass "a packed table: probes" ||
		fail "a packed table: probes" "$(cat found notes)"
	stop
}

if needs "packed tables" xz; then
	packed_tables
	! needs "packed tables, live" root || packed_live
fi

cat >main.go <<'G'
package main

type T struct{ n int }

//go:noinline
func (t *T) Spin(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i ^ t.n
	}
	return s
}

//go:noinline
func hot(n int) int {
	t := &T{n}
	return func(x int) int { return t.Spin(x) + 1 }(n)
}

func main() {
	s := 0
	for i := 0; i < 3000000; i++ {
		s += hot(100000)
	}
	println(s)
}
G

# plain: names as .symtab and Go's table both have them.
plain() { sed 's/\[.*\]/[...]/; s/\.abi\(0\|internal\)+/+/'; }

# go_same NAME FULL STRIPPED: every function of FULL has its name in STRIPPED.
go_same() {
	readelf -sW "$2" | awk '$4 == "FUNC" && $7 != "UND" && $3 != 0 {
		print $2 }' | sort -u >addresses
	"$SONDE" sym "$2" <addresses | plain >wanted
	"$SONDE" sym "$3" <addresses | plain >got
	cmp -s wanted got && [ "$(wc -l <got)" -gt 500 ] && pass "$1" ||
		fail "$1" "$(wc -l <got): $(diff wanted got | head -n 3)"
}

# headless FILE: cut off its section headers.
headless() {
	cp "$1" headless
	head -c 8 /dev/zero |
		dd of=headless bs=1 seek=40 conv=notrunc status=none
	head -c 4 /dev/zero |
		dd of=headless bs=1 seek=60 conv=notrunc status=none
}

go_tables() {
	export GOCACHE="$TMP/gocache" GOPATH="$TMP/gopath" GO111MODULE=off \
		CGO_ENABLED=0
	for mode in exe pie; do
		go build -buildmode=$mode -o go_$mode main.go &&
			go build -buildmode=$mode '-ldflags=-s -w' \
				-o go_${mode}_less main.go
		go_same "Go: $mode" go_$mode go_${mode}_less
		headless go_${mode}_less
		go_same "Go: $mode, no section headers" go_$mode headless
	done
	strip -o stripped go_exe
	go_same "Go: strip" go_exe stripped
	GOARCH=mips go build -o go_mips main.go &&
		GOARCH=mips go build '-ldflags=-s -w' -o go_mips_less main.go
	go_same "Go: 32 bits, big endian" go_mips go_mips_less
	# Linked by another linker, which leaves the addresses to relocations.
	CGO_ENABLED=1 go build -buildmode=pie -ldflags=-linkmode=external \
		-o go_linked main.go 2>go.log &&
		strip -o go_linked_less go_linked || return
	readelf -sW go_linked | awk '$3 && $8 ~ /^(main|runtime)\./ &&
		$4 == "FUNC" { print $2 }' | sort -u >addresses
	"$SONDE" sym go_linked <addresses | plain >wanted
	"$SONDE" sym go_linked_less <addresses | plain >got
	cmp -s wanted got && pass "Go: linked by another linker" ||
		fail "Go: linked by another linker" "$(diff wanted got |
			head -n 3)"
}

go_live() {
	start ./go_pie_less
	"$SONDE" profile -f -U -F 499 -p "$pid" 1 >found 2>notes
	grep -q ';main\.main;main\.hot;.*main\.(\*T)\.Spin [0-9]' found &&
		pass "Go: stacks" ||
		fail "Go: stacks" "$(head -n 2 found) $(cat notes)"
	"$SONDE" funccount --duration 1 "$TMP/go_pie_less:main.*" >found 2>notes
	grep -q '^main\.hot  *[1-9]' found && pass "Go: probes" ||
		fail "Go: probes" "$(cat found notes)"
	stop
	"$SONDE" funccount --duration 1 "$TMP/go_pie_less:main.hto" 2>notes
	grep -q 'the nearest is: main.hot' notes && pass "Go: a near name" ||
		fail "Go: a near name" "$(cat notes)"
}

if ! in_guest && needs "Go programs" go; then
	go_tables
	! needs "Go programs, live" root || go_live
fi
