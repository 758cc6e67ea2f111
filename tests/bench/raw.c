/* raw - makes a raw file of addresses in one file, each a leaf of its own.
 *
 *   raw PATH BUILD-ID OFFSET SIZE VADDR <ADDRESSES >FILE
 *
 * The numbers, hexadecimal, are those of the executable segment. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "raw/write.h"

static uint64_t hex(const char *s)
{
	return strtoull(s, NULL, 16);
}

int main(int argc, char **argv)
{
	struct raw_head head = { .command = "profile",
				 .units = { "samples" } };
	struct raw_file file = { .nsegments = 1 };
	struct raw_end end = { 0 };
	const uint64_t one = 1;
	struct raw_writer w;
	char line[64];

	if (argc < 6)
		return 2;
	file.path = argv[1];
	for (const char *p = argv[2]; p[0] && p[1]; p += 2) {
		char byte[3] = { p[0], p[1], 0 };

		file.id[file.id_len++] = (uint8_t)hex(byte);
	}
	file.segments[0] = (struct raw_segment){
		hex(argv[3]), hex(argv[4]), hex(argv[5]),
	};
	raw_write_begin(&w, stdout, &head);
	raw_write_file(&w, &file);
	while (fgets(line, sizeof(line), stdin)) {
		struct raw_frame frame = {
			hex(line) - file.segments[0].vaddr +
			file.segments[0].offset, 0, RAW_IN_FILE,
		};
		struct raw_side_out side = {
			.task = raw_write_task(&w, "bench", 5, 1),
			.user = &frame, .nuser = 1,
		};

		raw_write_row(&w, &side, NULL, &one, 1);
	}
	return raw_write_end(&w, &end) != 0;
}
