/* desk_kernel - the symbols of a kernel that ran elsewhere, or before.
 *
 * A kernel lies where its boot put it. What it tells of its own list is where
 * the text starts; what that is in another list of the same kernel's symbols,
 * from another boot or from the linker, is by how much all of its functions
 * have moved. One that has no such list tells where its waits are, see
 * kernel_list.c. A module moves by itself, and lists do not tell where it
 * starts. So it is named by a list of the same boot, or one in which its first
 * function is in the page where the module starts, as when nothing has moved;
 * and by the kernel that runs, which tells.
 */
#include "sym/desk_kernel.h"

#include <string.h>

#include "base/log.h"
#include "sym/kallsyms.h"
#include "sym/kernel_list.h"
#include "sys/fs.h"

enum { PAGE = 4096 };

int desk_kernel_open(struct desk_kernel *d, const char *path)
{
	build_id_kernel(&d->own);
	d->path = path;
	return path ? kernel_list_read(path, &d->table) : 0;
}

void desk_kernel_close(struct desk_kernel *d)
{
	kallsyms_free(d->table);
	d->table = NULL;
}

static void own_load(struct desk_kernel *d)
{
	if (!d->tried)
		d->err = kernel_list_own(&d->table);
	d->tried = true;
}

static bool is_own_boot(const char *boot)
{
	struct buf own = { 0 };
	bool same;

	if (!boot || fs_read(FS_PROC, "sys/kernel/random/boot_id", 64, &own))
		return false;
	same = own.len == strlen(boot) + 1 &&
	       !memcmp(own.data, boot, own.len - 1);
	buf_free(&own);
	return same;
}

/* Kernels are moved by whole pages at least. NULL: it is placed, or there is
 * nothing to place. */
static const char *place(const struct desk_kernel *d,
			 const struct desk_kernel_told *t,
			 struct desk_kernel_view *out)
{
	uint64_t by_text = kallsyms_text(d->table) - t->text;

	if (t->text || out->same_boot)
		out->table = d->table;
	out->shift = t->text ? by_text : 0;
	if (t->text && by_text % PAGE)
		return "its kernel is another one";
	if (!d->path)
		return NULL;
	out->table = d->table;
	if (!t->nwaits)
		return t->text ? NULL : "it does not tell where its kernel's "
					"text starts";
	if (kernel_list_match(d->table, t->waits, t->nwaits, &out->shift) ||
	    (t->text && out->shift != by_text))
		return "functions of its kernel do not lie as in the list";
	return NULL;
}

void desk_kernel_view(struct desk_kernel *d, const struct desk_kernel_told *t,
		      struct desk_kernel_view *out)
{
	const char *why;

	*out = (struct desk_kernel_view){
		.text = t->text, .given = d->path != NULL,
		.same_boot = !d->path && is_own_boot(t->boot),
	};
	if (!d->path && !out->same_boot && !build_id_same(&t->id, &d->own)) {
		d->other = true;
		return;
	}
	if (!d->path)
		own_load(d);
	why = d->table ? place(d, t, out) : NULL;
	if (!why)
		return;
	out->table = NULL;
	log_notice("%s: not used for %s: %s: functions of its kernel are shown "
		   "as addresses", d->path ? d->path : "/proc/kallsyms",
		   t->name, why);
}

void desk_kernel_report(const struct desk_kernel *d)
{
	if (d->err)
		kernel_list_own_failed(d->err);
	if (d->other) {
		log_notice("not recorded on this kernel: kernel functions are "
			   "shown as addresses");
		log_hint("--kallsyms FILE, a copy of the device's, or "
			 "--system-map FILE of its build names them");
	}
}

const char *desk_kernel_name(const struct desk_kernel_view *v, uint64_t addr)
{
	struct ksym sym;

	/* Programs and modules are elsewhere in another boot. */
	if (!v->table || kallsyms_find(v->table, addr + v->shift, &sym) ||
	    (sym.module && !v->same_boot))
		return NULL;
	return sym.name;
}

/* Where the table has the module, if it tells. */
static bool module_base(const struct desk_kernel_view *v, const char *module,
			uint64_t base, const struct build_id *id,
			uint64_t *out)
{
	uint64_t first = kallsyms_module_first(v->table, module);
	struct build_id own;
	struct ksym range;

	*out = base;
	if (v->same_boot)
		return true;
	if (v->given)
		return !v->shift && first - base < PAGE;
	build_id_module(module, &own);
	if (!build_id_same(&own, id) ||
	    kallsyms_module_at(v->table, first, &range))
		return false;
	*out = range.start;
	return true;
}

const char *desk_kernel_module_name(const struct desk_kernel_view *v,
				    const char *module, uint64_t base,
				    uint64_t offset,
				    const struct build_id *id)
{
	struct ksym sym;
	uint64_t at;

	if (!v->table || !module_base(v, module, base, id, &at) ||
	    kallsyms_find(v->table, at + offset, &sym) || !sym.module ||
	    strcmp(sym.module, module))
		return NULL;
	return sym.name;
}
