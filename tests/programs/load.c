/* load - so many busy tasks: load TASKS MS [CPU], all on that CPU; it prints
 * the tasks' numbers, when they all began at once (ms of the day), and "all"
 * when all are busy, and ends them with itself. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static volatile sig_atomic_t over;

static void end(int signal)
{
	(void)signal;
	over = 1;
}

__attribute__((noinline)) static void burn(unsigned long n)
{
	while (n--)
		sink += n;
}

__attribute__((noinline)) static void work(long ms, int ready)
{
	struct itimerval after = { { 0, 0 }, { ms / 1000, ms % 1000 * 1000 } };

	burn(1);
	if (write(ready, "", 1) != 1)
		_exit(1);
	/* Never reads a clock: the vDSO's frames do not lead back. */
	signal(SIGALRM, end);
	if (setitimer(ITIMER_REAL, &after, NULL))
		_exit(1);
	while (!over)
		burn(3000000);
	sink++;
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(1);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0, ready[2], go[2];
	long ms = argc > 2 ? atol(argv[2]) : 0;
	struct timespec began;
	char byte;

	if (argc > 3)
		stay_on(atoi(argv[3]));
	if (pipe(ready) || pipe(go))
		return 1;
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(go[1]);
			if (nice(19) < 0 || read(go[0], &byte, 1))
				_exit(1);
			work(ms, ready[1]);
			_exit(0);
		}
		printf("%d\n", pid);
	}
	usleep(100000);			/* all are asleep */
	clock_gettime(CLOCK_REALTIME, &began);
	close(go[1]);			/* now all of them may */
	for (int i = 0; i < n; i++)
		if (read(ready[0], &byte, 1) != 1)
			return 1;
	printf("since %ld\nall\n", (long)(began.tv_sec % 86400 * 1000 +
					  began.tv_nsec / 1000000));
	fflush(stdout);
	while (wait(NULL) > 0)
		;
	return 0;
}
