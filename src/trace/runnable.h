/* runnable - the tasks that run or want to, all of this moment. */
#ifndef TRACE_RUNNABLE_H
#define TRACE_RUNNABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "events.h"
#include "trace/session.h"

enum runnable_state { RUNNABLE_WAITS, RUNNABLE_RUNS, RUNNABLE_UNKNOWN };

struct runnable_task {
	uint32_t tgid, tid, cpu;	/* pids are those of our namespace */
	enum runnable_state state;
	char comm[COMM_SIZE + 1];
	size_t kernel, nkernel;		/* its kernel stack, leaf first, in
					 * `frames`; only of one that waits */
};

struct runnable {
	int link_fd;			/* of the iterator; < 0: from /proc */
	VEC(struct runnable_task) v;
	VEC(uint64_t) frames;
};

/* By the kernel's iterator over tasks (5.9, BTF), with kernel stacks, if the
 * session, loaded and of loadsnoop's object, has it: set the constants before
 * it is loaded. Else, and without a session (NULL), by /proc. */
void runnable_consts(struct session *s);
void runnable_open(struct runnable *r, struct session *s);
void runnable_close(struct runnable *r);

/* List them anew, without this process, in the order of CPUs. 0, -ENOMEM, or
 * the -errno of reading. */
int runnable_read(struct runnable *r);

/* One line of /proc/TID/stat (kernel: Documentation/filesystems/proc.rst). True
 * when the task runs or could; then all but tgid and stack are filled in. */
bool runnable_parse(const char *text, size_t n, struct runnable_task *t);

#endif
