/* events - keys and records that travel between the two halves of a tool. */
#ifndef EVENTS_H
#define EVENTS_H

#include <stdint.h>

/* Every record that a program sends starts with one of these. */
enum event_type {
	EVENT_SEEN = 1,		/* struct seen_event */
	EVENT_STACK = 2,	/* struct stack_event */
	EVENT_SNAP = 3,		/* struct snap_event */
	EVENT_TRACE = 4,	/* struct trace_event */
};

enum { COMM_SIZE = 16 };	/* TASK_COMM_LEN, include/linux/sched.h */
enum { STACK_DEPTH = 127 };	/* PERF_MAX_STACK_DEPTH, the sysctl's default */

/* One image of one process was met for the first time: read its mappings. */
struct seen_event {
	uint32_t type;
	uint32_t tgid, gen;
	uint32_t tid;		/* the thread: the leader may have left */
	uint64_t time;		/* CLOCK_MONOTONIC, ns */
};
_Static_assert(sizeof(struct seen_event) == 24, "no padding");

/* What identifies an image of a process: gen is 0 until its
 * first exec or exit that mattered, then tells when the last one was. */
struct image_key {
	uint32_t tgid, gen;
};

/* One row of counts. A stack is the number of an entry of the stack table, or
 * -errno: -EFAULT = there is none, -EEXIST or -ENOMEM = not recorded. When
 * it collided and was recorded without its leaf, the leaf stands beside it;
 * with a leaf, -EFAULT means that there is nothing but the leaf. */
struct stack_key {
	uint32_t tgid, gen;
	int32_t user, kernel;
	uint64_t user_leaf, kernel_leaf;
	uint64_t caller;	/* what may be the leaf's caller, when the frame
				 * pointers do not lead to it; 0 = none */
	char comm[COMM_SIZE];
};
_Static_assert(sizeof(struct stack_key) == 56, "no padding");

/* A sample whose stack found no place in the table: its frames, leaf first,
 * as many bytes of each as are said, or -errno as in the key. */
struct stack_event {
	uint32_t type;
	int32_t user_bytes, kernel_bytes;
	uint32_t zero;
	uint64_t amount;	/* what it counts for: 1, or a sum */
	struct stack_key key;
	uint64_t user[STACK_DEPTH], kernel[STACK_DEPTH];
};
_Static_assert(sizeof(struct stack_event) == 24 + 56 + 2 * 8 * STACK_DEPTH,
	       "no padding");

/* One hit of a probe with its stacks: key.user and key.kernel are bytes of
 * frames, or -errno; the leaves in it are 0. */
struct snap_event {
	uint32_t type;
	uint32_t probe;		/* number of the point */
	uint32_t tid, cpu;
	uint64_t time;		/* CLOCK_MONOTONIC, ns */
	struct stack_key key;
	uint64_t user[STACK_DEPTH], kernel[STACK_DEPTH];
};
_Static_assert(sizeof(struct snap_event) == 24 + 56 + 2 * 8 * STACK_DEPTH,
	       "no padding");

/* Where the return address of a function without a frame stands. */
enum caller_place {
	CALLER_ON_STACK = 1,	/* x86_64 */
	CALLER_IN_LR = 2,	/* aarch64 */
	/* The same at a function's first instruction, where there is no
	 * doubt. */
	CALLER_ON_STACK_NOW = 3,
	CALLER_IN_LR_NOW = 4,
};

/* What the numbers in the map "targets" are. A tree holds threads, by their
 * numbers in the first pid namespace, which is what a fork tells. */
enum sample_by { BY_NOTHING, BY_TID, BY_TGID, BY_TREE };

/* What trace's program takes at a probe, by the probe's number. */
enum trace_fetch {
	FETCH_ARGS,		/* a function's, or a raw tracepoint's */
	FETCH_RETVAL,
	FETCH_RECORD,		/* a tracepoint's record, `size` bytes */
	FETCH_USDT,		/* as struct trace_args says */
};

/* Where the text of a string is. */
enum trace_space {
	SPACE_NONE,		/* no string */
	SPACE_USER,		/* at an address of the program's */
	SPACE_ANY,		/* at one of either side: bit 55 tells */
	SPACE_DATA_LOC,		/* in the record, as a word in it says: length
				 * << 16 | offset from the record's start */
	SPACE_REL_LOC,		/* ... from the end of the word */
};

enum {
	TRACE_ARGS = 6,		/* words of FETCH_ARGS */
	TRACE_USDT = 12,	/* words of FETCH_USDT */
	TRACE_STRINGS = 6,
};

struct trace_probe {
	uint8_t fetch, at_entry;
	uint16_t size;
	uint8_t spaces[TRACE_STRINGS];
	uint8_t compares;		/* of its struct trace_filter */
	uint8_t zero;
	uint16_t at[TRACE_STRINGS];	/* of the address or word: bytes from
					 * the record's or words' start */
};
_Static_assert(sizeof(struct trace_probe) == 24, "no padding");

/* What of a probe's filter can be judged before a record is made. Answer n is
 * whether ((word & mask) ^ flip) < limit, with the word `at` bytes into the
 * arguments or the tracepoint's record; the answers together are a bit's number
 * in `truth`: 1 = let it pass. */
enum { TRACE_COMPARES = 8 };
struct trace_compare {
	uint64_t mask, flip, limit;
	uint16_t at;
	uint8_t zero[6];
};
struct trace_filter {
	struct trace_compare v[TRACE_COMPARES];
	uint8_t truth[(1 << TRACE_COMPARES) / 8];
};
_Static_assert(sizeof(struct trace_filter) == 9 * 32, "no padding");

/* A USDT argument, as in sym/usdt.h, with registers as offsets in the ctx. */
enum trace_arg_kind {
	TRACE_ARG_END,		/* there is none */
	TRACE_ARG_NONE,		/* it cannot be had */
	TRACE_ARG_CONST, TRACE_ARG_REG, TRACE_ARG_MEM,
};
enum { TRACE_NO_REG = 0x7fff };
struct trace_arg {
	uint8_t kind, width, shift, scale, index_is, narrow;
	uint16_t base, index;
	uint8_t zero[6];
	int64_t disp;
};
struct trace_args {
	struct trace_arg v[TRACE_USDT];
};
_Static_assert(sizeof(struct trace_args) == 24 * TRACE_USDT, "no padding");

/* One hit. Behind it, each as large as the load-time constants say: words or
 * the tracepoint's record; strings; kernel stack; user stack. */
struct trace_event {
	uint32_t type, probe;
	uint64_t time;		/* CLOCK_MONOTONIC, ns */
	uint32_t cpu, tgid, tid, gen;
	char comm[COMM_SIZE];
	uint64_t caller;	/* as in struct stack_key */
	int32_t kernel_bytes, user_bytes;	/* of the stacks, or -errno */
	uint32_t bad;		/* bit n: word n could not be read */
	int16_t strings[TRACE_STRINGS];		/* bytes, or -errno */
	uint32_t uid, gid;	/* where a format or filter asks for them */
};
_Static_assert(sizeof(struct trace_event) == 88, "no padding");

/* How long calls took: a value of funclatency's table, on each CPU. A call of t
 * units is in the slot of t's highest bit, 0 and 1 share the first. */
enum { LATENCY_SLOTS = 64 };
struct latency {
	uint64_t total;		/* ns */
	uint64_t slots[LATENCY_SLOTS];
};
_Static_assert(sizeof(struct latency) == 8 * (1 + LATENCY_SLOTS),
	       "no padding");

/* A call under way, and all of a thread or goroutine (frames.h). */
struct latency_frame {
	uint64_t place, start, probe;
};
enum { LATENCY_FRAMES = 32 };	/* of which one is never used */
struct latency_frames {
	uint64_t n;
	struct latency_frame v[LATENCY_FRAMES];
};
_Static_assert(sizeof(struct latency_frames) == 8 + 24 * LATENCY_FRAMES,
	       "no padding");

/* Calls that it could not time, all CPUs together. */
enum latency_loss {
	LATENCY_NO_ROOM,	/* the table of starts was full */
	LATENCY_TOO_DEEP,	/* called within too many others */
	LATENCY_LEFT,		/* no return was seen */
	LATENCY_EXITED,		/* the thread ended within */
	LATENCY_LOSSES,
};

/* What a thread waits with: a value of offcputime's table "sleeps", by the
 * thread's number everywhere. In place of callers, the keys have the number of
 * the thread as the user knows it: see SLEEP_WOKEN. */
struct sleep {
	uint64_t start;		/* CLOCK_MONOTONIC, ns; 0 = it does not wait */
	struct stack_key key;	/* its stack */
	struct stack_key waker;	/* that of who woke it, with --wakers alone */
};
_Static_assert(sizeof(struct sleep) == 8 + 2 * 56, "no padding");

/* Added to the number of a waker, which may be 0; without it, nobody woke. */
#define SLEEP_WOKEN (1ull << 32)

/* Why sleeps are lost: slots of its "lost". */
enum sleep_loss {
	SLEEP_LOST_ROOM,	/* "sleeps" was full */
	SLEEP_LOST_END,		/* the thread went without having come */
	SLEEP_LOSSES,
};

/* What offcputime's program is to do at the tracepoint it is at. */
enum sched_probe { SCHED_SWITCH, SCHED_WAKING };

/* Whose waiting counts. */
enum sched_threads { THREADS_ALL, THREADS_USER, THREADS_KERNEL };

/* Which states of a thread that goes count. */
enum sched_by_state { STATE_ANY, STATE_BITS, STATE_RUNNABLE };

/* A task that runs, or could, as the iterator over tasks meets it. */
struct load_task {
	uint32_t tgid, tid, cpu;
	uint32_t on_cpu;	/* 1 = it runs: where, only a sample can tell */
	char comm[COMM_SIZE];
	int64_t bytes;		/* of the kernel stack, or -errno */
	uint64_t kernel[STACK_DEPTH];
};
_Static_assert(sizeof(struct load_task) == 40 + 8 * STACK_DEPTH, "no padding");

/* Slots of loadsnoop's "sums", 64 bits each. */
enum load_sum {
	LOAD_WAITING,		/* tasks beyond one a queue, all together */
	LOAD_PEAK,		/* the most that was seen, of LOAD_WAITING or on
				 * one queue, since user space put this to 0 */
	LOAD_HEAD,		/* the first bytes of a queue, as last seen by
				 * user space's own task */
	LOAD_SUMS,
};

/* Counters that a sampling program keeps, all CPUs together: what it did, and
 * each kind of loss. */
enum counter {
	COUNTER_SAMPLES,	/* times the program ran */
	COUNTER_IDLE,		/* samples of the idle task, left out */
	COUNTER_FILTERED,	/* samples that a filter left out */
	COUNTER_OUTSIDE,	/* tasks outside this pid namespace, left out */
	COUNTER_NO_SLOT,	/* samples lost: the table of counts is full */
	COUNTER_EVENT_LOST,	/* records not sent: the ring was full */
	COUNTER_IMAGE_LOST,	/* execs or exits not noted: table full */
	COUNTER_CHILD_LOST,	/* descendants not followed: table full */
	COUNTER_UNTOLD,		/* samples of an image not told: table full */
	COUNTER_MAX,
};

#endif
