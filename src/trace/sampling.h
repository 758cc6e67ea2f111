/* sampling - the stacks of what runs, counted, in the way that the host has. */
#ifndef TRACE_SAMPLING_H
#define TRACE_SAMPLING_H

#include "base/num.h"
#include "events.h"
#include "trace/callchains.h"
#include "trace/loop.h"
#include "trace/naming.h"
#include "trace/records.h"
#include "trace/sampler.h"
#include "trace/session.h"
#include "trace/stacks.h"

/* What the user asked for. Lists and texts stay the caller's. */
struct sampling_spec {
	const char *command;		/* for messages */
	const struct bpf_object *object;
	struct sample_spec sample;
	struct num_list pids, tids;	/* at most one is not empty */
	const char *comm;
	const char *cgroup;		/* a folder of cgroup2, or of the v1
					 * hierarchy with perf_event */
	bool idle, user, kernel;
	uint64_t seconds;		/* that it will run; 0 = unknown */
	uint64_t stack_entries, hash_entries;	/* 0 = as fits the host */
	callchains_take *take;		/* not NULL: the second rung, and each
					 * sample goes there uncounted */
	void *taker;
	const struct chain_switches *switches;	/* with that, or NULL */
};

/* The first rung counts in the kernel: perf events run a BPF program. The
 * second, for hosts and users without bpf(2), counts here what perf events
 * write into their rings, call chains included. */
struct sampling {
	struct sampling_spec spec;
	struct naming *naming;
	struct loop *loop;
	int cgroup_fd;			/* -1 = none */
	struct num_list online;		/* CPUs, when last looked at ... */
	uint64_t followed;		/* ... CLOCK_MONOTONIC, ns */
	struct stacks stacks;
	uint32_t depth;			/* frames that a stack may have */
	bool in_kernel;			/* the first rung */
	int refused;			/* why the kernel did not take the
					 * first rung's BPF: -errno, or 0 */
	bool by_tree;			/* a command followed by programs, */
	bool inherits;			/* or by perf alone */
	struct session *session;	/* its parts */
	struct sampler sampler;
	struct records records;
	uint64_t counters[COUNTER_MAX];	/* when last read */
	bool counters_bad, channel_bad;
	uint64_t stopped;		/* CLOCK_MONOTONIC, ns; 0 = not yet */
	struct callchains chains;	/* the second's */
};

/* Set up, not yet running. What should wake the loop is added to it, and when
 * the loop is over sampling stops, even if the caller is late. 0 or -errno,
 * reported; sampling_close() always. */
int sampling_open(struct sampling *s, const struct sampling_spec *spec,
		  struct naming *naming, struct loop *loop);
int sampling_start(struct sampling *s);
void sampling_stop(struct sampling *s);
void sampling_close(struct sampling *s);

/* Take over what has come meanwhile; call it every few ten milliseconds. Also
 * samples CPUs that have come online. */
void sampling_drain(struct sampling *s);

/* A process or thread of the spec has ended: its number may come to mean
 * another one, which is not to be counted. */
void sampling_forget(struct sampling *s, uint64_t id);

/* After sampling_stop(): hand over every stack; as stacks_each(). */
int sampling_each(struct sampling *s,
		  int (*fn)(void *arg, const struct stack *stack), void *arg);

/* What was counted so far; reads it anew. */
struct sampling_totals {
	uint64_t taken;			/* of idle CPUs and by filters, too */
	uint64_t idle, kept, lost;
	bool is_whole;			/* taken: of whatever ran */
};
struct sampling_totals sampling_totals(struct sampling *s);

/* Notices about each kind of loss that there was, after a last reading of the
 * totals. */
void sampling_report(const struct sampling *s);

#endif
