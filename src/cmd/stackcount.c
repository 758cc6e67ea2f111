/* stackcount - the stacks behind the hits of functions and tracepoints. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/intern.h"
#include "base/log.h"
#include "base/vec.h"
#include "bpf_object.h"
#include "cmd/check.h"
#include "cmd/clock.h"
#include "cmd/cmd.h"
#include "cmd/probing.h"
#include "cmd/raw_output.h"
#include "cmd/stack_output.h"
#include "sym/debug_files.h"
#include "trace/counted.h"

extern const struct bpf_object object_stackcount;

struct settings {
	struct name_options names;
	struct probing_options common;
	uint64_t interval, skip, depth, top, stack_entries, rows;
	bool timestamp, regex, per_pid, user_only, kernel_only, folded;
	struct stack_options how;
	const char *output, *title, *raw;
};

#define AT(member) offsetof(struct settings, member)

static const struct opt options[] = {
	PROBING_OPTIONS(struct settings, common, 'p', 0, 0, 0, 'c', 'D', 0),
	{ 'i', "interval", OPT_NUM, AT(interval), "SECS",
	  "print and begin anew so often", .min = 1, .max = 99999999,
	  .excludes = 8 },
	{ 'T', "timestamp", OPT_FLAG, AT(timestamp), NULL,
	  "the time of day above each output" },
	{ 'r', "regex", OPT_FLAG, AT(regex), NULL,
	  "names are regular expressions, not globs" },
	{ 'P', "perpid", OPT_FLAG, AT(per_pid), NULL,
	  "stacks of each process apart: \"COMM-PID\" with -f, in .svg" },
	{ 'K', "kernel-stacks-only", OPT_FLAG, AT(kernel_only), NULL,
	  "no user stacks", .excludes = 4 },
	{ 'U', "user-stacks-only", OPT_FLAG, AT(user_only), NULL,
	  "no kernel stacks", .excludes = 4 },
	{ 'v', NULL, OPT_FLAG, AT(how.addresses), NULL,
	  "addresses before the names" },
	{ 'd', "delimited", OPT_FLAG, AT(how.delimited), NULL,
	  "a line between kernel and user stack" },
	{ 'a', "annotations", OPT_FLAG, AT(how.annotate), NULL,
	  "_[k] behind kernel functions" },
	{ 'f', "folded", OPT_FLAG, AT(folded), NULL,
	  "one line a stack: what `sonde flame` reads" },
	{ 'o', "output", OPT_TEXT, AT(output), "FILE",
	  "write .svg (flame graph), .folded, .txt, .json or .pb" },
	RAW_OPTION(struct settings, raw, 8),
	{ 0, "title", OPT_TEXT, AT(title), "TEXT",
	  "title of the flame graph" },
	NAME_OPTIONS(AT(names)),
	{ 0, "top", OPT_NUM, AT(top), "N", "print the N largest", .min = 1 },
	{ 0, "skip", OPT_NUM, AT(skip), "N",
	  "leave the N innermost functions out", .max = 1000 },
	{ 0, "depth", OPT_NUM, AT(depth), "N",
	  "no more than the N innermost functions of each half", .min = 1,
	  .max = 1000 },
	{ 0, "stack-storage-size", OPT_NUM, AT(stack_entries), "N",
	  "stacks that the kernel's table holds", .min = 1, .max = 1 << 22 },
	{ 0, "hash-storage-size", OPT_NUM, AT(rows), "N",
	  "rows that the kernel's table of counts holds",
	  .min = 1, .max = 1 << 24 },
	{ 0 },
};

struct counting {
	struct settings set;
	struct probing probing;
	struct counted counted;
	struct stack_output output;
	struct raw_output raw;
	struct intern keys;		/* what was printed before ... */
	VEC(uint64_t) before;		/* ... and its count then */
	int err;
};

/* What a stack counted since the last output. */
static int since_before(struct counting *c, const struct stack *stack,
			uint64_t *count)
{
	int64_t id;

	*count = stack->count;
	if (!c->set.interval)
		return 0;
	id = intern_put(&c->keys, stack->key, sizeof(*stack->key));
	if (id < 0)
		return -ENOMEM;
	if ((size_t)id == c->before.n) {
		uint64_t *slot = vec_push(&c->before);

		if (!slot)
			return -ENOMEM;
		*slot = 0;
	}
	*count -= c->before.v[id];
	c->before.v[id] = stack->count;
	return 0;
}

static int take_stack(void *arg, const struct stack *stack)
{
	struct counting *c = arg;
	char comm[COMM_SIZE + 1] = { 0 };
	struct named_stack named;
	struct stack_row row;
	uint64_t count;
	int err = since_before(c, stack, &count);

	if (err || !count)
		return err;
	err = raw_output_stack(&c->raw, stack, stack->key->tgid, count, 0);
	if (err || c->raw.alone)
		return err;
	err = naming_stack(&c->counted.naming, stack, &named);
	if (err)
		return err;
	memcpy(comm, stack->key->comm, COMM_SIZE);
	row = (struct stack_row){
		.comm = comm, .pid = stack->key->tgid, .value = count,
		.user = named.user, .nuser = named.nuser,
		.kernel = named.kernel, .nkernel = named.nkernel,
		.missed_user = stack->missed_user,
		.missed_kernel = stack->missed_kernel,
	};
	stack_row_cut(&row, c->set.skip, c->set.depth);
	return stack_output_add(&c->output, &row);
}

static int learn(void *arg, const struct stack *stack)
{
	struct counting *c = arg;

	naming_learn(&c->counted.naming, stack);
	return 0;
}

static int gather(struct counting *c)
{
	int err = counted_each(&c->counted, learn, c);

	if (!err)
		err = counted_each(&c->counted, take_stack, c);
	if (err)
		log_error("stackcount: cannot read the stacks: %s",
			  log_errno(err));
	return err;
}

/* One interval is over. */
static void print(void *arg)
{
	struct counting *c = arg;
	FILE *out = c->output.out.file;

	c->err = gather(c);
	if (!c->err && c->set.timestamp)
		clock_print(out);
	if (!c->err)
		c->err = stack_output_part(&c->output);
	if (c->err)
		watch_end(&c->probing.watch);
}

static void turn(void *arg)
{
	struct counting *c = arg;

	counted_drain(&c->counted);
}

static void record(void *arg, const void *data, size_t len)
{
	struct counting *c = arg;

	counted_take(&c->counted, data, len);
}

static void live(void *arg, double seconds)
{
	struct counting *c = arg;

	log_live("stackcount: %.0f s, %llu hits", seconds,
		 (unsigned long long)counted_hits(&c->counted));
}

static void detach(void *arg)
{
	struct counting *c = arg;

	probing_detach(&c->probing);
	counted_drain(&c->counted);
}

static int load(struct counting *c)
{
	struct probing *p = &c->probing;
	struct counted_spec spec = {
		.user = !c->set.kernel_only, .kernel = !c->set.user_only,
		.at_entry = points_at_entry(&p->points),
		.events = !points_in_kernel(&p->points),
		.names = &c->set.names,
		.stack_entries = c->set.stack_entries, .rows = c->set.rows,
	};
	int err = counted_open(&c->counted, "stackcount", p->watch.session,
			       &spec);

	if (err)
		return err;
	raw_output_prepare(&c->raw, &c->counted.naming);
	c->raw.recorder.head.skip = c->set.skip;
	c->raw.recorder.head.depth = c->set.depth;
	err = raw_output_begin(&c->raw, &c->output, 0, NULL);
	if (err)
		return err;
	session_const(p->watch.session, "by_task",
		      spec.user || c->set.per_pid);
	err = probing_load(p);
	if (err)
		return err;
	counted_follow(&c->counted, &p->watch.loop);
	p->attach.fields = true;	/* no frames of the tracing itself */
	err = attach_points(&p->attach, "hit", ATTACH_AS_SAID);
	if (!err)
		attach_report(&p->attach);
	return err;
}

static int say_header(struct counting *c, char **args, int nargs)
{
	FILE *out = c->output.out.file;

	if (c->output.format != STACK_TEXT || c->set.output || c->raw.alone)
		return 0;
	probing_say(out, c->probing.attach.done, args, nargs);
	return out_flush(&c->output.out);
}

static int finish(struct counting *c)
{
	char subtitle[96];
	uint64_t hits = counted_hits(&c->counted);
	double seconds = watch_seconds(&c->probing.watch);
	int err = gather(c), raw;

	if (err)
		return err;
	if (c->set.timestamp && c->output.format == STACK_TEXT &&
	    !c->raw.alone)
		clock_print(c->output.out.file);
	snprintf(subtitle, sizeof(subtitle), "%llu hits in %.1f s",
		 (unsigned long long)hits, seconds);
	c->output.subtitle = subtitle;
	if (!c->raw.alone)
		err = stack_output_write(&c->output);
	log_notice("%s, %llu lost", subtitle, (unsigned long long)
		   (c->counted.counters[COUNTER_NO_SLOT] +
		    c->counted.stacks.lost));
	watch_report(&c->probing.watch);
	counted_report(&c->counted);
	raw = raw_output_finish(&c->raw, subtitle, seconds);
	return err ? err : raw;
}

static int count(struct counting *c, char **args, int nargs)
{
	const struct settings *set = &c->set;
	int err = raw_output_open(&c->raw, "stackcount", set->raw,
				  set->folded || set->output || set->top,
				  set->top ? NULL : set->output);

	if (!err && !c->raw.alone)
		err = stack_output_open(&c->output, "stackcount", set->output,
					set->folded);
	if (err)
		return err;
	c->output.how = set->how;
	c->output.how.hits = true;
	c->output.how.pids = set->per_pid;
	c->output.how.delimited &= !set->user_only && !set->kernel_only;
	c->output.top = set->top;
	c->output.title = set->title ? set->title : "Stacks behind probes";
	c->output.countname = "hits";
	err = probing_open(&c->probing);
	if (!err)
		err = load(c);
	if (!err)
		err = say_header(c, args, nargs);
	if (!err)
		err = watch_run(&c->probing.watch, detach);
	return err ? err : c->err ? c->err : finish(c);
}

static int parse(struct counting *c, int argc, char **argv,
		 struct opt_rest *rest)
{
	struct watch *w = &c->probing.watch;
	struct spec_rules rules = { .command = "stackcount" };
	int err = opt_parse("stackcount", options, &c->set, argc, argv, rest);

	if (!err)
		err = debug_files_open(&c->set.names);
	if (err)
		return err;
	err = probing_wanted("stackcount", rest->nargs, "what to count");
	if (err)
		return err;
	rules.regex = c->set.regex;
	w->object = &object_stackcount;
	w->argv = rest->command;
	w->arg = c;
	w->tick = print;
	w->turn = turn;
	w->exits = true;
	w->record = record;
	w->live = live;
	w->interval_ms = c->set.interval * 1000;
	return probing_parse(&c->probing, &c->set.common, &rules, rest->args,
			     rest->nargs);
}

static int run(int argc, char **argv)
{
	struct counting c = { .set.common = PROBING_START };
	struct opt_rest rest;
	int err = parse(&c, argc, argv, &rest), status = cmd_refused(err);

	if (!err) {
		err = count(&c, rest.args, rest.nargs);
		status = err && err != -EPIPE ? EXIT_FAIL : EXIT_OK;
	}
	stack_output_close(&c.output);
	raw_output_close(&c.raw);
	counted_close(&c.counted);
	probing_close(&c.probing);
	intern_free(&c.keys);
	vec_free(&c.before);
	return status;
}

const struct cmd cmd_stackcount = {
	.name = "stackcount",
	.usage = "[options] PROBE... [-- COMMAND [ARGUMENTS]]",
	.summary = "the stacks behind functions, tracepoints, USDT probes",
	.about =
	"Counts the stacks, kernel and user, that lead to each hit of a\n"
	"PROBE, in the kernel. Ends at Ctrl-C, after -D SECS, or when COMMAND\n"
	"or the processes of -p end. Options are those of bcc's stackcount.\n",
	.examples =
	"  sonde stackcount -p 1234 c:malloc      who allocates in a process\n"
	"  sonde stackcount -K vfs_fsync_range    who syncs, in the kernel\n"
	"  sonde stackcount -D 5 t:sched:sched_switch\n"
	"  sonde stackcount -U -o m.svg c:malloc -- make   a flame graph\n",
	.options = options,
	.object = &object_stackcount,
	.run = run,
	.check = check_probing,
};
