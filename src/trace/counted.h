/* counted - the stacks behind hits of probes: set up, named, accounted for. */
#ifndef TRACE_COUNTED_H
#define TRACE_COUNTED_H

#include <stdbool.h>
#include <stdint.h>

#include "events.h"
#include "trace/loop.h"
#include "trace/naming.h"
#include "trace/records.h"
#include "trace/session.h"
#include "trace/stacks.h"

/* For objects with STACK_MAPS or, of single stacks, with "seen" and "gens"
 * (include/stack_table.h, images.h). */
struct counted {
	const char *command;
	struct session *session;	/* not owned */
	struct naming naming;
	struct stacks stacks;
	struct records records;
	uint64_t counters[COUNTER_MAX];	/* when last read */
	bool counters_bad;
};

/* What to count. */
struct counted_spec {
	bool user, kernel;
	bool at_entry;			/* points_at_entry() */
	bool events;			/* !points_in_kernel() */
	const struct name_options *names;
	uint64_t stack_entries, rows;	/* 0 = as fits the host */
};

/* Constants and sizes, before session_load(). 0 or -errno, reported;
 * counted_close() always. */
int counted_open(struct counted *c, const char *command, struct session *s,
		 const struct counted_spec *spec);

/* After it, before anything counts: follow execs and mappings, which wakes the
 * loop. What cannot be followed is a notice. */
void counted_follow(struct counted *c, struct loop *loop);

/* Take over what processes do meanwhile, every few ten milliseconds; and one
 * record of the session's channel. */
void counted_drain(struct counted *c);
void counted_take(struct counted *c, const void *data, size_t len);

/* The stacks with what they counted; as stacks_each(). */
int counted_each(struct counted *c,
		 int (*fn)(void *arg, const struct stack *stack), void *arg);

/* Read the counters anew; hits that counted. */
uint64_t counted_hits(struct counted *c);

/* Notices about each kind of loss, after counted_hits(). */
void counted_report(struct counted *c);
void counted_close(struct counted *c);

#endif
