/* stack - sampled stacks as rows: bcc's text layout, folded, or a flame. */
#ifndef RENDER_STACK_H
#define RENDER_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/vec.h"
#include "render/flame.h"
#include "sym/frame.h"

/* One sampled stack; both halves leaf first. Everything is the caller's. */
struct stack_row {
	const char *comm;
	uint32_t pid;
	uint64_t value;
	const struct frame *user, *kernel;
	size_t nuser, nkernel;
	bool missed_user, missed_kernel;	/* there was one, it got lost */
	const struct stack_row *waker;	/* who woke it, in offwaketime's layout;
					 * its value and waker are ignored */
};

struct stack_options {
	bool folded;		/* one line each, else bcc's layout: that of */
	bool hits;		/* stackcount; else profile */
	bool delimited;		/* "-" (text: "--") between non-empty halves */
	bool annotate;		/* _[k] on kernel frames, _[j] on JIT frames */
	bool addresses;		/* "0xADDRESS name" */
	bool pids;		/* "comm-PID" first, in folded and flame */
};

/* Rows that print alike are one row with the sum of their values. Set `how`,
 * all else is zero. */
struct stack_set {
	struct stack_options how;
	struct intern texts;
	VEC(uint64_t) values;	/* by text; they saturate */
	struct buf text;
};

/* 0, or -ENOMEM: the set is as before. */
int stack_set_add(struct stack_set *s, const struct stack_row *row);

/* Print the `top` largest rows (0 = all), the largest last. Errors of the
 * stream stay in it; 0, or -ENOMEM. */
int stack_set_print(const struct stack_set *s, size_t top, FILE *out);

void stack_set_free(struct stack_set *s);

/* Leave out the `skip` innermost functions of the whole stack, and of each half
 * what is beyond the `depth` innermost ones (0: nothing). */
void stack_row_cut(struct stack_row *row, uint64_t skip, uint64_t depth);

/* Append one row, without its value, as the set prints it; rows of equal text
 * merge. Failure sticks to the buffer. */
void stack_text(struct buf *out, const struct stack_row *row,
		const struct stack_options *how);
void stack_folded(struct buf *out, const struct stack_row *row,
		  const struct stack_options *how);

/* Append the name of a frame of a folded stack. */
void folded_name(struct buf *out, const char *s, size_t n);

/* The row's frames, root first, its comm the first of them, to fn: valid, and
 * fn's to change, during the call. What fn returned, or -ENOMEM. */
int stack_frames(const struct stack_row *row, const struct stack_options *how,
		 int (*fn)(void *arg, struct flame_frame *frames, size_t n,
			   uint64_t value), void *arg);

/* Add the row to a flame graph, its comm as the first frame. 0, -ENOMEM. */
int stack_flame(struct flame *f, const struct stack_row *row,
		const struct stack_options *how);

#endif
