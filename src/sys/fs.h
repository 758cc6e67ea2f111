/* fs - the one place that opens what is under /proc, /sys and tracefs. */
#ifndef SYS_FS_H
#define SYS_FS_H

#include <stddef.h>

#include "base/buf.h"

enum fs_root {
	FS_PROC, FS_SYS, FS_TRACE, FS_SECURITY, FS_DEBUG, FS_DEV, FS_ROOTS,
};

/* A directory descriptor for the file system: the mounted path where it is (a
 * /proc of our own pid namespace), else a mount that nobody else sees. Found
 * once, kept until exit; not to be closed. -errno, after a notice: there is no
 * way. */
int fs_dir(enum fs_root root);

/* Before the first use of one: take a mount that nobody else sees, if there can
 * be one, even where the path is mounted. A descriptor of that keeps others
 * from unmounting it. */
void fs_leave_mounts(void);

/* How it was reached, found out now if it was not yet, without a notice. The
 * error is -errno where there is no way: -EACCES for one that is mounted, but
 * closed to this user. */
enum fs_way { FS_NO_WAY, FS_MOUNTED, FS_DETACHED, FS_PRIVATE };
enum fs_way fs_way(enum fs_root root, int *err);

/* openat() below it, O_CLOEXEC added. A descriptor, or -errno. */
int fs_open(enum fs_root root, const char *path, int flags);

/* readlinkat() below it, NUL-terminated. The length, or -errno; -ENAMETOOLONG
 * when it does not fit. */
int fs_readlink(enum fs_root root, const char *path, char *to, size_t size);

/* The same of a descriptor of our own: the path of what is open. */
int fs_path(int fd, char *to, size_t size);

/* Append a whole (small) file to `to`, at most `max` bytes: -EFBIG beyond. */
int fs_read(enum fs_root root, const char *path, size_t max, struct buf *to);

/* A decimal number in a file such as a sysctl; -EINVAL when it holds none. */
int fs_read_num(enum fs_root root, const char *path, long long *out);

#endif
