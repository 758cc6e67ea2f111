/* btf - the kernel's own types: fields, functions, tracepoints, enumerators. */
#ifndef SYS_BTF_H
#define SYS_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Types have numbers; 0 is void. Names live as long as the types: they come
 * from the kernel, or from who wrote the module: escape them on output. */
struct btf;

/* The running kernel's types (5.5 MB, read as a whole), or those of a module
 * on top of them; close with btf_close(). Opening the kernel's again while they
 * are open costs nothing. -EOPNOTSUPP: the kernel has none (it is built without
 * CONFIG_DEBUG_INFO_BTF, or SONDE_WITHOUT=btf); -ENOENT: no such module, or
 * none of its own; -EINVAL: not BTF; -ENOMEM; -errno. */
int btf_open(const char *module, struct btf **out);
void btf_close(struct btf *b);

/* The same from bytes, which are copied; `base` (may be NULL) stays the
 * caller's and must live longer. For tests. */
int btf_from_memory(const void *data, size_t n, const struct btf *base,
		    struct btf **out);

/* Where a field is: load `size` bytes at `offset`; for a bit field (bits > 0)
 * shift the loaded number right by `shift` and keep the lowest `bits`. */
struct btf_place {
	uint32_t offset, size;		/* bytes */
	uint8_t shift, bits;
	uint32_t type;
};

/* "task_struct.tgid", "page.lru.next": a struct, union or typedef, then fields
 * down through structs that are members, unnamed ones passed over. -ENOENT: no
 * such struct or field; -ENOTUNIQ: several structs of that name disagree;
 * -EINVAL: a path without a dot, or through what is no struct (a pointer). */
int btf_field(const struct btf *b, const char *path, struct btf_place *out);

/* The number of a function, as BPF_PROG_LOAD takes it in attach_btf_id: of the
 * module alone when b is a module's. -ENOENT; -ENOTUNIQ: several. */
int btf_func(const struct btf *b, const char *name);

/* A parameter or a return value. */
enum btf_class {
	BTF_VOID,
	BTF_INTEGER,		/* also bool, char and enum */
	BTF_POINTER,
	BTF_STRING,		/* a pointer to char */
	BTF_FLOAT,
	BTF_OTHER,		/* a struct or union by value, unknown */
};
struct btf_value {
	const char *name;	/* "" = none */
	uint32_t type, size;	/* bytes */
	enum btf_class class;
	bool is_signed;
};

enum { BTF_PARAMS = 12 };	/* what the kernel hands to programs */
struct btf_proto {
	unsigned nparams;	/* all of them; params[] has the first 12 */
	bool is_variadic;
	struct btf_value params[BTF_PARAMS], ret;
};

/* Of btf_func()'s number; of a raw tracepoint by its name (without the `void
 * *` that programs do not get, and which returns nothing). 0; -ENOENT;
 * -EINVAL: it is no function, or its types make no sense. */
int btf_func_proto(const struct btf *b, uint32_t func, struct btf_proto *out);
int btf_tracepoint_proto(const struct btf *b, const char *name,
			 struct btf_proto *out);

/* Append a type as in C, "const struct file *". 0, -EINVAL (it makes no sense:
 * something was appended all the same), -ENOMEM. */
int btf_type_text(const struct btf *b, uint32_t type, struct buf *out);

/* The value of an enumerator, "PIDTYPE_TGID". -ENOENT; -ENOTUNIQ: several that
 * differ. */
int btf_enumerator(const struct btf *b, const char *name, int64_t *value);

#endif
