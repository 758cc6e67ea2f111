/* spec_print - probe specs as text, and what follows from their kinds. */
#include <string.h>

#include "trace/spec.h"

bool probe_is_kernel(enum probe_kind kind)
{
	return kind == PROBE_KPROBE || kind == PROBE_KRETPROBE ||
	       kind == PROBE_FENTRY || kind == PROBE_FEXIT;
}

bool probe_is_user(enum probe_kind kind)
{
	return kind == PROBE_UPROBE || kind == PROBE_URETPROBE ||
	       kind == PROBE_USDT;
}

bool probe_is_return(enum probe_kind kind)
{
	return kind == PROBE_KRETPROBE || kind == PROBE_FEXIT ||
	       kind == PROBE_URETPROBE;
}

bool spec_is_pattern(const struct probe_spec *s)
{
	return s->target.match != MATCH_EXACT ||
	       s->provider.match != MATCH_EXACT ||
	       s->name.match != MATCH_EXACT;
}

uint64_t spec_period_ns(const struct probe_spec *s)
{
	switch (s->unit) {
	case UNIT_HZ:
		return 1000000000 / s->rate;
	case UNIT_S:
		return s->rate * 1000000000;
	case UNIT_MS:
		return s->rate * 1000000;
	case UNIT_US:
		return s->rate * 1000;
	default:
		return 0;
	}
}

static bool spec_has_regex(const struct probe_spec *s)
{
	return s->target.match == MATCH_REGEX ||
	       s->provider.match == MATCH_REGEX ||
	       s->name.match == MATCH_REGEX;
}

/* What would be read as something else unless it is in quotes: `special` are
 * the characters of patterns. */
static bool needs_quotes(const struct spec_part *part, const char *special)
{
	const char *s = part->text;

	if (part->match != MATCH_EXACT)
		return false;
	return *s == '"' || strpbrk(s, ",: \t\n") || strpbrk(s, special) ||
	       !strncmp(s, "0x", 2);
}

static void print_part(const struct spec_part *part, const char *special,
		       struct buf *to)
{
	buf_putc(to, ':');
	if (!needs_quotes(part, special)) {
		buf_puts(to, part->text);
		return;
	}
	buf_putc(to, '"');
	for (const char *p = part->text; *p; p++) {
		if (*p == '"' || *p == '\\')
			buf_putc(to, '\\');
		buf_putc(to, *p);
	}
	buf_putc(to, '"');
}

static void print_number(const char *before, uint64_t n, struct buf *to)
{
	buf_fmt(to, "%s%llu", before, (unsigned long long)n);
}

static void print_rate(const struct probe_spec *s, struct buf *to)
{
	if (s->kind == PROBE_PROFILE || s->kind == PROBE_INTERVAL)
		buf_fmt(to, ":%s", probe_unit_name(s->unit));
	if (s->rate)
		print_number(":", s->rate, to);
}

void spec_print(const struct probe_spec *s, struct buf *to)
{
	const char *names = spec_has_regex(s) ? REGEX_CHARS : "*?[+";
	bool file = probe_is_user(s->kind);

	buf_puts(to, probe_kind_name(s->kind));
	if (*s->target.text || file)
		print_part(&s->target, file ? "*?[" : names, to);
	if (*s->provider.text)
		print_part(&s->provider, names, to);
	if (s->has_address) {
		buf_putc(to, ':');
		buf_hex(to, s->address);
	} else if (*s->name.text) {
		print_part(&s->name, names, to);
	}
	if (s->offset)
		print_number("+", s->offset, to);
	print_rate(s, to);
}
