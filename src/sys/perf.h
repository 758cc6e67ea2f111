/* perf - the perf_event_open(2) system call and its rings. */
#ifndef SYS_PERF_H
#define SYS_PERF_H

#include <stddef.h>
#include <stdint.h>

#include "uapi.h"

/* A descriptor, close-on-exec, or -errno; attr->size is set here. */
int perf_open(struct perf_event_attr *attr, int pid, int cpu);

/* The same for the tasks of a cgroup, by a descriptor of its folder in cgroup2
 * or in the perf_event hierarchy; one event for each CPU. */
int perf_open_cgroup(struct perf_event_attr *attr, int cgroup_fd, int cpu);

/* ioctl()s on it; 0 or -errno. */
int perf_enable(int fd);
int perf_disable(int fd);
int perf_set_bpf(int fd, int prog_fd);
int perf_set_period(int fd, uint64_t period);

/* The ring of one event. Records are copied out before they are handed over,
 * for one may wrap around the end. */
struct perf_ring {
	int fd;			/* not owned */
	void *base;		/* control page, then the data pages */
	size_t page, size;	/* bytes; size = of the data */
	void *record;		/* room for the largest record, 64 KiB */
};

/* Map 2^order data pages; 0 or -errno. perf_ring_close() unmaps. */
int perf_ring_open(struct perf_ring *r, int fd, unsigned order);
void perf_ring_close(struct perf_ring *r);

/* Hand every record that is there to `take`; it is valid during the call.
 * Returns how many, or -EBADMSG when the ring holds no sense. */
typedef void perf_take(void *arg, const struct perf_event_header *record);
int perf_ring_read(struct perf_ring *r, perf_take *take, void *arg);

#endif
