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

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/intern.h"
#include "base/log.h"
#include "base/vec.h"
#include "sym/debug_files.h"
#include "sym/root.h"

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
	bool at_path;			/* it is the one at its path here */
};

struct desk {
	int root_fd;			/* -1 = none */
	struct intern texts, keys;
	VEC(struct entry) files;	/* by number in keys */
	uint64_t work;
	unsigned missing, unsure[2];	/* [1]: unread */
	uint32_t first_missing;		/* path */
};

int desk_open(struct desk **out)
{
	struct desk *d = mem_zalloc(sizeof(*d));

	*out = d;
	if (!d)
		return -ENOMEM;
	d->work = WORK_MOST;
	d->root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return 0;
}

static void entry_close(struct entry *e)
{
	if (e->code != e->names)
		elf_close(e->code);
	elf_close(e->names);
}

void desk_close(struct desk *d)
{
	if (!d)
		return;
	if (d->root_fd >= 0)
		close(d->root_fd);
	for (size_t i = 0; i < d->files.n; i++)
		entry_close(&d->files.v[i]);
	vec_free(&d->files);
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

/* Unless what was looked for has been found. */
static void say_other(const struct desk *d, const struct entry *e)
{
	char want[BUILD_ID_TEXT], got[BUILD_ID_TEXT];

	if (!e->other_in || e->names)
		return;
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

static bool is_changed(const struct entry *e, const struct stat *st)
{
	return e->file.recorded && (uint64_t)st->st_mtime > e->file.recorded;
}

/* Looking for a file: what is tried is what was opened to be it. */
struct look {
	struct desk *d;
	struct entry *e;
	bool by_path;
};

static bool try(void *arg, int fd, const struct stat *st, const char *where)
{
	const struct look *l = arg;
	struct entry *e = l->e;
	struct build_id id;
	struct elf *elf;
	bool same;

	if (elf_open(fd, &elf)) {
		debug_files_refused(fd, "no ELF file");
		close(fd);
		return false;
	}
	elf_build_id(elf, &id);
	same = build_id_same(&id, &e->file.id);
	if (!e->file.id.len) {
		same = is_same_inode(e, st) || (l->by_path && *where);
		if (same && !*where && is_changed(e, st)) {
			debug_files_refused(fd, "it has no build-id, and was "
					    "changed after it was recorded");
			same = false;
		}
		l->d->unsure[e->file.unread] += same;
	}
	if (same) {
		entry_take(e, elf);
		return e->full;
	}
	if (l->by_path && e->file.id.len) {
		e->other = id;
		e->other_in = where;
	} else if (e->file.id.len) {
		debug_files_other(fd, &id, &e->file.id,
				  text_of(l->d, e->path));
	}
	elf_close(elf);
	return false;
}

static void look_here(struct look *l, const char *path)
{
	struct stat st;
	bool had;
	int fd = l->d->root_fd < 0 || path[0] != '/' ? -1 :
		 root_open(l->d->root_fd, path, true, &st);

	if (fd < 0)
		return;
	had = l->e->code != NULL;
	try(l, fd, &st, "");
	l->e->at_path = !had && l->e->code;
}

static void look_around(struct desk *d, struct entry *e)
{
	struct look path = { d, e, true }, id = { d, e, false };
	bool enough = debug_files_by_path(text_of(d, e->path), try, &path) ||
		      debug_files_in_dir(&e->file.id, try, &id) ||
		      debug_files_in_tree(&e->file.id, try, &id);

	say_other(d, e);
	if (!enough)
		look_here(&path, text_of(d, e->path));
	/* Together they have all that the file once had. */
	if (e->code && e->symtab && e->names != e->code) {
		if (elf_take_symbols(e->code, e->names)) {
			elf_close(e->names);	/* of another machine */
			e->symtab = false;
		}
		e->names = e->code;
	}
	/* One without symbols may have been met first. */
	if (e->code && !e->symtab && e->names != e->code) {
		elf_close(e->names);
		e->names = e->code;
	}
	if (e->code && !e->symtab &&
	    debug_files_attach(e->code, text_of(d, e->path),
			       e->at_path ? d->root_fd : -1))
		e->names = e->code;
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
	look_around(d, e);
	load(d, e);
	if (e->names)
		return;
	if (!debug_files_symfs())
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

struct elf *desk_code(struct desk *d, uint32_t file)
{
	struct entry *e = &d->files.v[file];

	look(d, e);
	return e->code;
}

void desk_report(const struct desk *d)
{
	log_count(d->unsure[0], "files without a build-id, which were taken "
		  "by their path alone");
	log_count(d->unsure[1], "files that were not read on the device, which "
		  "were taken by their path alone");
	if (!d->missing)
		return;
	log_notice("%s%s not found: functions are shown as offsets",
		   text_of(d, d->first_missing), d->missing > 1 ?
		   " and other files" : "");
	if (!debug_files_symfs())
		log_hint("--symfs names a folder with the device's files, or "
			 "those that they were stripped from");
}
