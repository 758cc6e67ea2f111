/* ldcache - glibc's /etc/ld.so.cache: which library is in which file. */
#ifndef SYM_LDCACHE_H
#define SYM_LDCACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LDCACHE_MAX = 16 << 20 };	/* bytes; larger ones are refused */

/* Call fn for each entry of a cache, in the order of preference that the
 * dynamic linker has: a soname and a path, NUL-terminated, inside `data`. fn
 * returns nonzero to stop, which is then the result. 0; -EINVAL: no cache of a
 * format that is known, or of another byte order. Entries that lead outside
 * are skipped. */
int ldcache_each(const uint8_t *data, size_t size,
		 int (*fn)(void *arg, const char *soname, const char *path),
		 void *arg);

#endif
