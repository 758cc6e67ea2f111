/* demangle - readable names for those of stdin, a line each; with "time", how
 * many a second that were instead: names/s by CPU time, the best of ten. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/vec.h"
#include "sym/demangle.h"

enum { LONGEST = 1 << 16 };

static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void show(const char *name, struct buf *out)
{
	buf_reset(out);
	puts(demangle(name, out) ? name : buf_str(out));
}

/* All names lie in one buffer, a NUL behind each. */
static double round_of(const struct buf *names, struct buf *out, size_t *n)
{
	double start = cpu_time();

	*n = 0;
	for (size_t at = 0; at < names->len; ++*n) {
		buf_reset(out);
		demangle(names->data + at, out);
		at += strlen(names->data + at) + 1;
	}
	return cpu_time() - start;
}

static void time_all(const struct buf *names, struct buf *out)
{
	double best = 0, took;
	size_t n;

	for (int i = 0; i < 10; i++) {
		took = round_of(names, out, &n);
		best = !i || took < best ? took : best;
	}
	printf("%.0f\n", (double)n / best);
}

int main(int argc, char **argv)
{
	struct buf names = { 0 }, out = { 0 };
	static char line[LONGEST];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (argc == 1)
			show(line, &out);
		else
			buf_mem(&names, line, strlen(line) + 1);
	}
	if (argc > 1 && !strcmp(argv[1], "time") && !names.err)
		time_all(&names, &out);
	buf_free(&names);
	buf_free(&out);
	return 0;
}
