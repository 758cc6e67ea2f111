/* funclatency - time the calls of functions; user half: src/cmd/funclatency.c
 *
 *   enter, leave  any probe of a function; ctx as its kind has it
 *   gone          raw_tracepoint sched_process_exit: of the ending thread
 *   freed         tracepoint sched_process_free: of any task. What the kernel
 *                 does for a thread after its exit may have been timed, too
 */
#include "asm.h"
#include "frames.h"
#include "task.h"
#include "tree.h"

enum {				/* stack slots, off R10 */
	KEY = TASK_SLOTS - 16,
	NOW = KEY - 8,
	DEPTH = NOW - 8,
};

/* Where the return probe of a call finds the stack, it is at most so many bytes
 * above its place at the entry; that of a call around it is further up. */
enum { RETURN_NEAR = 16 };

/* losses[n] += r7 */
#define LOST(n, next) \
	ST   (W, R10, SLOT, n), \
	LOOKUP("losses", SLOT), \
	JEQI (R0, 0, next), \
	XADD (DW, R0, 0, R7), \
LABEL(next)

static const struct insn enter[] = {
	MOV  (R6, R1),			/* r6 = ctx */
	CONST(R1, "filtered"),
	JEQI (R1, 0, "asked"),
	TASK_IDS(SLOT, "filtered"),
	SHARED(task_filter),
LABEL("asked"),
	FRAMES_KEY(KEY),		/* r7 = where the stack stands */
	PROBE(R8, R6),			/* r8 = which function */
	LOOKUP("starts", KEY),
	JNEI (R0, 0, "known"),
	ST   (W, R10, SLOT, 0),
	LOOKUP("no_frames", SLOT),
	JEQI (R0, 0, "filtered"),	/* never */
	MOV  (R3, R0),
	MAP  (R1, "starts"),
	LEA  (R2, R10, KEY),
	MOVI (R4, BPF_NOEXIST),
	CALL (map_update_elem),
	LOOKUP("starts", KEY),
	JEQI (R0, 0, "full"),
LABEL("known"),
	MOV  (R9, R0),			/* r9 = the frames */
	MOV  (R3, R7),
	FRAMES_STANDING,
	JEQI (R7, 0, "place"),
	JEQI (R4, 0, "place"),
	MOV  (R2, R4),
	SUBI (R2, 1),
	FRAME_AT(R2),
	LDX  (DW, R2, R1, FRAME_PLACE),
	JNE  (R2, R7, "place"),
	LDX  (DW, R2, R1, FRAME_PROBE),
	JNE  (R2, R8, "place"),
	SUBI (R4, 1),			/* the same call can only be over */
	LDX  (DW, R1, R10, KEY + 8),
	JEQI (R1, 0, "place"),
	SUBI (R5, 1),			/* or Go made room for its stack */
LABEL("place"),
	STX  (DW, R9, FRAMES_COUNT, R4),
	STX  (DW, R10, DEPTH, R4),
	SUB  (R5, R4),
	JEQI (R5, 0, "begin"),
	MOV  (R6, R7),
	MOV  (R7, R5),
	LOST (LATENCY_LEFT, "left"),
	MOV  (R7, R6),
LABEL("begin"),
	LDX  (DW, R6, R10, DEPTH),
	CONST(R1, "levels"),
	JGE  (R6, R1, "deep"),
	FRAME_AT(R6),
	STX  (DW, R1, FRAME_PLACE, R7),
	STX  (DW, R1, FRAME_PROBE, R8),
	MOV  (R7, R1),
	ADDI (R6, 1),
	STX  (DW, R9, FRAMES_COUNT, R6),
	CALL (ktime_get_ns),
	STX  (DW, R7, FRAME_START, R0),
LABEL("filtered"),
	RETURN(0),
LABEL("deep"),
	JNEI (R7, 0, "too deep"),
	ST   (DW, R9, FRAMES_COUNT, 0),	/* returns were missed, unnoticed */
LABEL("too deep"),
	COUNT("losses", LATENCY_TOO_DEEP),
	RETURN(0),
LABEL("full"),
	COUNT("losses", LATENCY_NO_ROOM),
	RETURN(0),
};

/* Is the frame n from the innermost, of those that stand, of this call? */
#define MATCH(n) \
	MOV  (R2, R4), \
	JLTI (R2, n, "none"), \
	SUBI (R2, n), \
	FRAME_AT(R2), \
	LDX  (DW, R2, R1, FRAME_PLACE), \
	JLT  (R2, R3, "not " #n), \
	JGT  (R2, R7, "not " #n), \
	LDX  (DW, R2, R1, FRAME_PROBE), \
	JEQ  (R2, R8, "match"), \
LABEL("not " #n)

/* r3 += n when r7 has bits from n on, which move down. */
#define HALF(n) \
	MOV  (R1, R7), \
	RSHI (R1, n), \
	JEQI (R1, 0, "half " #n), \
	MOV  (R7, R1), \
	ADDI (R3, n), \
LABEL("half " #n)

static const struct insn leave[] = {
	MOV  (R6, R1),
	CALL (ktime_get_ns),
	STX  (DW, R10, NOW, R0),
	FRAMES_KEY(KEY),
	LOOKUP("starts", KEY),
	JEQI (R0, 0, "unknown"),	/* it began before the trace */
	MOV  (R9, R0),
	PROBE(R8, R6),
	MOV  (R3, R7),
	JEQI (R7, 0, "look"),
	SUBI (R3, RETURN_NEAR),
LABEL("look"),
	FRAMES_STANDING,
	SUB  (R5, R4),
	STX  (DW, R10, DEPTH, R5),	/* within it, that are over unseen */
	MATCH(1),
	MATCH(2),			/* jumped there at its end, or is */
	MATCH(3),			/* probed twice: several calls have */
	MATCH(4),			/* one place */
LABEL("none"),
	STX  (DW, R9, FRAMES_COUNT, R4),
LABEL("unknown"),
	RETURN(0),
LABEL("match"),
	LDX  (DW, R2, R1, FRAME_START),
	LDX  (DW, R7, R10, NOW),
	SUB  (R7, R2),			/* r7 = ns */
	MOV  (R5, R1),			/* the innermost takes its place */
	SUBI (R4, 1),
	STX  (DW, R9, FRAMES_COUNT, R4),
	FRAME_AT(R4),
	LDX  (DW, R2, R1, FRAME_PLACE),
	STX  (DW, R5, FRAME_PLACE, R2),
	LDX  (DW, R2, R1, FRAME_PROBE),
	STX  (DW, R5, FRAME_PROBE, R2),
	LDX  (DW, R2, R1, FRAME_START),
	STX  (DW, R5, FRAME_START, R2),
	MOV  (R6, R7),
	LDX  (DW, R7, R10, DEPTH),
	JEQI (R7, 0, "left"),
	LOST (LATENCY_LEFT, "left"),
	MOV  (R7, R6),
	CONST(R1, "each"),		/* 0 = all functions together */
	JNEI (R1, 0, "count"),
	MOVI (R8, 0),
LABEL("count"),
	STX  (W, R10, SLOT, R8),
	LOOKUP("latency", SLOT),
	JEQI (R0, 0, "done"),	/* never: each has its slot */
	XADD (DW, R0, 0, R7),
	CONST(R1, "unit"),		/* ns */
	JEQI (R1, 1, "units"),
	DIV  (R7, R1),
LABEL("units"),
	MOVI (R3, 0),
	HALF (32),
	HALF (16),
	HALF (8),
	HALF (4),
	HALF (2),
	HALF (1),
	ANDI (R3, LATENCY_SLOTS - 1),
	LSHI (R3, 3),
	ADD  (R0, R3),
	MOVI (R1, 1),
	XADD (DW, R0, 8, R1),		/* another task may interrupt this */
LABEL("done"),
	RETURN(0),
};

/* Forget the thread whose key is at KEY. */
#define FORGET \
	LOOKUP("starts", KEY), \
	JEQI (R0, 0, "out"), \
	LDX  (DW, R7, R0, FRAMES_COUNT), \
	MAP  (R1, "starts"), \
	LEA  (R2, R10, KEY), \
	CALL (map_delete_elem), \
	LOST (LATENCY_EXITED, "out"), \
	RETURN(0)

static const struct insn gone[] = {
	CALL (get_current_pid_tgid),
	LSHI (R0, 32),
	RSHI (R0, 32),
	STX  (DW, R10, KEY, R0),
	ST   (DW, R10, KEY + 8, 0),
	FORGET,
};

static const struct insn freed[] = {
	TPF  (W, R7, R1, "pid"),
	STX  (DW, R10, KEY, R7),
	ST   (DW, R10, KEY + 8, 0),
	FORGET,
};

OBJECT(funclatency) = {
	.maps = MAPS(
		{ "starts", HASH, 16, sizeof(struct latency_frames), 8192,
		  0 },
		{ "no_frames", ARRAY, 4, sizeof(struct latency_frames), 1,
		  0 },
		{ "latency", PERCPU_ARRAY, 4, sizeof(struct latency), 1, 0 },
		{ "losses", ARRAY, 4, 8, LATENCY_LOSSES, 0 },
		TREE_MAPS, TASK_MAPS
	),
	.progs = PROGS(
		{ "enter", PROG_PROBE, NULL, INSNS(enter) },
		{ "leave", PROG_PROBE, NULL, INSNS(leave) },
		{ "gone", PROG_RAW_TRACEPOINT, "sched_process_exit",
		  INSNS(gone) },
		{ "freed", PROG_TRACEPOINT, "sched/sched_process_free",
		  INSNS(freed) },
		TREE_PROGS
	),
	.consts = CONSTS(
		TASK_CONSTS, TREE_CONSTS, "filtered", "each", "unit", "levels"
	),
};
