/* mangled - a known stack whose functions are called as compilers of C++ and
 * Rust would call them, and one as neither: main > void ns::top<int>(int) >
 * <usize>::mid > a::leaf::<[u8; 3]> or _Z1f. Counts argv[1] calls, or spins. */
/* flags: -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls */
#include <stdlib.h>

static volatile unsigned long sink;

#define KEPT __attribute__((noinline, used, noclone)) unsigned long

KEPT _RINvC1a4leafAhj3_E(unsigned long n)
{
	while (n--)
		sink += n;
	return sink;
}

KEPT _Z1f_(unsigned long n)
{
	return _RINvC1a4leafAhj3_E(n / 2) + 1;
}

KEPT _ZN14_$LT$usize$GT$3mid17h0123456789abcdefE(unsigned long n)
{
	return _RINvC1a4leafAhj3_E(n) + _Z1f_(n);
}

KEPT _ZN2ns3topIiEEvT_(unsigned long n)
{
	return _ZN14_$LT$usize$GT$3mid17h0123456789abcdefE(n) + 1;
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : -1;

	while (calls--)
		_ZN2ns3topIiEEvT_(calls < 0 ? 100000 : 10);
	return 0;
}
