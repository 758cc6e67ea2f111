/* cmd - what a command is: one descriptor in a file of its own. */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <stddef.h>

#include "base/opt.h"

enum { EXIT_OK = 0, EXIT_FAIL = 1, EXIT_USAGE = 2 };

struct bpf_object;
struct check;

/* `const struct cmd cmd_NAME` in src/cmd/NAME.c, and CMD(NAME) in cmds.h, make
 * a command. argv[0] is the command's name. run() returns the exit status and
 * has then reported every error. */
struct cmd {
	const char *name;
	const char *aliases[2];	/* other names of it; NULL = none */
	const char *usage;	/* "[options] [SECS] [-- COMMAND]" */
	const char *summary;	/* one line of `sonde help` */
	const char *about;	/* what `sonde help NAME` says first */
	const char *examples;	/* worked examples, one a line pair */
	const struct opt *options;
	const struct bpf_object *object;  /* its kernel half; NULL = none */
	int (*run)(int argc, char **argv);
	void (*check)(struct check *c);	/* its line of `sonde doctor`, see
					 * cmd/check.h; NULL = needs nothing */
};

/* Options that are members of a struct name_options, at that offset in a
 * command's settings: where files' symbols lie, for commands that ask for
 * functions; and all of them, for those that show some. */
extern const struct opt cmd_file_options[], cmd_name_options[];
#define OPTIONS_OF(table, offset) \
	{ .kind = OPT_GROUP, .arg = (table), .at = (offset) }
#define FILE_OPTIONS(offset) OPTIONS_OF(cmd_file_options, offset)
#define NAME_OPTIONS(offset) \
	FILE_OPTIONS(offset), OPTIONS_OF(cmd_name_options, offset)

/* All of them, in the order of cmds.h; NULL when there is no such name, nor
 * alias. */
extern const struct cmd *const cmd_all[];
extern const size_t cmd_count;
const struct cmd *cmd_find(const char *name);

/* Call fn with the file of that path, opened for it ("-": standard input), and
 * its name for messages. What fn returned; or -errno, reported. */
int cmd_read(const char *path, int (*fn)(void *arg, int fd, const char *name),
	     void *arg);

/* The exit status when a command line could not be read: a wrong one (-EINVAL)
 * is a matter of usage, a folder that is not there or no memory is not. */
int cmd_refused(int err);

/* Print an "unknown command" error with the nearest name. */
void cmd_unknown(const char *name);

#endif
