/* out - results: stdout, or the file that --output names. */
#ifndef BASE_OUT_H
#define BASE_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"

/* A reader that went away shall show as EPIPE, which out_close() knows, and not
 * end the process; and the signal as it was before, for a program to exec. */
void out_take_signal(void);
void out_give_signal(void);

/* Not to be moved while it is open: the stream points to it. */
struct out {
	FILE *file;		/* what the renderers write to */
	const char *path;	/* NULL for stdout; not owned */
	bool created;		/* the file is ours to remove on failure, */
	bool keep;		/* unless half of the result is one, too */
	int fd;
	int err;		/* errno of the first write that failed */
	uint64_t written;	/* bytes, out of the buffer */
	char *buffer;
};

/* Open before the work starts, so that a path that cannot be written fails at
 * once; a file that exists keeps its content until out_begin(). path NULL or
 * "-" is stdout. 0, or -errno after the reason went to stderr. */
int out_open(struct out *o, const char *path);

/* The result is ready: empty the file. 0, or -errno (reported). */
int out_begin(struct out *o);

/* Let what was written be seen now. 0 or -errno, as out_close(). */
int out_flush(struct out *o);

/* Flush and close. 0; -EPIPE, unreported, when the reader of a pipe went
 * away; another -errno, reported: what was written is not complete. */
int out_close(struct out *o);

/* Pass on what a buffer holds, if that is at least so much, and empty it. 0, or
 * -ENOMEM when the buffer had failed. */
int out_buf(FILE *file, struct buf *b, size_t least);

/* The work failed: close, and remove a file that out_open() made. */
void out_abandon(struct out *o);

#endif
