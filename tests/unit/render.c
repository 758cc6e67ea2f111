/* render - the flame tree, the folded reader, stack rows and the SVG. */
#include "test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/escape.h"
#include "render/changes.h"
#include "render/graph.h"
#include "render/input.h"
#include "render/palette.h"
#include "render/stack.h"

/* Folded text to a graph; the reader's counters come back in *r. */
static void graph_of(struct flame *f, const char *text, size_t len,
		     struct input *r)
{
	int fd = memfd_create("folded", 0), err;
	struct input own;

	r = r ? r : &own;
	CHECK(write(fd, text, len) == (ssize_t)len);
	lseek(fd, 0, SEEK_SET);
	input_open(r, fd, "test");
	while ((err = input_next(r)) > 0)
		CHECK_EQ(flame_add(f, r->frames.v, r->frames.n, r->count), 0);
	CHECK_EQ(err, 0);
	close(fd);
}

struct listing {
	struct buf text;
	double right[64];	/* of the last frame by depth */
	bool outside;
};

static int list_box(void *arg, const struct flame_box *box)
{
	static const char kinds[] = "ukj?iwd";
	struct listing *l = arg;
	uint32_t d = box->depth;

	if (d < 63) {
		l->right[d + 1] = box->left;
		if (box->left < l->right[d] - 1e-9)
			l->outside = true;
		l->right[d] = box->left + box->width;
	}
	if (box->left < 0 || box->left + box->width > 1 + 1e-9)
		l->outside = true;
	buf_fmt(&l->text, "%u:", d);
	escape(&l->text, box->name, box->len, ESCAPE_TEXT);
	buf_fmt(&l->text, "/%c=%llu ", kinds[box->kind],
		(unsigned long long)box->value);
	return 0;
}

static void check_graph(const char *folded, size_t len, const char *want)
{
	struct listing l = { 0 };
	struct flame f = { 0 };
	struct input r;

	graph_of(&f, folded, len, &r);
	input_close(&r);
	CHECK_EQ(flame_walk(&f, 0, list_box, &l), 0);
	CHECK_STR(buf_str(&l.text), want);
	CHECK(!l.outside);
	buf_free(&l.text);
	flame_free(&f);
}

#define GRAPH(folded, want) check_graph(folded, strlen(folded), want)

TEST(tree_merges_and_splits)
{
	GRAPH("a;b;c;d 1\na;b;x 2\na;b 4\na;b;c 8\nz 16\n",
	      "0:a/u=15 1:b/u=15 2:c/u=9 3:d/u=1 2:x/u=2 0:z/u=16 ");
	GRAPH("a;b;c 1\na;b;c 1\na 1\n", "0:a/u=3 1:b/u=2 2:c/u=2 ");
	GRAPH("b 1\na 1\nab 1\n", "0:a/u=1 0:ab/u=1 0:b/u=1 ");
	GRAPH("a;a;a 1\na;a 1\n", "0:a/u=2 1:a/u=2 2:a/u=1 ");
}

TEST(folded_names_keep_blanks_and_lookalikes)
{
	GRAPH("foo [w] 21332 5\n", "0:foo [w] 21332/u=5 ");
	GRAPH("- 5 7\n", "0:- 5/u=7 ");
	GRAPH("--;x 1\nall 2\n@[1]: 3 3\n",
	      "0:--/u=1 1:x/u=1 0:@[1]: 3/u=3 0:all/u=2 ");
	GRAPH("a b;c  d; 3\r\n", "0:a b/u=3 1:c  d/u=3 2:/u=3 ");
	GRAPH(" 5", "0:/u=5 ");
	GRAPH("tab;x\t5 \n", "0:tab/u=5 1:x/u=5 ");
}

TEST(folded_kinds)
{
	GRAPH("c;u;k_[k];j_[j];i_[i];w_[w];o_[x] 1\n",
	      "0:c/u=1 1:u/u=1 2:k/k=1 3:j/j=1 4:i/i=1 5:w/w=1 6:o_[x]/u=1 ");
	GRAPH("c;[unknown];[libc+0x1f];0x7f01;[u]_[k];_[k] 1\n",
	      "0:c/u=1 1:[unknown]/?=1 2:[libc+0x1f]/?=1 3:0x7f01/?=1 "
	      "4:[u]/?=1 5:_[k]/u=1 ");
	GRAPH("c;main;-;sys;--;w;-;x 1\n",
	      "0:c/u=1 1:main/u=1 2:-/d=1 3:sys/k=1 4:--/d=1 5:w/w=1 6:-/d=1 "
	      "7:x/w=1 ");
}

TEST(folded_semicolons)
{
	GRAPH("c\\x3bd;<[u8\\x3b 3]>_[j];\\x0a 1\n",
	      "0:c;d/u=1 1:<[u8; 3]>/j=1 2:\\x0a/u=1 ");
}

TEST(folded_counts)
{
	GRAPH("a 0\n", "");
	GRAPH("a 1.4\nb 1.5\nc 2.\nd 0.49\n", "0:a/u=1 0:b/u=2 0:c/u=2 ");
	GRAPH("a 18446744073709551615\n", "0:a/u=18446744073709551615 ");
	GRAPH("a 18446744073709551615\nb 18446744073709551615\na;c 5\n",
	      "0:a/u=18446744073709551615 1:c/u=5 0:b/u=18446744073709551615 ");
}

TEST(folded_skips_malformed_lines)
{
	const char text[] = "nothing\na;b x\na -5\na 1e3\na 1.x\n\n \n123\n"
			    "a 18446744073709551616\nok 1\na;b 12 x";
	struct flame f = { 0 };
	struct input r;

	graph_of(&f, text, sizeof(text) - 1, &r);
	CHECK_EQ(r.malformed, 8);
	CHECK_EQ(r.line, 11);
	CHECK_EQ(f.total, 1);
	input_close(&r);
	flame_free(&f);
}

TEST(folded_long_lines)
{
	size_t n = 20 << 20, i;
	char *text = malloc(n);
	struct flame f = { 0 };
	struct input r;

	memset(text, 'x', n);
	memcpy(text + n - 9, " 1\nok 2\nz", 9);
	for (i = 1; i < 2 << 20; i += 2)
		text[i] = ';';
	memcpy(text + (2 << 20), " 1\n", 3);
	graph_of(&f, text, n, &r);
	CHECK_EQ(r.malformed, 2);
	CHECK_EQ(r.line, 4);
	CHECK_EQ(f.total, 3);
	input_close(&r);
	flame_free(&f);
	free(text);
}

TEST(folded_reads_nul_bytes)
{
	check_graph("a\0b;c 1\n", 8, "0:a\\x00b/u=1 1:c/u=1 ");
}

/* Stack rows */

static const struct frame user[] = {
	{ "read", 0x10, FRAME_USER }, { "main", 0x20, FRAME_USER },
};
static const struct frame kernel[] = {
	{ "vfs_read", 0xf1, FRAME_KERNEL }, { "entry", 0xf2, FRAME_KERNEL },
};

static struct stack_row row_of(const char *comm, size_t nuser, size_t nkernel)
{
	return (struct stack_row){
		.comm = comm, .pid = 7, .value = 3, .user = user,
		.kernel = kernel, .nuser = nuser, .nkernel = nkernel,
	};
}

static void check_row(const struct stack_row *row, struct stack_options how,
		      const char *want)
{
	struct buf b = { 0 };

	if (how.folded)
		stack_folded(&b, row, &how);
	else
		stack_text(&b, row, &how);
	CHECK_STR(buf_str(&b), want);
	buf_free(&b);
}

#define ROW(nu, nk, want, ...) do { \
	struct stack_row row_ = row_of("comm", nu, nk); \
	check_row(&row_, (struct stack_options){ __VA_ARGS__ }, want); \
} while (0)

TEST(rows_folded)
{
	ROW(2, 2, "comm;main;read;entry;vfs_read", .folded = true);
	ROW(2, 2, "comm;main;read;-;entry_[k];vfs_read_[k]", .folded = true,
	    .delimited = true, .annotate = true);
	ROW(2, 0, "comm;main;read", .folded = true, .delimited = true);
	ROW(0, 2, "comm;entry;vfs_read", .folded = true, .delimited = true);
	ROW(0, 0, "comm", .folded = true, .delimited = true);
	ROW(1, 1, "comm;0x10 read;0xf1 vfs_read", .folded = true,
	    .addresses = true);
}

TEST(rows_text)
{
	ROW(2, 2, "    vfs_read\n    entry\n    --\n    read\n    main\n"
	    "    -                comm (7)\n", .delimited = true);
	ROW(0, 1, "    vfs_read_[k]\n    -                comm (7)\n",
	    .delimited = true, .annotate = true);
	ROW(0, 0, "    -                comm (7)\n", .delimited = true);
}

TEST(rows_missed)
{
	struct stack_row row = row_of("c", 0, 1);

	row.missed_user = true;
	check_row(&row, (struct stack_options){ .folded = true },
		  "c;[Missed User Stack];vfs_read");
	check_row(&row, (struct stack_options){ 0 },
		  "    vfs_read\n    [Missed User Stack]\n"
		  "    -                c (7)\n");
}

TEST(rows_of_wakers)
{
	struct stack_row row = row_of("c", 2, 2), waker = row_of("w;", 2, 2);
	struct stack_options how = { .delimited = true };
	struct listing l = { 0 };
	struct flame f = { 0 };

	row.waker = &waker;
	waker.pid = 8;
	check_row(&row, how,
		  "    waker:           w; 8\n"
		  "    main\n    read\n    -\n    entry\n    vfs_read\n"
		  "    --               --\n"
		  "    vfs_read\n    entry\n    -\n    read\n    main\n"
		  "    target:          c 7\n");
	how.folded = true;
	check_row(&row, how, "c;main;read;-;entry;vfs_read;--;vfs_read;entry;"
		  "-;read;main;w\\x3b");
	waker = (struct stack_row){ .comm = "[no waker]" };
	row.nuser = 0;
	check_row(&row, how, "c;entry;vfs_read;--;[no waker]");
	waker = row_of("w", 1, 1);
	CHECK_EQ(stack_flame(&f, &row, &how), 0);
	flame_walk(&f, 0, list_box, &l);
	CHECK_STR(buf_str(&l.text), "0:c/u=3 1:entry/k=3 2:vfs_read/k=3 "
		  "3:--/d=3 4:vfs_read/w=3 5:read/w=3 6:w/w=3 ");
	buf_free(&l.text);
	flame_free(&f);
}

TEST(rows_of_hostile_names)
{
	struct stack_row row = row_of("a;b\n1 \x1b[m\xff", 0, 0);
	struct stack_options folded = { .folded = true, .annotate = true };
	const struct frame bad[] = {
		{ "-", 0, FRAME_USER }, { "--", 0, FRAME_USER },
		{ "x_[k]", 0, FRAME_USER }, { "j", 0, FRAME_JIT },
	};

	check_row(&row, folded, "a\\x3bb\\x0a1 \\x1b[m\\xff");
	check_row(&row, (struct stack_options){ 0 },
		  "    -                a;b\\x0a1 \\x1b[m\\xff (7)\n");
	row.comm = "";
	check_row(&row, folded, "");
	row.comm = "-";
	row.user = bad;
	row.nuser = 4;
	check_row(&row, folded, "\\x2d;j_[j];x_[k\\x5d;-\\x2d;\\x2d");
}

TEST(set_merges_by_text_and_sorts)
{
	struct stack_set s = { .how.folded = true };
	struct stack_row a = row_of("a", 1, 0), b = row_of("b", 0, 0);
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	CHECK_EQ(stack_set_add(&s, &a), 0);
	CHECK_EQ(stack_set_add(&s, &b), 0);
	a.pid = 8;
	CHECK_EQ(stack_set_add(&s, &a), 0);
	b.comm = "c";
	CHECK_EQ(stack_set_add(&s, &b), 0);
	CHECK_EQ(stack_set_print(&s, 0, out), 0);
	fprintf(out, "top\n");
	CHECK_EQ(stack_set_print(&s, 1, out), 0);
	fclose(out);
	CHECK_STR(text, "b 3\nc 3\na;read 6\ntop\na;read 6\n");
	b.comm = "";				/* nothing at all */
	CHECK_EQ(stack_set_add(&s, &b), 0);
	CHECK_EQ(s.values.n, 4);
	stack_set_free(&s);
	CHECK_EQ(stack_set_add(&s, &b), 0);
	free(text);
	stack_set_free(&s);
}

TEST(rows_to_flame_equal_their_folded_text)
{
	struct stack_row row = row_of("comm", 2, 2);
	struct stack_options how = { .delimited = true };
	struct listing l = { 0 };
	struct flame f = { 0 };

	CHECK_EQ(stack_flame(&f, &row, &how), 0);
	flame_walk(&f, 0, list_box, &l);
	CHECK_STR(buf_str(&l.text), "0:comm/u=3 1:main/u=3 2:read/u=3 "
		  "3:-/d=3 4:entry/k=3 5:vfs_read/k=3 ");
	buf_free(&l.text);
	flame_free(&f);
}

/* SVG */

static char *svg_of(const char *folded, size_t len,
		    const struct graph_options *o)
{
	struct flame f = { 0 };
	struct input r;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	graph_of(&f, folded, len, &r);
	input_close(&r);
	CHECK_EQ(graph_write(&graph_svg, out, &f, o), 0);
	fclose(out);
	flame_free(&f);
	return text;
}

static void check_has(const char *text, const char *part, bool has)
{
	if (!strstr(text, part) == has)
		FAIL("%s: %s", has ? "missing" : "there", part);
}

TEST(svg_frames)
{
	struct graph_options o = { .title = "a<b&\"'\x1b", .width = 220 };
	const char folded[] = "main;f<int> 3\nmain;\xff\x01 1\n";
	char *svg = svg_of(folded, sizeof(folded) - 1, &o);

	check_has(svg, "a&lt;b&amp;&quot;&#39;\\x1b</text>", true);
	check_has(svg, "<title>all (4 samples, 100%)</title>"
		  "<rect x=\"0\" y=\"68\" width=\"200\" height=\"15\"", true);
	check_has(svg, "<title>main (4 samples, 100%)</title>"
		  "<rect x=\"0\" y=\"52\" width=\"200\"", true);
	check_has(svg, "<title>f&lt;int&gt; (3 samples, 75%)</title>"
		  "<rect x=\"0\" y=\"36\" width=\"150\"", true);
	check_has(svg, "<title>\\xff\\x01 (1 samples, 25%)</title>"
		  "<rect x=\"150\" y=\"36\" width=\"50\"", true);
	check_has(svg, ">\\xff..<", true);
	check_has(svg, "f&lt;int&gt;</text>", true);
	free(svg);
}

TEST(svg_units)
{
	const char folded[] = "main;read_[k] 1234567\n";
	struct graph_options o = { .unit = &unit_us };
	char *svg = svg_of(folded, sizeof(folded) - 1, &o), *named, color[16];

	check_has(svg, "<title>main (1,234,567 us, 100%)</title>", true);
	snprintf(color, sizeof(color), "#%06x",
		 palette_color(palette_find("offcpu"), "read", 4,
			       FLAME_KERNEL));
	check_has(svg, color, true);
	o.countname = "ticks";
	o.colors = "hot";
	named = svg_of(folded, sizeof(folded) - 1, &o);
	check_has(named, "<title>main (1,234,567 ticks, 100%)</title>", true);
	check_has(named, color, palette_color(palette_find("hot"), "read", 4,
		  FLAME_KERNEL) == palette_color(palette_find("offcpu"),
						 "read", 4, FLAME_KERNEL));
	free(svg);
	free(named);
}

TEST(every_unit_has_a_palette)
{
	for (size_t i = 0; unit_at(i); i++) {
		CHECK(unit_find(unit_at(i)->name) == unit_at(i));
		CHECK(palette_find(unit_at(i)->colors) != NULL);
	}
	CHECK(!unit_find("furlongs"));
}

TEST(svg_leaves_narrow_frames_out)
{
	const char folded[] = "wide 9999\nnarrow 1\n";
	struct graph_options o = { .min_width = 200 };
	char *svg = svg_of(folded, sizeof(folded) - 1, &o);

	check_has(svg, "narrow", false);
	free(svg);
	o.min_width = 100;
	svg = svg_of(folded, sizeof(folded) - 1, &o);
	check_has(svg, "<title>narrow (1 samples, 0.01%)</title>", true);
	free(svg);
}

TEST(svg_awkward_counts)
{
	struct graph_options o = { 0 };
	char *svg = svg_of("a 0\n", 4, &o);
	const char two[] = "a 18446744073709551615\nb 18446744073709551615\n";

	check_has(svg, ">no samples</text>", true);
	check_has(svg, "nan", false);
	check_has(svg, "=\"\"", false);
	free(svg);
	svg = svg_of(two, sizeof(two) - 1, &o);
	check_has(svg, "width=\"590\"", true);
	check_has(svg, "\"-", false);
	check_has(svg, "18,446,744,073,709,551,615 samples", true);
	free(svg);
}

TEST(svg_cuts_labels_between_characters)
{
	/* 60 px hold seven cells: a wide character takes two of them. */
	const char folded[] = "\xe5\x87\xbd\xe6\x95\xb0\xe5\x87\xbd\xe6\x95\xb0"
			      ";\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6"
			      "\xc3\xbc\xc3\xa4\xc3\xb6;1234567 1\nx;y 1\n";
	struct graph_options o = { .width = 140 };
	char *svg = svg_of(folded, sizeof(folded) - 1, &o);

	check_has(svg, ">x</text>", true);
	check_has(svg, ">\xe5\x87\xbd\xe6\x95\xb0..</text>", true);
	check_has(svg, ">\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6..</text>",
		  true);
	check_has(svg, ">1234567</text>", true);
	free(svg);
}

TEST(svg_deep_stack)
{
	struct buf b = { 0 };
	struct graph_options o = { 0 };
	char *svg;

	for (int i = 0; i < 10000; i++)
		buf_fmt(&b, "%sf%d", i ? ";" : "", i);
	buf_puts(&b, " 1\n");
	svg = svg_of(b.data, b.len, &o);
	check_has(svg, "f9999 (1 samples, 100%)", true);
	check_has(svg, "\"-", false);
	free(svg);
	buf_free(&b);
}

TEST(svg_unknown_palette)
{
	struct graph_options o = { .colors = "plaid" };
	struct flame f = { 0 };

	CHECK(graph_write(&graph_svg, stdout, &f, &o) < 0);
}

TEST(colors_follow_name_and_kind)
{
	const struct palette *hot = palette_find("hot");

	CHECK_EQ(palette_color(hot, "f", 1, FLAME_USER),
		 palette_color(hot, "f", 1, FLAME_USER));
	CHECK(palette_color(hot, "f", 1, FLAME_USER) !=
	      palette_color(hot, "g", 1, FLAME_USER));
	CHECK(palette_color(hot, "f", 1, FLAME_USER) !=
	      palette_color(hot, "f", 1, FLAME_KERNEL));
	for (size_t i = 0; palette_name(i); i++)
		CHECK(palette_find(palette_name(i)) != NULL);
	CHECK(palette_find("") == NULL);
}

int main(void)
{
	RUN(tree_merges_and_splits);
	RUN(folded_names_keep_blanks_and_lookalikes);
	RUN(folded_kinds);
	RUN(folded_semicolons);
	RUN(folded_counts);
	RUN(folded_skips_malformed_lines);
	RUN(folded_long_lines);
	RUN(folded_reads_nul_bytes);
	RUN(rows_folded);
	RUN(rows_text);
	RUN(rows_missed);
	RUN(rows_of_wakers);
	RUN(rows_of_hostile_names);
	RUN(set_merges_by_text_and_sorts);
	RUN(rows_to_flame_equal_their_folded_text);
	RUN(svg_frames);
	RUN(svg_units);
	RUN(every_unit_has_a_palette);
	RUN(svg_leaves_narrow_frames_out);
	RUN(svg_awkward_counts);
	RUN(svg_cuts_labels_between_characters);
	RUN(svg_deep_stack);
	RUN(svg_unknown_palette);
	RUN(colors_follow_name_and_kind);
	return test_failed;
}
