/* flame - stacks merged by common ancestry: what a flame graph draws. */
#ifndef RENDER_FLAME_H
#define RENDER_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/vec.h"

/* What a frame is; it picks the tone. Frames of equal name and different kind
 * are different frames. The first four are those of enum frame_kind. */
enum flame_kind {
	FLAME_USER,
	FLAME_KERNEL,
	FLAME_JIT,
	FLAME_UNKNOWN,
	FLAME_INLINED,
	FLAME_WAKER,
	FLAME_DELIMITER,	/* stands between two halves of a stack */
	FLAME_KINDS
};

extern const char *const flame_kind_names[FLAME_KINDS];

struct flame_frame {
	const char *name;	/* any bytes; not NUL-terminated */
	size_t len;
	enum flame_kind kind;
};

struct flame_node;

/* All zero is an empty graph; flame_free() makes it so again. */
struct flame {
	struct intern names;
	struct intern edges;	/* (node, first label) -> number in child[] */
	VEC(uint32_t) child;
	VEC(uint32_t) labels;	/* the nodes' frames: name << 3 | kind */
	VEC(struct flame_node) nodes;
	VEC(uint64_t) old;	/* by node; only with diff */
	uint64_t total, old_total;
	bool diff;		/* set before the first stack: two programs or
				 * times are compared, flame_add_old() works */
	bool linked;		/* the nodes' siblings are */
	bool saturated;		/* a sum passed 2^64 - 1 and stays there */
};

void flame_free(struct flame *f);

/* Add `value` samples of one stack, root first; names are copied. A value of
 * 0 adds nothing. 0, or -ENOMEM: the graph is then only fit to be freed. */
int flame_add(struct flame *f, const struct flame_frame *frames, size_t n,
	      uint64_t value);

/* The same for what the graph is compared with. Frames that only this adds are
 * not shown. */
int flame_add_old(struct flame *f, const struct flame_frame *frames, size_t n,
		  uint64_t value);

/* One frame of the merged graph, as flame_walk() shows it. left and width are
 * fractions of the whole; depth 0 stands on the root, which is not shown. */
struct flame_box {
	const char *name;
	size_t len;
	enum flame_kind kind;
	uint32_t label;		/* the same for equal name and kind */
	uint32_t depth;
	uint64_t value, old;
	double left, width;
};

/* Call fn for every frame of at least min_width, parents first, siblings in
 * the order of their names. Children never pass their parent's edges. 0,
 * -ENOMEM, or the first non-zero value that fn returns. */
int flame_walk(struct flame *f, double min_width,
	       int (*fn)(void *arg, const struct flame_box *box), void *arg);

/* The name and kind that a label stands for. */
struct flame_frame flame_label(const struct flame *f, uint32_t label);

#endif
