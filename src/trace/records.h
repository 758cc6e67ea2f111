/* records - what processes do meanwhile: forks, execs, new mappings. */
#ifndef TRACE_RECORDS_H
#define TRACE_RECORDS_H

#include <stdint.h>

#include "sym/procs.h"
#include "sys/perf.h"

/* A perf event that counts nothing, on each CPU, whose ring carries these
 * records for every process; they go into `procs`. */
struct records {
	struct procs *procs;
	struct {
		struct perf_ring *v;
		size_t n, cap;
	} rings;
	struct {
		uint64_t *v;
		size_t n, cap;
	} cpus;			/* of the rings */
	uint64_t lost;		/* records that a ring had no room for */
	uint64_t mapped;	/* mappings of code that were told */
};

/* 0 or -errno (unreported: a trace can do without); records_close() always. */
int records_open(struct records *r, struct procs *procs);
void records_close(struct records *r);

/* Wake an epoll set when a ring is half full; 0 or -errno. */
int records_watch(const struct records *r, int epoll_fd);

/* A CPU went offline or came online; 0 or -errno. */
void records_cpu_gone(struct records *r, uint64_t cpu);
int records_cpu_come(struct records *r, uint64_t cpu, int epoll_fd);

/* Give one record that was made with sample_id_all and TID|TIME to `procs`;
 * those that lost others count into *lost. */
void records_apply(struct procs *procs, const struct perf_event_header *h,
		   uint64_t *lost);

/* Take over all records that are there. */
void records_read(struct records *r);

#endif
