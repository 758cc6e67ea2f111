/* match - whole names against a name, a glob or a regular expression. */
#ifndef BASE_MATCH_H
#define BASE_MATCH_H

#include <stdbool.h>

#include "base/pattern.h"

enum match_kind {
	MATCH_EXACT,	/* byte by byte */
	MATCH_GLOB,	/* * ? [a-z] [!a-z]; a '[' that nothing closes is one */
	MATCH_REGEX,	/* base/pattern.h, of the whole name */
	MATCH_ALL,	/* every name: the glob "*" */
};

struct match {
	enum match_kind kind;
	const char *text;	/* not owned, must outlive the match */
	struct pattern *pattern;	/* MATCH_REGEX only */
};

/* 0; -EINVAL: no regular expression, *fault (unless NULL) says why; -ENOMEM.
 * match_free() in any case. */
int match_compile(struct match *m, enum match_kind kind, const char *text,
		  struct pattern_fault *fault);
void match_free(struct match *m);

/* Takes about (length of the text) x (length of the name) steps at most. */
bool match_test(const struct match *m, const char *name);

/* The same for a glob alone. */
bool match_glob(const char *glob, const char *name);

#endif
