/* prefilter - what of a filter the kernel's half judges itself. */
#ifndef TRACE_PREFILTER_H
#define TRACE_PREFILTER_H

#include "events.h"
#include "trace/action.h"

/* Where a value is, and its type, as values_number() says it. */
typedef int prefilter_type(void *arg, const struct action_value *value,
			   struct number *type);

/* Comparisons of values with constants become entries of the table; whatever
 * else the filter asks may come out either way, so that what the table refuses,
 * the filter refuses. Returns how many there are; 0 = it lets all pass. */
unsigned prefilter_make(const struct action *a, prefilter_type *type,
			void *arg, struct trace_filter *out);

#endif
