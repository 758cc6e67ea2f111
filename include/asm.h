/* asm - the notation of the instruction arrays in bpfasm/, all of it.
 *
 * A program is a `static const struct insn NAME[]` of the lines below, and an
 * OBJECT lists the maps, programs and load-time constants of one tool.
 * Destination first; size first (B, H, W, DW: 1, 2, 4, 8 bytes); a memory
 * operand is base register and offset; I marks an immediate (signed 32 bits; 16
 * in jumps).
 *
 *   registers     R0 result of a call; R1..R5 arguments, lost in a call;
 *                 R6..R9 kept; R10 frame pointer, read only; the stack is
 *                 the 512 bytes below it
 *   LDX (W, R1, R6, 8)     r1 = *(u32 *)(r6 + 8)
 *   STX (W, R10, -4, R1)   *(u32 *)(r10 - 4) = r1
 *   ST  (W, R10, -4, 7)    *(u32 *)(r10 - 4) = 7
 *   XADD(DW, R0, 0, R1)    *(u64 *)(r0 + 0) += r1, atomically
 *   MOV (R6, R1)           r6 = r1              MOVI(R6, 1)  r6 = 1
 *   LEA (R2, R10, -4)      r2 = r10 - 4 (two instructions)
 *   ADD SUB MUL DIV OR AND XOR LSH RSH ARSH (R1, R2), with I: (R1, 3)
 *   JEQ JNE JGT JGE JLT JLE JSET JSGT JSGE JSLT JSLE (R1, R2, "label"),
 *                          with I: (R1, 3, "label"); JLT... are unsigned
 *   JMP ("label")          LABEL("label"); a jump backwards makes a loop, which
 *                          kernels take since 5.3 when they see its end
 *   CALL(map_lookup_elem)  a helper by the kernel's name
 *   EXIT                   return r0
 *   FRAGMENT("x.h")        the lines of include/x.h stand in the array by
 *                          #include; the file begins with this one and ends
 *                          with FRAGMENT(NULL), for messages and dumps
 *   SHARED(task_filter)    the lines of that array stand here (bpfasm/pieces.c)
 *   END                    after the last line of an array that several tools
 *                          share
 *
 * Names that the linker resolves when the tool starts (src/asm/link.c):
 *   MAP  (R1, "counts")    r1 = a map of this object
 *   CONST(R1, "tgid")      r1 = a load-time constant, 64 bits. What a constant
 *                          rules out, the kernel's verifier deletes
 *   IP   (R1, R6)          r1 = the sampled instruction's address, of the perf
 *   SP   (R1, R6)          event or probe whose ctx is r6; its stack pointer
 *   LR   (R1, R6)          the link register, on CPUs that have one, else 0
 *                          (all three: 0 at tracepoints, in fentry and
 *                          fexit; sp also in
 *                          aarch64's kprobe_multi)
 *   GOROUTINE(R1, R6)      the address of Go's g, at a function of Go that has
 *                          it in a register; 0 everywhere else
 *   ARG  (R2, R6, 1)       r2 = the first argument of the function (or system
 *                          call, or raw tracepoint) that the probe with ctx r6
 *                          is at the entry of; uses r0..r5 and SCRATCH
 *   RETVAL(R2, R6)         r2 = what it returns, at its end
 *   PROBE(R2, R6)          r2 = which of the session's probes was hit: its
 *                          cookie (5.15), or a number in this copy of the
 *                          program; uses r0..r5
 *   TPF  (W, R2, R1, "child_pid")
 *                          r2 = a field of the tracepoint's record at r1, by
 *                          the name that its format file gives it
 *   FIELD(R2, R1, "task_struct.tgid")
 *                          r2 = r1 + the field's offset in that struct of the
 *                          kernel, whose address is r1: for a probe read. Two
 *                          instructions. From the kernel's BTF, else what the
 *                          tool knows (session_offset)
 *   OUTPUT(R6, R7, "events", 24, WAKE)
 *                          send 24 bytes at r7 to user space; r6 = ctx; both
 *                          among R6..R9; r0 < 0: not sent. WAKE wakes the
 *                          reader at once, QUIET leaves it to its interval.
 *                          Ring buffer (5.8) or perf buffer
 *   RESERVE("frames")      r0 = room for a record, as many bytes as a value of
 *                          that RECORD map, to fill and send; 0: there is none.
 *                          Nothing else that belongs to a CPU is safe, for a
 *                          task's program can be preempted by another task's.
 *                          The room is in the ring (5.8), and what was there
 *                          before is still in it; or, when events go by a perf
 *                          buffer, where programs run to their end, this CPU's
 *                          value of the map, unless this program interrupts one
 *                          that uses it: then it begins with 32 bits that are
 *                          not 0, as every record has to. Uses r0..r5 and
 *                          SCRATCH
 *   SUBMIT(R6, R7, "frames", WAKE)
 *                          send the record at r7, as OUTPUT does: on every path
 *                          from RESERVE to EXIT, or the kernel refuses the
 *                          program. It is lost to the program, sent or not
 *   REPEAT(6) ... AGAIN    the lines between stand there six times, each time
 *                          with labels of its own (no loop: those came with
 *                          5.3); ROUND(R1): r1 = which time it is, from 0 on
 *
 * Idioms, each several instructions; they use r0..r5 and the stack's top
 * eight bytes (SCRATCH):
 *   LOOKUP("map", KEY)     r0 = the value of the key at r10 + KEY, or 0
 *   COUNT("map", N)        map[N]++ in an array of u64
 *   RETURN(0)              return a number
 */
#ifndef ASM_H
#define ASM_H

#include <errno.h>
#include <stddef.h>

#include "bpf_object.h"
#include "events.h"
#include "uapi.h"

enum reg { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10 };
enum { SCRATCH = -8 };			/* reserved for the idioms */

#define INSN_(kind_, code_, dst_, src_, off_, name_) \
	{ .code = code_, .kind = kind_, .dst = dst_, .src = src_, \
	  .line = __LINE__, .off = off_ }, { .name = name_ }
#define NUMBER_(kind_, code_, dst_, src_, imm_) \
	{ .code = code_, .kind = kind_, .dst = dst_, .src = src_, \
	  .line = __LINE__, .imm = imm_ }
#define MEMORY_(code_, dst_, src_, off_, small_) \
	{ .code = code_, .kind = INSN_MEMORY, .dst = dst_, .src = src_, \
	  .line = __LINE__, .off = off_, .small = small_ }
#define PLAIN_(code, dst, src, imm) \
	NUMBER_(INSN_PLAIN, code, dst, src, imm)
#define ALU_(op, dst, src) PLAIN_(BPF_ALU64 | BPF_X | (op), dst, src, 0)
#define ALUI_(op, dst, imm) PLAIN_(BPF_ALU64 | BPF_K | (op), dst, 0, imm)
#define JUMP_(op, dst, src, label) \
	INSN_(INSN_JUMP, BPF_JMP | BPF_X | (op), dst, src, 0, label)
#define FITS_(imm) \
	((imm) + 0 * (int)sizeof(char[(imm) == (int16_t)(imm) ? 1 : -1]))
#define JUMPI_(op, dst, imm, label) \
	INSN_(INSN_JUMP, BPF_JMP | BPF_K | (op), dst, 0, FITS_(imm), \
	      label)

#define LDX(size, dst, base, off) \
	MEMORY_(BPF_LDX | BPF_MEM | BPF_##size, dst, base, off, 0)
#define STX(size, base, off, src) \
	MEMORY_(BPF_STX | BPF_MEM | BPF_##size, base, src, off, 0)
#define ST(size, base, off, imm) \
	MEMORY_(BPF_ST | BPF_MEM | BPF_##size, base, 0, off, imm)
#define XADD(size, base, off, src) \
	MEMORY_(BPF_STX | BPF_ATOMIC | BPF_##size, base, src, off, BPF_ADD)

#define MOV(dst, src)	ALU_(BPF_MOV, dst, src)
#define MOVI(dst, imm)	ALUI_(BPF_MOV, dst, imm)
#define LEA(dst, base, off) NUMBER_(INSN_LEA, 0, dst, base, off)
#define ADD(dst, src)	ALU_(BPF_ADD, dst, src)
#define ADDI(dst, imm)	ALUI_(BPF_ADD, dst, imm)
#define SUB(dst, src)	ALU_(BPF_SUB, dst, src)
#define SUBI(dst, imm)	ALUI_(BPF_SUB, dst, imm)
#define MUL(dst, src)	ALU_(BPF_MUL, dst, src)
#define MULI(dst, imm)	ALUI_(BPF_MUL, dst, imm)
#define DIV(dst, src)	ALU_(BPF_DIV, dst, src)
#define DIVI(dst, imm)	ALUI_(BPF_DIV, dst, imm)
#define OR(dst, src)	ALU_(BPF_OR, dst, src)
#define ORI(dst, imm)	ALUI_(BPF_OR, dst, imm)
#define AND(dst, src)	ALU_(BPF_AND, dst, src)
#define ANDI(dst, imm)	ALUI_(BPF_AND, dst, imm)
#define XOR(dst, src)	ALU_(BPF_XOR, dst, src)
#define XORI(dst, imm)	ALUI_(BPF_XOR, dst, imm)
#define LSH(dst, src)	ALU_(BPF_LSH, dst, src)
#define LSHI(dst, imm)	ALUI_(BPF_LSH, dst, imm)
#define RSH(dst, src)	ALU_(BPF_RSH, dst, src)
#define RSHI(dst, imm)	ALUI_(BPF_RSH, dst, imm)
#define ARSH(dst, src)	ALU_(BPF_ARSH, dst, src)
#define ARSHI(dst, imm)	ALUI_(BPF_ARSH, dst, imm)

#define JEQ(a, b, label)	JUMP_(BPF_JEQ, a, b, label)
#define JEQI(a, imm, label)	JUMPI_(BPF_JEQ, a, imm, label)
#define JNE(a, b, label)	JUMP_(BPF_JNE, a, b, label)
#define JNEI(a, imm, label)	JUMPI_(BPF_JNE, a, imm, label)
#define JGT(a, b, label)	JUMP_(BPF_JGT, a, b, label)
#define JGTI(a, imm, label)	JUMPI_(BPF_JGT, a, imm, label)
#define JGE(a, b, label)	JUMP_(BPF_JGE, a, b, label)
#define JGEI(a, imm, label)	JUMPI_(BPF_JGE, a, imm, label)
#define JLT(a, b, label)	JUMP_(BPF_JLT, a, b, label)
#define JLTI(a, imm, label)	JUMPI_(BPF_JLT, a, imm, label)
#define JLE(a, b, label)	JUMP_(BPF_JLE, a, b, label)
#define JLEI(a, imm, label)	JUMPI_(BPF_JLE, a, imm, label)
#define JSET(a, b, label)	JUMP_(BPF_JSET, a, b, label)
#define JSETI(a, imm, label)	JUMPI_(BPF_JSET, a, imm, label)
#define JSGT(a, b, label)	JUMP_(BPF_JSGT, a, b, label)
#define JSGTI(a, imm, label)	JUMPI_(BPF_JSGT, a, imm, label)
#define JSGE(a, b, label)	JUMP_(BPF_JSGE, a, b, label)
#define JSGEI(a, imm, label)	JUMPI_(BPF_JSGE, a, imm, label)
#define JSLT(a, b, label)	JUMP_(BPF_JSLT, a, b, label)
#define JSLTI(a, imm, label)	JUMPI_(BPF_JSLT, a, imm, label)
#define JSLE(a, b, label)	JUMP_(BPF_JSLE, a, b, label)
#define JSLEI(a, imm, label)	JUMPI_(BPF_JSLE, a, imm, label)
#define JMP(label)		JUMPI_(BPF_JA, 0, 0, label)
#define LABEL(label)		INSN_(INSN_LABEL, 0, 0, 0, 0, label)

#define END			NUMBER_(INSN_END, 0, 0, 0, 0)
#define SHARED(array) \
	{ .kind = INSN_SHARED, .line = __LINE__ }, { .insns = array }
#define FRAGMENT(file)		INSN_(INSN_FILE, 0, 0, 0, 0, file)

#define CALL(helper) \
	NUMBER_(INSN_CALL, BPF_JMP | BPF_CALL, 0, 0, BPF_FUNC_##helper)
#define EXIT PLAIN_(BPF_JMP | BPF_EXIT, 0, 0, 0)

#define MAP(dst, map) INSN_(INSN_MAP, 0, dst, 0, 0, map)
#define CONST(dst, constant) INSN_(INSN_CONST, 0, dst, 0, 0, constant)
#define IP(dst, ctx) INSN_(INSN_REG, 0, dst, ctx, 0, "ip")
#define SP(dst, ctx) INSN_(INSN_REG, 0, dst, ctx, 0, "sp")
#define LR(dst, ctx) INSN_(INSN_REG, 0, dst, ctx, 0, "lr")
#define GOROUTINE(dst, ctx) INSN_(INSN_REG, 0, dst, ctx, 0, "g")
#define ARG(dst, ctx, n) NUMBER_(INSN_ARG, 0, dst, ctx, n)
#define RETVAL(dst, ctx) INSN_(INSN_RETVAL, 0, dst, ctx, 0, "retval")
#define PROBE(dst, ctx) INSN_(INSN_PROBE, 0, dst, ctx, 0, "probe")
#define TPF(size, dst, ctx, field) \
	INSN_(INSN_FIELD, BPF_LDX | BPF_MEM | BPF_##size, dst, ctx, 0, field)
#define FIELD(dst, base, path) INSN_(INSN_OFFSET, 0, dst, base, 0, path)
#define REPEAT(n) NUMBER_(INSN_REPEAT, 0, 0, 0, n)
#define AGAIN NUMBER_(INSN_AGAIN, 0, 0, 0, 0)
#define ROUND(dst) NUMBER_(INSN_ROUND, 0, dst, 0, 0)
#define OUTPUT(ctx, data, map, size, mode) \
	INSN_(INSN_OUTPUT, mode, ctx, data, size, map)
#define RESERVE(map) INSN_(INSN_RESERVE, 0, 0, 0, 0, map)
#define SUBMIT(ctx, data, map, mode) \
	INSN_(INSN_SUBMIT, mode, ctx, data, 0, map)

#define LOOKUP(map, key) INSN_(INSN_LOOKUP, 0, 0, 0, key, map)
#define COUNT(map, n) INSN_(INSN_COUNT, 0, 0, 0, n, map)
#define RETURN(n) NUMBER_(INSN_RETURN, 0, 0, 0, n)

#define HASH		BPF_MAP_TYPE_HASH
#define LRU_HASH	BPF_MAP_TYPE_LRU_HASH
#define ARRAY		BPF_MAP_TYPE_ARRAY
#define PERCPU_ARRAY	BPF_MAP_TYPE_PERCPU_ARRAY
#define CGROUP_ARRAY	BPF_MAP_TYPE_CGROUP_ARRAY
#define STACK_TRACE	BPF_MAP_TYPE_STACK_TRACE
#define EVENTS		MAP_EVENTS
#define RECORD		MAP_RECORD

#define INSNS(array) \
	__FILE__, array, sizeof(array) / sizeof((array)[0])

/* The lists of an object, each with its end: no longer than a session can hold
 * (that is what the array of characters is for). */
#define LIST_(type, most, ...) \
	((type[]){ __VA_ARGS__ } + 0 * sizeof(char[ \
		sizeof((type[]){ __VA_ARGS__ }) / sizeof(type) <= (most) + 1 \
		? 1 : -1]))
#define MAPS(...) \
	LIST_(const struct map_def, OBJECT_MAPS, __VA_ARGS__, { 0 })
#define PROGS(...) \
	LIST_(const struct prog_def, OBJECT_PROGS, __VA_ARGS__, { 0 })
#define CONSTS(...) \
	LIST_(const char *const, OBJECT_CONSTS, __VA_ARGS__, NULL)
#define OBJECT(tool) \
	extern const struct bpf_object object_##tool; \
	const struct bpf_object object_##tool

#endif
