/* gopclntab - tests Go's table of functions: all layouts, poked and cut. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>

#include "elf_make.h"
#include "sym/functions.h"

/* The text, of which the last byte belongs to no function; where its table is;
 * data. An address of a segment is its offset, or 0x1000 more for the data. */
enum { TEXT = 0x1000, TEXT_SIZE = 0x301, TABLE = 0x1800, TABLE_SIZE = 0x300,
       DATA = 0x2000, DATA_ADDR = 0x3000, DYNAMIC = 0x1c00, RELA = 0x1d00 };
enum { GO_1_2 = 0xfb, GO_1_16 = 0xfa, GO_1_18 = 0xf0, GO_1_20 = 0xf1 };

struct go {
	struct file f;
	int version;
	int field;		/* bytes of an address */
	int functab, funcs, names;	/* after the beginning of the table */
};

static const struct {
	int start;
	const char *name;
} known[] = {
	{ 0x0, "go.buildid" }, { 0x20, "main.main" },
	{ 0x100, "main.(*T).Spin" }, { 0x200, "" },
};
enum { N = 3 };

static int relative(const struct go *g)
{
	return g->version == GO_1_18 || g->version == GO_1_20;
}

static void function_put(struct go *g, int i, int record, int name)
{
	struct file *f = &g->f;
	uint64_t pc = (uint64_t)known[i].start + (relative(g) ? 0 : TEXT);
	int at = TABLE + g->functab + 2 * i * g->field;

	put(f, at, g->field, pc);
	if (i == N)
		return;
	put(f, at + g->field, g->field, (uint64_t)(record - g->funcs));
	put(f, TABLE + record, g->field, pc);
	put(f, TABLE + record + g->field, 4, (uint64_t)(name - g->names));
	strcpy((char *)f->p + TABLE + name, known[i].name);
}

static void header_put(struct go *g)
{
	int w = word(&g->f), at = TABLE + 8;

	put(&g->f, TABLE, 4, 0xffffff00u | (unsigned)g->version);
	put(&g->f, TABLE + 6, 1, 1);
	put(&g->f, TABLE + 7, 1, (uint64_t)w);
	put(&g->f, at, w, N);
	if (g->version == GO_1_2)
		return;
	if (relative(g))
		put(&g->f, at + 2 * w, w, TEXT);
	at += (relative(g) ? 3 : 2) * w;
	put(&g->f, at, w, (uint64_t)g->names);
	put(&g->f, at + 4 * w, w, (uint64_t)g->functab);
}

static struct go go_new(int version, int wide, int big)
{
	struct go g = { .f = file_new(wide ? X86_64 : ARM, wide, big),
			.version = version };
	int w = word(&g.f), name, record;

	g.field = relative(&g) ? 4 : w;
	g.functab = version == GO_1_2 ? 8 + w : 0x180;
	g.funcs = version == GO_1_2 ? 0 : g.functab;
	g.names = version == GO_1_2 ? 0 : 0x80;
	name = version == GO_1_2 ? 0x100 : g.names;
	record = g.functab + 0x80;
	header_put(&g);
	for (int i = 0; i <= N; i++) {
		function_put(&g, i, record, name);
		record += 24;
		name += (int)strlen(known[i].name) + 1;
	}
	section(&g.f, ".text", 1, 6, TEXT, TEXT, TEXT_SIZE, 0);
	return g;
}

static void section_named(struct go *g, const char *name)
{
	section(&g->f, name, 1, 2, TABLE, TABLE, TABLE_SIZE, 0);
}

/* "name+0x4", or "-". */
static const char *at(struct elf *e, uint64_t vaddr)
{
	static char text[128];
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

/* How many of the functions have their names; others have none. */
static int named(const struct go *g, size_t size)
{
	struct elf *e = file_open(&g->f, size);
	int n = 0;

	for (int i = 0; e && i < N; i++) {
		char wanted[64];
		const char *got = at(e, (uint64_t)TEXT + 4 +
				     (uint64_t)known[i].start);

		snprintf(wanted, sizeof(wanted), "%s+0x4", known[i].name);
		n += !strcmp(got, wanted);
	}
	elf_close(e);
	return n;
}

static const int versions[] = { GO_1_2, GO_1_16, GO_1_18, GO_1_20 };

TEST(layouts)
{
	for (int i = 0; i < 16; i++) {
		struct go g = go_new(versions[i & 3], i >> 2 & 1, i >> 3);
		struct elf *e;

		CHECK_EQ(named(&g, SIZE), 0);
		section_named(&g, i & 4 ? ".gopclntab" :
			      ".data.rel.ro.gopclntab");
		e = file_open(&g.f, SIZE);
		CHECK_STR(at(e, TEXT), "go.buildid+0x0");
		CHECK_STR(at(e, TEXT + 0x1f), "go.buildid+0x1f");
		CHECK_STR(at(e, TEXT + 0x20), "main.main+0x0");
		CHECK_STR(at(e, TEXT + 0x1ff), "main.(*T).Spin+0xff");
		CHECK_STR(at(e, TEXT + 0x200), "-");
		CHECK_STR(at(e, TEXT - 1), "-");
		elf_close(e);
	}
}

/* Without section headers the segments are searched. */
TEST(searched)
{
	for (int i = 0; i < 8; i++) {
		struct go g = go_new(versions[i & 3], i >> 2, 0);

		put(&g.f, 24 + 2 * word(&g.f), word(&g.f), 0);
		CHECK_EQ(named(&g, SIZE), N);
	}
}

/* Within another section, if a note says that this is a Go program. */
TEST(searched_in_go_programs)
{
	struct go g = go_new(GO_1_18, 1, 0);

	section(&g.f, ".data.rel.ro", 1, 3, TABLE, TABLE, TABLE_SIZE, 0);
	CHECK_EQ(named(&g, SIZE), 0);
	section(&g.f, ".note.go.buildid", 7, 2, 0x400, 0x400, 16, 0);
	CHECK_EQ(named(&g, SIZE), N);
	put(&g.f, TABLE, 4, 0xffffff00);	/* a false one, and no other */
	CHECK_EQ(named(&g, SIZE), 0);
}

/* The header does not tell where the text is. */
static struct go go_textless(int wide)
{
	struct go g = go_new(GO_1_20, wide, 0);

	section_named(&g, ".gopclntab");
	put(&g.f, TABLE + 8 + 2 * word(&g.f), word(&g.f), 0);
	return g;
}

TEST(text_by_relocation)
{
	struct go g = go_textless(1);
	uint64_t tags[][2] = { { 7, RELA }, { 8, 48 }, { 0, 0 } };

	segment(&g.f, 2, 4, DYNAMIC, DYNAMIC, 48);
	for (int i = 0; i < 3; i++) {
		put(&g.f, DYNAMIC + 16 * i, 8, tags[i][0]);
		put(&g.f, DYNAMIC + 16 * i + 8, 8, tags[i][1]);
	}
	put(&g.f, RELA, 8, TABLE);
	put(&g.f, RELA + 16, 8, 0x1234);
	put(&g.f, RELA + 24, 8, TABLE + 8 + 2 * 8);
	put(&g.f, RELA + 32, 8, 8);
	put(&g.f, RELA + 40, 8, TEXT);
	CHECK_EQ(named(&g, SIZE), N);
	put(&g.f, RELA + 36, 4, 1);		/* a symbol takes part */
	CHECK_EQ(named(&g, SIZE), 0);
	put(&g.f, RELA + 36, 4, 0);
	put(&g.f, RELA + 40, 8, 0x7000);	/* no code */
	CHECK_EQ(named(&g, SIZE), 0);
}

TEST(text_by_module)
{
	for (int wide = 0; wide < 2; wide++) {
		struct go g = go_textless(wide);
		int w = word(&g.f);

		CHECK_EQ(named(&g, SIZE), 0);
		section(&g.f, ".go.module", 1, 3, DATA_ADDR, DATA, 0x100, 0);
		CHECK_EQ(named(&g, SIZE), 0);
		put(&g.f, DATA, w, TABLE);
		put(&g.f, DATA + 22 * w, w, TEXT);
		CHECK_EQ(named(&g, SIZE), N);
	}
}

/* .text ends where the last function does, or shortly after. */
TEST(text_by_section)
{
	struct go g = go_textless(1);
	int at = SECTIONS + 2 * 64;

	CHECK_EQ(named(&g, SIZE), 0);
	put(&g.f, at + 32, 8, 0x210);
	CHECK_EQ(named(&g, SIZE), N);
	put(&g.f, at + 32, 8, 0x1ff);
	CHECK_EQ(named(&g, SIZE), 0);
	put(&g.f, at + 32, 8, 0x240);
	CHECK_EQ(named(&g, SIZE), 0);
}

/* One function whose record is of another, whose name is none, or that ends
 * before it starts, has no name; the others have theirs. */
TEST(bad_functions)
{
	for (int i = 0; i < 4; i++) {
		struct go g = go_new(versions[i], 1, i & 1);
		int record = TABLE + g.functab + 0x80 + 24;
		int entry = TABLE + g.functab + 2 * g.field;

		section_named(&g, ".gopclntab");
		CHECK_EQ(named(&g, SIZE), N);
		put(&g.f, record, g.field, 0x21);
		CHECK_EQ(named(&g, SIZE), N - 1);
		g.f.p[record + (g.f.big ? g.field - 1 : 0)] = 0x20;
		put(&g.f, record + g.field, 4, 0xffffffff);
		CHECK_EQ(named(&g, SIZE), N - 1);
		put(&g.f, record + g.field, 4, 0x7fffffff);
		CHECK_EQ(named(&g, SIZE), N - 1);
		put(&g.f, entry + g.field, g.field, UINT64_MAX);
		CHECK_EQ(named(&g, SIZE), N - 1);
		put(&g.f, entry, g.field, 0x7000000);
		CHECK(named(&g, SIZE) <= N - 1);
	}
}

TEST(bad_headers)
{
	static const uint64_t odd[] = { 0, 4, 1 << 20, 1ull << 32,
		1ull << 63, UINT64_MAX, UINT64_MAX / 8, UINT64_MAX - 7 };

	for (int i = 0; i < 4; i++)
		for (int at = 8; at < 8 + 8 * 8; at += 8)
			for (int j = 0; j < 8; j++) {
				struct go g = go_new(versions[i], 1, 0);

				section_named(&g, ".gopclntab");
				put(&g.f, TABLE + at, 8, odd[j]);
				CHECK(named(&g, SIZE) <= N);
			}
}

/* Wrong sizes and offsets of the section. */
TEST(bad_sections)
{
	static const uint64_t odd[] = { 0, 7, 71, 72, 1ull << 32, UINT64_MAX,
		UINT64_MAX - TABLE, SIZE, SIZE - 8 };

	for (int field = 24; field <= 32; field += 8)
		for (size_t j = 0; j < sizeof(odd) / sizeof(*odd); j++) {
			struct go g = go_new(GO_1_18, 1, 0);

			section_named(&g, ".gopclntab");
			put(&g.f, SECTIONS + 3 * 64 + field, 8, odd[j]);
			CHECK_EQ(named(&g, SIZE), field == 32 &&
				 odd[j] > TABLE_SIZE ? N : 0);
		}
}

TEST(cut_at_every_byte)
{
	for (int i = 0; i < 4; i++) {
		struct go g = go_new(versions[i], 1, 0);
		int last = 0;

		section_named(&g, ".gopclntab");
		for (size_t n = TABLE; n <= TABLE + TABLE_SIZE; n++) {
			int now = named(&g, n);

			CHECK(now >= last);
			last = now;
		}
		CHECK_EQ(last, N);
	}
}

/* .symtab counts alone; what .dynsym has goes before. */
TEST(other_tables)
{
	struct go g = go_new(GO_1_18, 1, 0);
	struct elf *e;
	int at_dynsym;

	section_named(&g, ".gopclntab");
	section(&g.f, ".dynstr", 3, 2, 0x1600, 0x1600, 16, 0);
	at_dynsym = section(&g.f, ".dynsym", 11, 2, 0x1640, 0x1640, 48, 4);
	strcpy((char *)g.f.p + 0x1601, "exported");
	put(&g.f, 0x1640 + 24, 4, 1);
	put(&g.f, 0x1640 + 28, 1, 0x12);
	put(&g.f, 0x1640 + 30, 2, 2);
	put(&g.f, 0x1640 + 32, 8, TEXT + 0x20);
	put(&g.f, 0x1640 + 40, 8, 0x40);
	e = file_open(&g.f, SIZE);
	CHECK_STR(at(e, TEXT + 0x24), "exported+0x4");
	CHECK_STR(at(e, TEXT + 0x60), "main.main+0x40");
	elf_close(e);
	put(&g.f, at_dynsym + 4, 4, 2);
	e = file_open(&g.f, SIZE);
	CHECK_STR(at(e, TEXT + 0x24), "exported+0x4");
	CHECK_STR(at(e, TEXT + 0x60), "-");
	elf_close(e);
}

static bool any(void *arg, const char *name)
{
	(void)arg;
	return *name;
}

TEST(probes_find_them)
{
	struct go g = go_new(GO_1_18, 1, 0);
	struct function_list list = { 0 };
	struct elf *e;

	section_named(&g, ".gopclntab");
	e = file_open(&g.f, SIZE);
	CHECK_EQ(functions_collect(e, any, NULL, &list), 0);
	CHECK_EQ(list.n, N);
	CHECK_STR(list.v[1].name, "main.main");
	CHECK_EQ(list.v[1].addr, TEXT + 0x20);
	CHECK_EQ(list.v[1].offset, TEXT + 0x20);
	CHECK_EQ(list.v[1].size, 0xe0);
	functions_free(&list);
	CHECK_EQ(functions_find(e, "main.(*T).Spin", &list), 0);
	CHECK_EQ(functions_find(e, "main.none", &list), -ENOENT);
	functions_free(&list);
	elf_close(e);
}

/* Records spread over a file cost what reading them takes. */
TEST(work_is_bounded)
{
	struct go g = go_new(GO_1_18, 1, 0);
	uint64_t work = 100;
	struct elf *e;

	section_named(&g, ".gopclntab");
	e = file_open(&g.f, SIZE);
	CHECK_EQ(elf_load(e, &work), -EFBIG);
	CHECK_STR(at(e, TEXT), "-");
	elf_close(e);
	put(&g.f, 24 + 2 * 8, 8, 0);		/* what is searched costs */
	work = 100;
	e = file_open(&g.f, SIZE);
	elf_load(e, &work);
	CHECK_STR(at(e, TEXT), "-");
	elf_close(e);
}

/* What loading costs when the text's address is one of n relocations'. */
static uint64_t cost_with(uint64_t n)
{
	struct go g = go_textless(1);
	uint64_t tags[][2] = { { 7, RELA }, { 8, 24 * n }, { 0, 0 } };
	uint64_t work = ELF_WORK_MOST;
	struct elf *e;

	segment(&g.f, 2, 4, DYNAMIC, DYNAMIC, 48);
	for (int i = 0; i < 3; i++) {
		put(&g.f, DYNAMIC + 16 * i, 8, tags[i][0]);
		put(&g.f, DYNAMIC + 16 * i + 8, 8, tags[i][1]);
	}
	e = file_open(&g.f, SIZE);
	CHECK_EQ(elf_load(e, &work), 0);
	elf_close(e);
	return ELF_WORK_MOST - work;
}

TEST(relocations_cost)
{
	CHECK_EQ(cost_with(40) - cost_with(10), 30 * 32);
}

int main(void)
{
	RUN(layouts);
	RUN(searched);
	RUN(searched_in_go_programs);
	RUN(text_by_relocation);
	RUN(text_by_module);
	RUN(text_by_section);
	RUN(bad_functions);
	RUN(bad_headers);
	RUN(bad_sections);
	RUN(cut_at_every_byte);
	RUN(other_tables);
	RUN(probes_find_them);
	RUN(work_is_bounded);
	RUN(relocations_cost);
	return test_failed;
}
