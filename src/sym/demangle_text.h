/* demangle_text - the bounded text that a demangled name is put together in. */
#ifndef SYM_DEMANGLE_TEXT_H
#define SYM_DEMANGLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DEMANGLE_MOST = 32 << 10 };	/* bytes: none wants to read more */

struct demangle_text {
	size_t n;
	bool failed;		/* sticks: malformed, or beyond a limit */
	char last;		/* the last byte that was put, even if it was
				 * taken back; 0 = none */
	char s[DEMANGLE_MOST];
};

void text_mem(struct demangle_text *t, const char *p, size_t n);
void text_puts(struct demangle_text *t, const char *s);
void text_putc(struct demangle_text *t, char c);
void text_dec(struct demangle_text *t, uint64_t n);
void text_utf8(struct demangle_text *t, uint32_t c);

static inline bool demangle_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The value of a hexadecimal digit, in lower case, or -1. */
static inline int demangle_nibble(char c)
{
	return demangle_is_digit(c) ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The encodings, of a name of n bytes and a NUL: false when it is none, or
 * malformed. */
bool demangle_cxx(const char *name, size_t n, struct demangle_text *t);
bool demangle_rust(const char *name, size_t n, struct demangle_text *t);
bool demangle_rust_legacy(const char *name, size_t n, struct demangle_text *t);

/* What optimizers add to Rust's names; .llvm.NUMBER at the end goes without
 * saying. */
bool demangle_rust_suffix(const char *p, struct demangle_text *t);

#endif
