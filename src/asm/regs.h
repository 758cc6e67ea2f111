/* regs - where a CPU's registers stand in the ctx of a perf event or probe. */
#ifndef ASM_REGS_H
#define ASM_REGS_H

#include <stdbool.h>
#include <stdint.h>

/* Offsets into struct pt_regs (x86_64: arch/x86/include/uapi/asm/ptrace.h) or
 * struct user_pt_regs (aarch64: arch/arm64/include/uapi/asm/ptrace.h), which
 * the ctx begins with. lr < 0: no such register. g is x86_64's r14, aarch64's
 * x28 (Go's src/cmd/compile/abi-internal.md). Arguments are those of the
 * C calling convention, then those of a system call. */
enum { CPU_ARGS = 6 };
struct cpu_regs {
	int16_t ip, sp, lr, retval;
	int16_t g;		/* Go's, in its own calling convention */
	bool multi_sp;		/* kprobe_multi's returns have the sp, too */
	int16_t args[CPU_ARGS], syscall_args[CPU_ARGS];
	int16_t numbered[32];	/* of what USDT arguments name, by the number
				 * that sym/usdt.h gives it; also those of the
				 * CPU's 32-bit programs, in the low halves */
	uint8_t n;		/* how many there are */
};

#if defined(__x86_64__)
static const struct cpu_regs cpu_regs = {
	.ip = 16 * 8, .sp = 19 * 8, .lr = -1, .retval = 10 * 8,
	.g = 1 * 8, .multi_sp = true,
	.args = { 14 * 8, 13 * 8, 12 * 8, 11 * 8, 9 * 8, 8 * 8 },
	.syscall_args = { 14 * 8, 13 * 8, 12 * 8, 7 * 8, 9 * 8, 8 * 8 },
	.numbered = { 10 * 8, 11 * 8, 12 * 8, 5 * 8, 19 * 8, 4 * 8, 13 * 8,
		      14 * 8, 9 * 8, 8 * 8, 7 * 8, 6 * 8, 3 * 8, 2 * 8, 1 * 8,
		      0 * 8 },
	.n = 16,
};
#elif defined(__aarch64__)
static const struct cpu_regs cpu_regs = {
	.ip = 32 * 8, .sp = 31 * 8, .lr = 30 * 8, .retval = 0,
	.g = 28 * 8,
	.args = { 0 * 8, 1 * 8, 2 * 8, 3 * 8, 4 * 8, 5 * 8 },
	.syscall_args = { 0 * 8, 1 * 8, 2 * 8, 3 * 8, 4 * 8, 5 * 8 },
	.numbered = { 0 * 8, 1 * 8, 2 * 8, 3 * 8, 4 * 8, 5 * 8, 6 * 8, 7 * 8,
		      8 * 8, 9 * 8, 10 * 8, 11 * 8, 12 * 8, 13 * 8, 14 * 8,
		      15 * 8, 16 * 8, 17 * 8, 18 * 8, 19 * 8, 20 * 8, 21 * 8,
		      22 * 8, 23 * 8, 24 * 8, 25 * 8, 26 * 8, 27 * 8, 28 * 8,
		      29 * 8, 30 * 8, 31 * 8 },
	.n = 32,
};
#else
#error "no register table for this CPU: add one to src/asm/regs.h"
#endif

#endif
