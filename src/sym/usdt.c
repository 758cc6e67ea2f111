/* usdt - the probes that a program has built in: reads .note.stapsdt.
 *
 * A probe is a nop in the code and a note that tells where it is (systemtap's
 * sys/sdt.h wrote the format, others write the same):
 *
 *   namesz 8, descsz, type 3, "stapsdt\0", then the description:
 *     word    location of the nop
 *     word    address of the section .stapsdt.base, when it was linked
 *     word    address of the semaphore; 0 = none
 *     strings provider, name, arguments
 *
 * Words are of the file's class. What moves a file's addresses after it was
 * linked (prelink, for one) does not know of notes; but it moves .stapsdt.base
 * too, and the distance that this one went is added to both addresses. A note
 * whose base is 0 lost the section when it was linked: there is nothing to
 * compare, so nothing is added.
 *
 * Notes are in sections; in PT_NOTE, if at all, when there are no section
 * headers (the section that sdt.h makes is not loaded).
 */
#include "sym/usdt.h"

#include <errno.h>
#include <string.h>

#include "base/intern.h"
#include "sym/elf_file.h"

enum {
	NOTE_HEADER = 12, NOTE_NAME = 8, NOTE_TYPE = 3,
	NOTES_MAX = 64 << 20,		/* bytes that are read, and what finding
					 * them costs */
	LOOK_UPS_MOST = 1 << 30,	/* as work, for all names of a file */
};

struct notes {
	struct elf *e;
	struct elf_window w;
	int (*fn)(void *arg, const struct usdt_note *n);
	void *arg;
	uint64_t base;		/* of .stapsdt.base as it is now; 0 = none */
	uint64_t left;		/* of NOTES_MAX */
	unsigned bad;
};

/* The next string of a description. NULL: it does not end there. */
static const char *string_next(const char **p, const char *end)
{
	const char *s = *p;
	const char *nul = memchr(s, '\0', (size_t)(end - s));

	if (!nul)
		return NULL;
	*p = nul + 1;
	return s;
}

static void note_place(struct notes *ns, struct usdt_note *n, uint64_t base)
{
	uint64_t moved = base && ns->base ? ns->base - base : 0;

	n->location += moved;
	if (!ns->e->wide)
		n->location &= UINT32_MAX;
	n->err = elf_offset_in(ns->e, n->location, PF_X, &n->offset) ?
		-EFAULT : 0;
	if (!n->semaphore)
		return;
	n->semaphore += moved;
	if (!ns->e->wide)
		n->semaphore &= UINT32_MAX;
	if (elf_offset_in(ns->e, n->semaphore, PF_W, &n->semaphore_offset))
		n->semaphore_offset = 0;
}

/* A description; it stays where it is while fn runs, for the window moves in
 * nothing that reads a place. */
static int note_take(struct notes *ns, const uint8_t *p, size_t n)
{
	size_t word = ns->e->wide ? 8 : 4;
	const char *s = (const char *)p + 3 * word, *end = (const char *)p + n;
	struct usdt_note note = { 0 };

	if (n >= 3 * word) {
		note.location = elf_word(ns->e, p);
		note.semaphore = elf_word(ns->e, p + 2 * word);
		note.provider = string_next(&s, end);
		note.name = note.provider ? string_next(&s, end) : NULL;
		note.args = note.name ? string_next(&s, end) : NULL;
	}
	if (!note.args || !*note.provider || !*note.name) {
		ns->bad++;
		return 0;
	}
	note_place(ns, &note, elf_word(ns->e, p + word));
	return ns->fn(ns->arg, &note);
}

static uint64_t align4(uint64_t n)
{
	return (n + 3) & ~(uint64_t)3;
}

/* The note at an offset; *size becomes the bytes to the next one, 0 when the
 * area ends before it does. */
static int note_read(struct notes *ns, uint64_t at, uint64_t left,
		     uint64_t *size)
{
	const uint8_t *p = elf_peek(ns->e, &ns->w, at, NOTE_HEADER);
	uint64_t name, desc;
	uint32_t type;

	*size = 0;
	if (!p)
		return 0;
	name = elf_u32(ns->e, p);
	desc = elf_u32(ns->e, p + 4);
	type = elf_u32(ns->e, p + 8);
	if (NOTE_HEADER + align4(name) + desc > left) {
		ns->bad++;
		return 0;
	}
	*size = NOTE_HEADER + align4(name) + align4(desc);
	if (name != NOTE_NAME || type != NOTE_TYPE)
		return 0;
	if (desc > ELF_WINDOW - NOTE_HEADER - NOTE_NAME) {
		ns->bad++;
		return 0;
	}
	p = elf_peek(ns->e, &ns->w, at, NOTE_HEADER + NOTE_NAME + (size_t)desc);
	if (!p)
		*size = 0;	/* the file ends */
	if (!p || memcmp(p + NOTE_HEADER, "stapsdt", NOTE_NAME))
		return 0;
	return note_take(ns, p + NOTE_HEADER + NOTE_NAME, (size_t)desc);
}

static int area_read(struct notes *ns, uint64_t at, uint64_t size)
{
	int err = 0;

	if (at >= ns->e->size)
		return 0;
	if (!elf_afford(&ns->left, NOTE_HEADER))
		return -EFBIG;
	if (size > ns->e->size - at)
		size = ns->e->size - at;
	while (!err && size >= NOTE_HEADER) {
		uint64_t step;

		err = note_read(ns, at, size, &step);
		if (err || !step || step >= size)
			break;
		if (!elf_afford(&ns->left, step))
			err = -EFBIG;
		at += step;
		size -= step;
	}
	return err;
}

static int sections_each(struct notes *ns, bool *any)
{
	struct elf_window headers = { 0 };
	struct elf_section s;
	int err = 0;

	for (uint64_t i = 1; !err && i < ns->e->shnum; i++) {
		if (!elf_section_read(ns->e, &headers, i, &s))
			break;
		*any = true;
		if (s.type == SHT_NOTE && !(s.flags & SHF_COMPRESSED))
			err = area_read(ns, s.offset, s.size);
	}
	elf_window_free(&headers);
	return err;
}

int usdt_each(struct elf *e, int (*fn)(void *arg, const struct usdt_note *n),
	      void *arg, unsigned *bad)
{
	struct notes ns = { .e = e, .fn = fn, .arg = arg, .left = NOTES_MAX };
	struct elf_section base;
	bool any = false;
	int err;

	ns.w.work = &ns.left;
	if (elf_section_named(e, ".stapsdt.base", NULL, &base))
		ns.base = base.addr;
	err = sections_each(&ns, &any);
	for (size_t i = 0; !any && !err && i < e->segments.n; i++)
		if (e->segments.v[i].type == PT_NOTE)
			err = area_read(&ns, e->segments.v[i].offset,
					e->segments.v[i].filesz);
	elf_window_free(&ns.w);
	if (bad)
		*bad = ns.bad;
	return err ? err : e->err;
}

/* Names */

void usdt_name_fold(char *name)
{
	char *to = name;

	while (*name) {
		bool two = name[0] == '_' && name[1] == '_';

		*to++ = two ? '-' : *name;
		name += two ? 2 : 1;
	}
	*to = '\0';
}

/* One character of the folded name. */
static char fold_next(const char **p)
{
	const char *s = *p;
	bool two = s[0] == '_' && s[1] == '_';

	*p += two ? 2 : *s ? 1 : 0;
	return two ? '-' : *s;
}

bool usdt_name_is(const char *name, const char *wanted)
{
	char a, b;

	do {
		a = fold_next(&name);
		b = fold_next(&wanted);
	} while (a && a == b);
	return a == b;
}

/* The symbols that arguments name */

struct usdt_symbols {
	struct elf *e;
	struct elf_symtab table;
	bool have;
	uint64_t work;			/* that is left for the file */
	struct intern names;
	VEC(struct symbol_found {
		int err;
		uint64_t vaddr;
	}) found;			/* by number of the name */
	const char *name;		/* that is looked for */
	size_t len;
	struct symbol_found now;
	struct buf text;
};

static bool symbol_counts(const struct elf_symbol *s)
{
	return s->section && s->section != SHN_ABS && s->name &&
		(s->type == STT_NOTYPE || s->type == STT_OBJECT ||
		 s->type == STT_FUNC || s->type == STT_COMMON);
}

static int symbol_offer(void *arg, const struct elf_symbol *sym,
			uint32_t number)
{
	struct usdt_symbols *s = arg;

	(void)number;
	if (!symbol_counts(sym))
		return 0;
	if (s->work < s->len)
		return -EFBIG;
	s->work -= s->len;
	buf_reset(&s->text);
	if (elf_strings_head(s->e, &s->table.strings, sym->name, s->len + 1,
			     &s->text))
		return s->text.err;
	if (s->text.len != s->len || memcmp(s->text.data, s->name, s->len) ||
	    (!s->now.err && s->now.vaddr == sym->value))
		return 0;
	s->now.err = s->now.err == -ENOENT ? 0 : -ENOTUNIQ;
	s->now.vaddr = sym->value;
	return 0;
}

/* Read through the table for a name that was not asked for before. */
static struct symbol_found symbol_search(struct usdt_symbols *s,
					 const char *name, size_t n)
{
	int err;

	s->name = name;
	s->len = n;
	s->now = (struct symbol_found){ .err = -ENOENT };
	err = s->have ? elf_symtab_each(s->e, &s->table, &s->work,
					symbol_offer, s) : 0;
	if (err)
		s->now.err = err;
	return s->now;
}

static int symbol_find(void *arg, const char *name, size_t n, uint64_t *vaddr)
{
	struct usdt_symbols *s = arg;
	int64_t id = intern_put(&s->names, name, n);
	struct symbol_found *slot;

	if (id < 0)
		return (int)id;
	while (s->found.n <= (size_t)id) {
		slot = vec_push(&s->found);
		if (!slot)
			return -ENOMEM;
		*slot = (struct symbol_found){ .err = 1 };	/* not yet */
	}
	slot = &s->found.v[id];
	if (slot->err == 1)
		*slot = symbol_search(s, name, n);
	*vaddr = slot->vaddr;
	return slot->err;
}

struct usdt_symbols *usdt_symbols_new(struct elf *e)
{
	struct usdt_symbols *s = mem_zalloc(sizeof(*s));

	if (!s)
		return NULL;
	s->e = e;
	s->work = LOOK_UPS_MOST;
	s->have = elf_symtab_open(e, SHT_SYMTAB, &s->table, &s->work);
	return s;
}

void usdt_symbols_free(struct usdt_symbols *s)
{
	if (!s)
		return;
	if (s->have)
		elf_symtab_free(&s->table);
	intern_free(&s->names);
	vec_free(&s->found);
	buf_free(&s->text);
	mem_free(s);
}

void usdt_args(struct usdt_symbols *s, const struct usdt_note *n,
	       struct usdt_args *out)
{
	struct usdt_cpu cpu = {
		.machine = s->e->machine, .wide = s->e->wide,
		.fixed = s->e->type == ET_EXEC, .location = n->location,
		.symbol = symbol_find, .arg = s,
	};

	usdt_args_parse(&cpu, n->args, out);
}
