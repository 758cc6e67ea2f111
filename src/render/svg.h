/* svg - a flame graph as one SVG file that is also a program. */
#ifndef RENDER_SVG_H
#define RENDER_SVG_H

#include <stddef.h>

#include "render/graph.h"

/* Write the graph; one without samples says so. Wants title and unit. As
 * graph_write(). */
int svg_write(FILE *out, struct flame *f, const struct graph_options *options);

/* The names of the palettes, one by one; NULL after the last. */
const char *svg_palette(size_t i);

#endif
