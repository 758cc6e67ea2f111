/* channel - records from a program to user space, on either kind of ring. */
#ifndef TRACE_CHANNEL_H
#define TRACE_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/perf.h"
#include "sys/ring.h"

/* A BPF ring buffer (5.8), or one perf buffer for each online CPU. */
struct channel {
	bool is_ring;
	struct ring ring;
	struct {
		struct perf_ring *v;
		size_t n, cap;
	} perf;
	uint64_t lost;		/* records that a perf buffer had no room for */
};

/* Open the event map `map_fd`; `bytes` is the room for all CPUs together. 0
 * or -errno; channel_close() in the first case. */
int channel_open(struct channel *c, int map_fd, uint32_t bytes, bool is_ring);
void channel_close(struct channel *c);

/* Add what becomes readable with records to an epoll set; 0 or -errno. */
int channel_watch(const struct channel *c, int epoll_fd);

/* Hand over all records that are there. 0 or -EBADMSG. */
int channel_read(struct channel *c, ring_take *take, void *arg);

/* Records lost: a perf buffer counts what it loses itself; before Linux 5.2
 * nobody else does, later the program knows as well, and counted `known`. NULL
 * has lost none beyond that. */
uint64_t channel_lost(const struct channel *c, uint64_t known);

#endif
