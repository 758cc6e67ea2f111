/* sampler - the perf events that run a program at intervals. */
#ifndef TRACE_SAMPLER_H
#define TRACE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/advice.h"
#include "uapi.h"

/* An event that can be sampled, by perf's names. */
struct sample_event {
	const char *name;
	uint32_t type;		/* PERF_TYPE_... */
	uint64_t config;
	bool is_clock;		/* counts ns, so that a frequency fits it */
	bool per_event;		/* rare: sample each one by default */
};

/* The event called `name`, or NULL after an error with the nearest name. */
const struct sample_event *sample_event_find(const char *command,
					     const char *name);

/* What to open. Exactly one of frequency and period is not 0. */
struct sample_spec {
	const struct sample_event *event;
	uint64_t frequency;	/* Hz */
	uint64_t period;	/* events; ns for a clock */
	int cpu;		/* -1 = all online */
	int cgroup_fd;		/* only its tasks; -1 = no matter */
	int child;		/* a process between fork and exec: sample it
				 * and its descendants from its exec on, on
				 * every CPU; 0 = whatever runs */
};

/* Fill in event and rate. */
void sample_spec_apply(const struct sample_spec *spec,
		       struct perf_event_attr *attr);

/* True for an event that only happens in the kernel. */
bool sample_is_kernels(const struct sample_spec *spec);

/* Say why its event could not be opened (OP_PERF_OPEN, or OP_PERF_TASK for one
 * of a process), with hints. */
void sample_spec_failed(const struct sample_spec *spec, const char *command,
			enum operation op, int err);

struct sampler {
	struct sample_spec spec;
	int prog_fd;			/* not owned */
	bool refused;			/* the kernel takes no program for it */
	struct {
		struct sampler_event *v;
		size_t n, cap;
	} events;
};

/* Open on each CPU and attach the program, not yet enabled (a child's is, by
 * its exec). 0 or -errno, reported with hints unless `refused`;
 * sampler_close() always. */
int sampler_open(struct sampler *s, const char *command,
		 const struct sample_spec *spec, int prog_fd);
int sampler_enable(struct sampler *s);
void sampler_disable(struct sampler *s);
void sampler_close(struct sampler *s);

/* A CPU went offline, and its event with it; or came online, to be sampled
 * from now on: 0 or -errno. */
void sampler_cpu_gone(struct sampler *s, uint64_t cpu);
int sampler_cpu_come(struct sampler *s, uint64_t cpu);

/* The highest frequency that this host allows; 0 = unknown. */
uint64_t sampler_frequency_limit(void);

#endif
