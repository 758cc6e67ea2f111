/* escape - the one routine through which untrusted bytes reach an output. */
#include "base/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const char semicolon[] = "\\x3b";

/* Decode one UTF-8 sequence (RFC 3629: shortest form, no surrogates, at most
 * U+10FFFF). Returns its length, 0 when it is none. */
static size_t utf8_decode(const unsigned char *p, size_t n, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len, i;

	if (p[0] < 0x80) {
		*c = p[0];
		return 1;
	}
	len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || len > n)
		return 0;
	*c = p[0] & (0xffu >> (len + 1));
	for (i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (p[i] & 0x3f);
	}
	if (*c < least[len] || *c > 0x10ffff ||
	    (*c >= 0xd800 && *c <= 0xdfff))
		return 0;
	return len;
}

/* Control characters, and those that hide, reorder or break lines: zero-width
 * and bidirectional marks, line and paragraph separators, noncharacters. */
static bool char_is_printable(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return false;
	if (c < 0x200b)
		return c != 0xad && c != 0x61c && c != 0x180e;
	if (c <= 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	    (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	    (c >= 0xfff0 && c <= 0xfffb) || (c >= 0xfdd0 && c <= 0xfdef) ||
	    (c >= 0xe0000 && c <= 0xe0fff))
		return false;
	return (c & 0xfffe) != 0xfffe;
}

/* What stands for an ASCII character that the format itself uses. */
static const char *quoted(char c, enum escape how)
{
	switch (how) {
	case ESCAPE_FOLDED:
		return c == ';' ? semicolon : NULL;
	case ESCAPE_XML:
		return c == '&' ? "&amp;" : c == '<' ? "&lt;" :
		       c == '>' ? "&gt;" : c == '"' ? "&quot;" :
		       c == '\'' ? "&#39;" : NULL;
	case ESCAPE_JSON:
		return c == '"' ? "\\\"" : c == '\\' ? "\\\\" : NULL;
	case ESCAPE_TEXT:
		break;
	}
	return NULL;
}

static void put_byte(struct buf *out, unsigned char c, enum escape how)
{
	static const char hex[] = "0123456789abcdef";
	char text[] = { '\\', '\\', 'x', hex[c >> 4], hex[c & 15] };

	if (how == ESCAPE_JSON)
		buf_mem(out, text, 5);
	else
		buf_mem(out, text + 1, 4);
}

/* The plain bytes from p on: most names are nothing else. */
static size_t plain_run(const unsigned char *p, const unsigned char *end,
			enum escape how)
{
	const unsigned char *start = p;

	while (p < end && *p >= 0x20 && *p < 0x7f && !quoted((char)*p, how))
		p++;
	return (size_t)(p - start);
}

/* One character that may need care; its length. */
static size_t put_char(struct buf *out, const unsigned char *p,
		       const unsigned char *end, enum escape how)
{
	uint32_t c = 0;
	size_t len = utf8_decode(p, (size_t)(end - p), &c), i;
	const char *q = len == 1 ? quoted((char)*p, how) : NULL;

	if (q)
		buf_puts(out, q);
	else if (len && char_is_printable(c))
		buf_mem(out, p, len);
	else
		for (i = 0; i < (len ? len : 1); i++)
			put_byte(out, p[i], how);
	return len ? len : 1;
}

void escape(struct buf *out, const char *s, size_t n, enum escape how)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + n;

	while (p < end) {
		size_t run = plain_run(p, end, how);

		buf_mem(out, p, run);
		p += run;
		if (p < end)
			p += put_char(out, p, end, how);
	}
}

size_t escape_semicolons_back(char *s, size_t n)
{
	enum { LEN = sizeof(semicolon) - 1 };
	char *end = s + n, *to = s;

	while (s < end) {
		bool is = (size_t)(end - s) >= LEN &&
			  !memcmp(s, semicolon, LEN);

		*to++ = is ? ';' : *s;
		s += is ? LEN : 1;
	}
	return n - (size_t)(end - to);
}
