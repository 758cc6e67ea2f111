/* xz - unpack what xz packs, in memory. */
#ifndef BASE_XZ_H
#define BASE_XZ_H

#include <stddef.h>
#include <stdint.h>

/* Unpack the first stream of a .xz file that is whole in memory, into *size
 * (<= most) bytes at *out, which mem_free() frees. They are right as far as the
 * file's own checks go: CRC32 and CRC64 are looked at, SHA-256 is not.
 * -EINVAL: malformed, cut off, or damaged; -EOPNOTSUPP: packed by more than
 * LZMA2; -EFBIG: more than `most`; -ENOMEM. */
int xz_unpack(const uint8_t *in, size_t n, size_t most, uint8_t **out,
	      size_t *size);

#endif
