/* demangle_cxx_write - writes the tree of a mangled C++ name.
 *
 * A type surrounds what is declared: of void (*name)(int) the left half ends
 * behind the asterisk. So each node has a left half and a right half; only
 * functions, arrays, and what is marked as belonging to them, have a right one.
 *
 * T_ is the argument of a template around it. Which one depends on where it
 * stands, so arguments are found while writing: a function template's name is a
 * scope for the types of its parameters and of its result, and its arguments
 * are written in the scope around it.
 *
 * A part can be named again by a substitution in one that is named again:
 * sixty bytes can stand for a text of gigabytes, or for empty packs without
 * end. The text and the steps are bounded, the depth of the calls with them.
 */
#include "sym/demangle_cxx_write.h"

enum {
	DEPTH = 1024,
	STEPS = 200000,
	WALK = 32,		/* items of a list that are as a step */
	CV = 1 << CXX_CONST | 1 << CXX_VOLATILE | 1 << CXX_RESTRICT,
};

static void left(struct cxx *c, uint16_t id);
static void right(struct cxx *c, uint16_t id);

static void fail(struct cxx *c)
{
	c->t->failed = true;
}

static bool step(struct cxx *c)
{
	if (++c->steps > STEPS || c->depth > DEPTH)
		fail(c);
	return !c->t->failed;
}

/* -- arguments of templates ------------------------------------------ */

uint16_t cxx_list_item(struct cxx *c, uint16_t list, int n)
{
	int i;

	if (n < 0)
		return list;
	for (i = 0; list && i < n; i++)
		list = c->node[list].b;
	c->steps += (unsigned)i / WALK;
	return list ? c->node[list].a : 0;
}

unsigned cxx_list_length(struct cxx *c, uint16_t list)
{
	unsigned n = 0;

	for (; list && c->node[list].a; list = c->node[list].b)
		n++;
	c->steps += n / WALK;
	return n;
}

/* What PARAM `id` stands for in a scope; a LIST is a pack. 0 = nothing. */
static uint16_t param_whole(struct cxx *c, uint16_t id, uint16_t scope)
{
	uint16_t template = c->scopes[scope].template;

	if (!scope)
		return 0;
	return cxx_list_item(c, c->node[template].b, c->node[id].a);
}

static uint16_t param_argument(struct cxx *c, uint16_t id, uint16_t scope)
{
	uint16_t argument = param_whole(c, id, scope);

	if (!cxx_is(c, argument, CXX_LIST))
		return argument;
	return cxx_list_item(c, argument, c->pack);
}

/* Scopes lie on a stack; those that a node remembers stay. */
static uint16_t scope_push(struct cxx *c, uint16_t template)
{
	if (c->nscopes == CXX_SCOPES) {
		fail(c);
		return c->scope;
	}
	c->scopes[c->nscopes] = (struct cxx_scope){ template, c->scope };
	return c->nscopes++;
}

static void scope_pop(struct cxx *c, uint16_t nscopes)
{
	c->nscopes = nscopes > c->kept ? nscopes : c->kept;
}

/* Which of a, b and c are nodes, as bits, of those kinds that have any. */
static const uint8_t children[CXX_KINDS] = {
	[CXX_QUALIFIED] = 3, [CXX_LOCAL] = 3, [CXX_DEFAULT_ARG] = 1,
	[CXX_TEMPLATE] = 3, [CXX_LIST] = 3, [CXX_ENCODING] = 3,
	[CXX_FUNCTION] = 3, [CXX_OF_THIS] = 5, [CXX_MARKED] = 1,
	[CXX_VENDOR_MARKED] = 3, [CXX_VECTOR] = 3, [CXX_MEMBER] = 3,
	[CXX_ARRAY] = 3, [CXX_DECLTYPE] = 1, [CXX_CTOR] = 1, [CXX_DTOR] = 1,
	[CXX_CONVERSION] = 1, [CXX_CAST] = 1, [CXX_TAGGED] = 1,
	[CXX_SPECIAL] = 1, [CXX_LITERAL] = 3, [CXX_UNARY] = 3,
	[CXX_BINARY] = 7, [CXX_TERNARY] = 7, [CXX_BRACES] = 3, [CXX_CALL] = 3,
};

uint16_t cxx_pack_find(struct cxx *c, uint16_t id)
{
	const struct cxx_node *n = &c->node[id];
	uint16_t found = 0;

	if (!id || !step(c))
		return 0;
	if (n->kind == CXX_PARAM) {
		found = param_whole(c, id, c->scope);
		return cxx_is(c, found, CXX_LIST) ? found : 0;
	}
	c->depth++;
	if (children[n->kind] & 1)
		found = cxx_pack_find(c, n->a);
	if (!found && children[n->kind] & 2)
		found = cxx_pack_find(c, n->b);
	if (!found && children[n->kind] & 4)
		found = cxx_pack_find(c, n->c);
	c->depth--;
	return found;
}

/* -- references: those to references are one ------------------------- */

struct view {
	uint16_t inner, scope;
	uint8_t mark;
};

/* A parameter that was written before belongs to the scope of that time, unless
 * it is within itself. */
static void view_scope(struct cxx *c, const struct cxx_node *reference,
		       struct view *view)
{
	struct cxx_node *param = &c->node[reference->a];

	if (!param->c) {
		param->c = true;
		param->b = c->scope;
		c->kept = c->nscopes;
	} else if (!param->busy && !reference->busy) {
		view->scope = param->b;
	}
}

static struct view view(struct cxx *c, uint16_t id)
{
	const struct cxx_node *n = &c->node[id], *to = &c->node[n->a];
	struct view view = { n->a, c->scope, (uint8_t)n->b };

	if (n->b != CXX_REFERENCE && n->b != CXX_RVALUE)
		return view;
	if (to->kind == CXX_PARAM && !c->params) {
		view_scope(c, n, &view);
		to = &c->node[param_argument(c, n->a, view.scope)];
	}
	if (to->kind != CXX_MARKED)
		return view;
	if (to->b == CXX_REFERENCE || to->b == n->b) {
		view.inner = to->a;
		view.mark = (uint8_t)to->b;
	} else if (to->b == CXX_RVALUE) {
		view.inner = to->a;
	}
	return view;
}

/* -- halves ---------------------------------------------------------- */

static bool has_halves(const struct cxx_node *n)
{
	return n->kind >= CXX_FUNCTION && n->kind <= CXX_PARAM;
}

/* FUNCTION or ARRAY, whose declarator what `id` is marked as belongs to; else
 * NAME. With `far`, through what it is marked as itself. */
static enum cxx_kind declarator(struct cxx *c, uint16_t id, bool far)
{
	const struct cxx_node *n = &c->node[id];
	uint16_t scope = c->scope;
	enum cxx_kind kind = CXX_NAME;
	struct view to;

	if (!has_halves(n) || !step(c))
		return kind;
	c->depth++;
	switch (n->kind) {
	case CXX_FUNCTION:
	case CXX_ARRAY:
		kind = (enum cxx_kind)n->kind;
		break;
	case CXX_OF_THIS:
		kind = declarator(c, n->a, far);
		break;
	case CXX_PARAM:
		if (c->params)
			break;
		id = param_argument(c, id, scope);
		c->scope = c->scopes[scope].outer;
		kind = declarator(c, id, far);
		break;
	case CXX_MARKED:
		to = view(c, id);
		c->scope = to.scope;
		if (far || CV >> to.mark & 1)
			kind = declarator(c, to.inner, far);
		if (!far && kind == CXX_FUNCTION)
			kind = CXX_NAME;
		break;
	case CXX_VENDOR_MARKED:
	case CXX_VECTOR:
	case CXX_MEMBER:
		if (far)
			kind = declarator(c, n->a, far);
		break;
	}
	c->depth--;
	c->scope = scope;
	return kind;
}

/* The same; but what an array is marked as, its elements are. */
static enum cxx_kind enclosed(struct cxx *c, uint16_t inner, unsigned mark)
{
	enum cxx_kind kind = declarator(c, inner, false);

	return kind == CXX_ARRAY && CV >> mark & 1 ? CXX_NAME : kind;
}

/* Between the left half of `inner` and what it is marked as. */
static void opening(struct cxx *c, uint16_t inner, unsigned mark)
{
	enum cxx_kind kind = enclosed(c, inner, mark);
	char last = c->t->last;

	if (kind == CXX_ARRAY)
		cxx_puts(c, " (");
	if (kind != CXX_FUNCTION)
		return;
	if (last != ' ' &&
	    (mark > CXX_RVALUE || (last != '(' && last != '*')))
		cxx_puts(c, " ");
	cxx_puts(c, "(");
}

static void closing(struct cxx *c, uint16_t inner, unsigned mark)
{
	if (enclosed(c, inner, mark) != CXX_NAME)
		cxx_puts(c, ")");
	right(c, inner);
}

static void mark(struct cxx *c, unsigned which)
{
	static const char marks[][18] = {
		"*", "&", "&&", " _Complex", " _Imaginary", " const",
		" volatile", " restrict", " noexcept", " throw",
		" transaction_safe",
	};

	cxx_puts(c, marks[which]);
}

static void span(struct cxx *c, unsigned at, unsigned n)
{
	text_mem(c->t, c->in + at, n);
}

static void text(struct cxx *c, const struct cxx_node *n)
{
	const char *s = cxx_texts[n->a] + n->b;

	if (n->c)
		text_mem(c->t, s, n->c);
	else
		cxx_puts(c, s);
}

/* Most nodes are names. */
void cxx_whole(struct cxx *c, uint16_t id)
{
	const struct cxx_node *n = &c->node[id];

	if (n->kind == CXX_NAME) {
		c->steps++;
		span(c, n->a, n->b);
		return;
	}
	left(c, id);
	if (has_halves(n))
		right(c, id);
}

void cxx_between(struct cxx *c, const char *before, uint16_t id,
		    const char *after)
{
	cxx_puts(c, before);
	cxx_whole(c, id);
	cxx_puts(c, after);
}

void cxx_put_number(struct cxx *c, const char *before, unsigned n,
		   const char *after)
{
	cxx_puts(c, before);
	text_dec(c->t, n);
	cxx_puts(c, after);
}

/* An empty pack prints nothing: commas behind what was last are taken back. */
static void list(struct cxx *c, uint16_t id)
{
	size_t end = c->t->n;

	for (; id && !c->t->failed; id = c->node[id].b) {
		size_t start = c->t->n;

		if (c->node[id].a)
			cxx_whole(c, c->node[id].a);
		if (c->t->n > start)
			end = c->t->n;
		if (c->node[id].b)
			cxx_puts(c, ", ");
	}
	c->t->n = end;
}

/* -- types ----------------------------------------------------------- */

static void marked_left(struct cxx *c, uint16_t id, unsigned pending)
{
	struct cxx_node *n = &c->node[id];
	struct view to = view(c, id);
	uint16_t scope = c->scope;
	bool busy = n->busy;

	c->scope = to.scope;
	n->busy = true;
	if (CV >> to.mark & 1)
		c->pending = pending | 1u << to.mark;
	left(c, to.inner);
	opening(c, to.inner, to.mark);
	if (!(pending >> to.mark & 1))
		mark(c, to.mark);
	n->busy = busy;
	c->scope = scope;
}

static void marked_right(struct cxx *c, uint16_t id)
{
	struct view to = view(c, id);
	uint16_t scope = c->scope;

	c->scope = to.scope;
	closing(c, to.inner, to.mark);
	c->scope = scope;
}

/* What is marked as something that has a name. */
static void named_left(struct cxx *c, const struct cxx_node *n)
{
	left(c, n->a);
	opening(c, n->a, CXX_COMPLEX);
	if (n->kind == CXX_VECTOR) {
		cxx_between(c, " __vector(", n->b, ")");
		return;
	}
	if (n->kind != CXX_MEMBER || c->t->last != '(')
		cxx_puts(c, " ");
	cxx_whole(c, n->b);
	if (n->kind == CXX_MEMBER)
		cxx_puts(c, "::*");
}

static void of_this(struct cxx *c, const struct cxx_node *n)
{
	if (n->b <= CXX_RVALUE)
		cxx_puts(c, " ");
	mark(c, n->b);
	if (n->c)
		cxx_between(c, "(", n->c, ")");
}

/* What stands behind a function's name, up to the rest of its result; behind a
 * name, what it is marked as. */
static void behind_name(struct cxx *c, uint16_t id)
{
	const struct cxx_node *n = &c->node[id];

	if (n->kind == CXX_OF_THIS) {
		if (!step(c))
			return;
		c->depth++;
		behind_name(c, n->a);
		c->depth--;
		of_this(c, n);
	} else if (n->kind == CXX_FUNCTION) {
		cxx_puts(c, "(");
		list(c, n->b);
		cxx_puts(c, ")");
	}
}

static void function_left(struct cxx *c, const struct cxx_node *n)
{
	if (!n->a)
		return;
	left(c, n->a);
	if (declarator(c, n->a, true) == CXX_NAME)
		cxx_puts(c, " ");
}

static void function_right(struct cxx *c, uint16_t id)
{
	behind_name(c, id);
	while (cxx_is(c, id, CXX_OF_THIS))
		id = c->node[id].a;
	if (cxx_is(c, id, CXX_FUNCTION) && c->node[id].a)
		right(c, c->node[id].a);
}

/* The dimensions of one array are not spaced. */
static void array_right(struct cxx *c, const struct cxx_node *n)
{
	cxx_puts(c, c->t->last == ']' ? "[" : " [");
	if (n->b)
		cxx_whole(c, n->b);
	cxx_puts(c, "]");
	right(c, n->a);
}

static void param_put(struct cxx *c, uint16_t id,
		      void (*half)(struct cxx *, uint16_t))
{
	struct cxx_node *n = &c->node[id];
	uint16_t scope = c->scope, argument = param_argument(c, id, scope);
	bool busy = n->busy;

	if (!argument) {
		fail(c);
		return;
	}
	n->busy = true;
	c->scope = c->scopes[scope].outer;
	half(c, argument);
	c->scope = scope;
	n->busy = busy;
}

/* -- lambdas --------------------------------------------------------- */

/* A parameter that the lambda declares is named by us. */
static void head_name(struct cxx *c, uint16_t head, unsigned n)
{
	const struct cxx_node *h = &c->node[head];

	while (h->a == 'p')
		h = &c->node[h->b];
	cxx_put_number(c, h->a == 'y' ? "$T" : h->a == 'n' ? "$N" : "$TT", n,
		       "");
}

static void head_kind(struct cxx *c, uint16_t head)
{
	const struct cxx_node *h = &c->node[head];

	switch (h->a) {
	case 'y':
		cxx_puts(c, "typename");
		break;
	case 'n':
		cxx_whole(c, h->b);
		break;
	case 't':
		cxx_between(c, "template<", h->b, "> class");
		break;
	case 'p':
		cxx_between(c, "", h->b, "...");
		break;
	}
}

static void heads(struct cxx *c, uint16_t id)
{
	for (c->params = 0; id; id = c->node[id].b) {
		cxx_puts(c, c->params ? ", " : "<");
		head_kind(c, c->node[id].a);
		cxx_puts(c, " ");
		head_name(c, c->node[id].a, c->params++);
	}
	if (c->params++)
		cxx_puts(c, ">");
}

static void lambda(struct cxx *c, const struct cxx_node *n)
{
	unsigned params = c->params;
	uint16_t outer = c->heads;

	cxx_puts(c, "{lambda");
	c->heads = n->c;
	heads(c, n->c);
	cxx_between(c, "(", n->a, ")#");
	c->params = params;
	c->heads = outer;
	cxx_put_number(c, "", n->b + 1u, "}");
}

static void param_left(struct cxx *c, uint16_t id)
{
	unsigned n = c->node[id].a;

	if (!c->params)
		param_put(c, id, left);
	else if (n + 1 < c->params)
		head_name(c, cxx_list_item(c, c->heads, (int)n), n);
	else
		cxx_put_number(c, "auto:", n + 1, "");
}

/* -- names ----------------------------------------------------------- */

static void template(struct cxx *c, uint16_t id)
{
	const struct cxx_node *n = &c->node[id];
	uint16_t outer = c->template;

	c->template = id;
	cxx_whole(c, n->a);
	cxx_puts(c, c->t->last == '<' ? " <" : "<");
	list(c, n->b);
	cxx_puts(c, c->t->last == '>' ? " >" : ">");
	c->template = outer;
}

/* A type that is a function's name is about the template around it. */
static void conversion(struct cxx *c, uint16_t type)
{
	uint16_t scope = c->scope, nscopes = c->nscopes;

	if (c->template)
		c->scope = scope_push(c, c->template);
	cxx_between(c, "operator ", type, "");
	c->scope = scope;
	scope_pop(c, nscopes);
}

static void operator_name(struct cxx *c, const struct cxx_node *n)
{
	const char *text = cxx_op_text(n);
	size_t length = strlen(text);

	cxx_puts(c, *text >= 'a' && *text <= 'z' ? "operator " : "operator");
	text_mem(c->t, text, length - (length && text[length - 1] == ' '));
}

/* A function's name may be local to another's, or to a default argument. */
static uint16_t unmarked(const struct cxx *c, uint16_t id)
{
	while (cxx_is(c, id, CXX_OF_THIS))
		id = c->node[id].a;
	return id;
}

static uint16_t local_name(const struct cxx *c, uint16_t id)
{
	if (cxx_is(c, id, CXX_LOCAL))
		id = c->node[id].b;
	return cxx_is(c, id, CXX_DEFAULT_ARG) ? c->node[id].a : id;
}

static void default_arg(struct cxx *c, const struct cxx_node *n)
{
	cxx_put_number(c, "{default arg#", n->b + 1u, "}::");
}

static void unmarked_name(struct cxx *c, uint16_t id)
{
	const struct cxx_node *n = &c->node[id];

	if (n->kind == CXX_LOCAL) {
		cxx_between(c, "", n->a, "::");
		if (cxx_is(c, n->b, CXX_DEFAULT_ARG))
			default_arg(c, &c->node[n->b]);
		id = unmarked(c, local_name(c, id));
	}
	left(c, id);
}

static void encoding(struct cxx *c, const struct cxx_node *n)
{
	uint16_t scope = c->scope, nscopes = c->nscopes, inner = scope;
	uint16_t name = unmarked(c, n->a), local = local_name(c, name);
	const struct cxx_node *function = &c->node[n->b];

	if (cxx_is(c, unmarked(c, local), CXX_TEMPLATE))
		inner = scope_push(c, unmarked(c, local));
	c->scope = inner;
	function_left(c, function);
	c->scope = scope;
	unmarked_name(c, name);
	c->scope = inner;
	behind_name(c, n->b);
	behind_name(c, n->a);
	if (local != name)
		behind_name(c, local);
	if (function->a)
		right(c, function->a);
	c->scope = scope;
	scope_pop(c, nscopes);
}

static void module(struct cxx *c, const struct cxx_node *n)
{
	if (n->b)
		cxx_whole(c, n->b);
	if (n->b || n->c)
		cxx_puts(c, n->c ? ":" : ".");
	cxx_whole(c, n->a);
}

static void special(struct cxx *c, const struct cxx_node *n)
{
	const char *entry = cxx_specials + n->b;

	cxx_puts(c, entry + 3);
	if (entry[2] == 'r')
		cxx_put_number(c, "", n->c, " for ");
	cxx_whole(c, n->a);
	if (entry[2] == 'C')
		cxx_between(c, "-in-", n->c, "");
}

/* -- any node -------------------------------------------------------- */

/* What is nothing but its parts between texts. */
static void framed(struct cxx *c, const struct cxx_node *n)
{
	static const struct {
		char before[12], between[7], after[2];
	} frames[] = {
		[CXX_LOCAL] = { "", "::", "" },
		[CXX_CTOR] = { "", "", "" },
		[CXX_DTOR] = { "~", "", "" },
		[CXX_LITERAL_OPERATOR] = { "operator\"\" ", "", "" },
		[CXX_VENDOR_OPERATOR] = { "operator ", "", "" },
		[CXX_TAGGED] = { "", "[abi:", "]" },
		[CXX_IN_MODULE] = { "", "@", "" },
		[CXX_BINDING] = { "[", "]", "" },
		[CXX_DECLTYPE] = { "decltype (", ")", "" },
		[CXX_BRACES] = { "", "{", "}" },
	};

	if (n->kind == CXX_QUALIFIED) {		/* most are */
		cxx_whole(c, n->a);
		cxx_puts(c, "::");
		cxx_whole(c, n->b);
		return;
	}
	cxx_puts(c, frames[n->kind].before);
	if (n->a)
		cxx_whole(c, n->a);
	cxx_puts(c, frames[n->kind].between);
	if (n->b)
		cxx_whole(c, n->b);
	cxx_puts(c, frames[n->kind].after);
}

static void type_left(struct cxx *c, uint16_t id, unsigned pending)
{
	const struct cxx_node *n = &c->node[id];

	switch (n->kind) {
	case CXX_FUNCTION:
		function_left(c, n);
		break;
	case CXX_OF_THIS:
		left(c, n->a);
		break;
	case CXX_MARKED:
		marked_left(c, id, pending);
		break;
	case CXX_ARRAY:
		c->pending = pending;
		left(c, n->a);
		break;
	case CXX_PARAM:
		c->pending = pending;
		param_left(c, id);
		break;
	default:
		named_left(c, n);
	}
}

static void name_put(struct cxx *c, uint16_t id)
{
	const struct cxx_node *n = &c->node[id];

	switch (n->kind) {
	case CXX_NAME:
		span(c, n->a, n->b);
		break;
	case CXX_TEXT:
	case CXX_BUILTIN:
		text(c, n);
		break;
	case CXX_FLOAT:
		cxx_puts(c, "_Float");
		span(c, n->a, n->b);
		break;
	case CXX_TEMPLATE:
		template(c, id);
		break;
	case CXX_LIST:
		list(c, id);
		break;
	case CXX_ENCODING:
		encoding(c, n);
		break;
	case CXX_DEFAULT_ARG:
		default_arg(c, n);
		cxx_whole(c, n->a);
		break;
	case CXX_UNNAMED:
		cxx_put_number(c, "{unnamed type#", n->b + 1u, "}");
		break;
	case CXX_LAMBDA:
		lambda(c, n);
		break;
	case CXX_HEAD:
		head_kind(c, id);
		break;
	case CXX_OPERATOR:
		operator_name(c, n);
		break;
	case CXX_CONVERSION:
		conversion(c, n->a);
		break;
	case CXX_MODULE:
		module(c, n);
		break;
	case CXX_SPECIAL:
		special(c, n);
		break;
	case CXX_VARIANT:
		cxx_between(c, "", n->a, " [clone ");
		span(c, n->b, n->c);
		cxx_puts(c, "]");
		break;
	}
}

static void left(struct cxx *c, uint16_t id)
{
	const struct cxx_node *n = &c->node[id];
	unsigned pending = c->pending;

	c->pending = 0;
	if (!id)
		fail(c);
	if (!step(c))
		return;
	c->depth++;
	if (has_halves(n))
		type_left(c, id, pending);
	else if (n->kind >= CXX_QUALIFIED && n->kind <= CXX_BRACES)
		framed(c, n);
	else if (n->kind >= CXX_PACK)
		cxx_expression_put(c, n);
	else
		name_put(c, id);
	c->depth--;
}

static void right(struct cxx *c, uint16_t id)
{
	const struct cxx_node *n = &c->node[id];

	if (!has_halves(n) || !step(c))
		return;
	c->depth++;
	switch (n->kind) {
	case CXX_FUNCTION:
	case CXX_OF_THIS:
		function_right(c, id);
		break;
	case CXX_MARKED:
		marked_right(c, id);
		break;
	case CXX_ARRAY:
		array_right(c, n);
		break;
	case CXX_PARAM:
		if (!c->params)
			param_put(c, id, right);
		break;
	default:
		closing(c, n->a, CXX_COMPLEX);
	}
	c->depth--;
}

void cxx_write(struct cxx *c, uint16_t id)
{
	c->depth = c->steps = 0;
	cxx_whole(c, id);
}
