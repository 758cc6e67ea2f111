/* execs - the records of execsnoop's programs, put together.
 *
 * Each CPU has a buffer of its own before Linux 5.8, and a task may move while
 * its parts come: they wait until nothing older can come, and are sorted by
 * their times. A part that is missing shows by its number.
 */
#include "trace/execs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COMING_MAX = 1024 };	/* executions without their last part */

struct exec_part_at {
	uint64_t time;
	size_t order, at, len;	/* of its bytes */
};

void execs_put(struct execs *e, const void *data, size_t len)
{
	const struct exec_event *x = data;
	struct exec_part_at *to;

	if (len < EXEC_HEAD || x->type != EVENT_EXEC ||
	    x->len > len - EXEC_HEAD) {
		e->lost++;
		return;
	}
	to = vec_push(&e->parts);
	if (to) {
		*to = (struct exec_part_at){ x->time, e->parts.n,
					     e->bytes.len,
					     EXEC_HEAD + x->len };
		buf_mem(&e->bytes, data, to->len);
		while (e->bytes.len % 8)	/* records want alignment */
			buf_putc(&e->bytes, 0);
	}
	if (!to || e->bytes.err)
		e->err = -ENOMEM;
}

static void exec_free(struct exec *x)
{
	buf_free(&x->name);
	buf_free(&x->text);
	vec_free(&x->args);
}

static void forget(struct execs *e, size_t i)
{
	exec_free(&e->coming.v[i]);
	e->coming.n--;
	memmove(&e->coming.v[i], &e->coming.v[i + 1],
		(e->coming.n - i) * sizeof(e->coming.v[i]));
}

/* The execution that a part belongs to: its number among those coming, or
 * -ENOMEM. One that begins anew never came to its end. */
static int64_t find(struct execs *e, const struct exec_event *part)
{
	struct exec *x;
	size_t i = 0;

	while (i < e->coming.n && e->coming.v[i].task != part->task)
		i++;
	if (i < e->coming.n && !part->number && part->part != EXEC_END) {
		forget(e, i);
		e->lost++;
		i = e->coming.n;
	}
	if (i < e->coming.n)
		return (int64_t)i;
	if (e->coming.n == COMING_MAX) {
		forget(e, 0);
		e->lost++;
	}
	x = vec_push(&e->coming);
	if (!x)
		return -ENOMEM;
	*x = (struct exec){ .task = part->task };
	return (int64_t)e->coming.n - 1;
}

/* A text of its own; one that fills the record goes on beyond it. */
static void put_text(struct exec *x, struct buf *to,
		     const struct exec_event *part)
{
	size_t n = strnlen(part->data, part->len);

	if (part->unread)
		buf_putc(to, '?');
	buf_mem(to, part->data, n);
	if (part->len == EXEC_DATA)
		buf_puts(to, "...");
	buf_putc(to, '\0');
	x->unread += part->unread != 0;
}

static void put_area(struct exec *x, const struct exec_event *part)
{
	x->is_area = true;
	if (part->unread) {
		x->unread++;
		x->cut = true;
	} else if (!x->cut) {
		buf_mem(&x->text, part->data, part->len);
	}
	if (part->last && x->text.len < part->area)
		x->cut = true;
}

static void put_part(struct execs *e, struct exec *x,
		     const struct exec_event *part)
{
	if (part->part != EXEC_END && part->number != x->next) {
		e->lost += !x->broken;
		x->broken = x->cut = true;
	}
	x->next = part->number + 1;
	if (part->part == EXEC_FILE) {
		put_text(x, &x->name, part);
		x->script = part->script;
	} else if (part->part == EXEC_ARG) {
		put_text(x, &x->text, part);
	} else if (part->part == EXEC_AREA && !x->broken) {
		put_area(x, part);
	}
}

/* An interpreter's arguments are itself, at most one option for a script, the
 * file, and what the file was called with. */
static size_t args_before(const struct exec *x)
{
	for (size_t i = 1; x->script && i < x->args.n; i++)
		if (!strcmp(x->args.v[i], x->file))
			return i + 1;
	return 1;
}

static int split(struct exec *x)
{
	size_t at = 0, before;
	const char **slot;

	if (x->text.len && x->text.data[x->text.len - 1])
		buf_putc(&x->text, '\0');
	x->file = x->name.len ? x->name.data : NULL;
	while (!x->text.err && at < x->text.len) {
		slot = vec_push(&x->args);
		if (!slot)
			return -ENOMEM;
		*slot = x->text.data + at;
		at += strlen(*slot) + 1;
	}
	if (x->is_area && x->file && x->args.n) {
		before = args_before(x);
		x->args.n -= before;
		memmove(x->args.v, x->args.v + before,
			x->args.n * sizeof(*x->args.v));
	}
	return x->text.err ? x->text.err : x->name.err;
}

static void take_part(struct execs *e, const struct exec_event *part,
		      execs_show *show, void *arg)
{
	int64_t i = find(e, part);
	struct exec *x;

	if (i < 0) {
		e->err = (int)i;
		return;
	}
	x = &e->coming.v[i];
	put_part(e, x, part);
	if (!part->last)
		return;
	x->time = part->time;
	x->pid = part->pid;
	x->ppid = part->ppid;
	x->uid = part->uid;
	x->ret = part->ret;
	memcpy(x->comm, part->comm, COMM_SIZE);
	if (split(x))
		e->err = -ENOMEM;
	else
		show(arg, x);
	forget(e, (size_t)i);
}

static int by_time(const void *a, const void *b)
{
	const struct exec_part_at *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* What waits on moves to the front of the bytes. */
static void drop(struct execs *e, size_t n)
{
	struct buf rest = { 0 };

	memmove(e->parts.v, e->parts.v + n,
		(e->parts.n - n) * sizeof(*e->parts.v));
	e->parts.n -= n;
	for (size_t i = 0; i < e->parts.n; i++) {
		struct exec_part_at *p = &e->parts.v[i];
		size_t at = rest.len;

		buf_mem(&rest, e->bytes.data + p->at, (p->len + 7) & ~7ul);
		p->at = at;
		p->order = i;
	}
	if (rest.err) {
		e->lost += e->parts.n;
		e->parts.n = 0;
		e->err = rest.err;
	}
	buf_free(&e->bytes);
	e->bytes = rest;
	e->bytes.err = 0;
}

void execs_take(struct execs *e, uint64_t before, execs_show *show, void *arg)
{
	size_t n = 0;

	if (!e->parts.n || e->bytes.err)
		return;
	qsort(e->parts.v, e->parts.n, sizeof(*e->parts.v), by_time);
	for (; n < e->parts.n && e->parts.v[n].time < before; n++) {
		const char *p = e->bytes.data + e->parts.v[n].at;

		take_part(e, (const void *)p, show, arg);
	}
	drop(e, n);
}

void execs_free(struct execs *e)
{
	while (e->coming.n)
		forget(e, e->coming.n - 1);
	vec_free(&e->coming);
	vec_free(&e->parts);
	buf_free(&e->bytes);
}
