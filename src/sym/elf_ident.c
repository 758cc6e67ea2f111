/* elf_ident - what an ELF file is: its build-id, what it has. */
#include <string.h>

#include "sym/build_id.h"
#include "sym/elf_file.h"

enum { NOTES_MOST = 1 << 16, TABLES_MOST = 64 };

static bool notes_find(struct elf *e, uint64_t offset, uint64_t size,
		       uint64_t align, struct build_id *id)
{
	uint8_t *notes;
	size_t n = size < NOTES_MOST ? (size_t)size : NOTES_MOST;
	bool found = false;

	if (offset >= e->size)
		return false;
	notes = mem_zalloc(n);
	if (notes) {
		n = elf_read(e, offset, notes, n);
		found = build_id_find(notes, n, e->big, align, id);
	}
	mem_free(notes);
	return found;
}

/* In sections first: what a debug file says of segments is not true of it. */
static bool sections_find(struct elf *e, struct build_id *id)
{
	struct elf_window w = { 0 };
	struct elf_section s;
	bool found = false;
	int tables = TABLES_MOST;

	for (uint64_t i = 1; !found && i < e->shnum && tables; i++) {
		if (!elf_section_read(e, &w, i, &s))
			break;
		if (s.type != SHT_NOTE || s.flags & SHF_COMPRESSED)
			continue;
		tables--;
		found = notes_find(e, s.offset, s.size, 4, id);
	}
	elf_window_free(&w);
	return found;
}

bool elf_build_id(struct elf *e, struct build_id *id)
{
	int tables = TABLES_MOST;

	id->len = 0;
	if (sections_find(e, id))
		return true;
	for (size_t i = 0; i < e->segments.n && tables; i++) {
		const struct elf_segment *s = &e->segments.v[i];

		if (s->type != PT_NOTE)
			continue;
		tables--;
		if (notes_find(e, s->offset, s->filesz, s->align, id))
			return true;
	}
	return false;
}

/* "name\0", padded to 4 bytes, then the sum (GDB's manual, "Separate Debug
 * Files"). */
bool elf_debuglink(struct elf *e, char name[ELF_LINK_MOST], uint32_t *sum)
{
	uint8_t text[ELF_LINK_MOST + 4];
	struct elf_section s;
	size_t n, at;

	if (!elf_section_named(e, ".gnu_debuglink", NULL, &s) ||
	    s.flags & SHF_COMPRESSED || s.size > sizeof(text))
		return false;
	n = elf_read(e, s.offset, text, (size_t)s.size);
	at = (strnlen((char *)text, n) + 4) & ~(size_t)3;
	if (at > ELF_LINK_MOST || at + 4 > n || !text[0] ||
	    memchr(text, '/', at))
		return false;
	memcpy(name, text, at);
	*sum = elf_u32(e, text + at);
	return strcmp(name, ".") && strcmp(name, "..");
}

size_t elf_notes(const struct elf *e, struct elf_extent *to, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < e->segments.n && n < most; i++) {
		const struct elf_segment *s = &e->segments.v[i];

		if (s->type == PT_NOTE)
			to[n++] = (struct elf_extent){ s->offset, s->filesz,
						       s->vaddr, s->align };
	}
	return n;
}

size_t elf_code_extents(const struct elf *e, struct elf_extent *to,
			size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < e->segments.n && n < most; i++) {
		const struct elf_segment *s = &e->segments.v[i];

		if (s->type == PT_LOAD && s->flags & PF_X && s->filesz)
			to[n++] = (struct elf_extent){ s->offset, s->filesz,
						       s->vaddr, s->align };
	}
	return n;
}

unsigned elf_machine(const struct elf *e)
{
	return e->machine;
}

bool elf_is_big(const struct elf *e)
{
	return e->big;
}

/* Debug files have the headers of code, but not the code. */
void elf_look(struct elf *e, bool *symtab, bool *code)
{
	struct elf_window w = { 0 };
	struct elf_section s;

	*symtab = false;
	*code = !e->shnum;
	for (uint64_t i = 1; i < e->shnum; i++) {
		if (!elf_section_read(e, &w, i, &s))
			break;
		*symtab |= s.type == SHT_SYMTAB && s.size;
		*code |= s.flags & SHF_EXECINSTR && s.type != SHT_NOBITS;
	}
	elf_window_free(&w);
}
