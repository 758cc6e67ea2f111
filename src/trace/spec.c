/* spec - probe specs: the text that says what to watch, and its parts.
 *
 *   list  = spec { "," spec }
 *   spec  = part { ":" part }
 *   part  = plain text, or "quoted" [ "+" number ]
 *
 * A spec is cut into parts first, whatever they mean; then its type says what
 * each part is. Two worlds have short types that contradict each other, hence
 * the rules that a command gives (spec.h). */
#include "trace/spec.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/near.h"
#include "base/num.h"
#include "base/pattern.h"

enum {
	PARTS = 5,		/* one more than any spec has */
	PART_MAX = 4096,	/* bytes, with the NUL */
	SPECS_MAX = 4096,	/* of one argument */
	RATE_MAX = 1000000000,	/* in seconds it still fits in 64 bits */
};

/* One part as it was typed. Its text is in the parser's scratch buffer. */
struct part {
	char *text;
	char *suffix;		/* "+0x10" after a quoted part, else NULL */
	size_t off;		/* of the text in the buffer */
	size_t suffix_off;	/* 0 = none */
	size_t at, end;		/* in the argument */
	bool quoted;
};

struct parse {
	const struct spec_rules *rules;
	const char *arg;
	size_t at;		/* the next byte */
	struct buf scratch;	/* of this spec: a NUL, parts, text */
	struct part parts[PARTS];
	size_t n, end;		/* parts; the end of the spec's text */
};

static int spec_error(const struct parse *p, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int spec_error(const struct parse *p, size_t at, const char *fmt, ...)
{
	char why[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	log_error_at(p->rules->command, p->arg, at, why);
	return -EINVAL;
}

static int no_memory(const struct parse *p)
{
	log_error("%s: probes: out of memory", p->rules->command);
	return -ENOMEM;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static void skip_blanks(struct parse *p)
{
	while (is_blank(p->arg[p->at]))
		p->at++;
}

/* From the opening quote to behind the closing one. */
static int scan_quoted(struct parse *p)
{
	size_t start = p->at++;
	char c;

	while ((c = p->arg[p->at]) != '"') {
		if (c == '\\' && p->arg[p->at + 1])
			c = p->arg[++p->at];
		if (!c)
			return spec_error(p, start, "no '\"' closes this one");
		buf_putc(&p->scratch, c);
		p->at++;
	}
	p->at++;
	return 0;
}

/* In a regular expression, what is in brackets or behind a backslash separates
 * nothing. Returns the length of what is to be taken as it stands. */
static size_t regex_step(const char *s, long *depth)
{
	const char *end;

	*depth += (*s == '(' || *s == '{') - (*s == ')' || *s == '}');
	if (*s == '\\' && s[1])
		return 2;
	if (*s != '[')
		return 1;
	end = pattern_set_end(s);
	return (size_t)(end - s) + (*end == ']');
}

static void scan_plain(struct parse *p)
{
	long depth = 0;

	while (p->arg[p->at]) {
		const char *s = p->arg + p->at;
		size_t n = 1;

		if (depth <= 0 && (*s == ':' || *s == ',' || is_blank(*s)))
			break;
		if (p->rules->regex)
			n = regex_step(s, &depth);
		buf_mem(&p->scratch, s, n);
		p->at += n;
	}
}

static int scan_part(struct parse *p)
{
	struct part *part = &p->parts[p->n++];
	int err = 0;

	*part = (struct part){ .at = p->at, .off = p->scratch.len };
	if (p->arg[p->at] == '"') {
		part->quoted = true;
		err = scan_quoted(p);
		buf_putc(&p->scratch, '\0');
		part->suffix_off = p->arg[p->at] == '+' ? p->scratch.len : 0;
	}
	if (!part->quoted || part->suffix_off)
		scan_plain(p);
	buf_putc(&p->scratch, '\0');
	part->end = p->end = p->at;
	if (!err && p->scratch.len - part->off > PART_MAX)
		err = spec_error(p, part->at, "longer than any name");
	return err;
}

/* Pointers, now that the buffer stays where it is. */
static void place_parts(struct parse *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct part *part = &p->parts[i];

		part->text = p->scratch.data + part->off;
		if (part->suffix_off)
			part->suffix = p->scratch.data + part->suffix_off;
	}
}

static int scan_spec(struct parse *p)
{
	int err;

	p->n = 0;
	buf_reset(&p->scratch);
	buf_putc(&p->scratch, '\0');
	skip_blanks(p);
	for (;;) {
		if (p->n == PARTS)
			return spec_error(p, p->at, "a colon too many; with "
					  "colons, a path goes into quotes");
		err = scan_part(p);
		if (err)
			return err;
		if (p->arg[p->at] != ':')
			break;
		p->at++;
	}
	skip_blanks(p);
	if (p->arg[p->at] && p->arg[p->at] != ',')
		return spec_error(p, p->at, "a comma or the end expected; a "
				  "name with blanks goes into quotes");
	buf_mem(&p->scratch, p->arg + p->parts[0].at,
		p->end - p->parts[0].at);
	buf_putc(&p->scratch, '\0');
	if (p->scratch.err)
		return no_memory(p);
	place_parts(p);
	return 0;
}

/* Part i is missing or empty. */
static int expected(const struct parse *p, size_t i, const char *what)
{
	static const char *const after[] = {
		"", " after the first colon", " after the second colon",
		" after the third colon", " after the fourth colon",
	};

	return spec_error(p, i < p->n ? p->parts[i].at : p->end,
			  "%s expected%s", what, after[i]);
}

static int too_many(const struct parse *p, size_t i)
{
	return spec_error(p, p->parts[i].at - 1, "a colon too many; with "
			  "colons, a name or path goes into quotes");
}

static bool is_stars(const char *s)
{
	return *s && !s[strspn(s, "*")];
}

/* The pattern of a part. Where names are regular expressions, files are no
 * patterns: such a part has been cut as an expression, too. */
static int part_match(const struct parse *p, const struct part *part,
		      bool file, enum match_kind *out)
{
	struct pattern_fault fault;
	struct match m;
	int err;

	*out = MATCH_EXACT;
	if (part->quoted || (file && p->rules->regex))
		return 0;
	if (!p->rules->regex) {
		if (strpbrk(part->text, "*?["))
			*out = is_stars(part->text) ? MATCH_ALL : MATCH_GLOB;
		return 0;
	}
	if (!strpbrk(part->text, REGEX_CHARS))
		return 0;
	*out = MATCH_REGEX;
	err = match_compile(&m, MATCH_REGEX, part->text, &fault);
	match_free(&m);
	if (err == -ENOMEM)
		return no_memory(p);
	return err ? spec_error(p, part->at + fault.at, "%s", fault.why) : 0;
}

/* Part i as it stands, needed: `what` says as what. A file, or a name. */
static int set_part(const struct parse *p, size_t i, const char *what,
		    bool file, struct spec_part *out)
{
	const struct part *part = &p->parts[i];

	if (i < p->n && part->suffix)
		return spec_error(p, part->end - strlen(part->suffix),
				  "no offset is possible here");
	if (i >= p->n || !*part->text)
		return expected(p, i, what);
	out->text = part->text;
	return part_match(p, part, file, &out->match);
}

/* The same, but it may be left empty. */
static int set_optional(const struct parse *p, size_t i, bool file,
			struct spec_part *out)
{
	const struct part *part = &p->parts[i];

	return *part->text || part->suffix ? set_part(p, i, "", file, out) : 0;
}

/* The whole text, decimal or 0x and hexadecimal. */
static bool number(const char *s, uint64_t *out)
{
	const char *end = s + strlen(s), *after;

	after = !strncmp(s, "0x", 2) ? num_hex(s + 2, end, out)
				     : num_dec(s, end, out);
	return after && after == end;
}

/* Cut "+offset" off a function's name. */
static int take_offset(const struct parse *p, const struct part *part,
		       struct probe_spec *s)
{
	char *plus = part->suffix;
	size_t at;

	if (!plus && !part->quoted && !p->rules->regex)
		plus = strchr(part->text, '+');
	if (!plus)
		return 0;
	at = part->end - strlen(plus) + 1;
	if (!number(plus + 1, &s->offset))
		return spec_error(p, at, "a number of bytes expected "
				  "after '+'");
	if (probe_is_return(s->kind) || s->kind == PROBE_FENTRY)
		return spec_error(p, at - 1, "%s takes no offset",
				  probe_kind_name(s->kind));
	*plus = '\0';
	return 0;
}

static int take_address(const struct parse *p, const struct part *part,
			struct probe_spec *s)
{
	if (!number(part->text, &s->address))
		return spec_error(p, part->at, "an address of up to 16 "
				  "hexadecimal digits expected");
	if (s->kind == PROBE_FENTRY || s->kind == PROBE_FEXIT)
		return spec_error(p, part->at, "%s takes a name, no address",
				  probe_kind_name(s->kind));
	s->has_address = true;
	return 0;
}

/* Part i is a function: its name, name+offset, or address. */
static int set_function(const struct parse *p, size_t i, struct probe_spec *s)
{
	const struct part *part = &p->parts[i];
	int err;

	if (i >= p->n || (!*part->text && !part->suffix))
		return expected(p, i, "a function's name");
	err = take_offset(p, part, s);
	if (err)
		return err;
	if (!*part->text)
		return expected(p, i, "a function's name");
	if (!part->quoted && !strncmp(part->text, "0x", 2))
		return take_address(p, part, s);
	s->name.text = part->text;
	err = part_match(p, part, false, &s->name.match);
	if (!err && s->offset && s->name.match != MATCH_EXACT)
		err = spec_error(p, part->at, "an offset goes with the name of "
				 "one function");
	return err;
}

/* Each of these reads the parts from `i` on: what follows the type. */

static int read_kernel(const struct parse *p, size_t i, struct probe_spec *s)
{
	int err = 0;

	if (p->n > i + 2)
		return too_many(p, i + 2);
	if (p->n == i + 2)
		err = set_optional(p, i++, false, &s->target);
	return err ? err : set_function(p, i, s);
}

static int read_user(const struct parse *p, size_t i, struct probe_spec *s)
{
	int err;

	if (p->n > i + 2)
		return too_many(p, i + 2);
	err = set_part(p, i, "a program, library or pid", true, &s->target);
	return err ? err : set_function(p, i + 1, s);
}

static int read_usdt(const struct parse *p, size_t i, struct probe_spec *s)
{
	int err = 0;

	if (p->n > i + 3)
		return too_many(p, i + 3);
	if (p->n > i)
		err = set_optional(p, i, true, &s->target);
	if (!err && p->n == i + 3)
		err = set_optional(p, ++i, false, &s->provider);
	return err ? err : set_part(p, i + 1, "a usdt probe's name", false,
				    &s->name);
}

/* These names become paths in tracefs. */
static int check_slash(const struct parse *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const char *slash = strchr(p->parts[i].text, '/');

		if (slash)
			return spec_error(p, p->parts[i].at, "no tracepoint "
					  "has a '/' in its name");
	}
	return 0;
}

static int read_tracepoint(const struct parse *p, size_t i,
			   struct probe_spec *s)
{
	bool raw = s->kind == PROBE_RAW_TRACEPOINT;
	int err = check_slash(p);

	if (!err && p->n > i + 2)
		err = too_many(p, i + 2);
	if (!err && !raw)
		err = set_part(p, i++, "a tracepoint's category", false,
			       &s->target);
	else if (!err && p->n == i + 2)
		err = set_optional(p, i++, false, &s->target);
	return err ? err : set_part(p, i, "a tracepoint's name", false,
				    &s->name);
}

static int read_event(const struct parse *p, size_t i, struct probe_spec *s)
{
	int err = set_part(p, i, "an event's name", true, &s->name);
	const struct part *count = &p->parts[i + 1];

	s->name.match = MATCH_EXACT;
	s->unit = UNIT_EVENTS;
	if (err || p->n <= i + 1)
		return err;
	if (p->n > i + 2)
		return too_many(p, i + 2);
	if (*count->text && (!number(count->text, &s->rate) || !s->rate ||
			     s->rate > INT64_MAX || count->suffix))
		return spec_error(p, count->at, "a number of events expected");
	return 0;
}

static const char *const units[] = {
	[UNIT_HZ] = "hz", [UNIT_S] = "s", [UNIT_MS] = "ms", [UNIT_US] = "us",
};

static enum probe_unit unit_find(const char *name)
{
	for (enum probe_unit u = UNIT_HZ; u <= UNIT_US; u++)
		if (!strcmp(units[u], name))
			return u;
	return UNIT_NONE;
}

/* "hz:99", or "99hz" in one part. */
static int read_timer(const struct parse *p, size_t i, struct probe_spec *s)
{
	const struct part *unit = &p->parts[i], *rate = unit;
	const char *name, *end, *after;

	if (p->n <= i || !*unit->text)
		return expected(p, i, "hz, s, ms or us");
	if (p->n > i + 2)
		return too_many(p, i + 2);
	if (p->n > i + 1)
		rate++;
	end = rate->text + strlen(rate->text);
	after = num_dec(rate->text, end, &s->rate);
	name = rate == unit && after ? after : unit->text;
	s->unit = unit_find(name);
	if (!s->unit)
		return spec_error(p, unit->at + (size_t)(name - unit->text),
				  "hz, s, ms or us expected");
	if (rate == unit && !after)
		return expected(p, i + 1, "a number");
	if (!after || (rate != unit && *after) || rate->suffix || !s->rate ||
	    s->rate > RATE_MAX)
		return spec_error(p, rate->at, "a number from 1 to "
				  "1000000000 expected");
	return 0;
}

static int read_none(const struct parse *p, size_t i, struct probe_spec *s)
{
	(void)s;
	return p->n > i ? too_many(p, i) : 0;
}

static const struct kind {
	const char *name, *letter, *alias;
	int (*read)(const struct parse *p, size_t i, struct probe_spec *s);
} kinds[PROBE_KINDS] = {
	[PROBE_KPROBE] = { "kprobe", "k", "k", read_kernel },
	[PROBE_KRETPROBE] = { "kretprobe", "kr", "kr", read_kernel },
	[PROBE_FENTRY] = { "fentry", "f", "kfunc", read_kernel },
	[PROBE_FEXIT] = { "fexit", "fr", "kretfunc", read_kernel },
	[PROBE_UPROBE] = { "uprobe", "", "", read_user },
	[PROBE_URETPROBE] = { "uretprobe", "ur", "ur", read_user },
	[PROBE_USDT] = { "usdt", "U", "U", read_usdt },
	[PROBE_TRACEPOINT] = { "tracepoint", "t", "t", read_tracepoint },
	[PROBE_RAW_TRACEPOINT] = { "rawtracepoint", "rt", "raw_tracepoint",
				   read_tracepoint },
	[PROBE_SOFTWARE] = { "software", "s", "s", read_event },
	[PROBE_HARDWARE] = { "hardware", "h", "h", read_event },
	[PROBE_PROFILE] = { "profile", "", "", read_timer },
	[PROBE_INTERVAL] = { "interval", "i", "i", read_timer },
	[PROBE_BEGIN] = { "BEGIN", "", "", read_none },
	[PROBE_END] = { "END", "", "", read_none },
};

/* PROBE_KINDS when it is no type. */
static enum probe_kind kind_find(const struct parse *p)
{
	const struct part *type = &p->parts[0];
	int k = 0;

	if (type->quoted || !*type->text)
		return PROBE_KINDS;
	if (!strcmp(type->text, "u"))
		return p->rules->bpftrace ? PROBE_UPROBE : PROBE_USDT;
	if (!strcmp(type->text, "p") && p->rules->bpftrace)
		return PROBE_PROFILE;
	while (k < PROBE_KINDS && strcmp(type->text, kinds[k].name) &&
	       strcmp(type->text, kinds[k].letter) &&
	       strcmp(type->text, kinds[k].alias))
		k++;
	return (enum probe_kind)k;
}

static int unknown_type(const struct parse *p)
{
	const char *type = p->parts[0].text;
	struct near near = { .wanted = type };

	if (p->n == 1 || !*type)
		return expected(p, 0, "a type such as kprobe: or uprobe:");
	spec_error(p, p->parts[0].at, p->rules->bpftrace ?
		   "no such type of probe" :
		   "no such type of probe; with colons, a name or path "
		   "goes into quotes");
	for (int k = 0; k < PROBE_KINDS; k++)
		near_offer(&near, kinds[k].name);
	if (near.best)
		log_hint("the nearest is %s", near.best);
	return -EINVAL;
}

/* bcc's own: f, LIB:f, :f, p:f, p::f, p:LIB:f, ::f, and with r. */
static int read_bcc(const struct parse *p, struct probe_spec *s)
{
	const struct part *type = &p->parts[0];
	bool returns = !type->quoted && !strcmp(type->text, "r");
	bool typed = !type->quoted && (!*type->text || returns ||
				       !strcmp(type->text, "p"));
	size_t i = typed && p->n > 1;
	bool user;

	if (p->n > 2 && !typed)
		return unknown_type(p);
	if (p->n == 2 && !typed && p->rules->pairs) {
		s->kind = PROBE_TRACEPOINT;
		return read_tracepoint(p, 0, s);
	}
	user = p->n == i + 2 && *p->parts[i].text;
	s->kind = user ? PROBE_UPROBE : PROBE_KPROBE;
	if (i && returns)
		s->kind = user ? PROBE_URETPROBE : PROBE_KRETPROBE;
	return user ? read_user(p, i, s) : read_kernel(p, i, s);
}

static int read_spec(const struct parse *p, struct probe_spec *s)
{
	enum probe_kind kind = kind_find(p);
	uint32_t allowed = p->rules->kinds;
	int err;

	if (p->n == 1 && !*p->parts[0].text && !p->parts[0].suffix)
		return expected(p, 0, "a probe");
	if (p->n == 1 && kind != PROBE_BEGIN && kind != PROBE_END)
		kind = PROBE_KINDS;
	if (kind != PROBE_KINDS) {
		s->kind = kind;
		err = kinds[kind].read(p, 1, s);
	} else {
		err = p->rules->bpftrace ? unknown_type(p) : read_bcc(p, s);
	}
	if (!err && allowed && !(allowed & 1u << s->kind))
		err = spec_error(p, p->parts[0].at, "%s takes no %s",
				 p->rules->command, probe_kind_name(s->kind));
	return err;
}

/* The strings move from the scratch buffer into memory of the spec's own. */
static int spec_own(const struct parse *p, struct probe_spec *s)
{
	const char **texts[] = { &s->target.text, &s->provider.text,
				 &s->name.text, &s->text };

	s->memory = mem_zalloc(p->scratch.len);
	if (!s->memory)
		return no_memory(p);
	memcpy(s->memory, p->scratch.data, p->scratch.len);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		*texts[i] = s->memory + (*texts[i] - p->scratch.data);
	return 0;
}

static int parse_spec(struct parse *p, struct probe_specs *to)
{
	struct probe_spec *s;
	int err = scan_spec(p);

	if (err)
		return err;
	s = vec_push(to);
	if (!s)
		return no_memory(p);
	*s = (struct probe_spec){ .at = p->parts[0].at };
	s->target.text = s->provider.text = s->name.text = p->scratch.data;
	s->text = p->scratch.data + p->scratch.len - 1 -
		  (p->end - p->parts[0].at);
	err = read_spec(p, s);
	if (!err)
		err = spec_own(p, s);
	if (err)
		to->n--;
	return err;
}

static void specs_cut(struct probe_specs *s, size_t n)
{
	while (s->n > n)
		mem_free(s->v[--s->n].memory);
}

int specs_parse(const char *arg, const struct spec_rules *rules,
		struct probe_specs *to)
{
	struct parse p = { .rules = rules, .arg = arg };
	size_t before = to->n;
	int err;

	for (;; p.at++) {
		err = parse_spec(&p, to);
		if (err || p.arg[p.at] != ',')
			break;
		if (to->n - before == SPECS_MAX) {
			err = spec_error(&p, p.at, "more than 4,096 probes");
			break;
		}
	}
	if (err)
		specs_cut(to, before);
	buf_free(&p.scratch);
	return err;
}

void specs_free(struct probe_specs *s)
{
	specs_cut(s, 0);
	vec_free(s);
}

const char *probe_kind_name(enum probe_kind kind)
{
	return kinds[kind].name;
}

const char *probe_unit_name(enum probe_unit unit)
{
	return units[unit];
}
