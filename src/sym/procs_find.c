/* procs_find - what an address of a process means; procs.c has the theory. */
#include "sym/procs_data.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"
#include "sym/elf.h"
#include "sys/host.h"

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Putting a process's records in order. */

static int by_time(const void *a, const void *b)
{
	const struct boundary *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* What the row says, apart from when. */
static int by_content(const struct row *x, const struct row *y)
{
	int d = order(x->image, y->image);

	d = d ? d : order(x->start, y->start);
	d = d ? d : order(x->end, y->end);
	d = d ? d : order(x->off, y->off);
	d = d ? d : order(x->kind, y->kind);
	d = d ? d : order(x->id, y->id);
	return d ? d : order(x->exec, y->exec);
}

static int by_image_and_start(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int d = by_content(x, y);

	d = d ? d : order(y->snap, x->snap);	/* records first */
	return d ? d : order(x->time, y->time);
}

static void rows_merge(struct proc *c)
{
	size_t to = 0;

	for (size_t i = 1; i < c->rows.n; i++) {
		struct row *a = &c->rows.v[to], *b = &c->rows.v[i];

		if (a->snap == NONE && b->snap == NONE && !by_content(a, b))
			a->last = a->last > b->last ? a->last : b->last;
		else
			c->rows.v[++to] = *b;
	}
	c->rows.n = to + 1;
}

static uint32_t image_at(const struct proc *c, uint64_t time)
{
	size_t i = c->bounds.n;

	while (i > 1 && c->bounds.v[i - 1].time > time)
		i--;
	return (uint32_t)i - 1;
}

static void snap_file(const struct proc *c, struct snap *s)
{
	uint32_t image = image_at(c, s->from);

	if (image_at(c, s->to) != image) {
		s->image = NONE;
		return;
	}
	s->image = image;
	s->time = image_at(c, s->asked) == image ? s->asked : s->from;
}

static void row_file(const struct proc *c, struct row *r)
{
	if (r->snap == NONE) {
		r->image = image_at(c, r->time);
		return;
	}
	r->image = c->snaps.v[r->snap].image;
	r->time = r->last = c->snaps.v[r->snap].time;
}

/* Where each image's rows begin, and how far they reach. */
static void rows_index(struct proc *c)
{
	size_t image = 0;

	for (size_t i = 0; i < c->rows.n; i++) {
		struct row *r = &c->rows.v[i];

		for (; image < c->bounds.n && image <= r->image; image++)
			c->bounds.v[image].first = i;
		r->reach = r->end;
		if (i && r[-1].image == r->image && r[-1].reach > r->end)
			r->reach = r[-1].reach;
	}
	for (; image < c->bounds.n; image++)
		c->bounds.v[image].first = c->rows.n;
}

void proc_sort(struct proc *c)
{
	if (!c->unsorted)
		return;
	c->unsorted = false;
	qsort(c->bounds.v, c->bounds.n, sizeof(*c->bounds.v), by_time);
	for (size_t i = 0; i < c->snaps.n; i++)
		snap_file(c, &c->snaps.v[i]);
	for (size_t i = 0; i < c->rows.n; i++)
		row_file(c, &c->rows.v[i]);
	if (c->rows.n) {
		qsort(c->rows.v, c->rows.n, sizeof(*c->rows.v),
		      by_image_and_start);
		rows_merge(c);
	}
	rows_index(c);
}

/* The rows of one image that cover an address, those that start last first. */
struct walk {
	const struct proc *c;
	uint64_t addr;
	size_t i, first;
};

static struct walk walk_start(const struct proc *c, uint32_t image,
			      uint64_t addr)
{
	struct walk w = { c, addr, c->rows.n, c->bounds.v[image].first };
	size_t low = w.first;

	/* Rows that belong to no image, numbered NONE, are at the end. */
	if (image + 1u < c->bounds.n)
		w.i = c->bounds.v[image + 1].first;
	while (low < w.i) {
		size_t mid = low + (w.i - low) / 2;
		const struct row *r = &c->rows.v[mid];

		if (r->image != image || r->start > addr)
			w.i = mid;
		else
			low = mid + 1;
	}
	return w;
}

static const struct row *walk_next(struct walk *w)
{
	while (w->i > w->first) {
		const struct row *r = &w->c->rows.v[--w->i];

		if (r->reach <= w->addr)
			break;
		if (r->end > w->addr)
			return r;
	}
	return NULL;
}

/* What bounds the time of a row that explains a sample of time T: the last
 * whole snapshot up to T shows all that is left of what came before, and the
 * next one that procs_seen() took is of another image. */
struct span {
	uint32_t image;
	uint64_t from, at, to;
	bool whole;
	bool parent;	/* of a parent, at the fork */
};

static struct span span_at(const struct proc *c, uint64_t time)
{
	struct span s = { image_at(c, time), 0, time, UINT64_MAX,
			  false, false };

	for (size_t i = 0; i < c->snaps.n; i++) {
		const struct snap *n = &c->snaps.v[i];

		if (n->image != s.image)
			continue;
		if (n->whole && n->time <= time && n->time >= s.from) {
			s.from = n->time;
			s.whole = true;
		}
		if (n->seen && n->time == n->asked && n->time > time &&
		    n->time < s.to)
			s.to = n->time;
	}
	return s;
}

/* When the row was last said to be there, up to T; a merged row only tells
 * its first and its last time. */
static uint64_t row_time(const struct row *r, uint64_t time)
{
	return r->last <= time ? r->last : r->time;
}

/* The row that was there at the end of the span's first part. */
static const struct row *row_until(const struct proc *c, const struct span *s,
				   uint64_t addr, bool exec)
{
	struct walk w = walk_start(c, s->image, addr);
	const struct row *best = NULL, *r;

	while ((r = walk_next(&w)))
		if (row_time(r, s->at) >= s->from && r->time <= s->at &&
		    (r->exec || !exec) &&
		    (!best || row_time(r, s->at) > row_time(best, s->at)))
			best = r;
	return best;
}

/* Of a parent, only what a snapshot shows can have been there at the fork; a
 * record tells of what came later. */
static bool is_after(const struct span *s, const struct row *r)
{
	return r->exec && r->last > s->at && r->time < s->to &&
	       !(s->parent && r->snap == NONE);
}

static const struct row *row_first_after(const struct proc *c,
					 const struct span *s,
					 uint64_t addr)
{
	struct walk w = walk_start(c, s->image, addr);
	const struct row *best = NULL, *r;

	while ((r = walk_next(&w)))
		if (is_after(s, r) && (!best || r->time < best->time))
			best = r;
	return best;
}

/* Executable memory without a file, between two rows of one file that lie as
 * if it were the file's: a copy of the file's text (on huge pages, say). */
static bool hole_file(const struct proc *c, const struct span *when,
		      const struct row *hole, uint64_t *start, uint32_t *file)
{
	struct span s = *when;
	const struct row *a, *b;
	uint64_t low = hole->start, high = hole->end;
	int n = HOLE_ROWS_MOST;

	s.at = hole->time;
	while ((a = row_until(c, &s, low - 1, false)) && n-- &&
	       a->kind == MAPS_ANON && a->exec && a->start < low)
		low = a->start;
	while ((b = row_until(c, &s, high, false)) && n-- &&
	       b->kind == MAPS_ANON && b->exec && b->end > high)
		high = b->end;
	if (!a || !b || a->kind != MAPS_FILE || b->kind != MAPS_FILE ||
	    a->id != b->id || a->start - a->off != b->start - b->off)
		return false;
	*start = a->start - a->off;
	*file = a->id;
	return true;
}

static void place_set(const struct proc *c, const struct span *s,
		      const struct row *r, uint64_t addr, struct place *out)
{
	uint64_t bias;

	*out = (struct place){
		.kind = r->kind, .file = r->id, .off = addr - r->start + r->off,
		.start = r->start, .end = r->end, .time = r->time,
	};
	if (r->kind == MAPS_ANON && hole_file(c, s, r, &bias, &out->file)) {
		out->kind = MAPS_FILE;
		out->off = addr - bias;
	}
}

static bool place_same(const struct procs *p, const struct place *a,
		       const struct place *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind != MAPS_FILE)
		return true;
	return a->off == b->off && files_same(p->files, a->file, b->file);
}

/* Is there something after T that contradicts the place? */
static bool place_certain(const struct procs *p, const struct proc *c,
			  const struct span *s, uint64_t addr,
			  const struct place *place)
{
	struct walk w = walk_start(c, s->image, addr);
	const struct row *r;

	while ((r = walk_next(&w))) {
		struct place other;

		if (!is_after(s, r))
			continue;
		place_set(c, s, r, addr, &other);
		if (!place_same(p, place, &other))
			return false;
	}
	return true;
}

static int place_in_image(const struct procs *p, const struct proc *c,
			  const struct span *s, uint64_t addr,
			  struct place *out)
{
	const struct row *r = row_until(c, s, addr, true);

	if (!r)
		r = row_first_after(c, s, addr);
	if (!r)
		return -ENOENT;
	place_set(c, s, r, addr, out);
	if (!place_certain(p, c, s, addr, out))
		return -ENOTUNIQ;
	if (out->kind == MAPS_ANON || out->kind == MAPS_SPECIAL)
		out->label = intern_bytes(&p->labels, out->file, NULL);
	return 0;
}

/* In the image, else in what it was forked from, as that was then. */
static int place_find(const struct procs *p, struct proc_at at, uint64_t addr,
		      struct place *out)
{
	struct proc *c = at.proc;

	for (int i = 0; c && i < ANCESTORS_MOST; i++) {
		const struct boundary *b;
		struct span s;
		int err;

		proc_sort(c);
		s = span_at(c, at.time);
		s.parent = i > 0;
		err = place_in_image(p, c, &s, addr, out);
		b = &c->bounds.v[s.image];
		if (err != -ENOENT || s.whole || b->ppid == NONE)
			return err;
		c = proc_find(p, b->ppid);
		at.time = b->time;
	}
	return -ENOENT;
}

/* Is it the image that runs now, if the process runs? */
static bool is_newest(struct proc_at at)
{
	struct proc *c = at.proc;
	struct span s;

	proc_sort(c);
	s = span_at(c, at.time);
	return s.image + 1u == c->bounds.n && s.to == UINT64_MAX;
}

/* What marks the image that runs now, as far as is known. */
static uint32_t mark_known(const struct proc *c)
{
	for (size_t n = c->snaps.n; n--; )
		if (c->snaps.v[n].seen &&
		    c->snaps.v[n].image + 1u == c->bounds.n)
			return c->snaps.v[n].mark;
	return NONE;
}

/* Read the maps again, at most once a second for a process. True when there
 * may be something new. An exec whose record is still to come is found out by
 * the image's mark. */
static bool proc_reread(struct procs *p, struct proc_at at)
{
	uint64_t now = host_time();
	struct proc *c = at.proc;
	bool again = false;
	uint32_t mark;
	int dir;

	if (!is_newest(at) || (c->reread && now - c->reread < SECOND))
		return false;
	c->reread = now;
	mark = mark_known(c);
	dir = mark == NONE ? -1 : proc_dir(c->pid);
	if (dir < 0)
		return false;
	if (proc_has_image(dir))
		again = !proc_snap(p, c, dir, now, mark);
	close(dir);
	return again;
}

/* The page of vsyscalls of x86_64 is at one place in every process, and often
 * not in its maps. */
static bool is_vsyscall(uint64_t addr)
{
	return addr - 0xffffffffff600000u < 4096;
}

int procs_place(struct procs *p, struct proc_at at, uint64_t addr,
		struct place *out)
{
	int err;

	if (is_vsyscall(addr)) {
		*out = (struct place){ .kind = MAPS_SPECIAL,
				       .label = "[vsyscall]" };
		return 0;
	}
	if (!at.proc)
		return -ENOENT;
	err = place_find(p, at, addr, out);
	/* Nonsense from a stack without frame pointers is not looked for. */
	if (err == -ENOENT && addr >= 4096 && addr >> 57 == 0 &&
	    proc_reread(p, at))
		err = place_find(p, at, addr, out);
	return err;
}

/* What a snapshot noted of the image, or of the one it was forked from; NULL:
 * there is none. `same` is false in the second case. */
static const struct snap *image_snap(const struct procs *p, struct proc_at at,
				     bool *same)
{
	struct proc *c = at.proc;

	for (int i = 0; c && i < ANCESTORS_MOST; i++) {
		uint32_t image;

		proc_sort(c);
		image = image_at(c, at.time);
		*same = !i;
		for (size_t n = c->snaps.n; n--; )
			if (c->snaps.v[n].image == image)
				return &c->snaps.v[n];
		at.time = c->bounds.v[image].time;
		if (!image)
			return NULL;
		if (c->bounds.v[image].ppid != NONE)
			c = proc_find(p, c->bounds.v[image].ppid);
		else
			at.time--;	/* the image before the exec */
	}
	return NULL;
}

/* Opening a place's file late. */

/* What was tried once, a file of a process or below a root folder, is not tried
 * again: the file to use instead, the same one if there is none. NULL: memory
 * is out. */
static uint32_t *tried(struct procs *p, uint32_t file, uint32_t where,
		       bool *before)
{
	uint32_t key[2] = { file, where }, *as = NULL;
	int64_t id = intern_put(&p->tried, key, sizeof(key));

	*before = id >= 0 && (size_t)id < p->tried_as.n;
	if (*before)
		return &p->tried_as.v[id];
	if (id >= 0 && (size_t)id == p->tried_as.n)
		as = vec_push(&p->tried_as);
	if (as)
		*as = file;
	return as;
}

/* The number that was opened for the place's, unless that is another file. */
static uint32_t held_as(const struct procs *p, const struct place *place,
			int64_t id, uint32_t *as)
{
	if (id >= 0 && files_same(p->files, (uint32_t)id, place->file))
		*as = (uint32_t)id;
	return *as;
}

static uint32_t hold_alive(struct procs *p, struct proc_at at,
			   const struct place *place)
{
	struct map_row row = { .start = place->start, .end = place->end,
			       .path = files_path(p->files, place->file) };
	bool before;
	uint32_t *as = is_newest(at) ?
		       tried(p, place->file, at.proc->number + ROOTS_MOST,
			     &before) : NULL;
	int64_t id = -ENOENT;
	int dir;

	if (!as || before)
		return as ? *as : place->file;
	dir = proc_dir(at.proc->pid);
	if (dir < 0)
		return place->file;
	if (proc_has_image(dir))
		id = proc_hold(p, dir, &row, place->file);
	heads_end(&p->heads);
	close(dir);
	return held_as(p, place, id, as);
}

/* The folder that the image has for "/": its number, and a descriptor. */
static uint32_t image_root(const struct procs *p, struct proc_at at, int *root)
{
	bool same;
	const struct snap *s = image_snap(p, at, &same);
	uint32_t number = s && s->root != NONE ? s->root : ROOTS_MOST - 1;

	*root = number < p->roots.n ? p->root_fds[number] : p->own_root;
	return number;
}

uint32_t proc_hold_path(struct procs *p, struct proc_at at,
			const struct place *place)
{
	uint64_t now = host_time();
	uint64_t changed = clock_ns(CLOCK_REALTIME);
	bool before;
	int root;
	uint32_t number = image_root(p, at, &root);
	uint32_t *as = root < 0 || p->no_files ? NULL :
		       tried(p, place->file, number, &before);
	int64_t id;

	if (p->no_files)
		return place->file;
	if (!as)
		files_failed(p->files, place->file, root < 0 ? root : -ENOMEM);
	if (!as || before)
		return as ? *as : place->file;
	if (place->time < now)
		changed -= now - place->time;
	id = files_open_path(p->files, place->file, root, changed);
	if (id < 0)
		files_failed(p->files, place->file, (int)id);
	return held_as(p, place, id, as);
}

struct elf *procs_elf(struct procs *p, struct proc_at at, struct place *place)
{
	int root;

	if (place->kind != MAPS_FILE && place->kind != MAPS_VDSO)
		return NULL;
	if (place->kind == MAPS_FILE && !files_held(p->files, place->file))
		place->file = hold_alive(p, at, place);
	if (place->kind == MAPS_FILE && !files_held(p->files, place->file))
		place->file = proc_hold_path(p, at, place);
	image_root(p, at, &root);
	return files_elf(p->files, place->file, root);
}

void procs_label(const struct procs *p, const struct place *place,
		 struct buf *name)
{
	const char *label = place->label;
	size_t n;

	if (place->kind == MAPS_FILE) {
		files_name(p->files, place->file, name);
		return;
	}
	if (place->kind == MAPS_VDSO)
		label = "[vdso]";
	else if (label[0] != '[')
		label = "[anon]";
	n = strlen(label);
	buf_mem(name, label + 1, n - 1 - (label[n - 1] == ']'));
}

/* JIT maps. The file is the pid's: of the image that runs now, unless another
 * one began after the file was last written. */

static uint64_t to_monotonic(uint64_t real)
{
	int64_t ago = (int64_t)(clock_ns(CLOCK_REALTIME) - real);

	return host_time() - (uint64_t)ago;
}

/* When the process began, or 0: field 22 of stat, in 1/100 s of boot time;
 * the name, which may hold anything, ends at the last parenthesis. */
static uint64_t born_at(const struct proc *c, int dir)
{
	const char *p = NULL;
	char stat[1024];
	uint64_t ticks = 0;

	for (size_t i = c->bounds.n; i-- > 1; )
		if (c->bounds.v[i].ppid != NONE)
			return c->bounds.v[i].time;
	if (dir >= 0 && proc_read(dir, "stat", stat, sizeof(stat)) > 0)
		p = strrchr(stat, ')');
	for (int field = 2; p && field < 22; field++) {
		p = strchr(p, ' ');
		p += p != NULL;
	}
	if (p)
		num_dec(p, p + strlen(p), &ticks);
	if (!ticks)
		return 0;
	return ticks * (SECOND / 100) - (clock_ns(CLOCK_BOOTTIME) -
					 host_time());
}

/* File times advance in ticks of up to 10 ms, and process times as well. */
static bool jit_is_stale(const struct proc *c, const struct jitmap *m, int dir)
{
	uint64_t born = born_at(c, dir), written;

	written = to_monotonic(jitmap_mtime(m)) + SECOND / 50;
	return (int64_t)(written - born) < 0;
}

static void jit_say(struct proc *c, uint32_t nspid, int err)
{
	const char *why = err == -EPERM ? "belongs to another user" :
			  err == -ENODEV || err == -ELOOP ?
			  "not a regular file" : log_errno(err);

	if (err == -ENOENT || err == -ENOTDIR || c->jit_said)
		return;
	c->jit_said = true;
	log_notice("/tmp/perf-%u.map of process %u: %s: not used", nspid,
		   c->pid, why);
}

static int jit_open(const struct procs *p, const struct proc *c,
		    const struct snap *s)
{
	int fd = -ENOENT;

	if (s->root != NONE && s->uid != NONE)
		fd = jitmap_open(p->root_fds[s->root], s->nspid, s->uid);
	if (fd == -ENOENT && c->jit_fd >= 0) {
		fd = fcntl(c->jit_fd, F_DUPFD_CLOEXEC, 0);
		fd = fd < 0 ? -errno : fd;
	}
	return fd;
}

/* May the map be read? All maps together, and again and again, are bounded. */
static bool jit_room(struct procs *p, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if (p->jit_bytes + (uint64_t)st.st_size <= JIT_BYTES_MOST) {
		p->jit_bytes += (uint64_t)st.st_size;
		return true;
	}
	if (!p->jit_full)
		log_notice("/tmp/perf-PID.map: %u MB read: the rest is not "
			   "used", (unsigned)(JIT_BYTES_MOST >> 20));
	p->jit_full = true;
	return false;
}

/* Takes fd over. */
static int jit_take(struct procs *p, struct proc *c, const struct snap *s,
		    int dir, int fd)
{
	int err = fd < 0 ? fd : jitmap_load(fd, &c->jit);

	if (err) {
		jit_say(c, s->nspid, err);
		return err;
	}
	if (jit_is_stale(c, c->jit, dir))
		err = -ENOENT;
	else if (p->jit_ranges + jitmap_ranges(c->jit) > JIT_RANGES_MOST)
		jit_say(c, s->nspid, err = -EFBIG);
	if (err) {
		jitmap_free(c->jit);
		c->jit = NULL;
		return err;
	}
	if (jitmap_bad(c->jit) && !c->jit_said)
		log_notice("/tmp/perf-%u.map of process %u: %zu lines that "
			   "are no entries skipped", s->nspid, c->pid,
			   jitmap_bad(c->jit));
	c->jit_said = true;
	p->jit_ranges += jitmap_ranges(c->jit);
	return 0;
}

static bool jit_replace(struct procs *p, struct proc *c, const struct snap *s,
			int dir)
{
	int fd = jit_open(p, c, s);

	if (fd >= 0 && !jit_room(p, fd)) {
		close(fd);
		return false;
	}
	if (c->jit)
		p->jit_ranges -= jitmap_ranges(c->jit);
	jitmap_free(c->jit);
	c->jit = NULL;
	jit_take(p, c, s, dir, fd);
	return c->jit;
}

/* Load the map, or load it again when the process may have added to it. False
 * when nothing is new. What takes long is not done often. */
static bool jit_load(struct procs *p, struct proc_at at)
{
	uint64_t start = host_time(), took;
	struct proc *c = at.proc;
	bool same, first = !c->jit_next, loaded = false;
	const struct snap *s;
	int dir;

	if (start < c->jit_next)
		return false;
	c->jit_next = start + SECOND;
	s = image_snap(p, at, &same);
	if (!s || !same)
		return false;
	dir = proc_dir(c->pid);
	if (first || (dir >= 0 && proc_mark(p, dir) == s->mark))
		loaded = jit_replace(p, c, s, dir);
	if (dir >= 0)
		close(dir);
	took = host_time() - start;
	c->jit_next = start + took +
		      (took * JIT_PAUSE > SECOND ? took * JIT_PAUSE : SECOND);
	return loaded;
}

/* An image that is not the newest has the file if it is older than what came
 * after the image. */
static bool jit_is_of(struct proc_at at)
{
	const struct proc *c = at.proc;
	uint32_t image = image_at(c, at.time);

	return c->jit && (image + 1u == c->bounds.n ||
			  to_monotonic(jitmap_mtime(c->jit)) <
			  c->bounds.v[image + 1].time);
}

int procs_jit(struct procs *p, struct proc_at at, uint64_t addr,
	      struct buf *name)
{
	struct proc *c = at.proc;
	int err = -ENOENT;

	if (!c)
		return -ENOENT;
	proc_sort(c);
	if (!c->jit_next)
		jit_load(p, at);
	if (jit_is_of(at))
		err = jitmap_find(c->jit, addr, name);
	if (err == -ENOENT && jit_load(p, at) && jit_is_of(at))
		err = jitmap_find(c->jit, addr, name);
	return err == -ENOMEM ? err : err ? -ENOENT : 0;
}
