/* loadsnoop - how many tasks want to run, and which; user half:
 * src/cmd/loadsnoop.c
 *
 *   update_rq_clock(struct rq *rq), its queue locked, on whatever task
 *   iterator over tasks: ctx[0] = struct bpf_iter_meta *, ctx[1] = task or 0
 *
 * A queue's number is read before what happens to it now: it is one too high
 * while its last task leaves. Hence what is summed is how many tasks beyond one
 * are on each queue, which an idle queue's number is right for.
 *
 * The scheduler is no place to wake anybody from; user space comes to look.
 */
#include "asm.h"

enum {				/* stack slots, off R10 */
	NUMBER = SCRATCH - 8,
	KEY = NUMBER - 8,
};

/* r0 = a slot of "sums". */
#define SUM(n, missing) \
	ST   (W, R10, KEY, n), \
	LOOKUP("sums", KEY), \
	JEQI (R0, 0, missing)

static const struct insn queue[] = {
	MOV  (R6, R1),			/* r6 = ctx */
	ARG  (R7, R6, 1),		/* r7 = rq */
	ST   (DW, R10, NUMBER, 0),
	LEA  (R1, R10, NUMBER),
	MOVI (R2, 4),
	CONST(R3, "nr_running"),
	ADD  (R3, R7),
	CALL (probe_read_kernel),
	LDX  (W, R8, R10, NUMBER),	/* r8 = tasks on it */
	CONST(R1, "single"),
	JNEI (R1, 0, "peak"),
	JEQI (R8, 0, "beyond"),
	SUBI (R8, 1),
LABEL("beyond"),
	STX  (DW, R10, NUMBER, R8),
	STX  (DW, R10, KEY, R7),
	LOOKUP("queues", KEY),
	JEQI (R0, 0, "new"),
	LDX  (DW, R1, R0, 0),
	JEQ  (R1, R8, "out"),		/* nothing changed */
	STX  (DW, R0, 0, R8),
	SUB  (R8, R1),
	JMP  ("sum"),
LABEL("new"),
	MAP  (R1, "queues"),
	LEA  (R2, R10, KEY),
	LEA  (R3, R10, NUMBER),
	MOVI (R4, BPF_NOEXIST),
	CALL (map_update_elem),
	JNEI (R0, 0, "out"),
LABEL("sum"),
	SUM  (LOAD_WAITING, "out"),
	XADD (DW, R0, 0, R8),
	LDX  (DW, R8, R0, 0),
LABEL("peak"),
	SUM  (LOAD_PEAK, "out"),
	LDX  (DW, R1, R0, 0),
	JGE  (R1, R8, "out"),
	STX  (DW, R0, 0, R8),
LABEL("out"),
	RETURN(0),
};

/* What may be a queue's number, seen by who knows what it should be. */
static const struct insn head[] = {
	ARG  (R7, R1, 1),		/* r7 = rq */
	CALL (get_current_pid_tgid),
	CONST(R1, "self"),
	JNE  (R0, R1, "out"),
	SUM  (LOAD_HEAD, "out"),
	MOV  (R1, R0),
	MOVI (R2, 8),
	CONST(R3, "head"),
	ADD  (R3, R7),
	CALL (probe_read_kernel),
LABEL("out"),
	RETURN(0),
};

#define TASK_AT(member) ((int)offsetof(struct load_task, member))

#define TASK_READ(member, size, path) \
	LEA  (R1, R9, TASK_AT(member)), \
	MOVI (R2, size), \
	FIELD(R3, R6, path), \
	CALL (probe_read_kernel)

/* A field whose place is a constant, 0 = there is none, into four bytes, of
 * which it may have less: what is not 0 stays so in any order. */
#define TASK_READ_AT(member, constant, size, next) \
	ST   (W, R9, TASK_AT(member), 0), \
	CONST(R3, constant), \
	JEQI (R3, 0, next), \
	ADD  (R3, R6), \
	LEA  (R1, R9, TASK_AT(member)), \
	CONST(R2, size), \
	CALL (probe_read_kernel), \
LABEL(next)

static const struct insn task[] = {
	LDX  (DW, R6, R1, 8),		/* r6 = task */
	JEQI (R6, 0, "out"),		/* that was all */
	LDX  (DW, R7, R1, 0),
	LDX  (DW, R7, R7, 0),		/* r7 = meta->seq */
	ST   (DW, R10, NUMBER, 0),
	LEA  (R1, R10, NUMBER),
	CONST(R2, "state_size"),
	CONST(R3, "state"),
	ADD  (R3, R6),
	CALL (probe_read_kernel),
	LDX  (DW, R1, R10, NUMBER),
	JNEI (R1, 0, "out"),		/* it sleeps, or has ended */
	ST   (W, R10, KEY, 0),
	LOOKUP("record", KEY),
	JEQI (R0, 0, "out"),
	MOV  (R9, R0),
	TASK_READ(tgid, 4, "task_struct.tgid"),
	TASK_READ(tid, 4, "task_struct.pid"),
	TASK_READ(comm, COMM_SIZE, "task_struct.comm"),
	TASK_READ_AT(cpu, "cpu", "cpu_size", "waits"),
	TASK_READ_AT(on_cpu, "on_cpu", "on_cpu_size", "stack"),
	ST   (DW, R9, TASK_AT(bytes), 0),
	LDX  (W, R1, R9, TASK_AT(on_cpu)),
	JNEI (R1, 0, "send"),
	MOV  (R1, R6),
	LEA  (R2, R9, TASK_AT(kernel)),
	MOVI (R3, 8 * STACK_DEPTH),
	MOVI (R4, 0),
	CALL (get_task_stack),
	MOV  (R8, R0),
	TASK_READ_AT(on_cpu, "on_cpu", "on_cpu_size", "again"),
	LDX  (W, R1, R9, TASK_AT(on_cpu)),
	JNEI (R1, 0, "send"),		/* it ran while that was read */
	STX  (DW, R9, TASK_AT(bytes), R8),
LABEL("send"),
	MOV  (R1, R7),
	MOV  (R2, R9),
	MOVI (R3, sizeof(struct load_task)),
	CALL (seq_write),
LABEL("out"),
	RETURN(0),
};

OBJECT(loadsnoop) = {
	.maps = MAPS(
		{ "queues", HASH, 8, 8, 1024, 0 },
		{ "sums", ARRAY, 4, 8, LOAD_SUMS, 0 },
		{ "record", PERCPU_ARRAY, 4, sizeof(struct load_task), 1, 0 }
	),
	.progs = PROGS(
		{ "queue", PROG_PROBE, NULL, INSNS(queue) },
		{ "head", PROG_PROBE, NULL, INSNS(head) },
		{ "task", PROG_PROBE, NULL, INSNS(task) }
	),
	.consts = CONSTS(
		"nr_running",		/* of struct rq: its offset */
		"single",		/* 1 = the fullest queue matters */
		"self",			/* tgid << 32 | tid of user space */
		"head",			/* offset of what is shown of it */
		/* of struct task_struct: offsets, 0 = it has none; bytes */
		"state", "state_size", "cpu", "cpu_size",
		"on_cpu", "on_cpu_size"
	),
};
