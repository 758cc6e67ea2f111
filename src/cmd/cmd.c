/* cmd - the table of commands, made from cmds.h; what some of them share. */
#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/near.h"
#include "sym/name_options.h"

#define CMD(name) extern const struct cmd cmd_##name;
#include "cmds.h"
#undef CMD

#define CMD(name) &cmd_##name,
const struct cmd *const cmd_all[] = {
#include "cmds.h"
};
#undef CMD
const size_t cmd_count = sizeof(cmd_all) / sizeof(*cmd_all);

#define AT(member) offsetof(struct name_options, member)

const struct opt cmd_file_options[] = {
	{ 0, "symfs", OPT_TEXT, AT(symfs), "DIR",
	  "files with symbols: by their path, by build-id" },
	{ 0, "debug-dir", OPT_TEXT, AT(debug_dir), "DIR",
	  "debug files in DIR/.build-id (/usr/lib/debug)" },
	{ 0 },
};

const struct opt cmd_name_options[] = {
	{ 0, "kallsyms", OPT_TEXT, AT(kernel), "FILE",
	  "the kernel's symbols: a copy of /proc/kallsyms", .excludes = 64 },
	{ 0, "system-map", OPT_TEXT, AT(kernel), "FILE",
	  "the same, as its linker wrote them", .excludes = 64 },
	{ 0, "mangled", OPT_FLAG, AT(mangled), NULL,
	  "C++ and Rust names as their compilers encode them" },
	{ 0 },
};

enum { ALIASES = sizeof(cmd_all[0]->aliases) / sizeof(char *) };

static bool is_called(const struct cmd *c, const char *name)
{
	if (!strcmp(c->name, name))
		return true;
	for (size_t i = 0; i < ALIASES && c->aliases[i]; i++)
		if (!strcmp(c->aliases[i], name))
			return true;
	return false;
}

const struct cmd *cmd_find(const char *name)
{
	for (size_t i = 0; i < cmd_count; i++)
		if (is_called(cmd_all[i], name))
			return cmd_all[i];
	return NULL;
}

int cmd_refused(int err)
{
	return err == -EINVAL ? EXIT_USAGE : EXIT_FAIL;
}

void cmd_unknown(const char *name)
{
	struct near near = { .wanted = name };

	for (size_t i = 0; i < cmd_count; i++) {
		near_offer(&near, cmd_all[i]->name);
		for (size_t k = 0; k < ALIASES && cmd_all[i]->aliases[k]; k++)
			near_offer(&near, cmd_all[i]->aliases[k]);
	}
	log_error("%s: no such command", name);
	if (near.best)
		log_hint("the nearest is: sonde %s", near.best);
	else
		log_hint("sonde help lists the commands");
}

int cmd_read(const char *path, int (*fn)(void *arg, int fd, const char *name),
	     void *arg)
{
	int fd, err;

	if (!strcmp(path, "-"))
		return fn(arg, STDIN_FILENO, "standard input");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		log_error("%s: cannot open: %s", path, log_errno(errno));
		return -errno;
	}
	err = fn(arg, fd, path);
	close(fd);
	return err;
}
