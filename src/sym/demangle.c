/* demangle - what C++ and Rust compilers made of names, made readable. */
#include "sym/demangle.h"

#include <errno.h>
#include <string.h>

#include "sym/demangle_text.h"

/* Names are put together from a few bytes at a time: to copy these here is
 * faster than memcpy(). The last words may overlap, so that what is left is not
 * counted byte by byte. */
static void copy(char *to, const char *p, size_t n)
{
	char *end = to + n;

	if (n >= 8) {
		for (; n > 8; n -= 8, to += 8, p += 8)
			memcpy(to, p, 8);
		memcpy(end - 8, p + n - 8, 8);
	} else if (n >= 4) {
		memcpy(to, p, 4);
		memcpy(end - 4, p + n - 4, 4);
	} else {
		while (to < end)
			*to++ = *p++;
	}
}

void text_mem(struct demangle_text *t, const char *p, size_t n)
{
	if (!n)
		return;
	if (n > sizeof(t->s) - t->n) {
		t->failed = true;
		return;
	}
	copy(t->s + t->n, p, n);
	t->n += n;
	t->last = p[n - 1];
}

void text_puts(struct demangle_text *t, const char *s)
{
	char *to = t->s + t->n, *end = t->s + sizeof(t->s);

	if (!*s)
		return;
	while (*s && to < end)
		*to++ = *s++;
	t->failed |= *s != '\0';
	t->n = (size_t)(to - t->s);
	t->last = to[-1];
}

void text_putc(struct demangle_text *t, char c)
{
	text_mem(t, &c, 1);
}

void text_dec(struct demangle_text *t, uint64_t n)
{
	char digits[20], *p = digits + sizeof(digits);

	do {
		*--p = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	text_mem(t, p, (size_t)(digits + sizeof(digits) - p));
}

void text_utf8(struct demangle_text *t, uint32_t c)
{
	unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

	if (c >= 0x110000 || (c >= 0xd800 && c < 0xe000)) {
		t->failed = true;
		return;
	}
	text_putc(t, (char)(more ? 0xff00 >> (more + 1) | c >> 6 * more : c));
	while (more--)
		text_putc(t, (char)(0x80 | (c >> 6 * more & 63)));
}

/* Rust's legacy names look like C++'s, and the other way round never. */
static bool put(const char *name, size_t n, struct demangle_text *t)
{
	if (name[1] == 'R')
		return demangle_rust(name, n, t);
	return demangle_rust_legacy(name, n, t) || demangle_cxx(name, n, t);
}

int demangle(const char *name, struct buf *out)
{
	struct demangle_text t;

	if (name[0] != '_')
		return -ENOENT;
	t.n = 0;
	t.failed = false;
	t.last = 0;
	if (!put(name, strlen(name), &t) || t.failed || !t.n)
		return -ENOENT;
	buf_mem(out, t.s, t.n);
	return 0;
}

void demangle_buf(struct buf *text)
{
	size_t n = text->len, name = n;

	if (n > 4 && !memcmp(text->data + n - 4, "@plt", 4))
		name -= 4;
	buf_putc(text, '\0');
	if (text->err)
		return;
	text->data[name] = '\0';
	if (demangle(text->data, text)) {
		if (name < n)
			text->data[name] = '@';
		text->len = n;
		return;
	}
	if (name < n)
		buf_puts(text, "@plt");
	text->len -= n + 1;
	memmove(text->data, text->data + n + 1, text->len);
}
