/* demangle_cxx - mangled C++ names: functions, variables, and what has one.
 *
 * The grammar is that of the Itanium C++ ABI, chapter "External Names", with
 * GNU's additions. Where c++filt reads a name otherwise than the ABI has it, so
 * does this: people compare.
 */
#include "sym/demangle_cxx.h"

#include <string.h>

/* Third is what follows: a type, a name, an encoding ... */
const char cxx_specials[] =
	"TVtvtable for \0"
	"TTtVTT for \0"
	"TIttypeinfo for \0"
	"TSttypeinfo name for \0"
	"TFttypeinfo fn for \0"
	"THnTLS init function for \0"
	"TWnTLS wrapper function for \0"
	"TAatemplate parameter object for \0"
	"Thhnon-virtual thunk to \0"
	"Tvvvirtual thunk to \0"
	"Tcccovariant return thunk to \0"
	"TCCconstruction vtable for \0"
	"GVnguard variable for \0"
	"GRrreference temporary #\0"
	"GAehidden alias for \0"
	"GTxtransaction clone for \0"
	"Gnenon-transaction clone for \0"
	"GIminitializer for module \0"
	"_I-global constructors keyed to \0"
	"_D-global destructors keyed to \0";

/* [n] digits */
static void skip_offset(struct cxx *c)
{
	cxx_skip(c, 'n');
	while (cxx_at_digit(c))
		c->p++;
}

/* How much a thunk moves `this`: by a number, or by two. */
static void skip_move(struct cxx *c, char how)
{
	skip_offset(c);
	cxx_expect(c, '_');
	if (how == 'v') {
		skip_offset(c);
		cxx_expect(c, '_');
	} else if (how != 'h') {
		cxx_fail(c);
	}
}

static void skip_any_move(struct cxx *c)
{
	char how = *c->p;

	c->p += how != '\0';
	skip_move(c, how);
}

static uint16_t special_make(struct cxx *c, const char *entry, uint16_t what,
			     unsigned third)
{
	return cxx_node(c, CXX_SPECIAL, what,
			(unsigned)(entry - cxx_specials), third);
}

/* A table for part of an object of the first class while it is made. */
static uint16_t construction(struct cxx *c, const char *entry)
{
	uint16_t of = cxx_type(c);

	skip_offset(c);
	cxx_expect(c, '_');
	return special_make(c, entry, cxx_type(c), of);
}

static uint16_t temporary(struct cxx *c, const char *entry)
{
	uint16_t of = cxx_name(c);

	return special_make(c, entry, of,
			    cxx_at_digit(c) ? cxx_number(c) : 0);
}

static uint16_t transaction(struct cxx *c, const char *entry)
{
	if (cxx_skip(c, 'n'))
		entry = cxx_entry(cxx_specials, "Gn");
	else
		cxx_expect(c, 't');
	return special_make(c, entry, cxx_encoding(c), 0);
}

static uint16_t special(struct cxx *c)
{
	const char *entry = cxx_entry(cxx_specials, c->p);

	if (!entry)
		return cxx_fail(c);
	c->p += 2;
	switch (entry[2]) {
	case 't':
		return special_make(c, entry, cxx_type(c), 0);
	case 'n':
		return special_make(c, entry, cxx_name(c), 0);
	case 'a':
		return special_make(c, entry, cxx_template_arg(c), 0);
	case 'm':
		return special_make(c, entry, cxx_module(c, 0), 0);
	case 'C':
		return construction(c, entry);
	case 'r':
		return temporary(c, entry);
	case 'x':
		return transaction(c, entry);
	case 'c':
		skip_any_move(c);
		skip_any_move(c);
		break;
	case 'h':
	case 'v':
		skip_move(c, entry[2]);
		break;
	}
	return special_make(c, entry, cxx_encoding(c), 0);
}

/* Those that are called like their class, or like a type, return what that
 * says. */
static bool says_result(const struct cxx *c, uint16_t name)
{
	const struct cxx_node *n = &c->node[name];

	while (n->kind == CXX_QUALIFIED || n->kind == CXX_LOCAL)
		n = &c->node[n->b];
	return n->kind == CXX_CTOR || n->kind == CXX_DTOR ||
	       n->kind == CXX_CONVERSION;
}

/* Of functions, only templates' have the type of the result in their names. */
static bool has_result(struct cxx *c, uint16_t name)
{
	const struct cxx_node *n = &c->node[name];

	for (; n->kind == CXX_OF_THIS || n->kind == CXX_LOCAL; c->steps++)
		n = &c->node[n->kind == CXX_LOCAL ? n->b : n->a];
	return n->kind == CXX_TEMPLATE && !says_result(c, n->a);
}

uint16_t cxx_encoding(struct cxx *c)
{
	uint16_t id;

	cxx_enter(c);
	if (*c->p == 'T' || *c->p == 'G') {
		id = special(c);
	} else {
		id = cxx_name(c);
		if (*c->p && *c->p != 'E')
			id = cxx_node(c, CXX_ENCODING, id,
				      cxx_signature(c, has_result(c, id)), 0);
	}
	cxx_leave(c);
	return id;
}

static bool is_suffix(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_number(const char *p)
{
	return p[0] == '.' && p[1] >= '0' && p[1] <= '9';
}

/* What GCC adds to the name of a function's variant: .isra.0, .cold. */
static uint16_t variant(struct cxx *c, uint16_t of)
{
	const char *start = c->p;

	if (!is_suffix(c->p[1]))
		return cxx_fail(c);
	for (c->p++; is_suffix(*c->p); c->p++)
		;
	while (is_number(c->p))
		for (c->p++; cxx_at_digit(c); c->p++)
			;
	return cxx_node(c, CXX_VARIANT, of, (unsigned)(start - c->in),
			(unsigned)(c->p - start));
}

/* What runs before main() or after, of the file that has the rest. */
static uint16_t keyed(struct cxx *c)
{
	const char *entry;
	uint16_t of;

	if (!*c->p || !strchr("._$", *c->p) || !c->p[1] || c->p[2] != '_')
		return cxx_fail(c);
	entry = cxx_entry(cxx_specials, (const char[]){ '_', c->p[1] });
	c->p += 3;
	if (!entry || !*c->p)
		return cxx_fail(c);
	if (cxx_skip_two(c, "_Z")) {
		of = cxx_encoding(c);
	} else {
		of = cxx_node(c, CXX_NAME, (unsigned)(c->p - c->in),
			      (unsigned)(c->end - c->p), 0);
		c->p = c->end;
	}
	return special_make(c, entry, of, 0);
}

static uint16_t whole(struct cxx *c)
{
	uint16_t id;

	if (!strncmp(c->p, "_GLOBAL_", 8)) {
		c->p += 8;
		return keyed(c);
	}
	if (!cxx_skip_two(c, "_Z"))
		return cxx_fail(c);
	id = cxx_encoding(c);
	while (*c->p == '.')
		id = variant(c, id);
	return *c->p ? cxx_fail(c) : id;
}

static uint16_t tree(struct cxx *c, const char *name, size_t n, bool old)
{
	memset(c, 0, offsetof(struct cxx, scopes));
	c->in = c->p = name;
	c->end = name + n;
	c->old = old;
	c->nnodes = c->nscopes = 1;	/* 0 is none */
	c->node[0] = (struct cxx_node){ .kind = CXX_TEXT };
	c->scopes[0] = (struct cxx_scope){ 0 };
	return whole(c);
}

bool demangle_cxx(const char *name, size_t n, struct demangle_text *t)
{
	struct cxx c;
	uint16_t id;

	if (n > CXX_LONGEST)
		return false;
	id = tree(&c, name, n, false);
	if (c.failed && c.maybe_old)
		id = tree(&c, name, n, true);
	if (c.failed)
		return false;
	c.t = t;
	cxx_write(&c, id);
	return !t->failed;
}
