/* sampling - the stacks of what runs, counted, in the way that the host has. */
#include "trace/sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/log.h"
#include "base/vec.h"
#include "sym/caller.h"
#include "sys/advice.h"
#include "sys/bpf.h"
#include "sys/feature.h"
#include "sys/fs.h"
#include "sys/host.h"
#include "sys/tracefs.h"
#include "trace/filter.h"

enum {
	TABLE_MIN = 1024,
	TABLE_MAX = 16384,
	SMALL_HOST = 256 << 20,		/* bytes of memory */
};
#define CPUS_EVERY 500000000u		/* ns, that CPUs are looked for */

/* Sizes */

static uint32_t power_of_two(uint64_t n, uint32_t least, uint32_t most)
{
	uint32_t size = least;

	while (size < n && size < most)
		size *= 2;
	return size;
}

/* As many entries as there can be samples, up to bcc's number, within a 64th
 * of the memory: what finds no place goes through the ring. */
static uint32_t table_size(const struct sampling *s, uint64_t entry_bytes,
			   uint32_t most)
{
	const struct sampling_spec *spec = &s->spec;
	uint64_t cpus = spec->sample.cpu < 0 ? s->online.n : 1;
	uint64_t seconds = spec->seconds ? spec->seconds : 60;
	uint64_t samples = spec->sample.frequency * cpus * seconds;
	uint64_t room = host_memory() / 64 / entry_bytes;

	if (!spec->sample.frequency || samples > most)
		samples = most;
	if (samples > room)
		samples = room;
	return power_of_two(samples, TABLE_MIN, most);
}

/* Room for a fifth of a second in which every stack has to be sent. */
static uint32_t ring_size(const struct sampling *s)
{
	return power_of_two(s->spec.sample.frequency * s->online.n *
			    sizeof(struct stack_event) / 5, 256 << 10, 4 << 20);
}

static void set_sizes(struct sampling *s)
{
	const struct sampling_spec *spec = &s->spec;
	uint32_t stacks, counts;

	stacks = spec->stack_entries ? (uint32_t)spec->stack_entries
		: table_size(s, 8 * s->depth + 48, TABLE_MAX);
	counts = spec->hash_entries ? (uint32_t)spec->hash_entries
		: table_size(s, 128, 2 * TABLE_MAX);
	session_value_size(s->session, "stacks", 8 * s->depth);
	session_entries(s->session, "stacks", stacks);
	session_entries(s->session, "counts", counts);
	if (host_memory() < SMALL_HOST) {
		session_entries(s->session, "gens", 2048);
		session_entries(s->session, "seen", 1024);
		session_entries(s->session, "events", 256 << 10);
	} else {
		session_entries(s->session, "events", ring_size(s));
	}
	log_verbose("tables: %u stacks of %u frames, %u counts", stacks,
		    s->depth, counts);
}

/* Whom the first rung counts */

static int no_pids(struct sampling *s)
{
	s->refused = -EOPNOTSUPP;
	return s->refused;
}

/* The kernel's helper numbers the tasks of one namespace alone, and not those
 * of the namespaces within it. */
static bool is_deeper(const struct sampling *s, const struct pid_namespace *ns)
{
	const struct num_list *ids = s->spec.tids.n ? &s->spec.tids
						    : &s->spec.pids;

	for (size_t i = 0; i < ids->n; i++) {
		if (!host_is_elsewhere(ns, ids->v[i]))
			continue;
		log_notice("programs cannot tell the pids of the pid namespace "
			   "of %llu, which lies within this one",
			   (unsigned long long)ids->v[i]);
		return true;
	}
	return false;
}

static int set_namespace(struct sampling *s)
{
	struct pid_namespace ns;

	if (host_pid_namespace(&ns) || ns.initial)
		return 0;
	if (!feature_has(FEATURE_NS_PID)) {
		log_notice("programs of this kernel cannot tell the pids of "
			   "this pid namespace (that came with Linux 5.7)");
		return no_pids(s);
	}
	if (is_deeper(s, &ns))
		return no_pids(s);
	session_const(s->session, "ns_dev", ns.dev);
	session_const(s->session, "ns_ino", ns.ino);
	return 0;
}

static void set_stacks(struct sampling *s)
{
	const struct sampling_spec *spec = &s->spec;

	session_const(s->session, "idle", spec->idle);
	session_const(s->session, "user", spec->user);
	session_const(s->session, "kernel", spec->kernel);
	if (spec->user && feature_has(FEATURE_READ_USER))
		session_const(s->session, "caller", caller_is_linked()
			      ? CALLER_IN_LR : CALLER_ON_STACK);
	session_const(s->session, "get_stack", feature_has(FEATURE_GET_STACK));
}

/* What happens to processes is worth a notice when it cannot be followed; but
 * of a command whose execs and forks are not seen, nothing would be counted. */
static int follow_processes(struct sampling *s)
{
	int records = records_open(&s->records, s->naming->procs), images;

	if (!records)
		records = records_watch(&s->records, s->loop->epoll_fd);
	if (records)
		log_notice("cannot follow new mappings (%s): names in "
			   "processes that end meanwhile may be missing",
			   log_errno(records));
	images = session_attach(s->session);
	if (!images)
		return 0;
	if (s->by_tree) {
		log_notice("the kernel takes no program to follow the command: "
			   "%s", log_errno(images));
		s->refused = images;
		return images;
	}
	s->naming->one_image = true;
	s->naming->child = (uint32_t)s->spec.sample.child;
	log_notice("cannot follow execs (%s): processes that exec meanwhile "
		   "are not named", images == -EOPNOTSUPP ?
		   "Linux 4.17 is needed" : log_errno(images));
	return 0;
}

/* A command's descendants are best followed by the fork tracepoint: perf's own
 * inheritance starts a period anew in each child, so that what lives less than
 * a period is hardly ever sampled; and where parent and child take turns on a
 * CPU, the kernel lets them swap their events, and with them what is left of a
 * period. */
static void set_tree(struct sampling *s, struct filter *f)
{
	struct sample_spec *sample = &s->spec.sample;
	struct pid_namespace ns = { 0 };

	if (!sample->child ||
	    !feature_has(FEATURE_RAW_TRACEPOINT) ||
	    host_pid_namespace(&ns) || !ns.initial ||
	    tracefs_field("sched/sched_process_fork", "child_pid", 4) < 0) {
		session_without(s->session, "fork");
		s->inherits = sample->child != 0;
		return;
	}
	f->root = sample->child;
	sample->child = 0;
	s->by_tree = true;
}

static int cannot_wait(const struct sampling *s, int err)
{
	log_error("%s: cannot wait for records: %s", s->spec.command,
		  log_errno(err));
	return err;
}

static int open_sampler(struct sampling *s)
{
	int err = sampler_open(&s->sampler, s->spec.command, &s->spec.sample,
			       session_prog(s->session, "sample"));

	if (err && s->sampler.refused) {
		log_notice("the kernel takes no program for %s: %s",
			   s->spec.sample.event->name, log_errno(err));
		s->refused = err;
	}
	return err;
}

/* A cgroup of version 1, perf's events tell. */
static struct filter filter_of(const struct sampling *s)
{
	const struct sampling_spec *spec = &s->spec;

	return (struct filter){
		.command = spec->command, .pids = spec->pids,
		.tids = spec->tids, .comm = spec->comm, .cpu = -1,
		.with_self = true, .cgroup_fd = spec->sample.cgroup_fd < 0 ?
						s->cgroup_fd : -1,
	};
}

static int open_in_kernel(struct sampling *s)
{
	struct filter filter = filter_of(s);
	int err;

	s->in_kernel = true;
	stacks_init(&s->stacks, stacks_memory(), s->depth,
		    s->depth < STACK_DEPTH ? s->depth : STACK_DEPTH);
	s->session = session_new(s->spec.command, s->spec.object);
	if (!s->session) {
		log_error("%s: out of memory", s->spec.command);
		return -ENOMEM;
	}
	session_other_way(s->session);
	err = set_namespace(s);
	if (err)
		return err;
	set_stacks(s);
	set_sizes(s);
	set_tree(s, &filter);
	filter_consts(&filter, s->session);
	err = session_load(s->session);
	if (session_is_refused(err))
		s->refused = err;
	if (!err)
		err = filter_fill(&filter, s->session);
	if (err)
		return err;
	err = channel_watch(session_channel(s->session), s->loop->epoll_fd);
	if (err)
		return cannot_wait(s, err);
	err = follow_processes(s);
	return err ? err : open_sampler(s);
}

static void close_in_kernel(struct sampling *s)
{
	sampler_close(&s->sampler);
	records_close(&s->records);
	session_free(s->session);
	s->session = NULL;
}

/* The second rung */

static int open_here(struct sampling *s)
{
	int err;

	s->in_kernel = s->naming->one_image = false;
	s->inherits = s->spec.sample.child != 0;
	if (s->cgroup_fd >= 0)
		s->spec.sample.cgroup_fd = s->cgroup_fd;
	stacks_init(&s->stacks, stacks_memory(), s->depth, s->depth);
	err = callchains_open(&s->chains, &s->spec, s->naming, &s->stacks);
	if (err)
		return err;
	err = callchains_watch(&s->chains, s->loop->epoll_fd);
	return err ? cannot_wait(s, err) : 0;
}

/* Both rungs */

/* A BPF program tells the cgroups of v2; perf events those of v1, and both
 * where there is no program. */
static int open_cgroup(struct sampling *s)
{
	const char *path = s->spec.cgroup;
	struct statfs st;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fstatfs(fd, &st)) {
		int err = errno;

		log_error("%s: --cgroup %s: %s", s->spec.command, path,
			  log_errno(err));
		if (fd >= 0)
			close(fd);
		return -err;
	}
	s->cgroup_fd = fd;
	if ((long)st.f_type != CGROUP_SUPER_MAGIC &&
	    (long)st.f_type != CGROUP2_SUPER_MAGIC) {
		log_error("%s: --cgroup %s: not a folder of a cgroup file "
			  "system", s->spec.command, path);
		return -EINVAL;
	}
	if ((long)st.f_type == CGROUP_SUPER_MAGIC)
		s->spec.sample.cgroup_fd = fd;
	return 0;
}

int sampling_open(struct sampling *s, const struct sampling_spec *spec,
		  struct naming *naming, struct loop *loop)
{
	int err, bpf;

	*s = (struct sampling){
		.spec = *spec, .naming = naming, .loop = loop,
		.depth = stacks_depth_limit(), .cgroup_fd = -1,
	};
	s->spec.sample.cgroup_fd = -1;
	err = host_cpus_online(&s->online);
	if (err) {
		log_error("%s: cannot tell the CPUs: %s", spec->command,
			  log_errno(err));
		return err;
	}
	if (spec->cgroup)
		err = open_cgroup(s);
	if (err)
		return err;
	if (spec->take)
		return open_here(s);
	bpf = feature_error(FEATURE_BPF);
	if (bpf) {
		log_notice("bpf(2) cannot be used (%s): stacks are counted in "
			   "user space", advice_reason(OP_BPF, bpf));
		advice(OP_BPF, bpf);
		return open_here(s);
	}
	err = open_in_kernel(s);
	if (!err || !s->refused)
		return err;
	log_notice("stacks are counted in user space instead");
	close_in_kernel(s);
	s->spec.sample.child = spec->sample.child;
	return open_here(s);
}

static void stop_in_kernel(struct sampling *s)
{
	if (s->stopped)
		return;
	sampler_disable(&s->sampler);
	s->stopped = host_time();
}

/* Reading the mappings of a process can take long. */
static void take_event(void *arg, const void *data, size_t len)
{
	struct sampling *s = arg;
	const struct seen_event *seen = data;

	if (len < sizeof(*seen) || seen->type != EVENT_SEEN) {
		stacks_take(&s->stacks, data, len);
		return;
	}
	loop_wait(s->loop, 0);		/* what fails will fail again outside */
	if (s->loop->end)
		stop_in_kernel(s);
	naming_seen(s->naming, seen);
}

static void drain(struct sampling *s)
{
	if (!s->in_kernel) {
		callchains_read(&s->chains, false);
		return;
	}
	records_read(&s->records);
	if (channel_read(session_channel(s->session), take_event, s))
		s->channel_bad = true;
}

int sampling_start(struct sampling *s)
{
	if (s->spec.sample.child)
		return 0;		/* its exec starts it */
	return s->in_kernel ? sampler_enable(&s->sampler)
			    : callchains_enable(&s->chains);
}

void sampling_stop(struct sampling *s)
{
	if (s->in_kernel) {
		stop_in_kernel(s);
		drain(s);
	} else {
		callchains_disable(&s->chains);
		s->stopped = host_time();
		callchains_read(&s->chains, true);
	}
}

void sampling_close(struct sampling *s)
{
	close_in_kernel(s);
	callchains_close(&s->chains);
	stacks_free(&s->stacks);
	vec_free(&s->online);
	if (s->cgroup_fd > 0)
		close(s->cgroup_fd);
}

/* CPUs that come and go */

static bool has(const struct num_list *list, uint64_t number)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i] == number)
			return true;
	return false;
}

static void cpu_gone(struct sampling *s, uint64_t cpu)
{
	if (s->in_kernel) {
		sampler_cpu_gone(&s->sampler, cpu);
		records_cpu_gone(&s->records, cpu);
	} else {
		callchains_cpu_gone(&s->chains, cpu);
	}
}

static void cpu_come(struct sampling *s, uint64_t cpu)
{
	int err;

	if (s->in_kernel) {
		err = sampler_cpu_come(&s->sampler, cpu);
		if (!err)
			err = records_cpu_come(&s->records, cpu,
					       s->loop->epoll_fd);
	} else {
		err = callchains_cpu_come(&s->chains, cpu, s->loop->epoll_fd);
	}
	if (err && err != -ENODEV)
		log_notice("CPU %llu came online, but cannot be sampled: %s",
			   (unsigned long long)cpu, log_errno(err));
}

/* An event goes with its CPU and does not come back with it. */
static void follow_cpus(struct sampling *s)
{
	struct num_list now = { 0 };

	if (host_cpus_online(&now) ||
	    (now.n == s->online.n &&
	     !memcmp(now.v, s->online.v, now.n * sizeof(*now.v)))) {
		vec_free(&now);
		return;
	}
	for (size_t i = 0; i < s->online.n; i++)
		if (!has(&now, s->online.v[i]))
			cpu_gone(s, s->online.v[i]);
	for (size_t i = 0; i < now.n; i++)
		if (!has(&s->online, now.v[i]))
			cpu_come(s, now.v[i]);
	vec_free(&s->online);
	s->online = now;
}

void sampling_drain(struct sampling *s)
{
	uint64_t now = host_time();

	if (now - s->followed >= CPUS_EVERY) {
		s->followed = now;
		follow_cpus(s);
	}
	drain(s);
}

void sampling_forget(struct sampling *s, uint64_t id)
{
	if (s->in_kernel)
		filter_forget(s->session, id);
	else
		callchains_forget(&s->chains, (uint32_t)id);
}

int sampling_each(struct sampling *s,
		  int (*fn)(void *arg, const struct stack *stack), void *arg)
{
	return stacks_each(&s->stacks, s->session, fn, arg);
}

static void counters_read(struct sampling *s)
{
	int fd = session_map(s->session, "counters");

	s->counters_bad = false;
	for (uint32_t i = 0; i < COUNTER_MAX; i++)
		if (bpf_map_lookup(fd, &i, &s->counters[i]))
			s->counters_bad = true;
}

static uint64_t records_lost(const struct sampling *s)
{
	return channel_lost(session_channel(s->session),
			    s->counters[COUNTER_EVENT_LOST]);
}

struct sampling_totals sampling_totals(struct sampling *s)
{
	struct sampling_totals t;

	if (!s->in_kernel)
		return (struct sampling_totals){
			.taken = s->chains.taken, .idle = s->chains.idle,
			.kept = s->chains.kept,
			.lost = s->chains.lost + s->stacks.lost,
			.is_whole = s->chains.everything && !s->spec.cgroup,
		};
	counters_read(s);
	t.taken = s->counters[COUNTER_SAMPLES];
	t.idle = s->counters[COUNTER_IDLE];
	t.lost = s->counters[COUNTER_NO_SLOT] + s->stacks.lost +
		 records_lost(s) - s->counters[COUNTER_EVENT_LOST];
	t.is_whole = !s->spec.sample.child && s->spec.sample.cgroup_fd < 0;
	t.kept = t.taken - t.idle - s->counters[COUNTER_FILTERED] -
		 s->counters[COUNTER_OUTSIDE];
	return t;
}

static void report_in_kernel(const struct sampling *s)
{
	log_count(s->counters[COUNTER_NO_SLOT], "samples lost, the table of "
		    "counts is full (--hash-storage-size)");
	log_count(s->stacks.missed, "samples without one of their stacks, "
		    "the stack table is full (--stack-storage-size)");
	log_count(stacks_records_lost(&s->stacks, records_lost(s),
				      s->counters[COUNTER_NO_SLOT]),
		    "records lost, the ring to user space was full");
	session_report_followed(s->session);
	log_count(s->counters[COUNTER_UNTOLD], "samples of processes beyond "
		    "the number that can be told apart, not named");
	log_count(s->counters[COUNTER_IMAGE_LOST], "execs or exits not "
		    "noted, names of those processes may be wrong");
	log_count(s->records.lost, "records of execs and mappings "
		    "lost, some names may be missing or wrong");
	log_count(s->counters[COUNTER_OUTSIDE], "samples of tasks outside "
		    "this pid namespace, or in one within it, left out");
	if (s->counters_bad)
		log_notice("the counters of what was lost cannot be read: "
			   "more may be lost than is told");
	if (s->channel_bad)
		log_notice("the ring to user space held no sense: some "
			   "records are lost");
}

static void report_here(const struct sampling *s)
{
	log_count(s->chains.lost, "records lost, a ring was full");
	log_count(s->chains.outside, "samples of idle CPUs or of tasks "
		    "outside this pid namespace, left out");
}

void sampling_report(const struct sampling *s)
{
	if (s->inherits)
		log_notice("processes of the command that live less than a "
			   "sample's period are hardly ever sampled here, nor "
			   "are those that start them");
	if (s->in_kernel)
		report_in_kernel(s);
	else
		report_here(s);
	log_count(s->stacks.lost, "samples lost, too many different stacks "
		    "for the memory of this host");
	log_count(s->stacks.cut, "samples with a stack deeper than the "
		    "limit (sysctl kernel.perf_event_max_stack)");
}
