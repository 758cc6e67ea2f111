/* mapped - what the kernel says of mappings of our own, beside others'. */
#ifndef SYM_MAPPED_H
#define SYM_MAPPED_H

#include <stdbool.h>
#include <sys/stat.h>

#include "sym/maps.h"

/* Is an open file the one that a row names by device and inode? 0: it is;
 * -EXDEV: it is on a stacked file system, where records and maps may tell
 * different devices, and the inode number is right: *own has what maps tell
 * (path is ""); -ESTALE: it is another file. */
int mapped_check(int fd, const struct stat *st, const struct map_row *row,
		 struct map_row *own);

/* A copy of our own vDSO: mem_zalloc()ed, or NULL. */
void *mapped_vdso(size_t *size);

#endif
