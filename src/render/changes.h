/* changes - the functions whose share differs between two profiles. */
#ifndef RENDER_CHANGES_H
#define RENDER_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/vec.h"
#include "render/flame.h"

/* All zero is empty. Index 0 is the new profile, 1 the old one. */
struct changes {
	struct intern functions;	/* by kind and name */
	VEC(struct change) v;
	uint64_t totals[2];
	uint64_t stacks;
	struct buf key;
};

struct change {
	double self[2];		/* of stacks that end in it */
	double total[2];	/* of stacks that have it anywhere, once each */
	uint64_t seen;		/* the stack that had it last */
};

/* One stack of either profile, root first. 0, -ENOMEM. */
int changes_add(struct changes *c, const struct flame_frame *frames, size_t n,
		uint64_t value, bool old);

/* Print the `top` (0 = all) functions whose share has changed most, the largest
 * change first. Shares are of each profile's own total, so profiles of unlike
 * length compare. Errors of the stream stay in it; 0, -ENOMEM. */
int changes_print(const struct changes *c, size_t top, FILE *out);

void changes_free(struct changes *c);

#endif
