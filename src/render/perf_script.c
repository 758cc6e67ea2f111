/* perf_script - reads the text of perf script: samples with their stacks.
 *
 *	tmux: server  2365/2367 [001] 1234.567890:   10101010 cpu-clock:
 *		ffffffff81a0b1c2 do_idle+0x42 ([kernel.kallsyms])
 *		    7f12a0b1c2d3 [unknown] (/usr/lib/libc.so.6)
 *
 * A sample's first line has the fields that were recorded or asked for: the
 * thread's name, which may look like any of those that follow; its number,
 * perhaps behind its process's; CPU, time, period, event. Its frames follow,
 * leaf first, or the only one stands behind the event; a blank line ends them.
 */
#include "render/perf_script.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/num.h"

enum {
	LONGEST = 8 << 20,	/* names of one stack */
	COMM = 15,		/* bytes of a thread's name at most, on Linux */
};

struct text {
	const char *p;
	size_t n;
};

/* A sample's first line. */
struct header {
	struct text comm, event;
	const char *rest;	/* behind the event */
	bool timed;		/* there is a time, too */
};

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

static const char *skip_digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

static bool at_blank(const char *p, const char *end)
{
	return p == end || *p == ' ' || *p == '\t';
}

static bool has_prefix(struct text t, const char *prefix)
{
	size_t n = strlen(prefix);

	return t.n >= n && !memcmp(t.p, prefix, n);
}

static bool has_suffix(struct text t, const char *suffix)
{
	size_t n = strlen(suffix);

	return t.n >= n && !memcmp(t.p + t.n - n, suffix, n);
}

/* "2367", "2365/2367", "-1": behind it, else NULL. */
static const char *skip_thread(const char *p, const char *end)
{
	const char *q = skip_digits(p + (*p == '-'), end);

	if (q > p && q < end && *q == '/')
		q = skip_digits(q + 1, end);
	return q > p && q[-1] >= '0' && q[-1] <= '9' && at_blank(q, end) ? q
									 : NULL;
}

/* "[001]": what follows it, or p. */
static const char *skip_cpu(const char *p, const char *end)
{
	const char *q;

	if (p == end || *p != '[')
		return p;
	q = skip_digits(p + 1, end);
	return q < end && *q == ']' ? skip_blanks(q + 1, end) : p;
}

/* "1234.567890:": what follows it, or p. */
static const char *skip_time(const char *p, const char *end)
{
	const char *q = skip_digits(p, end);

	if (q == p || q == end || *q != '.')
		return p;
	q = skip_digits(q + 1, end);
	return q < end && *q == ':' ? skip_blanks(q + 1, end) : p;
}

/* The fields from a thread's number on. */
static bool parse_fields(const char *p, const char *end, struct header *h)
{
	const char *time, *period;

	p = skip_thread(p, end);
	if (!p)
		return false;
	time = skip_cpu(skip_blanks(p, end), end);
	p = skip_time(time, end);
	h->timed = p > time;
	period = skip_digits(p, end);
	if (period > p && period < end && at_blank(period, end))
		p = skip_blanks(period, end);
	h->event.p = p;
	while (!at_blank(p, end))
		p++;
	h->event.n = (size_t)(p - h->event.p);
	if (h->event.n > 1 && p[-1] == ':')
		h->event.n--;
	else if (h->timed || !h->event.n)
		h->event.n = 0;
	else
		return false;
	h->rest = skip_blanks(p, end);
	return true;
}

/* Wherever in the line a number may be the thread's, its name ends. Names are
 * short: of several such places the last counts that leaves room for no more
 * than a name, for behind it there is free text, too. An indented line is taken
 * only when it has a time. */
static bool parse_header(const char *line, size_t len, struct header *h)
{
	const char *end = line + len, *start = skip_blanks(line, end), *p;
	bool found = false;

	for (p = start; p < end; p++) {
		struct header this = { .comm = { start, (size_t)(p - start) } };

		if ((p > line && !at_blank(p - 1, end)) ||
		    !parse_fields(p, end, &this) ||
		    (start > line && !this.timed))
			continue;
		while (this.comm.n && at_blank(start + this.comm.n - 1, end))
			this.comm.n--;
		if (found && this.comm.n > COMM)
			break;
		*h = this;
		found = true;
	}
	return found;
}

/* Frames */

/* Where the file's bracket opens that ends the line: it may have others within,
 * as in "(/tmp/a (deleted))". NULL when there is none. */
static const char *file_bracket(const char *p, const char *end)
{
	const char *q = end, *last = NULL;
	int open = 0;

	if (p == end || end[-1] != ')')
		return NULL;
	while (q-- > p) {
		open += *q == ')' ? 1 : *q == '(' ? -1 : 0;
		if (*q != '(' || q == p || q[-1] != ' ')
			continue;
		last = last ? last : q;
		if (!open)
			return q;
	}
	return last;
}

/* A file that is the kernel, a module or a program loaded into it. */
static bool is_kernel(struct text file)
{
	static const char *const users[] = {
		"[unknown]", "[vdso", "[vsyscall", "[heap", "[stack", "[anon",
		"[uprobes",
	};
	const char *base = memrchr(file.p, '/', file.n);
	struct text name = file;

	for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++)
		if (has_prefix(file, users[i]))
			return false;
	if (base)
		name = (struct text){
			base + 1, (size_t)(file.p + file.n - base - 1),
		};
	return has_prefix(file, "[") || has_prefix(name, "vmlinux") ||
	       has_prefix(name, "bpf_prog_") || has_suffix(name, ".ko") ||
	       has_suffix(name, ".ko.xz") || has_suffix(name, ".ko.gz") ||
	       has_suffix(name, ".ko.zst");
}

static enum flame_kind kind_of(struct text file)
{
	if (has_prefix(file, "/tmp/perf-") || has_prefix(file, "jitted-") ||
	    memmem(file.p, file.n, "/jitted-", 8))
		return FLAME_JIT;
	if (file.n == 7 && has_prefix(file, "inlined"))
		return FLAME_INLINED;
	return is_kernel(file) ? FLAME_KERNEL : FLAME_USER;
}

/* Without the offset at its end. */
static struct text without_offset(struct text name)
{
	const char *end = name.p + name.n, *plus = memrchr(name.p, '+', name.n);
	uint64_t offset;

	if (plus && end - plus > 3 && !memcmp(plus, "+0x", 3) &&
	    num_hex(plus + 3, end, &offset) == end)
		name.n = (size_t)(plus - name.p);
	return name;
}

struct line_frame {
	struct text address, name, file;
};

/* "7f12 name+0x1f (file)" from p on; the file may be missing, or the name. */
static bool parse_frame(const char *p, const char *end, struct line_frame *f)
{
	const char *q, *bracket;
	uint64_t address;

	p = skip_blanks(p, end);
	q = num_hex(p, end, &address);
	if (!q || !at_blank(q, end))
		return false;
	*f = (struct line_frame){
		.address = { p, (size_t)(q - p) }, .file = { end, 0 },
	};
	p = skip_blanks(q, end);
	bracket = file_bracket(p, end);
	if (bracket)
		f->file = (struct text){
			bracket + 1, (size_t)(end - bracket) - 2,
		};
	f->name = (struct text){ p, (size_t)((bracket ? bracket : end) - p) };
	while (f->name.n && at_blank(p + f->name.n - 1, end))
		f->name.n--;
	return true;
}

/* Append a frame of that name, perhaps within brackets. Names stand one behind
 * the other, for the buffer may move. 0, -ENOMEM, or -E2BIG when the stack has
 * grown beyond all measure. */
static int frame_push(struct input *in, struct text name, bool bracketed,
		      enum flame_kind kind)
{
	struct flame_frame *f;

	if (in->names.len + in->frames.n > LONGEST)
		return -E2BIG;
	f = vec_push(&in->frames);
	if (!f)
		return -ENOMEM;
	*f = (struct flame_frame){
		.len = name.n + (bracketed ? 2 : 0), .kind = kind,
	};
	if (bracketed)
		buf_putc(&in->names, '[');
	buf_mem(&in->names, name.p, name.n);
	if (bracketed)
		buf_putc(&in->names, ']');
	return in->names.err;
}

/* As a name what is known best: it, its file, its address. */
static int frame_add(struct input *in, const struct line_frame *f)
{
	struct text name = without_offset(f->name), file = f->file;
	const char *base = file.n ? memrchr(file.p, '/', file.n) : NULL;
	bool unnamed = !name.n ||
		       (name.n == 9 && has_prefix(name, "[unknown]"));

	if (!unnamed)
		return frame_push(in, name, false, kind_of(file));
	if (!file.n && !name.n)
		return frame_push(in, f->address, true, FLAME_UNKNOWN);
	if (!file.n || has_prefix(file, "["))
		return frame_push(in, file.n ? file : name, false,
				  FLAME_UNKNOWN);
	if (base)
		file = (struct text){
			base + 1, (size_t)(file.p + file.n - base - 1),
		};
	return frame_push(in, file, true, FLAME_UNKNOWN);
}

/* Samples */

/* The first event's name is kept; false when it is another one. */
static bool is_event(struct input *in, struct text event)
{
	if (!in->event.len)
		buf_mem(&in->event, event.p, event.n);
	return !event.n || (event.n == in->event.len &&
			    !memcmp(event.p, in->event.data, event.n));
}

static int sample_begin(struct input *in, const struct header *h,
			const char *end)
{
	struct line_frame f;
	int err;

	in->frames.n = 0;
	buf_reset(&in->names);
	err = frame_push(in, h->comm, false, FLAME_USER);
	if (!err && parse_frame(h->rest, end, &f) && f.file.n)
		err = frame_add(in, &f);
	return err;
}

/* Give the frames their names, and put the root first, behind the comm. */
static int sample_end(struct input *in)
{
	struct flame_frame *v = in->frames.v, swap;
	const char *name = in->names.data ? in->names.data : "";
	size_t i, j;

	for (i = 0; i < in->frames.n; i++) {
		v[i].name = name;
		name += v[i].len;
	}
	for (i = 1, j = in->frames.n - 1; i < j; i++, j--) {
		swap = v[i];
		v[i] = v[j];
		v[j] = swap;
	}
	in->count = 1;
	return 1;
}

/* A line within a sample: a frame, or perf's word on where the frame before
 * stands in the source, which is indented by blanks instead of a tab. */
static int sample_line(struct input *in, const char *line, const char *end)
{
	struct line_frame f;

	if (at_blank(line, end) && parse_frame(line, end, &f))
		return frame_add(in, &f);
	if (*line != ' ')
		input_malformed(in, "neither a sample nor a frame");
	return 0;
}

static size_t trimmed(const char *line, size_t len)
{
	while (len && (at_blank(line + len - 1, line + len) ||
		       line[len - 1] == '\r'))
		len--;
	return len;
}

enum state {
	BETWEEN,	/* samples */
	WITHIN,		/* one that is read */
	WITHOUT,	/* within one that is passed over */
};

/* A line that begins a sample: which state it leads to, or -errno. */
static int begin(struct input *in, const struct header *h, const char *end)
{
	bool is = is_event(in, h->event);
	int err = in->event.err;

	if (!err && is)
		err = sample_begin(in, h, end);
	else
		in->others++;
	return err ? err : is ? WITHIN : WITHOUT;
}

/* "a;b 3": it has no more of a sample than what could be a thread's number. */
static bool is_folded(const char *line, size_t len)
{
	const char *end = line + len, *last = end;

	while (last > line && !at_blank(last - 1, end))
		last--;
	return last < end && skip_digits(last, end) == end &&
	       memchr(line, ';', (size_t)(last - line));
}

/* One line; the state after it, BETWEEN when a sample has ended, or -errno. */
static int step(struct input *in, int state, const char *line, size_t len)
{
	const char *end = line + len;
	struct header h = { .timed = false };
	int err = 0;
	bool is;

	if (!len)
		return BETWEEN;
	is = (state == BETWEEN || *line != '\t') &&
	     parse_header(line, len, &h) && (*line != '#' || h.timed);
	if (!h.timed && !h.event.n && is_folded(line, len)) {
		input_malformed(in, "a folded stack in perf script's text");
		return state;
	}
	if (is) {
		if (state != WITHIN)
			return begin(in, &h, end);
		input_unread(in);
		return BETWEEN;
	}
	if (state == WITHIN)
		err = sample_line(in, line, end);
	else if (state == BETWEEN && *line != '#')
		input_malformed(in, "outside of a sample");
	return err ? err : state;
}

int perf_script_next(struct input *in)
{
	char *line;
	size_t len;
	int state = BETWEEN, before, err;

	while ((err = input_line(in, &line, &len)) > 0) {
		before = state;
		state = step(in, state, line, trimmed(line, len));
		if (state == -E2BIG) {
			input_malformed(in, "stack larger than 8 MiB");
			state = WITHOUT;
		}
		if (state < 0)
			return state;
		if (before == WITHIN && state == BETWEEN)
			return sample_end(in);
	}
	if (err || state != WITHIN)
		return err;
	if (!in->unended)
		return sample_end(in);
	log_notice("%s: cut off in line %llu: what came before its sample is "
		   "used", in->path, (unsigned long long)in->line);
	return 0;
}

/* Its beginning */

/* Folded stacks end in a count, which a frame does not. */
static bool is_frame_line(const char *line, size_t len)
{
	const char *end = line + len, *last = end;
	struct line_frame f;

	while (last > line && !at_blank(last - 1, end))
		last--;
	return len && at_blank(line, end) && parse_frame(line, end, &f) &&
	       skip_digits(last, end) < end;
}

int perf_script_is(const char *p, size_t n, bool eof)
{
	static const char banner[] = "# ========";
	const char *end = p + n;
	struct header h;
	bool first = true;

	if (n >= sizeof(banner) - 1 && !memcmp(p, banner, sizeof(banner) - 1))
		return 1;
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len;

		if (!nl && !eof)
			return -EAGAIN;
		len = trimmed(p, (size_t)((nl ? nl : end) - p));
		if (len && is_frame_line(p, len))
			return 1;
		if (len && !first)
			return 0;
		if (len && parse_header(p, len, &h) && h.timed &&
		    (p[len - 1] < '0' || p[len - 1] > '9'))
			return 1;
		first &= !len;
		p = nl ? nl + 1 : end;
	}
	return eof ? 0 : -EAGAIN;
}
