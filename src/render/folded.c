/* folded - reads stacks folded to one line each: "comm;main;read 42". */
#include "render/folded.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"

enum {
	CHUNK = 1 << 16,	/* room kept free for a read(2) */
	LONGEST = 8 << 20,
	REPORTED = 5,		/* malformed lines told one by one */
};

void folded_open(struct folded *r, int fd, const char *path)
{
	*r = (struct folded){ .fd = fd, .path = path };
}

void folded_close(struct folded *r)
{
	if (r->malformed)
		log_notice("%s: %llu malformed line%s skipped", r->path,
			   (unsigned long long)r->malformed,
			   r->malformed == 1 ? "" : "s");
	if (r->rounded)
		log_notice("%s: %llu fractional count%s rounded", r->path,
			   (unsigned long long)r->rounded,
			   r->rounded == 1 ? "" : "s");
	mem_free(r->data);
	vec_free(&r->frames);
	*r = (struct folded){ .fd = -1 };
}

static void malformed(struct folded *r, const char *why)
{
	if (r->malformed++ < REPORTED)
		log_notice("%s: line %llu: %s: skipped", r->path,
			   (unsigned long long)r->line, why);
}

/* Read more behind what is there. 0, also at the end; -errno. */
static int fill(struct folded *r)
{
	size_t have = r->end - r->start;
	ssize_t n;

	if (r->start) {
		memmove(r->data, r->data + r->start, have);
		r->start = 0;
		r->end = have;
	}
	if (!vec_room((void **)&r->data, &r->cap, have + CHUNK, 1))
		return -ENOMEM;
	do
		n = read(r->fd, r->data + have, r->cap - have);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		log_error("%s: cannot read: %s", r->path, log_errno(errno));
		return -errno;
	}
	r->eof = n == 0;
	r->end += (size_t)n;
	return 0;
}

/* The next line without its end: 1, 0 at the end, -errno. */
static int next_line(struct folded *r, const char **line, size_t *len)
{
	size_t scanned = 0;

	for (;;) {
		size_t have = r->end - r->start;
		char *nl = NULL;

		if (have > scanned)
			nl = memchr(r->data + r->start + scanned, '\n',
				    have - scanned);
		if (!nl && !r->eof) {
			int err;

			scanned = have;
			if (have > LONGEST) {
				r->overlong = true;
				r->start = r->end;
				scanned = 0;
			}
			err = fill(r);
			if (err)
				return err;
			continue;
		}
		if (!nl && !have && !r->overlong)
			return 0;
		*line = r->data + r->start;
		*len = nl ? (size_t)(nl - *line) : have;
		r->start += *len + (nl ? 1 : 0);
		r->line++;
		if (!r->overlong)
			return 1;
		malformed(r, "longer than 8 MiB");
		r->overlong = false;
		scanned = 0;
	}
}

/* "12", "12.5" up to end. NULL, or why it is no count. */
static const char *parse_count(struct folded *r, const char *p,
			       const char *end)
{
	uint64_t fraction = 0;
	const char *dot;

	if (p == end || *p < '0' || *p > '9')
		return "no count after the last blank";
	p = num_dec(p, end, &r->count);
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
		r->rounded++;
	if (fraction && dot[1] >= '5' && r->count < UINT64_MAX)
		r->count++;
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
		static const char letters[] = "kjiw";
		static const enum flame_kind kinds[] = {
			FLAME_KERNEL, FLAME_JIT, FLAME_INLINED, FLAME_WAKER,
		};
		const char *l = memchr(letters, end[-2], 4);

		if (l) {
			f->kind = kinds[l - letters];
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
 * behind "--". 1, -ENOMEM. */
static int split_frames(struct folded *r, const char *p, const char *end)
{
	enum flame_kind plain = FLAME_USER;
	size_t delimiters = 0;

	for (r->frames.n = 0;;) {
		const char *next = memchr(p, ';', (size_t)(end - p));
		struct flame_frame *f = vec_push(&r->frames);

		if (!f)
			return -ENOMEM;
		*f = (struct flame_frame){
			p, (size_t)((next ? next : end) - p), plain,
		};
		if (r->frames.n > 1 && is_delimiter(f)) {
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
static int parse_line(struct folded *r, const char *line, size_t len)
{
	const char *why;
	size_t stack;

	while (len && (is_blank(line[len - 1]) || line[len - 1] == '\r'))
		len--;
	for (stack = len; stack && !is_blank(line[stack - 1]); stack--)
		;
	why = stack ? parse_count(r, line + stack, line + len)
		    : "no blank before a count";
	if (why) {
		if (len)
			malformed(r, why);
		return 0;
	}
	return split_frames(r, line, line + stack - 1);
}

int folded_next(struct folded *r)
{
	const char *line = NULL;
	size_t len = 0;
	int err;

	do {
		err = next_line(r, &line, &len);
		if (err <= 0)
			return err;
		err = parse_line(r, line, len);
	} while (!err);
	return err;
}
