/* bpf_object - what one tool puts into the kernel: maps and programs. */
#ifndef BPF_OBJECT_H
#define BPF_OBJECT_H

#include <stdint.h>

/* How an element of an instruction array becomes instructions. */
enum insn_kind {
	INSN_PLAIN,	/* as it stands, with imm */
	INSN_MEMORY,	/* as it stands, with off and the immediate `small` */
	INSN_END,	/* none: the end of a shared array */
	INSN_CALL,	/* helper imm */
	INSN_ARG,	/* dst = argument imm of the probe whose ctx is src */
	INSN_LEA,	/* dst = src + imm */
	INSN_RETURN,	/* return imm */
	INSN_REPEAT,	/* none: what follows, up to INSN_AGAIN, imm times */
	INSN_AGAIN,
	INSN_ROUND,	/* dst = which of these times, from 0 on */

	/* From here on, `name` stands in one more element. */
	INSN_NAMED,
	INSN_FILE = INSN_NAMED,	/* none: what follows stands in that file;
			 * NULL = in the program's own again */
	INSN_SHARED,	/* those of `insns` (no name), up to its INSN_END */
	INSN_LABEL,	/* none: marks a place */
	INSN_JUMP,	/* to the label `name`; off is the immediate */
	INSN_MAP,	/* dst = the map `name` */
	INSN_CONST,	/* dst = the load-time constant `name`, 64 bits */
	INSN_REG,	/* dst = the user register `name` of the ctx at src */
	INSN_RETVAL,	/* dst = the return value there */
	INSN_PROBE,	/* dst = the number of the probe */
	INSN_FIELD,	/* load dst from the field `name` of the tracepoint
			 * whose record is at src */
	INSN_OFFSET,	/* dst = src + offset of the kernel's field `name` */
	INSN_OUTPUT,	/* send off bytes at src to the event map `name`; code
			 * is an enum output_mode */
	INSN_RESERVE,	/* r0 = room for a record of the map `name`, or 0 */
	INSN_SUBMIT,	/* send that record, which is at src; code as above */
	INSN_LOOKUP,	/* r0 = where the map `name` has the value of the key
			 * at r10 + off */
	INSN_COUNT,	/* the element `off` of the array `name` += 1 */
};

enum output_mode { WAKE, QUIET };

/* An element: an instruction, or the name of the one before it. The mnemonics
 * of asm.h make them; src/asm/ reads them. There are thousands in the binary,
 * most without a name. */
struct insn {
	union {
		struct {
			uint32_t code : 8;	/* BPF opcode */
			uint32_t kind : 5;	/* enum insn_kind */
			uint32_t dst : 4, src : 4;	/* registers */
			uint32_t line : 11;	/* in the file of the array */
			union {
				int32_t imm;
				struct {
					int16_t off, small;
				};
			};
		};
		const char *name;
		const struct insn *insns;
	};
};

/* The elements that an instruction takes. */
static inline unsigned insn_size(const struct insn *in)
{
	return in->kind < INSN_NAMED ? 1 : 2;
}

static inline const char *insn_name(const struct insn *in)
{
	return in[1].name;
}

/* A map; `events` is a ring buffer, or a perf buffer before Linux 5.8; `record`
 * is a PERCPU_ARRAY then, and not created where there is a ring to make the
 * record in. Sizes are defaults: a tool changes them for the host through its
 * session. */
enum { MAP_EVENTS = 0x1000, MAP_RECORD };	/* beside BPF_MAP_TYPE_... */

struct map_def {
	const char *name;	/* at most 15 bytes */
	uint32_t type;		/* BPF_MAP_TYPE_... or MAP_... */
	uint32_t key_size, value_size, max_entries;
	uint32_t flags;
};

enum prog_kind {
	PROG_PERF_EVENT,	/* on perf events that the tool opens */
	PROG_RAW_TRACEPOINT,	/* attach: the tracepoint's name */
	PROG_TRACEPOINT,	/* attach: "category/name", as in tracefs */
	PROG_KPROBE,		/* probes of kernel and user functions */
	PROG_FENTRY, PROG_FEXIT, /* of kernel functions, by their BTF */
	PROG_PROBE,		/* any of these, as the user's probe wants it:
				 * trace/attach.h loads a copy for each kind */
};

enum { TO_END = 0x7fffffff };

struct prog_def {
	const char *name;
	enum prog_kind kind;
	const char *attach;	/* NULL when the tool attaches it itself */
	const char *file;	/* source file of the array */
	const struct insn *insns;
	uint32_t count;		/* TO_END = up to its INSN_END */
};

enum { OBJECT_MAPS = 12, OBJECT_PROGS = 12, OBJECT_CONSTS = 32 };

/* Each list ends with an entry without a name; NULL = there are none. */
struct bpf_object {
	const struct map_def *maps;		/* at most OBJECT_MAPS */
	const struct prog_def *progs;
	const char *const *consts;
};

#endif
