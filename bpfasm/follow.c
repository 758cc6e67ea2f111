/* follow - what processes do meanwhile; programs that several tools share.
 *
 *   raw_tracepoint sched_process_exec, sched_process_exit: on that task
 *   tracepoint sched/sched_process_fork: on the parent
 *
 * tree_*: a command's descendants, for `-- COMMAND`. image_*: the images of
 * processes, too: who execs, or uses a pid again, has names of its own.
 */
#include "asm.h"
#include "images.h"
#include "task.h"

enum {				/* stack slots, off R10 */
	KEY = TASK_SLOTS - (int)sizeof(struct image_key),
};

/* At an exit. */
#define TREE_EXIT(next) \
	CONST(R1, "root"), \
	JEQI (R1, 0, next), \
	CALL (get_current_pid_tgid), \
	STX  (W, R10, SLOT, R0), \
	MAP  (R1, "targets"), \
	LEA  (R2, R10, SLOT), \
	CALL (map_delete_elem), \
LABEL(next)

const struct insn tree_fork[] = {
	TPF  (W, R6, R1, "child_pid"),
	CALL (get_current_pid_tgid),
	STX  (W, R10, SLOT, R0),
	LOOKUP("targets", SLOT),
	JEQI (R0, 0, "out"),		/* not one of ours */
	STX  (W, R10, SLOT, R6),
	ST   (DW, R10, ONE, 1),
	MAP  (R1, "targets"),
	LEA  (R2, R10, SLOT),
	LEA  (R3, R10, ONE),
	MOVI (R4, BPF_ANY),
	CALL (map_update_elem),
	JEQI (R0, 0, "out"),
	COUNT("counters", COUNTER_CHILD_LOST),
LABEL("out"),
	RETURN(0),
	END,
};

const struct insn tree_exec[] = {
	MOV  (R6, R1),
	TASK_IDS(SLOT, "out"),
	TREE_EXEC(R6, "out"),
	RETURN(0),
	END,
};

const struct insn tree_exit[] = {
	TREE_EXIT("out"),
	RETURN(0),
	END,
};

/* gens[tgid] = now, in units of 65 us: the process gets another image, or its
 * pid becomes free. Only where the present image was sampled and told: most
 * processes never are. r7 = tgid */
#define NEW_IMAGE \
	ST   (W, R10, KEY + 4, 0),	/* struct image_key */ \
	STX  (W, R10, KEY, R7), \
	LOOKUP("gens", KEY), \
	JEQI (R0, 0, "first"), \
	LDX  (W, R1, R0, 0), \
	STX  (W, R10, KEY + 4, R1), \
LABEL("first"), \
	MAP  (R1, "seen"), \
	LEA  (R2, R10, KEY), \
	CALL (map_delete_elem), \
	JNEI (R0, 0, "out"),		/* it was not there */ \
	CALL (ktime_get_ns), \
	RSHI (R0, 16), \
	STX  (W, R10, ONE, R0), \
	MAP  (R1, "gens"), \
	LEA  (R2, R10, KEY), \
	LEA  (R3, R10, ONE), \
	MOVI (R4, BPF_ANY), \
	CALL (map_update_elem), \
	JEQI (R0, 0, "out"), \
	COUNT("counters", COUNTER_IMAGE_LOST), \
LABEL("out"), \
	RETURN(0)

const struct insn image_exec[] = {
	MOV  (R6, R1),
	TASK_IDS(SLOT, "out"),
	TREE_EXEC(R6, "image"),
	RSHI (R7, 32),
	NEW_IMAGE,
	END,
};

const struct insn image_exit[] = {
	TREE_EXIT("image"),
	TASK_IDS(SLOT, "out"),
	MOV  (R1, R7),
	RSHI (R1, 32),
	LSHI (R7, 32),
	RSHI (R7, 32),
	JNE  (R1, R7, "out"),		/* a thread that is not the leader */
	NEW_IMAGE,
	END,
};
