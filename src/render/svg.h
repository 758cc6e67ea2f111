/* svg - a flame graph as one SVG file that is also a program. */
#ifndef RENDER_SVG_H
#define RENDER_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "render/flame.h"
#include "render/unit.h"

/* Zero and NULL choose what stands in brackets. Texts may be any bytes. */
struct svg_options {
	const char *title;	/* ["Flame Graph"] */
	const char *subtitle;	/* a second line [none] */
	const struct unit *unit; /* what is counted [unit_samples] */
	const char *countname;	/* the unit's name [as it says] */
	const char *colors;	/* one of svg_palette() [the unit's] */
	uint32_t width;		/* of the picture, px [1200]; at least 100 */
	uint32_t font_size;	/* px [12] */
	uint32_t row_height;	/* px [font_size + 4] */
	uint32_t min_width;	/* frames below it are left out, 1/1000 px
				 * [100] */
	bool inverted;		/* the root on top: an icicle graph */
};

/* Write the graph; one without samples says so. The same graph gives the same
 * bytes. Errors of the stream stay in it; 0, -ENOMEM, or -EINVAL when there
 * is no such palette. */
int svg_write(FILE *out, struct flame *f, const struct svg_options *options);

/* The names of the palettes, one by one; NULL after the last. */
const char *svg_palette(size_t i);

#endif
