/* same_name - where the kernel's functions are that have a name in common. */
#ifndef TRACE_SAME_NAME_H
#define TRACE_SAME_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/vec.h"
#include "trace/point.h"

struct same_name {
	uint32_t name, module;	/* numbers; module + 1, 0 = the kernel */
	uint64_t address;
};

/* All that kallsyms has of the names that points ask for. Zeroed, then read at
 * the first question. */
struct same_names {
	struct intern names, modules;
	VEC(struct same_name) v;
	bool is_read;
	int err;		/* of reading */
};

/* How many functions a point's symbol may mean, with their addresses in *to
 * (the caller's to mem_free), or -errno. Those of the point's module alone, if
 * it has one; of the kernel proper, if a pattern found the point there. Of the
 * points only those count that are one function, or are `repeated`. */
int64_t same_names_of(struct same_names *s, const struct points *points,
		      const struct point *p, const char *symbol,
		      uint64_t **to);
void same_names_free(struct same_names *s);

#endif
