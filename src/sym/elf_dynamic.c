/* elf_dynamic - the dynamic symbols of a file without section headers.
 *
 * PT_DYNAMIC gives the vaddrs of the symbols and their strings, and the size of
 * the strings, but not the number of symbols. That follows from a hash table:
 * DT_HASH has one chain word for each symbol; in DT_GNU_HASH the chain of the
 * last symbol is the one that begins at the highest bucket.
 */
#include <errno.h>
#include <string.h>

#include "sym/elf_file.h"

enum { DYNAMIC_MAX = 4096 };	/* entries; honest files have about 40 */

struct dynamic {
	uint64_t symbols, strings, strings_size, hash, gnu_hash, soname;
	uint64_t rela, rela_size;
};

static void dynamic_take(struct dynamic *d, uint64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_SYMTAB: d->symbols = value; break;
	case DT_STRTAB: d->strings = value; break;
	case DT_RELA: d->rela = value; break;
	case DT_RELASZ: d->rela_size = value; break;
	case DT_STRSZ: d->strings_size = value; break;
	case DT_SONAME: d->soname = value; break;
	case DT_HASH: d->hash = value; break;
	case DT_GNU_HASH: d->gnu_hash = value; break;
	}
}

static void dynamic_read(struct elf *e, struct elf_window *w,
			 struct dynamic *d)
{
	const struct elf_segment *s = NULL;
	size_t size = e->wide ? 16 : 8;

	for (size_t i = 0; i < e->segments.n && !s; i++)
		if (e->segments.v[i].type == PT_DYNAMIC)
			s = &e->segments.v[i];
	for (uint64_t at = 0; s && at < DYNAMIC_MAX * size &&
	     at + size <= s->filesz; at += size) {
		const uint8_t *p = elf_peek(e, w, s->offset + at, size);
		uint64_t tag = p ? elf_word(e, p) : 0;

		if (!tag)	/* DT_NULL */
			break;
		dynamic_take(d, tag, elf_word(e, p + size / 2));
	}
}

/* 32-bit word i of an array; false when the file does not hold it. */
static bool word_at(struct elf *e, struct elf_window *w, uint64_t array,
		    uint64_t i, uint32_t *out)
{
	const uint8_t *p = elf_peek(e, w, array + 4 * i, 4);

	if (p)
		*out = elf_u32(e, p);
	return p;
}

static uint64_t hash_count(struct elf *e, struct elf_window *w,
			   uint64_t vaddr)
{
	uint32_t chains = 0;
	uint64_t at;

	if (elf_offset(e, vaddr, &at))
		return 0;
	word_at(e, w, at, 1, &chains);
	return chains;
}

static uint64_t gnu_hash_count(struct elf *e, struct elf_window *w,
			       uint64_t vaddr)
{
	uint32_t buckets, first, bloom, word, last = 0;
	uint64_t at;

	if (elf_offset(e, vaddr, &at) || at > e->size ||
	    !word_at(e, w, at, 0, &buckets) || !word_at(e, w, at, 1, &first) ||
	    !word_at(e, w, at, 2, &bloom) || buckets > ELF_SYMBOLS_MAX)
		return 0;
	at += 16 + (uint64_t)bloom * (e->wide ? 8 : 4);
	for (uint32_t i = 0; i < buckets; i++) {
		if (!word_at(e, w, at, i, &word))
			return 0;
		if (word > last)
			last = word;
	}
	if (last < first)	/* only symbols that nobody looks up */
		return first;
	at += 4 * (uint64_t)buckets;
	for (; last < ELF_SYMBOLS_MAX; last++) {
		if (!word_at(e, w, at, last - first, &word))
			return 0;
		if (word & 1)	/* the end of a chain */
			return (uint64_t)last + 1;
	}
	return last;
}

bool elf_dynamic(struct elf *e, struct elf_section *symbols,
		 struct elf_section *strings)
{
	struct elf_window w = { 0 };
	struct dynamic d = { 0 };
	uint64_t n = 0;

	memset(symbols, 0, sizeof(*symbols));
	memset(strings, 0, sizeof(*strings));
	dynamic_read(e, &w, &d);
	if (d.symbols && d.strings && (d.hash || d.gnu_hash)) {
		n = d.gnu_hash ? gnu_hash_count(e, &w, d.gnu_hash) : 0;
		if (!n && d.hash)
			n = hash_count(e, &w, d.hash);
	}
	elf_window_free(&w);
	if (n > ELF_SYMBOLS_MAX)
		n = ELF_SYMBOLS_MAX;
	symbols->type = SHT_DYNSYM;
	symbols->size = n * (e->wide ? 24 : 16);
	strings->type = SHT_STRTAB;
	strings->size = d.strings_size;
	return n && !elf_offset(e, d.symbols, &symbols->offset) &&
		!elf_offset(e, d.strings, &strings->offset);
}

/* The addend of the relocation at a vaddr that needs no symbol. */
static bool rela_find(struct elf *e, struct elf_window *w,
		      const struct dynamic *d, uint64_t vaddr, uint64_t *work,
		      uint64_t *addend)
{
	size_t size = e->wide ? 8 : 4;
	uint64_t n = d->rela_size / (3 * size), at;

	if (elf_offset(e, d->rela, &at))
		return false;
	if (n > ELF_RELOCS_MAX)
		n = ELF_RELOCS_MAX;
	for (uint64_t i = 0; i < n && elf_afford(work, ELF_COST_LOOK); i++) {
		const uint8_t *p = elf_peek(e, w, at + i * 3 * size, 3 * size);

		if (!p)
			break;
		if (elf_word(e, p) != vaddr ||
		    elf_word(e, p + size) >> (e->wide ? 32 : 8))
			continue;
		*addend = elf_word(e, p + 2 * size);
		return true;
	}
	return false;
}

uint64_t elf_relocated(struct elf *e, uint64_t vaddr, uint64_t *work)
{
	struct elf_window w = { 0 };
	struct dynamic d = { 0 };
	uint8_t bytes[8] = { 0 };
	uint64_t word;

	elf_bytes(e, vaddr, bytes, e->wide ? 8 : 4);
	word = elf_word(e, bytes);
	if (elf_afford(work, ELF_WINDOW))
		dynamic_read(e, &w, &d);
	if (d.rela)
		rela_find(e, &w, &d, vaddr, work, &word);
	elf_window_free(&w);
	return word;
}

int elf_soname(struct elf *e, struct buf *out)
{
	struct elf_section section = { .type = SHT_STRTAB };
	struct elf_strings strings = { 0 };
	struct elf_window w = { 0 };
	struct dynamic d = { 0 };
	int err = -ENOENT;

	dynamic_read(e, &w, &d);
	elf_window_free(&w);
	section.size = d.strings_size;
	if (d.soname && d.soname <= UINT32_MAX &&
	    !elf_offset(e, d.strings, &section.offset) &&
	    elf_strings_open(e, &strings, &section))
		err = elf_strings_get(e, &strings, (uint32_t)d.soname, out);
	elf_strings_free(&strings);
	return err;
}
