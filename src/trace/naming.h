/* naming - the stacks of a session, frame by frame, with names. */
#ifndef TRACE_NAMING_H
#define TRACE_NAMING_H

#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "events.h"
#include "sym/frame.h"
#include "sym/namer.h"
#include "sym/procs.h"
#include "trace/stacks.h"

/* Knows the processes of a trace and names the addresses of their stacks. */
struct naming {
	struct procs *procs;
	struct namer *namer;
	struct intern images;		/* struct image_key */
	struct {
		uint64_t *v;		/* when first seen, by image */
		size_t n, cap;
	} times;
	struct intern returns;		/* return addresses that were judged */
	struct {
		uint8_t *v;
		size_t n, cap;
	} kinds;			/* enum caller_kind, by number in it */
	bool one_image;			/* execs are not told apart */
	bool at_entry;			/* leaves are at their first
					 * instruction; the key's caller is
					 * sure */
	bool probes;			/* kernel stacks may begin with what
					 * runs our programs: left out */
	bool events;			/* no function of the kernel is probed:
					 * so also without a program */
	bool returned;			/* leaves without such a caller are
					 * where a call returns to */
	struct intern bare;		/* leaves that the kernel gives without
					 * their callers */
	uint32_t child;			/* but this one, the traced command, is
					 * sampled from its first exec on */
	uint64_t stacks;		/* user stacks, weighed by count */
	uint64_t broken;		/* that left the program's code */
	uint64_t unmapped;		/* that were never in it */
	struct {
		struct frame *v;
		size_t n, cap;
	} user, kernel;
};

/* One named stack; valid until the next call. */
struct named_stack {
	const struct frame *user, *kernel;	/* leaf first */
	size_t nuser, nkernel;
};

/* `o` as of namer_new(). 0 or -errno, reported; naming_close() always. */
int naming_open(struct naming *n, const struct name_options *o);
void naming_close(struct naming *n);

/* A new image of a process: read its mappings now, while it lives. */
void naming_seen(struct naming *n, const struct seen_event *event);

/* Where stacks are taken at functions' entries, some kernels put the caller
 * behind the leaf and some do not; only in a recursion it cannot be told from
 * the stack. Show it every stack, or each before it is named. */
void naming_learn(struct naming *n, const struct stack *stack);

/* The process of a stack as it was when its image was first seen; nothing when
 * that is not known for sure, for then no name would be. */
struct proc_at naming_image(struct naming *n, const struct stack_key *key);

/* What may be the caller of the user stack's leaf, that the frame pointers did
 * not lead to; 0 = nothing. *sure: it is. Else caller_is_sure() tells. */
uint64_t naming_caller(const struct naming *n, const struct stack *stack,
		       bool *sure);

/* Count a user stack of so many frames, for naming_report(); `end`: the last of
 * them lies in no code. naming_stack() does it itself. */
void naming_count(struct naming *n, const struct stack *stack, bool end,
		  size_t frames);

/* Name a stack. A user stack ends with the first address that lies in no
 * code: beyond it there is only garbage. 0 or -ENOMEM. */
int naming_stack(struct naming *n, const struct stack *stack,
		 struct named_stack *out);

/* Append how far into its function an address of a user stack is, and the file:
 * "+0x1c [leaky]"; what is not known is left out. The same arguments as those
 * of the frame. */
void naming_where(struct naming *n, const struct stack_key *key, uint64_t addr,
		  bool is_return, struct buf *to);

/* Append the name of the file alone. */
void naming_file(struct naming *n, const struct stack_key *key, uint64_t addr,
		 struct buf *to);

/* Notices about what could not be named, and why. */
void naming_report(const struct naming *n);

#endif
