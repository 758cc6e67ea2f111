/* build_id - build-ids of files: in notes, as text, of an ELF file. */
#ifndef SYM_BUILD_ID_H
#define SYM_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf;

enum { BUILD_ID_MOST = 32 };		/* bytes; longer ones are none */

/* What the linker wrote into a file to tell it from all others: a note of type
 * 3 and name "GNU" (gABI, "Note Section"). len 0 = there is none. */
struct build_id {
	uint8_t bytes[BUILD_ID_MOST];
	size_t len;
};

/* The one in n bytes of notes that are padded to 4 or 8 bytes. False: none. */
bool build_id_find(const uint8_t *notes, size_t n, bool big_endian,
		   uint64_t align, struct build_id *out);

bool build_id_same(const struct build_id *a, const struct build_id *b);

/* In hexadecimal digits. */
enum { BUILD_ID_TEXT = 2 * BUILD_ID_MOST + 1 };
const char *build_id_text(const struct build_id *id, char text[BUILD_ID_TEXT]);

/* Of the kernel that runs, or one of its modules; len 0 = not known. */
void build_id_kernel(struct build_id *out);
void build_id_module(const char *name, struct build_id *out);

#endif
