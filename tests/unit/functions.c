/* functions - tests functions by name, what their code tells, and lengths. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>

#include "elf_make.h"
#include "sym/code.h"
#include "sym/functions.h"
#include "sym/x86_length.h"

enum { FUNC = 2, NOTYPE = 0, OBJECT = 1, IFUNC = 10 };
enum { LOCAL = 0, GLOBAL = 1, WEAK = 2 };
enum { SYMTAB = 0x1400, STRTAB = 0x1700, DYNSYM = 0x1a00, DYNSTR = 0x1b00,
       VERSYM = 0x1c00, VERDEF = 0x1c40, TEXT = 0x1000, TEXT_SIZE = 0x200 };

static int nsyms, nstr, ndyn, ndynstr;

static int text_put(struct file *f, int at, int *n, const char *text)
{
	int was = *n;

	strcpy((char *)f->p + at + was, text);
	*n += (int)strlen(text) + 1;
	return was;
}

static void symbol_put(struct file *f, int at, int name, int type, int bind,
		       int where, uint64_t value, uint64_t size)
{
	put(f, at, 4, (uint64_t)name);
	put(f, at + (f->wide ? 4 : 12), 1, (uint64_t)(bind << 4 | type));
	put(f, at + (f->wide ? 6 : 14), 2, (uint64_t)where);
	put(f, at + (f->wide ? 8 : 4), word(f), value);
	put(f, at + (f->wide ? 16 : 8), word(f), size);
}

static void symbol(struct file *f, const char *name, int type, int bind,
		   int where, uint64_t value, uint64_t size)
{
	symbol_put(f, SYMTAB + nsyms++ * (f->wide ? 24 : 16),
		   text_put(f, STRTAB, &nstr, name), type, bind, where, value,
		   size);
}

static void dynsym(struct file *f, const char *name, int where, uint64_t value,
		   int version)
{
	put(f, VERSYM + 2 * ndyn, 2, (uint64_t)version);
	symbol_put(f, DYNSYM + ndyn++ * (f->wide ? 24 : 16),
		   text_put(f, DYNSTR, &ndynstr, name), FUNC, GLOBAL, where,
		   value, 8);
}

static void version(struct file *f, int i, int number, const char *name,
		    bool last)
{
	int at = VERDEF + i * 28;

	put(f, at, 2, 1);
	put(f, at + 4, 2, (uint64_t)number);
	put(f, at + 6, 2, 1);
	put(f, at + 12, 4, 20);
	put(f, at + 16, 4, last ? 0 : 28);
	put(f, at + 20, 4, (uint64_t)text_put(f, DYNSTR, &ndynstr, name));
}

/* Section 2 is .text. */
static struct file functions_new(int machine, int wide, int big, bool stripped)
{
	struct file f = file_new(machine, wide, big);
	int size = wide ? 24 : 16;

	nsyms = nstr = ndyn = ndynstr = 1;
	symbol(&f, "one", FUNC, GLOBAL, 2, TEXT, 16);
	symbol(&f, "uno", FUNC, WEAK, 2, TEXT, 16);
	symbol(&f, "twin", FUNC, LOCAL, 2, TEXT + 0x20, 8);
	symbol(&f, "twin", FUNC, LOCAL, 2, TEXT + 0x30, 8);
	symbol(&f, "solo.isra.0", FUNC, LOCAL, 2, TEXT + 0x40, 8);
	symbol(&f, "solo.cold", FUNC, LOCAL, 2, TEXT + 0x50, 8);
	symbol(&f, "ver@@V2", FUNC, GLOBAL, 2, TEXT + 0x60, 8);
	symbol(&f, "ver@V1", FUNC, GLOBAL, 2, TEXT + 0x70, 8);
	symbol(&f, "ifunc", IFUNC, GLOBAL, 2, TEXT + 0x80, 8);
	symbol(&f, "label", NOTYPE, GLOBAL, 2, TEXT + 0x90, 0);
	symbol(&f, "sized", NOTYPE, LOCAL, 2, TEXT + 0x98, 4);
	symbol(&f, "mark", NOTYPE, LOCAL, 2, TEXT + 0x94, 0);
	symbol(&f, "etext", NOTYPE, GLOBAL, 2, TEXT + TEXT_SIZE, 0);
	symbol(&f, "data", OBJECT, GLOBAL, 2, TEXT + 0xa0, 8);
	symbol(&f, "far", FUNC, GLOBAL, 2, 0x9000, 8);
	symbol(&f, "in_data", FUNC, GLOBAL, 2, 0x3000, 8);
	symbol(&f, "absolute", FUNC, GLOBAL, 0xfff1, TEXT, 8);
	symbol(&f, "import", FUNC, GLOBAL, 0, 0, 0);
	symbol(&f, "thumb", FUNC, GLOBAL, 2, TEXT + 0xb1, 8);
	dynsym(&f, "one", 2, TEXT, 1);
	dynsym(&f, "ver", 2, TEXT + 0x60, 3);
	dynsym(&f, "ver", 2, TEXT + 0x70, 0x8002);
	dynsym(&f, "old", 2, TEXT + 0xc0, 0x8002);
	dynsym(&f, "only", 2, TEXT + 0xd0, 3);
	dynsym(&f, "import", 0, 0, 1);
	version(&f, 0, 2, "V1", false);
	version(&f, 1, 3, "V2", true);
	section(&f, ".text", 1, 6, TEXT, TEXT, TEXT_SIZE, 0);
	section(&f, ".dynstr", 3, 2, DYNSTR, DYNSTR, ndynstr, 0);
	section(&f, ".dynsym", 11, 2, DYNSYM, DYNSYM, ndyn * size, 3);
	section(&f, "v", 0x6fffffff, 2, VERSYM, VERSYM, ndyn * 2, 4);
	section(&f, "d", 0x6ffffffd, 2, VERDEF, VERDEF, 56, 3);
	if (!stripped) {
		section(&f, ".strtab", 3, 0, 0, STRTAB, nstr, 0);
		section(&f, ".symtab", 2, 0, 0, SYMTAB, nsyms * size, 7);
	}
	return f;
}

static char said[2048];

static void list_say(const struct function_list *list)
{
	said[0] = '\0';
	for (size_t i = 0; i < list->n; i++) {
		const struct function *f = &list->v[i];
		size_t n = strlen(said);

		snprintf(said + n, sizeof(said) - n, "%s%s%s %llx+%llx%s%s;",
			 f->name, !*f->version ? "" : f->is_default ? "@@" :
			 "@", f->version, (unsigned long long)f->offset,
			 (unsigned long long)f->size, f->local ? " local" : "",
			 f->indirect ? " ifunc" : "");
		CHECK_EQ(f->addr, f->offset);
	}
}

static struct elf *elf;

/* "ERROR: functions". */
static const char *find(const char *name)
{
	static char text[2100];
	struct function_list list = { 0 };
	int err = functions_find(elf, name, &list);

	list_say(&list);
	functions_free(&list);
	snprintf(text, sizeof(text), "%d: %s", err, said);
	return text;
}

static bool want_all(void *arg, const char *name)
{
	(void)arg;
	return *name;
}

static void open_functions(int machine, int wide, int big, bool stripped)
{
	struct file f = functions_new(machine, wide, big, stripped);

	elf_close(elf);
	elf = file_open(&f, SIZE);
}

TEST(found)
{
	for (int i = 0; i < 4; i++) {
		open_functions(i & 1 ? X86_64 : I386, i & 1, i >> 1, false);
		CHECK_STR(find("one"), "0: one 1000+10;");
		CHECK_STR(find("uno"), "0: uno 1000+10;");
		CHECK_STR(find("twin"), "-76: twin 1020+8 local;"
			  "twin 1030+8 local;");
		CHECK_STR(find("ver"), "0: ver@@V2 1060+8;");
		CHECK_STR(find("ver@@V2"), "0: ver@@V2 1060+8;");
		CHECK_STR(find("ver@V2"), "0: ver@@V2 1060+8;");
		CHECK_STR(find("ver@V1"), "0: ver@V1 1070+8;");
		CHECK_STR(find("ver@@V1"), "-2: ");
		CHECK_STR(find("old"), "0: old@V1 10c0+8;");
		CHECK_STR(find("only"), "0: only@@V2 10d0+8;");
		CHECK_STR(find("ifunc"), "0: ifunc 1080+8 ifunc;");
		CHECK_STR(find("label"), "0: label 1090+0;");
		CHECK_STR(find("sized"), "0: sized 1098+4 local;");
		CHECK_STR(find("import"), "-6: ");
		CHECK_STR(find("solo"), "-2: ");
	}
}

TEST(not_functions)
{
	static const char *const none[] = { "mark", "etext", "data", "far",
		"in_data", "absolute", "", "@", "@@V2", "on", "ones" };

	open_functions(X86_64, 1, 0, false);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		CHECK_STR(find(none[i]), "-2: ");
}

TEST(stripped)
{
	open_functions(X86_64, 1, 0, true);
	CHECK_STR(find("one"), "0: one 1000+8;");
	CHECK_STR(find("twin"), "-2: ");
	CHECK_STR(find("ver"), "0: ver@@V2 1060+8;");
	CHECK_STR(find("ver@V1"), "0: ver@V1 1070+8;");
	CHECK_STR(find("import"), "-6: ");
	CHECK(functions_exports(elf, "only"));
	CHECK(!functions_exports(elf, "import"));
	CHECK(!functions_exports(elf, "twin"));
}

TEST(thumb)
{
	open_functions(ARM, 0, 0, false);
	CHECK_STR(find("thumb"), "0: thumb 10b0+8;");
}

TEST(collected)
{
	struct function_list list = { 0 };
	struct near near = { .wanted = "onlyy" };

	open_functions(X86_64, 1, 0, false);
	CHECK_EQ(functions_collect(elf, want_all, NULL, &list), 0);
	list_say(&list);
	CHECK_STR(said, "one 1000+10;uno 1000+10;twin 1020+8 local;"
		  "twin 1030+8 local;solo.isra.0 1040+8 local;"
		  "solo.cold 1050+8 local;ver@@V2 1060+8;ver@V1 1070+8;"
		  "ifunc 1080+8 ifunc;label 1090+0;sized 1098+4 local;"
		  "thumb 10b1+8;old@V1 10c0+8;only@@V2 10d0+8;");
	functions_free(&list);
	CHECK_EQ(functions_variants(elf, "solo", &list), 0);
	list_say(&list);
	CHECK_STR(said, "solo.isra.0 1040+8 local;solo.cold 1050+8 local;");
	CHECK_EQ(functions_near(elf, &near, &list), 0);
	CHECK_STR(near.best, "only");
	functions_free(&list);
}

TEST(cut)
{
	struct file f = functions_new(X86_64, 1, 0, false);

	for (size_t n = 64; n < SIZE; n += 7) {
		elf_close(elf);
		elf = file_open(&f, n);
		find("one");
	}
}

/* Code */

static void code(int machine, const void *bytes, size_t n)
{
	struct file f = functions_new(machine, machine != ARM, 0, false);

	memcpy(f.p + TEXT, bytes, n);
	elf_close(elf);
	elf = file_open(&f, SIZE);
}

/* "ERROR: places", for n bytes at TEXT. */
static const char *returns(uint64_t n)
{
	static char text[256];
	struct code_places p = { 0 };
	int at = snprintf(text, sizeof(text), "%d:",
			  code_returns(elf, TEXT, n, &p));

	for (size_t i = 0; i < p.n; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, " %llx",
			       (unsigned long long)p.v[i] - TEXT);
	vec_free(&p);
	return text;
}

/* Nothing but returns: so many are no function's. */
TEST(returns_are_bounded)
{
	enum { FROM = 0x3000, MOST = 1 << 14, ALL = FROM + MOST + 1 };
	struct file f = file_new(X86_64, 1, 0);
	struct code_places places = { 0 };
	uint8_t *p = mem_zalloc(ALL);

	segment(&f, 1, 5, FROM, 0x8000, ALL - FROM);
	memcpy(p, f.p, SIZE);
	memset(p + FROM, 0xc3, ALL - FROM);
	elf_close(elf);
	CHECK_EQ(elf_open_image(p, ALL, &elf), 0);
	CHECK_EQ(code_returns(elf, 0x8000, MOST, &places), 0);
	CHECK_EQ(places.n, MOST);
	places.n = 0;
	CHECK_EQ(code_returns(elf, 0x8000, MOST + 1, &places), -EFBIG);
	vec_free(&places);
}

TEST(returns_x86_64)
{
	/* push rbp; mov eax,0xc3c3; rep ret; ret 8; lea rax,[rip+0xc3c3c3c3];
	 * leave; ret */
	static const char bytes[] = "\x55\xb8\xc3\xc3\0\0\xf3\xc3\xc2\x08\0"
		"\x48\x8d\x05\xc3\xc3\xc3\xc3\xc9\xc3\x06";

	code(X86_64, bytes, sizeof(bytes) - 1);
	CHECK_STR(returns(20), "0: 6 8 13");
	CHECK_STR(returns(21), "-84: 6 8 13");	/* 06 is no instruction */
	CHECK_STR(returns(19), "0: 6 8");
	CHECK_STR(returns(18), "0: 6 8");
	CHECK_STR(returns(17), "-84: 6 8");
	CHECK_STR(returns(0x3000), "-34:");
	CHECK_EQ(code_boundary(elf, TEXT, 20, 0), 0);
	CHECK_EQ(code_boundary(elf, TEXT, 20, 1), 0);
	CHECK_EQ(code_boundary(elf, TEXT, 20, 2), -EINVAL);
	CHECK_EQ(code_boundary(elf, TEXT, 20, 7), -EINVAL);
	CHECK_EQ(code_boundary(elf, TEXT, 20, 19), 0);
	CHECK_EQ(code_boundary(elf, TEXT, 20, 20), -ERANGE);
	CHECK_EQ(code_boundary(elf, TEXT, 30, 21), -EILSEQ);
	CHECK_EQ(code_boundary(elf, TEXT, UINT64_MAX, 1), -EFBIG);
	/* No size: that of the symbol there. */
	CHECK_EQ(code_boundary(elf, TEXT, 0, 8), 0);
	CHECK_EQ(code_boundary(elf, TEXT, 0, 11), -EILSEQ);	/* cut */
	CHECK_EQ(code_boundary(elf, TEXT, 0, 16), -ERANGE);
}

TEST(light_entries)
{
	/* endbr64; test rdi,rdi; je +2; push rbp; ret; jmp to the je */
	static const char test[] = "\xf3\x0f\x1e\xfa\x48\x85\xff\x74\x02"
		"\x55\xc3\xeb\xfa";
	/* endbr64; push r12; ret. sub rsp,8; push rbp; ret */
	static const char push[] = "\xf3\x0f\x1e\xfa\x41\x54\xc3";
	static const char stack[] = "\x48\x83\xec\x08\x55\xc3";

	code(X86_64, test, sizeof(test) - 1);
	CHECK_EQ(code_light(elf, TEXT, 11), 7);
	CHECK_EQ(code_light(elf, TEXT, 13), 0);	/* it is jumped to */
	CHECK_EQ(code_light(elf, TEXT + 4, 7), 3);
	CHECK_EQ(code_light(elf, TEXT + 9, 2), 0);
	CHECK_EQ(code_light(elf, TEXT, 5), 0);	/* cut */
	code(X86_64, push, sizeof(push) - 1);
	CHECK_EQ(code_light(elf, TEXT, 7), 4);
	code(X86_64, stack, sizeof(stack) - 1);
	CHECK_EQ(code_light(elf, TEXT, 6), 0);
	code(AARCH64, push, sizeof(push) - 1);
	CHECK_EQ(code_light(elf, TEXT, 4), 0);
}

TEST(returns_elsewhere)
{
	/* nop; ret; ret x1; retaa; br x30 */
	static const uint8_t a64[] = { 0x1f, 0x20, 3, 0xd5, 0xc0, 3, 0x5f, 0xd6,
		0x20, 0, 0x5f, 0xd6, 0xff, 0x0b, 0x5f, 0xd6,
		0xc0, 3, 0x1f, 0xd6 };
	/* c.nop; nop; c.jr ra; jalr zero, 0(ra) */
	static const uint8_t rv[] = { 1, 0, 0x13, 0, 0, 0, 0x82, 0x80,
		0x67, 0x80, 0, 0 };

	code(AARCH64, a64, sizeof(a64));
	CHECK_STR(returns(sizeof(a64)), "0: 4 8 c");
	CHECK_EQ(code_boundary(elf, TEXT, 20, 8), 0);
	CHECK_EQ(code_boundary(elf, TEXT, 20, 6), -EINVAL);
	code(RISCV, rv, sizeof(rv));
	CHECK_STR(returns(sizeof(rv)), "0: 6 8");
	code(ARM, a64, sizeof(a64));
	CHECK_STR(returns(4), "-95:");
}

TEST(go)
{
	struct code_go go;
	struct file f = functions_new(X86_64, 1, 0, true);

	elf_close(elf);
	elf = file_open(&f, SIZE);
	CHECK_EQ(code_go(elf, &go), 0);
	CHECK(!go.is_go);
	memcpy(f.p + 0x2000, "\xff Go buildinf:\x08\x02", 16);
	memcpy(f.p + 0x2020, "\x08go1.21.3", 9);
	section(&f, ".go.buildinfo", 1, 3, 0x3000, 0x2000, 0x80, 0);
	elf_close(elf);
	elf = file_open(&f, SIZE);
	CHECK_EQ(code_go(elf, &go), 0);
	CHECK(go.is_go && go.major == 1 && go.minor == 21 && go.g_in_register);
	put(&f, 40, 8, 0);		/* no section headers */
	f.p[0x200f] = 0;		/* a pointer to a pointer */
	put(&f, 0x2010, 8, 0x3040);
	put(&f, 0x2040, 8, 0x3050);
	put(&f, 0x2048, 8, 6);
	memcpy(f.p + 0x2050, "go1.16.3", 8);
	elf_close(elf);
	elf = file_open(&f, SIZE);
	CHECK_EQ(code_go(elf, &go), 0);
	CHECK(go.is_go && go.major == 1 && go.minor == 16 && !go.g_in_register);
}

/* One of each kind; a disassembler's word for it. */
TEST(lengths)
{
	static const struct {
		const char *bytes;
		size_t n;
	} codes[] = {
#define CODE(text) { text, sizeof(text) - 1 }
		CODE("\x90"), CODE("\xc3"), CODE("\xf3\xc3"),
		CODE("\x66\x2e\x0f\x1f\x84\0\0\0\0\0"),
		CODE("\x48\x89\xe5"), CODE("\x48\x83\xec\x20"),
		CODE("\x48\x81\xec\0\1\0\0"), CODE("\x66\x81\xc3\0\1"),
		CODE("\xb8\1\0\0\0"), CODE("\x48\xb8\1\2\3\4\5\6\7\x08"),
		CODE("\x66\xb8\1\0"), CODE("\xe8\0\0\0\0"),
		CODE("\xeb\xfe"), CODE("\x0f\x84\0\0\0\0"),
		CODE("\x8b\x44\x24\x08"), CODE("\x8b\x84\x24\0\1\0\0"),
		CODE("\x8b\x05\0\0\0\0"), CODE("\x8b\x04\x25\0\0\0\0"),
		CODE("\x8b\x04\x85\0\0\0\0"), CODE("\xf6\x05\0\0\0\0\1"),
		CODE("\xf7\xd8"), CODE("\xf7\xc0\1\0\0\0"),
		CODE("\x66\xf7\xc0\1\0"), CODE("\xc8\0\1\0"),
		CODE("\xa1\0\0\0\0\0\0\0\0"), CODE("\x67\xa1\0\0\0\0"),
		CODE("\x64\x48\x8b\x04\x25\x28\0\0\0"),
		CODE("\x66\x0f\x38\0\xc1"), CODE("\x66\x0f\x3a\x0f\xc1\x08"),
		CODE("\x0f\xba\xe0\x05"), CODE("\x0f\x0b"),
		CODE("\xc5\xf8\x77"), CODE("\xc5\xfd\x6f\x06"),
		CODE("\xc4\xe2\x7d\x18\x05\0\0\0\0"),
		CODE("\xc4\xe3\x7d\x39\xc1\x01"), CODE("\xc5\xf9\x70\xc0\x4e"),
		CODE("\x62\xf1\xfe\x48\x6f\x06"),
		CODE("\x62\xf3\x7d\x48\x3b\xc1\x01"),
		CODE("\x62\xf1\xfe\x48\x6f\x46\x01"),
		CODE("\x8f\xc0"), CODE("\x8f\xe9\x78\x80\xc0"),
		CODE("\xd9\xee"), CODE("\xf0\x48\x0f\xc7\x0e"),
		CODE("\x0f\x20\xc0"),
#undef CODE
	};
	uint8_t room[32];

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		memset(room, 0x90, sizeof(room));
		memcpy(room, codes[i].bytes, codes[i].n);
		if (x86_length(room, sizeof(room)) != codes[i].n)
			FAIL("code %zu: %zu", i, x86_length(room, 32));
		for (size_t n = 0; n < codes[i].n; n++)
			CHECK_EQ(x86_length((const uint8_t *)codes[i].bytes,
					    n), 0);
	}
	memset(room, 0x66, sizeof(room));
	CHECK_EQ(x86_length(room, sizeof(room)), 0);
}

int main(void)
{
	RUN(found);
	RUN(not_functions);
	RUN(stripped);
	RUN(thumb);
	RUN(collected);
	RUN(cut);
	RUN(returns_are_bounded);
	RUN(returns_x86_64);
	RUN(light_entries);
	RUN(returns_elsewhere);
	RUN(go);
	RUN(lengths);
	elf_close(elf);
	return test_failed;
}
