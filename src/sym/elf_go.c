/* elf_go - the functions of a Go program, from its own table of them.
 *
 * The Go runtime needs the names of functions itself, so the linker writes them
 * into .gopclntab, which no strip takes away. Its beginning is a header; words
 * are as long as pointers, and offsets count from the header:
 *
 *   magic, 4 bytes; 0, 0, the unit of addresses, the size of a pointer
 *   Go 1.2          n; then the functions; all else by offsets in them
 *   Go 1.16         n, files; offsets of the names, units, files, tables of
 *                   addresses, functions
 *   Go 1.18, 1.20   n, files, the address of the text; offsets as before
 *
 * The functions are n times (address, offset), and the address where the last
 * one ends. The offset, from the functions (in Go 1.2 from the header), leads
 * to a record that begins with the address again and the offset of the name.
 * Both addresses must agree, or the function is left out.
 *
 * Since Go 1.18 addresses have 32 bits and count from the text. Where that is
 * stands in the header; in a program that may be loaded anywhere a relocation
 * puts it there. Since Go 1.26 it stands in the module's data alone, which
 * begins with the address of the header, in .go.module; or else it is taken for
 * where .text begins, if that ends where the last function does.
 *
 * Without section headers the segments are searched for the header; and in a Go
 * program without that section, for another linker than Go's may have put the
 * table into one with others. Before Go 1.18 such a linker may leave all the
 * addresses to relocations; then there are no names.
 */
#include <errno.h>

#include "sym/elf_file.h"

/* The last byte of the magic, which begins with 0xffffff. */
enum { GO_1_2 = 0xfb, GO_1_16 = 0xfa, GO_1_18 = 0xf0, GO_1_20 = 0xf1 };

enum {
	HEADER_WORDS = 8, HEADER_STEP = 8,	/* it is aligned at least so */
	HEADER_TEXT = 2,
	MODULE_TEXT = 22,	/* words of runtime.moduledata before it */
	TEXT_ALIGN = 64,	/* .text may end so much later */
};

/* Where a table may be, or is. */
struct region {
	uint64_t offset, vaddr, size;
};

static size_t word_size(const struct elf *e)
{
	return e->wide ? 8 : 4;
}

static uint64_t field_at(const struct elf *e, const struct elf_go *go,
			 const uint8_t *p)
{
	return go->field == 8 ? elf_u64(e, p) : elf_u32(e, p);
}

/* 0: that is no header. */
static unsigned header_version(const struct elf *e, const uint8_t *p)
{
	uint32_t magic = elf_u32(e, p);

	if (magic >> 8 != 0xffffff || p[4] || p[5] || !p[6] || p[6] > 4 ||
	    p[7] != word_size(e))
		return 0;
	return magic & 0xff;
}

/* The parts of the table, all within the region. Names begin one byte early,
 * for a name of 0 is none in other tables. */
static bool header_parse(struct elf *e, struct elf_symtab *t,
			 const struct region *r, const uint8_t *p)
{
	struct elf_go *go = &t->go;
	uint64_t words[HEADER_WORDS], functab, funcs = 0, names = 0;
	unsigned version = header_version(e, p);

	for (size_t i = 0; i < HEADER_WORDS; i++)
		words[i] = elf_word(e, p + 8 + i * word_size(e));
	functab = 8 + word_size(e);
	go->field = (uint8_t)word_size(e);
	go->relative = version == GO_1_18 || version == GO_1_20;
	if (version == GO_1_16) {
		names = words[2];
		funcs = functab = words[6];
	} else if (go->relative) {
		go->field = 4;
		go->text = words[HEADER_TEXT];
		names = words[3];
		funcs = functab = words[7];
	} else if (version != GO_1_2) {
		return false;
	}
	if (!words[0] || words[0] > ELF_SYMBOLS_MAX || functab >= r->size ||
	    names >= r->size ||
	    (2 * words[0] + 1) * go->field > r->size - functab)
		return false;
	go->n = (uint32_t)words[0];
	go->functab = r->offset + functab;
	go->funcs = r->offset + funcs;
	return elf_strings_open(e, &t->strings, &(struct elf_section){
		.type = SHT_STRTAB, .offset = r->offset + names - 1,
		.size = r->size - names + 1 });
}

/* Is what is between the first function and the end of the last one code, in
 * one segment? `end`: of .text, or 0. */
static bool text_fits(struct elf *e, struct elf_symtab *t, uint64_t text,
		      uint64_t end)
{
	const struct elf_go *go = &t->go;
	uint64_t first, last, a, b;
	const uint8_t *p = elf_peek(e, &t->window, go->functab, go->field);

	first = p ? field_at(e, go, p) : 0;
	p = elf_peek(e, &t->window, go->functab + 2ull * go->n * go->field,
		     go->field);
	last = p ? field_at(e, go, p) : 0;
	if (first >= last || elf_code_offset(e, text + first, &a) ||
	    elf_code_offset(e, text + last - 1, &b) ||
	    b - a != last - 1 - first)
		return false;
	return !end || end - (text + last) < TEXT_ALIGN;
}

static uint64_t text_of_module(struct elf *e, const struct region *r,
			       uint64_t *work)
{
	struct elf_section s;

	if (!elf_section_named(e, ".go.module", work, &s) ||
	    elf_relocated(e, s.addr, work) != r->vaddr)
		return 0;
	return elf_relocated(e, s.addr + MODULE_TEXT * word_size(e), work);
}

static bool text_find(struct elf *e, struct elf_symtab *t,
		      const struct region *r, uint64_t *work)
{
	struct elf_section s;

	if (!t->go.relative)
		return text_fits(e, t, 0, 0);
	if (!t->go.text)
		t->go.text = elf_relocated(e, r->vaddr + 8 +
					   HEADER_TEXT * word_size(e), work);
	if (!t->go.text)
		t->go.text = text_of_module(e, r, work);
	if (t->go.text)
		return text_fits(e, t, t->go.text, 0);
	if (!elf_section_named(e, ".text", work, &s))
		return false;
	t->go.text = s.addr;
	return text_fits(e, t, s.addr, s.addr + s.size);
}

static bool region_open(struct elf *e, struct elf_symtab *t, struct region r,
			uint64_t *work)
{
	size_t size = 8 + HEADER_WORDS * word_size(e);
	const uint8_t *p = r.size < size ? NULL :
		elf_peek(e, &t->window, r.offset, size);

	if (p && r.size > e->size - r.offset)
		r.size = e->size - r.offset;
	if (p && header_parse(e, t, &r, p) && text_find(e, t, &r, work))
		return true;
	elf_symtab_free(t);
	t->go = (struct elf_go){ 0 };
	return false;
}

static bool segment_search(struct elf *e, struct elf_symtab *t,
			   struct elf_window *w, const struct elf_segment *s,
			   uint64_t *work)
{
	size_t size = 8 + HEADER_WORDS * word_size(e);
	uint64_t at = -s->vaddr % HEADER_STEP;

	for (; at < s->filesz && elf_afford(work, HEADER_STEP);
	     at += HEADER_STEP) {
		const uint8_t *p = elf_peek(e, w, s->offset + at, size);

		if (!p)
			break;
		if (header_version(e, p) && elf_afford(work, ELF_WINDOW) &&
		    region_open(e, t, (struct region){
				s->offset + at, s->vaddr + at,
				s->filesz - at }, work))
			return true;
	}
	return false;
}

static bool segments_search(struct elf *e, struct elf_symtab *t,
			    uint64_t *work)
{
	struct elf_window w = { 0 };
	struct elf_section s;
	bool found = false;

	if (e->shnum && !elf_section_named(e, ".note.go.buildid", work, &s))
		return false;
	for (size_t i = 0; !found && i < e->segments.n; i++)
		if (e->segments.v[i].type == PT_LOAD)
			found = segment_search(e, t, &w, &e->segments.v[i],
					       work);
	elf_window_free(&w);
	return found;
}

bool elf_go_open(struct elf *e, struct elf_symtab *t, uint64_t *work)
{
	struct elf_section s;

	if (elf_section_named(e, ".gopclntab", work, &s) ||
	    elf_section_named(e, ".data.rel.ro.gopclntab", work, &s))
		return s.type == SHT_GO && !(s.flags & SHF_COMPRESSED) &&
			region_open(e, t, (struct region){
				s.offset, s.addr, s.size }, work);
	return segments_search(e, t, work);
}

int elf_go_each(struct elf *e, struct elf_symtab *t, uint64_t *work,
		int (*fn)(void *arg, const struct elf_symbol *s,
			  uint32_t number), void *arg)
{
	const struct elf_go *go = &t->go;
	/* The records of an honest table follow each other. */
	struct elf_window records = { .work = work };
	uint64_t entry, offset, end;
	const uint8_t *p;
	int err = 0;

	for (uint32_t i = 0; !err && i < go->n; i++) {
		p = elf_peek(e, &t->window, go->functab + 2ull * i * go->field,
			     3u * go->field);
		if (!p)
			break;
		if (!elf_afford(work, ELF_COST_LOOK)) {
			err = -EFBIG;
			break;
		}
		entry = field_at(e, go, p);
		offset = field_at(e, go, p + go->field);
		end = field_at(e, go, p + 2 * go->field);
		p = offset > e->size ? NULL :
			elf_peek(e, &records, go->funcs + offset,
				 go->field + 4u);
		if (p && field_at(e, go, p) == entry && entry < end)
			err = fn(arg, &(struct elf_symbol){
				.value = go->text + entry,
				.size = end - entry,
				.name = elf_u32(e, p + go->field) + 1,
				.section = 1, .type = STT_FUNC,
				.bind = STB_LOCAL }, i);
	}
	elf_window_free(&records);
	return err ? err : e->err;
}
