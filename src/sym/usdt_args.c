/* usdt_args - the arguments of a probe, as the compiler wrote them.
 *
 * A probe's note has its arguments as text: "SIZE@OPERAND" each, with blanks
 * between them. SIZE is 1, 2, 4 or 8 bytes, negative when the value is signed;
 * "4f" is a floating-point value. Without "SIZE@" the value is an unsigned
 * word. OPERAND is an operand in the notation of the CPU's assembler, which is
 * why each CPU has a parser here:
 *
 *   x86      %reg  $const  sum(%base,%index,scale)  symbol(%rip)
 *   aarch64  reg  const  [base]  [base, const]  [base, index, lsl const]
 *   arm      the same, constants are #const
 *   riscv    reg  const  const(base)
 *
 * where a sum is of constants and at most one symbol, "gs+8". A parser moves a
 * cursor within its argument's text; what it leaves unread is an error.
 *
 * aarch64 writes blanks within an operand, too. So an argument ends at a blank
 * that is outside of brackets, or has another "SIZE@" behind it.
 */
#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "sym/elf_file.h"
#include "sym/usdt.h"

static const char malformed[] = "its text is not understood";
static const char no_register[] = "no such register";
static const char floating[] = "it is a floating-point or vector value";

/* An argument's text, and what is made of it. */
struct parse {
	const struct usdt_cpu *cpu;
	const char *p, *end;
	struct usdt_arg *arg;
};

static bool refuse(struct parse *s, const char *why)
{
	if (!s->arg->why)
		s->arg->why = why;
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static void skip_blanks(struct parse *s)
{
	while (s->p < s->end && is_blank(*s->p))
		s->p++;
}

static char peek(const struct parse *s)
{
	return s->p < s->end ? *s->p : '\0';
}

static bool take(struct parse *s, char c)
{
	skip_blanks(s);
	if (peek(s) != c || !c)
		return false;
	s->p++;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') ||
		(c >= 'A' && c <= 'Z') ||
		c == '_' || c == '.' || c == '$' || (c & 0x80);
}

/* The word at the cursor; its length, which may be 0. */
static size_t word_next(struct parse *s, const char **word)
{
	skip_blanks(s);
	*word = s->p;
	while (s->p < s->end && is_word(*s->p))
		s->p++;
	return (size_t)(s->p - *word);
}

static bool word_is(const char *word, size_t n, const char *text)
{
	return strlen(text) == n && !memcmp(word, text, n);
}

/* A number without sign, decimal or 0x. */
static bool number(struct parse *s, uint64_t *out)
{
	const char *next;

	skip_blanks(s);
	if (s->end - s->p > 2 && s->p[0] == '0' &&
	    (s->p[1] == 'x' || s->p[1] == 'X'))
		next = num_hex(s->p + 2, s->end, out);
	else
		next = num_dec(s->p, s->end, out);
	if (!next || (next < s->end && is_word(*next)))
		return false;
	s->p = next;
	return true;
}

/* A constant with a sign. */
static bool constant(struct parse *s, int64_t *out)
{
	bool minus = take(s, '-');
	uint64_t n;

	if (!minus)
		take(s, '+');
	if (!number(s, &n))
		return false;
	*out = (int64_t)(minus ? 0 - n : n);
	return true;
}

/* Registers */

struct reg {
	uint8_t number, width, shift;
};

/* The word's place in a list of names, or -1. */
static int name_index(const char *word, size_t n, const char *const *names,
		      size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (word_is(word, n, names[i]))
			return (int)i;
	return -1;
}

/* "x12" with a letter and a number up to max; -1. */
static int name_number(const char *word, size_t n, char letter, int max)
{
	uint64_t number;

	if (n < 2 || n > 3 || word[0] != letter || (n == 3 && word[1] == '0') ||
	    num_dec(word + 1, word + n, &number) != word + n ||
	    number > (uint64_t)max)
		return -1;
	return (int)number;
}

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const char *const x86_pairs[] = {
	"ax", "cx", "dx", "bx", "sp", "bp", "si", "di",
};
static const char *const x86_lows[] = {
	"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil",
};
static const char *const x86_highs[] = { "ah", "ch", "dh", "bh" };

/* r8, r8d, r8w, r8b ... r15 */
static bool reg_x86_new(const char *word, size_t n, struct reg *r)
{
	static const char *const ends[] = { "b", "w", "d" };
	size_t digits = n > 2 && is_digit(word[2]) ? 3 : 2;
	int number, end;

	if (n < digits)
		return false;
	number = name_number(word, digits, 'r', 15);
	end = name_index(word + digits, n - digits, ends, COUNT(ends));
	if (number < 8 || (n > digits && end < 0))
		return false;
	*r = (struct reg){ (uint8_t)number,
			   n == digits ? 8 : (uint8_t)(1 << end), 0 };
	return true;
}

static bool reg_x86(const struct usdt_cpu *cpu, const char *word, size_t n,
		    struct reg *r)
{
	bool wide = cpu->machine == EM_X86_64;
	int i;

	if (word_is(word, n, "rip") && wide) {
		*r = (struct reg){ USDT_PC, 8, 0 };
	} else if (word_is(word, n, "eip")) {
		*r = (struct reg){ USDT_PC, 4, 0 };
	} else if ((i = name_index(word, n, x86_pairs, 8)) >= 0) {
		*r = (struct reg){ (uint8_t)i, 2, 0 };
	} else if (n == 3 && (word[0] == 'e' || (word[0] == 'r' && wide)) &&
		   (i = name_index(word + 1, 2, x86_pairs, 8)) >= 0) {
		*r = (struct reg){ (uint8_t)i, word[0] == 'e' ? 4 : 8, 0 };
	} else if ((i = name_index(word, n, x86_lows, wide ? 8 : 4)) >= 0) {
		*r = (struct reg){ (uint8_t)i, 1, 0 };
	} else if ((i = name_index(word, n, x86_highs, 4)) >= 0) {
		*r = (struct reg){ (uint8_t)i, 1, 8 };
	} else {
		return wide && reg_x86_new(word, n, r);
	}
	return true;
}

static bool reg_aarch64(const char *word, size_t n, struct reg *r)
{
	int i = name_number(word, n, 'x', 30);
	int low = name_number(word, n, 'w', 30);

	if (word_is(word, n, "sp") || word_is(word, n, "wsp"))
		i = 31;
	else if (word_is(word, n, "lr"))
		i = 30;
	else if (word_is(word, n, "fp"))
		i = 29;
	if (word_is(word, n, "wsp"))
		low = 31;
	if (i < 0 && low < 0)
		return false;
	*r = (struct reg){ (uint8_t)(low < 0 ? i : low), low < 0 ? 8 : 4, 0 };
	return true;
}

static bool reg_arm(const char *word, size_t n, struct reg *r)
{
	static const char *const names[] = { "sb", "sl", "fp", "ip", "sp",
					     "lr", "pc" };
	int i = name_number(word, n, 'r', 15);
	int named = name_index(word, n, names, COUNT(names));

	if (named >= 0)
		i = 9 + named;
	if (i < 0)
		return false;
	*r = (struct reg){ i == 15 ? USDT_PC : (uint8_t)i, 4, 0 };
	return true;
}

static bool reg_riscv(const struct usdt_cpu *cpu, const char *word, size_t n,
		      struct reg *r)
{
	static const char *const names[] = {
		"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1",
		"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2", "s3",
		"s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
		"t5", "t6",
	};
	int i = name_index(word, n, names, COUNT(names));

	if (i < 0)
		i = name_number(word, n, 'x', 31);
	if (i < 0 && word_is(word, n, "fp"))
		i = 8;
	if (i < 0)
		return false;
	*r = (struct reg){ (uint8_t)i, cpu->wide ? 8 : 4, 0 };
	return true;
}

/* Names that begin so are of floating-point and vector registers. */
static bool is_floating(const struct usdt_cpu *cpu, const char *word, size_t n)
{
	static const char *const x86[] = { "xmm", "ymm", "zmm", "mm", "st" };

	switch (cpu->machine) {
	case EM_386:
	case EM_X86_64:
		for (size_t i = 0; i < COUNT(x86); i++)
			if (n >= strlen(x86[i]) &&
			    !memcmp(word, x86[i], strlen(x86[i])))
				return true;
		return false;
	case EM_AARCH64:
		return n > 1 && strchr("vqdshbz", word[0]) && is_digit(word[1]);
	case EM_ARM:
		return n > 1 && strchr("qds", word[0]) && is_digit(word[1]);
	default:
		return n > 1 && word[0] == 'f' &&
			(is_digit(word[1]) || strchr("ast", word[1]));
	}
}

static bool reg_named(struct parse *s, const char *word, size_t n,
		      struct reg *r)
{
	bool known;

	switch (s->cpu->machine) {
	case EM_386:
	case EM_X86_64:
		known = reg_x86(s->cpu, word, n, r);
		break;
	case EM_AARCH64:
		known = reg_aarch64(word, n, r);
		break;
	case EM_ARM:
		known = reg_arm(word, n, r);
		break;
	default:
		known = reg_riscv(s->cpu, word, n, r);
	}
	if (known)
		return true;
	return refuse(s, is_floating(s->cpu, word, n) ? floating : no_register);
}

static bool reg_next(struct parse *s, struct reg *r)
{
	const char *word;
	size_t n = word_next(s, &word);

	return n ? reg_named(s, word, n, r) : refuse(s, malformed);
}

/* What operands become */

static bool make_reg(struct parse *s, struct reg r)
{
	struct usdt_arg *a = s->arg;

	a->kind = USDT_REG;
	a->base = r.number;
	a->shift = r.shift;
	a->width = r.width < a->size ? r.width : a->size;
	return true;
}

static bool make_const(struct parse *s, int64_t value)
{
	unsigned bits = 8 * s->arg->size;
	uint64_t v = (uint64_t)value;

	if (bits < 64) {
		v &= (1ull << bits) - 1;
		if (s->arg->is_signed && v >> (bits - 1))
			v |= ~0ull << bits;
	}
	s->arg->kind = USDT_CONST;
	s->arg->disp = (int64_t)v;
	return true;
}

/* Registers of an address are used whole, or all by their low halves. */
static bool make_mem(struct parse *s, struct reg base, int64_t disp)
{
	struct usdt_arg *a = s->arg;

	if (base.shift || base.width < 4)
		return refuse(s, malformed);
	a->kind = USDT_MEM;
	a->base = base.number;
	a->disp = disp;
	a->narrow = base.width == 4;
	return true;
}

/* x86 */

/* A sum of constants and at most one symbol. */
struct sum {
	int64_t number;
	const char *symbol;	/* NULL = none */
	size_t len;
};

static bool sum_term(struct parse *s, struct sum *sum, bool minus)
{
	const char *word, *start;
	uint64_t n;

	skip_blanks(s);
	start = s->p;
	if (number(s, &n)) {
		sum->number = (int64_t)((uint64_t)sum->number +
					(minus ? 0 - n : n));
		return true;
	}
	s->p = start;
	n = word_next(s, &word);
	if (!n || is_digit(*word) || minus || sum->symbol)
		return refuse(s, malformed);
	if (peek(s) == '@')
		return refuse(s, "it needs what only the linker knew");
	sum->symbol = word;
	sum->len = (size_t)n;
	return true;
}

static bool sum_next(struct parse *s, struct sum *sum)
{
	bool minus = take(s, '-');

	for (;;) {
		if (!sum_term(s, sum, minus))
			return false;
		minus = take(s, '-');
		if (!minus && !take(s, '+'))
			return true;
	}
}

static bool symbol_find(struct parse *s, const struct sum *sum,
			uint64_t *vaddr)
{
	int err = s->cpu->symbol ? s->cpu->symbol(s->cpu->arg, sum->symbol,
						  sum->len, vaddr) : -ENOENT;

	if (err == -ENOTUNIQ)
		return refuse(s, "several symbols have the name it refers to");
	if (err)
		return refuse(s, "the file lacks the symbol it refers to");
	*vaddr += (uint64_t)sum->number;
	return true;
}

/* A symbol's address, told from where the probe is. */
static bool x86_global(struct parse *s, const struct sum *sum)
{
	struct reg pc = { USDT_PC, s->cpu->wide ? 8 : 4, 0 };
	uint64_t vaddr;

	if (!sum->symbol)
		return refuse(s, "relative to an instruction nobody knows");
	return symbol_find(s, sum, &vaddr) &&
		make_mem(s, pc, (int64_t)(vaddr - s->cpu->location));
}

/* Of a symbol beside registers the address itself is needed, which only a
 * program at fixed addresses tells. */
static bool x86_fixed(struct parse *s, const struct sum *sum, int64_t *disp)
{
	uint64_t vaddr;

	*disp = sum->number;
	if (!sum->symbol)
		return true;
	if (!s->cpu->fixed)
		return refuse(s, "its address is not fixed");
	if (!symbol_find(s, sum, &vaddr))
		return false;
	*disp = (int64_t)vaddr;
	return true;
}

/* ",%index,scale)" */
static bool x86_index(struct parse *s)
{
	struct reg r;
	uint64_t scale = 1;

	if (!take(s, '%') || !reg_next(s, &r))
		return refuse(s, malformed);
	if (r.width < 4 || r.number == USDT_PC || r.number == 4)
		return refuse(s, malformed);
	if (take(s, ',') && !number(s, &scale))
		return refuse(s, malformed);
	if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
		return refuse(s, malformed);
	s->arg->index = r.number;
	s->arg->scale = scale == 8 ? 3 : (uint8_t)(scale / 2);
	s->arg->narrow |= r.width == 4;
	return true;
}

static bool x86_memory(struct parse *s, const struct sum *sum)
{
	struct reg none = { USDT_NO_REG, s->cpu->wide ? 8 : 4, 0 }, base = none;
	int64_t disp;

	if (take(s, '%') && !reg_next(s, &base))
		return false;
	if (base.number == USDT_PC)
		return take(s, ')') ? x86_global(s, sum) :
			refuse(s, malformed);
	if (!x86_fixed(s, sum, &disp) || !make_mem(s, base, disp))
		return false;
	if (take(s, ',') && !x86_index(s))
		return false;
	if (s->arg->base == USDT_NO_REG && s->arg->index == USDT_NO_REG)
		return refuse(s, malformed);
	return take(s, ')') || refuse(s, malformed);
}

static bool x86_reg(struct parse *s)
{
	const char *word;
	size_t n = word_next(s, &word);
	struct reg r;

	if (take(s, ':'))
		return refuse(s, "it is in another segment");
	return n ? reg_named(s, word, n, &r) && make_reg(s, r) :
		refuse(s, malformed);
}

static bool x86_operand(struct parse *s)
{
	struct sum sum = { 0 };
	int64_t value;

	if (take(s, '%'))
		return x86_reg(s);
	if (take(s, '$'))
		return constant(s, &value) ? make_const(s, value) :
			refuse(s, "a constant only the linker knew");
	if (!take(s, '(')) {
		if (!sum_next(s, &sum))
			return false;
		if (!take(s, '('))	/* an absolute address */
			return sum.symbol ? x86_global(s, &sum) :
				refuse(s, malformed);
	}
	return x86_memory(s, &sum);
}

/* arm and aarch64 */

/* "[, #]const]" or ", index[, lsl [#]const]]" behind the base. */
static bool arm_shift(struct parse *s, bool whole)
{
	const char *word;
	size_t n = word_next(s, &word);
	uint64_t scale = 0;

	if (word_is(word, n, "sxtw") && !whole)
		s->arg->index_is = USDT_INDEX_S32;
	else if (word_is(word, n, "uxtw") && !whole)
		s->arg->index_is = USDT_INDEX_U32;
	else if (!whole || (!word_is(word, n, "lsl") &&
			    !word_is(word, n, "sxtx") &&
			    !word_is(word, n, "uxtx")))
		return refuse(s, malformed);
	take(s, '#');
	if (peek(s) != ']' && (!number(s, &scale) || scale > 31))
		return refuse(s, malformed);
	s->arg->scale = (uint8_t)scale;
	return true;
}

static bool arm_index(struct parse *s)
{
	size_t word = s->cpu->wide ? 8 : 4;
	struct reg r;

	if (!reg_next(s, &r))
		return false;
	if (r.number == USDT_PC)
		return refuse(s, malformed);
	s->arg->index = r.number;
	if (take(s, ','))
		return arm_shift(s, r.width == word);
	return r.width == word || refuse(s, malformed);
}

static bool arm_memory(struct parse *s)
{
	int64_t disp;
	struct reg base;
	char c;

	if (!reg_next(s, &base) || !make_mem(s, base, 0))
		return false;
	if (base.width != (s->cpu->wide ? 8 : 4) || base.number == USDT_PC)
		return refuse(s, malformed);
	if (take(s, ',')) {
		bool hash = take(s, '#');

		skip_blanks(s);
		c = peek(s);
		if (c == ':')
			return refuse(s, "it needs what only the linker knew");
		if (!hash && !is_digit(c) && c != '-' && c != '+') {
			if (!arm_index(s))
				return false;
		} else if (!constant(s, &disp)) {
			return refuse(s, malformed);
		} else {
			s->arg->disp = disp;
		}
	}
	return take(s, ']') || refuse(s, malformed);
}

static bool arm_operand(struct parse *s)
{
	int64_t value;
	const char *word;
	size_t n;
	struct reg r;
	char c;

	if (take(s, '['))
		return arm_memory(s);
	take(s, '#');
	skip_blanks(s);
	c = peek(s);
	if (is_digit(c) || c == '-' || c == '+')
		return constant(s, &value) ? make_const(s, value) :
			refuse(s, malformed);
	n = word_next(s, &word);
	if (s->cpu->machine == EM_AARCH64 &&
	    (word_is(word, n, "xzr") || word_is(word, n, "wzr")))
		return make_const(s, 0);
	return n ? reg_named(s, word, n, &r) && make_reg(s, r) :
		refuse(s, malformed);
}

/* riscv */

static bool riscv_memory(struct parse *s, int64_t disp)
{
	struct reg base;

	if (!reg_next(s, &base))
		return false;
	if (!base.number)		/* zero */
		base.number = USDT_NO_REG;
	return make_mem(s, base, disp) &&
		(take(s, ')') || refuse(s, malformed));
}

static bool riscv_operand(struct parse *s)
{
	int64_t value = 0;
	struct reg r;
	char c = peek(s);

	if (is_digit(c) || c == '-' || c == '+') {
		if (!constant(s, &value))
			return refuse(s, malformed);
		return take(s, '(') ? riscv_memory(s, value) :
			make_const(s, value);
	}
	if (take(s, '('))
		return riscv_memory(s, 0);
	if (!reg_next(s, &r))
		return false;
	return r.number ? make_reg(s, r) : make_const(s, 0);
}

/* Arguments */

/* "SIZE@" at p: the place behind it; NULL when there is none. */
static const char *size_skip(const char *p, const char *end)
{
	if (p < end && *p == '-')
		p++;
	if (p == end || !is_digit(*p))
		return NULL;
	while (p < end && is_digit(*p))
		p++;
	if (p < end && *p == 'f')
		p++;
	return p < end && *p == '@' ? p + 1 : NULL;
}

static bool size_parse(struct parse *s)
{
	const char *after = size_skip(s->p, s->end);
	struct usdt_arg *a = s->arg;
	uint64_t n = 0;

	a->size = s->cpu->wide ? 8 : 4;
	if (!after)
		return *s->p != '@' || refuse(s, malformed);
	a->is_signed = take(s, '-');
	num_dec(s->p, s->end, &n);
	s->p = after;
	if (after[-2] == 'f')
		return refuse(s, floating);
	if (n != 1 && n != 2 && n != 4 && n != 8)
		return refuse(s, "no integer has that size");
	a->size = (uint8_t)n;
	return true;
}

static bool operand_parse(struct parse *s)
{
	if (s->p == s->end)
		return refuse(s, malformed);
	switch (s->cpu->machine) {
	case EM_386:
	case EM_X86_64:
		return x86_operand(s);
	case EM_AARCH64:
	case EM_ARM:
		return arm_operand(s);
	case EM_RISCV:
		return riscv_operand(s);
	default:
		return refuse(s, "sonde does not know this CPU's notation");
	}
}

static void arg_parse(struct parse *s)
{
	struct usdt_arg *a = s->arg;
	bool ok;

	*a = (struct usdt_arg){ .base = USDT_NO_REG, .index = USDT_NO_REG };
	ok = size_parse(s) && operand_parse(s);
	skip_blanks(s);
	if (ok && s->p != s->end)
		ok = refuse(s, malformed);
	if (ok && a->kind == USDT_MEM)
		a->width = a->size;
	if (ok && !s->cpu->wide && a->kind == USDT_MEM)
		a->narrow = true;
	if (!ok)
		*a = (struct usdt_arg){
			.size = a->size, .base = USDT_NO_REG,
			.index = USDT_NO_REG, .why = a->why,
		};
}

/* The end of the argument that begins at p. */
static const char *arg_end(const char *p, const char *end)
{
	size_t depth = 0;

	for (; p < end; p++) {
		if (*p == '(' || *p == '[')
			depth++;
		if ((*p == ')' || *p == ']') && depth)
			depth--;
		if (is_blank(*p) && (!depth || size_skip(p + 1, end)))
			break;
	}
	return p;
}

void usdt_args_parse(const struct usdt_cpu *cpu, const char *text,
		     struct usdt_args *out)
{
	struct parse s = { .cpu = cpu, .p = text };
	const char *end = text + strlen(text);

	*out = (struct usdt_args){ 0 };
	for (;;) {
		s.end = end;
		skip_blanks(&s);
		if (s.p == end)
			return;
		if (out->n == USDT_ARGS_MAX) {
			out->more = true;
			return;
		}
		s.arg = &out->v[out->n++];
		s.end = arg_end(s.p, end);
		arg_parse(&s);
		s.p = s.end;
	}
}
