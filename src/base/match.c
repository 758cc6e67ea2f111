/* match - whole names against a name, a glob or a regular expression.
 *
 * The glob matcher keeps one place to go back to, that of the last star: what
 * an earlier star took need not be tried again, for a later one can take
 * whatever the earlier one would have left. So there is no pattern whose time
 * grows faster than its length times the name's.
 */
#include "base/match.h"

#include <string.h>

/* The end of the set that opens at p, or NULL: then it is a plain '['. */
static const char *set_end(const char *p)
{
	p++;
	if (*p == '!' || *p == '^')
		p++;
	return *p ? strchr(p + 1, ']') : NULL;
}

/* Is c in the set "[...]" from p to its end? */
static bool set_has(const char *p, const char *end, char c)
{
	bool negated = p[1] == '!' || p[1] == '^', has = false;
	unsigned char byte = (unsigned char)c;

	for (p += 1 + negated; p < end; p++) {
		unsigned char from = (unsigned char)*p, to = from;

		if (p[1] == '-' && p + 2 < end) {
			to = (unsigned char)p[2];
			p += 2;
		}
		has |= byte >= from && byte <= to;
	}
	return has != negated;
}

/* The place in the glob after what matches c, or NULL. */
static const char *glob_step(const char *glob, char c)
{
	const char *end = *glob == '[' ? set_end(glob) : NULL;

	if (end)
		return set_has(glob, end, c) ? end + 1 : NULL;
	if (*glob && (*glob == '?' || *glob == c))
		return glob + 1;
	return NULL;
}

bool match_glob(const char *glob, const char *name)
{
	const char *star = NULL, *taken = NULL;

	while (*name) {
		const char *next;

		if (*glob == '*') {
			star = ++glob;
			taken = name;
			continue;
		}
		next = glob_step(glob, *name);
		if (next) {
			glob = next;
			name++;
		} else if (star) {
			glob = star;
			name = ++taken;
		} else {
			return false;
		}
	}
	return !glob[strspn(glob, "*")];
}

int match_compile(struct match *m, enum match_kind kind, const char *text,
		  struct pattern_fault *fault)
{
	struct pattern_fault ignored;

	*m = (struct match){ .kind = kind, .text = text };
	if (kind != MATCH_REGEX)
		return 0;
	return pattern_compile(text, &m->pattern, fault ? fault : &ignored);
}

void match_free(struct match *m)
{
	if (m->pattern)
		pattern_free(m->pattern);
	m->pattern = NULL;
}

bool match_test(const struct match *m, const char *name)
{
	switch (m->kind) {
	case MATCH_EXACT:
		return !strcmp(m->text, name);
	case MATCH_GLOB:
		return match_glob(m->text, name);
	case MATCH_REGEX:
		return m->pattern && pattern_test(m->pattern, name);
	case MATCH_ALL:
		return true;
	}
	return false;
}
