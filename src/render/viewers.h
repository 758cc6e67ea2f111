/* viewers - a flame graph as JSON that speedscope and Firefox Profiler open. */
#ifndef RENDER_VIEWERS_H
#define RENDER_VIEWERS_H

#include "render/graph.h"

/* Wants title and unit. As graph_write(). */
int viewers_write(FILE *out, struct flame *f, const struct graph_options *o);

#endif
