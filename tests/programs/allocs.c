/* allocs - allocates as argv[1] says, and prints what it leaves: "= BYTES
 * BLOCKS". With `-` for argv[2] it then waits to be ended.
 *
 *   malloc calloc overflow memalign aligned valloc pvalloc posix strdup
 *   asprintf getline mmap munmap unmap-part mremap   each function once
 *   sizes              blocks of 99, 100 and 101 bytes
 *   realloc-fails realloc-null realloc-zero realloc-grows realloc-shrinks
 *   reallocarray realloc-many      what realloc does to its old block
 *   churn N            N blocks allocated and freed, every tenth stays
 *   threads N          two threads that keep N blocks of 4 bytes each
 *   leader             the first thread ends; another frees what it left
 *   fork               a child frees its copy, and leaves a block of its own
 *   exec               another program comes in the place of this one
 *   late               waits for a line, then frees what it had, and allocates
 */
/* flags: -O0 -pthread -fno-builtin -fno-omit-frame-pointer */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };
static long bytes, blocks, n;
static volatile size_t half = SIZE_MAX / 2, word = (size_t)1 << 32;
static char *self;
static void *left;

static void *kept(void *p, long size)
{
	if (p && p != MAP_FAILED) {
		bytes += size;
		blocks++;
	}
	return p;
}

static void *map(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void one(const char *how)
{
	void *p = NULL;

	if (!strcmp(how, "malloc"))
		kept(malloc(100), 100);
	else if (!strcmp(how, "calloc"))
		kept(calloc(10, 100), 1000);
	else if (!strcmp(how, "overflow"))
		kept(calloc(half, 3), 1);
	else if (!strcmp(how, "memalign"))
		kept(memalign(64, 100), 100);
	else if (!strcmp(how, "aligned"))
		kept(aligned_alloc(64, 128), 128);
#ifdef __GLIBC__
	else if (!strcmp(how, "valloc"))
		kept(valloc(100), 100);
	else if (!strcmp(how, "pvalloc"))
		kept(pvalloc(100), PAGE);
#endif
	else if (!strcmp(how, "posix"))
		kept(posix_memalign(&p, 64, 100) ? NULL : p, 100);
	else if (!strcmp(how, "strdup"))
		kept(strdup("x"), 2);
	else if (!strcmp(how, "asprintf"))
		kept(asprintf((char **)&p, "%s", "hello") < 0 ? NULL : p, 6);
	else if (!strcmp(how, "mmap"))
		kept(map(3 * PAGE), 3 * PAGE);
	else if (!strcmp(how, "munmap"))
		munmap(map(3 * PAGE), 3 * PAGE);
	else if (!strcmp(how, "mremap"))
		kept(mremap(map(PAGE), PAGE, 5 * PAGE, MREMAP_MAYMOVE),
		     5 * PAGE);
}

static void unmap_part(void)
{
	char *p = map(3 * PAGE);

	munmap(p, PAGE);
	kept(p + PAGE, 2 * PAGE);
}

/* How much it takes is the library's choice. */
static void get_line(void)
{
	static char buffer[100];
	char *line = NULL;
	size_t size = 0;

	setvbuf(stdin, buffer, _IOFBF, sizeof(buffer));
	if (getline(&line, &size, stdin) > 0)
		kept(line, (long)size);
}

static void resize(const char *how)
{
	void *p = malloc(100), *q;

	if (!strcmp(how, "realloc-fails")) {
		if (!realloc(p, half - 1000))
			free(p);
	} else if (!strcmp(how, "realloc-null")) {
		free(p);
		kept(realloc(NULL, 100), 100);
	} else if (!strcmp(how, "realloc-zero")) {
		kept(realloc(p, 0), 0);
	} else if (!strcmp(how, "realloc-grows")) {
		kept(realloc(realloc(p, 16), 1 << 20), 1 << 20);
	} else if (!strcmp(how, "realloc-shrinks")) {
		kept(realloc(p, 10), 10);
	} else if (!strcmp(how, "reallocarray")) {
		q = reallocarray(p, half, 4);
		kept(q ? q : p, 100);
		q = reallocarray(NULL, 10, 3);
		kept(q, 30);
		q = reallocarray(q, word, word);
	} else {
		for (int i = 1; i < 1000; i++)
			p = realloc(p, (size_t)(i * 7919 % 5000 + 1));
		kept(p, 999 * 7919 % 5000 + 1);
	}
}

static void *four(void *arg)
{
	for (long i = 0; i < n; i++)
		if (!malloc(4))
			abort();
	return arg;
}

static void threads(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, four, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	bytes = 8 * n;
	blocks = 2 * n;
}

static void churn(void)
{
	for (long i = 0; i < n; i++) {
		void *p = malloc((size_t)(i % 100 + 1));

		if (i % 10)
			free(p);
		else
			kept(p, i % 100 + 1);
	}
}

static void finish(int waits)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "= %ld %ld\n", bytes, blocks);

	if (write(1, text, (size_t)len) < 0)
		abort();
	while (waits)
		pause();
	_exit(0);
}

static void *second(void *arg)
{
	pthread_join(*(pthread_t *)arg, NULL);
	free(left);
	kept(malloc(7), 7);
	finish(0);
	return NULL;
}

static void leader(void)
{
	static pthread_t first, other;

	first = pthread_self();
	left = malloc(5000);
	pthread_create(&other, NULL, second, &first);
	pthread_exit(NULL);
}

static void forks(void)
{
	void *p = kept(malloc(100), 100);
	int pid = fork();

	if (!pid) {
		free(p);
		p = malloc(50);
		_exit(!p);
	}
	waitpid(pid, NULL, 0);
	kept(p, 50);
}

static void late(void)
{
	void *p = malloc(300);
	char c;

	if (write(1, "ready\n", 6) < 0 || read(0, &c, 1) < 0)
		abort();
	free(p);
	kept(malloc(200), 200);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int waits = argc > 2 && !strcmp(argv[2], "-");

	self = argv[0];
	n = argc > 2 ? atol(argv[2]) : 0;
	if (!strncmp(how, "realloc", 7)) {
		resize(how);
	} else if (!strcmp(how, "unmap-part")) {
		unmap_part();
	} else if (!strcmp(how, "getline")) {
		get_line();
	} else if (!strcmp(how, "sizes")) {
		for (size_t i = 99; i < 102; i++)
			kept(malloc(i), (long)i);
	} else if (!strcmp(how, "churn")) {
		churn();
	} else if (!strcmp(how, "threads")) {
		threads();
	} else if (!strcmp(how, "leader")) {
		leader();
	} else if (!strcmp(how, "fork")) {
		forks();
	} else if (!strcmp(how, "late")) {
		late();
	} else if (!strcmp(how, "exec")) {
		if (malloc(1000))
			execl(self, self, "malloc", (char *)NULL);
	} else {
		one(how);
	}
	finish(waits);
}
