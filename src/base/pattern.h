/* pattern - regular expressions whose size and time are bounded. */
#ifndef BASE_PATTERN_H
#define BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pattern;

/* What is wrong with an expression, and at which byte of it. */
struct pattern_fault {
	const char *why;	/* static */
	size_t at;
};

/* POSIX extended syntax, without back-references, and \d \w \s of Perl's. 0 and
 * the pattern; -EINVAL and the fault; -ENOMEM. */
int pattern_compile(const char *text, struct pattern **out,
		    struct pattern_fault *fault);
void pattern_free(struct pattern *p);

/* Is it the whole name? Takes at most (size of the program, which is at most
 * 4,096) x (length of the name) steps. Not for two threads at once. */
bool pattern_test(const struct pattern *p, const char *name);

/* The ']' of the set that opens at p, or the NUL. */
const char *pattern_set_end(const char *p);

#endif
