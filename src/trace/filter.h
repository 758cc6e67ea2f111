/* filter - whose hits count: the common options, told to a session. */
#ifndef TRACE_FILTER_H
#define TRACE_FILTER_H

#include <stdbool.h>

#include "base/num.h"
#include "trace/session.h"

/* What the user asked for; lists and texts stay the caller's. Programs include
 * task_filter for it (include/task.h). */
struct filter {
	const char *command;		/* for messages */
	struct num_list pids, tids;	/* at most one is not empty */
	const char *comm;
	const char *cgroup;		/* a folder of cgroup2 */
	int cpu;			/* -1 = all */
	bool with_self;			/* this process, too */
	int root;			/* a child before its exec: it and its
					 * descendants; 0 = none */

	int cgroup_fd;			/* -1 = none */
};

/* Constants and sizes, before session_load(); 0 or -errno, reported.
 * filter_close() always. */
int filter_set(struct filter *f, struct session *s);

/* The part of it that depends on nothing but the struct, cgroup_fd included. */
void filter_consts(const struct filter *f, struct session *s);

/* Maps, after it; the same. */
int filter_fill(struct filter *f, struct session *s);
void filter_close(struct filter *f);

/* A process or thread has ended: its number may come to mean another one. */
void filter_forget(const struct session *s, uint64_t id);

#endif
