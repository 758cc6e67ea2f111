/* buf - growable text buffer whose first failure sticks. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

/* All zero is an empty buffer. After a failed allocation err is -ENOMEM and
 * every later call does nothing, so a caller checks once, at the end. */
struct buf {
	char *data;	/* not NUL-terminated; buf_str() gives a string */
	size_t len, cap;
	int err;
};

void buf_free(struct buf *b);
void buf_reset(struct buf *b);		/* empty it, keep the memory */
void buf_mem(struct buf *b, const void *p, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_hex(struct buf *b, uint64_t n);	/* "0x1f" */
void buf_dec(struct buf *b, uint64_t n);	/* "31" */
void buf_signed(struct buf *b, int64_t n);	/* "-31" */
void buf_fmt(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A NUL-terminated view, valid until the next call; "" after an error. */
const char *buf_str(struct buf *b);

#endif
