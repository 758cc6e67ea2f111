/* loadsnoop - when too many tasks want to run: which, with their stacks. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/log.h"
#include "base/vec.h"
#include "bpf_object.h"
#include "cmd/check.h"
#include "cmd/cmd.h"
#include "cmd/probing.h"
#include "cmd/stack_output.h"
#include "sym/debug_files.h"
#include "sys/feature.h"
#include "sys/host.h"
#include "trace/overload.h"
#include "trace/runnable.h"
#include "trace/sampling.h"
#include "trace/trial.h"
#include "trace/watch.h"

extern const struct bpf_object object_loadsnoop, object_profile;

enum {
	SECOND = 1000000000,
	TURN_MS = 75,			/* a burst shall be seen within 100 */
	WINDOW_NS = 1000000,		/* between samples in the window, */
	BEFORE_HZ = 49,			/* and in the record of before */
	BEFORE_MOST = 60,		/* seconds of that */
	BEFORE_TOP = 10,		/* stacks of it that are shown */
	IMAGES_MOST = 4096,		/* that it may know */
	CPUS_EVERY = 5,			/* seconds: are they still the same? */
	CPUS_A_LINE = 8,
};

struct settings {
	struct name_options names;
	struct num_list pids, tids;
	uint64_t limit, rest, window, before, most, duration, cpu;
	const char *comm, *output, *title;
	bool per_cpu, user_only, kernel_only, verbose;
};

#define AT(member) offsetof(struct settings, member)

static const struct opt options[] = {
	{ 'n', "runnable", OPT_NUM, AT(limit), "N",
	  "more than N tasks a CPU are too many (4)", .min = 1,
	  .max = 1000000 },
	{ 0, "per-cpu", OPT_FLAG, AT(per_cpu), NULL,
	  "... on any single CPU, not on average" },
	{ 'i', "interval", OPT_NUM, AT(rest), "SECS",
	  "rest so long after each overload (5)", .max = 99999999 },
	{ 0, "window", OPT_NUM, AT(window), "MS",
	  "wait so long for samples of the tasks (500)", .min = 1,
	  .max = 60000 },
	{ 0, "before", OPT_NUM, AT(before), "SECS",
	  "show what ran in the seconds before, too", .min = 1,
	  .max = BEFORE_MOST },
	{ 'M', "max-events", OPT_NUM, AT(most), "N",
	  "end after N overloads", .min = 1 },
	{ 'd', "duration", OPT_NUM, AT(duration), "SECS",
	  "the same as SECS", .min = 1, .max = 99999999 },
	{ 'p', "pid", OPT_LIST, AT(pids), "PID,..",
	  "show tasks of these processes only", .max = 4194304,
	  .excludes = 1 },
	{ 't', "tid", OPT_LIST, AT(tids), "TID,..",
	  "show these threads only", .max = 4194304, .excludes = 1 },
	{ 0, "comm", OPT_TEXT, AT(comm), "NAME",
	  "show threads of this name only" },
	{ 'c', "cpu", OPT_NUM, AT(cpu), "CPU", "show tasks on this CPU only",
	  .max = 65535 },
	{ 'K', "kernel-stacks-only", OPT_FLAG, AT(kernel_only), NULL,
	  "no user stacks", .excludes = 4 },
	{ 'U', "user-stacks-only", OPT_FLAG, AT(user_only), NULL,
	  "no kernel stacks", .excludes = 4 },
	{ 'o', "output", OPT_TEXT, AT(output), "FILE",
	  "write all tasks' stacks: .svg, .folded, .txt, .json or .pb" },
	{ 0, "title", OPT_TEXT, AT(title), "TEXT",
	  "title of the flame graph" },
	NAME_OPTIONS(AT(names)),
	{ 'v', "verbose", OPT_FLAG, AT(verbose), NULL, "say what it does" },
	{ 0 },
};

/* A task of the list that was sampled, or not yet. */
struct seen {
	bool is;
	uint64_t later;			/* ms after the overload */
	struct stack_key key;
	size_t user, nuser, kernel, nkernel;	/* in the list's frames */
};

/* What ran in one second. */
struct second {
	uint64_t number;		/* of CLOCK_MONOTONIC; 0 = none */
	struct stacks stacks;
};

struct snooping {
	struct settings set;
	struct watch watch;
	struct session *session;	/* NULL: there is no bpf(2) */
	struct overload overload;
	struct runnable list;
	struct num_list cpus;		/* online, looked at now and then */
	uint64_t cpus_at;
	bool in_namespace;		/* others' tasks are not to be seen */

	struct sampling_spec spec;
	struct sampling sampling;
	struct naming naming;
	bool has_stacks, reported;
	struct second seconds[BEFORE_MOST + 2];

	enum { WATCHING, LISTED, RESTING } state;
	uint64_t until;			/* the end of window or rest */
	uint64_t time;			/* of the overload, CLOCK_MONOTONIC */
	struct timespec clock;		/* and by the time of day */
	uint64_t total;			/* tasks then */
	VEC(uint64_t) loads;		/* of cpus */
	struct intern tids;		/* of the list, in its order */
	VEC(struct seen) seen;
	size_t nseen, left_out;

	struct out out;
	struct stack_output output;	/* of --output */
	struct buf text;
	uint64_t overloads, brief, lost;
	int err;
};

static void stop(struct snooping *s, int err)
{
	if (err == -ENOMEM)
		log_error("loadsnoop: out of memory");
	s->err = err;
	watch_end(&s->watch);
}

/* -- stacks ------------------------------------------------------------- */

/* -ENOMEM leaves what was there. */
static size_t frames_keep(struct snooping *s, const uint64_t *frames,
			  int32_t n, size_t *at)
{
	size_t before = s->list.frames.n;

	*at = before;
	for (int32_t i = 0; i < n && frames[i]; i++) {
		uint64_t *slot = vec_push(&s->list.frames);

		if (!slot) {
			s->list.frames.n = before;
			s->lost++;
			return 0;
		}
		*slot = frames[i];
	}
	return s->list.frames.n - before;
}

static void take_listed(struct snooping *s, uint32_t tid, uint64_t time,
			const struct stack_key *key, const uint64_t *user,
			const uint64_t *kernel)
{
	int64_t id = intern_find(&s->tids, &tid, sizeof(tid));
	struct seen *seen = id < 0 ? NULL : &s->seen.v[id];

	if (!seen || seen->is)
		return;
	seen->is = true;
	seen->later = (time - s->time) / 1000000;
	seen->key = *key;
	seen->nuser = frames_keep(s, user, key->user, &seen->user);
	seen->nkernel = frames_keep(s, kernel, key->kernel, &seen->kernel);
	s->nseen++;
}

static void second_begin(struct snooping *s, struct second *second,
			 uint64_t number)
{
	uint32_t depth = stacks_depth_limit();

	s->lost += second->stacks.lost;
	stacks_free(&second->stacks);
	stacks_init(&second->stacks, stacks_memory() / (s->set.before + 2),
		    depth, depth);
	second->number = number;
}

static void take_before(struct snooping *s, uint64_t time,
			const struct stack_key *key, const uint64_t *user,
			const uint64_t *kernel)
{
	uint64_t number = time / SECOND;
	struct second *second = &s->seconds[number % (s->set.before + 2)];
	struct stack_key plain = *key;

	plain.caller = 0;
	if (second->number < number)
		second_begin(s, second, number);
	/* What was on top of the stack is no part of what is counted. */
	if (second->number == number)
		stacks_add(&second->stacks, &plain, 1, user, kernel);
}

static bool in_list(const struct num_list *list, uint64_t number)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i] == number)
			return true;
	return !list->n;
}

static bool is_wanted(const struct settings *set, uint32_t tgid, uint32_t tid,
		      const char *comm)
{
	return tgid != (uint32_t)getpid() &&
	       in_list(&set->pids, tgid) && in_list(&set->tids, tid) &&
	       (!set->comm || !strncmp(set->comm, comm, COMM_SIZE));
}

static void take(void *arg, uint32_t tid, uint64_t time,
		 const struct stack_key *key, const uint64_t *user,
		 const uint64_t *kernel)
{
	struct snooping *s = arg;

	if (s->state == LISTED && time >= s->time)
		take_listed(s, tid, time, key, user, kernel);
	else if (s->set.before &&
		 is_wanted(&s->set, key->tgid, tid, key->comm))
		take_before(s, time, key, user, kernel);
}

/* Names are read anew for each overload: what processes do between them is not
 * followed, but for the record of before. */
static int stacks_open(struct snooping *s)
{
	int err = naming_open(&s->naming, &s->set.names);

	if (err)
		return err;
	s->has_stacks = true;
	return sampling_open(&s->sampling, &s->spec, &s->naming,
			     &s->watch.loop);
}

static void stacks_close(struct snooping *s)
{
	if (!s->has_stacks)
		return;
	s->lost += sampling_totals(&s->sampling).lost;
	sampling_close(&s->sampling);
	naming_close(&s->naming);
	s->has_stacks = false;
}

static int before_start(struct snooping *s)
{
	int err = stacks_open(s);

	for (size_t i = 0; i < s->set.before + 2; i++)
		second_begin(s, &s->seconds[i], 0);
	return err ? err : sampling_start(&s->sampling);
}

static int window_open(struct snooping *s)
{
	int err = s->set.before ?
		callchains_period(&s->sampling.chains, WINDOW_NS) :
		stacks_open(s);

	return err || s->set.before ? err : sampling_start(&s->sampling);
}

static int window_close(struct snooping *s)
{
	if (!s->set.before) {
		stacks_close(s);
		return 0;
	}
	if (s->naming.images.n < IMAGES_MOST)
		return callchains_period(&s->sampling.chains,
					 SECOND / BEFORE_HZ);
	stacks_close(s);
	return before_start(s);
}

/* -- the overload ------------------------------------------------------- */

/* The load of each CPU; the highest of them. */
static uint64_t count_loads(struct snooping *s)
{
	uint64_t most = 0;

	memset(s->loads.v, 0, s->loads.n * sizeof(*s->loads.v));
	for (size_t i = 0; i < s->list.v.n; i++)
		for (size_t k = 0; k < s->cpus.n; k++)
			if (s->cpus.v[k] == s->list.v.v[i].cpu &&
			    ++s->loads.v[k] > most)
				most = s->loads.v[k];
	return most;
}

static bool is_overload(struct snooping *s)
{
	uint64_t most = count_loads(s), all = s->set.limit * s->cpus.n;
	int64_t running = s->in_namespace ? overload_running(&s->overload) : 0;

	s->total = s->list.v.n;
	if (running > (int64_t)s->total)
		s->total = (uint64_t)running;
	if (s->set.per_cpu)
		return most > s->set.limit;
	return s->total > all;
}

static int list_tasks(struct snooping *s)
{
	size_t n = 0;

	intern_free(&s->tids);
	s->seen.n = s->nseen = 0;
	for (size_t i = 0; i < s->list.v.n; i++) {
		struct runnable_task *t = &s->list.v.v[i];
		struct seen *seen;

		if (!is_wanted(&s->set, t->tgid, t->tid, t->comm) ||
		    (s->set.cpu != UINT64_MAX && s->set.cpu != t->cpu) ||
		    intern_find(&s->tids, &t->tid, sizeof(t->tid)) >= 0)
			continue;
		seen = vec_push(&s->seen);
		if (!seen || intern_put(&s->tids, &t->tid,
					sizeof(t->tid)) < 0)
			return -ENOMEM;
		*seen = (struct seen){
			.key = { .tgid = t->tgid },
			.kernel = t->kernel, .nkernel = t->nkernel,
		};
		s->list.v.v[n++] = *t;
	}
	s->left_out = s->list.v.n - n;
	s->list.v.n = n;
	return 0;
}

/* Are there too many? Then their stacks are waited for. */
static void look(struct snooping *s)
{
	int err = runnable_read(&s->list);

	s->time = host_time();
	clock_gettime(CLOCK_REALTIME, &s->clock);
	if (err) {
		log_error("loadsnoop: cannot list the tasks: %s",
			  log_errno(err));
		stop(s, err);
		return;
	}
	if (!is_overload(s)) {
		s->brief += s->overload.peak > s->set.limit *
			    (s->set.per_cpu ? 1 : s->cpus.n);
		return;
	}
	err = list_tasks(s);
	if (!err)
		err = window_open(s);
	s->state = LISTED;
	s->until = s->time + s->set.window * 1000000;
	s->overloads++;
	if (err)
		stop(s, err);
}

/* -- printing ----------------------------------------------------------- */

static void print_head(struct snooping *s)
{
	FILE *out = s->out.file;
	char text[16] = "";
	struct tm tm;

	if (localtime_r(&s->clock.tv_sec, &tm))
		strftime(text, sizeof(text), "%H:%M:%S", &tm);
	fprintf(out, "%s.%03ld  %llu tasks run or want to, on %zu CPUs: "
		"%.1f per CPU\n", text, s->clock.tv_nsec / 1000000,
		(unsigned long long)s->total, s->cpus.n,
		(double)s->total / (double)s->cpus.n);
	for (size_t i = 0; i < s->cpus.n; i++)
		fprintf(out, "%sCPU %llu: %llu%s", i % CPUS_A_LINE ? "  " : "",
			(unsigned long long)s->cpus.v[i],
			(unsigned long long)s->loads.v[i],
			i % CPUS_A_LINE == CPUS_A_LINE - 1 ||
			i + 1 == s->cpus.n ? "\n" : "");
	if (s->total > s->list.v.n + s->left_out)
		fprintf(out, "%llu tasks outside this pid namespace are not "
			"shown\n", (unsigned long long)(s->total -
			s->list.v.n - s->left_out));
	if (s->left_out)
		fprintf(out, "%zu tasks are left out, as asked\n",
			s->left_out);
	fputc('\n', out);
}

/* The record of before, by stack. */
struct before {
	struct naming *naming;
	struct stack_set set;
};

static int add_before(void *arg, const struct stack *stack)
{
	struct before *to = arg;
	char comm[COMM_SIZE + 1] = { 0 };
	struct named_stack named;
	struct stack_row row;
	int err = naming_stack(to->naming, stack, &named);

	if (err)
		return err;
	memcpy(comm, stack->key->comm, COMM_SIZE);
	row = (struct stack_row){
		.comm = comm, .pid = stack->key->tgid, .value = stack->count,
		.user = named.user, .nuser = named.nuser,
		.kernel = named.kernel, .nkernel = named.nkernel,
	};
	return stack_set_add(&to->set, &row);
}

static int print_before(struct snooping *s)
{
	struct before to = { .naming = &s->naming };
	uint64_t last = s->time / SECOND, n = 0;
	int err = 0;

	for (size_t i = 0; !err && i < s->set.before + 2; i++) {
		struct second *second = &s->seconds[i];

		if (!second->number || second->number + s->set.before < last)
			continue;
		second->stacks.total = 0;
		err = stacks_each(&second->stacks, NULL, add_before, &to);
		n += second->stacks.total;
	}
	fprintf(s->out.file, "The %llu s before: %llu samples, %d a second of "
		"each CPU that was busy; most in:\n\n",
		(unsigned long long)s->set.before, (unsigned long long)n,
		BEFORE_HZ);
	if (!err)
		err = stack_set_print(&to.set, BEFORE_TOP, s->out.file);
	stack_set_free(&to.set);
	return err;
}

static void put_frames(struct snooping *s, const struct frame *f, size_t n)
{
	for (; n; n--, f++) {
		buf_fmt(&s->text, "\t0x%llx ", (unsigned long long)f->addr);
		escape(&s->text, f->name, strlen(f->name), ESCAPE_TEXT);
		buf_putc(&s->text, '\n');
	}
}

static const char *const states[] = {
	[RUNNABLE_WAITS] = "waits", [RUNNABLE_RUNS] = "runs",
	[RUNNABLE_UNKNOWN] = "R",
};

static int print_task(struct snooping *s, const struct runnable_task *t,
		      const struct seen *seen)
{
	const uint64_t *frames = s->list.frames.v;
	/* What waits has its kernel stack of that moment. */
	bool then = t->nkernel > 0;
	struct stack stack = {
		.key = &seen->key, .count = 1,
		.nuser = seen->nuser,
		.nkernel = s->set.user_only ? 0 :
			   then ? t->nkernel : seen->nkernel,
	};
	struct named_stack named;
	struct stack_row row;
	int err;

	if (stack.nuser)
		stack.user = frames + seen->user;
	if (stack.nkernel)
		stack.kernel = frames + (then ? t->kernel : seen->kernel);
	err = naming_stack(&s->naming, &stack, &named);
	if (err)
		return err;
	buf_reset(&s->text);
	buf_fmt(&s->text, "%-7u %-7u %-3u %-5s ", t->tgid, t->tid, t->cpu,
		states[t->state]);
	if (seen->is)
		buf_fmt(&s->text, "+%-5llu ", (unsigned long long)seen->later);
	else
		buf_fmt(&s->text, "%-6s ", "-");
	escape(&s->text, t->comm, strlen(t->comm), ESCAPE_TEXT);
	buf_putc(&s->text, '\n');
	put_frames(s, named.kernel, named.nkernel);
	put_frames(s, named.user, named.nuser);
	buf_putc(&s->text, '\n');
	if (s->text.err)
		return s->text.err;
	fwrite(s->text.data, 1, s->text.len, s->out.file);
	row = (struct stack_row){
		.comm = t->comm, .pid = t->tgid, .value = 1,
		.user = named.user, .nuser = named.nuser,
		.kernel = named.kernel, .nkernel = named.nkernel,
	};
	return s->set.output ? stack_output_add(&s->output, &row) : 0;
}

static int print(struct snooping *s)
{
	size_t without = s->list.v.n - s->nseen;
	uint64_t now = host_time(), end = now < s->until ? now : s->until;
	int err = 0;

	print_head(s);
	if (s->set.before)
		err = print_before(s);
	fprintf(s->out.file, "PID     TID     CPU STATE USER   COMM\n");
	for (size_t i = 0; !err && i < s->list.v.n; i++)
		err = print_task(s, &s->list.v.v[i], &s->seen.v[i]);
	if (without && !s->set.kernel_only)
		fprintf(s->out.file, "%zu of these %zu tasks were not seen to "
			"run in %llu ms: without user stacks\n\n", without,
			s->list.v.n, (unsigned long long)(end - s->time) /
			1000000);
	if (!err && out_flush(&s->out))
		err = -EPIPE;
	return err;
}

/* The window is over. */
static void show(struct snooping *s)
{
	int err;

	s->state = RESTING;
	if (!s->set.before)
		sampling_stop(&s->sampling);
	host_hurry(false);
	err = print(s);
	if (!s->reported)
		naming_report(&s->naming);
	s->reported = true;
	if (!err)
		err = window_close(s);
	host_hurry(true);
	s->until = host_time() + s->set.rest * SECOND;
	if (err)
		stop(s, err);
	else if (s->overloads == s->set.most)
		watch_end(&s->watch);
}

/* -- watching ----------------------------------------------------------- */

static int count_cpus(struct snooping *s, uint64_t now)
{
	int err;

	if (s->cpus.n && now < s->cpus_at + CPUS_EVERY * (uint64_t)SECOND)
		return 0;
	s->cpus_at = now;
	s->cpus.n = 0;
	err = host_cpus_online(&s->cpus);
	if (err)
		return err;
	if (!vec_room((void **)&s->loads.v, &s->loads.cap, s->cpus.n,
		      sizeof(*s->loads.v)))
		return -ENOMEM;
	s->loads.n = s->cpus.n;
	return 0;
}

static void turn(void *arg)
{
	struct snooping *s = arg;
	uint64_t now = host_time();
	int err = s->state == LISTED ? 0 : count_cpus(s, now);

	if (err) {
		log_error("loadsnoop: cannot tell the CPUs: %s",
			  log_errno(err));
		stop(s, err);
		return;
	}
	if (s->has_stacks)
		sampling_drain(&s->sampling);
	if (s->state == RESTING && now >= s->until) {
		s->state = WATCHING;	/* what was meanwhile is forgotten */
		overload_suspected(&s->overload, s->cpus.n);
	}
	if (s->state == WATCHING && overload_suspected(&s->overload,
						       s->cpus.n))
		look(s);
	else if (s->state == LISTED &&
		 (s->nseen == s->list.v.n || now >= s->until))
		show(s);
}

static void live(void *arg, double seconds)
{
	struct snooping *s = arg;

	log_live("loadsnoop: %.0f s, %llu overloads", seconds,
		 (unsigned long long)s->overloads);
}

/* It ends within a window. */
static void detach(void *arg)
{
	struct snooping *s = arg;

	if (s->state != LISTED || s->err)
		return;
	sampling_drain(&s->sampling);
	show(s);
}

static int session_start(struct snooping *s)
{
	int err;

	if (!feature_has(FEATURE_BPF))
		return 0;
	s->session = session_new("loadsnoop", &object_loadsnoop);
	if (!s->session)
		return -ENOMEM;
	session_other_way(s->session);
	overload_consts(s->session, s->set.per_cpu);
	runnable_consts(s->session);
	err = session_load(s->session);
	if (err) {
		session_free(s->session);
		s->session = NULL;
	}
	return session_is_refused(err) ? 0 : err;
}

static int start(struct snooping *s)
{
	struct pid_namespace ns = { .initial = true };
	int err = host_hurry(true);

	if (err)
		log_verbose("not scheduled before other tasks: %s",
			    log_errno(err));
	err = session_start(s);
	if (!err)
		err = overload_open(&s->overload, "loadsnoop", s->session);
	if (err)
		return err;
	runnable_open(&s->list, s->session);
	log_verbose("tasks are listed by %s", s->list.link_fd < 0 ? "/proc"
		    : "the kernel's iterator");
	host_pid_namespace(&ns);
	s->in_namespace = !ns.initial;
	err = s->set.before ? before_start(s) : stacks_open(s);
	if (!err && !s->set.before)
		stacks_close(s);	/* it was a trial */
	return err;
}

static int say_header(struct snooping *s)
{
	fprintf(s->out.file, "Waiting for more than %llu tasks that run or "
		"want to, %s (%s)... Hit Ctrl-C to end.\n",
		(unsigned long long)s->set.limit, s->set.per_cpu ?
		"on any CPU" : "per CPU", s->overload.way);
	return out_flush(&s->out);
}

static int finish(struct snooping *s)
{
	char subtitle[96];
	int err = 0;

	host_hurry(false);
	snprintf(subtitle, sizeof(subtitle), "%llu overloads in %.1f s",
		 (unsigned long long)s->overloads, watch_seconds(&s->watch));
	if (s->set.output) {
		s->output.subtitle = subtitle;
		err = stack_output_write(&s->output);
	}
	stacks_close(s);
	log_notice("%s, %llu samples lost", subtitle,
		   (unsigned long long)s->lost);
	watch_report(&s->watch);
	log_count(s->brief, "times that it was over before the tasks could "
		  "be listed");
	return err ? err : out_close(&s->out);
}

static int snoop(struct snooping *s)
{
	int err = out_open(&s->out, NULL);

	if (!err && s->set.output)
		err = stack_output_open(&s->output, "loadsnoop",
					s->set.output, false);
	s->output.title = s->set.title ? s->set.title : "Tasks in overload";
	s->output.countname = "tasks";
	if (!err)
		err = watch_open(&s->watch);
	if (!err)
		err = start(s);
	if (!err)
		err = say_header(s);
	if (!err)
		err = watch_run(&s->watch, detach);
	if (!err)
		err = s->err;
	return err ? err : finish(s);
}

static int usage_error(const char *what, const char *why)
{
	log_error("loadsnoop: %s: %s", what, why);
	return -EINVAL;
}

static int set_duration(struct snooping *s, const struct opt_rest *rest)
{
	s->watch.seconds = s->set.duration;
	if (!rest->nargs)
		return 0;
	if (rest->nargs > 1 || s->set.duration)
		return usage_error(rest->args[rest->nargs - 1],
				   "one duration is enough");
	if (num_u64(rest->args[0], 1, 99999999, &s->watch.seconds))
		return usage_error(rest->args[0],
				   "a duration in seconds expected");
	return 0;
}

static int parse(struct snooping *s, int argc, char **argv)
{
	struct settings *set = &s->set;
	struct opt_rest rest;
	int err = opt_parse("loadsnoop", options, set, argc, argv, &rest);

	if (!err)
		err = debug_files_open(&set->names);
	if (!err)
		err = set_duration(s, &rest);
	if (err)
		return err;
	log_set_verbose(set->verbose);
	s->overload.limit = set->limit;
	s->overload.single = set->per_cpu;
	s->watch.command = "loadsnoop";
	s->watch.argv = rest.command;
	s->watch.filter.pids = set->pids;
	s->watch.filter.tids = set->tids;
	s->watch.arg = s;
	s->watch.turn = turn;
	s->watch.turn_ms = TURN_MS;
	s->watch.live = live;
	s->spec = (struct sampling_spec){
		.command = "loadsnoop", .user = !set->kernel_only,
		.kernel = !set->user_only, .take = take, .taker = s,
		.sample = {
			.event = sample_event_find("loadsnoop", "cpu-clock"),
			.period = set->before ? SECOND / BEFORE_HZ : WINDOW_NS,
			.cpu = -1,
		},
	};
	if (set->comm && strlen(set->comm) >= COMM_SIZE)
		return usage_error("--comm", "a thread's name has at most 15 "
				   "characters");
	return probing_cpu("loadsnoop", set->cpu);
}

static void snooping_close(struct snooping *s)
{
	stacks_close(s);
	for (size_t i = 0; i < BEFORE_MOST + 2; i++)
		stacks_free(&s->seconds[i].stacks);
	runnable_close(&s->list);
	overload_close(&s->overload);
	session_free(s->session);
	watch_close(&s->watch);
	stack_output_close(&s->output);
	intern_free(&s->tids);
	vec_free(&s->seen);
	vec_free(&s->cpus);
	vec_free(&s->loads);
	vec_free(&s->set.pids);
	vec_free(&s->set.tids);
	buf_free(&s->text);
}

static int run(int argc, char **argv)
{
	struct snooping s = {
		.set = { .limit = 4, .rest = 5, .window = 500,
			 .cpu = UINT64_MAX },
		.list.link_fd = -1,
		.watch.loop = { .epoll_fd = -1, .signal_fd = -1 },
	};
	int err = parse(&s, argc, argv), status = cmd_refused(err);

	if (!err) {
		err = snoop(&s);
		status = err && err != -EPIPE ? EXIT_FAIL : EXIT_OK;
	}
	snooping_close(&s);
	return status;
}

static void check(struct check *c)
{
	struct trial t = trial_sampling(&object_profile);
	bool fentry = feature_has(FEATURE_FENTRY);
	bool probes = feature_has(FEATURE_BPF) &&
		      (fentry || feature_has(FEATURE_KPROBE_PMU));

	c->works = t.way == TRIAL_IN_KERNEL || t.way == TRIAL_IN_RINGS;
	c->rung = !c->works ? "none" : probes ? "load from the run queues"
					      : "load from /proc/loadavg";
	if (t.error)
		check_failed(c, "whole host", OP_PERF_OPEN, t.error,
			     log_errno(t.error));
	if (!probes)
		check_missing(c, "kprobes and fentry", "none needed: "
			      "/proc/loadavg is read 13 times a second");
	if (!feature_has(FEATURE_TASK_ITER))
		check_missing(c, "iterator over tasks", "Linux 5.9 with BTF "
			      "has it: kernel stacks are those of samples");
	check_file_systems(c);
	check_kernel_names(c);
	check_other_processes(c);
}

const struct cmd cmd_loadsnoop = {
	.name = "loadsnoop",
	.usage = "[options] [SECS] [-- COMMAND [ARGUMENTS]]",
	.summary = "which tasks want to run, when there are too many",
	.about =
	"Waits until more than -n tasks per CPU run or want to; shows the\n"
	"load of each CPU and every such task with its stacks: the kernel's\n"
	"of that moment, the user's when the task ran next, USER ms later,\n"
	"if it did within --window. Then it rests for -i SECS. --before\n"
	"samples at all times, 49 a second. Ends at Ctrl-C, after SECS or -M\n"
	"overloads, or when COMMAND or the processes of -p end.\n",
	.examples =
	"  sonde loadsnoop                      more than 4 tasks per CPU\n"
	"  sonde loadsnoop -n 16 --per-cpu      17 on any one CPU\n"
	"  sonde loadsnoop --before 5           and what ran before\n"
	"  sonde loadsnoop -M 1 -o load.svg     a flame graph of one overload\n"
	"  sonde loadsnoop -n 1 -- make -j8     while a command runs\n",
	.options = options,
	.object = &object_loadsnoop,
	.run = run,
	.check = check,
};
