/* ldcache - fuzzes the reader of the dynamic linker's cache. */
#include <stdint.h>
#include <string.h>

#include "sym/ldcache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int see(void *arg, const char *soname, const char *path)
{
	*(size_t *)arg += strlen(soname) + strlen(path);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t bytes = 0;

	ldcache_each(data, size, see, &bytes);
	return 0;
}
