/* pprof - a flame graph as the protocol buffer that go tool pprof reads. */
#ifndef RENDER_PPROF_H
#define RENDER_PPROF_H

#include "render/graph.h"

/* Wants title and unit. As graph_write(). */
int pprof_write(FILE *out, struct flame *f, const struct graph_options *o);

#endif
