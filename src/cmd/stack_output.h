/* stack_output - how named stacks leave a command: text, folded, a graph. */
#ifndef CMD_STACK_OUTPUT_H
#define CMD_STACK_OUTPUT_H

#include <stdint.h>

#include "base/out.h"
#include "render/flame.h"
#include "render/graph.h"
#include "render/stack.h"

enum stack_format { STACK_TEXT, STACK_FOLDED, STACK_GRAPH };

/* Set the fields of the first group between open and the first row, and
 * `locate`, if at all, before. */
struct stack_output {
	struct stack_options how;
	uint64_t top;			/* print the N largest; 0 = all */
	const char *title, *subtitle;	/* of a graph */
	const struct unit *unit;	/* NULL = samples */
	const char *countname;		/* NULL = the unit's */
	uint64_t period;		/* of a CPU profile, ns; 0 = unknown */

	/* The file is opened when the result is ready, and stands in nobody's
	 * way before: after this function has seen to it that its path (NULL
	 * = stdout) leads to the right place. 0 or -errno, reported. What the
	 * file cannot take goes to stdout, but no graph does. */
	int (*locate)(const char *path);

	enum stack_format format;
	const struct graph_format *kind;	/* of a graph */
	const char *path;		/* of a file to be opened late */
	struct out out;
	struct stack_set set;
	struct flame flame;
};

/* path NULL is stdout; its ending picks the format: .folded, .txt, or that of
 * a graph: .svg, .json, .pb. 0, or -errno or -EINVAL (an ending that is none
 * of these), reported. */
int stack_output_open(struct stack_output *o, const char *command,
		      const char *path, bool folded);

/* Before the first row: the trace is over. 0 or -errno, reported. */
int stack_output_ready(struct stack_output *o);

/* 0 or -ENOMEM. */
int stack_output_add(struct stack_output *o, const struct stack_row *row);

/* Print what was added so far, and begin anew: for one interval of several.
 * 0 or -errno, reported but for -EPIPE. */
int stack_output_part(struct stack_output *o);

/* Write the result. With a graph and `top`, the largest stacks go to
 * stdout as text, too. 0 or -errno, reported but for -EPIPE. */
int stack_output_write(struct stack_output *o);

/* Release; without stack_output_write() a file that was made is removed. */
void stack_output_close(struct stack_output *o);

#endif
