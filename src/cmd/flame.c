/* flame - stacks of whichever tool to a flame graph, or for other viewers. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/out.h"
#include "cmd/cmd.h"
#include "cmd/raw_names.h"
#include "render/changes.h"
#include "render/input.h"
#include "render/svg.h"
#include "sys/host.h"

struct settings {
	struct name_options names;
	const char *title, *subtitle, *units, *countname, *colors, *minwidth;
	const char *output, *old;
	uint64_t width, height, fontsize, top;
	bool inverted, reverse, hash;
};

/* What is read: the graph, and with --diff the table. */
struct stacks {
	struct flame flame;
	struct changes changes;
	bool reverse;
	bool old;			/* it is what --diff compares with */
	const char *output;		/* NULL = standard output */
	struct raw_names names;		/* of raw files, */
	struct stack_options how;	/* as who recorded them shows stacks */
	struct graph_options *graph;
	const struct name_options *from;
};

#define AT(field) offsetof(struct settings, field)

static const struct opt options[] = {
	{ .name = "title", .kind = OPT_TEXT, .at = AT(title), .arg = "TEXT",
	  .help = "the heading (Flame Graph)" },
	{ .name = "subtitle", .kind = OPT_TEXT, .at = AT(subtitle),
	  .arg = "TEXT", .help = "a second line" },
	{ .name = "width", .kind = OPT_NUM, .at = AT(width), .arg = "PX",
	  .help = "of the picture (1200)", .min = 100, .max = 1000000 },
	{ .name = "height", .kind = OPT_NUM, .at = AT(height), .arg = "PX",
	  .help = "of one frame (16)", .min = 4, .max = 1000 },
	{ .name = "fontsize", .kind = OPT_NUM, .at = AT(fontsize),
	  .arg = "PX", .help = "of all text (12)", .min = 4, .max = 200 },
	{ .name = "min-width", .kind = OPT_TEXT, .at = AT(minwidth),
	  .arg = "PX", .help = "leave out narrower frames (0.1)" },
	{ .name = "units", .kind = OPT_TEXT, .at = AT(units), .arg = "UNIT",
	  .help = "samples, us, bytes: its name and tones" },
	{ .name = "colors", .kind = OPT_TEXT, .at = AT(colors),
	  .arg = "PALETTE", .help = "hot (kernel blue, JIT green), java, mem, "
				    "offcpu, io, ..." },
	{ .name = "countname", .kind = OPT_TEXT, .at = AT(countname),
	  .arg = "TEXT", .help = "what is counted (as --units says)" },
	{ .name = "inverted", .kind = OPT_FLAG, .at = AT(inverted),
	  .help = "root on top: an icicle graph" },
	{ .name = "reverse", .kind = OPT_FLAG, .at = AT(reverse),
	  .help = "merge from the leaves: who calls them" },
	{ .name = "diff", .kind = OPT_TEXT, .at = AT(old), .arg = "OLD",
	  .help = "compare with that file: red is more, blue less" },
	{ .name = "top", .kind = OPT_NUM, .at = AT(top), .arg = "N",
	  .help = "of --diff: the N largest changes (20)", .min = 1 },
	{ 'o', "output", OPT_TEXT, AT(output), "FILE",
	  .help = "write .svg, .folded, .json or .pb there; of --diff .svg "
		  "or .txt" },
	NAME_OPTIONS(AT(names)),
	/* As flamegraph.pl has it. Colors always follow the names. */
	{ .name = "minwidth", .kind = OPT_TEXT, .at = AT(minwidth),
	  .arg = "PX" },
	{ .name = "hash", .kind = OPT_FLAG, .at = AT(hash) },
	{ 0 },
};

/* "0.1", "2": pixels to thousandths; 0 becomes the least there is. */
static int parse_minwidth(const char *s, uint32_t *out)
{
	const char *end = s + strlen(s), *p = s;
	uint64_t whole = 0, part = 0, digit = 100;

	if (*p < '0' || *p > '9')
		return -EINVAL;
	p = num_dec(p, end, &whole);
	if (!p || whole > 1000000)
		return -EINVAL;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++, digit /= 10)
			part += (uint64_t)(*p - '0') * digit;
	if (*p)
		return -EINVAL;
	*out = (uint32_t)(whole * 1000 + part);
	if (!*out)
		*out = 1;
	return 0;
}

static int check_colors(const char *colors)
{
	struct buf all = { 0 };
	const char *name;

	for (size_t i = 0; (name = svg_palette(i)); i++) {
		if (!strcmp(name, colors)) {
			buf_free(&all);
			return 0;
		}
		buf_fmt(&all, "%s%s", i ? ", " : "", name);
	}
	log_error("flame: --colors '%s': no such palette", colors);
	log_hint("there are %s", buf_str(&all));
	buf_free(&all);
	return -EINVAL;
}

static int check_units(const char *name, const struct unit **unit)
{
	*unit = name ? unit_find(name) : NULL;
	if (*unit || !name)
		return 0;
	log_error("flame: --units '%s': no such unit", name);
	log_hint("there are samples, us, bytes; --countname takes any text");
	return -EINVAL;
}

static int to_graph_options(const struct settings *s, struct graph_options *o)
{
	*o = (struct graph_options){
		.title = s->title, .subtitle = s->subtitle,
		.countname = s->countname, .colors = s->colors,
		.width = (uint32_t)s->width,
		.font_size = (uint32_t)s->fontsize,
		.row_height = (uint32_t)s->height, .inverted = s->inverted,
	};
	if (s->minwidth && parse_minwidth(s->minwidth, &o->min_width)) {
		log_error("flame: --min-width '%s': a width in pixels expected",
			  s->minwidth);
		return -EINVAL;
	}
	if (check_units(s->units, &o->unit))
		return -EINVAL;
	if (s->top && !s->old) {
		log_error("flame: --top: only with --diff");
		return -EINVAL;
	}
	return s->colors ? check_colors(s->colors) : 0;
}

/* The leaf first. */
static void turn_round(struct flame_frame *v, size_t n)
{
	for (size_t i = 0, j = n; i + 1 < j; i++) {
		struct flame_frame swap = v[i];

		v[i] = v[--j];
		v[j] = swap;
	}
}

static int add_stack(void *arg, struct flame_frame *frames, size_t n,
		     uint64_t count)
{
	struct stacks *s = arg;
	int err = 0;

	if (s->flame.diff)
		err = changes_add(&s->changes, frames, n, count, s->old);
	if (err)
		return err;
	if (s->reverse)
		turn_round(frames, n);
	return (s->old ? flame_add_old : flame_add)(&s->flame, frames, n,
						    count);
}

static int take_head(void *arg, const struct raw_head *head)
{
	struct stacks *s = arg;

	raw_names_like(head, s->graph, &s->how);
	return 0;
}

static int take_row(void *arg, const struct stack_row *row,
		    const uint64_t *values)
{
	struct stacks *s = arg;

	(void)values;
	return stack_frames(row, &s->how, add_stack, s);
}

/* A raw file, named as sonde report does it. */
static int add_raw(struct stacks *s, const struct input *in)
{
	struct raw_names *n = &s->names;
	struct raw_reader r;
	int err = 0;

	if (!n->desk) {
		host_raise_files();
		err = raw_names_open(n, s->from);
	}
	if (err)
		return err;
	n->head = take_head;
	n->row = take_row;
	n->arg = s;
	err = raw_names_read(n, in->fd, in->data, in->end, in->path, &r);
	raw_read_free(&r);
	return err;
}

/* What is neither is folded stacks or perf script's text. */
static int add_input(struct stacks *s, struct input *in)
{
	int err = input_begin(in, RAW_MAGIC_SIZE);

	if (!err && raw_begins(in->data, in->end))
		return add_raw(s, in);
	while (!err && (err = input_next(in)) > 0)
		err = add_stack(s, in->frames.v, in->frames.n, in->count);
	return err;
}

static bool is_output(const struct stacks *s, int fd)
{
	struct stat in, out;

	return s->output && !fstat(fd, &in) && !stat(s->output, &out) &&
	       S_ISREG(in.st_mode) && in.st_dev == out.st_dev &&
	       in.st_ino == out.st_ino;
}

/* Add all stacks of one input; what fails has been reported. */
static int add_stacks(void *arg, int fd, const char *path)
{
	struct stacks *s = arg;
	struct input in;
	int err;

	if (is_output(s, fd)) {
		log_error("%s: is read: the result cannot go there", path);
		return -EINVAL;
	}
	input_open(&in, fd, path);
	err = add_input(s, &in);
	if (err == -ENOMEM)
		log_error("%s: out of memory", path);
	input_close(&in);
	return err;
}

/* Shares can be compared, numbers cannot. */
static void compare_units(const char *old, const char *now)
{
	if (old && now && strcmp(old, now))
		log_notice("%s are compared with %s: only their shares mean "
			   "something", now, old);
}

static int add_files(struct stacks *s, const struct opt_rest *rest,
		     const char *old)
{
	const char *unit;
	int err = 0;

	s->old = old;
	if (old)
		err = cmd_read(old, add_stacks, s);
	s->old = false;
	s->names.first.command = NULL;	/* what differs is compared */
	unit = s->names.first.units[0];
	s->names.first.units[0] = NULL;
	if (!rest->nargs && !err)
		err = cmd_read("-", add_stacks, s);
	for (int i = 0; i < rest->nargs && !err; i++)
		err = cmd_read(rest->args[i], add_stacks, s);
	if (!err)
		compare_units(unit, s->names.first.units[0]);
	if (!err && s->names.desk)
		raw_names_report(&s->names);
	else if (!err && (s->from->symfs || s->from->debug_dir ||
			  s->from->kernel))
		log_notice("no raw file among the input: its names are taken "
			   "as they are");
	return err;
}

static int no_memory(int err)
{
	if (err == -ENOMEM)
		log_error("flame: out of memory");
	return err;
}

/* The table goes where the graph does not. */
static int write_changes(const struct changes *c, const struct settings *set)
{
	bool beside = set->output && strcmp(set->output, "-");
	struct out out;
	int err;

	if (!beside)
		return no_memory(changes_print(c, set->top, stderr));
	err = out_open(&out, NULL);
	if (err)
		return err;
	err = no_memory(changes_print(c, set->top, out.file));
	return out_close(&out) ? -EIO : err;
}

static bool is_text(const char *path)
{
	size_t n = path ? strlen(path) : 0;

	return n > 4 && !strcmp(path + n - 4, ".txt");
}

/* An input without samples fails, and no file that was there is lost for it; on
 * stdout there still is a picture that says so. */
static int write_graph(struct out *out, struct stacks *s,
		       const struct settings *set,
		       const struct graph_format *format,
		       const struct graph_options *o)
{
	struct flame *f = &s->flame;
	int err;

	if (!f->total)
		log_error("no samples in the input%s", out->path ?
			  ": no file is written" : "");
	err = !f->total && out->path ? -ENODATA : out_begin(out);
	if (!err)
		err = is_text(set->output)
		      ? changes_print(&s->changes, set->top, out->file)
		      : graph_write(format, out->file, f, o);
	if (err) {
		no_memory(err);
		out_abandon(out);
		return EXIT_FAIL;
	}
	if (f->saturated)
		log_notice("sums beyond 64 bits: they stay at the largest");
	if (f->diff && !f->old_total)
		log_notice("%s: no samples to compare with", set->old);
	if (out_close(out) || !f->total || s->names.partly)
		return EXIT_FAIL;
	return f->diff && !is_text(set->output) &&
	       write_changes(&s->changes, set) ? EXIT_FAIL : EXIT_OK;
}

/* Which of the endings, some of which mean something else with --diff or
 * without. */
static int pick_format(const struct settings *set,
		       const struct graph_format **format)
{
	bool text = is_text(set->output);

	*format = text || !set->output || !strcmp(set->output, "-")
		  ? &graph_svg : graph_format_of(set->output);
	if (text && !set->old) {
		log_error("flame: %s: only the table of --diff is text",
			  set->output);
		log_hint("folded stacks are: name it .folded");
		return -EINVAL;
	}
	if (set->old && *format != &graph_svg) {
		log_error("flame: %s: --diff writes .svg or .txt", set->output);
		log_hint("write each to a .pb of its own and have pprof "
			 "compare: go tool pprof -diff_base old.pb new.pb");
		return -EINVAL;
	}
	if (!*format) {
		log_error("flame: %s: the ending must be .svg, .folded, .json "
			  "or .pb", set->output);
		return -EINVAL;
	}
	return 0;
}

/* What --diff says of itself, unless the user does. */
static void name_diff(struct graph_options *o, const struct settings *set,
		      char *text, size_t size)
{
	snprintf(text, size, "red: a larger share than in %s, blue: a smaller",
		 strcmp(set->old, "-") ? set->old : "standard input");
	if (!o->subtitle)
		o->subtitle = text;
}

static int run(int argc, char **argv)
{
	struct settings set = { 0 };
	const struct graph_format *format;
	struct graph_options o;
	struct opt_rest rest;
	struct stacks s = { 0 };
	struct out out;
	char subtitle[256];
	struct buf about = { 0 };
	int status = EXIT_FAIL;

	if (opt_parse("flame", options, &set, argc, argv, &rest) ||
	    to_graph_options(&set, &o) || pick_format(&set, &format))
		return EXIT_USAGE;
	if (rest.command) {
		log_error("flame: takes no command; name files without --");
		return EXIT_USAGE;
	}
	if (out_open(&out, set.output))
		return EXIT_FAIL;
	s.flame.diff = set.old;
	if (!set.top)
		set.top = 20;
	s.reverse = set.reverse;
	s.output = set.output;
	s.graph = &o;
	s.from = &set.names;
	if (set.old)
		name_diff(&o, &set, subtitle, sizeof(subtitle));
	if (add_files(&s, &rest, set.old) ||
	    no_memory(raw_names_subtitle(&s.names, &about))) {
		out_abandon(&out);
	} else {
		if (!o.subtitle && about.len)
			o.subtitle = buf_str(&about);
		status = write_graph(&out, &s, &set, format, &o);
	}
	buf_free(&about);
	raw_names_close(&s.names);
	flame_free(&s.flame);
	changes_free(&s.changes);
	return status;
}

const struct cmd cmd_flame = {
	.name = "flame",
	.usage = "[options] [FILE...]",
	.summary = "folded stacks, perf's text or raw files to a flame graph",
	.about =
		"Reads stacks folded to one line each (\"comm;main;read 42\"),"
		" the text of perf\nscript, or raw files (named as sonde report"
		" does it), from files or stdin, and\nwrites a flame graph"
		" to stdout: one SVG file that any browser shows, with search\n"
		"(Ctrl-F), zoom (click) and details (hover)."
		"\nAnnotations color a frame: _[k] kernel, _[j] JIT,"
		" _[i] inlined, _[w] waker.\n\n"
		"-o x.json writes what speedscope and Firefox Profiler open,"
		" x.pb what go tool pprof\nreads, x.folded folded stacks.\n\n"
		"--diff compares shares of each one's own total. Frames are as"
		" wide as they are\nnow; the table of the largest changes,"
		" which has also what is gone, goes to stdout\nwhen -o names a"
		" file for the graph, else to stderr; -o x.txt writes it"
		" alone.",
	.examples =
		"  sonde profile -f 5 | sonde flame >cpu.svg\n"
		"  sonde flame --title 'Allocations' --units bytes heap.folded"
		" >heap.svg\n"
		"  sonde flame --width 1800 --min-width 0.5 -o out.svg"
		" host1.folded host2.folded\n"
		"  perf script | sonde flame >cpu.svg\n"
		"  sonde flame --diff old.folded -o diff.svg new.folded\n"
		"  sonde flame --reverse --inverted -o callers.svg cpu.folded\n"
		"  sonde flame -o cpu.json cpu.folded      for speedscope\n",
	.options = options,
	.run = run,
};
