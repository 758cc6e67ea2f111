/* proc_dir - the folder under /proc that shows what a process has mapped. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "sym/procs_data.h"
#include "sys/fs.h"

bool proc_has_image(int dir)
{
	char c;

	return readlinkat(dir, "exe", &c, 1) > 0;
}

/* The first thread of the list that has an image. */
static int thread_find(DIR *list)
{
	struct dirent *e;

	while ((e = readdir(list))) {
		int dir;

		if (e->d_name[0] == '.')
			continue;
		dir = fs_open(FS_PROC, e->d_name, O_PATH | O_DIRECTORY);
		if (dir >= 0 && proc_has_image(dir))
			return dir;
		if (dir >= 0)
			close(dir);
	}
	return -ENOENT;
}

/* A leader may leave before its other threads: then /proc/PID shows nothing,
 * but /proc/TID of each of them does. (/proc/PID/task/TID has no map_files.) */
static int thread_dir(int leader)
{
	int fd = openat(leader, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	int dir;

	if (!list) {
		if (fd >= 0)
			close(fd);
		return -ENOENT;
	}
	dir = thread_find(list);
	closedir(list);
	return dir;
}

int proc_dir(uint32_t pid)
{
	char path[16];
	int dir, other;

	snprintf(path, sizeof(path), "%u", pid);
	dir = fs_open(FS_PROC, path, O_PATH | O_DIRECTORY);
	if (dir < 0 || proc_has_image(dir) || errno != ENOENT)
		return dir;
	other = thread_dir(dir);
	if (other < 0)
		return dir;
	close(dir);
	return other;
}
