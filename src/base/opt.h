/* opt - command-line options from a table, which is also their help. */
#ifndef BASE_OPT_H
#define BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/num.h"

enum opt_kind {
	OPT_FLAG,	/* bool: set to true */
	OPT_NUM,	/* uint64_t: decimal, min..max */
	OPT_TEXT,	/* const char *: points into argv */
	OPT_LIST,	/* struct num_list: "3,5", each <= max; given twice, it
			 * grows. The caller frees it. */
	OPT_GROUP,	/* not an option, but those of another table, whose
			 * settings begin at `at` */
};

/* One option. The table ends with an entry of neither letter nor name, which is
 * no group. */
struct opt {
	char letter;		/* 0 = none */
	const char *name;	/* NULL = none */
	uint8_t kind;		/* enum opt_kind */
	uint16_t at;		/* offsetof() into the command's settings */
	const void *arg;	/* "HZ" in the help; NULL for a flag; a group's
				 * table */
	const char *help;	/* NULL = not shown in the help */
	uint8_t excludes;	/* options with a common bit exclude each
				 * other */
	uint32_t min;
	uint64_t max;		/* 0 = no limit */
};

/* What is left: positional arguments in order, and the command after "--". */
struct opt_rest {
	char **args;
	int nargs;
	char **command;		/* NULL-terminated; NULL when there was no -- */
};

/* Parse argv[1..]. `-Fxyz`, `-F xyz`, `--frequency xyz`, `--frequency=xyz`,
 * joined flags (`-fd`); options and arguments may mix. argv is reordered: the
 * positional arguments move to its front. 0, or -EINVAL after the reason went
 * to stderr (for `command`), or -ENOMEM. */
int opt_parse(const char *command, const struct opt *table, void *settings,
	      int argc, char **argv, struct opt_rest *rest);

/* Print the table as help text. */
void opt_help(const struct opt *table, FILE *out);

#endif
