/* allocators - the functions that hand out memory, in what a process maps. */
#ifndef TRACE_ALLOCATORS_H
#define TRACE_ALLOCATORS_H

#include "base/intern.h"
#include "leak.h"
#include "trace/attach.h"
#include "trace/point.h"

/* Set the first group, zero the rest. */
struct allocators {
	const char *command;
	const char *prefix;		/* of functions' names; NULL = none */
	const char *object;		/* only this one; NULL = all */
	uint32_t pid;			/* the probes are for this process; 0 =
					 * for all */

	struct points points;
	VEC(struct leak_probe) probes;	/* by point */
	struct intern known;		/* files that were looked at */
	struct attach enter, leave;
	size_t set;			/* points that are done */
	size_t frees;			/* points where blocks are freed */
	size_t foreign;			/* files of programs with 32 bits */
};

/* What a function of this name does: an enum leak_call, or -ENOENT. */
int allocators_call(const char *name, const char *prefix);

/* Look at the files that a process maps now (0: at `object` alone), but for
 * those that are known. How many have functions of an allocator that were not
 * known, or -errno; -ENOMEM is reported, as is an object that cannot be
 * found. */
int allocators_scan(struct allocators *a, uint32_t pid);

/* Probe the functions that were found since; before the first time,
 * allocators_begin(), when the session is loaded. 0 or -errno, reported. */
void allocators_begin(struct allocators *a, struct session *s);
int allocators_attach(struct allocators *a);

/* Append "malloc, free in libc.so.6" of the points from this one on, a line for
 * each file; raw bytes. */
void allocators_list(const struct allocators *a, size_t from, struct buf *to);
void allocators_detach(struct allocators *a);
void allocators_free(struct allocators *a);

#endif
