/* read - reads raw files, which may be cut off, damaged, or not honest. */
#ifndef RAW_READ_H
#define RAW_READ_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/vec.h"
#include "raw/format.h"

/* How a file ended. */
enum raw_state {
	RAW_WHOLE,
	RAW_CUT,		/* without an end: cut off at `offset` */
	RAW_DAMAGED,		/* the record at `offset` is not as written */
	RAW_SENSELESS,		/* the record at `offset` says what cannot be */
	RAW_NO_RAW,		/* it does not begin as one */
	RAW_NO_CLEAR_LINE,	/* it did before its line ends were changed */
	RAW_NEWER,		/* of a version that is not known here */
};

struct raw_node {
	uint32_t parent, frame;
	uint32_t depth;
};

struct raw_task {
	uint32_t comm, pid;		/* a string */
};

/* One side of a row: user and kernel are nodes, 0 = none; caller is a frame. */
struct raw_side {
	uint32_t flags, task, user, kernel, caller;
};

struct raw_row {
	struct raw_side side, waker;
	uint64_t values[RAW_UNITS_MOST];
};

/* What was read so far; node n is nodes.v[n - 1]. */
struct raw_reader {
	struct raw_head head;
	struct raw_end end;		/* RAW_WHOLE only */
	unsigned units;
	unsigned major, minor;
	enum raw_state state;
	bool more, another;		/* there is something behind its end;
					 * it begins as such a file does */
	uint64_t offset, rows;

	struct intern texts, end_texts;	/* of the head, of the end */
	struct buf strings;		/* NUL-terminated */
	VEC(size_t) string_at;
	VEC(struct raw_file) files;	/* their paths: */
	VEC(uint32_t) file_paths;	/* strings */
	VEC(struct raw_module) modules;
	VEC(uint32_t) module_names;
	VEC(struct raw_task) tasks;
	VEC(struct raw_frame) frames;
	VEC(struct raw_node) nodes;

	int fd;
	uint8_t *bytes;
	size_t room, at, have;		/* what of them is not yet taken */
	uint32_t crc;
	int err;			/* of reading */
};

/* Who wants to know; each but `row` may be NULL. head() is called once, before
 * anything else. A negative result ends the reading. */
struct raw_sink {
	int (*head)(void *arg, const struct raw_reader *r);
	int (*row)(void *arg, const struct raw_reader *r,
		   const struct raw_row *row);
	int (*note)(void *arg, const char *text);
	void *arg;
};

/* Do n bytes begin as a raw file does, changed line ends or not? */
bool raw_begins(const void *p, size_t n);

/* Read a file from where its descriptor stands, behind n bytes of it that were
 * read already. 0, and r->state tells how it
 * ended: what came before that was handed over; -ENOMEM, or what read(2) gave;
 * or what the sink returned. raw_read_free() always. */
int raw_read(struct raw_reader *r, int fd, const void *start, size_t n,
	     const struct raw_sink *sink);
void raw_read_free(struct raw_reader *r);

/* Items by number, which rows have right; valid until the next one is read. */
const char *raw_string(const struct raw_reader *r, uint32_t id);
struct raw_file raw_file(const struct raw_reader *r, uint32_t id);
struct raw_module raw_module(const struct raw_reader *r, uint32_t id);

#endif
