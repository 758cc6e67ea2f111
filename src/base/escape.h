/* escape - the one routine through which untrusted bytes reach an output. */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stddef.h>

#include "base/buf.h"

enum escape {
	ESCAPE_TEXT,	/* a terminal or a log: one line, no control bytes */
	ESCAPE_FOLDED,	/* a frame of a folded stack: also no ';' */
	ESCAPE_XML,	/* text or attribute value of an SVG file */
	ESCAPE_JSON,	/* inside a JSON string */
};

/* Append the n bytes at s. Control characters, bytes that are not UTF-8, and
 * characters that reorder or hide text become \xNN, byte by byte; the result
 * is the same in every locale. Doing it twice changes nothing but the quoting
 * that XML and JSON need: a backslash stays a backslash. */
void escape(struct buf *out, const char *s, size_t n, enum escape how);

/* Make each "\x3b" of a folded frame the ';' again that it mostly was; all else
 * stays, for nothing depends on it. In place; the new length. */
size_t escape_semicolons_back(char *s, size_t n);

#endif
