/* code - what the instructions of a function tell to who sets probes in it. */
#ifndef SYM_CODE_H
#define SYM_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"

struct elf;

/* x86_64 is decoded; aarch64 has instructions of 4 bytes; riscv is decoded as
 * far as its length goes. */

/* 0: an instruction of the function [addr, addr + size) begins at addr + off;
 * a size of 0 is that of the symbol there, as sym/elf.h knows it.
 * -EINVAL: none does; -ERANGE: off is beyond the function; -ENOTSUP: the
 * machine is not known; -EILSEQ: the bytes before it are no instructions that
 * are known. */
int code_boundary(struct elf *e, uint64_t addr, uint64_t size, uint64_t off);

/* Append the vaddrs of the return instructions of a function; errors as above,
 * -EFBIG beyond 64 MiB, or 16,384 of them. A function may also leave by a jump
 * to another one: such calls return from there. */
struct code_places {
	uint64_t *v;
	size_t n, cap;
};
int code_returns(struct elf *e, uint64_t addr, uint64_t size,
		 struct code_places *out);

/* Where a probe of the function's entry costs least: the offset of the first
 * instruction that the kernel does itself instead of single-stepping it
 * (x86_64: push, jumps), when what stands before it changes neither memory,
 * registers nor the stack, and nothing in the function jumps there; else 0. */
uint64_t code_light(struct elf *e, uint64_t addr, uint64_t size);

/* A program of Go: uretprobes kill it, for its stacks move. */
struct code_go {
	bool is_go;
	unsigned major, minor;	/* 1.21; 0 = not known */
	bool g_in_register;	/* since 1.17, r14 on x86_64; x28 on aarch64 in
				 * all versions */
};
int code_go(struct elf *e, struct code_go *out);

#endif
