/* trace - send what is there at each hit of a probe; user half:
 * src/cmd/trace.c
 *
 *   any probe: ctx as its kind has it, on the task that hits it
 *
 * A record's parts are as large as the session needs, each at a fixed place.
 */
#include "asm.h"
#include "images.h"
#include "task.h"

enum {				/* stack slots, off R10 */
	KEY = TASK_SLOTS - (int)sizeof(struct image_key),
	IDS = KEY - 8,		/* the task's numbers */
	NUMBER = IDS - 8,	/* of the probe */
	WHAT = NUMBER - 8,	/* its struct trace_probe */
	VALUE = WHAT - 8,
	WORDS = VALUE - 8 * TRACE_ARGS,	/* arguments, for the filter */
};

#define HIT(member)	((int)offsetof(struct trace_event, member))
#define PROBE_AT(member) ((int)offsetof(struct trace_probe, member))
#define ARG_AT(member)	((int)offsetof(struct trace_arg, member))
#define COMPARE_AT(member) ((int)offsetof(struct trace_compare, member))
#define DATA		((int)sizeof(struct trace_event))

#define SAVE_ARG(n, base, at) \
	ARG  (R1, R6, n), \
	STX  (DW, base, at + 8 * (n - 1), R1)
#define SAVE_ARGS(base, at) \
	SAVE_ARG(1, base, at), \
	SAVE_ARG(2, base, at), \
	SAVE_ARG(3, base, at), \
	SAVE_ARG(4, base, at), \
	SAVE_ARG(5, base, at), \
	SAVE_ARG(6, base, at)

/* r1 = the register that is r3 bytes into the ctx */
#define REGISTER(failed) \
	ADD  (R3, R6), \
	LEA  (R1, R10, VALUE), \
	MOVI (R2, 8), \
	CALL (probe_read_kernel), \
	JNEI (R0, 0, failed), \
	LDX  (DW, R1, R10, VALUE)

static const struct insn hit[] = {
	MOV  (R6, R1),			/* r6 = ctx */
	TASK_IDS(SLOT, "filtered"),
	SHARED(task_filter),
	STX  (DW, R10, IDS, R7),
	PROBE(R8, R6),
	STX  (W, R10, NUMBER, R8),
	LOOKUP("probes", NUMBER),
	JEQI (R0, 0, "filtered"),	/* never: each probe has its slot */
	MOV  (R8, R0),			/* r8 = what to take */

	/* What the filter refuses leaves no trace in the ring. */
	CONST(R1, "filters"),
	JEQI (R1, 0, "reserve"),
	LDX  (B, R1, R8, PROBE_AT(compares)),
	JEQI (R1, 0, "reserve"),
	LDX  (B, R1, R8, PROBE_AT(fetch)),
	JEQI (R1, FETCH_RECORD, "filter"),
	JEQI (R1, FETCH_RETVAL, "filter_retval"),
	CONST(R1, "args"),
	JEQI (R1, 0, "reserve"),
	SAVE_ARGS(R10, WORDS),
	JMP  ("filter"),
LABEL("filter_retval"),
	RETVAL(R1, R6),
	STX  (DW, R10, WORDS, R1),
LABEL("filter"),
	LOOKUP("filters", NUMBER),
	JEQI (R0, 0, "reserve"),
	MOV  (R7, R0),			/* r7 = struct trace_compare */
	MOVI (R9, 0),			/* r9 = the answers */
	REPEAT(TRACE_COMPARES),
	ROUND(R1),
	LDX  (B, R2, R8, PROBE_AT(compares)),
	JGE  (R1, R2, "compare_next"),
	LDX  (H, R3, R7, COMPARE_AT(at)),
	LDX  (B, R1, R8, PROBE_AT(fetch)),
	JEQI (R1, FETCH_RECORD, "compare_field"),
	ADD  (R3, R10),
	ADDI (R3, WORDS),
	JMP  ("compare"),
LABEL("compare_field"),
	ADD  (R3, R6),
LABEL("compare"),
	LEA  (R1, R10, VALUE),
	MOVI (R2, 8),
	CALL (probe_read_kernel),
	JNEI (R0, 0, "reserve"),	/* the reader will say so */
	LDX  (DW, R1, R10, VALUE),
	LDX  (DW, R2, R7, COMPARE_AT(mask)),
	AND  (R1, R2),
	LDX  (DW, R2, R7, COMPARE_AT(flip)),
	XOR  (R1, R2),
	LDX  (DW, R2, R7, COMPARE_AT(limit)),
	/* r1 < r2 without a jump, which would be two ways for the verifier:
	 * what the subtraction borrows. */
	MOV  (R3, R1),
	XORI (R3, -1),
	AND  (R3, R2),
	MOV  (R4, R1),
	XOR  (R4, R2),
	XORI (R4, -1),
	SUB  (R1, R2),
	AND  (R4, R1),
	OR   (R3, R4),
	RSHI (R3, 63),
	ROUND(R1),
	LSH  (R3, R1),
	OR   (R9, R3),
LABEL("compare_next"),
	ADDI (R7, sizeof(struct trace_compare)),
	AGAIN,
	MOV  (R1, R9),			/* r7 = the truths */
	RSHI (R1, 3),
	ANDI (R1, sizeof(((struct trace_filter *)0)->truth) - 1),
	ADD  (R7, R1),
	LDX  (B, R1, R7, 0),
	ANDI (R9, 7),
	RSH  (R1, R9),
	ANDI (R1, 1),
	JEQI (R1, 0, "filtered"),

LABEL("reserve"),
	RESERVE("records"),
	JEQI (R0, 0, "lost"),
	MOV  (R7, R0),			/* r7 = the record */
	ST   (W, R7, HIT(type), EVENT_TRACE),
	LDX  (W, R1, R10, NUMBER),
	STX  (W, R7, HIT(probe), R1),
	LDX  (W, R1, R10, IDS),
	STX  (W, R7, HIT(tid), R1),
	LDX  (W, R1, R10, IDS + 4),
	STX  (W, R7, HIT(tgid), R1),
	ST   (W, R7, HIT(gen), 0),
	ST   (DW, R7, HIT(caller), 0),
	ST   (W, R7, HIT(kernel_bytes), 0),
	ST   (W, R7, HIT(user_bytes), 0),
	ST   (W, R7, HIT(bad), 0),
	CALL (get_smp_processor_id),
	STX  (W, R7, HIT(cpu), R0),
	LEA  (R1, R7, HIT(comm)),
	MOVI (R2, COMM_SIZE),
	CALL (get_current_comm),
	CALL (ktime_get_ns),
	STX  (DW, R7, HIT(time), R0),
	CONST(R1, "ids"),
	JEQI (R1, 0, "values"),
	CALL (get_current_uid_gid),
	STX  (W, R7, HIT(uid), R0),
	RSHI (R0, 32),
	STX  (W, R7, HIT(gid), R0),
LABEL("values"),

	/* words, or the tracepoint's record */
	LDX  (B, R1, R8, PROBE_AT(fetch)),
	JEQI (R1, FETCH_RETVAL, "retval"),
	JEQI (R1, FETCH_RECORD, "record"),
	JEQI (R1, FETCH_USDT, "usdt"),
	CONST(R1, "args"),
	JEQI (R1, 0, "strings"),
	SAVE_ARGS(R7, DATA),
	JMP  ("strings"),
LABEL("retval"),
	RETVAL(R1, R6),
	STX  (DW, R7, DATA, R1),
	JMP  ("strings"),
LABEL("record"),
	CONST(R1, "record"),
	JEQI (R1, 0, "strings"),
	LDX  (H, R2, R8, PROBE_AT(size)),
	CONST(R3, "words"),
	JLE  (R2, R3, "record_size"),
	MOV  (R2, R3),
LABEL("record_size"),
	LEA  (R1, R7, DATA),
	MOV  (R3, R6),
	CALL (probe_read_kernel),
	JEQI (R0, 0, "strings"),
	ST   (W, R7, HIT(bad), -1),
	JMP  ("strings"),

LABEL("usdt"),
	CONST(R1, "usdt"),
	JEQI (R1, 0, "strings"),
	STX  (DW, R10, WHAT, R8),
	LOOKUP("usdt", NUMBER),
	JEQI (R0, 0, "strings"),
	MOV  (R8, R0),			/* r8 = the argument's description */
	REPEAT(TRACE_USDT),
	LDX  (B, R1, R8, ARG_AT(kind)),
	JEQI (R1, TRACE_ARG_END, "arg_next"),
	JEQI (R1, TRACE_ARG_NONE, "arg_bad"),
	LDX  (DW, R9, R8, ARG_AT(disp)),
	JEQI (R1, TRACE_ARG_CONST, "arg_good"),
	LDX  (H, R3, R8, ARG_AT(base)),
	JEQI (R3, TRACE_NO_REG, "arg_index"),
	REGISTER("arg_bad"),
	LDX  (B, R2, R8, ARG_AT(kind)),
	JNEI (R2, TRACE_ARG_REG, "arg_base"),
	LDX  (B, R2, R8, ARG_AT(shift)),
	MOV  (R9, R1),
	RSH  (R9, R2),
	JMP  ("arg_good"),
LABEL("arg_base"),
	ADD  (R9, R1),
LABEL("arg_index"),
	LDX  (H, R3, R8, ARG_AT(index)),
	JEQI (R3, TRACE_NO_REG, "arg_address"),
	REGISTER("arg_bad"),
	LDX  (B, R2, R8, ARG_AT(index_is)),
	JEQI (R2, 0, "arg_scale"),	/* enum usdt_index */
	LSHI (R1, 32),
	JEQI (R2, 1, "arg_u32"),
	ARSHI(R1, 32),
	JMP  ("arg_scale"),
LABEL("arg_u32"),
	RSHI (R1, 32),
LABEL("arg_scale"),
	LDX  (B, R2, R8, ARG_AT(scale)),
	LSH  (R1, R2),
	ADD  (R9, R1),
LABEL("arg_address"),
	LDX  (B, R1, R8, ARG_AT(narrow)),
	JEQI (R1, 0, "arg_load"),
	LSHI (R9, 32),
	RSHI (R9, 32),
LABEL("arg_load"),			/* never more than its own bytes */
	ST   (DW, R10, VALUE, 0),
	LDX  (B, R2, R8, ARG_AT(width)),
	JGTI (R2, 8, "arg_bad"),
	LEA  (R1, R10, VALUE),
	MOV  (R3, R9),
	CALL (probe_read_user),
	JNEI (R0, 0, "arg_bad"),
	LDX  (DW, R9, R10, VALUE),
LABEL("arg_good"),
	ROUND(R1),
	LSHI (R1, 3),
	ADD  (R1, R7),
	STX  (DW, R1, DATA, R9),
	JMP  ("arg_next"),
LABEL("arg_bad"),
	ROUND(R1),
	MOVI (R2, 1),
	LSH  (R2, R1),
	LDX  (W, R1, R7, HIT(bad)),
	OR   (R1, R2),
	STX  (W, R7, HIT(bad), R1),
LABEL("arg_next"),
	ADDI (R8, sizeof(struct trace_arg)),
	AGAIN,
	LDX  (DW, R8, R10, WHAT),

LABEL("strings"),
	REPEAT(TRACE_STRINGS),
	ROUND(R1),
	CONST(R2, "strings"),
	JGE  (R1, R2, "stacks"),
	LEA  (R9, R8, 0),
	ADD  (R9, R1),
	LDX  (B, R4, R9, PROBE_AT(spaces)),
	JEQI (R4, SPACE_NONE, "string_next"),
	LSHI (R1, 1),
	ADD  (R1, R8),
	LDX  (H, R3, R1, PROBE_AT(at)),
	CONST(R2, "words"),
	SUBI (R2, 8),
	JGT  (R3, R2, "string_next"),
	MOV  (R5, R3),			/* r5 = where the word says */
	ADD  (R3, R7),
	ROUND(R1),			/* r1 = where the text goes to */
	CONST(R2, "string_size"),
	MUL  (R1, R2),
	ADD  (R1, R7),
	CONST(R9, "strings_at"),
	ADD  (R1, R9),
	JGEI (R4, SPACE_DATA_LOC, "string_in_record"),
	LDX  (DW, R3, R3, DATA),
	JEQI (R4, SPACE_USER, "string_user"),
	CONST(R4, "any"),
	JEQI (R4, 0, "string_user"),
	MOV  (R4, R3),
	LSHI (R4, 63 - 55),
	JSGEI(R4, 0, "string_user"),
	CALL (probe_read_kernel_str),
	JMP  ("string_done"),
LABEL("string_user"),
	CALL (probe_read_user_str),
	JMP  ("string_done"),
LABEL("string_in_record"),
	CONST(R9, "record"),
	JEQI (R9, 0, "string_next"),
	LDX  (W, R3, R3, DATA),
	MOV  (R9, R3),
	RSHI (R9, 16),			/* r9 = its length */
	ANDI (R3, 0xffff),
	JEQI (R4, SPACE_DATA_LOC, "string_place"),
	ADD  (R3, R5),
	ADDI (R3, 4),
LABEL("string_place"),
	ADD  (R3, R6),
	JLE  (R9, R2, "string_fits"),
	MOV  (R9, R2),
LABEL("string_fits"),
	MOV  (R2, R9),
	CALL (probe_read_kernel),
	JNEI (R0, 0, "string_done"),
	MOV  (R0, R9),
LABEL("string_done"),
	ROUND(R1),
	LSHI (R1, 1),
	ADD  (R1, R7),
	STX  (H, R1, HIT(strings), R0),
LABEL("string_next"),
	AGAIN,

LABEL("stacks"),
	MOVI (R9, 0),			/* r9 = 1: wake the reader */
	CONST(R1, "user"),
	JEQI (R1, 0, "kernel"),
	LDX  (W, R1, R10, IDS + 4),
	STX  (W, R10, KEY, R1),		/* struct image_key */
	ST   (W, R10, KEY + 4, 0),
	LOOKUP("gens", KEY),
	JEQI (R0, 0, "first"),
	LDX  (W, R1, R0, 0),
	STX  (W, R10, KEY + 4, R1),
	STX  (W, R7, HIT(gen), R1),
LABEL("first"),
	LOOKUP("seen", KEY),
	JNEI (R0, 0, "known"),
	ST   (DW, R10, ONE, 1),
	MAP  (R1, "seen"),
	LEA  (R2, R10, KEY),
	LEA  (R3, R10, ONE),
	MOVI (R4, BPF_NOEXIST),
	CALL (map_update_elem),
	MOVI (R9, 1),			/* read its mappings while it lives */
LABEL("known"),
	/* A function that is just entered hides its caller (pieces.c). */
	LDX  (B, R1, R8, PROBE_AT(at_entry)),
	JEQI (R1, 0, "user_stack"),
	CONST(R1, "caller"),
	JEQI (R1, CALLER_IN_LR_NOW, "link"),
	LEA  (R1, R10, VALUE),
	MOVI (R2, 8),
	SP   (R3, R6),
	CALL (probe_read_user),
	JNEI (R0, 0, "user_stack"),
	LDX  (DW, R1, R10, VALUE),
	STX  (DW, R7, HIT(caller), R1),
	JMP  ("user_stack"),
LABEL("link"),
	LR   (R1, R6),
	LSHI (R1, 16),			/* it may be signed above 48 bits */
	RSHI (R1, 16),
	STX  (DW, R7, HIT(caller), R1),
LABEL("user_stack"),
	MOV  (R1, R6),
	CONST(R2, "user_at"),
	ADD  (R2, R7),
	MOVI (R3, 8 * STACK_DEPTH),
	MOVI (R4, BPF_F_USER_STACK),
	CALL (get_stack),
	STX  (W, R7, HIT(user_bytes), R0),
LABEL("kernel"),
	CONST(R1, "kernel"),
	JEQI (R1, 0, "send"),
	MOV  (R1, R6),
	CONST(R2, "kernel_at"),
	ADD  (R2, R7),
	MOVI (R3, 8 * STACK_DEPTH),
	MOVI (R4, 0),
	CALL (get_stack),
	STX  (W, R7, HIT(kernel_bytes), R0),

	/* The reader comes by often enough, unless the ring is half full. */
LABEL("send"),
	CONST(R1, "half"),
	JEQI (R1, 0, "wake"),
	JNEI (R9, 0, "wake"),
	MAP  (R1, "events"),
	MOVI (R2, BPF_RB_AVAIL_DATA),
	CALL (ringbuf_query),
	CONST(R1, "half"),
	JGE  (R0, R1, "wake"),
	SUBMIT(R6, R7, "records", QUIET),
	RETURN(0),			/* by a ring, which cannot fail */
LABEL("wake"),
	SUBMIT(R6, R7, "records", WAKE),
	JNEI (R0, 0, "lost"),
LABEL("filtered"),
	RETURN(0),

	/* by probe; and by process, as long as there is room */
LABEL("lost"),
	LOOKUP("lost", NUMBER),
	JEQI (R0, 0, "loser"),
	MOVI (R1, 1),
	XADD (DW, R0, 0, R1),
LABEL("loser"),
	LOOKUP("losers", IDS + 4),
	JNEI (R0, 0, "loser_again"),
	ST   (DW, R10, ONE, 1),
	MAP  (R1, "losers"),
	LEA  (R2, R10, IDS + 4),
	LEA  (R3, R10, ONE),
	MOVI (R4, BPF_NOEXIST),
	CALL (map_update_elem),
	RETURN(0),
LABEL("loser_again"),
	MOVI (R1, 1),
	XADD (DW, R0, 0, R1),
	RETURN(0),
};

OBJECT(trace) = {
	.maps = MAPS(
		{ "probes", ARRAY, 4, sizeof(struct trace_probe), 1, 0 },
		{ "usdt", ARRAY, 4, sizeof(struct trace_args), 1, 0 },
		{ "filters", ARRAY, 4, sizeof(struct trace_filter), 1, 0 },
		{ "events", EVENTS, 0, 0, 1 << 20, 0 },
		{ "records", RECORD, 4, sizeof(struct trace_event), 1, 0 },
		{ "lost", ARRAY, 4, 8, 1, 0 },
		{ "losers", HASH, 4, 8, 1024, 0 },
		{ "gens", HASH, 4, 4, 32768, 0 },
		{ "seen", HASH, sizeof(struct image_key), 8, 8192, 0 },
		{ "counters", ARRAY, 4, 8, COUNTER_MAX, 0 },
		TASK_MAPS
	),
	.progs = PROGS(
		{ "hit", PROG_PROBE, NULL, INSNS(hit) },
		IMAGE_PROGS
	),
	.consts = CONSTS(
		TASK_CONSTS, TREE_CONSTS,
		"half",			/* bytes that wake the reader; 0 = it
					 * is not this ring */
		"words",		/* bytes of words or record */
		"args", "record", "usdt",	/* 1 = some probe has those */
		"filters",		/* 1 = some probe has one */
		"ids",			/* 1 = user and group are asked for */
		"strings",		/* how many a probe has at most */
		"strings_at", "string_size",	/* from the record's start */
		"any",			/* 1 = strings may be the kernel's */
		"user", "user_at", "kernel", "kernel_at",	/* stacks */
		"caller"		/* enum caller_place */
	),
};
