/* jitmap - names of generated code, from a /tmp/perf-PID.map file.
 *
 * A JIT appends a line for each piece of code, and writes over code that it
 * no longer needs, so pieces overlap and the later line is right. The lines
 * become ranges that do not overlap, once, by a sweep over the addresses: of
 * the entries that cover a place, the one from the latest line is on top of a
 * heap. Whoever can write the file is not trusted: sizes are bounded, and no
 * order of lines makes a lookup slow. */
#include "sym/jitmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "base/vec.h"
#include "sym/root.h"

enum {
	FILE_MOST = 256 << 20,
	ENTRIES_MOST = 1 << 21,
	LINE_MOST = 4096,
	WINDOW = 64 << 10,
};

/* Of an entry, or of the part of it that no later entry covers. The place of
 * the line in the file tells age and name. */
struct range {
	uint64_t start, end;
	uint32_t line;
};

struct jitmap {
	int fd;
	uint64_t mtime;
	size_t bad;
	VEC(struct range) ranges;
};

int jitmap_open(int root, uint32_t nspid, uint32_t uid)
{
	char path[40];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "tmp/perf-%u.map", nspid);
	fd = root_open(root, path, false, &st);
	if (fd < 0)
		return fd;
	if ((st.st_uid == uid || st.st_uid == 0) && st.st_size <= FILE_MOST)
		return fd;
	close(fd);
	return st.st_size > FILE_MOST ? -EFBIG : -EPERM;
}

static const char *hex_word(const char *p, const char *end, uint64_t *out)
{
	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	p = num_hex(p, end, out);
	if (!p || p >= end || *p != ' ')
		return NULL;
	while (p < end && *p == ' ')
		p++;
	return p;
}

/* The entry of a line (without its newline), and its name. */
static int line_parse(const char *p, size_t n, struct range *r,
		      const char **name, size_t *len)
{
	const char *end = p + n;
	uint64_t size = 0;

	if (n && end[-1] == '\r')
		end--;
	p = hex_word(p, end, &r->start);
	p = p ? hex_word(p, end, &size) : NULL;
	if (!p || p == end || !size || size > UINT64_MAX - r->start)
		return -EINVAL;
	r->end = r->start + size;
	*name = p;
	*len = (size_t)(end - p);
	return 0;
}

static int entry_add(struct jitmap *m, const char *line, size_t n, off_t at)
{
	struct range r = { .line = (uint32_t)at }, *to;
	const char *name;
	size_t len;

	if (line_parse(line, n, &r, &name, &len) ||
	    m->ranges.n >= ENTRIES_MOST) {
		m->bad++;
		return 0;
	}
	to = vec_push(&m->ranges);
	if (!to)
		return -ENOMEM;
	*to = r;
	return 0;
}

/* The lines of one window; returns how many bytes are done with. *skip says
 * that the window starts within a line that is too long. */
static ssize_t window_parse(struct jitmap *m, const char *w, size_t n,
			    off_t at, bool *skip)
{
	const char *p = w, *end = w + n, *newline;

	while ((newline = memchr(p, '\n', (size_t)(end - p)))) {
		size_t len = (size_t)(newline - p);
		int err = 0;

		if (*skip || len > LINE_MOST)
			m->bad++;
		else
			err = entry_add(m, p, len, at + (p - w));
		if (err)
			return err;
		*skip = false;
		p = newline + 1;
	}
	if (end - p > LINE_MOST) {
		*skip = true;
		p = end;
	}
	return p - w;
}

static int entries_read(struct jitmap *m, char *window)
{
	bool skip = false;
	off_t at = 0;

	while (at < FILE_MOST) {
		ssize_t n = pread(m->fd, window, WINDOW, at);

		if (n < 0)
			return -errno;
		n = window_parse(m, window, (size_t)n, at, &skip);
		if (n <= 0)
			return (int)n;
		at += n;
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* The sweep: a heap of entries, the latest line on top. */
struct sweep {
	const struct range *entries;
	uint32_t *heap;
	size_t n;
	uint64_t at;
	struct jitmap *to;
};

static bool later(const struct sweep *s, size_t i, size_t j)
{
	return s->entries[s->heap[i]].line > s->entries[s->heap[j]].line;
}

static void swap(struct sweep *s, size_t i, size_t j)
{
	uint32_t t = s->heap[i];

	s->heap[i] = s->heap[j];
	s->heap[j] = t;
}

static void heap_push(struct sweep *s, uint32_t entry)
{
	size_t i = s->n++;

	s->heap[i] = entry;
	for (; i && later(s, i, (i - 1) / 2); i = (i - 1) / 2)
		swap(s, i, (i - 1) / 2);
}

static void heap_pop(struct sweep *s)
{
	size_t i = 0, child;

	s->heap[0] = s->heap[--s->n];
	while ((child = 2 * i + 1) < s->n) {
		if (child + 1 < s->n && later(s, child + 1, child))
			child++;
		if (!later(s, child, i))
			return;
		swap(s, i, child);
		i = child;
	}
}

static int range_put(struct jitmap *m, uint64_t start, uint64_t end,
		     uint32_t line)
{
	struct range *last = m->ranges.n ? &m->ranges.v[m->ranges.n - 1] : NULL;

	if (last && last->line == line && last->end == start) {
		last->end = end;
		return 0;
	}
	last = vec_push(&m->ranges);
	if (!last)
		return -ENOMEM;
	*last = (struct range){ start, end, line };
	return 0;
}

/* Name everything from s->at up to `to`. */
static int sweep_to(struct sweep *s, uint64_t to)
{
	while (s->n && s->at < to) {
		const struct range *top = &s->entries[s->heap[0]];
		uint64_t end = top->end < to ? top->end : to;

		if (top->end <= s->at) {
			heap_pop(s);
			continue;
		}
		if (range_put(s->to, s->at, end, top->line))
			return -ENOMEM;
		s->at = end;
	}
	s->at = to;
	return 0;
}

static int ranges_make(struct jitmap *m)
{
	struct range *entries = m->ranges.v;
	size_t n = m->ranges.n;
	struct sweep s = { .entries = entries, .to = m };
	int err = 0;

	if (!n)
		return 0;
	s.heap = mem_zalloc(n * sizeof(*s.heap));
	if (!s.heap)
		return -ENOMEM;
	qsort(entries, n, sizeof(*entries), by_start);
	m->ranges.v = NULL;
	m->ranges.n = m->ranges.cap = 0;
	for (size_t i = 0; i < n && !err; i++) {
		err = sweep_to(&s, entries[i].start);
		heap_push(&s, (uint32_t)i);
	}
	if (!err)
		err = sweep_to(&s, UINT64_MAX);
	mem_free(s.heap);
	mem_free(entries);
	return err;
}

static int jitmap_fill(struct jitmap *m)
{
	char *window = mem_zalloc(WINDOW);
	struct stat st;
	int err;

	if (!window)
		return -ENOMEM;
	err = fstat(m->fd, &st) ? -errno : entries_read(m, window);
	mem_free(window);
	if (err)
		return err;
	m->mtime = (uint64_t)st.st_mtim.tv_sec * 1000000000u +
		   (uint64_t)st.st_mtim.tv_nsec;
	return ranges_make(m);
}

int jitmap_load(int fd, struct jitmap **out)
{
	struct jitmap *m = mem_zalloc(sizeof(*m));
	int err;

	if (!m) {
		close(fd);
		return -ENOMEM;
	}
	m->fd = fd;
	err = jitmap_fill(m);
	if (err)
		jitmap_free(m);
	else
		*out = m;
	return err;
}

void jitmap_free(struct jitmap *m)
{
	if (!m)
		return;
	close(m->fd);
	vec_free(&m->ranges);
	mem_free(m);
}

/* Does the line still say what it said? Its name, then. */
static int name_read(const struct jitmap *m, const struct range *r,
		     uint64_t addr, struct buf *to)
{
	char line[LINE_MOST + 1];
	ssize_t n = pread(m->fd, line, sizeof(line), r->line);
	struct range now = { 0 };
	const char *newline, *name;
	size_t len;

	newline = n > 0 ? memchr(line, '\n', (size_t)n) : NULL;
	if (!newline || line_parse(line, (size_t)(newline - line), &now, &name,
				   &len) ||
	    addr < now.start || addr >= now.end)
		return -ESTALE;
	for (size_t i = 0; i < len; i++) {
		if (name[i])
			buf_putc(to, name[i]);
		else
			buf_puts(to, "\\x00");
	}
	return to->err;
}

int jitmap_find(struct jitmap *m, uint64_t addr, struct buf *name)
{
	size_t low = 0, high = m->ranges.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct range *r = &m->ranges.v[mid];

		if (addr >= r->start && addr < r->end)
			return name_read(m, r, addr, name);
		if (addr < r->start)
			high = mid;
		else
			low = mid + 1;
	}
	return -ENOENT;
}

size_t jitmap_ranges(const struct jitmap *m)
{
	return m->ranges.n;
}

size_t jitmap_bad(const struct jitmap *m)
{
	return m->bad;
}

uint64_t jitmap_mtime(const struct jitmap *m)
{
	return m->mtime;
}
