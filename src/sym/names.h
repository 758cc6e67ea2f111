/* names - names that stay where they are, each kept once. */
#ifndef SYM_NAMES_H
#define SYM_NAMES_H

#include "base/intern.h"
#include "base/vec.h"

/* All zero is empty. */
struct names {
	struct intern ids;
	VEC(const char *) text;		/* by id: where it stays */
	VEC(char *) chunks;
	size_t room;			/* left at the end of the last chunk */
};

void names_free(struct names *n);

/* The name's number, the same for the same bytes, or -ENOMEM. A NUL within
 * the bytes ends them. */
int64_t names_put(struct names *n, const char *name, size_t len);

/* NUL-terminated, valid until names_free(). */
const char *names_text(const struct names *n, uint32_t id);

#endif
