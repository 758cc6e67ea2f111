/* profile - count the stack traces that samples find; user half:
 * src/cmd/profile.c
 *
 *   perf_event: ctx = struct bpf_perf_event_data *, on the sampled task
 *   raw_tracepoint sched_process_exec, sched_process_exit: on that task
 *   tracepoint sched/sched_process_fork: on the parent; for -- COMMAND only
 */
#include "asm.h"
#include "images.h"
#include "stack_table.h"
#include "task.h"

static const struct insn sample[] = {
	MOV  (R6, R1),			/* r6 = ctx */
	COUNT("counters", COUNTER_SAMPLES),
	CALL (get_current_pid_tgid),
	MOV  (R9, R0),			/* r9 = its numbers everywhere */
	JNEI (R0, 0, "task"),
	CONST(R1, "idle"),
	JEQI (R1, 0, "idle"),
	MOVI (R7, 0),
	JMP  ("filter"),
LABEL("task"),
	TASK_OWN_IDS(SLOT, "outside"),
LABEL("filter"),
	SHARED(task_filter),
	TASK_COMM(COMM),
	ST   (DW, R10, AMOUNT, 1),
	SHARED(stack_count),
LABEL("out"),
	RETURN(0),

LABEL("idle"),
	COUNT("counters", COUNTER_IDLE),
	RETURN(0),
LABEL("filtered"),
	COUNT("counters", COUNTER_FILTERED),
	RETURN(0),
LABEL("outside"),
	COUNT("counters", COUNTER_OUTSIDE),
	RETURN(0),
};

OBJECT(profile) = {
	.maps = MAPS(STACK_MAPS, TASK_MAPS),
	.progs = PROGS(
		{ "sample", PROG_PERF_EVENT, NULL, INSNS(sample) },
		IMAGE_PROGS
	),
	.consts = CONSTS(
		TASK_CONSTS, STACK_CONSTS, TREE_CONSTS,
		"idle"			/* 1 = keep samples of the idle task */
	),
};
