/* tree - programs that follow a command's descendants (bpfasm/follow.c).
 *
 * An object that knows no images of processes (images.h) lists TREE_MAPS,
 * TREE_PROGS and TREE_CONSTS; one with a program of its own at the exec uses
 * TREE_EXEC there and lists TREE_EXIT_PROGS. The traced command counts from its
 * own exec on, its descendants from their fork on, all by their numbers in the
 * first pid namespace.
 */
#ifndef TREE_H
#define TREE_H

extern const struct insn tree_exec[], tree_exit[], tree_fork[];

/* At an exec, ctx, with the task's numbers in r7 and r9 (task.h): the command's
 * own, by the user's number of it, or one of a process that is followed. A
 * thread that execs takes the number of its leader, whose exit has been seen.
 * Goes on at the next instruction; SLOT and ONE, eight bytes of the stack each,
 * are its own. Uses r0 to r5 and r8. */
#define TREE_EXEC(ctx, next) \
	CONST(R2, "root"),		/* its tid; 0 = there is none */ \
	JEQI (R2, 0, next), \
	MOV  (R1, R7), \
	LSHI (R1, 32), \
	RSHI (R1, 32), \
	JEQ  (R1, R2, "tree"), \
	LDX  (DW, R8, ctx, 8),		/* the tid that it had */ \
	STX  (W, R10, SLOT, R8), \
	LOOKUP("targets", SLOT), \
	JEQI (R0, 0, next), \
	MAP  (R1, "targets"), \
	LEA  (R2, R10, SLOT), \
	CALL (map_delete_elem), \
LABEL("tree"), \
	STX  (W, R10, SLOT, R9), \
	ST   (DW, R10, ONE, 1), \
	MAP  (R1, "targets"), \
	LEA  (R2, R10, SLOT), \
	LEA  (R3, R10, ONE), \
	MOVI (R4, BPF_ANY), \
	CALL (map_update_elem), \
LABEL(next)

#define TREE_MAPS \
	{ "counters", ARRAY, 4, 8, COUNTER_MAX, 0 }
#define TREE_PROGS \
	{ "exec", PROG_RAW_TRACEPOINT, "sched_process_exec", \
	  FOLLOW(tree_exec) }, \
	TREE_EXIT_PROGS
#define TREE_EXIT_PROGS \
	{ "exit", PROG_RAW_TRACEPOINT, "sched_process_exit", \
	  FOLLOW(tree_exit) }, \
	{ "fork", PROG_TRACEPOINT, "sched/sched_process_fork", \
	  FOLLOW(tree_fork) }
#define TREE_CONSTS "root"	/* tid of the traced command, or 0 */

#define FOLLOW(array) "bpfasm/follow.c", array, TO_END

#endif
