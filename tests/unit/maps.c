/* maps - rows of /proc/PID/maps, as the kernel and as nobody writes them. */
#include "sym/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym/namer.h"
#include "test.h"

static struct map_row row;
static struct buf path;

static int row_line(const char *s)
{
	return maps_line(s, strlen(s), &row, &path);
}

static int file_with(const char *s, size_t n)
{
	int fd = memfd_create("maps", MFD_CLOEXEC);

	if (write(fd, s, n) != (ssize_t)n)
		FAIL("cannot write");
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static int count_row(void *arg, const struct map_row *r)
{
	(void)r;
	++*(int *)arg;
	return 0;
}

static void count(const char *s, size_t n, int rows, unsigned bad)
{
	int fd = file_with(s, n), got = 0;
	unsigned got_bad = 0;

	CHECK_EQ(maps_read(fd, count_row, &got, &got_bad), 0);
	CHECK_EQ(got, rows);
	CHECK_EQ(got_bad, bad);
	close(fd);
}

TEST(plain_row)
{
	CHECK_EQ(row_line("7fa21a25e000-7fa21a3b4000 r-xp 00026000 fe:0a 332835"
			  "                     /usr/lib/libc.so.6"), 0);
	CHECK_EQ(row.start, 0x7fa21a25e000);
	CHECK_EQ(row.end, 0x7fa21a3b4000);
	CHECK_EQ(row.off, 0x26000);
	CHECK_EQ(row.major, 0xfe);
	CHECK_EQ(row.minor, 10);
	CHECK_EQ(row.inode, 332835);
	CHECK(row.exec);
	CHECK_STR(row.path, "/usr/lib/libc.so.6");
	CHECK_EQ(map_kind(&row), MAPS_FILE);
}

TEST(other_rows)
{
	CHECK_EQ(row_line("08048000-08049000 r-xp 00000000 08:01 12 /a"), 0);
	CHECK_EQ(row.start, 0x8048000);
	CHECK_EQ(row_line("ffffffffff600000-ffffffffff601000 --xp 0 00:00 0 "
			  "                 [vsyscall]"), 0);
	CHECK(row.exec);
	CHECK_EQ(map_kind(&row), MAPS_SPECIAL);
	CHECK_EQ(row_line("7f00-7f01 rwxp 00000000 00:00 0 "), 0);
	CHECK_STR(row.path, "");
	CHECK_EQ(map_kind(&row), MAPS_ANON);
	CHECK_EQ(row_line("7f00-7f01 rwxp 00000000 00:00 0"), 0);
	CHECK_EQ(row_line("7f00-7f01 rw-p 0 00:00 0 x"), 0);
	CHECK(!row.exec);
}

static enum map_kind kind_of(const char *s, uint64_t inode)
{
	struct map_row r = { .inode = inode, .path = s };

	return map_kind(&r);
}

TEST(kinds)
{
	CHECK_EQ(kind_of("//anon", 0), MAPS_ANON);
	CHECK_EQ(kind_of("[heap]", 0), MAPS_ANON);
	CHECK_EQ(kind_of("[stack]", 0), MAPS_ANON);
	CHECK_EQ(kind_of("[anon:dart code]", 0), MAPS_ANON);
	CHECK_EQ(kind_of("[anon_shmem:x]", 9), MAPS_ANON);
	CHECK_EQ(kind_of("/SYSV00000000 (deleted)", 5), MAPS_ANON);
	CHECK_EQ(kind_of("/dev/zero (deleted)", 5), MAPS_ANON);
	CHECK_EQ(kind_of("/anon_hugepage (deleted)", 5), MAPS_ANON);
	CHECK_EQ(kind_of("/memfd:x y;z (deleted)", 5), MAPS_FILE);
	CHECK_EQ(kind_of("/tmp/[vdso]", 5), MAPS_FILE);
	CHECK_EQ(kind_of("[vdso]", 0), MAPS_VDSO);
	CHECK_EQ(kind_of("[uprobes]", 0), MAPS_SPECIAL);
}

TEST(hostile_names)
{
	CHECK_EQ(row_line("1000-2000 r-xp 0 0:0 7   "
			  "/a b\\012c\\x;\33[31m (deleted)"), 0);
	CHECK_STR(row.path, "/a b\nc\\x;\33[31m (deleted)");
	CHECK_EQ(row_line("1000-2000 r-xp 0 0:0 7   /q\\01"), 0);
	CHECK_STR(row.path, "/q\\01");
	CHECK_EQ(maps_line("1000-2000 r-xp 0 0:0 7 /a\0b", 26, &row, &path),
		 -EINVAL);
}

TEST(no_rows)
{
	static const char *const bad[] = {
		"", "zz", "-", "1000", "1000-", "1000-2000", "1000-2000 r-xp",
		"2000-1000 r-xp 0 0:0 0", "1000-1000 r-xp 0 0:0 0",
		"1000-2000 r-xp 0 0:0 7x", "1000-2000 r-xp 0 0 0:0",
		"1000-2000 r-xp  0:0 0", "1000-2000 rx 0 0:0 0 ",
		"10000000000000000-20000000000000000 r-xp 0 0:0 0",
		"1000-2000 r-xp 0 0:0 99999999999999999999",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (row_line(bad[i]) != -EINVAL)
			FAIL("accepted \"%s\"", bad[i]);
}

TEST(whole_files)
{
	static char big[200000];
	int n;

	count("", 0, 0, 0);
	count("1-2 r-xp 0 0:0 0\n3-4 r-xp 0 0:0 0\n", 34, 2, 0);
	/* Half a line at the end is none. */
	count("1-2 r-xp 0 0:0 0\n3-4 r-xp 0 0:0 0", 33, 1, 1);
	count("x\n\n1-2 r-xp 0 0:0 0\n", 20, 1, 2);
	memset(big, 'a', sizeof(big));
	n = sprintf(big, "1-2 r-xp 0 0:0 0\n3-4 r-xp 0 0:0 9 /");
	big[n] = 'a';
	sprintf(big + sizeof(big) - 40, "\n5-6 r-xp 0 0:0 0\n");
	count(big, sizeof(big) - 40 + 18, 2, 1);
}

TEST(own_maps)
{
	int fd = open("/proc/self/maps", O_RDONLY), rows = 0;
	unsigned bad = 0;

	CHECK_EQ(maps_read(fd, count_row, &rows, &bad), 0);
	CHECK(rows > 5);
	CHECK_EQ(bad, 0);
	close(fd);
	fd = open("/", O_RDONLY);
	CHECK_EQ(maps_read(fd, count_row, &rows, &bad), -EISDIR);
	close(fd);
}

TEST(strip_signature)
{
	CHECK_EQ(namer_strip(183, 48, 0x005faaaae47207ccu), 0xaaaae47207ccu);
	CHECK_EQ(namer_strip(183, 39, 0x003fff8055aa1234u), 0x55aa1234u);
	CHECK_EQ(namer_strip(183, 48, 0xffff800010001234u),
		 0xffff800010001234u);
	CHECK_EQ(namer_strip(62, 48, 0x005faaaae47207ccu), 0x005faaaae47207ccu);
	CHECK(namer_va_bits() >= 31 && namer_va_bits() <= 57);
}

int main(void)
{
	RUN(plain_row);
	RUN(other_rows);
	RUN(kinds);
	RUN(hostile_names);
	RUN(no_rows);
	RUN(whole_files);
	RUN(own_maps);
	RUN(strip_signature);
	buf_free(&path);
	return test_failed;
}
