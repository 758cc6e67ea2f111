/* spec - probe specs in both spellings, what is wrong with others, matching. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/log.h"
#include "said.h"
#include "test.h"
#include "trace/spec.h"
#include "trace/syscall_name.h"

static const struct spec_rules bcc = { .command = "c" };
static const struct spec_rules bcc_regex = { .command = "c", .regex = true };
static const struct spec_rules pairs = { .command = "c", .pairs = true };
static const struct spec_rules bpftrace = { .command = "c", .bpftrace = true };

/* The long forms, a blank between two; or, of a wrong one, what was said. */
static const char *read_as(const struct spec_rules *rules, const char *arg)
{
	static struct buf out;
	struct probe_specs specs = { 0 };
	const char *text;
	int err;

	buf_reset(&out);
	listen();
	err = specs_parse(arg, rules, &specs);
	text = heard();
	if (err)
		buf_puts(&out, text);
	else if (*text)
		buf_puts(&out, "said something");
	for (size_t i = 0; i < specs.n; i++) {
		if (i)
			buf_putc(&out, ' ');
		spec_print(&specs.v[i], &out);
	}
	if (err && specs.n)
		buf_puts(&out, "something was left");
	specs_free(&specs);
	return buf_str(&out);
}

struct row {
	const char *arg, *want;
};

static void check_rows(const struct spec_rules *rules, const struct row *rows,
		       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char first[4096];

		snprintf(first, sizeof(first), "%s",
			 read_as(rules, rows[i].arg));
		if (strcmp(first, rows[i].want))
			FAIL("%s is %s, not %s", rows[i].arg, first,
			     rows[i].want);
		else if (!strpbrk(first, " "))
			CHECK_STR(read_as(rules, first), first);
	}
}

#define ROWS(rules, rows) \
	check_rows(rules, rows, sizeof(rows) / sizeof(*(rows)))

TEST(bcc_spelling)
{
	static const struct row rows[] = {
		{ "vfs_read", "kprobe:vfs_read" },
		{ "vfs_*", "kprobe:vfs_*" },
		{ "p::vfs_read", "kprobe:vfs_read" },
		{ "p:vfs_read", "kprobe:vfs_read" },
		{ "::vfs_read", "kprobe:vfs_read" },
		{ ":vfs_read", "kprobe:vfs_read" },
		{ "r::vfs_read", "kretprobe:vfs_read" },
		{ "r:vfs_read", "kretprobe:vfs_read" },
		{ "p::vfs_read+0x10", "kprobe:vfs_read+16" },
		{ "p::0xffffffff81000000", "kprobe:0xffffffff81000000" },
		{ "p:c:malloc", "uprobe:c:malloc" },
		{ "p:nf_tables:f", "uprobe:nf_tables:f" },
		{ "r:c:malloc", "uretprobe:c:malloc" },
		{ ":c:malloc", "uprobe:c:malloc" },
		{ "c:malloc", "uprobe:c:malloc" },
		{ "c:mem*", "uprobe:c:mem*" },
		{ "/bin/sh:main", "uprobe:/bin/sh:main" },
		{ "1234:main", "uprobe:1234:main" },
		{ "libc.so.6:malloc", "uprobe:libc.so.6:malloc" },
		{ "p:/bin/x:0x1139", "uprobe:/bin/x:0x1139" },
		{ "p:/bin/x:main+4", "uprobe:/bin/x:main+4" },
		{ "t:sched:sched_switch", "tracepoint:sched:sched_switch" },
		{ "t:sched:*", "tracepoint:sched:*" },
		{ "t:*:*", "tracepoint:*:*" },
		{ "u:c:setjmp", "usdt:c:setjmp" },
		{ "u:c:libc:setjmp", "usdt:c:libc:setjmp" },
		{ "u::setjmp", "usdt::setjmp" },
		{ "u:libc:*", "usdt:libc:*" },
		{ "p", "kprobe:p" },
		{ "t", "kprobe:t" },
		{ "kprobe", "kprobe:kprobe" },
		{ "k:f", "kprobe:f" },
		{ "kr:f", "kretprobe:f" },
		{ "U:x:y", "usdt:x:y" },
		{ "ur:x:y", "uretprobe:x:y" },
		{ "i:s:1", "interval:s:1" },
		{ "profile:hz:99", "profile:hz:99" },
		{ "BEGIN", "BEGIN" },
		{ "foo.isra.0", "kprobe:foo.isra.0" },
		{ "[uk]probe_?", "kprobe:[uk]probe_?" },
		{ "a[b", "kprobe:a[b" },
		{ "a,b", "kprobe:a kprobe:b" },
		{ " a , c:b ,t:x:y ", "kprobe:a uprobe:c:b tracepoint:x:y" },
		{ "kprobe:vfs_read,kprobe:vfs_*",
		  "kprobe:vfs_read kprobe:vfs_*" },
	};

	ROWS(&bcc, rows);
}

TEST(bpftrace_spelling)
{
	static const struct row rows[] = {
		{ "kprobe:vfs_read", "kprobe:vfs_read" },
		{ "k:vfs_read", "kprobe:vfs_read" },
		{ "kprobe:ext4:f+8", "kprobe:ext4:f+8" },
		{ "kprobe:nf*:f*", "kprobe:nf*:f*" },
		{ "kprobe::f", "kprobe:f" },
		{ "kretprobe:f", "kretprobe:f" },
		{ "kr:f", "kretprobe:f" },
		{ "fentry:f", "fentry:f" },
		{ "kfunc:f", "fentry:f" },
		{ "f:vmlinux:f", "fentry:vmlinux:f" },
		{ "fexit:f", "fexit:f" },
		{ "kretfunc:f", "fexit:f" },
		{ "fr:f", "fexit:f" },
		{ "uprobe:/bin/x:main", "uprobe:/bin/x:main" },
		{ "u:/bin/x:main+0x4", "uprobe:/bin/x:main+4" },
		{ "u:c:malloc", "uprobe:c:malloc" },
		{ "uprobe:/bin/x:0x1139", "uprobe:/bin/x:0x1139" },
		{ "uretprobe:x:y", "uretprobe:x:y" },
		{ "ur:x:y", "uretprobe:x:y" },
		{ "usdt:/bin/x:p:n", "usdt:/bin/x:p:n" },
		{ "U:/bin/x:n", "usdt:/bin/x:n" },
		{ "usdt::p:n", "usdt::p:n" },
		{ "usdt:x::n", "usdt:x:n" },
		{ "usdt:x:p*:n?", "usdt:x:p*:n?" },
		{ "tracepoint:sched:sched_switch",
		  "tracepoint:sched:sched_switch" },
		{ "t:syscalls:sys_enter_*",
		  "tracepoint:syscalls:sys_enter_*" },
		{ "rawtracepoint:sys_enter", "rawtracepoint:sys_enter" },
		{ "rt:sys_enter", "rawtracepoint:sys_enter" },
		{ "rt:ext4:x", "rawtracepoint:ext4:x" },
		{ "software:faults:100", "software:faults:100" },
		{ "s:cpu-clock", "software:cpu-clock" },
		{ "s:cpu-clock:", "software:cpu-clock" },
		{ "hardware:cache-misses:1000000",
		  "hardware:cache-misses:1000000" },
		{ "h:cycles:1", "hardware:cycles:1" },
		{ "profile:hz:99", "profile:hz:99" },
		{ "p:s:1", "profile:s:1" },
		{ "p:ms:10", "profile:ms:10" },
		{ "p:us:100", "profile:us:100" },
		{ "p:99hz", "profile:hz:99" },
		{ "interval:s:1", "interval:s:1" },
		{ "i:10ms", "interval:ms:10" },
		{ "i:hz:1000000000", "interval:hz:1000000000" },
		{ "BEGIN", "BEGIN" },
		{ "END", "END" },
		{ "BEGIN,k:f", "BEGIN kprobe:f" },
	};

	ROWS(&bpftrace, rows);
}

TEST(a_command_for_tracepoints)
{
	static const struct row rows[] = {
		{ "sched:*", "tracepoint:sched:*" },
		{ "t:sched:*", "tracepoint:sched:*" },
		{ "u:libc:*", "usdt:libc:*" },
		{ "kprobe:f*", "kprobe:f*" },
		{ "p:c:f*", "uprobe:c:f*" },
	};

	ROWS(&pairs, rows);
}

TEST(quotes)
{
	static const struct row rows[] = {
		{ "uprobe:\"/a,b:c d\":main", "uprobe:\"/a,b:c d\":main" },
		{ "\"/a,b:c\":main", "uprobe:\"/a,b:c\":main" },
		{ "p:\"/a\":\"ns::f(int, char)\"",
		  "uprobe:/a:\"ns::f(int, char)\"" },
		{ "c:\"operator*(x)\"+8", "uprobe:c:\"operator*(x)\"+8" },
		{ "c:\"a\\\"b\\\\c*\"", "uprobe:c:\"a\\\"b\\\\c*\"" },
		{ "u:x:\"a\\\"b\",f", "usdt:x:a\"b kprobe:f" },
		{ "u:x:a\"b", "usdt:x:a\"b" },
		{ "u:x:a-b,u:x:a__b", "usdt:x:a-b usdt:x:a__b" },
		{ "c:\"0x10\"", "uprobe:c:\"0x10\"" },
		{ "c:\"a+4\"", "uprobe:c:\"a+4\"" },
		{ "\"p\":f", "uprobe:p:f" },
		{ "\"t\":x", "uprobe:t:x" },
		{ "t:sched:\"*\"", "tracepoint:sched:\"*\"" },
		{ "\"vfs_*\"", "kprobe:\"vfs_*\"" },
	};

	ROWS(&bcc, rows);
}

TEST(regular_expressions)
{
	static const struct row rows[] = {
		{ "vfs_(read|write)v?", "kprobe:vfs_(read|write)v?" },
		{ "a{1,2}", "kprobe:a{1,2}" },
		{ "a[,:]b", "kprobe:a[,:]b" },
		{ "[[:alpha:],]+", "kprobe:[[:alpha:],]+" },
		{ "a\\,b", "kprobe:a\\,b" },
		{ "t:sched:.*wake.*", "tracepoint:sched:.*wake.*" },
		{ "c:mal.*c", "uprobe:c:mal.*c" },
		{ "libc.so.6:f", "uprobe:libc.so.6:f" },
		{ "vfs_read", "kprobe:vfs_read" },
		{ "a.b,c.d", "kprobe:a.b kprobe:c.d" },
	};
	struct probe_specs specs = { 0 };

	ROWS(&bcc_regex, rows);
	CHECK_EQ(specs_parse("\"foo.isra.0\"", &bcc_regex, &specs), 0);
	CHECK_EQ(specs_parse("c:a.b", &bcc_regex, &specs), 0);
	CHECK_EQ(specs.v[0].name.match, MATCH_EXACT);
	CHECK_EQ(specs.v[1].name.match, MATCH_REGEX);
	CHECK_EQ(specs.v[1].target.match, MATCH_EXACT);
	specs_free(&specs);
}

TEST(parts_of_a_spec)
{
	struct probe_specs specs = { 0 };
	struct probe_spec *s;

	CHECK_EQ(specs_parse("vfs_read, usdt:\"/x y\":p:\"n*\" ,*,i:ms:5",
			     &bcc, &specs), 0);
	CHECK_EQ(specs.n, 4);
	s = &specs.v[0];
	CHECK_STR(s->text, "vfs_read");
	CHECK_STR(s->target.text, "");
	CHECK_STR(s->name.text, "vfs_read");
	CHECK(!spec_is_pattern(s) && !s->has_address && !s->offset);
	s = &specs.v[1];
	CHECK_EQ(s->kind, PROBE_USDT);
	CHECK_EQ(s->at, 10);
	CHECK_STR(s->text, "usdt:\"/x y\":p:\"n*\"");
	CHECK_STR(s->target.text, "/x y");
	CHECK_STR(s->provider.text, "p");
	CHECK_STR(s->name.text, "n*");
	CHECK_EQ(s->name.match, MATCH_EXACT);
	CHECK_EQ(specs.v[2].name.match, MATCH_ALL);
	CHECK(spec_is_pattern(&specs.v[2]));
	CHECK_EQ(specs.v[3].rate, 5);
	CHECK_EQ(specs.v[3].unit, UNIT_MS);
	CHECK_EQ(spec_period_ns(&specs.v[3]), 5000000);
	CHECK_EQ(specs_parse("c:f+0x1f", &bcc, &specs), 0);
	CHECK_EQ(specs.n, 5);
	CHECK_EQ(specs.v[4].offset, 31);
	CHECK_STR(specs.v[4].name.text, "f");
	CHECK_EQ(specs_parse("a,,b", &(struct spec_rules){
			.command = "c", .kinds = 1 }, &specs), -EINVAL);
	CHECK_EQ(specs.n, 5);
	specs_free(&specs);
}

/* The caret stands under the byte `at` of the argument, the message ends with
 * `why`, and there is nothing more than these two lines, but for a hint. */
static void check_wrong(const struct spec_rules *rules, const char *arg,
			size_t at, const char *why)
{
	const char *text = read_as(rules, arg);
	const char *line = strchr(text, '\n'), *after;
	char want[256];
	size_t caret;

	snprintf(want, sizeof(want), "sonde: c: %s: %s", arg, why);
	if (!line || strncmp(text, want, strlen(want)) ||
	    line != text + strlen(want)) {
		FAIL("%s gives %s, not %s", arg, text, want);
		return;
	}
	caret = strspn(line + 1, " ");
	after = line + 1 + caret;
	if (strncmp(after, "^\n", 2) || caret != strlen("sonde: c: ") + at)
		FAIL("%s: the caret is not at %zu:\n%s", arg, at, text);
	after += 2;
	if (*after && (strncmp(after, "hint: ", 6) ||
		       strchr(after, '\n')[1]))
		FAIL("%s gives %s", arg, text);
}

TEST(positions_of_errors)
{
	static const struct {
		const struct spec_rules *rules;
		const char *arg;
		size_t at;
		const char *why;
	} rows[] = {
		{ &bcc, "", 0, "a probe expected" },
		{ &bcc, "  ", 2, "a probe expected" },
		{ &bcc, ",", 0, "a probe expected" },
		{ &bcc, "a,", 2, "a probe expected" },
		{ &bcc, "a,,b", 2, "a probe expected" },
		{ &bcc, "\"\"", 0, "a probe expected" },
		{ &bcc, ":", 1,
		  "a function's name expected after the first colon" },
		{ &bcc, "p::", 3,
		  "a function's name expected after the second colon" },
		{ &bcc, "p:c:", 4,
		  "a function's name expected after the second colon" },
		{ &bcc, "c:", 2,
		  "a function's name expected after the first colon" },
		{ &bcc, "c:\"\"", 2,
		  "a function's name expected after the first colon" },
		{ &bcc, "c:+4", 2,
		  "a function's name expected after the first colon" },
		{ &bcc, "kprobe:", 7,
		  "a function's name expected after the first colon" },
		{ &bcc, "uprobe:main", 11,
		  "a function's name expected after the second colon" },
		{ &bcc, "uprobe::f", 7, "a program, library or pid expected "
		  "after the first colon" },
		{ &bcc, "t:sched", 7,
		  "a tracepoint's name expected after the second colon" },
		{ &bcc, "t:sched:", 8,
		  "a tracepoint's name expected after the second colon" },
		{ &bcc, "tracepoint:*", 12,
		  "a tracepoint's name expected after the second colon" },
		{ &bcc, "t::x", 2,
		  "a tracepoint's category expected after the first colon" },
		{ &bcc, "t:../x:y", 2,
		  "no tracepoint has a '/' in its name" },
		{ &bcc, "t:a:b:c", 5, "a colon too many; with colons, a name "
		  "or path goes into quotes" },
		{ &bcc, "rt:", 3,
		  "a tracepoint's name expected after the first colon" },
		{ &bcc, "u:c", 3,
		  "a usdt probe's name expected after the second colon" },
		{ &bcc, "u:c:", 4,
		  "a usdt probe's name expected after the second colon" },
		{ &bcc, "u:c:p:", 6,
		  "a usdt probe's name expected after the third colon" },
		{ &bcc, "u:a:b:c:d", 7, "a colon too many; with colons, a "
		  "name or path goes into quotes" },
		{ &bcc, "c:std::f", 0, "no such type of probe; with colons, a "
		  "name or path goes into quotes" },
		{ &bcc, "kprobr:a:b", 0, "no such type of probe; with colons, "
		  "a name or path goes into quotes" },
		{ &bcc, "a b", 2, "a comma or the end expected; a name with "
		  "blanks goes into quotes" },
		{ &bcc, "c:\"f", 2, "no '\"' closes this one" },
		{ &bcc, "c:\"f\\", 2, "no '\"' closes this one" },
		{ &bcc, "p::f+", 5, "a number of bytes expected after '+'" },
		{ &bcc, "p::f+1x", 5, "a number of bytes expected after '+'" },
		{ &bcc, "p::f+-1", 5, "a number of bytes expected after '+'" },
		{ &bcc, "p::f+0x", 5, "a number of bytes expected after '+'" },
		{ &bcc, "p::f+18446744073709551616", 5,
		  "a number of bytes expected after '+'" },
		{ &bcc, "r::f+4", 4, "kretprobe takes no offset" },
		{ &bcc, "fentry:f+4", 8, "fentry takes no offset" },
		{ &bcc, "p::f*+4", 3,
		  "an offset goes with the name of one function" },
		{ &bcc, "p::0x1ffffffffffffffff", 3,
		  "an address of up to 16 hexadecimal digits expected" },
		{ &bcc, "p::0x", 3,
		  "an address of up to 16 hexadecimal digits expected" },
		{ &bcc, "p::0x12g", 3,
		  "an address of up to 16 hexadecimal digits expected" },
		{ &bcc, "fexit:0x12", 6,
		  "fexit takes a name, no address" },
		{ &bcc, "t:\"a\"+4:b", 5, "no offset is possible here" },
		{ &bcc, "kprobe:\"\"+4:f", 9, "no offset is possible here" },
		{ &bcc, "profile:hz:0", 11,
		  "a number from 1 to 1000000000 expected" },
		{ &bcc, "profile:hz:99999999999", 11,
		  "a number from 1 to 1000000000 expected" },
		{ &bcc, "profile:hz:99x", 11,
		  "a number from 1 to 1000000000 expected" },
		{ &bcc, "profile:", 8,
		  "hz, s, ms or us expected after the first colon" },
		{ &bcc, "profile:hz", 10,
		  "a number expected after the second colon" },
		{ &bcc, "profile:99", 10, "hz, s, ms or us expected" },
		{ &bcc, "i:min:1", 2, "hz, s, ms or us expected" },
		{ &bcc, "s:", 2,
		  "an event's name expected after the first colon" },
		{ &bcc, "s:faults:0", 9, "a number of events expected" },
		{ &bcc, "s:faults:many", 9, "a number of events expected" },
		{ &bcc, "BEGIN:x", 5, "a colon too many; with colons, a name "
		  "or path goes into quotes" },
		{ &bpftrace, "vfs_read", 0,
		  "a type such as kprobe: or uprobe: expected" },
		{ &bpftrace, "c:malloc", 0, "no such type of probe" },
		{ &bpftrace, "r::f", 0, "no such type of probe" },
		{ &bpftrace, "p::f", 2,
		  "hz, s, ms or us expected after the first colon" },
		{ &bcc_regex, "a(b", 1, "a '(' without its ')'" },
		{ &bcc_regex, "x,t:a:b)|(c", 7, "a ')' without its '('" },
		{ &bcc_regex, "a[b,c", 1, "a '[' without its ']'" },
		{ &bcc_regex, "(a)\\1", 3, "no such escape" },
		{ &bcc_regex, "f.\\", 2, "nothing after a backslash" },
		{ &bcc_regex, "*a", 0, "nothing before it to repeat" },
		{ &bcc_regex, "a|+", 2, "nothing before it to repeat" },
		{ &bcc_regex, "(?:a)", 1, "nothing before it to repeat" },
		{ &bcc_regex, "a{2,1}", 1,
		  "not {count} or {least,most}, up to 1,000" },
		{ &bcc_regex, "a{", 1,
		  "not {count} or {least,most}, up to 1,000" },
		{ &bcc_regex, "a{1001}", 1,
		  "not {count} or {least,most}, up to 1,000" },
		{ &bcc_regex, "[[:alfa:]]", 1, "no such class of characters" },
		{ &bcc_regex, "((a{99}){99}){99}", 12,
		  "too large an expression" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check_wrong(rows[i].rules, rows[i].arg, rows[i].at,
			    rows[i].why);
	check_wrong(&(struct spec_rules){ .command = "c",
			.kinds = 1u << PROBE_KPROBE }, "f,profile:hz:99", 2,
		    "c takes no profile");
}

/* Control bytes and other scripts, before the place and at it. */
TEST(the_caret_keeps_its_column)
{
	CHECK_STR(read_as(&bcc, "c:\x1b\xc3\xa9,t:x"),
		  "sonde: c: c:\\x1b\xc3\xa9,t:x: a tracepoint's name expected "
		  "after the second colon\n"
		  "                     ^\n");
}

TEST(the_nearest_type)
{
	CHECK(strstr(read_as(&bpftrace, "kprob:f"),
		     "hint: the nearest is kprobe\n"));
	CHECK(strstr(read_as(&bcc, "tracpoint:a:b"),
		     "hint: the nearest is tracepoint\n"));
}

/* 60 KB of one text, in all ways to read it. */
TEST(long_arguments)
{
	static const char *const texts[] = {
		"(", ":", ",", "\"", "*", "[", "a", "a,", "\\", "+", "{", "t:",
		"a:", "*a", " ", "\"a\",", "{9}", "(a)+", "\xff", "[a-",
	};
	static char arg[60001];

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		size_t n = strlen(texts[i]);

		for (size_t k = 0; k < sizeof(arg) - 1; k++)
			arg[k] = texts[i][k % n];
		read_as(&bcc, arg);
		CHECK(strlen(read_as(&bcc, arg)) < 2000);
		CHECK(strlen(read_as(&bpftrace, arg)) < 2000);
		CHECK(strlen(read_as(&bcc_regex, arg)) < 2000);
	}
}

/* Every prefix of every kind of spec, and each byte replaced. */
TEST(broken_specs_end)
{
	static const char *const specs[] = {
		"kprobe:ext4:vfs_read+0x10", "usdt:\"/a,b\":p:\"n\"+4",
		"profile:hz:99,BEGIN", "r:c:mall*c", "p::0xffffffff81000000",
		"t:[a-z]:(b|c){1,2}",
	};
	const struct spec_rules *const rules[] = { &bcc, &bpftrace, &pairs,
						   &bcc_regex };

	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs) * 4; i++) {
		char arg[64];

		for (size_t k = 0; k <= strlen(specs[i / 4]); k++) {
			snprintf(arg, sizeof(arg), "%.*s", (int)k,
				 specs[i / 4]);
			CHECK(*read_as(rules[i % 4], arg));
			snprintf(arg, sizeof(arg), "%s", specs[i / 4]);
			for (const char *c = "i:,\"\\+*[(\x01"; *c; c++) {
				arg[k] = *c;
				CHECK(*read_as(rules[i % 4], arg));
			}
		}
	}
}

TEST(globs)
{
	static const struct {
		const char *glob, *name;
		bool want;
	} rows[] = {
		{ "vfs_read", "vfs_read", true },
		{ "vfs_read", "vfs_readv", false },
		{ "vfs_read", "vfs_rea", false },
		{ "vfs_rea?", "vfs_read", true },
		{ "vfs_rea?", "vfs_readv", false },
		{ "vfs_rea?", "vfs_rea", false },
		{ "vfs_*", "vfs_", true },
		{ "vfs_*", "vfs_x", true },
		{ "*", "", true },
		{ "", "", true },
		{ "", "a", false },
		{ "?", "", false },
		{ "*a*b*", "xaxxbx", true },
		{ "*a*b", "ab_ab_a", false },
		{ "*aab", "aaaab", true },
		{ "[abc]x", "bx", true },
		{ "[a-c]x", "dx", false },
		{ "[!a-c]x", "dx", true },
		{ "[^a-c]x", "ax", false },
		{ "[]x]", "]", true },
		{ "[!]]", "]", false },
		{ "[a-]", "-", true },
		{ "a[b", "a[b", true },
		{ "a[b", "ab", false },
		{ "[", "[", true },
		{ "[]", "[]", true },
		{ "*]", "a]", true },
		{ "[z-a]", "b", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (match_glob(rows[i].glob, rows[i].name) != rows[i].want)
			FAIL("%s and %s", rows[i].glob, rows[i].name);
}

/* This test ends. */
TEST(globs_take_bounded_time)
{
	static char glob[4001], name[20001];

	for (size_t i = 0; i < sizeof(glob) - 1; i++)
		glob[i] = "*a"[i % 2];
	memset(name, 'a', sizeof(name) - 1);
	CHECK(match_glob(glob, name));
	name[sizeof(name) - 2] = 'b';
	CHECK(!match_glob(glob, name));
	memset(glob + 1, 'a', sizeof(glob) - 2);
	CHECK(!match_glob(glob, name));
}

TEST(regexes_match_whole_names)
{
	static const struct {
		const char *regex, *name;
		bool want;
	} rows[] = {
		{ "vfs_rea.", "vfs_read", true },
		{ "vfs_rea.", "vfs_readv", false },
		{ "fs_read", "vfs_read", false },
		{ "a|b", "ab", false },
		{ "a|bc", "bc", true },
		{ "a|b|c", "b", true },
		{ "(a|b|c)d", "cd", true },
		{ "(a|b|c)d", "d", false },
		{ "x(a||c)d", "xd", true },
		{ "^vfs.*", "vfs_read", true },
		{ "vfs.*$", "vfs_read", true },
		{ "^(^a$)$", "a", true },
		{ "a^b", "ab", false },
		{ "a$b", "ab", false },
		{ "[)(]", ")", true },
		{ "[]a]\\(", "](", true },
		{ "[^]a]", "]", false },
		{ "[^]a]", "b", true },
		{ "[a-c]+", "abcab", true },
		{ "[a-c]+", "", false },
		{ "[a-c]+", "abd", false },
		{ "[[:alpha:]_][[:alnum:]_]*", "sys_9", true },
		{ "[[:alpha:]_][[:alnum:]_]*", "9sys", false },
		{ "\\w+\\d", "sys_9", true },
		{ "a\\.b", "a.b", true },
		{ "a\\.b", "axb", false },
		{ "(a|b){2}", "ba", true },
		{ "(a|b){2}", "bab", false },
		{ "a{2,}", "a", false },
		{ "a{2,}", "aaaaa", true },
		{ "a{1,3}b", "aaab", true },
		{ "a{1,3}b", "aaaab", false },
		{ "a{0}b", "b", true },
		{ "a{0,2}b", "aab", true },
		{ "(ab?)*c", "aababc", true },
		{ "((a*)*)*", "aaa", true },
		{ "((a+)+)+b", "aab", true },
		{ "a**", "aaa", true },
		{ "a?+", "", true },
		{ ".*", "", true },
		{ ".*read.*", "vfs_readv", true },
		{ ".", "\xe9", true },
		{ "[^a]", "\xe9", true },
		{ "()", "", true },
		{ "(){1000}a", "a", true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct match m;

		CHECK_EQ(match_compile(&m, MATCH_REGEX, rows[i].regex, NULL),
			 0);
		if (match_test(&m, rows[i].name) != rows[i].want)
			FAIL("%s and %s", rows[i].regex, rows[i].name);
		match_free(&m);
	}
}

/* As above, all of these end. */
TEST(regexes_take_bounded_time)
{
	static const char *const texts[] = {
		"(b*b*){200}", "((b?){40}){40}", "b******************",
		"((((((((((((b+)+)+)+)+)+)+)+)+)+)+)+)+", "(b|bb)*(b|bb)*c",
		"((){1000}){1000}",
	};
	static char name[20001];

	memset(name, 'b', sizeof(name) - 1);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct match m;

		CHECK_EQ(match_compile(&m, MATCH_REGEX, texts[i], NULL), 0);
		match_test(&m, name);
		match_free(&m);
	}
}

static const char *candidates(const char *name)
{
	static struct buf all;
	struct buf one = { 0 };

	buf_reset(&all);
	for (size_t i = 0; i < 100 && syscall_candidate(name, i, &one); i++)
		buf_fmt(&all, "%s%s", i ? " " : "", buf_str(&one));
	buf_free(&one);
	return buf_str(&all);
}

TEST(names_of_syscalls)
{
	CHECK_STR(candidates("kill"),
		  "kill __x64_sys_kill __arm64_sys_kill __riscv_sys_kill "
		  "__s390x_sys_kill sys_kill SyS_kill __se_sys_kill "
		  "__do_sys_kill __ia32_sys_kill");
	CHECK_STR(candidates("sys_kill"),
		  "sys_kill __x64_sys_kill __arm64_sys_kill __riscv_sys_kill "
		  "__s390x_sys_kill SyS_kill __se_sys_kill __do_sys_kill "
		  "__ia32_sys_kill");
	CHECK(!strncmp(candidates("__arm64_sys_open*"),
		       "__arm64_sys_open* __x64_sys_open* __riscv_sys_open* ",
		       50));
	CHECK(strstr(candidates("__ia32_sys_kill"), " __arm64_sys_kill "));
	CHECK_STR(candidates("foo.isra.0"), "foo.isra.0");
	CHECK_STR(candidates(""), "");
	CHECK_STR(candidates("sys_"), "sys_ __x64_sys_sys_ __arm64_sys_sys_ "
		  "__riscv_sys_sys_ __s390x_sys_sys_ sys_sys_ SyS_sys_ "
		  "__se_sys_sys_ __do_sys_sys_ __ia32_sys_sys_");
	CHECK_STR(syscall_of("__x64_sys_openat"), "openat");
	CHECK_STR(syscall_of("SyS_openat"), "openat");
	CHECK(!syscall_of("vfs_read") && !syscall_of("__x64_sys_"));
	CHECK(syscall_is_wrapper("__x64_sys_openat"));
	CHECK(syscall_is_wrapper("__riscv_sys_openat"));
	CHECK(!syscall_is_wrapper("sys_openat"));
	CHECK(!syscall_is_wrapper("__se_sys_openat"));
	CHECK(!syscall_is_wrapper("vfs_read"));
}

int main(void)
{
	RUN(bcc_spelling);
	RUN(bpftrace_spelling);
	RUN(a_command_for_tracepoints);
	RUN(quotes);
	RUN(regular_expressions);
	RUN(parts_of_a_spec);
	RUN(positions_of_errors);
	RUN(the_caret_keeps_its_column);
	RUN(the_nearest_type);
	RUN(long_arguments);
	RUN(broken_specs_end);
	RUN(globs);
	RUN(globs_take_bounded_time);
	RUN(regexes_match_whole_names);
	RUN(regexes_take_bounded_time);
	RUN(names_of_syscalls);
	return test_failed;
}
