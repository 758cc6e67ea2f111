/* stack_output - how named stacks leave a command: text, folded, a graph. */
#include "cmd/stack_output.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

static int format_of(struct stack_output *o, const char *path)
{
	size_t n = strlen(path);

	o->kind = graph_format_of(path);
	if (o->kind == &graph_folded)
		o->format = STACK_FOLDED;
	else if (o->kind)
		o->format = STACK_GRAPH;
	else if (n > 4 && !strcmp(path + n - 4, ".txt"))
		o->format = STACK_TEXT;
	else
		return -EINVAL;
	return 0;
}

int stack_output_open(struct stack_output *o, const char *command,
		      const char *path, bool folded)
{
	*o = (struct stack_output){ .locate = o->locate };
	o->format = folded ? STACK_FOLDED : STACK_TEXT;
	if (path && strcmp(path, "-") && format_of(o, path)) {
		log_error("%s: %s: the ending must be .svg, .folded, .txt, "
			  ".json or .pb", command, path);
		return -EINVAL;
	}
	if (o->locate && path && strcmp(path, "-"))
		o->path = path;
	return o->path ? 0 : out_open(&o->out, path);
}

/* Rather than lose the result. */
static int to_stdout(struct stack_output *o)
{
	if (o->format == STACK_GRAPH)
		o->format = o->top ? STACK_TEXT : STACK_FOLDED;
	log_notice("%s: its result goes to standard output, as %s", o->path,
		   o->format == STACK_TEXT ? "text" : "folded stacks");
	if (o->format == STACK_FOLDED)
		log_hint("sonde flame makes a flame graph of them");
	o->path = NULL;
	return out_open(&o->out, NULL);
}

int stack_output_ready(struct stack_output *o)
{
	int err = o->locate ? o->locate(o->path) : 0;

	if (!o->path)
		return 0;
	if (!err)
		err = out_open(&o->out, o->path);
	return err ? to_stdout(o) : 0;
}

int stack_output_add(struct stack_output *o, const struct stack_row *row)
{
	int err = 0;

	o->set.how = o->how;
	o->set.how.folded = o->format == STACK_FOLDED ||
			    (o->format == STACK_GRAPH && !o->top);
	if (o->format == STACK_GRAPH)
		err = stack_flame(&o->flame, row, &o->how);
	if (!err && (o->format != STACK_GRAPH || o->top || o->path))
		err = stack_set_add(&o->set, row);
	return err;
}

static int write_graph(struct stack_output *o)
{
	struct graph_options options = {
		.title = o->title, .subtitle = o->subtitle,
		.unit = o->unit, .countname = o->countname,
		.period = o->period,
	};

	return graph_write(o->kind, o->out.file, &o->flame, &options);
}

/* The summary beside a file goes to the terminal. */
static int write_top(struct stack_output *o)
{
	struct out out;
	int err = out_open(&out, NULL);

	if (!err)
		err = stack_set_print(&o->set, (size_t)o->top, out.file);
	if (err)
		return err;
	err = out_close(&out);
	return err;
}

int stack_output_part(struct stack_output *o)
{
	struct stack_set empty = { 0 };
	int err = 0;

	if (o->format == STACK_GRAPH)
		return 0;		/* one graph of all intervals */
	err = stack_set_print(&o->set, (size_t)o->top, o->out.file);
	stack_set_free(&o->set);
	o->set = empty;
	if (err)
		log_error("cannot write the result: %s", log_errno(err));
	return err ? err : out_flush(&o->out);
}

static int write_result(struct stack_output *o)
{
	int err = out_begin(&o->out);

	if (err)
		return err;
	if (o->format == STACK_GRAPH)
		err = write_graph(o);
	else
		err = stack_set_print(&o->set, (size_t)o->top, o->out.file);
	if (err) {
		log_error("cannot write the result: %s", log_errno(err));
		return err;
	}
	return out_close(&o->out);
}

int stack_output_write(struct stack_output *o)
{
	int err = write_result(o);

	if (err && o->path) {
		out_abandon(&o->out);
		err = to_stdout(o);
		if (!err)
			err = write_result(o);
		return err;
	}
	if (!err && o->format == STACK_GRAPH && o->top)
		err = write_top(o);
	return err;
}

void stack_output_close(struct stack_output *o)
{
	out_abandon(&o->out);
	stack_set_free(&o->set);
	flame_free(&o->flame);
}
