/* values - what was there at a hit, as text: names, numbers, strings. */
#include "trace/values.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error_name.h"
#include "base/escape.h"
#include "sys/btf.h"
#include "sys/tracefs.h"
#include "trace/syscall_name.h"

enum show {
	SHOW_HEX,
	SHOW_NUMBER,
	SHOW_RESULT,		/* of the kernel's: a negative one has a name */
	SHOW_GUESS,		/* a result whose type nobody tells */
	SHOW_POINTER_RESULT,
	SHOW_FIELD,		/* of a tracepoint */
	SHOW_NOTHING,		/* it is not in the record */
};

struct value {
	enum show show;
	size_t label, label_len;	/* in values.labels */
	uint32_t at;			/* bytes into the words or record */
	uint8_t size;			/* of a number, bytes: 1 to 8 */
	bool is_signed;
	int slot;			/* of its string, or -1 */
	const struct tp_field *field;
};

enum { ELEMENTS = 16, ERRORS = 4095 };	/* MAX_ERRNO, include/linux/err.h */

/* -- plans ---------------------------------------------------------------- */

static struct value *value_add(struct values *v, struct value_plan *plan,
			       const char *name, uint32_t at)
{
	struct value *to = vec_push(plan);
	size_t start = v->labels.len;

	if (!to)
		return NULL;
	buf_putc(&v->labels, ' ');
	escape(&v->labels, name, strlen(name), ESCAPE_TEXT);
	buf_putc(&v->labels, '=');
	*to = (struct value){
		.show = SHOW_HEX, .label = start, .size = 8, .at = at,
		.label_len = v->labels.len - start, .slot = -1,
	};
	return v->labels.err ? NULL : to;
}

/* What user space's types are in a register; others are shown as they are. */
static void value_by_type(struct value *to, const char *type)
{
	static const struct {
		char type[16];
		int8_t size;		/* negative: signed */
	} types[] = {
		{ "int", -4 }, { "unsigned int", 4 }, { "unsigned", 4 },
		{ "long", -8 }, { "unsigned long", 8 }, { "size_t", 8 },
		{ "loff_t", -8 }, { "off_t", -8 }, { "umode_t", 2 },
		{ "pid_t", -4 }, { "uid_t", 4 }, { "gid_t", 4 }, { "u32", 4 },
		{ "__u32", 4 }, { "u64", 8 }, { "__u64", 8 }, { "__s32", -4 },
		{ "clockid_t", -4 }, { "timer_t", -4 }, { "key_t", -4 },
		{ "mqd_t", -4 }, { "key_serial_t", -4 }, { "qid_t", 4 },
		{ "rwf_t", -4 }, { "aio_context_t", 8 },
	};

	if (!strncmp(type, "const ", 6))
		type += 6;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (strcmp(type, types[i].type))
			continue;
		to->show = SHOW_NUMBER;
		to->is_signed = types[i].size < 0;
		to->size = (uint8_t)(to->is_signed ? -types[i].size
						   : types[i].size);
	}
}

static int plan_numbered(struct values *v, struct value_plan *plan, size_t n,
			 uint32_t count)
{
	char name[16];

	for (uint32_t i = 0; i < count; i++) {
		struct value *to;

		snprintf(name, sizeof(name), "arg%u", i + 1);
		to = value_add(v, plan, name, 8 * i);
		if (!to)
			return -ENOMEM;
		to->slot = fetch_slot(v->fetch, n, 8 * i);
	}
	return 0;
}

/* -EOPNOTSUPP: nobody tells. */
static int plan_syscall(struct values *v, struct value_plan *plan, size_t n,
			const char *name)
{
	struct tp_format format;
	char path[256];
	uint32_t at = 0;
	int err;

	snprintf(path, sizeof(path), "syscalls/sys_enter_%s", name);
	err = tracefs_format(path, &format);
	for (size_t i = format.ncommon; !err && i < format.nfields &&
					at < 8 * TRACE_ARGS; i++) {
		const struct tp_field *field = &format.fields[i];
		struct value *to;

		if (!strcmp(field->name, "__syscall_nr") ||
		    field->where != TP_FIXED)
			continue;
		to = value_add(v, plan, field->name, at);
		if (!to) {
			err = -ENOMEM;
			break;
		}
		value_by_type(to, field->type);
		to->slot = fetch_slot(v->fetch, n, at);
		at += 8;
	}
	tp_format_free(&format);
	return err && err != -ENOMEM ? -EOPNOTSUPP : err;
}

/* Behind a struct that is handed over by value, nobody knows which register an
 * argument is in. */
static int plan_params(struct values *v, struct value_plan *plan, size_t n,
		       const struct btf_proto *proto)
{
	bool lost = false;
	char name[16];

	plan->more = proto->nparams > TRACE_ARGS;
	for (uint32_t i = 0; i < proto->nparams && i < TRACE_ARGS; i++) {
		const struct btf_value *p = &proto->params[i];
		struct value *to;

		snprintf(name, sizeof(name), "arg%u", i + 1);
		to = value_add(v, plan, *p->name ? p->name : name, 8 * i);
		if (!to)
			return -ENOMEM;
		lost |= p->class == BTF_OTHER || p->class == BTF_FLOAT ||
			p->size > 8;
		to->slot = fetch_slot(v->fetch, n, 8 * i);
		if (lost) {
			to->show = SHOW_NOTHING;
		} else if (p->class == BTF_INTEGER) {
			to->show = SHOW_NUMBER;
			to->size = (uint8_t)p->size;
			to->is_signed = p->is_signed;
		}
	}
	return 0;
}

/* A raw tracepoint's: by the function that calls its probes (5.10), which has
 * names, behind an argument of its own; else by its type, which has none. */
static int proto_of_tracepoint(const struct btf *b, const char *name,
			       struct btf_proto *proto)
{
	char caller[128];
	int id;

	snprintf(caller, sizeof(caller), "__traceiter_%s", name);
	id = btf_func(b, caller);
	if (id < 0 || btf_func_proto(b, (uint32_t)id, proto) ||
	    !proto->nparams)
		return btf_tracepoint_proto(b, name, proto);
	proto->nparams--;
	memmove(proto->params, proto->params + 1,
		(BTF_PARAMS - 1) * sizeof(*proto->params));
	return 0;
}

/* The types of a kernel's function, or of a raw tracepoint. */
static int proto_find(struct values *v, const struct point *p,
		      struct btf_proto *proto)
{
	struct btf *module = NULL;
	const struct btf *b;
	int err = v->btf ? 0 : btf_open(NULL, &v->btf), id;

	if (!err && probe_is_kernel(p->kind) && p->module)
		err = btf_open(p->module, &module);
	if (err)
		return err;
	b = module ? module : v->btf;
	if (p->kind == PROBE_RAW_TRACEPOINT) {
		err = proto_of_tracepoint(b, p->symbol, proto);
	} else {
		id = btf_func(b, p->symbol);
		err = id < 0 ? id : btf_func_proto(b, (uint32_t)id, proto);
	}
	btf_close(module);
	return err;
}

static int plan_result(struct values *v, struct value_plan *plan, size_t n,
		       const struct btf_proto *proto, bool is_syscall)
{
	struct value *to;

	if (proto && !is_syscall && proto->ret.class == BTF_VOID)
		return 0;
	to = value_add(v, plan, "retval", 0);
	if (!to)
		return -ENOMEM;
	to->slot = fetch_slot(v->fetch, n, 0);
	to->show = is_syscall ? SHOW_RESULT : SHOW_GUESS;
	to->is_signed = true;
	if (is_syscall || !proto)
		return 0;
	to->show = SHOW_POINTER_RESULT;
	if (proto->ret.class == BTF_INTEGER && proto->ret.size <= 8) {
		to->size = (uint8_t)proto->ret.size;
		to->is_signed = proto->ret.is_signed;
		to->show = to->is_signed ? SHOW_RESULT : SHOW_NUMBER;
	} else if (proto->ret.class == BTF_OTHER) {
		to->show = SHOW_HEX;
	}
	return 0;
}

static bool is_syscall(const struct values *v, size_t n)
{
	const struct point *p = &v->fetch->points->v.v[n];
	const struct attach_fact *fact;

	if (!probe_is_kernel(p->kind) || !p->symbol)
		return false;
	if (syscall_of(p->symbol))
		return true;
	fact = attach_fact(v->attach, n);
	return fact && fact->is_syscall;
}

static int plan_kernel(struct values *v, struct value_plan *plan, size_t n)
{
	const struct point *p = &v->fetch->points->v.v[n];
	bool result = probe_is_return(p->kind), syscall = is_syscall(v, n);
	const char *name = syscall ? syscall_of(p->symbol) : NULL;
	const struct attach_fact *fact = attach_fact(v->attach, n);
	struct btf_proto proto;
	int err = -EOPNOTSUPP;

	if (result && syscall)
		return plan_result(v, plan, n, NULL, true);
	if (syscall)
		err = plan_syscall(v, plan, n, name ? name : p->symbol);
	if (err != -EOPNOTSUPP)
		return err;
	if (!syscall && !p->offset)
		err = proto_find(v, p, &proto);
	if (err == -ENOMEM)
		return err;
	if (result)
		return plan_result(v, plan, n, err ? NULL : &proto, false);
	if (!err)
		return plan_params(v, plan, n, &proto);
	return plan_numbered(v, plan, n, p->kind == PROBE_RAW_TRACEPOINT &&
			     fact ? fact->nargs : TRACE_ARGS);
}

static int plan_fields(struct values *v, struct value_plan *plan, size_t n)
{
	const struct point *p = &v->fetch->points->v.v[n];
	const struct tp_format *f = fetch_format(v->fetch, n);

	for (size_t i = f->ncommon; i < f->nfields; i++) {
		const struct tp_field *field = &f->fields[i];
		struct value *to;

		if (!fetch_has_field(p, field) || field->kind == TP_BAD)
			continue;
		to = value_add(v, plan, field->name, field->offset);
		if (!to)
			return -ENOMEM;
		to->show = field->offset + field->size >
			   v->fetch->probes.v[n].size ? SHOW_NOTHING
						      : SHOW_FIELD;
		to->field = field;
		to->slot = fetch_slot(v->fetch, n, field->offset);
	}
	return 0;
}

static int plan_usdt(struct values *v, struct value_plan *plan, size_t n)
{
	const struct points *points = v->fetch->points;
	const struct usdt_args *args = &points->args.v[points->v.v[n].usdt];
	int err = plan_numbered(v, plan, n, args->n);

	plan->more = args->more;
	for (size_t i = 0; !err && i < plan->n; i++) {
		plan->v[i].show = SHOW_NUMBER;
		plan->v[i].size = args->v[i].width ? args->v[i].width :
				  args->v[i].size ? args->v[i].size : 8;
		plan->v[i].is_signed = args->v[i].is_signed;
	}
	return err;
}

static int plan_make(struct values *v, struct value_plan *plan, size_t n)
{
	const struct point *p = &v->fetch->points->v.v[n];

	plan->made = true;
	if (p->kind == PROBE_TRACEPOINT)
		return plan_fields(v, plan, n);
	if (probe_is_kernel(p->kind) || p->kind == PROBE_RAW_TRACEPOINT)
		return plan_kernel(v, plan, n);
	if (p->usdt != POINT_NO_USDT)
		return plan_usdt(v, plan, n);
	if (probe_is_return(p->kind))
		return plan_result(v, plan, n, NULL, false);
	return plan_numbered(v, plan, n, TRACE_ARGS);
}

/* The plan of a point; NULL when memory is out. */
static struct value_plan *plan_of(struct values *v, size_t n)
{
	while (v->plans.n <= n) {
		struct value_plan *plan = vec_push(&v->plans);

		if (!plan)
			return NULL;
		*plan = (struct value_plan){ 0 };
	}
	if (!v->plans.v[n].made && plan_make(v, &v->plans.v[n], n))
		return NULL;
	return &v->plans.v[n];
}

/* -- text ------------------------------------------------------------------ */

static uint64_t low_bytes(uint64_t word, unsigned size)
{
	return size < 8 ? word & ((1ull << 8 * size) - 1) : word;
}

static int64_t extend(uint64_t word, unsigned size)
{
	uint64_t sign = 1ull << (8 * size - 1);

	return (int64_t)((low_bytes(word, size) ^ sign) - sign);
}

/* At most `most` bytes of a string of `len`, which ends before. */
static void print_text(struct values *v, const char *s, size_t len,
		       struct buf *to)
{
	size_t most = v->fetch->string_size;
	bool more = len > most;

	if (more)
		len = most;
	buf_putc(to, '"');
	while (len) {
		const char *quote = memchr(s, '"', len);
		size_t run = quote ? (size_t)(quote - s) : len;

		escape(to, s, run, ESCAPE_TEXT);
		s += run;
		len -= run;
		if (!quote)
			break;
		buf_puts(to, "\\x22");
		s++;
		len--;
	}
	buf_puts(to, more ? "\"..." : "\"");
	v->cut += more;
}

static void print_unread(struct values *v, struct buf *to)
{
	buf_putc(to, '?');
	v->unread++;
}

static const char *slot_data(const struct values *v,
			     const struct trace_event *e, int slot)
{
	return (const char *)e + v->fetch->strings_at +
	       (uint32_t)slot * v->fetch->slot_size;
}

static void print_result(int64_t n, struct buf *to)
{
	const char *name = n < 0 && n >= -ERRORS ? error_name((unsigned)-n)
						 : NULL;

	buf_signed(to, n);
	if (!name)
		return;
	buf_putc(to, ' ');
	buf_puts(to, name);
}

/* An int leaves the register's upper half as it pleases. */
static void print_guess(uint64_t word, struct buf *to)
{
	if (word >> 31 != 1) {
		buf_signed(to, (int64_t)word);
		return;
	}
	buf_signed(to, extend(word, 4));
	buf_puts(to, " (");
	buf_hex(to, word);
	buf_putc(to, ')');
}

static void print_word(const struct value *value, uint64_t word,
		       struct buf *to)
{
	switch (value->show) {
	case SHOW_NUMBER:
		if (value->is_signed)
			buf_signed(to, extend(word, value->size));
		else
			buf_dec(to, low_bytes(word, value->size));
		return;
	case SHOW_RESULT:
		print_result(extend(word, value->size), to);
		return;
	case SHOW_POINTER_RESULT:
		if (word >= 0 - (uint64_t)ERRORS) {
			print_result((int64_t)word, to);
			return;
		}
		break;
	case SHOW_GUESS:
		print_guess(word, to);
		return;
	default:
		break;
	}
	buf_hex(to, word);
}

/* What is known to be narrower than addresses can be is none, whatever the user
 * takes it for; where 32 bits may be one, what can be read there tells. */
static bool is_number(const struct value *value, int len)
{
	return value->show == SHOW_NUMBER &&
	       (value->size < 4 || (value->size < 8 && len <= 0));
}

/* A string that an argument points to; of one that was not in memory, or is
 * none, at least where it should be. */
static void print_string(struct values *v, const struct trace_event *e,
			 const struct value *value, uint64_t word,
			 struct buf *to)
{
	int len = e->strings[value->slot];
	const char *s = slot_data(v, e, value->slot);

	if (is_number(value, len)) {
		print_word(value, word, to);
	} else if (!word) {
		buf_puts(to, "NULL");
	} else if (len > 0 && (uint32_t)len <= v->fetch->slot_size) {
		print_text(v, s, strnlen(s, (size_t)len), to);
	} else {
		buf_puts(to, "? (");
		buf_hex(to, word);
		buf_putc(to, ')');
		v->absent++;
	}
}

static void print_elements(const struct values *v, size_t n,
			   const struct tp_field *field, const char *data,
			   size_t len, bool more, struct buf *to)
{
	const struct tp_format *f = fetch_format(v->fetch, n);
	size_t size = field->kind == TP_ARRAY ? field->elem_size : 1;
	size_t count = len / size;

	buf_putc(to, '{');
	for (size_t i = 0; i < count && i < ELEMENTS; i++) {
		uint64_t word = 0;

		memcpy(&word, data + i * size, size);
		if (i)
			buf_putc(to, ',');
		if (field->kind == TP_ARRAY)
			tp_value_print(f, field, word, to);
		else
			buf_hex(to, word);
	}
	buf_puts(to, more || count > ELEMENTS ? ",...}" : "}");
}

/* What a field has, `len` bytes of it, and there are more. */
static void print_data(struct values *v, size_t n,
		       const struct tp_field *field, const char *data,
		       size_t len, bool more, struct buf *to)
{
	if (field->kind == TP_STRING)
		print_text(v, data, strnlen(data, len), to);
	else
		print_elements(v, n, field, data, len, more, to);
}

/* A field whose data is elsewhere in the record. */
static void print_located(struct values *v, const struct trace_event *e,
			  const struct value *value, uint32_t word,
			  struct buf *to)
{
	uint32_t len = word >> 16;

	if (value->slot < 0 || e->strings[value->slot] < 0 ||
	    (uint32_t)e->strings[value->slot] > v->fetch->slot_size)
		print_unread(v, to);
	else
		print_data(v, e->probe, value->field,
			   slot_data(v, e, value->slot),
			   (size_t)e->strings[value->slot],
			   len > v->fetch->slot_size, to);
}

static void print_field(struct values *v, const struct trace_event *e,
			const struct value *value, struct buf *to)
{
	const struct tp_field *field = value->field;
	const char *data = (const char *)(e + 1) + value->at;
	uint64_t word = 0;

	memcpy(&word, data, field->size < 8 ? field->size : 8);
	if (e->bad)
		print_unread(v, to);
	else if (field->where != TP_FIXED)
		print_located(v, e, value, (uint32_t)word, to);
	else if (value->slot >= 0)
		print_string(v, e, value, word, to);
	else if (field->kind == TP_INT || field->kind == TP_POINTER)
		tp_value_print(fetch_format(v->fetch, e->probe), field, word,
			       to);
	else
		print_data(v, e->probe, field, data, field->size, false, to);
}

static void print_value(struct values *v, const struct trace_event *e,
			const struct value *value, struct buf *to)
{
	uint64_t word;

	buf_mem(to, v->labels.data + value->label, value->label_len);
	if (value->show == SHOW_FIELD) {
		print_field(v, e, value, to);
		return;
	}
	memcpy(&word, (const char *)(e + 1) + value->at, sizeof(word));
	if (value->show == SHOW_NOTHING || e->bad >> value->at / 8 & 1)
		print_unread(v, to);
	else if (value->slot >= 0)
		print_string(v, e, value, word, to);
	else
		print_word(value, word, to);
}

/* -- filters and formats --------------------------------------------------- */

struct hit {
	struct values *v;
	const struct trace_event *e;
	const struct value_plan *plan;
	const struct action *action;
};

/* Where in the record it is, and how it is shown: NULL = as a word. */
static int find_value(const struct hit *h, const struct action_value *from,
		      const struct value **out)
{
	int at = fetch_find(h->v->fetch, h->e->probe, h->action, from, NULL);

	*out = NULL;
	for (size_t i = 0; at >= 0 && i < h->plan->n; i++)
		if (h->plan->v[i].at == (uint32_t)at)
			*out = &h->plan->v[i];
	return at;
}

static uint64_t of_task(const struct trace_event *e, enum value_source source)
{
	switch (source) {
	case VALUE_TID: return e->tid;
	case VALUE_TGID: return e->tgid;
	case VALUE_CPU: return e->cpu;
	case VALUE_UID: return e->uid;
	default: return e->gid;
	}
}

/* The type that such a value has, its number 0; where it is in the record. */
static int find_number(const struct hit *h, const struct action_value *from,
		       struct number *type)
{
	const struct value *value;
	int at = find_value(h, from, &value);

	*type = (struct number){ .size = 8 };
	if (at < 0 || !value)
		return at;
	if (value->show == SHOW_NOTHING)
		return -ENODATA;
	type->size = value->field ? (uint8_t)value->field->size : value->size;
	type->is_signed = value->field ? value->field->is_signed
				       : value->is_signed;
	return at;
}

static int hit_number(void *arg, const struct action_value *from,
		      struct number *out)
{
	const struct hit *h = arg;
	uint64_t word = 0;
	int at;

	if (from->source > VALUE_FIELD) {
		*out = number_as(of_task(h->e, from->source), 4, false);
		return 0;
	}
	at = find_number(h, from, out);
	if (at < 0 || (from->source == VALUE_FIELD ? h->e->bad != 0
					: h->e->bad >> at / 8 & 1))
		return -ENODATA;
	memcpy(&word, (const char *)(h->e + 1) + at, out->size);
	*out = number_as(word, out->size, out->is_signed);
	return 0;
}

int values_number(struct values *v, size_t n, const struct action_value *from,
		  struct number *type)
{
	const struct trace_event e = { .probe = (uint32_t)n };
	const struct hit h = {
		.v = v, .e = &e, .plan = plan_of(v, n),
		.action = fetch_action(v->fetch, n),
	};

	return from->source > VALUE_FIELD ? -ENODATA :
	       h.plan ? find_number(&h, from, type) : -ENOMEM;
}

static int located(const struct hit *h, const struct value *value,
		   const char **s, size_t *len)
{
	int n = value->slot < 0 ? -1 : h->e->strings[value->slot];

	if (n < 0 || (uint32_t)n > h->v->fetch->slot_size)
		return -ENODATA;
	*s = slot_data(h->v, h->e, value->slot);
	*len = strnlen(*s, (size_t)n);
	return 0;
}

/* A null pointer's is "". */
static int hit_string(void *arg, const struct action_value *from,
		      const char **s, size_t *len)
{
	const struct hit *h = arg;
	const struct value *value;
	struct value word = { 0 };
	uint64_t address;
	int at;

	*s = h->e->comm;
	*len = strnlen(h->e->comm, COMM_SIZE);
	if (from->source == VALUE_COMM)
		return 0;
	at = find_value(h, from, &value);
	if (at < 0 || (from->source == VALUE_FIELD && (!value || h->e->bad)))
		return -ENODATA;
	if (value && value->field && value->field->kind == TP_STRING &&
	    value->field->where == TP_FIXED) {
		*s = (const char *)(h->e + 1) + at;
		*len = strnlen(*s, value->field->size);
		return 0;
	}
	word.slot = fetch_slot(h->v->fetch, h->e->probe, (uint32_t)at);
	memcpy(&address, (const char *)(h->e + 1) + at, sizeof(address));
	if (value && value->field && value->field->where != TP_FIXED)
		return located(h, value, s, len);
	*s = NULL;
	*len = 0;
	return address ? located(h, &word, s, len) : 0;
}

static void hit_show(void *arg, const struct action_value *from,
		     struct buf *to)
{
	const struct hit *h = arg;
	size_t len, most = h->v->fetch->string_size;
	const char *s;

	if (hit_string(arg, from, &s, &len)) {
		print_unread(h->v, to);
		return;
	}
	if (!s) {
		buf_puts(to, "NULL");
		return;
	}
	escape(to, s, len < most ? len : most, ESCAPE_TEXT);
	if (len <= most)
		return;
	buf_puts(to, "...");
	h->v->cut++;
}

static void hit_name(void *arg, char side, uint64_t address, struct buf *to)
{
	const struct hit *h = arg;

	h->v->name(h->v->arg, h->e, side, address, to);
}

static struct action_hit hit_of(struct hit *h)
{
	return (struct action_hit){
		.arg = h, .number = hit_number, .string = hit_string,
		.show = hit_show, .name = hit_name,
	};
}

int values_pass(struct values *v, const struct trace_event *e)
{
	struct hit h = {
		.v = v, .e = e, .action = fetch_action(v->fetch, e->probe),
	};
	const struct action_hit hit = hit_of(&h);
	struct number n;

	if (!h.action || h.action->filter == ACTION_NONE)
		return 1;
	h.plan = plan_of(v, e->probe);
	if (!h.plan)
		return -ENOMEM;
	if (!action_eval(h.action, h.action->filter, &hit, &n))
		return n.v != 0;
	v->undecided++;
	return 0;
}

static int print_format(struct hit *h, struct buf *to)
{
	const struct action_hit hit = hit_of(h);

	buf_putc(to, ' ');
	h->v->unread += action_print(h->action, &hit, to);
	return to->err;
}

int values_print(struct values *v, const struct trace_event *e,
		 struct buf *to)
{
	const struct value_plan *plan = plan_of(v, e->probe);
	struct hit h = {
		.v = v, .e = e, .plan = plan,
		.action = fetch_action(v->fetch, e->probe),
	};

	if (!plan)
		return -ENOMEM;
	if (h.action && h.action->has_format)
		return print_format(&h, to);
	for (size_t i = 0; i < plan->n; i++)
		print_value(v, e, &plan->v[i], to);
	if (plan->more)
		buf_puts(to, " ...");
	return to->err;
}

void values_free(struct values *v)
{
	for (size_t i = 0; i < v->plans.n; i++)
		vec_free(&v->plans.v[i]);
	vec_free(&v->plans);
	buf_free(&v->labels);
	btf_close(v->btf);
	v->btf = NULL;
}
