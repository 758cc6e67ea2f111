/* raw_output - the --raw of commands that count stacks. */
#ifndef CMD_RAW_OUTPUT_H
#define CMD_RAW_OUTPUT_H

#include "base/opt.h"
#include "base/out.h"
#include "cmd/stack_output.h"
#include "trace/recorder.h"

#define RAW_OPTION(S, member, excluded) \
	{ 0, "raw", OPT_TEXT, offsetof(S, member), "FILE", \
	  "stacks without names, for `sonde report`; -: stdout", \
	  .excludes = excluded }

/* All zero: there is no such option, and each function does nothing. */
struct raw_output {
	const char *path;		/* NULL = none */
	const char *event;		/* to be set before it begins: what a
					 * sample is of; NULL = nothing else */
	bool alone;			/* nothing is named beside it */
	struct out out;
	struct recorder recorder;
	struct recorder_side side, waker;
	struct buf notes;		/* notices so far, each with its NUL */
	unsigned units;
};

/* path NULL: none. `shown`: stacks are also named, for `output` (NULL or "-":
 * stdout). 0 or -errno, or -EINVAL (both want stdout); reported.
 * raw_output_close() always. */
int raw_output_open(struct raw_output *r, const char *command,
		    const char *path, bool shown, const char *output);

/* Before the first process is seen: whose stacks it will be. */
void raw_output_prepare(struct raw_output *r, struct naming *naming);

/* Write the head: what `like` was set to is how a report shows it. `layout` are
 * flags beyond that and what is set in the naming; `second` is the unit of a
 * second number, or NULL.
 * 0 or -errno, reported. */
int raw_output_begin(struct raw_output *r, const struct stack_output *like,
		     uint64_t layout, const char *second);

/* 0 or -ENOMEM. */
int raw_output_stack(struct raw_output *r, const struct stack *stack,
		     uint32_t pid, uint64_t value, uint64_t second);

/* The same with who woke it: NULL, as one that is called `otherwise`. */
int raw_output_woken(struct raw_output *r, const struct stack *stack,
		     uint32_t pid, const struct stack *waker,
		     uint32_t waker_pid, const char *otherwise,
		     uint64_t value);

/* With all notices, and the end: what was told of the result in one line, and
 * how long it took. 0 or -errno, reported. */
int raw_output_finish(struct raw_output *r, const char *told, double seconds);
void raw_output_close(struct raw_output *r);

#endif
