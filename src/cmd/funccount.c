/* funccount - how often functions, tracepoints and USDT probes are hit. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/log.h"
#include "base/out.h"
#include "base/vec.h"
#include "bpf_object.h"
#include "cmd/check.h"
#include "cmd/clock.h"
#include "cmd/cmd.h"
#include "cmd/probing.h"
#include "sym/debug_files.h"
#include "sys/bpf.h"
#include "sys/host.h"

extern const struct bpf_object object_funccount;

struct settings {
	struct name_options names;
	struct probing_options common;
	uint64_t interval;
	bool timestamp, regex;
};

static const struct opt options[] = {
	PROBING_OPTIONS(struct settings, common, 'p', 0, 0, 0, 'c', 'd', 'v'),
	{ 'i', "interval", OPT_NUM, offsetof(struct settings, interval),
	  "SECS", "print and begin anew so often", .min = 1,
	  .max = 99999999 },
	{ 'T', "timestamp", OPT_FLAG, offsetof(struct settings, timestamp),
	  NULL, "the time of day above each output" },
	{ 'r', "regexp", OPT_FLAG, offsetof(struct settings, regex), NULL,
	  "names are regular expressions, not globs" },
	FILE_OPTIONS(offsetof(struct settings, names)),
	{ 0 },
};

/* One line of the result: what points of one name were hit. */
struct row {
	const struct point *point;	/* the first of them */
	uint64_t count;
	bool is_shared;			/* another row has its name */
};

struct counting {
	struct settings set;
	struct probing probing;
	struct out out;
	size_t cpus;			/* possible ones: values of a slot */
	VEC(uint64_t) before;		/* by point: sum at the last output */
	VEC(struct row) rows;
	int err;
};

/* What a point was hit so far, on all CPUs. */
static int point_count(struct counting *c, uint32_t point, uint64_t *sum)
{
	int fd = session_map(c->probing.watch.session, "counts"), err;
	uint64_t *values = mem_zalloc(c->cpus * sizeof(*values));

	if (!values)
		return -ENOMEM;
	err = bpf_map_lookup(fd, &point, values);
	*sum = 0;
	for (size_t i = 0; !err && i < c->cpus; i++)
		*sum += values[i];
	mem_free(values);
	return err;
}

static const char *point_module(const struct point *p)
{
	return probe_is_kernel(p->kind) && p->module ? p->module : "";
}

/* By name, then by what tells points of one name apart. */
static int point_order(const struct point *x, const struct point *y)
{
	int order = strcmp(x->name, y->name);

	if (!order)
		order = strcmp(point_module(x), point_module(y));
	if (order)
		return order;
	if (probe_is_return(x->kind) != probe_is_return(y->kind))
		return probe_is_return(x->kind) ? 1 : -1;
	return x->file < y->file ? -1 : x->file > y->file;
}

static int by_name(const void *a, const void *b)
{
	return point_order(((const struct row *)a)->point,
			   ((const struct row *)b)->point);
}

static int by_count(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return point_order(x->point, y->point);
}

static void row_add(struct counting *c, size_t *n, const struct row *row)
{
	struct row *last = *n ? &c->rows.v[*n - 1] : NULL;
	bool is_shared = last && !strcmp(last->point->name, row->point->name);

	if (last && !by_name(last, row)) {
		last->count += row->count;
		return;
	}
	c->rows.v[*n] = *row;
	c->rows.v[(*n)++].is_shared = is_shared;
	if (is_shared)
		last->is_shared = true;
}

/* One row a function, in rising order; those without a hit are left out. */
static int rows_make(struct counting *c)
{
	const struct points *points = &c->probing.points;
	size_t n = 0;

	c->rows.n = 0;
	for (size_t i = 0; i < points->v.n; i++) {
		struct row *row = vec_push(&c->rows);
		uint64_t sum;
		int err = row ? point_count(c, (uint32_t)i, &sum) : -ENOMEM;

		if (err)
			return err;
		*row = (struct row){
			.point = &points->v.v[i],
			.count = sum - c->before.v[i],
		};
		c->before.v[i] = sum;
	}
	qsort(c->rows.v, c->rows.n, sizeof(*c->rows.v), by_name);
	for (size_t i = 0; i < c->rows.n; i++) {
		struct row row = c->rows.v[i];

		if (row.count)
			row_add(c, &n, &row);
	}
	c->rows.n = n;
	qsort(c->rows.v, n, sizeof(*c->rows.v), by_count);
	return 0;
}

static void print_row(const struct counting *c, const struct row *row)
{
	const struct points *points = &c->probing.points;
	const struct point *p = row->point;
	struct buf raw = { 0 }, name = { 0 };

	if (row->is_shared && probe_is_return(p->kind))
		buf_puts(&raw, "r:");
	if (row->is_shared && probe_is_user(p->kind))
		buf_fmt(&raw, "%s:", points->files.v[p->file].label);
	if (row->is_shared && *point_module(p))
		buf_fmt(&raw, "%s:", p->module);
	buf_puts(&raw, p->name);
	escape(&name, buf_str(&raw), raw.len, ESCAPE_TEXT);
	fprintf(c->out.file, "%-36s %8llu\n", buf_str(&name),
		(unsigned long long)row->count);
	buf_free(&raw);
	buf_free(&name);
}

static void print(void *arg)
{
	struct counting *c = arg;
	FILE *out = c->out.file;
	int err = rows_make(c);

	if (err) {
		log_error("funccount: cannot read the counts: %s",
			  log_errno(err));
		c->err = err;
	}
	fprintf(out, "\n");
	if (c->set.timestamp)
		clock_print(out);
	fprintf(out, "%-36s %8s\n", "FUNC", "COUNT");
	for (size_t i = 0; i < c->rows.n; i++)
		print_row(c, &c->rows.v[i]);
	if (!err && out_flush(&c->out))
		c->err = -EPIPE;
	if (c->err)
		watch_end(&c->probing.watch);
}

/* What was counted until now is the result, so it is not kept waiting. */
static void finish(void *arg)
{
	struct counting *c = arg;

	print(c);
	probing_detach(&c->probing);
}

static int count(struct counting *c, char **args, int nargs)
{
	struct probing *p = &c->probing;
	int err = out_open(&c->out, NULL);

	if (!err)
		err = probing_open(p);
	if (err)
		return err;
	c->cpus = host_cpus_possible();
	for (size_t i = 0; i < p->points.v.n; i++) {
		uint64_t *before = vec_push(&c->before);

		if (!before)
			return -ENOMEM;
		*before = 0;
	}
	session_entries(p->watch.session, "counts", (uint32_t)p->points.v.n);
	session_const(p->watch.session, "filtered",
		      probing_filters(p));
	err = probing_load(p);
	if (!err)
		err = attach_points(&p->attach, "hit", ATTACH_AS_SAID);
	if (err)
		return err;
	attach_report(&p->attach);
	probing_say(c->out.file, p->attach.done, args, nargs);
	err = out_flush(&c->out);
	if (!err)
		err = watch_run(&p->watch, finish);
	if (err)
		return err;
	watch_report(&p->watch);
	err = out_close(&c->out);
	return c->err == -EPIPE || err == -EPIPE ? 0 : c->err ? c->err : err;
}

static int parse(struct counting *c, int argc, char **argv,
		 struct opt_rest *rest)
{
	struct watch *w = &c->probing.watch;
	struct spec_rules rules = { .command = "funccount" };
	int err = opt_parse("funccount", options, &c->set, argc, argv, rest);

	if (!err)
		err = debug_files_open(&c->set.names);
	if (err)
		return err;
	err = probing_wanted("funccount", rest->nargs, "what to count");
	if (err)
		return err;
	rules.regex = c->set.regex;
	w->object = &object_funccount;
	w->argv = rest->command;
	w->arg = c;
	w->tick = print;
	w->interval_ms = c->set.interval * 1000;
	return probing_parse(&c->probing, &c->set.common, &rules, rest->args,
			     rest->nargs);
}

static int run(int argc, char **argv)
{
	struct counting c = { .set.common = PROBING_START };
	struct opt_rest rest;
	int err = parse(&c, argc, argv, &rest), status = cmd_refused(err);

	if (!err)
		status = count(&c, rest.args, rest.nargs) ? EXIT_FAIL
							   : EXIT_OK;
	probing_close(&c.probing);
	vec_free(&c.before);
	vec_free(&c.rows);
	return status;
}

const struct cmd cmd_funccount = {
	.name = "funccount",
	.usage = "[options] PROBE... [-- COMMAND [ARGUMENTS]]",
	.summary = "how often functions, tracepoints, USDT probes are hit",
	.about =
	"Counts the hits of each function, tracepoint or USDT probe that a\n"
	"PROBE means, on all CPUs, exactly. Ends at Ctrl-C, after -d SECS, or\n"
	"when COMMAND or the processes of -p end. Options are those of bcc's\n"
	"funccount.\n",
	.examples =
	"  sonde funccount 'vfs_*'           functions of the kernel\n"
	"  sonde funccount 'kprobe:ext4:*'   those of a module alone\n"
	"  sonde funccount -d 5 t:sched:*    the scheduler's tracepoints\n"
	"  sonde funccount -p 1234 c:malloc  a function of its C library\n"
	"  sonde funccount 'u:./server:*'    USDT probes of a program\n"
	"  sonde funccount -i 1 -T c:read    every second, with the time\n",
	.options = options,
	.object = &object_funccount,
	.run = run,
	.check = check_probing,
};
