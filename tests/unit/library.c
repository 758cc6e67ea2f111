/* library - tests names of libraries and programs, in roots that are made. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "sym/ldcache.h"
#include "sym/library.h"

/* The cache: entries of a soname and a path each. */

enum { CACHE_SIZE = 4096 };

struct cache {
	uint8_t p[CACHE_SIZE];
	size_t n;
};

static const char *const entries[][2] = {
	{ "libfoo.so.1", "/opt/libfoo.so.1" },
	{ "libbar.so.2", "/opt/libbar.so.2" },
};

static void put32(struct cache *c, size_t at, size_t value)
{
	uint32_t word = (uint32_t)value;

	memcpy(c->p + at, &word, 4);
}

static size_t text_put(struct cache *c, const char *text)
{
	size_t at = c->n;

	memcpy(c->p + at, text, strlen(text) + 1);
	c->n += strlen(text) + 1;
	return at;
}

static void cache_new(struct cache *c)
{
	size_t from = c->n;

	memcpy(c->p + from, "glibc-ld.so.cache1.1", 20);
	put32(c, from + 20, 2);
	c->n = from + 48 + 2 * 24;
	for (size_t i = 0; i < 2; i++) {
		put32(c, from + 48 + i * 24 + 4,
		      text_put(c, entries[i][0]) - from);
		put32(c, from + 48 + i * 24 + 8,
		      text_put(c, entries[i][1]) - from);
	}
}

static void cache_old(struct cache *c)
{
	size_t texts = 16 + 2 * 12;

	memcpy(c->p, "ld.so-1.7.0", 12);
	put32(c, 12, 2);
	c->n = texts;
	for (size_t i = 0; i < 2; i++) {
		put32(c, 16 + i * 12 + 4, text_put(c, entries[i][0]) - texts);
		put32(c, 16 + i * 12 + 8, text_put(c, entries[i][1]) - texts);
	}
}

static char seen[1024];

static int see(void *arg, const char *soname, const char *path)
{
	size_t n = strlen(seen);

	(void)arg;
	snprintf(seen + n, sizeof(seen) - n, "%s %s;", soname, path);
	return 0;
}

static int cache_see(const struct cache *c, size_t n)
{
	uint8_t *copy = mem_zalloc(n);		/* ends where it ends */
	int err;

	seen[0] = '\0';
	memcpy(copy, c->p, n);
	err = ldcache_each(copy, n, see, NULL);
	mem_free(copy);
	return err;
}

static const char all[] =
	"libfoo.so.1 /opt/libfoo.so.1;libbar.so.2 /opt/libbar.so.2;";

TEST(cache_formats)
{
	struct cache fresh = { .n = 0 }, old = { .n = 0 }, both = { .n = 0 };

	cache_new(&fresh);
	CHECK_EQ(cache_see(&fresh, fresh.n), 0);
	CHECK_STR(seen, all);
	cache_old(&old);
	CHECK_EQ(cache_see(&old, old.n), 0);
	CHECK_STR(seen, all);
	cache_old(&both);
	both.n = 40;		/* as glibc does: no texts of its own */
	cache_new(&both);
	CHECK_EQ(cache_see(&both, both.n), 0);
	CHECK_STR(seen, all);
	fresh.p[28] = 2 + (*(const uint8_t *)&(uint16_t){ 1 } ? 1 : 0);
	CHECK_EQ(cache_see(&fresh, fresh.n), -EINVAL);
}

TEST(cache_hostile)
{
	struct cache c = { .n = 0 };

	cache_new(&c);
	for (size_t n = 0; n < c.n; n++)
		cache_see(&c, n);
	put32(&c, 20, UINT32_MAX);
	CHECK_EQ(cache_see(&c, c.n), -EINVAL);
	put32(&c, 20, 2);
	put32(&c, 48 + 4, UINT32_MAX);
	put32(&c, 48 + 24 + 8, c.n - 1);
	CHECK_EQ(cache_see(&c, c.n), 0);
	CHECK_STR(seen, "libbar.so.2 ;");
	c = (struct cache){ .n = 0 };
	cache_old(&c);
	for (size_t n = 0; n < c.n; n++)
		cache_see(&c, n);
	put32(&c, 12, UINT32_MAX);
	CHECK_EQ(cache_see(&c, c.n), -EINVAL);
	CHECK_EQ(cache_see(&c, 0), -EINVAL);
}

/* Names */

/* "ERROR: paths" */
static const char *find(const char *name, uint32_t pid)
{
	static char text[2048];
	struct library_list list = { 0 };
	size_t n = (size_t)snprintf(text, sizeof(text), "%d:",
				    library_find(name, pid, &list));

	for (size_t i = 0; i < list.n && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, " %s%s",
				      list.v[i].path,
				      list.v[i].mapped ? "*" : "");
	library_free(&list);
	return text;
}

TEST(own)
{
	struct library_list list = { 0 };
	char pid[16], exe[PATH_MAX] = "";
	struct buf path = { 0 };
	struct stat st, other;

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	CHECK(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	CHECK_EQ(library_find(pid, 0, &list), 0);
	CHECK_EQ(list.n, 1);
	if (test_bad)
		return;
	CHECK_STR(list.v[0].path, exe);
	CHECK(list.v[0].mapped);
	CHECK_EQ(stat(exe, &st), 0);
	CHECK_EQ(list.v[0].st.st_ino, st.st_ino);
	CHECK_EQ(library_probe_path(&list.v[0], &path), 0);
	CHECK_EQ(stat(buf_str(&path), &other), 0);
	CHECK_EQ(other.st_ino, st.st_ino);
	library_free(&list);
	buf_free(&path);
	CHECK_EQ(library_find(exe, (uint32_t)getpid(), &list), 0);
	CHECK(list.n == 1 && list.v[0].mapped);
	library_free(&list);
	CHECK_EQ(library_find(exe, 0, &list), 0);
	CHECK(list.n == 1 && !list.v[0].mapped);
	library_free(&list);
	CHECK_EQ(library_mapped((uint32_t)getpid(), &list), 0);
	CHECK(list.n >= 1 && list.v[0].mapped);
	library_free(&list);
	CHECK_STR(find("/", 0), "-19:");
	CHECK_STR(find("/nosuch/file", 0), "-2:");
	CHECK_STR(find("nosuchlibrary", 0), "-2:");
	CHECK_STR(find("", 0), "-2:");
	CHECK_STR(find("/proc/self/maps", 0), "-8:");
	CHECK_STR(find("4194304", 0), "-3:");
}

/* The C library by any of its names is one file, the one that is mapped. */
TEST(own_libc)
{
	static const char *const names[] = { "c", "libc", "libc.so.6" };
	struct library_list list = { 0 };
	ino_t ino = 0;

	for (int i = 0; i < 3; i++) {
		int err = library_find(names[i], (uint32_t)getpid(), &list);

		if (err && i == 2)	/* not glibc's */
			break;
		CHECK_EQ(err, 0);
		CHECK(list.n == 1 && list.v[0].mapped);
		if (list.n && !ino)
			ino = list.v[0].st.st_ino;
		CHECK(list.n && list.v[0].st.st_ino == ino);
		library_free(&list);
	}
	library_free(&list);
}

static char root[] = "/tmp/unit-library-XXXXXX";

static void make_folder(const char *path)
{
	char full[256];

	snprintf(full, sizeof(full), "%s%s", root, path);
	mkdir(full, 0755);
}

static void make_file(const char *path, const void *bytes, size_t n)
{
	char full[256];
	int fd;

	snprintf(full, sizeof(full), "%s%s", root, path);
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	close(fd);
}

static void make_text(const char *path, const char *text)
{
	make_file(path, text, strlen(text));
}

static void make_link(const char *path, const char *to)
{
	char full[256];

	snprintf(full, sizeof(full), "%s%s", root, path);
	CHECK_EQ(symlink(to, full), 0);
}

static void make_root(void)
{
	static const char *const folders[] = { "/etc", "/usr", "/usr/lib",
		"/usr/lib/any-linux-gnu", "/opt", "/bin", "/musl" };
	uint8_t elf[64] = { 0 };
	int fd = open("/proc/self/exe", O_RDONLY);

	CHECK_EQ(read(fd, elf, sizeof(elf)), sizeof(elf));
	close(fd);
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		make_folder(folders[i]);
	make_link("/lib", "/usr/lib");
	make_file("/usr/lib/libfoo.so.1", elf, 64);
	make_file("/usr/lib/libfoo.so.2", elf, 64);
	make_link("/usr/lib/libfoo.so", "/lib/libfoo.so.2");
	make_link("/usr/lib/libout.so", "../../../../../../etc/passwd");
	make_text("/usr/lib/libtext.so", "GROUP ( x ) and so on");
	make_file("/usr/lib/any-linux-gnu/libbaz-1.2.so", elf, 64);
	make_file("/usr/lib/libtool.so.1", elf, 64);
	make_file("/bin/tool", elf, 64);
	make_file("/bin/run", elf, 64);
	make_text("/bin/script", "#!/bin/sh\nexit and so on\n");
	make_file("/musl/libmu.so.1", elf, 64);
	make_file("/opt/libfoo.so.1", elf, 64);
	make_text("/etc/ld-musl-any.path", "/musl\n/nowhere\n");
	elf[18] ^= 1;			/* of another machine */
	make_file("/usr/lib/libmix.so.2", elf, 64);
	make_file("/usr/lib/libfar.so.1", elf, 64);
	elf[18] ^= 1;
	make_file("/usr/lib/libmix.so.1", elf, 64);
}

static void check_root(uint32_t pid)
{
	struct cache c = { .n = 0 };

	CHECK_STR(find("libfoo.so.1", pid), "0: /lib/libfoo.so.1");
	CHECK_STR(find("libfoo.so", pid), "0: /lib/libfoo.so");
	CHECK(strstr(find("foo", pid), "-76:"));
	CHECK(strstr(find("libfoo", pid), "-76:"));
	CHECK_STR(find("out", pid), "-2:");
	CHECK_STR(find("text", pid), "-8:");
	CHECK_STR(find("baz", pid), "0: /lib/any-linux-gnu/libbaz-1.2.so");
	CHECK_STR(find("mix", pid), "0: /lib/libmix.so.1");
	CHECK_STR(find("far", pid), "0: /lib/libfar.so.1");
	CHECK_STR(find("mu", pid), "0: /musl/libmu.so.1");
	CHECK_STR(find("run", pid), "0: /bin/run");
	CHECK_STR(find("script", pid), "-8:");
	CHECK_STR(find("tool", pid), "-76: /lib/libtool.so.1 /bin/tool");
	CHECK_STR(find("/bin/run", pid), "0: /bin/run");
	CHECK_STR(find("/lib/libfoo.so", pid), "0: /lib/libfoo.so");
	cache_new(&c);
	make_file("/etc/ld.so.cache", c.p, c.n);
	CHECK_STR(find("foo", pid), "0: /opt/libfoo.so.1");
	CHECK_STR(find("bar", pid), "-2:");
	CHECK_STR(find("baz", pid), "0: /lib/any-linux-gnu/libbaz-1.2.so");
}

/* A process whose root is a folder that was made for it. */
TEST(root_of_process)
{
	int ready[2], status;
	char c;
	pid_t pid;

	if (geteuid()) {
		printf("SKIP root_of_process: needs root\n");
		return;
	}
	CHECK(mkdtemp(root) && !pipe(ready));
	make_root();
	setenv("PATH", "/nowhere:/bin", 1);
	pid = fork();
	if (!pid) {
		close(ready[0]);
		if (chroot(root) || chdir("/") || write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	CHECK_EQ(read(ready[0], &c, 1), 1);
	close(ready[0]);
	if (!test_bad)
		check_root((uint32_t)pid);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	CHECK(strstr(find("c", (uint32_t)pid), "-3:"));
}

int main(void)
{
	char command[64];

	RUN(cache_formats);
	RUN(cache_hostile);
	RUN(own);
	RUN(own_libc);
	RUN(root_of_process);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return test_failed | (strchr(root, 'X') ? 0 : system(command) != 0);
}
