/* chain - a known stack: main > top > mid > leaf, all time in leaf. */
static volatile unsigned long sink;

__attribute__((noinline)) unsigned long leaf(unsigned long n)
{
	while (n--)
		sink += n;
	return sink;
}

__attribute__((noinline)) unsigned long mid(unsigned long n)
{
	return leaf(n) + 1;
}

__attribute__((noinline)) unsigned long top(unsigned long n)
{
	return mid(n) + 1;
}

/* With a number of milliseconds it ends by itself; a negative one counts the
 * time that it ran. A second number is how long leaf counts until the clock,
 * which is the kernel's then, is asked again. */
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	long ms = argc > 1 ? atol(argv[1]) : 3600000;
	clockid_t clock = ms < 0 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 100000;
	struct timespec start, now;

	clock_gettime(clock, &start);
	do {
		top(n);
		clock_gettime(clock, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 +
		 (now.tv_nsec - start.tv_nsec) / 1000000 < labs(ms));
	return 0;
}
