/* callchains - samples from perf rings, counted in user space. */
#ifndef TRACE_CALLCHAINS_H
#define TRACE_CALLCHAINS_H

#include "base/intern.h"
#include "sys/perf.h"
#include "trace/naming.h"
#include "trace/sampler.h"
#include "trace/stacks.h"

struct sampling_spec;

/* One sample, of which key->user and key->kernel frames stand at user and
 * kernel, or there are none (below 0). Time is CLOCK_MONOTONIC, ns. Samples
 * come in the order of time, as far as the rings tell. */
typedef void callchains_take(void *arg, uint32_t tid, uint64_t time,
			     const struct stack_key *key,
			     const uint64_t *user, const uint64_t *kernel);

/* What else happens to threads, for who samples their going off a CPU. */
struct chain_switches {
	void (*on)(void *arg, uint64_t time, uint32_t tid);	/* it is back */
	void (*exit)(void *arg, uint32_t tid);	/* it is off for good, soon */
	void (*lost)(void *arg, uint64_t n);	/* records of any kind */
};

struct callchains {
	const struct sampling_spec *spec;
	struct naming *naming;
	struct stacks *stacks;
	struct {
		struct perf_ring *v;
		size_t n, cap;
	} rings;			/* one a CPU */
	struct {
		uint64_t *v;
		size_t n, cap;
	} cpus;				/* of the rings */
	struct {
		struct chain_event *v;
		size_t n, cap;
	} events;			/* those of a CPU share its ring */
	struct buf pending;		/* records not yet in their turn */
	struct {
		struct pending_record *v;
		size_t n, cap;
	} order;			/* where they lie, by time */
	struct intern tasks;		/* tid */
	struct {
		struct task_comm *v;
		size_t n, cap;
	} comms;			/* by number in tasks */
	struct intern processes;	/* pid */
	struct {
		uint32_t *v;
		size_t n, cap;
	} gens;				/* by number in processes */
	struct intern gone;		/* those of the spec that ended */
	bool kernel;			/* the kernel's half may be read */
	bool everything;		/* all processes, else those named */
	bool ring_failed;		/* what open failed with is a ring's */
	bool in_namespace;		/* of pids, that is not the host's */
	uint64_t taken, idle, kept, lost;
	uint64_t outside;		/* idle, or outside the namespace */
};

/* 0 or -errno, reported with hints; callchains_close() always. */
int callchains_open(struct callchains *c, const struct sampling_spec *spec,
		    struct naming *naming, struct stacks *stacks);
void callchains_close(struct callchains *c);

int callchains_watch(const struct callchains *c, int epoll_fd);
int callchains_enable(struct callchains *c);
void callchains_disable(struct callchains *c);

/* Sample every so many ns from now on; 0 or -errno. */
int callchains_period(struct callchains *c, uint64_t ns);

/* Count what has come. Rings of different CPUs are put in the order of time,
 * so the youngest records wait for the next call unless `all` is set. */
void callchains_read(struct callchains *c, bool all);

/* Count no more of a process or thread of the spec. */
void callchains_forget(struct callchains *c, uint32_t id);

/* A CPU went offline or came online; 0 or -errno. */
void callchains_cpu_gone(struct callchains *c, uint64_t cpu);
int callchains_cpu_come(struct callchains *c, uint64_t cpu, int epoll_fd);

#endif
