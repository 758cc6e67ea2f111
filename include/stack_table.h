/* stack_table - the maps and constants of counted stacks; for bpfasm/ alone.
 *
 * An object whose program has SHARED(stack_count) lists STACK_MAPS and
 * STACK_CONSTS; src/trace/stacks.h reads the result.
 */
#ifndef STACK_TABLE_H
#define STACK_TABLE_H

#include "task.h"

enum {				/* stack slots, off R10 */
	AMOUNT = TASK_SLOTS - 8,
	SEEN = AMOUNT - (int)sizeof(struct seen_event),
	KEY = SEEN - 2 * (int)sizeof(struct stack_key),	/* another above it */
	COMM = KEY + (int)offsetof(struct stack_key, comm),
	STACK_SLOTS = KEY,	/* a program's own are below */
};

extern const struct insn stack_image[], stack_caller[], stack_ids[],
	stack_tell[], stack_count[];	/* bpfasm/pieces.c */

#define KEY_AT(member)	(KEY + (int)offsetof(struct stack_key, member))
#define SEEN_AT(member)	(SEEN + (int)offsetof(struct seen_event, member))
#define EVENT_AT(member) ((int)offsetof(struct stack_event, member))

/* counts[key] += AMOUNT, then go to `out`; falls through when the table is
 * full. */
#define ADD_TO_COUNTS(found, out) \
	LOOKUP("counts", KEY), \
	JNEI (R0, 0, found), \
	MAP  (R1, "counts"), \
	LEA  (R2, R10, KEY), \
	LEA  (R3, R10, AMOUNT), \
	MOVI (R4, BPF_NOEXIST), \
	CALL (map_update_elem), \
	JEQI (R0, 0, out), \
	LOOKUP("counts", KEY),		/* another CPU was first, or full */ \
	JEQI (R0, 0, found "_not"), \
LABEL(found), \
	LDX  (DW, R1, R10, AMOUNT), \
	XADD (DW, R0, 0, R1), \
	JMP  (out), \
LABEL(found "_not")

/* The number of a stack's entry in the table, or -errno, to the key's member
 * `id`; FLAGS(reg) loads which half it is. What collides is tried once more
 * without its leaf, another hash, so another bucket: then the leaf goes to the
 * key as well. r8 = 1 when it found no place. Uses r0 to r5. */
#define STACK_ID(id, leaf, FLAGS, next) \
	MOV  (R1, R6), \
	MAP  (R2, "stacks"), \
	FLAGS(R3), \
	CALL (get_stackid), \
	STX  (W, R10, KEY_AT(id), R0), \
	JNEI (R0, -EEXIST, next " found"), \
	CONST(R1, "get_stack"), \
	JEQI (R1, 0, next " found"), \
	MOV  (R1, R6), \
	LEA  (R2, R10, KEY_AT(leaf)), \
	MOVI (R3, 8), \
	FLAGS(R4), \
	CALL (get_stack), \
	JNEI (R0, 8, next " taken"), \
	MOV  (R1, R6), \
	MAP  (R2, "stacks"), \
	FLAGS(R3), \
	ORI  (R3, 1), \
	CALL (get_stackid), \
	STX  (W, R10, KEY_AT(id), R0), \
	JNEI (R0, -EEXIST, next " found"), \
LABEL(next " taken"), \
	MOVI (R8, 1), \
LABEL(next " found"), \
	JNEI (R0, -ENOMEM, next), \
	MOVI (R8, 1), \
LABEL(next)

#define STACK_OF_USER(reg) MOVI(reg, BPF_F_USER_STACK)
#define STACK_OF_KERNEL(reg) MOVI(reg, 0)

#define STACK_MAPS \
	STACK_KEY_MAPS, \
	{ "frames", RECORD, 4, sizeof(struct stack_event), 1, 0 }, \
	STACK_CHANNEL_MAPS

/* The same for a program that sends no frames. */
#define STACK_KEY_MAPS \
	{ "counts", HASH, sizeof(struct stack_key), 8, 10240, 0 }, \
	{ "stacks", STACK_TRACE, 4, 8 * STACK_DEPTH, 4096, 0 }, \
	{ "gens", HASH, 4, 4, 32768, 0 }, \
	{ "seen", HASH, sizeof(struct image_key), 8, 8192, 0 }
#define STACK_CHANNEL_MAPS \
	{ "counters", ARRAY, 4, 8, COUNTER_MAX, 0 }, \
	{ "events", EVENTS, 0, 0, 1 << 20, 0 }

#define STACK_CONSTS \
	"user", "kernel",	/* 1 = that half of the stack */ \
	"caller",		/* enum caller_place: of a hidden caller */ \
	"get_stack"		/* 1 = the kernel has it (4.18) */

#endif
