/* root - open a path as a process sees it, never outside its root folder. */
#ifndef SYM_ROOT_H
#define SYM_ROOT_H

#include <stdbool.h>
#include <sys/stat.h>

/* Open a regular file below the folder `root` (an O_PATH descriptor will do)
 * for reading; links inside are followed as if root were "/", where the
 * kernel can do that (5.6), else not at all. With `follow` false the last part
 * of the path must not be a link. Nothing but a regular file is opened, and
 * nothing blocks. A descriptor and *st, or -errno. */
int root_open(int root, const char *path, bool follow, struct stat *st);

/* A path of /proc/PID/maps as it is inside the process's root folder. The
 * kernel writes it as the reader sees the file: of a process that only changed
 * its root folder, from the reader's own. */
const char *root_inside(int root, const char *path);

/* Open a folder below `root`, links followed likewise, for readdir() and as a
 * root of its own. A descriptor, or -errno. */
int root_open_dir(int root, const char *path);

/* Open for reading what dir/name is, following links, if it is a regular
 * file. A descriptor and *st, or -errno; -ENODEV when it is something else. */
int root_open_link(int dir, const char *name, struct stat *st);

#endif
