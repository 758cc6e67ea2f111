/* demangle_rust_legacy - Rust's names as they were before v0: like C++'s. */
#include <string.h>

#include "sym/demangle_text.h"

/* A length and so many bytes. */
static const char *part_next(const char *p, const char *end, size_t *n)
{
	*n = 0;
	while (demangle_is_digit(*p) && *n < DEMANGLE_MOST)
		*n = *n * 10 + (size_t)(*p++ - '0');
	return *n && *n < (size_t)(end - p) ? p : NULL;
}

/* The last part tells instances apart: h and 16 digits, not all alike, for C++
 * may have such a name, too. */
static bool is_hash(const char *p, size_t n)
{
	unsigned seen = 0, kinds = 0;

	if (n != 17 || *p != 'h')
		return false;
	for (size_t i = 1; i < n; i++) {
		if (demangle_nibble(p[i]) < 0)
			return false;
		seen |= 1u << demangle_nibble(p[i]);
	}
	for (; seen; seen &= seen - 1)
		kinds++;
	return kinds >= 5;
}

/* Its parts end in a hash and E. The end, or NULL. */
static const char *parts_end(const char *p, const char *end)
{
	bool hash = false;
	size_t n;

	while (*p != 'E') {
		p = part_next(p, end, &n);
		if (!p)
			return NULL;
		hash = is_hash(p, n);
		p += n;
	}
	return hash ? p + 1 : NULL;
}

/* What stands for a character that names cannot have: between two $. */
static bool escape_put(struct demangle_text *t, const char *p, size_t n)
{
	static const char names[][4] = {
		"SP@", "BP*", "RF&", "LT<", "GT>", "LP(", "RP)", "C,",
	};
	uint64_t c = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t length = strlen(names[i]) - 1;

		if (n != length || memcmp(p, names[i], n))
			continue;
		text_putc(t, names[i][n]);
		return true;
	}
	if (n < 2 || n > 7 || *p != 'u')
		return false;
	for (size_t i = 1; i < n; i++) {
		if (demangle_nibble(p[i]) < 0)
			return false;
		c = c << 4 | (unsigned)demangle_nibble(p[i]);
	}
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return false;
	text_utf8(t, (uint32_t)c);
	return true;
}

/* One part; from an escape that is none on, as it is. */
static void part_put(struct demangle_text *t, const char *p, const char *end)
{
	if (end - p >= 2 && p[0] == '_' && p[1] == '$')
		p++;
	while (p < end) {
		if (*p == '$') {
			size_t n = (size_t)(end - ++p);
			const char *close = memchr(p, '$', n);

			if (!close || !escape_put(t, p, (size_t)(close - p))) {
				text_mem(t, p - 1, n + 1);
				return;
			}
			p = close + 1;
		} else if (end - p >= 2 && p[0] == '.' && p[1] == '.') {
			text_puts(t, "::");
			p += 2;
		} else {
			text_putc(t, *p++);
		}
	}
}

bool demangle_rust_legacy(const char *name, size_t n, struct demangle_text *t)
{
	const char *p = name + 3, *end = NULL, *separator = "";

	if (!strncmp(name, "_ZN", 3))
		end = parts_end(p, name + n);
	if (!end || (*end && *end != '.'))
		return false;		/* C++ has types there */
	for (;;) {
		p = part_next(p, end, &n);
		if (p + n + 1 == end)
			break;		/* the hash */
		text_puts(t, separator);
		part_put(t, p, p + n);
		separator = "::";
		p += n;
	}
	return demangle_rust_suffix(end, t);
}
