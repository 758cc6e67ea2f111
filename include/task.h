/* task - who the current task is, in the user's numbers; for bpfasm/ alone.
 *
 * A program that asks the user's filters takes r6 = ctx, gets the numbers by
 * TASK_IDS and has SHARED(task_filter). Its object lists TASK_MAPS and
 * TASK_CONSTS; src/trace/filter.h fills them in.
 */
#ifndef TASK_H
#define TASK_H

enum {				/* stack slots, off R10 */
	SLOT = SCRATCH - 8,
	ONE = SLOT - 8,
	NAME = ONE - COMM_SIZE,	/* of the task, for the filter */
	TASK_SLOTS = NAME,	/* a program's own are below */
};

extern const struct insn task_filter[];	/* bpfasm/pieces.c */

/* r9 = tgid << 32 | tid everywhere, r7 = the same as the user's pid namespace
 * numbers them. Goes to `outside` when the task has no number there. SLOT is
 * eight bytes of the stack: struct bpf_pidns_info, u32 tid and tgid. */
#define TASK_IDS(SLOT, outside) \
	CALL (get_current_pid_tgid), \
	MOV  (R9, R0), \
	TASK_OWN_IDS(SLOT, outside)

/* The same with r9 given. */
#define TASK_OWN_IDS(SLOT, outside) \
	MOV  (R7, R9), \
	CONST(R1, "ns_ino"),		/* 0 = the initial namespace */ \
	JEQI (R1, 0, "ids"), \
	MOV  (R2, R1), \
	CONST(R1, "ns_dev"), \
	LEA  (R3, R10, SLOT), \
	MOVI (R4, 8), \
	CALL (get_ns_current_pid_tgid), \
	JNEI (R0, 0, outside), \
	LDX  (W, R7, R10, SLOT + 4), \
	LSHI (R7, 32), \
	LDX  (W, R1, R10, SLOT), \
	OR   (R7, R1), \
LABEL("ids")

/* The task's name, COMM_SIZE bytes, to the stack at `comm`. */
#define TASK_COMM(comm) \
	ST   (DW, R10, comm, 0), \
	ST   (DW, R10, comm + 8, 0), \
	LEA  (R1, R10, comm), \
	MOVI (R2, COMM_SIZE), \
	CALL (get_current_comm)

#define TASK_MAPS \
	{ "targets", HASH, 4, 8, 1024, 0 }, \
	{ "cgroup", CGROUP_ARRAY, 4, 4, 1, 0 }

#define TASK_CONSTS \
	"ns_dev", "ns_ino",	/* the user's pid namespace */ \
	"self",			/* a tgid that is left out, or 0 */ \
	"by",			/* enum sample_by: what targets holds */ \
	"by_comm", "comm_head", "comm_tail", \
	"by_cgroup",		/* 1 = under the one in the map */ \
	"by_cpu"		/* a CPU's number + 1, or 0 */

#endif
