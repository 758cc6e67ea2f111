/* check - what can be said about an object's programs without a kernel. */
#ifndef ASM_CHECK_H
#define ASM_CHECK_H

#include "asm/link.h"

/* Link every program for both kinds of event map and follow all its paths: no
 * loops, nothing unreachable, registers and stack written before they are
 * read (also by helpers), r1 to r5 not read after a call, r10 not written, r0
 * set at EXIT, what was reserved in a ring sent by then; maps and constants
 * declared and used. 0; -EINVAL after appending a line "bpfasm/x.c:15: enter:
 * ..." to `why` for each complaint; -ENOMEM. */
int object_check(const struct bpf_object *object, struct buf *why);

/* The same of one program that is linked already. */
int linked_check(const struct bpf_object *object, const struct prog_def *prog,
		 const struct linked *l, struct buf *why);

#endif
