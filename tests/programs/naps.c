/* naps - calls of known number and length, for what times functions.
 *
 *   naps threads      4 threads, each 10 times nap() of 1, 2 and 4 ms
 *   naps deep N       deep() calls itself N times, then sleeps 1 ms
 *   naps jump         20 times outer() that calls inner(), left by longjmp;
 *                     between them, settled() of 1 ms that calls neither
 *   naps short N      N threads, one after another, end within leaving()
 *   naps stay         3 threads within staying(), until killed
 */
/* flags: -O1 -pthread -fno-optimize-sibling-calls */
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROBED __attribute__((noinline, noclone))

static jmp_buf place;

PROBED void nap(unsigned us)
{
	usleep(us);
	__asm__ volatile("");
}

PROBED int deep(int n)
{
	int below = 0;

	if (n)
		below = deep(n - 1);
	else
		usleep(1000);
	__asm__ volatile("");
	return below + 1;
}

PROBED void inner(void)
{
	longjmp(place, 1);
}

PROBED void outer(void)
{
	inner();
	__asm__ volatile("");
}

PROBED void settled(void)
{
	usleep(1000);
	__asm__ volatile("");
}

PROBED void leaving(void)
{
	pthread_exit(NULL);
}

PROBED void staying(void)
{
	pause();
	__asm__ volatile("");
}

static void *naps(void *arg)
{
	for (int i = 0; i < 10; i++)
		for (int ms = 1; ms <= 4; ms *= 2)
			nap((unsigned)ms * 1000);
	return arg;
}

static void *leaves(void *arg)
{
	leaving();
	return arg;
}

static void *stays(void *arg)
{
	staying();
	return arg;
}

static void in_threads(int n, void *(*run)(void *))
{
	pthread_t threads[16];

	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void jumps(void)
{
	for (volatile int i = 0; i < 20; i++) {
		if (!setjmp(place))
			outer();
		settled();
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (!strcmp(what, "threads"))
		in_threads(4, naps);
	else if (!strcmp(what, "deep"))
		deep(n);
	else if (!strcmp(what, "jump"))
		jumps();
	else if (!strcmp(what, "stay"))
		in_threads(3, stays);
	else if (!strcmp(what, "short"))
		while (n--)
			in_threads(1, leaves);
	return 0;
}
