/* raw_output - the --raw of commands that count stacks. */
#include "cmd/raw_output.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

enum { NOTES_MOST = 32 << 10 };		/* bytes */

static bool is_stdout(const char *path)
{
	return !path || !strcmp(path, "-");
}

static void keep_note(void *arg, const char *text)
{
	struct raw_output *r = arg;
	size_t n = strlen(text) + 1;

	if (r->notes.len + n <= NOTES_MOST)
		buf_mem(&r->notes, text, n);
}

int raw_output_open(struct raw_output *r, const char *command,
		    const char *path, bool shown, const char *output)
{
	int err;

	if (!path)
		return 0;
	if (is_stdout(path) && shown && is_stdout(output)) {
		log_error("%s: --raw: its file and the result cannot both go "
			  "to standard output", command);
		return -EINVAL;
	}
	if (output && !strcmp(path, output)) {
		log_error("%s: --raw and --output: both are to be %s",
			  command, path);
		return -EINVAL;
	}
	err = out_open(&r->out, path);
	if (err)
		return err;
	r->out.keep = true;
	r->path = path;
	r->alone = !shown;
	recorder_host(&r->recorder);
	r->recorder.head.command = command;
	log_set_tap(keep_note, r);
	return 0;
}

void raw_output_prepare(struct raw_output *r, struct naming *naming)
{
	if (r->path)
		recorder_prepare(&r->recorder, naming, !r->alone);
}

/* Nobody can record again what a reader that went away has missed. */
static int reader_gone(const struct raw_output *r, int err)
{
	if (err != -EPIPE)
		return err;
	log_error("%s: the reader is gone: %llu bytes were written",
		  is_stdout(r->path) ? "standard output" : r->path,
		  (unsigned long long)r->out.written);
	return -EIO;
}

static uint64_t layout_of(const struct stack_options *how)
{
	return (how->hits ? RAW_HITS : 0) |
	       (how->delimited ? RAW_DELIMITED : 0) |
	       (how->annotate ? RAW_ANNOTATED : 0) |
	       (how->addresses ? RAW_ADDRESSES : 0) |
	       (how->pids ? RAW_PIDS : 0);
}

int raw_output_begin(struct raw_output *r, const struct stack_output *like,
		     uint64_t layout, const char *second)
{
	struct raw_head *head = &r->recorder.head;
	const struct naming *n = r->recorder.naming;
	int err;

	if (!r->path)
		return 0;
	err = out_begin(&r->out);
	if (err)
		return err;
	layout |= (n->probes ? RAW_OF_PROBES : 0) |
		  (n->events ? RAW_OF_EVENTS : 0);
	head->title = like->title;
	head->units[0] = like->unit ? like->unit->name : unit_samples.name;
	head->units[1] = second;
	head->countname = like->countname;
	head->period = like->period;
	head->event = r->event;
	head->layout = layout_of(&like->how) | layout;
	r->units = second ? 2 : 1;
	recorder_begin(&r->recorder, r->out.file);
	return reader_gone(r, out_flush(&r->out));
}

int raw_output_stack(struct raw_output *r, const struct stack *stack,
		     uint32_t pid, uint64_t value, uint64_t second)
{
	const uint64_t values[] = { value, second };
	int err;

	if (!r->path)
		return 0;
	err = recorder_stack(&r->recorder, stack, pid, &r->side);
	if (!err)
		raw_write_row(&r->recorder.to, &r->side.out, NULL, values,
			      r->units);
	return err;
}

int raw_output_woken(struct raw_output *r, const struct stack *stack,
		     uint32_t pid, const struct stack *waker,
		     uint32_t waker_pid, const char *otherwise, uint64_t value)
{
	int err = 0;

	if (!r->path)
		return 0;
	if (waker)
		err = recorder_stack(&r->recorder, waker, waker_pid,
				     &r->waker);
	else
		recorder_nobody(&r->recorder, otherwise, &r->waker);
	if (!err)
		err = recorder_stack(&r->recorder, stack, pid, &r->side);
	if (!err)
		raw_write_row(&r->recorder.to, &r->side.out, &r->waker.out,
			      &value, r->units);
	return err;
}

int raw_output_finish(struct raw_output *r, const char *told, double seconds)
{
	struct raw_end end = {
		.told = told, .lasted = (uint64_t)(seconds * 1e9),
	};
	int err;

	if (!r->path)
		return 0;
	recorder_report(&r->recorder);
	log_set_tap(NULL, NULL);
	for (size_t i = 0; i < r->notes.len;
	     i += strlen(r->notes.data + i) + 1)
		raw_write_note(&r->recorder.to, r->notes.data + i);
	err = raw_write_end(&r->recorder.to, &end);
	if (!err)
		return reader_gone(r, out_close(&r->out));
	log_error("%s: cannot write it: %s", r->path, log_errno(err));
	return err;
}

void raw_output_close(struct raw_output *r)
{
	if (!r->path)
		return;
	log_set_tap(NULL, NULL);
	out_abandon(&r->out);
	recorder_close(&r->recorder);
	recorder_side_free(&r->side);
	recorder_side_free(&r->waker);
	buf_free(&r->notes);
}
