/* kallsyms - kernel addresses to names, by /proc/kallsyms and /proc/modules. */
#ifndef SYM_KALLSYMS_H
#define SYM_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kallsyms;

struct ksym {
	const char *name;	/* raw, NUL-terminated; lives as long as the
				 * table: escape on output */
	const char *module;	/* "bpf" for BPF programs; NULL = the kernel */
	uint64_t start, end;	/* the name holds for start <= address < end */
};

/* What a load saw. */
struct kallsyms_counts {
	size_t symbols;		/* code symbols, one per address */
	size_t bad_rows;	/* lines of kallsyms that are not rows */
	size_t modules;		/* rows of /proc/modules */
	size_t bad_modules;	/* lines of it that are not rows */
};

/* Read both files from where their descriptors stand (kernel:
 * Documentation/filesystems/proc.rst); modules_fd -1 = no list of modules. The
 * descriptors stay the caller's. *out is freed with kallsyms_free().
 * -EACCES: every address is zero, hidden by kernel.kptr_restrict (or, for
 * other users than root, by kernel.perf_event_paranoid); -ENODATA: not one row;
 * -EFBIG: more names than any kernel has; -ENOMEM; errors of read(2). */
int kallsyms_load(int kallsyms_fd, int modules_fd, struct kallsyms **out);
void kallsyms_free(struct kallsyms *k);

/* Would there be names? Reads no further than to the first address that is not
 * hidden. 0 or the errors above. */
int kallsyms_try(int kallsyms_fd);

/* The function that contains the address; -ENOENT when none surely does. */
int kallsyms_find(const struct kallsyms *k, uint64_t addr, struct ksym *out);

/* A function of the kernel proper by the name that kallsyms_find() gives;
 * -ENOENT. Looks through the whole table. */
int kallsyms_named(const struct kallsyms *k, const char *name,
		   struct ksym *out);

/* Can code have been loaded at, or removed from, this address since the table
 * was read? True for kernel addresses outside the kernel's own text: there,
 * reading the files once more may find a name. */
bool kallsyms_can_change(const struct kallsyms *k, uint64_t addr);

/* Where the kernel's text starts, as /proc/kallsyms tells it within its first
 * rows: _stext, for not all lists have _text. 0; -ENODATA: not told, or hidden;
 * others as of kallsyms_load(). Reads no further than to that row. */
int kallsyms_text_read(int kallsyms_fd, uint64_t *text);

/* The same of a table that was read; 0 = it does not tell. */
uint64_t kallsyms_text(const struct kallsyms *k);

/* A table of modules alone, for kallsyms_module_at(): the module whose memory
 * an address is in. Without a list of modules, -ENOENT. */
int kallsyms_load_modules(int modules_fd, struct kallsyms **out);
int kallsyms_module_at(const struct kallsyms *k, uint64_t addr,
		       struct ksym *out);

/* The first function of a module; 0 = none. */
uint64_t kallsyms_module_first(const struct kallsyms *k, const char *name);

const struct kallsyms_counts *kallsyms_counts(const struct kallsyms *k);

#endif
