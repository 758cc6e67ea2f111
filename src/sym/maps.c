/* maps - rows of /proc/PID/maps: what is mapped where in a process. */
#include "sym/maps.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"

/* PATH_MAX bytes of path, each at worst as \ooo, after 25 + 48 columns. */
enum { LINE_ROOM = 4 * 4096 + 256 };

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* Memory that the kernel backs by a hidden file has that file's name. */
static bool path_is_memory(const char *path)
{
	if (path[0] != '/' && path[0] != '[')
		return !*path;
	return starts(path, "//anon") || starts(path, "/SYSV") ||
	       starts(path, "/dev/zero") || starts(path, "/anon_hugepage") ||
	       starts(path, "[anon") || starts(path, "[heap]") ||
	       starts(path, "[stack");
}

enum map_kind map_kind(const struct map_row *row)
{
	if (path_is_memory(row->path))
		return MAPS_ANON;
	if (row->inode || row->path[0] == '/')
		return MAPS_FILE;
	if (!strcmp(row->path, "[vdso]"))
		return MAPS_VDSO;
	return MAPS_SPECIAL;
}

static int octal(const char *p, const char *end)
{
	int n = 0;

	if (end - p < 4 || p[0] != '\\')
		return -1;
	for (int i = 1; i < 4; i++) {
		if (p[i] < '0' || p[i] > '7')
			return -1;
		n = n * 8 + p[i] - '0';
	}
	return n < 256 ? n : -1;
}

/* The kernel writes a newline in a name as \012, and nothing else so. */
static int path_decode(const char *p, const char *end, struct buf *path)
{
	const char *mark;

	buf_reset(path);
	while ((mark = memchr(p, '\\', (size_t)(end - p)))) {
		bool newline = octal(mark, end) == '\n';

		buf_mem(path, p, (size_t)(mark - p));
		buf_putc(path, newline ? '\n' : '\\');
		p = mark + (newline ? 4 : 1);
	}
	buf_mem(path, p, (size_t)(end - p));
	buf_putc(path, '\0');
	return path->err;
}

/* The character c, then a number: ":1a". NULL when it is not there. */
static const char *after(const char *p, const char *end, char c,
			 const char *(*num)(const char *, const char *,
					    uint64_t *), uint64_t *out)
{
	if (!p || p >= end || *p != c)
		return NULL;
	return num(p + 1, end, out);
}

int maps_line(const char *line, size_t n, struct map_row *row,
	      struct buf *path)
{
	const char *p = line, *end = line + n;
	uint64_t major = 0, minor = 0;

	*row = (struct map_row){ 0 };
	p = num_hex(p, end, &row->start);
	p = after(p, end, '-', num_hex, &row->end);
	if (!p || end - p < 6 || p[0] != ' ' || p[5] != ' ' ||
	    row->start >= row->end)
		return -EINVAL;
	row->exec = p[3] == 'x';
	row->write = p[2] == 'w';
	p = after(p + 5, end, ' ', num_hex, &row->off);
	p = after(p, end, ' ', num_hex, &major);
	p = after(p, end, ':', num_hex, &minor);
	p = after(p, end, ' ', num_dec, &row->inode);
	if (!p || (p < end && *p != ' '))
		return -EINVAL;
	row->major = (uint32_t)major;
	row->minor = (uint32_t)minor;
	while (p < end && *p == ' ')
		p++;
	if (path_decode(p, end, path))
		return -ENOMEM;
	row->path = path->data;
	return strlen(row->path) + 1 == path->len ? 0 : -EINVAL;
}

struct reading {
	int (*fn)(void *arg, const struct map_row *row);
	void *arg;
	unsigned *bad;
	struct buf path;
	char room[LINE_ROOM];
	size_t have;
	bool skipping;		/* within a line that is too long */
};

static int take_line(struct reading *r, const char *line, size_t n)
{
	struct map_row row;
	int err;

	if (r->skipping) {
		r->skipping = false;
		return 0;
	}
	err = maps_line(line, n, &row, &r->path);
	if (err == -EINVAL) {
		++*r->bad;
		return 0;
	}
	return err ? err : r->fn(r->arg, &row);
}

static int take_lines(struct reading *r)
{
	char *p = r->room, *end = p + r->have, *newline;

	while ((newline = memchr(p, '\n', (size_t)(end - p)))) {
		int err = take_line(r, p, (size_t)(newline - p));

		if (err)
			return err;
		p = newline + 1;
	}
	r->have = (size_t)(end - p);
	memmove(r->room, p, r->have);
	if (r->have == sizeof(r->room)) {
		*r->bad += !r->skipping;
		r->skipping = true;
		r->have = 0;
	}
	return 0;
}

/* A last line without a newline is half a line: not to be trusted. */
int maps_read(int fd, int (*fn)(void *arg, const struct map_row *row),
	      void *arg, unsigned *bad)
{
	struct reading r;
	ssize_t n;
	int err = 0;

	/* Not by an initializer, which would clear the room as well. */
	r.fn = fn;
	r.arg = arg;
	r.bad = bad;
	r.path = (struct buf){ 0 };
	r.have = 0;
	r.skipping = false;
	for (;;) {
		n = read(fd, r.room + r.have, sizeof(r.room) - r.have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		r.have += (size_t)n;
		err = take_lines(&r);
		if (err)
			break;
	}
	if (!err && n < 0)
		err = -errno;
	*bad += !err && r.have && !r.skipping;
	buf_free(&r.path);
	return err;
}
