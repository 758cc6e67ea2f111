/* action - fuzz target: filters and formats; what is read is evaluated, and the
 * kernel's half must let pass what the filter takes. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "trace/action.h"
#include "trace/prefilter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct given {
	uint64_t word;
	struct number type;
};

static int type_of(void *arg, const struct action_value *v,
		   struct number *type)
{
	const struct given *g = arg;

	if (v->source > VALUE_FIELD)
		return -ENODATA;
	*type = g->type;
	return 0;
}

static int number(void *arg, const struct action_value *v, struct number *out)
{
	const struct given *g = arg;

	if (v->number == 12)
		return -ENODATA;
	*out = number_as(g->word, g->type.size, g->type.is_signed);
	return 0;
}

static int string(void *arg, const struct action_value *v, const char **s,
		  size_t *len)
{
	(void)arg, (void)v;
	*s = "x";
	*len = 1;
	return 0;
}

static void show(void *arg, const struct action_value *v, struct buf *to)
{
	(void)arg, (void)v;
	buf_putc(to, 'x');
}

static void name(void *arg, char side, uint64_t address, struct buf *to)
{
	(void)arg, (void)side;
	buf_hex(to, address);
}

static void judge(const struct action *a, struct given *g,
		  const struct action_hit *hit)
{
	struct trace_filter f;
	unsigned n = prefilter_make(a, type_of, g, &f), answers = 0;
	struct number truth;

	for (unsigned i = 0; i < n; i++)
		answers |= (unsigned)(((g->word & f.v[i].mask) ^ f.v[i].flip) <
				      f.v[i].limit) << i;
	if (action_eval(a, a->filter, hit, &truth) || !truth.v || !n)
		return;
	if (!(f.truth[answers >> 3] >> (answers & 7) & 1))
		abort();
}

/* The first ten bytes are a word, its size and its sign. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct given g;
	struct action_hit hit = {
		.arg = &g, .number = number, .string = string, .show = show,
		.name = name,
	};
	struct buf text = { 0 };
	struct action a;
	char *arg;

	log_set_silent(true);
	if (size < 10)
		return 0;
	memcpy(&g.word, data, 8);
	g.type = number_as(0, (uint8_t)(1 << (data[8] & 3)), data[9] & 1);
	arg = malloc(size - 9);
	if (!arg)
		return 0;
	memcpy(arg, data + 10, size - 10);
	arg[size - 10] = '\0';
	if (!action_parse(&a, "fuzz", arg, action_find(arg))) {
		action_print(&a, &hit, &text);
		if (a.filter != ACTION_NONE)
			judge(&a, &g, &hit);
	}
	action_free(&a);
	buf_free(&text);
	free(arg);
	return 0;
}
