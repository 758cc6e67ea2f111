/* stacks - the counted stack traces of a session, back in user space. */
#ifndef TRACE_STACKS_H
#define TRACE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "events.h"

struct session;

enum { STACKS_FRAMES = 1024 };		/* of one half, leaf included */

/* One stack with what it counted. Both halves are leaf first and valid during
 * the call that hands them over. */
struct stack {
	const struct stack_key *key;
	uint64_t count;
	const uint64_t *user, *kernel;
	size_t nuser, nkernel;
	bool missed_user, missed_kernel;	/* was there, not recorded */
};

/* Gathers what the table could not hold (struct stack_event) during the run;
 * the rest is read from the maps "counts" and "stacks" at the end. */
struct stacks {
	struct intern sent;		/* key and frames, as bytes */
	struct {
		uint64_t *v;
		size_t n, cap;
	} counts;			/* by number in `sent` */
	size_t limit;			/* bytes of `sent` */
	uint32_t depth;			/* frames that a table entry holds */
	uint32_t sent_depth;		/* frames that one sent may have */
	uint64_t total;			/* samples that stacks_each() gave */
	uint64_t missed;		/* of them, without one of the stacks */
	uint64_t cut;			/* of them, deeper than `depth` */
	uint64_t lost;			/* samples beyond `limit` */
};

/* Frames that a stack may have here, and bytes for the stacks in user space. */
uint32_t stacks_depth_limit(void);
size_t stacks_memory(void);

void stacks_init(struct stacks *s, size_t limit, uint32_t depth,
		 uint32_t sent_depth);
void stacks_free(struct stacks *s);

/* Count `amount` for a stack of which key->user and key->kernel frames stand
 * at user and kernel; a negative number is an errno, as in the maps' keys. */
void stacks_add(struct stacks *s, const struct stack_key *key, uint64_t amount,
		const uint64_t *user, const uint64_t *kernel);

/* Take one EVENT_STACK record of `len` bytes; others are ignored. */
void stacks_take(struct stacks *s, const void *data, size_t len);

/* Of `records` that found no room in the ring, those nothing else tells of: a
 * stack that found none counts among `no_slot` hits, or among `missed`. */
uint64_t stacks_records_lost(const struct stacks *s, uint64_t records,
			     uint64_t no_slot);

/* The stacks behind a row's key, in buffers of STACKS_FRAMES each; the count
 * is left alone. 0 or -errno. */
int stacks_find(const struct stacks *s, const struct session *session,
		const struct stack_key *key, struct stack *stack,
		uint64_t *user, uint64_t *kernel);

/* Call fn for each stack, those of the maps first (none without a session); fn
 * returns nonzero to stop, which is then the result. 0 or -errno. */
int stacks_each(struct stacks *s, const struct session *session,
		int (*fn)(void *arg, const struct stack *stack), void *arg);

#endif
