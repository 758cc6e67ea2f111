/* tp_format - tracepoints' formats: fields, and how values are shown. */
#include <errno.h>
#include <stdlib.h>

#include "sys/fs.h"
#include "sys/tracefs.h"
#include "test.h"

static struct tp_format format;

/* The format of a record with these lines, or nothing but them. */
static void parse(const char *text)
{
	tp_format_free(&format);
	CHECK_EQ(tp_format_parse(text, strlen(text), &format), 0);
}

/* One field, in the notation of the rows below. */
static const char *shown(const struct tp_field *f)
{
	static const char *const kinds[] = { "bad", "int", "pointer", "string",
					     "array", "bytes" };
	static const char *const wheres[] = { "", " data_loc", " rel_loc" };
	static char text[256];

	snprintf(text, sizeof(text), "%s|%s %s%s %u+%u %u*%u %s", f->type,
		 f->name, kinds[f->kind], wheres[f->where], f->offset, f->size,
		 f->count, f->elem_size, f->is_signed ? "signed" : "unsigned");
	return text;
}

TEST(fields)
{
	static const struct {
		const char *line, *want;
	} rows[] = {
		{ "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;",
		  "pid_t|pid int 24+4 0*0 signed" },
		{ "\tfield:unsigned long long x;\toffset:8;\tsize:8;"
		  "\tsigned:0;",
		  "unsigned long long|x int 8+8 0*0 unsigned" },
		{ "\tfield:enum some_kind k;\toffset:8;\tsize:4;\tsigned:0;",
		  "enum some_kind|k int 8+4 0*0 unsigned" },
		{ "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;",
		  "char|comm string 8+16 16*1 unsigned" },
		{ "\tfield:char comm[TASK_COMM_LEN];\toffset:8;\tsize:16;"
		  "\tsigned:1;",
		  "char|comm string 8+16 16*1 signed" },
		{ "\tfield:unsigned long args[6];\toffset:16;\tsize:48;"
		  "\tsigned:0;",
		  "unsigned long|args array 16+48 6*8 unsigned" },
		{ "\tfield:u32 grid[2][3];\toffset:16;\tsize:24;\tsigned:0;",
		  "u32|grid array 16+24 6*4 unsigned" },
		{ "\tfield:int a[N + 1];\toffset:16;\tsize:24;\tsigned:1;",
		  "int|a array 16+24 6*4 signed" },
		{ "\tfield:foo_t a[4];\toffset:16;\tsize:8;\tsigned:0;",
		  "foo_t|a array 16+8 4*2 unsigned" },
		{ "\tfield:foo_t a[M];\toffset:16;\tsize:8;\tsigned:0;",
		  "foo_t|a bytes 16+8 0*0 unsigned" },
		{ "\tfield:struct x a[2];\toffset:16;\tsize:16;\tsigned:0;",
		  "struct x|a bytes 16+16 2*8 unsigned" },
		{ "\tfield:__u8 saddr[28];\toffset:36;\tsize:28;\tsigned:0;",
		  "__u8|saddr array 36+28 28*1 unsigned" },
		{ "\tfield:char buf[];\toffset:12;\tsize:0;\tsigned:0;",
		  "char|buf string 12+0 0*1 unsigned" },
		{ "\tfield:__data_loc char[] name;\toffset:8;\tsize:4;"
		  "\tsigned:0;",
		  "char|name string data_loc 8+4 0*1 unsigned" },
		{ "\tfield:__rel_loc char[] name;\toffset:8;\tsize:4;"
		  "\tsigned:0;",
		  "char|name string rel_loc 8+4 0*1 unsigned" },
		{ "\tfield:__data_loc unsigned long[] x;\toffset:8;\tsize:4;"
		  "\tsigned:0;",
		  "unsigned long|x array data_loc 8+4 0*8 unsigned" },
		{ "\tfield:__data_loc cpumask_t[] x;\toffset:8;\tsize:4;"
		  "\tsigned:0;",
		  "cpumask_t|x bytes data_loc 8+4 0*0 unsigned" },
		{ "\tfield:__data_loc char[] name;\toffset:8;\tsize:8;"
		  "\tsigned:0;",
		  "char|name bad data_loc 8+8 0*0 unsigned" },
		{ "\tfield:const char * const x;\toffset:8;\tsize:8;"
		  "\tsigned:0;",
		  "const char * const|x pointer 8+8 0*0 unsigned" },
		{ "\tfield:const char *const * argv;\toffset:8;\tsize:8;"
		  "\tsigned:0;",
		  "const char *const *|argv pointer 8+8 0*0 unsigned" },
		{ "\tfield:struct timespec t;\toffset:8;\tsize:8;\tsigned:0;",
		  "struct timespec|t bytes 8+8 0*0 unsigned" },
		{ "\tfield:struct page * p;\toffset:8;\tsize:8;\tsigned:0;",
		  "struct page *|p pointer 8+8 0*0 unsigned" },
		{ "\tfield:u8 x;\toffset:x;\tsize:1;\tsigned:0;",
		  "u8|x bad 0+0 0*0 unsigned" },
		{ "\tfield:u8 x;\toffset:1;",
		  "u8|x bad 0+0 0*0 unsigned" },
		{ "\tfield:u8 x;\toffset:65536;\tsize:1;",
		  "u8|x bad 0+0 0*0 unsigned" },
		{ "\tfield:u8 x;\toffset:8;\tsize:99999999999999999999;",
		  "u8|x bad 0+0 0*0 unsigned" },
		{ "\tfield:u8 x;\toffset:8;\tsize:0;",
		  "u8|x bad 8+0 0*0 unsigned" },
		{ "  field: u8\t x ;\toffset:8;\tsize:1;\tsigned:0;\r",
		  "u8|x int 8+1 0*0 unsigned" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		parse(rows[i].line);
		CHECK_EQ(format.nfields, 1);
		if (format.nfields)
			CHECK_STR(shown(format.fields), rows[i].want);
	}
}

TEST(lines_that_are_no_fields)
{
	static const char *const lines[] = {
		"", "\n\n", "field:", "\tfield:", "\tfield:;", "\tfield:x;",
		"\tfield:int x", "\tfield: ;\toffset:1;\tsize:1;",
		"\tfield:[];", "\tfield:[3];", "\tfield:int [3];",
		"\tfield:__data_loc char[];", "\tfield:__data_loc ;",
		"\tfield:[] x;", "\tfield:int *x;", "\tfield:]]]] ];",
		"\tfiel", "name", "ID:", "print fmt:", "print fmt: ",
		"print fmt: \"", "print fmt: \"%", "print fmt: \"%d\"",
		"print fmt: \"%x\", ", "print fmt: \"%*.*x\", REC->", "\xff",
		"print fmt: \"\", __print_flags(",
		"print fmt: \"\", __print_flags(REC->x, \"",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		parse(lines[i]);
		CHECK_EQ(format.nfields, 0);
		CHECK_EQ(format.nnames, 0);
		CHECK_EQ(format.id, -1);
	}
}

/* How a value of the field x is shown, of `size` bytes, with that print fmt. */
static const char *value(const char *decl, const char *print, uint64_t v)
{
	static struct buf out;
	char text[2048];

	snprintf(text, sizeof(text), "name: n\nID: 7\nformat:\n"
		 "\tfield:int common_x;\toffset:0;\tsize:4;\tsigned:1;\n\n"
		 "\tfield:%s;\nprint fmt: %s\n", decl, print);
	parse(text);
	CHECK_STR(format.name, "n");
	CHECK_EQ(format.id, 7);
	CHECK_EQ(format.ncommon, 1);
	CHECK_EQ(format.nfields, 2);
	buf_reset(&out);
	tp_value_print(&format, tp_field_find(&format, "x"), v, &out);
	return buf_str(&out);
}

#define S32 "int x;\toffset:8;\tsize:4;\tsigned:1"
#define U8 "u8 x;\toffset:8;\tsize:1;\tsigned:0"
#define U32 "u32 x;\toffset:8;\tsize:4;\tsigned:0"
#define U64 "u64 x;\toffset:8;\tsize:8;\tsigned:0"
#define S64 "s64 x;\toffset:8;\tsize:8;\tsigned:1"
#define PTR "void * x;\toffset:8;\tsize:8;\tsigned:0"
#define ARGS "unsigned long x[6];\toffset:8;\tsize:48;\tsigned:0"
#define DEV "dev_t x;\toffset:8;\tsize:4;\tsigned:0"

TEST(numbers)
{
	static const struct {
		const char *decl, *print;
		uint64_t v;
		const char *want;
	} rows[] = {
		{ S32, "\"%d\", REC->x", 0xfffffffb, "-5" },
		{ S32, "\"%d\", REC->x", 0x77fffffff, "2147483647" },
		{ U32, "\"%u\", REC->x", 0xfffffffb, "4294967291" },
		{ U8, "\"%u\", REC->x", 0x1ff, "255" },
		{ S64, "\"%lld\", REC->x", 1ull << 63,
		  "-9223372036854775808" },
		{ U64, "\"%llu\", REC->x", UINT64_MAX,
		  "18446744073709551615" },
		{ U64, "\"%llx\", REC->x", 255, "0xff" },
		{ S32, "\"%#x\", REC->x", 0xfffffffffffffffb, "0xfffffffb" },
		{ U64, "\"%08lX\", REC->x", 255, "0xff" },
		{ U64, "\"a %d %s 100%% %x\", f(1, 2), \"%x, \\\" (\", REC->x",
		  255, "0xff" },
		{ U64, "\"%*x %x\", 3, 4, REC->x", 255, "0xff" },
		{ U64, "\"%x\", ((unsigned long)(REC->x))", 255, "0xff" },
		{ U64, "\"%x\", (unsigned long long)REC->x & 0xffU", 255,
		  "0xff" },
		{ U64, "\"%x\", REC->x >> 8", 255, "255" },
		{ U64, "\"%x\", REC->x ? 1 : 2", 255, "255" },
		{ U64, "\"%x\", REC->xy", 255, "255" },
		{ U64, "\"%x\", REC->x + REC->common_x", 255, "255" },
		{ U64, "\"%x\", f(REC->x)", 255, "255" },
		{ U64, "\"%d %d\", 1, REC->x", 255, "255" },
		{ U64, "\"%p\", (void *)REC->x", 255, "0xff" },
		{ U64, "\"%pS\", (void *)REC->x", 255, "0xff" },
		{ PTR, "\"%d\", REC->x", 255, "0xff" },
		{ ARGS, "\"%lx\", REC->x[0]", 255, "0xff" },
		{ ARGS, "\"%lu\", REC->x[0]", UINT64_MAX,
		  "18446744073709551615" },
		{ ARGS, "\"%lx\", REC->x[i]", 255, "255" },
		{ DEV, "\"%d,%d\", ((unsigned int) ((REC->x) >> 20)), 1",
		  0x800001, "8,1" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *got = value(rows[i].decl, rows[i].print,
					rows[i].v);

		if (strcmp(got, rows[i].want))
			FAIL("%s: %s, not %s", rows[i].print, got,
			     rows[i].want);
	}
}

TEST(addresses_of_symbols)
{
	value(U64, "\"%pS\", (void *)REC->x", 0);
	CHECK_EQ(tp_field_find(&format, "x")->show, TP_SYMBOL);
	value(PTR, "\"%ps\", REC->x", 0);
	CHECK_EQ(tp_field_find(&format, "x")->show, TP_SYMBOL);
	value(PTR, "\"%p\", REC->x", 0);
	CHECK_EQ(tp_field_find(&format, "x")->show, TP_HEX);
}

#define FLAGS(x) "\"%s\", __print_flags(" x ")"
#define SYMBOLIC(x) "\"%s\", __print_symbolic(" x ")"
#define RW "{ 1UL << 0, \"R\" }, {0x2, \"W\"}, { (04 | 8), \"RARE\" }"

TEST(names_of_values)
{
	static const struct {
		const char *decl, *print;
		uint64_t v;
		const char *want;
	} rows[] = {
		{ U32, FLAGS("REC->x, \"|\", " RW), 0, "0" },
		{ U32, FLAGS("REC->x, \"|\", " RW), 1, "R" },
		{ U32, FLAGS("REC->x, \"|\", " RW), 3, "R|W" },
		{ U32, FLAGS("REC->x, \"\", " RW), 15, "RWRARE" },
		{ U32, FLAGS("REC->x, \"|\", " RW), 7, "R|W|0x4" },
		{ U32, FLAGS("REC->x, \"|\", " RW), 0x40, "0x40" },
		{ U32, "\"%s\", REC->x ? __print_flags(REC->x, \"|\", " RW
		  ") : \"none\"", 0, "none" },
		{ U32, "\"%s\", (REC->x & ((2 << 1) - 1)) ? __print_flags("
		  "REC->x & ((2 << 1) - 1), \"|\", " RW ") : \"-\"",
		  0x100, "-|0x100" },
		{ U32, "\"%x %s\", REC->x, __print_flags(REC->x, \"|\", " RW
		  ")", 3, "R|W" },
		{ U32, FLAGS("(unsigned long)REC->x, \"|\", " RW
			     ", { 0, ((void *)0) } "), 3, "R|W" },
		{ U32, "\"%s\", __print_flags_u64(REC->x, \"|\", " RW ")", 3,
		  "R|W" },
		{ U32, SYMBOLIC("REC->x, {0,\"A\"},{ 1, \"B\" }"), 1, "B" },
		{ U32, SYMBOLIC("REC->x, {0,\"A\"},{ 1, \"B\" }"), 2, "0x2" },
		{ S32, SYMBOLIC("REC->x, {-1,\"A\"}"), UINT64_MAX, "A" },
		{ S32, SYMBOLIC("REC->x, {-1,\"A\"}"), 0xffffffff, "A" },
		{ S64, SYMBOLIC("REC->x, {-6ULL,\"A\"}"), (uint64_t)-6, "A" },
		{ U32, SYMBOLIC("REC->x & 7, {3,\"A\"}"), 0x43, "A|0x40" },
		{ U32, SYMBOLIC("REC->x, {NAME,\"A\"},{'b',\"B\"}"), 98, "B" },
		{ U32, SYMBOLIC("REC->x, {f(\"}\"),\"A\"},{2,\"B\"}"), 2,
		  "B" },
		{ U32, SYMBOLIC("REC->x >> 3, {2,\"B\"}"), 2, "2" },
		{ U32, SYMBOLIC("f(x), {2,\"B\"}"), 2, "2" },
		{ U32, SYMBOLIC("REC->x, {2,\"B\""), 2, "B" },
		{ U32, SYMBOLIC("REC->x, {2,\"B"), 2, "2" },
		{ U32, SYMBOLIC("REC->x, {2,"), 2, "2" },
		{ U32, SYMBOLIC("REC->x,"), 2, "2" },
		{ U32, SYMBOLIC("REC->x, {~0xfU & 0x12,\"B\"}"), 16, "B" },
		{ U32, SYMBOLIC("REC->x, {1 + 2 * 3,\"B\"}"), 7, "B" },
		{ U32, SYMBOLIC("REC->x, {1 << 2 + 1,\"B\"}"), 8, "B" },
		{ U32, SYMBOLIC("REC->x, {7 - 2 - 1,\"B\"}"), 4, "B" },
		{ U32, SYMBOLIC("REC->x, {1 << 99,\"B\"}"), 0, "B" },
		{ U32, SYMBOLIC("REC->x, {!0,\"B\"}"), 1, "B" },
		{ U32, SYMBOLIC("REC->x, {09,\"B\"},{1,\"C\"}"), 1, "C" },
		{ U32, SYMBOLIC("REC->x, {99999999999999999999,\"B\"},"
				"{1,\"C\"}"), 1, "C" },
		{ U32, SYMBOLIC("REC->x, {1, \"C\"}) __print_symbolic(REC->x, "
				"{1, \"D\"}"), 1, "C" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *got = value(rows[i].decl, rows[i].print,
					rows[i].v);

		if (strcmp(got, rows[i].want))
			FAIL("%s: %s, not %s", rows[i].print, got,
			     rows[i].want);
	}
}

/* Each prefix, each byte replaced; in memory that ends where the text does. */
static void check_broken(const char *good)
{
	size_t len = strlen(good);

	for (size_t n = 0; n <= len; n++) {
		char *text = malloc(len + 1);

		memcpy(text, good, n);
		tp_format_free(&format);
		CHECK_EQ(tp_format_parse(text, n, &format), 0);
		memcpy(text, good, len + 1);
		for (const char *c = "i\"({[]\n*;"; *c; c++) {
			text[n] = *c;
			tp_format_free(&format);
			CHECK_EQ(tp_format_parse(text, len + 1, &format), 0);
		}
		free(text);
	}
}

TEST(broken_formats)
{
	check_broken("name: sched_switch\nID: 372\nformat:\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		"\tfield:__data_loc char[] d;\toffset:24;\tsize:4;\n"
		"\tfield:long state;\toffset:32;\tsize:8;\tsigned:1;\n\n"
		"print fmt: \"%s %s%*x\", REC->comm, (REC->state & (((0x0 | 1)"
		" + 1) << 1)) ? __print_flags(REC->state & 7, \"|\", { 0x1, "
		"\"S\" }, { 0x02, \"D\" }) : \"R\", 1, REC->state\n");
	check_broken("\tfield:u8 addr[6];\toffset:16;\tsize:6;\tsigned:0;\n"
		"print fmt: \"%02x %pS %'\", REC->addr[0], REC->addr[12], "
		"__print_symbolic(REC->addr[1] & 'a', { -~!1, \"one\" })");
}

TEST(large_formats)
{
	static const char *const repeated[] = {
		"(", "((int)", "{", "[", "\"", "~", "REC->x&", "1+1*",
		"__print_flags(", "__print_flags(REC->x, \"|\", {1,\"",
		"{ 1, \"a\" }, ", "\\", "%x", "REC->x, ",
	};
	static const char head[] = "\tfield:u32 x;\toffset:8;\tsize:4;\n"
				   "print fmt: \"%x\", __print_symbolic("
				   "REC->x, ";
	enum { MAX = 256 << 10 };
	char *text = malloc(MAX + 1);

	for (size_t i = 0; i < sizeof(repeated) / sizeof(*repeated); i++) {
		size_t n = strlen(repeated[i]);

		for (size_t k = 0; k < MAX; k++)
			text[k] = k < sizeof(head) - 1 ? head[k]
						       : repeated[i][k % n];
		tp_format_free(&format);
		CHECK_EQ(tp_format_parse(text, MAX, &format), 0);
		CHECK_EQ(format.nfields, 1);
	}
	tp_format_free(&format);
	CHECK_EQ(tp_format_parse(text, MAX + 1, &format), -E2BIG);
	for (size_t k = 0; k < MAX; k++)
		text[k] = "\tfield:u8 x;\n"[k % 13];
	CHECK_EQ(tp_format_parse(text, MAX, &format), 0);
	CHECK_EQ(format.nfields, 512);
	free(text);
}

static size_t seen;

static int check_event(void *arg, const char *category,
		       const char *name)
{
	const struct tp_field *pid;
	struct tp_format f;
	char path[300];

	if (!*category || !*name)
		return -1;
	seen++;
	if (seen % *(size_t *)arg)
		return 0;
	snprintf(path, sizeof(path), "%s/%s", category, name);
	if (tracefs_format(path, &f))
		return 0;	/* a module that went away */
	pid = tp_field_find(&f, "common_pid");
	CHECK_STR(f.name, name);
	CHECK_EQ(f.id, tracefs_id(path));
	CHECK(pid && pid->kind == TP_INT && pid->size == 4);
	for (size_t i = 0; i < f.nfields; i++)
		CHECK(f.fields[i].kind != TP_BAD);
	CHECK_EQ(tracefs_field(path, "common_pid", 4), pid ? pid->offset : 0);
	CHECK_EQ(tracefs_field(path, "common_pid", 8), -EINVAL);
	CHECK_EQ(tracefs_field(path, "no_such_field", 4), -ENOENT);
	tp_format_free(&f);
	return 0;
}

static int stop(void *arg, const char *category, const char *name)
{
	(void)arg, (void)category, (void)name;
	return 42;
}

TEST(tracepoints_of_this_kernel)
{
	size_t every = 10;
	struct tp_format f;
	int err;

	fs_way(FS_TRACE, &err);
	if (err) {
		printf("SKIP tracepoints of this kernel: no tracefs\n");
		return;
	}
	CHECK_EQ(tracefs_events(check_event, &every), 0);
	CHECK(seen > 20);
	CHECK_EQ(tracefs_events(stop, NULL), 42);
	CHECK_EQ(tracefs_format("sched/nothing", &f), -ENOENT);
	tp_format_free(&f);
	setenv("SONDE_WITHOUT", "tracefs", 1);
	CHECK_EQ(tracefs_events(check_event, &every), -ENOENT);
	CHECK_EQ(tracefs_id("sched/sched_switch"), -ENOENT);
	unsetenv("SONDE_WITHOUT");
}

int main(void)
{
	RUN(fields);
	RUN(lines_that_are_no_fields);
	RUN(numbers);
	RUN(addresses_of_symbols);
	RUN(names_of_values);
	RUN(broken_formats);
	RUN(large_formats);
	RUN(tracepoints_of_this_kernel);
	tp_format_free(&format);
	return test_failed;
}
