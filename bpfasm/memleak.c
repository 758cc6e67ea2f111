/* memleak - follow blocks from allocation to free; user half:
 * src/cmd/memleak.c
 *
 *   enter, leave  the entry and return of an allocator's function: ctx =
 *                 registers, on the thread that calls; leave is at tracepoints
 *                 of the kernel's allocators, too: ctx = the record
 *   kernel_free   tracepoints of blocks that the kernel frees
 *   gone          raw_tracepoint sched_process_exit: of the ending thread
 *
 * Allocators call each other: operator new calls malloc, calloc may call mmap.
 * Only the outermost call of a thread counts. It is told by where the stack
 * stood when it began: a call within it begins lower, or, when the outer one
 * ended by a jump, at the same place but with the kernel's trampoline for its
 * return address. What begins above it, or at it from elsewhere, shows that it
 * has ended unseen: left by longjmp, or the kernel had no return probe to
 * spare. Below it, the trampoline that waits at its place is gone then (x86_64,
 * where that place is known); else so many calls within it prove it.
 */
#include "asm.h"
#include "images.h"
#include "leak.h"
#include "stack_table.h"
#include "task.h"

enum {				/* stack slots, off R10 */
	TID = STACK_SLOTS - 8,
	STATE = TID - 8,
	SIZE = STATE - 8,
	CALLED = SIZE - 8,
	WAS_FREE = CALLED - 8,
	BLOCK = WAS_FREE - (int)sizeof(struct leak_key),
	VALUE = BLOCK - (int)sizeof(struct leak_block),
	EVENT_LEAK = VALUE - (int)sizeof(struct leak_double),
};

enum {
	/* Calls within one that prove that it has ended. */
	WITHIN_MOST = 200,
	PAGE_OFFSET = 0xfff,	/* 0 in the address of a trampoline */
};

#define THREAD_AT(member) ((int)offsetof(struct leak_thread, member))
#define PROBE_AT(member) ((int)offsetof(struct leak_probe, member))
#define FRAMES_AT(member) ((int)offsetof(struct leak_frames, member))
#define VALUE_AT(member) (VALUE + (int)offsetof(struct leak_block, member))
#define BLOCK_AT(member) (BLOCK + (int)offsetof(struct leak_key, member))
#define FIRST (EVENT_LEAK + (int)offsetof(struct leak_double, first))
#define SECOND_AT(member) \
	(EVENT_LEAK + (int)offsetof(struct leak_double, second.member))

/* Copy eight or 32 bytes; uses r1. */
#define COPY_8(to, at, from, from_at) \
	LDX  (DW, R1, from, from_at), \
	STX  (DW, to, at, R1)
#define COPY_32(to, at, from, from_at) \
	COPY_8(to, at, from, from_at), \
	COPY_8(to, (at) + 8, from, (from_at) + 8), \
	COPY_8(to, (at) + 16, from, (from_at) + 16), \
	COPY_8(to, (at) + 24, from, (from_at) + 24)

/* Where copies are rare: n bytes of a map's value at r0 to the stack. */
#define COPY_VALUE(at, n) \
	LEA  (R1, R10, at), \
	MOVI (R2, n), \
	MOV  (R3, R0), \
	CALL (probe_read_kernel)

/* Zero n * 8 bytes of the stack; uses r1. */
#define ZERO(at, n) \
	LEA  (R1, R10, at), \
	REPEAT(n), \
	ST   (DW, R1, 0, 0), \
	ADDI (R1, 8), \
	AGAIN

#define PUT(map, key, value, how) \
	MAP  (R1, map), \
	LEA  (R2, R10, key), \
	LEA  (R3, R10, value), \
	MOVI (R4, how), \
	CALL (map_update_elem)
#define DROP(map, key) \
	MAP  (R1, map), \
	LEA  (R2, R10, key), \
	CALL (map_delete_elem)

/* Which probe: r0 = its struct leak_probe, its number at SLOT. */
#define PROBE_FIND(none) \
	PROBE(R2, R6), \
	STX  (W, R10, SLOT, R2), \
	LOOKUP("probes", SLOT), \
	JEQI (R0, 0, none)

/* Tell of the block at BLOCK, whose size is at `size`; uses r0 to r5 and r9. */
#define TOLD_AT(member) (EVENT_LEAK + (int)offsetof(struct leak_told, member))
#define TELL_BLOCK(is_freed, from, next) \
	CONST(R1, "trace"), \
	JEQI (R1, 0, next), \
	COPY_8(R10, TOLD_AT(size), R10, from), \
	COPY_8(R10, TOLD_AT(key), R10, BLOCK), \
	COPY_8(R10, TOLD_AT(key.addr), R10, BLOCK_AT(addr)), \
	CALL (ktime_get_ns), \
	STX  (DW, R10, TOLD_AT(time), R0), \
	ST   (W, R10, TOLD_AT(type), EVENT_LEAK_CALL), \
	STX  (W, R10, TOLD_AT(tid), R7), \
	ST   (DW, R10, TOLD_AT(freed), is_freed), \
	LEA  (R9, R10, EVENT_LEAK), \
	OUTPUT(R6, R9, "events", sizeof(struct leak_told), QUIET), \
	JEQI (R0, 0, next), \
	COUNT("counters", COUNTER_EVENT_LOST), \
LABEL(next)

/* The stack, of user or kernel, to the key's user and user_leaf. */
#define STACK_FLAGS(reg) CONST(reg, "stack_flags")
#define STACK(next) \
	MOVI (R8, 0), \
	ST   (DW, R10, KEY_AT(user_leaf), 0), \
	STACK_ID(user, user_leaf, STACK_FLAGS, next)

/* Round r1 up to whole pages; uses r2. */
#define TO_PAGES \
	CONST(R2, "page"), \
	ADD  (R1, R2), \
	SUBI (R1, 1), \
	DIV  (R1, R2), \
	MUL  (R1, R2)

/* Is the size r1 not to count, or by chance not one of so many? Uses r0 to
 * r5. */
#define SIZE_FILTER(skip, counts) \
	CONST(R2, "min"), \
	JLT  (R1, R2, skip), \
	CONST(R2, "max"), \
	JGT  (R1, R2, skip), \
	CONST(R2, "every"), \
	JLEI (R2, 1, counts), \
	CALL (get_prandom_u32), \
	MOV  (R1, R0), \
	CONST(R2, "every"), \
	MOV  (R3, R1), \
	DIV  (R3, R2), \
	MUL  (R3, R2), \
	JNE  (R1, R3, skip), \
LABEL(counts)

/*
 * What is freed is noted before the block is taken out, so who finds no block
 * finds the note. Of two threads that take it out at once only one succeeds:
 * the other has freed what was free.
 */
static const struct insn enter[] = {
	MOV  (R6, R1),			/* r6 = ctx */
	TASK_IDS(SLOT, "out"),
	SHARED(task_filter),
	STX  (W, R10, TID, R9),
	LOOKUP("threads", TID),
	JNEI (R0, 0, "known"),
	ZERO (EVENT_LEAK, sizeof(struct leak_thread) / 8),
	PUT  ("threads", TID, EVENT_LEAK, BPF_NOEXIST),
	LOOKUP("threads", TID),
	MOVI (R8, LEAK_NO_THREAD),
	JEQI (R0, 0, "lost"),
LABEL("known"),
	MOV  (R9, R0),			/* r9 = the thread's state */
	SP   (R8, R6),			/* r8 = where the stack stands */
	LDX  (DW, R3, R9, THREAD_AT(sp)),
	JEQI (R3, 0, "alone"),
	JGT  (R8, R3, "left"),
	JEQ  (R8, R3, "same place"),
	LDX  (W, R2, R9, THREAD_AT(within)),
	ADDI (R2, 1),
	STX  (W, R9, THREAD_AT(within), R2),
	JGTI (R2, WITHIN_MOST, "left"),
	CONST(R2, "linked"),
	JEQI (R2, 0, "place"),
	JMP  ("out"),
LABEL("same place"),
	PROBE(R2, R6),
	LDX  (W, R1, R9, THREAD_AT(probe)),
	JEQ  (R1, R2, "left"),
	MOV  (R3, R8),
	LR   (R1, R6),
	CONST(R2, "linked"),
	JNEI (R2, 0, "return address"),
LABEL("place"),
	LEA  (R1, R10, ONE),
	MOVI (R2, 8),
	CALL (probe_read_user),
	JNEI (R0, 0, "out"),
	LDX  (DW, R1, R10, ONE),
LABEL("return address"),
	ANDI (R1, PAGE_OFFSET),
	JEQI (R1, 0, "out"),		/* of a call within a call */
LABEL("left"),
	COUNT("counters", LEAK_MISSED),
	ST   (W, R10, SLOT, LEAK_MISSED_AT),
	LOOKUP("counters", SLOT),
	JEQI (R0, 0, "out"),
	MOV  (R8, R0),
	CALL (ktime_get_ns),
	STX  (DW, R8, 0, R0),
LABEL("alone"),
	ST   (DW, R9, THREAD_AT(sp), 0),
	PROBE_FIND("out"),
	LDX  (W, R1, R10, SLOT),
	STX  (W, R9, THREAD_AT(probe), R1),
	LDX  (B, R8, R0, PROBE_AT(call)),	/* r8 = enum leak_call */
	STX  (W, R9, THREAD_AT(call), R8),
	ST   (W, R9, THREAD_AT(within), 0),
	ST   (W, R9, THREAD_AT(skip), 0),
	ST   (DW, R9, THREAD_AT(had), 0),
	LDX  (B, R1, R0, PROBE_AT(returns)),
	JEQI (R1, 0, "arguments"),	/* its end is not seen */
	SP   (R1, R6),
	STX  (DW, R9, THREAD_AT(sp), R1),
LABEL("arguments"),
	ARG  (R1, R6, 1),
	ARG  (R2, R6, 2),
	STX  (DW, R10, BLOCK_AT(addr), R1),
	STX  (DW, R9, THREAD_AT(out), R1),
	STX  (DW, R10, SIZE, R2),
	JEQI (R8, LEAK_FREE, "old"),
	JEQI (R8, LEAK_MUNMAP, "unmap"),
	JEQI (R8, LEAK_SIZE, "size"),
	JEQI (R8, LEAK_PRODUCT, "product"),
	JEQI (R8, LEAK_PAGES, "pages"),
	MOV  (R1, R2),
	JEQI (R8, LEAK_SECOND, "size"),
	JEQI (R8, LEAK_MMAP, "size"),
	JEQI (R8, LEAK_REALLOC, "size"),
	ARG  (R1, R6, 3),
	LDX  (DW, R2, R10, SIZE),
	JNEI (R8, LEAK_REALLOCARRAY, "size"),
LABEL("product"),
	MOV  (R3, R1),
	MUL  (R1, R2),
	JEQI (R2, 0, "size"),
	MOV  (R4, R1),
	DIV  (R4, R2),
	JEQ  (R4, R3, "size"),
	MOVI (R1, -1),			/* more than there can be */
	JMP  ("size"),
LABEL("pages"),
	TO_PAGES,
LABEL("size"),
	STX  (DW, R9, THREAD_AT(size), R1),
	SIZE_FILTER("skip", "counts"),
	JMP  ("sized"),
LABEL("skip"),
	ST   (W, R9, THREAD_AT(skip), 1),
LABEL("sized"),
	JLTI (R8, LEAK_REALLOC, "out"),
	JMP  ("old"),
LABEL("unmap"),
	JEQI (R2, 0, "out"),		/* such calls fail */
	ANDI (R1, PAGE_OFFSET),
	JNEI (R1, 0, "out"),

	/* a block ends here */
LABEL("old"),
	LDX  (DW, R1, R10, BLOCK_AT(addr)),
	JEQI (R1, 0, "out"),
	STX  (DW, R10, CALLED, R8),
	STX  (DW, R10, STATE, R9),
	ST   (DW, R10, WAS_FREE, 0),
	MOVI (R9, 0),			/* r9 = 1: by who may do it again */
	JEQI (R8, LEAK_MUNMAP, "again"),
	JNEI (R8, LEAK_MREMAP, "once"),
LABEL("again"),
	MOVI (R9, 1),
LABEL("once"),
	SHARED(stack_image),		/* first in a block's key, too */
	COPY_8(R10, BLOCK, R10, KEY),
	ZERO (FIRST, 2 * sizeof(struct leak_freed) / 8),
	LOOKUP("blocks", BLOCK),
	JEQI (R0, 0, "no block"),
	COPY_32(R10, SECOND_AT(block), R0, 0),
	CONST(R1, "doubles"),
	JEQI (R1, 0, "take"),
	JNEI (R9, 0, "take"),
	JMP  ("stack"),
LABEL("no block"),
	JNEI (R9, 0, "out"),
	MOVI (R8, LEAK_UNKNOWN),
	CONST(R1, "doubles"),
	JEQI (R1, 0, "lost"),
	LOOKUP("freed", BLOCK),
	JEQI (R0, 0, "lost"),
	COPY_VALUE(FIRST, sizeof(struct leak_freed)),
	COPY_32(R10, SECOND_AT(block), R10, FIRST),
	ST   (DW, R10, WAS_FREE, 1),
LABEL("stack"),
	STACK("stack done"),
	COPY_8(R10, SECOND_AT(leaf), R10, KEY_AT(user_leaf)),
	LDX  (W, R1, R10, KEY_AT(user)),
	STX  (W, R10, SECOND_AT(stack), R1),
	STX  (W, R10, SECOND_AT(tid), R7),
	ST   (DW, R10, SECOND_AT(caller), 0),
	CONST(R1, "caller"),		/* where its address stands */
	JEQI (R1, 0, "called"),
	LR   (R2, R6),
	STX  (DW, R10, SECOND_AT(caller), R2),
	CONST(R1, "linked"),
	JNEI (R1, 0, "called"),
	LEA  (R1, R10, SECOND_AT(caller)),
	MOVI (R2, 8),
	SP   (R3, R6),
	CALL (probe_read_user),
LABEL("called"),
	CALL (ktime_get_ns),
	STX  (DW, R10, SECOND_AT(time), R0),
	LDX  (DW, R1, R10, WAS_FREE),
	JNEI (R1, 0, "tell"),
	PUT  ("freed", BLOCK, SECOND_AT(block), BPF_NOEXIST),
	JNEI (R0, -EEXIST, "take"),
	LOOKUP("freed", BLOCK),
	JEQI (R0, 0, "take"),
	LDX  (DW, R1, R0, offsetof(struct leak_freed, block.time)),
	LDX  (DW, R2, R10, SECOND_AT(block.time)),
	JEQ  (R1, R2, "first"),
	PUT  ("freed", BLOCK, SECOND_AT(block), BPF_ANY), /* of another */
LABEL("take"),
	DROP ("blocks", BLOCK),
	JEQI (R0, 0, "taken"),
	JNEI (R9, 0, "out"),
	MOVI (R8, LEAK_UNKNOWN),
	CONST(R1, "doubles"),
	JEQI (R1, 0, "lost"),
	JMP  ("tell"),
LABEL("first"),
	COPY_VALUE(FIRST, sizeof(struct leak_freed)),
LABEL("tell"),
	ST   (W, R10, EVENT_LEAK, EVENT_LEAK_DOUBLE),
	ST   (W, R10, EVENT_LEAK + 4, 0),
	COPY_8(R10, EVENT_LEAK + 8, R10, BLOCK),
	COPY_8(R10, EVENT_LEAK + 16, R10, BLOCK + 8),
	LEA  (R9, R10, EVENT_LEAK),
	OUTPUT(R6, R9, "events", sizeof(struct leak_double), QUIET),
	MOVI (R8, LEAK_UNSENT),
	JNEI (R0, 0, "lost"),
	RETURN(0),
LABEL("taken"),
	TELL_BLOCK(1, SECOND_AT(block.size), "told freed"),
	LDX  (DW, R1, R10, CALLED),
	JEQI (R1, LEAK_FREE, "out"),
	JEQI (R1, LEAK_MUNMAP, "rest"),
	LDX  (DW, R9, R10, STATE),
	ST   (DW, R9, THREAD_AT(had), 1),
	COPY_8(R9, THREAD_AT(old), R10, BLOCK),
	COPY_8(R9, THREAD_AT(old) + 8, R10, BLOCK + 8),
	COPY_32(R9, THREAD_AT(saved), R10, SECOND_AT(block)),
	RETURN(0),
LABEL("rest"),				/* behind what is unmapped */
	LDX  (DW, R1, R10, SIZE),
	TO_PAGES,
	LDX  (DW, R3, R10, SECOND_AT(block.size)),
	JGE  (R1, R3, "out"),
	SUB  (R3, R1),
	STX  (DW, R10, SECOND_AT(block.size), R3),
	LDX  (DW, R3, R10, BLOCK_AT(addr)),
	ADD  (R3, R1),
	STX  (DW, R10, BLOCK_AT(addr), R3),
	PUT  ("blocks", BLOCK, SECOND_AT(block), BPF_ANY),
LABEL("out"),
LABEL("filtered"),
	RETURN(0),
LABEL("lost"),				/* counters[r8]++ */
	STX  (W, R10, SLOT, R8),
	LOOKUP("counters", SLOT),
	JEQI (R0, 0, "out"),
	MOVI (R1, 1),
	XADD (DW, R0, 0, R1),
	RETURN(0),
};

/* The record's field at offset r8, so many bytes, to the stack; r6 = ctx. */
#define RECORD_FIELD(to, bytes) \
	ST   (DW, R10, to, 0), \
	LEA  (R1, R10, to), \
	MOVI (R2, bytes), \
	MOV  (R3, R6), \
	ADD  (R3, R8), \
	CALL (probe_read_kernel)

static const struct insn leave[] = {
	MOV  (R6, R1),
	CALL (get_current_pid_tgid),
	MOV  (R9, R0),
	CONST(R1, "user"),
	JEQI (R1, 0, "kernel"),
	STX  (W, R10, TID, R9),
	LOOKUP("threads", TID),
	JEQI (R0, 0, "out"),
	MOV  (R8, R0),			/* r8 = the thread's state */
	LDX  (DW, R3, R8, THREAD_AT(sp)),
	JEQI (R3, 0, "out"),
	SP   (R1, R6),
	CONST(R2, "pops"),		/* what a return takes off the stack */
	SUB  (R1, R2),
	JNE  (R1, R3, "out"),		/* of a call within a call */
	PROBE(R2, R6),
	LDX  (W, R1, R8, THREAD_AT(probe)),
	JNE  (R1, R2, "out"),
	ST   (DW, R8, THREAD_AT(sp), 0),
	LDX  (W, R1, R8, THREAD_AT(call)),
	JGEI (R1, LEAK_FREE, "out"),
	TASK_OWN_IDS(SLOT, "out"),
	RETVAL(R9, R6),			/* r9 = the block */
	LDX  (W, R1, R8, THREAD_AT(call)),
	JEQI (R1, LEAK_MMAP, "map"),
	JEQI (R1, LEAK_MREMAP, "map"),
	JNEI (R1, LEAK_THIRD, "block"),
	LSHI (R9, 32),
	JNEI (R9, 0, "failed"),
	LEA  (R1, R10, ONE),
	MOVI (R2, 8),
	LDX  (DW, R3, R8, THREAD_AT(out)),
	CALL (probe_read_user),
	JNEI (R0, 0, "failed"),
	LDX  (DW, R9, R10, ONE),
LABEL("block"),
	JEQI (R9, 0, "failed"),
LABEL("map"),
	JSLTI(R9, 0, "failed"),
	STX  (DW, R10, BLOCK_AT(addr), R9),
	COPY_8(R10, SIZE, R8, THREAD_AT(size)),
	SHARED(stack_image),		/* first in a block's key, too */
	COPY_8(R10, BLOCK, R10, KEY),
	LDX  (W, R1, R8, THREAD_AT(skip)),
	JNEI (R1, 0, "forget"),
	JMP  ("keep"),

LABEL("kernel"),
	MOVI (R7, 0),
	RSHI (R9, 32),
	CONST(R1, "self"),
	JEQ  (R9, R1, "out"),
	PROBE_FIND("out"),
	MOV  (R9, R0),
	LDX  (H, R8, R9, PROBE_AT(block_at)),
	RECORD_FIELD(BLOCK_AT(addr), 8),
	LDX  (DW, R1, R10, BLOCK_AT(addr)),
	JEQI (R1, 0, "out"),
	JEQI (R1, -1, "out"),		/* no page */
	LDX  (H, R8, R9, PROBE_AT(size_at)),
	LDX  (B, R1, R9, PROBE_AT(size_bytes)),
	JEQI (R1, 4, "word"),
	RECORD_FIELD(SIZE, 8),
	JMP  ("size"),
LABEL("word"),
	RECORD_FIELD(SIZE, 4),
	LDX  (W, R1, R10, SIZE),
	STX  (DW, R10, SIZE, R1),
LABEL("size"),
	LDX  (DW, R1, R10, SIZE),
	LDX  (B, R2, R9, PROBE_AT(is_order)),
	JEQI (R2, 0, "sized"),
	CONST(R2, "page"),
	ANDI (R1, 63),
	LSH  (R2, R1),
	MOV  (R1, R2),
	STX  (DW, R10, SIZE, R1),
LABEL("sized"),
	ST   (DW, R10, BLOCK, 0),
	ST   (DW, R10, KEY, 0),
	SIZE_FILTER("forget", "counts"),

	/* a block begins: at BLOCK, of SIZE */
LABEL("keep"),
	STACK("stack done"),
	CONST(R1, "user"),
	JEQI (R1, 0, "told"),
	SHARED(stack_tell),
	CALL (ktime_get_ns),
	STX  (DW, R10, VALUE_AT(time), R0),
	COPY_8(R10, VALUE_AT(size), R10, SIZE),
	COPY_8(R10, VALUE_AT(leaf), R10, KEY_AT(user_leaf)),
	LDX  (W, R1, R10, KEY_AT(user)),
	STX  (W, R10, VALUE_AT(stack), R1),
	ST   (W, R10, VALUE_AT(zero), 0),
	CONST(R1, "doubles"),
	JEQI (R1, 0, "note"),
	DROP ("freed", BLOCK),
LABEL("note"),
	PUT  ("blocks", BLOCK, VALUE, BPF_ANY),
	JEQI (R0, 0, "noted"),
	COUNT("counters", LEAK_FULL),
	ST   (W, R10, SLOT, LEAK_FULL_BYTES),
	LOOKUP("counters", SLOT),
	JEQI (R0, 0, "out"),
	LDX  (DW, R1, R10, SIZE),
	XADD (DW, R0, 0, R1),
	RETURN(0),
LABEL("noted"),
	TELL_BLOCK(0, SIZE, "told new"),
	CONST(R1, "get_stack"),
	AND  (R1, R8),
	JEQI (R1, 0, "out"),

	/* its stack found no place: frame by frame, through the ring */
	RESERVE("frames"),
	JEQI (R0, 0, "frames lost"),
	MOV  (R9, R0),
	ST   (W, R9, FRAMES_AT(type), EVENT_LEAK_FRAMES),
	COPY_8(R9, FRAMES_AT(key), R10, BLOCK),
	COPY_8(R9, FRAMES_AT(key.addr), R10, BLOCK_AT(addr)),
	COPY_8(R9, FRAMES_AT(time), R10, VALUE_AT(time)),
	MOV  (R1, R6),
	LEA  (R2, R9, FRAMES_AT(frames)),
	MOVI (R3, sizeof(((struct leak_frames *)0)->frames)),
	STACK_FLAGS(R4),
	CALL (get_stack),
	STX  (W, R9, FRAMES_AT(bytes), R0),
	SUBMIT(R6, R9, "frames", QUIET),
	JEQI (R0, 0, "out"),
LABEL("frames lost"),
	COUNT("counters", COUNTER_EVENT_LOST),
	RETURN(0),

	/* what was there is gone, unseen */
LABEL("forget"),
	DROP ("blocks", BLOCK),
	DROP ("freed", BLOCK),
LABEL("out"),
	RETURN(0),

LABEL("failed"),
	LDX  (DW, R1, R8, THREAD_AT(had)),
	JEQI (R1, 0, "out"),
	LDX  (W, R1, R8, THREAD_AT(call)),
	JEQI (R1, LEAK_MREMAP, "back"),
	LDX  (DW, R1, R8, THREAD_AT(size)),
	JEQI (R1, 0, "out"),		/* that was a free */
LABEL("back"),				/* the old block stays */
	COPY_8(R10, BLOCK, R8, THREAD_AT(old)),
	COPY_8(R10, BLOCK + 8, R8, THREAD_AT(old) + 8),
	COPY_32(R10, VALUE, R8, THREAD_AT(saved)),
	PUT  ("blocks", BLOCK, VALUE, BPF_ANY),
	DROP ("freed", BLOCK),
	RETURN(0),
};

static const struct insn kernel_free[] = {
	MOV  (R6, R1),
	PROBE_FIND("out"),
	LDX  (H, R8, R0, PROBE_AT(block_at)),
	RECORD_FIELD(BLOCK_AT(addr), 8),
	ST   (DW, R10, BLOCK, 0),
	DROP ("blocks", BLOCK),
	JEQI (R0, 0, "out"),
	COUNT("counters", LEAK_UNKNOWN),
LABEL("out"),
	RETURN(0),
};

static const struct insn gone[] = {
	CALL (get_current_pid_tgid),
	STX  (W, R10, TID, R0),
	DROP ("threads", TID),
	RETURN(0),
};

OBJECT(memleak) = {
	.maps = MAPS(
		{ "blocks", HASH, sizeof(struct leak_key),
		  sizeof(struct leak_block), 1 << 20, 0 },
		{ "freed", LRU_HASH, sizeof(struct leak_key),
		  sizeof(struct leak_freed), 1 << 16, 0 },
		{ "threads", HASH, 4, sizeof(struct leak_thread), 16384, 0 },
		{ "probes", ARRAY, 4, sizeof(struct leak_probe), 4096, 0 },
		{ "stacks", STACK_TRACE, 4, 8 * STACK_DEPTH, 4096, 0 },
		{ "gens", HASH, 4, 4, 32768, 0 },
		{ "seen", HASH, sizeof(struct image_key), 8, 8192, 0 },
		{ "frames", RECORD, 4, sizeof(struct leak_frames), 1, 0 },
		{ "counters", ARRAY, 4, 8, LEAK_COUNTERS, 0 },
		{ "events", EVENTS, 0, 0, 1 << 20, 0 },
		TASK_MAPS
	),
	.progs = PROGS(
		{ "enter", PROG_PROBE, NULL, INSNS(enter) },
		{ "leave", PROG_PROBE, NULL, INSNS(leave) },
		{ "kernel_free", PROG_PROBE, NULL, INSNS(kernel_free) },
		{ "gone", PROG_RAW_TRACEPOINT, "sched_process_exit",
		  INSNS(gone) },
		/* A process keeps its image when its first thread ends. */
		{ "exec", PROG_RAW_TRACEPOINT, "sched_process_exec",
		  FOLLOW(image_exec) },
		{ "exit", PROG_RAW_TRACEPOINT, "sched_process_exit",
		  FOLLOW(tree_exit) },
		{ "fork", PROG_TRACEPOINT, "sched/sched_process_fork",
		  FOLLOW(tree_fork) }
	),
	.consts = CONSTS(
		TASK_CONSTS, TREE_CONSTS,
		"user",			/* 1 = of programs, 0 = the kernel */
		"stack_flags",		/* of get_stack: whose */
		"get_stack", "caller",	/* as in stack_table.h */
		"doubles",		/* 1 = look for double frees */
		"linked",		/* 1 = return addresses in a register */
		"pops",			/* bytes that a return takes off */
		"page",			/* bytes */
		"min", "max",		/* sizes that count */
		"every",		/* one of so many counts */
		"trace"		/* 1 = tell of each block */
	),
};
