/* kfuncs - lists made by hand, and what the running kernel has. */
#include "sys/kfuncs.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "test.h"

static int file_of(const char *text)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
	    lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

static int note(void *arg, const struct kfunc *f)
{
	buf_fmt(arg, "%s", f->name);
	if (f->module)
		buf_fmt(arg, "[%s]", f->module);
	if (f->addr)
		buf_fmt(arg, "=%llx", (unsigned long long)f->addr);
	buf_putc(arg, ' ');
	return 0;
}

/* What a list gives, blank after each function. */
static void list_is(enum kfuncs_source source, const char *list,
		    const char *blacklist, size_t blacklisted,
		    const char *want)
{
	int fd = file_of(list), black = blacklist ? file_of(blacklist) : -1;
	struct kfuncs_facts facts;
	struct buf got = { 0 };

	CHECK_EQ(kfuncs_each_in(fd, source, black, note, &got, &facts), 0);
	CHECK_STR(buf_str(&got), want);
	CHECK_EQ(facts.blacklisted, blacklisted);
	CHECK_EQ(facts.has_blacklist, blacklist != NULL);
	CHECK_EQ(facts.source, source);
	buf_free(&got);
	close(fd);
	if (black >= 0)
		close(black);
}

TEST(tracefs)
{
	list_is(KFUNCS_TRACEFS,
		"vfs_read\next4_sync_fs [ext4]\nadd [a]\n\n"
		"__ftrace_invalid_address___64\nlast",
		NULL, 0, "vfs_read ext4_sync_fs[ext4] add[a] last ");
	list_is(KFUNCS_TRACEFS, "a\nb\nc [m]\n",
		"0xffffffff81000000-0xffffffff81000010\tb\n"
		"0x0000000000000000-0x0000000000000000\tc [m]\nbad\n",
		2, "a ");
	list_is(KFUNCS_TRACEFS, "", NULL, 0, "");
}

static const char kallsyms[] =
	"ffffffff81000000 T _text\n"
	"ffffffff81000100 t f.isra.0\n"
	"ffffffff81000140 t __pfx_g\n"
	"ffffffff81000150 W g\n"
	"ffffffff81000200 T __noinstr_text_start\n"
	"ffffffff81000200 t in_noinstr\n"
	"ffffffff81000300 T __noinstr_text_end\n"
	"ffffffff81000300 t $x\n"
	"ffffffff81000400 D data\n"
	"ffffffff81000500 T h\n"
	"bad\nffff T\nffff T \n"
	"ffffffff82000000 T _sinittext\n"
	"ffffffff82000000 t early\n"
	"ffffffff82000100 T _einittext\n"
	"ffffffffc0000010 t i\t[m1]\n"
	"ffffffffc0000020 t bpf_prog_6deef7357e7b4530_f\t[bpf]\n"
	"ffffffffc0000030 t kprobe_insn_page\t[__builtin__kprobes]\n";

/* A blacklist has what is between markers; without one they count. */
TEST(kallsyms)
{
	list_is(KFUNCS_KALLSYMS, kallsyms, NULL, 0,
		"_text=ffffffff81000000 f.isra.0=ffffffff81000100 "
		"g=ffffffff81000150 h=ffffffff81000500 "
		"i[m1]=ffffffffc0000010 ");
	list_is(KFUNCS_KALLSYMS, kallsyms, "0x0-0x0\tg\n0x0-0x0\tin_noinstr\n",
		2, "_text=ffffffff81000000 f.isra.0=ffffffff81000100 "
		"h=ffffffff81000500 i[m1]=ffffffffc0000010 ");
	list_is(KFUNCS_KALLSYMS, "0000000000000000 T a\n", NULL, 0, "a ");
	/* Empty, with its end first. */
	list_is(KFUNCS_KALLSYMS, "ffffffff81000010 T __kprobes_text_end\n"
		"ffffffff81000010 T __kprobes_text_start\n"
		"ffffffff81000010 T a\n", NULL, 0, "a=ffffffff81000010 ");
}

/* Lines across the reader's chunks, and one longer than a chunk. */
TEST(long_lists)
{
	enum { LINES = 20000 };
	struct buf text = { 0 }, want = { 0 };

	for (int i = 0; i < LINES; i++) {
		buf_fmt(&text, "function_%d [module]\n", i);
		buf_fmt(&want, "function_%d[module] ", i);
	}
	list_is(KFUNCS_TRACEFS, buf_str(&text), NULL, 0, buf_str(&want));
	buf_reset(&text);
	for (int i = 0; i < 200000; i++)
		buf_putc(&text, 'a');
	buf_puts(&text, " x\nf\n");
	{
		int fd = file_of(buf_str(&text));
		struct kfuncs_facts facts;

		buf_reset(&want);
		CHECK_EQ(kfuncs_each_in(fd, KFUNCS_TRACEFS, -1, note, &want,
					&facts), 0);
		CHECK(facts.listed == 2);
		close(fd);
	}
	buf_free(&text);
	buf_free(&want);
}

static int stop_at(void *arg, const struct kfunc *f)
{
	return strcmp(f->name, arg) ? 0 : 7;
}

TEST(ends)
{
	int fd = file_of("a\nb\nc\n");
	struct kfuncs_facts facts;
	char name[] = "b";

	CHECK_EQ(kfuncs_each_in(fd, KFUNCS_TRACEFS, -1, stop_at, name,
				&facts), 7);
	CHECK_EQ(facts.listed, 2);
	close(fd);
	CHECK_EQ(kfuncs_each_in(-1, KFUNCS_TRACEFS, -1, stop_at, name,
				&facts), -EBADF);
}

static int seen(void *arg, const struct kfunc *f)
{
	*(bool *)arg |= !strcmp(f->name, "vfs_read");
	return 0;
}

TEST(kernel)
{
	struct kfuncs_facts facts;
	bool found = false;

	if (kfuncs_each(seen, &found, &facts)) {
		printf("SKIP kernel: neither tracefs nor kallsyms\n");
		return;
	}
	CHECK(found);
	CHECK(facts.listed > 1000);
	CHECK_EQ(kfunc_judge("vfs_read"), KFUNC_GOOD);
	CHECK_EQ(kfunc_judge("no_such_function"), KFUNC_UNKNOWN);
}

int main(void)
{
	RUN(tracefs);
	RUN(kallsyms);
	RUN(long_lists);
	RUN(ends);
	RUN(kernel);
	return test_failed;
}
