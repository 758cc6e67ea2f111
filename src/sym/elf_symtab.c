/* elf_symtab - symbol tables as they stand in the file, one after another. */
#include <errno.h>
#include <string.h>

#include "sym/elf_file.h"

struct elf_symbol elf_symbol_parse(const struct elf *e, const uint8_t *p)
{
	uint8_t info = p[e->wide ? 4 : 12];

	return (struct elf_symbol){
		.name = elf_u32(e, p),
		.value = elf_word(e, p + (e->wide ? 8 : 4)),
		.size = elf_word(e, p + (e->wide ? 16 : 8)),
		.section = elf_u16(e, p + (e->wide ? 6 : 14)),
		.type = info & 15, .bind = info >> 4,
	};
}

/* The first section of the type that is there as it is. */
static uint64_t section_find(struct elf *e, struct elf_window *w,
			     uint32_t type, struct elf_section *out)
{
	for (uint64_t i = 1; i < e->shnum; i++) {
		if (!elf_section_read(e, w, i, out))
			break;
		if (out->type == type && !(out->flags & SHF_COMPRESSED))
			return i;
	}
	*out = (struct elf_section){ 0 };
	return 0;
}

bool elf_symtab_open(struct elf *e, uint32_t type, struct elf_symtab *t,
		     uint64_t *work)
{
	struct elf_section strings;

	*t = (struct elf_symtab){ .strings.work = work };
	if (type == SHT_GO)
		return elf_go_open(e, t, work);
	if (section_find(e, &t->window, type, &t->section)) {
		if (type == SHT_DYNSYM) {
			section_find(e, &t->window, SHT_GNU_VERSYM,
				     &t->versym);
			section_find(e, &t->window, SHT_GNU_VERDEF,
				     &t->verdef);
		}
		if (t->section.link < e->shnum &&
		    elf_section_read(e, &t->window, t->section.link,
				     &strings) &&
		    elf_strings_open(e, &t->strings, &strings))
			return true;
	} else if (type == SHT_DYNSYM &&
		   elf_dynamic(e, &t->section, &strings) &&
		   elf_strings_open(e, &t->strings, &strings)) {
		return true;
	}
	elf_symtab_free(t);
	return false;
}

void elf_symtab_free(struct elf_symtab *t)
{
	elf_window_free(&t->window);
	elf_strings_free(&t->strings);
}

int elf_symtab_each(struct elf *e, struct elf_symtab *t, uint64_t *work,
		    int (*fn)(void *arg, const struct elf_symbol *s,
			      uint32_t number), void *arg)
{
	size_t size = e->wide ? 24 : 16;
	uint64_t n = t->section.size / size;	/* sh_entsize may lie */
	int err = 0;

	if (t->go.n)
		return elf_go_each(e, t, work, fn, arg);
	if (t->section.offset >= e->size)
		return 0;
	if (n > ELF_SYMBOLS_MAX)
		n = ELF_SYMBOLS_MAX;
	for (uint64_t i = 1; !err && i < n; i++) {
		const uint8_t *p = elf_peek(e, &t->window, t->section.offset +
					    i * size, size);
		struct elf_symbol s;

		if (!p)
			break;
		if (!elf_afford(work, ELF_COST_LOOK))
			return -EFBIG;
		s = elf_symbol_parse(e, p);
		err = fn(arg, &s, (uint32_t)i);
	}
	return err ? err : e->err;
}

static bool section_is(struct elf *e, struct elf_strings *names,
		       const struct elf_section *s, const char *name)
{
	struct buf text = { 0 };
	bool is = !elf_strings_head(e, names, s->name, 32, &text) &&
		!strcmp(buf_str(&text), name);

	buf_free(&text);
	return is;
}

bool elf_section_named(struct elf *e, const char *name, uint64_t *work,
		       struct elf_section *out)
{
	struct elf_strings names = { .work = work };
	struct elf_window w = { 0 };
	bool found = false;

	if (e->shstrndx && e->shstrndx < e->shnum &&
	    elf_section_read(e, &w, e->shstrndx, out) &&
	    elf_strings_open(e, &names, out))
		for (uint64_t i = 1; !found && i < e->shnum; i++) {
			if ((work && !elf_afford(work, ELF_COST_LOOK)) ||
			    !elf_section_read(e, &w, i, out))
				break;
			found = section_is(e, &names, out, name);
		}
	elf_window_free(&w);
	elf_strings_free(&names);
	return found;
}
