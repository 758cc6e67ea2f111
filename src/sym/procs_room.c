/* procs_room - bounds on what mappings make the table of processes remember.
 *
 * Anybody can map any number of files at any number of addresses. So there is
 * a bound on the mapping records of one process, a lower one as long as it was
 * never sampled, and a bound on the rows of all of them. What is dropped first
 * are the oldest records of processes that were never sampled, beginning with
 * those that have most. An address whose record was dropped is unknown, or is
 * read from the maps of the live process; it never gets an older name. */
#include <stdlib.h>
#include <string.h>

#include "sym/procs_data.h"
#include "sys/host.h"

enum {
	UNSEEN_MOST = 4096,	/* records of a process never sampled */
	SEEN_MOST = 65536,	/* of another one */
	ASK_AGAIN = 4096,	/* refusals without looking */
};
#define MEMORY_LEAST (64ull << 20)
#define MEMORY_MOST (256ull << 20)

size_t procs_rows_most(void)
{
	uint64_t bytes = host_memory() / 32;

	bytes = bytes < MEMORY_LEAST ? MEMORY_LEAST : bytes;
	bytes = bytes > MEMORY_MOST ? MEMORY_MOST : bytes;
	return (size_t)(bytes / sizeof(struct row));
}

static int by_age(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The time up to which records must go so that at most `keep` are left; 0:
 * none. Without memory to find it out, all go. */
static uint64_t cutoff(const struct proc *c, size_t keep)
{
	uint64_t *times = mem_zalloc(c->rows.n * sizeof(*times)), last;
	size_t n = 0;

	if (!times)
		return UINT64_MAX;
	for (size_t i = 0; i < c->rows.n; i++)
		if (c->rows.v[i].snap == NONE)
			times[n++] = c->rows.v[i].last;
	if (n)
		qsort(times, n, sizeof(*times), by_age);
	last = n > keep ? times[n - keep - 1] : 0;
	mem_free(times);
	return last;
}

/* Vectors only grow; give the room back. */
static void rows_shrink(struct proc *c)
{
	struct row *v = mem_zalloc(c->rows.n * sizeof(*v));

	if (!v)
		return;
	if (c->rows.n)
		memcpy(v, c->rows.v, c->rows.n * sizeof(*v));
	mem_free(c->rows.v);
	c->rows.v = v;
	c->rows.cap = c->rows.n;
}

static void rows_trim(struct procs *p, struct proc *c, size_t keep)
{
	uint64_t last = c->rows.n > keep ? cutoff(c, keep) : 0;
	size_t n = 0;

	if (!last)
		return;
	for (size_t i = 0; i < c->rows.n; i++) {
		struct row *r = &c->rows.v[i];

		if (r->snap != NONE || r->last > last)
			c->rows.v[n++] = *r;
	}
	p->lost_rows += c->rows.n - n;
	c->rows.n = n;
	c->unsorted = true;
	rows_shrink(c);
}

/* A JIT may make the same memory executable any number of times, which is one
 * row when it is sorted. */
void proc_tidy(struct procs *p, struct proc *c)
{
	size_t most = c->snaps.n ? SEEN_MOST : UNSEEN_MOST, more;

	if (c->rows.n <= c->sort_at + 1024)
		return;
	proc_sort(c);
	if (c->rows.n > most)
		rows_trim(p, c, most / 2);
	more = c->rows.n < most / 2 ? c->rows.n : most / 2;
	c->sort_at = c->rows.n + more;
}

static size_t rows_held(const struct procs *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->all.n; i++)
		n += p->all.v[i] ? p->all.v[i]->rows.cap : 0;
	return n;
}

static void rows_make_room(struct procs *p, size_t most)
{
	for (size_t keep = UNSEEN_MOST / 2; rows_held(p) > most; keep /= 2) {
		for (size_t i = 0; i < p->all.n; i++)
			if (p->all.v[i] && !p->all.v[i]->snaps.n)
				rows_trim(p, p->all.v[i], keep);
		if (!keep)
			return;
	}
}

/* p->rows is at least what is held: what others drop is seen when it counts. */
bool procs_room(struct procs *p, size_t n)
{
	if (p->rows + n <= p->rows_most) {
		p->rows += n;
		return true;
	}
	if (p->refused++ % ASK_AGAIN == 0) {
		p->rows = rows_held(p) + n;
		if (p->rows <= p->rows_most)
			return true;
		rows_make_room(p, p->rows_most / 4 * 3);
		p->rows = rows_held(p) + n;
		if (p->rows <= p->rows_most)
			return true;
		p->rows -= n;
	}
	p->lost_rows += n;
	return false;
}

size_t procs_lost_rows(const struct procs *p)
{
	return p->lost_rows;
}
