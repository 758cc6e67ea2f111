/* execs - the records of execsnoop's programs, put together. */
#ifndef TRACE_EXECS_H
#define TRACE_EXECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "exec_event.h"

/* One execution, or a call that failed. Texts are raw bytes. */
struct exec {
	uint64_t time;			/* CLOCK_MONOTONIC, ns; of its end */
	uint32_t pid, ppid, uid;	/* as struct exec_event has them */
	int32_t ret;
	char comm[COMM_SIZE + 1];
	const char *file;		/* as it was called; NULL = not told */
	VEC(const char *) args;		/* those after the first */
	bool cut;			/* there are more, or one is longer */
	unsigned unread;		/* arguments that were not in memory;
					 * "?" stands for each that has a
					 * place */

	/* While it comes: */
	uint32_t task, next;		/* number of the next part */
	struct buf name, text;
	bool is_area, script, broken;
};

/* All zero is empty. */
struct execs {
	VEC(struct exec) coming;
	VEC(struct exec_part_at) parts;	/* waiting for their turn */
	struct buf bytes;		/* of these */
	uint64_t lost;			/* parts or ends that never came */
	int err;			/* -ENOMEM: some are lost as well */
};

/* A part that has come: records as the programs send them, of any length. */
void execs_put(struct execs *e, const void *data, size_t len);

/* Put the parts from before a time together, in the order of their times, and
 * hand over what is whole; it is valid during the call. */
typedef void execs_show(void *arg, const struct exec *x);
void execs_take(struct execs *e, uint64_t before, execs_show *show, void *arg);
void execs_free(struct execs *e);

#endif
