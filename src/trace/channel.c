/* channel - records from a program to user space, on either kind of ring. */
#include "trace/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/vec.h"
#include "sys/bpf.h"
#include "sys/host.h"

/* The event of one CPU that bpf_perf_event_output() writes to. */
static int perf_add(struct channel *c, int map_fd, uint32_t cpu,
		    unsigned order)
{
	struct perf_event_attr attr;
	struct perf_ring *r;
	int fd, err;

	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	attr.sample_type = PERF_SAMPLE_RAW;
	attr.wakeup_events = 1;
	fd = perf_open(&attr, -1, (int)cpu);
	if (fd < 0)
		return fd == -ENODEV ? 0 : fd;	/* went offline */
	r = vec_push(&c->perf);
	err = r ? perf_ring_open(r, fd, order) : -ENOMEM;
	if (err) {
		close(fd);
		c->perf.n -= r != NULL;
		return err;
	}
	err = bpf_map_update(map_fd, &cpu, &fd);
	return err ? err : perf_enable(fd);
}

static int perf_open_all(struct channel *c, int map_fd, uint32_t bytes)
{
	struct num_list cpus = { 0 };
	int err = host_cpus_online(&cpus);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	unsigned order = 0;

	while (order < 10 && (page << (order + 1)) * cpus.n <= bytes)
		order++;
	for (i = 0; !err && i < cpus.n; i++)
		err = perf_add(c, map_fd, (uint32_t)cpus.v[i], order);
	vec_free(&cpus);
	return err;
}

int channel_open(struct channel *c, int map_fd, uint32_t bytes, bool is_ring)
{
	int err;

	*c = (struct channel){ .is_ring = is_ring };
	if (is_ring)
		return ring_open(&c->ring, map_fd, bytes);
	err = perf_open_all(c, map_fd, bytes);
	if (err)
		channel_close(c);
	return err;
}

void channel_close(struct channel *c)
{
	if (c->is_ring)
		ring_close(&c->ring);
	for (size_t i = 0; i < c->perf.n; i++) {
		perf_ring_close(&c->perf.v[i]);
		close(c->perf.v[i].fd);
	}
	vec_free(&c->perf);
}

static int watch(int epoll_fd, int fd)
{
	/* Only what the writers tell: a ring that always holds something would
	 * else wake a reader who does better to read much at a time. */
	struct epoll_event e = { .events = EPOLLIN | EPOLLET, .data.fd = fd };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

int channel_watch(const struct channel *c, int epoll_fd)
{
	int err = 0;

	if (c->is_ring)
		return watch(epoll_fd, c->ring.fd);
	for (size_t i = 0; !err && i < c->perf.n; i++)
		err = watch(epoll_fd, c->perf.v[i].fd);
	return err;
}

enum { EVENT_MAX = 16384 };		/* bytes of one record */

struct perf_reader {
	struct channel *channel;
	ring_take *take;
	void *arg;
};

/* PERF_RECORD_SAMPLE with PERF_SAMPLE_RAW alone: u32 size, then the data. */
static void perf_record(void *arg, const struct perf_event_header *h)
{
	struct perf_reader *r = arg;
	const char *p = (const char *)(h + 1);
	uint64_t lost, data[EVENT_MAX / 8];	/* records want alignment */
	uint32_t size;

	if (h->type == PERF_RECORD_SAMPLE && h->size >= sizeof(*h) + 4) {
		memcpy(&size, p, 4);
		if (size > h->size - sizeof(*h) - 4 || size > sizeof(data)) {
			r->channel->lost++;
			return;
		}
		memcpy(data, p + 4, size);
		r->take(r->arg, data, size);
	} else if (h->type == PERF_RECORD_LOST &&
		   h->size >= sizeof(*h) + 16) {
		memcpy(&lost, p + 8, 8);
		r->channel->lost += lost;
	}
}

int channel_read(struct channel *c, ring_take *take, void *arg)
{
	struct perf_reader reader = { c, take, arg };
	int ret = 0;

	if (c->is_ring) {
		ret = ring_read(&c->ring, take, arg);
		return ret < 0 ? ret : 0;
	}
	for (size_t i = 0; i < c->perf.n; i++) {
		int n = perf_ring_read(&c->perf.v[i], perf_record, &reader);

		if (n < 0)
			ret = n;
	}
	return ret;
}

uint64_t channel_lost(const struct channel *c, uint64_t known)
{
	return c && c->lost > known ? c->lost : known;
}
