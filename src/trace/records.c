/* records - what processes do meanwhile: forks, execs, new mappings. */
#include "trace/records.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "sys/host.h"

enum { RING_ORDER = 5 };	/* 32 pages a CPU */

/* Bodies of the records (include/uapi/linux/perf_event.h), without the
 * header; each is followed by struct sample_id. */
struct body_mmap2 {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char filename[];
};
struct body_comm {
	uint32_t pid, tid;
	char comm[];
};
struct body_task {
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};
struct sample_id {
	uint32_t pid, tid;
	uint64_t time;
};

static int ring_add(struct records *r, uint64_t cpu)
{
	struct perf_event_attr attr;
	struct perf_ring *ring;
	uint64_t *of;
	int fd, err;

	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr.sample_id_all = 1;
	attr.exclude_kernel = 1;
	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.comm = 1;
	attr.comm_exec = 1;
	attr.task = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	attr.watermark = 1;
	attr.wakeup_watermark = (uint32_t)sysconf(_SC_PAGESIZE)
				<< (RING_ORDER - 1);
	fd = perf_open(&attr, -1, (int)cpu);
	if (fd < 0)
		return fd == -ENODEV ? 0 : fd;	/* went offline */
	ring = vec_push(&r->rings);
	of = vec_push(&r->cpus);
	err = ring && of ? perf_ring_open(ring, fd, RING_ORDER) : -ENOMEM;
	if (err) {
		close(fd);
		r->rings.n -= ring != NULL;
		r->cpus.n -= of != NULL;
		return err;
	}
	*of = cpu;
	return 0;
}

int records_open(struct records *r, struct procs *procs)
{
	struct num_list cpus = { 0 };
	int err = host_cpus_online(&cpus);

	*r = (struct records){ .procs = procs };
	for (size_t i = 0; !err && i < cpus.n; i++)
		err = ring_add(r, cpus.v[i]);
	vec_free(&cpus);
	return err;
}

void records_close(struct records *r)
{
	for (size_t i = 0; i < r->rings.n; i++) {
		perf_ring_close(&r->rings.v[i]);
		close(r->rings.v[i].fd);
	}
	vec_free(&r->rings);
	vec_free(&r->cpus);
}

static int ring_watch(const struct perf_ring *ring, int epoll_fd)
{
	struct epoll_event e = { .events = EPOLLIN };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, ring->fd, &e) ? -errno : 0;
}

int records_watch(const struct records *r, int epoll_fd)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->rings.n; i++)
		err = ring_watch(&r->rings.v[i], epoll_fd);
	return err;
}

void records_cpu_gone(struct records *r, uint64_t cpu)
{
	records_read(r);
	for (size_t i = 0; i < r->rings.n; i++) {
		if (r->cpus.v[i] != cpu)
			continue;
		perf_ring_close(&r->rings.v[i]);
		close(r->rings.v[i].fd);
		r->rings.v[i] = r->rings.v[--r->rings.n];
		r->cpus.v[i] = r->cpus.v[--r->cpus.n];
		return;
	}
}

int records_cpu_come(struct records *r, uint64_t cpu, int epoll_fd)
{
	size_t before = r->rings.n;
	int err = ring_add(r, cpu);

	if (err || r->rings.n == before)
		return err;
	return ring_watch(&r->rings.v[before], epoll_fd);
}

static void apply_mmap2(struct procs *procs, const struct body_mmap2 *b,
			size_t len, uint64_t time)
{
	struct map_row row = {
		.start = b->addr, .end = b->addr + b->len, .off = b->pgoff,
		.inode = b->ino, .major = b->maj, .minor = b->min,
		.generation = (uint32_t)b->ino_generation, .exec = true,
		.path = b->filename,
	};

	/* The name is NUL-terminated and padded; believe the length more. */
	if (len > sizeof(*b) && row.end > row.start &&
	    memchr(b->filename, 0, len - sizeof(*b)))
		procs_map(procs, b->pid, time, &row);
}

void records_apply(struct procs *procs, const struct perf_event_header *h,
		   uint64_t *lost)
{
	const void *body = h + 1;
	size_t len = h->size - sizeof(*h);
	struct sample_id id;

	if (len < sizeof(id))
		return;
	len -= sizeof(id);
	memcpy(&id, (const char *)body + len, sizeof(id));
	if (h->type == PERF_RECORD_MMAP2) {
		apply_mmap2(procs, body, len, id.time);
	} else if (h->type == PERF_RECORD_COMM && len >= 8) {
		const struct body_comm *b = body;

		if (h->misc & PERF_RECORD_MISC_COMM_EXEC)
			procs_exec(procs, b->pid, id.time);
	} else if (h->type == PERF_RECORD_FORK &&
		   len >= sizeof(struct body_task)) {
		const struct body_task *b = body;

		if (b->pid != b->ppid)		/* else a thread */
			procs_fork(procs, b->pid, b->ppid, b->time);
	} else if (h->type == PERF_RECORD_EXIT &&
		   len >= sizeof(struct body_task)) {
		const struct body_task *b = body;

		if (b->pid == b->tid)
			procs_exit(procs, b->pid, b->time);
	} else if (h->type == PERF_RECORD_LOST && len >= 16) {
		uint64_t n;

		memcpy(&n, (const char *)body + 8, sizeof(n));
		*lost += n;
	}
}

static void take(void *arg, const struct perf_event_header *h)
{
	struct records *r = arg;

	r->mapped += h->type == PERF_RECORD_MMAP2;
	records_apply(r->procs, h, &r->lost);
}

void records_read(struct records *r)
{
	for (size_t i = 0; i < r->rings.n; i++)
		if (perf_ring_read(&r->rings.v[i], take, r) < 0)
			r->lost++;
}
