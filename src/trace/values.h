/* values - what was there at a hit, as text: names, numbers, strings. */
#ifndef TRACE_VALUES_H
#define TRACE_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "trace/attach.h"
#include "trace/fetch.h"

struct btf;
struct value;

/* How the values of one point are shown. */
struct value_plan {
	struct value *v;
	size_t n, cap;
	bool made, more;	/* there are more than a record has */
};

/* Fill in the first group, zero the rest. */
struct values {
	const struct fetch *fetch;
	const struct attach *attach;
	/* Append the name of an address, of the kernel's (K) or of the
	 * process's that was hit (U). */
	void (*name)(void *arg, const struct trace_event *e, char side,
		     uint64_t address, struct buf *to);
	void *arg;

	VEC(struct value_plan) plans;	/* by point, made at its first hit */
	struct buf labels;		/* " name=", escaped */
	struct btf *btf;
	uint64_t unread;		/* values that were shown as "?" */
	uint64_t absent;		/* strings, "?" and the address */
	uint64_t cut;			/* strings that were longer */
	uint64_t undecided;		/* hits whose filter asks for what
					 * could not be read: left out */
};

/* Whether the filter of the probe lets a hit pass. 1, 0, -ENOMEM. */
int values_pass(struct values *v, const struct trace_event *e);

/* The type of a number that an action names, at point n, as far as it is known
 * once that is set; returns where it stands in the words or record, or
 * -errno. */
int values_number(struct values *v, size_t n, const struct action_value *from,
		  struct number *type);

/* Append what the probe's format says, or else " name=value" for each value of
 * a record, which has fetch->size bytes. Numbers by their types, where the
 * kernel or the program tells them, else hexadecimal; strings in quotes, with
 * \x22 for one of these and "..." behind one that is longer; "?" for what could
 * not be read. 0 or -ENOMEM. */
int values_print(struct values *v, const struct trace_event *e,
		 struct buf *to);
void values_free(struct values *v);

#endif
