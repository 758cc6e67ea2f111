/* jitmap - JIT maps as a JIT writes them, and as somebody who means harm. */
#include "sym/jitmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static char dir[64];
static int root;

static const char *file_path(void)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/tmp/perf-7.map", dir);
	return path;
}

static void clear(void)
{
	unlink(file_path());
}

static void jit_put(const char *text, size_t n)
{
	int fd;

	clear();
	fd = open(file_path(), O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (write(fd, text, n) != (ssize_t)n)
		FAIL("cannot write");
	close(fd);
}

static struct jitmap *jit_load(void)
{
	int fd = jitmap_open(root, 7, getuid());
	struct jitmap *m = NULL;

	if (fd < 0)
		FAIL("open: %d", fd);
	else if (jitmap_load(fd, &m))
		FAIL("load");
	return m;
}

/* "" when there is no name. */
static const char *name_at(struct jitmap *m, uint64_t addr)
{
	static struct buf name;

	buf_reset(&name);
	if (jitmap_find(m, addr, &name))
		buf_reset(&name);
	return buf_str(&name);
}

static void expect(const char *text, size_t n, size_t bad, uint64_t addr,
		   const char *name)
{
	struct jitmap *m;

	jit_put(text, n);
	m = jit_load();
	if (!m)
		return;
	CHECK_EQ(jitmap_bad(m), bad);
	CHECK_STR(name_at(m, addr), name);
	jitmap_free(m);
}

#define EXPECT(text, bad, addr, name) \
	expect(text, sizeof(text) - 1, bad, addr, name)

TEST(plain)
{
	EXPECT("1000 10 foo bar(int)\n", 0, 0x1000, "foo bar(int)");
	EXPECT("1000 10 foo\n", 0, 0x100f, "foo");
	EXPECT("1000 10 foo\n", 0, 0x1010, "");
	EXPECT("1000 10 foo\n", 0, 0xfff, "");
	EXPECT("0x1000 0x10 foo\r\n", 0, 0x1008, "foo");
	EXPECT("FFFFFFFFFFFFFF00 FF top\n", 0, 0xffffffffffffff10, "top");
}

TEST(bad_lines)
{
	EXPECT("", 0, 0, "");
	EXPECT("zz\n", 1, 0, "");
	EXPECT("10 5\n", 1, 0x10, "");
	EXPECT("10 5 \n", 1, 0x10, "");
	EXPECT("10 0 f\n", 1, 0x10, "");
	EXPECT("ffffffffffffffff 10 f\n", 1, 0xffffffffffffffff, "");
	EXPECT("10 11112222333344445 f\n", 1, 0x10, "");
	EXPECT("\n\n-1 5 x\n20 5 good\n", 3, 0x20, "good");
	/* The last line is still being written. */
	EXPECT("10 5 f\n20 5 ha", 0, 0x20, "");
	EXPECT("10 5 f\n20 5 ha", 0, 0x10, "f");
}

TEST(hostile_names)
{
	EXPECT("10 5 a\0b\33[2J;c\n", 0, 0x10, "a\\x00b\33[2J;c");
	EXPECT("10 5 \xff\xfe\n", 0, 0x12, "\xff\xfe");
}

TEST(huge_line)
{
	size_t n = 1 << 20;
	char *text = malloc(n + 64);

	memset(text, 'a', n);
	memcpy(text, "10 5 ", 5);
	memcpy(text + n, "\n20 5 after\n", 12);
	expect(text, n + 12, 1, 0x10, "");
	expect(text, n + 12, 1, 0x20, "after");
	free(text);
}

TEST(overlaps)
{
	static const char text[] =
		"1000 100 old\n1010 10 in\n1018 4 deep\n0ff0 20 head\n"
		"2000 10 a\n2000 10 b\n3000 10 c\n3008 10 d\n";
	struct jitmap *m;

	jit_put(text, sizeof(text) - 1);
	m = jit_load();
	CHECK_STR(name_at(m, 0xff0), "head");
	CHECK_STR(name_at(m, 0x100f), "head");
	CHECK_STR(name_at(m, 0x1010), "in");
	CHECK_STR(name_at(m, 0x1019), "deep");
	CHECK_STR(name_at(m, 0x101c), "in");
	CHECK_STR(name_at(m, 0x1020), "old");
	CHECK_STR(name_at(m, 0x10ff), "old");
	CHECK_STR(name_at(m, 0x1100), "");
	CHECK_STR(name_at(m, 0x2008), "b");
	CHECK_STR(name_at(m, 0x3007), "c");
	CHECK_STR(name_at(m, 0x3008), "d");
	jitmap_free(m);
}

/* Against the plain rule: the last line that covers the address. */
TEST(random_overlaps)
{
	enum { LINES = 300, SPAN = 512 };
	char text[LINES * 32], *p = text, want[16];
	unsigned start[LINES], size[LINES], seed = 1;
	struct jitmap *m;

	for (int i = 0; i < LINES; i++) {
		seed = seed * 1103515245 + 12345;
		start[i] = seed >> 16 & (SPAN - 1);
		size[i] = 1 + (seed >> 8 & 63);
		p += sprintf(p, "%x %x n%d\n", start[i], size[i], i);
	}
	jit_put(text, (size_t)(p - text));
	m = jit_load();
	for (unsigned addr = 0; addr < SPAN + 64; addr++) {
		want[0] = '\0';
		for (int i = 0; i < LINES; i++)
			if (addr - start[i] < size[i])
				sprintf(want, "n%d", i);
		CHECK_STR(name_at(m, addr), want);
	}
	jitmap_free(m);
}

TEST(no_file)
{
	clear();
	CHECK_EQ(jitmap_open(root, 7, getuid()), -ENOENT);
	CHECK_EQ(mkfifo(file_path(), 0600), 0);
	CHECK_EQ(jitmap_open(root, 7, getuid()), -ENODEV);
	clear();
	CHECK_EQ(mkdir(file_path(), 0700), 0);
	CHECK_EQ(jitmap_open(root, 7, getuid()), -ENODEV);
	rmdir(file_path());
}

TEST(links)
{
	static const char *const to[] = {
		"/etc/shadow", "/dev/zero", "perf-7.map", "/etc/passwd",
		"../../../../../../etc/passwd",
	};

	for (size_t i = 0; i < sizeof(to) / sizeof(*to); i++) {
		clear();
		CHECK_EQ(symlink(to[i], file_path()), 0);
		if (jitmap_open(root, 7, getuid()) >= 0)
			FAIL("followed %s", to[i]);
	}
	clear();
}

TEST(owner)
{
	if (getuid()) {
		printf("SKIP owner: not root\n");
		return;
	}
	jit_put("10 5 f\n", 7);
	CHECK_EQ(chown(file_path(), 1000, 1000), 0);
	CHECK_EQ(jitmap_open(root, 7, 1001), -EPERM);
	CHECK_EQ(jitmap_open(root, 7, 0), -EPERM);
	CHECK_EQ(chown(file_path(), 0, 0), 0);
	close(jitmap_open(root, 7, 1001));
}

TEST(sparse)
{
	jit_put("10 5 f\n", 7);
	CHECK_EQ(truncate(file_path(), 3ll << 30), 0);
	CHECK_EQ(jitmap_open(root, 7, getuid()), -EFBIG);
	CHECK_EQ(truncate(file_path(), 64 << 20), 0);
	struct jitmap *m = jit_load();
	CHECK_STR(name_at(m, 0x10), "f");
	jitmap_free(m);
}

/* Appended to while open, then written over. */
TEST(changes)
{
	struct jitmap *m;
	int fd;

	jit_put("10 5 f\n20 5 g\n", 14);
	m = jit_load();
	fd = open(file_path(), O_WRONLY | O_APPEND);
	CHECK_EQ(write(fd, "10 5 later\n", 11), 11);
	CHECK_STR(name_at(m, 0x10), "f");
	close(fd);
	fd = open(file_path(), O_WRONLY | O_TRUNC);
	CHECK_STR(name_at(m, 0x10), "");
	CHECK_EQ(write(fd, "90 5 x\n20 5 y\n", 14), 14);
	CHECK_STR(name_at(m, 0x10), "");
	close(fd);
	jitmap_free(m);
}

int main(void)
{
	char tmp[80];

	snprintf(dir, sizeof(dir), "%s/jitmapXXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(dir))
		return 1;
	snprintf(tmp, sizeof(tmp), "%s/tmp", dir);
	mkdir(tmp, 0755);
	root = open(dir, O_PATH | O_DIRECTORY);
	RUN(plain);
	RUN(bad_lines);
	RUN(hostile_names);
	RUN(huge_line);
	RUN(overlaps);
	RUN(random_overlaps);
	RUN(no_file);
	RUN(links);
	RUN(owner);
	RUN(sparse);
	RUN(changes);
	clear();
	rmdir(tmp);
	rmdir(dir);
	return test_failed;
}
