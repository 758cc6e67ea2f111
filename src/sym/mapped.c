/* mapped - what the kernel says of mappings of our own, beside others'.
 *
 * Device and inode number in a mapping's row are those of the kernel's own
 * structures; stat() tells others where a file system stacks or splits
 * (overlayfs, btrfs). So a file that we opened cannot be compared with a row by
 * stat() there, and what cannot be compared could be anybody's: a process may
 * put another file to the place of a mapping before we follow it. But a mapping
 * of our own shows the file as every mapping does. It is never touched, for the
 * file may shrink. */
#include "sym/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/vec.h"
#include "sys/fs.h"

enum { OVERLAYFS = 0x794c7630 };	/* include/uapi/linux/magic.h */

struct search {
	uint64_t addr;
	struct map_row *out;
	bool found;
};

static int row_match(void *arg, const struct map_row *row)
{
	struct search *s = arg;

	if (s->addr < row->start || s->addr >= row->end)
		return 0;
	*s->out = *row;
	s->out->path = "";
	s->found = true;
	return 1;
}

/* The row of our own maps that covers an address. */
static int own_row(uint64_t addr, struct map_row *out)
{
	struct search s = { .addr = addr, .out = out };
	int fd = fs_open(FS_PROC, "self/maps", O_RDONLY), err;
	unsigned bad = 0;

	if (fd < 0)
		return fd;
	err = maps_read(fd, row_match, &s, &bad);
	close(fd);
	if (s.found)
		return 0;
	return err < 0 ? err : -ENOENT;
}

static int map_and_see(int fd, const struct stat *st, struct map_row *out)
{
	/* As long as a block: on hugetlbfs that is a page. */
	size_t size = st->st_blksize > 4096 ? (size_t)st->st_blksize : 4096;
	void *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, fd,
			0);
	int err;

	if (at == MAP_FAILED)
		return -errno;
	err = own_row((uintptr_t)at, out);
	munmap(at, size);
	return err;
}

static bool same_device(const struct map_row *a, const struct map_row *b)
{
	return a->major == b->major && a->minor == b->minor;
}

/* On overlayfs, Linux 6.7 to 6.17 write the file below into a mapping record,
 * and the file on top into the maps file. */
static bool is_stacked(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS;
}

int mapped_check(int fd, const struct stat *st, const struct map_row *row,
		 struct map_row *own)
{
	*own = (struct map_row){ .inode = st->st_ino,
				 .major = major(st->st_dev),
				 .minor = minor(st->st_dev) };
	if (own->inode == row->inode && same_device(own, row))
		return 0;
	if (map_and_see(fd, st, own) || own->inode != row->inode)
		return -ESTALE;
	if (same_device(own, row))
		return 0;
	return is_stacked(fd) ? -EXDEV : -ESTALE;
}

void *mapped_vdso(size_t *size)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	struct map_row row;
	void *image;

	if (!start || own_row(start, &row))
		return NULL;
	*size = (size_t)(row.end - start);
	image = mem_zalloc(*size);
	return image ? memcpy(image, (void *)(uintptr_t)start, *size) : NULL;
}
