/* helper - the kernel's BPF helpers that programs here call. */
#ifndef ASM_HELPER_H
#define ASM_HELPER_H

#include <stdint.h>

/* args has a letter for each of r1, r2, ...:
 *   c  the program's context		m  a map
 *   k  memory, read: a key of the map	u  memory, read: a value of the map
 *   r  memory, read			w  memory, written
 *   s  the size of the r or w before it	v  any other value
 * Source: the comments in <linux/bpf.h> and the kernel's bpf_func_proto. */
struct helper {
	int32_t number;		/* BPF_FUNC_... */
	const char *name;
	const char *args;
};

/* NULL when the table lacks it. */
const struct helper *helper_find(int32_t number);

#endif
