/* usdt - the probes that a program has built in, and their arguments. */
#ifndef SYM_USDT_H
#define SYM_USDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf;

/* Notes are other people's bytes, bounded so: a note is 32 KiB, all of a file
 * are 64 MiB, at most. */
enum { USDT_ARGS_MAX = 12 };

/* One location of a probe. Strings are raw bytes, NUL-terminated, valid during
 * the callback. Addresses are vaddrs of the file, already moved by what the
 * file was moved after it was linked (its .stapsdt.base tells). */
struct usdt_note {
	const char *provider, *name;
	const char *args;
	uint64_t location;	/* of the probe's nop */
	uint64_t offset;	/* the same as an offset in the file */
	uint64_t semaphore;	/* a 16-bit counter of who looks; 0 = none */
	uint64_t semaphore_offset; /* in the file, for ref_ctr_offset; 0: none,
				 * or where the file holds no bytes (.bss) */
	int err;		/* -EFAULT: the location is no code of the file,
				 * and the probe cannot be set */
};

/* Call fn for each note, in the file's order; fn returns nonzero to stop, which
 * is then the result. Notes that are malformed are counted in *bad, which may
 * be NULL. 0, -ENOMEM, -EFBIG: more than that; errors of pread(2). */
int usdt_each(struct elf *e, int (*fn)(void *arg, const struct usdt_note *n),
	      void *arg, unsigned *bad);

/* Is a probe or provider name the one that was asked for? Equal, or equal after
 * each "__" is written "-", as DTrace does. */
bool usdt_name_is(const char *name, const char *wanted);

/* Write the name with "-" for "__" over itself, for globs. */
void usdt_name_fold(char *name);

/* Where a value is. Registers are numbers that asm/regs.h turns into offsets
 * in pt_regs; on x86 as instructions have them (0 rax, 1 rcx, 2 rdx, 3 rbx,
 * 4 rsp, 5 rbp, 6 rsi, 7 rdi, 8 r8 ...), on aarch64 x0 to x30 and 31 = sp, on
 * arm and riscv r0 to r15 and x0 to x31. */
enum { USDT_PC = 64, USDT_NO_REG = 255 };

enum usdt_kind {
	USDT_NONE,	/* not available: `why` says why */
	USDT_CONST,	/* disp */
	USDT_REG,	/* base >> shift, its low `width` bytes */
	USDT_MEM,	/* `size` bytes at base + (index << scale) + disp */
};

enum usdt_index { USDT_INDEX_WHOLE, USDT_INDEX_U32, USDT_INDEX_S32 };

struct usdt_arg {
	uint8_t kind;		/* enum usdt_kind */
	uint8_t size;		/* bytes of the value: 1, 2, 4, 8 */
	bool is_signed;		/* extend from `width` bytes so */
	uint8_t width;		/* bytes that are read, <= size */
	uint8_t shift;		/* bits; 8 for ah and its like, else 0 */
	uint8_t base, index;	/* registers, USDT_PC, USDT_NO_REG */
	uint8_t scale;		/* bits */
	uint8_t index_is;	/* enum usdt_index */
	bool narrow;		/* the address has 32 bits: registers' low
				 * halves, and the sum wraps */
	int64_t disp;
	const char *why;	/* of USDT_NONE: a static text */
};
/* A global (`gvar(%rip)`) is USDT_MEM with base USDT_PC and disp the distance
 * from the probe's location, so it needs no load bias: at the probe, the
 * program counter is the location. */

struct usdt_args {
	struct usdt_arg v[USDT_ARGS_MAX];
	unsigned n;
	bool more;		/* there are more than that: not read */
};

/* What an argument's text depends on. */
struct usdt_cpu {
	uint16_t machine;	/* e_machine */
	bool wide;		/* 64-bit */
	bool fixed;		/* ET_EXEC: vaddrs are addresses */
	uint64_t location;
	/* The vaddr of a symbol: 0, -ENOENT, -ENOTUNIQ. NULL: no symbols. */
	int (*symbol)(void *arg, const char *name, size_t n, uint64_t *vaddr);
	void *arg;
};

/* Parse "-4@%edx 8@16(%rsi) ..." An argument that is not understood is
 * USDT_NONE, and the ones after it are parsed all the same. Linear in the
 * length of the text. */
void usdt_args_parse(const struct usdt_cpu *cpu, const char *text,
		     struct usdt_args *out);

/* The symbols that a file's notes name, each looked up once, in .symtab. A
 * stripped file has none, and a name that two symbols have is no name. NULL
 * when memory is out. The file must stay open longer. */
struct usdt_symbols;
struct usdt_symbols *usdt_symbols_new(struct elf *e);
void usdt_symbols_free(struct usdt_symbols *s);

/* Parse the arguments of a note of that file. */
void usdt_args(struct usdt_symbols *s, const struct usdt_note *n,
	       struct usdt_args *out);

#endif
