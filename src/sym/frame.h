/* frame - one named frame of a stack, as the renderers see it. */
#ifndef SYM_FRAME_H
#define SYM_FRAME_H

#include <stdint.h>

enum frame_kind {
	FRAME_USER,
	FRAME_KERNEL,
	FRAME_JIT,	/* named by a JIT map */
	FRAME_UNKNOWN,	/* an address that no mapping or symbol explains */
};

struct frame {
	const char *name;	/* raw bytes, NUL-terminated: escape on output;
				 * owned by whoever named it */
	uint64_t addr;
	enum frame_kind kind;
};

#endif
