/* histogram - how values spread, a row for each power of two. */
#ifndef RENDER_HISTOGRAM_H
#define RENDER_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Counts of values by their highest bit: slot 0 for 0 and 1, slot n for 2^n to
 * 2^(n+1) - 1. The last is 63, whose upper end is 2^64 - 1. */
enum { HISTOGRAM_SLOTS = 64 };

/* Print rows from the first slot to the last that is not empty, as bcc does:
 *      nsecs               : count     distribution
 *          0 -> 1          : 3        |********************   ...          |
 * (a bar is 40 wide), or wider, with bars of 20, when a value needs more than
 * 10 digits. The fullest row has a full bar. Nothing when all are empty.
 * `label` is what the values are, printed as it stands.
 */
void histogram_print(FILE *out, const char *label,
		     const uint64_t slots[HISTOGRAM_SLOTS]);

#endif
