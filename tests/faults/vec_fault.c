/* vec_fault - base/vec.c with allocations that fail: linked in its place.
 *
 * FAULT_ALLOCATION=N makes the Nth one fail, N+ all that follow, too. When the
 * program ends, the number of allocations goes to descriptor FAULT_REPORT. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned long made;

static int is_due(void)
{
	const char *fault = getenv("FAULT_ALLOCATION");
	char *end;
	unsigned long nth = fault ? strtoul(fault, &end, 10) : 0;

	made++;
	return nth && (made == nth || (*end == '+' && made > nth));
}

static void *fault_calloc(size_t n, size_t size)
{
	return is_due() ? NULL : calloc(n, size);
}

static void *fault_realloc(void *p, size_t n)
{
	return is_due() ? NULL : realloc(p, n);
}

__attribute__((destructor)) static void report(void)
{
	const char *fd = getenv("FAULT_REPORT");

	if (fd)
		dprintf(atoi(fd), "%lu\n", made);
}

#define calloc fault_calloc
#define realloc fault_realloc
#include "../../src/base/vec.c"
