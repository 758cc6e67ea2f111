/* raw_make - writes raw files byte by byte, as format.h says and no writer. */
#ifndef TESTS_UNIT_RAW_MAKE_H
#define TESTS_UNIT_RAW_MAKE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES_MOST = 1 << 16 };

struct bytes {
	uint8_t p[BYTES_MOST];
	size_t n;
};

static void byte(struct bytes *b, unsigned value)
{
	b->p[b->n++] = (uint8_t)value;
}

static void number(struct bytes *b, uint64_t value)
{
	while (value > 127) {
		byte(b, 128 | (value & 127));
		value >>= 7;
	}
	byte(b, (unsigned)value);
}

/* Bit by bit. */
static uint32_t crc_of(const uint8_t *p, size_t n)
{
	uint32_t crc = 0xffffffff;

	for (; n--; p++) {
		crc ^= *p;
		for (int i = 0; i < 8; i++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	return ~crc;
}

static void start(struct bytes *b, unsigned major, unsigned minor)
{
	b->n = 0;
	memcpy(b->p, "\223sonde\r\n", 8);
	b->n = 8;
	byte(b, major);
	byte(b, minor);
}

/* A record of that type with the content; `content` is empty then. */
static void record(struct bytes *b, unsigned type, struct bytes *content)
{
	uint32_t crc;

	byte(b, type);
	number(b, content->n);
	memcpy(b->p + b->n, content->p, content->n);
	b->n += content->n;
	content->n = 0;
	crc = crc_of(b->p, b->n);
	for (int i = 0; i < 4; i++)
		byte(b, crc >> 8 * i & 255);
}

static int file_of(const void *p, size_t n)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	if (fd < 0 || write(fd, p, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

#endif
