/* folded - fuzz target: folded stacks, read and drawn. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "render/folded.h"
#include "render/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is drawn must be UTF-8 without control characters. */
static void check_text(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((p[i] < 0x20 && p[i] != '\n') || p[i] == 0x7f)
			abort();
}

static void draw(struct flame *f)
{
	struct graph_options o = { .min_width = 1, .width = 300 };
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	if (!out)
		return;
	if (graph_write(&graph_svg, out, f, &o))
		abort();
	fclose(out);
	check_text((unsigned char *)text, n);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("folded", 0), err;
	struct flame f = { 0 };
	struct input r;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
	    lseek(fd, 0, SEEK_SET))
		abort();
	input_open(&r, fd, "fuzz");
	while ((err = folded_next(&r)) > 0)
		if (flame_add(&f, r.frames.v, r.frames.n, r.count))
			abort();
	if (err)
		abort();
	input_close(&r);
	close(fd);
	draw(&f);
	flame_free(&f);
	return 0;
}
