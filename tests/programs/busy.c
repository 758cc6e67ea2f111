/* busy - takes what CPU time is left, in compute() and in the kernel. */
#define _GNU_SOURCE
#include <sys/random.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void compute(unsigned long n)
{
	while (n--)
		sink += n;
}

__attribute__((noinline)) static void call_kernel(void)
{
	char bytes[16384];

	if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) > 0)
		sink += (unsigned char)bytes[0];
}

int main(void)
{
	if (nice(19) < 0)
		return 1;
	for (;;) {
		compute(100000);
		call_kernel();
	}
}
