/* folded - reads stacks folded to one line each: "comm;main;read 42". */
#ifndef RENDER_FOLDED_H
#define RENDER_FOLDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "render/flame.h"

/* One input, read as it comes; a line of up to 8 MiB. The last blank of a line
 * separates the count, so names may contain blanks; ';' separates frames, and
 * an empty frame stays one. A fractional count is rounded, halves up. Blank
 * lines are passed over. Annotations become kinds and leave the name: _[k]
 * kernel, _[j] JIT, _[i] inlined, _[w] waker. Names in brackets, as in
 * "[unknown]" or "[libc+0x1f]", and bare addresses are unknown. What follows
 * a lone "-" is the kernel's part. */
struct folded {
	int fd;			/* not owned */
	const char *path;	/* for messages */
	char *data;
	size_t cap, start, end;	/* what of data is not consumed */
	bool eof, overlong;
	uint64_t line, malformed, rounded;

	VEC(struct flame_frame) frames;	/* the stack just read, root first */
	uint64_t count;
};

void folded_open(struct folded *r, int fd, const char *path);

/* 1 after the next stack; its names are valid until the next call. 0 at the
 * end; -errno (reported) when reading failed; -ENOMEM (unreported). Malformed
 * lines are skipped, counted, and the first few reported. */
int folded_next(struct folded *r);

/* Free, and report how many lines were skipped or rounded, if any. */
void folded_close(struct folded *r);

#endif
