/* spec - probe specs: the text that says what to watch, and its parts. */
#ifndef TRACE_SPEC_H
#define TRACE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/match.h"
#include "base/vec.h"

enum probe_kind {
	PROBE_KPROBE, PROBE_KRETPROBE, PROBE_FENTRY, PROBE_FEXIT,
	PROBE_UPROBE, PROBE_URETPROBE, PROBE_USDT,
	PROBE_TRACEPOINT, PROBE_RAW_TRACEPOINT,
	PROBE_SOFTWARE, PROBE_HARDWARE,
	PROBE_PROFILE, PROBE_INTERVAL,
	PROBE_BEGIN, PROBE_END,
	PROBE_KINDS
};

/* What a rate counts: so many a second, one every so many units of time, or
 * one every so many events. */
enum probe_unit { UNIT_NONE, UNIT_HZ, UNIT_S, UNIT_MS, UNIT_US, UNIT_EVENTS };

/* A part of a spec: "" with MATCH_EXACT where it was left out. Never empty
 * where the kind needs it. */
struct spec_part {
	const char *text;	/* unquoted; owned by the spec */
	enum match_kind match;
};

/* kind            target           provider   name
 * kprobe, fentry  module, or ""    -          function, or "" and address
 * uprobe          file             -          function, or "" and address
 * usdt            file, or ""      or ""      probe
 * tracepoint      category         -          tracepoint
 * rawtracepoint   module, or ""    -          tracepoint
 * software, hardware   -           -          event; rate
 * profile, interval    -           -          -; rate
 *
 * A file is a path, a glob of paths, a name on the library path or of a
 * process ("c", "libc.so.6"), or a pid: text only, not looked up here. A usdt
 * probe's file is "" for that of the process which the command is given. */
struct probe_spec {
	enum probe_kind kind;
	struct spec_part target, provider, name;
	bool has_address;
	uint64_t address;	/* instead of a name; a file's: as its symbols
				 * are numbered */
	uint64_t offset;	/* bytes after the start of the function */
	uint64_t rate;		/* software, hardware: 0 = the event's own */
	enum probe_unit unit;
	const char *text;	/* as typed, without blanks around it; owned */
	size_t at;		/* where that is in the argument, in bytes */
	char *memory;		/* of the texts */
};

struct probe_specs {
	struct probe_spec *v;
	size_t n, cap;
};

/* Where regular expressions are asked for, a name without these is a name. */
#define REGEX_CHARS "\\.[]()*+?{}|^$"

/* How a command reads its arguments. Long names mean one thing everywhere, and
 * so do the short ones that only one of the two worlds has:
 *   k kr f fr ur U t rt s h i  as in bpftrace.
 * bcc's: p = kernel function, or with a file a function of it (p:c:malloc),
 * r = its return, u = usdt; "f" is p::f and "LIB:f" is p:LIB:f.
 * bpftrace's: p = profile, u = uprobe; a type is needed. */
struct spec_rules {
	const char *command;	/* for messages */
	bool bpftrace;		/* whose short forms; false: bcc's */
	bool regex;		/* names are regular expressions, not globs;
				 * files are no patterns then */
	bool pairs;		/* bcc's: "x:y" is the tracepoint y of x */
	uint32_t kinds;		/* 1 << PROBE_..., 0 = all */
};

/* Append what a comma list of specs says. A part in double quotes is taken as
 * it stands, \" and \\ being " and \; it may hold blanks, commas, colons, and
 * is no pattern. 0; -EINVAL after one error with the position marked (and at
 * most a hint), -ENOMEM after one; `to` is then as it was. */
int specs_parse(const char *arg, const struct spec_rules *rules,
		struct probe_specs *to);
void specs_free(struct probe_specs *s);

/* Append the spec's long form: "kprobe:vfs_read". Any command reads it as the
 * same spec, with `regex` when a part is one. It may hold any byte but NUL. */
void spec_print(const struct probe_spec *s, struct buf *to);

/* "kprobe", "rawtracepoint", ...; "hz", "s", "ms", "us". */
const char *probe_kind_name(enum probe_kind kind);
const char *probe_unit_name(enum probe_unit unit);

/* More than one name may match. */
bool spec_is_pattern(const struct probe_spec *s);

/* The place is a function of the kernel's; it is in a program. */
bool probe_is_kernel(enum probe_kind kind);
bool probe_is_user(enum probe_kind kind);

/* The handler runs when the function returns. */
bool probe_is_return(enum probe_kind kind);

/* Nanoseconds between two hits of a profile or interval. */
uint64_t spec_period_ns(const struct probe_spec *s);

#endif
