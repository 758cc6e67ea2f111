/* frames - which calls of a task are still under way; for bpfasm/ alone.
 *
 * Every thread, and every goroutine, has a stack of frames in the map "starts":
 * one for each call that was seen to begin and not to end, outermost first. A
 * frame is told by where the machine's stack stood, so stacks grow towards
 * lower numbers; a call within a call stands lower. What stands lower than
 * where the stack is now has ended unseen: it was left by longjmp, by an
 * exception, or the kernel had no return probe to spare. Hence
 * the frames are in falling order, and bisecting finds those that still stand.
 *
 * The kernel runs interrupts on stacks of their own, at any address. So frames
 * of another stack than the present one, by its size, are taken to stand. A
 * goroutine's stack moves as it grows: there a place is the distance from the
 * stack's upper end, which stays. fentry and fexit know no place, nor does
 * aarch64 where many are probed at once; they hardly miss a return either.
 */
#ifndef FRAMES_H
#define FRAMES_H

enum {				/* of a frame's address */
	FRAME_PLACE = offsetof(struct latency_frame, place),
	FRAME_START = offsetof(struct latency_frame, start),
	FRAME_PROBE = offsetof(struct latency_frame, probe),
	FRAMES_COUNT = offsetof(struct latency_frames, n),
};

enum {
	G_STACK_HI = 8,		/* struct g of Go's runtime: lo, hi, ... */
	KERNEL_STACK_BITS = 14,	/* the least that THREAD_SIZE is, 64-bit CPUs */
};

/* The key of the current task to the 16 bytes of the stack at KEY, and r7 =
 * where its stack stands, 0 = not known. r6 = ctx. Uses r0 to r5. */
#define FRAMES_KEY(KEY) \
	SP   (R7, R6), \
	GOROUTINE(R1, R6), \
	JNEI (R1, 0, "goroutine"), \
	ST   (DW, R10, KEY + 8, 0), \
	CALL (get_current_pid_tgid), \
	LSHI (R0, 32), \
	RSHI (R0, 32), \
	JNEI (R0, 0, "thread"), \
	CALL (get_smp_processor_id),	/* one idle task for each CPU */ \
	ADDI (R0, 1), \
	LSHI (R0, 32), \
LABEL("thread"), \
	STX  (DW, R10, KEY, R0), \
	JMP  ("key"), \
LABEL("goroutine"),			/* of one process */ \
	STX  (DW, R10, KEY, R1), \
	MOV  (R3, R1), \
	ADDI (R3, G_STACK_HI), \
	ST   (DW, R10, KEY + 8, 0), \
	LEA  (R1, R10, KEY + 8), \
	MOVI (R2, 8), \
	CALL (probe_read_user), \
	LDX  (DW, R1, R10, KEY + 8), \
	SUB  (R7, R1), \
	LSHI (R7, 1),			/* below 0 is the kernel */ \
	RSHI (R7, 1), \
	CALL (get_current_pid_tgid), \
	RSHI (R0, 32), \
	STX  (DW, R10, KEY + 8, R0), \
LABEL("key")

/* r1 = the address of frame `index` (a register), r9 = the frames. */
#define FRAME_AT(index) \
	MOV  (R1, index), \
	ANDI (R1, LATENCY_FRAMES - 1), \
	MULI (R1, sizeof(struct latency_frame)), \
	ADDI (R1, offsetof(struct latency_frames, v)), \
	ADD  (R1, R9)

/* r4 = how many frames stand at place r3 or above it, or on another stack of
 * the kernel; r5 = how many there are. Uses r0 to r2. That r4 begins as 0 and
 * stays below LATENCY_FRAMES is kept from the verifier, which would otherwise
 * follow each number that it can become, for ten times as long. */
#define FRAMES_STANDING \
	LDX  (DW, R5, R9, FRAMES_COUNT), \
	MOV  (R4, R5), \
	RSHI (R4, 32), \
	ANDI (R4, LATENCY_FRAMES - 1), \
	FRAMES_BISECT_(16), \
	FRAMES_BISECT_(8), \
	FRAMES_BISECT_(4), \
	FRAMES_BISECT_(2), \
	FRAMES_BISECT_(1)

/* Do n more of them stand? */
#define FRAMES_BISECT_(n) \
	MOV  (R2, R4), \
	ADDI (R2, n), \
	JGT  (R2, R5, "next " #n), \
	SUBI (R2, 1), \
	FRAME_AT(R2), \
	LDX  (DW, R1, R1, FRAME_PLACE), \
	JGE  (R1, R3, "stands " #n), \
	JSGEI(R3, 0, "next " #n),	/* a program's: there is one stack */ \
	XOR  (R1, R3), \
	RSHI (R1, KERNEL_STACK_BITS), \
	JEQI (R1, 0, "next " #n), \
LABEL("stands " #n), \
	ADDI (R4, n), \
	ANDI (R4, LATENCY_FRAMES - 1), \
LABEL("next " #n)

#endif
