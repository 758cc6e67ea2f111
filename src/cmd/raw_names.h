/* raw_names - reads raw files and names what is in them. */
#ifndef CMD_RAW_NAMES_H
#define CMD_RAW_NAMES_H

#include "base/vec.h"
#include "raw/read.h"
#include "render/graph.h"
#include "render/stack.h"
#include "sym/desk.h"
#include "sym/desk_kernel.h"
#include "sym/name_options.h"
#include "sym/names.h"

/* Two ways to look at a frame: as a leaf, and as a caller. */
struct raw_named {
	struct frame frame[2];
	uint8_t known[2];		/* 0; 1: named; 2: cannot be a caller */
};

struct raw_names {
	struct desk *desk;
	bool mangled;
	struct desk_kernel kernel;
	struct names names;
	struct buf text;
	struct buf about;		/* a line for each file, escaped */
	struct raw_head first;		/* of the first file, which it is the */
	const char *first_path;		/* name of; no command: none yet */
	bool partly;			/* one was not whole */
	bool kernel_unnamed;		/* a function of it */
	/* Of the file that is being read: */
	const char *path;
	uint64_t spent;			/* bytes of its stacks, named */
	struct desk_kernel_view view;
	VEC(uint32_t) files;		/* by number: the desk's + 1 */
	VEC(struct raw_named) frames;
	VEC(struct frame) halves[4];	/* user, kernel; those of a waker */
	int (*head)(void *arg, const struct raw_head *first);
	int (*row)(void *arg, const struct stack_row *row,
		   const uint64_t *values);
	void *arg;
};

/* 0 or -errno, reported; raw_names_close() always. */
int raw_names_open(struct raw_names *n, const struct name_options *o);
void raw_names_close(struct raw_names *n);

/* Read one file, of which nstart bytes were read already (path is for messages,
 * and is kept). If it is the first one, its head is handed over, which is kept;
 * others have to be like it. Then each of its rows, named: valid during the
 * call; what is negative ends it. Of a file that is not whole, what there is,
 * which is reported. *r has its end, and must be freed by raw_read_free(). 0;
 * -ENODATA: it is no such file; or another -errno: reported, but for
 * -ENOMEM and those of the functions. */
int raw_names_read(struct raw_names *n, int fd, const void *start,
		   size_t nstart, const char *path, struct raw_reader *r);

/* How the command that recorded it shows its stacks: options that the user has
 * not set. */
void raw_names_like(const struct raw_head *head, struct graph_options *o,
		    struct stack_options *how);

/* Append n->about as one line. 0 or -ENOMEM. */
int raw_names_subtitle(const struct raw_names *n, struct buf *line);

/* Notices about what could not be named. */
void raw_names_report(const struct raw_names *n);

#endif
