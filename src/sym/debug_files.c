/* debug_files - the files that have the symbols of stripped ones.
 *
 * A stripped file tells in two ways which file has its symbols. By its
 * build-id, which both have: debuggers look for it as .build-id/12/3456.debug
 * in a folder. And in .gnu_debuglink, by the other one's name and a checksum of
 * it: that lies beside the file, in .debug there, or at the file's path below
 * /usr/lib/debug or another such folder.
 *
 * Anybody can have written either file. So the name counts without folders, and
 * all of it within the root folder of the process; what is found is used if it
 * has the same build-id. Only where the stripped file has none does the
 * checksum decide. */
#include "sym/debug_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/intern.h"
#include "base/log.h"
#include "base/vec.h"
#include "sym/elf.h"
#include "sym/root.h"
#include "sys/fs.h"

enum {
	FOUND_MOST = 1 << 20,		/* ELF files of a tree */
	DEPTH_MOST = 64,		/* folders within each other */
	MANY = 10000,			/* entries of a tree */
	PROC_FS = 0x9fa0,		/* f_type of statfs(2) */
	SYS_FS = 0x62656572,
	SUM_MOST = 512 << 20,		/* bytes that checksums are taken of */
};

static const char usual[] = "/usr/lib/debug";

/* An ELF file of the tree. */
struct found {
	struct build_id id;
	uint32_t path;
};

static struct {
	const char *symfs, *debug_dir;	/* NULL = not given */
	int symfs_fd, debug_fd, root_fd;	/* -1 = none */
	bool open, scanned;
	struct intern paths;
	VEC(struct found) tree;
	unsigned looked;		/* at entries of it */
	struct buf other;		/* the first that was not the right
					 * one, as a notice */
	unsigned others, unsure;
	off_t summed;
} all = { .symfs_fd = -1, .debug_fd = -1, .root_fd = -1 };

static int folder(const char *option, const char *path, int *fd)
{
	*fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*fd >= 0 || !option)
		return 0;
	log_error("%s %s: %s", option, path, log_errno(errno));
	return -errno;
}

int debug_files_open(const struct name_options *o)
{
	int err = 0;

	all.open = true;
	all.symfs = o->symfs;
	all.debug_dir = o->debug_dir;
	folder(NULL, "/", &all.root_fd);
	if (o->symfs)
		err = folder("--symfs", o->symfs, &all.symfs_fd);
	if (!err && o->debug_dir)
		return folder("--debug-dir", o->debug_dir, &all.debug_fd);
	return err ? err : folder(NULL, usual, &all.debug_fd);
}

void debug_files_close(void)
{
	const int fds[] = { all.symfs_fd, all.debug_fd, all.root_fd };

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	intern_free(&all.paths);
	vec_free(&all.tree);
	buf_free(&all.other);
	memset(&all, 0, sizeof(all));
	all.symfs_fd = all.debug_fd = all.root_fd = -1;
}

const char *debug_files_symfs(void)
{
	return all.symfs;
}

/* The tree below --symfs */

/* A regular file it was a moment ago; elf_open() looks again. */
static void scan_file(int dir, const char *name, const char *path)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY |
				   O_NONBLOCK | O_NOFOLLOW);
	struct found *f;
	struct elf *elf;
	int64_t id;

	if (fd < 0)
		return;
	if (elf_open(fd, &elf)) {
		close(fd);
		return;
	}
	id = intern_put(&all.paths, path, strlen(path));
	f = id >= 0 ? vec_push(&all.tree) : NULL;
	if (f)
		f->path = (uint32_t)id;
	if (f && !elf_build_id(elf, &f->id))
		all.tree.n--;
	elf_close(elf);
}

/* With --symfs / these are below it. */
static bool has_files(int fd)
{
	struct statfs fs;

	return fd >= 0 && !fstatfs(fd, &fs) && fs.f_type != PROC_FS &&
	       fs.f_type != SYS_FS;
}

static void scan_count(void)
{
	if (++all.looked == MANY)
		log_notice("--symfs %s: it is large, and all of it is "
			   "searched for build-ids", all.symfs);
}

/* Takes fd over. Links are not followed: what they lead to is met as well, or
 * lies outside. */
static void scan_dir(int fd, struct buf *path, int depth)
{
	DIR *dir = has_files(fd) ? fdopendir(fd) : NULL;
	size_t len = path->len;
	struct dirent *e;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(dir)) && all.tree.n < FOUND_MOST) {
		struct stat st;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		scan_count();
		path->len = len;
		buf_putc(path, '/');
		buf_puts(path, e->d_name);
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MOST)
			scan_dir(openat(fd, e->d_name, O_RDONLY | O_DIRECTORY |
					O_NOFOLLOW | O_CLOEXEC), path,
				 depth + 1);
		else if (S_ISREG(st.st_mode))
			scan_file(fd, e->d_name, buf_str(path));
	}
	path->len = len;
	closedir(dir);
}

static void scan(void)
{
	struct buf path = { 0 };

	if (all.scanned || all.symfs_fd < 0)
		return;
	all.scanned = true;
	scan_dir(openat(all.symfs_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		 &path, 0);
	buf_free(&path);
}

/* What was found and is not used */

static void note(const char *path, const char *why)
{
	if (all.others++)
		return;
	buf_reset(&all.other);
	buf_fmt(&all.other, "%s: %s: not used", path, why);
}

static void note_below(const char *folder, const char *path, const char *why)
{
	char whole[4096];

	snprintf(whole, sizeof(whole), "%s%s%s", folder,
		 *folder && *path != '/' ? "/" : "", path);
	note(whole, why);
}

void debug_files_refused(int fd, const char *why)
{
	char path[4096];

	note(fs_path(fd, path, sizeof(path)) < 0 ? "?" : path, why);
}

void debug_files_other(int fd, const struct build_id *id,
		       const struct build_id *wanted, const char *of)
{
	char want[BUILD_ID_TEXT], got[BUILD_ID_TEXT], why[4096];

	snprintf(why, sizeof(why), "%s%s, not %s as of %s",
		 id->len ? "its build-id is " : "it has no build-id",
		 build_id_text(id, got), build_id_text(wanted, want), of);
	debug_files_refused(fd, why);
}

void debug_files_report(void)
{
	log_count(all.unsure, "files without a build-id, whose symbols were "
		  "taken by their path alone");
	all.unsure = 0;
	if (!all.others)
		return;
	log_notice("%s%s", buf_str(&all.other), all.others > 1 ?
		   " (and more of such files)" : "");
	all.others = 0;
}

/* The places */

static bool offer(int root, const char *path, bool follow, const char *where,
		  debug_files_fn *fn, void *arg)
{
	struct stat st;
	int fd = root < 0 ? -ENOENT : root_open(root, path, follow, &st);

	if (fd >= 0)
		return fn(arg, fd, &st, where);
	if (fd != -ENOENT && fd != -ENOTDIR)
		note_below(where, path, fd == -ENODEV ? "not a regular file" :
			   log_errno(fd));
	return false;
}

bool debug_files_by_path(const char *path, debug_files_fn *fn, void *arg)
{
	return path[0] == '/' &&
	       offer(all.symfs_fd, path, true, all.symfs, fn, arg);
}

bool debug_files_in_tree(const struct build_id *id, debug_files_fn *fn,
			 void *arg)
{
	bool enough = false;

	if (!id->len)
		return false;
	scan();
	for (size_t i = 0; i < all.tree.n && !enough; i++)
		enough = build_id_same(&all.tree.v[i].id, id) &&
			 offer(all.symfs_fd,
			       intern_bytes(&all.paths, all.tree.v[i].path,
					    NULL), false, all.symfs, fn, arg);
	return enough;
}

/* prefix/.build-id/12/3456....debug */
static bool by_id(int root, const char *prefix, const struct build_id *id,
		  const char *where, debug_files_fn *fn, void *arg)
{
	char text[BUILD_ID_TEXT], path[sizeof(usual) + BUILD_ID_TEXT + 32];

	if (id->len < 2)
		return false;
	build_id_text(id, text);
	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", prefix,
		 text, text + 2);
	return offer(root, path, true, where, fn, arg);
}

bool debug_files_in_dir(const struct build_id *id, debug_files_fn *fn,
			void *arg)
{
	return by_id(all.debug_fd, "", id,
		     all.debug_dir ? all.debug_dir : usual, fn, arg);
}

/* Of one stripped file */

struct stripped {
	struct elf *elf;
	const char *path;
	struct build_id id;
	uint32_t sum;			/* of .gnu_debuglink, if it has one */
	bool linked;
};

/* NULL, or why it is not known to be the file that the link is to. */
static const char *sum_wrong(int fd, const struct stat *st, uint32_t sum)
{
	uint8_t part[16 << 10];
	uint32_t is = 0;
	off_t at = 0;
	ssize_t n = 1;

	if (st->st_size > SUM_MOST - all.summed)
		return "too large for the checksum that the link to it tells";
	all.summed += st->st_size;
	for (; n > 0 && at < st->st_size; at += n) {
		n = pread(fd, part, sizeof(part), at);
		if (n > 0)
			is = crc32_add(is, part, (size_t)n);
	}
	return n > 0 && is == sum ? NULL :
	       "it has not the checksum that the link to it tells";
}

static bool attach(void *arg, int fd, const struct stat *st, const char *where)
{
	struct stripped *s = arg;
	struct build_id id;
	bool symtab, code, same, by_path;
	const char *why = NULL;
	struct elf *from;

	if (elf_open(fd, &from)) {
		debug_files_refused(fd, "no ELF file");
		close(fd);
		return false;
	}
	elf_look(from, &symtab, &code);
	elf_build_id(from, &id);
	by_path = !s->id.len && !s->linked && where == all.symfs;
	if (!s->id.len && s->linked && symtab)
		why = sum_wrong(fd, st, s->sum);
	same = s->id.len ? build_id_same(&id, &s->id) :
	       symtab && !why && (s->linked || by_path);
	if (symtab && same && !elf_take_symbols(s->elf, from)) {
		all.unsure += by_path;
		return true;
	}
	if (symtab && same)
		debug_files_refused(fd, "of another machine");
	else if (!same && s->id.len)
		debug_files_other(fd, &id, &s->id, s->path);
	else if (same && where != all.symfs)	/* there lie stripped ones */
		debug_files_refused(fd, "it has no .symtab");
	else if (why)
		debug_files_refused(fd, why);
	elf_close(from);
	return false;
}

/* By the name that it has of the other one. */
static bool by_link(struct stripped *s, int root)
{
	const char *name = strrchr(s->path, '/');
	int dir = name ? (int)(name - s->path) : 0;
	char link[ELF_LINK_MOST], path[4096];
	const struct {
		int root;
		const char *before, *behind;
	} places[] = {
		{ root, "", "" }, { root, "", "/.debug" }, { root, usual, "" },
		{ all.debug_fd, "", "" },
	};
	bool done = false;

	s->linked = name && elf_debuglink(s->elf, link, &s->sum);
	for (size_t i = 0; s->linked && !done &&
	     i < sizeof(places) / sizeof(*places); i++) {
		int n = snprintf(path, sizeof(path), "%s%.*s%s/%s",
				 places[i].before, dir, s->path,
				 places[i].behind, link);

		done = n < (int)sizeof(path) &&
		       offer(places[i].root, path, true, "", attach, s);
	}
	return done;
}

bool debug_files_attach(struct elf *e, const char *path, int root)
{
	struct stripped s = { .elf = e };
	unsigned others = all.others;
	bool symtab, code, found;

	elf_look(e, &symtab, &code);
	if (symtab)
		return false;
	elf_build_id(e, &s.id);
	if (!all.open)
		debug_files_open(&(struct name_options){ 0 });
	if (root < 0)
		root = all.symfs_fd >= 0 ? all.symfs_fd : all.root_fd;
	s.path = root_inside(root, path);
	found = debug_files_by_path(s.path, attach, &s) ||
		debug_files_in_dir(&s.id, attach, &s) ||
		by_id(root, usual, &s.id, "", attach, &s) ||
		by_link(&s, root) ||
		debug_files_in_tree(&s.id, attach, &s);
	if (found)			/* whatever else lay there */
		all.others = others;
	return found;
}

bool debug_files_attach_own(struct elf *e, int fd)
{
	char path[4096];

	return fs_path(fd, path, sizeof(path)) > 0 &&
	       debug_files_attach(e, path, -1);
}
