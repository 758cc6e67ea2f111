/* pattern - regular expressions whose size and time are bounded.
 *
 * The expression becomes a small program, which is run on all its paths at
 * once, byte by byte of the name: the set of places where it can be is at most
 * the whole program, whatever the expression (Thompson, 1968). The regex of a
 * libc may take hours over (a*b*){200} and more memory than there is.
 *
 * Jumps are relative, so a part that is whole can be moved and copied:
 *
 *   x*   split +1,+n+2  x...  jump -n-1
 *   x+   x...  split -n,+1
 *   x?   split +1,+n+1  x...
 *   x|y  split +1,+n+2  x...  jump +m+1  y...
 */
#include "base/pattern.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/vec.h"

enum {
	OPS_MAX = 4096,
	DEPTH_MAX = 100,	/* of parentheses */
	COUNT_MAX = 1000,	/* in braces */
};

enum op_kind { OP_BYTE, OP_ANY, OP_SET, OP_SPLIT, OP_JUMP, OP_START, OP_END,
	       OP_MATCH };

struct op {
	uint8_t kind;
	uint8_t byte;		/* OP_BYTE */
	int16_t x, y;		/* OP_SPLIT: both ways; OP_JUMP: x;
				 * OP_SET: x, its number */
};

struct set {
	uint32_t has[8];	/* a bit for each byte */
};

/* Places in the program to go on from, each once. */
struct places {
	uint16_t v[OPS_MAX];
	size_t n;
};

struct pattern {
	struct op *v;		/* the program */
	size_t n, cap;
	VEC(struct set) sets;
	struct work *work;
};

struct work {
	struct places lists[2], *next;
	uint16_t stack[OPS_MAX];
	uint32_t seen[OPS_MAX];	/* the step in which a place was taken */
	uint32_t step;
};

struct compile {
	struct pattern *p;
	const char *text, *at;
	struct pattern_fault *fault;
	int depth;
};

static int fault_at(struct compile *c, const char *at, const char *why)
{
	c->fault->why = why;
	c->fault->at = (size_t)(at - c->text);
	return -EINVAL;
}

/* Room for n more operations. */
static int ops_room(struct compile *c, size_t n)
{
	struct pattern *p = c->p;

	if (p->n + n > OPS_MAX - 1)	/* and one to end it */
		return fault_at(c, c->at, "too large an expression");
	if (!vec_room((void **)&p->v, &p->cap, p->n + n, sizeof(*p->v)))
		return -ENOMEM;
	return 0;
}

static int op_add(struct compile *c, struct op op)
{
	int err = ops_room(c, 1);

	if (!err)
		c->p->v[c->p->n++] = op;
	return err;
}

/* In front of what begins at `start`. */
static int op_insert(struct compile *c, size_t start, struct op op)
{
	struct pattern *p = c->p;
	int err = ops_room(c, 1);

	if (err)
		return err;
	memmove(p->v + start + 1, p->v + start,
		(p->n - start) * sizeof(*p->v));
	p->v[start] = op;
	p->n++;
	return 0;
}

static int make_optional(struct compile *c, size_t start)
{
	int16_t n = (int16_t)(c->p->n - start);

	return op_insert(c, start, (struct op){ OP_SPLIT, .x = 1,
						.y = (int16_t)(n + 1) });
}

static int make_plus(struct compile *c, size_t start)
{
	int16_t n = (int16_t)(c->p->n - start);

	return op_add(c, (struct op){ OP_SPLIT, .x = (int16_t)-n, .y = 1 });
}

static int make_star(struct compile *c, size_t start)
{
	int err = make_plus(c, start);

	return err ? err : make_optional(c, start);
}

/* "{2}", "{2,}", "{2,5}" */
static int read_counts(struct compile *c, uint64_t *least, uint64_t *most)
{
	const char *open = c->at, *end = open + strcspn(open, "}");
	const char *p = num_dec(open + 1, end, least);

	*most = *least;
	if (p && *p == ',') {
		*most = UINT64_MAX;
		if (p + 1 < end)
			p = num_dec(p + 1, end, most);
		else
			p++;
	}
	if (!p || p != end || !*end || *most < *least ||
	    *least > COUNT_MAX || (*most > COUNT_MAX && *most != UINT64_MAX))
		return fault_at(c, open, "not {count} or {least,most}, up to "
				"1,000");
	c->at = end + 1;
	return 0;
}

/* Append a copy of the n operations at `from`. */
static int ops_copy(struct compile *c, const struct op *from, size_t n)
{
	int err = ops_room(c, n);

	if (err)
		return err;
	if (n)
		memcpy(c->p->v + c->p->n, from, n * sizeof(*from));
	c->p->n += n;
	return 0;
}

/* x{2,4} is xxx?x?, x{2,} is xxx*. */
static int write_counted(struct compile *c, const struct op *x, size_t n,
			 uint64_t least, uint64_t most)
{
	bool endless = most == UINT64_MAX;
	int err = 0;

	for (uint64_t i = 0; !err && i < (endless ? least + 1 : most); i++) {
		size_t start = c->p->n;

		err = ops_copy(c, x, n);
		if (!err && i >= least)
			err = endless ? make_star(c, start)
				      : make_optional(c, start);
	}
	return err;
}

static int make_counted(struct compile *c, size_t start)
{
	uint64_t least = 0, most = 0;
	size_t n = c->p->n - start;
	struct op *x;
	int err = read_counts(c, &least, &most);

	if (err)
		return err;
	x = mem_zalloc(n * sizeof(*x));
	if (!x)
		return -ENOMEM;
	if (n)
		memcpy(x, c->p->v + start, n * sizeof(*x));
	c->p->n = start;
	err = write_counted(c, x, n, least, most);
	mem_free(x);
	return err;
}

/* The repetitions after what begins at `start`. */
static int read_repeats(struct compile *c, size_t start)
{
	int err = 0;

	while (!err && *c->at && strchr("*+?{", *c->at)) {
		char kind = *c->at;

		if (kind == '{') {
			err = make_counted(c, start);
			continue;
		}
		c->at++;
		err = kind == '*' ? make_star(c, start) :
		      kind == '+' ? make_plus(c, start) :
				    make_optional(c, start);
	}
	return err;
}

static void set_put(struct set *s, int byte)
{
	s->has[byte >> 5] |= 1u << (byte & 31);
}

static bool set_has(const struct set *s, uint8_t byte)
{
	return s->has[byte >> 5] >> (byte & 31) & 1;
}

static int set_add(struct compile *c, const struct set *s)
{
	struct set *to;

	if (c->p->sets.n == OPS_MAX)
		return fault_at(c, c->at, "too large an expression");
	to = vec_push(&c->p->sets);
	if (!to)
		return -ENOMEM;
	*to = *s;
	return op_add(c, (struct op){ OP_SET,
				      .x = (int16_t)(c->p->sets.n - 1) });
}

static int is_word(int byte)
{
	return isalnum(byte) || byte == '_';
}

static const struct class {
	char name[8];
	int (*has)(int byte);
} classes[] = {
	{ "alpha", isalpha }, { "digit", isdigit }, { "alnum", isalnum },
	{ "upper", isupper }, { "lower", islower }, { "space", isspace },
	{ "blank", isblank }, { "punct", ispunct }, { "xdigit", isxdigit },
	{ "cntrl", iscntrl }, { "print", isprint }, { "graph", isgraph },
};

static void set_put_class(struct set *s, int (*has)(int byte))
{
	for (int byte = 0; byte < 128; byte++)
		if (has(byte))
			set_put(s, byte);
}

/* "[:alpha:]" within a set. */
static int read_class(struct compile *c, struct set *s)
{
	const char *name = c->at + 2, *end = strstr(name, ":]");

	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		size_t n = strlen(classes[i].name);

		if (!end || (size_t)(end - name) != n ||
		    memcmp(name, classes[i].name, n))
			continue;
		set_put_class(s, classes[i].has);
		c->at = end + 2;
		return 0;
	}
	return fault_at(c, c->at, "no such class of characters");
}

const char *pattern_set_end(const char *p)
{
	p++;
	if (*p == '^')
		p++;
	if (*p == ']')
		p++;
	while (*p && *p != ']') {
		const char *end = NULL;

		if (*p == '[' && p[1] == ':')
			end = strstr(p + 2, ":]");
		p = end ? end + 2 : p + 1;
	}
	return p;
}

/* "[a-z_]", "[^]x]" */
static int read_set(struct compile *c)
{
	const char *end = pattern_set_end(c->at);
	bool negated = c->at[1] == '^';
	struct set s = { 0 };
	int err = 0;

	if (!*end)
		return fault_at(c, c->at, "a '[' without its ']'");
	c->at += 1 + negated;
	while (!err && c->at < end) {
		uint8_t from = (uint8_t)*c->at, to = from;

		if (from == '[' && c->at[1] == ':') {
			err = read_class(c, &s);
			continue;
		}
		if (c->at[1] == '-' && c->at + 2 < end) {
			to = (uint8_t)c->at[2];
			c->at += 2;
		}
		c->at++;
		for (int byte = from; byte <= to; byte++)
			set_put(&s, byte);
	}
	for (int i = 0; i < 8 && negated; i++)
		s.has[i] = ~s.has[i];
	c->at = end + 1;
	return err ? err : set_add(c, &s);
}

static int read_escape(struct compile *c)
{
	char byte = c->at[1];
	struct set s = { 0 };

	if (!byte)
		return fault_at(c, c->at, "nothing after a backslash");
	if (byte != 'd' && byte != 'w' && byte != 's') {
		if (isalnum((unsigned char)byte))
			return fault_at(c, c->at, "no such escape");
		c->at += 2;
		return op_add(c, (struct op){ OP_BYTE, (uint8_t)byte, 0, 0 });
	}
	set_put_class(&s, byte == 'd' ? isdigit : byte == 's' ? isspace :
			  is_word);
	c->at += 2;
	return set_add(c, &s);
}

static int read_choice(struct compile *c);

static int read_group(struct compile *c)
{
	const char *open = c->at++;
	int err;

	if (++c->depth > DEPTH_MAX)
		return fault_at(c, open, "too many parentheses in each other");
	err = read_choice(c);
	if (!err && *c->at != ')')
		err = fault_at(c, open, "a '(' without its ')'");
	c->at++;
	c->depth--;
	return err;
}

static int read_atom(struct compile *c)
{
	char byte = *c->at;

	switch (byte) {
	case '(':
		return read_group(c);
	case '[':
		return read_set(c);
	case '\\':
		return read_escape(c);
	case '*': case '+': case '?': case '{':
		return fault_at(c, c->at, "nothing before it to repeat");
	}
	c->at++;
	return op_add(c, (struct op){
		byte == '.' ? OP_ANY : byte == '^' ? OP_START :
		byte == '$' ? OP_END : OP_BYTE, (uint8_t)byte, 0, 0 });
}

static int read_sequence(struct compile *c)
{
	int err = 0;

	while (!err && *c->at && *c->at != '|' && *c->at != ')') {
		size_t start = c->p->n;

		err = read_atom(c);
		if (!err)
			err = read_repeats(c, start);
	}
	return err;
}

static int read_choice(struct compile *c)
{
	size_t start = c->p->n, jump;
	int err = read_sequence(c);

	if (err || *c->at != '|')
		return err;
	c->at++;
	err = op_add(c, (struct op){ OP_JUMP });
	if (!err)
		err = make_optional(c, start);
	jump = c->p->n - 1;
	if (!err)
		err = read_choice(c);
	if (!err)
		c->p->v[jump].x = (int16_t)(c->p->n - jump);
	return err;
}

static int compile(struct compile *c)
{
	int err = read_choice(c);

	if (!err && *c->at)
		err = fault_at(c, c->at, "a ')' without its '('");
	if (err)
		return err;
	if (!vec_room((void **)&c->p->v, &c->p->cap, c->p->n + 1,
		      sizeof(*c->p->v)))
		return -ENOMEM;
	c->p->v[c->p->n++] = (struct op){ OP_MATCH };
	c->p->work = mem_zalloc(sizeof(*c->p->work));
	return c->p->work ? 0 : -ENOMEM;
}

int pattern_compile(const char *text, struct pattern **out,
		    struct pattern_fault *fault)
{
	struct compile c = { .text = text, .at = text, .fault = fault };
	int err;

	c.p = mem_zalloc(sizeof(*c.p));
	if (!c.p)
		return -ENOMEM;
	err = compile(&c);
	if (err)
		pattern_free(c.p);
	else
		*out = c.p;
	return err;
}

void pattern_free(struct pattern *p)
{
	if (!p)
		return;
	mem_free(p->v);
	vec_free(&p->sets);
	mem_free(p->work);
	mem_free(p);
}

/* Push a place unless it was taken in this step. */
static void push(struct work *w, size_t place, size_t *n)
{
	if (w->seen[place] == w->step)
		return;
	w->seen[place] = w->step;
	w->stack[(*n)++] = (uint16_t)place;
}

/* Begin a step: the list that it fills is empty. */
static void step_begin(struct work *w, struct places *next)
{
	next->n = 0;
	w->next = next;
	if (!++w->step) {
		memset(w->seen, 0, sizeof(w->seen));
		w->step = 1;
	}
}

/* Add to w->next all that can be reached from `place` without a byte. */
static void follow(const struct pattern *p, size_t place, bool first,
		   bool last)
{
	struct work *w = p->work;
	size_t n = 0;

	push(w, place, &n);
	while (n) {
		size_t at = w->stack[--n];
		const struct op *op = &p->v[at];

		if (op->kind == OP_SPLIT)
			push(w, at + (size_t)op->y, &n);
		if (op->kind == OP_SPLIT || op->kind == OP_JUMP)
			push(w, at + (size_t)op->x, &n);
		else if ((op->kind == OP_START && first) ||
			 (op->kind == OP_END && last))
			push(w, at + 1, &n);
		else
			w->next->v[w->next->n++] = (uint16_t)at;
	}
}

static bool op_takes(const struct pattern *p, const struct op *op,
		     uint8_t byte)
{
	return op->kind == OP_ANY ||
	       (op->kind == OP_BYTE && op->byte == byte) ||
	       (op->kind == OP_SET && set_has(&p->sets.v[op->x], byte));
}

/* One byte on, from each place in w->next. */
static void step(const struct pattern *p, uint8_t byte, bool last)
{
	struct work *w = p->work;
	const struct places *now = w->next;

	step_begin(w, now == w->lists ? w->lists + 1 : w->lists);
	for (size_t i = 0; i < now->n; i++)
		if (op_takes(p, &p->v[now->v[i]], byte))
			follow(p, (size_t)now->v[i] + 1, false, last);
}

bool pattern_test(const struct pattern *p, const char *name)
{
	struct work *w = p->work;

	step_begin(w, w->lists);
	follow(p, 0, true, !*name);
	for (; *name && w->next->n; name++)
		step(p, (uint8_t)*name, !name[1]);
	for (size_t i = 0; i < w->next->n && !*name; i++)
		if (p->v[w->next->v[i]].kind == OP_MATCH)
			return true;
	return false;
}
