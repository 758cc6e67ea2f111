/* stackcount - count the stacks behind the hits of probes; user half:
 * src/cmd/stackcount.c
 *
 *   any probe: ctx as its kind has it, on the task that hits it
 *   raw_tracepoint sched_process_exec, sched_process_exit: on that task
 *   tracepoint sched/sched_process_fork: on the parent
 */
#include "asm.h"
#include "images.h"
#include "stack_table.h"
#include "task.h"

static const struct insn hit[] = {
	MOV  (R6, R1),			/* r6 = ctx */
	COUNT("counters", COUNTER_SAMPLES),
	TASK_IDS(SLOT, "outside"),
	SHARED(task_filter),
	ST   (DW, R10, COMM, 0),
	ST   (DW, R10, COMM + 8, 0),
	CONST(R1, "by_task"),
	JEQI (R1, 0, "anybody"),
	TASK_COMM(COMM),
	JMP  ("amount"),
LABEL("anybody"),
	MOVI (R7, 0),
LABEL("amount"),
	ST   (DW, R10, AMOUNT, 1),
	SHARED(stack_count),
LABEL("out"),
	RETURN(0),

LABEL("filtered"),
	COUNT("counters", COUNTER_FILTERED),
	RETURN(0),
LABEL("outside"),
	COUNT("counters", COUNTER_OUTSIDE),
	RETURN(0),
};

OBJECT(stackcount) = {
	.maps = MAPS(STACK_MAPS, TASK_MAPS),
	.progs = PROGS(
		{ "hit", PROG_PROBE, NULL, INSNS(hit) },
		IMAGE_PROGS
	),
	.consts = CONSTS(
		TASK_CONSTS, STACK_CONSTS, TREE_CONSTS,
		"by_task"		/* 0 = kernel stacks of all together */
	),
};
