/* demangle_cxx_name - reads names: nested, local, templates', operators'. */
#include "sym/demangle_cxx.h"

#include <string.h>

enum {
	DEPTH = 512,		/* of types in types and so on */
	STEPS = 100000,		/* with what is read in vain, by its bytes */
};

const char *const cxx_texts[] = {
	[CXX_ANONYMOUS] = "(anonymous namespace)",
	[CXX_STRING] = "string literal",
	[CXX_STD] = "std",
	[CXX_BFLOAT] = "std::bfloat16_t",
	[CXX_AUTO] = "auto",
	[CXX_DECLTYPE_AUTO] = "decltype(auto)",
	[CXX_ABBREVIATED] = "std::allocator",
	"std::basic_string",
	"std::basic_string<char, std::char_traits<char>, "
	"std::allocator<char> >",
	"std::basic_istream<char, std::char_traits<char> >",
	"std::basic_ostream<char, std::char_traits<char> >",
	"std::basic_iostream<char, std::char_traits<char> >",
	[CXX_LETTERS] = "signed char",
	"bool", "char", "double", "long double", "float", "__float128",
	"unsigned char", "int", "unsigned int", NULL, "long", "unsigned long",
	"__int128", "unsigned __int128", NULL, NULL, NULL, "short",
	"unsigned short", NULL, "void", "wchar_t", "long long",
	"unsigned long long", "...",
	[CXX_TWO_LETTERS] = "decimal64", "decimal128", "decimal32", "half",
	"char32_t", "char16_t", "char8_t", "decltype(nullptr)",
};

const char cxx_two_letters[] = "defhisun";

/* -- what all parts of the reader need ------------------------------- */

uint16_t cxx_fail(struct cxx *c)
{
	c->failed = true;
	c->p = c->end;
	return 0;
}

uint16_t cxx_node(struct cxx *c, enum cxx_kind kind, unsigned a, unsigned b,
		  unsigned third)
{
	if (c->failed || c->nnodes == CXX_NODES)
		return cxx_fail(c);
	c->node[c->nnodes] = (struct cxx_node){
		(uint8_t)kind, false, (uint16_t)a, (uint16_t)b,
		(uint16_t)third,
	};
	return c->nnodes++;
}

void cxx_append(struct cxx *c, struct cxx_list *list, uint16_t item)
{
	uint16_t id = cxx_node(c, CXX_LIST, item, 0, 0);

	if (list->first)
		c->node[list->last].b = id;
	else
		list->first = id;
	list->last = id;
}

void cxx_chain(struct cxx *c, struct cxx_list *chain, uint16_t inner)
{
	if (chain->first)
		c->node[chain->last].a = inner;
	else
		chain->first = inner;
	chain->last = inner;
}

uint16_t cxx_list_until(struct cxx *c, uint16_t (*item)(struct cxx *),
			char end)
{
	struct cxx_list list = { 0 };

	while (!c->failed && !cxx_skip(c, end))
		cxx_append(c, &list, item(c));
	return list.first ? list.first : cxx_node(c, CXX_LIST, 0, 0, 0);
}

uint16_t cxx_substitutable(struct cxx *c, uint16_t id)
{
	if (c->nsubs == CXX_SUBS)
		return cxx_fail(c);
	c->sub[c->nsubs++] = id;
	return id;
}

void cxx_enter(struct cxx *c)
{
	if (++c->depth > DEPTH || ++c->steps > STEPS)
		cxx_fail(c);
}

void cxx_leave(struct cxx *c)
{
	c->depth--;
}

bool cxx_skip(struct cxx *c, char want)
{
	bool there = *c->p == want;

	c->p += there;
	return there;
}

bool cxx_skip_two(struct cxx *c, const char *want)
{
	bool there = c->p[0] == want[0] && c->p[1] == want[1];

	c->p += there * 2;
	return there;
}

void cxx_expect(struct cxx *c, char want)
{
	if (!cxx_skip(c, want))
		cxx_fail(c);
}

unsigned cxx_number(struct cxx *c)
{
	unsigned n = 0;

	if (!cxx_at_digit(c))
		cxx_fail(c);
	while (cxx_at_digit(c) && n < CXX_LONGEST)
		n = n * 10 + (unsigned)(*c->p++ - '0');
	if (n >= CXX_LONGEST)
		cxx_fail(c);
	return n;
}

unsigned cxx_index(struct cxx *c)
{
	unsigned n = 0;

	if (*c->p != '_')
		n = cxx_number(c) + 1;
	cxx_expect(c, '_');
	return n;
}

uint16_t cxx_span(struct cxx *c, const char *start)
{
	return cxx_node(c, CXX_NAME, (unsigned)(start - c->in),
			(unsigned)(c->p - start), 0);
}

const char *cxx_entry(const char *table, const char *code)
{
	for (; *table; table += strlen(table) + 1)
		if (table[0] == code[0] && table[1] == code[1])
			return table;
	return NULL;
}

/* -- unqualified names ----------------------------------------------- */

/* An unnamed namespace's name is chosen by the compiler. */
static bool is_anonymous(const char *p, size_t n)
{
	return n >= 10 && !memcmp(p, "_GLOBAL_", 8) &&
	       (p[8] == '.' || p[8] == '_' || p[8] == '$') && p[9] == 'N';
}

uint16_t cxx_source_name(struct cxx *c)
{
	size_t n = cxx_number(c);
	const char *start = c->p;

	if (!n || n > (size_t)(c->end - start))
		return cxx_fail(c);
	c->p += n;
	c->last_name = is_anonymous(start, n)
		? cxx_node(c, CXX_TEXT, CXX_ANONYMOUS, 0, 0)
		: cxx_span(c, start);
	return c->last_name;
}

/* A number that tells variables of one function apart. */
static void discriminator(struct cxx *c)
{
	bool two;

	if (!cxx_skip(c, '_'))
		return;
	two = cxx_skip(c, '_');
	if (cxx_at_digit(c) && cxx_number(c) >= 10 && two)
		cxx_expect(c, '_');
}

/* A template's parameter, as a lambda declares it. */
static uint16_t head(struct cxx *c)
{
	char what = *c->p ? c->p[1] : '\0';
	uint16_t id = 0;

	cxx_enter(c);
	if (*c->p != 'T' || !what)
		return cxx_fail(c);
	c->p += 2;
	if (what == 'n')
		id = cxx_type(c);
	else if (what == 't')
		id = cxx_list_until(c, head, 'E');
	else if (what == 'p')
		id = head(c);
	else if (what != 'y')
		cxx_fail(c);
	cxx_leave(c);
	return cxx_node(c, CXX_HEAD, (unsigned char)what, id, 0);
}

static uint16_t lambda(struct cxx *c)
{
	struct cxx_list heads = { 0 };
	uint16_t params;

	while (*c->p == 'T' && c->p[1] && strchr("yntp", c->p[1]))
		cxx_append(c, &heads, head(c));
	params = cxx_types(c);
	cxx_expect(c, 'E');
	return cxx_node(c, CXX_LAMBDA, params, cxx_index(c), heads.first);
}

static uint16_t structor(struct cxx *c, enum cxx_kind kind, const char *which)
{
	if (!*c->p || !strchr(which, *c->p) || !c->last_name)
		return cxx_fail(c);
	c->p++;
	return cxx_node(c, kind, c->last_name, 0, 0);
}

static uint16_t constructor(struct cxx *c)
{
	bool inherited = cxx_skip(c, 'I');
	uint16_t id = structor(c, CXX_CTOR, "12345");

	if (inherited) {
		cxx_type(c);
		id = cxx_node(c, CXX_CTOR, c->last_name, 0, 0);
	}
	return id;
}

uint16_t cxx_operator(struct cxx *c)
{
	const char *entry = cxx_entry(cxx_operators, c->p);
	bool before = c->in_conversion, cast = c->in_expression;
	uint16_t id;

	if (!entry)
		return cxx_fail(c);
	c->p += 2;
	switch (entry[2]) {
	case CXX_OP_LITERAL:
		return cxx_node(c, CXX_LITERAL_OPERATOR, cxx_source_name(c),
				0, 0);
	case CXX_OP_CAST:
		c->in_conversion = !cast;
		id = cxx_type(c);
		c->in_conversion = before;
		return cxx_node(c, cast ? CXX_CAST : CXX_CONVERSION, id, 0, 0);
	}
	return cxx_node(c, CXX_OPERATOR, (unsigned)(entry - cxx_operators), 0,
			0);
}

static uint16_t operator_name(struct cxx *c)
{
	bool before = c->in_expression;
	uint16_t id;

	if (c->p[0] == 'v' && c->p[1] >= '0' && c->p[1] <= '9') {
		c->p += 2;
		id = cxx_source_name(c);
		return cxx_node(c, CXX_VENDOR_OPERATOR, id, 0, 0);
	}
	if (cxx_skip_two(c, "on"))
		c->in_expression = false;
	id = cxx_operator(c);
	c->in_expression = before;
	return cxx_op_is_function(&c->node[id]) ? id : cxx_fail(c);
}

static uint16_t internal_name(struct cxx *c)
{
	uint16_t id = cxx_source_name(c);

	discriminator(c);
	return id;
}

static uint16_t plain_name(struct cxx *c)
{
	if (cxx_at_digit(c))
		return cxx_source_name(c);
	if (*c->p >= 'a' && *c->p <= 'z')
		return operator_name(c);
	if (cxx_skip(c, 'L'))
		return internal_name(c);
	if (cxx_skip(c, 'C'))
		return constructor(c);
	if (cxx_skip_two(c, "DC"))
		return cxx_node(c, CXX_BINDING,
				cxx_list_until(c, cxx_source_name, 'E'), 0, 0);
	if (cxx_skip(c, 'D'))
		return structor(c, CXX_DTOR, "01245");
	if (cxx_skip_two(c, "Ul"))
		return lambda(c);
	if (cxx_skip_two(c, "Ut"))
		return cxx_substitutable(c, cxx_node(c, CXX_UNNAMED, 0,
						     cxx_index(c), 0));
	return cxx_fail(c);
}

uint16_t cxx_module(struct cxx *c, uint16_t outer)
{
	while (cxx_skip(c, 'W')) {
		bool partition = cxx_skip(c, 'P');
		uint16_t name = cxx_source_name(c);

		outer = cxx_substitutable(c, cxx_node(c, CXX_MODULE, name,
						      outer, partition));
	}
	return outer;
}

static uint16_t tags(struct cxx *c, uint16_t id)
{
	uint16_t called = c->last_name;

	while (cxx_skip(c, 'B'))
		id = cxx_node(c, CXX_TAGGED, id, cxx_source_name(c), 0);
	c->last_name = called;
	return id;
}

/* A name of `module`, 0 = none, or of one within it. */
static uint16_t name_in(struct cxx *c, uint16_t module)
{
	uint16_t id;

	if (*c->p == 'W')
		module = cxx_module(c, module);
	id = plain_name(c);
	if (module)
		id = cxx_node(c, CXX_IN_MODULE, id, module, 0);
	return *c->p == 'B' ? tags(c, id) : id;
}

uint16_t cxx_unqualified(struct cxx *c)
{
	return name_in(c, 0);
}

/* -- substitutions --------------------------------------------------- */

/* Constructors are called like it without namespace and arguments. */
static uint16_t abbreviation(struct cxx *c, unsigned text)
{
	uint16_t id = cxx_node(c, CXX_TEXT, text, 0, 0);
	size_t n = strlen("std::");

	c->last_name = cxx_node(c, CXX_TEXT, text, (unsigned)n,
				(unsigned)strcspn(cxx_texts[text] + n, "<"));
	return *c->p == 'B' ? cxx_substitutable(c, tags(c, id)) : id;
}

static unsigned sequence_number(struct cxx *c)
{
	unsigned n = 0;

	if (*c->p == '_')
		return 0;
	for (; cxx_at_digit(c) || (*c->p >= 'A' && *c->p <= 'Z'); c->p++)
		if (n < CXX_SUBS)
			n = n * 36 + (unsigned)*c->p -
			    (cxx_at_digit(c) ? '0' : 'A' - 10);
	return n + 1;
}

static uint16_t substitution_of_std(struct cxx *c)
{
	static const char letters[] = "absiod";
	const char *which = strchr(letters, *c->p);

	if (cxx_skip(c, 't'))
		return cxx_node(c, CXX_TEXT, CXX_STD, 0, 0);
	if (!which)
		return cxx_fail(c);
	c->p++;
	return abbreviation(c, CXX_ABBREVIATED + (unsigned)(which - letters));
}

uint16_t cxx_substitution(struct cxx *c)
{
	unsigned n;

	if (*c->p >= 'a')
		return substitution_of_std(c);
	n = sequence_number(c);
	cxx_expect(c, '_');
	return n < c->nsubs ? c->sub[n] : cxx_fail(c);
}

/* -- names ----------------------------------------------------------- */

uint16_t cxx_template(struct cxx *c, uint16_t name)
{
	uint16_t called = c->last_name, args;

	if (!cxx_skip(c, 'J'))
		cxx_expect(c, 'I');
	args = cxx_list_until(c, cxx_template_arg, 'E');
	c->last_name = called;
	return name ? cxx_node(c, CXX_TEMPLATE, name, args, 0) : args;
}

uint16_t cxx_maybe_template(struct cxx *c, uint16_t name)
{
	return *c->p == 'I' ? cxx_template(c, name) : name;
}

/* The next part of a nested name behind `scope`, 0 = none. */
static uint16_t nested_part(struct cxx *c, uint16_t scope)
{
	bool is_type = *c->p == 'T' ||
		       (c->p[0] == 'D' && (c->p[1] == 'T' || c->p[1] == 't'));
	uint16_t id;

	if (*c->p == 'I')
		return scope ? cxx_template(c, scope) : cxx_fail(c);
	if (is_type && scope)
		return cxx_fail(c);
	if (*c->p == 'T')
		return cxx_param(c);
	if (is_type)
		return cxx_type(c);
	id = cxx_unqualified(c);
	return scope ? cxx_node(c, CXX_QUALIFIED, scope, id, 0) : id;
}

/* Each part but the last is a substitution for those that follow. */
static uint16_t nested_parts(struct cxx *c)
{
	uint16_t id = 0;

	if (cxx_skip(c, 'S')) {
		id = cxx_substitution(c);
		if (c->node[id].kind == CXX_MODULE)
			id = cxx_substitutable(c, name_in(c, id));
	}
	while (!c->failed && !cxx_skip(c, 'E')) {
		if (id && cxx_skip(c, 'M'))	/* a member's initializer */
			continue;
		id = nested_part(c, id);
		if (*c->p != 'E')
			cxx_substitutable(c, id);
	}
	return id ? id : cxx_fail(c);
}

/* What `this` of a member function is marked as surrounds its name. */
static uint16_t nested(struct cxx *c)
{
	struct cxx_list marks = { 0 };
	unsigned reference;
	uint16_t mark;

	while ((mark = cxx_mark(c)))
		cxx_chain(c, &marks, mark);
	reference = cxx_reference(c);
	cxx_chain(c, &marks, nested_parts(c));
	return reference ? cxx_node(c, CXX_OF_THIS, marks.first, reference, 0)
			 : marks.first;
}

static void result_drop(struct cxx *c, uint16_t function)
{
	if (c->node[function].kind == CXX_ENCODING)
		c->node[c->node[function].b].a = 0;
}

/* What is local to a function, or to a default argument of it. */
static uint16_t local(struct cxx *c)
{
	uint16_t function = cxx_encoding(c), id;
	unsigned argument = 0;
	bool is_default;

	cxx_expect(c, 'E');
	result_drop(c, function);
	if (cxx_skip(c, 's')) {
		discriminator(c);
		id = cxx_node(c, CXX_TEXT, CXX_STRING, 0, 0);
		return cxx_node(c, CXX_LOCAL, function, id, 0);
	}
	is_default = cxx_skip(c, 'd');
	if (is_default)
		argument = cxx_index(c);
	cxx_enter(c);			/* it may be local, too */
	id = cxx_name(c);
	cxx_leave(c);
	if (c->node[id].kind != CXX_LAMBDA && c->node[id].kind != CXX_UNNAMED)
		discriminator(c);
	if (is_default)
		id = cxx_node(c, CXX_DEFAULT_ARG, id, argument, 0);
	return cxx_node(c, CXX_LOCAL, function, id, 0);
}

static uint16_t of_std(struct cxx *c)
{
	uint16_t std = cxx_node(c, CXX_TEXT, CXX_STD, 0, 0);

	return cxx_node(c, CXX_QUALIFIED, std, cxx_unqualified(c), 0);
}

uint16_t cxx_name(struct cxx *c)
{
	uint16_t id;

	if (cxx_skip(c, 'N'))
		return nested(c);
	if (cxx_skip(c, 'Z'))
		return local(c);
	if (cxx_skip_two(c, "St")) {
		id = of_std(c);
	} else if (cxx_skip(c, 'S')) {
		id = cxx_substitution(c);
		if (c->node[id].kind != CXX_MODULE)
			return cxx_maybe_template(c, id);
		id = name_in(c, id);
	} else {
		id = cxx_unqualified(c);
	}
	if (*c->p == 'I')
		cxx_substitutable(c, id);
	return cxx_maybe_template(c, id);
}
