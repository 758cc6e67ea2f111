/* leaks - the blocks that memleak's program keeps, summed up by stack. */
#ifndef TRACE_LEAKS_H
#define TRACE_LEAKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/vec.h"
#include "leak.h"
#include "trace/naming.h"
#include "trace/session.h"

/* Blocks of one stack of one image. */
struct leak_group {
	uint32_t tgid, gen;
	int32_t stack;
	uint32_t sent;		/* 0, or its stack is this one of `sent` */
	uint64_t leaf;
};

struct leak_sum {
	uint64_t bytes, blocks;
};

/* Frames of one stack; valid during a call. */
struct leak_stack {
	struct stack_key key;
	struct stack stack;
	uint64_t frames[STACKS_FRAMES];
};

struct leaks {
	struct session *session;	/* not owned */
	bool kernel;			/* stacks are of the kernel */
	uint64_t older;			/* ns: younger blocks do not count,
					 * unless their process has ended */
	struct intern groups;
	VEC(struct leak_sum) sums;	/* by group */
	size_t limit;			/* bytes of the two below */
	struct intern sent;		/* stacks that came frame by frame */
	struct intern blocks;		/* whose: a block's key and time ... */
	VEC(uint32_t) sent_of;		/* ... and the number in `sent` */
	struct intern images;		/* struct image_key, of one reading */
	VEC(uint8_t) states;
	uint64_t now;			/* of the last reading, ns */
	uint64_t unread;		/* blocks whose stack is not kept */
	bool cut;			/* the table changed as it was read */
};

/* Take a struct leak_frames. */
void leaks_take(struct leaks *l, const void *data, size_t len);

/* Sum up what is outstanding; each block is shown to fn (may be NULL). 0 or
 * -errno. */
typedef int leaks_show(void *arg, const struct leak_key *key,
		       const struct leak_block *block);
int leaks_read(struct leaks *l, leaks_show *fn, void *arg);

/* The stack of a group. */
void leaks_stack(const struct leaks *l, uint32_t group, struct leak_stack *to);

/* One that stands in the stack table, or -errno; `caller` as in struct
 * stack_key. */
void leaks_table_stack(const struct leaks *l, const struct image_key *image,
		       int32_t stack, uint64_t leaf, uint64_t caller,
		       struct leak_stack *to);
void leaks_free(struct leaks *l);

#endif
