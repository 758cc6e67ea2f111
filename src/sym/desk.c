/* desk - the symbols of files that another machine mapped.
 *
 * The build-id decides: a file that has another one is another file, wherever
 * it lies and whatever it is called. There may be two that have the right one,
 * the file as it was mapped and another one with its symbols; then the code is
 * read from the first (callers are judged by it) and names from the second. Its
 * own segments are not believed, for a file of symbols alone has the offsets of
 * no file: addresses come from the segments that were recorded.
 *
 * Without a build-id nothing tells files apart. A file below --symfs is taken
 * by its path then, for that is what the user has said; one of this machine if
 * it still is the same inode. */
#include "sym/desk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/intern.h"
#include "base/log.h"
#include "base/vec.h"
#include "sym/root.h"

enum {
	FOUND_MOST = 1 << 20,		/* ELF files of a tree */
	DEPTH_MOST = 64,		/* folders within each other */
};

/* What all tables together may cost. */
#define WORK_MOST (4 * ELF_WORK_MOST)

struct entry {
	struct desk_file file;
	uint32_t path;			/* in desk.texts */
	bool tried, full;		/* looked for; symbols and code found */
	struct build_id other;		/* of one at its path that is not it, */
	const char *other_in;		/* in this folder; NULL = none */
	struct elf *code, *names;	/* may be the same one */
	bool symtab;			/* names has all of them */
};

/* An ELF file of the tree. */
struct found {
	struct build_id id;
	uint32_t path;
};

struct desk {
	const char *symfs, *debug_dir;
	int symfs_fd, debug_fd, root_fd;	/* -1 = none */
	bool scanned;
	struct intern texts, keys;
	VEC(struct entry) files;	/* by number in keys */
	VEC(struct found) tree;
	uint64_t work;
	unsigned missing, unsure;
	uint32_t first_missing;		/* path */
};

static int dir_open(const char *option, const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	fd = -errno;
	log_error("%s %s: %s", option, path, log_errno(fd));
	return fd;
}

int desk_open(struct desk **out, const char *symfs, const char *debug_dir)
{
	struct desk *d = mem_zalloc(sizeof(*d));

	*out = d;
	if (!d)
		return -ENOMEM;
	d->symfs = symfs;
	d->debug_dir = debug_dir ? debug_dir : "/usr/lib/debug";
	d->work = WORK_MOST;
	d->symfs_fd = symfs ? dir_open("--symfs", symfs) : -1;
	d->root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	d->debug_fd = debug_dir ? dir_open("--debug-dir", debug_dir) :
		      open(d->debug_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (symfs && d->symfs_fd < 0)
		return d->symfs_fd;
	return debug_dir && d->debug_fd < 0 ? d->debug_fd : 0;
}

static void entry_close(struct entry *e)
{
	if (e->code != e->names)
		elf_close(e->code);
	elf_close(e->names);
}

void desk_close(struct desk *d)
{
	const int fds[] = { d ? d->symfs_fd : -1, d ? d->root_fd : -1,
			    d ? d->debug_fd : -1 };

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (!d)
		return;
	for (size_t i = 0; i < d->files.n; i++)
		entry_close(&d->files.v[i]);
	vec_free(&d->files);
	vec_free(&d->tree);
	intern_free(&d->texts);
	intern_free(&d->keys);
	mem_free(d);
}

static const char *text_of(const struct desk *d, uint32_t id)
{
	return intern_bytes(&d->texts, id, NULL);
}

/* The path without " (deleted)". */
static int64_t path_put(struct desk *d, const char *path)
{
	static const char gone[] = " (deleted)";
	size_t n = strlen(path), tail = sizeof(gone) - 1;

	if (n > tail && !memcmp(path + n - tail, gone, tail))
		n -= tail;
	return intern_put(&d->texts, path, n);
}

int64_t desk_put(struct desk *d, const struct desk_file *file)
{
	int64_t path = path_put(d, file->path), id;
	struct {
		uint64_t inode;
		uint32_t path;
		uint8_t here, len, id[BUILD_ID_MOST];
	} key;
	struct entry *e;

	if (path < 0)
		return path;
	memset(&key, 0, sizeof(key));
	key.inode = file->inode;
	key.path = (uint32_t)path;
	key.here = file->here;
	key.len = (uint8_t)file->id.len;
	memcpy(key.id, file->id.bytes, file->id.len);
	id = intern_put(&d->keys, &key, sizeof(key));
	if (id < 0 || (size_t)id < d->files.n)
		return id;
	e = vec_push(&d->files);
	if (!e)
		return -ENOMEM;
	*e = (struct entry){ .file = *file, .path = (uint32_t)path };
	e->file.path = NULL;
	return id;
}

/* Taking what was found */

static void say_other(const struct desk *d, const struct entry *e)
{
	char want[BUILD_ID_TEXT], got[BUILD_ID_TEXT];

	log_notice("%s%s: %s%s, not %s as was recorded: not used",
		   e->other_in, text_of(d, e->path), e->other.len ?
		   "its build-id is " : "it has no build-id",
		   build_id_text(&e->other, got),
		   build_id_text(&e->file.id, want));
}

/* Keep it for what it has and no other had before; else close it. */
static void entry_take(struct entry *e, struct elf *elf)
{
	bool symtab, code, used = false;

	elf_look(elf, &symtab, &code);
	if (code && !e->code) {
		e->code = elf;
		used = true;
	}
	if (!e->names || (symtab && !e->symtab)) {
		if (e->names != e->code)
			elf_close(e->names);
		e->names = elf;
		e->symtab = symtab;
		used = true;
	}
	if (!used)
		elf_close(elf);
	e->full = e->code && e->symtab;
}

static bool is_same_inode(const struct entry *e, const struct stat *st)
{
	return e->file.here && e->file.inode &&
	       (uint64_t)st->st_ino == e->file.inode;
}

/* fd (taken over) was opened to be the file. */
static void entry_try(struct desk *d, struct entry *e, int fd,
		      const struct stat *st, const char *where, bool by_path)
{
	struct build_id id;
	struct elf *elf;
	bool same;

	if (fd < 0)
		return;
	if (elf_open(fd, &elf)) {
		close(fd);
		return;
	}
	elf_build_id(elf, &id);
	same = build_id_same(&id, &e->file.id);
	if (!e->file.id.len) {
		same = is_same_inode(e, st) || (by_path && *where);
		d->unsure += same && !is_same_inode(e, st);
	}
	if (same) {
		entry_take(e, elf);
		return;
	}
	if (by_path && e->file.id.len) {
		e->other = id;
		e->other_in = where;
	}
	elf_close(elf);
}

/* The tree below --symfs */

static void scan_file(struct desk *d, int dir, const char *name,
		      const char *path)
{
	struct stat st;
	int fd = root_open(dir, name, false, &st);
	struct found *f;
	struct elf *elf;
	int64_t id;

	if (fd < 0)
		return;
	if (elf_open(fd, &elf)) {
		close(fd);
		return;
	}
	id = intern_put(&d->texts, path, strlen(path));
	f = id >= 0 ? vec_push(&d->tree) : NULL;
	if (f)
		f->path = (uint32_t)id;
	if (f && !elf_build_id(elf, &f->id))
		d->tree.n--;
	elf_close(elf);
}

/* Takes fd over. Links are not followed: what they lead to is met as well, or
 * lies outside. */
static void scan_dir(struct desk *d, int fd, struct buf *path, int depth)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	size_t len = path->len;
	struct dirent *e;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(dir)) && d->tree.n < FOUND_MOST) {
		struct stat st;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		path->len = len;
		buf_putc(path, '/');
		buf_puts(path, e->d_name);
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MOST)
			scan_dir(d, openat(fd, e->d_name, O_RDONLY |
					   O_DIRECTORY | O_NOFOLLOW |
					   O_CLOEXEC), path, depth + 1);
		else if (S_ISREG(st.st_mode))
			scan_file(d, fd, e->d_name, buf_str(path));
	}
	path->len = len;
	closedir(dir);
}

static void scan(struct desk *d)
{
	struct buf path = { 0 };

	if (d->scanned || d->symfs_fd < 0)
		return;
	d->scanned = true;
	scan_dir(d, openat(d->symfs_fd, ".", O_RDONLY | O_DIRECTORY |
			   O_CLOEXEC), &path, 0);
	buf_free(&path);
}

/* Looking for a file */

static void look_below(struct desk *d, struct entry *e, int root,
		       const char *where)
{
	const char *path = text_of(d, e->path);
	struct stat st;

	if (root >= 0 && !e->full && path[0] == '/')
		entry_try(d, e, root_open(root, path, true, &st), &st, where,
			  true);
}

static void look_in_tree(struct desk *d, struct entry *e)
{
	struct stat st;

	if (e->full || !e->file.id.len)
		return;
	scan(d);
	for (size_t i = 0; i < d->tree.n && !e->full; i++) {
		const char *path = text_of(d, d->tree.v[i].path);

		if (!build_id_same(&d->tree.v[i].id, &e->file.id))
			continue;
		entry_try(d, e, root_open(d->symfs_fd, path, false, &st), &st,
			  d->symfs, false);
	}
}

/* .build-id/12/3456....debug */
static void look_in_debug_dir(struct desk *d, struct entry *e)
{
	char id[BUILD_ID_TEXT], path[BUILD_ID_TEXT + 32];
	struct stat st;

	if (d->debug_fd < 0 || e->full || e->file.id.len < 2)
		return;
	build_id_text(&e->file.id, id);
	snprintf(path, sizeof(path), "/.build-id/%.2s/%s.debug", id, id + 2);
	entry_try(d, e, root_open(d->debug_fd, path, true, &st), &st,
		  d->debug_dir, false);
}

static void load(struct desk *d, struct entry *e)
{
	int err = e->names ? elf_load(e->names, &d->work) : 0;

	if (e->names)
		elf_debugdata_say(e->names, text_of(d, e->path));
	if (err == -EFBIG)
		log_notice("%s: too large a symbol table: not used",
			   text_of(d, e->path));
	else if (err)
		log_notice("%s: its symbols cannot be read: %s",
			   text_of(d, e->path), log_errno(err));
}

static void look(struct desk *d, struct entry *e)
{
	if (e->tried)
		return;
	e->tried = true;
	look_below(d, e, d->symfs_fd, d->symfs);
	look_in_debug_dir(d, e);
	look_in_tree(d, e);
	look_below(d, e, d->root_fd, "");
	load(d, e);
	if (e->names)
		return;
	if (e->other_in && (*e->other_in || d->symfs_fd < 0))
		say_other(d, e);
	if (!d->missing++)
		d->first_missing = e->path;
}

bool desk_vaddr(struct desk *d, uint32_t file, uint64_t offset,
		uint64_t *vaddr)
{
	struct entry *e = &d->files.v[file];

	for (size_t i = 0; i < e->file.nsegments; i++) {
		const struct elf_extent *s = &e->file.segments[i];

		if (offset < s->offset || offset - s->offset >= s->size)
			continue;
		*vaddr = s->vaddr + (offset - s->offset);
		return true;
	}
	look(d, e);
	return e->code && !elf_vaddr(e->code, offset, vaddr);
}

struct elf *desk_names(struct desk *d, uint32_t file)
{
	struct entry *e = &d->files.v[file];

	look(d, e);
	return e->names;
}

bool desk_caller(struct desk *d, uint32_t file, struct caller_file *out)
{
	struct entry *e = &d->files.v[file];

	look(d, e);
	*out = (struct caller_file){ e->code, e->names };
	return e->code && e->names;
}

void desk_report(const struct desk *d)
{
	log_count(d->unsure, "files without a build-id, which were taken by "
		  "their path alone");
	if (!d->missing)
		return;
	log_notice("%s%s not found: functions are shown as offsets",
		   text_of(d, d->first_missing), d->missing > 1 ?
		   " and other files" : "");
	if (!d->symfs)
		log_hint("--symfs names a folder with the device's files, or "
			 "those that they were stripped from");
}
