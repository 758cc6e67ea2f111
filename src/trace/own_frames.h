/* own_frames - what of a kernel stack is the tracing itself. */
#ifndef TRACE_OWN_FRAMES_H
#define TRACE_OWN_FRAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "sym/frame.h"

/* How many of the innermost frames are: what runs a program at a probe, and the
 * program. `events`: no function of the kernel is probed, so also without a
 * program on top. */
size_t own_frames_of_probes(const struct frame *f, size_t n, bool events);

/* The same of who goes to sleep: what lies below the scheduler. Equal names are
 * one pointer. */
size_t own_frames_of_scheduler(const struct frame *frames, size_t n);

#endif
