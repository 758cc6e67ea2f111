/* root - open a path as a process sees it, never outside its root folder. */
#include "sym/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/feature.h"
#include "sys/fs.h"

/* openat2(2), Linux 5.6: include/uapi/linux/openat2.h. One number on every
 * architecture that sonde runs on. */
enum { NR_OPENAT2 = 437, NO_MAGICLINKS = 0x02, IN_ROOT = 0x10 };
struct open_how {
	uint64_t flags, mode, resolve;
};

/* O_NONBLOCK: what was a regular file a moment ago may be a FIFO now. */
enum { READ = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

static int regular(int fd, struct stat *st)
{
	int err;

	if (fd < 0)
		return -errno;
	err = fstat(fd, st) ? -errno : S_ISREG(st->st_mode) ? 0 : -ENODEV;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* The first part of *path, which moves on behind it. ".." cannot come from the
 * kernel's own paths, so it is refused rather than bounded. */
static int open_part(int dir, const char **path, int flags)
{
	const char *p = *path + strspn(*path, "/");
	size_t n = strcspn(p, "/");
	char part[256];

	if (!n || n >= sizeof(part) || !strncmp(p, "..", n)) {
		errno = EINVAL;
		return -1;
	}
	memcpy(part, p, n);
	part[n] = '\0';
	*path = p + n;
	if (p[n])
		flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
	return openat(dir, part, flags | O_NOFOLLOW);
}

/* Part by part, following no links at all. */
static int open_parts(int root, const char *path, int flags)
{
	int dir = root, next, err;

	for (;;) {
		next = open_part(dir, &path, flags);
		err = errno;
		if (dir != root)
			close(dir);
		errno = err;
		if (next < 0 || !*path)
			return next;
		dir = next;
	}
}

static int open_in(int root, const char *path, int flags)
{
	static bool missing;
	bool hidden = feature_is_hidden("openat2");
	struct open_how how = {
		.flags = (uint64_t)(unsigned)flags,
		.resolve = NO_MAGICLINKS | IN_ROOT,
	};

	if (!missing && !hidden) {
		long fd = syscall(NR_OPENAT2, root, path, &how, sizeof(how));

		/* A filter of system calls may say EPERM. */
		if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
			return (int)fd;
		missing = errno == ENOSYS;
	}
	return open_parts(root, path, flags);
}

/* Look before opening: to open a device or a FIFO can have an effect. */
int root_open(int root, const char *path, bool follow, struct stat *st)
{
	int nofollow = follow ? 0 : O_NOFOLLOW;
	int fd = open_in(root, path, O_PATH | O_CLOEXEC | nofollow);
	int err;

	if (fd < 0)
		return -errno;
	err = fstat(fd, st) ? -errno : S_ISREG(st->st_mode) ? 0 : -ENODEV;
	close(fd);
	if (err)
		return err;
	return regular(open_in(root, path, READ | nofollow), st);
}

const char *root_inside(int root, const char *path)
{
	char folder[4096];
	int n = fs_path(root, folder, sizeof(folder));

	return n > 1 && !strncmp(path, folder, (size_t)n) && path[n] == '/' ?
	       path + n : path;
}

int root_open_dir(int root, const char *path)
{
	int fd = open_in(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int root_open_link(int dir, const char *name, struct stat *st)
{
	if (fstatat(dir, name, st, 0))
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -ENODEV;
	return regular(openat(dir, name, READ), st);
}
