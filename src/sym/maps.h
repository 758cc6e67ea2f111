/* maps - rows of /proc/PID/maps: what is mapped where in a process. */
#ifndef SYM_MAPS_H
#define SYM_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* One mapping, from the maps file or from a PERF_RECORD_MMAP2. */
struct map_row {
	uint64_t start, end;		/* addresses; the end is exclusive */
	uint64_t off;			/* bytes into the file at `start` */
	uint64_t inode;			/* 0 = no file */
	uint32_t major, minor;		/* the kernel's own view of the device:
					 * stat() may tell another one */
	uint32_t generation;		/* of the inode; 0 = not known */
	bool exec, write;		/* records do not tell the second */
	const char *path;		/* raw, NUL-terminated, "" = none */
};

enum map_kind {
	MAPS_FILE,	/* pages of a file, memfd included */
	MAPS_ANON,	/* memory without a file: a JIT's code, a copied text */
	MAPS_VDSO,
	MAPS_SPECIAL,	/* another area of the kernel's: [vsyscall] ... */
};
enum map_kind map_kind(const struct map_row *row);

/* Parse one line, without its newline. row->path points into `path`, which
 * the caller keeps. 0, -EINVAL, -ENOMEM. */
int maps_line(const char *line, size_t n, struct map_row *row,
	      struct buf *path);

/* Call fn for each row of the file; fn returns nonzero to stop, which is then
 * the result. Lines that are none are skipped and counted in *bad. 0, or
 * -errno. The row is valid during the call only. */
int maps_read(int fd, int (*fn)(void *arg, const struct map_row *row),
	      void *arg, unsigned *bad);

#endif
