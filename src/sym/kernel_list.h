/* kernel_list - a list of the kernel's symbols that somebody brings along. */
#ifndef SYM_KERNEL_LIST_H
#define SYM_KERNEL_LIST_H

#include <stddef.h>
#include <stdint.h>

struct kallsyms;

/* Open what is to be read as a list: a file, or a pipe that somebody writes to.
 * A descriptor, or -errno; -EINVAL: something else. */
int kernel_list_open(const char *path);

/* A copy of /proc/kallsyms, or a System.map. 0 or -errno, reported; freed with
 * kallsyms_free(). */
int kernel_list_read(const char *path, struct kallsyms **out);

/* The list of the kernel that runs, by itself. 0 or -errno, unreported; then
 * the other one says that its functions are shown as addresses, and why. */
int kernel_list_own(struct kallsyms **out);
void kernel_list_own_failed(int err);

/* Where in it the kernel that runs is: *shift is what its addresses lack to
 * those of the list. -EINVAL: of no place is that sure; or why the kernel does
 * not let us look; reported. */
int kernel_list_place(const struct kallsyms *k, const char *path,
		      uint64_t *shift);

/* The same by return addresses of the waits of one thread, in any order.
 * -EINVAL: not sure. */
int kernel_list_match(const struct kallsyms *k, const uint64_t *returns,
		      size_t n, uint64_t *shift);

#endif
