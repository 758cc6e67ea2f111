/* asm - shows and checks the programs that the commands put in the kernel. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "asm/check.h"
#include "asm/dump.h"
#include "asm/link.h"
#include "base/log.h"
#include "base/near.h"
#include "base/out.h"
#include "cmd/cmd.h"
#include "sys/feature.h"

struct settings {
	bool ring_buffer, perf_buffer, check;
};
enum { ONE_BUFFER = 1 };

static const struct opt options[] = {
	{ .name = "check", .kind = OPT_FLAG,
	  .at = offsetof(struct settings, check),
	  .help = "check the programs, without a kernel, instead" },
	{ .name = "ring-buffer", .kind = OPT_FLAG, .excludes = ONE_BUFFER,
	  .at = offsetof(struct settings, ring_buffer),
	  .help = "link as for Linux 5.8 and later" },
	{ .name = "perf-buffer", .kind = OPT_FLAG, .excludes = ONE_BUFFER,
	  .at = offsetof(struct settings, perf_buffer),
	  .help = "link as for earlier kernels" },
	{ 0 },
};

/* One line for each complaint. */
static void log_lines(struct buf *why)
{
	const char *line = buf_str(why), *end;

	for (; (end = strchr(line, '\n')); line = end + 1)
		log_error("%.*s", (int)(end - line), line);
}

static int show_prog(const struct bpf_object *object,
		     const struct prog_def *prog, const struct link_env *env,
		     struct buf *text)
{
	struct linked l;
	struct buf why = { 0 };
	int err = link_prog(object, prog, env, &l, &why);

	if (!err)
		dump_prog(prog, &l, text);
	log_lines(&why);
	buf_free(&why);
	linked_free(&l);
	return err;
}

static int show_object(const struct cmd *c, const struct link_env *env,
		       struct buf *text)
{
	int err = 0;

	dump_object(c->name, c->object, text);
	for (size_t i = 0; i < object_nprogs(c->object) && !err; i++)
		err = show_prog(c->object, &c->object->progs[i], env, text);
	return err;
}

static int list_object(const struct cmd *c, const struct link_env *env,
		       struct buf *text)
{
	int err = 0;

	for (size_t i = 0; i < object_nprogs(c->object) && !err; i++) {
		const struct prog_def *prog = &c->object->progs[i];
		struct linked l;
		struct buf why = { 0 };

		err = link_prog(c->object, prog, env, &l, &why);
		buf_fmt(text, "%-12s %-15s %-15s %5zu\n", c->name, prog->name,
			prog_kind_name(prog->kind), l.n);
		log_lines(&why);
		buf_free(&why);
		linked_free(&l);
	}
	return err;
}

static int check_object(const struct cmd *c, struct buf *text)
{
	struct buf why = { 0 };
	int err = object_check(c->object, &why);

	if (!err)
		buf_fmt(text, "%s: %zu programs checked\n", c->name,
			object_nprogs(c->object));
	log_lines(&why);
	buf_free(&why);
	return err;
}

static bool use_ringbuf(const struct settings *s)
{
	if (s->ring_buffer || s->perf_buffer)
		return s->ring_buffer;
	return feature_has(FEATURE_RINGBUF);
}

/* Of one command, or of every command that has a kernel half. */
static int make_text(const struct settings *s, const struct cmd *only,
		     struct buf *text)
{
	const struct link_env env = { .ringbuf = use_ringbuf(s) };
	int err = 0, first = 0;

	if (!only && !s->check)
		buf_fmt(text, "%-12s %-15s %-15s %5s\n", "COMMAND", "PROGRAM",
			"KIND", "INSNS");
	for (size_t i = 0; i < cmd_count; i++) {
		const struct cmd *c = cmd_all[i];

		if (!c->object || (only && c != only))
			continue;
		if (s->check)
			err = check_object(c, text);
		else if (only)
			err = show_object(c, &env, text);
		else
			err = list_object(c, &env, text);
		first = first ? first : err;
	}
	return first ? first : text->err;
}

/* The command whose programs are meant, NULL after an error. */
static const struct cmd *find_object(const char *name)
{
	const struct cmd *c = cmd_find(name);
	struct near near = { .wanted = name };

	if (c && c->object)
		return c;
	if (c) {
		log_error("%s: this command puts nothing in the kernel", name);
		return NULL;
	}
	for (size_t i = 0; i < cmd_count; i++)
		if (cmd_all[i]->object)
			near_offer(&near, cmd_all[i]->name);
	log_error("%s: no such command", name);
	if (near.best)
		log_hint("the nearest is: sonde asm %s", near.best);
	else
		log_hint("sonde asm lists the commands that have programs");
	return NULL;
}

static int print_text(struct buf *text)
{
	struct out out;
	int err = out_open(&out, NULL);

	if (err)
		return err;
	fwrite(text->data, 1, text->len, out.file);
	return out_close(&out);
}

static int run(int argc, char **argv)
{
	struct settings s = { 0 };
	struct opt_rest rest;
	struct buf text = { 0 };
	const struct cmd *only = NULL;
	int err, failed;

	if (opt_parse("asm", options, &s, argc, argv, &rest))
		return EXIT_USAGE;
	if (rest.nargs > 1 || rest.command) {
		log_error("asm: takes one command's name");
		return EXIT_USAGE;
	}
	if (rest.nargs && !(only = find_object(rest.args[0])))
		return EXIT_USAGE;
	failed = make_text(&s, only, &text);
	if (failed == -ENOMEM)
		log_error("asm: %s", log_errno(failed));
	err = text.err ? text.err : print_text(&text);
	buf_free(&text);
	return failed || err ? EXIT_FAIL : EXIT_OK;
}

const struct cmd cmd_asm = {
	.name = "asm",
	.usage = "[options] [COMMAND]",
	.summary = "show the BPF programs of a command as they are linked",
	.about = "Prints what a command puts in the kernel: its maps and "
		"constants, and its programs\nin the notation of the kernel's "
		"verifier, with names kept and the source line at\nthe side. "
		"Without COMMAND it lists all programs.\n",
	.examples =
		"  sonde asm                list every program and its size\n"
		"  sonde asm profile        read the programs of profile\n"
		"  sonde asm --check        check all programs offline\n",
	.options = options,
	.run = run,
};
