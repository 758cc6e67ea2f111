/* execs - executes itself in known ways: execs PATH WAY [N]; PATH is this file.
 *
 *   done         nothing          storm N   N children, one after the other
 *   thread       from a thread    many N    N arguments
 *   long N       one of N bytes   empty     none, not even the first
 *   twice        the same process once more, and again
 *   at           by a descriptor  fail      of what is not there, two calls
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *self;

static void *run_thread(void *arg)
{
	char *argv[] = { self, self, "done", "from a thread", NULL };

	(void)arg;
	execv(self, argv);
	return NULL;
}

/* Says which of them did not come about. */
static void storm(int n)
{
	char number[16], *argv[] = { self, self, "done", number, NULL };

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		int status = -1;

		snprintf(number, sizeof(number), "%d", i);
		if (!pid) {
			execv(self, argv);
			_exit(1);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			fprintf(stderr, "execs: child %d: %d, %s\n", i, status,
				strerror(errno));
	}
}

static void many(int n)
{
	char **argv = calloc(n + 4, sizeof(*argv));

	argv[0] = argv[1] = self;
	argv[2] = "done";
	for (int i = 0; i < n; i++) {
		argv[3 + i] = malloc(16);
		snprintf(argv[3 + i], 16, "%d", i);
	}
	execv(self, argv);
}

static void long_one(int n)
{
	char *text = malloc(n + 1);
	char *argv[] = { self, self, "done", text, NULL };

	memset(text, 'x', n);
	text[n] = '\0';
	execv(self, argv);
}

static void fail(void)
{
	char *argv[] = { "first", "of what", "is\nnot there", NULL };

	execv("/nonexistent/file", argv);
	syscall(SYS_execveat, -1, "relative", argv, argv + 3, 0);
}

static void at(void)
{
	char *argv[] = { self, self, "done", "at", NULL };

	syscall(SYS_execveat, open(self, O_RDONLY), "", argv, argv + 4,
		AT_EMPTY_PATH);
}

int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[2] : "done";
	int n = argc > 3 ? atoi(argv[3]) : 0;
	char *none[] = { NULL }, *twice[] = { argv[1], argv[1], "once", NULL };
	pthread_t thread;

	self = argv[1];
	if (!strcmp(way, "storm"))
		storm(n);
	else if (!strcmp(way, "many"))
		many(n);
	else if (!strcmp(way, "long"))
		long_one(n);
	else if (!strcmp(way, "fail"))
		fail();
	else if (!strcmp(way, "at"))
		at();
	else if (!strcmp(way, "empty"))
		execv(self, none);
	else if (!strcmp(way, "twice"))
		execv(self, twice);
	else if (!strcmp(way, "once"))
		execl(self, self, self, "done", NULL);
	else if (!strcmp(way, "thread") &&
		 !pthread_create(&thread, NULL, run_thread, NULL))
		pthread_join(thread, NULL);
	return 0;
}
