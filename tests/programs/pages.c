/* pages - touches as many new pages as argv[1] says, in touch(). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline)) static void touch(volatile char *p, long n, long size)
{
	for (long i = 0; i < n; i++)
		p[i * size] = 1;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1, size = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, (size_t)(n * size), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || madvise(p, (size_t)(n * size), MADV_NOHUGEPAGE))
		return 1;
	touch(p, n, size);
	return 0;
}
