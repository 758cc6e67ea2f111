# memleak_allocators.sh - whichever allocator a program has.
# beside others
# needs: host root

program allocs
A=$TMP/allocs
source=tests/programs/allocs.c
flags=$(sed -n 's,^/\* flags: \(.*\) \*/$,\1,p' $source)

# counted NAME WHERE [OPTIONS] -- COMMAND...: what the program says, no more, of
# an allocator that is named.
counted() {
	name=$1 where=$2
	shift 2
	status=0
	timeout 100 "$SONDE" memleak --blocks 50000 -T 1000 "$@" \
		>"$TMP/out" 2>"$TMP/err" ||
		status=$?
	got=$(awk '
		/ bytes in .* allocations from stack$/ {
			b = $1
			n = $4
			row = 1
		}
		row && /	(one|churn|four|resize)\+/ {
			bytes += b
			blocks += n
			row = 0
		}
		END { print bytes + 0, blocks + 0 }' "$TMP/out")
	wanted=$(sed -n 's/^= //p' "$TMP/out")
	if [ $status = 0 ] && [ -n "$wanted" ] && [ "$got" = "$wanted" ] &&
	   grep -q " in .*$where" "$TMP/err" &&
	   ! grep -q 'Double frees' "$TMP/out"; then
		pass "$name"
	else
		fail "$name" "$got, not $wanted: $(tail -n 20 "$TMP/out" \
			"$TMP/err" | tr '\n' '|')"
	fi
}

# Allocators that programs are given by LD_PRELOAD.
for lib in libjemalloc.so.2:libjemalloc2 \
	libtcmalloc_minimal.so.4:libtcmalloc-minimal4 \
	libmimalloc.so.2.0:libmimalloc2.0; do
	package=${lib#*:} lib=${lib%%:*}
	path=$(ldconfig -p | sed -n "s,^.*$lib .* => ,,p" | head -n 1)
	[ -n "$path" ] || { apt-get install -y -q "$package" >/dev/null 2>&1
		path=$(ldconfig -p | sed -n "s,^.*$lib .* => ,,p" |
			head -n 1); }
	if [ -z "$path" ]; then
		skip "$package" "cannot be installed"
		continue
	fi
	for how in malloc calloc 'churn 3000' 'threads 3000' realloc-many; do
		counted "$package $how" "$lib" -- \
			env LD_PRELOAD="$path" "$A" $how
	done
done

# One that hands on to the next, with a head of its own before each block.
cat >"$TMP/heads.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }
void *malloc(size_t n)
{
	char *p = ((void *(*)(size_t))next("malloc"))(n + 16);
	return p ? p + 16 : p;
}
void free(void *p)
{
	if (p)
		((void (*)(void *))next("free"))((char *)p - 16);
}
C
gcc -shared -fPIC -O1 -o "$TMP/heads.so" "$TMP/heads.c"
counted 'a library in between' heads.so -- \
	env LD_PRELOAD="$TMP/heads.so" "$A" churn 3000

# Static programs.
gcc $flags -static -o "$TMP/static" $source 2>"$TMP/log"
counted 'a static program' "$TMP/static" -- "$TMP/static" churn 3000
counted 'its threads' "$TMP/static" -- "$TMP/static" threads 3000
if have musl-gcc; then
	musl-gcc $flags -o "$TMP/musl" $source 2>"$TMP/log"
	musl-gcc $flags -static -o "$TMP/musl-static" $source 2>>"$TMP/log"
	for how in malloc calloc posix 'churn 3000' 'threads 3000' \
		realloc-zero realloc-many; do
		counted "musl $how" libc.so -- "$TMP/musl" $how
		counted "static musl $how" musl-static -- \
			"$TMP/musl-static" $how
	done
else
	skip musl 'no musl-gcc'
fi

# Names with a prefix.
sed 's/^#include <malloc.h>/#include "my.h"/' $source >"$TMP/my.c"
cat >"$TMP/my.h" <<'C'
#include <malloc.h>
#include <stdlib.h>
void *my_malloc(size_t n) { return malloc(n + 100); }
void my_free(void *p) { free(p); }
#define malloc my_malloc
#define free my_free
C
gcc $flags -o "$TMP/my" "$TMP/my.c" 2>"$TMP/log"
counted 'a prefix' /my -S my_ -- "$TMP/my" churn 300
counted 'a prefix, in one object' /my -O "$TMP/my" --symbols-prefix my_ -- \
	"$TMP/my" churn 300
cp "$TMP/static" "$TMP/bare"
strip "$TMP/bare"
"$TMP/bare" late - <"$TMP/bare" >/dev/null &
pid=$!
started="$started $pid"
wait_until became_another "$pid"
"$SONDE" memleak -p $pid 1 1 >"$TMP/out" 2>"$TMP/err"
[ $? = 1 ] && grep -q 'no function of an allocator' "$TMP/err" &&
	pass 'no names' || fail 'no names' "$(cat "$TMP/err")"
kill $pid

# An allocator that comes later.
cat >"$TMP/later.c" <<'C'
#include <stdlib.h>
#include <string.h>
static char heap[1 << 20];
static size_t used;
void *calloc(size_t n, size_t size) { used += 16 * n; return heap + used; }
void *make(void) { return calloc(3, 11); }
C
cat >"$TMP/loads.c" <<'C'
#include <dlfcn.h>
#include <unistd.h>
static void *one(const char *path)
{
	void *(*make)(void), *l = dlopen(path, RTLD_NOW | RTLD_DEEPBIND);

	if (!l || !(*(void **)&make = dlsym(l, "make")))
		_exit(3);
	sleep(2);
	return make();
}
int main(int argc, char **argv)
{
	if (argc < 2 || !one(argv[1]) || write(1, "= 33 1\n", 7) < 0)
		return 1;
	_exit(0);
}
C
gcc -shared -fPIC -O0 -fno-omit-frame-pointer -Wl,-Bsymbolic \
	-o "$TMP/later.so" "$TMP/later.c"
gcc -O0 -fno-omit-frame-pointer -D_GNU_SOURCE -o "$TMP/loads" "$TMP/loads.c"
status=0
"$SONDE" memleak -- "$TMP/loads" "$TMP/later.so" >"$TMP/out" 2>"$TMP/err"
grep -q '33 bytes in 1 allocations' "$TMP/out" &&
	grep -q 'mapped before they were found.*: 1' "$TMP/err" &&
	grep -q 'in .*later.so' "$TMP/err" && pass 'loaded later' ||
	fail 'loaded later' "$(cat "$TMP/out" "$TMP/err" | tr '\n' '|')"

# An exception out of operator new: a return probe there would end the program.
if needs 'an exception' g++; then
	cat >"$TMP/throws.cc" <<'C'
#include <new>
#include <unistd.h>
__attribute__((noinline)) static char *make(unsigned long n)
{
	return new char[n];
}
int main()
{
	volatile unsigned long n = 1ul << 60;

	try {
		make(n);
	} catch (std::bad_alloc &) {
		n = 44;
	}
	char *p = make(n);
	_exit(!p || write(1, "= 44 1\n", 7) < 0);
}
C
	g++ -O0 -o "$TMP/throws" "$TMP/throws.cc"
	"$SONDE" memleak -- "$TMP/throws" >"$TMP/out" 2>"$TMP/err"
	grep -q '	44 bytes in 1 allocations' "$TMP/out" &&
		! grep -q 'by a signal' "$TMP/err" && pass 'an exception' ||
		fail 'an exception' "$(cat "$TMP/out" "$TMP/err" | tr '\n' '|')"
	"$SONDE" funclatency "$TMP/throws:main" -- "$TMP/throws" \
		>"$TMP/out" 2>"$TMP/err"
	grep -q 'throws: an exception that passes .* ends the program' \
		"$TMP/err" && pass 'an exception, said' ||
		fail 'an exception, said' "$(cat "$TMP/err" | tr '\n' '|')"
fi
