/* calls - calls known functions a known number of times: calls N.
 *
 * main -> outer -> inner         N times
 * main -> rec -> rec -> rec      N times rec(3): 3 hits each
 * main -> outer -> bare          N times; bare has no frame of its own
 * main -> work (by pointer)      N times
 */
#include <stdlib.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) int inner(int n)
{
	return sink += n;
}

__attribute__((noinline, optimize("O1", "omit-frame-pointer"))) int bare(int n)
{
	return sink += n;
}

__attribute__((noinline)) int outer(int n)
{
	inner(n);
	return bare(n) + 1;
}

__attribute__((noinline)) int rec(int depth)
{
	return depth > 1 ? rec(depth - 1) + 1 : sink;
}

__attribute__((noinline)) int work(int n)
{
	return sink += n;
}

/* What begins with a lock prefix, the kernel sets no uprobe on. */
#ifdef __x86_64__
__asm__(".globl locker; .type locker, @function\n"
	"locker: lock incl (%rdi); ret\n"
	".size locker, . - locker");
#endif

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	int (*volatile by_pointer)(int) = work;

	for (int i = 0; i < n; i++) {
		outer(i);
		rec(3);
		by_pointer(i);
		free(malloc(64));
	}
	return 0;
}
