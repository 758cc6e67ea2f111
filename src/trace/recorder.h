/* recorder - the stacks of a session into a raw file, without names. */
#ifndef TRACE_RECORDER_H
#define TRACE_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "raw/write.h"
#include "sym/kallsyms.h"
#include "trace/naming.h"
#include "trace/stacks.h"

/* One side of a row, in buffers of its own: all zero, then used again. */
struct recorder_side {
	struct raw_side_out out;
	VEC(struct raw_frame) user, kernel;
};
void recorder_side_free(struct recorder_side *side);

struct recorder {
	struct raw_writer to;
	struct naming *naming;		/* not owned */
	struct raw_head head;
	char texts[4][65];		/* that the head points to */
	bool counts;			/* nobody names stacks beside it: it
					 * tells the naming what is lost */
	struct kallsyms *modules;	/* NULL: none, or not yet read */
	bool modules_read;
	struct intern module_ids;	/* by name: number of the item */
	VEC(uint32_t) files;		/* by procs' number: the item's + 1 */
	uint64_t unknown, unread;	/* files without a build-id, and not
					 * read, of those that frames are in */
};

/* What the head tells of this host and its kernel; then the command's part is
 * to be set in r->head. */
void recorder_host(struct recorder *r);

/* Set the naming's processes up for it, before the first of them is seen.
 * `files`: stacks are named, too. */
void recorder_prepare(struct recorder *r, struct naming *naming, bool files);

/* Begin the file; see raw_write_begin(). recorder_close() always. */
void recorder_begin(struct recorder *r, FILE *to);
void recorder_close(struct recorder *r);

/* A stack as one side of a row, its frames in side->out until the next call. 0
 * or -ENOMEM. */
int recorder_stack(struct recorder *r, const struct stack *stack, uint32_t pid,
		   struct recorder_side *side);

/* One that is no stack: "[no waker]". */
void recorder_nobody(struct recorder *r, const char *comm,
		     struct recorder_side *side);

/* A notice about what the file could not be told. */
void recorder_report(const struct recorder *r);

#endif
