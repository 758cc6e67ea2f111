/* leak - what the halves of memleak share: calls, blocks, what is not known. */
#ifndef LEAK_H
#define LEAK_H

#include "events.h"

/* What a probe is at, by what its function takes. */
enum leak_call {
	LEAK_SIZE,		/* f(size): malloc, operator new */
	LEAK_PAGES,		/* f(size), up to whole pages: pvalloc */
	LEAK_PRODUCT,		/* f(n, size): calloc */
	LEAK_SECOND,		/* f(x, size): memalign */
	LEAK_THIRD,		/* int f(void **block, x, size) */
	LEAK_MMAP,		/* f(x, size), -1 = failed */
	LEAK_REALLOC,		/* f(old, size) */
	LEAK_REALLOCARRAY,	/* f(old, n, size) */
	LEAK_MREMAP,		/* f(old, x, size), -1 = failed */
	LEAK_FREE,		/* f(block) */
	LEAK_MUNMAP,		/* f(start, size) */
	LEAK_KERNEL,		/* a tracepoint */
};

/* A value of the map "probes", by the probe's number. */
struct leak_probe {
	uint8_t call;		/* enum leak_call */
	uint8_t returns;	/* the probe at its return is set */
	uint8_t size_bytes;	/* of a record's field: 4 or 8 */
	uint8_t is_order;	/* it tells the power of two of pages */
	uint16_t block_at, size_at;	/* the fields in the record */
};
_Static_assert(sizeof(struct leak_probe) == 8, "no padding");

/* A block that was handed out; all of the kernel's are of the process 0. */
struct leak_key {
	uint32_t tgid, gen;	/* as in struct image_key */
	uint64_t addr;
};
struct leak_block {
	uint64_t size;
	uint64_t time;		/* CLOCK_MONOTONIC, ns */
	uint64_t leaf;		/* as in struct stack_key */
	int32_t stack;
	uint32_t zero;
};
_Static_assert(sizeof(struct leak_block) == 32, "no padding");

/* The end of a block. */
struct leak_freed {
	struct leak_block block;
	uint64_t time, leaf, caller;
	int32_t stack;
	uint32_t tid;
};
_Static_assert(sizeof(struct leak_freed) == 64, "no padding");

/* The outermost call of a thread that is under way. */
struct leak_thread {
	uint64_t sp;		/* where the stack stood; 0 = none */
	uint64_t size;		/* asked for */
	uint64_t out;		/* where the block is told, for LEAK_THIRD */
	uint32_t probe, call;
	uint32_t within;	/* calls seen within it */
	uint32_t skip;		/* 1 = its block does not count */
	uint64_t had;		/* 1 = this block is to be its old one: */
	struct leak_key old;
	struct leak_block saved;
};
_Static_assert(sizeof(struct leak_thread) == 96, "no padding");

/* Records, beside those of events.h. */
enum { EVENT_LEAK_FRAMES = 0x100, EVENT_LEAK_DOUBLE, EVENT_LEAK_CALL };

/* The stack of a block that found no place in the table. */
struct leak_frames {
	uint32_t type;
	int32_t bytes;			/* of frames, or -errno */
	struct leak_key key;
	uint64_t time;			/* the block's */
	uint64_t frames[STACK_DEPTH];
};

/* A block was freed that was free. first.time is 0 when another thread's free
 * was so close that its record is not there. */
struct leak_double {
	uint32_t type, zero;
	struct leak_key key;
	struct leak_freed first, second;
};
_Static_assert(sizeof(struct leak_double) == 24 + 2 * 64, "no padding");

/* A block began, or ended. */
struct leak_told {
	uint32_t type, tid;
	struct leak_key key;
	uint64_t time, size;
	uint64_t freed;			/* 1 = it ended */
};
_Static_assert(sizeof(struct leak_told) == 48, "no padding");

/* Counters behind those of every tool. */
enum leak_counter {
	LEAK_FULL = COUNTER_MAX, /* blocks not kept: no room in the table */
	LEAK_FULL_BYTES,	/* ... and their sizes */
	LEAK_NO_THREAD,		/* calls not followed: too many threads */
	LEAK_MISSED,		/* calls that were left without a return */
	LEAK_MISSED_AT,		/* when the last was noticed, ns */
	LEAK_UNKNOWN,		/* frees of blocks that were not seen */
	LEAK_UNSENT,		/* double frees not told: the ring was full */
	LEAK_COUNTERS,
};

#endif
