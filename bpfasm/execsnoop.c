/* execsnoop - tell every execution of a program; user half:
 * src/cmd/execsnoop.c
 *
 *   raw_tracepoint sched_process_exec, on the task, whose memory is the new
 *   program's: ctx[1] = the tid that it had, ctx[2] = struct linux_binprm *
 *   tracepoint syscalls/sys_enter_execve, sys_exit_execve and those of
 *   execveat, for calls that fail; and for arguments, where the kernel does not
 *   tell its fields. They are read when the call fails: the kernel itself has
 *   brought them into memory by then.
 */
#include "asm.h"
#include "exec_event.h"
#include "task.h"
#include "tree.h"

enum {				/* stack slots, off R10 */
	PTR = TASK_SLOTS - 8,
	ARGV = PTR - 8,		/* struct call */
	FILE = ARGV - 8,
	ROUND = FILE - 8,
	RET = ROUND - 8,
	WORD = (int)sizeof(long),
};

enum { RECORD_EXEC, RECORD_ENTER, RECORD_LEAVE, RECORDS };

#define EXEC_AT(member) ((int)offsetof(struct exec_event, member))

/* A pointer or long at a field of the kernel's struct at `base`, to the stack;
 * 0 when it cannot be read. */
#define READ_WORD(to, base, path) \
	ST   (DW, R10, to, 0), \
	FIELD(R3, base, path), \
	LEA  (R1, R10, to), \
	MOVI (R2, WORD), \
	CALL (probe_read_kernel)

/* Is it the user that was asked for? */
#define USER_FILTER \
	CONST(R8, "by_uid"),		/* a uid + 1, 0 = any */ \
	JEQI (R8, 0, "user"), \
	CALL (get_current_uid_gid), \
	LSHI (R0, 32), \
	RSHI (R0, 32), \
	ADDI (R0, 1), \
	JNE  (R0, R8, "filtered"), \
LABEL("user")

/* Fill in the head of an execution's record: the one of this CPU whose number
 * is at SLOT, then r9. r9 = the task's numbers everywhere, r7 the user's
 * (task.h). Goes to "out" when there is none. PTR is its own. Uses r0 to r5,
 * r7. */
static const struct insn head[] = {
	LOOKUP("records", SLOT),
	JEQI (R0, 0, "out"),		/* never: each CPU has its own */
	STX  (W, R0, EXEC_AT(task), R9),
	MOV  (R9, R0),
	RSHI (R7, 32),
	STX  (W, R9, EXEC_AT(pid), R7),
	ST   (W, R9, EXEC_AT(type), EVENT_EXEC),
	ST   (W, R9, EXEC_AT(part), 0),	/* last, unread and script as well */
	ST   (W, R9, EXEC_AT(number), 0),
	ST   (DW, R9, EXEC_AT(area), 0),
	ST   (W, R9, EXEC_AT(ret), 0),
	ST   (W, R9, EXEC_AT(ppid), 0),
	CALL (ktime_get_ns),
	STX  (DW, R9, EXEC_AT(time), R0),
	CALL (get_current_uid_gid),
	STX  (W, R9, EXEC_AT(uid), R0),
	LEA  (R1, R9, EXEC_AT(comm)),
	MOVI (R2, COMM_SIZE),
	CALL (get_current_comm),
	CONST(R1, "fields"),
	JEQI (R1, 0, "headed"),
	CALL (get_current_task),
	READ_WORD(PTR, R0, "task_struct.real_parent"),
	LEA  (R1, R9, EXEC_AT(ppid)),
	MOVI (R2, 4),
	LDX  (DW, R3, R10, PTR),
	FIELD(R3, R3, "task_struct.tgid"),
	CALL (probe_read_kernel),
LABEL("headed"),
	END
};

/* Send the file and arguments of an exec call. r6 = ctx, r9 = the record with
 * its head, r7 = argv in the calling program, whose pointer to the file's name
 * is at FILE. PTR is its own. The first argument is left out: it is the file's
 * name once more. Uses r0 to r5, r7, r8. */
static const struct insn list[] = {
	ST   (B, R9, EXEC_AT(part), EXEC_FILE),
	ST   (W, R9, EXEC_AT(number), 0),
	MOVI (R8, 0),			/* pointers read */
	LDX  (DW, R3, R10, FILE),
	JMP  ("read"),
LABEL("next"),
	JEQI (R7, 0, "listed"),		/* no argv */
	CONST(R1, "max_args"),
	JGE  (R8, R1, "listed"),
	STX  (W, R9, EXEC_AT(number), R8),
	ADDI (R8, 1),
	ST   (DW, R10, PTR, 0),
	LEA  (R1, R10, PTR),
	MOVI (R2, WORD),
	MOV  (R3, R7),
	CALL (probe_read_user),
	JEQI (R0, 0, "pointer"),
	MOVI (R7, 0),			/* one that is not read is the last */
	MOVI (R3, 0),
	JMP  ("read"),
LABEL("pointer"),
	LDX  (DW, R3, R10, PTR),
	JEQI (R3, 0, "listed"),
	ADDI (R7, WORD),
	JEQI (R8, 1, "next"),
LABEL("read"),
	ST   (B, R9, EXEC_AT(unread), 0),
	LEA  (R1, R9, EXEC_AT(data)),
	MOVI (R2, EXEC_DATA),
	CALL (probe_read_user_str),
	JSGEI(R0, 0, "text"),		/* 0, or 1: an empty one */
	ST   (B, R9, EXEC_AT(unread), 1),
	MOVI (R0, 0),
LABEL("text"),
	STX  (W, R9, EXEC_AT(len), R0),
	JGTI (R0, EXEC_SMALL, "long"),
	OUTPUT(R6, R9, "events", EXEC_HEAD + EXEC_SMALL, QUIET),
	JMP  ("sent"),
LABEL("long"),
	OUTPUT(R6, R9, "events", EXEC_HEAD + EXEC_DATA, QUIET),
LABEL("sent"),
	ST   (B, R9, EXEC_AT(part), EXEC_ARG),
	JEQI (R0, 0, "next"),
	COUNT("counters", COUNTER_EVENT_LOST),
	JMP  ("next"),
LABEL("listed"),
	END
};

static const struct insn exec[] = {
	MOV  (R6, R1),			/* r6 = ctx */
	LDX  (DW, R1, R6, 8),
	STX  (W, R10, SLOT, R1),
	MAP  (R1, "calls"),
	LEA  (R2, R10, SLOT),
	CALL (map_delete_elem),
	TASK_IDS(SLOT, "outside"),
	TREE_EXEC(R6, "filter"),
	SHARED(task_filter),
	USER_FILTER,
	ST   (W, R10, SLOT, RECORD_EXEC),
	SHARED(head),
	LDX  (DW, R1, R6, 8),
	STX  (W, R9, EXEC_AT(task), R1),
	ST   (DW, R10, ROUND, 0),
	MOVI (R7, 0),
	MOVI (R8, 0),
	CONST(R1, "fields"),
	JNEI (R1, 0, "memory"),
	ST   (B, R9, EXEC_AT(part), EXEC_END),
	ST   (B, R9, EXEC_AT(last), 1),
	ST   (W, R9, EXEC_AT(len), 0),
	JMP  ("send"),

LABEL("memory"),			/* r7, r8 = where arguments are */
	CALL (get_current_task),
	READ_WORD(PTR, R0, "task_struct.mm"),
	LDX  (DW, R8, R10, PTR),
	READ_WORD(ARGV, R8, "mm_struct.arg_start"),
	READ_WORD(PTR, R8, "mm_struct.arg_end"),
	LDX  (DW, R7, R10, ARGV),
	LDX  (DW, R8, R10, PTR),
	MOV  (R1, R8),
	SUB  (R1, R7),
	STX  (DW, R9, EXEC_AT(area), R1),
	CONST(R1, "max_bytes"),
	ADD  (R1, R7),
	JGE  (R1, R8, "file"),
	MOV  (R8, R1),
LABEL("file"),
	LDX  (DW, R1, R6, 16),
	READ_WORD(FILE, R1, "linux_binprm.filename"),
	LDX  (DW, R1, R6, 16),
	READ_WORD(PTR, R1, "linux_binprm.interp"),
	LDX  (DW, R1, R10, PTR),
	LDX  (DW, R3, R10, FILE),
	JEQ  (R1, R3, "binary"),
	ST   (B, R9, EXEC_AT(script), 1),
LABEL("binary"),
	LEA  (R1, R9, EXEC_AT(data)),
	MOVI (R2, EXEC_DATA),
	CALL (probe_read_kernel_str),
	JSGEI(R0, 0, "text"),
	ST   (B, R9, EXEC_AT(unread), 1),
	MOVI (R0, 0),
LABEL("text"),
	STX  (W, R9, EXEC_AT(len), R0),

LABEL("send"),
	LDX  (W, R1, R9, EXEC_AT(len)),
	JGTI (R1, EXEC_SMALL, "long"),
	OUTPUT(R6, R9, "events", EXEC_HEAD + EXEC_SMALL, WAKE),
	JMP  ("sent"),
LABEL("long"),
	OUTPUT(R6, R9, "events", EXEC_HEAD + EXEC_DATA, WAKE),
LABEL("sent"),
	JEQI (R0, 0, "next"),
	COUNT("counters", COUNTER_EVENT_LOST),
LABEL("next"),
	LDX  (B, R1, R9, EXEC_AT(last)),
	JNEI (R1, 0, "out"),
	LDX  (DW, R1, R10, ROUND),
	ADDI (R1, 1),
	STX  (DW, R10, ROUND, R1),
	CONST(R2, "rounds"),
	JGT  (R1, R2, "out"),
	STX  (W, R9, EXEC_AT(number), R1),
	ST   (B, R9, EXEC_AT(part), EXEC_AREA),
	ST   (B, R9, EXEC_AT(unread), 0),
	MOV  (R2, R8),
	SUB  (R2, R7),
	JGTI (R2, EXEC_DATA, "more"),
	ST   (B, R9, EXEC_AT(last), 1),
	JMP  ("read"),
LABEL("more"),
	MOVI (R2, EXEC_DATA),
LABEL("read"),
	STX  (W, R9, EXEC_AT(len), R2),
	LEA  (R1, R9, EXEC_AT(data)),
	MOV  (R3, R7),
	CALL (probe_read_user),
	ADDI (R7, EXEC_DATA),
	JEQI (R0, 0, "send"),
	ST   (B, R9, EXEC_AT(unread), 1),
	JMP  ("send"),

LABEL("outside"),
	COUNT("counters", COUNTER_OUTSIDE),
LABEL("filtered"),
LABEL("out"),
	RETURN(0),
};

static const struct insn enter[] = {
	MOV  (R6, R1),
	TPF  (DW, R1, R6, "filename"),
	STX  (DW, R10, FILE, R1),
	TPF  (DW, R1, R6, "argv"),
	STX  (DW, R10, ARGV, R1),
	TASK_IDS(SLOT, "out"),
	CONST(R1, "early"),		/* 1 = the exec tells no arguments */
	JEQI (R1, 0, "filter"),
	CONST(R1, "root"),		/* the command itself, before it is
					 * a target */
	MOV  (R2, R7),
	LSHI (R2, 32),
	RSHI (R2, 32),
	JEQ  (R1, R2, "user"),
LABEL("filter"),
	SHARED(task_filter),
	USER_FILTER,
	STX  (W, R10, SLOT, R9),
	MAP  (R1, "calls"),
	LEA  (R2, R10, SLOT),
	LEA  (R3, R10, FILE),
	MOVI (R4, BPF_ANY),
	CALL (map_update_elem),
	CONST(R1, "early"),
	JEQI (R1, 0, "out"),
	ST   (W, R10, SLOT, RECORD_ENTER),
	SHARED(head),
	LDX  (DW, R7, R10, ARGV),
	SHARED(list),
LABEL("filtered"),
LABEL("out"),
	RETURN(0),
};

static const struct insn leave[] = {
	MOV  (R6, R1),
	TPF  (DW, R1, R6, "ret"),
	STX  (DW, R10, RET, R1),
	CALL (get_current_pid_tgid),
	MOV  (R9, R0),
	STX  (W, R10, SLOT, R9),
	LOOKUP("calls", SLOT),
	JEQI (R0, 0, "out"),		/* it went well, or is not wanted */
	LDX  (DW, R1, R0, FILE - FILE),
	STX  (DW, R10, FILE, R1),
	LDX  (DW, R1, R0, ARGV - FILE),
	STX  (DW, R10, ARGV, R1),
	MAP  (R1, "calls"),
	LEA  (R2, R10, SLOT),
	CALL (map_delete_elem),
	TASK_OWN_IDS(SLOT, "out"),
	ST   (W, R10, SLOT, RECORD_LEAVE),
	SHARED(head),
	LDX  (DW, R1, R10, RET),
	STX  (W, R9, EXEC_AT(ret), R1),
	CONST(R1, "early"),
	JNEI (R1, 0, "listed"),
	LDX  (DW, R7, R10, ARGV),
	SHARED(list),
	ST   (B, R9, EXEC_AT(part), EXEC_END),
	ST   (B, R9, EXEC_AT(last), 1),
	ST   (W, R9, EXEC_AT(len), 0),
	OUTPUT(R6, R9, "events", EXEC_HEAD + EXEC_SMALL, WAKE),
	JEQI (R0, 0, "out"),
	COUNT("counters", COUNTER_EVENT_LOST),
LABEL("out"),
	RETURN(0),
};

OBJECT(execsnoop) = {
	.maps = MAPS(
		{ "records", PERCPU_ARRAY, 4, sizeof(struct exec_event),
		  RECORDS, 0 },
		/* Kept by age: a task may be killed in its call. */
		{ "calls", LRU_HASH, 4, 16, 8192, 0 },
		{ "events", EVENTS, 0, 0, 1 << 21, 0 },
		TREE_MAPS, TASK_MAPS
	),
	.progs = PROGS(
		{ "execution", PROG_RAW_TRACEPOINT, "sched_process_exec",
		  INSNS(exec) },
		{ "enter", PROG_TRACEPOINT, "syscalls/sys_enter_execve",
		  INSNS(enter) },
		{ "enter_at", PROG_TRACEPOINT, "syscalls/sys_enter_execveat",
		  INSNS(enter) },
		{ "leave", PROG_TRACEPOINT, "syscalls/sys_exit_execve",
		  INSNS(leave) },
		{ "leave_at", PROG_TRACEPOINT, "syscalls/sys_exit_execveat",
		  INSNS(leave) },
		TREE_EXIT_PROGS
	),
	.consts = CONSTS(
		TASK_CONSTS, TREE_CONSTS,
		"fields",	/* 1 = where the kernel's are is known */
		"early",
		"by_uid",
		"max_bytes",	/* of arguments, from memory */
		"rounds",	/* records that they take, at most */
		"max_args"	/* of a call, one after the other */
	),
};
