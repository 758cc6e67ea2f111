/* tracefs - tracepoints: which there are, their numbers and formats. */
#ifndef SYS_TRACEFS_H
#define SYS_TRACEFS_H

#include <stddef.h>

#include "sys/tp_format.h"

/* The number of "category/name", for perf_event_open(2); -errno. */
int tracefs_id(const char *tracepoint);

/* Its record. 0 or -errno; tp_format_free() in any case. */
int tracefs_format(const char *tracepoint, struct tp_format *out);

/* The offset of a field in the record, which must have that size in bytes;
 * -ENOENT: there is no such field; -EINVAL: it has another size; -errno. */
int tracefs_field(const char *tracepoint, const char *field, unsigned size);

/* Call visit() for each tracepoint that can be watched, in the kernel's order,
 * until it returns other than 0. Returns that, else 0 or -errno. The strings
 * are valid during the call. */
typedef int tracefs_visit(void *arg, const char *category, const char *name);
int tracefs_events(tracefs_visit *visit, void *arg);

#endif
