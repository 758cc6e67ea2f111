/* syscall_name - the names that kernels gave to the function of a syscall. */
#ifndef TRACE_SYSCALL_NAME_H
#define TRACE_SYSCALL_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Candidate number i (0, 1, ...) for what the user calls `name`, in the order
 * of preference, the first one that the kernel has being meant: the name
 * itself, then the names by which kernels knew the syscall that it spells
 * ("openat", "sys_openat", "__arm64_sys_openat"). Replaces what `to` holds.
 * False when there are no more; also for a name that can be no syscall's. */
bool syscall_candidate(const char *name, size_t i, struct buf *to);

/* The syscall's own name in such a function's name: "openat"; NULL when the
 * function is none. Points into `function`. */
const char *syscall_of(const char *function);

/* The function's only argument points to the registers with which the program
 * entered the kernel; the syscall's arguments are in there. False where it has
 * them as arguments of its own. */
bool syscall_is_wrapper(const char *function);

#endif
