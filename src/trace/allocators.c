/* allocators - the functions that hand out memory, in what a process maps. */
#include "trace/allocators.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "sym/code.h"
#include "sym/elf.h"
#include "sym/functions.h"
#include "sym/library.h"
#include "sys/bpf.h"

enum {
	POINTS_MOST = 4096,		/* as the map "probes" has it */
	NAMES_APART = 1 << 20,		/* in tracefs, of entry and return */
};

/* Those of C libraries and of the allocators that stand in for them. What is
 * missing from a file is passed over: no library has them all. */
static const struct {
	const char *name;
	enum leak_call call;
} calls[] = {
	{ "malloc", LEAK_SIZE },
	{ "calloc", LEAK_PRODUCT },
	{ "realloc", LEAK_REALLOC },
	{ "reallocarray", LEAK_REALLOCARRAY },
	{ "posix_memalign", LEAK_THIRD },
	{ "aligned_alloc", LEAK_SECOND },
	{ "memalign", LEAK_SECOND },
	{ "valloc", LEAK_SIZE },
	{ "pvalloc", LEAK_PAGES },
	{ "mallocx", LEAK_SIZE },
	{ "rallocx", LEAK_REALLOC },
	{ "free", LEAK_FREE },
	{ "cfree", LEAK_FREE },
	{ "free_sized", LEAK_FREE },
	{ "free_aligned_sized", LEAK_FREE },
	{ "dallocx", LEAK_FREE },
	{ "sdallocx", LEAK_FREE },
	{ "mmap", LEAK_MMAP },
	{ "mmap64", LEAK_MMAP },
	{ "mremap", LEAK_MREMAP },
	{ "munmap", LEAK_MUNMAP },
};

/* What follows the size, or the block, of the global operators of C++ (Itanium
 * C++ ABI, 5.1.5); others take more, and place or find the block themselves. */
static bool is_plain_operator(const char *rest)
{
	static const char *const variants[] = {
		"", "RKSt9nothrow_t", "St11align_val_t",
		"St11align_val_tRKSt9nothrow_t",
	};

	for (size_t i = 0; i < sizeof(variants) / sizeof(*variants); i++)
		if (!strcmp(rest, variants[i]))
			return true;
	return false;
}

/* _Znwm, _Znam: new and new[] of a size_t; _ZdlPv, _ZdaPv: delete, that may
 * tell the size, too. */
static int operator_call(const char *name)
{
	if (!strncmp(name, "_Znwm", 5) || !strncmp(name, "_Znam", 5))
		return is_plain_operator(name + 5) ? LEAK_SIZE : -ENOENT;
	if (strncmp(name, "_ZdlPv", 6) && strncmp(name, "_ZdaPv", 6))
		return -ENOENT;
	return is_plain_operator(name + 6 + (name[6] == 'm')) ? LEAK_FREE
							      : -ENOENT;
}

int allocators_call(const char *name, const char *prefix)
{
	size_t n = prefix ? strlen(prefix) : 0;

	if (!strncmp(name, "_Z", 2))
		return operator_call(name);
	if (n && strncmp(name, prefix, n))
		return -ENOENT;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(name + n, calls[i].name))
			return calls[i].call;
	return -ENOENT;
}

/* C++'s own libraries get memory from malloc: what they call shows it, and a
 * return probe at an operator that throws would end the program. */
static bool is_runtime(const char *label)
{
	return !strncmp(label, "libstdc++", 9) || !strncmp(label, "libc++", 6);
}

struct wish {
	const char *prefix;
	bool operators;
};

static bool is_wanted(void *arg, const char *name)
{
	const struct wish *w = arg;

	return (w->operators || strncmp(name, "_Z", 2)) &&
	       allocators_call(name, w->prefix) >= 0;
}

static int add_point(struct allocators *a, const struct function *f,
		     struct elf *elf, uint32_t file)
{
	int call = allocators_call(f->name, a->prefix);
	struct leak_probe *probe = vec_push(&a->probes);
	struct point *to = probe ? vec_push(&a->points.v) : NULL;

	if (!to)
		return -ENOMEM;
	*probe = (struct leak_probe){ .call = (uint8_t)call };
	*to = (struct point){
		.kind = PROBE_UPROBE, .file = file, .usdt = POINT_NO_USDT,
		.name = points_text(&a->points, f->name),
		.address = f->addr, .size = f->size,
		.offset = f->offset + code_light(elf, f->addr, f->size),
		.at_entry = true, .many = true,
	};
	a->frees += call == LEAK_FREE;
	return to->name ? 0 : -ENOMEM;
}

/* What a library has for itself alone is nobody's allocator: the dynamic
 * linker's own mmap() maps the libraries. */
static bool has_own_use(struct elf *elf)
{
	struct buf soname = { 0 };
	bool is_library = !elf_soname(elf, &soname);

	buf_free(&soname);
	return is_library;
}

/* Names of one address are one place, called by the shortest: "free". */
static int add_points(struct allocators *a, const struct function_list *list,
		      struct elf *elf, uint32_t file)
{
	bool own_use = has_own_use(elf);
	int err = 0;

	for (size_t i = 0, next; !err && i < list->n; i = next) {
		const struct function *f = &list->v[i];

		for (next = i + 1; next < list->n &&
		     list->v[next].addr == f->addr; next++)
			if (strlen(list->v[next].name) < strlen(f->name))
				f = &list->v[next];
		if (!f->indirect && !f->imported && !(f->local && own_use) &&
		    a->points.v.n < POINTS_MOST)
			err = add_point(a, f, elf, file);
	}
	return err;
}

/* The files of the points stay open, so the numbers stay theirs. */
static int scan_elf(struct allocators *a, struct library *l)
{
	size_t before = a->points.v.n;
	struct function_list list = { 0 };
	struct elf *elf;
	int64_t file = points_add_file(&a->points, l, &elf);
	struct wish wish = { .prefix = a->prefix };
	int err;

	if (file < 0)
		return (int)file;
	wish.operators = !is_runtime(a->points.files.v[file].label);
	err = functions_collect(elf, is_wanted, &wish, &list);
	if (!err)
		err = add_points(a, &list, elf, (uint32_t)file);
	functions_free(&list);
	elf_close(elf);
	return err ? err : a->points.v.n > before;
}

/* Arguments are where the calling convention of this machine's own programs
 * has them. */
static bool is_foreign(int fd)
{
	unsigned char ident[5];

	return pread(fd, ident, sizeof(ident), 0) == (ssize_t)sizeof(ident) &&
	       !memcmp(ident, "\177ELF", 4) &&
	       ident[4] != (sizeof(void *) == 8 ? 2 : 1);
}

/* 1 when it has functions of an allocator, 0, or -errno. */
static int scan_file(struct allocators *a, struct library *l)
{
	uint64_t key[2] = { l->st.st_dev, l->st.st_ino };
	size_t n = a->known.n;
	int64_t id = intern_put(&a->known, key, sizeof(key));
	int err;

	if (id < 0 || (size_t)id < n)
		return id < 0 ? (int)id : 0;
	if (is_foreign(l->fd)) {
		a->foreign++;
		return 0;
	}
	err = scan_elf(a, l);
	if (err < 0 && err != -ENOMEM) {
		log_verbose("%s: %s: %s", a->command, l->path, log_errno(err));
		err = 0;
	}
	return err;
}

static int find(const struct allocators *a, uint32_t pid,
		struct library_list *list)
{
	int err = a->object ? library_find(a->object, pid, list)
			    : library_mapped(pid, list);

	if (!a->object || !err)
		return err;
	log_error("%s: %s: %s", a->command, a->object, err == -ENOENT ?
		  "no such program or library" : err == -ENOTUNIQ ?
		  "may be several files: say its path" : log_errno(err));
	return err;
}

int allocators_scan(struct allocators *a, uint32_t pid)
{
	struct library_list list = { 0 };
	int err = find(a, pid, &list), found = 0;

	a->points.command = a->command;
	a->points.pid = a->pid;
	for (size_t i = 0; !err && i < (a->object ? 1 : list.n); i++) {
		int one = scan_file(a, &list.v[i]);

		if (one < 0)
			err = one;
		else
			found += one;
	}
	library_free(&list);
	if (err == -ENOMEM)
		log_error("%s: cannot look for allocators: out of memory",
			  a->command);
	return err ? err : found;
}

void allocators_begin(struct allocators *a, struct session *s)
{
	attach_init(&a->enter, s, a->command, &a->points);
	attach_init(&a->leave, s, a->command, &a->points);
	a->leave.next_name = NAMES_APART;
}

/* Where one function that frees may call another one, the end of the outer one
 * has to be seen. */
static bool returns(const struct allocators *a, size_t i)
{
	switch (a->probes.v[i].call) {
	case LEAK_MUNMAP:
		return false;
	case LEAK_FREE:
		return a->frees > 1;
	default:
		return true;
	}
}

/* Leave out what is done, or is not to be set. */
static int choose(struct allocators *a, struct attach *to, bool is_return)
{
	while (to->refused.n < a->points.v.n) {
		uint8_t *slot = vec_push(&to->refused);

		if (!slot)
			return -ENOMEM;
		*slot = 0;
	}
	for (size_t i = 0; i < to->refused.n; i++)
		to->refused.v[i] = is_return ?
			a->probes.v[i].returns || !returns(a, i) : i < a->set;
	return 0;
}

static bool is_any(const struct attach *to)
{
	return memchr(to->refused.v, 0, to->refused.n);
}

/* The returns first, for a call is waited for from its entry on. */
static int attach_returns(struct allocators *a)
{
	int fd = session_map(a->leave.session, "probes");
	int err = choose(a, &a->leave, true);

	if (!err && is_any(&a->leave))
		err = attach_points(&a->leave, "leave", ATTACH_RETURN);
	for (uint32_t i = 0; !err && i < a->probes.n; i++) {
		if (!a->leave.refused.v[i])
			a->probes.v[i].returns = 1;
		err = bpf_map_update(fd, &i, &a->probes.v[i]);
	}
	return err;
}

int allocators_attach(struct allocators *a)
{
	int err;

	if (a->set == a->points.v.n)
		return 0;
	err = attach_returns(a);
	if (!err)
		err = choose(a, &a->enter, false);
	for (size_t i = a->set; !err && i < a->points.v.n; i++)
		if (returns(a, i) && !a->probes.v[i].returns)
			a->enter.refused.v[i] = 1;
	if (!err && is_any(&a->enter))
		err = attach_points(&a->enter, "enter", ATTACH_ENTRY);
	a->set = a->points.v.n;
	return err;
}

void allocators_list(const struct allocators *a, size_t from, struct buf *to)
{
	const struct point *v = a->points.v.v;

	for (size_t i = from; i < a->points.v.n; i++) {
		bool is_last = i + 1 == a->points.v.n ||
			       v[i + 1].file != v[i].file;

		buf_puts(to, v[i].name);
		buf_puts(to, is_last ? " in " : ", ");
		if (!is_last)
			continue;
		buf_puts(to, a->points.files.v[v[i].file].path);
		buf_putc(to, '\n');
	}
}

void allocators_detach(struct allocators *a)
{
	attach_report_missed(&a->enter);
	attach_report_missed(&a->leave);
	attach_detach(&a->enter);
	attach_detach(&a->leave);
}

void allocators_free(struct allocators *a)
{
	attach_close(&a->enter);
	attach_close(&a->leave);
	points_free(&a->points);
	vec_free(&a->probes);
	intern_free(&a->known);
}
