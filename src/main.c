/* main - picks the command; global options and help. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/out.h"
#include "cmd/cmd.h"

#ifndef SONDE_VERSION
#define SONDE_VERSION "0.1"
#endif

static void help_all(FILE *out)
{
	fprintf(out,
		"sonde %s - shows where time, memory and events go\n\n"
		"usage: sonde COMMAND [options] [arguments]\n\n",
		SONDE_VERSION);
	for (size_t i = 0; i < cmd_count; i++)
		fprintf(out, "  %-12s %s\n", cmd_all[i]->name,
			cmd_all[i]->summary);
	fprintf(out,
		"\nsonde help COMMAND shows the options and examples of one.\n"
		"A link to sonde that is named after a command runs it.\n");
}

static void help_one(FILE *out, const struct cmd *c)
{
	fprintf(out, "usage: sonde %s %s\n\n%s\n", c->name, c->usage,
		c->about);
	if (c->options) {
		fprintf(out, "\noptions:\n");
		opt_help(c->options, out);
	}
	fprintf(out, "\nexamples:\n%s", c->examples);
}

/* Help is a result, too: a full disk is an error. */
static int help(const struct cmd *c)
{
	struct out o;

	if (out_open(&o, NULL))
		return EXIT_FAIL;
	if (c)
		help_one(o.file, c);
	else
		help_all(o.file);
	return out_close(&o) ? EXIT_FAIL : EXIT_OK;
}

static int help_named(const char *name)
{
	const struct cmd *c = name ? cmd_find(name) : NULL;

	if (!name || c)
		return help(c);
	cmd_unknown(name);
	return EXIT_USAGE;
}

static int version(void)
{
	struct out o;

	if (out_open(&o, NULL))
		return EXIT_FAIL;
	fprintf(o.file, "sonde %s\n", SONDE_VERSION);
	return out_close(&o) ? EXIT_FAIL : EXIT_OK;
}

static int run(const struct cmd *c, int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help"))
			return help(c);
	return c->run(argc, argv);
}

static int is_one_of(const char *s, const char *a, const char *b)
{
	return !strcmp(s, a) || !strcmp(s, b);
}

/* Where one of the first three descriptors is closed, the next file that is
 * opened would get its number, and then what is printed. This one takes the
 * place and refuses to be written. */
static void keep_first_three(void)
{
	int fd;

	do {
		fd = open("/", O_PATH | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	const char *self = argc ? argv[0] : "sonde", *slash;
	const struct cmd *c;

	keep_first_three();
	out_take_signal();
	slash = strrchr(self, '/');
	c = cmd_find(slash ? slash + 1 : self);
	if (c)
		return run(c, argc, argv);
	if (argc < 2) {
		help(NULL);
		return EXIT_USAGE;
	}
	if (is_one_of(argv[1], "-h", "--help") || !strcmp(argv[1], "help"))
		return help_named(argv[2]);
	if (is_one_of(argv[1], "-V", "--version"))
		return version();
	c = cmd_find(argv[1]);
	if (!c) {
		cmd_unknown(argv[1]);
		return EXIT_USAGE;
	}
	return run(c, argc - 1, argv + 1);
}
