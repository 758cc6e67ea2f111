/* procs - which file was mapped where, in which process, at which time.
 *
 * Of each pid there is a list of what was mapped when (from perf's mapping
 * records, which come one by one, and from snapshots of /proc/PID/maps, which
 * say all there is at a time), and a list of boundaries: a fork that made the
 * process, an exec that replaced its image. What lies between two boundaries
 * is one image. Records of different CPUs come out of order, so both lists
 * are put in order when somebody asks, not before.
 *
 * A sample knows its image, by the time T at which the image was first seen,
 * but not its own time. What an address means is what was mapped there at T,
 * or first after T; where another file was mapped there later, within the
 * same image, nobody can tell, and that is what is said.
 *
 * A snapshot is asked for by an event of time T and read a little later, at R.
 * If a boundary lies between, it shows the next image: it is filed under R
 * then, and under nothing when a boundary lies within the reading itself. */
#include "sym/procs_data.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "sym/files.h"
#include "sym/jitmap.h"
#include "sym/mapped.h"
#include "sym/root.h"
#include "sys/feature.h"
#include "sys/fs.h"
#include "sys/host.h"

enum {
	EXITS_BETWEEN = 256,	/* looking for what can be forgotten */
	NAMES_MOST = 64 << 20,	/* bytes of files and labels; half of it while
				 * a process was never sampled */
};
#define FORGET_AFTER (10ull * SECOND)

struct procs *procs_new(void)
{
	struct procs *p = mem_zalloc(sizeof(*p));
	struct rlimit limit;
	rlim_t most = 256;

	if (!p)
		return NULL;
	if (!getrlimit(RLIMIT_NOFILE, &limit))
		most = limit.rlim_cur;
	/* A third for perf events and others, and for two more descriptors for
	 * each of the symbol tables. */
	p->files = files_new((unsigned)(most > 8192 ? 4096 : most / 3));
	p->rows_most = procs_rows_most();
	p->no_map_files = feature_is_hidden("map_files");
	p->own_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p->own_root < 0)
		p->own_root = -errno;
	if (!p->files) {
		procs_free(p);
		return NULL;
	}
	return p;
}

static void proc_free(struct proc *c)
{
	jitmap_free(c->jit);
	if (c->jit_fd >= 0)
		close(c->jit_fd);
	vec_free(&c->rows);
	vec_free(&c->bounds);
	vec_free(&c->snaps);
	mem_free(c);
}

void procs_free(struct procs *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->all.n; i++)
		if (p->all.v[i])
			proc_free(p->all.v[i]);
	for (size_t i = 0; i < p->roots.n; i++)
		close(p->root_fds[i]);
	if (p->own_root >= 0)
		close(p->own_root);
	vec_free(&p->all);
	vec_free(&p->scratch);
	intern_free(&p->pids);
	intern_free(&p->labels);
	intern_free(&p->roots);
	intern_free(&p->tried);
	intern_free(&p->marks);
	vec_free(&p->tried_as);
	heads_free(&p->heads);
	files_free(p->files);
	mem_free(p);
}

void procs_keep_heads(struct procs *p, bool files)
{
	p->keep_heads = true;
	p->no_files = !files;
}

void procs_file(const struct procs *p, uint32_t file, struct map_row *out)
{
	files_row(p->files, file, out);
}

const struct head *procs_head(const struct procs *p, uint32_t file)
{
	return heads_get(&p->heads, file);
}

/* Processes and their records. */

struct proc *proc_find(const struct procs *p, uint32_t pid)
{
	int64_t id = intern_find(&p->pids, &pid, sizeof(pid));

	return id < 0 || (size_t)id >= p->all.n ? NULL : p->all.v[id];
}

/* A pid that was forgotten has a place already. */
static struct proc **proc_place(struct procs *p, uint32_t pid, uint32_t *number)
{
	int64_t id = intern_put(&p->pids, &pid, sizeof(pid));
	struct proc **to;

	if (id < 0)
		return NULL;
	*number = (uint32_t)id;
	while ((size_t)id >= p->all.n) {
		to = vec_push(&p->all);
		if (!to)
			return NULL;
		*to = NULL;
	}
	return &p->all.v[id];
}

static struct proc *proc_add(struct procs *p, uint32_t pid)
{
	struct proc *c = mem_zalloc(sizeof(*c)), **to;
	struct boundary *begin = c ? vec_push(&c->bounds) : NULL;

	if (c)
		c->jit_fd = -1;
	to = begin ? proc_place(p, pid, &c->number) : NULL;
	if (!to) {
		if (c)
			proc_free(c);
		return NULL;
	}
	*begin = (struct boundary){ .ppid = NONE };
	c->pid = pid;
	*to = c;
	return c;
}

static struct proc *proc_get(struct procs *p, uint32_t pid)
{
	struct proc *c = proc_find(p, pid);

	return c ? c : proc_add(p, pid);
}

static int bound_add(struct procs *p, uint32_t pid, uint32_t ppid,
		     uint64_t time)
{
	struct proc *c = proc_get(p, pid);
	struct boundary *b = c ? vec_push(&c->bounds) : NULL;

	if (!b)
		return -ENOMEM;
	*b = (struct boundary){ .time = time, .ppid = ppid };
	c->unsorted = true;
	if (c->left < time)
		c->left = 0;
	return 0;
}

int procs_fork(struct procs *p, uint32_t pid, uint32_t ppid, uint64_t time)
{
	if (pid == ppid)
		return 0;	/* a thread */
	return bound_add(p, pid, ppid, time);
}

int procs_exec(struct procs *p, uint32_t pid, uint64_t time)
{
	return bound_add(p, pid, NONE, time);
}

/* A busy system runs thousands of programs that no sample meets. */
static void forget(struct procs *p, uint64_t before)
{
	for (size_t i = 0; i < p->all.n; i++) {
		struct proc *c = p->all.v[i];

		if (!c || c->snaps.n || c->jit || c->jit_fd >= 0 || !c->left ||
		    c->left >= before)
			continue;
		proc_free(c);
		p->all.v[i] = NULL;
	}
}

void procs_exit(struct procs *p, uint32_t pid, uint64_t time)
{
	struct proc *c = proc_find(p, pid);

	if (c && c->left < time)
		c->left = time;
	if (++p->exits % EXITS_BETWEEN == 0 && time > FORGET_AFTER)
		forget(p, time - FORGET_AFTER);
}

struct proc_at procs_at(struct procs *p, uint32_t pid, uint64_t time)
{
	return (struct proc_at){ proc_find(p, pid), time };
}

struct proc_at procs_after_exec(struct proc_at at)
{
	struct proc *c = at.proc;

	if (!c)
		return at;
	proc_sort(c);
	for (size_t i = 1; i < c->bounds.n; i++)
		if (c->bounds.v[i].ppid == NONE) {
			if (at.time < c->bounds.v[i].time)
				at.time = c->bounds.v[i].time;
			break;
		}
	return at;
}

bool procs_is_last(struct proc_at at)
{
	struct proc *c = at.proc;

	if (!c)
		return true;
	proc_sort(c);
	return c->bounds.v[c->bounds.n - 1].time <= at.time;
}

unsigned procs_dropped(const struct procs *p)
{
	return files_dropped(p->files);
}

unsigned procs_unread(const struct procs *p, const char **first, int *err)
{
	return files_unread(p->files, first, err);
}

unsigned procs_hidden(const struct procs *p)
{
	return p->hidden;
}

/* Reading a process while it lives; `dir` is what proc_dir() gave. */

ssize_t proc_read(int dir, const char *name, char *to, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, to, size - 1);
	if (n < 0)
		n = -errno;
	to[n < 0 ? 0 : n] = '\0';
	close(fd);
	return n;
}

/* The auxiliary vector has addresses that every exec draws anew. */
uint32_t proc_mark(struct procs *p, int dir)
{
	char auxv[1024];
	ssize_t n = proc_read(dir, "auxv", auxv, sizeof(auxv));
	int64_t id = n > 0 ? intern_put(&p->marks, auxv, (size_t)n) : -1;

	return id < 0 ? NONE : (uint32_t)id;
}

/* The last (`column` NONE) or the given number of "Key:\t1\t2\n". */
static uint32_t status_num(const char *text, const char *key, unsigned column,
			   uint32_t otherwise)
{
	const char *p = strstr(text, key), *end;
	uint64_t n = otherwise;

	if (!p)
		return otherwise;
	p += strlen(key);
	end = p + strcspn(p, "\n");
	for (unsigned i = 0; p < end && i <= column; i++) {
		p += strspn(p, " \t");
		if (!num_dec(p, end, &n))
			break;
		p += strcspn(p, " \t\n");
	}
	return (uint32_t)n;
}

/* The folder that the process has for "/", opened once for each mount
 * namespace and place in it. */
static uint32_t root_get(struct procs *p, int dir)
{
	struct root_key key = { 0 };
	char ns[64];
	struct stat st;
	ssize_t n = readlinkat(dir, "ns/mnt", ns, sizeof(ns));
	int64_t id;
	int fd;

	if (n <= 5 || fstatat(dir, "root", &st, 0))
		return NONE;
	num_dec(ns + 5, ns + n, &key.ns);	/* mnt:[4026531841] */
	key.dev = st.st_dev;
	key.inode = st.st_ino;
	id = intern_find(&p->roots, &key, sizeof(key));
	if (id >= 0)
		return (uint32_t)id;
	if (p->roots.n >= ROOTS_MOST)
		return NONE;
	/* It may have ended since: that says nothing of others' folder. */
	fd = openat(dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	id = fd < 0 ? -1 : intern_put(&p->roots, &key, sizeof(key));
	if (id >= 0)
		p->root_fds[id] = fd;
	else if (fd >= 0)
		close(fd);
	return id < 0 ? NONE : (uint32_t)id;
}

/* Who the process is, for its JIT map. */
static void snap_identify(struct procs *p, const struct proc *c, int dir,
			  struct snap *s)
{
	char status[4096];	/* the lines of interest are the first ones */

	if (proc_read(dir, "status", status, sizeof(status)) < 0)
		status[0] = '\0';
	/* Names come first and are escaped: no line of theirs looks so. */
	s->nspid = status_num(status, "\nNSpid:", NONE - 1, c->pid);
	s->uid = status_num(status, "\nUid:", 1, NONE);
	s->root = root_get(p, dir);
}

static int open_map_file(struct procs *p, int dir, const struct map_row *row,
			 struct stat *st)
{
	char name[64];
	int fd;

	if (p->no_map_files)
		return -EPERM;
	snprintf(name, sizeof(name), "map_files/%llx-%llx",
		 (unsigned long long)row->start, (unsigned long long)row->end);
	fd = root_open_link(dir, name, st);
	if (fd == -EPERM)
		p->no_map_files = true;
	return fd;
}

/* The program itself can be opened without the privilege for map_files. */
static int open_exe(int dir, const struct map_row *row, struct stat *st)
{
	char path[4096 + 1];
	ssize_t n = readlinkat(dir, "exe", path, sizeof(path));

	if (n < 0 || (size_t)n != strlen(row->path) ||
	    memcmp(path, row->path, (size_t)n))
		return -ENOENT;
	return root_open_link(dir, "exe", st);
}

/* What is mapped may be replaced before it is opened: only files_take() tells
 * whether that is the row's file. */
static int64_t hold(struct procs *p, int dir, const struct map_row *row,
		    uint32_t file)
{
	struct stat st;
	int64_t id;
	int fd;

	if (p->no_files || files_held(p->files, file) ||
	    !files_room(p->files))
		return file;
	fd = open_map_file(p, dir, row, &st);
	if (fd < 0)
		fd = open_exe(dir, row, &st);
	id = fd < 0 ? fd : files_take(p->files, file, fd, &st);
	if (id < 0)
		files_failed(p->files, file, (int)id);
	return id >= 0 || id == -ENOMEM ? id : file;
}

int64_t proc_hold(struct procs *p, int dir, const struct map_row *row,
		  uint32_t file)
{
	int64_t id = hold(p, dir, row, file);

	if (p->keep_heads && id >= 0)
		heads_read(&p->heads, dir, row, (uint32_t)id);
	return id;
}

/* The vDSO is no file, so it gets a key that no file has. A process can write
 * over its own: the image for processes of our word size is ours, and another
 * one counts for the process that has it. */

static bool vdso_is_own(uint64_t start)
{
	return (start > UINT32_MAX) == (sizeof(void *) == 8);
}

static int64_t vdso_put(struct procs *p, const struct proc *c,
			const struct map_row *row)
{
	struct map_row as = {
		.inode = vdso_is_own(row->start) ? 0 : 1ull + c->number,
		.major = NONE, .minor = NONE, .path = "[vdso]",
	};

	return files_put(p->files, &as);
}

static void *vdso_of(struct procs *p, int dir, const struct map_row *row,
		     size_t *size)
{
	void *image;
	ssize_t n;
	int fd;

	if (vdso_is_own(row->start))
		return mapped_vdso(size);
	*size = (size_t)(row->end - row->start);
	if (*size > VDSO_MOST || p->vdsos >= VDSOS_MOST)
		return NULL;
	p->vdsos++;
	fd = openat(dir, "mem", O_RDONLY | O_CLOEXEC);
	image = fd < 0 ? NULL : mem_zalloc(*size);
	n = image ? pread(fd, image, *size, (off_t)row->start) : 0;
	if (fd >= 0)
		close(fd);
	if (n == (ssize_t)*size)
		return image;
	mem_free(image);
	return NULL;
}

static void vdso_hold(struct procs *p, int dir, const struct map_row *row,
		      uint32_t file)
{
	size_t size = 0;
	void *image;

	if (files_held(p->files, file))
		return;
	image = vdso_of(p, dir, row, &size);
	if (image)
		files_set_image(p->files, file, image, size);
}

/* Adding rows. */

static int64_t label_put(struct procs *p, const char *label, size_t most)
{
	size_t n = strlen(label);
	int64_t id = intern_find(&p->labels, label, n);

	if (id >= 0)
		return id;
	return p->labels.len > most ? -ENOSPC :
	       intern_put(&p->labels, label, n);
}

/* `dir` is -1 when the file need not be opened now. */
static int64_t row_id(struct procs *p, const struct proc *c, int dir,
		      const struct map_row *m, enum map_kind kind)
{
	size_t most = c->snaps.n ? NAMES_MOST : NAMES_MOST / 2;
	int64_t id;

	if (kind == MAPS_ANON || kind == MAPS_SPECIAL)
		return label_put(p, m->path, most);
	if (kind == MAPS_FILE) {
		id = files_put_within(p->files, m, most);
		return id >= 0 && dir >= 0 && m->exec ?
		       proc_hold(p, dir, m, (uint32_t)id) : id;
	}
	id = vdso_put(p, c, m);
	if (id >= 0 && dir >= 0)
		vdso_hold(p, dir, m, (uint32_t)id);
	return id;
}

static int row_set(struct procs *p, const struct proc *c, int dir,
		   uint64_t time, uint32_t snap, const struct map_row *m,
		   struct row *r)
{
	enum map_kind kind = map_kind(m);
	int64_t id = row_id(p, c, dir, m, kind);

	if (id == -ENOSPC)
		p->lost_rows++;
	if (id < 0)
		return (int)id;
	*r = (struct row){
		.start = m->start, .end = m->end,
		.off = kind == MAPS_FILE ? m->off : 0, .time = time,
		.last = time, .id = (uint32_t)id, .snap = snap,
		.kind = (uint8_t)kind, .exec = m->exec,
	};
	return 0;
}

static int rows_add(struct procs *p, struct proc *c, const struct row *rows,
		    size_t n)
{
	if (!procs_room(p, n))
		return 0;
	if (!vec_room((void **)&c->rows.v, &c->rows.cap, c->rows.n + n,
		      sizeof(*rows)))
		return -ENOMEM;
	if (n)
		memcpy(c->rows.v + c->rows.n, rows, n * sizeof(*rows));
	c->rows.n += n;
	c->unsorted = true;
	return 0;
}

/* The process is gone, so its mappings cannot be opened any more; and its files
 * may be gone, too, when names are asked for. */
static void row_hold_path(struct procs *p, struct proc *c, const struct row *r,
			  uint64_t time)
{
	struct place place = { .kind = r->kind, .file = r->id,
			       .time = r->time };

	if (r->kind == MAPS_FILE && !files_held(p->files, r->id))
		proc_hold_path(p, (struct proc_at){ c, time }, &place);
}

static void proc_missed(struct procs *p, struct proc *c, uint64_t time)
{
	c->missed = true;
	proc_sort(c);
	for (size_t i = 0; i < c->rows.n; i++)
		row_hold_path(p, c, &c->rows.v[i], time);
}

int procs_map(struct procs *p, uint32_t pid, uint64_t time,
	      const struct map_row *row)
{
	struct proc *c = proc_get(p, pid);
	int dir = -1, err;
	struct row r;

	if (!c)
		return -ENOMEM;
	if (row->start >= row->end || !row->exec)
		return 0;
	/* What is not sampled need not be opened. */
	if (c->snaps.n && map_kind(row) == MAPS_FILE)
		dir = proc_dir(pid);
	err = row_set(p, c, dir, time, NONE, row, &r);
	heads_end(&p->heads);
	if (dir >= 0)
		close(dir);
	if (err == -ENOSPC)
		return 0;
	if (!err)
		err = rows_add(p, c, &r, 1);
	if (!err && c->missed)
		row_hold_path(p, c, &r, time);
	if (!err)
		proc_tidy(p, c);
	return err;
}

/* Reading maps: executable rows count, and the rows of files next to memory
 * that is executable, which may be a copy of their text. */
struct reading {
	struct procs *p;
	const struct proc *c;
	int dir;
	uint32_t snap;
	uint64_t time;
	uint64_t anon_end;	/* of the last executable row without a file */
	bool made;		/* there is code that no linker made */
	struct map_row last;	/* the row before, if it was a file's */
	struct buf last_path;
};

static int reading_add(struct reading *r, const struct map_row *row)
{
	struct row *to = vec_push(&r->p->scratch);
	int err = to ? row_set(r->p, r->c, r->dir, r->time, r->snap, row, to)
		     : -ENOMEM;

	r->p->scratch.n -= to && err;
	return err == -ENOSPC ? 0 : err;
}

static int reading_keep(struct reading *r, const struct map_row *row)
{
	buf_reset(&r->last_path);
	buf_mem(&r->last_path, row->path, strlen(row->path) + 1);
	r->last = *row;
	r->last.path = r->last_path.data;
	return r->last_path.err;
}

static int reading_row(void *arg, const struct map_row *row)
{
	struct reading *r = arg;
	enum map_kind kind = map_kind(row);
	bool anon = row->exec && kind == MAPS_ANON;
	int err = 0;

	heads_pass(&r->p->heads, row);
	r->made |= anon || (row->exec && !strncmp(row->path, "/memfd:", 7));
	if (anon && r->last.end == row->start && r->last.path)
		err = reading_add(r, &r->last);
	r->last.path = NULL;
	if (!err && (row->exec ||
		     (kind == MAPS_FILE && row->start == r->anon_end)))
		err = reading_add(r, row);
	else if (!err && kind == MAPS_FILE)
		err = reading_keep(r, row);
	if (anon)
		r->anon_end = row->end;
	return err;
}

/* A container's /tmp goes with its last process, whoever holds its root. */
static void jit_hold(struct procs *p, struct proc *c, const struct snap *s)
{
	int fd = -1;

	if (s->root != NONE && s->uid != NONE &&
	    (c->jit_fd >= 0 || p->jit_fds < JIT_FDS_MOST))
		fd = jitmap_open(p->root_fds[s->root], s->nspid, s->uid);
	if (fd < 0)
		return;
	if (c->jit_fd >= 0)
		close(c->jit_fd);
	else
		p->jit_fds++;
	c->jit_fd = fd;
}

/* The maps, as they are, into p->scratch. -ESTALE: of another image. */
static int snap_maps(struct procs *p, const struct proc *c, int dir,
		     struct snap *s, uint32_t mark)
{
	struct reading r = {
		.p = p, .c = c, .dir = dir, .time = s->asked,
		.snap = (uint32_t)c->snaps.n - 1,
	};
	unsigned bad = 0;
	int fd = openat(dir, "maps", O_RDONLY | O_CLOEXEC), err;

	p->scratch.n = 0;
	if (fd < 0)
		return 0;
	err = maps_read(fd, reading_row, &r, &bad);
	heads_end(&p->heads);
	close(fd);
	buf_free(&r.last_path);
	s->mark = proc_mark(p, dir);
	if (mark != NONE && s->mark != mark)
		return -ESTALE;
	s->made = r.made;
	/* The text ends early when the process leaves its memory meanwhile. */
	s->whole = mark == NONE && !err && !bad && proc_has_image(dir);
	return err == -ENOMEM ? err : 0;
}

static int snap_read(struct procs *p, struct proc *c, int dir, struct snap *s,
		     uint32_t mark)
{
	int err;

	s->from = host_time();
	err = snap_maps(p, c, dir, s, mark);
	s->to = host_time();
	if (err == -ESTALE)
		return err;
	if (rows_add(p, c, p->scratch.v, p->scratch.n))
		err = -ENOMEM;
	if (s->made && p->no_files)
		snap_identify(p, c, dir, s);
	if (s->made)
		jit_hold(p, c, s);
	return err;
}

int proc_snap(struct procs *p, struct proc *c, int dir, uint64_t time,
	      uint32_t mark)
{
	struct snap *s = vec_push(&c->snaps);
	int err;

	if (!s)
		return -ENOMEM;
	*s = (struct snap){
		.asked = time, .root = NONE, .image = NONE, .mark = NONE,
		.seen = mark == NONE,
	};
	c->unsorted = true;
	if (!p->no_files)
		snap_identify(p, c, dir, s);
	err = snap_read(p, c, dir, s, mark);
	c->snaps.n -= err == -ESTALE;
	return err;
}

int procs_seen(struct procs *p, uint32_t pid, uint64_t time)
{
	struct proc *c = proc_get(p, pid);
	int dir, err = 0;

	if (!c)
		return -ENOMEM;
	dir = proc_dir(pid);
	if (dir < 0) {
		proc_missed(p, c, time);
		return 0;
	}
	c->missed = false;
	if (proc_has_image(dir))
		err = proc_snap(p, c, dir, time, NONE);
	else if (errno == EACCES)
		p->hidden++;
	else				/* a zombie, or a kernel thread */
		proc_missed(p, c, time);
	close(dir);
	return err;
}
