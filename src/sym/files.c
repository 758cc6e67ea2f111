/* files - the mapped files of all processes. */
#include "sym/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/intern.h"
#include "base/log.h"
#include "base/vec.h"
#include "sym/debug_files.h"
#include "sym/elf.h"
#include "sym/mapped.h"
#include "sym/root.h"

/* include/uapi/linux/fs.h: declared with long, written as an int. */
#define GET_GENERATION _IOR('v', 1, long)

/* In memory at a time: tables, and symbols of all of them together. */
enum { TABLES_MOST = 256, SYMBOLS_MOST = 4 << 20 };

/* What all tables together, also those loaded again, may cost: a thousand times
 * what a large library does. */
#define WORK_MOST (4 * ELF_WORK_MOST)

/* What a mapping says of its file, without the generation. */
struct file_key {
	uint64_t inode;
	uint32_t major, minor;
};

struct file {
	struct file_key key;
	uint32_t generation;	/* 0 = not known */
	uint32_t path;		/* in files.paths */
	uint32_t older;		/* file with the same key + 1; 0 = none */
	int fd;			/* -1 = not open */
	struct elf *elf;
	size_t symbols;
	bool image;		/* elf is in memory, there is no descriptor */
	uint64_t used;		/* files.clock when its table was last used */
	bool bad;		/* not usable as ELF: said once */
	int err;		/* of opening or reading it; 0 = none */
	bool large;		/* too large a symbol table: said once */
	bool debugdata_bad;	/* said once */
};

struct files {
	struct intern keys, paths;
	VEC(uint32_t) newest;	/* by key: the file put last */
	VEC(struct file) all;
	unsigned open, most, dropped, tables;
	size_t symbols;
	uint64_t clock;
	uint64_t work;		/* left for loading tables */
};

struct files *files_new(unsigned most)
{
	struct files *f = mem_zalloc(sizeof(*f));

	if (!f)
		return NULL;
	f->most = most;
	f->work = WORK_MOST;
	return f;
}

static void table_drop(struct files *f, struct file *file)
{
	if (!file->elf)
		return;
	if (elf_error(file->elf))
		file->err = elf_error(file->elf);
	elf_close(file->elf);
	file->elf = NULL;
	f->tables--;
	f->symbols -= file->symbols;
}

void files_free(struct files *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->all.n; i++) {
		table_drop(f, &f->all.v[i]);
		if (f->all.v[i].fd >= 0)
			close(f->all.v[i].fd);
	}
	intern_free(&f->keys);
	intern_free(&f->paths);
	vec_free(&f->newest);
	vec_free(&f->all);
	mem_free(f);
}

static int64_t file_add(struct files *f, uint32_t key_id,
			const struct file_key *key, uint32_t generation,
			uint32_t path)
{
	struct file *file = vec_push(&f->all);

	if (!file)
		return -ENOMEM;
	*file = (struct file){
		.key = *key, .generation = generation, .path = path,
		.older = f->newest.v[key_id], .fd = -1,
	};
	f->newest.v[key_id] = (uint32_t)f->all.n;
	return (int64_t)f->all.n - 1;
}

static int64_t key_put(struct files *f, const struct file_key *key)
{
	int64_t id = intern_put(&f->keys, key, sizeof(*key));

	if (id >= 0 && (size_t)id == f->newest.n) {
		uint32_t *newest = vec_push(&f->newest);

		if (!newest)
			return -ENOMEM;
		*newest = 0;
	}
	return id < 0 || (size_t)id < f->newest.n ? id : -ENOMEM;
}

/* A file of that key and generation: the same generation, else one that is
 * open (its number cannot have been used again), else the newest whose
 * generation does not speak against it. 0, or its number + 1. */
static uint32_t version_find(const struct files *f, uint32_t newest,
			     uint32_t generation)
{
	uint32_t best = 0;

	for (uint32_t i = newest; i; i = f->all.v[i - 1].older) {
		const struct file *file = &f->all.v[i - 1];

		if (generation && file->generation == generation)
			return i;
		if (generation && file->generation)
			continue;
		if (!best || (file->fd >= 0 && f->all.v[best - 1].fd < 0))
			best = i;
	}
	return best;
}

static size_t bytes_held(const struct files *f)
{
	return f->paths.len + f->all.n * (sizeof(*f->all.v) +
					  2 * sizeof(struct file_key) +
					  2 * sizeof(struct intern_key));
}

int64_t files_put_within(struct files *f, const struct map_row *row,
			 size_t most)
{
	struct file_key key = { row->inode, row->major, row->minor };
	bool full = bytes_held(f) > most;
	int64_t id = full ? intern_find(&f->keys, &key, sizeof(key)) :
		     key_put(f, &key), path;
	uint32_t found;

	if (id < 0)
		return full ? -ENOSPC : id;
	found = version_find(f, f->newest.v[id], row->generation);
	if (found) {
		struct file *file = &f->all.v[found - 1];

		if (!file->generation)
			file->generation = row->generation;
		return found - 1;
	}
	if (full)
		return -ENOSPC;
	path = intern_put(&f->paths, row->path, strlen(row->path));
	if (path < 0)
		return path;
	return file_add(f, (uint32_t)id, &key, row->generation,
			(uint32_t)path);
}

int64_t files_put(struct files *f, const struct map_row *row)
{
	return files_put_within(f, row, SIZE_MAX);
}

bool files_held(const struct files *f, uint32_t file)
{
	return f->all.v[file].fd >= 0 || f->all.v[file].image;
}

bool files_room(struct files *f)
{
	if (f->open < f->most)
		return true;
	f->dropped++;
	return false;
}

unsigned files_dropped(const struct files *f)
{
	return f->dropped;
}

/* 0 where the file system does not tell. */
static uint32_t fd_generation(int fd)
{
	uint64_t room = 0;
	uint32_t generation;

	if (ioctl(fd, GET_GENERATION, &room))
		return 0;
	memcpy(&generation, &room, sizeof(generation));
	return generation;
}

/* The number for an opened file: `file`, another version of its key that has
 * the descriptor's generation, or a new one. */
static int64_t version_for(struct files *f, uint32_t file, uint32_t generation)
{
	struct file_key key = f->all.v[file].key;
	uint32_t known = f->all.v[file].generation, found;
	int64_t id;

	if (!generation || known == generation)
		return file;
	id = key_put(f, &key);
	if (id < 0)
		return id;
	found = version_find(f, f->newest.v[id], generation);
	if (found && f->all.v[found - 1].generation == generation)
		return found - 1;
	if (!known)
		return file;
	return file_add(f, (uint32_t)id, &key, generation,
			f->all.v[file].path);
}

void files_failed(struct files *f, uint32_t file, int err)
{
	f->all.v[file].err = err;
}

unsigned files_unread(const struct files *f, const char **first, int *err)
{
	unsigned n = 0;

	for (uint32_t i = (uint32_t)f->all.n; i--; ) {
		const struct file *file = &f->all.v[i];
		int one = file->elf && elf_error(file->elf) ?
			  elf_error(file->elf) : file->err;

		if (!one || !file->used)	/* nobody asked for it */
			continue;
		n++;
		*first = files_path(f, i);
		*err = one;
	}
	return n;
}

static int64_t file_adopt(struct files *f, uint32_t file, int fd)
{
	uint32_t generation = fd_generation(fd);
	int64_t id = version_for(f, file, generation);
	struct file *to;

	if (id < 0 || f->all.v[id].fd >= 0) {
		close(fd);
		return id;
	}
	to = &f->all.v[id];
	to->fd = fd;
	to->err = 0;
	if (generation)
		to->generation = generation;
	f->open++;
	return id;
}

int64_t files_take(struct files *f, uint32_t number, int fd,
		   const struct stat *st)
{
	const struct file *file = &f->all.v[number];
	struct map_row own, row = { .inode = file->key.inode,
				    .major = file->key.major,
				    .minor = file->key.minor };
	int err = mapped_check(fd, st, &row, &own);
	int64_t id = number;

	if (err == -EXDEV) {
		own.path = files_path(f, number);
		own.generation = fd_generation(fd);
		id = files_put(f, &own);
	} else if (err) {
		id = err;
	}
	if (id >= 0)
		return file_adopt(f, (uint32_t)id, fd);
	close(fd);
	return id;
}

/* The change time, because nobody can set it back: an inode that is used
 * again, and a file that was written over, both show by it. */
static uint64_t changed_at(const struct stat *st)
{
	return (uint64_t)st->st_ctim.tv_sec * 1000000000u +
	       (uint64_t)st->st_ctim.tv_nsec;
}

int64_t files_open_path(struct files *f, uint32_t file, int root,
			uint64_t before)
{
	const char *path = root_inside(root, files_path(f, file));
	uint32_t generation, known = f->all.v[file].generation;
	struct stat st;
	int fd;

	if (path[0] != '/')
		return -ENOENT;
	if (!files_room(f))
		return -EMFILE;
	fd = root_open(root, path, true, &st);
	if (fd < 0)
		return fd;
	generation = fd_generation(fd);
	if (changed_at(&st) <= before &&
	    (!generation || !known || generation == known))
		return files_take(f, file, fd, &st);
	close(fd);
	return -ESTALE;
}

/* Make room for one more table. */
static void table_drop_oldest(struct files *f)
{
	struct file *oldest = NULL;

	for (size_t i = 0; i < f->all.n; i++) {
		struct file *file = &f->all.v[i];

		if (file->elf && !file->image &&
		    (!oldest || file->used < oldest->used))
			oldest = file;
	}
	if (oldest)
		table_drop(f, oldest);
}

/* The descriptor that elf_open() takes over is a second one, so that a table
 * that was dropped can be read again. */
static int table_open(struct file *file)
{
	int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	err = elf_open(fd, &file->elf);
	if (err)
		close(fd);
	return err;
}

/* A table that is too large keeps its addresses, but has no symbols. */
static void symbols_load(struct files *f, struct file *file)
{
	uint64_t none = 0;
	int err = elf_load(file->elf, file->large ? &none : &f->work);

	if (!file->debugdata_bad)
		file->debugdata_bad = elf_debugdata_say(file->elf,
			files_path(f, (uint32_t)(file - f->all.v)));
	if (err && err != -EFBIG)
		file->err = err;
	if (err != -EFBIG || file->large)
		return;
	file->large = true;
	log_notice("%s: too large a symbol table: not used",
		   files_path(f, (uint32_t)(file - f->all.v)));
}

static void table_load(struct files *f, struct file *file, int root)
{
	const char *path = files_path(f, (uint32_t)(file - f->all.v));
	int err = table_open(file);

	if (err) {
		file->bad = true;
		log_notice("%s: not usable as ELF: %s", path, log_errno(err));
		return;
	}
	debug_files_attach(file->elf, path, root);
	symbols_load(f, file);
	file->symbols = elf_symbols(file->elf);
	f->symbols += file->symbols;
	f->tables++;
}

int files_set_image(struct files *f, uint32_t number, void *image, size_t size)
{
	struct file *file = &f->all.v[number];
	int err = elf_open_image(image, size, &file->elf);

	if (err) {
		file->bad = true;
		mem_free(image);
		return err;
	}
	file->image = true;
	f->tables++;
	return 0;
}

struct elf *files_elf(struct files *f, uint32_t number, int root)
{
	struct file *file = &f->all.v[number];

	file->used = ++f->clock;
	if (file->elf || file->bad || file->fd < 0)
		return file->elf;
	if (f->tables >= TABLES_MOST || f->symbols >= SYMBOLS_MOST)
		table_drop_oldest(f);
	table_load(f, file, root);
	return file->elf;
}

const char *files_path(const struct files *f, uint32_t file)
{
	return intern_bytes(&f->paths, f->all.v[file].path, NULL);
}

void files_row(const struct files *f, uint32_t file, struct map_row *out)
{
	const struct file_key *key = &f->all.v[file].key;

	*out = (struct map_row){
		.inode = key->inode, .major = key->major, .minor = key->minor,
		.path = files_path(f, file),
	};
}

void files_name(const struct files *f, uint32_t file, struct buf *name)
{
	files_label(files_path(f, file), name);
}

void files_label(const char *path, struct buf *name)
{
	static const char gone[] = " (deleted)", memfd[] = "/memfd:";
	const char *base;
	size_t n = strlen(path), tail = sizeof(gone) - 1;

	if (n > tail && !memcmp(path + n - tail, gone, tail))
		n -= tail;
	/* The name of a memfd is free text and may hold slashes. */
	if (!strncmp(path, memfd, sizeof(memfd) - 1))
		base = path;
	else
		base = memrchr(path, '/', n);
	base = base && base + 1 < path + n ? base + 1 : path;
	buf_mem(name, base, (size_t)(path + n - base));
}

bool files_same(const struct files *f, uint32_t a, uint32_t b)
{
	const struct file *x = &f->all.v[a], *y = &f->all.v[b];

	return a == b || (x->key.inode == y->key.inode && x->path == y->path &&
			  (x->key.major != y->key.major ||
			   x->key.minor != y->key.minor));
}
