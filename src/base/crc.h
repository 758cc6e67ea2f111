/* crc - CRC-32 as of IEEE 802.3: polynomial 0xedb88320, bits reversed. */
#ifndef BASE_CRC_H
#define BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what `crc` is that of (0 = nothing), and n bytes more. */
uint32_t crc_add(uint32_t crc, const void *p, size_t n);

#endif
