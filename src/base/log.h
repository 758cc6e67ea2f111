/* log - what goes to stderr: errors, hints, notices and the live line. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One line each, escaped as a whole, so arguments may come from anywhere.
 * Object first, then the cause: log_error("%s: %s", file, why). */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_notice(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* An error in an argument: "sonde: COMMAND: ARGUMENT: WHY", and below it a
 * caret under the byte at `at`. Of a long argument, what is around it. */
void log_error_at(const char *command, const char *arg, size_t at,
		  const char *why);

/* A notice "WHAT: N", of what there was any. */
void log_count(uint64_t n, const char *what);

/* Show each notice to fn, too, before it is escaped; NULL = no more. */
void log_set_tap(void (*fn)(void *arg, const char *text), void *arg);

/* Only with --verbose. */
void log_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_set_verbose(bool on);

/* Say nothing at all: for a try whose failure is the answer. */
void log_set_silent(bool on);

/* The one line that is rewritten in place while a trace runs; nothing at all
 * when stderr is no terminal. Any other message clears it first. */
void log_live(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_live_clear(void);

/* The kernel's text for an errno, without its number. */
const char *log_errno(int err);

#endif
