/* point - the places that probe specs mean, found before anything is set. */
#include "trace/point.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/vec.h"

const char *points_text(struct points *p, const char *text)
{
	int64_t id = names_put(&p->names, text, strlen(text));

	return id < 0 ? NULL : names_text(&p->names, (uint32_t)id);
}

struct point *points_add(struct points *p, const struct probe_spec *spec,
			 size_t number)
{
	struct point *to = vec_push(&p->v);

	if (to)
		*to = (struct point){
			.kind = spec->kind, .spec = (uint32_t)number,
			.usdt = POINT_NO_USDT, .many = spec_is_pattern(spec),
		};
	return to;
}

/* What needs no search: events that perf counts, and its clocks. */
static int find_event(struct points *p, const struct probe_spec *s, size_t n)
{
	struct point *to = points_add(p, s, n);

	if (!to)
		return -ENOMEM;
	to->symbol = points_text(p, s->name.text);
	to->name = points_text(p, *s->name.text ? s->name.text
					: probe_kind_name(s->kind));
	return to->name && to->symbol ? 0 : -ENOMEM;
}

static int find(struct points *p, const struct probe_spec *s, size_t n)
{
	if (probe_is_kernel(s->kind))
		return points_find_kernel(p, s, n);
	if (probe_is_user(s->kind))
		return points_find_user(p, s, n);
	if (s->kind == PROBE_TRACEPOINT || s->kind == PROBE_RAW_TRACEPOINT)
		return points_find_tracepoint(p, s, n);
	return find_event(p, s, n);
}

/* A point while equal ones are sought. */
struct place {
	const struct point *at;
	uint64_t device, inode;		/* of its file */
	size_t number;
};

static int text_order(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : !!a - !!b;
}

static int num_order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int place_order(const struct place *x, const struct place *y)
{
	const struct point *a = x->at, *b = y->at;
	bool is_named = !probe_is_user(a->kind) || a->usdt != POINT_NO_USDT;
	int order = num_order(a->kind, b->kind);

	if (!order)
		order = num_order(x->device, y->device);
	if (!order)
		order = num_order(x->inode, y->inode);
	if (!order)
		order = num_order(a->offset, b->offset);
	if (!order && !probe_is_user(a->kind))
		order = num_order(a->address, b->address);
	if (!order)
		order = text_order(a->module, b->module);
	if (!order)
		order = text_order(a->symbol, b->symbol);
	return order || !is_named ? order : text_order(a->name, b->name);
}

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = place_order(x, y);

	return order ? order : num_order(x->number, y->number);
}

static int place_of(const struct points *p, size_t number, struct place *to)
{
	struct stat st = { 0 };

	to->at = &p->v.v[number];
	to->number = number;
	if (probe_is_user(to->at->kind) &&
	    fstat(p->files.v[to->at->file].fd, &st))
		return -errno;
	to->device = st.st_dev;
	to->inode = st.st_ino;
	return 0;
}

/* What two specs mean is one place, and hit once: the first one's stays. */
static int drop_doubles(struct points *p)
{
	struct place *places = mem_zalloc((p->v.n + 1) * sizeof(*places));
	uint8_t *is_double = mem_zalloc(p->v.n + 1);
	size_t first = 0, left = 0;
	int err = places && is_double ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < p->v.n; i++)
		err = place_of(p, i, &places[i]);
	if (!err)
		qsort(places, p->v.n, sizeof(*places), by_place);
	for (size_t i = 1; !err && i < p->v.n; i++)
		if (place_order(&places[first], &places[i]))
			first = i;
		else if (places[first].at->spec != places[i].at->spec)
			is_double[places[i].number] = 1;
	for (size_t i = 0; !err && i < p->v.n; i++)
		if (!is_double[i])
			p->v.v[left++] = p->v.v[i];
	if (!err)
		p->v.n = left;
	mem_free(places);
	mem_free(is_double);
	return err;
}

int points_find(struct points *p, const char *command,
		const struct probe_specs *specs, uint32_t pid)
{
	int err = 0;

	*p = (struct points){ .command = command, .pid = pid };
	for (size_t i = 0; !err && i < specs->n; i++)
		err = find(p, &specs->v[i], i);
	if (!err && specs->n > 1)
		err = drop_doubles(p);
	if (err == -ENOMEM)
		log_error("%s: cannot find the probes: out of memory",
			  command);
	return err;
}

bool point_at_entry(const struct point *p)
{
	return p->kind == PROBE_UPROBE && p->at_entry;
}

bool points_at_entry(const struct points *p)
{
	for (size_t i = 0; i < p->v.n; i++)
		if (point_at_entry(&p->v.v[i]))
			return true;
	return false;
}

void points_free(struct points *p)
{
	for (size_t i = 0; i < p->files.n; i++)
		if (p->files.v[i].fd >= 0)
			close(p->files.v[i].fd);
	vec_free(&p->v);
	vec_free(&p->files);
	vec_free(&p->args);
	names_free(&p->names);
}

bool points_in_kernel(const struct points *p)
{
	for (size_t i = 0; i < p->v.n; i++)
		if (probe_is_kernel(p->v.v[i].kind))
			return true;
	return false;
}
