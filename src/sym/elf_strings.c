/* elf_strings - names out of a string table that stays in the file. */
#include <errno.h>
#include <string.h>

#include "sym/elf_file.h"

bool elf_strings_open(const struct elf *e, struct elf_strings *s,
		      const struct elf_section *section)
{
	if (section->type != SHT_STRTAB || section->flags & SHF_COMPRESSED ||
	    section->offset >= e->size)
		return false;
	s->offset = section->offset;
	s->size = section->size;
	if (s->size > e->size - s->offset)
		s->size = e->size - s->offset;
	return true;
}

static struct strings_page **strings_slot(struct elf_strings *s,
					  uint64_t number)
{
	if (!s->pages)
		s->pages = mem_zalloc(STRINGS_SLOTS * sizeof(*s->pages));
	return s->pages ? &s->pages[number % STRINGS_SLOTS] : NULL;
}

/* The page of the table with this number; NULL without memory. */
static struct strings_page *strings_page(struct elf *e,
					 struct elf_strings *s,
					 uint64_t number)
{
	struct strings_page **slot = strings_slot(s, number);
	uint64_t at = number * STRINGS_PAGE;
	size_t n = STRINGS_PAGE;

	if (!slot || (*slot && (*slot)->number == number))
		return slot ? *slot : NULL;
	if (!*slot)
		*slot = mem_zalloc(sizeof(**slot));
	if (!*slot)
		return NULL;
	if (s->work)
		elf_afford(s->work, ELF_COST_PAGE);
	if (n > s->size - at)
		n = (size_t)(s->size - at);
	(*slot)->number = number;
	(*slot)->len = elf_read(e, s->offset + at, (*slot)->data, n);
	return *slot;
}

/* Append bytes up to the NUL or max; *ended tells which. */
static int strings_copy(struct elf *e, struct elf_strings *s,
			uint64_t at, size_t max, struct buf *out, bool *ended)
{
	while (max && at < s->size) {
		struct strings_page *page = strings_page(e, s,
							 at / STRINGS_PAGE);
		size_t from = at % STRINGS_PAGE, n;
		const char *nul;

		if (!page)
			return -ENOMEM;
		if (from >= page->len)
			return -ENOENT;		/* the file has shrunk */
		n = page->len - from;
		if (n > max)
			n = max;
		nul = memchr(page->data + from, '\0', n);
		*ended = nul;
		if (nul)
			n = (size_t)(nul - (page->data + from));
		buf_mem(out, page->data + from, n);
		if (nul)
			break;
		max -= n;
		at += n;
	}
	return out->err;
}

int elf_strings_get(struct elf *e, struct elf_strings *s, uint32_t at,
		    struct buf *out)
{
	size_t start = out->len;
	bool ended = false;
	int err = strings_copy(e, s, at, ELF_NAME_MAX, out, &ended);

	if (!err && !ended && out->len - start == ELF_NAME_MAX)
		buf_puts(out, "...");
	else if (!err && (!ended || out->len == start))
		err = -ENOENT;
	if (!err)
		return out->err;
	out->len = start;
	return err;
}

int elf_strings_head(struct elf *e, struct elf_strings *s, uint32_t at,
		     size_t max, struct buf *out)
{
	bool ended;

	return strings_copy(e, s, at, max, out, &ended);
}

void elf_strings_free(struct elf_strings *s)
{
	for (size_t i = 0; s->pages && i < STRINGS_SLOTS; i++)
		mem_free(s->pages[i]);
	mem_free(s->pages);
	*s = (struct elf_strings){ .work = s->work };
}
