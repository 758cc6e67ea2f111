/* list - what can be probed: functions, tracepoints, USDT; loaded programs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/log.h"
#include "base/out.h"
#include "cmd/check.h"
#include "cmd/cmd.h"
#include "cmd/list_bpf.h"
#include "sym/debug_files.h"
#include "sym/elf.h"
#include "sys/tracefs.h"
#include "trace/point.h"

struct settings {
	struct name_options names;
	bool verbose, regex;
	uint64_t pid;
	const char *library;
};

static const struct opt options[] = {
	{ 'p', "pid", OPT_NUM, offsetof(struct settings, pid), "PID",
	  "what this process maps: its USDT probes, unless asked for others",
	  .min = 1, .max = 4194304 },
	{ 'l', "lib", OPT_TEXT, offsetof(struct settings, library), "LIB",
	  "the USDT probes of this library or program" },
	{ 'r', "regex", OPT_FLAG, offsetof(struct settings, regex), NULL,
	  "names are regular expressions, not globs" },
	{ 'v', "verbose", OPT_FLAG, offsetof(struct settings, verbose), NULL,
	  "fields, arguments, names of programs, too" },
	FILE_OPTIONS(offsetof(struct settings, names)),
	{ 0 },
};

/* One line of the result, and the first point that it stands for. */
struct row {
	const char *text;
	uint32_t point;
};

struct listing {
	struct settings set;
	struct probe_specs specs;
	struct points points;
	VEC(struct row) rows;
	struct out out;
};

/* What is asked for */

/* A plain name is looked up as well. */
static void widen(struct probe_specs *specs)
{
	for (size_t i = 0; i < specs->n; i++) {
		struct probe_spec *s = &specs->v[i];

		if (probe_is_kernel(s->kind) && !s->has_address &&
		    !s->offset && s->name.match == MATCH_EXACT)
			s->name.match = MATCH_GLOB;
	}
}

static bool is_there(const struct listing *l, const struct probe_specs *specs)
{
	struct points points;
	bool found;

	log_set_silent(true);
	found = !points_find(&points, "list", specs, (uint32_t)l->set.pid);
	log_set_silent(false);
	points_free(&points);
	return found;
}

/* Parse `arg`, and how it could be read as well, where both make sense: the one
 * that finds something counts, else the first. */
static int read_either(struct listing *l, const char *arg,
		       const struct spec_rules *rules, const char *other)
{
	struct probe_specs first = { 0 }, second = { 0 };
	struct spec_rules plain = *rules;
	int err = specs_parse(arg, rules, &first);

	plain.pairs = false;
	if (err)
		return err;
	widen(&first);
	log_set_silent(true);
	err = specs_parse(other, &plain, &second);
	log_set_silent(false);
	widen(&second);
	if (!err && first.v[0].kind != second.v[0].kind &&
	    !is_there(l, &first) && is_there(l, &second))
		arg = other, rules = &plain;
	specs_free(&first);
	specs_free(&second);
	return specs_parse(arg, rules, &l->specs);
}

/* "u:FILE:ARG", the file in quotes. */
static void put_usdt(struct buf *to, const char *file, const char *arg)
{
	const char *quote = file ? "\"" : "";

	buf_fmt(to, "usdt:%s", quote);
	for (; file && *file; file++) {
		if (*file == '"' || *file == '\\')
			buf_putc(to, '\\');
		buf_putc(to, *file);
	}
	buf_fmt(to, "%s:%s", quote, arg);
}

/* bcc's: with -l or -p, "x:y" is the probe y of the provider x. NULL: all. */
static int read_arg(struct listing *l, const char *arg)
{
	struct spec_rules rules = {
		.command = "list", .regex = l->set.regex, .pairs = true,
	};
	bool all = !arg, is_pair;
	struct buf usdt = { 0 };
	int err;

	if (all)
		arg = l->set.regex ? ".*:.*" : "*:*";
	is_pair = strchr(arg, ':') && strchr(arg, ':') == strrchr(arg, ':') &&
		  !strchr(arg, '/');
	rules.pairs = is_pair;		/* a file, with a '/' */
	if (!l->set.library && !(l->set.pid && is_pair))
		return read_either(l, arg, &rules, arg);
	put_usdt(&usdt, l->set.library, arg);
	err = usdt.err ? usdt.err : l->set.library || all ?
	      specs_parse(buf_str(&usdt), &rules, &l->specs) :
	      read_either(l, buf_str(&usdt), &rules, arg);
	buf_free(&usdt);
	return err;
}

static int read_args(struct listing *l, char **args, int nargs)
{
	int err = nargs ? 0 : read_arg(l, NULL);

	for (int i = 0; !err && i < nargs; i++)
		err = read_arg(l, args[i]);
	widen(&l->specs);
	return err;
}

/* What is found */

static int print_spec(const struct listing *l, const struct point *p,
		      struct buf *to)
{
	const struct point_file *f = l->points.files.v + p->file;
	struct probe_spec s = {
		.kind = p->kind,
		.target = { "", MATCH_EXACT },
		.provider = { "", MATCH_EXACT },
		.name = { p->name, MATCH_EXACT },
	};

	if (probe_is_user(p->kind))
		s.target.text = f->path;
	else if (probe_is_kernel(p->kind) && p->module)
		s.target.text = p->module;
	if (p->kind == PROBE_USDT) {
		s.provider.text = p->module;
		s.name.text = p->symbol;
	}
	if (p->kind == PROBE_TRACEPOINT)
		buf_puts(to, p->name);
	else
		spec_print(&s, to);
	return to->err;
}

static int by_text(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order ? order : x->point < y->point ? -1 : 1;
}

static int make_rows(struct listing *l)
{
	struct buf text = { 0 };
	int err = 0;

	for (size_t i = 0; !err && i < l->points.v.n; i++) {
		struct row *row = vec_push(&l->rows);

		buf_reset(&text);
		err = row ? print_spec(l, &l->points.v.v[i], &text) : -ENOMEM;
		if (err)
			break;
		row->point = (uint32_t)i;
		row->text = points_text(&l->points, buf_str(&text));
		err = row->text ? 0 : -ENOMEM;
	}
	buf_free(&text);
	if (!err && l->rows.n)
		qsort(l->rows.v, l->rows.n, sizeof(*l->rows.v), by_text);
	return err;
}

/* The fields of a tracepoint's record */

static void print_field(FILE *out, const struct tp_field *f)
{
	static const char *const where[] = { "", "__data_loc ", "__rel_loc " };
	struct buf text = { 0 };

	buf_fmt(&text, "%s%s%s %s", where[f->where], f->type,
		f->where == TP_FIXED ? "" : "[]", f->name);
	fprintf(out, "    ");
	if (f->where == TP_FIXED && f->count)
		buf_fmt(&text, "[%u]", f->count);
	else if (f->where == TP_FIXED && f->kind == TP_STRING)
		buf_puts(&text, "[]");
	buf_putc(&text, ';');
	fwrite(text.data, 1, text.len, out);
	fputc('\n', out);
	buf_free(&text);
}

static void print_fields(FILE *out, const struct point *p)
{
	struct buf path = { 0 };
	struct tp_format f;
	int err;

	buf_fmt(&path, "%s/%s", p->module, p->symbol);
	err = tracefs_format(buf_str(&path), &f);
	if (err)
		fprintf(out, "    unavailable: %s\n", log_errno(err));
	for (size_t i = f.ncommon; !err && i < f.nfields; i++)
		print_field(out, &f.fields[i]);
	tp_format_free(&f);
	buf_free(&path);
}

/* The locations of a USDT probe */

#if defined(__aarch64__) || defined(__riscv)
#define REGISTER_LETTER 'x'
#else
#define REGISTER_LETTER 'r'
#endif

static void put_register(FILE *out, unsigned n)
{
#if defined(__x86_64__)
	static const char *const names[] = {
		"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	};

	if (n < sizeof(names) / sizeof(*names)) {
		fputs(names[n], out);
		return;
	}
#elif defined(__aarch64__)
	if (n == 31) {
		fputs("sp", out);
		return;
	}
#endif
	if (n == USDT_PC)
		fputs("ip", out);
	else
		fprintf(out, "%c%u", REGISTER_LETTER, n);
}

static void put_memory(FILE *out, const struct usdt_arg *a)
{
	fputs("*(", out);
	if (a->base != USDT_NO_REG)
		put_register(out, a->base);
	if (a->index != USDT_NO_REG) {
		fputc('+', out);
		put_register(out, a->index);
		fprintf(out, "*%u", 1u << a->scale);
	}
	if (a->disp || (a->base == USDT_NO_REG && a->index == USDT_NO_REG))
		fprintf(out, "%+lld", (long long)a->disp);
	fputc(')', out);
}

static void print_arg(FILE *out, const struct usdt_arg *a, unsigned n)
{
	fprintf(out, "    argument #%u ", n);
	if (a->kind == USDT_NONE) {
		fprintf(out, "unavailable: %s\n", a->why);
		return;
	}
	fprintf(out, "%u %ssigned bytes @ ", a->size,
		a->is_signed ? "" : "un");
	if (a->kind == USDT_CONST)
		fprintf(out, "%lld", (long long)a->disp);
	else if (a->kind == USDT_MEM)
		put_memory(out, a);
	else
		put_register(out, a->base);
	fputc('\n', out);
}

/* A place as the file's symbols are numbered. */
static unsigned long long vaddr_of(const struct point_file *f, uint64_t offset)
{
	int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
	uint64_t vaddr = offset;
	struct elf *elf;

	if (fd >= 0 && !elf_open(fd, &elf)) {
		if (elf_vaddr(elf, offset, &vaddr))
			vaddr = offset;
		elf_close(elf);
	} else if (fd >= 0) {
		close(fd);
	}
	return vaddr;
}

static void print_location(const struct listing *l, const struct point *p,
			   size_t number)
{
	const struct point_file *f = &l->points.files.v[p->file];
	const struct usdt_args *args = &l->points.args.v[p->usdt];
	struct buf path = { 0 };

	escape(&path, f->path, strlen(f->path), ESCAPE_TEXT);
	fprintf(l->out.file, "  location #%zu %s 0x%llx\n", number,
		buf_str(&path), vaddr_of(f, p->offset));
	buf_free(&path);
	for (unsigned i = 0; i < args->n; i++)
		print_arg(l->out.file, &args->v[i], i + 1);
	if (args->more)
		fprintf(l->out.file, "    more arguments: not read\n");
}

static void print_row(struct listing *l, const struct row *row, size_t n)
{
	const struct point *p = &l->points.v.v[row->point];
	struct buf text = { 0 };

	escape(&text, row->text, strlen(row->text), ESCAPE_TEXT);
	fputs(buf_str(&text), l->out.file);
	buf_free(&text);
	if (l->set.verbose && p->kind == PROBE_USDT)
		fprintf(l->out.file, " [sema 0x%llx]", p->semaphore ? vaddr_of(
			&l->points.files.v[p->file], p->semaphore) : 0);
	fputc('\n', l->out.file);
	if (!l->set.verbose)
		return;
	if (p->kind == PROBE_TRACEPOINT)
		print_fields(l->out.file, p);
	for (size_t i = 0; p->kind == PROBE_USDT && i < n; i++)
		print_location(l, &l->points.v.v[row[i].point], i + 1);
}

static int print_rows(struct listing *l)
{
	int err = make_rows(l);

	if (err)
		log_error("list: out of memory");
	for (size_t i = 0, n; !err && i < l->rows.n; i += n) {
		for (n = 1; i + n < l->rows.n && !strcmp(l->rows.v[i].text,
						 l->rows.v[i + n].text); n++)
			;
		print_row(l, &l->rows.v[i], n);
	}
	return err;
}

static int list_points(struct listing *l)
{
	bool alone = l->set.pid && l->specs.n == 1 &&
		     l->specs.v[0].kind == PROBE_USDT;
	int err = points_find(&l->points, "list", &l->specs,
			      (uint32_t)l->set.pid);

	if (!err)
		err = print_rows(l);
	if (!err && l->points.left_out)
		log_notice("%zu more are left out: no probe can be set there",
			   l->points.left_out);
	if (err == -ENOENT && alone)
		log_hint("its functions: sonde list -p %llu 'p:c:*', or p:LIB:*"
			 " of another library",
			 (unsigned long long)l->set.pid);
	return err;
}

static int list(struct listing *l, bool programs)
{
	int err = out_open(&l->out, NULL);

	if (err)
		return err;
	err = programs ? list_bpf(&l->out, l->set.verbose) : list_points(l);
	if (err) {
		out_abandon(&l->out);
		return err;
	}
	err = out_close(&l->out);
	return err == -EPIPE ? 0 : err;
}

/* Called by the name of bcc's, it lists tracepoints without an argument. */
static bool is_tplist(const char *name)
{
	const char *slash = strrchr(name, '/');

	return !strcmp(slash ? slash + 1 : name, "tplist");
}

static int parse(struct listing *l, int argc, char **argv, bool *programs)
{
	bool tplist = is_tplist(argv[0]);
	struct opt_rest rest;
	int err = opt_parse("list", options, &l->set, argc, argv, &rest);

	if (!err)
		err = debug_files_open(&l->set.names);
	if (err)
		return err;
	if (rest.command) {
		log_error("list: -- COMMAND: takes patterns only");
		return -EINVAL;
	}
	*programs = !rest.nargs && !l->set.pid && !l->set.library && !tplist;
	return *programs ? 0 : read_args(l, rest.args, rest.nargs);
}

static int run(int argc, char **argv)
{
	struct listing l = { 0 };
	bool programs = false;
	int err = parse(&l, argc, argv, &programs), status = cmd_refused(err);

	if (!err)
		status = list(&l, programs) ? EXIT_FAIL : EXIT_OK;
	debug_files_report();
	debug_files_close();
	points_free(&l.points);
	specs_free(&l.specs);
	vec_free(&l.rows);
	return status;
}

static void check(struct check *c)
{
	int err = check_fork_tracepoint_error();

	c->rung = "tracefs, kernel names, files";
	if (err)
		check_failed(c, "tracepoints", OP_TRACEFS, err,
			     advice_reason(OP_TRACEFS, err));
	check_other_processes(c);
}

const struct cmd cmd_list = {
	.name = "list",
	.aliases = { "tplist", "bpflist" },
	.usage = "[options] [PROBE...]",
	.summary = "what can be probed; the BPF programs that are loaded",
	.about =
	"Lists the tracepoints, functions and USDT probes that match each\n"
	"PROBE; without one, the loaded BPF programs and maps by process.\n"
	"\"x:y\" is the tracepoint y of x, or the function y of library x.\n"
	"Also called tplist and bpflist, as in bcc.\n",
	.examples =
	"  sonde list 'sched:*'             tracepoints\n"
	"  sonde list -v sched:sched_switch and its fields\n"
	"  sonde list 'vfs_*'               functions of the kernel\n"
	"  sonde list c:'*alloc*'           functions of the C library\n"
	"  sonde list -v -l ./server        USDT probes of a program\n"
	"  sonde list -p 1234               USDT probes of a process\n"
	"  sonde list -p 1234 'p:ssl:*read*'  functions of what it maps\n"
	"  sonde list -v                    loaded BPF programs, by name\n",
	.options = options,
	.run = run,
	.check = check,
};
