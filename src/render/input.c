/* input - reads stacks of whichever kind a file turns out to hold. */
#include "render/input.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "render/folded.h"
#include "render/perf_script.h"

enum {
	CHUNK = 1 << 16,	/* room kept free for a read(2) */
	LONGEST = 8 << 20,
	REPORTED = 5,		/* malformed lines told one by one */
};

void input_open(struct input *in, int fd, const char *path)
{
	*in = (struct input){ .fd = fd, .path = path };
}

static void tell(const struct input *in, uint64_t n, const char *what,
		 const char *done)
{
	if (n)
		log_notice("%s: %llu %s%s %s", in->path, (unsigned long long)n,
			   what, n == 1 ? "" : "s", done);
}

void input_close(struct input *in)
{
	tell(in, in->malformed, "malformed line", "skipped");
	tell(in, in->rounded, "fractional count", "rounded");
	tell(in, in->others, "sample", "of other events skipped");
	if (in->others)
		log_hint("the first sample's event is %s",
			 buf_str(&in->event));
	mem_free(in->data);
	vec_free(&in->frames);
	buf_free(&in->names);
	buf_free(&in->event);
	*in = (struct input){ .fd = -1 };
}

void input_malformed(struct input *in, const char *why)
{
	if (in->malformed++ < REPORTED)
		log_notice("%s: line %llu: %s: skipped", in->path,
			   (unsigned long long)in->line, why);
}

/* Read more behind what is there. 0, also at the end; -errno. */
static int input_fill(struct input *in)
{
	size_t have = in->end - in->start;
	ssize_t n;

	if (in->start) {
		memmove(in->data, in->data + in->start, have);
		in->start = 0;
		in->end = have;
	}
	if (!vec_room((void **)&in->data, &in->cap, have + CHUNK, 1))
		return -ENOMEM;
	do
		n = read(in->fd, in->data + have, in->cap - have);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		log_error("%s: cannot read: %s", in->path, log_errno(errno));
		return -errno;
	}
	in->eof = n == 0;
	in->end += (size_t)n;
	return 0;
}

int input_begin(struct input *in, size_t n)
{
	int err = 0;

	while (!err && in->end < n && !in->eof)
		err = input_fill(in);
	return err;
}

int input_line(struct input *in, char **line, size_t *len)
{
	size_t scanned = 0;

	for (;;) {
		size_t have = in->end - in->start;
		char *nl = NULL;

		if (have > scanned)
			nl = memchr(in->data + in->start + scanned, '\n',
				    have - scanned);
		if (!nl && !in->eof) {
			int err;

			scanned = have;
			if (have > LONGEST) {
				in->overlong = true;
				in->start = in->end;
				scanned = 0;
			}
			err = input_fill(in);
			if (err)
				return err;
			continue;
		}
		if (!nl && !have && !in->overlong)
			return 0;
		in->line_start = in->start;
		*line = in->data + in->start;
		*len = nl ? (size_t)(nl - *line) : have;
		in->unended = !nl;
		in->start += *len + !in->unended;
		in->line++;
		if (!in->overlong)
			return 1;
		input_malformed(in, "longer than 8 MiB");
		in->overlong = false;
		scanned = 0;
	}
}

void input_unread(struct input *in)
{
	in->start = in->line_start;
	in->line--;
}

/* Look at as much of the beginning as it takes to know the kind. A kind more
 * needs a question more here, before folded stacks, which anything can be. */
static int input_recognize(struct input *in)
{
	int is, err;

	while ((is = perf_script_is(in->data + in->start, in->end - in->start,
				    in->eof)) == -EAGAIN) {
		if (in->end - in->start > LONGEST)
			break;
		err = input_fill(in);
		if (err)
			return err;
	}
	in->next = is == 1 ? perf_script_next : folded_next;
	return 0;
}

int input_next(struct input *in)
{
	int err = in->next ? 0 : input_recognize(in);

	return err ? err : in->next(in);
}
