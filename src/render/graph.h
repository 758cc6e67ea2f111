/* graph - a flame graph as a file, of the kind that its ending says. */
#ifndef RENDER_GRAPH_H
#define RENDER_GRAPH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "render/flame.h"
#include "render/unit.h"

/* Zero and NULL choose what stands in brackets. Texts may be any bytes. */
struct graph_options {
	const char *title;	/* ["Flame Graph"] */
	const char *subtitle;	/* a second line [none] */
	const struct unit *unit; /* what is counted [unit_samples] */
	const char *countname;	/* the unit's name [as it says] */
	uint64_t period;	/* ns of CPU time between samples [unknown] */

	/* Of a picture. */
	const char *colors;	/* one of svg_palette() [the unit's] */
	uint32_t width;		/* of the picture, px [1200]; at least 100 */
	uint32_t font_size;	/* px [12] */
	uint32_t row_height;	/* px [font_size + 4] */
	uint32_t min_width;	/* frames below it are left out, 1/1000 px
				 * [100] */
	bool inverted;		/* the root on top: an icicle graph */
};

struct graph_format;

/* By the ending of a path: .svg, .json (speedscope and Firefox Profiler), .pb
 * (pprof), .folded; NULL when it is none of these. */
const struct graph_format *graph_format_of(const char *path);
extern const struct graph_format graph_svg, graph_folded;

/* Write the graph. The same graph gives the same bytes. Counts that a format
 * cannot hold are told. Errors of the stream stay in it; 0, -ENOMEM, or -EINVAL
 * when there is no such palette. */
int graph_write(const struct graph_format *format, FILE *out, struct flame *f,
		const struct graph_options *options);

#endif
