/* vec - growable arrays, and the only callers of malloc. */
#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>

void *mem_zalloc(size_t n)
{
	return calloc(1, n ? n : 1);
}

void mem_free(void *p)
{
	free(p);
}

bool vec_room(void **v, size_t *cap, size_t need, size_t size)
{
	size_t grown;
	void *p;

	if (need <= *cap)
		return true;
	grown = *cap + *cap / 2;
	if (grown < need)
		grown = need;
	if (grown < 16)
		grown = 16;
	if (grown > PTRDIFF_MAX / size)
		return false;
	p = realloc(*v, grown * size);
	if (!p)
		return false;
	*v = p;
	*cap = grown;
	return true;
}
