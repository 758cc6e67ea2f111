/* point - the places that probe specs mean, found before anything is set. */
#ifndef TRACE_POINT_H
#define TRACE_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "sym/names.h"
#include "sym/usdt.h"
#include "trace/spec.h"

/* A program or library with probes in it. */
struct point_file {
	const char *label;	/* its base name, raw */
	const char *path;	/* where it was found, raw, for messages */
	const char *probe_path;	/* what leads the kernel to it */
	int fd;			/* keeps it there */
	bool is_go;		/* uretprobes kill it */
	bool knows_g;		/* Go that has its g in a register */
};

enum { POINT_NO_USDT = -1 };

/* One place. Strings belong to the points and are raw bytes. */
struct point {
	enum probe_kind kind;
	const char *name;	/* what results call it: "vfs_read", "malloc",
				 * "sched:sched_switch", "hello:probe-main" */
	const char *symbol;	/* kernel function, event, USDT probe; NULL
				 * elsewhere */
	const char *module;	/* of a kernel function, or NULL; category of a
				 * tracepoint; provider of a USDT probe */
	uint64_t address;	/* of a kernel function, 0 = by its symbol; of a
				 * program's, as the file numbers it */
	uint64_t size;		/* of a program's function; 0 = not known */
	uint64_t offset;	/* bytes into a kernel function; in a file: of
				 * the place, from the file's start */
	uint64_t semaphore;	/* offset in the file; 0 = none */
	uint32_t file;		/* number in `files`; of user kinds */
	int32_t usdt;		/* number in `args`, or POINT_NO_USDT */
	uint32_t spec;		/* number of the spec it came from */
	bool repeated;		/* its name may be another's, too: a kernel
				 * function of a pattern */
	bool at_entry;		/* the first instruction of a function, or of
				 * what no symbol names */
	bool many;		/* from a pattern: one that cannot be set is
				 * counted, not an error */
};

struct points {
	const char *command;
	uint32_t pid;		/* whose processes' files are meant; 0 = ours */
	VEC(struct point) v;
	VEC(struct point_file) files;
	VEC(struct usdt_args) args;
	struct names names;
	size_t left_out;	/* matched, but nothing can be set there */
};

/* Find what the specs mean. -ENOENT with near names, -ENOTUNIQ with all that a
 * name could be, or another -errno: reported. points_free() always. */
int points_find(struct points *p, const char *command,
		const struct probe_specs *specs, uint32_t pid);
void points_free(struct points *p);

/* It is at the first instruction of a program's function, where the caller is
 * known for sure; one of them is. */
bool point_at_entry(const struct point *p);
bool points_at_entry(const struct points *p);

/* One of them is a function of the kernel. */
bool points_in_kernel(const struct points *p);

/* For the files of this room: a new point of a spec; strings are copied. NULL
 * when memory is out. */
struct point *points_add(struct points *p, const struct probe_spec *spec,
			 size_t number);
const char *points_text(struct points *p, const char *text);

/* Take a library over as a file of the points. Its number, and its symbols for
 * elf_close(); or -errno. */
struct library;
struct elf;
int64_t points_add_file(struct points *p, struct library *l,
			struct elf **elf);

/* The parts: kernel functions, tracepoints, programs. Each as points_find(). */
int points_find_kernel(struct points *p, const struct probe_spec *s, size_t n);
int points_find_tracepoint(struct points *p, const struct probe_spec *s,
			   size_t n);
int points_find_user(struct points *p, const struct probe_spec *s, size_t n);

#endif
