/* caller - is a value that lay around the return address of a function?
 *
 * Who follows frame pointers finds the caller of a function only while that
 * function's frame is set up. It is not in its first instructions, not at its
 * return, and never in a leaf function, for which compilers leave it out even
 * under -fno-omit-frame-pointer. Then the frame pointer is still the caller's,
 * the chain goes on with the caller's caller, and the caller itself is missing:
 * main > top > leaf, where mid called leaf. The return address lies at the
 * stack pointer in all these cases (x86_64), or in the link register (aarch64,
 * where compilers leave out the frame of every leaf function).
 *
 * That value may be anything, also a return address left over from an earlier
 * call. So it counts only if the instruction in front of it calls the very
 * function that ip is in, and that function has no frame at ip: it never makes
 * one, has not yet made it, or is about to return.
 *
 * The other way round, a frame pointer that a function used for something else
 * leads into nowhere, and the word found there may happen to lie in some code.
 * Nobody returns to a place without a call in front of it, except by design:
 * to the start of a function that a stack was made to return to, such as a
 * signal's trampoline.
 */
#include "sym/caller.h"

#include <string.h>

#include "sym/elf.h"

/* What a kind of machine has; the addresses are those of the file. */
struct cpu {
	/* Where the call in front of `ret` leads. */
	bool (*target)(struct elf *e, uint64_t ret, uint64_t *to);
	bool (*frameless)(struct elf *e,
			  const struct elf_sym *function, uint64_t ip);
	bool (*after_call)(struct elf *e, uint64_t ret);
	bool (*trampoline)(struct elf *e, uint64_t vaddr);
	bool (*goexit)(struct elf *e, uint64_t vaddr);
};

/* The file and vaddr of an address; NULL when it is not surely known. */
static struct elf *locate(struct procs *p, struct proc_at at, uint64_t addr,
			  uint32_t *file, uint64_t *vaddr)
{
	struct place place;
	struct elf *e;

	if (procs_place(p, at, addr, &place) || place.kind != MAPS_FILE)
		return NULL;
	e = procs_elf(p, at, &place);
	*file = place.file;
	return e && !elf_vaddr(e, place.off, vaddr) ? e : NULL;
}

bool caller_is_linked(void)
{
#if defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

/* x86_64, and i386 as far as it is alike. */

/* e8, then 32 bits from its end. */
static bool x86_target(struct elf *e, uint64_t ret, uint64_t *target)
{
	unsigned char call[5];
	uint32_t away;

	if (elf_bytes(e, ret - sizeof(call), call, sizeof(call)) ||
	    call[0] != 0xe8)
		return false;
	away = call[1] | (uint32_t)call[2] << 8 | (uint32_t)call[3] << 16 |
	       (uint32_t)call[4] << 24;
	*target = ret + (uint64_t)(int64_t)(int32_t)away;
	return true;
}

/* True when the function has no frame of its own at ip: it does not
 * begin with (endbr64,) push %rbp, mov %rsp,%rbp, or the push is still to come,
 * or ip is at its ret. */
static bool x86_frameless(struct elf *e,
			  const struct elf_sym *f, uint64_t ip)
{
	static const unsigned char endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const unsigned char frame[][4] = {
		{ 0x55, 0x48, 0x89, 0xe5 }, { 0x55, 0x48, 0x8b, 0xec },
	};
	unsigned char head[8], at;
	size_t skip;

	if (elf_bytes(e, f->value, head, sizeof(head)) ||
	    elf_bytes(e, ip, &at, 1))
		return false;
	skip = memcmp(head, endbr, sizeof(endbr)) ? 0 : sizeof(endbr);
	if (memcmp(head + skip, frame[0], 4) &&
	    memcmp(head + skip, frame[1], 4))
		return true;
	return ip - f->value <= skip || at == 0xc3;
}

/* e8 and 32 bits, or ff with /2 in its second byte, of any length that has. */
static bool x86_after_call(struct elf *e, uint64_t ret)
{
	static const unsigned char lengths[] = { 2, 3, 4, 6, 7 };
	unsigned char before[7], *end = before + sizeof(before);

	if (elf_bytes(e, ret - sizeof(before), before, sizeof(before)) ||
	    end[-5] == 0xe8)
		return true;
	for (size_t i = 0; i < sizeof(lengths); i++)
		if (end[-lengths[i]] == 0xff &&
		    (end[1 - lengths[i]] & 0x38) == 0x10)
			return true;
	return false;
}

/* mov $15,%rax; syscall: sigreturn(2), which a signal handler returns to. */
static bool x86_trampoline(struct elf *e, uint64_t vaddr)
{
	static const unsigned char sigreturn[] = {
		0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05,
	};
	unsigned char code[sizeof(sigreturn)];

	return !elf_bytes(e, vaddr, code, sizeof(code)) &&
	       !memcmp(code, sigreturn, sizeof(code));
}

/* Go makes the first function of a goroutine return behind the nop that
 * runtime.goexit begins with. */
static bool x86_goexit(struct elf *e, uint64_t vaddr)
{
	unsigned char before;
	struct elf_sym sym;

	return !elf_bytes(e, vaddr - 1, &before, 1) && before == 0x90 &&
	       !elf_find(e, vaddr, &sym) && vaddr - sym.value == 1;
}

static const struct cpu x86 = {
	x86_target, x86_frameless, x86_after_call, x86_trampoline, x86_goexit,
};

/* aarch64 */

enum { FUNCTION_MAX = 16 << 10 };	/* longer ones are not looked at */

/* One instruction; they are little endian on every aarch64. */
static bool insn_read(struct elf *e, uint64_t vaddr, uint32_t *insn)
{
	unsigned char b[4];

	if (elf_bytes(e, vaddr, b, sizeof(b)))
		return false;
	*insn = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
		(uint32_t)b[3] << 24;
	return true;
}

/* Encodings: Arm Architecture Reference Manual, C4.1. */
static bool is_bl(uint32_t insn)
{
	return insn >> 26 == 0x25;
}

static bool is_call(uint32_t insn)		/* bl, blr, blraa... */
{
	return is_bl(insn) || (insn & 0xfeff0000) == 0xd63f0000;
}

static bool is_ret(uint32_t insn)		/* ret, retaa, retab */
{
	return insn == 0xd65f03c0 || (insn & 0xfffffbff) == 0xd65f0bff;
}

static bool sets_frame(uint32_t insn)		/* add x29, sp, #N */
{
	return (insn & 0xff8003ff) == 0x910003fd;
}

/* bl, with 26 bits of words. */
static bool arm64_target(struct elf *e, uint64_t ret, uint64_t *target)
{
	uint64_t away;
	uint32_t insn;

	if (!insn_read(e, ret - 4, &insn) || !is_bl(insn))
		return false;
	away = (uint64_t)(insn & 0x3ffffff) << 2;
	*target = ret - 4 + (away ^ 1u << 27) - (1u << 27);
	return true;
}

/* True when the function has no frame of its own at ip, and x30 still holds
 * its return address: it neither makes a frame nor calls anybody, or has not
 * yet done either, or ip is at its ret. */
static bool arm64_frameless(struct elf *e,
			    const struct elf_sym *f, uint64_t ip)
{
	bool calls = false;
	uint32_t insn;

	if (insn_read(e, ip, &insn) && is_ret(insn))
		return true;
	if (f->size > FUNCTION_MAX)
		return false;
	for (uint64_t at = f->value; at - f->value < f->size; at += 4) {
		if (!insn_read(e, at, &insn))
			return false;
		if (sets_frame(insn))
			return ip <= at && !calls;
		calls |= is_call(insn);
	}
	return !calls;
}

static bool arm64_after_call(struct elf *e, uint64_t ret)
{
	uint32_t insn;

	return !insn_read(e, ret - 4, &insn) || is_call(insn);
}

/* mov x8, #139; svc #0: rt_sigreturn(2), which a signal handler returns to. */
static bool arm64_trampoline(struct elf *e, uint64_t vaddr)
{
	uint32_t insn[2];

	return insn_read(e, vaddr, &insn[0]) &&
	       insn_read(e, vaddr + 4, &insn[1]) &&
	       insn[0] == 0xd2801168 && insn[1] == 0xd4000001;
}

/* Go makes the first function of a goroutine return behind the nop that
 * runtime.goexit begins with. */
static bool arm64_goexit(struct elf *e, uint64_t vaddr)
{
	struct elf_sym sym;
	uint32_t insn;

	return insn_read(e, vaddr - 4, &insn) && insn == 0xd503201f &&
	       !elf_find(e, vaddr, &sym) && vaddr - sym.value == 4;
}

static const struct cpu arm64 = {
	arm64_target, arm64_frameless, arm64_after_call, arm64_trampoline,
	arm64_goexit,
};

/* All of them */

static const struct cpu *cpu_of(const struct elf *e)
{
	enum { EM_386 = 3, EM_X86_64 = 62, EM_AARCH64 = 183 };

	switch (elf_machine(e)) {
	case EM_386:
	case EM_X86_64:
		return &x86;
	case EM_AARCH64:
		return &arm64;
	default:
		return NULL;
	}
}

bool caller_calls(struct elf *e, uint64_t ip, uint64_t ret)
{
	const struct cpu *cpu = cpu_of(e);
	struct elf_sym sym;
	uint64_t target;

	return cpu && !elf_find(e, ip, &sym) &&
	       cpu->target(e, ret, &target) && target == sym.value &&
	       cpu->frameless(e, &sym, ip);
}

enum caller_kind caller_kind_in(struct elf *e, uint64_t ret)
{
	const struct cpu *cpu = cpu_of(e);

	if (!cpu || cpu->after_call(e, ret) || cpu->goexit(e, ret))
		return CALLER_AFTER_CALL;
	return cpu->trampoline(e, ret) ? CALLER_AT_START : CALLER_NONE;
}

bool caller_is_sure(struct procs *p, struct proc_at at, uint64_t ip,
		    uint64_t ret)
{
	uint32_t file, caller_file;
	uint64_t vaddr, caller;
	struct elf *e = locate(p, at, ip, &file, &vaddr);

	return e && locate(p, at, ret - 1, &caller_file, &caller) &&
	       file == caller_file &&
	       caller_calls(e, vaddr, caller + 1);
}

enum caller_kind caller_kind(struct procs *p, struct proc_at at, uint64_t addr)
{
	uint32_t file;
	uint64_t vaddr;
	struct elf *e = locate(p, at, addr - 1, &file, &vaddr);

	return e ? caller_kind_in(e, vaddr + 1)
		 : CALLER_AFTER_CALL;
}
