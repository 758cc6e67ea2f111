/* heads - what files say of themselves, read where a process maps them. */
#ifndef SYM_HEADS_H
#define SYM_HEADS_H

#include "base/vec.h"
#include "sym/build_id.h"
#include "sym/elf.h"
#include "sym/maps.h"

enum { HEAD_SEGMENTS = 4 };

/* Of one file. */
struct head {
	uint8_t tries;
	bool known;			/* what follows is */
	bool elf;			/* false: generated code in a file */
	struct build_id id;
	size_t nsegments;		/* executable ones */
	struct elf_extent segments[HEAD_SEGMENTS];
};

/* To name an address elsewhere takes the file's build-id and where its code
 * lies, and not the file: both stand in its first page, which processes mostly
 * map. All zero is empty. */
struct heads {
	VEC(struct head) v;		/* by number of the file */
	struct map_row first;		/* the last row that passed and maps the
					 * beginning of a file; path is NULL */
	struct memory {
		int mem, pages;		/* descriptors */
		bool open;
	} memory;			/* of the process whose rows pass */
	struct elf *last;		/* what was read last, see heads.c */
};

void heads_free(struct heads *h);

/* A row of the maps that are being read, in their order. */
void heads_pass(struct heads *h, const struct map_row *row);

/* Read the file of a row of a process (`dir` is its folder), unless that was
 * done, or failed too often. What a process has written over does not count. */
void heads_read(struct heads *h, int dir, const struct map_row *row,
		uint32_t file);

/* No more of this process. */
void heads_end(struct heads *h);

/* NULL: nothing is known. */
const struct head *heads_get(const struct heads *h, uint32_t file);

#endif
