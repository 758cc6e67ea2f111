/* elf_plt - names for the stubs through which a file calls other files.
 *
 * The stubs have no symbols. A stub jumps to the address in a slot of the
 * global offset table, and the relocation that fills the slot names the
 * symbol; so the stub is decoded as far as that takes:
 *
 *   x86_64   [endbr64] [bnd] jmp *slot(%rip)	.plt, .plt.sec, .plt.got
 *            [endbr64] push $n; [bnd] jmp	.plt: relocation n of .rela.plt
 *   aarch64  [bti c] adrp x16, page; ldr x17, [x16, #low]
 *
 * On other machines, and where nothing matches (the common entry in front of
 * the stubs, indirect functions), the section's bytes are "[plt]".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/elf_file.h"

enum {
	R_X86_64_GLOB_DAT = 6, R_X86_64_JUMP_SLOT = 7,
	R_AARCH64_GLOB_DAT = 1025, R_AARCH64_JUMP_SLOT = 1026,
	RANK_STUB = 6, RANK_PLT = 7,	/* after every symbol */
};

static bool machine_is_known(struct elf *e)
{
	return e->wide && !e->big &&
		(e->machine == EM_X86_64 || e->machine == EM_AARCH64);
}

static bool reloc_fills_slot(struct elf *e, uint32_t type)
{
	if (e->machine == EM_X86_64)
		return type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT;
	return type == R_AARCH64_GLOB_DAT || type == R_AARCH64_JUMP_SLOT;
}

static int reloc_compare(const void *a, const void *b)
{
	const struct elf_reloc *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

static int reloc_take(struct elf *e, struct elf_plt *plt,
		      const uint8_t *p, bool is_plt)
{
	uint64_t info = elf_u64(e, p + 8);
	uint32_t symbol = (uint32_t)(info >> 32), *number;
	struct elf_reloc *r;
	int err = elf_spend(e, ELF_COST_LOOK);

	if (err)
		return err;
	if (is_plt) {
		number = vec_push(&plt->order);
		if (!number)
			return -ENOMEM;
		*number = symbol;
	}
	if (!symbol || !reloc_fills_slot(e, (uint32_t)info))
		return 0;
	err = elf_spend(e, ELF_COST_KEEP);
	if (err)
		return err;
	r = vec_push(&plt->relocs);
	if (!r)
		return -ENOMEM;
	*r = (struct elf_reloc){ .slot = elf_u64(e, p), .symbol = symbol };
	return 0;
}

int elf_plt_relocs(struct elf *e, struct elf_plt *plt,
		   const struct elf_section *rela, bool is_plt)
{
	uint64_t n = rela->size / 24;	/* sizeof(Elf64_Rela) */
	struct elf_window w = { 0 };
	int err = 0;

	if (!machine_is_known(e) || rela->offset >= e->size)
		return 0;
	if (n > ELF_RELOCS_MAX)
		n = ELF_RELOCS_MAX;
	for (uint64_t i = 0; !err && i < n; i++) {
		const uint8_t *p = elf_peek(e, &w, rela->offset + i * 24, 24);

		if (!p)
			break;
		err = reloc_take(e, plt, p, is_plt);
	}
	elf_window_free(&w);
	return err;
}

void elf_plt_sort(struct elf_plt *plt)
{
	if (plt->relocs.n)
		qsort(plt->relocs.v, plt->relocs.n, sizeof(*plt->relocs.v),
		      reloc_compare);
}

/* A stub as decoded: its length, and its slot or its number. */
struct stub {
	size_t len;		/* 0 = no stub here */
	bool numbered;
	uint64_t slot;
	uint32_t number;
};

static struct stub stub_x86_64(struct elf *e, const uint8_t *p,
			       uint64_t addr)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	struct stub s = { .len = 8 };
	size_t at = 0;
	uint32_t word;

	if (!memcmp(p, endbr64, 4))
		at = 4;
	if (p[at] == 0x68) {
		s.number = elf_u32(e, p + at + 1);
		s.numbered = true;
		s.len = 16;
		return s;
	}
	if (p[at] == 0xf2)		/* bnd */
		at++;
	if (p[at] != 0xff || p[at + 1] != 0x25)
		return (struct stub){ 0 };
	word = elf_u32(e, p + at + 2);
	s.slot = addr + at + 6 + (uint64_t)(int64_t)(int32_t)word;
	/* A slot of 8 bytes in .plt.got, else 16: as much as is filled. */
	if (at || p[6] != 0x66 || p[7] != 0x90)
		s.len = 16;
	return s;
}

static struct stub stub_aarch64(struct elf *e, const uint8_t *p,
				uint64_t addr)
{
	size_t at = elf_u32(e, p) == 0xd503245f ? 4 : 0;	/* bti c */
	uint32_t adrp = elf_u32(e, p + at), ldr = elf_u32(e, p + at + 4);
	uint64_t page = (addr + at) & ~(uint64_t)4095, pages;

	/* adrp x16; ldr x17, [x16, #low] */
	if ((adrp & 0x9f00001f) != 0x90000010 ||
	    (ldr & 0xffc003ff) != 0xf9400211)
		return (struct stub){ 0 };
	pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	if (pages & 0x100000)
		pages |= ~(uint64_t)0x1fffff;
	return (struct stub){
		.len = at ? 24 : 16,
		.slot = page + (pages << 12) + (ldr >> 10 & 0xfff) * 8,
	};
}

/* The symbol that a stub leads to; 0 = not known. */
static uint32_t stub_symbol(const struct elf_plt *plt, const struct stub *s)
{
	size_t low = 0, high = plt->relocs.n;

	if (s->numbered)
		return s->number < plt->order.n ? plt->order.v[s->number] : 0;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (plt->relocs.v[mid].slot < s->slot)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == plt->relocs.n || plt->relocs.v[low].slot != s->slot)
		return 0;
	return plt->relocs.v[low].symbol;
}

/* Add the stub under the name of dynamic symbol i, where it has one. */
static int stub_add(struct elf *e, const struct elf_plt *plt,
		    struct elf_window *w, uint32_t i, uint64_t addr,
		    size_t len)
{
	uint64_t at = (uint64_t)i * 24;		/* sizeof(Elf64_Sym) */
	const uint8_t *p = NULL;
	uint32_t name;

	if (elf_spend(e, ELF_COST_LOOK))
		return -EFBIG;
	if (i && at < plt->symbols.size && plt->symbols.offset < e->size)
		p = elf_peek(e, w, plt->symbols.offset + at, 24);
	name = p ? elf_u32(e, p) : 0;
	if (!name)
		return 0;
	return elf_entry_add(e, addr, len, name, KIND_PLT, RANK_STUB);
}

static int stubs_scan(struct elf *e, struct elf_plt *plt,
		      const struct elf_section *s, struct elf_window *code,
		      struct elf_window *symbols)
{
	/* Stubs of 16 bytes are aligned so; those of 8 follow each other. */
	size_t step = e->machine == EM_AARCH64 ? 4 : 16;
	uint64_t at = 0;
	int err = elf_spend(e, s->size);

	while (!err && at < s->size && s->offset < e->size) {
		uint64_t left = s->size - at;
		uint8_t bytes[16] = { 0 };
		const uint8_t *p;
		struct stub stub;

		p = elf_peek(e, code, s->offset + at, left < 16 ?
			     (size_t)left : 16);
		if (!p)
			break;
		memcpy(bytes, p, left < 16 ? (size_t)left : 16);
		stub = e->machine == EM_AARCH64 ?
			stub_aarch64(e, bytes, s->addr + at) :
			stub_x86_64(e, bytes, s->addr + at);
		if (stub.len > left)
			stub.len = (size_t)left;
		if (stub.len)
			err = stub_add(e, plt, symbols,
				       stub_symbol(plt, &stub), s->addr + at,
				       stub.len);
		at += stub.len ? stub.len : step - at % step;
	}
	return err;
}

int elf_plt_stubs(struct elf *e, struct elf_plt *plt,
		  const struct elf_section *section)
{
	struct elf_window code = { 0 }, symbols = { .work = &e->work };
	struct elf_section s = *section;
	int err;

	if (s.size > ELF_PLT_MAX)
		s.size = ELF_PLT_MAX;
	if (s.addr > UINT64_MAX - s.size || !s.size)
		return 0;
	err = elf_entry_add(e, s.addr, s.size, NAME_NONE, KIND_PLT, RANK_PLT);
	if (!err && machine_is_known(e))
		err = stubs_scan(e, plt, &s, &code, &symbols);
	elf_window_free(&code);
	elf_window_free(&symbols);
	return err;
}

void elf_plt_free(struct elf_plt *plt)
{
	vec_free(&plt->relocs);
	vec_free(&plt->order);
}
