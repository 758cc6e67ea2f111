/* library - the file that a user means by a program's or library's name. */
#ifndef SYM_LIBRARY_H
#define SYM_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"

struct library {
	int fd;			/* of the file, open for reading */
	struct stat st;
	char *path;		/* for messages: raw bytes, as the process sees
				 * it when it was found through one */
	uint32_t pid;		/* that process, or 0 */
	bool mapped;		/* the process that was given, if one was, maps
				 * it now */
};

/* All that a name can mean, best first, each file once. */
struct library_list {
	struct library *v;
	size_t n, cap;
};

/* Find what `name` means:
 *
 *   /path, ./path, dir/path	that file, in the process's root when pid is
 *				given and it is there, else in ours
 *   123			the program that process 123 runs
 *   libc.so.6, libc, c		a library, by its file name or its soname. With
 *				pid: what the process maps. Else, and if it
 *				maps none: from ld.so.cache, musl's path and
 *				the usual folders
 *   bash			a program on $PATH
 *
 * Files of another machine than this one's (the process's) count only when
 * there is no other. 0: list->v[0] is it; -ENOTUNIQ: the list has all that it
 * may be; -ENOENT; -ENOEXEC: found, but no ELF file; -ESRCH: no process;
 * -ENOMEM; errors of open(2). */
int library_find(const char *name, uint32_t pid, struct library_list *list);
void library_free(struct library_list *list);

/* Files that the process maps as code, each once. For "which of them has this
 * function". 0 or -errno as above. */
int library_mapped(uint32_t pid, struct library_list *list);

/* A path in our own mount namespace that leads the kernel to this very file,
 * whatever namespace it came from and even if it is deleted: valid while the
 * descriptor is open. -ENOTSUP: /proc is not mounted, and the path that we know
 * leads elsewhere. */
int library_probe_path(const struct library *l, struct buf *path);

/* Take the descriptor out, for elf_open(). */
int library_take(struct library *l);

#endif
