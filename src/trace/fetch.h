/* fetch - what trace's program takes at each point, and how large it is. */
#ifndef TRACE_FETCH_H
#define TRACE_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "events.h"
#include "sys/tp_format.h"
#include "trace/action.h"
#include "trace/point.h"

struct session;

enum { FETCH_NO_FORMAT = UINT32_MAX };

/* Fill in the first group, zero the rest. */
struct fetch {
	const char *command;
	const struct points *points;
	uint32_t strings;		/* bit n: argument n + 1 is a string */
	uint32_t string_size;		/* bytes that are wanted of one */
	bool user, kernel;		/* stacks */
	VEC(const struct action *) actions;	/* by spec; NULL = none */

	VEC(struct trace_probe) probes;		/* by point */
	VEC(struct tp_format) formats;
	VEC(uint32_t) format_of;		/* by point, FETCH_NO_FORMAT */
	uint32_t longest;			/* text that is compared */
	/* Of every record: bytes, and where from its start on. */
	uint32_t words, slots, slot_size, strings_at, kernel_at, user_at, size;
};

/* Work it out. A tracepoint's format that cannot be read is an error. 0 or
 * -errno, reported; fetch_free() always. */
int fetch_plan(struct fetch *f);

/* Tell the session, before it is loaded: constants and sizes; `ring` is the
 * room for events, in bytes. */
void fetch_set(const struct fetch *f, struct session *s, uint32_t ring);

/* Fill its maps, after it. 0 or -errno, reported. */
int fetch_fill(const struct fetch *f, const struct session *s);
void fetch_free(struct fetch *f);

/* Point n takes argument i (0 ...) as a string: in which slot, or -1. */
int fetch_slot(const struct fetch *f, size_t n, uint32_t at);

/* What is done at hits of point n, or NULL. */
const struct action *fetch_action(const struct fetch *f, size_t n);

/* Where an action's value is at point n: bytes from the words' or record's
 * start; 0 of what every hit has. -ENOENT when it is not there, then `why`
 * (may be NULL) says so. */
int fetch_find(const struct fetch *f, size_t n, const struct action *a,
	       const struct action_value *v, const char **why);

/* The tracepoint's format, or NULL. */
const struct tp_format *fetch_format(const struct fetch *f, size_t n);

/* A field that is in a tracepoint's record as programs see it. */
bool fetch_has_field(const struct point *p, const struct tp_field *field);

#endif
