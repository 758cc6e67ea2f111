/* x86_length - fuzzes the length of instructions: whole, then cut. */
#include <stdint.h>
#include <stdlib.h>

#include "sym/x86_length.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A length never depends on bytes behind it; without all of it, there is
 * none. */
static void check(const uint8_t *p, size_t n)
{
	size_t length = x86_length(p, n);

	if (length > X86_LENGTH_MAX || length > n)
		abort();
	if (length && (x86_length(p, length) != length ||
		       x86_length(p, length - 1)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		check(data + i, size - i);
	return 0;
}
