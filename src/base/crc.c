/* crc - CRC-32 as of IEEE 802.3: polynomial 0xedb88320, bits reversed. */
#include "base/crc.h"

/* Four bits at a time. */
uint32_t crc_add(uint32_t crc, const void *p, size_t n)
{
	static const uint32_t table[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
		0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	const uint8_t *byte = p;

	for (crc = ~crc; n--; byte++) {
		crc = table[(crc ^ *byte) & 15] ^ crc >> 4;
		crc = table[(crc ^ *byte >> 4) & 15] ^ crc >> 4;
	}
	return ~crc;
}
