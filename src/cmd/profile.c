/* profile - where the CPUs' time goes: stack traces, sampled and counted. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/vec.h"
#include "bpf_object.h"
#include "cmd/check.h"
#include "cmd/cmd.h"
#include "cmd/profile.h"
#include "cmd/raw_output.h"
#include "cmd/stack_output.h"
#include "events.h"
#include "sym/debug_files.h"
#include "sys/advice.h"
#include "sys/fs.h"
#include "sys/host.h"
#include "trace/loop.h"
#include "trace/naming.h"
#include "trace/sampling.h"
#include "trace/target.h"

extern const struct bpf_object object_profile;

enum {
	DEFAULT_HZ = 99,
	TICK_MS = 50,			/* how long records may wait ... */
	RAW_TICK_MS = 250,		/* ... when no file is opened by them */
	UNSURE_MOST = 20,		/* ticks */
};

struct settings {
	struct name_options names;
	struct num_list pids, tids;
	uint64_t frequency, count, cpu, duration, long_duration, top;
	uint64_t stack_entries, hash_entries;
	const char *event, *comm, *cgroup, *output, *title, *raw;
	bool user_only, kernel_only, idle, folded, verbose, has_cpu;
	struct stack_options how;
	char **command;
};

#define AT(member) offsetof(struct settings, member)

static const struct opt options[] = {
	{ 'p', "pid", OPT_LIST, AT(pids), "PID,..", "these processes only",
	  .max = 4194304, .excludes = 1 },
	{ 'L', "tid", OPT_LIST, AT(tids), "TID,..", "these threads only",
	  .max = 4194304, .excludes = 1 },
	{ 0, "comm", OPT_TEXT, AT(comm), "NAME",
	  "threads of this name only" },
	{ 0, "cgroup", OPT_TEXT, AT(cgroup), "PATH",
	  "tasks of this cgroup (v2, or v1's perf_event) only" },
	{ 'F', "frequency", OPT_NUM, AT(frequency), "HZ",
	  "samples a second on each CPU (99)", .min = 1, .excludes = 2 },
	{ 'c', "count", OPT_NUM, AT(count), "COUNT",
	  "a sample every COUNT events (ns for a clock)",
	  .min = 1, .max = INT64_MAX, .excludes = 2 },
	{ 'e', "event", OPT_TEXT, AT(event), "EVENT",
	  "what to sample on (cpu-clock); cpu-cycles, page-faults ..." },
	{ 'C', "cpu", OPT_NUM, AT(cpu), "CPU", "this CPU only",
	  .max = 65535 },
	{ 'U', "user-stacks-only", OPT_FLAG, AT(user_only), NULL,
	  "no kernel stacks", .excludes = 4 },
	{ 'K', "kernel-stacks-only", OPT_FLAG, AT(kernel_only), NULL,
	  "no user stacks", .excludes = 4 },
	{ 'I', "include-idle", OPT_FLAG, AT(idle), NULL,
	  "idle CPUs, too" },
	{ 'd', "delimited", OPT_FLAG, AT(how.delimited), NULL,
	  "a line (-- or -) between kernel and user stack" },
	{ 'a', "annotations", OPT_FLAG, AT(how.annotate), NULL,
	  "_[k] behind kernel functions" },
	{ 'A', "address", OPT_FLAG, AT(how.addresses), NULL,
	  "addresses before the names" },
	{ 'f', "folded", OPT_FLAG, AT(folded), NULL,
	  "one line a stack: what `sonde flame` reads" },
	{ 'o', "output", OPT_TEXT, AT(output), "FILE",
	  "write .svg (flame graph), .folded, .txt, .json or .pb" },
	RAW_OPTION(struct settings, raw, 0),
	{ 0, "top", OPT_NUM, AT(top), "N", "print the N hottest stacks",
	  .min = 1 },
	{ 0, "title", OPT_TEXT, AT(title), "TEXT",
	  "title of the flame graph" },
	NAME_OPTIONS(AT(names)),
	{ 0, "duration", OPT_NUM, AT(long_duration), "SECS",
	  "the same as SECS", .min = 1, .max = 99999999 },
	{ 0, "for", OPT_NUM, AT(long_duration), "SECS", NULL,
	  .min = 1, .max = 99999999 },
	{ 0, "stack-storage-size", OPT_NUM, AT(stack_entries), "N",
	  "stacks that the kernel's table holds", .min = 1, .max = 1 << 22 },
	{ 0, "hash-storage-size", OPT_NUM, AT(hash_entries), "N",
	  "rows that the kernel's table of counts holds",
	  .min = 1, .max = 1 << 24 },
	{ 'v', "verbose", OPT_FLAG, AT(verbose), NULL, "say what it does" },
	{ 0 },
};

/* A profile in progress. */
struct profile {
	struct settings set;
	const struct profile_keeper *keeper;	/* NULL = the user himself */
	struct sampling_spec spec;
	struct target_child child;
	VEC(uint64_t) began;		/* the targets; 0 = ended */
	unsigned unsure;		/* ticks since /proc was readable */
	struct sampling sampling;
	struct loop loop;
	struct naming naming;
	struct stack_output output;
	struct raw_output raw;
	char rate[64];			/* "cpu-clock, 99 Hz" */
	uint64_t started;		/* host_time() when the command began */
	double seconds;			/* that it ran */
	uint64_t busy;			/* host_busy_time() while it ran */
};

/* -- what the user asked for ------------------------------------------- */

static int usage_error(const char *what, const char *why)
{
	log_error("profile: %s: %s", what, why);
	return -EINVAL;
}

static int parse_duration(struct settings *set, const struct opt_rest *rest)
{
	set->duration = set->long_duration;
	if (!rest->nargs)
		return 0;
	if (num_u64(rest->args[0], 0, UINT64_MAX, &set->duration) == -EINVAL) {
		log_error("profile: %s: a duration in seconds expected",
			  rest->args[0]);
		log_hint("-- stands before a command: sonde profile -- %s",
			 rest->args[0]);
		return -EINVAL;
	}
	if (rest->nargs > 1)
		return usage_error(rest->args[1], "one duration is enough (-- "
				   "stands before a command)");
	if (set->long_duration)
		return usage_error(rest->args[0],
				   "--duration already gives the duration");
	if (num_u64(rest->args[0], 1, 99999999, &set->duration))
		return usage_error(rest->args[0],
				   "a duration in seconds expected");
	return 0;
}

static int check_frequency(const struct settings *set)
{
	uint64_t limit = sampler_frequency_limit();

	if (!limit || set->frequency <= limit)
		return 0;
	log_error("profile: -F %llu: above this host's limit of %llu",
		  (unsigned long long)set->frequency,
		  (unsigned long long)limit);
	log_hint("sysctl kernel.perf_event_max_sample_rate sets the limit");
	return -EINVAL;
}

static int set_rate(struct profile *p)
{
	struct sample_spec *sample = &p->spec.sample;
	const struct settings *set = &p->set;

	sample->event = sample_event_find("profile", set->event ? set->event
							: "cpu-clock");
	if (!sample->event)
		return -EINVAL;
	sample->period = set->count;
	sample->frequency = set->frequency;
	if (!set->count && !set->frequency && sample->event->per_event)
		sample->period = 1;
	else if (!set->count && !set->frequency)
		sample->frequency = DEFAULT_HZ;
	sample->cpu = set->cpu == UINT64_MAX ? -1 : (int)set->cpu;
	return 0;
}

static int parse(struct profile *p, int argc, char **argv)
{
	struct settings *set = &p->set;
	struct opt_rest rest;
	int err;

	set->cpu = UINT64_MAX;
	err = opt_parse("profile", options, set, argc, argv, &rest);
	if (!err)
		err = debug_files_open(&set->names);
	if (!err)
		err = parse_duration(set, &rest);
	if (err)
		return err;
	if (p->keeper && !set->duration)
		set->duration = p->keeper->seconds;
	log_set_verbose(set->verbose);
	set->command = rest.command;
	if (set->command && (set->pids.n || set->tids.n))
		return usage_error("-- COMMAND", "excludes -p and -L");
	if (p->keeper && set->raw)
		return usage_error("--raw", "a boot is not recorded so");
	if (set->command && set->cgroup)
		return usage_error("-- COMMAND", "excludes --cgroup");
	if (set->comm && strlen(set->comm) >= COMM_SIZE)
		return usage_error("--comm", "a thread's name has at most 15 "
				   "characters");
	if (set_rate(p) || check_frequency(set))
		return -EINVAL;
	p->spec.command = "profile";
	p->spec.object = &object_profile;
	p->spec.pids = set->pids;
	p->spec.tids = set->tids;
	p->spec.comm = set->comm;
	p->spec.cgroup = set->cgroup;
	p->spec.idle = set->idle;
	p->spec.user = !set->kernel_only;
	p->spec.kernel = !set->user_only;
	p->spec.seconds = set->duration;
	p->spec.stack_entries = set->stack_entries;
	p->spec.hash_entries = set->hash_entries;
	return 0;
}

/* -- run --------------------------------------------------------------- */

static void print_whom(const struct settings *set, FILE *out)
{
	const struct num_list *ids = set->pids.n ? &set->pids : &set->tids;

	if (!ids->n) {
		fprintf(out, " of %s", set->command ? "the command"
						    : "all threads");
		return;
	}
	fprintf(out, " of %s [", set->pids.n ? "PID" : "TID");
	for (size_t i = 0; i < ids->n; i++)
		fprintf(out, "%s%llu", i ? ", " : "",
			(unsigned long long)ids->v[i]);
	fprintf(out, "]");
}

static int say_header(struct profile *p)
{
	const struct settings *set = &p->set;
	FILE *out = p->output.out.file;

	if (p->output.format != STACK_TEXT || set->output || p->raw.alone)
		return 0;
	if (p->spec.sample.frequency)
		fprintf(out, "Sampling at %llu Hertz",
			(unsigned long long)p->spec.sample.frequency);
	else
		fprintf(out, "Sampling at every %llu events",
			(unsigned long long)p->spec.sample.period);
	print_whom(set, out);
	fprintf(out, " by %s stack", set->user_only ? "user" :
		set->kernel_only ? "kernel" : "user + kernel");
	if (p->spec.sample.cpu >= 0)
		fprintf(out, " on CPU#%d", p->spec.sample.cpu);
	if (set->duration)
		fprintf(out, " for %llu secs.\n",
			(unsigned long long)set->duration);
	else
		fprintf(out, "... Hit Ctrl-C to end.\n");
	return out_flush(&p->output.out);
}

static const struct num_list *targets(const struct profile *p)
{
	return p->set.tids.n ? &p->set.tids : &p->set.pids;
}

static int note_targets(struct profile *p)
{
	const struct num_list *ids = targets(p);

	if (fs_dir(FS_PROC) < 0)
		return 0;
	for (size_t i = 0; i < ids->n; i++) {
		uint64_t *began = vec_push(&p->began);
		int err;

		if (!began) {
			log_error("profile: out of memory");
			return -ENOMEM;
		}
		err = target_began(ids->v[i], began);
		if (err == -ESRCH) {
			*began = 0;
		} else if (err) {
			log_error("profile: /proc/%llu/stat: %s",
				  (unsigned long long)ids->v[i],
				  log_errno(err));
			return err;
		}
	}
	return 0;
}

/* A number that another process has by now is not the target any more; when
 * nobody is left, the profile ends. */
static void check_targets(struct profile *p)
{
	const struct num_list *ids = targets(p);
	size_t left = 0;
	int err = 0;

	if (!p->began.n)
		return;
	for (size_t i = 0; i < ids->n; i++) {
		int same = p->began.v[i] ?
			   target_is_same(ids->v[i], p->began.v[i]) : 0;

		left += same != 0;
		if (same < 0)
			err = same;
		if (same || !p->began.v[i])
			continue;
		p->began.v[i] = 0;
		sampling_forget(&p->sampling, ids->v[i]);
	}
	p->unsure = err ? p->unsure + 1 : 0;
	if (p->unsure == UNSURE_MOST)
		log_notice("it ends here, for /proc cannot tell any more "
			   "whether the processes run: %s", log_errno(err));
	if (!left || p->unsure == UNSURE_MOST)
		p->loop.end = LOOP_ASKED;
}

static void show_live(struct profile *p, uint64_t now)
{
	struct sampling_totals t = sampling_totals(&p->sampling);

	log_live("profile: %.0f s, %llu samples, %llu lost",
		 (double)(now - p->loop.start) / 1e9,
		 (unsigned long long)t.kept, (unsigned long long)t.lost);
}

/* How long the CPUs were busy while it sampled. 0 = not known: they were busy
 * afterwards, too, where the mappings of many processes had to be read. */
static uint64_t busy_since(const struct profile *p)
{
	uint64_t now;

	if (host_time() - p->sampling.stopped > 2000000ull * TICK_MS)
		return 0;
	now = host_busy_time(p->spec.sample.cpu);
	return p->busy && now > p->busy ? now - p->busy : 0;
}

/* A failure that nobody has told yet. */
static int failed(const char *what, int err)
{
	if (err)
		log_error("profile: cannot %s: %s", what, log_errno(err));
	return err;
}

static int watch(struct profile *p)
{
	uint64_t next = p->loop.start + 1000000000;
	int tick = p->raw.alone && !p->began.n ? RAW_TICK_MS : TICK_MS, err = 0;

	while (!err && !p->loop.end) {
		uint64_t now;

		err = failed("wait for events",
			     loop_wait(&p->loop, tick));
		sampling_drain(&p->sampling);
		check_targets(p);
		now = host_time();
		if (now < next || p->loop.end)
			continue;
		if (!p->keeper)
			show_live(p, now);
		next = now + 1000000000;
	}
	sampling_stop(&p->sampling);
	loop_finish(&p->loop);
	p->seconds = (double)(p->sampling.stopped - p->loop.start) / 1e9;
	p->busy = busy_since(p);
	log_live_clear();
	return err;
}

static int begin(struct profile *p)
{
	int err;

	p->busy = host_busy_time(p->spec.sample.cpu);
	p->loop.start = host_time();
	if (p->set.duration)
		p->loop.deadline = p->loop.start +
				   p->set.duration * 1000000000;
	err = failed("start sampling", sampling_start(&p->sampling));
	if (!err && p->child.pid)
		err = target_go(&p->child, "profile", p->set.command[0]);
	if (!err && p->keeper)
		p->keeper->begun(p->keeper->arg);
	p->loop.child = p->child.pid;
	log_verbose("sampling after %.1f ms",
		    (double)(host_time() - p->started) / 1e6);
	return err;
}

/* -- result ------------------------------------------------------------ */

static int take_stack(void *arg, const struct stack *stack)
{
	struct profile *p = arg;
	struct named_stack named;
	struct stack_row row;
	char comm[COMM_SIZE + 1] = { 0 };
	int err = raw_output_stack(&p->raw, stack, stack->key->tgid,
				   stack->count, 0);

	if (err || p->raw.alone)
		return err;
	err = naming_stack(&p->naming, stack, &named);
	if (err)
		return err;
	memcpy(comm, stack->key->comm, COMM_SIZE);
	row = (struct stack_row){
		.comm = comm, .pid = stack->key->tgid, .value = stack->count,
		.user = named.user, .nuser = named.nuser,
		.kernel = named.kernel, .nkernel = named.nkernel,
		.missed_user = stack->missed_user,
		.missed_kernel = stack->missed_kernel,
	};
	return stack_output_add(&p->output, &row);
}

/* A timer that fired late, or not at all, leaves fewer samples than asked.
 * Idle CPUs count for nothing: some machines stop their timers. */
static void report_rate(struct profile *p)
{
	double asked = (double)p->spec.sample.frequency * (double)p->busy / 1e9;
	struct sampling_totals t = sampling_totals(&p->sampling);
	double got = (double)(t.taken - t.idle);

	if (!p->spec.sample.event->is_clock || !t.is_whole || p->set.idle ||
	    asked < 100 || got >= 0.9 * asked)
		return;
	log_notice("sampling was throttled: %.0f %% of the samples asked for "
		   "(see sysctl kernel.perf_cpu_time_max_percent)",
		   100 * got / asked);
}

/* How the traced command ended, when that is not as it should be. */
static void report_command(const struct profile *p)
{
	int status = p->loop.child_status;

	if (p->loop.child)
		log_notice("the command still runs: process %d",
			   p->loop.child);
	else if (p->set.command && WIFSIGNALED(status))
		log_notice("the command was ended by a signal: %s",
			   strsignal(WTERMSIG(status)));
	else if (p->set.command && WIFEXITED(status) && WEXITSTATUS(status))
		log_notice("the command ended with status %d",
			   WEXITSTATUS(status));
}

static void report(struct profile *p)
{
	struct sampling_totals t = sampling_totals(&p->sampling);

	log_notice("%llu samples in %.1f s%s, %llu lost",
		   (unsigned long long)p->sampling.stacks.total, p->seconds,
		   t.idle ? ", idle CPUs left out" : "",
		   (unsigned long long)t.lost);
	report_command(p);
	sampling_report(&p->sampling);
	report_rate(p);
	naming_report(&p->naming);
}

static int show(struct profile *p)
{
	char subtitle[128];
	int err = p->raw.alone ? 0 : stack_output_ready(&p->output), raw;

	if (err)
		return err;
	err = sampling_each(&p->sampling, take_stack, p);
	if (err) {
		log_error("profile: cannot read the result: %s",
			  advice_reason(OP_BPF, err));
		return err;
	}
	snprintf(subtitle, sizeof(subtitle), "%s, %.1f s, %llu samples",
		 p->rate, p->seconds,
		 (unsigned long long)p->sampling.stacks.total);
	p->output.subtitle = subtitle;
	if (!p->raw.alone)
		err = stack_output_write(&p->output);
	report(p);
	raw = raw_output_finish(&p->raw, subtitle, p->seconds);
	return err ? err : raw;
}

static int profile(struct profile *p)
{
	const struct settings *set = &p->set;
	const struct sample_spec *sample = &p->spec.sample;
	int err;

	if (p->keeper)
		p->output.locate = p->keeper->locate;
	err = raw_output_open(&p->raw, "profile", set->raw,
			      set->folded || set->output || set->top,
			      set->top ? NULL : set->output);
	if (!err && !p->raw.alone)
		err = stack_output_open(&p->output, "profile", set->output,
					set->folded);
	if (err)
		return err;
	snprintf(p->rate, sizeof(p->rate), "%s, %llu %s", sample->event->name,
		 (unsigned long long)(sample->frequency ? sample->frequency
							: sample->period),
		 sample->frequency ? "Hz" : "events a sample");
	p->raw.event = p->rate;
	p->output.how = set->how;
	p->output.how.delimited &= !set->user_only && !set->kernel_only;
	p->output.top = set->top;
	p->output.title = set->title ? set->title : "CPU flame graph";
	if (sample->frequency && strstr(sample->event->name, "-clock"))
		p->output.period = 1000000000 / sample->frequency;
	err = failed("take over signals", loop_open(&p->loop));
	if (!err && set->command)
		err = target_spawn(&p->child, "profile", set->command);
	host_raise_files();		/* ours, not the command's */
	p->spec.sample.child = p->child.pid;
	if (!err)
		err = naming_open(&p->naming, &set->names);
	if (!err)
		raw_output_prepare(&p->raw, &p->naming);
	if (!err)
		err = raw_output_begin(&p->raw, &p->output, 0, NULL);
	if (!err)
		err = sampling_open(&p->sampling, &p->spec, &p->naming,
				    &p->loop);
	if (!err)
		err = note_targets(p);
	if (!err)
		err = begin(p);
	if (!err)
		err = say_header(p);
	if (!err)
		err = watch(p);
	return err ? err : show(p);
}

static void release(struct profile *p)
{
	target_abandon(&p->child);
	stack_output_close(&p->output);
	raw_output_close(&p->raw);
	sampling_close(&p->sampling);
	naming_close(&p->naming);
	loop_close(&p->loop);
	vec_free(&p->began);
	vec_free(&p->set.pids);
	vec_free(&p->set.tids);
}

int profile_keep(const struct profile_keeper *keeper, int argc, char **argv)
{
	struct profile p = {
		.keeper = keeper,
		.loop = { .epoll_fd = -1, .signal_fd = -1 },
		.started = host_time(),
	};
	int err = parse(&p, argc, argv), status = cmd_refused(err);

	if (!err)
		status = !target_exist("profile", "-p", &p.set.pids, false) ||
			 !target_exist("profile", "-L", &p.set.tids, true) ||
			 profile(&p) ? EXIT_FAIL : EXIT_OK;
	release(&p);
	return status;
}

static int run(int argc, char **argv)
{
	return profile_keep(NULL, argc, argv);
}

static void check(struct check *c)
{
	check_sampling(c, &object_profile);
	check_file_systems(c);
	check_fork_tracepoint(c);
	check_kernel_names(c);
	check_other_processes(c);
}

const struct cmd cmd_profile = {
	.name = "profile",
	.usage = "[options] [SECS] [-- COMMAND [ARGUMENTS]]",
	.summary = "where CPU time goes: sampled stacks, text or flame graph",
	.about =
	"Samples the stacks of what runs, kernel and user, and counts equal\n"
	"ones in the kernel. Ends after SECS seconds, at Ctrl-C, or when\n"
	"COMMAND or the processes of -p end; COMMAND itself is not ended.\n"
	"Options are those of bcc's profile.\n\n"
	"Events for -e: cpu-clock task-clock; cpu-cycles instructions\n"
	"cache-references cache-misses branches branch-misses bus-cycles\n"
	"ref-cycles stalled-cycles-frontend stalled-cycles-backend\n"
	"L1-dcache-load-misses LLC-load-misses dTLB-load-misses\n"
	"iTLB-load-misses, where the host has counters; page-faults\n"
	"minor-faults major-faults context-switches cpu-migrations\n"
	"alignment-faults emulation-faults, each one of which is a sample.",
	.examples =
	"  sonde profile 5                   the whole machine for 5 seconds\n"
	"  sonde profile -o cpu.svg 10       a flame graph of it\n"
	"  sonde profile -p 1234 -F 999 10   one process, 999 times a second\n"
	"  sonde profile -o b.svg -- make    a command and all it starts\n"
	"  sonde profile -f 5 | sonde flame > x.svg   through folded stacks\n"
	"  sonde profile -e page-faults -o pf.svg 10  who faults pages in\n"
	"  sonde profile -K -a --top 5 5     the kernel's 5 hottest stacks\n",
	.options = options,
	.object = &object_profile,
	.run = run,
	.check = check,
};
