/* verifier - the kernel's complaint about a program, with source lines.
 *
 * The log tells the walk of the verifier, one line for each instruction it
 * takes ("57: (85) call bpf_map_lookup_elem#1") or state it is in ("57:
 * R1=..."), and ends with the complaint and some statistics. The number is the
 * instruction's index as loaded.
 */
#include "asm/verifier.h"

#include <string.h>

#include "base/num.h"

enum { LAST_LINES = 8 };

struct line {
	const char *p, *end;
};

static bool starts_with(const struct line *line, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(line->end - line->p) >= n &&
	       !memcmp(line->p, word, n);
}

static bool is_statistic(const struct line *line)
{
	return starts_with(line, "processed ") ||
	       starts_with(line, "verification time ") ||
	       starts_with(line, "stack depth ");
}

/* Keep the last lines in a ring; how many there were. */
static size_t last_lines(const char *log, const char *end,
			 struct line ring[LAST_LINES])
{
	struct line line;
	size_t n = 0;

	for (const char *p = log; p < end; p = line.end + 1) {
		line.p = p;
		line.end = memchr(p, '\n', end - p);
		if (!line.end)
			line.end = end;
		if (line.p < line.end && !is_statistic(&line))
			ring[n++ % LAST_LINES] = line;
	}
	return n;
}

static void explain_line(const struct line *line, const struct prog_def *prog,
			 const struct linked *l, struct buf *out)
{
	uint64_t i;
	const char *p = num_dec(line->p, line->end, &i);

	if (p && p < line->end && *p == ':' && i < l->n)
		buf_fmt(out, "%s:%d: %s: ", l->notes[i].file,
			l->notes[i].line,
			prog->name);
	buf_mem(out, line->p, line->end - line->p);
	buf_putc(out, '\n');
}

void verifier_explain(const char *log, size_t len, const struct prog_def *prog,
		      const struct linked *l, struct buf *out)
{
	struct line ring[LAST_LINES];
	const char *nul = memchr(log, 0, len);
	size_t n = last_lines(log, nul ? nul : log + len, ring);

	for (size_t i = n > LAST_LINES ? n - LAST_LINES : 0; i < n; i++)
		explain_line(&ring[i % LAST_LINES], prog, l, out);
}
