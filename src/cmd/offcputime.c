/* offcputime - how long threads wait, by stack: text or flame graph. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/vec.h"
#include "bpf_object.h"
#include "cmd/check.h"
#include "cmd/cmd.h"
#include "cmd/probing.h"
#include "cmd/raw_output.h"
#include "cmd/stack_output.h"
#include "sym/debug_files.h"
#include "sys/advice.h"
#include "sys/feature.h"
#include "sys/tracefs.h"
#include "trace/own_frames.h"
#include "trace/waiting.h"

extern const struct bpf_object object_offcputime;

enum { US = 1000 };		/* ns */

struct settings {
	struct name_options names;
	struct probing_options common;
	uint64_t least, most, state, stack_entries, top;
	bool user_threads, kernel_threads, user_only, kernel_only, folded;
	bool finished, wakers;
	struct stack_options how;
	const char *output, *title, *raw;
};

#define AT(member) offsetof(struct settings, member)
#define NO_STATE UINT64_MAX

static const struct opt options[] = {
	PROBING_OPTIONS(struct settings, common, 'p', 't', 0, 0, 'C', 0, 'v'),
	{ 'u', "user-threads-only", OPT_FLAG, AT(user_threads), NULL,
	  "no kernel threads", .excludes = 1 },
	{ 'k', "kernel-threads-only", OPT_FLAG, AT(kernel_threads), NULL,
	  "kernel threads only", .excludes = 1 },
	{ 'U', "user-stacks-only", OPT_FLAG, AT(user_only), NULL,
	  "no kernel stacks", .excludes = 2 },
	{ 'K', "kernel-stacks-only", OPT_FLAG, AT(kernel_only), NULL,
	  "no user stacks", .excludes = 2 },
	{ 'm', "min-block-time", OPT_NUM, AT(least), "US",
	  "leave out what lasts less (1)", .min = 1, .max = UINT64_MAX / US },
	{ 'M', "max-block-time", OPT_NUM, AT(most), "US",
	  "leave out what lasts longer", .min = 1, .max = UINT64_MAX / US - 1 },
	{ 0, "state", OPT_NUM, AT(state), "BITS",
	  "threads that go in one of these states: 1 S, 2 D ...; 0: that "
	  "could run", .max = UINT32_MAX },
	{ 0, "finished", OPT_FLAG, AT(finished), NULL,
	  "not what waits still at the end (as bcc's)" },
	{ 0, "wakers", OPT_FLAG, AT(wakers), NULL,
	  "the stack of who woke it, too (as bcc's offwaketime)" },
	{ 'd', "delimited", OPT_FLAG, AT(how.delimited), NULL,
	  "a line between kernel and user stack" },
	{ 'f', "folded", OPT_FLAG, AT(folded), NULL,
	  "one line a stack: what `sonde flame --units us` reads" },
	{ 'a', "annotations", OPT_FLAG, AT(how.annotate), NULL,
	  "_[k] behind kernel functions" },
	{ 'o', "output", OPT_TEXT, AT(output), "FILE",
	  "write .svg (flame graph), .folded, .txt, .json or .pb" },
	RAW_OPTION(struct settings, raw, 0),
	{ 0, "title", OPT_TEXT, AT(title), "TEXT",
	  "title of the flame graph" },
	NAME_OPTIONS(AT(names)),
	{ 0, "top", OPT_NUM, AT(top), "N", "print the N longest", .min = 1 },
	{ 0, "stack-storage-size", OPT_NUM, AT(stack_entries), "N",
	  "stacks that the kernel's table holds", .min = 1, .max = 1 << 22 },
	{ 0 },
};

struct offcpu {
	struct settings set;
	struct probing probing;
	struct waiting waiting;
	struct stack_output output;
	struct raw_output raw;
	VEC(struct frame) kernel, user;	/* a waker's, while the other's stack
					 * is named */
};

/* The result */

static const char no_waker[] = "[no waker]";

static void row_of(const struct stack *stack, const struct named_stack *named,
		   char comm[COMM_SIZE + 1], uint32_t tid,
		   struct stack_row *row)
{
	size_t skip = own_frames_of_scheduler(named->kernel, named->nkernel);

	memcpy(comm, stack->key->comm, COMM_SIZE);
	comm[COMM_SIZE] = 0;
	*row = (struct stack_row){
		.comm = comm, .pid = tid,
		.user = named->user, .nuser = named->nuser,
		.kernel = named->kernel + skip,
		.nkernel = named->nkernel - skip,
		.missed_user = stack->missed_user,
		.missed_kernel = stack->missed_kernel,
	};
}

#define KEEP(to, from, count) \
	(vec_room((void **)&(to)->v, &(to)->cap, (count) + 1, \
		  sizeof(*(to)->v)) && \
	 ((count) ? memcpy((to)->v, from, (count) * sizeof(*(from))) \
		  : (to)->v))

static int name_waker(struct offcpu *o, const struct stack *stack,
		      struct named_stack *named)
{
	int err = naming_stack(&o->waiting.counted.naming, stack, named);

	if (err)
		return err;
	if (!KEEP(&o->kernel, named->kernel, named->nkernel) ||
	    !KEEP(&o->user, named->user, named->nuser))
		return -ENOMEM;
	named->kernel = o->kernel.v;
	named->user = o->user.v;
	return 0;
}

static int record_row(struct offcpu *o, const struct waiting_row *row,
		      uint64_t us)
{
	if (!o->set.wakers)
		return raw_output_stack(&o->raw, &row->stack, row->tid, us, 0);
	return raw_output_woken(&o->raw, &row->stack, row->tid,
				row->woken ? &row->waker : NULL,
				row->waker_tid, no_waker, us);
}

static int take_row(void *arg, const struct waiting_row *row)
{
	struct offcpu *o = arg;
	char comm[COMM_SIZE + 1], waker_comm[COMM_SIZE + 1];
	struct named_stack named, waker_named;
	struct stack_row out, waker = { .comm = no_waker };
	uint64_t us = (row->ns + US / 2) / US;
	int err = record_row(o, row, us);

	if (err || o->raw.alone)
		return err;
	if (row->woken)
		err = name_waker(o, &row->waker, &waker_named);
	if (!err)
		err = naming_stack(&o->waiting.counted.naming, &row->stack,
				   &named);
	if (err)
		return err;
	if (row->woken)
		row_of(&row->waker, &waker_named, waker_comm, row->waker_tid,
		       &waker);
	row_of(&row->stack, &named, comm, row->tid, &out);
	out.value = us;
	out.waker = o->set.wakers ? &waker : NULL;
	return stack_output_add(&o->output, &out);
}

static void report(struct offcpu *o, uint64_t lost)
{
	const struct waiting *w = &o->waiting;
	char asleep[96] = "";

	if (w->sleepers)
		snprintf(asleep, sizeof(asleep), ", %.3f s of it of %llu that "
			 "wait still", (double)w->asleep / 1e9,
			 (unsigned long long)w->sleepers);
	log_notice("%.3f s off-CPU in %.1f s%s, %llu sleeps lost",
		   (double)w->total / 1e9, watch_seconds(&o->probing.watch),
		   asleep, (unsigned long long)lost);
	watch_report(&o->probing.watch);
	waiting_report(&o->waiting);
}

static int finish(struct offcpu *o)
{
	char subtitle[96];
	uint64_t lost = waiting_lost(&o->waiting);
	double seconds = watch_seconds(&o->probing.watch);
	int err = waiting_each(&o->waiting, take_row, o), raw;

	if (err) {
		log_error("offcputime: cannot read the result: %s",
			  log_errno(err));
		return err;
	}
	snprintf(subtitle, sizeof(subtitle), "%.3f s off-CPU in %.1f s",
		 (double)o->waiting.total / 1e9, seconds);
	o->output.subtitle = subtitle;
	if (!o->raw.alone)
		err = stack_output_write(&o->output);
	report(o, lost);
	raw = raw_output_finish(&o->raw, subtitle, seconds);
	return err ? err : raw;
}

/* The run */

static void turn(void *arg)
{
	struct offcpu *o = arg;

	waiting_turn(&o->waiting);
}

static int start(void *arg)
{
	struct offcpu *o = arg;

	return waiting_start(&o->waiting);
}

static void forget(void *arg, uint64_t id)
{
	struct offcpu *o = arg;

	waiting_forget(&o->waiting, id);
}

static void record(void *arg, const void *data, size_t len)
{
	struct offcpu *o = arg;

	counted_take(&o->waiting.counted, data, len);
}

static void live(void *arg, double seconds)
{
	struct offcpu *o = arg;

	log_live("offcputime: %.0f s, %llu sleeps lost", seconds,
		 (unsigned long long)waiting_lost(&o->waiting));
}

static void detach(void *arg)
{
	struct offcpu *o = arg;

	waiting_detach(&o->waiting);
}

static void say_whom(const struct offcpu *o, FILE *out)
{
	const struct settings *set = &o->set;
	const struct filter *f = &o->probing.watch.filter;
	const struct num_list *ids = f->pids.n ? &f->pids : &f->tids;

	if (ids->n)
		fputs(f->pids.n ? "PID" : "TID", out);
	else
		fputs(o->probing.watch.argv ? "the command" :
		      set->user_threads ? "user threads" :
		      set->kernel_threads ? "kernel threads" : "all threads",
		      out);
	for (size_t i = 0; i < ids->n; i++)
		fprintf(out, "%s%llu", i ? ", " : " ",
			(unsigned long long)ids->v[i]);
}

static int say_header(struct offcpu *o)
{
	const struct settings *set = &o->set;
	uint64_t seconds = o->probing.watch.seconds;
	FILE *out = o->output.out.file;

	if (o->output.format != STACK_TEXT || set->output || o->raw.alone)
		return 0;
	fputs(set->wakers ? "Tracing blocked time (us) of " :
	      "Tracing off-CPU time (us) of ", out);
	say_whom(o, out);
	fprintf(out, " by %s %sstack", set->user_only ? "user" :
		set->kernel_only ? "kernel" : "user + kernel",
		set->wakers ? "off-CPU and waker " : "");
	if (seconds)
		fprintf(out, " for %llu secs.\n\n",
			(unsigned long long)seconds);
	else
		fprintf(out, "... Hit Ctrl-C to end.\n\n");
	return out_flush(&o->output.out);
}

static void set_output(struct offcpu *o)
{
	const struct settings *set = &o->set;

	o->output.how = set->how;
	o->output.how.delimited &= !set->user_only && !set->kernel_only;
	o->output.top = set->top;
	o->output.title = set->title ? set->title : set->wakers ?
			  "Off-CPU time and wakers" : "Off-CPU time";
	o->output.unit = &unit_us;
}

static int trace(struct offcpu *o)
{
	const struct settings *set = &o->set;
	const struct waiting_spec spec = {
		.user = !set->kernel_only, .kernel = !set->user_only,
		.wakers = set->wakers, .finished = set->finished,
		.names = &set->names,
		.threads = set->user_threads ? THREADS_USER :
			   set->kernel_threads ? THREADS_KERNEL : THREADS_ALL,
		.by_state = set->state != NO_STATE, .state = set->state,
		.least = (set->least ? set->least : 1) * US,
		.most = set->most ? set->most * US + US - 1 : UINT64_MAX,
		.stack_entries = set->stack_entries,
	};
	int err = raw_output_open(&o->raw, "offcputime", set->raw,
				  set->folded || set->output || set->top,
				  set->top ? NULL : set->output);

	if (!err && !o->raw.alone)
		err = stack_output_open(&o->output, "offcputime", set->output,
					set->folded);
	if (err)
		return err;
	set_output(o);
	err = watch_open(&o->probing.watch);
	if (!err)
		err = waiting_open(&o->waiting, &spec, &o->probing.watch);
	if (!err)
		raw_output_prepare(&o->raw, &o->waiting.counted.naming);
	if (!err)
		err = raw_output_begin(&o->raw, &o->output, RAW_OF_SCHEDULER,
				       NULL);
	if (!err)
		err = waiting_load(&o->waiting);
	if (!err)
		err = say_header(o);
	if (!err)
		err = watch_run(&o->probing.watch, detach);
	return err ? err : finish(o);
}

static int usage_error(const char *what, const char *why)
{
	log_error("offcputime: %s: %s", what, why);
	return -EINVAL;
}

static int parse(struct offcpu *o, int argc, char **argv)
{
	struct watch *w = &o->probing.watch;
	const struct spec_rules rules = { .command = "offcputime" };
	struct opt_rest rest;
	int err = opt_parse("offcputime", options, &o->set, argc, argv, &rest);

	if (!err)
		err = debug_files_open(&o->set.names);
	if (err)
		return err;
	if (rest.nargs > 1 || (rest.nargs && o->set.common.duration))
		return usage_error(rest.args[rest.nargs - 1], "one duration is "
				   "enough (-- stands before a command)");
	if (rest.nargs && num_u64(rest.args[0], 1, 99999999, &w->seconds))
		return usage_error(rest.args[0], "a duration in seconds "
				   "expected (-- stands before a command)");
	if (o->set.most && o->set.least > o->set.most)
		return usage_error("-m", "is more than -M: no time is so "
				   "long");
	if (o->set.kernel_threads && o->set.user_only)
		return usage_error("-k", "kernel threads have no user stacks, "
				   "which -U asks for");
	w->object = &object_offcputime;
	w->argv = rest.command;
	w->arg = o;
	w->exits = true;
	w->turn = turn;
	w->start = start;
	w->forget = forget;
	w->record = record;
	w->live = live;
	return probing_parse(&o->probing, &o->set.common, &rules, NULL, 0);
}

static int run(int argc, char **argv)
{
	struct offcpu o = {
		.set = { .common = PROBING_START, .state = NO_STATE },
		.waiting.links = { -1, -1 },
	};
	int err = parse(&o, argc, argv), status = cmd_refused(err);

	if (!err) {
		err = trace(&o);
		status = err && err != -EPIPE ? EXIT_FAIL : EXIT_OK;
	}
	stack_output_close(&o.output);
	raw_output_close(&o.raw);
	waiting_close(&o.waiting);
	probing_close(&o.probing);
	vec_free(&o.kernel);
	vec_free(&o.user);
	return status;
}

/* The program on the tracepoint, else perf's rings: these have context switches
 * for whom the kernel's half is told. */
static void check_way(struct check *c)
{
	bool raw = feature_has(FEATURE_RAW_TRACEPOINT) &&
		   feature_has(FEATURE_BTF);
	int id = raw ? 0 : tracefs_id("sched/sched_switch");

	if (!feature_has(FEATURE_BPF)) {
		check_sampling(c, &object_offcputime);
		if (c->works && strstr(c->rung, "user stacks")) {
			c->works = false;
			c->rung = "none";
		}
		return;
	}
	c->works = id >= 0;
	c->rung = c->works ? "counted in the kernel: BPF" : "none";
	if (id < 0)
		check_failed(c, "tracepoints", OP_TRACEFS, id,
			     advice_reason(OP_TRACEFS, id));
	else if (!raw)
		check_missing(c, "BTF or raw tracepoints", "Linux 5.4 has "
			      "them: the tracepoint's record is read, which "
			      "costs more");
}

static void check(struct check *c)
{
	check_way(c);
	check_file_systems(c);
	check_fork_tracepoint(c);
	check_kernel_names(c);
	check_other_processes(c);
}

const struct cmd cmd_offcputime = {
	.name = "offcputime",
	.usage = "[options] [SECS] [-- COMMAND [ARGUMENTS]]",
	.summary = "how long threads wait, by stack, and who wakes them",
	.about =
	"Sums up, by stack, the time in us that threads are off the CPUs:\n"
	"blocked, asleep, or, as in bcc's offcputime, pushed aside by others\n"
	"(--state 0 shows these alone, --state 3 leaves them out). Ends after\n"
	"SECS seconds, at Ctrl-C, or when COMMAND or the processes of -p end.\n"
	"Options are those of bcc's offcputime. What waits still at the end\n"
	"counts up to then; bcc's loses it, as --finished does. Waits that\n"
	"began before the trace are not seen. The stack and the state are\n"
	"those with which the thread went.",
	.examples =
	"  sonde offcputime 5                 the whole machine\n"
	"  sonde offcputime -p 1234 -o w.svg 10   a flame graph of a process\n"
	"  sonde offcputime -u -m 1000 5      programs, 1 ms and longer\n"
	"  sonde offcputime --state 2 5       uninterrupted waits: disks\n"
	"  sonde offcputime --wakers -p 1234  who ends its waits\n"
	"  sonde offcputime -f 5 | sonde flame --units us >w.svg\n",
	.options = options,
	.object = &object_offcputime,
	.run = run,
	.check = check,
};
