/* tp_print - how the kernel's own text shows a tracepoint's fields.
 *
 *   print fmt: "dir=%s addr=%llx", __print_symbolic(REC->dir, { 0, "TO" },
 *   { 1, "FROM" }), REC->addr
 *
 * is the source of a printf() with its macros expanded. Only three things are
 * taken from it: that a field is shown as hexadecimal, that it is shown as the
 * symbol of an address, and the tables that give names to its values or bits.
 * Expressions are read as far as such tables need it: constants, and one field
 * that may be masked; everything else is passed over. */
#include "sys/tp_print.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/vec.h"

enum {
	DEPTH_MAX = 64,		/* of parentheses, and of operators */
};

/* A constant n, or the bits n of a field. */
struct value {
	struct tp_field *field;
	uint64_t n;
};

struct reader {
	struct tp_format *format;
	char *p;		/* the text ends with a NUL */
	int depth;
};

static void skip_blanks(struct reader *r)
{
	r->p += strspn(r->p, " \t\n");
}

/* Take c, if it is next. */
static bool take(struct reader *r, char c)
{
	skip_blanks(r);
	if (*r->p != c || !c)
		return false;
	r->p++;
	return true;
}

static size_t word_length(const char *p)
{
	return strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789_");
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static uint64_t size_mask(uint32_t size)
{
	return size >= 8 ? UINT64_MAX : (1ull << 8 * size) - 1;
}

/* The bytes of a value: of an array's, one element. */
static uint32_t width(const struct tp_field *f)
{
	return f->kind == TP_ARRAY ? f->elem_size : f->size;
}

/* After an array's name; what a number is in the brackets does not matter. */
static bool take_index(struct reader *r)
{
	size_t n;

	if (*r->p != '[')
		return false;
	n = 1 + strspn(r->p + 1, "0123456789");
	if (r->p[n] != ']')
		return false;
	r->p += n + 1;
	return true;
}

/* "REC->name", "REC->name[0]" */
static bool read_rec(struct reader *r, struct value *out)
{
	size_t n = word_length(r->p + 5);

	for (size_t i = 0; i < r->format->nfields; i++) {
		struct tp_field *f = &r->format->fields[i];

		if (strncmp(f->name, r->p + 5, n) || f->name[n])
			continue;
		*out = (struct value){ f, size_mask(width(f)) };
		r->p += 5 + n;
		return f->kind == TP_INT || f->kind == TP_POINTER ||
		       (f->kind == TP_ARRAY && take_index(r));
	}
	return false;
}

static bool read_number(struct reader *r, struct value *out)
{
	char *end = r->p + word_length(r->p);
	const char *p;

	out->field = NULL;
	out->n = 0;
	if (!strncmp(r->p, "0x", 2) || !strncmp(r->p, "0X", 2)) {
		p = num_hex(r->p + 2, end, &out->n);
	} else if (*r->p == '0') {
		for (p = r->p; *p >= '0' && *p <= '7'; p++)
			out->n = out->n << 3 | (uint64_t)(*p - '0');
	} else {
		p = num_dec(r->p, end, &out->n);
	}
	if (!p || p + strspn(p, "uUlL") != end)
		return false;
	r->p = end;
	return true;
}

/* "(unsigned long)", "(const char *)": a type is a type, and of no interest. */
static bool take_cast(struct reader *r)
{
	char *p = r->p + 1;
	bool word = false;

	for (;;) {
		size_t n;

		p += strspn(p, " *");
		n = word_length(p);
		if (!n || is_digit(*p) || !strncmp(p, "REC->", 5))
			break;
		word = true;
		p += n;
	}
	if (!word || *p != ')')
		return false;
	r->p = p + 1;
	return true;
}

static bool read_binary(struct reader *r, int least, struct value *out);

static bool read_operand(struct reader *r, struct value *out)
{
	bool ok;

	if (++r->depth > DEPTH_MAX)
		return false;
	while (skip_blanks(r), *r->p == '(' && take_cast(r))
		;
	if (take(r, '(')) {
		ok = read_binary(r, 0, out) && take(r, ')');
	} else if (strchr("-~!", *r->p) && *r->p) {
		char op = *r->p++;

		ok = read_operand(r, out) && !out->field;
		if (ok)
			out->n = op == '-' ? -out->n :
				 op == '~' ? ~out->n : !out->n;
	} else if (!strncmp(r->p, "REC->", 5)) {
		ok = read_rec(r, out);
	} else if (*r->p == '\'' && r->p[1] && r->p[2] == '\'') {
		*out = (struct value){ NULL, (unsigned char)r->p[1] };
		r->p += 3;
		ok = true;
	} else {
		ok = is_digit(*r->p) && read_number(r, out);
	}
	r->depth--;
	return ok;
}

static const struct {
	char text[3];
	char precedence;
} operators[] = {
	{ "|", 1 }, { "^", 2 }, { "&", 3 }, { "<<", 4 }, { ">>", 4 },
	{ "+", 5 }, { "-", 5 }, { "*", 6 },
};

enum { OPERATORS = sizeof(operators) / sizeof(*operators) };

/* The operator that is next, OPERATORS = none of ours. */
static int operator_next(struct reader *r)
{
	int i = 0;

	skip_blanks(r);
	if (!strncmp(r->p, "||", 2) || !strncmp(r->p, "&&", 2))
		return OPERATORS;
	while (i < OPERATORS && strncmp(r->p, operators[i].text,
					strlen(operators[i].text)))
		i++;
	return i;
}

static uint64_t compute(char op, uint64_t a, uint64_t b)
{
	switch (op) {
	case '|': return a | b;
	case '^': return a ^ b;
	case '&': return a & b;
	case '<': return b < 64 ? a << b : 0;
	case '>': return b < 64 ? a >> b : 0;
	case '+': return a + b;
	case '-': return a - b;
	default: return a * b;
	}
}

/* Of a field, only a mask is understood. */
static bool combine(char op, struct value *a, const struct value *b)
{
	if ((a->field && b->field) || ((a->field || b->field) && op != '&'))
		return false;
	if (b->field)
		a->field = b->field;
	a->n = compute(op, a->n, b->n);
	return true;
}

static bool read_binary(struct reader *r, int least, struct value *out)
{
	bool ok;

	if (++r->depth > DEPTH_MAX)
		return false;
	ok = read_operand(r, out);
	while (ok) {
		int i = operator_next(r);
		struct value right;

		if (i == OPERATORS || operators[i].precedence <= least)
			break;
		r->p += strlen(operators[i].text);
		ok = read_binary(r, operators[i].precedence, &right) &&
		     combine(operators[i].text[0], out, &right);
	}
	r->depth--;
	return ok;
}

static bool read_value(struct reader *r, struct value *out)
{
	r->depth = 0;
	return read_binary(r, 0, out);
}

/* A string's text, the closing quote become a NUL; NULL when none is next, or
 * it has no end: then neither has anything else. */
static const char *read_string(struct reader *r)
{
	char *start, *p;

	if (!take(r, '"'))
		return NULL;
	for (start = p = r->p; *p && *p != '"'; p++)
		if (*p == '\\' && p[1])
			p++;
	r->p = *p ? p + 1 : p;
	if (!*p)
		return NULL;
	*p = '\0';
	return start;
}

/* To the brace that ends an entry, over the strings in it. */
static void skip_to_brace(struct reader *r)
{
	while (*r->p && *r->p != '}') {
		if (*r->p == '"')
			read_string(r);
		else
			r->p++;
	}
}

/* "{ value, "name" }, ..." up to the parenthesis. One whose value is not
 * understood is left out. */
static int read_names(struct reader *r)
{
	struct tp_format *f = r->format;

	while (take(r, '{')) {
		struct value v;
		const char *text = NULL;
		bool ok = read_value(r, &v) && !v.field && take(r, ',');

		if (ok)
			text = read_string(r);
		if (text) {
			if (!vec_room((void **)&f->names, &f->names_cap,
				      f->nnames + 1, sizeof(*f->names)))
				return -ENOMEM;
			f->names[f->nnames++] = (struct tp_name){ v.n, text };
		}
		skip_to_brace(r);
		if (!take(r, '}') || !take(r, ','))
			break;
	}
	return 0;
}

/* What follows "__print_symbolic(" or "__print_flags(". */
static int read_table(struct reader *r, enum tp_show show)
{
	size_t first = r->format->nnames;
	const char *delimiter = "";
	struct tp_field *f;
	struct value v;
	int err;

	if (!read_value(r, &v) || !v.field || !take(r, ','))
		return 0;
	if (show == TP_FLAGS) {
		delimiter = read_string(r);
		if (!delimiter || !take(r, ','))
			return 0;
	}
	err = read_names(r);
	f = v.field;
	if (err || first == r->format->nnames || f->names ||
	    f->kind != TP_INT)
		return err;
	f->show = show;
	f->mask = v.n;
	f->delimiter = delimiter;
	f->first = first;
	f->names = r->format->nnames - first;
	if (show == TP_FLAGS && take(r, ')') && take(r, ':'))
		f->zero = read_string(r);
	return 0;
}

/* The length of a macro's name with its parenthesis, 0 = neither. */
static size_t table_starts(const char *p, enum tp_show *show)
{
	size_t n = word_length(p);

	if (n < 13 || p[n] != '(')
		return 0;
	*show = !strncmp(p, "__print_flags", 13) ? TP_FLAGS : TP_ENUM;
	if (*show == TP_FLAGS || !strncmp(p, "__print_symbolic", 16))
		return n + 1;
	return 0;
}

/* All tables among the arguments, which begin at `p`. */
static int read_tables(struct tp_format *f, char *p)
{
	struct reader r = { .format = f, .p = p };
	int err = 0;

	while (!err && *r.p) {
		enum tp_show show;
		size_t n = table_starts(r.p, &show);

		if (n) {
			r.p += n;
			err = read_table(&r, show);
		} else if (*r.p == '"') {
			if (!read_string(&r))
				break;
		} else {
			n = word_length(r.p);
			r.p += n ? n : 1;
		}
	}
	return err;
}

/* The end of the argument at p: a comma outside of parentheses, or the NUL. */
static char *argument_end(char *p)
{
	long depth = 0;

	for (; *p && (*p != ',' || depth > 0); p++) {
		depth += (*p == '(' || *p == '{') - (*p == ')' || *p == '}');
		if (*p != '"')
			continue;
		while (p[1] && p[1] != '"')
			p += 1 + (p[1] == '\\' && p[2]);
		if (!p[1])
			break;
		p++;
	}
	return *p == ',' ? p : p + strlen(p);
}

/* Take one argument, to be shown as `show`. */
static void read_argument(struct reader *r, enum tp_show show)
{
	char *end;
	struct value v;

	if (*r->p != ',')
		return;
	r->p++;
	end = argument_end(r->p);
	if (show != TP_DECIMAL && read_value(r, &v) && v.field &&
	    (skip_blanks(r), r->p == end) &&
	    (v.field->kind != TP_POINTER || show == TP_SYMBOL))
		v.field->show = show;
	r->p = end;
}

/* The conversion after a '%', and the arguments that it takes. */
static const char *read_conversion(const char *p, struct reader *r)
{
	for (; *p && strchr("-+ #0123456789.*", *p); p++)
		if (*p == '*')
			read_argument(r, TP_DECIMAL);
	p += strspn(p, "hlLqjzt");
	if (!*p)
		return p;
	if (*p == '%')
		return p + 1;
	if (*p == 'p' && p[1] && strchr("sSfFB", p[1]))
		read_argument(r, TP_SYMBOL);
	else
		read_argument(r, strchr("xXp", *p) ? TP_HEX : TP_DECIMAL);
	return p + 1;
}

int tp_print_parse(struct tp_format *f, char *text)
{
	struct reader r = { .format = f, .p = text };
	const char *format = read_string(&r);
	char *arguments;

	if (!format)
		return 0;
	skip_blanks(&r);
	arguments = r.p;
	while ((format = strchr(format, '%')))
		format = read_conversion(format + 1, &r);
	return read_tables(f, arguments);
}

static void print_decimal(const struct tp_field *f, uint64_t value,
			 struct buf *to)
{
	uint64_t sign = (size_mask(width(f)) >> 1) + 1;

	if (f->is_signed)
		buf_signed(to, (int64_t)((value ^ sign) - sign));
	else
		buf_dec(to, value);
}

/* The formats of system calls have everything in hexadecimal, also what is an
 * error or AT_FDCWD: a negative number is one. They say of no argument that it
 * is signed, but what C calls an int is. */
static void print_hex(const struct tp_field *f, uint64_t value, struct buf *to)
{
	bool is_int = !strcmp(f->type, "int");
	int64_t number = is_int ? (int32_t)(uint32_t)value : (int64_t)value;

	if (number < 0 && width(f) == 8 && (is_int || f->is_signed))
		buf_signed(to, number);
	else
		buf_hex(to, value);
}

/* Bits that no name is for follow as a number. */
static void print_flags(const struct tp_format *f, const struct tp_field *field,
			uint64_t value, struct buf *to)
{
	size_t start = to->len;

	if (!(value & field->mask) && field->zero)
		buf_puts(to, field->zero);
	else if (!value)
		buf_putc(to, '0');
	for (size_t i = 0; i < field->names; i++) {
		const struct tp_name *n = &f->names[field->first + i];
		uint64_t bits = n->value & field->mask;

		if (!bits || (value & bits) != bits)
			continue;
		if (to->len != start)
			buf_puts(to, field->delimiter);
		buf_puts(to, n->text);
		value &= ~bits;
	}
	if (value && to->len != start)
		buf_puts(to, field->delimiter);
	if (value)
		buf_hex(to, value);
}

static void print_enum(const struct tp_format *f, const struct tp_field *field,
		       uint64_t value, struct buf *to)
{
	for (size_t i = 0; i < field->names; i++) {
		const struct tp_name *n = &f->names[field->first + i];

		if ((n->value ^ value) & field->mask)
			continue;
		buf_puts(to, n->text);
		value &= ~field->mask;
		if (value) {
			buf_putc(to, '|');
			buf_hex(to, value);
		}
		return;
	}
	buf_hex(to, value);
}

void tp_value_print(const struct tp_format *f, const struct tp_field *field,
		    uint64_t value, struct buf *to)
{
	uint64_t bits = value & size_mask(width(field));

	switch (field->show) {
	case TP_DECIMAL:
		print_decimal(field, bits, to);
		break;
	case TP_HEX:
		print_hex(field, bits, to);
		break;
	case TP_SYMBOL:
		buf_hex(to, bits);
		break;
	case TP_DEVICE:
		buf_fmt(to, "%u,%u", (unsigned)(bits >> 20),
			(unsigned)(bits & 0xfffff));
		break;
	case TP_ENUM:
		print_enum(f, field, bits, to);
		break;
	case TP_FLAGS:
		print_flags(f, field, bits, to);
		break;
	}
}
