/* dump - linked programs as text, in the notation of the kernel's verifier. */
#ifndef ASM_DUMP_H
#define ASM_DUMP_H

#include "asm/link.h"

/* The name of a program kind or map type, as the kernel's tools write it. */
const char *prog_kind_name(enum prog_kind kind);
const char *map_type_name(uint32_t type);

/* Append what an object declares: maps, constants, programs. */
void dump_object(const char *name, const struct bpf_object *object,
		 struct buf *out);

/* Append a program: labels on lines of their own, then "  12: (bf) r6 = r1"
 * with the source line at the side. Names stand where the kernel has numbers
 * (maps, helpers, labels); a constant shows its name and value. */
void dump_prog(const struct prog_def *prog, const struct linked *l,
	       struct buf *out);

/* Append one instruction, "(bf) r6 = r1", as dump_prog() does. */
void dump_insn(const struct linked *l, size_t i, struct buf *out);

#endif
