/* near - the name a user probably meant. */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#include <stddef.h>

/* Edits (insert, delete, replace, swap neighbours) from a to b; only the
 * first 32 bytes of each count. */
size_t near_distance(const char *a, const char *b);

/* Offer candidates one by one; best stays NULL when none is close. */
struct near {
	const char *wanted;
	const char *best;
	size_t distance;
};
void near_offer(struct near *n, const char *candidate);

#endif
