/* fs - the one place that opens what is under /proc, /sys and tracefs. */
#include "sys/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"
#include "sys/advice.h"
#include "sys/feature.h"
#include "sys/state.h"

/* File system magics: include/uapi/linux/magic.h. */
enum {
	PROC_MAGIC = 0x9fa0,
	SYSFS_MAGIC = 0x62656572,
	TRACEFS_MAGIC = 0x74726163,
	DEBUGFS_MAGIC = 0x64626720,
	SECURITYFS_MAGIC = 0x73636673,
	TMPFS_MAGIC = 0x01021994,
};
#define RAMFS_MAGIC 0x858458f6u

enum { PRIVATE_FAILED = 255 };

/* What the mount API of Linux 5.2 takes: include/uapi/linux/mount.h. The
 * numbers are the same on every architecture that sonde knows. */
enum {
	SYS_FSOPEN = 430, SYS_FSCONFIG = 431, SYS_FSMOUNT = 432,
	FSOPEN_CLOSE_ON_EXEC = 1,
	FSCONFIG_CREATE = 6,
	FSMOUNT_CLOSE_ON_EXEC = 1,
};

static const struct {
	const char *type;
	const char *paths[3];
	uint32_t magics[2];
} roots[] = {
	[FS_PROC] = { "proc", { "/proc" }, { PROC_MAGIC, PROC_MAGIC } },
	[FS_SYS] = { "sysfs", { "/sys" }, { SYSFS_MAGIC, SYSFS_MAGIC } },
	[FS_TRACE] = { "tracefs",
		       { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" },
		       { TRACEFS_MAGIC, DEBUGFS_MAGIC } },
	[FS_SECURITY] = { "securityfs", { "/sys/kernel/security" },
			  { SECURITYFS_MAGIC, SECURITYFS_MAGIC } },
	[FS_DEBUG] = { "debugfs", { "/sys/kernel/debug" },
		       { DEBUGFS_MAGIC, DEBUGFS_MAGIC } },
	[FS_DEV] = { "devtmpfs", { "/dev" }, { TMPFS_MAGIC, RAMFS_MAGIC } },
};

/* Does it number processes as our pid namespace does? After `unshare --pid`
 * without a new /proc it does not, and every pid would be another's. */
static bool is_own_proc(int fd)
{
	char self[16] = "";

	if (readlinkat(fd, "self", self, sizeof(self) - 1) < 0)
		return false;
	return strtol(self, NULL, 10) == (long)getpid();
}

static bool is_wanted(enum fs_root root, int fd)
{
	struct statfs st;

	if (fstatfs(fd, &st) ||
	    ((uint32_t)st.f_type != roots[root].magics[0] &&
	     (uint32_t)st.f_type != roots[root].magics[1]))
		return false;
	return root != FS_PROC || is_own_proc(fd);
}

/* The path alone proves nothing: a plain directory may stand there. */
static int dir_mounted(enum fs_root root)
{
	int err = -ENOENT;

	for (int i = 0; roots[root].paths[i]; i++) {
		int fd = open(roots[root].paths[i],
			      O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0 && errno == EACCES)
			err = -EACCES;
		if (fd < 0)
			continue;
		if (is_wanted(root, fd))
			return fd;
		close(fd);
	}
	return err;
}

/* A mount that no path leads to; it goes away with the descriptor. */
static int dir_detached(enum fs_root root)
{
	int fs, fd, err;

	if (feature_is_hidden("fsopen"))
		return -ENOSYS;
	fs = (int)syscall(SYS_FSOPEN, roots[root].type, FSOPEN_CLOSE_ON_EXEC);
	if (fs < 0)
		return -errno;
	if (syscall(SYS_FSCONFIG, fs, FSCONFIG_CREATE, NULL, NULL, 0)) {
		err = errno;
		close(fs);
		return -err;
	}
	fd = (int)syscall(SYS_FSMOUNT, fs, FSMOUNT_CLOSE_ON_EXEC, 0);
	err = errno;
	close(fs);
	return fd < 0 ? -err : fd;
}

/* In a process of its own: mount in a mount namespace of its own, where nobody
 * sees it, on any folder there is. The descriptor is its exit status. */
static void private_mount(const char *type)
{
	static const char *const on[] = { "/proc", "/sys", "/dev", "/root",
					  "/tmp", "/etc", "/bin" };
	int fd;

	if (unshare(CLONE_NEWNS))
		_exit(PRIVATE_FAILED);
	mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
	for (size_t i = 0; i < sizeof(on) / sizeof(*on); i++) {
		if (mount(type, on[i], type, 0, NULL))
			continue;
		fd = open(on[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		_exit(fd >= 0 && fd < PRIVATE_FAILED ? fd : PRIVATE_FAILED);
	}
	_exit(PRIVATE_FAILED);
}

/* Before Linux 5.2. The helper process shares our table of descriptors, so
 * that what it opens stays, when its namespace has gone with it. `err` is why
 * the way before this one failed. */
static int dir_private(enum fs_root root, int err)
{
	int status;
	long pid;

	if (feature_is_hidden("mount"))
		return -ENOSYS;
	pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		private_mount(roots[root].type);
	if (pid < 0)
		return -errno;
	while (waitpid((pid_t)pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (!WIFEXITED(status) || WEXITSTATUS(status) == PRIVATE_FAILED)
		return err == -ENOSYS ? -EPERM : err;
	return WEXITSTATUS(status);
}

static struct found {
	enum fs_way way;
	int fd;				/* or -errno, when there is no way */
	bool asked, said;
} found[FS_ROOTS];

static bool leave_mounts;

void fs_leave_mounts(void)
{
	leave_mounts = true;
}

/* Lockdown leaves nothing in tracefs, and Linux 7.2 then stumbles over its
 * empty root when it is unmounted. */
static bool mount_is_harmful(enum fs_root root)
{
	return root == FS_TRACE &&
	       state_lockdown() == LOCKDOWN_CONFIDENTIALITY;
}

/* One that is there, but closed to this user, is no more open elsewhere: the
 * first errno tells more than those of the other tries. */
static void find(enum fs_root root, struct found *f)
{
	int first;

	f->asked = true;
	f->way = FS_DETACHED;
	f->fd = leave_mounts ? dir_detached(root) : -ENOENT;
	if (f->fd >= 0)
		return;
	f->way = FS_MOUNTED;
	f->fd = first = dir_mounted(root);
	if (f->fd < 0 && mount_is_harmful(root)) {
		f->way = FS_NO_WAY;
		f->fd = -EPERM;
		return;
	}
	if (f->fd < 0) {
		f->way = FS_DETACHED;
		f->fd = dir_detached(root);
	}
	if (f->fd < 0) {
		f->way = FS_PRIVATE;
		f->fd = dir_private(root, f->fd);
	}
	if (f->fd >= 0)
		return;
	f->way = FS_NO_WAY;
	if (first == -EACCES)
		f->fd = first;
}

enum fs_way fs_way(enum fs_root root, int *err)
{
	struct found *f = &found[root];

	if (!f->asked)
		find(root, f);
	*err = f->fd < 0 ? f->fd : 0;
	return f->way;
}

/* Said before advice is taken, for that reads /proc and /sys itself. */
static void say_missing(enum fs_root root, struct found *f)
{
	f->said = true;
	if (f->fd == -EACCES)
		log_notice("%s: %s", roots[root].paths[0], log_errno(f->fd));
	else
		log_notice("%s: not mounted, and cannot be: %s",
			   roots[root].paths[0], log_errno(f->fd));
	advice(root == FS_TRACE ? OP_TRACEFS : OP_MOUNT, f->fd);
}

int fs_dir(enum fs_root root)
{
	struct found *f = &found[root];
	int err;

	fs_way(root, &err);
	if (err && !f->said)
		say_missing(root, f);
	return f->fd;
}

int fs_open(enum fs_root root, const char *path, int flags)
{
	int dir = fs_dir(root), fd;

	if (dir < 0)
		return dir;
	fd = openat(dir, path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int fs_readlink(enum fs_root root, const char *path, char *to, size_t size)
{
	int dir = fs_dir(root);
	ssize_t n;

	if (dir < 0)
		return dir;
	n = readlinkat(dir, path, to, size);
	if (n < 0)
		return -errno;
	if ((size_t)n >= size)
		return -ENAMETOOLONG;
	to[n] = '\0';
	return (int)n;
}

int fs_path(int fd, char *to, size_t size)
{
	char link[32];

	snprintf(link, sizeof(link), "self/fd/%d", fd);
	return fs_readlink(FS_PROC, link, to, size);
}

int fs_read(enum fs_root root, const char *path, size_t max, struct buf *to)
{
	char chunk[4096];
	size_t total = 0;
	ssize_t n = 0;
	int fd = fs_open(root, path, O_RDONLY), err = 0;

	if (fd < 0)
		return fd;
	while (!err && (n = read(fd, chunk, sizeof(chunk))) > 0) {
		total += (size_t)n;
		if (total > max)
			err = -EFBIG;
		else
			buf_mem(to, chunk, (size_t)n);
	}
	if (n < 0)
		err = -errno;
	close(fd);
	return err ? err : to->err;
}

int fs_read_num(enum fs_root root, const char *path, long long *out)
{
	struct buf text = { 0 };
	int err = fs_read(root, path, 64, &text);
	const char *p = buf_str(&text);
	bool negative = *p == '-';
	uint64_t n = 0;

	if (!err && !num_dec(p + negative, p + strlen(p), &n))
		err = -EINVAL;
	buf_free(&text);
	if (!err)
		*out = negative ? -(long long)n : (long long)n;
	return err;
}
