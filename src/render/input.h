/* input - reads stacks of whichever kind a file turns out to hold. */
#ifndef RENDER_INPUT_H
#define RENDER_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "render/flame.h"

/* One input, read as it comes, with a line of up to 8 MiB. A kind of input is
 * a function that reads its next stack, and one that tells it by its start. */
struct input {
	int fd;			/* not owned */
	const char *path;	/* for messages */
	char *data;
	size_t cap, start, end;	/* what of data is not consumed */
	size_t line_start;	/* where the line just read begins */
	bool eof, overlong;
	bool unended;		/* the line just read: the input ends in it */
	uint64_t line;		/* of the input, from 1 on */

	/* What was not taken as it was; input_close() says so. */
	uint64_t malformed;	/* lines */
	uint64_t rounded;	/* counts */
	uint64_t others;	/* samples of other events */

	int (*next)(struct input *in);	/* NULL before the first stack */

	VEC(struct flame_frame) frames;	/* the stack just read, root first */
	uint64_t count;

	struct buf names;	/* of perf script's: of the frames */
	struct buf event;	/* the one that is read */
};

void input_open(struct input *in, int fd, const char *path);

/* At least n bytes of the beginning, or all there is, for who wants to look at
 * them before the first stack: they are in in->data. As input_next(). */
int input_begin(struct input *in, size_t n);

/* 1 after the next stack; its names are valid until the next call. 0 at the
 * end; -errno (reported) when reading failed; -ENOMEM (unreported). Malformed
 * lines are skipped, counted, and the first few reported. */
int input_next(struct input *in);

/* Free, and report how much was skipped or rounded, if any. */
void input_close(struct input *in);

/* For those that read a kind. */

/* The next line without its end, valid (and to be changed, if it is not unread)
 * until the next call: 1, 0 at the end, -errno. */
int input_line(struct input *in, char **line, size_t *len);

/* Let the line just read be read once more. */
void input_unread(struct input *in);

/* The line just read is not understood, or longer than it may. */
void input_malformed(struct input *in, const char *why);

#endif
