/* demangle_rust - Rust's names as v0 has them (RFC 2603).
 *
 * A v0 name is a path in prefix notation whose order is that of its text, so it
 * is written while it is read. A backref is the place of an earlier part, which
 * is then read again: names can thus be exponentially large, and the text, the
 * steps and the depth are bounded. Bytes that leave no trace in the text, for
 * it is taken back or they are zeros, count as steps. As rustfilt does, what
 * tells crates and instances of one name apart is left out.
 */
#include <limits.h>
#include <string.h>

#include "sym/demangle_text.h"

enum {
	DEPTH = 300,
	STEPS = 100000,
	BYTES = 4,		/* that are as a step */
	LETTERS = 128,		/* of an identifier in Punycode */
};

struct rust {
	const char *start, *p, *end;	/* behind _R; *end is the NUL */
	struct demangle_text *t;
	unsigned depth, steps;
	uint64_t lifetimes;		/* bound around here */
};

static void path(struct rust *r, bool is_value);
static void type(struct rust *r);
static void constant(struct rust *r, bool is_value);

/* The end of the name is where it failed: loops end there. */
static void fail(struct rust *r)
{
	r->t->failed = true;
	r->p = r->end;
}

static bool skip(struct rust *r, char want)
{
	if (*r->p != want)
		return false;
	r->p++;
	return true;
}

static char next(struct rust *r)
{
	char c = *r->p;

	if (c)
		r->p++;
	else
		fail(r);
	return c;
}

static void put(struct rust *r, const char *s)
{
	text_puts(r->t, s);
}

static void enter(struct rust *r)
{
	if (++r->depth > DEPTH || ++r->steps > STEPS)
		fail(r);
}

/* -- numbers --------------------------------------------------------- */

static size_t decimal(struct rust *r)
{
	const char *p = r->p;
	size_t n = 0;

	if (skip(r, '0'))
		return 0;
	while (demangle_is_digit(*p) && n < DEMANGLE_MOST)
		n = n * 10 + (size_t)(*p++ - '0');
	r->p = p;
	return n;
}

/* Of a character its upper three bits tell the kind. No branches, for digits
 * are those of hashes: none of these could be foretold. */
static unsigned digit_62(char c)
{
	static const struct { uint8_t first, n, value; } kinds[8] = {
		[1] = { '0' & 31, 10, 0 }, [3] = { 'a' & 31, 26, 10 },
		[2] = { 'A' & 31, 26, 36 },
	};
	unsigned kind = (unsigned char)c >> 5;
	unsigned i = (c & 31u) - kinds[kind].first;

	return i < kinds[kind].n ? i + kinds[kind].value : UINT_MAX;
}

/* "_" is 0, "0_" is 1, ... */
static uint64_t base_62(struct rust *r)
{
	const char *p = r->p;
	uint64_t n = 0;

	for (; *p != '_'; p++) {
		unsigned digit = digit_62(*p);

		if (digit > 61 || n > UINT64_MAX / 62 - 1) {
			fail(r);
			return 0;
		}
		n = n * 62 + digit;
	}
	n += p > r->p;
	r->steps += (unsigned)(p - r->p) / BYTES;
	r->p = p + 1;
	return n;
}

static uint64_t maybe_62(struct rust *r, char tag)
{
	return skip(r, tag) ? base_62(r) + 1 : 0;
}

/* -- text ------------------------------------------------------------ */

struct identifier {
	const char *text;
	size_t n;
	bool is_punycode;
};

/* [u] length [_] bytes */
static struct identifier identifier(struct rust *r)
{
	struct identifier id = { .is_punycode = skip(r, 'u') };

	if (!demangle_is_digit(*r->p))
		fail(r);
	id.n = decimal(r);
	skip(r, '_');
	id.text = r->p;
	if (id.n > (size_t)(r->end - r->p)) {
		fail(r);
		id.n = 0;
	}
	r->p += id.n;
	return id;
}

/* Punycode (RFC 3492), with "_" before the deltas. Each delta tells where in
 * the text so far which letter goes. */
struct puny {
	uint32_t letters[LETTERS];
	size_t n;
	uint32_t bias;
};

static uint32_t puny_adapt(uint32_t delta, uint32_t n, bool first)
{
	uint32_t k = 0;

	delta /= first ? 700 : 2;
	delta += delta / n;
	for (; delta > 35 * 26 / 2; k += 36)
		delta /= 35;
	return k + 36 * delta / (delta + 38);
}

/* One number; false when it is none. */
static bool puny_delta(const struct puny *puny, const char **p,
		       const char *end, uint32_t *delta)
{
	uint32_t weight = 1, k, t;

	*delta = 0;
	for (k = 36; *p < end; k += 36) {
		char c = *(*p)++;
		uint32_t digit = 36;

		if (c >= 'a' && c <= 'z')
			digit = (uint32_t)(c - 'a');
		else if (demangle_is_digit(c))
			digit = (uint32_t)(c - '0') + 26;
		if (digit == 36 || weight > UINT32_MAX / 36 / 36 ||
		    *delta > UINT32_MAX / 2)
			return false;
		*delta += digit * weight;
		t = k <= puny->bias ? 1 :
		    k >= puny->bias + 26 ? 26 : k - puny->bias;
		if (digit < t)
			return true;
		weight *= 36 - t;
	}
	return false;
}

static bool puny_decode(struct puny *puny, const char *p, const char *end)
{
	uint32_t at = 0, letter = 128, delta;

	while (p < end) {
		uint32_t n = (uint32_t)puny->n + 1;
		bool first = letter == 128 && puny->bias == 72;

		if (n > LETTERS || !puny_delta(puny, &p, end, &delta))
			return false;
		at += delta;
		letter += at / n;
		at %= n;
		memmove(puny->letters + at + 1, puny->letters + at,
			(puny->n - at) * sizeof(*puny->letters));
		puny->letters[at++] = letter;
		puny->n++;
		puny->bias = puny_adapt(delta, n, first);
	}
	return true;
}

static void put_punycode(struct rust *r, const struct identifier *id)
{
	const char *end = id->text + id->n, *deltas = end;
	struct puny puny = { .bias = 72 };

	while (deltas > id->text && deltas[-1] != '_')
		deltas--;
	for (const char *p = id->text; p + 1 < deltas; p++)
		if (puny.n < LETTERS)
			puny.letters[puny.n++] = (unsigned char)*p;
	if (deltas == end || !puny_decode(&puny, deltas, end))
		fail(r);
	for (size_t i = 0; i < puny.n && !r->t->failed; i++)
		text_utf8(r->t, puny.letters[i]);
}

static void put_identifier(struct rust *r, const struct identifier *id)
{
	if (id->is_punycode)
		put_punycode(r, id);
	else
		text_mem(r->t, id->text, id->n);
}

/* -- what several parts have ----------------------------------------- */

static void list(struct rust *r, void (*item)(struct rust *),
		 const char *between)
{
	const char *separator = "";

	while (!r->t->failed && !skip(r, 'E')) {
		put(r, separator);
		item(r);
		separator = between;
	}
}

/* A backref leads to before itself: to read on there. resume() where this one
 * ends. */
static const char *again(struct rust *r)
{
	const char *from = r->p - 1, *back;
	uint64_t to = base_62(r);

	if (r->t->failed || to >= (uint64_t)(from - r->start))
		fail(r);
	back = r->p;
	if (!r->t->failed)
		r->p = r->start + to;
	return back;
}

static void resume(struct rust *r, const char *back)
{
	if (!r->t->failed)
		r->p = back;
}

/* Lifetimes are counted from the innermost that is bound. */
static void lifetime(struct rust *r, uint64_t index)
{
	uint64_t n = r->lifetimes - index;

	put(r, "'");
	if (index > r->lifetimes)
		fail(r);
	else if (!index)
		put(r, "_");
	else if (n < 26)
		text_putc(r->t, (char)('a' + n));
	else
		put(r, "_"), text_dec(r->t, n);
}

/* for<'a, 'b>: the number of those around. */
static uint64_t binder(struct rust *r)
{
	uint64_t outer = r->lifetimes, n = maybe_62(r, 'G');

	if (!n)
		return outer;
	for (uint64_t i = 0; i < n && !r->t->failed; i++) {
		put(r, i ? ", " : "for<");
		r->lifetimes++;
		r->steps++;
		lifetime(r, 1);
	}
	put(r, "> ");
	return outer;
}

/* -- paths ----------------------------------------------------------- */

static void generic_arg(struct rust *r)
{
	if (skip(r, 'L'))
		lifetime(r, base_62(r));
	else if (skip(r, 'K'))
		constant(r, false);
	else
		type(r);
}

/* Where an implementation is, goes without saying. */
static void implementation(struct rust *r)
{
	size_t n = r->t->n;

	maybe_62(r, 's');
	path(r, false);
	r->steps += (unsigned)(r->t->n - n) / BYTES;
	r->t->n = n;
}

/* <type as trait> */
static void qualified(struct rust *r, char tag)
{
	if (tag != 'Y')
		implementation(r);
	put(r, "<");
	type(r);
	if (tag != 'M') {
		put(r, " as ");
		path(r, false);
	}
	put(r, ">");
}

/* Upper-case namespaces are for what has no name of its own. */
static void nested(struct rust *r, bool is_value)
{
	char kind = next(r);
	struct identifier id;
	uint64_t number;

	path(r, is_value);
	number = maybe_62(r, 's');
	id = identifier(r);
	if (kind >= 'A' && kind <= 'Z') {
		put(r, "::{");
		if (kind == 'C')
			put(r, "closure");
		else if (kind == 'S')
			put(r, "shim");
		else
			text_putc(r->t, kind);
		put(r, id.n ? ":" : "");
		put_identifier(r, &id);
		put(r, "#");
		text_dec(r->t, number);
		put(r, "}");
	} else if (kind < 'a' || kind > 'z') {
		fail(r);
	} else if (id.n) {
		put(r, "::");
		put_identifier(r, &id);
	}
}

static void crate(struct rust *r)
{
	struct identifier id;

	maybe_62(r, 's');
	id = identifier(r);
	put_identifier(r, &id);
}

static void generic(struct rust *r, bool is_value)
{
	path(r, is_value);
	put(r, is_value ? "::<" : "<");
	list(r, generic_arg, ", ");
	put(r, ">");
}

/* In a value, as in an expression, arguments need "::". */
static void path(struct rust *r, bool is_value)
{
	const char *back;
	char tag = next(r);

	enter(r);
	switch (tag) {
	case 'C':
		crate(r);
		break;
	case 'M':
	case 'X':
	case 'Y':
		qualified(r, tag);
		break;
	case 'N':
		nested(r, is_value);
		break;
	case 'I':
		generic(r, is_value);
		break;
	case 'B':
		back = again(r);
		path(r, is_value);
		resume(r, back);
		break;
	default:
		fail(r);
	}
	r->depth--;
}

/* -- types ----------------------------------------------------------- */

static const char *basic(char tag)
{
	static const char names[26][6] = {
		"i8", "bool", "char", "f64", "str", "f32", "", "u8", "isize",
		"usize", "", "i32", "u32", "i128", "u128", "_", "", "", "i16",
		"u16", "()", "...", "", "i64", "u64", "!",
	};

	return tag >= 'a' && tag <= 'z' && *names[tag - 'a']
		? names[tag - 'a'] : NULL;
}

/* Of a function: of C, or one whose name has "_" for "-". */
static void abi(struct rust *r)
{
	struct identifier id = { .text = "C", .n = 1 };

	if (!skip(r, 'K'))
		return;
	if (!skip(r, 'C'))
		id = identifier(r);
	if (id.is_punycode)
		fail(r);
	put(r, "extern \"");
	for (size_t i = 0; i < id.n; i++)
		text_putc(r->t, id.text[i] == '_' ? '-' : id.text[i]);
	put(r, "\" ");
}

static void function(struct rust *r)
{
	uint64_t outer = binder(r);

	if (skip(r, 'U'))
		put(r, "unsafe ");
	abi(r);
	put(r, "fn(");
	list(r, type, ", ");
	put(r, ")");
	if (!skip(r, 'u')) {
		put(r, " -> ");
		type(r);
	}
	r->lifetimes = outer;
}

/* A trait whose last ">" is left open; false when it has no arguments. */
static bool open_path(struct rust *r)
{
	const char *back;
	bool open = false;

	enter(r);
	if (skip(r, 'B')) {
		back = again(r);
		open = open_path(r);
		resume(r, back);
	} else if (skip(r, 'I')) {
		open = true;
		path(r, false);
		put(r, "<");
		list(r, generic_arg, ", ");
	} else {
		path(r, false);
	}
	r->depth--;
	return open;
}

static void bound(struct rust *r)
{
	bool open = open_path(r);

	while (skip(r, 'p')) {
		struct identifier id = identifier(r);

		put(r, open ? ", " : "<");
		open = true;
		put_identifier(r, &id);
		put(r, " = ");
		type(r);
	}
	if (open)
		put(r, ">");
}

static void dynamic(struct rust *r)
{
	uint64_t outer, index;

	put(r, "dyn ");
	outer = binder(r);
	list(r, bound, " + ");
	r->lifetimes = outer;
	if (!skip(r, 'L'))
		fail(r);
	index = base_62(r);
	if (index) {
		put(r, " + ");
		lifetime(r, index);
	}
}

static void reference(struct rust *r, char tag)
{
	uint64_t index = skip(r, 'L') ? base_62(r) : 0;

	put(r, "&");
	if (index) {
		lifetime(r, index);
		put(r, " ");
	}
	put(r, tag == 'Q' ? "mut " : "");
	type(r);
}

/* (a, b), (a,), () */
static void tuple(struct rust *r, void (*item)(struct rust *))
{
	const char *separator = "";
	size_t n = 0;

	put(r, "(");
	for (; !r->t->failed && !skip(r, 'E'); n++) {
		put(r, separator);
		item(r);
		separator = ", ";
	}
	put(r, n == 1 ? ",)" : ")");
}

static void sequence(struct rust *r, bool has_length)
{
	put(r, "[");
	type(r);
	if (has_length) {
		put(r, "; ");
		constant(r, true);
	}
	put(r, "]");
}

static void any_type(struct rust *r, char tag)
{
	const char *back;

	switch (tag) {
	case 'A':
	case 'S':
		sequence(r, tag == 'A');
		break;
	case 'T':
		tuple(r, type);
		break;
	case 'R':
	case 'Q':
		reference(r, tag);
		break;
	case 'P':
	case 'O':
		put(r, tag == 'P' ? "*const " : "*mut ");
		type(r);
		break;
	case 'F':
		function(r);
		break;
	case 'D':
		dynamic(r);
		break;
	case 'B':
		back = again(r);
		type(r);
		resume(r, back);
		break;
	default:
		r->p--;		/* of a path */
		path(r, false);
	}
}

static void type(struct rust *r)
{
	char tag = next(r);
	const char *name = basic(tag);

	if (r->t->failed)
		return;
	enter(r);
	if (name)
		put(r, name);
	else if (!r->t->failed)
		any_type(r, tag);
	r->depth--;
}

/* -- constants ------------------------------------------------------- */

/* Hexadecimal digits and "_": where they start, and how many. */
static const char *nibbles(struct rust *r, size_t *n)
{
	const char *start = r->p;

	while (demangle_nibble(*r->p) >= 0)
		r->p++;
	*n = (size_t)(r->p - start);
	r->steps += (unsigned)*n / BYTES;
	if (!skip(r, '_')) {
		fail(r);
		*n = 0;
	}
	return start;
}

static uint64_t value(const char *p, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 4 | (unsigned)demangle_nibble(*p++);
	return v;
}

static void integer(struct rust *r)
{
	size_t n;
	const char *p = nibbles(r, &n);

	for (; n && *p == '0'; n--)
		p++;
	if (n <= 16) {
		text_dec(r->t, value(p, n));
	} else {
		put(r, "0x");
		text_mem(r->t, p, n);
	}
}

static void boolean(struct rust *r)
{
	size_t n;
	const char *p = nibbles(r, &n);

	if (n != 1 || *p > '1')
		fail(r);
	else
		put(r, *p == '1' ? "true" : "false");
}

/* A character within quotes of that kind. */
static void quoted(struct rust *r, uint32_t c, char quote)
{
	static const char special[] = "\tt\rr\nn\\\\\0000";

	if (c == (unsigned char)quote) {
		text_putc(r->t, '\\');
		text_putc(r->t, quote);
		return;
	}
	for (size_t i = 0; i < sizeof(special) - 1; i += 2) {
		if (c != (unsigned char)special[i])
			continue;
		text_putc(r->t, '\\');
		text_putc(r->t, special[i + 1]);
		return;
	}
	if (c < 0x20 || c == 0x7f) {
		put(r, c < 0x10 ? "\\u{" : c < 0x20 ? "\\u{1" : "\\u{7");
		text_putc(r->t, "0123456789abcdef"[c & 15]);
		put(r, "}");
		return;
	}
	text_utf8(r->t, c);
}

static void character(struct rust *r)
{
	size_t n;
	const char *p = nibbles(r, &n);
	uint64_t c = n <= 8 ? value(p, n) : UINT32_MAX;

	put(r, "'");
	quoted(r, (uint32_t)c, '\'');
	put(r, "'");
}

/* A string's bytes in hexadecimal: quoted as far as they are ASCII, for the
 * rest is UTF-8 and stays. */
static void string(struct rust *r)
{
	size_t n;
	const char *p = nibbles(r, &n), *end = p + n;

	if (n % 2)
		fail(r);
	put(r, "\"");
	for (; p < end && !r->t->failed; p += 2) {
		uint64_t byte = value(p, 2);

		if (byte < 0x80)
			quoted(r, (uint32_t)byte, '"');
		else
			text_putc(r->t, (char)byte);
	}
	put(r, "\"");
}

static void inner(struct rust *r)
{
	constant(r, true);
}

static void field(struct rust *r)
{
	struct identifier id;

	maybe_62(r, 's');
	id = identifier(r);
	put_identifier(r, &id);
	put(r, ": ");
	constant(r, true);
}

static void structure(struct rust *r)
{
	path(r, true);
	switch (next(r)) {
	case 'U':
		break;
	case 'T':
		put(r, "(");
		list(r, inner, ", ");
		put(r, ")");
		break;
	case 'S':
		put(r, " { ");
		list(r, field, ", ");
		put(r, " }");
		break;
	default:
		fail(r);
	}
}

/* What is no literal needs braces among the arguments of a type. */
static void compound(struct rust *r, char tag)
{
	switch (tag) {
	case 'e':
		put(r, "*");
		string(r);
		break;
	case 'R':
	case 'Q':
		put(r, tag == 'R' ? "&" : "&mut ");
		constant(r, true);
		break;
	case 'A':
		put(r, "[");
		list(r, inner, ", ");
		put(r, "]");
		break;
	case 'T':
		tuple(r, inner);
		break;
	case 'V':
		structure(r);
		break;
	default:
		fail(r);
	}
}

static void any_constant(struct rust *r, char tag, bool is_value)
{
	const char *back;

	if (tag == 'p') {
		put(r, "_");
	} else if (strchr("htmyoj", tag)) {
		integer(r);
	} else if (strchr("aslxni", tag)) {
		put(r, skip(r, 'n') ? "-" : "");
		integer(r);
	} else if (tag == 'b') {
		boolean(r);
	} else if (tag == 'c') {
		character(r);
	} else if (tag == 'R' && skip(r, 'e')) {
		string(r);
	} else if (tag == 'B') {
		back = again(r);
		constant(r, is_value);
		resume(r, back);
	} else {
		put(r, is_value ? "" : "{");
		compound(r, tag);
		put(r, is_value ? "" : "}");
	}
}

static void constant(struct rust *r, bool is_value)
{
	char tag = next(r);

	enter(r);
	if (!r->t->failed)
		any_constant(r, tag, is_value);
	r->depth--;
}

/* -- names ----------------------------------------------------------- */

bool demangle_rust_suffix(const char *p, struct demangle_text *t)
{
	const char *end = strstr(p, ".llvm.");

	if (!end || end[6 + strspn(end + 6, "0123456789ABCDEF@")])
		end = p + strlen(p);
	text_mem(t, p, (size_t)(end - p));
	return !*p || *p == '.';
}

bool demangle_rust(const char *name, size_t n, struct demangle_text *t)
{
	struct rust r = { name + 2, name + 2, name + n, .t = t };

	if (*r.p < 'A' || *r.p > 'Z')
		return false;		/* of a later version */
	path(&r, true);
	n = t->n;
	if (*r.p >= 'A' && *r.p <= 'Z')
		path(&r, false);	/* of the crate that needed it */
	t->n = n;
	return !t->failed && demangle_rust_suffix(r.p, t);
}
