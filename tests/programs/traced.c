/* traced - functions and USDT probes with known arguments. traced N: calls and
 * hits each N times (1), numbered; traced N MS sleeps MS between; with a
 * third argument SIGUSR1 ends it, and it says whether a semaphore is raised
 * then. */
/* flags: -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "usdt.h"

#define NOINLINE __attribute__((noinline))

long NOINLINE six(long a, long b, long c, long d, long e, long f)
{
	__asm__ volatile("" ::: "memory");
	return a + b + c + d + e + f;
}

int NOINLINE fails(int why)
{
	__asm__ volatile("" ::: "memory");
	return -why;
}

/* The text, or what follows its colon. */
const char *NOINLINE text(const char *s, size_t n)
{
	__asm__ volatile("" : "+r"(s) : "r"(n) : "memory");
	return strchr(s, ':') ? strchr(s, ':') + 1 : s;
}

int NOINLINE outer(int n)
{
	return fails(n) + 1;
}

int global = 77;
struct {
	int a, b;
} pair = { 1, 42 };
unsigned short semaphore __attribute__((section(".probes"), used));

#if defined(__x86_64__)
static void usdt(const char *s, uint16_t *end)
{
	long a[4] = { 10, 20, 30, 40 };
	long i = 2;
	int neg = -5;

	USDT(traced, reg, "-4@%%edx 8@%%rcx 4@%%edx 1@%%dh -1@%%dl", 0,
	     "d"(neg), "c"(i));
	USDT(traced, mem, "8@16(%%rsi) -4@$-7 4@$5 8@$0xffffffff 1@8(%%rsi)",
	     0, "S"(a), "m"(a));
	USDT(traced, sib, "8@(%%rsi,%%rcx,8) 8@8(%%rsi,%%rcx,8)", 0, "S"(a),
	     "c"(i), "m"(a));
	USDT(traced, rip, "-4@global(%%rip) -4@pair+4(%%rip)", 0, "m"(global),
	     "m"(pair));
	USDT(traced, string, "8@%%rsi -4@$3", 0, "S"(s));
	USDT(traced, end, "2@(%%rsi) 8@(%%rsi) -4@$9", 0, "S"(end));
	USDT(traced, none, "8@%%xmm0 8@%%rsi", 0, "S"(i));
	USDT(traced, twice, "-4@%%edx", 0, "d"(neg));
	USDT(traced, twice, "8@8(%%rsi)", 0, "S"(a), "m"(a));
	if (*(volatile unsigned short *)&semaphore)
		USDT(traced, raised, "8@%%rcx", semaphore, "c"(i));
}
#else
static void usdt(const char *s, uint16_t *end)
{
	long a[4] = { 10, 20, 30, 40 };
	register long *at __asm__("x1") = a;
	register long i __asm__("x2") = 2;
	register int neg __asm__("w3") = -5;

	USDT(traced, reg, "-4@w3 8@x2 4@w3", 0, "r"(neg), "r"(i));
	USDT(traced, mem, "8@[x1, 16] -4@-7 4@5 1@[x1, 8]", 0, "r"(at),
	     "m"(a));
	(void)s;
	(void)end;
}
#endif

static volatile sig_atomic_t asked;

static void end(int number)
{
	asked = number;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1, page = getpagesize();
	int ms = argc > 2 ? atoi(argv[2]) : 0;
	char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint16_t *last = (uint16_t *)(two + page - 2);
	static char longer[] = "0123456789012345678901234567890123456789"
		"0123456789012345678901234567890123456789:and more";

	if (two == MAP_FAILED || munmap(two + page, page))
		return 1;
	*last = 513;
	if (argc > 3)
		signal(SIGUSR1, end);
	for (long i = 1; i <= n && !asked; i++) {
		six(i, -2, 3, 0x40000000000, 5, 6);
		outer(5);
		text("say \"hi\"\n\033[1m", 3);
		text(longer, 4);
		usdt("word", last);
		if (ms)
			usleep(ms * 1000);
	}
	if (argc > 3)
		printf("semaphore %d\n",
		       *(volatile unsigned short *)&semaphore);
	return 0;
}
