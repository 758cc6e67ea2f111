/* perf_script - fuzz target: perf script's text, compared and written. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "render/changes.h"
#include "render/graph.h"
#include "render/perf_script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Two ways to look at each stack: as it is, and as what it was before. */
struct both {
	struct flame plain, diff;
	struct changes changes;
	uint64_t total;
};

static void add(struct both *b, const struct input *in, bool old)
{
	const struct flame_frame *v = in->frames.v;

	if (flame_add(&b->plain, v, in->frames.n, in->count) ||
	    (old ? flame_add_old : flame_add)(&b->diff, v, in->frames.n,
					      in->count) ||
	    changes_add(&b->changes, v, in->frames.n, in->count, old))
		abort();
	b->total += in->count;
}

static void read_all(struct both *b, const uint8_t *data, size_t size)
{
	int fd = memfd_create("script", 0), err;
	struct input in;
	bool old = false;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
	    lseek(fd, 0, SEEK_SET))
		abort();
	input_open(&in, fd, "fuzz");
	while ((err = perf_script_next(&in)) > 0)
		add(b, &in, old = !old);
	if (err || in.line > size + 1)
		abort();
	input_close(&in);
	close(fd);
}

/* What is no protocol buffer has no control characters. */
static void write_one(struct flame *f, const char *path)
{
	struct graph_options o = { .min_width = 1, .width = 300 };
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	if (!out || graph_write(graph_format_of(path), out, f, &o))
		abort();
	fclose(out);
	if (strcmp(path, "x.pb"))
		for (size_t i = 0; i < n; i++)
			if ((unsigned char)text[i] < 0x20 && text[i] != '\n')
				abort();
	free(text);
}

static void print_changes(const struct changes *c)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	if (!out || changes_print(c, 0, out))
		abort();
	fclose(out);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct both b = { .diff.diff = true };

	perf_script_is((const char *)data, size, true);
	perf_script_is((const char *)data, size, false);
	read_all(&b, data, size);
	if (b.plain.total != b.total ||
	    b.diff.total + b.diff.old_total != b.total)
		abort();
	write_one(&b.plain, "x.folded");
	write_one(&b.plain, "x.json");
	write_one(&b.plain, "x.pb");
	write_one(&b.diff, "x.svg");
	print_changes(&b.changes);
	flame_free(&b.plain);
	flame_free(&b.diff);
	changes_free(&b.changes);
	return 0;
}
