/* library - the file that a user means by a program's or library's name.
 *
 * Places are tried from the surest to the vaguest, and the first one that has
 * the name decides: what the process maps; the dynamic linker's own cache; the
 * folders that it looks through. Within a place, all that matches counts, for
 * of libfoo.so.1 and libfoo.so.2 nobody but the user knows which one is meant
 * by "foo". A program on $PATH of the same name counts beside them.
 *
 * All of it is seen from a root folder: ours, or that of the process, whose
 * libraries may be others under the same paths. What is opened are the files
 * themselves: everything after is done with the descriptor.
 */
#include "sym/library.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/vec.h"
#include "sym/ldcache.h"
#include "sym/elf.h"
#include "sym/maps.h"
#include "sym/procs_data.h"
#include "sym/root.h"
#include "sys/fs.h"

enum { MUSL_PATH_MAX = 65536, LISTED_MAX = 256 };

/* What of an ELF header tells whose machine it is for. */
struct ident {
	uint8_t class, order;
	uint8_t machine[2];	/* in its own byte order */
};

struct search {
	const char *name;
	uint32_t pid;
	int proc, root;		/* folders; proc < 0 without a pid */
	struct ident want;
	struct library_list *list;
	bool sonames;		/* match these, not the files' names */
	bool other;		/* found what is no ELF file */
	char *last;		/* the soname that was taken last */
	int err;		/* of memory */
};

static bool ident_read(int fd, struct ident *id)
{
	uint8_t p[20];

	if (pread(fd, p, sizeof(p), 0) != (ssize_t)sizeof(p) ||
	    memcmp(p, "\177ELF", 4))
		return false;
	*id = (struct ident){ p[4], p[5], { p[18], p[19] } };
	return true;
}

static char *text_copy(const char *text, size_t n)
{
	char *copy = mem_zalloc(n + 1);

	if (copy)
		memcpy(copy, text, n);
	return copy;
}

/* Lists */

static bool list_has(const struct library_list *list, const struct stat *st)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i].st.st_dev == st->st_dev &&
		    list->v[i].st.st_ino == st->st_ino)
			return true;
	return false;
}

/* Add an open file, which is taken over. False: it is none that counts. */
static bool search_add(struct search *s, int fd, const struct stat *st,
		       const char *path, bool mapped)
{
	struct ident id;
	struct library *l = NULL;
	char *copy = NULL;

	if (!ident_read(fd, &id)) {
		s->other = true;
	} else if (s->list->n < LISTED_MAX && !list_has(s->list, st)) {
		copy = text_copy(path, strlen(path));
		l = copy ? vec_push(s->list) : NULL;
		if (!l)
			s->err = -ENOMEM;
	}
	if (!l) {
		mem_free(copy);
		close(fd);
		return false;
	}
	*l = (struct library){ fd, *st, copy, s->pid, mapped };
	return true;
}

/* Add the file at a path below the root. */
static bool search_path(struct search *s, const char *path)
{
	struct stat st;
	int fd = root_open(s->root, path, true, &st);

	return fd >= 0 && search_add(s, fd, &st, path, false);
}

static void library_drop(struct library *l)
{
	if (l->fd >= 0)
		close(l->fd);
	mem_free(l->path);
}

void library_free(struct library_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		library_drop(&list->v[i]);
	vec_free(list);
}

int library_take(struct library *l)
{
	int fd = l->fd;

	l->fd = -1;
	return fd;
}

/* Where some are for the wanted machine, the others do not count. */
static void search_settle(struct search *s, size_t from)
{
	struct library_list *list = s->list;
	size_t kept = from;
	bool any = false;
	struct ident id;

	for (size_t i = from; i < list->n; i++)
		any |= ident_read(list->v[i].fd, &id) &&
			!memcmp(&id, &s->want, sizeof(id));
	for (size_t i = from; any && i < list->n; i++) {
		struct library l = list->v[i];

		if (ident_read(l.fd, &id) && !memcmp(&id, &s->want, sizeof(id)))
			list->v[kept++] = l;
		else
			library_drop(&l);
	}
	if (any)
		list->n = kept;
}

/* Names */

/* What may follow a library's name in its file's: "libc.so.6", "libc-2.31.so",
 * "libc.musl-x86_64.so.1". */
static bool tail_matches(const char *tail)
{
	if (!strncmp(tail, ".so", 3))
		return !tail[3] || tail[3] == '.';
	if (!strncmp(tail, ".musl-", 6))
		return true;
	return tail[0] == '-' && tail[1] >= '0' && tail[1] <= '9' &&
		strstr(tail, ".so");
}

static bool name_matches(const char *file, const char *name)
{
	size_t n = strlen(name);

	if (!strcmp(file, name))
		return true;
	if (!strncmp(file, name, n) && tail_matches(file + n))
		return true;
	return !strncmp(file, "lib", 3) && !strncmp(file + 3, name, n) &&
		tail_matches(file + 3 + n);
}

/* Is there more than a name, so that only that file can be meant? */
static bool name_is_exact(const char *name)
{
	return strstr(name, ".so");
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What a process maps */

static bool soname_matches(int fd, const char *name)
{
	struct buf soname = { 0 };
	struct elf *e;
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	bool matches = false;

	if (copy < 0 || elf_open(copy, &e)) {
		if (copy >= 0)
			close(copy);
		return false;
	}
	if (!elf_soname(e, &soname))
		matches = name_matches(buf_str(&soname), name);
	buf_free(&soname);
	elf_close(e);
	return matches;
}

/* The path as maps tell it, without what marks a deleted file. */
static size_t path_length(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(path), d = sizeof(deleted) - 1;

	return n > d && !strcmp(path + n - d, deleted) ? n - d : n;
}

/* Open what a row maps: the file itself, whatever its path leads to now. */
static int row_open(struct search *s, const struct map_row *row,
		    struct stat *st)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "map_files/%llx-%llx",
		 (unsigned long long)row->start, (unsigned long long)row->end);
	fd = root_open_link(s->proc, name, st);
	if (fd >= 0)
		return fd;
	/* map_files takes a privilege. A path may lead elsewhere by now. */
	fd = root_open_link(s->proc, "exe", st);
	if (fd >= 0 && (uint64_t)st->st_ino == row->inode)
		return fd;
	if (fd >= 0)
		close(fd);
	fd = root_open(s->root, row->path, false, st);
	if (fd < 0 || (uint64_t)st->st_ino == row->inode)
		return fd;
	close(fd);
	return -ESTALE;
}

static int row_offer(void *arg, const struct map_row *row)
{
	struct search *s = arg;
	size_t n = path_length(row->path);
	struct stat st;
	char *path;
	int fd;

	if (!row->exec || map_kind(row) != MAPS_FILE)
		return 0;
	path = text_copy(row->path, n);
	if (!path)
		return -ENOMEM;
	if (!s->name || s->sonames || name_matches(base_name(path), s->name)) {
		fd = row_open(s, row, &st);
		if (fd >= 0 && s->sonames && !soname_matches(fd, s->name))
			close(fd);
		else if (fd >= 0)
			search_add(s, fd, &st, path, true);
	}
	mem_free(path);
	return s->err;
}

/* What the process maps by this path was deleted since: another file that is
 * there now is not meant. */
static int row_deleted(void *arg, const struct map_row *row)
{
	struct search *s = arg;
	size_t n = path_length(row->path);
	struct stat st;
	int fd;

	if (!row->exec || map_kind(row) != MAPS_FILE || !row->path[n] ||
	    n != strlen(s->name) || memcmp(row->path, s->name, n))
		return 0;
	fd = row_open(s, row, &st);
	if (fd >= 0)
		search_add(s, fd, &st, s->name, true);
	return s->err;
}

/* A file that was found by its path: does the process map it? */
static int row_mark(void *arg, const struct map_row *row)
{
	struct search *s = arg;

	for (size_t i = 0; i < s->list->n; i++) {
		struct library *l = &s->list->v[i];
		struct stat st;
		int fd;

		if (l->mapped || !row->exec ||
		    row->inode != (uint64_t)l->st.st_ino)
			continue;
		fd = row_open(s, row, &st);
		l->mapped = fd >= 0 && st.st_dev == l->st.st_dev &&
			st.st_ino == l->st.st_ino;
		if (fd >= 0)
			close(fd);
	}
	return 0;
}

static int search_maps(struct search *s,
		       int (*fn)(void *arg, const struct map_row *row))
{
	int fd = openat(s->proc, "maps", O_RDONLY | O_CLOEXEC);
	unsigned bad;
	int err;

	if (fd < 0)
		return -errno;
	err = maps_read(fd, fn, s, &bad);
	close(fd);
	return err == -ESRCH ? 0 : err;
}

/* The dynamic linker's cache and folders */

/* Of entries with one soname the first that is for our machine is what would
 * be loaded; the others are for CPUs with more, or fewer, features. */
static int cache_offer(void *arg, const char *soname, const char *path)
{
	struct search *s = arg;
	struct ident id;

	if (!name_matches(soname, s->name) ||
	    (s->last && !strcmp(s->last, soname)) || !search_path(s, path))
		return s->err;
	if (!ident_read(s->list->v[s->list->n - 1].fd, &id) ||
	    memcmp(&id, &s->want, sizeof(id)))
		return 0;
	mem_free(s->last);
	s->last = text_copy(soname, strlen(soname));
	return s->last ? 0 : -ENOMEM;
}

/* Append a file below the root, up to max bytes. */
static int file_read(struct search *s, const char *path, size_t max,
		     struct buf *to)
{
	struct stat st;
	int fd = root_open(s->root, path, true, &st);
	char part[4096];
	ssize_t n = 1;

	if (fd < 0)
		return fd;
	while (n > 0 && to->len < max && !to->err) {
		n = read(fd, part, sizeof(part));
		if (n > 0)
			buf_mem(to, part, (size_t)n);
	}
	close(fd);
	return n < 0 ? -EIO : to->len >= max ? -EFBIG : to->err;
}

static int search_cache(struct search *s)
{
	struct buf data = { 0 };
	int err = file_read(s, "/etc/ld.so.cache", LDCACHE_MAX, &data);

	if (!err)
		err = ldcache_each((const uint8_t *)data.data, data.len,
				   cache_offer, s);
	buf_free(&data);
	mem_free(s->last);
	s->last = NULL;
	return err == -ENOMEM ? err : s->err;
}

/* Call fn with "folder/name" for each entry of a folder below the root. */
static int folder_each(struct search *s, const char *folder,
		       int (*fn)(struct search *s, const char *path))
{
	int fd = root_open_dir(s->root, folder), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct buf path = { 0 };
	struct dirent *entry;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && !err && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		buf_reset(&path);
		buf_fmt(&path, "%s/%s", folder, entry->d_name);
		err = path.err ? path.err : fn(s, buf_str(&path));
	}
	if (dir)
		closedir(dir);
	buf_free(&path);
	return err;
}

static int folder_offer(struct search *s, const char *path)
{
	if (name_matches(base_name(path), s->name))
		search_path(s, path);
	return s->err;
}

/* Search one folder: for an exact name, that file. */
static int search_folder(struct search *s, const char *folder)
{
	struct buf path = { 0 };
	int err;

	if (!name_is_exact(s->name))
		return folder_each(s, folder, folder_offer);
	buf_fmt(&path, "%s/%s", folder, s->name);
	err = path.err;
	if (!err)
		search_path(s, buf_str(&path));
	buf_free(&path);
	return err ? err : s->err;
}

/* Folders in a list, separated by colons or newlines. */
static int search_folders(struct search *s, const char *list,
			  int (*fn)(struct search *s, const char *folder))
{
	int err = 0;

	while (!err && *list) {
		size_t n = strcspn(list, ":\n");
		char *folder = n ? text_copy(list, n) : NULL;

		if (n && !folder)
			return -ENOMEM;
		if (folder && *folder == '/')
			err = fn(s, folder);
		mem_free(folder);
		list += n + (list[n] != '\0');
	}
	return err;
}

/* "/lib/x86_64-linux-gnu" */
static int search_multiarch(struct search *s, const char *path)
{
	return strstr(base_name(path), "-linux-") ? search_folder(s, path) : 0;
}

static int musl_offer(struct search *s, const char *path)
{
	const char *name = base_name(path);
	size_t n = strlen(name);
	struct buf list = { 0 };
	int err = 0;

	if (strncmp(name, "ld-musl-", 8) || n < 13 ||
	    strcmp(name + n - 5, ".path"))
		return 0;
	if (!file_read(s, path, MUSL_PATH_MAX, &list))
		err = search_folders(s, buf_str(&list), search_folder);
	buf_free(&list);
	return err;
}

static int search_usual(struct search *s)
{
	static const char folders[] =
		"/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib";
	int err = search_folders(s, folders, search_folder);

	if (!err)
		err = folder_each(s, "/lib", search_multiarch);
	if (!err)
		err = folder_each(s, "/usr/lib", search_multiarch);
	return err;
}

/* Each place is tried only where the ones before it had nothing. */
static int search_library(struct search *s, size_t from)
{
	int err = 0;

	if (s->pid)
		err = search_maps(s, row_offer);
	if (s->pid && !err && s->list->n == from) {
		s->sonames = true;
		err = search_maps(s, row_offer);
		s->sonames = false;
	}
	if (!err && s->list->n == from)
		err = search_cache(s);
	if (!err && s->list->n == from)
		err = folder_each(s, "/etc", musl_offer);
	if (!err && s->list->n == from)
		err = search_usual(s);
	return err;
}

/* Programs */

static int program_offer(struct search *s, const char *folder)
{
	struct buf path = { 0 };
	struct stat st;
	int fd;

	buf_fmt(&path, "%s/%s", folder, s->name);
	if (path.err)
		return path.err;
	fd = root_open(s->root, buf_str(&path), true, &st);
	if (fd >= 0 && !(st.st_mode & 0111)) {
		close(fd);
		fd = -ENOENT;
	}
	/* The first one is it, as for a shell: 1 stops. */
	if (fd >= 0)
		search_add(s, fd, &st, buf_str(&path), false);
	buf_free(&path);
	return fd >= 0 ? 1 : 0;
}

static int search_program(struct search *s)
{
	const char *path = getenv("PATH");
	int err = search_folders(s, path ? path : "/usr/bin:/bin",
				 program_offer);

	return err < 0 ? err : s->err;
}

/* A path, or a process's program */

static int search_exe(struct search *s)
{
	struct buf path = { 0 };
	char text[4096] = "";
	struct stat st;
	int fd = root_open_link(s->proc, "exe", &st);

	if (fd < 0)
		return fd;
	if (readlinkat(s->proc, "exe", text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	buf_mem(&path, text, path_length(text));
	search_add(s, fd, &st, buf_str(&path), true);
	buf_free(&path);
	return s->err;
}

static int search_typed(struct search *s)
{
	size_t before = s->list->n;
	struct stat st;
	int fd;

	if (s->pid && s->name[0] == '/') {
		int err = search_maps(s, row_deleted);

		if (err || s->err || s->list->n > before)
			return err ? err : s->err;
	}
	if (s->pid && s->name[0] == '/' && search_path(s, s->name))
		return s->err;
	if (s->err || s->other)
		return s->err;
	fd = root_open_link(AT_FDCWD, s->name, &st);
	if (fd < 0)
		return fd;
	s->pid = 0;
	search_add(s, fd, &st, s->name, false);
	return s->err;
}

/* Searches */

/* The machine that libraries are wanted for: the process's, or ours. */
static void search_machine(struct search *s)
{
	struct stat st;
	int fd = s->pid ? root_open_link(s->proc, "exe", &st) :
		fs_open(FS_PROC, "self/exe", O_RDONLY);

	if (fd < 0)
		return;
	if (!ident_read(fd, &s->want))
		s->want = (struct ident){ 0 };
	close(fd);
}

static int search_open(struct search *s)
{
	s->proc = s->root = -1;
	if (!s->pid) {
		s->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		return s->root < 0 ? -errno : 0;
	}
	s->proc = proc_dir(s->pid);
	if (s->proc < 0)
		return s->proc == -ENOENT ? -ESRCH : s->proc;
	s->root = openat(s->proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return s->root < 0 ? -errno : 0;
}

static void search_close(struct search *s)
{
	if (s->proc >= 0)
		close(s->proc);
	if (s->root >= 0)
		close(s->root);
}

static int search_names(struct search *s)
{
	size_t from = s->list->n;
	int err = search_library(s, from);

	/* What the process maps is what is meant. */
	if (!err && (s->list->n == from || !s->list->v[from].mapped) &&
	    !name_is_exact(s->name))
		err = search_program(s);
	return err;
}

static bool name_is_pid(const char *name, uint32_t *pid)
{
	uint64_t n;

	if (num_u64(name, 1, 1 << 22, &n))
		return false;
	*pid = (uint32_t)n;
	return true;
}

int library_find(const char *name, uint32_t pid, struct library_list *list)
{
	struct search s = { .name = name, .pid = pid, .list = list };
	bool exe = name_is_pid(name, &s.pid);
	size_t from = list->n;
	int err = *name ? search_open(&s) : -ENOENT;

	if (!err) {
		search_machine(&s);
		err = exe ? search_exe(&s) : strchr(name, '/') ?
			search_typed(&s) : search_names(&s);
	}
	if (!err && s.proc >= 0)
		err = search_maps(&s, row_mark);
	search_close(&s);
	if (err)
		return err;
	search_settle(&s, from);
	if (list->n == from)
		return s.other ? -ENOEXEC : -ENOENT;
	return list->n == from + 1 ? 0 : -ENOTUNIQ;
}

int library_mapped(uint32_t pid, struct library_list *list)
{
	struct search s = { .pid = pid, .list = list };
	int err = search_open(&s);

	if (!err)
		err = search_maps(&s, row_offer);
	search_close(&s);
	return err;
}

int library_probe_path(const struct library *l, struct buf *path)
{
	struct stat st;
	int err;

	if (fs_way(FS_PROC, &err) == FS_MOUNTED) {
		buf_fmt(path, "/proc/self/fd/%d", l->fd);
		return path->err;
	}
	if (stat(l->path, &st) || st.st_dev != l->st.st_dev ||
	    st.st_ino != l->st.st_ino)
		return -ENOTSUP;
	buf_puts(path, l->path);
	return path->err;
}
