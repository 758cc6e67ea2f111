/* crc - checksums whose bits are reversed: the lowest bit is the highest
 * power. */
#include "base/crc.h"

/* Four bits at a time, by a table that is made in less time than a cache miss
 * takes. `ones` has all bits of the sum set. */
static uint64_t add(uint64_t sum, const void *p, size_t n, uint64_t polynomial,
		    uint64_t ones)
{
	const uint8_t *byte = p;
	uint64_t table[16];

	for (unsigned i = 0; i < 16; i++) {
		table[i] = i;
		for (int bit = 0; bit < 4; bit++)
			table[i] = table[i] >> 1 ^
				   (table[i] & 1 ? polynomial : 0);
	}
	for (sum ^= ones; n--; byte++) {
		sum = table[(sum ^ *byte) & 15] ^ sum >> 4;
		sum = table[(sum ^ *byte >> 4) & 15] ^ sum >> 4;
	}
	return sum ^ ones;
}

uint32_t crc32_add(uint32_t sum, const void *p, size_t n)
{
	return (uint32_t)add(sum, p, n, 0xedb88320, UINT32_MAX);
}

uint64_t crc64_add(uint64_t sum, const void *p, size_t n)
{
	return add(sum, p, n, 0xc96c5795d7870f42, UINT64_MAX);
}
