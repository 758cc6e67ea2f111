/* ownalloc - has an allocator of its own, that never takes a block back but for
 * the last one, and uses it as argv[1] says; prints "= BYTES BLOCKS".
 *
 *   plain              a block stays
 *   double             one is freed twice
 *   race N             N blocks, each freed by two threads at once
 *   between            one is freed, allocated again, and freed
 *   new                operator new, with an allocator of its own, and delete
 *   jump N             malloc() is left by longjmp(); then N blocks of 3 bytes,
 *                      half of them from deeper down
 */
/* flags: -O0 -pthread -fno-builtin -fno-omit-frame-pointer */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char heap[64 << 20] __attribute__((aligned(16)));
static size_t used;
static void *last;
static jmp_buf out;
static int reuse;

__attribute__((noinline)) static void *take(size_t size)
{
	return heap + __sync_fetch_and_add(&used, (size + 31) & ~15ull);
}

void *malloc(size_t size)
{
	void *p = reuse ? last : NULL;

	if (size == 666)
		longjmp(out, 1);
	reuse = 0;
	return p ? p : take(size);
}

void free(void *p)
{
	last = p;
}

void *calloc(size_t n, size_t size)
{
	return malloc(n * size);
}

void *realloc(void *old, size_t size)
{
	void *p = malloc(size);

	if (p && old)
		memmove(p, old, size);
	free(old);
	return p;
}

void *new_(size_t size) __asm__("_Znwm");
void *new_(size_t size)
{
	return take(size);
}

void delete_(void *p) __asm__("_ZdlPv");
void delete_(void *p)
{
	free(p);
}

static long bytes, blocks, rounds;
static void *shared;
static pthread_barrier_t barrier;

static void *racer(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		if (arg)
			shared = malloc(24);
		pthread_barrier_wait(&barrier);
		free(shared);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void race(void)
{
	pthread_t other;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&other, NULL, racer, NULL);
	racer(&other);
	pthread_join(other, NULL);
}

__attribute__((noinline)) static void deeper(int levels)
{
	char room[200];

	memset(room, levels, sizeof(room));
	if (levels)
		deeper(levels - 1);
	else
		malloc(3);
}

static void jump(void)
{
	if (!setjmp(out))
		malloc(666);
	for (long i = 0; i < rounds; i++) {
		if (i % 2)
			deeper(3);
		else
			malloc(3);
	}
	bytes = 3 * rounds;
	blocks = rounds;
}

static void use(const char *how)
{
	void *p = !strcmp(how, "new") ? new_(40) : malloc(40);

	if (!strcmp(how, "double")) {
		free(p);
		free(p);
	} else if (!strcmp(how, "between")) {
		free(p);
		reuse = 1;
		free(malloc(40));
	} else if (!strcmp(how, "new")) {
		delete_(p);
		new_(41);
		bytes = 41;
		blocks = 1;
	} else {
		bytes = 40;
		blocks = 1;
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "plain";
	char text[64];
	int len;

	rounds = argc > 2 ? atol(argv[2]) : 0;
	if (!strcmp(how, "race"))
		race();
	else if (!strcmp(how, "jump"))
		jump();
	else
		use(how);
	len = snprintf(text, sizeof(text), "= %ld %ld\n", bytes, blocks);
	_exit(write(1, text, (size_t)len) < 0);
}
