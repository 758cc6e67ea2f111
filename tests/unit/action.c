/* action - filters and formats behind a probe: C's numbers, what is wrong with
 * others, and that the kernel's half never refuses what the filter takes. */
#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "said.h"
#include "test.h"
#include "trace/action.h"
#include "trace/prefilter.h"

/* A hit: words, each with a type; argument 12 cannot be had. */
static uint64_t words[16];
static struct number types[16];

static int number(void *arg, const struct action_value *v, struct number *out)
{
	unsigned n = v->source == VALUE_ARG ? v->number : 0;

	(void)arg;
	if (n == 12)
		return -ENODATA;
	*out = v->source > VALUE_FIELD ? number_as(v->source, 4, false) :
	       number_as(words[n], types[n].size, types[n].is_signed);
	return 0;
}

static int string(void *arg, const struct action_value *v, const char **s,
		  size_t *len)
{
	(void)arg;
	if (v->number == 12)
		return -ENODATA;
	*s = v->source == VALUE_COMM ? "comm" : "text";
	*len = 4;
	return 0;
}

static void show(void *arg, const struct action_value *v, struct buf *to)
{
	const char *s;
	size_t len;

	if (string(arg, v, &s, &len))
		buf_putc(to, '?');
	else
		buf_mem(to, s, len);
}

static void name(void *arg, char side, uint64_t address, struct buf *to)
{
	(void)arg;
	buf_fmt(to, "<%c%llx>", side, (unsigned long long)address);
}

static const struct action_hit hit = {
	.number = number, .string = string, .show = show, .name = name,
};

static void words_are(uint64_t v, uint8_t size, bool is_signed)
{
	for (size_t i = 0; i < 16; i++) {
		words[i] = v + i;
		types[i] = (struct number){ 0, size, is_signed };
	}
}

/* The format's text; of a wrong action, what was said. */
static const char *print(const char *arg)
{
	static struct buf out;
	struct action a;
	const char *text;
	int err;

	buf_reset(&out);
	listen();
	err = action_parse(&a, "c", arg, action_find(arg));
	text = heard();
	if (err)
		buf_puts(&out, text);
	else if (*text)
		buf_puts(&out, "said something");
	else if (!a.has_format)
		buf_puts(&out, "no format");
	else
		action_print(&a, &hit, &out);
	action_free(&a);
	return buf_str(&out);
}

/* The value of an expression, "?" when it has none. */
static const char *value(const char *expr)
{
	static char text[32];
	char arg[256];
	struct action a;
	struct number n;

	snprintf(arg, sizeof(arg), "f (%s)", expr);
	if (action_parse(&a, "c", arg, action_find(arg)))
		snprintf(text, sizeof(text), "wrong");
	else if (action_eval(&a, a.filter, &hit, &n))
		snprintf(text, sizeof(text), "?");
	else if (n.is_signed)
		snprintf(text, sizeof(text), "%lld", (long long)n.v);
	else
		snprintf(text, sizeof(text), "%lluu", (unsigned long long)n.v);
	action_free(&a);
	return text;
}

TEST(what_c_computes)
{
	static const struct {
		const char *expr, *want;
	} rows[] = {
		{ "1 + 2 * 3", "7" }, { "(1 + 2) * 3", "9" },
		{ "0x10 | 1", "17" }, { "0644", "420" }, { "10 - 3 - 2", "5" },
		{ "-7 / 2", "-3" }, { "-7 % 2", "-1" }, { "7 / -2", "-3" },
		{ "1 << 3 | 1", "9" }, { "-8 >> 1", "-4" }, { "~0", "-1" },
		{ "-1 < 0u", "0" }, { "-1 < 0", "1" }, { "2147483648",
		  "2147483648" }, { "4294967295u + 1", "0u" },
		{ "2147483647 + 1", "-2147483648" },
		{ "1u - 2", "4294967295u" }, { "1 && 0 || 1", "1" },
		{ "!0 == 1", "1" }, { "!(1 == 1)", "0" },
		{ "1 / 0", "?" }, { "1 % 0", "?" }, { "0 && 1 / 0", "0" },
		{ "1 / 0 && 0", "0" }, { "1 / 0 || 1", "1" },
		{ "1 / 0 || 0", "?" }, { "1 << 40", "0" }, { "1l << 40",
		  "1099511627776" }, { "(char)300", "44" },
		{ "(u8)-1", "255u" },
		{ "(unsigned long)-1", "18446744073709551615u" },
		{ "(long int)(int)0xffffffff", "-1" },
		{ "(void *)5", "wrong" }, { "(char *)5", "5u" },
		{ "(-0x7fffffffffffffff - 1) / -1", "-9223372036854775808" },
		{ "3 ^ 1", "2" }, { "5 >= 5 && 5 <= 5", "1" },
		{ "((arg1))", "8u" }, { "arg12", "?" }, { "arg12 == 1 && 0",
		  "0" }, { "arg12 && 1", "?" }, { "$pid", "3u" },
		{ "STRCMP(\"text\", arg1)", "1" }, { "!STRCMP(\"tex\", arg1)",
		  "1" }, { "STRCMP(\"comm\", $comm) && arg1 == 8", "1" },
		{ "STRCMP(\"x\", arg12)", "?" }, { "NULL == 0", "1" },
	};

	words_are(7, 8, false);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		log_set_silent(true);
		if (strcmp(value(rows[i].expr), rows[i].want))
			FAIL("%s is %s, not %s", rows[i].expr,
			     value(rows[i].expr), rows[i].want);
		log_set_silent(false);
	}
}

TEST(types_of_values)
{
	words_are(0xfffffffe, 4, true);
	CHECK_STR(value("retval"), "-2");
	CHECK_STR(value("retval < 0"), "1");
	CHECK_STR(value("(unsigned)retval"), "4294967294u");
	words_are(0xfffffffe, 8, false);
	CHECK_STR(value("retval == -2"), "0");
	CHECK_STR(value("(int)retval == -2"), "1");
	words_are(UINT64_MAX - 1, 8, false);
	CHECK_STR(value("retval == -2"), "1");
	words_are(254, 1, false);
	CHECK_STR(value("retval == -2"), "0");
	CHECK_STR(value("retval == 254"), "1");
}

TEST(formats)
{
	static const struct row {
		const char *arg, *want;
	} rows[] = {
		{ "f \"a%db%%c\", arg1", "a1b%c" },
		{ "f \"%s %s\", arg1, $comm", "text comm" },
		{ "f \"%x %lx %llx\", arg1, arg1, arg2", "1 1 2" },
		{ "f \"%c%c\", 65, 27", "A\\x1b" },
		{ "f \"%p %K %U\", 16, 17, 18", "0x10 <K11> <U12>" },
		{ "f \"[%4d|%-4d|%04d|%04d]\", 7, 7, 7, -7",
		  "[   7|7   |0007|-007]" },
		{ "f \"%d %d\", 0xffffffff, 0x1ffffffff",
		  "-1 -1 (0x1ffffffff)" },
		{ "f \"%u\", -1", "4294967295" },
		{ "f \"%hd %hhu\", -1, 255", "-1 255" },
		{ "f \"\\\"\\n\\t\\\\\"", "\"\n\t\\" },
		{ "f \"\"", "" },
		{ "f \"%d %s\", arg12, arg12", "? ?" },
		{ "f(int a, char *b) \"%d %s\", b, a", "2 text" },
		{ "f(u8 a)\"%d\", a + 256", "257" },
		{ "f(struct x *p, unsigned long n) (n > 1) \"%lu\", n", "2" },
		{ "f (arg1)", "no format" },
		{ "f (arg1 == (2))", "no format" },
		{ "a,b \"x\"", "x" },
		{ "\"a b\":f \"x\"", "x" },
		{ "p:main.(*T).f \"x\"", "x" },
	};

	words_are(0, 8, false);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		CHECK_STR(print(rows[i].arg), rows[i].want);
	CHECK_EQ(action_find("vfs_read, vfs_write"), 19);
	CHECK_EQ(action_find("a:\"b (c\""), 8);
	CHECK_EQ(action_find("f (x)"), 1);
	CHECK_EQ(action_find("  f \"x\""), 3);
}

TEST(positions_of_errors)
{
	static const struct {
		const char *arg, *why;
		size_t at;
	} rows[] = {
		{ "f (", "a number, arg1 ..., retval or args->FIELD expected",
		  3 },
		{ "f (arg1", "no ')' closes this one", 2 },
		{ "f (arg1 arg2)", "an operator or ')' expected", 8 },
		{ "f (arg1 = 2)", "'==' compares", 8 },
		{ "f (arg1 & 1 == 0)", "parentheses are needed here: in C the "
		  "comparison goes first", 8 },
		{ "f (1 == arg1 & 1)", "parentheses are needed here: in C the "
		  "comparison goes first", 13 },
		{ "f (arg0)", "a number, arg1 ..., retval or args->FIELD "
		  "expected", 3 },
		{ "f (arg13)", "a number, arg1 ..., retval or args->FIELD "
		  "expected", 3 },
		{ "f ($user)", "$pid, $tgid, $uid, $gid, $cpu or $comm "
		  "expected", 3 },
		{ "f (args->)", "a field's name expected", 9 },
		{ "f (args)", "args->FIELD is a tracepoint's field", 7 },
		{ "f (arg1->x)", "what a pointer leads to is not read here",
		  7 },
		{ "f ($comm == 1)", "$comm is a text: STRCMP(\"text\", $comm), "
		  "or %s", 3 },
		{ "f (STRCMP(arg1, \"x\"))", "a text in double quotes "
		  "expected", 10 },
		{ "f (STRCMP(\"x\", $pid))", "this is a number, no text", 15 },
		{ "f (1x)", "a number expected", 3 },
		{ "f (08)", "a number expected", 3 },
		{ "f (arg1) x", "a filter in parentheses or a format in double "
		  "quotes expected", 9 },
		{ "f \"x", "no '\"' closes this one", 2 },
		{ "f \"%d\"", "',' and a value for the format expected", 6 },
		{ "f \"x\", arg1", "more values than the format takes", 5 },
		{ "f \"x\" y", "the end expected", 6 },
		{ "f \"%s\", arg1 + 1", "%s takes arg1 ..., retval, "
		  "args->FIELD or $comm", 8 },
		{ "f(int a", "')' expected", 7 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char want[512];

		snprintf(want, sizeof(want), "sonde: c: %s: %s\n%*s^\n",
			 rows[i].arg, rows[i].why,
			 (int)(10 + rows[i].at), "");
		CHECK_STR(print(rows[i].arg), want);
	}
	CHECK(strstr(print("f \"%q\", 1"), "%s %c %K %U or %% expected"));
	CHECK(strstr(print("f \"%lc\", 1"), "or %% expected"));
}

/* Every prefix, and each byte replaced; too long and too deep. */
TEST(broken_actions_end)
{
	static const char arg[] =
		"f(int a) (STRCMP(\"x\", arg2) && !(a & 7) == 1) \"%-05ld\", a";
	static char deep[5000];

	for (size_t k = 0; k < sizeof(arg) - 1; k++) {
		char text[sizeof(arg)];

		snprintf(text, sizeof(text), "%.*s", (int)k, arg);
		CHECK(*print(text));
		memcpy(text, arg, sizeof(arg));
		for (const char *c = "(\")%,\\ a1&-\x01"; *c; c++) {
			text[k] = *c;
			print(text);
		}
	}
	for (const char *c = "(!1+-\"%$"; *c; c++) {
		snprintf(deep, sizeof(deep), "f (");
		memset(deep + 3, *c, sizeof(deep) - 4);
		CHECK(strlen(print(deep)) < 2000);
	}
	for (size_t i = 3; i < sizeof(deep) - 1; i++)
		deep[i] = "1+"[i % 2 ? 0 : 1];
	CHECK(strstr(print(deep), "too long an expression"));
}

/* -- the kernel's half ----------------------------------------------------- */

static int type_of(void *arg, const struct action_value *v,
		   struct number *type)
{
	(void)arg;
	if (v->source != VALUE_ARG || v->number > 6)
		return -ENODATA;
	*type = types[v->number];
	return 8 * (v->number - 1);
}

/* As bpfasm/trace.c does it. */
static bool lets_pass(const struct trace_filter *f, unsigned n)
{
	unsigned answers = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct trace_compare *c = &f->v[i];
		uint64_t word = words[1 + c->at / 8];

		answers |= (unsigned)(((word & c->mask) ^ c->flip) <
				      c->limit) << i;
	}
	return f->truth[answers >> 3] >> (answers & 7) & 1;
}

static const uint64_t odd[] = {
	0, 1, 2, 7, 8, 127, 128, 255, 256, 32767, 32768, 65535, 65536,
	0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
	INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 1, UINT64_MAX,
	0xffffffffffffff80, 0xffffffff80000000, 0xffffffff7fffffff,
};
enum { ODD = sizeof(odd) / sizeof(*odd) };

static const char *const atoms[] = {
	"arg1 %s %s", "%2$s %1$s arg1", "(arg1 & 7) %s %s",
	"(int)arg1 %s %s", "(u8)arg1 %s %s", "(arg1 & 0x80) %s %s",
	"arg1 %s %s || arg2 == 7", "!(arg1 %s %s) && arg2 < 9",
	"arg1 %s %s && arg1 == arg2", "(arg1 + 0) %s %s || arg2 == 1",
	"!arg1 || arg2 %s %s", "(unsigned)arg1 %s %s", "(short)arg1 %s %s",
};
static const char *const operators[] = { "==", "!=", "<", "<=", ">", ">=" };
static const char *const constants[] = {
	"0", "1", "-1", "127", "-128", "200", "0xff", "65535", "0x7fffffff",
	"0x80000000", "-2147483648", "0xffffffff", "0xffffffffu",
	"0x7fffffffffffffff", "0xffffffffffffffff", "-1l", "4294967296", "-5",
};

/* The table refuses nothing that the filter takes; where each comparison is in
 * it, it takes nothing that the filter refuses. */
static void try_filter(const struct action *a, bool exact, const char *text)
{
	struct trace_filter f;
	unsigned n = prefilter_make(a, type_of, NULL, &f);

	for (size_t i = 0; n && i < ODD; i++) {
		struct number truth;
		bool passes;

		words[1] = odd[i];
		words[2] = odd[(i * 7 + 3) % ODD];
		words[3] = i & 1;
		if (action_eval(a, a->filter, &hit, &truth))
			continue;
		passes = lets_pass(&f, n);
		if (truth.v && !passes)
			FAIL("%s with 0x%llx (%u, %d) is refused", text,
			     (unsigned long long)odd[i], types[1].size,
			     types[1].is_signed);
		if (exact && !truth.v && passes)
			FAIL("%s with 0x%llx (%u, %d) passes", text,
			     (unsigned long long)odd[i], types[1].size,
			     types[1].is_signed);
	}
}

static void try_text(const char *text, bool exact)
{
	struct action a;

	if (action_parse(&a, "c", text, action_find(text)))
		FAIL("%s", text);
	else
		for (unsigned t = 0; t < 8; t++) {
			words_are(0, (uint8_t)(1 << t / 2), t & 1);
			try_filter(&a, exact, text);
		}
	action_free(&a);
}

TEST(the_kernel_refuses_no_more)
{
	char one[128], text[160];

	for (size_t i = 0; i < sizeof(atoms) / sizeof(*atoms); i++)
		for (size_t k = 0; k < 6 * 18; k++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(one, sizeof(one), atoms[i],
				 operators[k % 6], constants[k / 6]);
#pragma GCC diagnostic pop
			snprintf(text, sizeof(text), "f (%s)", one);
			try_text(text, !strstr(atoms[i], " arg2"));
		}
	try_text("f (arg1 == 1 && arg2 == 2 || arg3 == 1 && (arg1 > 3 || "
		 "arg2 > 3) || arg1 == 5 || arg1 == 6 || arg1 == 7 || "
		 "arg1 == 8 || arg1 == 9)", false);
}

TEST(what_the_kernel_can_judge)
{
	static const struct {
		const char *arg;
		unsigned n;
	} rows[] = {
		{ "f (arg1 > 5)", 1 }, { "f (arg1)", 1 }, { "f (!arg1)", 1 },
		{ "f (arg1 > 5 && STRCMP(\"x\", arg2))", 1 },
		{ "f (STRCMP(\"x\", arg2))", 0 }, { "f (arg1 == arg2)", 0 },
		{ "f ($pid == 1)", 0 }, { "f \"x\"", 0 },
		{ "f (arg1 == 1 || arg1 == 2 || arg1 == 3 || arg1 == 4 || "
		  "arg1 == 5 || arg1 == 6 || arg1 == 7 || arg1 == 8 || "
		  "arg1 == 9)", 8 },
	};

	words_are(0, 8, false);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct trace_filter f;
		struct action a;

		CHECK_EQ(action_parse(&a, "c", rows[i].arg, 1), 0);
		CHECK_EQ(prefilter_make(&a, type_of, NULL, &f), rows[i].n);
		action_free(&a);
	}
}

int main(void)
{
	RUN(what_c_computes);
	RUN(types_of_values);
	RUN(formats);
	RUN(positions_of_errors);
	RUN(broken_actions_end);
	RUN(the_kernel_refuses_no_more);
	RUN(what_the_kernel_can_judge);
	return test_failed;
}
