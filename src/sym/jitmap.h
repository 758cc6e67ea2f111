/* jitmap - names of generated code, from a /tmp/perf-PID.map file. */
#ifndef SYM_JITMAP_H
#define SYM_JITMAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct jitmap;

/* Open the map that process `nspid` (as its own pid namespace counts) keeps
 * in the /tmp of the folder `root`: a regular file that belongs to `uid` or
 * to root, not reached by a link, of a bounded size. A descriptor, or -errno:
 * -ENOENT = none; -EPERM = another owner; -EFBIG. */
int jitmap_open(int root, uint32_t nspid, uint32_t uid);

/* Read "START SIZE name" lines (hexadecimal; the kernel's
 * tools/perf/Documentation/jit-interface.txt). Takes fd over, also when it
 * fails: names stay in the file until asked for. A line that is none is
 * skipped; a last line without a newline is still being written. 0, -errno. */
int jitmap_load(int fd, struct jitmap **out);
void jitmap_free(struct jitmap *m);

/* Append the name (bytes as they are, a NUL as the text \x00) of the entry at
 * addr that was written last. 0; -ENOENT; -ESTALE when the file no longer
 * says what it did; -ENOMEM. */
int jitmap_find(struct jitmap *m, uint64_t addr, struct buf *name);

/* Ranges that have a name, the unit of what a map costs in memory; lines that
 * were no entry, or beyond the bound on entries. */
size_t jitmap_ranges(const struct jitmap *m);
size_t jitmap_bad(const struct jitmap *m);

/* The file's last change, CLOCK_REALTIME in ns. */
uint64_t jitmap_mtime(const struct jitmap *m);

#endif
