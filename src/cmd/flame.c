/* flame - folded stacks to an SVG flame graph. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/near.h"
#include "base/out.h"
#include "cmd/cmd.h"
#include "render/folded.h"
#include "render/svg.h"

struct settings {
	const char *title, *subtitle, *units, *countname, *colors, *minwidth;
	const char *output;
	uint64_t width, height, fontsize;
	bool inverted, hash;
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
	{ .name = "minwidth", .kind = OPT_TEXT, .at = AT(minwidth),
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
	{ 'o', "output", OPT_TEXT, AT(output), "FILE",
	  .help = "write there instead of stdout" },
	/* Colors always follow the names; scripts may ask for it. */
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
	struct near near = { .wanted = colors };
	size_t i;

	for (i = 0; svg_palette(i); i++) {
		if (!strcmp(svg_palette(i), colors))
			return 0;
		near_offer(&near, svg_palette(i));
	}
	log_error("flame: --colors '%s': no such palette", colors);
	if (near.best)
		log_hint("the nearest is %s", near.best);
	else
		log_hint("there are hot, java, chain, offcpu, wakeup, mem, "
			 "io, red, orange, yellow, green, aqua, blue, purple");
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

static int to_svg_options(const struct settings *s, struct svg_options *o)
{
	*o = (struct svg_options){
		.title = s->title, .subtitle = s->subtitle,
		.countname = s->countname, .colors = s->colors,
		.width = (uint32_t)s->width,
		.font_size = (uint32_t)s->fontsize,
		.row_height = (uint32_t)s->height, .inverted = s->inverted,
	};
	if (s->minwidth && parse_minwidth(s->minwidth, &o->min_width)) {
		log_error("flame: --minwidth '%s': a width in pixels expected",
			  s->minwidth);
		return -EINVAL;
	}
	if (check_units(s->units, &o->unit))
		return -EINVAL;
	return s->colors ? check_colors(s->colors) : 0;
}

/* Add all stacks of one input; what fails has been reported. */
static int add_stacks(struct flame *f, int fd, const char *path)
{
	struct folded r;
	int err;

	folded_open(&r, fd, path);
	while ((err = folded_next(&r)) > 0) {
		err = flame_add(f, r.frames.v, r.frames.n, r.count);
		if (err)
			break;
	}
	if (err == -ENOMEM)
		log_error("%s: line %llu: out of memory", path,
			  (unsigned long long)r.line);
	folded_close(&r);
	return err;
}

static int add_file(struct flame *f, const char *path)
{
	int fd, err;

	if (!strcmp(path, "-"))
		return add_stacks(f, STDIN_FILENO, "standard input");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		log_error("%s: cannot open: %s", path, log_errno(errno));
		return -errno;
	}
	err = add_stacks(f, fd, path);
	close(fd);
	return err;
}

static int add_files(struct flame *f, const struct opt_rest *rest)
{
	int i, err = 0;

	if (!rest->nargs)
		return add_file(f, "-");
	for (i = 0; i < rest->nargs && !err; i++)
		err = add_file(f, rest->args[i]);
	return err;
}

/* An input without samples still gives a picture that says so, and fails. */
static int write_graph(struct out *out, struct flame *f,
		       const struct svg_options *o)
{
	int err = out_begin(out);

	if (!err)
		err = svg_write(out->file, f, o);
	if (err) {
		if (err == -ENOMEM)
			log_error("flame: out of memory");
		out_abandon(out);
		return EXIT_FAIL;
	}
	if (f->saturated)
		log_notice("sums beyond 64 bits: they stay at the largest");
	if (!f->total)
		log_error("no samples in the input");
	return out_close(out) || !f->total ? EXIT_FAIL : EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct settings s = { 0 };
	struct svg_options o;
	struct opt_rest rest;
	struct flame f = { 0 };
	struct out out;
	int status = EXIT_FAIL;

	if (opt_parse("flame", options, &s, argc, argv, &rest) ||
	    to_svg_options(&s, &o))
		return EXIT_USAGE;
	if (rest.command) {
		log_error("flame: takes no command; name files without --");
		return EXIT_USAGE;
	}
	if (out_open(&out, s.output))
		return EXIT_FAIL;
	if (add_files(&f, &rest))
		out_abandon(&out);
	else
		status = write_graph(&out, &f, &o);
	flame_free(&f);
	return status;
}

const struct cmd cmd_flame = {
	.name = "flame",
	.usage = "[options] [FILE...]",
	.summary = "folded stacks to an SVG flame graph",
	.about =
		"Reads stacks folded to one line each (\"comm;main;read 42\"),"
		" from the files or\nfrom stdin, and writes a flame graph to"
		" stdout: one SVG file that any browser\nshows, with search"
		" (Ctrl-F), zoom (click) and details (hover).\nAnnotations"
		" color a frame: _[k] kernel, _[j] JIT, _[i] inlined, _[w]"
		" waker.",
	.examples =
		"  sonde profile -f 5 | sonde flame >cpu.svg\n"
		"  sonde flame --title 'Allocations' --units bytes heap.folded"
		" >heap.svg\n"
		"  sonde flame --width 1800 --minwidth 0.5 -o out.svg"
		" host1.folded host2.folded\n",
	.options = options,
	.run = run,
};
