/* fetch - what trace's program takes at each point, and how large it is.
 *
 * A record has a head, then words (arguments) or a tracepoint's record, then
 * slots for strings, then stacks. All records of a session are of one size, for
 * the ring buffer wants to know it when the program is loaded.
 */
#include "trace/fetch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "asm/regs.h"
#include "base/log.h"
#include "sym/caller.h"
#include "sys/advice.h"
#include "sys/bpf.h"
#include "sys/feature.h"
#include "sys/tracefs.h"
#include "trace/session.h"

enum { RECORD_MAX = 1024 };	/* bytes of a tracepoint's that are taken */

int fetch_slot(const struct fetch *f, size_t n, uint32_t at)
{
	const struct trace_probe *p = &f->probes.v[n];

	for (int i = 0; i < TRACE_STRINGS; i++)
		if (p->spaces[i] && p->at[i] == at)
			return i;
	return -1;
}

const struct tp_format *fetch_format(const struct fetch *f, size_t n)
{
	uint32_t i = f->format_of.v[n];

	return i == FETCH_NO_FORMAT ? NULL : &f->formats.v[i];
}

const struct action *fetch_action(const struct fetch *f, size_t n)
{
	uint32_t spec = f->points->v.v[n].spec;

	return spec < f->actions.n ? f->actions.v[spec] : NULL;
}

/* Programs at system calls' tracepoints get the number and the arguments, not
 * what later kernels add to the record. */
bool fetch_has_field(const struct point *p, const struct tp_field *field)
{
	return strcmp(p->module, "syscalls") || field->where == TP_FIXED;
}

static void add_string(struct trace_probe *p, enum trace_space space,
		       uint32_t at)
{
	for (int i = 0; i < TRACE_STRINGS; i++) {
		if (p->spaces[i])
			continue;
		p->spaces[i] = (uint8_t)space;
		p->at[i] = (uint16_t)at;
		return;
	}
}

static void plan_words(const struct fetch *f, struct trace_probe *p,
		       enum trace_space space, uint32_t words)
{
	for (uint32_t i = 0; i < words; i++)
		if (f->strings >> i & 1)
			add_string(p, space, 8 * i);
}

/* Argument numbers count fields, but for a system call's number. */
static void plan_field(const struct fetch *f, const struct point *point,
		       struct trace_probe *p, const struct tp_field *field,
		       uint32_t number)
{
	uint32_t end = field->offset + field->size;

	if (end > RECORD_MAX || field->kind == TP_BAD)
		return;
	if (p->size < end)
		p->size = (uint16_t)end;
	if (field->where != TP_FIXED)
		add_string(p, field->where == TP_REL_LOC ? SPACE_REL_LOC
			   : SPACE_DATA_LOC, field->offset);
	else if (number < 32 && f->strings >> number & 1 &&
		 field->size == 8 && (field->kind == TP_POINTER ||
				      !strcmp(point->module, "syscalls")))
		add_string(p, SPACE_ANY, field->offset);
}

static int plan_tracepoint(struct fetch *f, const struct point *point,
			   struct trace_probe *p)
{
	struct tp_format *format = vec_push(&f->formats);
	char path[256];
	uint32_t number = 0;
	int err;

	if (!format)
		return -ENOMEM;
	snprintf(path, sizeof(path), "%s/%s", point->module, point->symbol);
	err = tracefs_format(path, format);
	if (err) {
		log_error("%s: %s: cannot read the tracepoint's format: %s",
			  f->command, point->name,
			  advice_reason(OP_TRACEFS, err));
		advice(OP_TRACEFS, err);
		return err;
	}
	f->format_of.v[f->format_of.n - 1] = (uint32_t)f->formats.n - 1;
	p->fetch = FETCH_RECORD;
	for (size_t i = format->ncommon; i < format->nfields; i++) {
		const struct tp_field *field = &format->fields[i];

		bool counts = strcmp(field->name, "__syscall_nr");

		if (fetch_has_field(point, field))
			plan_field(f, point, p, field,
				   counts ? number++ : UINT32_MAX);
	}
	return 0;
}

static bool is_pointer(const struct point *p, const struct tp_field *field)
{
	return field->size == 8 && field->where == TP_FIXED &&
	       (field->kind == TP_POINTER || !strcmp(p->module, "syscalls"));
}

/* NULL, or what is wrong with it. */
static const char *check_field(const struct point *p,
			       const struct tp_field *field, bool is_string)
{
	if (!field || field->kind == TP_BAD || !fetch_has_field(p, field))
		return "the tracepoint has no such field";
	if (field->offset + field->size > RECORD_MAX)
		return "too far behind in the tracepoint's record";
	if (is_string)
		return field->kind == TP_STRING || is_pointer(p, field)
			? NULL : "this field is no text";
	return field->where == TP_FIXED &&
	       (field->kind == TP_INT || field->kind == TP_POINTER)
		? NULL : "this field is no number";
}

static const char *check_arg(const struct fetch *f, const struct point *p,
			     const struct action_value *v)
{
	bool is_return = probe_is_return(p->kind);

	if (v->source == VALUE_RETVAL)
		return is_return ? NULL : "only a return has it: r::FUNCTION, "
					  "r:LIB:FUNCTION";
	if (p->kind == PROBE_TRACEPOINT)
		return "a tracepoint's values are args->FIELD";
	if (is_return)
		return "a return has retval alone";
	if (p->usdt == POINT_NO_USDT)
		return v->number <= TRACE_ARGS ? NULL : "arguments up to arg6 "
							"can be had";
	return v->number <= f->points->args.v[p->usdt].n
		? NULL : "the probe has fewer arguments";
}

int fetch_find(const struct fetch *f, size_t n, const struct action *a,
	       const struct action_value *v, const char **why)
{
	const struct point *p = &f->points->v.v[n];
	const struct tp_field *field = NULL;
	const char *wrong = NULL;

	if (v->source == VALUE_FIELD && p->kind != PROBE_TRACEPOINT) {
		wrong = "args->FIELD is a tracepoint's";
	} else if (v->source == VALUE_FIELD) {
		field = tp_field_find(fetch_format(f, n),
				      a->text.data + v->name);
		wrong = check_field(p, field, v->is_string);
	} else if (v->source < VALUE_FIELD) {
		wrong = check_arg(f, p, v);
	}
	if (wrong && why)
		*why = wrong;
	if (wrong)
		return -ENOENT;
	return field ? (int)field->offset :
	       v->source == VALUE_ARG ? 8 * ((int)v->number - 1) : 0;
}

static int plan_value(struct fetch *f, const struct action *a,
		      const struct action_value *v)
{
	size_t n = f->probes.n - 1;
	const struct point *p = &f->points->v.v[n];
	const char *why;
	int at = fetch_find(f, n, a, v, &why);

	if (at < 0 && p->many)		/* one of many may lack it */
		return 0;
	if (at >= 0 && (!v->is_string || v->source > VALUE_FIELD))
		return 0;
	if (at >= 0 && v->source == VALUE_FIELD &&
	    !is_pointer(p, tp_field_find(fetch_format(f, n),
					 a->text.data + v->name)))
		return 0;		/* it is in the record */
	if (at >= 0 && fetch_slot(f, n, (uint32_t)at) < 0)
		add_string(&f->probes.v[n], v->of_user || probe_is_user(p->kind)
			   ? SPACE_USER : SPACE_ANY, (uint32_t)at);
	if (at >= 0 && fetch_slot(f, n, (uint32_t)at) >= 0)
		return 0;
	log_error_at(f->command, a->arg, v->at,
		     at < 0 ? why : "more than six texts");
	return -EINVAL;
}

/* What the filter and the format want. */
static int plan_action(struct fetch *f, const struct action *a)
{
	int err = 0;

	for (size_t i = 0; a && !err && i < a->values.n; i++)
		err = plan_value(f, a, &a->values.v[i]);
	if (a && f->longest < a->longest)
		f->longest = (uint32_t)a->longest;
	return err;
}

/* The strings that -s asks for, and all that a tracepoint has. */
static int plan_point(struct fetch *f, const struct point *point)
{
	struct trace_probe *p = vec_push(&f->probes);
	uint32_t *format = vec_push(&f->format_of);
	bool user = probe_is_user(point->kind);

	if (!p || !format)
		return -ENOMEM;
	*p = (struct trace_probe){ .fetch = FETCH_ARGS };
	*format = FETCH_NO_FORMAT;
	p->at_entry = point->at_entry && user &&
		      !probe_is_return(point->kind);
	if (point->kind == PROBE_TRACEPOINT)
		return plan_tracepoint(f, point, p);
	if (probe_is_return(point->kind))
		p->fetch = FETCH_RETVAL;
	else if (point->usdt != POINT_NO_USDT)
		p->fetch = FETCH_USDT;
	plan_words(f, p, user ? SPACE_USER : SPACE_ANY,
		   p->fetch == FETCH_RETVAL ? 1 :
		   p->fetch == FETCH_USDT ? TRACE_USDT : TRACE_ARGS);
	return 0;
}

static bool some_filter(const struct fetch *f)
{
	for (size_t i = 0; i < f->actions.n; i++)
		if (f->actions.v[i] && f->actions.v[i]->filter != ACTION_NONE)
			return true;
	return false;
}

/* User and group are asked for. */
static bool some_ids(const struct fetch *f)
{
	for (size_t i = 0; i < f->actions.n; i++) {
		const struct action *a = f->actions.v[i];

		for (size_t k = 0; a && k < a->values.n; k++)
			if (a->values.v[k].source == VALUE_UID ||
			    a->values.v[k].source == VALUE_GID)
				return true;
	}
	return false;
}

static uint32_t words_of(const struct trace_probe *p)
{
	switch (p->fetch) {
	case FETCH_RETVAL: return 8;
	case FETCH_USDT: return 8 * TRACE_USDT;
	case FETCH_ARGS: return 8 * TRACE_ARGS;
	}
	return (p->size + 15u) & ~7u;	/* a word of 8 is read where one of 4
					 * may stand at the end */
}

static void plan_sizes(struct fetch *f)
{
	for (size_t i = 0; i < f->probes.n; i++) {
		const struct trace_probe *p = &f->probes.v[i];
		uint32_t slots = 0;

		while (slots < TRACE_STRINGS && p->spaces[slots])
			slots++;
		if (f->words < words_of(p))
			f->words = words_of(p);
		if (f->slots < slots)
			f->slots = slots;
	}
	/* One byte more, and a NUL: so it is seen whether there is more. */
	f->slot_size = f->string_size < f->longest ? f->longest
						   : f->string_size;
	f->slot_size = (f->slot_size + 2 + 7) & ~7u;
	f->strings_at = (uint32_t)sizeof(struct trace_event) + f->words;
	f->kernel_at = f->strings_at + f->slots * f->slot_size;
	f->user_at = f->kernel_at + (f->kernel ? 8 * STACK_DEPTH : 0);
	f->size = f->user_at + (f->user ? 8 * STACK_DEPTH : 0);
}

int fetch_plan(struct fetch *f)
{
	int err = 0;

	for (size_t i = 0; !err && i < f->points->v.n; i++) {
		err = plan_point(f, &f->points->v.v[i]);
		if (!err)
			err = plan_action(f, fetch_action(f, i));
	}
	if (err == -ENOMEM)
		log_error("%s: cannot plan the records: out of memory",
			  f->command);
	plan_sizes(f);
	return err;
}

/* Whether a point takes that, or strings of the kernel. */
static bool some_fetch(const struct fetch *f, enum trace_fetch fetch)
{
	for (size_t i = 0; i < f->probes.n; i++)
		if (f->probes.v[i].fetch == fetch)
			return true;
	return false;
}

static bool some_any(const struct fetch *f)
{
	for (size_t i = 0; i < f->probes.n; i++)
		if (memchr(f->probes.v[i].spaces, SPACE_ANY, TRACE_STRINGS))
			return true;
	return false;
}

void fetch_set(const struct fetch *f, struct session *s, uint32_t ring)
{
	uint32_t points = (uint32_t)f->points->v.n;
	bool usdt = some_fetch(f, FETCH_USDT);

	session_entries(s, "probes", points);
	session_entries(s, "lost", points);
	session_entries(s, "usdt", usdt ? points : 1);
	session_entries(s, "filters", some_filter(f) ? points : 1);
	session_entries(s, "events", ring);
	session_value_size(s, "records", f->size);
	session_const(s, "half", feature_has(FEATURE_RINGBUF) ? ring / 2 : 0);
	session_const(s, "words", f->words);
	session_const(s, "args", some_fetch(f, FETCH_ARGS));
	session_const(s, "record", some_fetch(f, FETCH_RECORD));
	session_const(s, "usdt", usdt);
	session_const(s, "filters", some_filter(f));
	session_const(s, "ids", some_ids(f));
	session_const(s, "strings", f->slots);
	session_const(s, "strings_at", f->strings_at);
	session_const(s, "string_size", f->slot_size);
	session_const(s, "any", some_any(f));
	session_const(s, "user", f->user);
	session_const(s, "user_at", f->user_at);
	session_const(s, "kernel", f->kernel);
	session_const(s, "kernel_at", f->kernel_at);
	session_const(s, "caller", caller_is_linked() ? CALLER_IN_LR_NOW
						      : CALLER_ON_STACK_NOW);
}

static uint16_t register_of(uint8_t number)
{
	if (number == USDT_PC)
		return (uint16_t)cpu_regs.ip;
	return number < cpu_regs.n ? (uint16_t)cpu_regs.numbered[number]
				   : TRACE_NO_REG;
}

static struct trace_arg usdt_arg(const struct usdt_arg *from)
{
	static const uint8_t kinds[] = {
		[USDT_NONE] = TRACE_ARG_NONE, [USDT_CONST] = TRACE_ARG_CONST,
		[USDT_REG] = TRACE_ARG_REG, [USDT_MEM] = TRACE_ARG_MEM,
	};
	struct trace_arg to = {
		.kind = kinds[from->kind], .width = from->width,
		.shift = from->shift, .scale = from->scale,
		.index_is = from->index_is, .narrow = from->narrow,
		.base = register_of(from->base),
		.index = register_of(from->index), .disp = from->disp,
	};

	/* A register that this CPU's probes do not show. */
	if ((from->base != USDT_NO_REG && to.base == TRACE_NO_REG) ||
	    (from->index != USDT_NO_REG && to.index == TRACE_NO_REG) ||
	    (to.kind == TRACE_ARG_REG && to.base == TRACE_NO_REG))
		to.kind = TRACE_ARG_NONE;
	return to;
}

static int fill_usdt(const struct fetch *f, const struct session *s,
		     uint32_t n)
{
	const struct point *p = &f->points->v.v[n];
	const struct usdt_args *args;
	struct trace_args to = { 0 };

	if (p->usdt == POINT_NO_USDT)
		return 0;
	args = &f->points->args.v[p->usdt];
	for (unsigned i = 0; i < args->n; i++)
		to.v[i] = usdt_arg(&args->v[i]);
	return bpf_map_update(session_map(s, "usdt"), &n, &to);
}

int fetch_fill(const struct fetch *f, const struct session *s)
{
	int fd = session_map(s, "probes"), err = 0;

	for (uint32_t i = 0; !err && i < f->probes.n; i++) {
		err = bpf_map_update(fd, &i, &f->probes.v[i]);
		if (!err)
			err = fill_usdt(f, s, i);
	}
	if (err)
		log_error("%s: cannot say what the probes take: %s",
			  f->command, advice_reason(OP_BPF, err));
	return err;
}

void fetch_free(struct fetch *f)
{
	for (size_t i = 0; i < f->formats.n; i++)
		tp_format_free(&f->formats.v[i]);
	vec_free(&f->formats);
	vec_free(&f->format_of);
	vec_free(&f->probes);
	vec_free(&f->actions);
}
