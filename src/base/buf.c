/* buf - growable text buffer whose first failure sticks. */
#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"

static int buf_room(struct buf *b, size_t n)
{
	if (b->err)
		return b->err;
	if (n > (size_t)-1 - b->len ||
	    !vec_room((void **)&b->data, &b->cap, b->len + n, 1))
		b->err = -ENOMEM;
	return b->err;
}

void buf_free(struct buf *b)
{
	mem_free(b->data);
	*b = (struct buf){ 0 };
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	b->err = 0;
}

void buf_mem(struct buf *b, const void *p, size_t n)
{
	if (!n || buf_room(b, n))
		return;
	memcpy(b->data + b->len, p, n);
	b->len += n;
}

void buf_puts(struct buf *b, const char *s)
{
	buf_mem(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
	buf_mem(b, &c, 1);
}

void buf_hex(struct buf *b, uint64_t n)
{
	char text[18], *p = text + sizeof(text);

	do {
		*--p = "0123456789abcdef"[n & 15];
		n >>= 4;
	} while (n);
	*--p = 'x';
	*--p = '0';
	buf_mem(b, p, (size_t)(text + sizeof(text) - p));
}

void buf_dec(struct buf *b, uint64_t n)
{
	char text[20], *p = text + sizeof(text);

	do {
		*--p = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	buf_mem(b, p, (size_t)(text + sizeof(text) - p));
}

void buf_signed(struct buf *b, int64_t n)
{
	if (n < 0)
		buf_putc(b, '-');
	buf_dec(b, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

void buf_fmt(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || buf_room(b, (size_t)n + 1))
		return;
	va_start(ap, fmt);
	vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

const char *buf_str(struct buf *b)
{
	if (buf_room(b, 1))
		return "";
	b->data[b->len] = '\0';
	return b->data;
}
