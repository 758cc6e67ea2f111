/* action - reads the filter and the format behind a probe. */
#include "trace/action.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/num.h"
#include "events.h"

enum { EXPRS_MAX = 200, VALUES_MAX = 1000, DEPTH_MAX = 50, WIDTH_MAX = 200 };

/* A signature gives arguments names, and types of their own. */
struct param {
	size_t at, len;			/* its name, in the argument */
	struct number type;		/* size 0 = as the hit knows it */
};

struct parse {
	struct action *action;
	const char *arg;
	size_t at;			/* the next byte */
	unsigned depth;
	int err;
	VEC(struct param) params;
};

/* -- bytes ----------------------------------------------------------------- */

/* The first error is said, and ends it all: 0 stands for a node then. */
static uint16_t failed(struct parse *p, size_t at, const char *why)
{
	if (!p->err)
		log_error_at(p->action->command, p->arg, at, why);
	p->err = p->err ? p->err : -EINVAL;
	return 0;
}

static uint16_t no_memory(struct parse *p)
{
	if (!p->err)
		log_error("%s: probes: out of memory", p->action->command);
	p->err = -ENOMEM;
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z' ? true :
	       c == '_' || c == '$' || is_digit(c);
}

static char peek(struct parse *p)
{
	while (is_blank(p->arg[p->at]))
		p->at++;
	return p->arg[p->at];
}

static bool take(struct parse *p, const char *text)
{
	size_t n = strlen(text);

	peek(p);
	if (strncmp(p->arg + p->at, text, n))
		return false;
	p->at += n;
	return true;
}

static size_t word_len(const char *s)
{
	size_t n = 0;

	while (is_word(s[n]))
		n++;
	return n;
}

static bool word_is(const char *s, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(s, word, len);
}

static uint32_t text_put(struct parse *p, const char *s, size_t len)
{
	struct buf *text = &p->action->text;
	uint32_t start = (uint32_t)text->len;

	buf_mem(text, s, len);
	buf_putc(text, '\0');
	if (text->err)
		no_memory(p);
	return start;
}

/* A string in double quotes, to action.text. */
static size_t read_string(struct parse *p)
{
	struct buf *text = &p->action->text;
	size_t start = text->len, from = p->at;
	char c;

	if (!take(p, "\"")) {
		failed(p, p->at, "a text in double quotes expected");
		return start;
	}
	while ((c = p->arg[p->at]) && c != '"') {
		if (c == '\\' && p->arg[p->at + 1]) {
			c = p->arg[++p->at];
			c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
		}
		buf_putc(text, c);
		p->at++;
	}
	if (!c)
		failed(p, from, "no '\"' closes this one");
	else
		p->at++;
	text_put(p, "", 0);
	return start;
}

/* -- nodes ----------------------------------------------------------------- */

static uint16_t node_add(struct parse *p, struct expr e)
{
	struct expr *to;

	if (p->err)
		return 0;
	if (p->action->exprs.n == EXPRS_MAX)
		return failed(p, p->at, "too long an expression");
	to = vec_push(&p->action->exprs);
	if (!to)
		return no_memory(p);
	*to = e;
	return (uint16_t)(p->action->exprs.n - 1);
}

static uint16_t value_add(struct parse *p, struct action_value v)
{
	struct action_value *to;

	if (p->err)
		return 0;
	if (p->action->values.n == VALUES_MAX)
		return failed(p, p->at, "too many values");
	to = vec_push(&p->action->values);
	if (!to)
		return no_memory(p);
	*to = v;
	return (uint16_t)(p->action->values.n - 1);
}

struct number number_as(uint64_t v, uint8_t size, bool is_signed)
{
	uint64_t sign = 1ull << (8 * size - 1), low = sign * 2 - 1;

	v &= low;
	return (struct number){
		.v = is_signed ? (v ^ sign) - sign : v, .size = size,
		.is_signed = is_signed,
	};
}

/* -- types ----------------------------------------------------------------- */

/* 0 = it is no word of a type, else bytes; a pointer's are a long's. */
static uint8_t type_word(const char *s, size_t len, struct number *type)
{
	static const struct {
		char name[9];
		uint8_t size, is_signed;
	} words[] = {
		{ "char", 1, 1 }, { "short", 2, 1 }, { "int", 4, 1 },
		{ "long", sizeof(long), 1 }, { "size_t", sizeof(long), 0 },
		{ "ssize_t", sizeof(long), 1 }, { "s8", 1, 1 },
		{ "s16", 2, 1 }, { "s32", 4, 1 }, { "s64", 8, 1 },
		{ "u8", 1, 0 }, { "u16", 2, 0 }, { "u32", 4, 0 },
		{ "u64", 8, 0 }, { "int8_t", 1, 1 }, { "int16_t", 2, 1 },
		{ "int32_t", 4, 1 }, { "int64_t", 8, 1 }, { "uint8_t", 1, 0 },
		{ "uint16_t", 2, 0 }, { "uint32_t", 4, 0 },
		{ "uint64_t", 8, 0 }, { "pid_t", 4, 1 }, { "off_t", 8, 1 },
		{ "loff_t", 8, 1 },
	};

	if (len > 2 && !strncmp(s, "__", 2))
		s += 2, len -= 2;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!word_is(s, len, words[i].name))
			continue;
		type->is_signed = words[i].is_signed;
		return type->size = words[i].size;
	}
	return 0;
}

/* The words of a type, such as "unsigned long", from p->at on; those that are
 * none end it. False when there is not even one. */
static bool read_type(struct parse *p, struct number *type)
{
	bool is_unsigned = false, any = false, sized = false;
	struct number word;

	*type = (struct number){ .size = 4, .is_signed = true };
	for (;;) {
		const char *s = (peek(p), p->arg + p->at);
		size_t len = word_len(s);

		if (word_is(s, len, "unsigned"))
			is_unsigned = true;
		else if (sized && word_is(s, len, "int"))
			;		/* as in "long int" */
		else if (type_word(s, len, &word))
			*type = word, sized = true;
		else if (!word_is(s, len, "signed") &&
			 !word_is(s, len, "const"))
			break;
		any = true;
		p->at += len;
	}
	type->is_signed &= !is_unsigned;
	return any;
}

/* -- values ---------------------------------------------------------------- */

static const struct {
	char name[6];
	uint8_t source;
} words[] = {
	{ "$pid", VALUE_TID }, { "$tid", VALUE_TID }, { "$tgid", VALUE_TGID },
	{ "$cpu", VALUE_CPU }, { "$uid", VALUE_UID }, { "$gid", VALUE_GID },
	{ "$comm", VALUE_COMM },
};

static bool find_word(const char *s, size_t len, struct action_value *v)
{
	uint64_t n;

	if (word_is(s, len, "retval")) {
		v->source = VALUE_RETVAL;
		return true;
	}
	if (len > 3 && !strncmp(s, "arg", 3) &&
	    num_dec(s + 3, s + len, &n) == s + len && n &&
	    n <= TRACE_USDT) {
		v->source = VALUE_ARG;
		v->number = (uint8_t)n;
		return true;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!word_is(s, len, words[i].name))
			continue;
		v->source = words[i].source;
		return true;
	}
	return false;
}

/* "->FIELD" behind "args". */
static void read_field(struct parse *p, struct action_value *v)
{
	size_t len;

	if (!take(p, "->")) {
		failed(p, p->at, "args->FIELD is a tracepoint's field");
		return;
	}
	peek(p);
	len = word_len(p->arg + p->at);
	if (!len)
		failed(p, p->at, "a field's name expected");
	v->source = VALUE_FIELD;
	v->name = text_put(p, p->arg + p->at, len);
	p->at += len;
}

/* A value by its name; `type` is what a signature says, else its size is 0. */
static struct action_value read_value(struct parse *p, struct number *type)
{
	struct action_value v = { .at = (peek(p), (uint32_t)p->at) };
	const char *s = p->arg + p->at;
	size_t len = word_len(s), i;

	*type = (struct number){ 0 };
	for (i = 0; i < p->params.n; i++)
		if (len && len == p->params.v[i].len &&
		    !memcmp(s, p->arg + p->params.v[i].at, len))
			break;
	p->at += len;
	if (i < p->params.n) {
		v.source = VALUE_ARG;
		v.number = (uint8_t)(i + 1);
		*type = p->params.v[i].type;
	} else if (word_is(s, len, "args")) {
		read_field(p, &v);
	} else if (!find_word(s, len, &v)) {
		failed(p, v.at, *s == '$' ? "$pid, $tgid, $uid, $gid, $cpu or "
		       "$comm expected" : "a number, arg1 ..., retval or "
		       "args->FIELD expected");
	}
	if (take(p, "@user"))
		v.of_user = true;
	if (peek(p) == '[' || !strncmp(p->arg + p->at, "->", 2))
		failed(p, p->at, "what a pointer leads to is not read here");
	return v;
}

/* STRCMP("text", value) */
static uint16_t read_strcmp(struct parse *p)
{
	struct expr e = { .op = EXPR_STRCMP };
	struct action_value v;
	struct number type;
	size_t len;

	if (!take(p, "("))
		return failed(p, p->at, "STRCMP(\"text\", value)");
	e.v = read_string(p);
	len = p->action->text.len - e.v;
	if (p->action->longest < len)
		p->action->longest = len;
	if (!take(p, ","))
		failed(p, p->at, "',' and a value expected");
	v = read_value(p, &type);
	v.is_string = true;
	e.left = value_add(p, v);
	if (!take(p, ")"))
		failed(p, p->at, "')' expected");
	return node_add(p, e);
}

/* -- expressions ----------------------------------------------------------- */

static uint16_t read_binary(struct parse *p, int level);
static uint16_t read_unary(struct parse *p);

/* As in C, one that is not decimal is rather unsigned than long. */
static uint16_t read_number(struct parse *p)
{
	const char *s = p->arg + p->at, *end = s + strlen(s), *after;
	bool is_unsigned = false, is_long = false, other = *s == '0', is_int;
	uint64_t n = 0;

	if (other && (s[1] | 32) == 'x') {
		after = num_hex(s + 2, end, &n);
	} else if (other) {		/* octal, as modes are */
		for (after = s; *after >= '0' && *after <= '7'; after++)
			n = n << 3 | (uint64_t)(*after - '0');
		after = after - s > 22 ? NULL : after;
	} else {
		after = num_dec(s, end, &n);
	}
	for (; after && strchr("uUlL", *after) && *after; after++) {
		is_unsigned |= (*after | 32) == 'u';
		is_long |= (*after | 32) == 'l';
	}
	if (!after || is_word(*after))
		return failed(p, p->at, "a number expected");
	p->at = (size_t)(after - p->arg);
	is_int = !is_long && n <= (is_unsigned || other ? UINT32_MAX
							: INT32_MAX);
	return node_add(p, (struct expr){
		.op = EXPR_NUMBER, .v = n, .size = is_int ? 4 : 8,
		.is_signed = !is_unsigned && n <= (is_int ? INT32_MAX
							  : INT64_MAX),
	});
}

static uint16_t cast_add(struct parse *p, uint16_t node, struct number type)
{
	return node_add(p, (struct expr){
		.op = EXPR_CAST, .left = node, .size = type.size,
		.is_signed = type.is_signed,
	});
}

/* A cast, or an expression in parentheses; behind the '('. */
static uint16_t read_closed(struct parse *p)
{
	size_t from = p->at - 1;
	struct number type;
	bool cast = read_type(p, &type);
	uint16_t node;

	if (cast && take(p, "*"))
		type = (struct number){ .size = sizeof(long) };
	node = cast ? 0 : read_binary(p, 1);
	if (!take(p, ")"))
		return failed(p, p->arg[p->at] ? p->at : from,
			      p->arg[p->at] ? "an operator or ')' expected" :
			      "no ')' closes this one");
	if (cast)
		return cast_add(p, read_unary(p), type);
	if (!p->err)
		p->action->exprs.v[node].closed = true;
	return node;
}

static uint16_t read_primary(struct parse *p)
{
	struct expr e = { .op = EXPR_VALUE };
	char c = peek(p);
	const char *s = p->arg + p->at;
	size_t len = word_len(s);
	struct number type;

	if (is_digit(c))
		return read_number(p);
	if (take(p, "("))
		return read_closed(p);
	if (word_is(s, len, "STRCMP")) {
		p->at += len;
		return read_strcmp(p);
	}
	if (word_is(s, len, "NULL")) {
		p->at += len;
		e.op = EXPR_NUMBER;
		e.size = sizeof(long);
		return node_add(p, e);
	}
	e.left = value_add(p, read_value(p, &type));
	e.left = node_add(p, e);
	return type.size ? cast_add(p, e.left, type) : e.left;
}

static uint16_t read_unary(struct parse *p)
{
	static const struct {
		char text[2];
		uint8_t op;
	} ops[] = { { "!", EXPR_NOT }, { "~", EXPR_INVERT },
		    { "-", EXPR_NEGATE } };
	uint16_t node = 0;
	size_t i = 0;

	if (p->err)
		return 0;
	if (++p->depth > DEPTH_MAX)
		return failed(p, p->at, "too deep an expression");
	while (i < 3 && !take(p, ops[i].text))
		i++;
	if (i < 3) {
		node = read_unary(p);
		node = node_add(p, (struct expr){ .op = ops[i].op,
						  .left = node });
	} else {
		node = read_primary(p);
	}
	p->depth--;
	return node;
}

static const struct binary {
	char text[3];
	uint8_t level, op;
} binaries[] = {
	{ "||", 1, EXPR_OR }, { "&&", 2, EXPR_AND }, { "==", 6, EXPR_EQ },
	{ "!=", 6, EXPR_NE }, { "<=", 7, EXPR_LE }, { ">=", 7, EXPR_GE },
	{ "<<", 8, EXPR_LEFT }, { ">>", 8, EXPR_RIGHT },
	{ "|", 3, EXPR_BIT_OR }, { "^", 4, EXPR_BIT_XOR },
	{ "&", 5, EXPR_BIT_AND }, { "<", 7, EXPR_LT }, { ">", 7, EXPR_GT },
	{ "+", 9, EXPR_ADD }, { "-", 9, EXPR_SUB }, { "*", 10, EXPR_MUL },
	{ "/", 10, EXPR_DIV }, { "%", 10, EXPR_MOD },
};

static const struct binary *find_binary(struct parse *p, int level)
{
	peek(p);
	for (size_t i = 0; i < sizeof(binaries) / sizeof(*binaries); i++) {
		const struct binary *b = &binaries[i];

		if (!strncmp(p->arg + p->at, b->text, strlen(b->text)))
			return b->level >= level ? b : NULL;
	}
	if (p->arg[p->at] == '=')
		failed(p, p->at, "'==' compares");
	return NULL;
}

/* C takes "a & 1 == 0" for a & (1 == 0): nobody means that. */
static bool is_trap(const struct parse *p, const struct binary *b,
		    uint16_t node)
{
	const struct expr *e = &p->action->exprs.v[node];

	return b->level >= 3 && b->level <= 5 && !e->closed &&
	       e->op >= EXPR_EQ && e->op <= EXPR_GE;
}

static uint16_t read_binary(struct parse *p, int level)
{
	uint16_t left = read_unary(p), right;
	const struct binary *b;

	while (!p->err && (b = find_binary(p, level))) {
		size_t at = p->at;

		p->at += strlen(b->text);
		right = read_binary(p, b->level + 1);
		if (!p->err && (is_trap(p, b, left) || is_trap(p, b, right)))
			failed(p, at, "parentheses are needed here: in C the "
			       "comparison goes first");
		left = node_add(p, (struct expr){ .op = b->op, .left = left,
						  .right = right });
	}
	return left;
}

/* -- the format ------------------------------------------------------------ */

static bool read_conversion(struct parse *p, struct action_piece *piece)
{
	const char *s = p->arg + p->at + 1;
	size_t longs = 0, shorts = 0;
	uint64_t width = 0;

	for (; *s == '-' || *s == '0' || *s == '#'; s++) {
		piece->left |= *s == '-';
		piece->zeros |= *s == '0';
	}
	if (is_digit(*s))
		s = num_dec(s, s + strcspn(s, "\""), &width);
	if (!s || width > WIDTH_MAX)
		return false;
	for (; *s == 'l' || *s == 'z'; s++)
		longs++;
	for (; *s == 'h'; s++)
		shorts++;
	piece->conversion = *s == 'i' ? 'd' : *s;
	piece->width = (uint8_t)width;
	piece->size = longs > 1 ? 8 : longs ? sizeof(long) : shorts > 1 ? 1 :
		      shorts ? 2 : 4;
	if (!*s || !strchr("duxpscKU", piece->conversion) ||
	    longs > 2 || shorts > 2 ||
	    ((longs || shorts) && !strchr("dux", piece->conversion)))
		return false;
	p->at = (size_t)(s - p->arg) + 1;
	return true;
}

/* One piece: text up to a conversion or the closing quote. */
static void read_piece(struct parse *p)
{
	struct action_piece piece = { .text = (uint32_t)p->action->text.len };
	struct action_piece *to;
	char c;

	while ((c = p->arg[p->at]) && c != '"') {
		if (c == '%' && p->arg[p->at + 1] != '%') {
			if (!read_conversion(p, &piece))
				failed(p, p->at, "%d %u %x %ld %lu %lx %lld "
				       "%llu %llx %p %s %c %K %U or %% "
				       "expected");
			break;
		}
		p->at += (c == '%' || c == '\\') && p->arg[p->at + 1];
		if (c == '\\') {
			c = p->arg[p->at];
			c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
		}
		buf_putc(&p->action->text, c);
		p->at++;
	}
	text_put(p, "", 0);
	if (p->err)
		return;
	to = vec_push(&p->action->pieces);
	if (to)
		*to = piece;
	else
		no_memory(p);
}

/* A string comes from where a value points: no arithmetic. */
static void read_argument(struct parse *p, struct action_piece *piece)
{
	size_t at;
	struct expr *e;

	if (!take(p, ",")) {
		failed(p, p->at, "',' and a value for the format expected");
		return;
	}
	peek(p);
	at = p->at;
	piece->expr = read_binary(p, 1);
	if (p->err)
		return;
	e = &p->action->exprs.v[piece->expr];
	if (piece->conversion == 's' && e->op == EXPR_CAST)
		e = &p->action->exprs.v[piece->expr = e->left];
	if (piece->conversion == 's' && e->op == EXPR_VALUE)
		p->action->values.v[e->left].is_string = true;
	else if (piece->conversion == 's')
		failed(p, at, "%s takes arg1 ..., retval, args->FIELD or "
		       "$comm");
}

static void read_format(struct parse *p)
{
	struct action *a = p->action;
	size_t from = p->at++;

	a->has_format = true;
	while (!p->err && p->arg[p->at] && p->arg[p->at] != '"')
		read_piece(p);
	if (!p->err && p->arg[p->at] != '"')
		failed(p, from, "no '\"' closes this one");
	p->at++;
	for (size_t i = 0; !p->err && i < a->pieces.n; i++)
		if (a->pieces.v[i].conversion)
			read_argument(p, &a->pieces.v[i]);
	if (!p->err && peek(p) == ',')
		failed(p, p->at, "more values than the format takes");
}

/* -- the whole ------------------------------------------------------------- */

/* "(struct file *f, size_t n)": names and, of integers, types. */
static void read_signature(struct parse *p)
{
	p->at++;
	while (!p->err && peek(p) != ')') {
		struct param *to = vec_push(&p->params), param = { 0 };
		struct number type;
		bool known = read_type(p, &type), pointer = false;

		for (; peek(p) && !strchr(",)", p->arg[p->at]); p->at++) {
			const char *s = p->arg + p->at;

			pointer |= *s == '*';
			if (!is_word(*s))
				continue;
			param.at = p->at;
			param.len = word_len(s);
			p->at += param.len - 1;
		}
		if (known && !pointer)
			param.type = type;
		if (!p->arg[p->at] || p->params.n > TRACE_USDT)
			failed(p, p->at, "')' expected");
		else if (!to)
			no_memory(p);
		else
			*to = param;
		take(p, ",");
	}
	p->at++;
}

/* $comm is a text, others are none unless they point to one. */
static void check_values(struct parse *p)
{
	const struct action *a = p->action;

	for (size_t i = 0; !p->err && i < a->values.n; i++) {
		const struct action_value *v = &a->values.v[i];

		if (v->source == VALUE_COMM && !v->is_string)
			failed(p, v->at, "$comm is a text: STRCMP(\"text\", "
			       "$comm), or %s");
		else if (v->source > VALUE_FIELD && v->is_string &&
			 v->source != VALUE_COMM)
			failed(p, v->at, "this is a number, no text");
	}
}

size_t action_find(const char *arg)
{
	size_t at = strspn(arg, " \t\n");

	for (; arg[at]; at++) {
		/* A part of the probe: up to its end. */
		if (arg[at] == '"')
			while (arg[++at] && arg[at] != '"')
				at += arg[at] == '\\' && arg[at + 1];
		/* Go's methods are "main.(*T).f". */
		if (arg[at] == '(' && (!at || arg[at - 1] != '.'))
			break;
		if (!arg[at])
			break;
		if (is_blank(arg[at]) && at && arg[at - 1] != ',' &&
		    strchr("(\"'", arg[at + strspn(arg + at, " \t\n")]))
			break;
	}
	return at;
}

int action_parse(struct action *a, const char *command, const char *arg,
		 size_t at)
{
	struct parse p = { .action = a, .arg = arg, .at = at };

	*a = (struct action){ .command = command, .arg = arg,
			      .filter = ACTION_NONE };
	if (arg[at] == '(')
		read_signature(&p);
	if (!p.err && take(&p, "("))
		a->filter = read_closed(&p);
	if (!p.err && peek(&p) == '"')
		read_format(&p);
	if (!p.err && peek(&p))
		failed(&p, p.at, a->has_format ? "the end expected" :
		       "a filter in parentheses or a format in double quotes "
		       "expected");
	check_values(&p);
	vec_free(&p.params);
	return p.err;
}

void action_free(struct action *a)
{
	vec_free(&a->exprs);
	vec_free(&a->values);
	vec_free(&a->pieces);
	buf_free(&a->text);
}

bool action_converts(const struct action *a, char conversion)
{
	for (size_t i = 0; i < a->pieces.n; i++)
		if (a->pieces.v[i].conversion == conversion)
			return true;
	return false;
}
