/* attach - sets the probes of points, by the best way that the host has. */
#ifndef TRACE_ATTACH_H
#define TRACE_ATTACH_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "trace/point.h"
#include "trace/same_name.h"
#include "trace/session.h"

/* Which end of a function: as the spec says, or one that the tool wants. */
enum attach_end { ATTACH_AS_SAID, ATTACH_ENTRY, ATTACH_RETURN };

/* A copy of a program, made for one kind of probe. */
struct attach_copy {
	const char *prog;
	struct prog_as as;
	int fd;			/* the session's */
};

/* What became known of a point when it was set. */
struct attach_fact {
	uint32_t point;
	bool is_syscall;	/* it is a system call's function, whatever the
				 * name it was asked for by */
	uint8_t nargs;		/* of a raw tracepoint, at most CPU_ARGS */
};

/* One that was counted up, in the memory of a process. */
struct attach_semaphore {
	uint64_t address;
	int fd;
};

/* All that is attached for a trace. */
struct attach {
	const char *command;
	struct session *session;
	const struct points *points;
	bool fields;		/* programs read tracepoints' records: never a
				 * raw tracepoint in place of one */
	VEC(int) fds;		/* events and links; closing them detaches */
	VEC(struct attach_fact) facts;
	VEC(int) links;		/* of kernel functions, among `fds` */
	VEC(struct attach_copy) copies;
	VEC(struct attach_semaphore) semaphores;
	VEC(unsigned) named;	/* probes in tracefs, by number */
	unsigned next_name;
	struct same_names same;
	VEC(uint8_t) refused;	/* by point: 1 = it cannot be set */
	size_t done;		/* probes set */
	size_t vanished;	/* of patterns: gone, or refused */
	uint64_t loading;	/* ns that copies of programs took to load */
	size_t looked;		/* file + 1 last looked at for exceptions */
	size_t first;		/* of these: its point, and the reason */
	int first_err;
};

void attach_init(struct attach *a, struct session *s, const char *command,
		 const struct points *points);

/* Set `prog` at every point; its PROBE() gives the point's number. 0 when all
 * that must be is set and, of patterns, at least one; -errno, reported. What
 * could not be set is left out of the next call: of a pair, set the end whose
 * program does nothing without the other's first. A Go function's return is
 * probed at each of its return instructions, for a uretprobe kills it. */
int attach_points(struct attach *a, const char *prog, enum attach_end end);

/* NULL when there is nothing to know. */
const struct attach_fact *attach_fact(const struct attach *a, size_t point);

/* Take all away. */
void attach_detach(struct attach *a);

/* Notices about what was left out, after attach_points(); and what was missed,
 * before attach_detach(). */
uint64_t attach_missed(const struct attach *a);	/* so far: hits */
void attach_report(const struct attach *a);
void attach_report_missed(const struct attach *a);
void attach_close(struct attach *a);

#endif
