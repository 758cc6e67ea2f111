/* demangle_cxx_type - reads types, and what templates have as arguments. */
#include "sym/demangle_cxx.h"

#include <string.h>

/* -- functions, and what is marked ----------------------------------- */

uint16_t cxx_mark(struct cxx *c)
{
	enum cxx_mark mark;

	switch (*c->p) {
	case 'K':
		mark = CXX_CONST;
		break;
	case 'V':
		mark = CXX_VOLATILE;
		break;
	case 'r':
		mark = CXX_RESTRICT;
		break;
	default:
		return 0;
	}
	c->p++;
	return cxx_node(c, CXX_OF_THIS, 0, mark, 0);
}

unsigned cxx_reference(struct cxx *c)
{
	return cxx_skip(c, 'R') ? CXX_REFERENCE :
	       cxx_skip(c, 'O') ? CXX_RVALUE : 0;
}

/* What a function's type says of exceptions and transactions. */
static uint16_t function_mark(struct cxx *c)
{
	uint16_t when;

	if (cxx_skip_two(c, "Do"))
		return cxx_node(c, CXX_OF_THIS, 0, CXX_NOEXCEPT, 0);
	if (cxx_skip_two(c, "Dx"))
		return cxx_node(c, CXX_OF_THIS, 0, CXX_TRANSACTION, 0);
	if (cxx_skip_two(c, "Dw"))
		return cxx_node(c, CXX_OF_THIS, 0, CXX_THROW,
				cxx_list_until(c, cxx_type, 'E'));
	if (!cxx_skip_two(c, "DO"))
		return cxx_mark(c);
	when = cxx_expression(c);
	cxx_expect(c, 'E');
	return cxx_node(c, CXX_OF_THIS, 0, CXX_NOEXCEPT, when);
}

uint16_t cxx_types(struct cxx *c)
{
	struct cxx_list list = { 0 };
	struct cxx_node *n;

	while (*c->p && *c->p != 'E' && *c->p != '.' &&
	       !((*c->p == 'R' || *c->p == 'O') && c->p[1] == 'E'))
		cxx_append(c, &list, cxx_type(c));
	if (!list.first)
		return cxx_fail(c);
	n = &c->node[c->node[list.first].a];
	if (list.first == list.last && n->kind == CXX_BUILTIN &&
	    n->a == CXX_LETTERS + 'v' - 'a')
		c->node[list.first].a = 0;	/* void: there are none */
	return list.first;
}

uint16_t cxx_signature(struct cxx *c, bool has_result)
{
	uint16_t result = 0;

	if (cxx_skip(c, 'J') || has_result)
		result = cxx_type(c);
	return cxx_node(c, CXX_FUNCTION, result, cxx_types(c), 0);
}

/* Marks, outermost first, and the function that they belong to. */
static uint16_t function(struct cxx *c, struct cxx_list *marks)
{
	unsigned reference;

	cxx_skip(c, 'Y');		/* extern "C" */
	cxx_chain(c, marks, cxx_signature(c, true));
	reference = cxx_reference(c);
	cxx_expect(c, 'E');
	return reference ? cxx_node(c, CXX_OF_THIS, marks->first, reference, 0)
			 : marks->first;
}

static uint16_t qualified(struct cxx *c)
{
	struct cxx_list marks = { 0 };
	uint16_t id;

	while ((id = function_mark(c)))
		cxx_chain(c, &marks, id);
	if (cxx_skip(c, 'F'))
		return function(c, &marks);
	cxx_chain(c, &marks, cxx_type(c));
	for (id = marks.first; id != marks.last; id = c->node[id].a) {
		if (c->failed || c->node[id].b > CXX_RESTRICT)
			return cxx_fail(c);	/* functions have these */
		c->node[id].kind = CXX_MARKED;
	}
	return marks.first;
}

/* -- types ----------------------------------------------------------- */

uint16_t cxx_param(struct cxx *c)
{
	cxx_expect(c, 'T');
	return cxx_node(c, CXX_PARAM, cxx_index(c), 0, 0);
}

static uint16_t marked(struct cxx *c, enum cxx_mark mark)
{
	c->p++;
	return cxx_node(c, CXX_MARKED, cxx_type(c), mark, 0);
}

static uint16_t number(struct cxx *c)
{
	const char *start = c->p;

	cxx_number(c);
	return cxx_span(c, start);
}

static uint16_t dimension(struct cxx *c)
{
	return cxx_at_digit(c) ? number(c) : cxx_expression(c);
}

static uint16_t array(struct cxx *c)
{
	uint16_t n = *c->p == '_' ? 0 : dimension(c);

	cxx_expect(c, '_');
	return cxx_node(c, CXX_ARRAY, cxx_type(c), n, 0);
}

static uint16_t vector(struct cxx *c)
{
	uint16_t n = cxx_skip(c, '_') ? cxx_expression(c) : number(c);

	cxx_expect(c, '_');
	return cxx_node(c, CXX_VECTOR, cxx_type(c), n, 0);
}

static uint16_t member(struct cxx *c)
{
	uint16_t of = cxx_type(c);

	return cxx_node(c, CXX_MEMBER, cxx_type(c), of, 0);
}

static uint16_t vendor_marked(struct cxx *c)
{
	uint16_t mark = cxx_maybe_template(c, cxx_source_name(c));

	return cxx_node(c, CXX_VENDOR_MARKED, cxx_type(c), mark, 0);
}

/* _FloatN, _FloatNx, bfloat16_t */
static uint16_t floating(struct cxx *c)
{
	const char *start = c->p;

	cxx_number(c);
	if (cxx_skip(c, 'b')) {
		if (memcmp(start, "16", 2))
			return cxx_fail(c);
		return cxx_node(c, CXX_TEXT, CXX_BFLOAT, 0, 0);
	}
	if (*c->p != '_' && *c->p != 'x')
		return cxx_fail(c);
	c->p++;
	return cxx_node(c, CXX_FLOAT, (unsigned)(start - c->in),
			(unsigned)(c->p - start) - (c->p[-1] == '_'), 0);
}

static uint16_t decltype_of(struct cxx *c)
{
	uint16_t id = cxx_expression(c);

	cxx_expect(c, 'E');
	return cxx_node(c, CXX_DECLTYPE, id, 0, 0);
}

/* What begins with D. Those that have no parts are no substitutions. */
static uint16_t two_letters(struct cxx *c, bool *has_parts)
{
	char letter = c->p[1];
	const char *which = letter ? strchr(cxx_two_letters, letter) : NULL;

	if (letter && strchr("oOwx", letter))
		return qualified(c);
	c->p += letter ? 2 : 1;
	switch (letter) {
	case 'T':
	case 't':
		return decltype_of(c);
	case 'p':
		return cxx_node(c, CXX_PACK, cxx_type(c), 0, 0);
	case 'v':
		return vector(c);
	}
	*has_parts = false;
	if (which)
		return cxx_node(c, CXX_BUILTIN, CXX_TWO_LETTERS +
				(unsigned)(which - cxx_two_letters), 0, 0);
	if (letter == 'a' || letter == 'c')
		return cxx_node(c, CXX_TEXT, letter == 'a' ? CXX_AUTO :
				CXX_DECLTYPE_AUTO, 0, 0);
	return letter == 'F' ? floating(c) : cxx_fail(c);
}

/* A parameter, or a template that is one. A conversion's type is followed by
 * its own arguments: then those of a template are they only if others follow,
 * which is seen by reading. Arguments within them are read twice as often with
 * each level, so what was in vain counts. */
static uint16_t param_type(struct cxx *c)
{
	uint16_t id = cxx_param(c), nnodes = c->nnodes, nsubs = c->nsubs;
	const char *start = c->p;

	if (*c->p != 'I')
		return id;
	cxx_substitutable(c, id);
	nsubs = c->nsubs;
	if (c->in_conversion) {
		uint16_t both = cxx_template(c, id);

		if (*c->p == 'I' || c->failed)
			return both;
		c->steps += (unsigned)(c->p - start);
		c->p = start;
		c->nnodes = nnodes;
		c->nsubs = nsubs - 1;
		return id;
	}
	return cxx_template(c, id);
}

/* A substitution is not one once more, unless it gets arguments. */
static uint16_t substituted(struct cxx *c, bool *is_new)
{
	uint16_t before = c->nnodes, id = cxx_name(c);

	*is_new = id >= before && c->node[id].kind != CXX_TEXT;
	return id;
}

static uint16_t builtin(struct cxx *c, char letter)
{
	unsigned text = CXX_LETTERS + (unsigned)letter - 'a';

	if (letter < 'a' || letter > 'z' || !cxx_texts[text])
		return cxx_fail(c);
	return cxx_node(c, CXX_BUILTIN, text, 0, 0);
}

static uint16_t type(struct cxx *c, bool *is_new)
{
	char letter = *c->p;

	switch (letter) {
	case 'P':
		return marked(c, CXX_POINTER);
	case 'R':
		return marked(c, CXX_REFERENCE);
	case 'O':
		return marked(c, CXX_RVALUE);
	case 'C':
		return marked(c, CXX_COMPLEX);
	case 'G':
		return marked(c, CXX_IMAGINARY);
	case 'r': case 'V': case 'K': case 'F':
		return qualified(c);
	case 'N': case 'Z': case 'W': case 'L':
		return cxx_name(c);
	case 'S':
		return substituted(c, is_new);
	case 'T':
		return param_type(c);
	case 'D':
		return two_letters(c, is_new);
	}
	if (cxx_at_digit(c))
		return cxx_name(c);
	c->p += letter != '\0';
	switch (letter) {
	case 'A':
		return array(c);
	case 'M':
		return member(c);
	case 'U':
		return vendor_marked(c);
	case 'u':
		return cxx_source_name(c);
	}
	*is_new = false;
	return builtin(c, letter);
}

uint16_t cxx_type(struct cxx *c)
{
	bool is_new = true;
	uint16_t id;

	cxx_enter(c);
	id = type(c, &is_new);
	cxx_leave(c);
	return is_new ? cxx_substitutable(c, id) : id;
}

uint16_t cxx_template_arg(struct cxx *c)
{
	uint16_t id;

	if (*c->p == 'I' || *c->p == 'J') {
		cxx_enter(c);
		id = cxx_template(c, 0);
		cxx_leave(c);
		return id;
	}
	if (cxx_skip(c, 'L'))
		return cxx_literal(c);
	if (!cxx_skip(c, 'X'))
		return cxx_type(c);
	id = cxx_expression(c);
	cxx_expect(c, 'E');
	return id;
}
