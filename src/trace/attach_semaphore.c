/* attach_semaphore - raises the semaphores of USDT probes where the kernel
 * cannot (before 4.20).
 *
 * A program may look at a counter of its own to see whether anybody watches a
 * probe. Such a kernel knows nothing of it, so it is counted up in the memory
 * of each process that maps the file now, and down again at the end; what
 * starts later, or is forked meanwhile, is left alone. The descriptor of a
 * process's memory stays open: whoever gets its number is not written to.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"
#include "sym/mapped.h"
#include "sys/fs.h"
#include "trace/attach_room.h"

struct search {
	const struct point_file *file;
	struct stat st;
	uint64_t offset;	/* of the semaphore, in the file */
	uint64_t address;	/* in the process; 0 = not found */
};

static int match_row(void *arg, const struct map_row *row)
{
	struct search *s = arg;
	struct map_row own;
	int err;

	if (!row->write || !row->inode || s->offset < row->off ||
	    s->offset - row->off >= row->end - row->start)
		return 0;
	err = mapped_check(s->file->fd, &s->st, row, &own);
	if (err && err != -EXDEV)
		return 0;
	s->address = row->start + (s->offset - row->off);
	return 1;
}

static int proc_open(uint32_t pid, const char *name, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "%u/%s", pid, name);
	return fs_open(FS_PROC, path, flags);
}

/* A process that has ended has no memory: that is no error. */
static int count(const struct attach_semaphore *s, int by)
{
	uint16_t n;

	if (pread(s->fd, &n, sizeof(n), (off_t)s->address) != sizeof(n))
		return -ESRCH;
	n = (uint16_t)(by > 0 || n ? n + by : 0);
	return pwrite(s->fd, &n, sizeof(n), (off_t)s->address) == sizeof(n)
		? 0 : -ESRCH;
}

static int raise_in(struct attach *a, struct search *s, uint32_t pid)
{
	int fd = proc_open(pid, "maps", O_RDONLY), err;
	struct attach_semaphore one, *slot;
	unsigned bad = 0;

	if (fd < 0)
		return fd;
	s->address = 0;
	err = maps_read(fd, match_row, s, &bad);
	close(fd);
	if (!s->address)
		return err < 0 ? err : -ENOENT;
	one.address = s->address;
	one.fd = proc_open(pid, "mem", O_RDWR);
	if (one.fd < 0)
		return one.fd;
	err = count(&one, 1);
	slot = err ? NULL : vec_push(&a->semaphores);
	if (slot) {
		*slot = one;
		return 0;
	}
	if (!err)
		count(&one, -1);
	close(one.fd);
	return err ? err : -ENOMEM;
}

static int raise_everywhere(struct attach *a, struct search *s)
{
	int dir = fs_dir(FS_PROC), fd;
	const struct dirent *entry;
	int err = 0;
	DIR *all;

	fd = dir < 0 ? dir : openat(dir, ".", O_RDONLY | O_CLOEXEC);
	all = fd < 0 ? NULL : fdopendir(fd);
	if (!all)
		return fd < 0 ? fd : -ENOMEM;
	while (err != -ENOMEM && (entry = readdir(all))) {
		const char *name = entry->d_name;
		uint64_t pid;

		if (num_dec(name, name + strlen(name), &pid))
			err = raise_in(a, s, (uint32_t)pid);
	}
	closedir(all);
	return err == -ENOMEM ? err : 0;
}

int attach_raise(struct attach *a, const struct point *p)
{
	struct search s = {
		.file = &a->points->files.v[p->file], .offset = p->semaphore,
	};
	size_t before = a->semaphores.n;
	int err;

	if (fstat(s.file->fd, &s.st))
		return -errno;
	if (a->points->pid) {
		err = raise_in(a, &s, a->points->pid);
		if (err)
			log_error("%s: %s: cannot raise its semaphore in "
				  "process %u: %s", a->command, p->name,
				  a->points->pid, log_errno(err));
		return err ? ATTACH_REPORTED : 0;
	}
	err = raise_everywhere(a, &s);
	if (!err)
		log_notice("%s: its semaphore is raised in the %zu processes "
			   "that map %s now: this kernel does not raise it in "
			   "those that start later", p->name,
			   a->semaphores.n - before, s.file->label);
	return err;
}

void attach_lower(struct attach *a)
{
	for (size_t i = 0; i < a->semaphores.n; i++) {
		count(&a->semaphores.v[i], -1);
		close(a->semaphores.v[i].fd);
	}
	vec_free(&a->semaphores);
}
