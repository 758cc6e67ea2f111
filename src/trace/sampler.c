/* sampler - the perf events that run a program at intervals. */
#include "trace/sampler.h"

#include <errno.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/log.h"
#include "base/near.h"
#include "base/vec.h"
#include "sys/advice.h"
#include "sys/fs.h"
#include "sys/host.h"
#include "sys/perf.h"

#define SOFTWARE(name, id, clock, each) \
	{ name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, clock, each }
#define HARDWARE(name, id) \
	{ name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id, false, false }
#define CACHE(name, id, result) \
	{ name, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_##id | \
	  PERF_COUNT_HW_CACHE_OP_READ << 8 | \
	  PERF_COUNT_HW_CACHE_RESULT_##result << 16, false, false }

static const struct sample_event events[] = {
	SOFTWARE("cpu-clock", CPU_CLOCK, true, false),
	SOFTWARE("task-clock", TASK_CLOCK, true, false),
	SOFTWARE("page-faults", PAGE_FAULTS, false, true),
	SOFTWARE("faults", PAGE_FAULTS, false, true),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN, false, true),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ, false, true),
	SOFTWARE("context-switches", CONTEXT_SWITCHES, false, true),
	SOFTWARE("cs", CONTEXT_SWITCHES, false, true),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS, false, true),
	SOFTWARE("migrations", CPU_MIGRATIONS, false, true),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS, false, true),
	SOFTWARE("emulation-faults", EMULATION_FAULTS, false, true),
	HARDWARE("cpu-cycles", CPU_CYCLES),
	HARDWARE("cycles", CPU_CYCLES),
	HARDWARE("instructions", INSTRUCTIONS),
	HARDWARE("cache-references", CACHE_REFERENCES),
	HARDWARE("cache-misses", CACHE_MISSES),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS),
	HARDWARE("branches", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", BRANCH_MISSES),
	HARDWARE("bus-cycles", BUS_CYCLES),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	HARDWARE("ref-cycles", REF_CPU_CYCLES),
	CACHE("L1-dcache-load-misses", L1D, MISS),
	CACHE("LLC-load-misses", LL, MISS),
	CACHE("dTLB-load-misses", DTLB, MISS),
	CACHE("iTLB-load-misses", ITLB, MISS),
};

const struct sample_event *sample_event_find(const char *command,
					     const char *name)
{
	struct near near = { .wanted = name };

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		if (!strcmp(events[i].name, name))
			return &events[i];
		near_offer(&near, events[i].name);
	}
	log_error("%s: -e %s: no such event", command, name);
	if (near.best)
		log_hint("the nearest is -e %s", near.best);
	else
		log_hint("for example cpu-clock, cpu-cycles, page-faults, "
			 "context-switches");
	return NULL;
}

/* A clock counts ns, so its period is known; left to the kernel's estimate of
 * a frequency, 3 % of the samples at 4999 Hz never come. */
void sample_spec_apply(const struct sample_spec *spec,
		       struct perf_event_attr *attr)
{
	attr->type = spec->event->type;
	attr->config = spec->event->config;
	if (!spec->frequency) {
		attr->sample_period = spec->period;
	} else if (spec->event->is_clock) {
		attr->sample_period = 1000000000 / spec->frequency;
	} else {
		attr->freq = 1;
		attr->sample_freq = spec->frequency;
	}
}

struct sampler_event {
	int fd, cpu;			/* -1 = on every CPU */
};

bool sample_is_kernels(const struct sample_spec *spec)
{
	return spec->event->type == PERF_TYPE_SOFTWARE &&
	       (spec->event->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		spec->event->config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

/* Is perf_event in a hierarchy of version 1? Lines are "7:perf_event:/path". */
static bool perf_is_in_v1(void)
{
	struct buf text = { 0 };
	bool is;

	fs_read(FS_PROC, "self/cgroup", 1 << 16, &text);
	is = strstr(buf_str(&text), ":perf_event") ||
	     strstr(buf_str(&text), ",perf_event");
	buf_free(&text);
	return is;
}

/* Perf finds no cgroup of its own behind the folder. In version 2 it has no
 * switch, and still the kernel brings it into the folders below the root only
 * when some controller is switched on there for the first time. */
static void cgroup_failed(const struct sample_spec *spec, const char *command)
{
	struct statfs st;
	bool is_v2 = !fstatfs(spec->cgroup_fd, &st) &&
		     (long)st.f_type == CGROUP2_SUPER_MAGIC;

	if (is_v2 && !perf_is_in_v1()) {
		log_error("%s: --cgroup: perf is not yet active in the folders "
			  "of this cgroup2", command);
		log_hint("switch any controller on at its root, which brings "
			 "perf along: a name from cgroup.controllers, with + "
			 "before it, into cgroup.subtree_control");
		return;
	}
	log_error("%s: --cgroup: its hierarchy has no perf_event controller",
		  command);
	if (is_v2)
		log_hint("a hierarchy of version 1 has it on this host: name "
			 "the folder there");
	else
		log_hint("mount -t cgroup -o perf_event none DIR, and name a "
			 "folder there");
}

void sample_spec_failed(const struct sample_spec *spec, const char *command,
			enum operation op, int err)
{
	if (err == -ENODEV && spec->cpu >= 0) {
		log_error("%s: CPU %d: not online", command, spec->cpu);
		return;
	}
	if (err == -ENOENT && spec->cgroup_fd >= 0) {
		cgroup_failed(spec, command);
		return;
	}
	log_error("%s: cannot sample %s: %s", command, spec->event->name,
		  advice_reason(op, err));
	advice(op, err);
}

static int open_one(struct sampler *s, int pid, int cpu)
{
	struct perf_event_attr attr;
	struct sampler_event *slot;
	int fd, err;

	memset(&attr, 0, sizeof(attr));
	sample_spec_apply(&s->spec, &attr);
	attr.disabled = 1;
	attr.inherit = pid > 0;
	attr.enable_on_exec = pid > 0;
	fd = s->spec.cgroup_fd >= 0 ?
		perf_open_cgroup(&attr, s->spec.cgroup_fd, cpu) :
		perf_open(&attr, pid, cpu);
	if (fd < 0)
		return fd;
	slot = vec_push(&s->events);
	if (!slot) {
		close(fd);
		return -ENOMEM;
	}
	*slot = (struct sampler_event){ fd, cpu };
	err = perf_set_bpf(fd, s->prog_fd);
	s->refused = err != 0;
	return err;
}

static int open_cpus(struct sampler *s)
{
	struct num_list cpus = { 0 };
	int err = host_cpus_online(&cpus);

	for (size_t i = 0; !err && i < cpus.n; i++) {
		err = open_one(s, -1, (int)cpus.v[i]);
		if (err == -ENODEV)	/* went offline meanwhile */
			err = 0;
	}
	vec_free(&cpus);
	return err;
}

/* One CPU; a number beyond the possible ones is not online either. */
static int open_cpu(struct sampler *s)
{
	if ((unsigned)s->spec.cpu >= host_cpus_possible())
		return -ENODEV;
	return open_one(s, -1, s->spec.cpu);
}

int sampler_open(struct sampler *s, const char *command,
		 const struct sample_spec *spec, int prog_fd)
{
	int err;

	*s = (struct sampler){ .spec = *spec, .prog_fd = prog_fd };
	if (spec->child)
		err = open_one(s, spec->child, spec->cpu);
	else if (spec->cpu >= 0)
		err = open_cpu(s);
	else
		err = open_cpus(s);
	if (!err && !s->events.n)
		err = -ENODEV;
	if (err && !s->refused)
		sample_spec_failed(spec, command, OP_PERF_OPEN, err);
	return err;
}

int sampler_enable(struct sampler *s)
{
	int err = 0;

	for (size_t i = 0; !err && i < s->events.n; i++)
		err = perf_enable(s->events.v[i].fd);
	return err;
}

void sampler_disable(struct sampler *s)
{
	for (size_t i = 0; i < s->events.n; i++)
		perf_disable(s->events.v[i].fd);
}

void sampler_close(struct sampler *s)
{
	for (size_t i = 0; i < s->events.n; i++)
		close(s->events.v[i].fd);
	vec_free(&s->events);
}

void sampler_cpu_gone(struct sampler *s, uint64_t cpu)
{
	size_t n = 0;

	for (size_t i = 0; i < s->events.n; i++) {
		if (s->events.v[i].cpu == (int)cpu)
			close(s->events.v[i].fd);
		else
			s->events.v[n++] = s->events.v[i];
	}
	s->events.n = n;
}

int sampler_cpu_come(struct sampler *s, uint64_t cpu)
{
	int err;

	if (s->spec.child || (s->spec.cpu >= 0 && s->spec.cpu != (int)cpu))
		return 0;
	err = open_one(s, -1, (int)cpu);
	return err ? err : perf_enable(s->events.v[s->events.n - 1].fd);
}

uint64_t sampler_frequency_limit(void)
{
	long long limit = 0;

	if (fs_read_num(FS_PROC, "sys/kernel/perf_event_max_sample_rate",
			&limit) || limit < 0)
		return 0;
	return (uint64_t)limit;
}
