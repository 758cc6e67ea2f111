/* kmem - the tracepoints of the kernel's allocators. */
#ifndef TRACE_KMEM_H
#define TRACE_KMEM_H

#include <stdbool.h>

#include "sys/tp_format.h"
#include "trace/allocators.h"

/* What is read from the record of an event, "kmem/kmalloc" ...; false when it
 * does not tell it. */
bool kmem_probe(const char *event, const struct tp_format *f,
		struct leak_probe *out);

/* Find those that this kernel has, with those of per-CPU memory or without. 0
 * or -errno, reported. Then allocators_begin(), and: */
int kmem_find(struct allocators *a, bool percpu);
int kmem_attach(struct allocators *a);

#endif
