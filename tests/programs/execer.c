/* execer - spins in before_exec() for half the time, then execs argv[2...]. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void before_exec(long ms)
{
	clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000);

	while (clock() < end)
		for (int i = 0; i < 10000; i++)
			sink += i;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	before_exec(atol(argv[1]));
	execv(argv[2], argv + 2);
	return 1;
}
