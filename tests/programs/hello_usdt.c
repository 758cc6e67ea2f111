/* hello_usdt - hello_usdt N: hits the probe hello-usdt:probe-main N times, with
 * 1 to N as argument. */
#include <stdlib.h>

#include "usdt.h"

#if defined(__x86_64__)
static void probe_main(long n)
{
	USDT(hello-usdt, probe-main, "-8@%%rdx", 0, "d"(n));
}
#else
static void probe_main(long n)
{
	register long x1 __asm__("x1") = n;

	USDT(hello-usdt, probe-main, "-8@x1", 0, "r"(x1));
}
#endif

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;

	for (long i = 1; i <= n; i++)
		probe_main(i);
	return 0;
}
