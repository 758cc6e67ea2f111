/* fields - heads and ends of raw files as fields, and back. */
#ifndef RAW_FIELDS_H
#define RAW_FIELDS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/intern.h"
#include "raw/format.h"

/* A varint, and bytes after their length, at the end of a buffer. */
void raw_put(struct buf *to, uint64_t n);
void raw_put_signed(struct buf *to, int64_t n);
void raw_put_bytes(struct buf *to, const void *p, size_t n);

/* What is left of a record's content. A read beyond its end, or of what cannot
 * be, makes it bad, and gives 0 from then on. */
struct raw_cursor {
	const uint8_t *p, *end;
	bool bad;
};
uint64_t raw_get(struct raw_cursor *in);
int64_t raw_get_signed(struct raw_cursor *in);
uint32_t raw_get32(struct raw_cursor *in);	/* at most 2^32 - 1 */
const uint8_t *raw_get_bytes(struct raw_cursor *in, size_t *n);

/* One below `end`; else bad. */
uint32_t raw_get_below(struct raw_cursor *in, size_t end);

/* All fields that are not empty. */
void raw_put_head(struct buf *to, const struct raw_head *head);
void raw_put_end(struct buf *to, const struct raw_end *end);

/* All that are known; texts are kept by `texts`, which must not grow any more
 * while they are used. 0, -EINVAL, -ENOMEM. */
int raw_get_head(struct raw_cursor *in, struct intern *texts,
		 struct raw_head *head);
int raw_get_end(struct raw_cursor *in, struct intern *texts,
		struct raw_end *end);

#endif
