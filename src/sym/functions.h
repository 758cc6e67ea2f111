/* functions - the functions of an ELF file by name, for probes. */
#ifndef SYM_FUNCTIONS_H
#define SYM_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/near.h"
#include "sym/names.h"

struct elf;

/* A function as a symbol table has it. */
struct function {
	const char *name;	/* raw bytes, without a version */
	const char *version;	/* "GLIBC_2.2.5", "" = none */
	uint64_t addr;		/* vaddr, without ARM's Thumb bit */
	uint64_t size;		/* bytes; 0 = not known */
	uint64_t offset;	/* of addr in the file */
	bool is_default;	/* its version is what the bare name means */
	bool local;		/* STB_LOCAL: others may have the name, too */
	bool indirect;		/* IFUNC: what runs there chooses the function,
				 * once; its callers do not pass here */
	bool imported;		/* defined elsewhere: no addr, size, offset */
};

/* Call fn for each function of .symtab and .dynsym, or of what PT_DYNAMIC names
 * where there are no section headers. One that both tables have comes twice.
 * PLT stubs are no functions. Texts are valid during the call. fn returns
 * nonzero to stop, which is then the result. 0, -ENOMEM, -EFBIG when the tables
 * take more work than ELF_WORK_MOST, errors of pread(2). */
int functions_each(struct elf *e,
		   int (*fn)(void *arg, const struct function *f), void *arg);

/* Functions that are kept, by address, then name. All zero is empty. */
struct function_list {
	struct function *v;	/* name and version stay until _free */
	size_t n, cap;
	struct names names;
};
void functions_free(struct function_list *list);

/* Append the defined functions whose bare name is wanted, each once; sorted by
 * address, so that those with one address, aliases, stand together. 0; errors
 * as above. */
int functions_collect(struct elf *e, bool (*want)(void *arg, const char *name),
		      void *arg, struct function_list *list);

/* Find the function that a user means by "foo", "foo@VERSION" or
 * "foo@@VERSION". 0: list->v[0] is it, at the one address that the name has
 * (a bare name means the default version). -ENOTUNIQ: the list has all it could
 * be. -ENOENT: none; -ENXIO: none, but the file imports it. Errors as above. */
int functions_find(struct elf *e, const char *name,
		   struct function_list *list);

/* Append what a compiler made of a function: "foo.isra.0", "foo.part.1",
 * "foo.constprop.0", "foo.cold". */
int functions_variants(struct elf *e, const char *name,
		       struct function_list *list);

/* A similar name; *near as in base/near.h, `best` pointing into the list's
 * names. */
int functions_near(struct elf *e, struct near *near,
		   struct function_list *list);

/* True when the file exports a function of this name, to tell who else has
 * it. */
bool functions_exports(struct elf *e, const char *name);

#endif
