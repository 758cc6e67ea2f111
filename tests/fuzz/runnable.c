/* runnable - fuzz target: lines of /proc/TID/stat and /proc/loadavg. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/overload.h"
#include "trace/runnable.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Of just that size, so that a byte more is noticed. */
	char *text = malloc(size ? size : 1);
	struct runnable_task t;
	uint64_t running;

	if (!text)
		abort();
	memcpy(text, data, size);
	if (runnable_parse(text, size, &t) && strlen(t.comm) > COMM_SIZE)
		abort();
	overload_parse(text, size, &running);
	free(text);
	return 0;
}
