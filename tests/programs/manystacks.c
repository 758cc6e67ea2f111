/* manystacks - argv[1] different stacks, argv[2] us of CPU time in each. */
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

__attribute__((noinline)) static void spin(long loops)
{
	while (loops--)
		sink++;
}

/* How many loops take that time, undisturbed: the most of three tries. The
 * clock is not read later on: code of a libc without frame pointers would hide
 * who called it. */
static long loops_in(long wanted)
{
	long loops = 1000, most = 0, start, us;

	for (int good = 0; good < 3;) {
		start = now_us();
		spin(loops);
		us = now_us() - start;
		if (us < 10000) {
			loops *= 2;
			continue;
		}
		if (loops * wanted / us > most)
			most = loops * wanted / us;
		good++;
	}
	return most;
}

/* The bits of `n` choose the functions on the way down: 2^15 ways. */
static void zero(unsigned n, int left, long loops);
static void one(unsigned n, int left, long loops);

#define STEP(name) \
__attribute__((noinline)) static void name(unsigned n, int left, long loops) \
{ \
	if (!left) \
		spin(loops); \
	else if (n & 1) \
		one(n >> 1, left - 1, loops); \
	else \
		zero(n >> 1, left - 1, loops); \
	sink++; \
}
STEP(zero)
STEP(one)

int main(int argc, char **argv)
{
	unsigned stacks = argc > 1 ? (unsigned)atoi(argv[1]) : 20000;
	long loops = loops_in(argc > 2 ? atol(argv[2]) : 500);

	for (unsigned i = 0; i < stacks; i++)
		zero(i, 15, loops);
	return 0;
}
