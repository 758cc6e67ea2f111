/* funccount - count the hits of probes; user half: src/cmd/funccount.c
 *
 *   any probe: ctx as its kind has it, on the task that hits it
 */
#include "asm.h"
#include "task.h"
#include "tree.h"

static const struct insn hit[] = {
	MOV  (R6, R1),			/* r6 = ctx */
	CONST(R1, "filtered"),
	JEQI (R1, 0, "count"),
	TASK_IDS(SLOT, "filtered"),
	SHARED(task_filter),
LABEL("count"),
	PROBE(R7, R6),
	STX  (W, R10, SLOT, R7),
	LOOKUP("counts", SLOT),
	JEQI (R0, 0, "filtered"),	/* never: each probe has its slot */
	MOVI (R1, 1),
	XADD (DW, R0, 0, R1),		/* a task that preempts does, too */
LABEL("filtered"),
	RETURN(0),
};

OBJECT(funccount) = {
	.maps = MAPS(
		{ "counts", PERCPU_ARRAY, 4, 8, 1, 0 },
		TREE_MAPS, TASK_MAPS
	),
	.progs = PROGS(
		{ "hit", PROG_PROBE, NULL, INSNS(hit) },
		TREE_PROGS
	),
	.consts = CONSTS(TASK_CONSTS, TREE_CONSTS, "filtered"),
};
