/* xz - fuzzes unpacking. */
#include <stdint.h>
#include <stdlib.h>

#include "base/vec.h"
#include "base/xz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *out = NULL;
	size_t n = 0, sum = 0;

	if (xz_unpack(data, size, MOST, &out, &n))
		return 0;
	if (n > MOST)
		abort();
	for (size_t i = 0; i < n; i++)
		sum += out[i];
	mem_free(out);
	return sum == SIZE_MAX;
}
