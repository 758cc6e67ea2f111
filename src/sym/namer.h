/* namer - the addresses of a stack to the frames that are shown. */
#ifndef SYM_NAMER_H
#define SYM_NAMER_H

#include <stdbool.h>
#include <stdint.h>

#include "sym/frame.h"
#include "sym/name_options.h"
#include "sym/procs.h"

struct namer;

/* `p` is used, not owned; `o` must stay. NULL when memory is out. */
struct namer *namer_new(struct procs *p, const struct name_options *o);
void namer_free(struct namer *n);

/* Name the kernel's functions by this list (kernel_list.h), not by the kernel's
 * own. 0 or -errno, reported. */
int namer_use_list(struct namer *n, const char *path);

/* Name an address of an image. A return address is looked up at its call, the
 * byte before it. The name stays until namer_free(), and equal names are one
 * pointer:
 *
 *   function              from the file's symbols, the vDSO's, or a JIT map
 *   [libx.so+0x12f0]      no symbol: the vaddr in the file, as addr2line takes
 *                         it; the offset in the file, if it cannot be opened
 *   [anon+0x40]           no file: the offset in its mapping; [heap+0x..] ...
 *   [vsyscall]            another area of the kernel's
 *   0x7f3aa2e61040        two files were mapped there: not certain
 *   [unknown]             FRAME_UNKNOWN: in no executable mapping, so that
 *                         what lies above it in the stack means nothing
 *
 * 0 or -ENOMEM; the frame can be shown in either case. */
int namer_user(struct namer *n, struct proc_at at, uint64_t addr,
	       bool is_return, struct frame *out);

/* The same for a kernel address: "function", or the address. The kernel's
 * symbols are read when the first one is asked for; when they are hidden, one
 * notice says so. */
int namer_kernel(struct namer *n, uint64_t addr, bool is_return,
		 struct frame *out);

/* A user address without what a CPU puts above its virtual address: the
 * signature of a return address on aarch64 (Arm ARM, "Pointer authentication";
 * bit 55 tells kernel addresses, which stay). `machine` is an EM_ number of the
 * ELF specification, va_bits the width of user addresses: 48, 39 ... */
uint64_t namer_strip(unsigned machine, unsigned va_bits, uint64_t addr);

/* The same of this machine. */
uint64_t namer_plain(const struct namer *n, uint64_t addr);

/* The width of user addresses here. */
unsigned namer_va_bits(void);

#endif
