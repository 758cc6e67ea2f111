/* point_kernel - kernel functions and tracepoints that a spec means. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/near.h"
#include "sys/advice.h"
#include "sys/kfuncs.h"
#include "sys/tracefs.h"
#include "trace/point.h"

/* A search for a pattern, or for what a name could have meant. */
struct search {
	struct points *p;
	const struct probe_spec *s;
	size_t number, before;
	struct match name, target;
	struct near near;
	char best[128];			/* near.best, kept */
};

static int not_found(const struct search *f, const char *what)
{
	log_error("%s: %s: no such %s", f->p->command, f->s->text, what);
	if (*f->best)
		log_hint("the nearest is: %s", f->best);
	return -ENOENT;
}

static void offer(struct search *f, const char *name)
{
	near_offer(&f->near, name);
	if (f->near.best != name)
		return;
	snprintf(f->best, sizeof(f->best), "%s", name);
	f->near.best = f->best;
}

static int search_begin(struct search *f)
{
	int err = match_compile(&f->name, f->s->name.match, f->s->name.text,
				NULL);

	f->before = f->p->v.n;
	f->near.wanted = f->s->name.text;
	if (err)
		return err;
	err = match_compile(&f->target, f->s->target.match,
			    f->s->target.text, NULL);
	if (err)
		match_free(&f->name);
	return err;
}

static void search_end(struct search *f)
{
	match_free(&f->name);
	match_free(&f->target);
}

static int take_kfunc(void *arg, const struct kfunc *k)
{
	struct search *f = arg;
	struct points *p = f->p;
	const char *name;
	struct point *to;

	if (*f->s->target.text &&
	    (!k->module || !match_test(&f->target, k->module)))
		return 0;
	if (!match_test(&f->name, k->name))
		return 0;
	name = points_text(p, k->name);
	if (!name)
		return -ENOMEM;
	to = points_add(p, f->s, f->number);
	if (!to)
		return -ENOMEM;
	to->name = to->symbol = name;
	to->module = k->module ? points_text(p, k->module) : NULL;
	to->at_entry = true;
	return 0;
}

/* For what could have been meant. */
static int offer_kfunc(void *arg, const struct kfunc *k)
{
	offer(arg, k->name);
	return 0;
}

static int by_symbol(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->symbol != y->symbol)
		return (uintptr_t)x->symbol < (uintptr_t)y->symbol ? -1 : 1;
	if (x->module != y->module)
		return (uintptr_t)x->module < (uintptr_t)y->module ? -1 : 1;
	return 0;
}

/* Put the functions that share a name behind the others, for they can only be
 * told apart by their addresses; without these, one stands for all of a module,
 * or of the kernel proper. */
static int part_repeated(struct search *f)
{
	struct points *p = f->p;
	VEC(struct point) rest = { 0 };
	size_t to = f->before, n = p->v.n;
	int err = 0;

	qsort(p->v.v + to, n - to, sizeof(*p->v.v), by_symbol);
	for (size_t i = to; !err && i < n; i++) {
		struct point one = p->v.v[i], *slot;
		struct point *last = i > f->before ? p->v.v + i - 1 : NULL;
		bool again = last && last->symbol == one.symbol;
		bool more = i + 1 < n && p->v.v[i + 1].symbol == one.symbol;

		if (!again && !more && !*f->s->target.text) {
			p->v.v[to++] = one;
			continue;
		}
		if (again && last->module == one.module && !one.address)
			continue;
		slot = vec_push(&rest);
		if (!slot) {
			err = -ENOMEM;
			break;
		}
		*slot = one;
		slot->repeated = true;
	}
	for (size_t i = 0; i < rest.n; i++)
		p->v.v[to++] = rest.v[i];
	p->v.n = to;
	vec_free(&rest);
	return err;
}

static int find_pattern(struct points *p, const struct probe_spec *s, size_t n)
{
	struct search f = { .p = p, .s = s, .number = n };
	struct kfuncs_facts facts;
	int err = search_begin(&f);

	if (err)
		return err;
	err = kfuncs_each(take_kfunc, &f, &facts);
	if (!err)
		err = part_repeated(&f);
	search_end(&f);
	if (err && err != -ENOMEM) {
		log_error("%s: cannot list the kernel's functions: %s",
			  p->command, advice_reason(OP_TRACEFS, err));
		advice(OP_TRACEFS, err);
	} else if (!err && p->v.n == f.before) {
		kfuncs_each(offer_kfunc, &f, &facts);
		err = not_found(&f, "function in the kernel that can be "
				    "probed");
	}
	p->left_out += facts.blacklisted;
	return err;
}

/* One function: the kernel finds it, or refuses. */
int points_find_kernel(struct points *p, const struct probe_spec *s, size_t n)
{
	struct point *to;

	if (spec_is_pattern(s))
		return find_pattern(p, s, n);
	to = points_add(p, s, n);
	if (!to)
		return -ENOMEM;
	to->name = to->symbol = points_text(p, s->has_address ? s->text
							: s->name.text);
	to->module = *s->target.text ? points_text(p, s->target.text) : NULL;
	to->address = s->has_address ? s->address : 0;
	to->offset = s->offset;
	to->at_entry = !s->offset && !s->has_address;
	return to->name ? 0 : -ENOMEM;
}

static int add_tracepoint(struct search *f, const char *category,
			  const char *event)
{
	struct points *p = f->p;
	struct point *to = points_add(p, f->s, f->number);
	char name[256];

	if (!to)
		return -ENOMEM;
	if (f->s->kind == PROBE_RAW_TRACEPOINT)
		snprintf(name, sizeof(name), "%s", event);
	else
		snprintf(name, sizeof(name), "%s:%s", category, event);
	to->module = points_text(p, category);
	to->symbol = points_text(p, event);
	to->name = points_text(p, name);
	return to->module && to->symbol && to->name ? 0 : -ENOMEM;
}

static int take_event(void *arg, const char *category, const char *event)
{
	struct search *f = arg;

	if (f->s->kind != PROBE_RAW_TRACEPOINT &&
	    !match_test(&f->target, category))
		return 0;
	if (match_test(&f->name, event))
		return add_tracepoint(f, category, event);
	offer(f, event);
	return 0;
}

int points_find_tracepoint(struct points *p, const struct probe_spec *s,
			   size_t n)
{
	struct search f = { .p = p, .s = s, .number = n };
	bool exact = !spec_is_pattern(s);
	char path[256];
	int err;

	snprintf(path, sizeof(path), "%s/%s", s->target.text, s->name.text);
	if (exact && (s->kind == PROBE_RAW_TRACEPOINT || tracefs_id(path) >= 0))
		return add_tracepoint(&f, s->target.text, s->name.text);
	err = search_begin(&f);
	if (err)
		return err;
	err = tracefs_events(take_event, &f);
	search_end(&f);
	if (err && err != -ENOMEM) {
		log_error("%s: cannot list the tracepoints: %s", p->command,
			  advice_reason(OP_TRACEFS, err));
		advice(OP_TRACEFS, err);
	} else if (!err && p->v.n == f.before) {
		err = not_found(&f, "tracepoint");
	}
	return err;
}
