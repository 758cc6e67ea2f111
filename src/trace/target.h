/* target - whom a trace is about: processes, threads, or a new command. */
#ifndef TRACE_TARGET_H
#define TRACE_TARGET_H

#include "base/num.h"

/* True when every number names a process (or a thread, by `threads`) that is
 * there now; else the reason went to stderr. `option` is "-p", "-L". */
bool target_exist(const char *command, const char *option,
		  const struct num_list *ids, bool threads);

/* When a task began, in the kernel's ticks since boot. 0, -ESRCH when it is
 * gone or only waits to be reaped, or the -errno of reading /proc. */
int target_began(uint64_t tid, uint64_t *began);

/* 1 or 0: whether the number still means the task that began then. -errno when
 * /proc cannot be read, and there is some task of that number. */
int target_is_same(uint64_t tid, uint64_t began);

/* A command to be traced, held before its exec. */
struct target_child {
	int pid;
	int go_fd;		/* a byte lets the child go on */
	int error_fd;		/* gives the errno of a failed exec */
};

/* Fork and hold. 0 or -errno, reported. */
int target_spawn(struct target_child *c, const char *command, char **argv);

/* Let it exec. 0, or -errno when it cannot be run (reported). */
int target_go(struct target_child *c, const char *command,
	      const char *program);

/* Not needed after all: end a child that was never let go. */
void target_abandon(struct target_child *c);

#endif
