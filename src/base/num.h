/* num - numbers from text, strictly: the whole text, in range, or an error. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* Decimal digits only. -EINVAL: not a number; -ERANGE: not within min..max. */
int num_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out);

/* Read hexadecimal (or decimal) digits at p, before end. Returns the place
 * after the last digit; NULL when there is no digit or more than 64 bits. */
const char *num_hex(const char *p, const char *end, uint64_t *out);
const char *num_dec(const char *p, const char *end, uint64_t *out);

/* A list of numbers: "3", "3,5", with ranges when `ranges` is set ("0-3,7", as
 * the kernel prints CPU lists). Appends to the list; -EINVAL, -ERANGE as above,
 * -E2BIG beyond 65,536 items, -ENOMEM. The caller frees with vec_free(). */
struct num_list {
	uint64_t *v;
	size_t n, cap;
};
int num_list(const char *s, bool ranges, uint64_t max, struct num_list *out);

#endif
