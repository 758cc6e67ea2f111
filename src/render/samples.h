/* samples - the stacks that a flame graph was merged from, one by one. */
#ifndef RENDER_SAMPLES_H
#define RENDER_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/vec.h"
#include "render/flame.h"

/* A place of the tree, and the frame there by its number: frames of equal name
 * and kind are one. Both count from 0 in the order of their appearance. */
struct sample_frame {
	uint32_t place, frame;
	uint64_t self;		/* of it alone, without what it calls */
};

/* Set flame and arg, all else is zero. The graph may be walked several times
 * and looks the same each time. */
struct samples {
	struct flame *flame;
	void *arg;

	/* Each place when it is come upon, behind its parent, and when all that
	 * it calls has been: with `self` it is a stack of its own. The path
	 * leads there, root first, n >= 1 frames. Non-zero ends the walk;
	 * either may be NULL. */
	int (*enter)(void *arg, const struct sample_frame *path, size_t n);
	int (*leave)(void *arg, const struct sample_frame *path, size_t n);

	struct intern frames;	/* labels to numbers */
	VEC(struct sample_frame) path;
	uint32_t places;
};

/* 0, -ENOMEM, or what a function returned. */
int samples_walk(struct samples *s);

/* The frame of that number, once it has appeared. */
struct flame_frame samples_frame(const struct samples *s, uint32_t frame);

void samples_free(struct samples *s);

#endif
