/* functions - the functions of an ELF file by name, for probes.
 *
 * What sym/elf.h keeps is one name for each address, which is what a stack
 * needs. A probe needs the other direction, with every alias; that is asked
 * once or twice in a run, so nothing is kept: the tables are read through.
 *
 * Both tables are, for each may lack what the other has: a stripped file has no
 * .symtab, and one with a .symtab of its own making (debug information for
 * backtraces only) may lack exports there. Instead of .symtab, Go's table of
 * functions (elf_go.c) and .gnu_debugdata (elf_debugdata.c) count. Versions of
 * names stand in the name itself in .symtab ("memcpy@@GLIBC_2.14"), and in two
 * sections of their own beside .dynsym: .gnu.version has a number for each
 * symbol, the top bit of which says that the bare name does not mean this one,
 * and .gnu.version_d has the names of the numbers.
 */
#include "sym/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/elf_file.h"

enum {
	VERSION_HIDDEN = 0x8000,
	VERSIONS_MAX = 0x7fff,
	COST_NAME = 64,
};

struct walk {
	struct elf *e;		/* whose tables are walked */
	struct elf *file;	/* whose code they are of */
	struct elf_symtab table;
	struct elf_window headers, versions;
	VEC(uint32_t) names;	/* of versions, by number; 0 = none */
	uint64_t work;
	bool whole;		/* there is a .symtab */
	struct buf name, version;
	int (*fn)(void *arg, const struct function *f);
	void *arg;
};

/* Versions */

/* Remember where the name of one version is. */
static int version_put(struct walk *w, uint16_t number, uint32_t name)
{
	number &= VERSIONS_MAX;
	while (w->names.n <= number) {
		uint32_t *slot = vec_push(&w->names);

		if (!slot)
			return -ENOMEM;
		*slot = 0;
	}
	w->names.v[number] = name;
	return 0;
}

/* Verdef: version, flags, ndx, cnt (16 bits each), hash, aux, next; the first
 * Verdaux, at aux, begins with the name. gABI's supplement on GNU versions. */
static int versions_read(struct walk *w)
{
	const struct elf_section *s = &w->table.verdef;
	uint64_t at = 0;
	int err = 0;

	for (unsigned i = 0; s->type && !err && i < VERSIONS_MAX; i++) {
		uint32_t aux, next;
		uint16_t number;
		const uint8_t *p;

		if (at >= s->size || s->offset > UINT64_MAX / 2)
			break;
		p = elf_peek(w->e, &w->versions, s->offset + at, 20);
		if (!p)
			break;
		number = elf_u16(w->e, p + 4);
		aux = elf_u32(w->e, p + 12);
		next = elf_u32(w->e, p + 16);
		p = elf_peek(w->e, &w->versions, s->offset + at + aux, 4);
		if (p)
			err = version_put(w, number, elf_u32(w->e, p));
		if (!next)
			break;
		at += next;
	}
	return err;
}

/* The version of dynamic symbol `number`. */
static int version_dynamic(struct walk *w, uint32_t number, struct function *f)
{
	const struct elf_section *s = &w->table.versym;
	const uint8_t *p = NULL;
	uint16_t version;

	if (s->type && s->offset <= UINT64_MAX / 2 && number < s->size / 2)
		p = elf_peek(w->e, &w->versions,
			     s->offset + 2 * (uint64_t)number, 2);
	if (!p)
		return 0;
	version = elf_u16(w->e, p);
	f->is_default = !(version & VERSION_HIDDEN);
	version &= VERSIONS_MAX;
	/* 0 and 1 are for symbols without a version. */
	if (version < 2 || version >= w->names.n || !w->names.v[version])
		return 0;
	buf_reset(&w->version);
	if (elf_strings_get(w->e, &w->table.strings, w->names.v[version],
			    &w->version))
		return w->version.err;
	f->version = buf_str(&w->version);
	return w->version.err;
}

/* Split "name@@VERSION" of .symtab. */
static void version_split(char *name, struct function *f)
{
	char *at = strchr(name + 1, '@');

	if (!at)
		return;
	f->is_default = at[1] == '@';
	*at = '\0';
	f->version = at + 1 + f->is_default;
}

/* Walking */

/* Labels of hand-written code have no type: those that are in an executable
 * section, and meant to be seen. */
static bool label_is_function(struct walk *w, const struct elf_symbol *s)
{
	struct elf_section section;

	if (s->type != STT_NOTYPE || (s->bind == STB_LOCAL && !s->size) ||
	    s->section >= SHN_LORESERVE || s->section >= w->e->shnum ||
	    !elf_section_read(w->e, &w->headers, s->section, &section))
		return false;
	return section.flags & SHF_EXECINSTR && s->value >= section.addr &&
		s->value - section.addr < section.size;
}

static bool symbol_place(struct walk *w, const struct elf_symbol *s,
			 struct function *f)
{
	bool function = s->type == STT_FUNC || s->type == STT_GNU_IFUNC;

	if (!s->name || s->section == SHN_ABS)
		return false;
	if (!s->section) {
		f->imported = true;
		return function || s->type == STT_NOTYPE;
	}
	if (!function && !label_is_function(w, s))
		return false;
	f->addr = s->value;
	if (w->e->machine == EM_ARM && function)
		f->addr &= ~(uint64_t)1;	/* Thumb code */
	f->size = s->size;
	return !elf_offset_in(w->file, f->addr, PF_X, &f->offset);
}

static int symbol_offer(void *arg, const struct elf_symbol *s, uint32_t number)
{
	struct walk *w = arg;
	struct function f = {
		.version = "", .is_default = true,
		.local = s->bind == STB_LOCAL,
		.indirect = s->type == STT_GNU_IFUNC,
	};
	int err;

	if (!symbol_place(w, s, &f))
		return 0;
	buf_reset(&w->name);
	err = elf_strings_get(w->e, &w->table.strings, s->name, &w->name);
	if (err)
		return err == -ENOMEM ? err : 0;
	if (w->work < COST_NAME + w->name.len)
		return -EFBIG;
	w->work -= COST_NAME + w->name.len;
	f.name = buf_str(&w->name);
	if (w->name.err)
		return w->name.err;
	if (w->table.section.type == SHT_SYMTAB)
		version_split(w->name.data, &f);
	else
		err = version_dynamic(w, number, &f);
	return err ? err : w->fn(w->arg, &f);
}

static int walk_table(struct walk *w, uint32_t type)
{
	int err;

	if (!elf_symtab_open(w->e, type, &w->table, &w->work))
		return w->work ? 0 : -EFBIG;
	w->whole |= type == SHT_SYMTAB;
	err = versions_read(w);
	if (!err)
		err = elf_symtab_each(w->e, &w->table, &w->work, symbol_offer,
				      w);
	elf_symtab_free(&w->table);
	w->names.n = 0;
	return err;
}

/* What is left where .symtab was taken away. */
static int walk_stripped(struct walk *w)
{
	int err = walk_table(w, SHT_GO);

	if (err)
		return err;
	w->e = elf_debugdata(w->file, &w->work);
	elf_window_free(&w->headers);
	if (!w->e)
		return w->work ? 0 : -EFBIG;
	return walk_table(w, SHT_SYMTAB);
}

static int walk_tables(struct elf *e, bool exports,
		       int (*fn)(void *arg, const struct function *f),
		       void *arg)
{
	struct walk w = {
		.e = e, .file = e, .fn = fn, .arg = arg,
		.work = ELF_WORK_MOST,
	};
	int err;

	w.headers.work = w.versions.work = &w.work;
	err = exports ? 0 : walk_table(&w, SHT_SYMTAB);
	if (!err)
		err = walk_table(&w, SHT_DYNSYM);
	if (!err && !exports && !w.whole)
		err = walk_stripped(&w);
	elf_window_free(&w.headers);
	elf_window_free(&w.versions);
	vec_free(&w.names);
	buf_free(&w.name);
	buf_free(&w.version);
	return err ? err : e->err;
}

int functions_each(struct elf *e,
		   int (*fn)(void *arg, const struct function *f), void *arg)
{
	return elf_is_object(e) ? 0 : walk_tables(e, false, fn, arg);
}

/* Lists */

void functions_free(struct function_list *list)
{
	vec_free(list);
	names_free(&list->names);
}

static int name_keep(struct function_list *list, const char **name)
{
	int64_t id = names_put(&list->names, *name, strlen(*name));

	if (id < 0)
		return (int)id;
	*name = names_text(&list->names, (uint32_t)id);
	return 0;
}

static int list_push(struct function_list *list, const struct function *f)
{
	struct function kept = *f, *slot;
	int err = name_keep(list, &kept.name);

	if (!err)
		err = name_keep(list, &kept.version);
	slot = err ? NULL : vec_push(list);
	if (slot)
		*slot = kept;
	return err ? err : slot ? 0 : -ENOMEM;
}

static int function_compare(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	int name;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	name = strcmp(x->name, y->name);
	if (name)
		return name;
	if (x->is_default != y->is_default)
		return x->is_default ? -1 : 1;
	return strcmp(y->version, x->version);	/* one before none */
}

/* Sort what begins at `from`; a name at an address once. */
static void list_settle(struct function_list *list, size_t from)
{
	size_t n = list->n - from, kept = 0;
	struct function *v;

	if (!n)
		return;
	v = list->v + from;
	qsort(v, n, sizeof(*v), function_compare);
	for (size_t i = 0; i < n; i++)
		if (!kept || v[kept - 1].addr != v[i].addr ||
		    strcmp(v[kept - 1].name, v[i].name))
			v[kept++] = v[i];
	list->n = from + kept;
}

struct collect {
	bool (*want)(void *arg, const char *name);
	void *arg;
	struct function_list *list;
};

static int collect_one(void *arg, const struct function *f)
{
	struct collect *c = arg;

	return f->imported || !c->want(c->arg, f->name) ? 0 :
		list_push(c->list, f);
}

int functions_collect(struct elf *e, bool (*want)(void *arg, const char *name),
		      void *arg, struct function_list *list)
{
	struct collect c = { want, arg, list };
	size_t from = list->n;
	int err = functions_each(e, collect_one, &c);

	list_settle(list, from);
	return err;
}

/* By name */

struct find {
	const char *name, *version;	/* "" = the default one */
	size_t len;			/* of name */
	bool bare, strict;		/* no '@'; "@@" */
	bool imported;
	struct function_list *list;
};

static int find_one(void *arg, const struct function *f)
{
	struct find *want = arg;

	if (strncmp(f->name, want->name, want->len) || f->name[want->len])
		return 0;
	want->imported |= f->imported;
	if (f->imported || (!want->bare && strcmp(f->version, want->version)) ||
	    (want->strict && !f->is_default))
		return 0;
	return list_push(want->list, f);
}

/* Where the bare name means one, the others only their versions' names do. */
static void find_settle(struct function_list *list, size_t from)
{
	bool any = false;
	size_t kept = from;

	for (size_t i = from; i < list->n; i++)
		any |= list->v[i].is_default;
	for (size_t i = from; i < list->n; i++)
		if (!any || list->v[i].is_default)
			list->v[kept++] = list->v[i];
	list->n = kept;
	list_settle(list, from);
}

int functions_find(struct elf *e, const char *name, struct function_list *list)
{
	const char *at = *name ? strchr(name + 1, '@') : NULL;
	bool strict = at && at[1] == '@';
	struct find f = {
		.name = name, .len = at ? (size_t)(at - name) : strlen(name),
		.version = at ? at + 1 + strict : "",
		.bare = !at, .strict = strict, .list = list,
	};
	size_t from = list->n;
	int err = functions_each(e, find_one, &f);

	if (err)
		return err;
	find_settle(list, from);
	if (list->n == from)
		return f.imported ? -ENXIO : -ENOENT;
	return list->v[from].addr == list->v[list->n - 1].addr ? 0 : -ENOTUNIQ;
}

static bool is_variant(void *arg, const char *name)
{
	const char *of = arg;
	size_t n = strlen(of);

	return !strncmp(name, of, n) && name[n] == '.';
}

int functions_variants(struct elf *e, const char *name,
		       struct function_list *list)
{
	return functions_collect(e, is_variant, (void *)name, list);
}

struct near_walk {
	struct near *near;
	size_t len;
	struct function_list *list;
};

static int near_one(void *arg, const struct function *f)
{
	struct near_walk *w = arg;
	size_t n = strlen(f->name), limit = w->len / 3 + 1;

	/* Lengths alone rule most out; near_distance() is not cheap. */
	if (f->imported || n + limit < w->len || n > w->len + limit)
		return 0;
	near_offer(w->near, f->name);
	if (w->near->best != f->name || !name_keep(w->list, &w->near->best))
		return 0;
	w->near->best = NULL;
	return -ENOMEM;
}

int functions_near(struct elf *e, struct near *near,
		   struct function_list *list)
{
	struct near_walk w = { near, strlen(near->wanted), list };

	return functions_each(e, near_one, &w);
}

static int export_one(void *arg, const struct function *f)
{
	return !f->imported && !f->local && !strcmp(f->name, arg);
}

bool functions_exports(struct elf *e, const char *name)
{
	return !elf_is_object(e) &&
		walk_tables(e, true, export_one, (void *)name) == 1;
}
