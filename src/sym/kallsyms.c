/* kallsyms - kernel addresses to names, by /proc/kallsyms and /proc/modules.
 *
 * A row of kallsyms is an address, a type as of nm(1), a name and perhaps a
 * module. There are no sizes, and many rows are no functions, so the work is
 * to know where a name stops:
 *
 *  - Only t, T, w and W are code. Rows of data become borders: the function
 *    before them ends there. Absolute rows ('a') are numbers, not places; rows
 *    below 64 KiB are per-CPU offsets or hidden; in a kernel that lives in the
 *    upper half of the address space, no row of the lower half is a place.
 *    Mapping symbols ($x, $d) and local labels (.L) mark, but do not name.
 *  - The kernel's text ends at _etext and _einittext, a module's at its base
 *    plus its size. Since 6.4 that size counts all memory of the module while
 *    the base is that of its text alone, so it is an upper limit, which the
 *    next module's base and the borders cut further.
 *  - Nothing tells the end of a BPF program, a trampoline or a module without
 *    a listed base. They hold to the next symbol, but no further than to the
 *    end of the page after the one they start in; what lies beyond may be code
 *    that was loaded later.
 *
 * Of the names at one address the best is kept: section markers last, global
 * (T) before the rest, then the fewest leading underscores and dots ("__pi_"
 * counts as the worst), then the shortest, then the first in the alphabet.
 *
 * The kernel makes the text of 120,000 rows in 60 ms; parsing takes a tenth of
 * that, and sorting nothing where rows come sorted, as those of the kernel
 * proper do. A symbol costs 16 bytes and its name, if that is not the end of
 * the name before.
 */
#include "sym/kallsyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/num.h"
#include "base/vec.h"

enum {
	LINE_MAX_BYTES = 1 << 16,	/* longer lines are no rows */
	LIST_MOST = 256 << 20,		/* bytes; no kernel has 30 MB of it */
	NAMES_MAX = 1 << 28,
	LOWEST = 1 << 16,		/* no kernel has code below it */
	STEXT_WITHIN = 16384,		/* rows; per-CPU ones may come first */
	PAGE = 4096,
};

/* A code symbol, or a border (type 0) where code ends. */
struct entry {
	uint64_t addr;
	uint32_t name;		/* offset into names */
	uint16_t module;	/* number in modules + 1; 0 = the kernel */
	char type;
};

struct region {
	uint64_t start, end;
	uint16_t module;
};

struct kallsyms {
	VEC(struct entry) entries;
	size_t sorted;		/* the first so many are in order */
	struct buf names;
	size_t last_name;	/* where the last of them starts */
	struct intern modules;
	VEC(struct region) regions;	/* sorted, apart from each other */
	struct region text, init;	/* the kernel's own; empty = unknown */
	uint64_t stext;
	bool upper_half;
	bool seen_address;
	size_t rows;
	struct kallsyms_counts counts;
};

struct row {
	uint64_t addr;
	char type;
	const char *name, *module;
	size_t name_len, module_len;	/* module_len 0 = none */
};

/* Lines */

/* *end can be read; it is the newline, or nothing in particular. */
typedef int line_fn(struct kallsyms *k, const char *line, const char *end);

static ssize_t read_some(int fd, char *to, size_t n)
{
	ssize_t got;

	do
		got = read(fd, to, n);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* Hand out the lines that data[0..n) completes; returns how many bytes remain
 * of the last. A line that fills the buffer is given away in pieces, which are
 * no rows, except perhaps the last: *skip throws that one away, too. */
static int lines_split(struct kallsyms *k, line_fn *fn, char *data, size_t *n,
		       bool *skip)
{
	char *p = data, *end = data + *n, *nl;
	int err = 0;

	while (!err && (nl = memchr(p, '\n', (size_t)(end - p)))) {
		if (!*skip)
			err = fn(k, p, nl);
		*skip = false;
		p = nl + 1;
	}
	*n = (size_t)(end - p);
	if (*n == LINE_MAX_BYTES) {
		if (!*skip)
			err = fn(k, p, p);
		*skip = true;
		*n = 0;
	}
	memmove(data, p, *n);
	return err;
}

static int lines_each(struct kallsyms *k, int fd, line_fn *fn)
{
	char *data = mem_zalloc(LINE_MAX_BYTES + 1);
	bool skip = false;
	size_t n = 0, read_in_all = 0;
	ssize_t got;
	int err = 0;

	if (!data)
		return -ENOMEM;
	while ((got = read_some(fd, data + n, LINE_MAX_BYTES - n)) > 0) {
		n += (size_t)got;
		read_in_all += (size_t)got;
		if (read_in_all > LIST_MOST)
			err = -EFBIG;
		if (err)
			break;
		err = lines_split(k, fn, data, &n, &skip);
		if (err)
			break;
	}
	if (!err && got < 0)
		err = (int)got;
	if (!err && n && !skip)		/* no newline at the end */
		err = fn(k, data, data + n);
	mem_free(data);
	return err;
}

/* Rows of kallsyms */

/* num_hex() without its division: this runs for two million digits. */
static const char *hex_addr(const char *p, const char *end, uint64_t *out)
{
	static const signed char value[256] = {
		['0'] = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
		['A'] = 11, 12, 13, 14, 15, 16,
		['a'] = 11, 12, 13, 14, 15, 16,
	};
	const char *start = p;
	uint64_t n = 0;
	int digit;

	for (; p < end && (digit = value[(unsigned char)*p]); p++)
		n = n << 4 | (unsigned)(digit - 1);
	*out = n;
	return p > start && p - start <= 16 ? p : NULL;
}

/* The end of a word: names hold no blanks and no control characters. */
static const char *word_end(const char *p, const char *end)
{
	while (p < end && (unsigned char)*p > ' ')
		p++;
	return p;
}

/* "ffffffffc0000000 t name\t[module]" */
static bool row_parse(const char *p, const char *end, struct row *r)
{
	p = hex_addr(p, end, &r->addr);
	if (!p || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return false;
	r->type = p[1];
	r->name = p + 3;
	p = word_end(r->name, end);
	r->name_len = (size_t)(p - r->name);
	r->module_len = 0;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (p < end) {
		r->module = p + 1;
		p = word_end(p, end);
		if (p != end || p - r->module < 2 || r->module[-1] != '[' ||
		    p[-1] != ']')
			return false;
		r->module_len = (size_t)(p - r->module) - 1;
	}
	return r->name_len > 0;
}

static bool type_is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

static bool type_is_data(char type)
{
	return type && strchr("rRdDbBvVgGsS", type);
}

/* What the assembler leaves behind: $x and its like, .L labels, L0^A. */
static bool row_is_label(const struct row *r)
{
	return r->name[0] == '$' ||
		(r->name_len > 1 && r->name[0] == '.' && r->name[1] == 'L');
}

static bool name_is(const struct row *r, const char *name)
{
	return r->name_len == strlen(name) &&
		!memcmp(r->name, name, r->name_len);
}

/* Take note of the markers of the kernel's text. True for those that stand at
 * an end and therefore name nothing. */
static bool row_is_end(struct kallsyms *k, const struct row *r)
{
	uint64_t *end;

	/* Nearly all names leave here. */
	if (r->name[0] != '_' || r->name_len > 10 || r->module_len)
		return false;
	if ((name_is(r, "_text") || name_is(r, "_stext")) &&
	    (!k->text.start || r->addr < k->text.start))
		k->text.start = r->addr;
	if (name_is(r, "_stext"))
		k->stext = r->addr;
	if (name_is(r, "_sinittext"))
		k->init.start = r->addr;
	end = name_is(r, "_etext") ? &k->text.end :
	      name_is(r, "_einittext") ? &k->init.end : NULL;
	if (end)
		*end = r->addr;
	return end;
}

/* The module's number + 1, or -errno. */
static int64_t row_module(struct kallsyms *k, const struct row *r)
{
	int64_t id;

	if (!r->module_len)
		return 0;
	id = intern_put(&k->modules, r->module, r->module_len);
	if (id >= UINT16_MAX)
		return -EFBIG;
	return id < 0 ? id : id + 1;
}

/* Keep the name; 0 or -errno, the place in *at. Nearly half of the rows of some
 * kernels are "__pfx_f" before "f": the end of the name before serves. */
static int name_add(struct kallsyms *k, const struct row *r, uint32_t *at)
{
	size_t size = r->name_len + 1, last = k->names.len - k->last_name;

	if (last >= size && !memcmp(k->names.data + k->names.len - size,
				    r->name, r->name_len)) {
		*at = (uint32_t)(k->names.len - size);
		return 0;
	}
	*at = (uint32_t)k->names.len;
	k->last_name = k->names.len;
	/* With the byte after it, where the NUL goes. */
	buf_mem(&k->names, r->name, size);
	if (!k->names.err)
		k->names.data[k->names.len - 1] = '\0';
	return k->names.len > NAMES_MAX ? -EFBIG : k->names.err;
}

static int entry_add(struct kallsyms *k, const struct row *r, char type)
{
	int64_t module = row_module(k, r);
	size_t n = k->entries.n;
	struct entry *e = n ? &k->entries.v[n - 1] : NULL;
	bool in_order = !e || e->addr <= r->addr;

	if (module < 0)
		return (int)module;
	/* One border before the kernel's data is enough. */
	if (e && !type && !e->type && in_order && !module && !e->module)
		return 0;
	e = vec_push(&k->entries);
	if (!e)
		return -ENOMEM;
	*e = (struct entry){
		.addr = r->addr, .module = (uint16_t)module, .type = type,
	};
	if (in_order && k->sorted == n)
		k->sorted++;
	return type ? name_add(k, r, &e->name) : 0;
}

static int row_read(struct kallsyms *k, const char *line, const char *end)
{
	struct row r;
	bool code;

	if (!row_parse(line, end, &r)) {
		k->counts.bad_rows++;
		return 0;
	}
	k->rows++;
	k->seen_address |= r.addr != 0;
	code = type_is_code(r.type);
	if (r.addr < LOWEST || !(code || type_is_data(r.type)) ||
	    row_is_label(&r))
		return 0;
	if (code && row_is_end(k, &r))
		return 0;
	if (code && !r.module_len)
		k->upper_half |= r.addr >> 63;
	return entry_add(k, &r, code ? r.type : 0);
}

/* Rows of /proc/modules */

/* The next of the words that single blanks part; NULL when there is none. */
static const char *word_next(const char **p, const char *end)
{
	const char *word = *p;

	*p = word_end(word, end);
	if (*p == word)
		return NULL;
	if (*p < end && **p == ' ')
		++*p;
	return word;
}

/* "name 16384 2 a,b, Live 0xffffffffc0000000 (POE)": anything may stand for
 * the references and the state, and zero for the base when it is hidden. */
static bool module_parse(const char *p, const char *end, struct row *r,
			 uint64_t *size)
{
	const char *word;

	r->module = word_next(&p, end);
	if (!r->module)
		return false;
	r->module_len = (size_t)(word_end(r->module, end) - r->module);
	word = word_next(&p, end);
	if (!word || num_dec(word, end, size) != word_end(word, end))
		return false;
	if (!word_next(&p, end) || !word_next(&p, end) || !word_next(&p, end))
		return false;
	word = word_next(&p, end);
	if (!word || end - word < 3 || word[0] != '0' || word[1] != 'x')
		return false;
	return hex_addr(word + 2, end, &r->addr) == word_end(word, end);
}

static int module_read(struct kallsyms *k, const char *line, const char *end)
{
	struct region *region;
	uint64_t size = 0;
	int64_t module;
	struct row r;

	if (!module_parse(line, end, &r, &size)) {
		k->counts.bad_modules++;
		return 0;
	}
	k->counts.modules++;
	module = row_module(k, &r);
	if (module < 0)
		return (int)module;
	if (r.addr < LOWEST || !size)
		return 0;
	region = vec_push(&k->regions);
	if (!region)
		return -ENOMEM;
	*region = (struct region){
		.start = r.addr, .module = (uint16_t)module,
		.end = size > UINT64_MAX - r.addr ? UINT64_MAX : r.addr + size,
	};
	return 0;
}

/* Order */

static int entry_compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static int region_compare(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void entries_reverse(struct entry *v, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct entry e = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = e;
	}
}

/* The kernel's rows come sorted; those of modules and BPF programs after them
 * do not, but lie on one side of the kernel's. So only they are sorted, then
 * moved when that side is below. */
static void entries_sort(struct kallsyms *k)
{
	struct entry *v = k->entries.v;
	size_t head = k->sorted, n = k->entries.n, first = head;

	if (head == n)
		return;
	qsort(v + head, n - head, sizeof(*v), entry_compare);
	if (v[n - 1].addr <= v[0].addr) {
		entries_reverse(v, head);
		entries_reverse(v + head, n - head);
		entries_reverse(v, n);
		return;
	}
	while (first && v[first - 1].addr > v[head].addr)
		first--;
	if (first < head)
		qsort(v + first, n - first, sizeof(*v), entry_compare);
}

/* _text, __irqentry_text_start, __entry_text_end, __init_begin, ... */
static bool name_is_marker(const char *name, size_t len)
{
	static const char *const ends[] = {
		"text", "_start", "_end", "_begin",
	};

	if (name[0] != '_')
		return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t n = strlen(ends[i]);

		if (len > n && !memcmp(name + len - n, ends[i], n))
			return true;
	}
	return false;
}

/* How much another name is preferred to this one. */
static unsigned name_badness(const struct entry *e, const char *name)
{
	size_t lead = strspn(name, "_."), len = strlen(name);
	unsigned bad = lead < 255 ? (unsigned)lead : 255;

	if (!strncmp(name, "__pi_", 5))
		bad += 256;
	if (e->type != 'T')
		bad += 1024;
	if (name_is_marker(name, len))
		bad += 2048;
	return bad;
}

static bool entry_better(const struct kallsyms *k, const struct entry *a,
			 const struct entry *b)
{
	const char *x, *y;
	unsigned bad_x, bad_y;
	size_t len_x, len_y;

	if (!a->type || !b->type)
		return a->type;
	x = k->names.data + a->name;
	y = k->names.data + b->name;
	bad_x = name_badness(a, x);
	bad_y = name_badness(b, y);
	if (bad_x != bad_y)
		return bad_x < bad_y;
	len_x = strlen(x);
	len_y = strlen(y);
	return len_x != len_y ? len_x < len_y : strcmp(x, y) < 0;
}

/* One entry per address, and none in the lower half of a kernel that lives in
 * the upper. */
static void entries_settle(struct kallsyms *k)
{
	struct entry *v = k->entries.v;
	size_t n = 0;

	for (size_t i = 0; i < k->entries.n; i++) {
		if (k->upper_half && !(v[i].addr >> 63))
			continue;
		if (n && v[n - 1].addr == v[i].addr) {
			if (entry_better(k, &v[i], &v[n - 1]))
				v[n - 1] = v[i];
			continue;
		}
		v[n++] = v[i];
	}
	k->entries.n = n;
	for (size_t i = 0; i < n; i++)
		k->counts.symbols += v[i].type != 0;
}

/* As far as a name is trusted without a known end. */
static uint64_t reach(uint64_t addr)
{
	uint64_t page = addr - addr % PAGE;

	return page > UINT64_MAX - 2 * PAGE ? UINT64_MAX : page + 2 * PAGE;
}

/* Without _text or _etext (a list that was cut): from the first to the last
 * of the kernel's own symbols. */
static void text_guess(struct kallsyms *k)
{
	uint64_t first = 0, last = 0;

	for (size_t i = 0; i < k->entries.n; i++) {
		const struct entry *e = &k->entries.v[i];

		if (!e->type || e->module)
			continue;
		if (!first)
			first = e->addr;
		last = e->addr;
	}
	if (!k->text.start)
		k->text.start = first;
	if (k->text.end <= k->text.start)
		k->text.end = last >= k->text.start ? reach(last) : 0;
}

static int regions_settle(struct kallsyms *k)
{
	struct region own[] = { k->text, k->init }, *r;

	for (int i = 0; i < 2; i++) {
		if (own[i].end <= own[i].start)
			continue;
		r = vec_push(&k->regions);
		if (!r)
			return -ENOMEM;
		*r = own[i];
	}
	r = k->regions.v;
	if (k->regions.n)
		qsort(r, k->regions.n, sizeof(*r), region_compare);
	for (size_t i = 1; i < k->regions.n; i++)
		if (r[i - 1].end > r[i].start)
			r[i - 1].end = r[i].start;
	return 0;
}

/* Errors are negative: 1 ends the reading. */
static int row_look(struct kallsyms *k, const char *line, const char *end)
{
	struct row r;

	if (!row_parse(line, end, &r))
		return 0;
	k->rows++;
	return r.addr != 0;
}

int kallsyms_try(int kallsyms_fd)
{
	struct kallsyms k = { 0 };
	int err = lines_each(&k, kallsyms_fd, row_look);

	if (err)
		return err < 0 ? err : 0;
	return k.rows ? -EACCES : -ENODATA;
}

int kallsyms_load(int kallsyms_fd, int modules_fd, struct kallsyms **out)
{
	struct kallsyms *k = mem_zalloc(sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	err = lines_each(k, kallsyms_fd, row_read);
	if (!err && !k->rows)
		err = -ENODATA;
	if (!err && !k->seen_address)
		err = -EACCES;
	if (!err && modules_fd >= 0)
		err = lines_each(k, modules_fd, module_read);
	if (!err) {
		entries_sort(k);
		entries_settle(k);
		text_guess(k);
		err = regions_settle(k);
	}
	if (err) {
		kallsyms_free(k);
		return err;
	}
	*out = k;
	return 0;
}

/* 1 at the marker of the text's start, or when it should have come. */
static int row_stext(struct kallsyms *k, const char *line, const char *end)
{
	struct row r;

	if (!row_parse(line, end, &r))
		return 0;
	k->rows++;
	k->stext = name_is(&r, "_stext") ? r.addr : 0;
	return name_is(&r, "_stext") || k->rows >= STEXT_WITHIN;
}

int kallsyms_text_read(int kallsyms_fd, uint64_t *text)
{
	struct kallsyms k = { 0 };
	int err = lines_each(&k, kallsyms_fd, row_stext);

	*text = err < 0 ? 0 : k.stext;
	return err < 0 ? err : *text ? 0 : -ENODATA;
}

uint64_t kallsyms_text(const struct kallsyms *k)
{
	return k->stext;
}

int kallsyms_load_modules(int modules_fd, struct kallsyms **out)
{
	struct kallsyms *k = mem_zalloc(sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	err = lines_each(k, modules_fd, module_read);
	if (!err)
		err = regions_settle(k);
	if (err)
		kallsyms_free(k);
	else
		*out = k;
	return err;
}

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	vec_free(&k->entries);
	vec_free(&k->regions);
	buf_free(&k->names);
	intern_free(&k->modules);
	mem_free(k);
}

/* Questions */

/* The last entry at or below the address; -1 when there is none. */
static ptrdiff_t entry_at(const struct kallsyms *k, uint64_t addr)
{
	size_t low = 0, high = k->entries.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (k->entries.v[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return (ptrdiff_t)low - 1;
}

static bool region_has(const struct region *r, uint64_t addr)
{
	return addr >= r->start && addr < r->end;
}

static const struct region *region_at(const struct kallsyms *k, uint64_t addr)
{
	size_t low = 0, high = k->regions.n;
	const struct region *r;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (k->regions.v[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	r = low ? &k->regions.v[low - 1] : NULL;
	return r && region_has(r, addr) ? r : NULL;
}

/* Where the region of a symbol ends. A symbol that lies in another's region
 * has none. */
static uint64_t region_end(const struct kallsyms *k, const struct entry *e)
{
	const struct region *r = region_at(k, e->addr);

	return r && r->module == e->module ? r->end : reach(e->addr);
}

int kallsyms_module_at(const struct kallsyms *k, uint64_t addr,
		       struct ksym *out)
{
	const struct region *r = region_at(k, addr);

	if (!r || !r->module)
		return -ENOENT;
	*out = (struct ksym){ .start = r->start, .end = r->end };
	out->name = out->module = intern_bytes(&k->modules, r->module - 1U,
					       NULL);
	return 0;
}

uint64_t kallsyms_module_first(const struct kallsyms *k, const char *name)
{
	int64_t id = intern_find(&k->modules, name, strlen(name));

	for (size_t i = 0; id >= 0 && i < k->entries.n; i++)
		if (k->entries.v[i].type &&
		    k->entries.v[i].module == id + 1)
			return k->entries.v[i].addr;
	return 0;
}

int kallsyms_find(const struct kallsyms *k, uint64_t addr, struct ksym *out)
{
	ptrdiff_t i = entry_at(k, addr);
	const struct entry *e;
	uint64_t end;

	if (i < 0 || !k->entries.v[i].type)
		return -ENOENT;
	e = &k->entries.v[i];
	end = region_end(k, e);
	if ((size_t)i + 1 < k->entries.n && e[1].addr < end)
		end = e[1].addr;
	if (addr >= end)
		return -ENOENT;
	*out = (struct ksym){
		.name = k->names.data + e->name, .start = e->addr, .end = end,
	};
	if (e->module)
		out->module = intern_bytes(&k->modules, e->module - 1U, NULL);
	return 0;
}

int kallsyms_named(const struct kallsyms *k, const char *name,
		   struct ksym *out)
{
	for (size_t i = 0; i < k->entries.n; i++) {
		const struct entry *e = &k->entries.v[i];

		if (e->type && !e->module &&
		    !strcmp(k->names.data + e->name, name))
			return kallsyms_find(k, e->addr, out);
	}
	return -ENOENT;
}

bool kallsyms_can_change(const struct kallsyms *k, uint64_t addr)
{
	if (k->upper_half ? !(addr >> 63) : addr < LOWEST)
		return false;
	return !region_has(&k->text, addr) && !region_has(&k->init, addr);
}

const struct kallsyms_counts *kallsyms_counts(const struct kallsyms *k)
{
	return &k->counts;
}
