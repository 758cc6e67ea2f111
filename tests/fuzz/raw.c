/* raw - fuzzes raw files: as they are, and with checksums put right. */
#include <stdint.h>
#include <stdlib.h>

#include "../unit/raw_make.h"
#include "base/log.h"
#include "cmd/raw_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take_head(void *arg, const struct raw_head *head)
{
	(void)arg;
	if (!head->command || !head->units[0])
		abort();
	return 0;
}

/* What is named must have a name, and print. */
static int take_row(void *arg, const struct stack_row *row,
		    const uint64_t *values)
{
	const struct stack_options how = { .addresses = true, .pids = true };
	struct buf *text = arg;

	(void)values;
	for (size_t i = 0; i < row->nuser; i++)
		if (!row->user[i].name)
			abort();
	buf_reset(text);
	stack_folded(text, row, &how);
	stack_text(text, row, &how);
	return text->err;
}

static void read_file(const uint8_t *p, size_t n)
{
	struct name_options from = { .debug_dir = "/proc/self/fdinfo" };
	struct buf text = { 0 };
	struct raw_names names = {
		.head = take_head, .row = take_row, .arg = &text,
	};
	struct raw_reader r = { .fd = -1 };
	int fd = file_of(p, n);

	if (!raw_names_open(&names, &from)) {
		raw_names_read(&names, fd, NULL, 0, "fuzz", &r);
		if (r.offset > n || (r.state == RAW_WHOLE && r.more !=
				     (r.offset < n)))
			abort();
	}
	raw_read_free(&r);
	raw_names_close(&names);
	buf_free(&text);
	close(fd);
}

/* The same with records whose checksums are right: those that it seems to have,
 * a byte of type, one or two of length, content, and four. */
static void put_right(const uint8_t *p, const uint8_t *end)
{
	static struct bytes file, part;

	start(&file, 1, 0);
	for (p += end - p < 10 ? end - p : 10; end - p > 6; ) {
		unsigned type = *p++, n = *p & 127;

		if (*p++ & 128)
			n |= (unsigned)*p++ << 7;
		if (n > end - p)
			n = (unsigned)(end - p);
		if (file.n + n + 16 > BYTES_MOST || n > BYTES_MOST)
			break;
		memcpy(part.p, p, n);
		part.n = n;
		record(&file, type, &part);
		p += n;
		p += end - p < 4 ? end - p : 4;
	}
	read_file(file.p, file.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	log_set_silent(true);
	read_file(data, size);
	put_right(data, data + size);
	return 0;
}
