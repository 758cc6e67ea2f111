/* point_user - the functions and USDT probes of programs that a spec means. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/near.h"
#include "sym/code.h"
#include "sym/debug_files.h"
#include "sym/elf.h"
#include "sym/functions.h"
#include "sym/library.h"
#include "sys/fs.h"
#include "sys/tracefs.h"
#include "trace/point.h"

/* One spec in one file. */
struct search {
	struct points *p;
	const struct probe_spec *s;
	size_t number;
	struct elf *elf;
	struct usdt_symbols *symbols;	/* of USDT arguments */
	uint32_t file;
	struct match provider, name;
	size_t bad_place;		/* USDT notes that cannot be set */
	unsigned bad;			/* ... that make no sense */
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* What was stripped of a file can be probed, if its symbols are found. */
static void add_symbols(const struct library *l, struct elf *elf)
{
	char name[32];
	int root;

	if (!l->pid) {
		debug_files_attach_own(elf, l->fd);
		return;
	}
	snprintf(name, sizeof(name), "%u/root", l->pid);
	root = fs_open(FS_PROC, name, O_PATH | O_DIRECTORY);
	if (root < 0)
		return;
	debug_files_attach(elf, l->path, root);
	close(root);
}

int64_t points_add_file(struct points *p, struct library *l, struct elf **elf)
{
	struct point_file *to = vec_push(&p->files);
	struct buf path = { 0 };
	struct code_go go = { 0 };
	int err, fd;

	if (!to)
		return -ENOMEM;
	*to = (struct point_file){ .fd = -1 };
	err = library_probe_path(l, &path);
	if (!err) {
		to->path = points_text(p, l->path);
		to->label = points_text(p, base_name(l->path));
		to->probe_path = points_text(p, buf_str(&path));
		if (!to->path || !to->label || !to->probe_path)
			err = -ENOMEM;
	}
	buf_free(&path);
	if (err)
		return err;
	fd = fcntl(l->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = elf_open(fd, elf);
	if (err) {
		close(fd);
		return err;
	}
	add_symbols(l, *elf);
	to->fd = library_take(l);	/* the path may lead through it */
	if (!code_go(*elf, &go)) {
		to->is_go = go.is_go;
		to->knows_g = go.g_in_register;
	}
	return (int64_t)p->files.n - 1;
}

static int add_function(struct search *f, const struct function *fn,
			const char *name)
{
	struct point *to = points_add(f->p, f->s, f->number);

	if (!to)
		return -ENOMEM;
	to->name = points_text(f->p, name);
	to->file = f->file;
	to->address = fn->addr + f->s->offset;
	to->size = f->s->offset ? 0 : fn->size;
	to->offset = fn->offset + f->s->offset;
	to->at_entry = !f->s->offset;
	return to->name ? 0 : -ENOMEM;
}

/* The name that people use: "malloc", not "__libc_malloc". */
static bool is_better(const char *name, const char *than)
{
	if ((*name == '_') != (*than == '_'))
		return *than == '_';
	return strlen(name) < strlen(than);
}

static int cannot_read(const struct search *f, const char *what, int err)
{
	if (err && err != -ENOMEM)
		log_error("%s: %s: cannot read its %s: %s", f->p->command,
			  f->p->files.v[f->file].path, what, log_errno(err));
	return err;
}

/* Names of one address are one place. */
static int find_functions(struct search *f)
{
	struct function_list list = { 0 };
	size_t before = f->p->v.n;
	int err = functions_collect(f->elf, (bool (*)(void *, const char *))
				    match_test, &f->name, &list);

	for (size_t i = 0, next; !err && i < list.n; i = next) {
		const char *name = list.v[i].name;

		for (next = i + 1; next < list.n &&
		     list.v[next].addr == list.v[i].addr; next++)
			if (is_better(list.v[next].name, name))
				name = list.v[next].name;
		if (!list.v[i].indirect)
			err = add_function(f, &list.v[i], name);
	}
	functions_free(&list);
	if (err)
		return cannot_read(f, "functions", err);
	return f->p->v.n > before ? 0 : -ENOENT;
}

static void list_all(const struct function_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		log_hint("0x%llx is %s%s%s", (unsigned long long)
			 list->v[i].addr, list->v[i].name,
			 *list->v[i].version ? "@" : "", list->v[i].version);
}

static void say_near(struct search *f, const char *name)
{
	struct function_list list = { 0 };
	struct near near = { .wanted = name };

	if (!functions_variants(f->elf, name, &list) && list.n)
		for (size_t i = 0; i < list.n; i++)
			log_hint("there is %s", list.v[i].name);
	else if (!functions_near(f->elf, &near, &list) && near.best)
		log_hint("the nearest is: %s", near.best);
	functions_free(&list);
}

static int function_failed(struct search *f, int err,
			   const struct function_list *list)
{
	const char *path = f->p->files.v[f->file].path;
	const char *name = f->s->name.text;

	if (err == -ENOTUNIQ) {
		log_error("%s: %s: %zu functions of %s have this name",
			  f->p->command, name, list->n, path);
		list_all(list);
		log_hint("uprobe:%s:ADDRESS takes one of them", path);
	} else if (err == -ENXIO) {
		log_error("%s: %s: %s only calls it: it is in another "
			  "library", f->p->command, name, path);
	} else if (err == -ENOENT) {
		log_error("%s: %s: no such function in %s", f->p->command,
			  name, path);
		say_near(f, name);
	} else {
		cannot_read(f, "functions", err);
	}
	return err;
}

static int check_offset(struct search *f, const struct function *fn)
{
	int err = code_boundary(f->elf, fn->addr, fn->size, f->s->offset);

	if (!f->s->offset || !err || err == -ENOTSUP)
		return 0;
	log_error("%s: %s: no instruction begins %llu bytes into %s",
		  f->p->command, f->s->text,
		  (unsigned long long)f->s->offset, fn->name);
	return -EINVAL;
}

static int find_function(struct search *f)
{
	struct function_list list = { 0 };
	int err = functions_find(f->elf, f->s->name.text, &list);

	if (err) {
		err = function_failed(f, err, &list);
	} else if (list.v[0].indirect) {
		log_error("%s: %s: the loader runs it once, to choose a "
			  "function; its callers do not pass there",
			  f->p->command, f->s->name.text);
		err = -EINVAL;
	} else {
		err = check_offset(f, &list.v[0]);
		if (!err)
			err = add_function(f, &list.v[0], list.v[0].name);
	}
	functions_free(&list);
	return err;
}

/* An address as the file's symbols have it. */
static int find_address(struct search *f)
{
	struct function at = { .addr = f->s->address };
	struct elf_sym sym = { 0 };
	int err = elf_code_offset(f->elf, at.addr, &at.offset);
	bool named = !err && !elf_find(f->elf, at.addr, &sym);

	if (named && code_boundary(f->elf, sym.value, sym.size,
				   at.addr - sym.value) == -EINVAL) {
		log_error("%s: %s: no instruction begins there",
			  f->p->command, f->s->text);
		return -EINVAL;
	}
	if (err) {
		log_error("%s: %s: no code of the file is at this address",
			  f->p->command, f->s->text);
		return -EINVAL;
	}
	err = add_function(f, &at, f->s->text);
	if (!err && named && sym.value != at.addr)
		f->p->v.v[f->p->v.n - 1].at_entry = false;
	return err;
}

static int add_usdt(struct search *f, const struct usdt_note *n)
{
	struct points *p = f->p;
	struct usdt_args *args = vec_push(&p->args);
	struct point *to = args ? points_add(p, f->s, f->number) : NULL;
	struct buf name = { 0 };

	if (!to)
		return -ENOMEM;
	usdt_args(f->symbols, n, args);
	buf_fmt(&name, "%s:%s", n->provider, n->name);
	to->name = name.err ? NULL : points_text(p, buf_str(&name));
	buf_free(&name);
	to->module = points_text(p, n->provider);
	to->symbol = points_text(p, n->name);
	to->file = f->file;
	to->offset = n->offset;
	to->semaphore = n->semaphore_offset;
	to->usdt = (int32_t)p->args.n - 1;
	return to->name && to->module && to->symbol ? 0 : -ENOMEM;
}

static bool is_wanted(const struct match *m, const char *name)
{
	return m->kind == MATCH_EXACT ? usdt_name_is(name, m->text)
				      : match_test(m, name);
}

static int take_note(void *arg, const struct usdt_note *n)
{
	struct search *f = arg;

	if ((*f->s->provider.text && !is_wanted(&f->provider, n->provider)) ||
	    !is_wanted(&f->name, n->name))
		return 0;
	if (n->err) {
		f->bad_place++;
		return 0;
	}
	return add_usdt(f, n);
}

static int find_usdt(struct search *f)
{
	size_t before = f->p->v.n;
	int err;

	f->symbols = usdt_symbols_new(f->elf);
	if (!f->symbols)
		return -ENOMEM;
	err = usdt_each(f->elf, take_note, f, &f->bad);
	usdt_symbols_free(f->symbols);
	f->p->left_out += f->bad_place;
	if (err)
		return cannot_read(f, "USDT probes", err);
	return f->p->v.n > before ? 0 : -ENOENT;
}

static int find_in_elf(struct search *f)
{
	int err = match_compile(&f->name, f->s->name.match, f->s->name.text,
				NULL);

	if (err)
		return err;
	err = match_compile(&f->provider, f->s->provider.match,
			    f->s->provider.text, NULL);
	if (!err) {
		err = f->s->kind == PROBE_USDT ? find_usdt(f) :
		      f->s->has_address ? find_address(f) :
		      spec_is_pattern(f->s) ? find_functions(f) :
		      find_function(f);
		match_free(&f->provider);
	}
	match_free(&f->name);
	return err;
}

/* -ENOENT without a word when only this file has no such thing. */
static int find_in(struct points *p, const struct probe_spec *s, size_t n,
		   struct library *l)
{
	struct search f = { .p = p, .s = s, .number = n };
	int64_t file = points_add_file(p, l, &f.elf);
	int err;

	if (file < 0) {
		if (file == -ENOEXEC)
			return -ENOENT;
		if (file != -ENOMEM)
			log_error("%s: %s: %s", p->command, l->path,
				  log_errno((int)file));
		return (int)file;
	}
	f.file = (uint32_t)file;
	err = find_in_elf(&f);
	if (f.bad)
		log_notice("%s: %u USDT notes make no sense and are left out",
			   p->files.v[f.file].label, f.bad);
	elf_close(f.elf);
	return err;
}

/* As `sonde list` and bcc's tplist write them. */
static void hint_tracepoint(const struct probe_spec *s)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", s->target.text, s->name.text);
	if (tracefs_id(path) >= 0)
		log_hint("t:%s:%s is a tracepoint", s->target.text,
			 s->name.text);
}

static int library_failed(const struct points *p, const struct probe_spec *s,
			  int err, const struct library_list *list)
{
	const char *name = s->target.text;

	if (err == -ENOTUNIQ) {
		log_error("%s: %s: may be %zu files", p->command, name,
			  list->n);
		for (size_t i = 0; i < list->n; i++)
			log_hint("%s", list->v[i].path);
	} else if (err == -ENOENT) {
		log_error(p->pid ? "%s: %s: process %u has no such file mapped"
				 : "%s: %s: no such program or library",
			  p->command, name, p->pid);
		hint_tracepoint(s);
	} else if (err == -ENODEV) {
		log_error("%s: %s: no regular file", p->command, name);
	} else if (err == -ENOEXEC) {
		log_error("%s: %s: no ELF file", p->command, name);
	} else if (err != -ENOMEM) {
		log_error("%s: %s: %s", p->command, name, log_errno(err));
	}
	return err;
}

static int none_found(const struct points *p, const struct probe_spec *s,
		      int err)
{
	if (err != -ENOENT || (s->kind != PROBE_USDT && !spec_is_pattern(s)))
		return err;
	log_error("%s: %s: no %s that matches", p->command, s->text,
		  s->kind == PROBE_USDT ? "USDT probe" : "function");
	if (strcmp(p->command, "list"))
		log_hint("sonde list shows what is there");
	return err;
}

/* In whatever the process has mapped. */
static int find_in_all(struct points *p, const struct probe_spec *s, size_t n)
{
	struct library_list list = { 0 };
	size_t before = p->v.n;
	int err = library_mapped(p->pid, &list);

	if (err && err != -ENOMEM)
		log_error("%s: process %u: %s", p->command, p->pid,
			  log_errno(err));
	for (size_t i = 0; !err && i < list.n; i++) {
		err = find_in(p, s, n, &list.v[i]);
		if (err == -ENOENT)
			err = 0;
	}
	library_free(&list);
	if (!err && p->v.n == before)
		err = none_found(p, s, -ENOENT);
	return err;
}

/* It may still load the file, and be hit then. */
static void say_unmapped(const struct points *p, const struct library *l)
{
	if (p->pid && !l->mapped && strcmp(p->command, "list"))
		log_notice("process %u does not map %s: no hits unless it "
			   "loads it", p->pid, l->path);
}

int points_find_user(struct points *p, const struct probe_spec *s, size_t n)
{
	struct library_list list = { 0 };
	int err;

	if (!*s->target.text || s->target.match != MATCH_EXACT) {
		if (p->pid)
			return find_in_all(p, s, n);
		log_error("%s: %s: a file is needed, or -p PID", p->command,
			  s->text);
		return -EINVAL;
	}
	err = library_find(s->target.text, p->pid, &list);
	if (err)
		err = library_failed(p, s, err, &list);
	else
		err = none_found(p, s, find_in(p, s, n, &list.v[0]));
	if (!err)
		say_unmapped(p, &list.v[0]);
	library_free(&list);
	return err;
}
