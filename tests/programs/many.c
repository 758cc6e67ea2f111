/* many - processes in numbers.
 *
 *   many burn N MS PROGRAM	N children that exec PROGRAM "child" MS
 *   many run SECS		a process after another, each gone at once
 *   many child MS		MS of CPU time in hot(), then sleep
 */
/* flags: -O1 -pthread -fno-omit-frame-pointer */
#define _GNU_SOURCE
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) long hot(long n)
{
	volatile long s = 0;

	while (n--)
		s += n;
	return s;
}

static void child(long ms)
{
	clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(60);
	while (clock() < end)
		hot(1000);
	pause();
}

static void burn(char **argv)
{
	alarm(60);
	for (long n = atol(argv[2]); n > 0; n--)
		if (!fork()) {
			execl(argv[4], argv[4], "child", argv[3], NULL);
			_exit(1);
		}
	pause();
}

static void run(char *self, long seconds)
{
	char *argv[] = { self, "nothing", NULL };
	time_t end = time(NULL) + seconds;
	long n = 0;

	for (; time(NULL) < end; n++) {
		pid_t pid;

		if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv,
				environ))
			exit(1);
		waitpid(pid, NULL, 0);
	}
	printf("%ld\n", n);
}

int main(int argc, char **argv)
{
	if (argc > 4 && !strcmp(argv[1], "burn"))
		burn(argv);
	if (argc > 2 && !strcmp(argv[1], "child"))
		child(atol(argv[2]));
	if (argc > 2 && !strcmp(argv[1], "run"))
		run(argv[0], atol(argv[2]));
	return 0;
}
