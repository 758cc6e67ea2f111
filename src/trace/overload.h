/* overload - tells when more tasks may want to run than a limit, cheaply. */
#ifndef TRACE_OVERLOAD_H
#define TRACE_OVERLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/attach.h"
#include "trace/session.h"

enum { OVERLOAD_PLACES = 2 };

/* How often what each place of a known layout said was near /proc/loadavg. */
struct overload_votes {
	unsigned rounds, near[OVERLOAD_PLACES];
};

struct overload {
	const char *command;
	uint64_t limit;			/* tasks a CPU */
	bool single;			/* of any one CPU, not on average */
	int loadavg_fd;
	const char *way;		/* for the user */
	struct session *session;	/* not owned; NULL: no bpf(2) */
	struct probe_specs specs;
	struct points points;
	struct attach attach;
	bool probed;
	uint64_t peak;			/* the most that was seen since the
					 * last look, in all; 0 = not known */
};

/* Set up: the scheduler's own numbers by a probe, else /proc/loadavg. Where the
 * numbers are must be known before the session is loaded (overload_consts).
 * 0 or -errno, reported; what the probe's way lacks is a notice.
 * overload_close() always. */
void overload_consts(struct session *s, bool single);
int overload_open(struct overload *o, const char *command, struct session *s);
void overload_close(struct overload *o);

/* Is it worth while to list the tasks now? Never false when there are too
 * many; `cpus` are online. */
bool overload_suspected(struct overload *o, size_t cpus);

/* Tasks that run or want to, but for this one; -errno. */
int64_t overload_running(const struct overload *o);

/* The number in /proc/loadavg ("0.20 0.18 0.12 3/80 11206": 3). -EINVAL. */
int overload_parse(const char *text, size_t n, uint64_t *running);

/* Which place it is: its number, or -EINVAL when none is to be believed. */
int overload_choose(const struct overload_votes *v);

#endif
