/* stacksnoop - the stack behind each hit of a function, as it happens. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/log.h"
#include "base/out.h"
#include "bpf_object.h"
#include "cmd/check.h"
#include "cmd/cmd.h"
#include "cmd/probing.h"
#include "sym/debug_files.h"
#include "sys/feature.h"
#include "trace/counted.h"

extern const struct bpf_object object_stacksnoop;

struct settings {
	struct name_options names;
	struct probing_options common;
	uint64_t most, skip, depth;
	bool offset, verbose, regex, user_only, kernel_only;
};

#define AT(member) offsetof(struct settings, member)

static const struct opt options[] = {
	PROBING_OPTIONS(struct settings, common, 'p', 0, 0, 0, 0, 'd', 0),
	{ 's', "offset", OPT_FLAG, AT(offset), NULL,
	  "addresses before the names" },
	{ 'v', NULL, OPT_FLAG, AT(verbose), NULL,
	  "COMM, PID and CPU, too" },
	{ 'r', "regex", OPT_FLAG, AT(regex), NULL,
	  "names are regular expressions, not globs" },
	{ 'M', "max-events", OPT_NUM, AT(most), "N", "end after N hits",
	  .min = 1 },
	{ 'K', "kernel-stacks-only", OPT_FLAG, AT(kernel_only), NULL,
	  "no user stacks", .excludes = 4 },
	{ 'U', "user-stacks-only", OPT_FLAG, AT(user_only), NULL,
	  "no kernel stacks", .excludes = 4 },
	{ 0, "skip", OPT_NUM, AT(skip), "N",
	  "leave the N innermost functions out", .max = 1000 },
	{ 0, "depth", OPT_NUM, AT(depth), "N",
	  "no more than the N innermost functions of each half", .min = 1,
	  .max = 1000 },
	NAME_OPTIONS(AT(names)),
	{ 0 },
};

struct snooping {
	struct settings set;
	struct probing probing;
	struct counted counted;
	struct out out;
	struct buf text;
	uint64_t first;			/* time of the first hit, ns */
	uint64_t hits;
	int err;
};

static void put_frames(struct snooping *s, const struct frame *f, size_t n,
		       size_t *skip)
{
	size_t depth = s->set.depth ? s->set.depth : SIZE_MAX;

	for (; n && depth; n--, f++) {
		if (*skip) {
			--*skip;
			continue;
		}
		depth--;
		buf_putc(&s->text, '\t');
		if (s->set.offset)
			buf_fmt(&s->text, "0x%llx ",
				(unsigned long long)f->addr);
		escape(&s->text, f->name, strlen(f->name), ESCAPE_TEXT);
		buf_putc(&s->text, '\n');
	}
}

static void put_head(struct snooping *s, const struct snap_event *e)
{
	const struct points *points = &s->probing.points;
	char comm[COMM_SIZE + 1] = { 0 };
	const char *name = e->probe < points->v.n ?
			   points->v.v[e->probe].name : "?";
	struct buf safe = { 0 };

	if (!s->first)
		s->first = e->time;
	buf_fmt(&s->text, "%-18.9f ",
		(double)(int64_t)(e->time - s->first) / 1e9);
	if (s->set.verbose) {
		memcpy(comm, e->key.comm, COMM_SIZE);
		escape(&safe, comm, strlen(comm), ESCAPE_TEXT);
		buf_fmt(&s->text, "%-12s %-6u %-3u ", buf_str(&safe),
			e->key.tgid, e->cpu);
	}
	buf_free(&safe);
	escape(&s->text, name, strlen(name), ESCAPE_TEXT);
	buf_putc(&s->text, '\n');
}

static size_t frames_of(int32_t bytes, const uint64_t *frames)
{
	size_t n = bytes > 0 ? (size_t)bytes / 8 : 0;

	n = n > STACK_DEPTH ? STACK_DEPTH : n;
	while (n && !frames[n - 1])	/* aarch64 ends its chains so */
		n--;
	return n;
}

static int show(struct snooping *s, const struct snap_event *e)
{
	struct stack stack = {
		.key = &e->key, .count = 1, .user = e->user,
		.kernel = e->kernel,
		.nuser = frames_of(e->key.user, e->user),
		.nkernel = frames_of(e->key.kernel, e->kernel),
	};
	size_t skip = s->set.skip;
	struct named_stack named;
	int err;

	naming_learn(&s->counted.naming, &stack);
	err = naming_stack(&s->counted.naming, &stack, &named);
	if (err)
		return err;
	buf_reset(&s->text);
	put_head(s, e);
	put_frames(s, named.kernel, named.nkernel, &skip);
	put_frames(s, named.user, named.nuser, &skip);
	buf_putc(&s->text, '\n');
	if (s->text.err)
		return s->text.err;
	fwrite(s->text.data, 1, s->text.len, s->out.file);
	return out_flush(&s->out) ? -EPIPE : 0;
}

static void record(void *arg, const void *data, size_t len)
{
	struct snooping *s = arg;
	const struct snap_event *e = data;

	if (len < sizeof(*e) || e->type != EVENT_SNAP) {
		counted_take(&s->counted, data, len);
		return;
	}
	if (s->err || (s->set.most && s->hits >= s->set.most))
		return;
	counted_drain(&s->counted);
	s->err = show(s, e);
	if (s->err == -ENOMEM)
		log_error("stacksnoop: out of memory");
	if (++s->hits == s->set.most || s->err)
		watch_end(&s->probing.watch);
}

static void turn(void *arg)
{
	struct snooping *s = arg;

	counted_drain(&s->counted);
}

static void detach(void *arg)
{
	struct snooping *s = arg;

	probing_detach(&s->probing);
}

static int load(struct snooping *s)
{
	struct probing *p = &s->probing;
	struct counted_spec spec = {
		.user = !s->set.kernel_only, .kernel = !s->set.user_only,
		.at_entry = points_at_entry(&p->points),
		.events = !points_in_kernel(&p->points),
		.names = &s->set.names,
	};
	int err;

	if (!feature_has(FEATURE_GET_STACK)) {
		log_error("stacksnoop: this kernel cannot send stacks (Linux "
			  "4.18 can)");
		log_hint("sonde stackcount counts them");
		return -EOPNOTSUPP;
	}
	err = counted_open(&s->counted, "stacksnoop", p->watch.session, &spec);
	if (!err)
		err = probing_load(p);
	if (err)
		return err;
	counted_follow(&s->counted, &p->watch.loop);
	p->attach.fields = true;	/* no frames of the tracing itself */
	return attach_points(&p->attach, "hit", ATTACH_AS_SAID);
}

static int snoop(struct snooping *s)
{
	int err = out_open(&s->out, NULL);

	if (!err)
		err = probing_open(&s->probing);
	if (!err)
		err = load(s);
	if (err)
		return err;
	attach_report(&s->probing.attach);
	fprintf(s->out.file, "%-18s %sFUNCTION\n", "TIME(s)", s->set.verbose ?
		"COMM         PID    CPU " : "");
	err = out_flush(&s->out);
	if (!err)
		err = watch_run(&s->probing.watch, detach);
	if (!err)
		err = s->err;
	counted_hits(&s->counted);
	watch_report(&s->probing.watch);
	counted_report(&s->counted);
	return err ? err : out_close(&s->out);
}

static int parse(struct snooping *s, int argc, char **argv)
{
	struct watch *w = &s->probing.watch;
	struct spec_rules rules = { .command = "stacksnoop" };
	struct opt_rest rest;
	int err = opt_parse("stacksnoop", options, &s->set, argc, argv, &rest);

	if (!err)
		err = debug_files_open(&s->set.names);
	if (err)
		return err;
	err = probing_wanted("stacksnoop", rest.nargs, "what to watch");
	if (err)
		return err;
	rules.regex = s->set.regex;
	w->object = &object_stacksnoop;
	w->argv = rest.command;
	w->arg = s;
	w->turn = turn;
	w->exits = true;
	w->record = record;
	return probing_parse(&s->probing, &s->set.common, &rules, rest.args,
			     rest.nargs);
}

static int run(int argc, char **argv)
{
	struct snooping s = { .set.common = PROBING_START };
	int err = parse(&s, argc, argv), status = cmd_refused(err);

	if (!err) {
		err = snoop(&s);
		status = err && err != -EPIPE ? EXIT_FAIL : EXIT_OK;
	}
	counted_close(&s.counted);
	probing_close(&s.probing);
	buf_free(&s.text);
	return status;
}

const struct cmd cmd_stacksnoop = {
	.name = "stacksnoop",
	.usage = "[options] PROBE... [-- COMMAND [ARGUMENTS]]",
	.summary = "the stack behind each hit of a function, as it happens",
	.about =
	"Prints the stack, kernel and user, of the process at each hit of a\n"
	"PROBE. Ends at Ctrl-C, after -d SECS or -M hits, or when COMMAND or\n"
	"the processes of -p end. Options are those of bcc's stacksnoop.\n",
	.examples =
	"  sonde stacksnoop ext4_sync_fs         who syncs a file system\n"
	"  sonde stacksnoop -v -p 1234 c:fsync   one process\n"
	"  sonde stacksnoop -M 3 t:sched:sched_process_fork\n",
	.options = options,
	.object = &object_stacksnoop,
	.run = run,
	.check = check_probing,
};
