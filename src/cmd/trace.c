/* trace - a line for each hit of a probe: who, where, with which arguments. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/escape.h"
#include "base/log.h"
#include "base/out.h"
#include "base/vec.h"
#include "bpf_object.h"
#include "cmd/check.h"
#include "cmd/cmd.h"
#include "cmd/probing.h"
#include "events.h"
#include "sym/debug_files.h"
#include "sys/bpf.h"
#include "sys/feature.h"
#include "sys/host.h"
#include "trace/action.h"
#include "trace/fetch.h"
#include "trace/naming.h"
#include "trace/order.h"
#include "trace/prefilter.h"
#include "trace/records.h"
#include "trace/values.h"

extern const struct bpf_object object_trace;

struct settings {
	struct name_options names;
	struct probing_options common;
	uint64_t string_size, max_events, pages;
	struct num_list strings;
	const char *name, *filter;
	bool offset_time, unix_time, day_time, show_cpu;
	bool kernel_stack, user_stack, addresses;
};

enum {
	STRING_SIZE = 80, STRING_MAX = 2000,
	RING_MOST = 16 << 20, RING_LEAST = 256 << 10,
	SECOND = 1000000000,
};

static const struct opt options[] = {
	PROBING_OPTIONS(struct settings, common, 'p', 'L', 0, 'c', 0, 'd',
			'v'),
	{ 'S', "include-self", OPT_FLAG,
	  offsetof(struct settings, common.with_self), NULL,
	  "what sonde itself does, too" },
	{ 's', "strings", OPT_LIST, offsetof(struct settings, strings),
	  "N,..", "these arguments point to strings: 1 is the first",
	  .min = 1, .max = TRACE_USDT },
	{ 'Z', "string-size", OPT_NUM,
	  offsetof(struct settings, string_size), "BYTES",
	  "bytes of a string that are shown (80)", .min = 1,
	  .max = STRING_MAX },
	{ 'M', "max-events", OPT_NUM, offsetof(struct settings, max_events),
	  "N", "end after so many lines", .min = 1 },
	{ 'n', "name", OPT_TEXT, offsetof(struct settings, name), "TEXT",
	  "threads with this text in their name only" },
	{ 'f', "msg-filter", OPT_TEXT, offsetof(struct settings, filter),
	  "TEXT", "lines with this text in their arguments only" },
	{ 't', "timestamp", OPT_FLAG, offsetof(struct settings, offset_time),
	  NULL, "seconds since the start, in front" },
	{ 'u', "unix-timestamp", OPT_FLAG,
	  offsetof(struct settings, unix_time), NULL,
	  "with -t: seconds since 1970 instead" },
	{ 'T', "time", OPT_FLAG, offsetof(struct settings, day_time), NULL,
	  "the time of day, in front" },
	{ 'C', "print_cpu", OPT_FLAG, offsetof(struct settings, show_cpu),
	  NULL, "the CPU, in front" },
	{ 'K', "kernel-stack", OPT_FLAG,
	  offsetof(struct settings, kernel_stack), NULL,
	  "the kernel's stack below each line" },
	{ 'U', "user-stack", OPT_FLAG,
	  offsetof(struct settings, user_stack), NULL,
	  "the program's stack below each line" },
	{ 'a', "address", OPT_FLAG, offsetof(struct settings, addresses),
	  NULL, "addresses in stacks, too" },
	NAME_OPTIONS(offsetof(struct settings, names)),
	{ 'b', "buffer-pages", OPT_NUM, offsetof(struct settings, pages),
	  "PAGES", "room for hits that are not printed yet", .min = 1,
	  .max = 1 << 16 },
	{ 0 },
};

struct tracing {
	struct settings set;
	struct probing probing;
	struct out out;
	struct action *actions;	/* by argument */
	size_t nactions;
	struct fetch fetch;
	struct values values;
	struct order order;
	struct naming naming;
	struct records records;	/* what processes map meanwhile */
	bool names;		/* naming is open */
	struct buf text;	/* lines that are not written yet */
	uint64_t start;		/* CLOCK_MONOTONIC, ns */
	int64_t epoch;		/* CLOCK_REALTIME - CLOCK_MONOTONIC, ns */
	int64_t second;		/* that day_text is for */
	char day_text[16];
	uint64_t lines;
	uint64_t untaken;	/* stacks that the kernel could not take */
	uint64_t malformed;
	int err;		/* of the output, or -ENOMEM: it ends */
	bool done;
};

/* -- a line ---------------------------------------------------------------- */

/* Append blanks up to the column, and one in any case. */
static void pad(struct buf *to, size_t start, size_t width)
{
	static const char blanks[] = "                    ";
	size_t n = to->len - start;

	buf_mem(to, blanks, n < width ? width - n + 1 : 1);
}

static void put_number(struct buf *to, uint64_t n, size_t width)
{
	size_t start = to->len;

	buf_dec(to, n);
	pad(to, start, width);
}

static void put_text(struct buf *to, const char *s, size_t len, size_t width)
{
	size_t start = to->len;

	escape(to, s, len, ESCAPE_TEXT);
	pad(to, start, width);
}

/* Seconds with six decimals. */
static void put_seconds(struct buf *to, int64_t ns, size_t width)
{
	size_t start = to->len, point;

	if (ns < 0) {
		buf_putc(to, '-');
		ns = -ns;
	}
	buf_dec(to, (uint64_t)(ns / SECOND));
	point = to->len;
	buf_dec(to, 1000000 + (uint64_t)(ns % SECOND / 1000));
	if (!to->err)
		to->data[point] = '.';
	pad(to, start, width);
}

/* The text of a second is made once. */
static void put_day_time(struct tracing *t, uint64_t time)
{
	int64_t second = ((int64_t)time + t->epoch) / SECOND;
	time_t when = (time_t)second;
	struct tm tm;

	if (second != t->second &&
	    (!localtime_r(&when, &tm) ||
	     !strftime(t->day_text, sizeof(t->day_text), "%H:%M:%S ", &tm)))
		*t->day_text = '\0';
	t->second = second;
	buf_puts(&t->text, t->day_text);
}

static void put_head(struct tracing *t, const struct trace_event *e)
{
	const struct point *p = &t->probing.points.v.v[e->probe];
	struct buf *to = &t->text;

	if (t->set.offset_time && t->set.unix_time)
		put_seconds(to, (int64_t)e->time + t->epoch, 17);
	else if (t->set.offset_time)
		put_seconds(to, (int64_t)(e->time - t->start), 8);
	if (t->set.day_time)
		put_day_time(t, e->time);
	if (t->set.show_cpu)
		put_number(to, e->cpu, 3);
	put_number(to, e->tgid, 7);
	put_number(to, e->tid, 7);
	put_text(to, e->comm, strnlen(e->comm, COMM_SIZE), 15);
	put_text(to, p->name, strlen(p->name), 16);
	to->len--;			/* values begin with a blank */
}

static void put_frames(struct tracing *t, const struct frame *frames,
		       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		buf_puts(&t->text, "        ");
		if (t->set.addresses)
			buf_fmt(&t->text, "%16llx ",
				(unsigned long long)frames[i].addr);
		escape(&t->text, frames[i].name, strlen(frames[i].name),
		       ESCAPE_TEXT);
		buf_putc(&t->text, '\n');
	}
}

static size_t frames_of(struct tracing *t, bool wanted, int32_t bytes)
{
	if (wanted && bytes < 0 && bytes != -EFAULT)
		t->untaken++;
	return wanted && bytes > 0 && bytes <= 8 * STACK_DEPTH ?
	       (size_t)bytes / 8 : 0;
}

static int put_stacks(struct tracing *t, const struct trace_event *e)
{
	struct stack_key key = { .tgid = e->tgid, .gen = e->gen };
	const char *start = (const char *)e;
	uint64_t user[STACK_DEPTH + 1];
	size_t nkernel = frames_of(t, t->set.kernel_stack, e->kernel_bytes);
	size_t nuser = frames_of(t, t->set.user_stack, e->user_bytes);
	struct stack stack = {
		.key = &key, .count = 1, .user = user, .nkernel = nkernel,
		.kernel = (const void *)(start + t->fetch.kernel_at),
	};
	struct named_stack named;
	int err;

	memcpy(user, start + t->fetch.user_at, 8 * nuser);
	/* The caller of a function that has no frame yet. */
	if (e->caller && nuser && (nuser < 2 || user[1] != e->caller)) {
		memmove(user + 2, user + 1, 8 * (nuser - 1));
		user[1] = e->caller;
		nuser++;
	}
	stack.nuser = nuser;
	err = naming_stack(&t->naming, &stack, &named);
	if (err)
		return err;
	put_frames(t, named.kernel, named.nkernel);
	put_frames(t, named.user, named.nuser);
	buf_putc(&t->text, '\n');
	return 0;
}

/* %K or %U: the name of one address. */
static void put_name(void *arg, const struct trace_event *e, char side,
		     uint64_t address, struct buf *to)
{
	struct tracing *t = arg;
	struct stack_key key = { .tgid = e->tgid, .gen = e->gen };
	struct stack stack = {
		.key = &key, .user = &address, .kernel = &address,
		.nkernel = side == 'K', .nuser = side == 'U',
	};
	struct named_stack named;
	const struct frame *frame;

	if (naming_stack(&t->naming, &stack, &named))
		return;			/* its buffers' error tells */
	frame = side == 'K' ? named.kernel : named.user;
	if (side == 'K' ? named.nkernel : named.nuser)
		escape(to, frame->name, strlen(frame->name), ESCAPE_TEXT);
	else
		buf_hex(to, address);
}

static bool has_text(const char *data, size_t len, const char *text)
{
	return memmem(data, len, text, strlen(text)) != NULL;
}

static int flush(struct tracing *t)
{
	if (t->text.err)
		return t->text.err;
	if (t->text.len)
		fwrite(t->text.data, 1, t->text.len, t->out.file);
	buf_reset(&t->text);
	return 0;
}

enum { TEXT_MOST = 1 << 20 };

static int put_event(void *arg, const void *data, size_t len)
{
	struct tracing *t = arg;
	const struct trace_event *e = data;
	size_t start = t->text.len, args;
	int err, pass;

	(void)len;
	if (t->done)
		return 0;
	if (t->set.name && !has_text(e->comm, strnlen(e->comm, COMM_SIZE),
				     t->set.name))
		return 0;
	pass = values_pass(&t->values, e);
	if (pass <= 0)
		return pass;
	put_head(t, e);
	args = t->text.len;
	err = values_print(&t->values, e, &t->text);
	if (err)
		return err;
	if (t->set.filter && !has_text(t->text.data + args,
				       t->text.len - args, t->set.filter)) {
		t->text.len = start;
		return 0;
	}
	buf_putc(&t->text, '\n');
	if (t->set.kernel_stack || t->set.user_stack)
		err = put_stacks(t, e);
	t->done = ++t->lines == t->set.max_events;
	return err ? err : t->text.len > TEXT_MOST ? flush(t) : t->text.err;
}

/* -- records --------------------------------------------------------------- */

static void end(struct tracing *t, int err)
{
	if (err == -ENOMEM)
		log_error("trace: out of memory");
	t->err = err;
	watch_end(&t->probing.watch);
}

static void take(void *arg, const void *data, size_t len)
{
	struct tracing *t = arg;
	const struct trace_event *e = data;
	struct seen_event seen;
	int err;

	if (t->err || t->done)
		return;
	if (len < t->fetch.size || e->type != EVENT_TRACE ||
	    e->probe >= t->probing.points.v.n) {
		t->malformed++;
		return;
	}
	if (t->fetch.user) {
		seen = (struct seen_event){
			.type = EVENT_SEEN, .tgid = e->tgid, .gen = e->gen,
			.tid = e->tid, .time = e->time,
		};
		naming_seen(&t->naming, &seen);
	}
	err = order_put(&t->order, e->time, data, len);
	if (err)
		end(t, err);
}

static void batch(void *arg, uint64_t time)
{
	struct tracing *t = arg;
	uint64_t until = time == UINT64_MAX ? time : time - ORDER_WINDOW_NS;
	int err;

	if (t->err)
		return;
	records_read(&t->records);
	err = order_take(&t->order, until, put_event, t);
	if (!err)
		err = flush(t);
	if (!err)
		err = out_flush(&t->out);
	if (err)
		end(t, err);
	else if (t->done)
		watch_end(&t->probing.watch);
}

/* -- what was lost --------------------------------------------------------- */

static uint64_t report_lost(struct tracing *t)
{
	const struct points *points = &t->probing.points;
	int fd = session_map(t->probing.watch.session, "lost");
	uint64_t all = 0, n, said = 0;

	for (uint32_t i = 0; i < points->v.n; i++)
		if (!bpf_map_lookup(fd, &i, &n))
			all += n;
	if (!all)
		return 0;
	log_notice("%llu hits lost: the ring was full",
		   (unsigned long long)all);
	for (uint32_t i = 0; i < points->v.n && said < 10; i++) {
		if (bpf_map_lookup(fd, &i, &n) || !n)
			continue;
		said++;
		log_notice("    %llu of %s", (unsigned long long)n,
			   points->v.v[i].name);
	}
	return all;
}

static void report_losers(struct tracing *t, uint64_t all)
{
	int fd = session_map(t->probing.watch.session, "losers");
	uint32_t tgid, next, said = 0;
	const uint32_t *from = NULL;
	uint64_t n;

	while (said < 10 && !bpf_map_next_key(fd, from, &next)) {
		tgid = next;
		from = &tgid;
		if (bpf_map_lookup(fd, &tgid, &n))
			continue;
		said++;
		all -= n < all ? n : all;
		log_notice("    %llu in process %u", (unsigned long long)n,
			   tgid);
	}
	if (all && said)
		log_notice("    %llu in others", (unsigned long long)all);
	log_hint("-b PAGES makes the ring larger");
}

static void report(struct tracing *t)
{
	uint64_t lost = report_lost(t);

	if (lost)
		report_losers(t, lost);
	if (t->values.unread)
		log_notice("values that could not be read, shown as ?: %llu",
			   (unsigned long long)t->values.unread);
	if (t->values.absent) {
		log_notice("strings that could not be read, shown as ?, for "
			   "their page was not in memory, or the address is "
			   "none: %llu", (unsigned long long)t->values.absent);
		log_hint("a string is in memory once it was used: probe a "
			 "place that comes after that");
	}
	if (t->values.cut)
		log_notice("strings that are longer than -Z %llu: %llu",
			   (unsigned long long)t->set.string_size,
			   (unsigned long long)t->values.cut);
	if (t->values.undecided)
		log_notice("hits left out, for what the filter asks for could "
			   "not be read: %llu",
			   (unsigned long long)t->values.undecided);
	if (t->untaken)
		log_notice("stacks that the kernel could not take: %llu",
			   (unsigned long long)t->untaken);
	if (t->malformed)
		log_notice("records that make no sense: %llu",
			   (unsigned long long)t->malformed);
	if (t->names)
		naming_report(&t->naming);
	watch_report(&t->probing.watch);
}

/* -- run ------------------------------------------------------------------- */

static int say_header(struct tracing *t)
{
	FILE *out = t->out.file;

	if (t->set.offset_time)
		fprintf(out, "%-*s ", t->set.unix_time ? 17 : 8, "TIME");
	if (t->set.day_time)
		fprintf(out, "%-8s ", "TIME");
	if (t->set.show_cpu)
		fprintf(out, "%-3s ", "CPU");
	fprintf(out, "%-7s %-7s %-15s %-16s %s\n", "PID", "TID", "COMM",
		"FUNC", "-");
	return out_flush(&t->out);
}

/* Room for hits that were not read yet: much, where there is memory. */
static uint32_t ring_size(const struct settings *set)
{
	uint64_t page = 4096, wanted = host_memory() / 64, size;

	if (set->pages)
		wanted = set->pages * page;
	else if (wanted > RING_MOST)
		wanted = RING_MOST;
	else if (wanted < RING_LEAST)
		wanted = RING_LEAST;
	for (size = page; size * 2 <= wanted; size *= 2)
		;
	return (uint32_t)size;
}

static int clocks_read(struct tracing *t)
{
	struct timespec now;

	if (clock_gettime(CLOCK_REALTIME, &now))
		return -errno;
	t->start = host_time();
	t->epoch = (int64_t)now.tv_sec * SECOND + now.tv_nsec -
		   (int64_t)t->start;
	t->second = -1;
	return 0;
}

static bool converts(const struct tracing *t, char conversion)
{
	for (size_t i = 0; i < t->nactions; i++)
		if (action_converts(&t->actions[i], conversion))
			return true;
	return false;
}

static int stacks_begin(struct tracing *t)
{
	bool stacks = t->fetch.kernel || t->fetch.user;
	int err;

	if (!stacks && !converts(t, 'K'))
		return 0;
	if (stacks && !feature_has(FEATURE_GET_STACK)) {
		log_error("trace: -K, -U, %%U: this kernel cannot hand over a "
			  "stack (that came with Linux 4.18)");
		return -EOPNOTSUPP;
	}
	err = naming_open(&t->naming, &t->set.names);
	if (err)
		return err;
	t->names = t->naming.probes = true;
	t->naming.events = !points_in_kernel(&t->probing.points);
	/* What lives too briefly for its mappings to be read. */
	if (t->fetch.user && !records_open(&t->records, t->naming.procs))
		records_watch(&t->records,
			      t->probing.watch.loop.epoll_fd);
	return 0;
}

/* Programs that follow processes are for those who need them. */
static void leave_out(struct tracing *t)
{
	struct watch *w = &t->probing.watch;

	w->images = t->fetch.user;
	if (!w->argv)
		session_without(w->session, "fork");
	if (w->argv || w->images)
		return;
	session_without(w->session, "exec");
	session_without(w->session, "exit");
}

static int begin(struct tracing *t)
{
	struct probing *p = &t->probing;
	int err = probing_open(p);

	if (err)
		return err;
	t->fetch.command = "trace";
	t->fetch.points = &p->points;
	t->fetch.string_size = (uint32_t)t->set.string_size;
	/* Names need all that is known of a process's images. */
	t->fetch.user = t->set.user_stack || converts(t, 'U');
	t->fetch.kernel = t->set.kernel_stack;
	for (size_t i = 0; i < t->set.strings.n; i++)
		t->fetch.strings |= 1u << (t->set.strings.v[i] - 1);
	t->values.fetch = &t->fetch;
	t->values.attach = &p->attach;
	t->values.name = put_name;
	t->values.arg = t;
	err = fetch_plan(&t->fetch);
	if (!err)
		err = stacks_begin(t);
	if (err)
		return err;
	fetch_set(&t->fetch, p->watch.session, ring_size(&t->set));
	leave_out(t);
	err = probing_load(p);
	if (!err)
		err = fetch_fill(&t->fetch, p->watch.session);
	return err;
}

/* A point whose values have types. */
struct typed {
	struct values *values;
	size_t point;
};

static int type_of(void *arg, const struct action_value *value,
		   struct number *type)
{
	const struct typed *t = arg;

	return values_number(t->values, t->point, value, type);
}

/* Types are known once the probe is set; until then the reader filters all. */
static int set_filter(struct tracing *t, uint32_t n)
{
	const struct action *action = fetch_action(&t->fetch, n);
	struct session *s = t->probing.watch.session;
	struct trace_probe *probe = &t->fetch.probes.v[n];
	struct typed typed = { &t->values, n };
	struct trace_filter filter;
	int err;

	if (!action || probe->fetch == FETCH_USDT)
		return 0;
	probe->compares = (uint8_t)prefilter_make(action, type_of, &typed,
						  &filter);
	if (!probe->compares)
		return 0;
	err = bpf_map_update(session_map(s, "filters"), &n, &filter);
	return err ? err : bpf_map_update(session_map(s, "probes"), &n, probe);
}

static int set_filters(struct tracing *t)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < t->probing.points.v.n; i++)
		err = set_filter(t, i);
	if (err)
		log_error("trace: cannot set the filter: %s", log_errno(err));
	return err;
}

static void detach(void *arg)
{
	struct tracing *t = arg;

	probing_detach(&t->probing);
}

static int trace(struct tracing *t)
{
	struct probing *p = &t->probing;
	int err = out_open(&t->out, NULL);

	if (!err)
		err = begin(t);
	if (!err)
		err = clocks_read(t);
	if (err)
		return err;
	p->attach.fields = true;
	err = attach_points(&p->attach, "hit", ATTACH_AS_SAID);
	if (err)
		return err;
	attach_report(&p->attach);
	err = set_filters(t);
	if (!err)
		err = say_header(t);
	if (!err)
		err = watch_run(&p->watch, detach);
	if (err)
		return err == -EPIPE ? 0 : err;
	report(t);
	err = out_close(&t->out);
	return t->err == -EPIPE || err == -EPIPE ? 0 : t->err ? t->err : err;
}

/* One argument: probes, and what is to be done at their hits. */
static int parse_probe(struct tracing *t, const struct spec_rules *rules,
		       const char *arg)
{
	struct action *action = &t->actions[t->nactions];
	struct probe_specs *specs = &t->probing.specs;
	size_t len = action_find(arg);
	struct buf probes = { 0 };
	int err = 0;

	buf_mem(&probes, arg, len);
	if (arg[len]) {
		t->nactions++;
		err = action_parse(action, rules->command, arg, len);
	}
	if (!err)
		err = specs_parse(buf_str(&probes), rules, specs);
	buf_free(&probes);
	while (!err && t->fetch.actions.n < specs->n) {
		const struct action **to = vec_push(&t->fetch.actions);

		if (!to)
			return -ENOMEM;
		*to = arg[len] ? action : NULL;
	}
	return err;
}

static int parse_probes(struct tracing *t, const struct spec_rules *rules,
			const struct opt_rest *rest)
{
	int err = 0;

	t->actions = mem_zalloc((size_t)rest->nargs * sizeof(*t->actions));
	if (!t->actions)
		err = -ENOMEM;
	for (int i = 0; !err && i < rest->nargs; i++)
		err = parse_probe(t, rules, rest->args[i]);
	if (err == -ENOMEM)
		log_error("trace: probes: out of memory");
	return err;
}

static int check_options(const struct settings *set)
{
	for (size_t i = 0; i < set->strings.n; i++) {
		if (set->strings.v[i])
			continue;
		log_error("trace: -s 0: arguments count from 1");
		return -EINVAL;
	}
	if (set->unix_time && !set->offset_time) {
		log_error("trace: -u: goes with -t");
		return -EINVAL;
	}
	return 0;
}

static int parse(struct tracing *t, int argc, char **argv)
{
	struct watch *w = &t->probing.watch;
	struct spec_rules rules = { .command = "trace" };
	struct opt_rest rest;
	int err = opt_parse("trace", options, &t->set, argc, argv, &rest);

	if (!err)
		err = debug_files_open(&t->set.names);
	if (err)
		return err;
	err = probing_wanted("trace", rest.nargs, "what to trace");
	if (err)
		return err;
	err = probing_no_command("trace", rest.args, rest.nargs);
	if (!err)
		err = check_options(&t->set);
	if (!err)
		err = parse_probes(t, &rules, &rest);
	if (err)
		return err;
	w->object = &object_trace;
	w->argv = rest.command;
	w->arg = t;
	w->record = take;
	w->batch = batch;
	return probing_parse(&t->probing, &t->set.common, &rules, NULL, 0);
}

static int run(int argc, char **argv)
{
	struct tracing t = {
		.set = { .common = PROBING_START, .string_size = STRING_SIZE },
	};
	int err = parse(&t, argc, argv), status = cmd_refused(err);

	if (!err)
		status = trace(&t) ? EXIT_FAIL : EXIT_OK;
	out_abandon(&t.out);
	probing_close(&t.probing);
	records_close(&t.records);
	if (t.names)
		naming_close(&t.naming);
	values_free(&t.values);
	fetch_free(&t.fetch);
	for (size_t i = 0; i < t.nactions; i++)
		action_free(&t.actions[i]);
	mem_free(t.actions);
	order_free(&t.order);
	buf_free(&t.text);
	vec_free(&t.set.strings);
	return status;
}

const struct cmd cmd_trace = {
	.name = "trace",
	.usage = "[options] PROBE... [-- COMMAND [ARGUMENTS]]",
	.summary = "a line for each hit of a probe, with its arguments",
	.about =
	"Prints a line for each hit of a function, tracepoint or USDT probe:\n"
	"process, thread, name, probe and arguments, those of all CPUs in the\n"
	"order of their times (as far as they are on their way for less than\n"
	"20 ms), at most 0.1 s after it. Numbers are shown by their types as\n"
	"far as the kernel (BTF), the tracepoint or the USDT probe tell them,\n"
	"else in hexadecimal; -s says which arguments are strings. At a\n"
	"return the value is argument 1. Ends at Ctrl-C, after -M lines or -d\n"
	"SECS, or when COMMAND or the processes of -p end. What sonde itself\n"
	"does is left out without -S. Options are those of bcc's trace.\n"
	"\n"
	"As there, a filter and a format may follow the probe:\n"
	"  'PROBE[(SIGNATURE)] [(FILTER)] [\"FORMAT\", VALUE, ...]'\n"
	"Both are of C's expressions on integers: arg1 to arg6, retval,\n"
	"args->FIELD of tracepoints, arguments that the signature names, $pid\n"
	"(the thread), $tgid, $uid, $gid, $cpu; STRCMP(\"text\", arg1) and\n"
	"$comm; casts. A format has %d %u %x %ld %lu %lx %lld %llu %llx %p %c\n"
	"%s, %K and %U (names of addresses), and widths. Comparisons with\n"
	"constants are made in the kernel.\n",
	.examples =
	"  sonde trace do_sys_openat2 -s 2        files that are opened\n"
	"  sonde trace r::do_sys_openat2          ... and whether that worked\n"
	"  sonde trace t:sched:sched_process_exec programs that are started\n"
	"  sonde trace -U -p 1234 -s 1 c:getenv   a library's function, and\n"
	"                                         who calls it\n"
	"  sonde trace -p 1234 'u:libc:*'         USDT probes, with arguments\n"
	"  sonde trace -T openat -s 2 -- make     a system call of a command\n"
	"  sonde trace 'c:malloc (arg1 > 4096) \"%d bytes\", arg1'\n"
	"  sonde trace 'r::do_sys_openat2 (retval < 0) \"failed %d\", retval'\n"
	"  sonde trace 't:block:block_rq_complete \"%d\", args->nr_sector'\n",
	.options = options,
	.object = &object_trace,
	.run = run,
	.check = check_probing,
};
