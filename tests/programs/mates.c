/* mates - processes named after their own function, from which each calls one
 * that they share, all on one CPU: mates N, the calls of each.
 *
 * main -> mateK -> hit, K = 0 to 3. Now and then one sleeps for a moment, so
 * that it takes the CPU from another when it wakes.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) int hit(int n)
{
	return sink += n;
}

#define MATE(name) \
__attribute__((noinline)) int name(int n) \
{ \
	return hit(n) + 1; \
}
MATE(mate0)
MATE(mate1)
MATE(mate2)
MATE(mate3)

static void run(int k, int n)
{
	static int (*const volatile mates[])(int) = {
		mate0, mate1, mate2, mate3,
	};
	char name[] = { 'm', 'a', 't', 'e', (char)('0' + k), 0 };
	const struct timespec moment = { .tv_nsec = 50000 };

	prctl(PR_SET_NAME, name);
	for (int i = 0; i < n; i++) {
		mates[k](i);
		if (i % (10 + 3 * k) == 0)
			nanosleep(&moment, NULL);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	for (int k = 0; k < 4; k++)
		if (!fork())
			run(k, n);
	while (wait(NULL) > 0)
		;
	return 0;
}
