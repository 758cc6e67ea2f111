/* log - what goes to stderr: errors, hints, notices and the live line. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"

enum {
	LINE_SIZE = 2048,	/* of a message, unescaped */
	AROUND = 40,		/* bytes of an argument before a caret */
};

static bool verbose, silent, live_shown;
static void (*tap)(void *arg, const char *text);
static void *tap_arg;

/* Nowhere is left to report a failure of it. */
static void put(const char *bytes, size_t n)
{
	ssize_t done;

	do {
		done = write(STDERR_FILENO, bytes, n);
	} while (done < 0 && errno == EINTR);
}

/* Without memory, what would be escaped is left out. */
static void put_plain(const char *prefix, char *text, const char *end)
{
	char line[LINE_SIZE + 32];

	for (char *p = text; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	snprintf(line, sizeof(line), "%s%s%s", prefix, text, end);
	put(line, strlen(line));
}

/* The line goes out in one write, so that lines of several processes that
 * share a terminal do not mix. */
static void put_line(const char *prefix, const char *fmt, va_list ap,
		     const char *end)
{
	struct buf line = { 0 };
	char text[LINE_SIZE];

	if (silent)
		return;
	vsnprintf(text, sizeof(text), fmt, ap);
	buf_puts(&line, prefix);
	escape(&line, text, strlen(text), ESCAPE_TEXT);
	buf_puts(&line, end);
	if (line.err)
		put_plain(prefix, text, end);
	else
		put(line.data, line.len);
	buf_free(&line);
}

void log_live_clear(void)
{
	ssize_t n;

	if (!live_shown)
		return;
	live_shown = false;
	n = write(STDERR_FILENO, "\r\033[K", 4);
	(void)n;
}

void log_error(const char *fmt, ...)
{
	va_list ap;

	log_live_clear();
	va_start(ap, fmt);
	put_line("sonde: ", fmt, ap, "\n");
	va_end(ap);
}

/* A caret in that column, the first being 0. */
static void log_caret(size_t column)
{
	struct buf line = { 0 };

	while (column--)
		buf_putc(&line, ' ');
	buf_puts(&line, "^\n");
	if (!silent && !line.err)
		put(line.data, line.len);
	buf_free(&line);
}

/* Columns that the n bytes at s take when they are shown; wide characters
 * count as one. */
static size_t columns_of(const char *s, size_t n)
{
	struct buf shown = { 0 };
	size_t columns = 0;

	escape(&shown, s, n, ESCAPE_TEXT);
	for (size_t i = 0; i < shown.len; i++)
		columns += (shown.data[i] & 0xc0) != 0x80;
	buf_free(&shown);
	return columns;
}

void log_error_at(const char *command, const char *arg, size_t at,
		  const char *why)
{
	size_t len = strlen(arg), from = 0, to = len;
	char shown[2 * AROUND + 8];
	int n;

	if (len > 2 * AROUND) {
		from = at > AROUND ? at - AROUND : 0;
		to = len - at > AROUND ? at + AROUND : len;
	}
	/* not from the middle of a character */
	while (from && from < at && (arg[from] & 0xc0) == 0x80)
		from++;
	while (to < len && (arg[to] & 0xc0) == 0x80)
		to--;
	n = snprintf(shown, sizeof(shown), "%s%.*s", from ? "..." : "",
		     (int)(at - from), arg + from);
	log_error("%s: %s%.*s%s: %s", command, shown, (int)(to - at),
		  arg + at, to < len ? "..." : "", why);
	log_caret(strlen("sonde: : ") + columns_of(command, strlen(command)) +
		  columns_of(shown, (size_t)n));
}

void log_hint(const char *fmt, ...)
{
	va_list ap;

	log_live_clear();
	va_start(ap, fmt);
	put_line("hint: ", fmt, ap, "\n");
	va_end(ap);
}

void log_set_tap(void (*fn)(void *arg, const char *text), void *arg)
{
	tap = fn;
	tap_arg = arg;
}

static void tap_line(const char *fmt, va_list ap)
{
	char text[LINE_SIZE];

	vsnprintf(text, sizeof(text), fmt, ap);
	tap(tap_arg, text);
}

void log_notice(const char *fmt, ...)
{
	va_list ap;

	log_live_clear();
	if (tap && !silent) {
		va_start(ap, fmt);
		tap_line(fmt, ap);
		va_end(ap);
	}
	va_start(ap, fmt);
	put_line("note: ", fmt, ap, "\n");
	va_end(ap);
}

void log_verbose(const char *fmt, ...)
{
	va_list ap;

	if (!verbose)
		return;
	log_live_clear();
	va_start(ap, fmt);
	put_line("debug: ", fmt, ap, "\n");
	va_end(ap);
}

void log_set_verbose(bool on)
{
	verbose = on;
}

void log_set_silent(bool on)
{
	silent = on;
}

void log_live(const char *fmt, ...)
{
	va_list ap;

	if (!isatty(STDERR_FILENO))
		return;
	va_start(ap, fmt);
	put_line("\r", fmt, ap, "\033[K");
	va_end(ap);
	live_shown = true;
}

const char *log_errno(int err)
{
	return strerror(err < 0 ? -err : err);
}

void log_count(uint64_t n, const char *what)
{
	if (n)
		log_notice("%s: %llu", what, (unsigned long long)n);
}
