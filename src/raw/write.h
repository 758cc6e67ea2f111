/* write - writes raw files: what format.h describes. */
#ifndef RAW_WRITE_H
#define RAW_WRITE_H

#include <stdio.h>

#include "base/buf.h"
#include "base/intern.h"
#include "raw/format.h"

/* One side of a row; frames are leaf first. RAW_USER and RAW_KERNEL are set by
 * the writer. */
struct raw_side_out {
	uint32_t flags, task;
	const struct raw_frame *user, *kernel;
	size_t nuser, nkernel;
	struct raw_frame caller;	/* with RAW_CALLER */
};

struct raw_writer {
	FILE *to;
	struct buf data;		/* items of the next DATA record */
	struct intern strings, tasks, frames, nodes;
	uint32_t files, modules;	/* how many there are */
	uint32_t crc;
	uint64_t rows;
	int err;			/* the first; stays */
};

/* Begin a file. Errors stay: raw_write_end() tells, and those of the stream
 * stay in it. raw_write_free() always. */
void raw_write_begin(struct raw_writer *w, FILE *to,
		     const struct raw_head *head);
void raw_write_free(struct raw_writer *w);

/* Each gives the number of its item, written if it is a new one; of files and
 * modules each call makes one. After an error: 0. */
uint32_t raw_write_string(struct raw_writer *w, const char *s, size_t n);
uint32_t raw_write_file(struct raw_writer *w, const struct raw_file *file);
uint32_t raw_write_module(struct raw_writer *w,
			  const struct raw_module *module);
uint32_t raw_write_task(struct raw_writer *w, const char *comm, size_t n,
			uint32_t pid);

/* One row, of `units` numbers; waker may be NULL. */
void raw_write_row(struct raw_writer *w, const struct raw_side_out *side,
		   const struct raw_side_out *waker, const uint64_t *values,
		   unsigned units);
void raw_write_note(struct raw_writer *w, const char *text);

/* What is not yet written, and the end; fills in end->rows. 0 or -ENOMEM. */
int raw_write_end(struct raw_writer *w, struct raw_end *end);

#endif
