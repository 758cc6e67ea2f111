/* graph - perf script's text, files for other viewers, and comparisons. */
#include "test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "render/changes.h"
#include "render/graph.h"
#include "render/input.h"
#include "said.h"

/* Read the stacks of a text into a graph; the reader's counters in *in. */
static void read_into(struct flame *f, const char *text, size_t len, bool old,
		      struct input *in)
{
	int fd = memfd_create("stacks", 0), err;

	CHECK(write(fd, text, len) == (ssize_t)len);
	lseek(fd, 0, SEEK_SET);
	input_open(in, fd, "test");
	while ((err = input_next(in)) > 0)
		CHECK_EQ((old ? flame_add_old : flame_add)(f, in->frames.v,
			 in->frames.n, in->count), 0);
	CHECK_EQ(err, 0);
	close(fd);
}

/* The graph in that format; the caller frees. */
static char *written(struct flame *f, const char *path,
		     const struct graph_options *o, size_t *len)
{
	const struct graph_format *format = graph_format_of(path);
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	CHECK(format != NULL);
	if (format)
		CHECK_EQ(graph_write(format, out, f, o), 0);
	fclose(out);
	return text;
}

static char *converted(const char *from, const char *path,
		       const struct graph_options *o, size_t *len)
{
	struct flame f = { 0 };
	struct input in;
	char *text;

	read_into(&f, from, strlen(from), false, &in);
	input_close(&in);
	text = written(&f, path, o, len);
	flame_free(&f);
	return text;
}

/* Folded, what `from` is read as. */
static void check_folded(const char *from, const char *want)
{
	struct graph_options o = { 0 };
	size_t len;
	char *text = converted(from, "x.folded", &o, &len);

	CHECK_STR(text, want);
	free(text);
}

/* perf script */

TEST(script_fields)
{
	static const char *const headers[] = {
		"a b 12 [001] 1.5: 250000 cycles:ppp:",
		"a b 12/13 [001] 1.5: cycles:ppp:",
		"a b 12 1.500000000: 1 cycles:ppp: ",
		"a b    12 [001] cycles:ppp:",
		"a b 12 cycles:ppp:",
		"a b -1 12/13 ",
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
		char text[256];

		snprintf(text, sizeof(text), "%s\n\t ff81 f+0x1f (/bin/x)\n\t"
			 "  40 main+0x2 (/bin/x)\n\n", headers[i]);
		check_folded(text, i == 5 ? "a b -1;main;f 1\n"
					  : "a b;main;f 1\n");
	}
}

TEST(script_names_that_look_like_fields)
{
	check_folded("FS Broker 5858  5791/5860  30171.917889: 46 cycles: \n"
		     "\t1 f (x)\n\n", "FS Broker 5858;f 1\n");
	check_folded("a 1 2.3: e: 9 [000] 4.5: cycles: \n\t1 f (x)\n\n",
		     "a 1 2.3: e:;f 1\n");
	check_folded("sh 9 [000] 4.5: sched:sched_switch: prev=a 1 2.3: x\n"
		     "\t1 f (x)\n\n", "sh;f 1\n");
	check_folded(":-1 -1 [000] 4.5: e:\n\t1 f (x)\n", ":-1;f 1\n");
	check_folded(" 12 [000] 4.5: e:\n\t1 f (x)\n", ";f 1\n");
	check_folded("a;b 12 4.5: e:\n\t1 f;g (x)\n", "a\\x3bb;f\\x3bg 1\n");
	check_folded("# 12 4.5: e:\n\t1 f (x)\n", "#;f 1\n");
}

TEST(script_frames)
{
	check_folded(
	  "c 1 1.0: e:\n"
	  "\tffffffff81 vfs_read+0x10 ([kernel.kallsyms])\n"
	  "\tffffffff82 nf_hook+0x1 ([nf_tables])\n"
	  "\tffffffff83 ext4_x (/lib/modules/6/ext4.ko.xz)\n"
	  "\tffffffff84 [unknown] ([kernel.kallsyms])\n"
	  "\t7f01 std::f(int (*)(char)) (/tmp/a b (deleted))\n"
	  "\t7f02 g() (inlined)\n"
	  "\t7f03 Lx;::run+0x5 (/tmp/perf-12.map)\n"
	  "\t7f04 [unknown] (/usr/lib/libc.so.6)\n"
	  "\t7f05 [unknown] ([unknown])\n"
	  "\t7f06 [unknown] (/tmp/a (deleted))\n"
	  "\t7f07\n"
	  "\t7f08 nofile+0x12\n"
	  "\t7f09 c++0x1f (/bin/x)\n"
	  "\t7f0a __vdso_time ([vdso])\n"
	  "\t7f0b operator+ (x) y)\n",
	  "c;operator+;__vdso_time;c+;nofile;[7f07];[a (deleted)];"
	  "[unknown];[libc.so.6];Lx\\x3b::run_[j];g()_[i];"
	  "std::f(int (*)(char));[kernel.kallsyms];ext4_x_[k];nf_hook_[k];"
	  "vfs_read_[k] 1\n");
}

TEST(script_samples)
{
	check_folded("a 1 1.0: e:\n\t1 f (x)\nb 1 2.0: e:\n\t1 g (x)\n"
		     "b 1 2.0: e:\n\t1 g (x)\n", "a;f 1\nb;g 2\n");
	check_folded("a 1 1.0: e:\r\n\t1 f (x)\r\n\r\n\r\nb 1 1.0: e:\r\n",
		     "a;f 1\nb 1\n");
	/* Without call chains the frame stands behind the event. */
	check_folded("      cafe 1 1.0: 2 e:   7f01 f+0x1 (x)\n"
		     "      cafe 1 1.0: 2 e:   7f01 f+0x2 (x)\n",
		     "cafe;f 2\n");
	check_folded("# ========\n# captured on : Mon Nov 30 2026\n# x 12 \n"
		     "# ========\n#\na 1 1.0: e:\n\t1 f (x)\n  x.c:12\n"
		     "\t2 g (x)\n  [JIT] tid 5\n", "a;g;f 1\n");
}

TEST(script_faults)
{
	const char text[] = "a 1 1.0: e:\n\t1 f (x)\n\tno frame\nnothing\n\n"
			    "stray\n\t1 g (x)\na 1 1.0: other:\n\t1 h (x)\n\n"
			    "a 1 1.0: e:\n\t1 f (x)\n";
	struct flame f = { 0 };
	struct input in;
	const char *all;

	listen();
	read_into(&f, text, strlen(text), false, &in);
	CHECK_EQ(in.malformed, 4);
	CHECK_EQ(in.others, 1);
	CHECK_EQ(f.total, 2);
	input_close(&in);
	all = heard();
	CHECK(strstr(all, "test: line 3: neither a sample nor a frame"));
	CHECK(strstr(all, "test: line 6: outside of a sample"));
	CHECK(strstr(all, "4 malformed lines skipped"));
	CHECK(strstr(all, "1 sample of other events skipped"));
	CHECK(strstr(all, "event is e\n"));
	flame_free(&f);
}

TEST(script_that_is_cut)
{
	const char text[] = "a 1 1.0: e:\n\t1 f (x)\n\n"
			    "a 1 1.0: e:\n\t1 g (x)\n\t2 main (";
	struct flame f = { 0 };
	struct input in;

	listen();
	read_into(&f, text, strlen(text), false, &in);
	input_close(&in);
	CHECK_STR(heard(), "note: test: cut off in line 6: what came before "
		  "its sample is used\n");
	CHECK_EQ(f.total, 1);
	flame_free(&f);
}

TEST(kinds_mixed_in_one_file)
{
	const char script[] = "a 1 1.0: e:\n\t1 f (x)\na;b 3\n\ta;b 3\n\n"
			      "b;c 7\na;b 12\n";
	const char folds[] = "a;b 3\na 1 1.0: e:\n\t1 f (x)\n\nc;d 2\nx\n";
	struct flame f = { 0 };
	struct input in;
	const char *all;

	listen();
	read_into(&f, script, strlen(script), false, &in);
	input_close(&in);
	read_into(&f, folds, strlen(folds), false, &in);
	input_close(&in);
	all = heard();
	CHECK_EQ(f.total, 6);
	CHECK(strstr(all, "line 3: a folded stack in perf script's text"));
	CHECK(strstr(all, "line 4: a folded stack in perf script's text"));
	CHECK(strstr(all, "line 7: a folded stack in perf script's text"));
	CHECK(strstr(all, "line 2: perf script's text among folded stacks"));
	CHECK(strstr(all, "line 3: perf script's text among folded stacks"));
	CHECK(strstr(all, "line 6: no blank before a count"));
	flame_free(&f);
}

/* A stack without end is passed over, and takes no more than 8 MiB. */
TEST(script_endless_stack)
{
	static const char line[] = "\t1 abcdefghijklmnopqrstuvwxyz (x)\n";
	struct buf b = { 0 };
	struct flame f = { 0 };
	struct input in;

	buf_puts(&b, "a 1 1.0: e:\n");
	while (b.len < 20 << 20)
		buf_puts(&b, line);
	buf_puts(&b, "\nb 1 1.0: e:\n\t1 f (x)\n");
	listen();
	read_into(&f, b.data, b.len, false, &in);
	CHECK_EQ(in.malformed, 1);
	CHECK_EQ(f.total, 1);
	CHECK(in.names.cap < 20 << 20);
	input_close(&in);
	CHECK(strstr(heard(), "stack larger than 8 MiB"));
	buf_free(&b);
	flame_free(&f);
}

/* What looks like a little of each. */
TEST(kinds_of_input)
{
	check_folded("a 1 1.0: e: 5\nb 3\n", "a 1 1.0: e: 5\nb 3\n");
	check_folded("foo 12\nbar 1.5: 3\n", "bar 1.5: 3\nfoo 12\n");
	check_folded("\n\n  7f b;c 3\n", "  7f b;c 3\n");
	check_folded("a 12\n\t7f f (x)\n", "a;f 1\n");
	check_folded("a 1 1.0: sys_exit: NR 0 = 5\n\t7f f (x)\n", "a;f 1\n");
	check_folded("", "");
	check_folded("\n\n\n", "");
}

/* Folded */

TEST(folded_round)
{
	static const char text[] = "a b;c_[k];- 1\na b;c_[j];[x] 2\n"
				   "a b;m;-;k_[k];--;w_[w];z_[w] 3\n";

	check_folded(text, text);
	check_folded("a;-;k 1\na;x_[k]_[k] 1\na;y_[k]_[z] 1\n",
		     "a;-;k_[k] 1\na;x_[k\\x5d_[k] 1\na;y_[k]_[z\\x5d 1\n");
	check_folded("a 2\na;b 3\na;b;c 4\n", "a;b;c 4\na;b 3\na 2\n");
}

/* For other viewers */

static void check_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		FAIL("missing: %s", part);
}

TEST(json)
{
	struct graph_options o = { .title = "a\"\\\n\xff<b" };
	size_t len;
	char *text = converted("m;f_[k] 3\nm 2\nm;g\"\x01 4\n", "x.json", &o,
			       &len);

	check_has(text, "\"name\":\"a\\\"\\\\\\\\x0a\\\\xff<b\"");
	check_has(text, "\"unit\":\"none\",\"startValue\":0,\"endValue\":9");
	check_has(text, "\"samples\":[[0,1],[0,2],[0]],\n\"weights\":[3,4,2]}");
	check_has(text, "\"frames\":[{\"name\":\"m\"},{\"name\":\"f\",\"file\":"
		  "\"[kernel]\"},{\"name\":\"g\\\"\\\\x01\"}],\n"
		  "\"stringArray\":[\"m\",\"f\",\"g\\\"\\\\x01\"]");
	check_has(text, "\"samples\":{\"length\":4,\"weightType\":\"samples\","
		  "\"stack\":[1,2,0,null],\n\"timeDeltas\":[0,3,4,2],\n"
		  "\"weight\":[3,4,2,0]}");
	check_has(text, "\"stackTable\":{\"length\":3,\"prefix\":[null,0,0],"
		  "\"frame\":[0,1,2]}");
	check_has(text, "\"category\":[0,1,0],\"address\":[-1,-1,-1]");
	free(text);
	o.unit = &unit_us;
	text = converted("m 1234567\nn 2000\n", "x.json", &o, &len);
	check_has(text, "\"unit\":\"microseconds\"");
	check_has(text, "\"weights\":[1234567,2000]");
	check_has(text, "\"weightType\":\"tracing-ms\"");
	check_has(text, "\"weight\":[1234.567,2,0]");
	free(text);
	text = converted("m 0\n", "x.json", &o, &len);
	check_has(text, "\"samples\":[],\n\"weights\":[]}");
	check_has(text, "\"stack\":[null],\n\"timeDeltas\":[0],\n"
		  "\"weight\":[0]}");
	free(text);
}

TEST(json_tells_what_it_rounds)
{
	struct graph_options o = { 0 };
	size_t len;

	listen();
	free(converted("m 9007199254740992\n", "x.json", &o, &len));
	CHECK_STR(heard(), "");
	listen();
	free(converted("m 9007199254740993\n", "x.json", &o, &len));
	CHECK(strstr(heard(), "beyond 9007199254740992 are not exact"));
}

/* Enough of a protocol buffer to count with: fields of a message, in order. */
struct field {
	unsigned number;
	uint64_t value;		/* or the length */
	const char *bytes;	/* NULL of a number */
};

static const char *field_next(const char *p, struct field *f)
{
	uint64_t n[2] = { 0 };

	for (int i = 0; i < 2; i++) {
		int shift = 0;

		do
			n[i] |= (uint64_t)(*p & 0x7f) << (7 * shift++);
		while (*p++ & 0x80);
	}
	*f = (struct field){ (unsigned)(n[0] >> 3), n[1],
			     (n[0] & 7) == 2 ? p : NULL };
	return f->bytes ? p + n[1] : p;
}

/* As "NUMBER=VALUE ", texts in quotes, messages in brackets. */
static void print_message(struct buf *b, const char *p, const char *end,
			  unsigned within)
{
	struct field f;

	while (p < end) {
		const char *next = field_next(p, &f);

		buf_fmt(b, "%u=", f.number);
		if (!f.bytes)
			buf_fmt(b, "%llu ", (unsigned long long)f.value);
		else if (f.number == 6 || (within == 5 && f.number > 1))
			buf_fmt(b, "'%.*s' ", (int)f.value, f.bytes);
		else {
			buf_puts(b, "{ ");
			print_message(b, f.bytes, next, f.number);
			buf_puts(b, "} ");
		}
		p = next;
	}
	CHECK(p == end);
}

TEST(pprof)
{
	struct graph_options o = { .title = "T", .unit = &unit_us,
				   .period = 10101010 };
	struct buf b = { 0 };
	size_t len;
	char *text = converted("m;f_[k] 300\nm;\xff 2\n", "x.pb", &o, &len);

	print_message(&b, text, text + len, 0);
	CHECK_STR(buf_str(&b), "1={ 1=1 2=2 } "
		  "2={ 1=2 1=1 2=300 } 2={ 1=3 1=1 2=2 } "
		  "4={ 1=1 2=1 4={ 1=1 } } 5={ 1=1 2=14 } "
		  "4={ 1=2 2=2 4={ 1=2 } } 5={ 1=2 2=15 } "
		  "4={ 1=3 2=1 4={ 1=3 } } 5={ 1=3 2=16 } "
		  "3={ 1=1 5=7 7=1 } 3={ 1=2 5=8 7=1 } "
		  "6='' 6='off-cpu' 6='microseconds' 6='cpu' 6='nanoseconds' "
		  "6='T' 6='' 6='[user]' 6='[kernel]' 6='[JIT]' 6='[unknown]' "
		  "6='[inlined]' 6='[waker]' 6='[delimiter]' "
		  "6='m' 6='f' 6='\\xff' 11={ 1=3 2=4 } 12=10101010 13=5 ");
	free(text);
	buf_free(&b);
	listen();
	text = converted("m 18446744073709551615\n", "x.pb", &o, &len);
	CHECK(strstr(heard(), "beyond 9223372036854775807"));
	free(text);
	listen();			/* nor does their sum wrap */
	text = converted("a 9000000000000000000\nb 9000000000000000000\n",
			 "x.pb", &o, &len);
	CHECK(strstr(heard(), "beyond 9223372036854775807"));
	print_message(&b, text, text + len, 0);
	CHECK(strstr(buf_str(&b), "2=9000000000000000000"));
	CHECK(strstr(buf_str(&b), "2=223372036854775807"));
	buf_free(&b);
	free(text);
}

/* Two programs that are known. */

static const char before[] = "p;main;read_[k] 40\np;main;work 50\np;old 10\n";
static const char after[] = "p;main;read_[k] 40\np;main;work 150\n"
			    "p;main;work;work 5\np;new 5\n";

static void compare(struct flame *f, const char *old, const char *new)
{
	struct input in;

	f->diff = true;
	read_into(f, old, strlen(old), true, &in);
	input_close(&in);
	read_into(f, new, strlen(new), false, &in);
	input_close(&in);
}

TEST(diff_picture)
{
	struct graph_options o = { .width = 1020 };
	struct flame f = { 0 };
	size_t len;
	char *svg;

	compare(&f, before, after);
	CHECK_EQ(f.total, 200);
	CHECK_EQ(f.old_total, 100);
	svg = written(&f, "x.svg", &o, &len);
	check_has(svg, "<title>all (200 samples, 100%)</title>");
	check_has(svg, "<title>p (200 samples, 100%; old 100, 100%; +0%)"
		  "</title>");
	check_has(svg, "<title>read (40 samples, 20%; old 40, 40%; -20%)"
		  "</title>");
	check_has(svg, "<title>work (155 samples, 77.5%; old 50, 50%; +27.5%)"
		  "</title>");
	check_has(svg, "<title>work (5 samples, 2.5%; old 0, 0%; +2.5%)"
		  "</title>");
	CHECK(!strstr(svg, ">old ("));
	/* The largest change has the full color, none has none. */
	check_has(svg, "fill=\"#e83e32\"");
	check_has(svg, "fill=\"#f6f6f6\"");
	free(svg);
	flame_free(&f);
	compare(&f, "", after);
	svg = written(&f, "x.svg", &o, &len);
	check_has(svg, "<title>new (5 samples, 2.5%; old 0, 0%; +2.5%)");
	free(svg);
	flame_free(&f);
	compare(&f, before, "");
	svg = written(&f, "x.svg", &o, &len);
	check_has(svg, ">no samples</text>");
	free(svg);
	flame_free(&f);
}

/* What a node has from the older stacks stays with it when it is split. */
TEST(diff_splits)
{
	struct graph_options o = { 0 };
	struct flame f = { 0 };
	size_t len;
	char *svg;

	compare(&f, "a;b;c;d 3\na;b;x 1\n", "a;b;c;y 2\na;b;c;d 1\na;z 1\n");
	svg = written(&f, "x.svg", &o, &len);
	check_has(svg, ">a (4 samples, 100%; old 4, 100%; +0%)");
	check_has(svg, ">b (3 samples, 75%; old 4, 100%; -25%)");
	check_has(svg, ">c (3 samples, 75%; old 3, 75%; +0%)");
	check_has(svg, ">d (1 samples, 25%; old 3, 75%; -50%)");
	check_has(svg, ">y (2 samples, 50%; old 0, 0%; +50%)");
	free(svg);
	flame_free(&f);
}

static void add_changes(struct changes *c, const char *text, bool old)
{
	int fd = memfd_create("stacks", 0);
	struct input in;

	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	lseek(fd, 0, SEEK_SET);
	input_open(&in, fd, "test");
	while (input_next(&in) > 0)
		CHECK_EQ(changes_add(c, in.frames.v, in.frames.n, in.count,
				     old), 0);
	input_close(&in);
	close(fd);
}

TEST(diff_table)
{
	struct changes c = { 0 };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	add_changes(&c, before, true);
	add_changes(&c, after, false);
	CHECK_EQ(changes_print(&c, 3, out), 0);
	CHECK_EQ(changes_print(&c, 0, out), 0);
	fclose(out);
	CHECK_STR(strchr(text, '\n') + 1,
	"  CHANGE      OLD      NEW    CHANGE      OLD      NEW  FUNCTION\n"
	"  +27.50    50.00    77.50    +27.50    50.00    77.50  work\n"
	"  -20.00    40.00    20.00    -20.00    40.00    20.00  read\n"
	"  -10.00    10.00     0.00    -10.00    10.00     0.00  old\n"
	"% of all stacks: that end in it, that have it\n"
	"  CHANGE      OLD      NEW    CHANGE      OLD      NEW  FUNCTION\n"
	"  +27.50    50.00    77.50    +27.50    50.00    77.50  work\n"
	"  -20.00    40.00    20.00    -20.00    40.00    20.00  read\n"
	"  -10.00    10.00     0.00    -10.00    10.00     0.00  old\n"
	"   +2.50     0.00     2.50     +2.50     0.00     2.50  new\n"
	"   +0.00     0.00     0.00     +7.50    90.00    97.50  main\n");
	free(text);
	changes_free(&c);
}

int main(void)
{
	RUN(script_fields);
	RUN(script_names_that_look_like_fields);
	RUN(script_frames);
	RUN(script_samples);
	RUN(script_faults);
	RUN(script_endless_stack);
	RUN(script_that_is_cut);
	RUN(kinds_mixed_in_one_file);
	RUN(kinds_of_input);
	RUN(folded_round);
	RUN(json);
	RUN(json_tells_what_it_rounds);
	RUN(pprof);
	RUN(diff_picture);
	RUN(diff_splits);
	RUN(diff_table);
	return test_failed;
}
