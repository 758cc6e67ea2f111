/* desk_kernel - the symbols of a kernel that ran elsewhere, or before. */
#ifndef SYM_DESK_KERNEL_H
#define SYM_DESK_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "sym/build_id.h"

struct kallsyms;

/* All zero, then desk_kernel_open(). */
struct desk_kernel {
	const char *path;		/* of what was given; NULL: nothing */
	struct kallsyms *table;		/* that, or of the kernel that runs */
	struct build_id own;		/* its build-id */
	bool tried;			/* to read its table */
	bool other;			/* a record is of another kernel */
	int err;			/* of reading it */
};

/* What a device said of its kernel, and where its table is for it. */
struct desk_kernel_view {
	const struct kallsyms *table;	/* NULL: its functions have no names */
	uint64_t text;			/* where its text starts, 0 = unknown */
	uint64_t shift;			/* from there to the table's */
	bool given, same_boot;
};

/* `path` is a copy of /proc/kallsyms or a System.map; NULL: only the kernel
 * that runs, if it is the same one. 0 or -errno, reported. */
int desk_kernel_open(struct desk_kernel *d, const char *path);
void desk_kernel_close(struct desk_kernel *d);

/* What a device tells of its kernel. */
struct desk_kernel_told {
	const char *name;		/* for notices */
	struct build_id id;
	const char *boot;		/* NULL = not told, as the others: */
	uint64_t text;			/* 0 */
	const uint64_t *waits;		/* as for kernel_list_match() */
	size_t nwaits;
};
void desk_kernel_view(struct desk_kernel *d, const struct desk_kernel_told *t,
		      struct desk_kernel_view *out);

/* Why functions had no names, where a notice did not say so. */
void desk_kernel_report(const struct desk_kernel *d);

/* The function at an address of the device's, or of a module that it had at a
 * base; valid as long as the table. NULL = not known for sure. */
const char *desk_kernel_name(const struct desk_kernel_view *v, uint64_t addr);
const char *desk_kernel_module_name(const struct desk_kernel_view *v,
				    const char *module, uint64_t base,
				    uint64_t offset,
				    const struct build_id *id);

#endif
