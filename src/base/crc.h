/* crc - checksums: CRC-32 as of IEEE 802.3, CRC-64 as of ECMA-182, each with
 * its bits reversed, as zlib and xz have them. */
#ifndef BASE_CRC_H
#define BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what `sum` is that of (0 = nothing), and n bytes more. */
uint32_t crc32_add(uint32_t sum, const void *p, size_t n);
uint64_t crc64_add(uint64_t sum, const void *p, size_t n);

#endif
