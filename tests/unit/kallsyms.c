/* kallsyms - tests kernel symbols: what names an address, and what must not. */
#include "test.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "sym/kallsyms.h"
#include "sym/kernel_list.h"

static struct kallsyms *k;

static int file_of(const char *text, size_t n)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	if (fd < 0 || write(fd, text, n) != (ssize_t)n ||
	    lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

static int load_bytes(const char *symbols, size_t n, const char *modules)
{
	int m = modules ? file_of(modules, strlen(modules)) : -1;
	int fd = file_of(symbols, n), err;

	kallsyms_free(k);
	k = NULL;
	err = kallsyms_load(fd, m, &k);
	close(fd);
	if (m >= 0)
		close(m);
	return err;
}

static int load(const char *symbols, const char *modules)
{
	return load_bytes(symbols, strlen(symbols), modules);
}

static int try(const char *symbols)
{
	int fd = file_of(symbols, strlen(symbols));
	int err = kallsyms_try(fd);

	close(fd);
	return err;
}

/* "name+0x4 [mod]", or "-". */
static const char *at(uint64_t addr)
{
	static char text[8192];
	struct ksym s;

	if (kallsyms_find(k, addr, &s))
		return "-";
	if (addr < s.start || addr >= s.end)
		return "outside";
	snprintf(text, sizeof(text), "%s+0x%llx%s%s%s", s.name,
		 (unsigned long long)(addr - s.start),
		 s.module ? " [" : "", s.module ? s.module : "",
		 s.module ? "]" : "");
	return text;
}

TEST(tiny_addresses_name_nothing)
{
	CHECK_EQ(load("0000000000000000 A __per_cpu_start\n"
		      "000000000001b000 A cpu_hw\n"
		      "000000000001c000 T low\n"
		      "000000000001d000 D percpu\n"
		      "0000000000000000 d name.llvm.123\n"
		      "ffffffff81000000 T _text\n"
		      "ffffffff81000100 T f\n", NULL), 0);
	CHECK_STR(at(0x1b010), "-");
	CHECK_STR(at(0x1c000), "-");
	CHECK_STR(at(0xffffffff81000104), "f+0x4");
	CHECK_STR(at(0xffffffff81000000), "_text+0x0");
	CHECK_STR(at(0), "-");
	CHECK_STR(at(0x400000), "-");
	CHECK_STR(at(0x7fffffffffff), "-");
	CHECK_EQ(kallsyms_counts(k)->symbols, 2);
}

/* A name that is the end of the one before is not kept twice; what only looks
 * like it is. */
TEST(names_that_share_their_end)
{
	CHECK_EQ(load("ffffffff81000000 T _text\n"
		      "ffffffff81000010 T __pfx_f\n"
		      "ffffffff81000020 T f\n"
		      "ffffffff81000030 T f\n"
		      "ffffffff81000040 T ff\n"
		      "ffffffff81000050 T pfx_f\n"
		      "ffffffff81000060 T _pfx_f\n"
		      "ffffffff81000070 T x_f\n"
		      "ffffffff81000080 T f\n", NULL), 0);
	CHECK_STR(at(0xffffffff81000011), "__pfx_f+0x1");
	CHECK_STR(at(0xffffffff81000020), "f+0x0");
	CHECK_STR(at(0xffffffff81000030), "f+0x0");
	CHECK_STR(at(0xffffffff81000040), "ff+0x0");
	CHECK_STR(at(0xffffffff81000050), "pfx_f+0x0");
	CHECK_STR(at(0xffffffff81000060), "_pfx_f+0x0");
	CHECK_STR(at(0xffffffff81000070), "x_f+0x0");
	CHECK_STR(at(0xffffffff81000080), "f+0x0");
}

TEST(hidden_addresses)
{
	CHECK_EQ(load("0000000000000000 T _text\n0000000000000000 t f\n",
		      NULL), -EACCES);
	CHECK_EQ(load("00000000 T _text\n00000000 t f\t[m]\n", NULL), -EACCES);
	CHECK_EQ(load("", NULL), -ENODATA);
	CHECK_EQ(load("no rows\n\n\n", NULL), -ENODATA);

	CHECK_EQ(try("00000000 T _text\n00000000 t f\t[m]\n"), -EACCES);
	CHECK_EQ(try("no rows\n\n\n"), -ENODATA);
	CHECK_EQ(try("00000000 D zero\nffffffff81000000 T _text\n"), 0);
}

TEST(regions_end)
{
	CHECK_EQ(load("ffffffff81000000 T _stext\n"
		      "ffffffff81000000 T a\n"
		      "ffffffff81000800 t last\n"
		      "ffffffff81001000 T _etext\n"
		      "ffffffff82000000 D data\n"
		      "ffffffff83000000 T _sinittext\n"
		      "ffffffff83000010 t init\n"
		      "ffffffff83000800 T _einittext\n"
		      "ffffffffc0000000 t m_first\t[m]\n"
		      "ffffffffc0001000 t n_first\t[n]\n"
		      "ffffffffc0004000 t far\t[unlisted]\n",
		      "m 512 0 - Live 0xffffffffc0000000\n"
		      "n 4096 1 m, Live 0xffffffffc0001000\n"), 0);
	CHECK_STR(at(0xffffffff80ffffff), "-");
	CHECK_STR(at(0xffffffff810007ff), "a+0x7ff");
	CHECK_STR(at(0xffffffff81000fff), "last+0x7ff");
	CHECK_STR(at(0xffffffff81001000), "-");
	CHECK_STR(at(0xffffffff85001000), "-");
	CHECK_STR(at(0xffffffff82000000), "-");
	CHECK_STR(at(0xffffffff830007ff), "init+0x7ef");
	CHECK_STR(at(0xffffffff83000800), "-");
	CHECK_STR(at(0xffffffffc00001ff), "m_first+0x1ff [m]");
	CHECK_STR(at(0xffffffffc0000200), "-");
	CHECK_STR(at(0xffffffffc0001fff), "n_first+0xfff [n]");
	CHECK_STR(at(0xffffffffc0002000), "-");
	CHECK_STR(at(0xffffffffc0005fff), "far+0x1fff [unlisted]");
	CHECK_STR(at(0xffffffffc0006000), "-");
	CHECK_STR(at(UINT64_MAX), "-");
	CHECK(!kallsyms_can_change(k, 0xffffffff81000500));
	CHECK(!kallsyms_can_change(k, 0xffffffff83000500));
	CHECK(!kallsyms_can_change(k, 0x400000));
	CHECK(kallsyms_can_change(k, 0xffffffffc0000300));
	CHECK(kallsyms_can_change(k, 0xffffffffc0800000));
}

/* Without _etext: from the first to the last symbol, and its page. */
TEST(regions_without_markers)
{
	CHECK_EQ(load("ffffffff81000000 T a\nffffffff81100000 T b\n"
		      "ffffffff81200000 d data\nffffffffc0000000 t m\t[m]\n"
		      "ffffffffc1000000 t n\t[m]\n", NULL), 0);
	CHECK_STR(at(0xffffffff81050000), "a+0x50000");
	CHECK_STR(at(0xffffffff81101fff), "b+0x1fff");
	CHECK_STR(at(0xffffffff81102000), "-");
	CHECK_STR(at(0xffffffffc0001fff), "m+0x1fff [m]");
	CHECK_STR(at(0xffffffffc0002000), "-");
}

TEST(markers_in_reverse)
{
	CHECK_EQ(load("ffff800008000000 T __irqentry_text_end\n"
		      "ffff800008000000 T __irqentry_text_start\n"
		      "ffff800008000100 T do_work\n", NULL), 0);
	CHECK_STR(at(0xffff800008000100), "do_work+0x0");
	CHECK_EQ(kallsyms_counts(k)->symbols, 2);
	CHECK_EQ(load("ffff800008001000 T _text\n"
		      "ffff800008000000 T _etext\n"
		      "ffff800008001100 T f\n", NULL), 0);
	CHECK_STR(at(0xffff800008001110), "f+0x10");
}

TEST(aliases)
{
	CHECK_EQ(load("ffff800008000000 T _stext\n"
		      "ffff800008000000 T __irqentry_text_start\n"
		      "ffff800008000000 t gic_handle_irq\n"
		      "ffff800008000100 T __pi_memcpy\n"
		      "ffff800008000100 T __memcpy\n"
		      "ffff800008000100 W memcpy\n"
		      "ffff800008000200 t a\n"
		      "ffff800008000200 T longer\n"
		      "ffff800008000300 T ba\nffff800008000300 T ab\n"
		      "ffff800008000300 T abc\n"
		      "ffff800008000400 t .dot\nffff800008000400 t dot\n"
		      "ffff800008000500 T __pi___x\nffff800008000500 T ____x\n"
		      "ffff800008000600 D data\nffff800008000600 t code\n"
		      "ffff800008000700 T _etext\n", NULL), 0);
	CHECK_STR(at(0xffff800008000000), "gic_handle_irq+0x0");
	CHECK_STR(at(0xffff800008000104), "__memcpy+0x4");
	CHECK_STR(at(0xffff800008000200), "longer+0x0");
	CHECK_STR(at(0xffff800008000300), "ab+0x0");
	CHECK_STR(at(0xffff800008000400), "dot+0x0");
	CHECK_STR(at(0xffff800008000500), "____x+0x0");
	CHECK_STR(at(0xffff800008000600), "code+0x0");
}

TEST(names_whole_and_no_labels)
{
	CHECK_EQ(load("ffff800008000000 T _text\n"
		      "ffff800008000100 t foo.isra.0\n"
		      "ffff800008000110 t $x\nffff800008000114 t $d.12\n"
		      "ffff800008000118 t .Ltmp\n"
		      "ffff800008000200 t foo.cold\n"
		      "ffff800008000300 t bar.llvm.123\n"
		      "ffff800008000400 i ifunc\nffff800008000410 a abs\n"
		      "ffff800008000420 ? odd\nffff800008000430 A abs2\n"
		      "ffff800008001000 T _etext\n", NULL), 0);
	CHECK_STR(at(0xffff800008000120), "foo.isra.0+0x20");
	CHECK_STR(at(0xffff800008000204), "foo.cold+0x4");
	CHECK_STR(at(0xffff800008000440), "bar.llvm.123+0x140");
}

TEST(modules_and_bpf)
{
	CHECK_EQ(load("ffffffff81000000 T _text\nffffffff81001000 T _etext\n"
		      "ffffffffc0003000 t second\t[m]\n"
		      "ffffffffc0002000 t first\t[m]\n"
		      "ffffffffc0002800 d data\t[m]\n"
		      "ffffffffc0100fc0 t bpf_prog_1_a\t[bpf]\n"
		      "ffffffffc0101100 t bpf_prog_2_b\t[bpf]\n"
		      "ffffffffc0200000 t ftrace_trampoline"
		      "\t[__builtin__ftrace]\n"
		      "ffffffffc0300000 t kprobe_insn_page"
		      "\t[__builtin__kprobes]\n",
		      "m 8192 0 - Live 0xffffffffc0002000 (OE)\n"), 0);
	CHECK_STR(at(0xffffffffc0002010), "first+0x10 [m]");
	CHECK_STR(at(0xffffffffc0002810), "-");
	CHECK_STR(at(0xffffffffc0003010), "second+0x10 [m]");
	CHECK_STR(at(0xffffffffc0101010), "bpf_prog_1_a+0x50 [bpf]");
	CHECK_STR(at(0xffffffffc0101110), "bpf_prog_2_b+0x10 [bpf]");
	CHECK_STR(at(0xffffffffc0103000), "-");
	CHECK(kallsyms_can_change(k, 0xffffffffc0103000));
	CHECK_STR(at(0xffffffffc0200010),
		  "ftrace_trampoline+0x10 [__builtin__ftrace]");
	CHECK_STR(at(0xffffffffc0300010),
		  "kprobe_insn_page+0x10 [__builtin__kprobes]");
}

/* A module's size may count memory that others lie in. */
TEST(bpf_inside_a_module)
{
	CHECK_EQ(load("ffffffff81000000 T _text\nffffffff81001000 T _etext\n"
		      "ffffffffc0002000 t f\t[m]\n"
		      "ffffffffc0003000 t bpf_prog_1_a\t[bpf]\n"
		      "ffffffffc0008000 t g\t[n]\n",
		      "m 1048576 0 - Live 0xffffffffc0002000\n"
		      "n 4096 0 - Live 0xffffffffc0008000\n"), 0);
	CHECK_STR(at(0xffffffffc0002fff), "f+0xfff [m]");
	CHECK_STR(at(0xffffffffc0004fff), "bpf_prog_1_a+0x1fff [bpf]");
	CHECK_STR(at(0xffffffffc0005000), "-");
	CHECK_STR(at(0xffffffffc0008fff), "g+0xfff [n]");
	CHECK_STR(at(0xffffffffc0009000), "-");
}

TEST(odd_module_rows)
{
	CHECK_EQ(load("ffffffff81000000 T _text\nffffffff81001000 T _etext\n"
		      "ffffffffc0000000 t f\t[m1]\n",
		      "m1 16384 - - Live 0xffffffffc0000000\n"
		      "nv 9 0 - Live 0x0000000000000000 (POE)\n"
		      "bad\n"
		      "worse 12x 0 - Live 0xffffffffc0100000\n"
		      "neg -1 0 - Live 0xffffffffc0100000\n"
		      "wrap 18446744073709551615 0 - Live "
		      "0xffffffffff000000\n"
		      "huge 99999999999999999999999 0 - Live 0x1\n"
		      "\n"
		      "un 4096 1 a,b, Unloading 0xffffffffc0200000"), 0);
	CHECK_EQ(kallsyms_counts(k)->modules, 4);
	CHECK_EQ(kallsyms_counts(k)->bad_modules, 5);
	CHECK_STR(at(0xffffffffc0003fff), "f+0x3fff [m1]");
	CHECK_STR(at(0xffffffffc0004000), "-");
}

TEST(narrow_kernels)
{
	CHECK_EQ(load("bf000000 t mod\t[m]\n"
		      "c0008000 T _text\nc0008100 T f\nc0009000 T _etext\n"
		      "00000000 A zero\nffff0000 t vectors\n",
		      "m 4096 0 - Live 0xbf000000\n"), 0);
	CHECK_STR(at(0xbf000010), "mod+0x10 [m]");
	CHECK_STR(at(0xc0008104), "f+0x4");
	CHECK_STR(at(0xffff0010), "vectors+0x10");
	CHECK_STR(at(0x8000), "-");
	CHECK_STR(at(0xffffffffc0008104), "-");
	CHECK(kallsyms_can_change(k, 0xbf100000));
}

TEST(bad_rows)
{
	static const char text[] =
		"ffff800008000000 T _text\n"
		"\n"
		"ffff800008000010\n"
		"ffff800008000010 T\n"
		"ffff800008000010 T \n"
		"ffff800008000010 Tname\n"
		"0ffff800008000010 T long\n"
		"xyz T f\n"
		" ffff800008000010 T f\n"
		"ffff800008000010 T f [m\n"
		"ffff800008000010 T f []\n"
		"ffff800008000010 T f [m] more\n"
		"ffff800008000010 T nul\0byte\n"
		"ffff800008000010 T esc\033[31m\n"
		"ffff800008000020 T space [m]\n"
		"ffff800008000030 T last";

	CHECK_EQ(load_bytes(text, sizeof(text) - 1, NULL), 0);
	CHECK_EQ(kallsyms_counts(k)->bad_rows, 13);
	CHECK_STR(at(0xffff80000800001f), "_text+0x1f");
	CHECK_STR(at(0xffff800008000020), "space+0x0 [m]");
	CHECK_STR(at(0xffff800008000031), "last+0x1");
}

/* Lines longer than any buffer, before a good one and at the end. */
TEST(huge_lines)
{
	struct buf text = { 0 };

	for (int i = 0; i < 200000; i++)
		buf_putc(&text, 'a');
	buf_puts(&text, " T f\nffff800008000000 T good\nffff800008000010 T ");
	for (int i = 0; i < 200000; i++)
		buf_putc(&text, 'b');
	CHECK_EQ(load_bytes(text.data, text.len, NULL), 0);
	CHECK_STR(at(0xffff800008000020), "good+0x20");
	CHECK_EQ(kallsyms_counts(k)->symbols, 1);
	CHECK_EQ(kallsyms_counts(k)->bad_rows, 2);
	buf_free(&text);
}

/* Any order of the lines gives the same table. */
TEST(order)
{
	enum { N = 20000 };
	struct buf text = { 0 };
	uint64_t wrong = 0;

	for (uint64_t i = 0, n = 7; i < N; i++, n = (n + 7919) % N) {
		buf_fmt(&text, "%016llx t f%llu\n",
			0xffffffff81000000ull + n * 64,
			(unsigned long long)n);
	}
	CHECK_EQ(load_bytes(text.data, text.len, NULL), 0);
	for (uint64_t i = 0; i < N; i++) {
		char want[32];

		snprintf(want, sizeof(want), "f%llu+0x3f",
			 (unsigned long long)i);
		wrong += strcmp(at(0xffffffff81000000 + i * 64 + 63), want);
	}
	CHECK_EQ(wrong, 0);
	buf_free(&text);
}

/* Sorted rows of the kernel, then modules below it, in no order (arm64). */
TEST(modules_below)
{
	CHECK_EQ(load("ffff800008000000 T _text\nffff800008000100 T f\n"
		      "ffff800008001000 T _etext\n"
		      "ffff800000003000 t c\t[m]\nffff800000001000 t a\t[m]\n"
		      "ffff800000002000 t b\t[m]\n", NULL), 0);
	CHECK_STR(at(0xffff800000001010), "a+0x10 [m]");
	CHECK_STR(at(0xffff800000002010), "b+0x10 [m]");
	CHECK_STR(at(0xffff800000003010), "c+0x10 [m]");
	CHECK_STR(at(0xffff800008000110), "f+0x10");
}

TEST(unreadable)
{
	int fd[2];

	if (pipe(fd))
		abort();
	CHECK_EQ(kallsyms_load(fd[1], -1, &k), -EBADF);
	close(fd[0]);
	close(fd[1]);
	k = NULL;
}

/* A kernel of five waiting functions, and where calls of them return to. */
static const char build[] =
	"ffffffff81000000 T _stext\n"
	"ffffffff81001000 T do_syscall_64\n"
	"ffffffff81001200 T other\n"
	"ffffffff81052340 t do_nanosleep\n"
	"ffffffff81052400 T hrtimer_nanosleep\n"
	"ffffffff81052500 t next\n"
	"ffffffff81231080 t do_sys_poll\n"
	"ffffffff81231480 t more\n"
	"ffffffff81700040 T schedule\n"
	"ffffffff81700100 T last\n"
	"ffffffff81800000 T _etext\n";
enum { RETURNS = 7 };
static const uint64_t returns[RETURNS] = {
	0xffffffff81700080, 0xffffffff81052380, 0xffffffff81052444,
	0xffffffff81001100, 0xffffffff81000130, 0xffffffff81231200,
	0xffffffff81700090,
};

/* Those returns, moved, as the list has them. */
static int place(const char *list, uint64_t moved, size_t n, uint64_t *shift)
{
	uint64_t v[RETURNS];

	load(list, NULL);
	for (size_t i = 0; i < n; i++)
		v[i] = returns[i] + moved;
	return kernel_list_match(k, v, n, shift);
}

TEST(list_is_placed)
{
	uint64_t shift = 1;

	CHECK_EQ(place(build, 0, RETURNS, &shift), 0);
	CHECK_EQ(shift, 0);
	CHECK_EQ(place(build, 0x1e00000, RETURNS, &shift), 0);
	CHECK_EQ(shift, -0x1e00000);
	CHECK_EQ(place(build, -(uint64_t)0x3000, RETURNS, &shift), 0);
	CHECK_EQ(shift, 0x3000);
}

TEST(list_of_another_build)
{
	char other[sizeof(build)];
	uint64_t shift;

	/* Not by whole pages; too few; none. */
	CHECK_EQ(place(build, 0x1200, RETURNS, &shift), -EINVAL);
	CHECK_EQ(place(build, 0, 3, &shift), -EINVAL);
	CHECK_EQ(place(build, 0, 0, &shift), -EINVAL);
	/* One that must be there lies elsewhere, the others as they should. */
	memcpy(other, build, sizeof(build));
	memcpy(strstr(other, "81700040"), "81700090", 8);
	CHECK_EQ(place(other, 0, RETURNS, &shift), -EINVAL);
	/* There is nothing of the kind in it. */
	CHECK_EQ(place("ffffffff81000000 T _stext\n"
			"ffffffff81001000 T f\n", 0, RETURNS, &shift),
		  -EINVAL);
}

int main(void)
{
	RUN(tiny_addresses_name_nothing);
	RUN(names_that_share_their_end);
	RUN(hidden_addresses);
	RUN(regions_end);
	RUN(regions_without_markers);
	RUN(markers_in_reverse);
	RUN(aliases);
	RUN(names_whole_and_no_labels);
	RUN(modules_and_bpf);
	RUN(bpf_inside_a_module);
	RUN(odd_module_rows);
	RUN(narrow_kernels);
	RUN(bad_rows);
	RUN(huge_lines);
	RUN(order);
	RUN(modules_below);
	RUN(list_is_placed);
	RUN(list_of_another_build);
	kallsyms_free(k);
	k = NULL;
	RUN(unreadable);
	return test_failed;
}
