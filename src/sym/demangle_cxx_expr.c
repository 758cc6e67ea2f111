/* demangle_cxx_expr - reads expressions: of templates and of decltype. */
#include "sym/demangle_cxx.h"

#include <string.h>

const char cxx_operators[] =
	"aN2&=\0" "aS2=\0" "aa2&&\0" "ad1&\0" "an2&\0" "attalignof \0"
	"aw1co_await \0" "az1alignof \0" "cc<const_cast\0" "cl(()\0" "cm2,\0"
	"co1~\0" "cvc\0" "dV2/=\0" "dXr\0" "da1delete[] \0"
	"dc<dynamic_cast\0" "de1*\0" "dif\0" "dl1delete \0" "ds2.*\0" "dt..\0"
	"dv2/\0" "dxe\0" "eO2^=\0" "eo2^\0" "eq2==\0" "fLF\0" "fRF\0" "fll\0"
	"frR\0" "ge2>=\0" "gs:::\0" "gt>>\0" "ix[[]\0" "lS2<<=\0" "le2<=\0"
	"li\"\0" "ls2<<\0" "lt2<\0" "mI2-=\0" "mL2*=\0" "mi2-\0" "ml2*\0"
	"mm+--\0" "nannew[]\0" "ne2!=\0" "ng1-\0" "nt1!\0" "nwnnew\0"
	"nxwnoexcept\0" "oR2|=\0" "oo2||\0" "or2|\0" "pL2+=\0" "pl2+\0"
	"pm2->*\0" "pp+++\0" "ps1+\0" "pt.->\0" "qu??\0" "rM2%=\0" "rS2>>=\0"
	"rc<reinterpret_cast\0" "rm2%\0" "rs2>>\0" "sPA\0" "sZ#\0"
	"sc<static_cast\0" "ss2<=>\0" "sttsizeof \0" "sz1sizeof \0"
	"tew" "typeid \0" "tit" "typeid \0" "tr0throw\0" "tw1throw \0";

/* -- operands -------------------------------------------------------- */

static uint16_t member_name(struct cxx *c)
{
	if ((c->p[0] == 'g' && c->p[1] == 's') ||
	    (c->p[0] == 's' && c->p[1] == 'r'))
		return cxx_expression(c);
	return cxx_maybe_template(c, cxx_unqualified(c));
}

static uint16_t one_of_new(struct cxx *c)
{
	if (cxx_skip(c, 'E'))
		return 0;
	if (cxx_skip_two(c, "pi"))
		return cxx_list_until(c, cxx_expression, 'E');
	return cxx_expression(c);		/* il: in braces */
}

static uint16_t ternary(struct cxx *c, uint16_t op, uint16_t first,
			uint16_t second, uint16_t third)
{
	struct cxx_list rest = { 0 };

	cxx_append(c, &rest, second);
	cxx_append(c, &rest, third);
	return cxx_node(c, CXX_TERNARY, op, first, rest.first);
}

static uint16_t created(struct cxx *c, uint16_t op)
{
	uint16_t where = cxx_list_until(c, cxx_expression, '_');
	uint16_t type = cxx_type(c);

	return ternary(c, op, where, type, one_of_new(c));
}

static uint16_t converted(struct cxx *c, uint16_t op)
{
	uint16_t id = cxx_skip(c, '_') ? cxx_list_until(c, cxx_expression, 'E')
				       : cxx_expression(c);

	return cxx_node(c, CXX_UNARY, op, id, 0);
}

static uint16_t counted(struct cxx *c, uint16_t op)
{
	uint16_t id = cxx_list_until(c, cxx_template_arg, 'E');

	return cxx_node(c, CXX_UNARY, op, id, 0);
}

/* -- operators, by how many operands they take ----------------------- */

static uint16_t unary(struct cxx *c, uint16_t op, enum cxx_syntax syntax)
{
	bool behind = syntax == CXX_OP_STEP && !cxx_skip(c, '_');
	uint16_t id = syntax == CXX_OP_TYPE ? cxx_type(c) : cxx_expression(c);

	return cxx_node(c, CXX_UNARY, op, id, behind);
}

static uint16_t binary(struct cxx *c, uint16_t op, enum cxx_syntax syntax)
{
	uint16_t left = syntax == CXX_OP_NAMED_CAST ? cxx_type(c) :
			syntax == CXX_OP_FIELD ? cxx_unqualified(c) :
			syntax == CXX_OP_FOLD_LEFT ||
			syntax == CXX_OP_FOLD_RIGHT ? cxx_operator(c) :
			cxx_expression(c);
	uint16_t right = syntax == CXX_OP_MEMBER ? member_name(c) :
			 syntax == CXX_OP_CALL
			 ? cxx_list_until(c, cxx_expression, 'E')
			 : cxx_expression(c);

	return cxx_node(c, CXX_BINARY, op, left, right);
}

static uint16_t three(struct cxx *c, uint16_t op, enum cxx_syntax syntax)
{
	uint16_t first = syntax == CXX_OP_FOLD ? cxx_operator(c)
						: cxx_expression(c);
	uint16_t second = cxx_expression(c);

	return ternary(c, op, first, second, cxx_expression(c));
}

static uint16_t operation(struct cxx *c)
{
	uint16_t op = cxx_operator(c);
	enum cxx_syntax syntax = cxx_op_syntax(&c->node[op]);

	switch (syntax) {
	case CXX_OP_ALONE:
		return cxx_node(c, CXX_UNARY, op, 0, 0);
	case CXX_OP_CAST:
		return converted(c, op);
	case CXX_OP_COUNT_ARGS:
		return counted(c, op);
	case CXX_OP_NEW:
		return created(c, op);
	case CXX_OP_PREFIX:
	case CXX_OP_GLOBAL:
	case CXX_OP_STEP:
	case CXX_OP_TYPE:
	case CXX_OP_WHOLE:
	case CXX_OP_COUNT:
		return unary(c, op, syntax);
	case CXX_OP_CHOICE:
	case CXX_OP_RANGE:
	case CXX_OP_FOLD:
		return three(c, op, syntax);
	case CXX_OP_NAME:
	case CXX_OP_LITERAL:
		return cxx_fail(c);
	default:
		return binary(c, op, syntax);
	}
}

/* -- what is no operator --------------------------------------------- */

static uint16_t argument(struct cxx *c)
{
	if (cxx_skip(c, 'T'))
		return cxx_node(c, CXX_ARGUMENT, 0, 0, 0);
	return cxx_node(c, CXX_ARGUMENT, cxx_index(c) + 1, 0, 0);
}

/* A name in scopes that are not looked up yet, and so no substitutions. */
static uint16_t scopes(struct cxx *c)
{
	uint16_t id = 0;

	while (!c->failed && !cxx_skip(c, 'E')) {
		uint16_t name = cxx_unqualified(c);

		if (id)
			name = cxx_node(c, CXX_QUALIFIED, id, name, 0);
		id = cxx_maybe_template(c, name);
	}
	return id;
}

/* A name in a scope. Old GCCs gave a type where there are names and E now. */
static uint16_t scoped(struct cxx *c)
{
	bool by_names = cxx_at_digit(c) && !c->old;
	uint16_t scope = by_names ? scopes(c) : cxx_type(c);
	uint16_t name = cxx_unqualified(c);

	c->maybe_old |= by_names;
	if (!by_names)
		name = cxx_maybe_template(c, name);
	name = cxx_node(c, CXX_QUALIFIED, scope, name, 0);
	return by_names ? cxx_maybe_template(c, name) : name;
}

static uint16_t braces(struct cxx *c, uint16_t type)
{
	return cxx_node(c, CXX_BRACES, type,
			cxx_list_until(c, cxx_expression, 'E'), 0);
}

static uint16_t vendor_call(struct cxx *c)
{
	uint16_t name = cxx_source_name(c);

	return cxx_node(c, CXX_CALL, name,
			cxx_list_until(c, cxx_template_arg, 'E'), 0);
}

static uint16_t expression(struct cxx *c)
{
	if (*c->p == 'T')
		return cxx_param(c);
	if (cxx_skip(c, 'L'))
		return cxx_literal(c);
	if (cxx_at_digit(c) || cxx_skip_two(c, "on"))
		return cxx_maybe_template(c, cxx_unqualified(c));
	if (cxx_skip_two(c, "fp"))
		return argument(c);
	if (cxx_skip_two(c, "sr"))
		return scoped(c);
	if (cxx_skip_two(c, "sp"))
		return cxx_node(c, CXX_PACK, cxx_expression(c), 0, 0);
	if (cxx_skip_two(c, "il"))
		return braces(c, 0);
	if (cxx_skip_two(c, "tl"))
		return braces(c, cxx_type(c));
	if (cxx_skip(c, 'u'))
		return vendor_call(c);
	return operation(c);
}

uint16_t cxx_expression(struct cxx *c)
{
	bool before = c->in_expression;
	uint16_t id;

	cxx_enter(c);
	c->in_expression = true;
	id = expression(c);
	c->in_expression = before;
	cxx_leave(c);
	return id;
}

/* A function, or a type and its value. GCC once left out the "_" of "_Z". */
uint16_t cxx_literal(struct cxx *c)
{
	uint16_t id;
	const char *start;
	bool negative;

	if (cxx_skip_two(c, "_Z") || cxx_skip(c, 'Z')) {
		id = cxx_encoding(c);
		cxx_expect(c, 'E');
		return id;
	}
	id = cxx_type(c);
	if (c->node[id].kind == CXX_BUILTIN && *c->p == 'E' &&
	    c->node[id].a == CXX_NULLPTR)
		return c->p++, id;
	negative = cxx_skip(c, 'n');
	for (start = c->p; *c->p && *c->p != 'E'; c->p++)
		;
	if (c->p == start)
		return cxx_fail(c);
	id = cxx_node(c, CXX_LITERAL, id, cxx_span(c, start), negative);
	cxx_expect(c, 'E');
	return id;
}
