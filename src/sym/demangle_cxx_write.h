/* demangle_cxx_write - what the parts of the writer of C++ names share. */
#ifndef SYM_DEMANGLE_CXX_WRITE_H
#define SYM_DEMANGLE_CXX_WRITE_H

#include "sym/demangle_cxx.h"

static inline void cxx_puts(struct cxx *c, const char *s)
{
	text_puts(c->t, s);
}

static inline bool cxx_is(const struct cxx *c, uint16_t id,
			  enum cxx_kind kind)
{
	return c->node[id].kind == kind;
}

/* Both halves of a node; between texts. */
void cxx_whole(struct cxx *c, uint16_t id);
void cxx_between(struct cxx *c, const char *before, uint16_t id,
		 const char *after);
void cxx_put_number(struct cxx *c, const char *before, unsigned n,
		    const char *after);

/* An item of a LIST, or 0; a negative number is the whole list. */
uint16_t cxx_list_item(struct cxx *c, uint16_t list, int n);
unsigned cxx_list_length(struct cxx *c, uint16_t list);

/* The first pack, a LIST, that a pattern refers to, or 0. */
uint16_t cxx_pack_find(struct cxx *c, uint16_t id);

/* A node that is of expressions. */
void cxx_expression_put(struct cxx *c, const struct cxx_node *n);

#endif
