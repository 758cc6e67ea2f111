/* folded - stacks folded to one line each: "comm;main;read 42". */
#include "render/folded.h"

#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/num.h"
#include "base/out.h"
#include "render/perf_script.h"
#include "render/samples.h"
#include "render/stack.h"

enum { FLUSH = 1 << 16, FRAMES_MOST = 2 << 20 };

static const char letters[] = "kjiw";
static const enum flame_kind lettered[] = {
	FLAME_KERNEL, FLAME_JIT, FLAME_INLINED, FLAME_WAKER,
};

/* "12", "12.5" up to end. NULL, or why it is no count. */
static const char *parse_count(struct input *in, const char *p,
			       const char *end)
{
	uint64_t fraction = 0;
	const char *dot;

	if (p == end || *p < '0' || *p > '9')
		return "no count after the last blank";
	p = num_dec(p, end, &in->count);
	if (!p)
		return "count beyond 64 bits";
	if (p == end)
		return NULL;
	if (*p != '.')
		return "no count after the last blank";
	for (dot = p++; p < end; p++) {
		if (*p < '0' || *p > '9')
			return "no count after the last blank";
		fraction |= (uint64_t)(*p - '0');
	}
	if (fraction)
		in->rounded++;
	if (fraction && dot[1] >= '5' && in->count < UINT64_MAX)
		in->count++;
	return NULL;
}

static bool is_address(const char *p, size_t len)
{
	uint64_t addr;

	return len > 2 && !memcmp(p, "0x", 2) &&
	       num_hex(p + 2, p + len, &addr) == p + len;
}

/* Split an annotation off the name. */
static void frame_classify(struct flame_frame *f)
{
	const char *end = f->name + f->len;

	if (f->len > 4 && end[-1] == ']' && end[-3] == '[' && end[-4] == '_') {
		const char *l = memchr(letters, end[-2], 4);

		if (l) {
			f->kind = lettered[l - letters];
			f->len -= 4;
			end -= 4;
		}
	}
	if ((f->len > 1 && f->name[0] == '[' && end[-1] == ']') ||
	    is_address(f->name, f->len))
		f->kind = FLAME_UNKNOWN;
}

static bool is_delimiter(const struct flame_frame *f)
{
	return (f->len == 1 || f->len == 2) &&
	       !memcmp(f->name, "--", f->len);
}

/* Split the stack into frames. `plain` is the kind of what no annotation
 * names: kernel between the first "-" and the next delimiter; who woke it,
 * behind "--". 1, 0 when there are too many, -ENOMEM. */
static int split_frames(struct input *in, char *p, const char *end)
{
	enum flame_kind plain = FLAME_USER;
	size_t delimiters = 0;

	for (in->frames.n = 0;;) {
		char *next = memchr(p, ';', (size_t)(end - p));
		struct flame_frame *f;

		if (in->frames.n == FRAMES_MOST) {
			input_malformed(in, "more than two million frames");
			return 0;
		}
		f = vec_push(&in->frames);
		if (!f)
			return -ENOMEM;
		*f = (struct flame_frame){
			p, escape_semicolons_back(p, (size_t)
				((next ? next : end) - p)), plain,
		};
		if (in->frames.n > 1 && is_delimiter(f)) {
			f->kind = FLAME_DELIMITER;
			plain = f->len == 2 || plain == FLAME_WAKER
				? FLAME_WAKER
				: delimiters++ ? FLAME_USER : FLAME_KERNEL;
		} else {
			frame_classify(f);
		}
		if (!next)
			return 1;
		p = next + 1;
	}
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Read one line's stack: 1, 0 when the line is to be passed over, -ENOMEM. */
static int parse_line(struct input *in, char *line, size_t len)
{
	const char *why;
	size_t stack;

	while (len && (is_blank(line[len - 1]) || line[len - 1] == '\r'))
		len--;
	for (stack = len; stack && !is_blank(line[stack - 1]); stack--)
		;
	why = stack ? parse_count(in, line + stack, line + len)
		    : "no blank before a count";
	if (why) {
		if (len)
			input_malformed(in, perf_script_is(line, len, true) ?
					"perf script's text among folded "
					"stacks" : why);
		return 0;
	}
	return split_frames(in, line, line + stack - 1);
}

int folded_next(struct input *in)
{
	char *line = NULL;
	size_t len = 0;
	int err;

	do {
		err = input_line(in, &line, &len);
		if (err <= 0)
			return err;
		err = parse_line(in, line, len);
	} while (!err);
	return err;
}

/* Writing */

struct writer {
	FILE *out;
	struct buf buf;
	struct samples samples;
};

static void put_frame(struct buf *b, const struct flame_frame *f)
{
	if (f->kind == FLAME_DELIMITER)
		buf_mem(b, f->name, f->len);
	else
		folded_name(b, f->name, f->len);
	for (size_t i = 0; i < sizeof(lettered) / sizeof(*lettered); i++)
		if (f->kind == lettered[i])
			buf_fmt(b, "_[%c]", letters[i]);
}

static int put_stack(void *arg, const struct sample_frame *path, size_t n)
{
	struct writer *w = arg;
	uint64_t self = path[n - 1].self;

	if (!self)
		return 0;
	for (size_t i = 0; i < n; i++) {
		struct flame_frame f = samples_frame(&w->samples,
						     path[i].frame);

		if (i)
			buf_putc(&w->buf, ';');
		put_frame(&w->buf, &f);
	}
	buf_putc(&w->buf, ' ');
	buf_dec(&w->buf, self);
	buf_putc(&w->buf, '\n');
	return out_buf(w->out, &w->buf, FLUSH);
}

int folded_write(FILE *out, struct flame *f, const struct graph_options *o)
{
	struct writer w = { .out = out };
	int err;

	(void)o;
	w.samples.flame = f;
	w.samples.arg = &w;
	w.samples.leave = put_stack;
	err = samples_walk(&w.samples);
	if (!err)
		err = out_buf(out, &w.buf, 0);
	samples_free(&w.samples);
	buf_free(&w.buf);
	return err;
}
