/* probing - what the commands of probes share: options, specs, life. */
#ifndef CMD_PROBING_H
#define CMD_PROBING_H

#include <stdio.h>

#include "base/opt.h"
#include "trace/attach.h"
#include "trace/point.h"
#include "trace/watch.h"

/* The common options, as members of a command's settings; the lists and texts
 * are put into the watch by probing_open(). Letters are the command's choice:
 * PROBING_OPTIONS takes those for --pid, --tid, --comm, --cgroup, --cpu and
 * --duration, 0 = none. */
struct probing_options {
	struct num_list pids, tids;
	const char *comm, *cgroup;
	uint64_t cpu, duration;
	bool verbose, with_self;
};

#define PROBING_OPTIONS(S, o, p, t, n, g, c, d, v) \
	{ p, "pid", OPT_LIST, offsetof(S, o.pids), "PID,..", \
	  "these processes only", .max = 4194304, .excludes = 1u << 7 }, \
	{ t, "tid", OPT_LIST, offsetof(S, o.tids), "TID,..", \
	  "these threads only", .max = 4194304, .excludes = 1u << 7 }, \
	{ n, "comm", OPT_TEXT, offsetof(S, o.comm), "NAME", \
	  "threads of this name only" }, \
	{ g, "cgroup", OPT_TEXT, offsetof(S, o.cgroup), "PATH", \
	  "tasks of this cgroup (v2) only" }, \
	{ c, "cpu", OPT_NUM, offsetof(S, o.cpu), "CPU", \
	  "hits on this CPU only", .max = 65535 }, \
	{ d, "duration", OPT_NUM, offsetof(S, o.duration), "SECS", \
	  "end after so long", .min = 1, .max = 99999999 }, \
	{ 0, "self", OPT_FLAG, offsetof(S, o.with_self), NULL, \
	  "what sonde itself does, too" }, \
	{ v, "verbose", OPT_FLAG, offsetof(S, o.verbose), NULL, \
	  "say what it does" }

/* A command of probes in progress. Set watch's functions and object before
 * probing_open(). */
struct probing {
	struct probe_specs specs;
	struct points points;
	struct watch watch;
	struct attach attach;
};

/* The settings' initial values: every CPU. */
#define PROBING_START { .cpu = UINT64_MAX }

/* 0 when that CPU is online, or UINT64_MAX, or nothing tells; else -EINVAL,
 * reported. */
int probing_cpu(const char *command, uint64_t cpu);

/* -EINVAL when there is no PROBE, reported: `what` is missing. */
int probing_wanted(const char *command, int nargs, const char *what);

/* -EINVAL, reported, when a later argument is the path of a program: that is a
 * command whose "--" was forgotten. */
int probing_no_command(const char *command, char **args, int nargs);

/* Check what was parsed and take it over; `args` are the specs. 0, or
 * -EINVAL (usage), reported. */
int probing_parse(struct probing *p, const struct probing_options *o,
		  const struct spec_rules *rules, char **args, int nargs);

/* Find the points, begin the session. Then set constants and sizes. 0 or
 * -errno, reported; probing_close() in any case. */
int probing_open(struct probing *p);

/* True when some task's hits are not to count. sonde is among them only where
 * the kernel is probed. */
bool probing_filters(const struct probing *p);

/* Load; then attach what the command wants to, and watch_run() it with
 * probing_detach. */
int probing_load(struct probing *p);
void probing_detach(struct probing *p);

/* "Tracing 2 functions for "vfs_*"... Hit Ctrl-C to end.", as bcc has it. */
void probing_say(FILE *out, size_t functions, char **args, int nargs);

/* Notices about what was left out or lost, but for the command's own. */
void probing_report(struct probing *p);
void probing_close(struct probing *p);

#endif
