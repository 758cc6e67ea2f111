/* prefilter - what of a filter the kernel's half judges itself.
 *
 * A comparison of a value with a constant, whatever its types, is an unsigned
 * one, if the sign bit of a signed value is flipped first; equality is that
 * nothing is left but a difference below 1; the others are these, negated or
 * with the next limit. How the answers make up the filter, a table of all
 * answers says.
 */
#include "trace/prefilter.h"

#include <string.h>

enum { MAY_BE_FALSE = 1, MAY_BE_TRUE = 2 };

struct make {
	const struct action *a;
	prefilter_type *type;
	void *arg;
	struct trace_filter *out;
	unsigned n;
	uint16_t nodes[TRACE_COMPARES];
	bool negated[TRACE_COMPARES];
};

/* What is compared: bits of a word, taken for a number of that type. */
struct operand {
	struct number type;
	uint64_t mask;
	uint16_t at;
};

static const struct expr *node(const struct make *m, unsigned n)
{
	return &m->a->exprs.v[n];
}

static uint64_t low_bits(unsigned size)
{
	return UINT64_MAX >> (64 - 8 * size);
}

static bool is_constant(const struct make *m, unsigned n)
{
	const struct expr *e = node(m, n);

	if (e->op == EXPR_NUMBER)
		return true;
	return e->op > EXPR_STRCMP && is_constant(m, e->left) &&
	       (e->op <= EXPR_CAST || is_constant(m, e->right));
}

static bool constant(const struct make *m, unsigned n, struct number *out)
{
	return is_constant(m, n) && !action_eval(m->a, n, NULL, out);
}

/* A value, or a part of its bytes. */
static bool find_value(const struct make *m, unsigned n, struct operand *out)
{
	const struct expr *e = node(m, n);
	int at;

	if (e->op == EXPR_CAST) {
		if (!find_value(m, e->left, out) || e->size > out->type.size)
			return false;
		out->type.size = e->size;
		out->type.is_signed = e->is_signed;
		out->mask = low_bits(e->size);
		return true;
	}
	if (e->op != EXPR_VALUE)
		return false;
	at = m->type(m->arg, &m->a->values.v[e->left], &out->type);
	if (at < 0)
		return false;
	out->at = (uint16_t)at;
	out->mask = low_bits(out->type.size);
	return true;
}

/* The same, or some bits of it. */
static bool find_operand(const struct make *m, unsigned n,
			 struct operand *out)
{
	const struct expr *e = node(m, n);
	struct number bits;

	if (e->op != EXPR_BIT_AND)
		return find_value(m, n, out);
	if (!constant(m, e->right, &bits) || !find_value(m, e->left, out) ||
	    bits.v > low_bits(out->type.size) >> 1)
		return false;
	out->mask &= bits.v;
	out->type = number_common(&out->type, &bits);
	out->type.is_signed = false;	/* it is never negative */
	return true;
}

/* The constant as it stands in the value's own bits; false when there it is
 * none, or C takes the value for another. */
static bool convert(const struct operand *o, const struct number *to,
		    uint64_t *k)
{
	struct number type = number_common(&o->type, to);
	struct number as = number_as(to->v, type.size, type.is_signed);
	struct number back = number_as(as.v, o->type.size, o->type.is_signed);

	*k = as.v & low_bits(o->type.size);
	if (!type.is_signed && o->type.is_signed)
		return type.size == o->type.size;
	return back.v == as.v;
}

static bool set_compare(struct make *m, enum expr_op op,
			const struct operand *o, const struct number *to)
{
	struct trace_compare *c = &m->out->v[m->n];
	struct number type = number_common(&o->type, to);
	bool flips = type.is_signed && o->type.is_signed;
	bool is_part = o->mask != low_bits(o->type.size);
	uint64_t k;

	if (!convert(o, to, &k) ||
	    (is_part && to->is_signed && (int64_t)to->v < 0))
		return false;
	*c = (struct trace_compare){ .mask = o->mask, .at = o->at };
	if (op == EXPR_EQ || op == EXPR_NE) {
		c->flip = k;
		c->limit = 1;
	} else {
		c->flip = flips ? 1ull << (8 * o->type.size - 1) : 0;
		c->limit = k ^ c->flip;
		if ((op == EXPR_LE || op == EXPR_GT) && !++c->limit)
			return false;
	}
	m->negated[m->n] = op == EXPR_NE || op == EXPR_GT || op == EXPR_GE;
	return true;
}

static enum expr_op swapped(enum expr_op op)
{
	switch (op) {
	case EXPR_LT: return EXPR_GT;
	case EXPR_GT: return EXPR_LT;
	case EXPR_LE: return EXPR_GE;
	case EXPR_GE: return EXPR_LE;
	default: return op;
	}
}

static bool make_compare(struct make *m, unsigned n)
{
	const struct expr *e = node(m, n);
	const struct number zero = { .size = 4, .is_signed = true };
	struct operand o;
	struct number to;

	if (e->op < EXPR_EQ || e->op > EXPR_GE)
		return find_operand(m, n, &o) &&
		       set_compare(m, EXPR_NE, &o, &zero);
	if (constant(m, e->right, &to))
		return find_operand(m, e->left, &o) &&
		       set_compare(m, e->op, &o, &to);
	return constant(m, e->left, &to) && find_operand(m, e->right, &o) &&
	       set_compare(m, swapped(e->op), &o, &to);
}

static bool is_logic(const struct expr *e)
{
	return e->op == EXPR_OR || e->op == EXPR_AND || e->op == EXPR_NOT;
}

static void find_compares(struct make *m, unsigned n)
{
	const struct expr *e = node(m, n);

	if (is_logic(e)) {
		find_compares(m, e->left);
		if (e->op != EXPR_NOT)
			find_compares(m, e->right);
	} else if (m->n < TRACE_COMPARES && make_compare(m, n)) {
		m->nodes[m->n++] = (uint16_t)n;
	}
}

/* What a node may be, given the answers. */
static unsigned outcome(const struct make *m, unsigned n, unsigned answers)
{
	const struct expr *e = node(m, n);
	unsigned left, right;

	for (unsigned i = 0; i < m->n; i++)
		if (m->nodes[i] == n)
			return (answers >> i & 1) != m->negated[i]
				? MAY_BE_TRUE : MAY_BE_FALSE;
	if (!is_logic(e))
		return MAY_BE_FALSE | MAY_BE_TRUE;
	left = outcome(m, e->left, answers);
	if (e->op == EXPR_NOT)
		return left >> 1 | (left & 1) << 1;
	right = outcome(m, e->right, answers);
	if (e->op == EXPR_OR)
		return ((left | right) & MAY_BE_TRUE) |
		       (left & right & MAY_BE_FALSE);
	return (left & right & MAY_BE_TRUE) |
	       ((left | right) & MAY_BE_FALSE);
}

unsigned prefilter_make(const struct action *a, prefilter_type *type,
			void *arg, struct trace_filter *out)
{
	struct make m = { .a = a, .type = type, .arg = arg, .out = out };

	memset(out, 0, sizeof(*out));
	if (a->filter == ACTION_NONE)
		return 0;
	find_compares(&m, a->filter);
	for (unsigned i = 0; m.n && i < 1u << TRACE_COMPARES; i++)
		if (outcome(&m, a->filter, i) & MAY_BE_TRUE)
			out->truth[i / 8] |= (uint8_t)(1u << i % 8);
	return m.n;
}
