/* svg - a flame graph as one SVG file that is also a program.
 *
 *	title, subtitle				Reset Zoom ... Search
 *	#plot		clips the frames at its edges
 *	  #scaled	what a zoom stretches: #frames, and #hits over them
 *	  #shade	dims what lies below the zoomed frame
 *	  #edges, #labels	fit for one view: not stretched
 *	details					Matched: ...
 *
 * The graph is walked once for its height and once for each layer: nothing of
 * the picture is held in memory. Coordinates are whole thousandths of a pixel
 * and print without floating point, so that neighbors meet exactly.
 */
#include "render/svg.h"

#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/out.h"
#include "render/palette.h"
#include "render/svg_script.h"

enum {
	MILLI = 1000,
	MARGIN = 10,		/* left and right of the plot, px */
	EDGE = 5,		/* frames that get a line at their left, px */
	CHUNK = 256,		/* frames in a group */
	FLUSH = 1 << 16,
};

#define NO_LABEL UINT32_MAX	/* of the root, which is no frame */

struct svg {
	FILE *out;
	struct buf buf;
	struct buf name;	/* scratch */
	const struct palette *palette;
	struct graph_options o;
	const struct flame *flame;
	uint64_t total;
	double most;			/* the largest change of a share */
	uint64_t rows, top, height;	/* px */
	uint64_t frames;		/* written so far */
	uint32_t plot;			/* width, px */
};

/* Numbers */

/* 1,234,567 */
static void put_grouped(struct buf *b, uint64_t n)
{
	char text[27], *p = text + sizeof(text);
	int digits = 0;

	do {
		if (digits && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + n % 10);
		digits++;
	} while (n /= 10);
	buf_mem(b, p, (size_t)(text + sizeof(text) - p));
}

/* Thousandths, without trailing zeros. */
static void put_milli(struct buf *b, uint64_t n)
{
	char text[4] = { '.' };
	unsigned part = (unsigned)(n % MILLI), i;

	buf_dec(b, n / MILLI);
	for (i = 1; part; i++, part = part * 10 % MILLI)
		text[i] = (char)('0' + part / 100);
	if (i > 1)
		buf_mem(b, text, i);
}

static void put_xml(struct buf *b, const char *s)
{
	escape(b, s, strlen(s), ESCAPE_XML);
}

/* Pass the buffer on when it is full enough. */
static int svg_flush(struct svg *s, size_t least)
{
	return s->name.err ? s->name.err : out_buf(s->out, &s->buf, least);
}

/* Geometry */

static uint64_t to_milli(const struct svg *s, double part)
{
	return (uint64_t)(part * s->plot * MILLI + 0.5);
}

/* Left edge and width; false when nothing is left of it after rounding. */
static bool box_place(const struct svg *s, const struct flame_box *box,
		      uint64_t *x, uint64_t *width)
{
	uint64_t right = to_milli(s, box->left + box->width);

	*x = to_milli(s, box->left);
	*width = right > *x ? right - *x : 0;
	return *width > 0;
}

/* Row 0 is the root. */
static uint64_t row_y(const struct svg *s, uint64_t row)
{
	return s->top + (s->o.inverted ? row : s->rows - 1 - row) *
	       s->o.row_height;
}

/* Fonts of one width: 0.6 of their height, or a little less. */
static uint64_t cell_milli(const struct svg *s)
{
	return (uint64_t)s->o.font_size * 602;
}

/* Layers */

/* By how much of the whole the frame's share has grown. */
static double box_change(const struct svg *s, const struct flame_box *box)
{
	const struct flame *f = s->flame;

	return (double)box->value / (double)f->total -
	       (f->old_total ? (double)box->old / (double)f->old_total : 0);
}

static int measure_box(void *arg, const struct flame_box *box)
{
	struct svg *s = arg;
	uint64_t x, width;

	if (!box_place(s, box, &x, &width))
		return 0;
	if (box->depth + (uint64_t)2 > s->rows)
		s->rows = box->depth + (uint64_t)2;
	if (s->flame->diff) {
		double change = box_change(s, box);

		change = change < 0 ? -change : change;
		s->most = change > s->most ? change : s->most;
	}
	return 0;
}

static void put_percent(struct buf *b, double share)
{
	put_milli(b, (uint64_t)(share * 10000 + 0.5) * (MILLI / 100));
	buf_putc(b, '%');
}

/* "12.34%" of the whole; what is all of it, "100%". */
static void put_share(struct buf *b, uint64_t value, uint64_t total)
{
	if (value >= total)
		buf_puts(b, "100%");
	else
		put_percent(b, total ? (double)value / (double)total : 0);
}

/* "; old 30, 12.34%; +1.5%" */
static void put_change(struct svg *s, const struct flame_box *box)
{
	double change = box_change(s, box);

	buf_puts(&s->buf, "; old ");
	put_grouped(&s->buf, box->old);
	buf_puts(&s->buf, ", ");
	if (s->flame->old_total)
		put_share(&s->buf, box->old, s->flame->old_total);
	else
		buf_puts(&s->buf, "0%");
	buf_puts(&s->buf, change < 0 ? "; -" : "; +");
	put_percent(&s->buf, change < 0 ? -change : change);
}

static void put_title(struct svg *s, const struct flame_box *box)
{
	buf_puts(&s->buf, "<title>");
	escape(&s->buf, box->name, box->len, ESCAPE_XML);
	buf_puts(&s->buf, " (");
	put_grouped(&s->buf, box->value);
	buf_putc(&s->buf, ' ');
	put_xml(&s->buf, s->o.countname);
	buf_puts(&s->buf, ", ");
	put_share(&s->buf, box->value, s->total);
	if (s->flame->diff && box->label != NO_LABEL)
		put_change(s, box);
	buf_puts(&s->buf, ")</title>");
}

static void put_color(struct buf *b, uint32_t color)
{
	static const char hex[] = "0123456789abcdef";
	char text[7] = { '#' };

	for (int i = 0; i < 6; i++)
		text[1 + i] = hex[color >> (20 - 4 * i) & 15];
	buf_mem(b, text, sizeof(text));
}

/* The title stands beside its rectangle, and a group of groups holds a few
 * hundred frames at most: Chromium takes half a minute to lay out 100,000
 * rectangles that have a title inside, and is slow with long lists. */
static void put_frame(struct svg *s, const struct flame_box *box, uint64_t x,
		      uint64_t width, uint64_t row)
{
	if (s->frames++ % CHUNK == 0)
		buf_puts(&s->buf, s->frames > 1 ? "</g>\n<g>\n" : "<g>\n");
	buf_puts(&s->buf, "<g>");
	put_title(s, box);
	buf_puts(&s->buf, "<rect x=\"");
	put_milli(&s->buf, x);
	buf_puts(&s->buf, "\" y=\"");
	buf_dec(&s->buf, row_y(s, row));
	buf_puts(&s->buf, "\" width=\"");
	put_milli(&s->buf, width);
	buf_puts(&s->buf, "\" height=\"");
	buf_dec(&s->buf, s->o.row_height - 1);
	buf_puts(&s->buf, "\" fill=\"");
	put_color(&s->buf, s->flame->diff
		  ? palette_change(box_change(s, box), s->most)
		  : palette_color(s->palette, box->name, box->len, box->kind));
	buf_puts(&s->buf, "\"/></g>\n");
}

static int frame_box(void *arg, const struct flame_box *box)
{
	struct svg *s = arg;
	uint64_t x, width;

	if (!box_place(s, box, &x, &width))
		return 0;
	put_frame(s, box, x, width, (uint64_t)box->depth + 1);
	return svg_flush(s, FLUSH);
}

/* The characters of UTF-8 text, and the cells they take on the screen: two
 * from U+1100 on, where East Asian scripts and pictures are. */
static size_t char_len(const char *p)
{
	unsigned char c = (unsigned char)*p;

	return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

static unsigned char_cells(const char *p)
{
	unsigned char c = (unsigned char)p[0];

	return c > 0xe1 || (c == 0xe1 && (unsigned char)p[1] >= 0x84) ? 2 : 1;
}

/* Escape a name into the scratch buffer so that it takes at most `room` cells,
 * ".." included where it is cut. */
static void shorten(struct svg *s, const char *name, size_t len, uint64_t room)
{
	uint64_t used = 0;
	size_t i, cut = 0;

	buf_reset(&s->name);
	escape(&s->name, name, len, ESCAPE_TEXT);
	for (i = 0; i < s->name.len; i += char_len(s->name.data + i)) {
		if (used + 2 <= room)
			cut = i;
		used += char_cells(s->name.data + i);
		if (used > room) {
			s->name.len = cut;
			buf_puts(&s->name, "..");
			return;
		}
	}
}

static void put_label(struct svg *s, const char *name, size_t len, uint64_t x,
		      uint64_t width, uint64_t row)
{
	uint64_t room = width < 6 * MILLI ? 0
					  : (width - 6 * MILLI) / cell_milli(s);
	uint64_t y = row_y(s, row) * MILLI + s->o.row_height * MILLI / 2 +
		     s->o.font_size * 330;

	if (room < 3 || !len)
		return;
	shorten(s, name, len, room);
	buf_puts(&s->buf, "<text x=\"");
	put_milli(&s->buf, x + 3 * MILLI);
	buf_puts(&s->buf, "\" y=\"");
	put_milli(&s->buf, y - MILLI / 2);
	buf_puts(&s->buf, "\">");
	escape(&s->buf, s->name.data, s->name.len, ESCAPE_XML);
	buf_puts(&s->buf, "</text>\n");
}

static int label_box(void *arg, const struct flame_box *box)
{
	struct svg *s = arg;
	uint64_t x, width;

	if (!box_place(s, box, &x, &width))
		return 0;
	put_label(s, box->name, box->len, x, width, (uint64_t)box->depth + 1);
	return svg_flush(s, FLUSH);
}

/* A line at the left of each frame that is not too narrow for one. */
static int edge_box(void *arg, const struct flame_box *box)
{
	struct svg *s = arg;
	uint64_t x, width;

	if (!box_place(s, box, &x, &width) || width < EDGE * MILLI || !x)
		return 0;
	buf_putc(&s->buf, 'M');
	put_milli(&s->buf, x);
	buf_putc(&s->buf, ' ');
	buf_dec(&s->buf, row_y(s, (uint64_t)box->depth + 1));
	buf_putc(&s->buf, 'v');
	buf_dec(&s->buf, s->o.row_height - 1);
	return svg_flush(s, FLUSH);
}

/* The parts of the file, in its order */

static void put_head(struct svg *s)
{
	buf_fmt(&s->buf,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\""
		" width=\"%u\" height=\"%llu\" viewBox=\"0 0 %u %llu\">\n"
		"<style>\n"
		"text{font:%upx ui-monospace,SFMono-Regular,Menlo,Consolas,"
		"'DejaVu Sans Mono',monospace;fill:#222}\n"
		"#title,#subtitle,#unzoom,#search,#case,#matched{"
		"font-family:system-ui,Helvetica,Arial,'DejaVu Sans',"
		"sans-serif}\n"
		"#title{font-size:%upx;font-weight:600}\n"
		"#subtitle{fill:#777}\n"
		"#unzoom,#search,#case{fill:#2563a8;cursor:pointer}\n"
		"#labels,#edges,#hits,#shade{pointer-events:none}\n"
		"#labels text{fill:#1a1a1a;white-space:pre}\n"
		"#frames rect{cursor:pointer}\n"
		"#frames rect:hover{stroke:#000;stroke-width:1;"
		"vector-effect:non-scaling-stroke}\n"
		"</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		s->o.width, (unsigned long long)s->height,
		s->o.width, (unsigned long long)s->height,
		s->o.font_size, s->o.font_size + 5);
}

/* A text of the frame around the plot; `how` are further attributes. */
static void put_text(struct svg *s, const char *id, uint64_t x, uint64_t y,
		     const char *how, const char *text)
{
	buf_fmt(&s->buf, "<text id=\"%s\" x=\"%llu\" y=\"%llu\"%s>", id,
		(unsigned long long)x, (unsigned long long)y, how);
	put_xml(&s->buf, text);
	buf_puts(&s->buf, "</text>\n");
}

static void put_texts(struct svg *s)
{
	uint64_t line = s->o.font_size * 2, right = s->o.width - MARGIN;
	uint64_t foot = s->height - s->o.font_size + 2;

	put_text(s, "title", s->o.width / 2, line,
		 " text-anchor=\"middle\"", s->o.title);
	if (s->o.subtitle)
		put_text(s, "subtitle", s->o.width / 2,
			 line + s->o.font_size * 3 / 2,
			 " text-anchor=\"middle\"", s->o.subtitle);
	put_text(s, "unzoom", MARGIN, line,
		 " visibility=\"hidden\"", "Reset Zoom");
	put_text(s, "search", right - line, line,
		 " text-anchor=\"end\" visibility=\"hidden\"", "Search");
	put_text(s, "case", right, line, " text-anchor=\"end\" opacity=\"0.4\""
		 " visibility=\"hidden\"", "ic");
	put_text(s, "details", MARGIN, foot, "", "");
	put_text(s, "matched", right, foot, " text-anchor=\"end\"", "");
	if (!s->total)
		put_text(s, "empty", s->o.width / 2, foot,
			 " text-anchor=\"middle\"", "no samples");
}

/* Walk the frames of at least `px` pixels, those that are shown at all. */
static int svg_walk(struct svg *s, struct flame *f, double px,
		    int (*fn)(void *arg, const struct flame_box *box))
{
	double least = (double)s->o.min_width / MILLI;

	return flame_walk(f, (px > least ? px : least) / s->plot, fn, s);
}

static int put_plot(struct svg *s, struct flame *f)
{
	const struct flame_box root = {
		.name = "all", .len = 3, .kind = FLAME_DELIMITER,
		.label = NO_LABEL, .value = s->total, .old = f->old_total,
	};
	uint64_t width = (uint64_t)s->plot * MILLI;
	int err;

	buf_fmt(&s->buf, "<svg id=\"plot\" x=\"%d\" y=\"0\" width=\"%u\""
		" height=\"%llu\">\n<g id=\"scaled\">\n<g id=\"frames\">\n",
		MARGIN, s->plot, (unsigned long long)s->height);
	put_frame(s, &root, 0, width, 0);
	err = svg_walk(s, f, 0, frame_box);
	buf_fmt(&s->buf, "</g>\n</g>\n"
		"<path id=\"hits\" fill=\"#e040fb\" d=\"M0 0\"/>\n</g>\n"
		"<rect id=\"shade\" width=\"%u\" height=\"0\""
		" fill=\"#fff\" fill-opacity=\"0.5\"/>\n<path id=\"edges\""
		" stroke=\"#fff\" stroke-width=\"0.7\" d=\"M0 0", s->plot);
	if (!err)
		err = svg_walk(s, f, EDGE - 1, edge_box);
	buf_puts(&s->buf, "\"/>\n<g id=\"labels\">\n");
	put_label(s, root.name, root.len, 0, width, 0);
	if (!err)
		err = svg_flush(s, FLUSH);
	if (!err)
		err = svg_walk(s, f, s->o.font_size, label_box);
	buf_puts(&s->buf, "</g>\n</svg>\n");
	return err;
}

static void put_script(struct svg *s)
{
	buf_fmt(&s->buf, "<script><![CDATA[\n(function () {\n'use strict';\n"
		"const graph = { rows: %llu, top: %llu, pitch: %u,"
		" inverted: %d, width: %u, full: %u, cell: ",
		(unsigned long long)s->rows, (unsigned long long)s->top,
		s->o.row_height, s->o.inverted, s->plot, s->o.width);
	put_milli(&s->buf, cell_milli(s));
	buf_fmt(&s->buf, ", font: %u, edge: %d };\n%s})();\n]]></script>\n"
		"</svg>\n", s->o.font_size, EDGE, svg_script);
}

static void set_defaults(struct graph_options *o)
{
	if (!o->countname)
		o->countname = o->unit->name;
	if (!o->colors)
		o->colors = o->unit->colors;
	if (!o->width)
		o->width = 1200;
	if (o->width < 100)
		o->width = 100;
	if (!o->font_size)
		o->font_size = 12;
	if (!o->row_height)
		o->row_height = o->font_size + 4;
	if (!o->min_width)
		o->min_width = 100;
}

const char *svg_palette(size_t i)
{
	return palette_name(i);
}

int svg_write(FILE *out, struct flame *f, const struct graph_options *options)
{
	struct svg s = {
		.out = out, .o = *options, .rows = 1, .total = f->total,
		.flame = f,
	};
	int err;

	set_defaults(&s.o);
	s.palette = palette_find(s.o.colors);
	if (!s.palette)
		return -EINVAL;
	s.plot = s.o.width - 2 * MARGIN;
	err = svg_walk(&s, f, 0, measure_box);
	s.top = s.o.font_size * 3 +
		(s.o.subtitle ? s.o.font_size * 3 / 2 : 0);
	s.height = s.top + s.rows * s.o.row_height + s.o.font_size * 5 / 2;
	if (!err) {
		put_head(&s);
		put_texts(&s);
		err = put_plot(&s, f);
		put_script(&s);
	}
	if (!err)
		err = svg_flush(&s, 0);
	buf_free(&s.buf);
	buf_free(&s.name);
	return err;
}
