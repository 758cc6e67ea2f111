/* advice - (operation, errno, state of the host) to a reason and a remedy. */
#ifndef SYS_ADVICE_H
#define SYS_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "sys/state.h"

enum operation {
	OP_BPF,			/* bpf(2): a map or a program */
	OP_PERF_OPEN,		/* perf_event_open(2), of CPUs */
	OP_PERF_TASK,		/* the same, of processes */
	OP_PERF_KERNEL,		/* the same, of the kernel's half */
	OP_PERF_RING,		/* the memory of its ring */
	OP_PROC,		/* something of a process under /proc */
	OP_KALLSYMS,		/* the kernel's names */
	OP_TRACEFS,		/* something in tracefs */
	OP_KPROBE,		/* a probe of a kernel function */
	OP_UPROBE,		/* a probe of a user function */
	OP_FENTRY,		/* a program on a kernel function, by BTF */
	OP_BTF,			/* the kernel's types */
	OP_MOUNT,		/* a file system that was not mounted */
};

/* After an error message: the `hint:` lines that the host's state confirms.
 * err is an errno, of either sign. */
void advice(enum operation op, int err);

/* The same appended to a text, ", also: " between them; nothing when there are
 * none. An allocation that fails shows in to->err. */
void advice_append(enum operation op, int err, struct buf *to);

/* The text for an errno of that operation, where the C library's would
 * mislead (E2BIG from bpf(2) is no argument list). */
const char *advice_reason(enum operation op, int err);

/* The whole table: a hint is given when its state holds. */
struct advice_row {
	enum operation op;
	int err;
	bool (*holds)(const struct state *s);
	const char *hint;
};
extern const struct advice_row advice_rows[];
extern const size_t advice_count;

#endif
