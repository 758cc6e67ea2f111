/* xz - tests unpacking on what xz makes, whole, cut and damaged. */
#include "test.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vec.h"
#include "base/xz.h"

enum { MOST = 8 << 20 };

/* Three times "hello hello hello hello, xz\n", by xz --check=crc64. */
static const uint8_t hello[] = {
	0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46,
	0x02, 0x00, 0x21, 0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3,
	0xe0, 0x00, 0x53, 0x00, 0x14, 0x5d, 0x00, 0x34, 0x19, 0x49, 0xee, 0x8d,
	0xe9, 0x56, 0x0a, 0xe7, 0x79, 0x9d, 0x78, 0xa9, 0xbf, 0xd2, 0x3f, 0x3f,
	0xe0, 0x40, 0x00, 0x00, 0x56, 0x6e, 0x7d, 0x9c, 0x52, 0x33, 0x1e, 0x72,
	0x00, 0x01, 0x30, 0x54, 0x35, 0x16, 0xc6, 0x93, 0x1f, 0xb6, 0xf3, 0x7d,
	0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
};
enum { BLOCK = 12, CHUNKS = 24, INDEX_END = 68 };
static const char line[] = "hello hello hello hello, xz\n";

static bool is_hello(const uint8_t *p, size_t n)
{
	size_t len = sizeof(line) - 1;

	return n == 3 * len && !memcmp(p, line, len) &&
		!memcmp(p + len, line, len) && !memcmp(p + 2 * len, line, len);
}

/* Unpack from memory of just that size. `wrong` when it is not three lines. */
static int unpack(const uint8_t *from, size_t n, size_t most, bool *wrong)
{
	uint8_t *in = malloc(n + !n), *out;
	size_t size;
	int err;

	memcpy(in, from, n);
	err = xz_unpack(in, n, most, &out, &size);
	if (!err) {
		*wrong |= !is_hello(out, size);
		mem_free(out);
	}
	free(in);
	return err;
}

TEST(whole)
{
	bool wrong = false;

	CHECK_EQ(unpack(hello, sizeof(hello), MOST, &wrong), 0);
	CHECK_EQ(unpack(hello, sizeof(hello), 84, &wrong), 0);
	CHECK_EQ(unpack(hello, sizeof(hello), 83, &wrong), -EFBIG);
	CHECK_EQ(unpack(hello, sizeof(hello), 0, &wrong), -EFBIG);
	CHECK(!wrong);
}

TEST(cut_at_every_byte)
{
	bool wrong = false;

	for (size_t n = 0; n < INDEX_END; n++)
		CHECK_EQ(unpack(hello, n, MOST, &wrong), -EINVAL);
	CHECK(!wrong);
}

/* All but the footer counts: headers, bytes, their sums, the index. */
TEST(every_bit_flipped)
{
	uint8_t bytes[sizeof(hello)];
	bool wrong = false;

	for (size_t i = 0; i < 8 * INDEX_END; i++) {
		memcpy(bytes, hello, sizeof(hello));
		bytes[i / 8] ^= (uint8_t)(1 << i % 8);
		if (!unpack(bytes, sizeof(bytes), MOST, &wrong))
			FAIL("bit %zu does not matter", i);
	}
	CHECK(!wrong);
}

static uint32_t crc32(const uint8_t *p, size_t n)
{
	uint32_t c = ~0u;

	for (size_t i = 0; i < 8 * n; i++) {
		c ^= p[i / 8] >> i % 8 & 1;
		c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
	}
	return ~c;
}

static void sum_set(uint8_t *at, const uint8_t *p, size_t n)
{
	uint32_t c = crc32(p, n);

	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(c >> 8 * i);
}

/* Other filters, and what chunks may not say, with a right sum. */
TEST(filters_and_chunks)
{
	static const struct {
		int at;
		uint8_t byte;
		int err;
	} cases[] = {
		{ BLOCK + 1, 1, -EOPNOTSUPP },		/* two filters */
		{ BLOCK + 1, 4, -EOPNOTSUPP },		/* reserved */
		{ BLOCK + 2, 4, -EOPNOTSUPP },		/* x86 */
		{ BLOCK + 2, 0x80, -EOPNOTSUPP },
		{ CHUNKS, 0xc0, -EINVAL },		/* no new dictionary */
		{ CHUNKS, 0x80, -EINVAL },
		{ CHUNKS, 0x02, -EINVAL },
		{ CHUNKS, 0x03, -EINVAL },
		{ CHUNKS, 0x7f, -EINVAL },
		{ CHUNKS, 0xff, -EINVAL },		/* 2 MB from 21 bytes */
		{ CHUNKS + 2, 0x52, -EINVAL },		/* a byte less */
		{ CHUNKS + 5, 225, -EINVAL },		/* properties */
		{ CHUNKS + 5, 4 * 9 + 8, -EINVAL },
	};
	uint8_t bytes[sizeof(hello)];
	bool wrong = false;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memcpy(bytes, hello, sizeof(hello));
		bytes[cases[i].at] = cases[i].byte;
		sum_set(bytes + BLOCK + 8, bytes + BLOCK, 8);
		CHECK_EQ(unpack(bytes, sizeof(bytes), MOST, &wrong),
			 cases[i].err);
	}
	CHECK(!wrong);
}

/* Chunks as they are, between and after others; no check. */
TEST(plain_chunks)
{
	static const uint8_t chunks[] = {
		1, 0, 1, 'h', 'e', 2, 0, 0, 'l', 0, 0, 0,
	};
	static const uint8_t records[] = { 0, 1, 23, 3 };
	uint8_t bytes[64] = { 0 }, *out;
	size_t size;

	memcpy(bytes, hello, CHUNKS);
	bytes[7] = 0;
	sum_set(bytes + 8, bytes + 6, 2);
	memcpy(bytes + CHUNKS, chunks, sizeof(chunks));
	memcpy(bytes + CHUNKS + 12, records, 4);
	sum_set(bytes + CHUNKS + 16, records, 4);
	CHECK_EQ(xz_unpack(bytes, sizeof(bytes), MOST, &out, &size), 0);
	CHECK_EQ(size, 3);
	CHECK(!memcmp(out, "hel", 3));
	mem_free(out);
	bytes[CHUNKS + 1] = 255;		/* more than there is */
	CHECK_EQ(xz_unpack(bytes, sizeof(bytes), MOST, &out, &size), -EINVAL);
}

/* What xz makes of a program and of noise, as one who packs may ask for it. */
static const char *const options[] = {
	"-0", "-6", "-7e", "--check=none", "--check=crc32", "--check=sha256",
	"--lzma2=lc=0,lp=4,pb=0", "--lzma2=lc=4,lp=0,pb=4",
	"--lzma2=dict=4KiB", "--lzma2=mode=fast,nice=5",
	"--block-size=50000", "-T2 --block-size=100000",
};

static uint8_t *file_read(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	uint8_t *p = malloc(MOST);

	*n = f ? fread(p, 1, MOST, f) : 0;
	if (f)
		fclose(f);
	return p;
}

static void one_option(const char *option, const char *dir)
{
	char command[512], path[64];
	uint8_t *packed, *wanted, *out;
	size_t n, size, all;

	snprintf(command, sizeof(command), "cd %s && xz -c %s in >out", dir,
		 option);
	if (system(command)) {
		FAIL("xz %s", option);
		return;
	}
	snprintf(path, sizeof(path), "%s/in", dir);
	wanted = file_read(path, &all);
	snprintf(path, sizeof(path), "%s/out", dir);
	packed = file_read(path, &n);
	if (xz_unpack(packed, n, MOST, &out, &size)) {
		FAIL("xz %s: not unpacked", option);
	} else {
		if (size != all || memcmp(out, wanted, all))
			FAIL("xz %s: other bytes", option);
		mem_free(out);
	}
	free(packed);
	free(wanted);
}

TEST(as_xz_packs)
{
	char dir[] = "/tmp/xz.XXXXXX", command[128];

	if (!mkdtemp(dir)) {
		FAIL("no folder");
		return;
	}
	snprintf(command, sizeof(command), "head -c 250000 /proc/%d/exe "
		 ">%s/in && head -c 50000 /dev/urandom >>%s/in",
		 (int)getpid(), dir, dir);
	CHECK_EQ(system(command), 0);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		one_option(options[i], dir);
	snprintf(command, sizeof(command), ": >%s/in", dir);
	CHECK_EQ(system(command), 0);
	one_option("", dir);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	CHECK_EQ(system(command), 0);
}

int main(void)
{
	RUN(whole);
	RUN(cut_at_every_byte);
	RUN(every_bit_flipped);
	RUN(filters_and_chunks);
	RUN(plain_chunks);
	if (system("xz --version >/dev/null 2>&1"))
		printf("SKIP as_xz_packs needs xz\n");
	else
		RUN(as_xz_packs);
	return test_failed;
}
