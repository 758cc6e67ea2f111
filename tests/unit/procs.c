/* procs - what addresses of processes mean: made-up records, real children. */
#include "sym/procs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sym/namer.h"
#include "test.h"

enum { NOBODY = 0x70000000 };	/* a pid beyond every pid_max */

static char dir[64];
static struct procs *procs;
static struct namer *namer;
static struct frame frame;

static void begin(void)
{
	procs = procs_new();
	namer = namer_new(procs, &(struct name_options){ 0 });
}

static void finish(void)
{
	namer_free(namer);
	procs_free(procs);
}

static const char *name_at(uint32_t pid, uint64_t time, uint64_t addr)
{
	CHECK_EQ(namer_user(namer, procs_at(procs, pid, time), addr, false,
			    &frame), 0);
	return frame.name;
}

static void map_add(uint32_t pid, uint64_t time, uint64_t start, uint64_t end,
		uint64_t off, uint64_t inode, const char *path)
{
	struct map_row row = {
		.start = start, .end = end, .off = off, .inode = inode,
		.major = 8, .minor = 1, .exec = true, .path = path,
	};

	CHECK_EQ(procs_map(procs, pid, time, &row), 0);
}

/* The second page of a file of this file system, as a record tells it. */
static void map_page(uint32_t pid, uint64_t time, uint64_t start,
		     const struct stat *st, const char *path)
{
	struct map_row row = {
		.start = start, .end = start + 4096, .off = 4096,
		.inode = st->st_ino, .major = major(st->st_dev),
		.minor = minor(st->st_dev), .exec = true, .path = path,
	};

	CHECK_EQ(procs_map(procs, pid, time, &row), 0);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Made-up records. */

TEST(nothing_known)
{
	begin();
	CHECK_STR(name_at(NOBODY, 5, 0x1000), "[unknown]");
	CHECK_EQ(frame.kind, FRAME_UNKNOWN);
	CHECK_EQ(procs_seen(procs, NOBODY, 5), 0);
	CHECK_STR(name_at(NOBODY, 5, 0x1000), "[unknown]");
	CHECK_STR(name_at(NOBODY, 5, 0xffffffffff600010u), "[vsyscall]");
	CHECK_EQ(frame.kind, FRAME_USER);
	finish();
}

TEST(rows_and_times)
{
	begin();
	map_add(NOBODY, 10, 0x1000, 0x3000, 0x5000, 7, "/no/where/a.so");
	CHECK_STR(name_at(NOBODY, 20, 0x1234), "[a.so+0x5234]");
	CHECK_STR(name_at(NOBODY, 5, 0x1234), "[a.so+0x5234]");
	CHECK_STR(name_at(NOBODY, 20, 0x2fff), "[a.so+0x6fff]");
	CHECK_STR(name_at(NOBODY, 20, 0x3000), "[unknown]");
	CHECK_STR(name_at(NOBODY, 20, 0xfff), "[unknown]");
	/* A return address belongs to the call before it. */
	namer_user(namer, procs_at(procs, NOBODY, 20), 0x3000, true, &frame);
	CHECK_STR(frame.name, "[a.so+0x6fff]");
	CHECK_EQ(frame.addr, 0x3000);
	finish();
}

TEST(exec_replaces)
{
	begin();
	map_add(NOBODY, 10, 0x1000, 0x2000, 0, 7, "/no/where/old");
	map_add(NOBODY, 35, 0x1000, 0x2000, 0, 8, "/no/where/new");
	CHECK_EQ(procs_exec(procs, NOBODY, 30), 0);
	CHECK_STR(name_at(NOBODY, 20, 0x1010), "[old+0x10]");
	CHECK_STR(name_at(NOBODY, 29, 0x1010), "[old+0x10]");
	CHECK_STR(name_at(NOBODY, 30, 0x1010), "[new+0x10]");
	CHECK_STR(name_at(NOBODY, 90, 0x1010), "[new+0x10]");
	finish();
}

/* A leader exits, its threads go on; then the pid is used again. */
TEST(pid_reuse)
{
	begin();
	map_add(NOBODY, 10, 0x1000, 0x2000, 0, 7, "/no/where/first");
	procs_exit(procs, NOBODY, 15);
	CHECK_STR(name_at(NOBODY, 20, 0x1010), "[first+0x10]");
	CHECK_EQ(procs_fork(procs, NOBODY, NOBODY + 1, 100), 0);
	CHECK_EQ(procs_exec(procs, NOBODY, 110), 0);
	map_add(NOBODY, 120, 0x1000, 0x2000, 0, 8, "/no/where/second");
	CHECK_STR(name_at(NOBODY, 20, 0x1010), "[first+0x10]");
	CHECK_STR(name_at(NOBODY, 105, 0x1010), "[unknown]");
	CHECK_STR(name_at(NOBODY, 130, 0x1010), "[second+0x10]");
	finish();
}

/* What ended long ago and was never sampled is let go; the rest stays. */
TEST(forgets)
{
	begin();
	for (unsigned i = 0; i < 1000; i++) {
		map_add(NOBODY + i, 10, 0x1000, 0x2000, 0, 7, "/no/where/a");
		procs_exit(procs, NOBODY + i, 20 + i * 100000000ull);
	}
	CHECK_STR(name_at(NOBODY, 15, 0x1010), "[unknown]");
	CHECK(!procs_at(procs, NOBODY, 15).proc);
	CHECK_STR(name_at(NOBODY + 999, 15, 0x1010), "[a+0x10]");
	CHECK_EQ(procs_fork(procs, NOBODY, NOBODY + 999, 15), 0);
	CHECK_STR(name_at(NOBODY, 16, 0x1010), "[a+0x10]");
	finish();
}

TEST(fork_inherits)
{
	begin();
	map_add(NOBODY, 10, 0x1000, 0x2000, 0, 7, "/no/where/sh");
	CHECK_EQ(procs_fork(procs, NOBODY + 1, NOBODY, 20), 0);
	CHECK_EQ(procs_fork(procs, NOBODY + 2, NOBODY + 1, 21), 0);
	CHECK_EQ(procs_exec(procs, NOBODY + 2, 40), 0);
	map_add(NOBODY, 25, 0x5000, 0x6000, 0, 9, "/no/where/later.so");
	map_add(NOBODY + 2, 45, 0x1000, 0x2000, 0, 8, "/no/where/ls");
	CHECK_STR(name_at(NOBODY + 1, 30, 0x1010), "[sh+0x10]");
	CHECK_STR(name_at(NOBODY + 2, 30, 0x1010), "[sh+0x10]");
	CHECK_STR(name_at(NOBODY + 1, 30, 0x5010), "[unknown]");
	CHECK_STR(name_at(NOBODY + 2, 50, 0x1010), "[ls+0x10]");
	finish();
}

/* dlopen, dlclose, dlopen of another one at the same address: nobody knows
 * which one a sample of that image meant. */
TEST(two_files_at_one_address)
{
	begin();
	map_add(NOBODY, 10, 0x1000, 0x3000, 0, 7, "/no/where/a.so");
	map_add(NOBODY, 30, 0x1000, 0x2000, 0, 8, "/no/where/b.so");
	CHECK_STR(name_at(NOBODY, 20, 0x1010), "0x1010");
	CHECK_EQ(frame.kind, FRAME_USER);
	CHECK_STR(name_at(NOBODY, 5, 0x1010), "0x1010");
	CHECK_STR(name_at(NOBODY, 20, 0x2010), "[a.so+0x1010]");
	CHECK_STR(name_at(NOBODY, 30, 0x1010), "[b.so+0x10]");
	/* The same file at the same place, again, is no contradiction. */
	map_add(NOBODY, 50, 0x1000, 0x2000, 0, 8, "/no/where/b.so");
	CHECK_STR(name_at(NOBODY, 40, 0x1010), "[b.so+0x10]");
	map_add(NOBODY, 60, 0x1000, 0x2000, 0x8000, 8, "/no/where/b.so");
	CHECK_STR(name_at(NOBODY, 40, 0x1010), "0x1010");
	finish();
}

/* A JIT toggles its pages; a library comes between once. */
TEST(same_row_many_times)
{
	begin();
	for (uint64_t i = 0; i < 100000; i++)
		map_add(NOBODY, 10 + i * 10, 0x1000 * (1 + i % 4),
			0x1000 * (2 + i % 4), 0, 0, "//anon");
	CHECK_STR(name_at(NOBODY, 5000, 0x2010), "[anon+0x10]");
	map_add(NOBODY, 6005, 0x2000, 0x3000, 0, 7, "/no/where/a.so");
	CHECK_STR(name_at(NOBODY, 5000, 0x2010), "0x2010");
	CHECK_STR(name_at(NOBODY, 7000, 0x2010), "0x2010");
	CHECK_STR(name_at(NOBODY, 2000000, 0x2010), "[anon+0x10]");
	finish();
}

TEST(copied_text)
{
	struct map_row row = { .start = 0x3000, .end = 0x4000, .exec = true,
			       .path = "//anon" };

	begin();
	map_add(NOBODY, 10, 0x1000, 0x9000, 0x1000, 7, "/no/where/hot");
	CHECK_EQ(procs_map(procs, NOBODY, 20, &row), 0);
	row.start = 0x4000;
	row.end = 0x5000;
	CHECK_EQ(procs_map(procs, NOBODY, 21, &row), 0);
	CHECK_STR(name_at(NOBODY, 30, 0x3010), "[hot+0x3010]");
	CHECK_STR(name_at(NOBODY, 30, 0x4010), "[hot+0x4010]");
	CHECK_STR(name_at(NOBODY, 15, 0x3010), "[hot+0x3010]");
	row.start = 0x8000;
	row.end = 0xa000;
	CHECK_EQ(procs_map(procs, NOBODY, 22, &row), 0);
	CHECK_STR(name_at(NOBODY, 30, 0x8010), "[anon+0x10]");
	finish();
}

TEST(labels)
{
	static const struct { const char *path, *name; } cases[] = {
		{ "", "[anon+0x10]" }, { "//anon", "[anon+0x10]" },
		{ "[heap]", "[heap+0x10]" }, { "[stack]", "[stack+0x10]" },
		{ "[anon:x y]", "[anon:x y+0x10]" },
		{ "/dev/zero (deleted)", "[anon+0x10]" },
		{ "/SYSV00000000 (deleted)", "[anon+0x10]" },
		{ "[uprobes]", "[uprobes]" }, { "[", "[" },
		{ "/memfd:x /y;z (deleted)", "[memfd:x /y;z+0x10]" },
		{ "/a/gone (deleted)", "[gone+0x10]" },
		{ "/ (deleted)", "[/+0x10]" }, { "/", "[/+0x10]" },
	};

	begin();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool file = cases[i].path[0] == '/';

		map_add(NOBODY + (unsigned)i, 10, 0x1000, 0x2000, 0,
		    file ? 90 + i : 0, cases[i].path);
		CHECK_STR(name_at(NOBODY + (unsigned)i, 20, 0x1010),
			  cases[i].name);
	}
	finish();
}

TEST(many_rows)
{
	begin();
	for (uint64_t i = 0; i < 20000; i++)
		map_add(NOBODY, i, 0x10000 * (i % 5000 + 1),
		    0x10000 * (i % 5000 + 1) + 0x8000, 0, 7, "/no/where/x");
	map_add(NOBODY, 30000, 0x1000, 0xffff0000, 0, 8, "/no/where/big");
	for (uint64_t i = 0; i < 5000; i++)
		if (strcmp(name_at(NOBODY, 25000, 0x10000 * (i + 1) + 0x9000),
			   "[unknown]") == 0)
			FAIL("row %d", (int)i);
	finish();
}

/* One process maps and maps: the newest of its records stay. */
TEST(records_of_one_process)
{
	begin();
	for (uint64_t i = 0; i < 20000; i++)
		map_add(NOBODY, 10 + i, 0x1000 * (i + 1), 0x1000 * (i + 2), 0,
			7, "/no/where/a");
	CHECK(procs_lost_rows(procs) > 10000);
	CHECK(procs_lost_rows(procs) < 20000 - 2048);
	CHECK_STR(name_at(NOBODY, 30000, 0x1000 * 20000 + 1), "[a+0x1]");
	CHECK_STR(name_at(NOBODY, 30000, 0x1000 + 1), "[unknown]");
	finish();
}

/* Many processes do: all together stay within the bound, who does not keeps
 * what it has, and new ones still have room. */
TEST(records_of_many_processes)
{
	enum { ROWS = 3500 };	/* within the bound of one process */
	uint32_t pid = NOBODY;
	uint64_t time = 10;

	begin();
	map_add(NOBODY - 1, 5, 0x1000, 0x2000, 0, 8, "/no/where/small");
	for (; !procs_lost_rows(procs) && pid < NOBODY + 2000; pid++)
		for (uint64_t i = 1; i <= ROWS; i++)
			map_add(pid, time++, 0x1000 * i, 0x1000 * (i + 1), 0, 7,
				"/no/where/a");
	CHECK((uint64_t)(pid - NOBODY) * ROWS * 64 < 260 << 20);
	CHECK((uint64_t)(pid - NOBODY) * ROWS * 64 > 30 << 20);
	CHECK(procs_lost_rows(procs));
	CHECK_STR(name_at(NOBODY - 1, 6, 0x1010), "[small+0x10]");
	CHECK_STR(name_at(NOBODY, time, 0x1000 * ROWS + 1), "[a+0x1]");
	CHECK_STR(name_at(NOBODY, time, 0x1001), "[unknown]");
	map_add(NOBODY - 2, time, 0x1000, 0x2000, 0, 8, "/no/where/small");
	CHECK_STR(name_at(NOBODY - 2, time, 0x1010), "[small+0x10]");
	finish();
}

/* Each record names a file of its own, with the longest path there is. */
TEST(paths_are_bounded)
{
	char path[4096];
	size_t lost;

	memset(path, 'p', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	begin();
	for (uint64_t i = 0; i < 20000; i++) {
		snprintf(path + 4000, sizeof(path) - 4000, "%llu",
			 (unsigned long long)i);
		map_add(NOBODY + (uint32_t)i, 10, 0x1000, 0x2000, 0, i + 1,
			path);
	}
	lost = procs_lost_rows(procs);
	CHECK(lost > 10000 && lost < 15000);
	/* A file that is known has no need of room. */
	map_add(NOBODY - 1, 10, 0x1000, 0x2000, 0, 1, path);
	CHECK_EQ(procs_lost_rows(procs), lost);
	finish();
}

/* Real processes. */

static const char program[] =
	"#include <stdio.h>\n#include <unistd.h>\n#include <stdlib.h>\n"
	"__attribute__((noinline)) long hot(long n)\n"
	"{ volatile long s = 0; while (n--) s += n; return s; }\n"
	"int main(int c, char **v) { printf(\"%lx\\n\", (long)hot);\n"
	"fflush(stdout); if (c > 1) { char x; if (read(0, &x, 1) < 0) x = 0;\n"
	"execv(v[1], v + 1); } for (;;) pause(); }\n";

static const char *in_dir(const char *name)
{
	static char path[2][128];
	static int i;

	i = !i;
	snprintf(path[i], sizeof(path[i]), "%s/%s", dir, name);
	return path[i];
}

static void shell_run(const char *fmt, ...)
{
	char command[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	if (system(command))
		FAIL("%s", command);
}

static void program_make(const char *name, const char *function)
{
	char source[2048], *p = source;
	FILE *f;

	snprintf(source, sizeof(source), "%s", program);
	for (; (p = strstr(p, "hot")); p += 3)
		memcpy(p, function, 3);
	f = fopen(in_dir("p.c"), "w");
	fputs(source, f);
	fclose(f);
	shell_run("cd %s && gcc -O1 -o %s p.c", dir, name);
}

/* A child, the address of its hot(), and a pipe to its stdin. */
struct child {
	pid_t pid;
	uint64_t hot;
	int in, out;
};

static uint64_t child_address(struct child *c)
{
	char text[32] = "";
	size_t n = 0;

	while (n < sizeof(text) - 1 && read(c->out, text + n, 1) == 1 &&
	       text[n] != '\n')
		n++;
	return strtoull(text, NULL, 16);
}

static struct child child_start(const char *path, const char *next)
{
	char *argv[] = { (char *)path, (char *)next, NULL };
	int in[2], out[2];
	struct child c = { 0 };

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return c;
	c.pid = fork();
	if (!c.pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execv(path, argv);
		_exit(1);
	}
	close(in[0]);
	close(out[1]);
	c.in = in[1];
	c.out = out[0];
	c.hot = child_address(&c);
	return c;
}

static void child_stop(struct child *c)
{
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
		close(c->in);
		close(c->out);
	}
	c->pid = -1;
}

TEST(itself)
{
	uint64_t vdso = getauxval(AT_SYSINFO_EHDR), i;
	uint32_t pid = (uint32_t)getpid();
	uint64_t t = now();

	begin();
	CHECK_EQ(procs_seen(procs, pid, t), 0);
	CHECK_STR(name_at(pid, t, (uintptr_t)test_itself + 4), "test_itself");
	CHECK_STR(name_at(pid, t, (uintptr_t)now), "now");
	for (i = 0; vdso && i < 8192; i += 16)
		if (strncmp(name_at(pid, t, vdso + i), "[vdso", 5) &&
		    frame.kind == FRAME_USER)
			break;
	CHECK(!vdso || strstr(frame.name, "vdso") ||
	      strstr(frame.name, "kernel") || i < 8192);
	finish();
}

TEST(names_stay)
{
	struct child c = child_start(in_dir("hot"), NULL);
	uint64_t t = now();
	uint32_t pid = (uint32_t)c.pid;

	begin();
	procs_seen(procs, pid, t);
	child_stop(&c);
	unlink(in_dir("hot"));
	CHECK_STR(name_at(pid, t, c.hot + 4), "hot");
	CHECK_EQ(frame.kind, FRAME_USER);
	finish();
	program_make("hot", "hot");
}

TEST(replaced_by_exec)
{
	struct child c;
	uint64_t t1, t2, hot2;
	uint32_t pid;

	program_make("odd", "odd");
	c = child_start(in_dir("hot"), in_dir("odd"));
	pid = (uint32_t)c.pid;
	begin();
	t1 = now();
	procs_seen(procs, pid, t1);
	CHECK_EQ(write(c.in, "x", 1), 1);
	hot2 = child_address(&c);
	t2 = now();
	/* Its record comes late; the exec was some time before t2. */
	procs_seen(procs, pid, t2);
	procs_exec(procs, pid, t2 - 1000);
	CHECK_STR(name_at(pid, t1, c.hot), "hot");
	CHECK_STR(name_at(pid, t2, hot2), "odd");
	CHECK_STR(name_at(pid, t1, hot2 ^ 0x100000000000u), "[unknown]");
	finish();
	child_stop(&c);
}

/* The maps are read again after an exec that no record has told of yet. */
TEST(read_again_after_exec)
{
	struct child c = child_start(in_dir("hot"), in_dir("odd"));
	uint32_t pid = (uint32_t)c.pid;
	uint64_t t = now(), hot2;

	begin();
	procs_seen(procs, pid, t);
	CHECK_EQ(write(c.in, "x", 1), 1);
	hot2 = child_address(&c);
	CHECK_STR(name_at(pid, t, hot2), "[unknown]");
	CHECK_STR(name_at(pid, t, c.hot), "hot");
	finish();
	child_stop(&c);
}

/* The event is from before an exec, the snapshot from after it. */
TEST(snapshot_of_the_next_image)
{
	struct child c = child_start(in_dir("hot"), NULL);
	uint32_t pid = (uint32_t)c.pid;
	uint64_t exec = now();

	begin();
	procs_seen(procs, pid, exec - 1000000);
	procs_exec(procs, pid, exec);
	CHECK_STR(name_at(pid, exec - 1000000, c.hot), "[unknown]");
	CHECK_STR(name_at(pid, exec, c.hot), "hot");
	finish();
	child_stop(&c);
}

TEST(deleted_and_replaced)
{
	struct child c;
	uint32_t pid;
	uint64_t t;

	shell_run("cp %s %s", in_dir("hot"), in_dir("gone"));
	c = child_start(in_dir("gone"), NULL);
	pid = (uint32_t)c.pid;
	unlink(in_dir("gone"));
	shell_run("cp %s %s", in_dir("odd"), in_dir("gone"));
	begin();
	t = now();
	procs_seen(procs, pid, t);
	CHECK_STR(name_at(pid, t, c.hot), "hot");
	finish();

	/* Gone before we looked: only the record and the path are left. */
	begin();
	child_stop(&c);
	map_add(pid, t, c.hot & ~0xfffull, (c.hot & ~0xfffull) + 4096, 0x1000,
	    123456789, in_dir("gone"));
	name_at(pid, t, c.hot);
	CHECK(!strncmp(frame.name, "[gone+0x1", 9));
	finish();
}

/* Too short a life for a snapshot, but the file is still what it was. */
TEST(gone_but_not_its_file)
{
	struct stat st;
	struct child c = child_start(in_dir("hot"), NULL);
	uint64_t page = c.hot & ~0xfffull;
	uint32_t pid = (uint32_t)c.pid;

	child_stop(&c);
	stat(in_dir("hot"), &st);
	begin();
	map_page(pid, now(), page, &st, in_dir("hot"));
	CHECK_STR(name_at(pid, now(), c.hot), "hot");
	finish();
	/* Written to since it was mapped: not certain any more. */
	begin();
	map_page(pid, 1, page, &st, in_dir("hot"));
	name_at(pid, now(), c.hot);
	CHECK(!strncmp(frame.name, "[hot+0x1", 8));
	finish();
	/* Another file, which happens to have the inode number. */
	begin();
	st.st_dev ^= 1;
	map_page(pid, now(), page, &st, in_dir("hot"));
	name_at(pid, now(), c.hot);
	CHECK(!strncmp(frame.name, "[hot+0x1", 8));
	finish();
}

static void file_copy(const char *path, int to)
{
	int from = open(path, O_RDONLY);
	char part[65536];
	ssize_t n;

	while ((n = read(from, part, sizeof(part))) > 0)
		CHECK_EQ(write(to, part, (size_t)n), n);
	close(from);
}

/* Somebody puts a file of his own to the place of a library before its record
 * is followed: the library keeps its names, for everybody. */
TEST(mapping_is_replaced)
{
	int own = memfd_create("own", MFD_CLOEXEC);
	struct child c = child_start(in_dir("hot"), NULL);
	uint32_t self = (uint32_t)getpid();
	uint64_t t = now();
	struct stat st;
	char *page;
	int fd = open(in_dir("hot"), O_RDONLY | O_CLOEXEC);

	file_copy(in_dir("odd"), own);
	page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 4096);
	mmap(page, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, own,
	     4096);
	stat(in_dir("hot"), &st);
	begin();
	procs_seen(procs, self, t);
	map_page(self, now(), (uintptr_t)page, &st, in_dir("hot"));
	procs_seen(procs, (uint32_t)c.pid, t);
	CHECK_STR(name_at((uint32_t)c.pid, t, c.hot), "hot");
	finish();
	munmap(page, 4096);
	close(fd);
	close(own);
	child_stop(&c);
}

/* The program is opened for its own rows alone. */
TEST(exe_is_not_any_file)
{
	struct child c = child_start(in_dir("hot"), NULL);
	uint32_t pid = (uint32_t)c.pid;
	uint64_t t = now();
	struct stat st;

	setenv("SONDE_WITHOUT", "map_files", 1);
	stat(in_dir("hot"), &st);
	begin();
	procs_seen(procs, pid, t);
	st.st_dev ^= 1;
	map_page(pid, now(), 0x10000, &st, in_dir("hot"));
	CHECK(!strncmp(name_at(pid, now(), 0x10000 + (c.hot & 4095)),
		       "[hot+0x1", 8));
	CHECK_STR(name_at(pid, t, c.hot), "hot");
	finish();
	unsetenv("SONDE_WITHOUT");
	child_stop(&c);
}

/* A record that tells the file below, where maps tell the one on top. */
static void check_stacked(uint64_t hot)
{
	uint64_t page = 0x10000, inside = page + (hot & 4095);
	struct stat st, top;

	stat(in_dir("stack/up/hot"), &st);
	stat(in_dir("stack/top/hot"), &top);
	if (st.st_ino != top.st_ino)
		return;		/* cannot be told from another file */
	begin();
	map_page(NOBODY, now(), page, &st, in_dir("stack/top/hot"));
	CHECK_STR(name_at(NOBODY, now(), inside), "hot");
	finish();
}

TEST(stacked_file_system)
{
	char options[512];
	const char *at = in_dir("stack/top");
	struct child c;

	shell_run("cd %s && mkdir -p stack/low stack/up stack/work stack/top",
		  dir);
	snprintf(options, sizeof(options),
		 "lowerdir=%1$s/stack/low,upperdir=%1$s/stack/up,"
		 "workdir=%1$s/stack/work", dir);
	if (mount("none", at, "overlay", 0, options)) {
		printf("SKIP stacked_file_system: cannot mount one\n");
		return;
	}
	shell_run("cp %s %s", in_dir("hot"), in_dir("stack/top/hot"));
	c = child_start(in_dir("stack/top/hot"), NULL);
	begin();
	procs_seen(procs, (uint32_t)c.pid, now());
	CHECK_STR(name_at((uint32_t)c.pid, now(), c.hot), "hot");
	finish();
	check_stacked(c.hot);
	child_stop(&c);
	umount2(in_dir("stack/top"), MNT_DETACH);
}

TEST(memfd)
{
	struct child c = { 0 };
	int fd = memfd_create("x y;z", 0);
	char path[32];
	uint64_t t;

	file_copy(in_dir("hot"), fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	c = child_start(path, NULL);
	begin();
	t = now();
	procs_seen(procs, (uint32_t)c.pid, t);
	CHECK_STR(name_at((uint32_t)c.pid, t, c.hot), "hot");
	finish();
	child_stop(&c);
	close(fd);
}

/* Children that are this program, not another one. */

static pid_t fork_and(void (*body)(int ready), int *from)
{
	int ready[2];
	pid_t pid;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		close(ready[0]);
		body(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	*from = ready[0];
	return pid;
}

static void pid_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

__attribute__((noinline, aligned(4096))) static int copied(int x)
{
	__asm__ volatile("");
	return x + 1;
}

static void copy_text(int ready)
{
	char *page = (char *)((uintptr_t)copied & ~4095ul);
	char *copy = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char ok;

	memcpy(copy, page, 4096);
	mprotect(copy, 4096, PROT_READ | PROT_EXEC);
	ok = mremap(copy, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, page) ==
	     page && copied(1) == 2;
	if (write(ready, &ok, 1) != 1)
		_exit(1);
}

TEST(text_on_anonymous_pages)
{
	int from = -1;
	pid_t pid = fork_and(copy_text, &from);
	uint64_t t;
	char ok = 0;

	CHECK_EQ(read(from, &ok, 1), 1);
	CHECK_EQ(ok, 1);
	begin();
	t = now();
	procs_seen(procs, (uint32_t)pid, t);
	CHECK_STR(name_at((uint32_t)pid, t, (uintptr_t)copied + 4), "copied");
	finish();
	pid_stop(pid);
	close(from);
}

static void vdso_poison(int ready)
{
	char *vdso = (char *)getauxval(AT_SYSINFO_EHDR);
	char ok = 0;

	/* Only the whole of it can be made writable. */
	for (size_t n = 4096; vdso && !ok && n <= 65536; n += 4096)
		ok = !mprotect(vdso, n, PROT_READ | PROT_WRITE | PROT_EXEC);
	for (int i = 0; ok && i < 4096 - 8; i++)
		if (!memcmp(vdso + i, "__vdso_", 7))
			memcpy(vdso + i, "__EVIL_", 7);
	if (write(ready, &ok, 1) != 1)
		_exit(1);
}

/* What one process writes over its vDSO names nothing in another one. */
TEST(vdso_is_written_over)
{
	uint64_t vdso = getauxval(AT_SYSINFO_EHDR), t = now();
	uint32_t pid = (uint32_t)getpid();
	int from = -1, good = 0, evil = 0;
	pid_t child = fork_and(vdso_poison, &from);
	char ok = 0;

	CHECK_EQ(read(from, &ok, 1), 1);
	begin();
	procs_seen(procs, (uint32_t)child, t);
	procs_seen(procs, pid, t);
	for (uint64_t i = 0; ok && i < 8192; i += 16) {
		evil += strstr(name_at((uint32_t)child, t, vdso + i), "EVIL") ||
			strstr(name_at(pid, t, vdso + i), "EVIL");
		good += !strncmp(frame.name, "__vdso_", 7) ||
			!strncmp(frame.name, "clock_", 6);
	}
	CHECK_EQ(evil, 0);
	CHECK(!ok || good);
	finish();
	pid_stop(child);
	close(from);
}

static char *jit_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void jit_write(const char *path, const char *code)
{
	FILE *f = fopen(path, "w");

	fprintf(f, "%lx 40 old\n%lx 20 jitted one;two\n", (unsigned long)code,
		(unsigned long)code);
	fclose(f);
}

static void jit_plain(int ready)
{
	char path[64], *code = jit_memory();

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	jit_write(path, code);
	if (write(ready, &code, sizeof(code)) != sizeof(code))
		_exit(1);
}

static void jit_check(pid_t pid, int from, const char *map_path)
{
	uint64_t t = now();
	char *code = NULL;

	CHECK_EQ(read(from, &code, sizeof(code)), sizeof(code));
	begin();
	procs_seen(procs, (uint32_t)pid, t);
	CHECK_STR(name_at((uint32_t)pid, t, (uintptr_t)code + 8),
		  "jitted one;two");
	CHECK_EQ(frame.kind, FRAME_JIT);
	CHECK_STR(name_at((uint32_t)pid, t, (uintptr_t)code + 0x20), "old");
	CHECK_STR(name_at((uint32_t)pid, t, (uintptr_t)code + 0x40),
		  "[anon+0x40]");
	CHECK_EQ(frame.kind, FRAME_USER);
	finish();
	/* After its end, through what was kept open. */
	begin();
	procs_seen(procs, (uint32_t)pid, t);
	pid_stop(pid);
	CHECK_STR(name_at((uint32_t)pid, t, (uintptr_t)code + 8),
		  "jitted one;two");
	finish();
	close(from);
	if (map_path)
		unlink(map_path);
}

TEST(jit_map)
{
	int from = -1;
	pid_t pid = fork_and(jit_plain, &from);
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	jit_check(pid, from, path);
}

/* A map left over from a process that had the pid before. */
TEST(jit_map_is_stale)
{
	struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	int from = -1;
	pid_t pid = fork_and(jit_plain, &from);
	uint64_t t = now();
	char path[64], *code = NULL;

	CHECK_EQ(read(from, &code, sizeof(code)), sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	utimensat(AT_FDCWD, path, times, 0);
	begin();
	procs_seen(procs, (uint32_t)pid, t);
	CHECK_STR(name_at((uint32_t)pid, t, (uintptr_t)code + 8),
		  "[anon+0x8]");
	finish();
	pid_stop(pid);
	close(from);
	unlink(path);
}

/* Two maps that are more together than is read of all: the first one is used
 * and stays in use; nothing is read once for each address. */
TEST(jit_maps_are_huge)
{
	int from[2] = { -1, -1 };
	char path[2][64], *code[2] = { NULL, NULL };
	uint32_t pid[2];
	uint64_t t;

	for (int i = 0; i < 2; i++) {
		pid[i] = (uint32_t)fork_and(jit_plain, &from[i]);
		CHECK_EQ(read(from[i], &code[i], sizeof(code[i])),
			 sizeof(code[i]));
		snprintf(path[i], sizeof(path[i]), "/tmp/perf-%u.map", pid[i]);
		CHECK_EQ(truncate(path[i], 150 << 20), 0);
	}
	begin();
	t = now();
	for (int i = 0; i < 2; i++)
		procs_seen(procs, pid[i], t);
	CHECK_STR(name_at(pid[0], t, (uintptr_t)code[0] + 8),
		  "jitted one;two");
	CHECK_STR(name_at(pid[1], t, (uintptr_t)code[1] + 8), "[anon+0x8]");
	usleep(1100000);	/* the map may be read again after a second */
	for (unsigned i = 0x40; i < 4096; i++)
		name_at(pid[0], t, (uintptr_t)code[0] + i);
	CHECK_STR(name_at(pid[0], t, (uintptr_t)code[0] + 9),
		  "jitted one;two");
	CHECK(now() - t < 10000000000u);
	finish();
	for (int i = 0; i < 2; i++) {
		pid_stop((pid_t)pid[i]);
		close(from[i]);
		unlink(path[i]);
	}
}

/* In a mount namespace of its own: another /tmp, another library. */
static void jit_contained(int ready)
{
	char *code = jit_memory(), path[64];

	if (unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/tmp", "tmpfs", 0, NULL))
		_exit(1);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	jit_write(path, code);
	if (write(ready, &code, sizeof(code)) != sizeof(code))
		_exit(1);
}

TEST(mount_namespace)
{
	int from = -1;
	pid_t pid;

	if (getuid()) {
		printf("SKIP mount_namespace: not root\n");
		return;
	}
	pid = fork_and(jit_contained, &from);
	jit_check(pid, from, NULL);
}

/* A program that only exists in another mount namespace. */
static void run_contained(int ready)
{
	if (unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		_exit(1);
	if (mount("none", in_dir("mnt"), "tmpfs", 0, NULL))
		_exit(1);
	shell_run("cp %s %s/inside", in_dir("hot"), in_dir("mnt"));
	dup2(ready, 1);
	execl(in_dir("mnt/inside"), "inside", NULL);
	_exit(1);
}

TEST(file_of_another_namespace)
{
	struct child c = { .in = -1 };
	uint64_t t;

	if (getuid()) {
		printf("SKIP file_of_another_namespace: not root\n");
		return;
	}
	mkdir(in_dir("mnt"), 0755);
	c.pid = fork_and(run_contained, &c.out);
	c.hot = child_address(&c);
	begin();
	t = now();
	procs_seen(procs, (uint32_t)c.pid, t);
	CHECK_STR(name_at((uint32_t)c.pid, t, c.hot), "hot");
	finish();
	child_stop(&c);
	rmdir(in_dir("mnt"));
}

static void last_in_pid_namespace(int ready)
{
	char *code = jit_memory();

	if (unshare(CLONE_NEWPID))
		_exit(1);
	if (!fork()) {
		jit_write("/tmp/perf-1.map", code);
		if (write(ready, &code, sizeof(code)) != sizeof(code))
			_exit(1);
		for (;;)
			pause();
	}
}

static pid_t only_child(pid_t pid)
{
	char path[64], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	fd = open(path, O_RDONLY);
	if (read(fd, text, sizeof(text) - 1) < 0)
		FAIL("no children");
	close(fd);
	return atoi(text);
}

TEST(pid_namespace)
{
	int from = -1;
	char *code = NULL;
	pid_t pid, inner;
	uint64_t t;

	if (getuid()) {
		printf("SKIP pid_namespace: not root\n");
		return;
	}
	pid = fork_and(last_in_pid_namespace, &from);
	CHECK_EQ(read(from, &code, sizeof(code)), sizeof(code));
	inner = only_child(pid);
	begin();
	t = now();
	procs_seen(procs, (uint32_t)inner, t);
	CHECK_STR(name_at((uint32_t)inner, t, (uintptr_t)code + 8),
		  "jitted one;two");
	finish();
	kill(inner, SIGKILL);
	pid_stop(pid);
	close(from);
	unlink("/tmp/perf-1.map");
}

/* A library that came after the snapshot, without a record of it. */
TEST(maps_read_again)
{
	uint32_t pid = (uint32_t)getpid();
	uint64_t t = now();
	char *page;
	int fd;

	begin();
	procs_seen(procs, pid, t);
	fd = open(in_dir("hot"), O_RDONLY);
	page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 4096);
	close(fd);
	name_at(pid, t, (uintptr_t)page + 0x10);
	CHECK(frame.kind == FRAME_USER && strncmp(frame.name, "[unk", 4));
	munmap(page, 4096);
	finish();
}

TEST(kernel)
{
	uint64_t addr = 0;
	char line[256];
	FILE *f = fopen("/proc/kallsyms", "r");

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, " schedule\n"))
			addr = strtoull(line, NULL, 16);
	if (f)
		fclose(f);
	if (!addr) {
		printf("SKIP kernel: no addresses in /proc/kallsyms\n");
		return;
	}
	begin();
	CHECK_EQ(namer_kernel(namer, addr + 4, false, &frame), 0);
	CHECK_STR(frame.name, "schedule");
	CHECK_EQ(frame.kind, FRAME_KERNEL);
	CHECK_EQ(namer_kernel(namer, 0x1234, true, &frame), 0);
	CHECK_STR(frame.name, "0x1234");
	finish();
}

/* As on an older kernel, or without the privilege. */
TEST(by_path)
{
	setenv("SONDE_WITHOUT", "map_files,openat2", 1);
	test_names_stay();
	test_deleted_and_replaced();
	test_memfd();
	test_text_on_anonymous_pages();
	test_jit_map();
	if (!getuid())
		test_file_of_another_namespace();
	unsetenv("SONDE_WITHOUT");
}

static void made_up(void)
{
	RUN(nothing_known);
	RUN(rows_and_times);
	RUN(exec_replaces);
	RUN(pid_reuse);
	RUN(forgets);
	RUN(fork_inherits);
	RUN(two_files_at_one_address);
	RUN(same_row_many_times);
	RUN(copied_text);
	RUN(labels);
	RUN(many_rows);
	RUN(records_of_one_process);
	RUN(records_of_many_processes);
	RUN(paths_are_bounded);
}

static void real(void)
{
	RUN(itself);
	RUN(names_stay);
	RUN(replaced_by_exec);
	RUN(read_again_after_exec);
	RUN(snapshot_of_the_next_image);
	RUN(deleted_and_replaced);
	RUN(gone_but_not_its_file);
	RUN(mapping_is_replaced);
	RUN(exe_is_not_any_file);
	RUN(stacked_file_system);
	RUN(memfd);
	RUN(text_on_anonymous_pages);
	RUN(vdso_is_written_over);
	RUN(jit_map);
	RUN(jit_map_is_stale);
	RUN(jit_maps_are_huge);
	RUN(mount_namespace);
	RUN(file_of_another_namespace);
	RUN(pid_namespace);
	RUN(maps_read_again);
	RUN(kernel);
	RUN(by_path);
}

int main(void)
{
	snprintf(dir, sizeof(dir), "%s/procsXXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(dir))
		return 1;
	program_make("hot", "hot");
	made_up();
	real();
	shell_run("rm -r %s", dir);
	return test_failed;
}
