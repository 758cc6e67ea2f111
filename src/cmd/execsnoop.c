/* execsnoop - a line for each program that is executed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/log.h"
#include "base/out.h"
#include "base/pattern.h"
#include "bpf_object.h"
#include "cmd/check.h"
#include "cmd/cmd.h"
#include "cmd/probing.h"
#include "sym/names.h"
#include "sys/bpf.h"
#include "sys/btf.h"
#include "sys/feature.h"
#include "sys/fs.h"
#include "sys/host.h"
#include "sys/state.h"
#include "sys/tracefs.h"
#include "trace/execs.h"

extern const struct bpf_object object_execsnoop;

enum {
	LOOPS_SINCE = 0x503,		/* Linux 5.3 */
	AREA_MAX = 2 << 20,		/* the kernel allows 6 MiB at most */
	ARGS_MAX = 1000,
	CMDLINE_MAX = 2 << 20,
	PASSWD_MAX = 1 << 20,
	WINDOW_MS = 50,			/* for records of all CPUs */
};

struct settings {
	struct probing_options common;
	uint64_t max_args, max_bytes, ppid;
	const char *user, *name, *line;
	bool time, timestamp, fails, quote, print_uid, count;
};

#define AT(member) offsetof(struct settings, member)

static const struct opt options[] = {
	{ 'T', "time", OPT_FLAG, AT(time), NULL,
	  "the time of day of each, HH:MM:SS" },
	{ 't', "timestamp", OPT_FLAG, AT(timestamp), NULL,
	  "seconds since the start" },
	{ 'x', "fails", OPT_FLAG, AT(fails), NULL,
	  "calls that fail, too (on x86_64 and aarch64 not those of 32-bit "
	  "programs)" },
	{ 'q', "quote", OPT_FLAG, AT(quote), NULL,
	  "arguments in quotation marks" },
	{ 'n', "name", OPT_TEXT, AT(name), "REGEX",
	  "those whose PCOMM has a match" },
	{ 'l', "line", OPT_TEXT, AT(line), "REGEX",
	  "those whose ARGS have a match" },
	{ 'u', "uid", OPT_TEXT, AT(user), "USER",
	  "those of this user, a name or a number" },
	{ 'U', "print-uid", OPT_FLAG, AT(print_uid), NULL, "a column UID" },
	{ 'P', "ppid", OPT_NUM, AT(ppid), "PID",
	  "children of this process only", .min = 1, .max = 4194304 },
	{ 0, "max-args", OPT_NUM, AT(max_args), "N",
	  "arguments that are shown (20)", .min = 1, .max = ARGS_MAX },
	{ 0, "max-bytes", OPT_NUM, AT(max_bytes), "N",
	  "bytes of them that are read (4096)", .min = 1, .max = AREA_MAX },
	{ 'c', "count", OPT_FLAG, AT(count), NULL,
	  "no lines: how often each program was executed, at the end" },
	PROBING_OPTIONS(struct settings, common, 'p', 0, 0, 0, 0, 'd', 'v'),
	{ 0 },
};

struct snooping {
	struct settings set;
	struct probing probing;
	struct pattern *name, *line;
	uint64_t uid;			/* + 1; 0 = any */
	bool has_fields;		/* the kernel tells where they are */
	bool has_calls;			/* execve's tracepoints are used */
	bool is_ring, is_initial;
	struct execs execs;
	struct out out;
	struct buf text;
	struct names programs;		/* --count */
	VEC(uint64_t) counts;		/* by program */
	uint64_t unread, from_proc, unknown, orphans;
	int err;
};

/* What the kernel did not tell */

/* Field 4 of /proc/PID/stat; 0 when it is gone. */
static uint32_t parent_of(uint32_t pid)
{
	struct buf text = { 0 };
	uint64_t ppid = 0;
	char path[32];
	const char *p;

	snprintf(path, sizeof(path), "%u/stat", pid);
	if (!fs_read(FS_PROC, path, 4096, &text)) {
		p = strrchr(buf_str(&text), ')');  /* the name: anything */
		if (p && strlen(p) > 4)
			num_dec(p + 4, p + strlen(p), &ppid);
	}
	buf_free(&text);
	return (uint32_t)ppid;
}

/* Its arguments as they are by now, '\0' after each. */
static void read_cmdline(struct snooping *s, uint32_t pid, struct buf *to)
{
	char path[32];

	snprintf(path, sizeof(path), "%u/cmdline", pid);
	if (fs_read(FS_PROC, path, CMDLINE_MAX, to) || !to->len)
		s->unknown++;
	else
		s->from_proc++;
	buf_putc(to, '\0');
}

/* One line */

struct line {
	struct snooping *s;
	struct buf *to;
	uint64_t left;			/* arguments that may be shown */
	bool first;
};

static void put_raw(struct line *l, const char *text, bool quote)
{
	if (!l->first)
		buf_putc(l->to, ' ');
	l->first = false;
	if (quote)
		buf_putc(l->to, '"');
	for (; quote && *text; text++) {
		if (*text == '"')
			buf_putc(l->to, '\\');
		buf_putc(l->to, *text);
	}
	buf_puts(l->to, text);
	if (quote)
		buf_putc(l->to, '"');
}

/* False: no more are shown, but there are. */
static bool put_arg(struct line *l, const char *text)
{
	if (!l->left) {
		put_raw(l, "...", false);
		return false;
	}
	l->left--;
	put_raw(l, text, l->s->set.quote);
	return true;
}

static void put_args(struct snooping *s, const struct exec *x, struct buf *to)
{
	struct line l = { s, to, s->set.max_args, true };
	struct buf late = { 0 };
	bool more = true;

	if (!x->file && !x->ret && !s->has_fields) {
		read_cmdline(s, x->pid, &late);
		for (size_t at = 0; more && at + 1 < late.len;
		     at += strlen(late.data + at) + 1)
			more = put_arg(&l, late.data + at);
	} else {
		more = put_arg(&l, x->file ? x->file : "?");
		for (size_t i = 0; more && i < x->args.n; i++)
			more = put_arg(&l, x->args.v[i]);
		if (more && x->cut)
			put_raw(&l, "...", false);
	}
	if (late.err)
		s->err = late.err;
	buf_free(&late);
}

static void put_time(struct snooping *s, const struct exec *x)
{
	uint64_t ago = host_time() - x->time;
	time_t then = time(NULL) - (time_t)(ago / 1000000000);
	char text[16] = "?";
	struct tm tm;

	if (s->set.time) {
		if (localtime_r(&then, &tm))
			strftime(text, sizeof(text), "%H:%M:%S", &tm);
		buf_fmt(&s->text, "%-9s", text);
	}
	if (s->set.timestamp)
		buf_fmt(&s->text, "%-8.3f ", (double)(int64_t)
			(x->time - s->probing.watch.started) / 1e9);
}

static void put_line(struct snooping *s, const struct exec *x, uint32_t ppid,
		     struct buf *args)
{
	struct buf comm = { 0 };

	buf_reset(&s->text);
	put_time(s, x);
	if (s->set.print_uid)
		buf_fmt(&s->text, "%-6u ", x->uid);
	escape(&comm, x->comm, strlen(x->comm), ESCAPE_TEXT);
	buf_fmt(&s->text, "%-16s %-7u ", buf_str(&comm), x->pid);
	if (ppid)
		buf_fmt(&s->text, "%-7u ", ppid);
	else
		buf_fmt(&s->text, "%-7s ", "?");
	buf_fmt(&s->text, "%3d ", x->ret);
	escape(&s->text, args->data, args->len, ESCAPE_TEXT);
	buf_putc(&s->text, '\n');
	if (comm.err || s->text.err)
		s->err = -ENOMEM;
	else
		fwrite(s->text.data, 1, s->text.len, s->out.file);
	buf_free(&comm);
}

static void count(struct snooping *s, const struct exec *x)
{
	const char *name = x->file ? x->file : x->comm;
	int64_t id = names_put(&s->programs, name, strlen(name));

	if (id == (int64_t)s->counts.n) {
		uint64_t *slot = vec_push(&s->counts);

		if (slot)
			*slot = 0;
	}
	if (id < 0 || (size_t)id >= s->counts.n)
		s->err = -ENOMEM;
	else
		s->counts.v[id]++;
}

static void show(void *arg, const struct exec *x)
{
	struct snooping *s = arg;
	struct buf args = { 0 };
	uint32_t ppid = s->is_initial ? x->ppid : 0;

	if (s->err || (x->ret && !s->set.fails) ||
	    (s->name && !pattern_test(s->name, x->comm)))
		return;
	if (!ppid && (s->set.ppid || !s->set.count))
		ppid = parent_of(x->pid);
	if (s->set.ppid && s->set.ppid != ppid) {
		s->orphans += !ppid;
		return;
	}
	if (!s->set.count || s->line)
		put_args(s, x, &args);
	if (!s->line || pattern_test(s->line, buf_str(&args))) {
		s->unread += x->unread;
		if (s->set.count)
			count(s, x);
		else
			put_line(s, x, ppid, &args);
	}
	if (args.err)
		s->err = args.err;
	buf_free(&args);
}

/* The trace */

static void record(void *arg, const void *data, size_t len)
{
	struct snooping *s = arg;

	execs_put(&s->execs, data, len);
}

static void take(struct snooping *s, uint64_t before)
{
	execs_take(&s->execs, before, show, s);
	if (!s->err)
		s->err = s->execs.err;
	if (!s->err && out_flush(&s->out))
		s->err = -EPIPE;
}

static void turn(void *arg)
{
	struct snooping *s = arg;

	if (!s->execs.parts.n)
		return;
	take(s, s->is_ring ? UINT64_MAX :
		host_time() - WINDOW_MS * 1000000ull);
	if (s->err)
		watch_end(&s->probing.watch);
}

static const char *const calls[] = {
	"syscalls/sys_enter_execve", "syscalls/sys_enter_execveat",
	"syscalls/sys_exit_execve", "syscalls/sys_exit_execveat",
};
static const char *const call_progs[] = {
	"enter", "enter_at", "leave", "leave_at",
};
enum { CALLS = sizeof(calls) / sizeof(*calls) };

static int calls_error(void)
{
	int id = 0;

	for (size_t i = 0; id >= 0 && i < CALLS; i++)
		id = tracefs_id(calls[i]);
	return id < 0 ? id : 0;
}

static const char *const fields[] = {
	"task_struct.real_parent", "task_struct.tgid", "task_struct.mm",
	"mm_struct.arg_start", "mm_struct.arg_end", "linux_binprm.filename",
	"linux_binprm.interp",
};
enum { FIELDS = sizeof(fields) / sizeof(*fields) };

/* 0, or why the kernel does not tell where arguments are. */
static int fields_error(void)
{
	struct btf *b = NULL;
	struct btf_place place;
	int err = btf_open(NULL, &b);

	for (size_t i = 0; !err && i < FIELDS; i++)
		err = btf_field(b, fields[i], &place);
	btf_close(b);
	return err;
}

static int check_kernel(void)
{
	struct state state;

	state_read(&state);
	if (feature_has(FEATURE_RAW_TRACEPOINT) &&
	    (!state.kernel || state.kernel >= LOOPS_SINCE))
		return 0;
	log_error("execsnoop: BPF programs of this kernel cannot read "
		  "arguments in a loop (Linux 5.3 can)");
	return -EOPNOTSUPP;
}

/* Which programs: what an exec tells by itself, and execve's tracepoints where
 * it does not or where calls fail. */
static int choose(struct snooping *s)
{
	struct session *session = s->probing.watch.session;
	int err = calls_error();

	s->has_fields = !fields_error();
	s->has_calls = !err && (s->set.fails || !s->has_fields);
	if (err && s->set.fails) {
		log_error("execsnoop: -x: the tracepoints of execve: %s",
			  advice_reason(OP_TRACEFS, err));
		advice(OP_TRACEFS, err);
		return err;
	}
	for (size_t i = 0; !s->has_calls && i < CALLS; i++)
		session_without(session, call_progs[i]);
	/* Programs that are told not to ask for them name them all the same. */
	for (size_t i = 0; !s->has_fields && i < FIELDS; i++)
		session_offset(session, fields[i], 0);
	if (!s->probing.watch.argv) {
		session_without(session, "exit");
		session_without(session, "fork");
	}
	return 0;
}

static void set_consts(struct snooping *s)
{
	struct session *session = s->probing.watch.session;
	bool args = !s->set.count || s->line;
	uint64_t bytes = args ? s->set.max_bytes : 0;

	session_const(session, "fields", s->has_fields);
	session_const(session, "early", s->has_calls && !s->has_fields);
	session_const(session, "by_uid", s->uid);
	session_const(session, "max_bytes", bytes);
	session_const(session, "rounds",
		      (bytes + EXEC_DATA - 1) / EXEC_DATA + 1);
	/* One more than is shown tells that there are more. */
	session_const(session, "max_args", args ? s->set.max_args + 1 : 0);
}

static int load(struct snooping *s)
{
	struct probing *p = &s->probing;
	struct pid_namespace ns = { .initial = true };
	struct btf *types = NULL;
	int err = check_kernel();

	btf_open(NULL, &types);		/* once for all that look there */
	if (!err)
		err = choose(s);
	if (!err) {
		set_consts(s);
		host_pid_namespace(&ns);
		s->is_initial = ns.initial;
		err = probing_load(p);
	}
	btf_close(types);
	if (err)
		return err;
	s->is_ring = session_channel(p->watch.session)->is_ring;
	p->watch.started = host_time();
	err = session_attach(p->watch.session);
	if (err) {
		log_error("execsnoop: cannot watch executions: %s",
			  advice_reason(OP_TRACEFS, err));
		advice(OP_TRACEFS, err);
	}
	return err;
}

/* The end */

static void report_loss(uint64_t n, const char *what)
{
	if (n)
		log_notice("%llu %s", (unsigned long long)n, what);
}

static uint64_t missed(const struct session *session)
{
	uint64_t n = session_missed(session, "execution");

	for (size_t i = 0; i < CALLS; i++)
		n += session_missed(session, call_progs[i]);
	return n;
}

static void report(struct snooping *s)
{
	const struct watch *w = &s->probing.watch;
	int fd = session_map(w->session, "counters");
	struct channel *channel = session_channel(w->session);
	uint64_t n[COUNTER_MAX] = { 0 };

	for (uint32_t i = 0; i < COUNTER_MAX; i++)
		bpf_map_lookup(fd, &i, &n[i]);
	if (channel->lost > n[COUNTER_EVENT_LOST])
		n[COUNTER_EVENT_LOST] = channel->lost;
	watch_report(w);
	report_loss(n[COUNTER_EVENT_LOST], "records lost, the ring to user "
		    "space was full: executions or arguments are missing");
	if (!n[COUNTER_EVENT_LOST])
		report_loss(s->execs.lost, "records missing or making no "
			    "sense");
	report_loss(missed(w->session), "executions or calls not seen, their "
		    "CPU was at work on another: some may be missing");
	report_loss(s->orphans, "executions left out, their process was gone "
		    "before its parent could be read from /proc");
	report_loss(s->unread, "arguments not read, they were not in memory");
	report_loss(s->from_proc, "lines of arguments read from /proc after "
		    "the fact: they may be those of a later program");
	report_loss(s->unknown, "executions whose arguments are not known, "
		    "the process was gone");
	if (!w->argv)
		report_loss(n[COUNTER_OUTSIDE], "executions outside this pid "
			    "namespace, left out");
}

struct row {
	const char *name;
	uint64_t count;
};

static int by_count(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int print_counts(struct snooping *s)
{
	size_t n = s->counts.n;
	struct row *rows = mem_zalloc((n + 1) * sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct row){ names_text(&s->programs, (uint32_t)i),
					s->counts.v[i] };
	qsort(rows, n, sizeof(*rows), by_count);
	fprintf(s->out.file, "%-36s %8s\n", "PROGRAM", "COUNT");
	for (size_t i = 0; i < n; i++) {
		buf_reset(&s->text);
		escape(&s->text, rows[i].name, strlen(rows[i].name),
		       ESCAPE_TEXT);
		fprintf(s->out.file, "%-36s %8llu\n", buf_str(&s->text),
			(unsigned long long)rows[i].count);
	}
	mem_free(rows);
	return 0;
}

static void print_head(struct snooping *s)
{
	fprintf(s->out.file, "%s%s%s%-16s %-7s %-7s %3s %s\n",
		s->set.time ? "TIME     " : "",
		s->set.timestamp ? "TIME(s)  " : "",
		s->set.print_uid ? "UID    " : "",
		"PCOMM", "PID", "PPID", "RET", "ARGS");
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
	if (!s->set.count)
		print_head(s);
	err = out_flush(&s->out);
	if (!err)
		err = watch_run(&s->probing.watch, NULL);
	take(s, UINT64_MAX);
	if (!err)
		err = s->err;
	if (!err && s->set.count)
		err = print_counts(s);
	if (err == -ENOMEM)
		log_error("execsnoop: out of memory");
	report(s);
	return err ? err : out_close(&s->out);
}

/* The options */

/* A user's number by the name in a passwd file; -ENOENT. */
static int64_t user_in(const char *text, const char *name)
{
	size_t n = strlen(name);
	uint64_t uid;

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (!strncmp(text, name, n) && text[n] == ':') {
			const char *p = text + n + 1;

			p += strcspn(p, ":\n");
			if (*p == ':' && num_dec(p + 1, p + strlen(p), &uid) &&
			    uid < UINT32_MAX)
				return (int64_t)uid;
		}
	}
	return -ENOENT;
}

static int64_t user_named(const char *name)
{
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	char *text = mem_zalloc(PASSWD_MAX + 1);
	int64_t uid = -ENOENT;
	ssize_t n;

	if (fd >= 0 && text) {
		n = read(fd, text, PASSWD_MAX);
		text[n > 0 ? n : 0] = '\0';
		uid = user_in(text, name);
	}
	mem_free(text);
	if (fd >= 0)
		close(fd);
	return uid;
}

static int parse_user(struct snooping *s)
{
	int64_t uid;

	if (!s->set.user)
		return 0;
	if (!num_u64(s->set.user, 0, UINT32_MAX - 1, &s->uid)) {
		s->uid++;
		return 0;
	}
	uid = user_named(s->set.user);
	if (uid < 0) {
		log_error("execsnoop: --uid %s: no such user", s->set.user);
		return -EINVAL;
	}
	s->uid = (uint64_t)uid + 1;
	return 0;
}

/* A match anywhere in the text. */
static int parse_pattern(const char *text, struct pattern **out)
{
	static const char before[] = "(.|\n)*(", after[] = ")(.|\n)*";
	struct buf whole = { 0 };
	struct pattern_fault fault;
	int err;

	if (!text)
		return 0;
	buf_fmt(&whole, "%s%s%s", before, text, after);
	err = whole.err ? whole.err :
	      pattern_compile(buf_str(&whole), out, &fault);
	buf_free(&whole);
	if (err == -EINVAL) {
		size_t at = fault.at < sizeof(before) ? 0 :
			    fault.at - (sizeof(before) - 1);

		log_error_at("execsnoop", text, at < strlen(text) ? at :
			     strlen(text), fault.why);
	}
	return err;
}

static int parse(struct snooping *s, int argc, char **argv)
{
	struct watch *w = &s->probing.watch;
	struct num_list parents = { .v = &s->set.ppid, .n = 1 };
	struct spec_rules rules = { .command = "execsnoop" };
	struct opt_rest rest;
	int err = opt_parse("execsnoop", options, &s->set, argc, argv, &rest);

	if (err)
		return err;
	if (rest.nargs) {
		log_error("execsnoop: %s: takes options and -- COMMAND only",
			  rest.args[0]);
		return -EINVAL;
	}
	w->object = &object_execsnoop;
	w->argv = rest.command;
	w->arg = s;
	w->turn = turn;
	w->record = record;
	err = parse_user(s);
	if (!err && s->set.ppid &&
	    !target_exist("execsnoop", "-P", &parents, false))
		err = -ESRCH;
	if (!err)
		err = parse_pattern(s->set.name, &s->name);
	if (!err)
		err = parse_pattern(s->set.line, &s->line);
	return err ? err : probing_parse(&s->probing, &s->set.common, &rules,
					 NULL, 0);
}

static int run(int argc, char **argv)
{
	struct snooping s = {
		.set = { .common = PROBING_START, .max_args = 20,
			 .max_bytes = EXEC_DATA },
	};
	int err = parse(&s, argc, argv), status = cmd_refused(err);

	if (!err) {
		err = snoop(&s);
		status = err && err != -EPIPE ? EXIT_FAIL : EXIT_OK;
	}
	probing_close(&s.probing);
	pattern_free(s.name);
	pattern_free(s.line);
	execs_free(&s.execs);
	names_free(&s.programs);
	vec_free(&s.counts);
	buf_free(&s.text);
	return status;
}

static void check(struct check *c)
{
	int err = feature_error(FEATURE_BPF);

	c->works = !err && feature_has(FEATURE_RAW_TRACEPOINT);
	c->rung = c->works ? "arguments from memory" : "none";
	if (err)
		check_failed(c, "BPF", OP_BPF, err, advice_reason(OP_BPF, err));
	else if (!c->works)
		check_missing(c, "raw tracepoints", "Linux 4.17 has them");
	if (c->works && fields_error()) {
		c->rung = calls_error() ? "arguments from /proc"
					: "arguments from the calls";
		check_missing(c, "the kernel's types",
			      "CONFIG_DEBUG_INFO_BTF");
	}
	if (c->works && calls_error())
		check_failed(c, "calls that fail (-x)", OP_TRACEFS,
			     calls_error(), "CONFIG_FTRACE_SYSCALLS");
}

const struct cmd cmd_execsnoop = {
	.name = "execsnoop",
	.usage = "[options] [-- COMMAND [ARGUMENTS]]",
	.summary = "a line for each program that is executed",
	.about =
	"Prints each execution of a program with its file and arguments, also\n"
	"of those that live for a moment only. Ends at Ctrl-C, after -d SECS,\n"
	"or when COMMAND ends, whose descendants alone are shown then.\n"
	"Options and columns are those of bcc's execsnoop. \"...\" stands for\n"
	"what is not shown, \"?\" for what could not be read.\n",
	.examples =
	"  sonde execsnoop -T             what is executed, with the time\n"
	"  sonde execsnoop -x -l openssl  failures, too; \"openssl\" in ARGS\n"
	"  sonde execsnoop -- make        everything that a build runs\n"
	"  sonde execsnoop -c -d 60       how often each program\n",
	.options = options,
	.object = &object_execsnoop,
	.run = run,
	.check = check,
};
