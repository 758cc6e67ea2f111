/* measure - run a command; its wall time, CPU time and peak memory.
 *
 *   measure FILE COMMAND...	FILE gets "WALL_MS CPU_MS RSS_KB"
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double ms(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

int main(int argc, char **argv)
{
	struct timespec a, b;
	struct rusage use;
	FILE *out;
	int status;
	pid_t pid;

	if (argc < 3)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &a);
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &use) != pid)
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &b);
	out = fopen(argv[1], "w");
	if (!out)
		return 1;
	fprintf(out, "%.1f %.1f %ld\n",
		(double)(b.tv_sec - a.tv_sec) * 1e3 +
		(double)(b.tv_nsec - a.tv_nsec) / 1e6,
		ms(use.ru_utime) + ms(use.ru_stime), use.ru_maxrss);
	fclose(out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
