/* action_run - evaluates a probe's filter and prints its format at a hit. */
#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "trace/action.h"

/* -- expressions ----------------------------------------------------------- */

/* C's usual conversions: to an int at least, to the larger of the two, to the
 * unsigned one of equals. */
struct number number_common(const struct number *a, const struct number *b)
{
	struct number type = { .size = 4, .is_signed = true };
	const struct number *both[] = { a, b };

	for (int i = 0; i < 2; i++) {
		const struct number *n = both[i];

		if (n->size > type.size)
			type = *n;
		else if (n->size == type.size)
			type.is_signed &= n->is_signed;
	}
	return type;
}

static bool less(const struct number *a, const struct number *b)
{
	return a->is_signed ? (int64_t)a->v < (int64_t)b->v : a->v < b->v;
}

/* Quotient or rest, towards zero; b is not 0. */
static uint64_t divide(const struct number *a, const struct number *b,
		       bool rest)
{
	bool minus_a = a->is_signed && (int64_t)a->v < 0;
	bool minus_b = b->is_signed && (int64_t)b->v < 0;
	uint64_t x = minus_a ? 0 - a->v : a->v, y = minus_b ? 0 - b->v : b->v;
	uint64_t n = rest ? x % y : x / y;

	return (rest ? minus_a : minus_a != minus_b) ? 0 - n : n;
}

static uint64_t shift(const struct number *a, uint64_t by, bool left)
{
	bool minus = a->is_signed && (int64_t)a->v < 0;

	if (by >= 8u * a->size)
		return minus && !left ? UINT64_MAX : 0;
	if (left)
		return a->v << by;
	return minus ? ~(~a->v >> by) : a->v >> by;
}

static bool compare(enum expr_op op, const struct number *a,
		    const struct number *b)
{
	switch (op) {
	case EXPR_EQ: return a->v == b->v;
	case EXPR_NE: return a->v != b->v;
	case EXPR_LT: return less(a, b);
	case EXPR_GT: return less(b, a);
	case EXPR_LE: return !less(b, a);
	default: return !less(a, b);
	}
}

static uint64_t calculate(enum expr_op op, const struct number *a,
			  const struct number *b)
{
	switch (op) {
	case EXPR_BIT_OR: return a->v | b->v;
	case EXPR_BIT_XOR: return a->v ^ b->v;
	case EXPR_BIT_AND: return a->v & b->v;
	case EXPR_ADD: return a->v + b->v;
	case EXPR_SUB: return a->v - b->v;
	case EXPR_MUL: return a->v * b->v;
	default: return divide(a, b, op == EXPR_MOD);
	}
}

static struct number truth(bool is)
{
	return (struct number){ .v = is, .size = 4, .is_signed = true };
}

static int eval_binary(const struct expr *e, struct number a, struct number b,
		       struct number *out)
{
	struct number type = number_common(&a, &b), zero = { .size = 1 };

	if (e->op == EXPR_LEFT || e->op == EXPR_RIGHT) {
		type = number_common(&a, &zero);
		a = number_as(a.v, type.size, type.is_signed);
		*out = number_as(shift(&a, b.v, e->op == EXPR_LEFT), type.size,
				 type.is_signed);
		return 0;
	}
	a = number_as(a.v, type.size, type.is_signed);
	b = number_as(b.v, type.size, type.is_signed);
	if (e->op >= EXPR_EQ && e->op <= EXPR_GE) {
		*out = truth(compare(e->op, &a, &b));
		return 0;
	}
	if ((e->op == EXPR_DIV || e->op == EXPR_MOD) && !b.v)
		return -ENODATA;
	*out = number_as(calculate(e->op, &a, &b), type.size, type.is_signed);
	return 0;
}

static int eval_strcmp(const struct action *a, const struct expr *e,
		       const struct action_hit *hit, struct number *out)
{
	const char *text = a->text.data + e->v, *s;
	size_t n = strlen(text), len;
	int err = hit->string(hit->arg, &a->values.v[e->left], &s, &len);

	if (!err)
		*out = truth(n == len && !memcmp(s, text, n));
	return err;
}

static int eval_unary(const struct expr *e, struct number n,
		      struct number *out)
{
	struct number zero = { .size = 1 }, type = number_common(&n, &zero);

	if (e->op == EXPR_CAST)
		*out = number_as(n.v, e->size, e->is_signed);
	else if (e->op == EXPR_NOT)
		*out = truth(!n.v);
	else
		*out = number_as(e->op == EXPR_NEGATE ? 0 - n.v : ~n.v,
				 type.size, type.is_signed);
	return 0;
}

/* What is false whatever the other side is, is false. */
static int eval_logic(const struct action *a, const struct expr *e,
		      const struct action_hit *hit, struct number *out)
{
	bool decides = e->op == EXPR_OR;
	struct number n;
	int err = action_eval(a, e->left, hit, &n), other = 0;

	if (err || (n.v != 0) != decides) {
		other = action_eval(a, e->right, hit, &n);
		if (!other && (n.v != 0) != decides)
			other = err;
	}
	*out = truth(n.v);
	return other;
}

int action_eval(const struct action *a, unsigned expr,
		const struct action_hit *hit, struct number *out)
{
	const struct expr *e = &a->exprs.v[expr];
	struct number left, right;
	int err;

	switch (e->op) {
	case EXPR_NUMBER:
		*out = number_as(e->v, e->size, e->is_signed);
		return 0;
	case EXPR_VALUE:
		return hit->number(hit->arg, &a->values.v[e->left], out);
	case EXPR_STRCMP:
		return eval_strcmp(a, e, hit, out);
	case EXPR_OR:
	case EXPR_AND:
		return eval_logic(a, e, hit, out);
	default:
		break;
	}
	err = action_eval(a, e->left, hit, &left);
	if (!err && e->op <= EXPR_CAST)
		return eval_unary(e, left, out);
	if (!err)
		err = action_eval(a, e->right, hit, &right);
	return err ? err : eval_binary(e, left, right, out);
}

/* -- the format ------------------------------------------------------------ */

static void put_hex(struct buf *to, uint64_t n)
{
	buf_fmt(to, "%llx", (unsigned long long)n);
}

/* What does not fit into the conversion's size is shown whole beside it. */
static void put_number(const struct action_piece *piece, struct number n,
		       struct buf *to)
{
	bool is_signed = piece->conversion == 'd';
	struct number cut = number_as(n.v, piece->size, is_signed);
	struct number other = number_as(n.v, piece->size, !is_signed);

	if (piece->conversion == 'x')
		put_hex(to, cut.v);
	else if (is_signed)
		buf_signed(to, (int64_t)cut.v);
	else
		buf_dec(to, cut.v);
	if (cut.v == n.v || other.v == n.v)
		return;
	buf_puts(to, " (");
	buf_hex(to, n.v);
	buf_putc(to, ')');
}

static int put_value(const struct action *a, const struct action_piece *piece,
		     const struct action_hit *hit, struct buf *to)
{
	const struct expr *e = &a->exprs.v[piece->expr];
	struct number n;
	int err;

	if (piece->conversion == 's') {
		hit->show(hit->arg, &a->values.v[e->left], to);
		return 0;
	}
	err = action_eval(a, piece->expr, hit, &n);
	if (err)
		buf_putc(to, '?');
	else if (piece->conversion == 'c')
		escape(to, (const char[]){ (char)n.v }, 1, ESCAPE_TEXT);
	else if (piece->conversion == 'p')
		buf_hex(to, n.v);
	else if (piece->size && strchr("dux", piece->conversion))
		put_number(piece, n, to);
	else
		hit->name(hit->arg, piece->conversion, n.v, to);
	return err;
}

/* Fill what was put from `start` on up to the width. */
static void pad(const struct action_piece *piece, struct buf *to, size_t start)
{
	size_t len = to->len - start, n;
	bool zeros = piece->zeros && !piece->left;

	if (len >= piece->width || to->err)
		return;
	n = piece->width - len;
	for (size_t i = 0; i < n; i++)
		buf_putc(to, zeros ? '0' : ' ');
	if (piece->left || to->err)
		return;
	if (zeros && to->data[start] == '-')
		start++, len--;
	memmove(to->data + start + n, to->data + start, len);
	memset(to->data + start, zeros ? '0' : ' ', n);
}

size_t action_print(const struct action *a, const struct action_hit *hit,
		    struct buf *to)
{
	size_t bad = 0;

	for (size_t i = 0; i < a->pieces.n; i++) {
		const struct action_piece *piece = &a->pieces.v[i];
		size_t start;

		buf_puts(to, a->text.data + piece->text);
		if (!piece->conversion)
			continue;
		start = to->len;
		bad += put_value(a, piece, hit, to) != 0;
		pad(piece, to, start);
	}
	return bad;
}
