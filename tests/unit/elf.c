/* elf - tests ELF symbols on files written here, whole, cut and poked. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "sym/build_id.h"
#include "sym/elf.h"

/* A small shared object in the layout of lld: the code begins in the middle of
 * a page and its addresses are a page and more beyond its offsets. */
enum {
	SIZE = 0x1800,
	TEXT_OFF = 0x4b0, TEXT = 0x14b0, TEXT_SIZE = 0x350,
	PLT_OFF = 0x800, PLT = 0x1800, PLT_SIZE = 0x40,
	GOT = 0x5000,
	DYNSYM = 0x900, DYNSTR = 0xa00, SYMTAB = 0xb00, STRTAB = 0xd80,
	RELA = 0xf00, NOTE = 0xf80, GNU_HASH = 0x1000, DYNAMIC = 0x1080,
	SHSTR = 0x1180, SECTIONS = 0x1300,
};

enum { FUNC = 2, NOTYPE = 0, OBJECT = 1, IFUNC = 10 };
enum { LOCAL = 0, GLOBAL = 1, WEAK = 2 };

struct file {
	uint8_t p[SIZE];
	int wide, big, machine;
	int sections, symbols, dynsyms, string, shstring;
};

static void put(struct file *f, int at, int n, uint64_t value)
{
	for (int i = 0; i < n; i++)
		f->p[at + (f->big ? n - 1 - i : i)] =
			(uint8_t)(value >> 8 * i);
}

static int word(const struct file *f)
{
	return f->wide ? 8 : 4;
}

static int shdr_at(const struct file *f, int i)
{
	return SECTIONS + i * (f->wide ? 64 : 40);
}

static int sym_size(const struct file *f)
{
	return f->wide ? 24 : 16;
}

static int string_add(struct file *f, int table, int *next, const char *s)
{
	int at = *next;

	strcpy((char *)f->p + table + at, s);
	*next += (int)strlen(s) + 1;
	return at;
}

static void section_add(struct file *f, const char *name, int type, int flags,
			uint64_t addr, int offset, int size, int link)
{
	int w = word(f), at = shdr_at(f, f->sections++);

	put(f, at, 4, (uint64_t)string_add(f, SHSTR, &f->shstring, name));
	put(f, at + 4, 4, (uint64_t)type);
	put(f, at + 8, w, (uint64_t)flags);
	put(f, at + 8 + w, w, addr);
	put(f, at + 8 + 2 * w, w, (uint64_t)offset);
	put(f, at + 8 + 3 * w, w, (uint64_t)size);
	put(f, at + 8 + 4 * w, 4, (uint64_t)link);
}

static void symbol_put(struct file *f, int at, int name, int type, int bind,
		       int section, uint64_t value, uint64_t size)
{
	put(f, at, 4, (uint64_t)(unsigned)name);
	if (f->wide) {
		put(f, at + 8, 8, value);
		put(f, at + 16, 8, size);
	} else {
		put(f, at + 4, 4, value);
		put(f, at + 8, 4, size);
	}
	put(f, at + (f->wide ? 4 : 12), 1, (uint64_t)(bind << 4 | type));
	put(f, at + (f->wide ? 6 : 14), 2, (uint64_t)section);
}

static void symbol(struct file *f, const char *name, int type, int bind,
		   int section, uint64_t value, uint64_t size)
{
	symbol_put(f, SYMTAB + f->symbols++ * sym_size(f),
		   string_add(f, STRTAB, &f->string, name), type, bind,
		   section, value, size);
}

static void dynsym(struct file *f, const char *name, int section,
		   uint64_t value, uint64_t size)
{
	static int next;

	if (f->dynsyms == 1)
		next = 1;
	symbol_put(f, DYNSYM + f->dynsyms++ * sym_size(f),
		   string_add(f, DYNSTR, &next, name), FUNC, GLOBAL, section,
		   value, size);
}

static void segment_add(struct file *f, int i, int type, int flags, int offset,
			uint64_t vaddr, int size)
{
	int w = word(f), at = w == 8 ? 64 + i * 56 : 52 + i * 32;

	put(f, at, 4, (uint64_t)type);
	put(f, at + (w == 8 ? 4 : 24), 4, (uint64_t)flags);
	at += w;
	put(f, at, w, (uint64_t)offset);
	put(f, at + w, w, vaddr);
	put(f, at + 3 * w, w, (uint64_t)size);
	put(f, at + 4 * w, w, (uint64_t)size);
	put(f, at + (w == 8 ? 40 : 24), w, 4096);
}

static void header_write(struct file *f)
{
	int w = word(f), at = 24 + 3 * w + 4;

	memcpy(f->p, "\177ELF", 4);
	f->p[4] = f->wide ? 2 : 1;
	f->p[5] = f->big ? 2 : 1;
	f->p[6] = 1;
	put(f, 16, 2, 3);			/* ET_DYN */
	put(f, 18, 2, (uint64_t)f->machine);
	put(f, 24 + w, w, w == 8 ? 64 : 52);	/* e_phoff */
	put(f, 24 + 2 * w, w, SECTIONS);	/* e_shoff */
	put(f, at + 2, 2, w == 8 ? 56 : 32);
	put(f, at + 4, 2, 4);			/* e_phnum */
	put(f, at + 6, 2, w == 8 ? 64 : 40);
	put(f, at + 8, 2, (uint64_t)f->sections);
	put(f, at + 10, 2, 7);			/* e_shstrndx */
	segment_add(f, 0, 1, 4, 0, 0, TEXT_OFF);
	segment_add(f, 1, 1, 5, TEXT_OFF, TEXT, SIZE - TEXT_OFF);
	segment_add(f, 2, 2, 4, DYNAMIC, DYNAMIC + 0x1000, 16 * w);
	segment_add(f, 3, 4, 4, NOTE, NOTE + 0x1000, 0x30);
}

static void symbols_write(struct file *f)
{
	f->symbols = f->dynsyms = f->string = 1;
	symbol(f, "outer", FUNC, GLOBAL, 1, TEXT, 6);
	symbol(f, "inner_nc", FUNC, GLOBAL, 1, TEXT + 2, 2);
	symbol(f, "zs", FUNC, GLOBAL, 1, TEXT + 0x40, 0);
	symbol(f, "__after", FUNC, GLOBAL, 1, TEXT + 0x100, 0x20);
	symbol(f, "after", FUNC, WEAK, 1, TEXT + 0x100, 0x20);
	symbol(f, "_al", FUNC, GLOBAL, 1, TEXT + 0x100, 0x20);
	symbol(f, "in_after", NOTYPE, LOCAL, 1, TEXT + 0x108, 0);
	symbol(f, "hidden", FUNC, LOCAL, 1, TEXT + 0x120, 0x20);
	symbol(f, "_start", NOTYPE, GLOBAL, 1, TEXT + 0x200, 0);
	symbol(f, "etext", NOTYPE, GLOBAL, 1, TEXT + TEXT_SIZE, 0);
	symbol(f, "far", FUNC, GLOBAL, 0xffff, TEXT + 0x240, 0x10);
	symbol(f, "imported", FUNC, GLOBAL, 0, TEXT + 0x260, 8);
	symbol(f, "absolute", FUNC, GLOBAL, 0xfff1, TEXT + 0x260, 8);
	symbol(f, "data", OBJECT, GLOBAL, 1, TEXT + 0x260, 8);
	symbol(f, "elsewhere", FUNC, GLOBAL, 1, 0x7000, 8);
	symbol(f, "ifunc", IFUNC, GLOBAL, 1, TEXT + 0x280, 0x10);
	symbol_put(f, SYMTAB + f->symbols++ * sym_size(f), -16, FUNC, GLOBAL,
		   1, TEXT + 0x2a0, 8);
	symbol(f, "huge", FUNC, GLOBAL, 1, TEXT + 0x300, UINT64_MAX);
	dynsym(f, "outer", 1, TEXT, 6);
	dynsym(f, "inner_nc", 1, TEXT + 2, 2);
	dynsym(f, "zs", 1, TEXT + 0x40, 0);
	dynsym(f, "after", 1, TEXT + 0x100, 0x20);
	dynsym(f, "usleep", 0, 0, 0);
	dynsym(f, "getpid", 0, 0, 0);
}

static void sections_write(struct file *f)
{
	f->sections = 1;
	f->shstring = 1;
	section_add(f, ".text", 1, 6, TEXT, TEXT_OFF, TEXT_SIZE, 0);
	section_add(f, ".plt", 1, 6, PLT, PLT_OFF, PLT_SIZE, 0);
	section_add(f, ".dynsym", 11, 2, DYNSYM + 0x1000, DYNSYM,
		    f->dynsyms * sym_size(f), 4);
	section_add(f, ".dynstr", 3, 2, DYNSTR + 0x1000, DYNSTR, 0x80, 0);
	section_add(f, ".symtab", 2, 0, 0, SYMTAB, f->symbols * sym_size(f),
		    6);
	section_add(f, ".strtab", 3, 0, 0, STRTAB, f->string, 0);
	section_add(f, ".shstrtab", 3, 0, 0, SHSTR, 0x100, 0);
	section_add(f, ".rela.plt", 4, 2, RELA + 0x1000, RELA, 48, 3);
	section_add(f, ".note", 7, 2, NOTE + 0x1000, NOTE, 0x30, 0);
}

/* jmp *GOT+8n(%rip), and the relocations of both slots. */
static void plt_write(struct file *f)
{
	for (int i = 0; i < 2; i++) {
		int at = PLT_OFF + 16 * (i + 1);
		uint64_t addr = PLT + 16 * ((uint64_t)i + 1);

		f->p[at] = 0xff;
		f->p[at + 1] = 0x25;
		put(f, at + 2, 4, GOT + 8 * (uint64_t)i - (addr + 6));
		put(f, RELA + i * 24, 8, GOT + 8 * (uint64_t)i);
		put(f, RELA + i * 24 + 8, 8, (uint64_t)(5 + i) << 32 | 7);
	}
}

static void dynamic_write(struct file *f)
{
	uint64_t tags[][2] = {
		{ 6, DYNSYM + 0x1000 }, { 5, DYNSTR + 0x1000 }, { 10, 0x80 },
		{ 0x6ffffef5, GNU_HASH + 0x1000 }, { 0, 0 },
	};
	int w = word(f), chain = GNU_HASH + 16 + w + 8;

	for (int i = 0; i < 5; i++) {
		put(f, DYNAMIC + 2 * i * w, w, tags[i][0]);
		put(f, DYNAMIC + 2 * i * w + w, w, tags[i][1]);
	}
	put(f, GNU_HASH, 4, 2);			/* buckets */
	put(f, GNU_HASH + 4, 4, 1);		/* first symbol */
	put(f, GNU_HASH + 8, 4, 1);		/* bloom words */
	put(f, GNU_HASH + 16 + w, 4, 1);
	put(f, GNU_HASH + 16 + w + 4, 4, 3);
	for (int i = 0; i < 6; i++)
		put(f, chain + 4 * i, 4, i == 1 || i == 5);
}

static void note_write(struct file *f)
{
	put(f, NOTE, 4, 4);
	put(f, NOTE + 4, 4, 20);
	put(f, NOTE + 8, 4, 3);
	memcpy(f->p + NOTE + 12, "GNU", 4);
	for (int i = 0; i < 20; i++)
		f->p[NOTE + 16 + i] = (uint8_t)(0xa0 + i);
}

static struct file file_new(int wide, int big, int machine)
{
	struct file f = { .wide = wide, .big = big, .machine = machine };

	symbols_write(&f);
	sections_write(&f);
	header_write(&f);
	dynamic_write(&f);
	note_write(&f);
	plt_write(&f);
	return f;
}

static struct elf *e;

static int open_bytes(const void *bytes, size_t n)
{
	void *image = mem_zalloc(n);
	int err;

	elf_close(e);
	e = NULL;
	memcpy(image, bytes, n);
	err = elf_open_image(image, n, &e);
	if (err)
		mem_free(image);
	return err;
}

static int open_file(const struct file *f)
{
	return open_bytes(f->p, SIZE);
}

/* "name+0x4", or "-". */
static const char *at(uint64_t vaddr)
{
	static char text[8192];
	struct buf name = { 0 };
	struct elf_sym s;

	if (elf_find(e, vaddr, &s) || elf_name(e, &s, &name))
		strcpy(text, "-");
	else
		snprintf(text, sizeof(text), "%s+0x%llx", buf_str(&name),
			 (unsigned long long)(vaddr - s.value));
	buf_free(&name);
	return text;
}

static void check_symtab(void)
{
	CHECK_STR(at(TEXT), "outer+0x0");
	CHECK_STR(at(TEXT + 1), "outer+0x1");
	CHECK_STR(at(TEXT + 2), "inner_nc+0x0");
	CHECK_STR(at(TEXT + 4), "outer+0x4");
	CHECK_STR(at(TEXT + 6), "-");
	CHECK_STR(at(TEXT + 0x40), "zs+0x0");
	CHECK_STR(at(TEXT + 0xff), "zs+0xbf");
	CHECK_STR(at(TEXT + 0x110), "_al+0x10");
	CHECK_STR(at(TEXT + 0x121), "hidden+0x1");
	CHECK_STR(at(TEXT + 0x140), "-");
	CHECK_STR(at(TEXT + 0x210), "_start+0x10");
	CHECK_STR(at(TEXT + 0x24f), "far+0xf");
	CHECK_STR(at(TEXT + 0x260), "-");
	CHECK_STR(at(TEXT + 0x280), "ifunc+0x0");
	CHECK_STR(at(TEXT + 0x2a0), "-");
	CHECK_STR(at(TEXT + 0x34f), "huge+0x4f");
	CHECK_STR(at(0x7000), "-");
	CHECK_STR(at(UINT64_MAX), "-");
}

static void check_dynsym(void)
{
	CHECK_STR(at(TEXT + 1), "outer+0x1");
	CHECK_STR(at(TEXT + 3), "inner_nc+0x1");
	CHECK_STR(at(TEXT + 5), "outer+0x5");
	CHECK_STR(at(TEXT + 0x40), "zs+0x0");
	CHECK_STR(at(TEXT + 0x41), "-");
	CHECK_STR(at(TEXT + 0x11f), "after+0x1f");
	CHECK_STR(at(TEXT + 0x120), "-");
}

static void no_sections(struct file *f)
{
	put(f, 24 + 2 * word(f), word(f), 0);
}

TEST(classes_and_byte_orders)
{
	static const int machines[] = { 8, 62, 40, 183 };
	for (int i = 0; i < 4; i++) {
		struct file f = file_new(i & 1, i >> 1, machines[i]);

		CHECK_EQ(open_file(&f), 0);
		check_symtab();
		no_sections(&f);
		CHECK_EQ(open_file(&f), 0);
		check_dynsym();
	}
}

TEST(stripped)
{
	struct file f = file_new(1, 0, 62);

	put(&f, shdr_at(&f, 5) + 4, 4, 1);	/* .symtab is none */
	CHECK_EQ(open_file(&f), 0);
	check_dynsym();
	CHECK_STR(at(PLT), "[plt]+0x0");
	CHECK_STR(at(PLT + 0x12), "usleep@plt+0x2");
	CHECK_STR(at(PLT + 0x2f), "getpid@plt+0xf");
	CHECK_STR(at(PLT + 0x30), "[plt]+0x30");
}

/* DT_HASH instead of DT_GNU_HASH. */
TEST(sysv_hash)
{
	struct file f = file_new(1, 0, 62);

	no_sections(&f);
	put(&f, DYNAMIC + 6 * 8, 8, 4);
	put(&f, GNU_HASH + 4, 4, 7);		/* chains */
	CHECK_EQ(open_file(&f), 0);
	check_dynsym();
}

TEST(offsets)
{
	struct file f = file_new(1, 0, 62);
	uint64_t v = 0;

	CHECK_EQ(open_file(&f), 0);
	CHECK_EQ(elf_vaddr(e, TEXT_OFF + 4, &v), 0);
	CHECK_EQ(v, TEXT + 4);
	CHECK_EQ(elf_vaddr(e, 0, &v), 0);	/* of the executable mapping */
	CHECK_EQ(v, 0x1000);
	CHECK_EQ(elf_vaddr(e, SIZE, &v), -ENOENT);
	CHECK_EQ(elf_vaddr(e, UINT64_MAX, &v), -ENOENT);
	CHECK_EQ(elf_offset(e, TEXT + 4, &v), 0);
	CHECK_EQ(v, TEXT_OFF + 4);
	CHECK_EQ(elf_offset(e, 4, &v), 0);
	CHECK_EQ(v, 4);
	CHECK_EQ(elf_offset(e, 0x9000, &v), -ENOENT);
	CHECK(elf_is_code(e, TEXT));
	CHECK(!elf_is_code(e, 4));
}

TEST(extended_counts)
{
	struct file f = file_new(1, 0, 62);

	put(&f, 60, 2, 0);			/* e_shnum */
	put(&f, 62, 2, 0xffff);			/* e_shstrndx */
	put(&f, 56, 2, 0xffff);			/* e_phnum */
	put(&f, SECTIONS + 32, 8, (uint64_t)f.sections);
	put(&f, SECTIONS + 40, 4, 7);
	put(&f, SECTIONS + 44, 4, 4);
	CHECK_EQ(open_file(&f), 0);
	check_symtab();
	CHECK_STR(at(PLT + 0x12), "usleep@plt+0x2");
	put(&f, SECTIONS + 32, 8, UINT64_MAX);
	put(&f, SECTIONS + 40, 4, UINT32_MAX);
	put(&f, SECTIONS + 44, 4, UINT32_MAX);
	CHECK_EQ(open_file(&f), 0);
	check_symtab();
}

TEST(string_table_ends)
{
	struct file f = file_new(1, 0, 62);
	int size = shdr_at(&f, 6) + 32;

	f.p[STRTAB + f.string - 1] = 'A';	/* the end of "huge" */
	CHECK_EQ(open_file(&f), 0);
	CHECK_STR(at(TEXT + 0x310), "-");
	CHECK_STR(at(TEXT + 1), "outer+0x1");
	put(&f, size, 8, 1);
	CHECK_EQ(open_file(&f), 0);
	CHECK_STR(at(TEXT + 1), "-");
	put(&f, size, 8, UINT64_MAX);
	CHECK_EQ(open_file(&f), 0);
	CHECK_STR(at(TEXT + 1), "outer+0x1");
	put(&f, size - 8, 8, UINT64_MAX - 15);	/* sh_offset: .dynsym it is */
	CHECK_EQ(open_file(&f), 0);
	check_dynsym();
}

TEST(labels_of_the_assembler)
{
	static const struct {
		int machine;
		const char *name, *want;
	} cases[] = {
		{ 40, "$a", "-" }, { 40, "$t.1", "-" }, { 183, "$x", "-" },
		{ 183, "$d.22", "-" }, { 243, "$xrv64i2p1", "-" },
		{ 183, "$x2", "$x2+0x8" }, { 62, "$x", "$x+0x8" },
		{ 62, ".L12", "-" }, { 243, "$xyz", "$xyz+0x8" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct file f = file_new(1, 0, cases[i].machine);
		int size = shdr_at(&f, 5) + 32;

		symbol(&f, cases[i].name, NOTYPE, LOCAL, 1, TEXT + 0x180, 0);
		put(&f, size, 8, (uint64_t)(f.symbols * 24));
		put(&f, shdr_at(&f, 6) + 32, 8, (uint64_t)f.string);
		CHECK_EQ(open_file(&f), 0);
		CHECK_STR(at(TEXT + 0x188), cases[i].want);
	}
}

TEST(thumb)
{
	struct file f = file_new(0, 0, 40);

	put(&f, SYMTAB + 16 + 4, 4, TEXT + 1);
	CHECK_EQ(open_file(&f), 0);
	CHECK_STR(at(TEXT), "outer+0x0");
	CHECK_STR(at(TEXT + 5), "outer+0x5");
}

TEST(not_elf)
{
	struct file f = file_new(1, 0, 62);
	int fd[2];

	CHECK_EQ(open_bytes("", 0), -ENOEXEC);
	CHECK_EQ(open_bytes("\177ELF", 4), -ENOEXEC);
	f.p[4] = 3;
	CHECK_EQ(open_file(&f), -ENOEXEC);
	if (pipe(fd))
		abort();
	CHECK_EQ(elf_open(fd[0], &e), -EINVAL);
	close(fd[0]);
	close(fd[1]);
	CHECK_EQ(elf_open(fd[0], &e), -EBADF);
	f.p[4] = 2;
	f.p[16] = 1;				/* ET_REL */
	CHECK_EQ(open_file(&f), 0);
	CHECK(elf_is_object(e));
	CHECK_STR(at(TEXT), "-");
}

/* Everything a caller does; nothing may crash or leave its bounds. */
static void use(void)
{
	uint64_t v;

	for (uint64_t a = 0; a < 0x400; a += 96) {
		at(TEXT + a);
		elf_vaddr(e, a, &v);
		elf_offset(e, a, &v);
	}
	at(0);
	at(UINT64_MAX);
}

TEST(cut_at_every_byte)
{
	for (int bare = 0; bare < 2; bare++) {
		struct file f = file_new(1, 0, 62);

		if (bare)
			no_sections(&f);
		for (size_t n = 0; n < SIZE; n++)
			if (!open_bytes(f.p, n))
				use();
	}
}

TEST(every_field_poked)
{
	static const uint64_t values[] = {
		0, 1, 23, 0x7fffffff, 0xffffffff, 0x7ffffffffffffff8,
		0xfffffffffffffff0, UINT64_MAX,
	};

	for (int kind = 0; kind < 8; kind++) {
		struct file whole = file_new(kind & 1, kind >> 1 & 1, 62);

		if (kind & 4)
			no_sections(&whole);
		for (int i = 0; i + 8 <= SIZE; i += 4)
			for (int width = 4; width <= 8; width += 4) {
				struct file f = whole;

				put(&f, i, width, values[(i / 4 + kind) % 8]);
				if (!open_file(&f))
					use();
			}
	}
}

static void check_shrink(int loaded)
{
	struct file f = file_new(1, 0, 62);
	int fd = memfd_create("shrinks", MFD_CLOEXEC);

	elf_close(e);
	e = NULL;
	if (write(fd, f.p, SIZE) != SIZE)
		abort();
	CHECK_EQ(elf_open(fd, &e), 0);
	if (loaded)
		CHECK(elf_symbols(e) > 5);
	if (ftruncate(fd, 100))
		abort();
	if (!loaded)
		CHECK_STR(at(TEXT), "-");
	use();
	elf_close(e);
	e = NULL;
	CHECK_EQ(fcntl(fd, F_GETFD), -1);
}

TEST(shrinks_while_open)
{
	check_shrink(0);
	check_shrink(1);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static long peak_kib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

/* Section headers beyond 4 GiB, and tables that claim all of the file; more
 * headers than any file has are told. */
TEST(sparse_and_hostile_sizes)
{
	static const uint64_t sizes[] = { 0, 1ull << 60, UINT64_MAX, 0 };
	double start = seconds();
	long before = peak_kib();

	for (size_t i = 0; i < 4; i++) {
		struct file f = file_new(1, 0, 62);
		int fd = memfd_create("sparse", MFD_CLOEXEC);

		put(&f, 40, 8, 5000000000);
		if (sizes[i]) {
			put(&f, shdr_at(&f, 5) + 32, 8, sizes[i]);
			put(&f, shdr_at(&f, 8) + 32, 8, sizes[i]);
			put(&f, shdr_at(&f, 2) + 32, 8, sizes[i] / 2);
		}
		if (i == 3) {
			put(&f, 60, 2, 0);	/* e_shnum */
			put(&f, SECTIONS + 32, 8, UINT64_MAX);
		}
		if (ftruncate(fd, 5368709120) ||
		    pwrite(fd, f.p, SIZE, 0) != SIZE ||
		    pwrite(fd, f.p + SECTIONS, SIZE - SECTIONS,
			   5000000000) != SIZE - SECTIONS)
			abort();
		elf_close(e);
		e = NULL;
		CHECK_EQ(elf_open(fd, &e), 0);
		CHECK_EQ(elf_error(e), i == 3 ? -EFBIG : 0);
		CHECK_STR(at(TEXT + 3), i == 3 ? "-" : "inner_nc+0x1");
	}
	CHECK(seconds() - start < 60);
	CHECK(peak_kib() - before < 262144);
}

/* Each symbol holds the next; only the innermost names, at once. */
TEST(deep_nesting)
{
	enum { N = 20000, TABLE = 0x2000, STRINGS = TABLE + 24 * (N + 1) };
	size_t size = STRINGS + 16;
	uint8_t *p = mem_zalloc(size);
	struct file f = file_new(1, 0, 62);
	struct elf_sym s;
	int wrong = 0;

	put(&f, shdr_at(&f, 1) + 32, 8, 0x100000);	/* .text */
	put(&f, shdr_at(&f, 2) + 8, 8, 0);		/* no .plt */
	put(&f, shdr_at(&f, 5) + 24, 8, TABLE);
	put(&f, shdr_at(&f, 5) + 32, 8, 24 * (N + 1));
	put(&f, shdr_at(&f, 6) + 24, 8, STRINGS);
	put(&f, shdr_at(&f, 6) + 32, 8, 16);
	memcpy(p, f.p, SIZE);
	memcpy(p + STRINGS, "\0deep", 5);
	for (int i = 1; i <= N; i++) {
		struct file one = { .wide = 1 };

		symbol_put(&one, 0, 1, FUNC, GLOBAL, 1,
			   TEXT + (uint64_t)i, (uint64_t)(3 * N - 2 * i));
		memcpy(p + TABLE + 24 * i, one.p, 24);
	}
	CHECK_EQ(open_bytes(p, size), 0);
	for (uint64_t i = 1; i <= N; i++) {
		wrong += elf_find(e, TEXT + i, &s) || s.value != TEXT + i;
		wrong += elf_find(e, TEXT + 3 * N - i - 1, &s) ||
			s.value != TEXT + i || s.size != 3 * N - 2 * i;
	}
	CHECK_EQ(wrong, 0);
	CHECK_STR(at(TEXT), "-");
	CHECK_STR(at(TEXT + 3 * N - 1), "-");
	mem_free(p);
}

/* A name of more than 4 KiB is cut, and says so. */
TEST(long_name)
{
	enum { STRINGS = 0x2000, LEN = 10000 };
	size_t size = STRINGS + LEN + 2;
	char *p = mem_zalloc(size);
	struct file f = file_new(1, 0, 62);
	const char *name;

	put(&f, shdr_at(&f, 6) + 24, 8, STRINGS);
	put(&f, shdr_at(&f, 6) + 32, 8, LEN + 2);
	put(&f, SYMTAB + 24, 4, 1);
	memcpy(p, f.p, SIZE);
	memset(p + STRINGS + 1, 'n', LEN);
	CHECK_EQ(open_bytes(p, size), 0);
	name = at(TEXT);
	CHECK_EQ(strlen(name), ELF_NAME_MAX + 7);
	CHECK_STR(name + ELF_NAME_MAX - 1, "n...+0x0");
	mem_free(p);
}

TEST(work_is_bounded)
{
	struct file f = file_new(1, 0, 62);
	uint64_t work = 3000;

	CHECK_EQ(open_file(&f), 0);
	CHECK_EQ(elf_load(e, &work), -EFBIG);
	CHECK_EQ(work, 0);
	CHECK_EQ(elf_symbols(e), 0);
	CHECK_STR(at(TEXT), "-");
	CHECK_EQ(open_file(&f), 0);
	work = 1 << 20;
	CHECK_EQ(elf_load(e, &work), 0);
	CHECK(work < (1 << 20) - 3000 && work > 1 << 19);
	check_symtab();
}

/* Of many names for the same bytes each is read, and counted. */
TEST(long_aliases)
{
	enum { N = 4000, TABLE = 0x2000, STRINGS = TABLE + 24 * (N + 1),
	       LEN = ELF_NAME_MAX + N };
	size_t size = STRINGS + LEN + 2;
	uint8_t *p = mem_zalloc(size);
	struct file f = file_new(1, 0, 62), one = { .wide = 1 };
	uint64_t work = 64 << 20, before = work;

	put(&f, shdr_at(&f, 5) + 24, 8, TABLE);
	put(&f, shdr_at(&f, 5) + 32, 8, 24 * (N + 1));
	put(&f, shdr_at(&f, 6) + 24, 8, STRINGS);
	put(&f, shdr_at(&f, 6) + 32, 8, LEN + 2);
	memcpy(p, f.p, SIZE);
	memset(p + STRINGS + 1, 'n', LEN);
	for (int i = 1; i <= N; i++) {
		symbol_put(&one, 0, i, FUNC, GLOBAL, 1, TEXT, 8);
		memcpy(p + TABLE + 24 * i, one.p, 24);
	}
	CHECK_EQ(open_bytes(p, size), 0);
	CHECK_EQ(elf_load(e, &work), 0);
	CHECK(before - work > (uint64_t)N * ELF_NAME_MAX);
	CHECK_EQ(open_bytes(p, size), 0);
	work = before = 8 << 20;
	CHECK_EQ(elf_load(e, &work), -EFBIG);
	mem_free(p);
}

/* More segments than are read are told. */
TEST(many_segments)
{
	enum { N = 2049, AT = 0x2000, ALL = AT + 56 * N };
	struct file f = file_new(1, 0, 62);
	uint8_t *p = mem_zalloc(ALL);

	put(&f, 32, 8, AT);			/* e_phoff */
	for (int more = 0; more < 2; more++) {
		put(&f, 56, 2, (uint64_t)N - 1 + (uint64_t)more);
		memcpy(p, f.p, SIZE);
		memcpy(p + AT, f.p + 64, 4 * 56);
		CHECK_EQ(open_bytes(p, ALL), 0);
		CHECK_EQ(elf_error(e), more ? -EFBIG : 0);
		CHECK_STR(at(TEXT + 3), more ? "-" : "inner_nc+0x1");
	}
	mem_free(p);
}

/* Load a file by descriptor; what it cost. */
static uint64_t cost_of(const void *bytes, size_t n)
{
	int fd = memfd_create("cost", MFD_CLOEXEC);
	uint64_t work = ELF_WORK_MOST;

	elf_close(e);
	e = NULL;
	if (write(fd, bytes, n) != (ssize_t)n)
		abort();
	CHECK_EQ(elf_open(fd, &e), 0);
	CHECK_EQ(elf_load(e, &work), 0);
	return ELF_WORK_MOST - work;
}

/* Stubs whose symbols lie far apart cost what reading those takes. */
TEST(stubs_far_apart)
{
	enum { N = 40, STUBS = 0x2000, SYMBOLS = 0x3000, FAR = 3000,
	       ALL = SYMBOLS + 24 * (FAR + 1) };
	struct file f = file_new(1, 0, 62);
	uint8_t *p = mem_zalloc(ALL);
	uint64_t costs[2];

	put(&f, shdr_at(&f, 2) + 24, 8, STUBS);
	put(&f, shdr_at(&f, 2) + 32, 8, 16 * N);
	put(&f, shdr_at(&f, 3) + 24, 8, SYMBOLS);
	put(&f, shdr_at(&f, 3) + 32, 8, 24 * (FAR + 1));
	for (int far = 0; far < 2; far++) {
		put(&f, RELA + 24 + 12, 4, far ? FAR : 6);
		memcpy(p, f.p, SIZE);
		for (int i = 0; i < N; i++) {
			struct file one = { 0 };

			put(&one, 0, 2, 0x25ff);
			put(&one, 2, 4, GOT + 8 * (uint64_t)(i & 1) -
			    (PLT + 16 * (uint64_t)i + 6));
			memcpy(p + STUBS + 16 * i, one.p, 16);
		}
		costs[far] = cost_of(p, ALL);
	}
	CHECK(costs[0] > N * 32);
	CHECK(costs[1] - costs[0] > (N - 2) * 4096);
	mem_free(p);
}

/* Names that displace each other from the pages that are kept cost as much. */
TEST(names_far_apart)
{
	enum { N = 500, TABLE = 0x2000, STRINGS = TABLE + 24 * (N + 1),
	       FAR = 4 << 20, ALL = STRINGS + FAR + 0x1000 };
	struct file f = file_new(1, 0, 62);
	uint8_t *p = mem_zalloc(ALL);
	uint64_t costs[2];

	put(&f, shdr_at(&f, 5) + 24, 8, TABLE);
	put(&f, shdr_at(&f, 5) + 32, 8, 24 * (N + 1));
	put(&f, shdr_at(&f, 6) + 24, 8, STRINGS);
	put(&f, shdr_at(&f, 6) + 32, 8, ALL - STRINGS);
	memcpy(p, f.p, SIZE);
	memcpy(p + STRINGS + 1, ".L", 3);
	memcpy(p + STRINGS + 1 + FAR, ".L", 3);
	for (int far = 0; far < 2; far++) {
		for (int i = 1; i <= N; i++) {
			struct file one = { .wide = 1 };

			symbol_put(&one, 0, 1 + (far && i & 1 ? FAR : 0),
				   NOTYPE, LOCAL, 1, TEXT, 0);
			memcpy(p + TABLE + 24 * i, one.p, 24);
		}
		costs[far] = cost_of(p, ALL);
	}
	CHECK(costs[1] - costs[0] > (N - 2) * 128);
	mem_free(p);
}

/* A note that ends in its name: none. */
TEST(build_id_cut)
{
	static const uint8_t note[] = "\4\0\0\0\1\0\0\0\3\0\0\0GNU\0\7";
	struct build_id id;

	for (size_t n = 0; n <= 17; n++)
		for (int desc = 0; desc < 2; desc++) {
			uint8_t *p = malloc(n + !n);

			memcpy(p, note, n);
			if (n > 4)
				p[4] = (uint8_t)desc;
			CHECK_EQ(build_id_find(p, n, false, 4, &id),
				 n == 17 && desc);
			free(p);
		}
}

int main(void)
{
	RUN(classes_and_byte_orders);
	RUN(stripped);
	RUN(sysv_hash);
	RUN(offsets);
	RUN(extended_counts);
	RUN(string_table_ends);
	RUN(labels_of_the_assembler);
	RUN(thumb);
	RUN(not_elf);
	RUN(cut_at_every_byte);
	RUN(every_field_poked);
	RUN(shrinks_while_open);
	RUN(sparse_and_hostile_sizes);
	RUN(deep_nesting);
	RUN(long_name);
	RUN(work_is_bounded);
	RUN(long_aliases);
	RUN(many_segments);
	RUN(stubs_far_apart);
	RUN(names_far_apart);
	RUN(build_id_cut);
	elf_close(e);
	return test_failed;
}
