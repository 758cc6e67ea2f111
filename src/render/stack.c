/* stack - sampled stacks as rows: bcc's text layout, folded, or a flame. */
#include "render/stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

static const char missed_user[] = "[Missed User Stack]";
static const char missed_kernel[] = "[Missed Kernel Stack]";

static bool is_delimited(const struct stack_row *row,
			 const struct stack_options *how)
{
	return how->delimited && row->nuser && row->nkernel;
}

static void put_address(struct buf *out, const struct frame *f,
			const struct stack_options *how)
{
	if (how->addresses)
		buf_fmt(out, "0x%llx ", (unsigned long long)f->addr);
}

static void put_annotation(struct buf *out, const struct frame *f, bool kernel,
			   const struct stack_options *how)
{
	if (how->annotate && kernel)
		buf_puts(out, "_[k]");
	else if (how->annotate && f->kind == FRAME_JIT)
		buf_puts(out, "_[j]");
}

/* Text: leaf first, a line each. */

static const char *indent(const struct stack_options *how)
{
	return how->hits ? "  " : "    ";
}

static void text_line(struct buf *out, const char *s,
		      const struct stack_options *how)
{
	buf_puts(out, indent(how));
	buf_puts(out, s);
	buf_putc(out, '\n');
}

static void text_frames(struct buf *out, const struct frame *f, size_t n,
			bool kernel, const struct stack_options *how)
{
	for (; n--; f++) {
		buf_puts(out, indent(how));
		put_address(out, f, how);
		escape(out, f->name, strlen(f->name), ESCAPE_TEXT);
		put_annotation(out, f, kernel, how);
		buf_putc(out, '\n');
	}
}

/* Of a waker, root first: it leads to whom it wakes. */
static void text_rising(struct buf *out, const struct frame *f, size_t n,
			bool kernel, const struct stack_options *how)
{
	while (n--)
		text_frames(out, &f[n], 1, kernel, how);
}

static void text_who(struct buf *out, const char *what,
		     const struct stack_row *row)
{
	buf_fmt(out, "    %-16s ", what);
	escape(out, row->comm, strlen(row->comm), ESCAPE_TEXT);
	buf_fmt(out, " %u\n", row->pid);
}

static void text_waker(struct buf *out, const struct stack_row *row,
		       const struct stack_options *how)
{
	text_who(out, "waker:", row);
	if (row->missed_user)
		text_line(out, missed_user, how);
	text_rising(out, row->user, row->nuser, false, how);
	if (is_delimited(row, how))
		text_line(out, "-", how);
	if (row->missed_kernel)
		text_line(out, missed_kernel, how);
	text_rising(out, row->kernel, row->nkernel, true, how);
	buf_fmt(out, "    %-16s %s\n", "--", "--");
}

void stack_text(struct buf *out, const struct stack_row *row,
		const struct stack_options *how)
{
	if (row->waker)
		text_waker(out, row->waker, how);
	if (row->missed_kernel)
		text_line(out, missed_kernel, how);
	text_frames(out, row->kernel, row->nkernel, true, how);
	if (is_delimited(row, how))
		text_line(out, row->waker ? "-" : "--", how);
	if (row->missed_user)
		text_line(out, missed_user, how);
	text_frames(out, row->user, row->nuser, false, how);
	if (row->waker) {
		text_who(out, "target:", row);
		return;
	}
	if (how->hits && !*row->comm)
		return;			/* of all together */
	buf_puts(out, how->hits ? "    " : "    -                ");
	escape(out, row->comm, strlen(row->comm), ESCAPE_TEXT);
	buf_fmt(out, how->hits ? " [%u]\n" : " (%u)\n", row->pid);
}

/* Folded: root first, one line. */

/* A name of somebody else's choice must not read as our delimiter or carry
 * an annotation that we did not give it: its last character is then escaped. */
void folded_name(struct buf *out, const char *s, size_t n)
{
	bool forged = ((n == 1 || n == 2) && !memcmp(s, "--", n)) ||
		      (n > 4 && s[n - 1] == ']' && s[n - 3] == '[' &&
		       s[n - 4] == '_');

	escape(out, s, n - forged, ESCAPE_FOLDED);
	if (forged)
		buf_fmt(out, "\\x%02x", (unsigned char)s[n - 1]);
}

static void folded_frames(struct buf *out, const struct frame *f, size_t n,
			  bool kernel, const struct stack_options *how)
{
	while (n--) {
		buf_putc(out, ';');
		put_address(out, &f[n], how);
		folded_name(out, f[n].name, strlen(f[n].name));
		put_annotation(out, &f[n], kernel, how);
	}
}

static void folded_missed(struct buf *out, bool missed, const char *text)
{
	if (!missed)
		return;
	buf_putc(out, ';');
	buf_puts(out, text);
}

/* Leaf first, on top of whom it wakes. */
static void folded_falling(struct buf *out, const struct frame *f, size_t n,
			   bool kernel, const struct stack_options *how)
{
	for (; n--; f++)
		folded_frames(out, f, 1, kernel, how);
}

static void folded_waker(struct buf *out, const struct stack_row *row,
			 const struct stack_options *how)
{
	buf_puts(out, ";--");
	folded_missed(out, row->missed_kernel, missed_kernel);
	folded_falling(out, row->kernel, row->nkernel, true, how);
	if (is_delimited(row, how))
		buf_puts(out, ";-");
	folded_missed(out, row->missed_user, missed_user);
	folded_falling(out, row->user, row->nuser, false, how);
	buf_putc(out, ';');
	folded_name(out, row->comm, strlen(row->comm));
}

void stack_folded(struct buf *out, const struct stack_row *row,
		  const struct stack_options *how)
{
	const char *comm = *row->comm || !how->hits ? row->comm : "all";

	folded_name(out, comm, strlen(comm));
	if (how->pids)
		buf_fmt(out, "-%u", row->pid);
	folded_missed(out, row->missed_user, missed_user);
	folded_frames(out, row->user, row->nuser, false, how);
	if (is_delimited(row, how))
		buf_puts(out, ";-");
	folded_missed(out, row->missed_kernel, missed_kernel);
	folded_frames(out, row->kernel, row->nkernel, true, how);
	if (row->waker)
		folded_waker(out, row->waker, how);
}

static void cut_half(const struct frame **frames, size_t *n, uint64_t *skip,
		     uint64_t depth)
{
	size_t drop = *skip < *n ? (size_t)*skip : *n;

	if (drop)
		*frames += drop;
	*n -= drop;
	*skip -= drop;
	if (depth && *n > depth)
		*n = (size_t)depth;
}

void stack_row_cut(struct stack_row *row, uint64_t skip, uint64_t depth)
{
	cut_half(&row->kernel, &row->nkernel, &skip, depth);
	cut_half(&row->user, &row->nuser, &skip, depth);
}

/* A set of rows. */

int stack_set_add(struct stack_set *s, const struct stack_row *row)
{
	uint64_t *value;
	int64_t id;

	buf_reset(&s->text);
	if (s->how.folded)
		stack_folded(&s->text, row, &s->how);
	else
		stack_text(&s->text, row, &s->how);
	if (s->text.err)
		return s->text.err;
	if (!vec_room((void **)&s->values.v, &s->values.cap, s->values.n + 1,
		      sizeof(*s->values.v)))
		return -ENOMEM;
	id = intern_put(&s->texts, buf_str(&s->text), s->text.len);
	if (id < 0)
		return (int)id;
	value = &s->values.v[id];
	if ((size_t)id == s->values.n)
		s->values.v[s->values.n++] = 0;
	*value = *value > UINT64_MAX - row->value ? UINT64_MAX
						   : *value + row->value;
	return 0;
}

void stack_set_free(struct stack_set *s)
{
	intern_free(&s->texts);
	vec_free(&s->values);
	buf_free(&s->text);
}

struct printed {
	uint64_t value;
	const char *text;
	size_t len;
};

static int printed_compare(const void *a, const void *b)
{
	const struct printed *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return strcmp(x->text, y->text);
}

int stack_set_print(const struct stack_set *s, size_t top, FILE *out)
{
	const char *before = s->how.folded ? " " :
			     s->how.hits ? "    " : "        ";
	const char *after = s->how.folded ? "\n" : "\n\n";
	size_t n = s->values.n, i;
	struct printed *p = mem_zalloc(n * sizeof(*p));

	if (!p)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		p[i].value = s->values.v[i];
		p[i].text = intern_bytes(&s->texts, (uint32_t)i, &p[i].len);
	}
	qsort(p, n, sizeof(*p), printed_compare);
	for (i = top && top < n ? n - top : 0; i < n; i++) {
		fwrite(p[i].text, 1, p[i].len, out);
		fprintf(out, "%s%llu%s", before,
			(unsigned long long)p[i].value, after);
	}
	mem_free(p);
	return 0;
}

/* A flame graph. */

struct frames {
	struct flame_frame *v;
	size_t n;
};

static void frames_add(struct frames *f, const char *name,
		       enum flame_kind kind)
{
	f->v[f->n++] = (struct flame_frame){ name, strlen(name), kind };
}

static void frames_half(struct frames *f, const struct frame *half, size_t n)
{
	while (n--)
		frames_add(f, half[n].name, (enum flame_kind)half[n].kind);
}

static void frames_waker(struct frames *f, const struct stack_row *row)
{
	frames_add(f, "--", FLAME_DELIMITER);
	if (row->missed_kernel)
		frames_add(f, missed_kernel, FLAME_UNKNOWN);
	for (size_t i = 0; i < row->nkernel; i++)
		frames_add(f, row->kernel[i].name, FLAME_WAKER);
	if (row->missed_user)
		frames_add(f, missed_user, FLAME_UNKNOWN);
	for (size_t i = 0; i < row->nuser; i++)
		frames_add(f, row->user[i].name, FLAME_WAKER);
	frames_add(f, row->comm, FLAME_WAKER);
}

static size_t frames_most(const struct stack_row *row)
{
	return row->nuser + row->nkernel + 4;
}

int stack_frames(const struct stack_row *row, const struct stack_options *how,
		 int (*fn)(void *arg, struct flame_frame *frames, size_t n,
			   uint64_t value), void *arg)
{
	size_t most = frames_most(row) +
		      (row->waker ? frames_most(row->waker) : 0);
	struct frames all = { mem_zalloc(most * sizeof(*all.v)), 0 };
	char named[64];
	int err;

	if (!all.v)
		return -ENOMEM;
	snprintf(named, sizeof(named), "%s-%u", row->comm, row->pid);
	if (how->pids)
		frames_add(&all, named, FLAME_USER);
	else if (*row->comm || !how->hits)
		frames_add(&all, row->comm, FLAME_USER);
	if (row->missed_user)
		frames_add(&all, missed_user, FLAME_UNKNOWN);
	frames_half(&all, row->user, row->nuser);
	if (is_delimited(row, how))
		frames_add(&all, "-", FLAME_DELIMITER);
	if (row->missed_kernel)
		frames_add(&all, missed_kernel, FLAME_UNKNOWN);
	frames_half(&all, row->kernel, row->nkernel);
	if (row->waker)
		frames_waker(&all, row->waker);
	err = fn(arg, all.v, all.n, row->value);
	mem_free(all.v);
	return err;
}

static int add_to_flame(void *arg, struct flame_frame *frames, size_t n,
			uint64_t value)
{
	return flame_add(arg, frames, n, value);
}

int stack_flame(struct flame *f, const struct stack_row *row,
		const struct stack_options *how)
{
	return stack_frames(row, how, add_to_flame, f);
}
