/* watch - what all commands of probes do: targets, time, signals, records. */
#ifndef TRACE_WATCH_H
#define TRACE_WATCH_H

#include "base/num.h"
#include "trace/filter.h"
#include "trace/loop.h"
#include "trace/session.h"
#include "trace/target.h"

/* Fill in the first group, zero the rest. */
struct watch {
	const char *command;
	const struct bpf_object *object;	/* NULL: no session is made */
	struct filter filter;		/* .command and .root are set here */
	char **argv;			/* -- COMMAND, or NULL */
	uint64_t seconds;		/* that it runs; 0 = until Ctrl-C */
	uint64_t interval_ms;		/* between two ticks; 0 = none */
	bool images;			/* attach the programs of images.h */
	bool here;			/* no program is loaded: the tool has
					 * another way, which is begun and
					 * read by its own functions below */
	bool exits;			/* and "exit" of them, where it can be;
					 * the tool attached the others */
	void *arg;			/* for these functions; any NULL */
	void (*let_go)(void *arg);	/* the command was, a moment ago */
	void (*tick)(void *arg);
	int (*start)(void *arg);	/* with `here`: 0 or -errno */
	void (*forget)(void *arg, uint64_t id);	/* a target has ended */
	int turn_ms;			/* a turn comes so often; 0 = 50 */
	void (*turn)(void *arg);
	void (*record)(void *arg, const void *data, size_t len);
	/* Records were read: all that were there at that time, in ns of
	 * CLOCK_MONOTONIC; UINT64_MAX at the last time. */
	void (*batch)(void *arg, uint64_t time);
	void (*live)(void *arg, double seconds);   /* once a second: log_live */

	struct loop loop;
	struct target_child child;
	struct session *session;
	VEC(uint64_t) began;		/* the targets; 0 = ended */
	bool channel_bad;		/* its ring held no sense */
	uint64_t opened, started, stopped;	/* CLOCK_MONOTONIC, ns */
};

/* Signals, the held command, a session of the object with the filter's
 * constants; set others before watch_load(), which creates and fills the maps,
 * loads what is not a PROG_PROBE, and follows a command's descendants. Then
 * attach. 0 or -errno, reported; watch_close() always. */
int watch_open(struct watch *w);
int watch_load(struct watch *w);

/* Let the command go, and wait until it is over. Records are read at least
 * every 50 ms, and a last time at the end, after `detach` (may be NULL) was
 * called. 0 or -errno, reported. */
int watch_run(struct watch *w, void (*detach)(void *arg));

/* End the loop at its next turn. */
void watch_end(struct watch *w);

/* Notices: how a command ended, what was lost on the way. */
void watch_report(const struct watch *w);
double watch_seconds(const struct watch *w);
void watch_close(struct watch *w);

#endif
