/* files - the mapped files of all processes: one descriptor and one symbol
 * table each, however many processes map them.
 *
 * A file is named by what the kernel says of a mapping: device, inode number,
 * and the inode's generation where it is known. An inode number is used again
 * after its file is gone, but not while a descriptor of the file is open: so
 * an open file is the file of every mapping that is alive and has its number.
 * Where the file is not open, two generations that are known tell. */
#ifndef SYM_FILES_H
#define SYM_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "sym/maps.h"

struct elf;
struct files;

/* At most `most` descriptors are kept open: a file beyond that has no names,
 * which is counted. NULL when memory is out. */
struct files *files_new(unsigned most);
void files_free(struct files *f);

/* The number of the row's file, made when it is new; -ENOMEM. */
int64_t files_put(struct files *f, const struct map_row *row);

/* The same, but -ENOSPC when it is new, and what is known of files takes more
 * than `most` bytes already. */
int64_t files_put_within(struct files *f, const struct map_row *row,
			 size_t most);

/* Is its descriptor (or image) there? May another one be opened? */
bool files_held(const struct files *f, uint32_t file);
bool files_room(struct files *f);

/* `fd` (taken over) was opened to be the file. Returns the number that it is
 * held under, -ESTALE when it is another file, -ENOMEM. The number differs from
 * `file` when a row without a generation had been taken for an older file with
 * the same inode; and on a stacked file system, where nothing proves that it is
 * the file: that number counts for who asked, and for nobody else. */
int64_t files_take(struct files *f, uint32_t file, int fd,
		   const struct stat *st);

/* Open the file by its path below the folder `root`; its inode must not have
 * changed since `before` (CLOCK_REALTIME, ns). As files_take(), or another
 * -errno. */
int64_t files_open_path(struct files *f, uint32_t file, int root,
			uint64_t before);

/* The file is no file but `size` bytes of memory from mem_zalloc(), a vDSO:
 * taken over. Held from then on. 0, or -errno. */
int files_set_image(struct files *f, uint32_t file, void *image, size_t size);

/* Its symbols, those of its debug file if it is stripped (one below `root` may
 * be it; -1 = no folder); NULL when it is not open or not usable as ELF, which
 * one notice says. Valid until the next call. */
struct elf *files_elf(struct files *f, uint32_t file, int root);

/* The path as the kernel wrote it, and the name to show: the part after the
 * last slash, without " (deleted)". Valid until the next files_put(). */
const char *files_path(const struct files *f, uint32_t file);
void files_name(const struct files *f, uint32_t file, struct buf *name);
void files_label(const char *path, struct buf *name);

/* What mappings say of it, its path likewise. */
void files_row(const struct files *f, uint32_t file, struct map_row *out);

/* Two numbers may be one file: the device differs between what a mapping
 * record and the maps file say of a stacked file system. */
bool files_same(const struct files *f, uint32_t a, uint32_t b);

/* What was in the way of opening a file: -errno. */
void files_failed(struct files *f, uint32_t file, int err);

/* How many whose table was asked for could not be opened or read; the first
 * one's path, which stays valid, and its -errno. */
unsigned files_unread(const struct files *f, const char **first, int *err);

/* How many could not be opened because of the limit. */
unsigned files_dropped(const struct files *f);

#endif
