/* report - names what --raw recorded, on any machine: text, folded, SVG. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/raw_names.h"
#include "cmd/stack_output.h"
#include "sys/host.h"

struct settings {
	struct name_options names;
	const char *output, *title;
	uint64_t top;
	bool folded, verbose;
	struct stack_options how;
};

#define AT(member) offsetof(struct settings, member)

static const struct opt options[] = {
	NAME_OPTIONS(AT(names)),
	{ 'd', "delimited", OPT_FLAG, AT(how.delimited), NULL,
	  "a line (-- or -) between kernel and user stack" },
	{ 'a', "annotations", OPT_FLAG, AT(how.annotate), NULL,
	  "_[k] behind kernel functions" },
	{ 'A', "address", OPT_FLAG, AT(how.addresses), NULL,
	  "addresses before the names: in a file as nm shows them" },
	{ 'P', "perpid", OPT_FLAG, AT(how.pids), NULL,
	  "\"COMM-PID\" with -f, in .svg" },
	{ 'f', "folded", OPT_FLAG, AT(folded), NULL,
	  "one line a stack: what `sonde flame` reads" },
	{ 'o', "output", OPT_TEXT, AT(output), "FILE",
	  "write .svg (flame graph), .folded, .txt, .json or .pb" },
	{ 0, "top", OPT_NUM, AT(top), "N", "print the N largest", .min = 1 },
	{ 0, "title", OPT_TEXT, AT(title), "TEXT",
	  "title of the flame graph" },
	{ 'v', "verbose", OPT_FLAG, AT(verbose), NULL, "say what it does" },
	{ 0 },
};

struct report {
	struct settings set;
	struct raw_names names;
	struct stack_output output;
	uint64_t rows;
};

static int out_of_memory(void)
{
	log_error("report: out of memory");
	return -ENOMEM;
}

/* The head of the first file says how all are shown. */
static int take_head(void *arg, const struct raw_head *head)
{
	struct report *p = arg;
	struct stack_output *o = &p->output;
	struct graph_options like = { .title = p->set.title };

	o->how = p->set.how;
	raw_names_like(head, &like, &o->how);
	o->top = p->set.top;
	o->period = like.period;
	o->title = like.title;
	o->unit = like.unit;
	o->countname = like.countname;
	return 0;
}

static int take_row(void *arg, const struct stack_row *row,
		    const uint64_t *values)
{
	struct report *p = arg;

	(void)values;
	return stack_output_add(&p->output, row);
}

static int read_file(void *arg, int fd, const char *name)
{
	struct report *p = arg;
	struct raw_reader r;
	int err = raw_names_read(&p->names, fd, NULL, 0, name, &r);

	p->rows += r.rows;
	raw_read_free(&r);
	return err == -ENOMEM ? out_of_memory() : err;
}

static int write_result(struct report *p)
{
	struct stack_output *o = &p->output;
	struct buf line = { 0 };
	int err = raw_names_subtitle(&p->names, &line);

	o->subtitle = buf_str(&line);
	if (o->format == STACK_TEXT && !p->set.output)
		fwrite(p->names.about.data, 1, p->names.about.len,
		       o->out.file);
	err = err ? out_of_memory() : stack_output_write(o);
	buf_free(&line);
	return err;
}

static int report(struct report *p, const struct opt_rest *rest)
{
	const struct settings *set = &p->set;
	int err = stack_output_open(&p->output, "report", set->output,
				    set->folded);

	if (err)
		return err;
	host_raise_files();
	err = raw_names_open(&p->names, &set->names);
	if (err)
		return err == -ENOMEM ? out_of_memory() : err;
	p->names.head = take_head;
	p->names.row = take_row;
	p->names.arg = p;
	for (int i = 0; !err && i < rest->nargs; i++)
		err = cmd_read(rest->args[i], read_file, p);
	if (!err && p->names.partly && !p->rows)
		err = -ENODATA;
	if (!err)
		err = write_result(p);
	if (!err)
		raw_names_report(&p->names);
	return err || !p->names.partly ? err : -ENODATA;
}

static int run(int argc, char **argv)
{
	struct report p = { 0 };
	struct opt_rest rest;
	int err = opt_parse("report", options, &p.set, argc, argv, &rest);

	if (err)
		return EXIT_USAGE;
	if (rest.command || !rest.nargs) {
		log_error("report: %s", rest.command ? "takes no command; name "
			  "files without --" : "no file: what was --raw "
			  "written to?");
		return EXIT_USAGE;
	}
	log_set_verbose(p.set.verbose);
	err = report(&p, &rest);
	stack_output_close(&p.output);
	raw_names_close(&p.names);
	return err && err != -EPIPE ? EXIT_FAIL : EXIT_OK;
}

const struct cmd cmd_report = {
	.name = "report",
	.usage = "[options] FILE...",
	.summary = "names what --raw recorded: text, folded or flame graph",
	.about =
	"Reads what profile, stackcount, offcputime and memleak wrote with\n"
	"--raw FILE, on this machine or any other, and shows it as they would\n"
	"have, with names. Several files are added up; - is standard input.\n"
	"A file that was cut off on its way is used up to there; the exit\n"
	"status is 1 then.\n\n"
	"Functions of programs and libraries are named by files that have the\n"
	"recorded build-id: below --symfs by their path or wherever they lie,\n"
	"in --debug-dir, or at their path here. Those of the kernel by\n"
	"--kallsyms or --system-map, or, if it is the same one, by the kernel\n"
	"that runs. What has no name is shown as [file+0xaddress].",
	.examples =
	"  sonde profile --raw /tmp/p.raw 10      on the device\n"
	"  sonde report --symfs build/rootfs p.raw        on the desk\n"
	"  sonde report --symfs build --system-map build/System.map \\\n"
	"      -o cpu.svg p.raw\n"
	"  ssh router sonde profile --raw - 5 | sonde report --symfs root -\n"
	"  sonde report -f monday.raw tuesday.raw | sonde flame >week.svg\n",
	.options = options,
	.run = run,
};
