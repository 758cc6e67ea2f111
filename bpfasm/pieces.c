/* pieces - what several programs have in common: parts of their arrays.
 *
 * A program has a piece by SHARED(its name), and the stack slots of task.h and,
 * for stacks, of stack_table.h, which also tells the maps and constants. r6 =
 * ctx and r7 = the task's numbers, as TASK_IDS gives them, everywhere.
 */
#include "asm.h"
#include "stack_table.h"
#include "task.h"

/* Whether the user asked for the current task; r9 = its numbers everywhere.
 * Falls through when it counts, else goes to the program's "filtered". Uses r0
 * to r5. */
const struct insn task_filter[] = {
	FRAGMENT(__FILE__),
	CONST(R1, "self"),
	JEQI (R1, 0, "by"),
	MOV  (R2, R7),
	RSHI (R2, 32),
	JEQ  (R1, R2, "filtered"),
LABEL("by"),
	CONST(R2, "by"),
	JEQI (R2, BY_NOTHING, "comm"),
	MOV  (R1, R9),
	JEQI (R2, BY_TREE, "find"),
	MOV  (R1, R7),
	JEQI (R2, BY_TID, "find"),
	RSHI (R1, 32),
LABEL("find"),
	STX  (W, R10, SLOT, R1),
	LEA  (R2, R10, SLOT),
	MAP  (R1, "targets"),
	CALL (map_lookup_elem),
	JEQI (R0, 0, "filtered"),
LABEL("comm"),
	CONST(R1, "by_comm"),
	JEQI (R1, 0, "by_cpu"),
	TASK_COMM(NAME),
	CONST(R1, "comm_head"),
	LDX  (DW, R2, R10, NAME),
	JNE  (R1, R2, "filtered"),
	CONST(R1, "comm_tail"),
	LDX  (DW, R2, R10, NAME + 8),
	JNE  (R1, R2, "filtered"),
LABEL("by_cpu"),
	CONST(R1, "by_cpu"),
	JEQI (R1, 0, "by_cgroup"),
	CALL (get_smp_processor_id),
	ADDI (R0, 1),
	CONST(R1, "by_cpu"),
	JNE  (R0, R1, "filtered"),
LABEL("by_cgroup"),
	CONST(R1, "by_cgroup"),
	JEQI (R1, 0, "wanted"),
	MAP  (R1, "cgroup"),
	MOVI (R2, 0),
	CALL (current_task_under_cgroup),
	JNEI (R0, 1, "filtered"),
LABEL("wanted"),
	END
};

/* Which image of which process it is, to the key. Uses r0 to r5. */
const struct insn stack_image[] = {
	FRAGMENT(__FILE__),
	MOV  (R1, R7),
	RSHI (R1, 32),
	STX  (W, R10, KEY_AT(tgid), R1),
	ST   (W, R10, KEY_AT(gen), 0),
	LOOKUP("gens", KEY_AT(tgid)),
	JEQI (R0, 0, "first image"),
	LDX  (W, R1, R0, 0),
	STX  (W, R10, KEY_AT(gen), R1),
LABEL("first image"),
	END
};

/*
 * A function without a frame of its own (a leaf, or one that is just
 * entered or left) hides its caller from whoever follows frame
 * pointers: then the return address is what the stack pointer points
 * at, or in the link register. It is one only if a call that leads to
 * a little before ip stands in front of it; user space makes sure.
 *
 * It goes to the key's caller. Uses every register but r6 and r7.
 */
const struct insn stack_caller[] = {
	FRAGMENT(__FILE__),
	ST   (DW, R10, KEY_AT(caller), 0),
	CONST(R1, "caller"),
	JEQI (R1, 0, "tables"),
	IP   (R8, R6),
	JSLTI(R8, 0, "tables"),		/* in the kernel */
	JEQI (R1, CALLER_IN_LR, "link"),
	JEQI (R1, CALLER_IN_LR_NOW, "link"),
	LEA  (R1, R10, ONE),
	MOVI (R2, 8),
	SP   (R3, R6),
	CALL (probe_read_user),
	JNEI (R0, 0, "tables"),
	LDX  (DW, R9, R10, ONE),	/* r9 = what may be a return address */
	CONST(R1, "caller"),
	JEQI (R1, CALLER_ON_STACK_NOW, "is_caller"),
	LEA  (R1, R10, ONE),
	MOVI (R2, 8),
	LEA  (R3, R9, -8),
	CALL (probe_read_user),
	JNEI (R0, 0, "tables"),
	LDX  (B, R1, R10, ONE + 3),
	JNEI (R1, 0xe8, "tables"),	/* x86_64: e8, 32 bits relative */
	LDX  (W, R1, R10, ONE + 4),
	LSHI (R1, 32),
	ARSHI(R1, 32),
	JMP  ("called"),
LABEL("link"),
	LR   (R9, R6),
	LSHI (R9, 16),			/* it may be signed above 48 bits */
	RSHI (R9, 16),
	JEQI (R1, CALLER_IN_LR_NOW, "is_caller"),
	LEA  (R1, R10, ONE),
	MOVI (R2, 4),
	LEA  (R3, R9, -4),
	CALL (probe_read_user),
	JNEI (R0, 0, "tables"),
	LDX  (W, R1, R10, ONE),
	MOV  (R2, R1),
	RSHI (R2, 26),
	JNEI (R2, 0x25, "tables"),	/* aarch64: bl, 26 bits of words */
	LSHI (R1, 38),
	ARSHI(R1, 36),
	SUBI (R1, 4),
LABEL("called"),
	ADD  (R1, R9),			/* r1 = whom it calls */
	SUB  (R8, R1),
	RSHI (R8, 16),
	JNEI (R8, 0, "tables"),		/* too far in for one function */
LABEL("is_caller"),
	STX  (DW, R10, KEY_AT(caller), R9),
LABEL("tables"),
	END
};

/* The current stacks, kernel and user: their places in the table, or -errno, to
 * the key; r8 = 1 when one found none. Uses r0 to r5. */
const struct insn stack_ids[] = {
	FRAGMENT(__FILE__),
	MOVI (R8, 0),
	ST   (DW, R10, KEY_AT(user_leaf), 0),
	ST   (DW, R10, KEY_AT(kernel_leaf), 0),
	ST   (W, R10, KEY_AT(user), -EFAULT),
	ST   (W, R10, KEY_AT(kernel), -EFAULT),
	CONST(R1, "user"),
	JEQI (R1, 0, "kernel"),
	STACK_ID(user, user_leaf, STACK_OF_USER, "kernel"),
	CONST(R1, "kernel"),
	JEQI (R1, 0, "ids_done"),
	STACK_ID(kernel, kernel_leaf, STACK_OF_KERNEL, "ids_done"),
	END
};

/* Tell user space of an image that is met for the first time, by the key. What
 * has no user stack needs no mappings: kernel threads, and tasks that have left
 * their memory and are about to end. Uses r0 to r5 and r9. */
const struct insn stack_tell[] = {
	FRAGMENT(__FILE__),
	LDX  (W, R1, R10, KEY_AT(user)),
	LSHI (R1, 32),
	ARSHI(R1, 32),
	LDX  (DW, R2, R10, KEY_AT(user_leaf)),
	JNEI (R2, 0, "look"),
	JEQI (R1, -EFAULT, "told"),
LABEL("look"),
	LOOKUP("seen", KEY_AT(tgid)),
	JNEI (R0, 0, "told"),
	ST   (DW, R10, ONE, 1),
	MAP  (R1, "seen"),
	LEA  (R2, R10, KEY_AT(tgid)),
	LEA  (R3, R10, ONE),
	MOVI (R4, BPF_NOEXIST),
	CALL (map_update_elem),
	JEQI (R0, -EEXIST, "told"),	/* another CPU just told */
	JNEI (R0, 0, "untold"),
	ST   (W, R10, SEEN_AT(type), EVENT_SEEN),
	STX  (W, R10, SEEN_AT(tid), R7),
	LDX  (W, R1, R10, KEY_AT(tgid)),
	STX  (W, R10, SEEN_AT(tgid), R1),
	LDX  (W, R1, R10, KEY_AT(gen)),
	STX  (W, R10, SEEN_AT(gen), R1),
	CALL (ktime_get_ns),
	STX  (DW, R10, SEEN_AT(time), R0),
	LEA  (R9, R10, SEEN),
	OUTPUT(R6, R9, "events", sizeof(struct seen_event), WAKE),
	JEQI (R0, 0, "told"),
	COUNT("counters", COUNTER_EVENT_LOST),
	MAP  (R1, "seen"),		/* the next sample tries again */
	LEA  (R2, R10, KEY_AT(tgid)),
	CALL (map_delete_elem),
	JMP  ("told"),
LABEL("untold"),
	COUNT("counters", COUNTER_UNTOLD),
LABEL("told"),
	END
};

/* Count the current stacks: AMOUNT is what to add, the name is in the key. Goes
 * to the program's "out" when that is done; falls through when it is not, which
 * it has counted. Uses every register but r6.
 *
 * What finds no place in the stack table goes to user space frame by frame;
 * only when the ring is full, too, the sample counts under "not recorded". */
const struct insn stack_count[] = {
	SHARED(stack_image),
	SHARED(stack_caller),
	SHARED(stack_ids),
	SHARED(stack_tell),
	FRAGMENT(__FILE__),
	CONST(R1, "get_stack"),
	AND  (R1, R8),
	JNEI (R1, 0, "frames"),
	ADD_TO_COUNTS("found", "out"),
	CONST(R1, "get_stack"),
	JEQI (R1, 0, "no_slot"),

	/* every frame of both stacks, through the ring */
LABEL("frames"),
	RESERVE("frames"),
	JEQI (R0, 0, "frames_lost"),
	MOV  (R9, R0),
	ST   (W, R9, EVENT_AT(type), EVENT_STACK),
	ST   (W, R9, EVENT_AT(zero), 0),
	LDX  (DW, R1, R10, AMOUNT),
	STX  (DW, R9, EVENT_AT(amount), R1),
	ST   (W, R9, EVENT_AT(user_bytes), -EFAULT),
	ST   (W, R9, EVENT_AT(kernel_bytes), -EFAULT),
	LDX  (DW, R1, R10, KEY),
	STX  (DW, R9, EVENT_AT(key), R1),
	LDX  (DW, R1, R10, KEY_AT(user)),
	STX  (DW, R9, EVENT_AT(key.user), R1),
	ST   (DW, R9, EVENT_AT(key.user_leaf), 0),
	ST   (DW, R9, EVENT_AT(key.kernel_leaf), 0),
	LDX  (DW, R1, R10, KEY_AT(caller)),
	STX  (DW, R9, EVENT_AT(key.caller), R1),
	LDX  (DW, R1, R10, KEY_AT(comm)),
	STX  (DW, R9, EVENT_AT(key.comm), R1),
	LDX  (DW, R1, R10, KEY_AT(comm) + 8),
	STX  (DW, R9, EVENT_AT(key.comm) + 8, R1),
	CONST(R1, "user"),
	JEQI (R1, 0, "frames_kernel"),
	MOV  (R1, R6),
	LEA  (R2, R9, EVENT_AT(user)),
	MOVI (R3, sizeof(((struct stack_event *)0)->user)),
	MOVI (R4, BPF_F_USER_STACK),
	CALL (get_stack),
	STX  (W, R9, EVENT_AT(user_bytes), R0),
LABEL("frames_kernel"),
	CONST(R1, "kernel"),
	JEQI (R1, 0, "send"),
	MOV  (R1, R6),
	LEA  (R2, R9, EVENT_AT(kernel)),
	MOVI (R3, sizeof(((struct stack_event *)0)->kernel)),
	MOVI (R4, 0),
	CALL (get_stack),
	STX  (W, R9, EVENT_AT(kernel_bytes), R0),
LABEL("send"),
	SUBMIT(R6, R9, "frames", QUIET),
	JEQI (R0, 0, "out"),
LABEL("frames_lost"),
	COUNT("counters", COUNTER_EVENT_LOST),
	ADD_TO_COUNTS("found_late", "out"),
LABEL("no_slot"),
	COUNT("counters", COUNTER_NO_SLOT),
	END
};
