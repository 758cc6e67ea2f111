/* elf_table - the symbol table of a file: built once, then one search.
 *
 * What counts as code is in an executable section (an executable segment when
 * there are no section headers). .symtab is used when it has functions, else
 * .dynsym, which lacks the static ones; so a name holds within its symbol's
 * size only, or else what was stripped would get its neighbour's name. What a
 * stripped file has besides is added to that: Go's table of functions
 * (elf_go.c), and the file in .gnu_debugdata (elf_debugdata.c), whose table
 * stays its own: both are searched, and the innermost symbol counts. So does
 * the table of a debug file, which replaces all of these.
 *
 *  - Functions, indirect functions, and labels of hand-written code (NOTYPE)
 *    that are in the section they claim. Not symbols that are defined
 *    elsewhere, absolute ones, mapping symbols ($x, $d) and local labels (.L).
 *  - A symbol without a size reaches to the next symbol or the end of its
 *    section when it comes from .symtab; from .dynsym it holds for its own
 *    address alone, and from a .symtab that has lost its local symbols
 *    (strip -x). A label inside a sized function is a place in it, no name.
 *  - Of several names for the same bytes: functions before labels, global
 *    before weak before local, then the fewest leading underscores, then the
 *    shortest, then the first in the alphabet.
 *  - Of symbols inside or across each other the one that starts last, and of
 *    those the one that ends first, names the bytes that they share: the
 *    innermost. The overlaps are resolved while the table is built. A symbol
 *    that has others inside moves to `parts`, and its pieces refer to it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/elf_file.h"

enum {
	RANK_LABEL = 3,		/* added to a symbol's rank by binding */
	RANK_OPEN = 5,		/* in the end: of one that had no size */
	PLT_SECTIONS_MAX = 8,
	ALIASES_MAX = 4096,	/* names compared for the same bytes */
	HEAD = 16,		/* of names of which the beginning tells */
};

/* What building needs besides the table. */
struct load {
	struct elf *e;
	struct elf_window headers;
	struct elf_strings section_names;
	struct elf_section dynsym;	/* for the PLT; type 0 = none */
	uint32_t dynsym_number;
	uint32_t reading;		/* the type of the table */
	VEC(struct elf_section) plt, rela;
	bool rela_is_plt[PLT_SECTIONS_MAX];	/* beside `rela` */
	bool plt_got;				/* there is a .plt.got */
	struct buf name, other;
	size_t functions;
	bool locals;			/* .symtab has local symbols */
};

/* Sections */

int elf_spend(struct elf *e, uint64_t cost)
{
	return elf_afford(&e->work, cost) ? 0 : -EFBIG;
}

static int range_compare(const void *a, const void *b)
{
	const struct elf_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int range_add(struct elf *e, uint64_t start, uint64_t size,
		     uint32_t section)
{
	struct elf_range *r;

	if (!size)
		return 0;
	r = vec_push(&e->code);
	if (!r)
		return -ENOMEM;
	r->start = start;
	r->end = size > UINT64_MAX - start ? UINT64_MAX : start + size;
	r->section = section;
	return 0;
}

static int ranges_settle(struct elf *e)
{
	struct elf_range *r;
	int err = 0;

	for (size_t i = 0, n = e->code.n; !n && !err && i < e->segments.n;
	     i++) {
		const struct elf_segment *s = &e->segments.v[i];

		if (s->type == PT_LOAD && s->flags & PF_X)
			err = range_add(e, s->vaddr, s->memsz, 0);
	}
	if (err || !e->code.n)
		return err;
	r = e->code.v;
	qsort(r, e->code.n, sizeof(*r), range_compare);
	for (size_t i = 1; i < e->code.n; i++)
		if (r[i - 1].end > r[i].start)
			r[i - 1].end = r[i].start;
	return 0;
}

static const struct elf_range *range_find(struct elf *e, uint64_t addr)
{
	size_t low = 0, high = e->code.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (e->code.v[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || addr >= e->code.v[low - 1].end)
		return NULL;
	return &e->code.v[low - 1];
}

static bool strings_open_at(struct load *l, struct elf_strings *s, uint32_t i)
{
	struct elf_section section;

	s->work = &l->e->work;
	return i && i < l->e->shnum &&
		elf_section_read(l->e, &l->headers, i, &section) &&
		elf_strings_open(l->e, s, &section);
}

static const char *section_name(struct load *l, const struct elf_section *s)
{
	buf_reset(&l->name);
	elf_strings_head(l->e, &l->section_names, s->name, HEAD, &l->name);
	return buf_str(&l->name);
}

static bool name_is_plt(const char *name)
{
	return !strcmp(name, ".plt") || !strcmp(name, ".iplt") ||
		!strncmp(name, ".plt.", 5);
}

/* Keep an executable section as a range, and a .plt for later. */
static int section_code(struct load *l, const struct elf_section *s,
			uint32_t number)
{
	bool full = l->plt.n >= PLT_SECTIONS_MAX || s->type == SHT_NOBITS;
	const char *name = full ? "" : section_name(l, s);
	struct elf_section *slot;

	if (name_is_plt(name)) {
		l->plt_got |= !strcmp(name, ".plt.got");
		slot = vec_push(&l->plt);
		if (!slot)
			return -ENOMEM;
		*slot = *s;
	}
	return range_add(l->e, s->addr, s->size, number);
}

static int section_rela(struct load *l, const struct elf_section *s)
{
	struct elf_section *slot;

	if (l->rela.n >= PLT_SECTIONS_MAX)
		return 0;
	l->rela_is_plt[l->rela.n] = !strcmp(section_name(l, s), ".rela.plt");
	slot = vec_push(&l->rela);
	if (!slot)
		return -ENOMEM;
	*slot = *s;
	return 0;
}

static int section_take(struct load *l, const struct elf_section *s,
			uint32_t number)
{
	if (s->flags & SHF_COMPRESSED)
		return 0;
	if (s->type == SHT_DYNSYM && !l->dynsym.type) {
		l->dynsym = *s;
		l->dynsym_number = number;
	}
	if (s->type == SHT_RELA)
		return section_rela(l, s);
	return s->flags & SHF_EXECINSTR ? section_code(l, s, number) : 0;
}

static int sections_read(struct load *l)
{
	struct elf_section s;
	int err = 0;

	strings_open_at(l, &l->section_names, l->e->shstrndx);
	for (uint64_t i = 1; !err && i < l->e->shnum; i++) {
		if (!elf_section_read(l->e, &l->headers, i, &s))
			break;
		err = section_take(l, &s, (uint32_t)i);
	}
	return err;
}

/* Symbols */

int elf_entry_add(struct elf *e, uint64_t addr, uint64_t size, uint32_t name,
		  enum elf_kind kind, unsigned rank)
{
	const struct elf_range *r = range_find(e, addr);
	struct elf_entry *entry;

	if (!r)
		return 0;
	if (elf_spend(e, ELF_COST_KEEP))
		return -EFBIG;
	entry = vec_push(&e->entries);
	if (!entry)
		return -ENOMEM;
	if (size > r->end - addr)
		size = r->end - addr;
	if (size > ENTRY_SIZE_MAX)
		size = ENTRY_SIZE_MAX;
	*entry = (struct elf_entry){
		.addr = addr, .name = name, .size = (uint32_t)size & 0x7ffffff,
		.kind = kind & 3, .rank = rank & 7,
	};
	return 0;
}

/* ARM ELF 5.5.5, AArch64 ELF, RISC-V ELF: "$d", "$x.12", "$xrv64i2p1_..." */
static bool name_is_mapping(uint16_t machine, const char *name)
{
	const char *letters = machine == EM_ARM ? "atd" :
		machine == EM_AARCH64 || machine == EM_RISCV ? "xd" : "";

	if (name[0] != '$' || !name[1] || !strchr(letters, name[1]))
		return false;
	return !name[2] || name[2] == '.' ||
		(machine == EM_RISCV && !strncmp(name, "$xrv", 4));
}

/* A local NOTYPE symbol that only the assembler needed. */
static bool symbol_is_mark(struct load *l, const struct elf_symbol *s)
{
	const char *name;

	if (s->bind != STB_LOCAL || s->size)
		return false;
	buf_reset(&l->name);
	if (elf_strings_head(l->e, &l->e->strings, s->name, HEAD, &l->name))
		return false;
	name = buf_str(&l->name);
	return !strncmp(name, ".L", 2) ||
		name_is_mapping(l->e->machine, name);
}

static bool symbol_is_code(struct load *l, const struct elf_symbol *s,
			   const struct elf_range *r)
{
	if (!s->name || !s->section || (s->section >= SHN_LORESERVE &&
					s->section != SHN_XINDEX))
		return false;
	if (s->type == STT_FUNC || s->type == STT_GNU_IFUNC)
		return true;
	if (s->type != STT_NOTYPE)
		return false;
	if (r->section && s->section != SHN_XINDEX && s->section != r->section)
		return false;
	return !symbol_is_mark(l, s);
}

static int symbol_take(void *arg, const struct elf_symbol *given,
		       uint32_t number)
{
	struct load *l = arg;
	struct elf_symbol s = *given;
	bool label = s.type == STT_NOTYPE;
	const struct elf_range *r;
	unsigned rank;

	(void)number;
	l->locals |= s.bind == STB_LOCAL && s.type <= STT_FUNC;
	if (l->e->machine == EM_ARM && !label)
		s.value &= ~(uint64_t)1;	/* Thumb code */
	r = range_find(l->e, s.value);
	if (!r || !symbol_is_code(l, &s, r))
		return 0;
	if (l->reading == SHT_DYNSYM && !s.size)
		s.size = 1;
	rank = s.bind == STB_WEAK ? 1 : s.bind == STB_LOCAL ? 2 : 0;
	l->functions += !label;
	return elf_entry_add(l->e, s.value, s.size, s.name,
			     l->reading == SHT_GO ? KIND_GO : KIND_SYMBOL,
			     rank + (label ? RANK_LABEL : 0));
}

/* Read one table; its strings become *strings. */
static int symbols_read(struct load *l, uint32_t type,
			struct elf_strings *strings)
{
	struct elf *e = l->e;
	struct elf_symtab t;
	int err;

	l->reading = type;
	if (!elf_symtab_open(e, type, &t, &e->work))
		return 0;
	*strings = t.strings;
	t.strings = (struct elf_strings){ 0 };
	err = elf_symtab_each(e, &t, &e->work, symbol_take, l);
	elf_symtab_free(&t);
	return err;
}

static int debugdata_load(struct load *l)
{
	struct elf *within = elf_debugdata(l->e, &l->e->work);
	int err = within ? elf_load(within, &l->e->work) : 0;

	if (within && !err)
		l->functions += elf_symbols(within);
	return err;
}

/* Nothing tells what lies behind a symbol without a size. */
static void entries_close(struct elf_entries *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (!t->v[i].size)
			t->v[i].size = 1;
}

/* .symtab when it has functions; else what .dynsym, Go's table and debugdata
 * have; else the labels of .symtab. */
static int symbols_choose(struct load *l)
{
	struct elf *e = l->e;
	struct elf_entries labels;
	struct elf_strings strings;
	int err = symbols_read(l, SHT_SYMTAB, &e->strings);

	if (!l->locals)
		entries_close(&e->entries);
	if (err || l->functions || e->within)
		return err;
	/* A debug file has the whole .symtab. */
	if (e->debugdata)
		err = debugdata_load(l);
	if (err || l->functions)
		return err;
	labels = e->entries;
	strings = e->strings;
	memset(&e->entries, 0, sizeof(e->entries));
	memset(&e->strings, 0, sizeof(e->strings));
	err = symbols_read(l, SHT_DYNSYM, &e->strings);
	if (!err)
		err = symbols_read(l, SHT_GO, &e->go_strings);
	if (!err)
		err = debugdata_load(l);
	if (!err && !l->functions && labels.n) {
		struct elf_entries none = e->entries;

		e->entries = labels;
		labels = none;
		elf_strings_free(&e->strings);
		e->strings = strings;
		strings = (struct elf_strings){ 0 };
	}
	vec_free(&labels);
	elf_strings_free(&strings);
	return err;
}

/* The relocations that fill slots: .rela.plt; for .plt.got alone also those
 * of .rela.dyn, which are many. */
static int plt_relocs(struct load *l, struct elf_plt *plt)
{
	int err = 0;

	if (!l->dynsym_number ||
	    !strings_open_at(l, &l->e->plt_strings, l->dynsym.link))
		return 0;
	for (size_t i = 0; !err && i < l->rela.n; i++)
		if (l->rela.v[i].link == l->dynsym_number &&
		    (l->rela_is_plt[i] || l->plt_got))
			err = elf_plt_relocs(l->e, plt, &l->rela.v[i],
					     l->rela_is_plt[i]);
	return err;
}

static int plt_read(struct load *l)
{
	struct elf_plt plt = { .symbols = l->dynsym };
	int err = l->plt.n ? plt_relocs(l, &plt) : 0;

	elf_plt_sort(&plt);
	for (size_t i = 0; !err && i < l->plt.n; i++)
		err = elf_plt_stubs(l->e, &plt, &l->plt.v[i]);
	elf_plt_free(&plt);
	return err;
}

/* Order and aliases */

static bool entry_before(const struct elf_entry *x, const struct elf_entry *y)
{
	if (x->addr != y->addr)
		return x->addr < y->addr;
	if (x->size != y->size)
		return x->size > y->size;
	if (x->rank != y->rank)
		return x->rank < y->rank;
	return x->name < y->name;
}

/* Merge the sorted a[0..n) and b[0..m) into `to`. */
static void entries_merge(struct elf_entry *to, const struct elf_entry *a,
			  size_t n, const struct elf_entry *b, size_t m)
{
	if (n && m && !entry_before(b, a + n - 1)) {
		memcpy(to, a, (n + m) * sizeof(*to));	/* b follows a */
		return;
	}
	while (n && m) {
		if (entry_before(b, a)) {
			*to++ = *b++;
			m--;
		} else {
			*to++ = *a++;
			n--;
		}
	}
	memcpy(to, a, n * sizeof(*to));
	memcpy(to + n, b, m * sizeof(*to));
}

/* A merge sort: tables have millions of entries, often partly in order, and
 * qsort() is slow here. 0 or -ENOMEM. */
static int entries_sort(struct elf_entries *e)
{
	struct elf_entry *from = e->v, *to, *room;
	size_t n = e->n;

	if (n < 2)
		return 0;
	room = mem_zalloc(n * sizeof(*room));
	if (!room)
		return -ENOMEM;
	to = room;
	for (size_t run = 1; run < n; run *= 2) {
		struct elf_entry *swap = from;

		for (size_t i = 0; i < n; i += 2 * run) {
			size_t a = n - i < run ? n - i : run;
			size_t b = n - i - a < run ? n - i - a : run;

			entries_merge(to + i, from + i, a, from + i + a, b);
		}
		from = to;
		to = swap;
	}
	if (from == room)
		memcpy(e->v, room, n * sizeof(*room));
	mem_free(room);
	return 0;
}

static bool name_better(struct buf *a, struct buf *b)
{
	const char *x = buf_str(a), *y = buf_str(b);
	size_t lead_x = strspn(x, "_"), lead_y = strspn(y, "_");

	if (lead_x != lead_y)
		return lead_x < lead_y;
	return a->len != b->len ? a->len < b->len : strcmp(x, y) < 0;
}

static int entry_name(struct elf *e, const struct elf_entry *entry,
		      struct buf *out)
{
	struct elf_sym sym = { .name = entry->name, .kind = entry->kind };

	int err;

	buf_reset(out);
	err = elf_name(e, &sym, out);
	if (elf_spend(e, out->len))
		return -EFBIG;
	return err;
}

/* Of n entries for the same bytes, sorted by rank, the best. */
static struct elf_entry entry_best(struct load *l, const struct elf_entry *v,
				   size_t n)
{
	struct elf_entry best = v[0];
	bool known = n < 2 || !entry_name(l->e, &best, &l->name);

	if (n > ALIASES_MAX)
		n = ALIASES_MAX;
	for (size_t i = 1; i < n && l->e->work; i++) {
		struct buf swap;

		if (known && v[i].rank != best.rank)
			break;
		if (v[i].name == best.name ||
		    entry_name(l->e, &v[i], &l->other) ||
		    (known && !name_better(&l->other, &l->name)))
			continue;
		best = v[i];
		known = true;
		swap = l->name;
		l->name = l->other;
		l->other = swap;
	}
	return best;
}

/* Give a symbol without size its reach. False when it is a label inside the
 * symbols before it, which end at `end`, or has a sized one beside it. */
static bool entry_extend(struct load *l, struct elf_entry *entry,
			 const struct elf_entry *next, uint64_t end)
{
	const struct elf_entry *last = l->e->entries.n ?
		&l->e->entries.v[l->e->entries.n - 1] : NULL;
	uint64_t limit = range_find(l->e, entry->addr)->end;

	if ((last && last->addr == entry->addr) ||
	    (entry->rank >= RANK_LABEL && entry->addr < end))
		return false;
	if (entry->addr < end && end < limit)
		limit = end;
	if (next && next->addr < limit)
		limit = next->addr;
	limit -= entry->addr;
	entry->rank = RANK_OPEN;
	entry->size = limit < ENTRY_SIZE_MAX ? limit & 0x7ffffff :
		ENTRY_SIZE_MAX;
	return true;
}

/* Sort; one entry for the same bytes; a size for each. 0 or -ENOMEM. */
static int entries_settle(struct load *l)
{
	struct elf_entry *v = l->e->entries.v, best;
	size_t n = l->e->entries.n, i, next;
	int err = entries_sort(&l->e->entries);
	uint64_t end = 0;

	l->e->entries.n = 0;
	if (err)
		return err;
	for (i = 0; i < n && l->e->work; i = next) {
		for (next = i + 1; next < n && v[next].addr == v[i].addr &&
		     v[next].size == v[i].size; next++)
			;
		best = entry_best(l, v + i, next - i);
		if (!best.size && !entry_extend(l, &best, next < n ?
						v + next : NULL, end))
			continue;
		v[l->e->entries.n++] = best;
		if (best.addr + best.size > end)
			end = best.addr + best.size;
	}
	return l->e->work ? 0 : -EFBIG;
}

/* Overlaps */

struct flatten {
	struct elf *e;
	struct elf_entries out;
	VEC(struct open_symbol {
		struct elf_entry entry;
		uint32_t part;		/* its number in parts, or NAME_NONE */
	}) open;			/* innermost last */
	uint64_t at;			/* all before it is done */
};

/* Put out the piece of a symbol from f->at to `to`. */
static int piece_add(struct flatten *f, struct open_symbol *s, uint64_t to)
{
	struct elf_entry *out = vec_push(&f->out), *part;

	if (!out)
		return -ENOMEM;
	*out = s->entry;
	if (f->at == s->entry.addr && to == s->entry.addr + s->entry.size)
		return 0;
	if (s->part == NAME_NONE) {
		part = vec_push(&f->e->parts);
		if (!part)
			return -ENOMEM;
		*part = s->entry;
		s->part = (uint32_t)(f->e->parts.n - 1);
	}
	out->addr = f->at;
	out->size = (to - f->at) & 0x7ffffff;
	out->kind = KIND_PART;
	out->name = s->part;
	return 0;
}

/* All symbols that start before `to` are open: put out what is before it. */
static int flatten_until(struct flatten *f, uint64_t to)
{
	int err = 0;

	while (!err && f->open.n) {
		struct open_symbol *s = &f->open.v[f->open.n - 1];
		uint64_t end = s->entry.addr + s->entry.size;
		uint64_t stop = end < to ? end : to;

		if (f->at < stop) {
			err = piece_add(f, s, stop);
			f->at = stop;
		}
		if (end > to)
			return err;
		f->open.n--;
	}
	f->at = to;
	return err;
}

static bool entries_overlap(struct elf *e)
{
	const struct elf_entry *v = e->entries.v;

	for (size_t i = 1; i < e->entries.n; i++)
		if (v[i].addr < v[i - 1].addr + v[i - 1].size)
			return true;
	return false;
}

static int entries_flatten(struct elf *e)
{
	struct flatten f = { .e = e };
	int err = 0;

	if (!entries_overlap(e))
		return 0;
	for (size_t i = 0; !err && i < e->entries.n; i++) {
		struct open_symbol *s;

		err = flatten_until(&f, e->entries.v[i].addr);
		s = err ? NULL : vec_push(&f.open);
		if (!err && !s)
			err = -ENOMEM;
		if (!err)
			*s = (struct open_symbol){ e->entries.v[i], NAME_NONE };
	}
	if (!err)
		err = flatten_until(&f, UINT64_MAX);
	vec_free(&f.open);
	vec_free(&e->entries);
	e->entries = f.out;
	return err;
}

static int table_build(struct elf *e)
{
	struct load l = { .e = e };
	int err = sections_read(&l);

	if (!err)
		err = ranges_settle(e);
	if (!err)
		err = symbols_choose(&l);
	if (!err)
		err = plt_read(&l);
	if (!err)
		err = entries_settle(&l);
	if (!err)
		err = entries_flatten(e);
	elf_window_free(&l.headers);
	elf_strings_free(&l.section_names);
	vec_free(&l.plt);
	vec_free(&l.rela);
	buf_free(&l.name);
	buf_free(&l.other);
	return err;
}

int elf_load(struct elf *e, uint64_t *work)
{
	int err = 0;

	if (e->loaded)
		return 0;
	e->loaded = true;
	e->work = *work < ELF_WORK_MOST ? *work : ELF_WORK_MOST;
	*work -= e->work;
	if (!elf_is_object(e))
		err = table_build(e);
	if (!err)
		err = e->err;
	*work += e->work;
	if (err) {	/* half a table could name wrongly */
		vec_free(&e->entries);
		vec_free(&e->parts);
		elf_close(e->debugdata);
		e->debugdata = NULL;
	}
	return err;
}

static int load_alone(struct elf *e)
{
	uint64_t work = ELF_WORK_MOST;

	return elf_load(e, &work);
}


/* Questions */

/* The last piece that starts at or before the address. */
static const struct elf_entry *piece_find(const struct elf *e, uint64_t vaddr)
{
	size_t low = 0, high = e->entries.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (e->entries.v[mid].addr <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &e->entries.v[low - 1] : NULL;
}

/* The symbol of a piece that contains the address; NULL: it does not. */
static const struct elf_entry *piece_symbol(const struct elf *e,
					    const struct elf_entry *piece,
					    uint64_t vaddr)
{
	if (!piece || vaddr - piece->addr >= piece->size)
		return NULL;
	return piece->kind == KIND_PART ? &e->parts.v[piece->name] : piece;
}

/* Does a symbol of debugdata name the address rather than the file's own table?
 * That has `own`, or else `before` starts last before the address. A symbol
 * without a size of its own does not know of the other table's. */
static bool debugdata_names(const struct elf_entry *s,
			    const struct elf_entry *own,
			    const struct elf_entry *before)
{
	if (s->rank == RANK_OPEN)
		return !own && (!before || before->addr <= s->addr);
	return !own || s->addr > own->addr ||
		(s->addr == own->addr && s->size < own->size);
}

int elf_find(struct elf *e, uint64_t vaddr, struct elf_sym *out)
{
	const struct elf_entry *before, *own, *within = NULL;
	int err = load_alone(e);

	if (err)
		return err;
	before = piece_find(e, vaddr);
	own = piece_symbol(e, before, vaddr);
	if (e->debugdata && range_find(e, vaddr))
		within = piece_symbol(e->debugdata,
				      piece_find(e->debugdata, vaddr), vaddr);
	if (within && debugdata_names(within, own, before))
		own = within;
	if (!own)
		return -ENOENT;
	*out = (struct elf_sym){
		.value = own->addr, .size = own->size, .name = own->name,
		.kind = own->kind | (own == within ? KIND_DEBUGDATA : 0),
	};
	return 0;
}

/* .symtab has versions within the names: "memcpy@@GLIBC_2.14". */
static int symbol_name(struct elf *e, uint32_t name, struct buf *out)
{
	size_t start = out->len + 1;
	int err = elf_strings_get(e, &e->strings, name, out);
	const char *at = err || out->len <= start ? NULL :
			 memchr(out->data + start, '@', out->len - start);

	if (at)
		out->len = (size_t)(at - out->data);
	return err;
}

int elf_name(struct elf *e, const struct elf_sym *sym, struct buf *out)
{
	unsigned kind = sym->kind & ~(unsigned)KIND_DEBUGDATA;
	int err;

	if (sym->kind & KIND_DEBUGDATA)
		e = e->debugdata;
	if (kind == KIND_SYMBOL)
		return symbol_name(e, sym->name, out);
	if (kind == KIND_GO)
		return elf_strings_get(e, &e->go_strings, sym->name, out);
	if (sym->name == NAME_NONE) {
		buf_puts(out, "[plt]");
		return out->err;
	}
	err = elf_strings_get(e, &e->plt_strings, sym->name, out);
	if (!err)
		buf_puts(out, "@plt");
	return err ? err : out->err;
}

bool elf_is_code(struct elf *e, uint64_t vaddr)
{
	load_alone(e);
	return range_find(e, vaddr);
}

size_t elf_symbols(struct elf *e)
{
	load_alone(e);
	if (!e->debugdata)
		return e->entries.n;
	return e->entries.n + elf_symbols(e->debugdata) +
		(e->debugdata->image ? (size_t)e->debugdata->size /
		 sizeof(struct elf_entry) : 0);
}
