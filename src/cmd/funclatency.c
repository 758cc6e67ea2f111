/* funclatency - how long functions take, as histograms. */
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
#include "events.h"
#include "render/histogram.h"
#include "sym/debug_files.h"
#include "sys/bpf.h"
#include "sys/host.h"
#include "sys/tracefs.h"

extern const struct bpf_object object_funclatency;

_Static_assert((int)LATENCY_SLOTS == (int)HISTOGRAM_SLOTS, "one is printed "
	       "as the other");

enum {
	LEVELS = LATENCY_FRAMES - 1,
	SMALL_HOST = 256 << 20,		/* bytes of memory */
	SMALL_STARTS = 1024,		/* threads, there */
	PERCPU_MOST = 64 << 20,		/* bytes of histograms for each CPU */
};

struct settings {
	struct name_options names;
	struct probing_options common;
	uint64_t interval, levels;
	bool timestamp, regex, each, us, ms;
};

static const struct opt options[] = {
	PROBING_OPTIONS(struct settings, common, 'p', 0, 0, 0, 'c', 'd', 'v'),
	{ 'i', "interval", OPT_NUM, offsetof(struct settings, interval),
	  "SECS", "print and begin anew so often", .min = 1,
	  .max = 99999999 },
	{ 'T', "timestamp", OPT_FLAG, offsetof(struct settings, timestamp),
	  NULL, "the time of day above each output" },
	{ 'u', "microseconds", OPT_FLAG, offsetof(struct settings, us), NULL,
	  "in microseconds, not nanoseconds", .excludes = 1 },
	{ 'm', "milliseconds", OPT_FLAG, offsetof(struct settings, ms), NULL,
	  "in milliseconds", .excludes = 1 },
	{ 'F', "function", OPT_FLAG, offsetof(struct settings, each), NULL,
	  "a histogram for each function" },
	{ 'r', "regexp", OPT_FLAG, offsetof(struct settings, regex), NULL,
	  "names are regular expressions, not globs" },
	{ 'l', "level", OPT_NUM, offsetof(struct settings, levels), "N",
	  "calls within each other that are timed, 31 by default", .min = 1,
	  .max = LEVELS },
	FILE_OPTIONS(offsetof(struct settings, names)),
	{ 0 },
};

/* A function with its histogram's number; those of one name stand together. */
struct named {
	const char *name;
	uint32_t number;
};

struct timing {
	struct settings set;
	struct probing probing;
	struct out out;
	size_t values;			/* of a slot: possible CPUs, or one */
	struct latency *read;		/* so many */
	VEC(struct latency) before;	/* by number: at the last output */
	VEC(struct named) names;
	int err;
};

static void add(struct latency *to, const struct latency *l)
{
	to->total += l->total;
	for (int i = 0; i < LATENCY_SLOTS; i++)
		to->slots[i] += l->slots[i];
}

/* Add what is new in a histogram since the last time. Differences are right
 * also when a sum has passed its type's end. */
static int take_new(struct timing *t, uint32_t number, struct latency *to)
{
	struct latency now = { 0 }, *before = &t->before.v[number];
	int fd = session_map(t->probing.watch.session, "latency");
	int err = bpf_map_lookup(fd, &number, t->read);

	if (err)
		return err;
	for (size_t i = 0; i < t->values; i++)
		add(&now, &t->read[i]);
	to->total += now.total - before->total;
	for (int i = 0; i < LATENCY_SLOTS; i++)
		to->slots[i] += now.slots[i] - before->slots[i];
	*before = now;
	return 0;
}

static uint64_t calls(const struct latency *l)
{
	uint64_t n = 0;

	for (int i = 0; i < LATENCY_SLOTS; i++)
		n += l->slots[i];
	return n;
}

static uint64_t unit(const struct timing *t)
{
	return t->set.ms ? 1000000 : t->set.us ? 1000 : 1;
}

static const char *label(const struct timing *t)
{
	return t->set.ms ? "msecs" : t->set.us ? "usecs" : "nsecs";
}

static void print_name(FILE *out, const char *name)
{
	struct buf text = { 0 };

	escape(&text, name, strlen(name), ESCAPE_TEXT);
	fprintf(out, "\nFunction = %s\n", buf_str(&text));
	buf_free(&text);
}

/* All histograms, added to *sum. */
static int print_all(struct timing *t, struct latency *sum)
{
	FILE *out = t->out.file;
	int err = 0;

	for (size_t i = 0, next; !err && i < t->names.n; i = next) {
		struct latency one = { 0 };

		for (next = i; !err && next < t->names.n &&
		     !strcmp(t->names.v[i].name, t->names.v[next].name); next++)
			err = take_new(t, t->names.v[next].number, &one);
		if (t->set.each && calls(&one))
			print_name(out, t->names.v[i].name);
		histogram_print(out, label(t), one.slots);
		add(sum, &one);
	}
	return err;
}

static void print(void *arg)
{
	struct timing *t = arg;
	FILE *out = t->out.file;
	struct latency sum = { 0 };
	uint64_t n;

	fprintf(out, "\n");
	if (t->set.timestamp)
		clock_print(out);
	t->err = print_all(t, &sum);
	if (t->err)
		log_error("funclatency: cannot read the histograms: %s",
			  log_errno(t->err));
	n = calls(&sum);
	sum.total /= unit(t);
	if (n)
		fprintf(out, "\navg = %llu %s, total: %llu %s, count: %llu\n",
			(unsigned long long)(sum.total / n), label(t),
			(unsigned long long)sum.total, label(t),
			(unsigned long long)n);
	if (!t->err && out_flush(&t->out))
		t->err = -EPIPE;
	if (t->err)
		watch_end(&t->probing.watch);
}

/* Calls that were under way at the end. */
static uint64_t count_open(const struct timing *t)
{
	int fd = session_map(t->probing.watch.session, "starts");
	struct latency_frames frames;
	uint64_t key[2], next[2], n = 0;
	int err = bpf_map_next_key(fd, NULL, next);

	while (!err) {
		memcpy(key, next, sizeof(key));
		if (!bpf_map_lookup(fd, key, &frames))
			n += frames.n;
		err = bpf_map_next_key(fd, key, next);
	}
	return n;
}

static void report(const struct timing *t)
{
	static const char *const texts[] = {
		[LATENCY_NO_ROOM] = "calls not timed, for too many threads "
			"are within such calls: %llu",
		[LATENCY_TOO_DEEP] = "calls not timed, for they are within "
			"too many others: %llu",
		[LATENCY_LEFT] = "calls not timed, for they were left without "
			"a return, by longjmp or an exception, or it was "
			"missed: %llu",
		[LATENCY_EXITED] = "calls not timed, for there was no return: "
			"the thread ended within them, or they were left "
			"before, by longjmp or an exception: %llu",
	};
	int fd = session_map(t->probing.watch.session, "losses");
	uint64_t n = count_open(t);

	if (n)
		log_notice("calls not timed, for they were under way at the "
			   "end: %llu", (unsigned long long)n);
	for (uint32_t i = 0; i < LATENCY_LOSSES; i++)
		if (!bpf_map_lookup(fd, &i, &n) && n)
			log_notice(texts[i], (unsigned long long)n);
}

static void detach(void *arg)
{
	struct timing *t = arg;

	probing_detach(&t->probing);
}

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->number < y->number ? -1 : 1;
}

/* One histogram for each point, or one. */
static int name_histograms(struct timing *t)
{
	const struct points *points = &t->probing.points;
	size_t n = t->set.each ? points->v.n : 1;

	for (size_t i = 0; i < n; i++) {
		struct named *name = vec_push(&t->names);
		struct latency *before = vec_push(&t->before);

		if (!name || !before)
			return -ENOMEM;
		*name = (struct named){ t->set.each ? points->v.v[i].name : "",
					(uint32_t)i };
		*before = (struct latency){ 0 };
	}
	qsort(t->names.v, n, sizeof(*t->names.v), by_name);
	t->values = host_cpus_possible();
	if (n > PERCPU_MOST / sizeof(struct latency) / t->values)
		t->values = 1;
	t->read = mem_zalloc(t->values * sizeof(*t->read));
	return t->read ? 0 : -ENOMEM;
}

/* A thread's end frees its starts; what the kernel does for it after that, only
 * the end of its last trace does. */
static void prepare_ends(struct timing *t)
{
	struct session *s = t->probing.watch.session;
	const struct points *points = &t->probing.points;
	bool kernel = false, go = false;

	for (size_t i = 0; i < points->v.n; i++)
		kernel |= probe_is_kernel(points->v.v[i].kind);
	for (size_t i = 0; i < points->files.n; i++)
		go |= points->files.v[i].knows_g;
	if (!kernel || tracefs_id("sched/sched_process_free") < 0)
		session_without(s, "freed");
	/* The end of a goroutine is not seen. */
	if (go)
		session_type(s, "starts", BPF_MAP_TYPE_LRU_HASH);
	if (host_memory() < SMALL_HOST)
		session_entries(s, "starts", SMALL_STARTS);
}

static int prepare(struct timing *t)
{
	struct session *s = t->probing.watch.session;
	int err = name_histograms(t);

	if (err) {
		log_error("funclatency: out of memory");
		return err;
	}
	session_entries(s, "latency", (uint32_t)t->names.n);
	if (t->values == 1)
		session_type(s, "latency", BPF_MAP_TYPE_ARRAY);
	session_const(s, "filtered", probing_filters(&t->probing));
	session_const(s, "each", t->set.each);
	session_const(s, "unit", unit(t));
	session_const(s, "levels", t->set.levels);
	prepare_ends(t);
	return probing_load(&t->probing);
}

/* Returns first: without a start they do nothing. */
static int attach(struct timing *t, size_t *functions)
{
	struct probing *p = &t->probing;
	struct session *s = p->watch.session;
	int err = attach_points(&p->attach, "leave", ATTACH_RETURN);

	*functions = p->attach.done;
	if (!err)
		err = session_attach_one(s, "gone");
	if (!err && session_prog(s, "freed") >= 0)
		err = session_attach_one(s, "freed");
	if (err == -EOPNOTSUPP)
		err = 0;
	if (!err)
		err = attach_points(&p->attach, "enter", ATTACH_ENTRY);
	*functions = p->attach.done - *functions;
	return err;
}

static int trace(struct timing *t, char **args, int nargs)
{
	struct probing *p = &t->probing;
	size_t functions;
	int err = out_open(&t->out, NULL);

	if (!err)
		err = probing_open(p);
	if (!err)
		err = prepare(t);
	if (!err)
		err = attach(t, &functions);
	if (err)
		return err;
	attach_report(&p->attach);
	probing_say(t->out.file, functions, args, nargs);
	err = out_flush(&t->out);
	if (!err)
		err = watch_run(&p->watch, detach);
	if (err)
		return err;
	print(t);
	report(t);
	watch_report(&p->watch);
	err = out_close(&t->out);
	return t->err == -EPIPE || err == -EPIPE ? 0 : t->err ? t->err : err;
}

static int parse(struct timing *t, int argc, char **argv,
		 struct opt_rest *rest)
{
	struct watch *w = &t->probing.watch;
	struct spec_rules rules = {
		.command = "funclatency",
		.kinds = 1u << PROBE_KPROBE | 1u << PROBE_KRETPROBE |
			 1u << PROBE_FENTRY | 1u << PROBE_FEXIT |
			 1u << PROBE_UPROBE | 1u << PROBE_URETPROBE,
	};
	int err = opt_parse("funclatency", options, &t->set, argc, argv, rest);

	if (!err)
		err = debug_files_open(&t->set.names);
	if (err)
		return err;
	err = probing_wanted("funclatency", rest->nargs,
			     "which function to time");
	if (err)
		return err;
	rules.regex = t->set.regex;
	w->object = &object_funclatency;
	w->argv = rest->command;
	w->arg = t;
	w->tick = print;
	w->interval_ms = t->set.interval * 1000;
	return probing_parse(&t->probing, &t->set.common, &rules, rest->args,
			     rest->nargs);
}

static int run(int argc, char **argv)
{
	struct timing t = {
		.set = { .common = PROBING_START, .levels = LEVELS },
	};
	struct opt_rest rest;
	int err = parse(&t, argc, argv, &rest), status = cmd_refused(err);

	if (!err)
		status = trace(&t, rest.args, rest.nargs) ? EXIT_FAIL
							   : EXIT_OK;
	probing_close(&t.probing);
	vec_free(&t.before);
	vec_free(&t.names);
	mem_free(t.read);
	return status;
}

const struct cmd cmd_funclatency = {
	.name = "funclatency",
	.usage = "[options] FUNCTION... [-- COMMAND [ARGUMENTS]]",
	.summary = "how long functions take, as histograms",
	.about =
	"Times each call of the functions that match, in the kernel and in\n"
	"programs, and counts the times by powers of two, exactly. Calls\n"
	"within each other, as in a recursion, count each. Functions of Go\n"
	"programs are timed by goroutine, with probes at their return\n"
	"instructions. Ends at Ctrl-C, after -d SECS, or when COMMAND or the\n"
	"processes of -p end. Options are those of bcc's funclatency.\n",
	.examples =
	"  sonde funclatency vfs_read        a function of the kernel, in ns\n"
	"  sonde funclatency -u bpf_prog_load   in microseconds\n"
	"  sonde funclatency -F 'vfs_*'      a histogram for each\n"
	"  sonde funclatency -p 1234 c:malloc   of that process\n"
	"  sonde funclatency -m -i 5 ./server:main.handle   a Go function\n",
	.options = options,
	.object = &object_funclatency,
	.run = run,
	.check = check_probing,
};
