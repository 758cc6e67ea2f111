/* sleeper - waits of every kind, each in a function of its own, which measures
 * for how long it was off the CPUs.
 *
 *   sleeper nap N MS       N times naps() of MS ms
 *   sleeper pipe N MS      reads() a byte that another thread, in wakes(),
 *                          writes MS ms later; N times
 *   sleeper futex N MS     the same by a condition variable: waits()
 *   sleeper file N PATH    faults() a page of the file in, N times, after the
 *                          page cache was told to forget it
 *   sleeper hang MS        hangs() in a read that nothing ends; ended by a
 *                          signal after MS ms, if not before
 *   sleeper spin N MS      N threads of spins(), for MS ms, on one CPU
 *   sleeper short N MS     N threads, one after another, that nap MS ms each
 *   sleeper reuse PID      naps() 20 ms in a child of that number
 *   sleeper pingpong N     two threads that hand a byte to and fro
 *
 * It prints "NAME US", what the waits of the function took together; pingpong
 * how long it took, and what CPU time.
 */
/* flags: -O1 -pthread -fno-omit-frame-pointer -fno-optimize-sibling-calls */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROBED __attribute__((noinline, noclone))

static int there[2], back[2], hung[2];
static unsigned ms;
static uint32_t word;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Time that this thread was off the CPUs, from some point on: one clock is read
 * before and after the other, for a thread that just woke is slow. */
static uint64_t off(void)
{
	uint64_t before = now(), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	return before + (now() - before) / 2 - cpu;
}

static void tell(const char *name, uint64_t ns)
{
	if ((int64_t)ns < 0)		/* next to nothing, by two clocks */
		ns = 0;
	printf("%s %llu\n", name, (unsigned long long)ns / 1000);
	fflush(stdout);
}

/* Without the C library's wrappers, which have no frames of their own. */
static inline long call(long number, long a, long b, long c, long d, long e)
{
#ifdef __aarch64__
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b, x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d, x4 __asm__("x4") = e;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2),
			 "r"(x3), "r"(x4) : "memory");
	return x0;
#else
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(number), "D"(a), "S"(b),
			 "d"(c), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
	return ret;
#endif
}

PROBED uint64_t naps(void)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
	uint64_t before = off();

	call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&t, 0, 0);
	return off() - before;
}

PROBED uint64_t reads(void)
{
	uint64_t before = off();
	char c;

	if (call(SYS_read, there[0], (long)&c, 1, 0, 0) != 1)
		exit(1);
	return off() - before;
}

PROBED void wakes(void)
{
	call(SYS_write, there[1], (long)"x", 1, 0, 0);
	__asm__ volatile("");
}

PROBED uint64_t waits(void)
{
	uint64_t before = off();

	while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE))
		call(SYS_futex, (long)&word, FUTEX_WAIT, 0, 0, 0);
	__atomic_sub_fetch(&word, 1, __ATOMIC_RELEASE);
	return off() - before;
}

PROBED void sets(void)
{
	__atomic_add_fetch(&word, 1, __ATOMIC_RELEASE);
	call(SYS_futex, (long)&word, FUTEX_WAKE, 1, 0, 0);
	__asm__ volatile("");
}

PROBED uint64_t faults(volatile const char *page)
{
	uint64_t before = off();

	(void)*page;
	return off() - before;
}

PROBED void hangs(void)
{
	char c;

	call(SYS_read, hung[0], (long)&c, 1, 0, 0);
	__asm__ volatile("");
}

PROBED uint64_t spins(uint64_t end)
{
	uint64_t before = off();

	/* Seldom at the clock: below it stacks may not lead back here. */
	while (now() < end)
		for (volatile int i = 0; i < 200000; i++)
			;
	return off() - before;
}

static void *waker(void *arg)
{
	void (*wake)(void) = *(void (**)(void))arg;
	int n = *(int *)((char *)arg + sizeof(wake));
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (n--) {
		nanosleep(&t, NULL);
		wake();
	}
	return NULL;
}

static void woken(const char *name, uint64_t (*wait)(void), void (*wake)(void),
		  int n)
{
	struct { void (*wake)(void); int n; } arg = { wake, n };
	pthread_t thread;
	uint64_t sum = 0;

	pthread_create(&thread, NULL, waker, &arg);
	while (n--)
		sum += wait();
	pthread_join(thread, NULL);
	tell(name, sum);
}

static void from_file(const char *path, int n)
{
	int fd = open(path, O_RDONLY);
	uint64_t sum = 0;

	if (fd < 0)
		exit(1);
	for (int i = 0; i < n; i++) {
		off_t at = (off_t)i * (1 << 20);
		char *page;

		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, at);
		if (page == MAP_FAILED)
			exit(1);
		sum += faults(page);
		munmap(page, 4096);
	}
	tell("faults", sum);
}

static void *spinner(void *arg)
{
	return (void *)(uintptr_t)spins(*(uint64_t *)arg);
}

static void *napper(void *arg)
{
	*(uint64_t *)arg += naps();
	return NULL;
}

static void on_one_cpu(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void spin(int n)
{
	uint64_t end = now() + (uint64_t)ms * 1000000, sum = 0;
	pthread_t threads[16];
	void *spent;

	on_one_cpu();
	for (int i = 0; i < n && i < 16; i++)
		pthread_create(&threads[i], NULL, spinner, &end);
	for (int i = 0; i < n && i < 16; i++) {
		pthread_join(threads[i], &spent);
		sum += (uintptr_t)spent;
	}
	tell("spins", sum);
}

static void *pong(void *arg)
{
	char c;

	while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
		;
	return arg;
}

static void pingpong(long n)
{
	uint64_t before, cpu;
	pthread_t thread;
	char c = 'x';

	pthread_create(&thread, NULL, pong, NULL);
	before = now();
	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (long i = 0; i < n; i++)
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			exit(1);
	tell("pingpong", now() - before);
	tell("cpu", clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	close(there[1]);
	pthread_join(thread, NULL);
}

/* The next child gets the number after the one that is named there. */
static void reuse(int pid)
{
	FILE *f = fopen("/proc/sys/kernel/ns_last_pid", "w");
	int child, status;

	if (!f)
		exit(2);
	fprintf(f, "%d", pid - 1);
	fclose(f);
	child = fork();
	if (!child) {
		tell(getpid() == pid ? "same" : "other", naps());
		_exit(0);
	}
	waitpid(child, &status, 0);
}

static void ended(int signal)
{
	(void)signal;
	_exit(0);
}

static void hang(void)
{
	signal(SIGTERM, ended);
	signal(SIGALRM, ended);
	alarm(ms / 1000 + 1);
	tell("hangs", 0);
	hangs();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0;
	uint64_t sum = 0;

	ms = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
	if (pipe(there) || pipe(back) || pipe(hung))
		return 1;
	if (!strcmp(what, "nap")) {
		while (n--)
			sum += naps();
		tell("naps", sum);
	} else if (!strcmp(what, "pipe")) {
		woken("reads", reads, wakes, n);
	} else if (!strcmp(what, "futex")) {
		woken("waits", waits, sets, n);
	} else if (!strcmp(what, "file") && argc > 3) {
		from_file(argv[3], n);
	} else if (!strcmp(what, "hang")) {
		ms = (unsigned)n;
		hang();
	} else if (!strcmp(what, "spin")) {
		spin(n);
	} else if (!strcmp(what, "short")) {
		while (n--) {
			pthread_t thread;

			pthread_create(&thread, NULL, napper, &sum);
			pthread_join(thread, NULL);
		}
		tell("naps", sum);
	} else if (!strcmp(what, "reuse")) {
		ms = 20;
		reuse(n);
	} else if (!strcmp(what, "pingpong")) {
		pingpong(n);
	}
	return 0;
}
