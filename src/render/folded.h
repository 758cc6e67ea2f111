/* folded - stacks folded to one line each: "comm;main;read 42". */
#ifndef RENDER_FOLDED_H
#define RENDER_FOLDED_H

#include "render/graph.h"
#include "render/input.h"

/* The next stack, as input_next(). The last blank of a line separates the
 * count, so names may contain blanks; ';' separates frames, and an empty frame
 * stays one; "\x3b" in a name is a ';'. A fractional count is rounded, halves
 * up. Blank lines are passed over. Annotations become kinds and leave the name:
 * _[k] kernel, _[j] JIT, _[i] inlined, _[w] waker. Names in brackets, as in
 * "[unknown]" or "[libc+0x1f]", and bare addresses are unknown. What follows a
 * lone "-" is the kernel's part. */
int folded_next(struct input *in);

/* Write the graph's stacks; all kernel frames get their annotation. As
 * graph_write(). */
int folded_write(FILE *out, struct flame *f, const struct graph_options *o);

#endif
