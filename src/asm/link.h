/* link - instruction arrays to struct bpf_insn, names resolved. */
#ifndef ASM_LINK_H
#define ASM_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "bpf_object.h"
#include "uapi.h"

/* What differs between hosts and runs. */
struct link_env {
	bool ringbuf;			/* event maps are ring buffers (5.8) */
	const int *map_fds;		/* by index in object->maps; NULL when
					 * nothing goes to the kernel: then the
					 * index stands for the descriptor */
	/* The offset of a tracepoint's field (of `size` bytes) in its record,
	 * or -errno; NULL when nothing goes to the kernel: then it is 0. */
	int (*field)(const char *tracepoint, const char *name, unsigned size);
	/* The offset of a field in a struct of the kernel, by its path
	 * ("task_struct.tgid"); -ENOENT: it has none, -EOPNOTSUPP: the kernel
	 * does not tell, -errno; NULL when nothing goes to the kernel: then
	 * it is 0. */
	int (*offset)(void *arg, const char *path);
	void *offset_arg;
	const uint64_t *consts;	/* by index in object->consts; NULL: 0 */
	const struct map_def *maps;	/* as sized for the host; NULL: as the
					 * object has them */
	bool old_reads;		/* one helper reads kernel and user memory: the
				 * kernel has no other (before 5.5) */
	/* Of a PROG_PROBE program: what it becomes, and where. */
	enum prog_kind kind;	/* PROG_PERF_EVENT stands for PROG_KPROBE */
	bool is_syscall;	/* the arguments are in the struct pt_regs that
				 * the function's first one points at */
	unsigned nargs;		/* arguments there are, but for kprobes */
	bool is_multi;		/* one of many: some CPUs have no sp there */
	bool is_go;		/* a function of Go, its g in a register */
	bool is_user;		/* a function of a program's: it may be
				 * preempted by another task's run of it */
	bool cookie;		/* the kernel tells the number of the probe */
	uint64_t probe;		/* else: it */
};

/* One program, linked. notes[i] tells where insns[i] came from. */
struct link_note {
	const char *file;	/* where it stands: prog->file, or a fragment */
	int line;
	const char *name;	/* jump's label, map, constant or helper; or
				 * NULL */
	int round;		/* which time of a repeated part, or -1 */
};
struct link_label {
	const char *name;
	int round;		/* as a note's */
	size_t at;		/* index of the instruction that follows it */
	size_t uses;		/* jumps that name it */
	const char *file;	/* where it stands */
	int line;
};
struct linked {
	struct bpf_insn *insns;
	struct link_note *notes;
	size_t n;		/* as the kernel counts: ld_imm64 is two */
	struct link_label *labels;	/* in the order of `at` */
	size_t nlabels;
};

/* 0 and *out (free with linked_free()); -EINVAL after appending a line
 * "bpfasm/x.c:15: enter: no label \"oot\"" to `why` for each wrong name;
 * -ENOMEM. After an error *out is empty. */
int link_prog(const struct bpf_object *object, const struct prog_def *prog,
	      const struct link_env *env, struct linked *out,
	      struct buf *why);
void linked_free(struct linked *l);

/* The instructions i and i + 1 are one ld_imm64. */
bool insn_is_wide(const struct bpf_insn *insn);

/* A jump with a target: neither a call nor exit. */
bool insn_is_jump(const struct bpf_insn *insn);

/* Index of a map or constant by name, -ENOENT. */
int object_map(const struct bpf_object *object, const char *name);
int object_const(const struct bpf_object *object, const char *name);

/* Is any of `count` elements (TO_END: up to the end), or of the arrays that
 * they share, of that kind? */
bool insns_any(const struct insn *insns, uint32_t count,
	       bool (*is)(const struct insn *in, const void *arg),
	       const void *arg);

/* Elements of the program's array. */
uint32_t prog_count(const struct prog_def *prog);

/* How many the object has. */
size_t object_nmaps(const struct bpf_object *object);
size_t object_nprogs(const struct bpf_object *object);
size_t object_nconsts(const struct bpf_object *object);

#endif
