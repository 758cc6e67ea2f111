/* parent - for a minute: time of its own, then a child that ends at once. */
/* flags: -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls */
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long sum;

__attribute__((noinline)) void own(void)
{
	for (unsigned long n = 0; n < 100000; n++)
		sum += n;
}

int main(void)
{
	alarm(60);
	for (;;) {
		pid_t pid;

		own();
		pid = fork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}
