/* near - the name a user probably meant. */
#include "base/near.h"

#include <string.h>

enum { NEAR_MAX = 32 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t near_distance(const char *a, const char *b)
{
	size_t n = strnlen(a, NEAR_MAX), m = strnlen(b, NEAR_MAX), i, j;
	size_t d[NEAR_MAX + 1][NEAR_MAX + 1];

	for (i = 0; i <= n; i++)
		d[i][0] = i;
	for (j = 0; j <= m; j++)
		d[0][j] = j;
	for (i = 1; i <= n; i++) {
		for (j = 1; j <= m; j++) {
			size_t replaced = d[i - 1][j - 1] +
					  (a[i - 1] != b[j - 1]);

			d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
					replaced);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[n][m];
}

void near_offer(struct near *n, const char *candidate)
{
	size_t distance = near_distance(n->wanted, candidate);
	size_t limit = strlen(n->wanted) / 3 + 1;

	if (distance > limit || (n->best && distance >= n->distance))
		return;
	n->best = candidate;
	n->distance = distance;
}
