/* jitmap - fuzzes the reader of JIT maps. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/jitmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void find(struct jitmap *m, uint64_t addr)
{
	struct buf name = { 0 };

	if (!jitmap_find(m, addr, &name) &&
	    (!name.len || memchr(name.data, 0, name.len)))
		abort();
	buf_free(&name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *p = data, *end = data + size;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct jitmap *m;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (jitmap_load(fd, &m))
		return 0;
	find(m, 0);
	find(m, UINT64_MAX);
	for (int i = 0; p && p < end && i < 64; i++) {
		char text[17] = { 0 };

		memcpy(text, p, end - p < 16 ? (size_t)(end - p) : 16);
		find(m, strtoull(text, NULL, 16));
		find(m, strtoull(text, NULL, 16) + 4);
		p = memchr(p, '\n', (size_t)(end - p));
		p = p ? p + 1 : NULL;
	}
	jitmap_free(m);
	return 0;
}
