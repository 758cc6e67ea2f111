/* changes - the functions whose share differs between two profiles. */
#include "render/changes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/out.h"

enum { NEW, OLD };

/* The function of a frame; NULL when memory is out. */
static struct change *change_of(struct changes *c,
				const struct flame_frame *frame)
{
	struct change *change;
	int64_t id;

	buf_reset(&c->key);
	buf_putc(&c->key, (char)frame->kind);
	buf_mem(&c->key, frame->name, frame->len);
	if (c->key.err)
		return NULL;
	id = intern_put(&c->functions, c->key.data, c->key.len);
	if (id < 0)
		return NULL;
	if ((size_t)id < c->v.n)
		return &c->v.v[id];
	change = vec_push(&c->v);
	if (change)
		*change = (struct change){ 0 };
	return change;
}

int changes_add(struct changes *c, const struct flame_frame *frames, size_t n,
		uint64_t value, bool old)
{
	c->stacks++;
	c->totals[old] = c->totals[old] > UINT64_MAX - value
			 ? UINT64_MAX : c->totals[old] + value;
	for (size_t i = 0; i < n; i++) {
		struct change *change = change_of(c, &frames[i]);

		if (!change)
			return -ENOMEM;
		if (change->seen != c->stacks)
			change->total[old] += (double)value;
		change->seen = c->stacks;
		if (i == n - 1)
			change->self[old] += (double)value;
	}
	return 0;
}

void changes_free(struct changes *c)
{
	intern_free(&c->functions);
	vec_free(&c->v);
	buf_free(&c->key);
	*c = (struct changes){ 0 };
}

/* Printing */

struct row {
	double self[2], total[2];	/* percent */
	const char *key;
	size_t len;
};

static double percent(double part, uint64_t whole)
{
	return whole ? 100 * part / (double)whole : 0;
}

static double changed(const double share[2])
{
	return share[NEW] - share[OLD];
}

/* The larger change first: of the function itself, else of all it calls. */
static int row_compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	double by = fabs(changed(y->self)) - fabs(changed(x->self));

	if (!by)
		by = fabs(changed(y->total)) - fabs(changed(x->total));
	return by ? by < 0 ? -1 : 1 : strcmp(x->key, y->key);
}

static int row_print(const struct row *r, struct buf *text, FILE *out)
{
	buf_reset(text);
	escape(text, r->key + 1, r->len - 1, ESCAPE_TEXT);
	buf_putc(text, '\n');
	fprintf(out, "%+8.2f %8.2f %8.2f  %+8.2f %8.2f %8.2f  ",
		changed(r->self), r->self[OLD], r->self[NEW],
		changed(r->total), r->total[OLD], r->total[NEW]);
	return out_buf(out, text, 0);
}

static int rows_print(struct row *rows, size_t n, size_t top, FILE *out)
{
	struct buf text = { 0 };
	int err = 0;

	qsort(rows, n, sizeof(*rows), row_compare);
	fprintf(out, "%% of all stacks: that end in it, that have it\n"
		"%8s %8s %8s  %8s %8s %8s  FUNCTION\n",
		"CHANGE", "OLD", "NEW", "CHANGE", "OLD", "NEW");
	for (size_t i = 0; i < n && (!top || i < top) && !err; i++)
		err = row_print(&rows[i], &text, out);
	buf_free(&text);
	return err;
}

int changes_print(const struct changes *c, size_t top, FILE *out)
{
	struct row *rows = mem_zalloc((c->v.n + 1) * sizeof(*rows));
	size_t n = 0;
	int err;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < c->v.n; i++) {
		const struct change *from = &c->v.v[i];
		struct row *r = &rows[n];

		r->key = intern_bytes(&c->functions, (uint32_t)i, &r->len);
		for (int old = 0; old < 2; old++) {
			r->self[old] = percent(from->self[old], c->totals[old]);
			r->total[old] = percent(from->total[old],
						c->totals[old]);
		}
		n += *r->key != FLAME_DELIMITER &&
		     (changed(r->self) || changed(r->total));
	}
	err = rows_print(rows, n, top, out);
	mem_free(rows);
	return err;
}
