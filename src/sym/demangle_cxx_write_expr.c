/* demangle_cxx_write_expr - writes the expressions of a mangled C++ name. */
#include "sym/demangle_cxx_write.h"

static bool is_simple(const struct cxx_node *n)
{
	switch (n->kind) {
	case CXX_NAME:
	case CXX_QUALIFIED:
	case CXX_BRACES:
	case CXX_ARGUMENT:
		return true;
	}
	return n->kind == CXX_TEXT && n->a < CXX_ABBREVIATED;
}

static void operand(struct cxx *c, uint16_t id)
{
	bool bare = is_simple(&c->node[id]);

	cxx_between(c, bare ? "" : "(", id, bare ? "" : ")");
}

static void operator_put(struct cxx *c, uint16_t op)
{
	const struct cxx_node *n = &c->node[op];

	if (n->kind == CXX_OPERATOR)
		cxx_puts(c, cxx_op_text(n));
	else if (n->kind == CXX_CAST)
		cxx_between(c, "(", n->a, ")");
	else
		cxx_whole(c, op);
}

static void pack(struct cxx *c, uint16_t pattern)
{
	uint16_t found = c->params ? 0 : cxx_pack_find(c, pattern);
	int n = (int)cxx_list_length(c, found), outer = c->pack;

	if (!found) {
		operand(c, pattern);
		cxx_puts(c, "...");
		return;
	}
	for (c->pack = 0; c->pack < n && !c->t->failed; c->pack++)
		cxx_between(c, c->pack ? ", " : "", pattern, "");
	c->pack = outer;
}

static unsigned args_length(struct cxx *c, uint16_t id)
{
	unsigned n = 0;

	for (; id && c->node[id].a; id = c->node[id].b, c->steps++) {
		const struct cxx_node *item = &c->node[c->node[id].a];

		n += item->kind == CXX_PACK
			? cxx_list_length(c, cxx_pack_find(c, item->a)) : 1;
	}
	return n;
}

/* Of a class's function, &name; of another, &(name(types)). */
static uint16_t addressed(const struct cxx *c, uint16_t id)
{
	const struct cxx_node *n = &c->node[id];

	return n->kind == CXX_ENCODING && cxx_is(c, n->a, CXX_QUALIFIED) ? n->a
								      : id;
}

static void unary(struct cxx *c, const struct cxx_node *n)
{
	const struct cxx_node *op = &c->node[n->a];
	enum cxx_syntax syntax = cxx_op_syntax(op);

	if (syntax == CXX_OP_COUNT) {
		text_dec(c->t, cxx_list_length(c, cxx_pack_find(c, n->b)));
	} else if (syntax == CXX_OP_COUNT_ARGS) {
		text_dec(c->t, args_length(c, n->b));
	} else if (n->c) {
		operand(c, n->b);
		operator_put(c, n->a);
	} else {
		operator_put(c, n->a);
		if (syntax == CXX_OP_GLOBAL)
			cxx_whole(c, n->b);
		else if (syntax == CXX_OP_TYPE || syntax == CXX_OP_WHOLE)
			cxx_between(c, "(", n->b, ")");
		else if (n->b)
			operand(c, syntax == CXX_OP_PREFIX &&
				   *cxx_op_text(op) == '&'
				   ? addressed(c, n->b) : n->b);
	}
}

/* =value, or .field=value of what is in there. */
static void designated(struct cxx *c, uint16_t value)
{
	const struct cxx_node *n = &c->node[value];

	if (n->kind == CXX_BINARY || n->kind == CXX_TERNARY) {
		switch (cxx_op_syntax(&c->node[n->a])) {
		case CXX_OP_FIELD:
		case CXX_OP_ELEMENT:
		case CXX_OP_RANGE:
			cxx_whole(c, value);
			return;
		default:
			break;
		}
	}
	cxx_puts(c, "=");
	operand(c, value);
}

static void fold(struct cxx *c, uint16_t op, uint16_t first, uint16_t second)
{
	int outer = c->pack;

	c->pack = -1;
	cxx_puts(c, "(");
	if (first) {
		operand(c, first);
		operator_put(c, op);
	}
	cxx_puts(c, "...");
	if (second) {
		operator_put(c, op);
		operand(c, second);
	}
	cxx_puts(c, ")");
	c->pack = outer;
}

static void two(struct cxx *c, const struct cxx_node *n, enum cxx_syntax how)
{
	uint16_t first = n->b;

	/* Of a function that is called, the types are left out. */
	if (how == CXX_OP_CALL && cxx_is(c, first, CXX_ENCODING))
		first = c->node[first].a;
	operand(c, first);
	if (how == CXX_OP_INDEX) {
		cxx_between(c, "[", n->c, "]");
		return;
	}
	if (how != CXX_OP_CALL)
		operator_put(c, n->a);
	operand(c, n->c);
}

static void binary(struct cxx *c, const struct cxx_node *n)
{
	enum cxx_syntax syntax = cxx_op_syntax(&c->node[n->a]);

	switch (syntax) {
	case CXX_OP_NAMED_CAST:
		operator_put(c, n->a);
		cxx_between(c, "<", n->b, ">(");
		cxx_between(c, "", n->c, ")");
		break;
	case CXX_OP_FIELD:
		cxx_between(c, ".", n->b, "");
		designated(c, n->c);
		break;
	case CXX_OP_ELEMENT:
		cxx_between(c, "[", n->b, "]");
		designated(c, n->c);
		break;
	case CXX_OP_FOLD_LEFT:
		fold(c, n->b, 0, n->c);
		break;
	case CXX_OP_FOLD_RIGHT:
		fold(c, n->b, n->c, 0);
		break;
	case CXX_OP_GREATER:
		cxx_puts(c, "(");
		two(c, n, syntax);
		cxx_puts(c, ")");
		break;
	default:
		two(c, n, syntax);
	}
}

static void created(struct cxx *c, uint16_t where, uint16_t type,
		    uint16_t from)
{
	cxx_puts(c, "new ");
	if (c->node[where].a)
		cxx_between(c, "(", where, ") ");
	cxx_whole(c, type);
	if (from)
		operand(c, from);
}

static void ternary(struct cxx *c, const struct cxx_node *n)
{
	uint16_t second = cxx_list_item(c, n->c, 0);
	uint16_t third = cxx_list_item(c, n->c, 1);

	switch (cxx_op_syntax(&c->node[n->a])) {
	case CXX_OP_NEW:
		created(c, n->b, second, third);
		break;
	case CXX_OP_FOLD:
		fold(c, n->b, second, third);
		break;
	case CXX_OP_RANGE:
		cxx_between(c, "[", n->b, " ... ");
		cxx_between(c, "", second, "]");
		designated(c, third);
		break;
	default:
		operand(c, n->b);
		operator_put(c, n->a);
		operand(c, second);
		cxx_puts(c, " : ");
		operand(c, third);
	}
}

static bool literal_bool(struct cxx *c, const struct cxx_node *n)
{
	const struct cxx_node *value = &c->node[n->b];
	char digit = c->in[value->a];

	if (value->b != 1 || n->c || (digit != '0' && digit != '1'))
		return false;
	cxx_puts(c, digit == '1' ? "true" : "false");
	return true;
}

/* How a literal of a builtin type ends when that type goes without saying;
 * NULL: it is said. */
static const char *literal_suffix(const struct cxx_node *type)
{
	if (type->kind != CXX_BUILTIN)
		return NULL;
	switch (type->a - CXX_LETTERS + 'a') {
	case 'i': return "";
	case 'j': return "u";
	case 'l': return "l";
	case 'm': return "ul";
	case 'x': return "ll";
	case 'y': return "ull";
	}
	return NULL;
}

static bool is_floating(const struct cxx_node *type)
{
	return type->kind == CXX_FLOAT ||
	       (type->kind == CXX_BUILTIN &&
		(type->a == CXX_HALF ||
		 (type->a >= CXX_LETTERS + 3 && type->a <= CXX_LETTERS + 6)));
}

static void literal(struct cxx *c, const struct cxx_node *n)
{
	const struct cxx_node *type = &c->node[n->a];
	const char *suffix = literal_suffix(type);
	bool floating = is_floating(type);

	if (type->kind == CXX_BUILTIN && type->a == CXX_LETTERS + 1 &&
	    literal_bool(c, n))
		return;
	if (!suffix)
		cxx_between(c, "(", n->a, ")");
	if (n->c)
		cxx_puts(c, "-");
	cxx_between(c, floating ? "[" : "", n->b, floating ? "]" : "");
	cxx_puts(c, suffix ? suffix : "");
}

void cxx_expression_put(struct cxx *c, const struct cxx_node *n)
{
	switch (n->kind) {
	case CXX_PACK:
		pack(c, n->a);
		break;
	case CXX_CAST:
		cxx_whole(c, n->a);
		break;
	case CXX_ARGUMENT:
		if (n->a)
			cxx_put_number(c, "{parm#", n->a, "}");
		else
			cxx_puts(c, "this");
		break;
	case CXX_LITERAL:
		literal(c, n);
		break;
	case CXX_UNARY:
		unary(c, n);
		break;
	case CXX_BINARY:
		binary(c, n);
		break;
	case CXX_TERNARY:
		ternary(c, n);
		break;
	case CXX_CALL:
		operand(c, n->a);
		cxx_between(c, "(", n->b, ")");
		break;
	}
}
