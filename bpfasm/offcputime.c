/* offcputime - sum up how long threads wait, by stack; user half:
 * src/cmd/offcputime.c, trace/waiting.c
 *
 *   switch   raw_tracepoint sched_switch: ctx[0] = bool preempt, ctx[1] and
 *            ctx[2] = struct task_struct * of who goes and who comes,
 *            ctx[3] = the state of who goes (5.18); or the tracepoint's record
 *   waking   raw_tracepoint sched_waking: ctx[0] = struct task_struct *; or
 *            the tracepoint's record
 *
 * At a switch the current task is still the one that goes, so its stack is
 * taken then, and kept with the time under the thread's number. When the thread
 * comes back the difference is added to the stack. An entry stays as long as
 * its thread: one that does not wait has the time 0.
 */
#include "asm.h"
#include "images.h"
#include "stack_table.h"
#include "task.h"

enum {				/* stack slots, off R10 */
	SLEEP = KEY - (int)offsetof(struct sleep, key),
	WAKER = SLEEP + (int)offsetof(struct sleep, waker),
	TID = (SLEEP < STACK_SLOTS ? SLEEP : STACK_SLOTS) - 8,
	NOW = TID - 8,
};

enum {
	START_AT = offsetof(struct sleep, start),
	KEY_IN = offsetof(struct sleep, key),
	WAKER_IN = offsetof(struct sleep, waker),
	WOKEN_IN = WAKER_IN + (int)offsetof(struct stack_key, caller),
	KTHREAD = 0x00200000,		/* PF_KTHREAD: linux/sched.h */
};

/* r0 = a 32-bit number at base + offset, the latter a constant. */
#define READ_AT(base, constant) \
	MOV  (R3, base), \
	CONST(R1, constant), \
	ADD  (R3, R1), \
	ST   (DW, R10, SLOT, 0), \
	LEA  (R1, R10, SLOT), \
	MOVI (R2, 4), \
	CALL (probe_read_kernel), \
	LDX  (W, R0, R10, SLOT)

/* r0 = the entry of the thread at TID, or 0. */
#define FIND_SLEEP \
	LOOKUP("sleeps", TID)

#define COPY_WORD(to, to_at, from, from_at, n) \
	LDX  (DW, R1, from, from_at + 8 * n), \
	STX  (DW, to, to_at + 8 * n, R1)
#define COPY_KEY(to, to_at, from, from_at) \
	COPY_WORD(to, to_at, from, from_at, 0), \
	COPY_WORD(to, to_at, from, from_at, 1), \
	COPY_WORD(to, to_at, from, from_at, 2), \
	COPY_WORD(to, to_at, from, from_at, 3), \
	COPY_WORD(to, to_at, from, from_at, 4), \
	COPY_WORD(to, to_at, from, from_at, 5), \
	COPY_WORD(to, to_at, from, from_at, 6)
_Static_assert(sizeof(struct stack_key) == 56, "as many as are copied");

/* The same where it may take longer. */
#define READ_KEY(to, to_at, from, from_at) \
	LEA  (R1, to, to_at), \
	MOVI (R2, sizeof(struct stack_key)), \
	LEA  (R3, from, from_at), \
	CALL (probe_read_kernel)

static const struct insn sched[] = {
	MOV  (R6, R1),			/* r6 = ctx */
	PROBE(R8, R6),
	MOV  (R9, R6),
	ST   (DW, R10, NOW, 0),
	JEQI (R8, SCHED_SWITCH, "switch"),

	/* somebody wakes a thread that waits, or is about to */
	CONST(R1, "raw"),
	JEQI (R1, 0, "wakes"),
	LDX  (DW, R9, R6, 0),
LABEL("wakes"),
	READ_AT(R9, "woken_at"),
	STX  (W, R10, TID, R0),
	FIND_SLEEP,
	JEQI (R0, 0, "out"),
	MOVI (R7, 0),
	CALL (get_current_pid_tgid),
	MOV  (R9, R0),
	JEQI (R0, 0, "named"),		/* an interrupt of the idle task */
	JMP  ("numbers"),

	/* who comes */
LABEL("switch"),
	CALL (ktime_get_ns),
	STX  (DW, R10, NOW, R0),
	CONST(R1, "raw"),
	JEQI (R1, 0, "comes"),
	LDX  (DW, R9, R6, 16),
LABEL("comes"),
	READ_AT(R9, "pid_at"),
	JEQI (R0, 0, "goes"),		/* the CPU's idle task */
	STX  (W, R10, TID, R0),
	FIND_SLEEP,
	JEQI (R0, 0, "goes"),
	LDX  (DW, R2, R0, START_AT),
	JEQI (R2, 0, "goes"),
	CONST(R1, "wakers"),
	JEQI (R1, 0, "slept"),
	MOV  (R7, R0),
	READ_KEY(R10, WAKER, R7, WAKER_IN),
	MOV  (R0, R7),
	LDX  (DW, R2, R0, START_AT),
	ST   (DW, R0, WOKEN_IN, 0),	/* it was for this sleep */
LABEL("slept"),
	ST   (DW, R0, START_AT, 0),
	LDX  (DW, R9, R10, NOW),
	SUB  (R9, R2),			/* r9 = ns */
	CONST(R1, "least"),
	JLT  (R9, R1, "goes"),
	CONST(R1, "most"),
	JGT  (R9, R1, "goes"),
	STX  (DW, R10, AMOUNT, R9),
	COPY_KEY(R10, KEY, R0, KEY_IN),
	ADD_TO_COUNTS("found", "goes"),
	COUNT("counters", COUNTER_NO_SLOT),

	/* who goes; r8 = its state, if that matters */
LABEL("goes"),
	CALL (get_current_pid_tgid),
	JEQI (R0, 0, "out"),
	MOV  (R9, R0),			/* r9 = its numbers everywhere */
	STX  (W, R10, TID, R0),
	CONST(R1, "raw"),
	JEQI (R1, 0, "record"),
	MOVI (R8, 0),
	LDX  (DW, R1, R6, 0),
	JNEI (R1, 0, "state"),		/* it could run on */
	CONST(R1, "state_given"),
	JEQI (R1, 0, "field"),
	LDX  (DW, R8, R6, 24),
	JMP  ("state"),
LABEL("field"),
	LDX  (DW, R8, R6, 8),
	READ_AT(R8, "state_at"),
	MOV  (R8, R0),
	JMP  ("state"),
LABEL("record"),
	READ_AT(R6, "state_at"),
	MOV  (R8, R0),
LABEL("state"),
	CONST(R1, "dead"),
	AND  (R1, R8),
	JNEI (R1, 0, "dead"),
	CONST(R1, "by_state"),
	JEQI (R1, STATE_ANY, "threads"),
	CONST(R2, "states"),
	AND  (R2, R8),
	JEQI (R1, STATE_RUNNABLE, "runnable"),
	JEQI (R2, 0, "filtered"),
	JMP  ("threads"),
LABEL("runnable"),
	JNEI (R2, 0, "filtered"),
LABEL("threads"),
	CONST(R1, "threads"),
	JEQI (R1, THREADS_ALL, "numbers"),
	CONST(R1, "raw"),
	JEQI (R1, 0, "memory"),
	LDX  (DW, R8, R6, 8),
	READ_AT(R8, "flags_at"),
	ANDI (R0, KTHREAD),
	JNEI (R0, 0, "kernel thread"),
	JMP  ("user thread"),
LABEL("memory"),			/* of its own? */
	MOV  (R1, R6),
	LEA  (R2, R10, SLOT),
	MOVI (R3, 8),
	MOVI (R4, BPF_F_USER_STACK),
	CALL (get_stack),
	JSLEI(R0, 0, "kernel thread"),
LABEL("user thread"),
	CONST(R1, "threads"),
	JEQI (R1, THREADS_KERNEL, "filtered"),
	JMP  ("numbers"),
LABEL("kernel thread"),
	CONST(R1, "threads"),
	JEQI (R1, THREADS_USER, "filtered"),
LABEL("numbers"),
	TASK_OWN_IDS(SLOT, "outside"),
	PROBE(R1, R6),
	JNEI (R1, SCHED_SWITCH, "named"),
	JMP  ("filter"),
LABEL("outside"),
	MOVI (R7, 0),
	PROBE(R1, R6),
	JNEI (R1, SCHED_SWITCH, "named"),
	COUNT("counters", COUNTER_OUTSIDE),
	JMP  ("filtered"),
LABEL("filter"),
	SHARED(task_filter),
LABEL("named"),
	TASK_COMM(COMM),
	SHARED(stack_image),
	SHARED(stack_ids),
	SHARED(stack_tell),
	/* in place of a caller, which the ctx has no registers to find by */
	MOV  (R8, R7),
	LSHI (R8, 32),
	RSHI (R8, 32),			/* r8 = its tid */
	PROBE(R1, R6),
	JNEI (R1, SCHED_SWITCH, "woken"),
	STX  (DW, R10, KEY_AT(caller), R8),
	LDX  (DW, R7, R10, NOW),
	FIND_SLEEP,
	JEQI (R0, 0, "new"),
	LDX  (DW, R1, R0, START_AT),
	JEQI (R1, 0, "awake"),
	MOV  (R8, R0),			/* it came back, unseen */
	COUNT("lost", SLEEP_LOST_END),
	MOV  (R0, R8),
LABEL("awake"),
	COPY_KEY(R0, KEY_IN, R10, KEY),
	STX  (DW, R0, START_AT, R7),
LABEL("out"),
	RETURN(0),
LABEL("new"),
	STX  (DW, R10, SLEEP + START_AT, R7),
	MOVI (R1, 0),
	STX  (DW, R10, WAKER, R1),
	STX  (DW, R10, WAKER + 8, R1),
	STX  (DW, R10, WAKER + 16, R1),
	STX  (DW, R10, WAKER + 24, R1),
	STX  (DW, R10, WAKER + 32, R1),
	STX  (DW, R10, WAKER + 40, R1),
	STX  (DW, R10, WAKER + 48, R1),
	MAP  (R1, "sleeps"),
	LEA  (R2, R10, TID),
	LEA  (R3, R10, SLEEP),
	MOVI (R4, BPF_ANY),
	CALL (map_update_elem),
	JEQI (R0, 0, "out"),
	COUNT("lost", SLEEP_LOST_ROOM),
	RETURN(0),
LABEL("woken"),
	MOVI (R1, 1),			/* SLEEP_WOKEN */
	LSHI (R1, 32),
	OR   (R8, R1),
	STX  (DW, R10, KEY_AT(caller), R8),
	FIND_SLEEP,
	JEQI (R0, 0, "out"),
	READ_KEY(R0, WAKER_IN, R10, KEY),
	RETURN(0),
LABEL("filtered"),			/* no older start may stay */
	FIND_SLEEP,
	JEQI (R0, 0, "out"),
	LDX  (DW, R8, R0, START_AT),
	ST   (DW, R0, START_AT, 0),
	JMP  ("gone"),
LABEL("dead"),
	FIND_SLEEP,
	JEQI (R0, 0, "out"),
	LDX  (DW, R8, R0, START_AT),
	MAP  (R1, "sleeps"),
	LEA  (R2, R10, TID),
	CALL (map_delete_elem),
LABEL("gone"),
	JEQI (R8, 0, "out"),
	COUNT("lost", SLEEP_LOST_END),	/* as above */
	RETURN(0),
};

OBJECT(offcputime) = {
	.maps = MAPS(
		STACK_KEY_MAPS, STACK_CHANNEL_MAPS, TASK_MAPS,
		{ "sleeps", HASH, 4, sizeof(struct sleep), 16384, 0 },
		{ "lost", ARRAY, 4, 8, SLEEP_LOSSES, 0 }
	),
	.progs = PROGS(
		{ "sched", PROG_PROBE, NULL, INSNS(sched) },
		IMAGE_PROGS
	),
	.consts = CONSTS(
		TASK_CONSTS, TREE_CONSTS,
		"user", "kernel", "get_stack",	/* as in STACK_CONSTS */
		"raw",			/* 1 = raw tracepoints, 0 = records */
		"pid_at",		/* who comes: in its task_struct, or
					 * in the record; so are the others */
		"woken_at", "flags_at", "state_at",
		"state_given",		/* 1 = the state is in ctx[3] */
		"dead",			/* bits of states without return */
		"by_state", "states",	/* enum sched_by_state: of these */
		"threads",		/* enum sched_threads */
		"least", "most",	/* ns that a sleep lasts */
		"wakers"		/* 1 = those, too */
	),
};
