/* perf_script - reads the text of perf script: samples with their stacks. */
#ifndef RENDER_PERF_SCRIPT_H
#define RENDER_PERF_SCRIPT_H

#include "render/input.h"

/* Is it such text, by the n bytes of its beginning (eof: there are no more)?
 * 1, 0, or -EAGAIN when it takes more to tell. */
int perf_script_is(const char *p, size_t n, bool eof);

/* The next sample's stack, as input_next(): comm, then from root to leaf, each
 * counted once. Offsets ("+0x1f") leave the names; what perf has no name for is
 * "[file]" or "[unknown]"; frames of the kernel, of JIT maps and inlined ones
 * are known by the file in brackets behind them. Only samples of the first
 * sample's event are read, for others count something else. A last one that is
 * cut off within a line is left out, which is said. */
int perf_script_next(struct input *in);

#endif
