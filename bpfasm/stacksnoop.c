/* stacksnoop - send the stack behind each hit of a probe; user half:
 * src/cmd/stacksnoop.c
 *
 *   any probe: ctx as its kind has it, on the task that hits it
 *   raw_tracepoint sched_process_exec, sched_process_exit: on that task
 *   tracepoint sched/sched_process_fork: on the parent
 */
#include "asm.h"
#include "images.h"
#include "stack_table.h"
#include "task.h"

#define SNAP_AT(member) ((int)offsetof(struct snap_event, member))

static const struct insn hit[] = {
	MOV  (R6, R1),			/* r6 = ctx */
	COUNT("counters", COUNTER_SAMPLES),
	TASK_IDS(SLOT, "outside"),
	SHARED(task_filter),
	TASK_COMM(COMM),
	ST   (DW, R10, KEY_AT(user_leaf), 0),
	ST   (DW, R10, KEY_AT(kernel_leaf), 0),
	ST   (W, R10, KEY_AT(user), 0),
	ST   (W, R10, KEY_AT(kernel), 0),
	SHARED(stack_image),
	SHARED(stack_caller),
	SHARED(stack_tell),
	RESERVE("frames"),
	JEQI (R0, 0, "lost"),
	MOV  (R9, R0),			/* r9 = the record */
	ST   (W, R9, SNAP_AT(type), EVENT_SNAP),
	STX  (W, R9, SNAP_AT(tid), R7),
	CALL (ktime_get_ns),
	STX  (DW, R9, SNAP_AT(time), R0),
	CALL (get_smp_processor_id),
	STX  (W, R9, SNAP_AT(cpu), R0),
	PROBE(R1, R6),
	STX  (W, R9, SNAP_AT(probe), R1),
	LDX  (DW, R1, R10, KEY),
	STX  (DW, R9, SNAP_AT(key), R1),
	ST   (DW, R9, SNAP_AT(key.user_leaf), 0),
	ST   (DW, R9, SNAP_AT(key.kernel_leaf), 0),
	LDX  (DW, R1, R10, KEY_AT(caller)),
	STX  (DW, R9, SNAP_AT(key.caller), R1),
	LDX  (DW, R1, R10, KEY_AT(comm)),
	STX  (DW, R9, SNAP_AT(key.comm), R1),
	LDX  (DW, R1, R10, KEY_AT(comm) + 8),
	STX  (DW, R9, SNAP_AT(key.comm) + 8, R1),
	ST   (W, R9, SNAP_AT(key.user), -EFAULT),
	ST   (W, R9, SNAP_AT(key.kernel), -EFAULT),
	CONST(R1, "user"),
	JEQI (R1, 0, "kernel"),
	MOV  (R1, R6),
	LEA  (R2, R9, SNAP_AT(user)),
	MOVI (R3, sizeof(((struct snap_event *)0)->user)),
	MOVI (R4, BPF_F_USER_STACK),
	CALL (get_stack),
	STX  (W, R9, SNAP_AT(key.user), R0),
LABEL("kernel"),
	CONST(R1, "kernel"),
	JEQI (R1, 0, "send"),
	MOV  (R1, R6),
	LEA  (R2, R9, SNAP_AT(kernel)),
	MOVI (R3, sizeof(((struct snap_event *)0)->kernel)),
	MOVI (R4, 0),
	CALL (get_stack),
	STX  (W, R9, SNAP_AT(key.kernel), R0),
LABEL("send"),
	SUBMIT(R6, R9, "frames", WAKE),
	JEQI (R0, 0, "out"),
LABEL("lost"),
	COUNT("counters", COUNTER_EVENT_LOST),
LABEL("out"),
	RETURN(0),

LABEL("filtered"),
	COUNT("counters", COUNTER_FILTERED),
	RETURN(0),
LABEL("outside"),
	COUNT("counters", COUNTER_OUTSIDE),
	RETURN(0),
};

OBJECT(stacksnoop) = {
	.maps = MAPS(
		{ "gens", HASH, 4, 4, 32768, 0 },
		{ "seen", HASH, sizeof(struct image_key), 8, 8192, 0 },
		{ "frames", RECORD, 4, sizeof(struct snap_event), 1, 0 },
		{ "counters", ARRAY, 4, 8, COUNTER_MAX, 0 },
		{ "events", EVENTS, 0, 0, 1 << 20, 0 },
		TASK_MAPS
	),
	.progs = PROGS(
		{ "hit", PROG_PROBE, NULL, INSNS(hit) },
		IMAGE_PROGS
	),
	.consts = CONSTS(
		TASK_CONSTS, TREE_CONSTS,
		"user", "kernel",	/* 1 = that half of the stack */
		"caller"		/* enum caller_place, of a hidden one */
	),
};
