/* demangle - fuzzes readable names of C++ and Rust. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/vec.h"
#include "sym/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One that is none leaves nothing behind; the other is the same each time. Both
 * are known soon, however they are put together. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = mem_zalloc(size + 1);
	struct buf out = { 0 };
	clock_t start = clock();
	size_t n;
	int err;

	if (!name)
		return 0;
	memcpy(name, data, size);
	err = demangle(name, &out);
	n = out.len;
	if (clock() - start > 4 * CLOCKS_PER_SEC)
		abort();
	if (err ? n : demangle(name, &out) || out.len != 2 * n ||
		      memcmp(out.data, out.data + n, n))
		abort();
	buf_free(&out);
	mem_free(name);
	return 0;
}
