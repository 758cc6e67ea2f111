/* desk - the symbols of files that another machine mapped. */
#ifndef SYM_DESK_H
#define SYM_DESK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "sym/build_id.h"
#include "sym/elf.h"

enum { DESK_SEGMENTS = 4 };

struct desk;

/* What is known of a file. */
struct desk_file {
	const char *path;		/* there */
	struct build_id id;
	uint64_t inode;
	uint64_t recorded;		/* s since 1970; 0 = not known */
	bool here;			/* it was this machine */
	bool unread;			/* whether it has a build-id, is not
					 * known */
	size_t nsegments;		/* executable ones */
	struct elf_extent segments[DESK_SEGMENTS];
};

/* Files are looked for where debug_files_open() was told, by their path and by
 * their build-id, and at their path here. 0 or -ENOMEM. */
int desk_open(struct desk **out);
void desk_close(struct desk *d);

/* Its number, the same for the same file; -ENOMEM. */
int64_t desk_put(struct desk *d, const struct desk_file *file);

/* What there is of it: looked for now, if it was not. The address in it of an
 * offset, as the linker counts them. False: not known. */
bool desk_vaddr(struct desk *d, uint32_t file, uint64_t offset,
		uint64_t *vaddr);

/* What has its symbols, and what has also its code; NULL = there is none. */
struct elf *desk_names(struct desk *d, uint32_t file);
struct elf *desk_code(struct desk *d, uint32_t file);

/* Notices about what was not found or not used. */
void desk_report(const struct desk *d);

#endif
