/* usdt - tests USDT notes and arguments: texts, made files, live probes. */
#include "test.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf_make.h"
#include "sym/usdt.h"

/* gvar is at 0x4010, gs at 0x5000; two are called twice. */
static int symbol(void *arg, const char *name, size_t n, uint64_t *vaddr)
{
	(void)arg;
	*vaddr = n == 4 && !memcmp(name, "gvar", 4) ? 0x4010 :
		n == 2 && !memcmp(name, "gs", 2) ? 0x5000 : 0;
	if (n == 5 && !memcmp(name, "twice", 5))
		return -ENOTUNIQ;
	return *vaddr ? 0 : -ENOENT;
}

static struct usdt_args parse(int machine, const char *text)
{
	struct usdt_cpu cpu = {
		.machine = (uint16_t)machine,
		.wide = machine != I386 && machine != ARM,
		.location = 0x1000, .symbol = symbol,
	};
	struct usdt_args args;

	usdt_args_parse(&cpu, text, &args);
	return args;
}

/* One line each: "kind size base disp ..." of what differs from the usual. */
static const char *told(const struct usdt_arg *a)
{
	static const char *const kinds[] = { "none", "const", "reg", "mem" };
	static char text[128];
	int n = snprintf(text, sizeof(text), "%s %c%d", kinds[a->kind],
			 a->is_signed ? '-' : '+', a->size);

#define ADD(...) n += snprintf(text + n, sizeof(text) - (size_t)n, __VA_ARGS__)
	if (a->kind == USDT_NONE)
		return a->why ? "none" : "none without a reason";
	if (a->kind != USDT_CONST && a->base != USDT_NO_REG)
		ADD(" r%d", a->base);
	if (a->width != a->size && a->kind != USDT_CONST)
		ADD(" width %d", a->width);
	if (a->shift)
		ADD(" >>%d", a->shift);
	if (a->index != USDT_NO_REG)
		ADD(" r%d<<%d", a->index, a->scale);
	if (a->index_is)
		ADD(" ext%d", a->index_is);
	if (a->narrow)
		ADD(" narrow");
	if (a->disp || a->kind == USDT_CONST)
		ADD(" %lld", (long long)a->disp);
#undef ADD
	return text;
}

static const struct row {
	int machine;
	const char *text, *is;
} rows[] = {
	{ X86_64, "-4@%eax", "reg -4 r0" },
	{ X86_64, "8@%rbx", "reg +8 r3" },
	{ X86_64, "1@%al", "reg +1 r0" },
	{ X86_64, "-2@%r8w", "reg -2 r8" },
	{ X86_64, "4@%r10d", "reg +4 r10" },
	{ X86_64, "1@%r15b", "reg +1 r15" },
	{ X86_64, "-1@%sil", "reg -1 r6" },
	{ X86_64, "1@%ah", "reg +1 r0 >>8" },
	{ X86_64, "-1@%bh", "reg -1 r3 >>8" },
	{ X86_64, "4@%bx", "reg +4 r3 width 2" },
	{ X86_64, "1@%ecx", "reg +1 r1" },
	{ X86_64, "%rdi", "reg +8 r7" },
	{ X86_64, "8@%rip", "reg +8 r64" },
	{ X86_64, "8@(%rsp)", "mem +8 r4" },
	{ X86_64, "8@16(%rsp)", "mem +8 r4 16" },
	{ X86_64, "8@16+8(%rsp)", "mem +8 r4 24" },
	{ X86_64, "-4@-20(%rbp)", "mem -4 r5 -20" },
	{ X86_64, "8@0x10(%rax)", "mem +8 r0 16" },
	{ X86_64, "8@-0x10(%rax)", "mem +8 r0 -16" },
	{ X86_64, "1@-96(%rbp,%rax,8)", "mem +1 r5 r0<<3 -96" },
	{ X86_64, "8@(%rsi,%rcx,8)", "mem +8 r6 r1<<3" },
	{ X86_64, "4@(%rax,%rbx)", "mem +4 r0 r3<<0" },
	{ X86_64, "2@(%rax,%rbx,2)", "mem +2 r0 r3<<1" },
	{ X86_64, "8@8(,%rcx,4)", "mem +8 r1<<2 8" },
	{ X86_64, "8@(,%rcx,4)", "mem +8 r1<<2" },
	{ X86_64, "4@(%eax)", "mem +4 r0 narrow" },
	{ X86_64, "-4@gvar(%rip)", "mem -4 r64 12304" },
	{ X86_64, "4@gs+8(%rip)", "mem +4 r64 16392" },
	{ X86_64, "8@gs-8(%rip)", "mem +8 r64 16376" },
	{ X86_64, "8@4+gs(%rip)", "mem +8 r64 16388" },
	{ X86_64, "8@-4+gs(%rip)", "mem +8 r64 16380" },
	{ X86_64, "8@gs+0x10-8(%rip)", "mem +8 r64 16392" },
	{ X86_64, "8@gvar", "mem +8 r64 12304" },
	{ X86_64, "8@gone(%rip)", "none" },
	{ X86_64, "8@twice(%rip)", "none" },
	{ X86_64, "8@twice+8(%rip)", "none" },
	{ X86_64, "8@gvar@GOTPCREL(%rip)", "none" },
	{ X86_64, "8@gvar(%rax)", "none" },
	{ X86_64, "8@16(%rip)", "none" },
	{ X86_64, "8@%fs:16", "none" },
	{ X86_64, "-4@$5", "const -4 5" },
	{ X86_64, "-4@$-1", "const -4 -1" },
	{ X86_64, "4@$-1", "const +4 4294967295" },
	{ X86_64, "1@$257", "const +1 1" },
	{ X86_64, "-1@$255", "const -1 -1" },
	{ X86_64, "8@$0xffffffff", "const +8 4294967295" },
	{ X86_64, "-8@$-9223372036854775808",
	  "const -8 -9223372036854775808" },
	{ X86_64, "8@$18446744073709551615", "const +8 -1" },
	{ X86_64, "8@$18446744073709551616", "none" },
	{ X86_64, "8@$gvar", "none" },
	{ X86_64, "8@%xmm0", "none" },
	{ X86_64, "8f@%rax", "none" },
	{ X86_64, "4f@%edx", "none" },
	{ X86_64, "-8f@%edx", "none" },
	{ X86_64, "8@%r16", "none" },
	{ X86_64, "8@%r7", "none" },
	{ X86_64, "8@%r08", "none" },
	{ X86_64, "8@%", "none" },
	{ X86_64, "8@()", "none" },
	{ X86_64, "8@8()", "none" },
	{ X86_64, "8@(%al)", "none" },
	{ X86_64, "8@(%rax,%rsp)", "none" },
	{ X86_64, "8@(%rax,%rbx,3)", "none" },
	{ X86_64, "8@(%rax", "none" },
	{ X86_64, "8@(%rax))", "none" },
	{ X86_64, "8@%rax%rbx", "none" },
	{ I386, "-4@%eax", "reg -4 r0" },
	{ I386, "4@8(%ebp)", "mem +4 r5 narrow 8" },
	{ I386, "4@gvar", "mem +4 r64 narrow 12304" },
	{ I386, "4@%rax", "none" },
	{ I386, "4@%r8d", "none" },
	{ I386, "1@%sil", "none" },
	{ AARCH64, "8@x3", "reg +8 r3" },
	{ AARCH64, "-4@w7", "reg -4 r7" },
	{ AARCH64, "8@x30", "reg +8 r30" },
	{ AARCH64, "8@sp", "reg +8 r31" },
	{ AARCH64, "8@xzr", "const +8 0" },
	{ AARCH64, "-4@[x22]", "mem -4 r22" },
	{ AARCH64, "2@[sp, 132]", "mem +2 r31 132" },
	{ AARCH64, "-4@[sp,-8]", "mem -4 r31 -8" },
	{ AARCH64, "8@[x29, #-16]", "mem +8 r29 -16" },
	{ AARCH64, "-1@[x0, x1]", "mem -1 r0 r1<<0" },
	{ AARCH64, "8@[x0, x1, lsl #3]", "mem +8 r0 r1<<3" },
	{ AARCH64, "8@[x0, x1, lsl 3]", "mem +8 r0 r1<<3" },
	{ AARCH64, "4@[x0, w1, sxtw 2]", "mem +4 r0 r1<<2 ext2" },
	{ AARCH64, "1@[x0, w1, uxtw]", "mem +1 r0 r1<<0 ext1" },
	{ AARCH64, "-4@5", "const -4 5" },
	{ AARCH64, "-4@-5", "const -4 -5" },
	{ AARCH64, "8@[x1, #:lo12:.LANCHOR0]", "none" },
	{ AARCH64, "-8@v0", "none" },
	{ AARCH64, "8@d3", "none" },
	{ AARCH64, "8@x31", "none" },
	{ AARCH64, "8@[x0, w1]", "none" },
	{ AARCH64, "8@[x0, x1, lsl #99]", "none" },
	{ AARCH64, "8@[w0]", "none" },
	{ AARCH64, "8@[x0", "none" },
	{ ARM, "-4@r3", "reg -4 r3" },
	{ ARM, "4@[r11, #-8]", "mem +4 r11 narrow -8" },
	{ ARM, "4@[sp]", "mem +4 r13 narrow" },
	{ ARM, "4@[r1, r2, lsl #2]", "mem +4 r1 r2<<2 narrow" },
	{ ARM, "-4@#5", "const -4 5" },
	{ ARM, "4@fp", "reg +4 r11" },
	{ ARM, "4@r16", "none" },
	{ RISCV, "8@a0", "reg +8 r10" },
	{ RISCV, "-4@-20(s0)", "mem -4 r8 -20" },
	{ RISCV, "8@0(sp)", "mem +8 r2" },
	{ RISCV, "-4@5", "const -4 5" },
	{ RISCV, "8@t6", "reg +8 r31" },
	{ RISCV, "8@zero", "const +8 0" },
	{ RISCV, "8@fa0", "none" },
	{ RISCV, "8@ft11", "none" },
	{ RISCV, "8@s12", "none" },
	{ 21, "8@8(9)", "none" },		/* ppc64 */
	{ 22, "8@%r2", "none" },		/* s390 */
	{ X86_64, "@", "none" },
	{ X86_64, "4@", "none" },
	{ X86_64, "-@%rax", "none" },
	{ X86_64, "999999999999@%rax", "none" },
	{ X86_64, "99999999999999999999999@%rax", "none" },
	{ X86_64, "24@%rax", "none" },
	{ X86_64, "0@%rax", "none" },
	{ X86_64, "4@%nosuch", "none" },
	{ AARCH64, "@", "none" },
	{ AARCH64, "4@", "none" },
	{ RISCV, "4@", "none" },
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

TEST(argument_table)
{
	for (int i = 0; i < ROWS; i++) {
		struct usdt_args a = parse(rows[i].machine, rows[i].text);

		if (a.n != 1 || strcmp(told(&a.v[0]), rows[i].is))
			FAIL("%s: %u, %s, not %s", rows[i].text, a.n,
			     a.n ? told(&a.v[0]) : "", rows[i].is);
	}
}

TEST(argument_lists)
{
	struct usdt_args a = parse(X86_64, "");

	CHECK_EQ(a.n, 0);
	CHECK_EQ(parse(X86_64, " \t ").n, 0);
	a = parse(X86_64, " -4@%edx 8@%xmm0  8@16(%rsi,%rax,2) ");
	CHECK_EQ(a.n, 3);
	CHECK_STR(told(&a.v[0]), "reg -4 r2");
	CHECK_STR(told(&a.v[1]), "none");
	CHECK_STR(told(&a.v[2]), "mem +8 r6 r0<<1 16");
	a = parse(AARCH64, "8@[sp, 132] -4@[x0, x1, lsl #2] 4@w3");
	CHECK_EQ(a.n, 3);
	CHECK_STR(told(&a.v[1]), "mem -4 r0 r1<<2");
	CHECK_STR(told(&a.v[2]), "reg +4 r3");
	a = parse(AARCH64, "8@[sp, 132 -4@[x0, x1] 4@w3");
	CHECK_EQ(a.n, 3);
	CHECK_STR(told(&a.v[0]), "none");
	CHECK_STR(told(&a.v[1]), "mem -4 r0 r1<<0");
	a = parse(X86_64, "1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al "
		  "1@%al 1@%al 1@%al 8@%rdx");
	CHECK_EQ(a.n, 12);
	CHECK(!a.more);
	CHECK_STR(told(&a.v[11]), "reg +8 r2");
	a = parse(X86_64, "1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al 1@%al "
		  "1@%al 1@%al 1@%al 8@%rdx 8@%rsi");
	CHECK_EQ(a.n, 12);
	CHECK(a.more);
}

/* Every beginning of every row, each row with one byte changed, and much of
 * nothing: it ends, and says something of each argument. */
TEST(argument_mutations)
{
	static char much[60001];
	char text[64];

	for (int i = 0; i < ROWS; i++) {
		size_t n = strlen(rows[i].text);

		for (size_t j = 0; j < n; j++) {
			struct usdt_args a;

			memcpy(text, rows[i].text, n + 1);
			text[j] = '\0';
			a = parse(rows[i].machine, text);
			CHECK(a.n <= 1 && (!a.n || told(&a.v[0])));
			memcpy(text, rows[i].text, n + 1);
			text[j] = 'i';
			a = parse(rows[i].machine, text);
			CHECK(a.n <= 5 && (!a.n || told(&a.v[0])));
		}
	}
	memset(much, '(', sizeof(much) - 1);
	for (int i = 0; i < ROWS; i++)
		CHECK_EQ(parse(rows[i].machine, much).n, 1);
	for (size_t i = 0; i < sizeof(much) - 1; i += 2)
		much[i] = '[', much[i + 1] = ' ';
	for (int i = 0; i < ROWS; i++)
		CHECK(parse(rows[i].machine, much).n >= 1);
}

TEST(names)
{
	char text[] = "a__b___c_d";

	CHECK(usdt_name_is("a__b", "a__b"));
	CHECK(usdt_name_is("a__b", "a-b"));
	CHECK(usdt_name_is("a-b", "a__b"));
	CHECK(!usdt_name_is("a_b", "a-b"));
	CHECK(!usdt_name_is("a__b", "a-bc"));
	CHECK(!usdt_name_is("a__bc", "a-b"));
	CHECK(!usdt_name_is("a", "a__"));
	CHECK(usdt_name_is("", ""));
	usdt_name_fold(text);
	CHECK_STR(text, "a-b-_c_d");
}

/* Files: notes are at 0x1400; .stapsdt.base says 0x1800. */
enum { NOTES = 0x1400 };

static int notes_size;

static void note(struct file *f, uint64_t location, uint64_t base,
		 uint64_t semaphore, const char *texts, int n)
{
	int w = word(f), at = NOTES + notes_size;

	put(f, at, 4, 8);
	put(f, at + 4, 4, (uint64_t)(3 * w + n));
	put(f, at + 8, 4, 3);
	memcpy(f->p + at + 12, "stapsdt", 8);
	put(f, at + 20, w, location);
	put(f, at + 20 + w, w, base);
	put(f, at + 20 + 2 * w, w, semaphore);
	memcpy(f->p + at + 20 + 3 * w, texts, (size_t)n);
	notes_size += (20 + 3 * w + n + 3) & ~3;
}

static struct file notes_new(int wide, int big)
{
	struct file f = file_new(wide ? X86_64 : I386, wide, big);

	notes_size = 0;
	note(&f, 0x1010, 0x1800, 0x3010, "pp\0one\0-4@%edx", 15);
	note(&f, 0x1020, 0x1700, 0x2f20, "pp\0two\0", 8);
	note(&f, 0x1030, 0, 0x3030, "q\0a__b\0", 8);
	note(&f, 0x5000, 0, 0, "q\0far\0", 7);
	note(&f, 0x1040, 0x1800, 0x9000, "q\0open\0" "4@", 10);
	return f;
}

/* Returns where the header of the section with the notes is. */
static int notes_end(struct file *f)
{
	segment(f, 4, 4, NOTES, NOTES, notes_size);
	section(f, ".stapsdt.base", 1, 2, 0x1800, 0x1800, 1, 0);
	return section(f, ".note.stapsdt", 7, 0, 0, NOTES, notes_size, 0);
}

static char seen[4096];

static int see(void *arg, const struct usdt_note *n)
{
	size_t at = strlen(seen);

	(void)arg;
	snprintf(seen + at, sizeof(seen) - at, "%s:%s %llx/%llx %llx/%llx %d %s"
		 "\n", n->provider, n->name, (unsigned long long)n->location,
		 (unsigned long long)n->offset,
		 (unsigned long long)n->semaphore,
		 (unsigned long long)n->semaphore_offset, n->err, n->args);
	return 0;
}

static int pass(void *arg, const struct usdt_note *n)
{
	(void)arg;
	(void)n;
	return 0;
}

static int read_notes(const struct file *f, size_t n, unsigned *bad)
{
	struct elf *e = file_open(f, n);
	int err;

	seen[0] = '\0';
	err = e ? usdt_each(e, see, NULL, bad) : -ENOEXEC;

	elf_close(e);
	return err;
}

static const char notes_seen[] =
	"pp:one 1010/1010 3010/2010 0 -4@%edx\n"
	"pp:two 1120/1120 3020/2020 0 \n"
	"q:a__b 1030/1030 3030/2030 0 \n"
	"q:far 5000/0 0/0 -14 \n"
	"q:open 1040/1040 9000/0 0 4@\n";

TEST(notes)
{
	for (int i = 0; i < 4; i++) {
		struct file f = notes_new(i & 1, i >> 1);
		unsigned bad = 9;

		notes_end(&f);
		CHECK_EQ(read_notes(&f, SIZE, &bad), 0);
		CHECK_EQ(bad, 0);
		CHECK_STR(seen, notes_seen);
	}
}

/* No section headers: PT_NOTE, and nothing to adjust by. */
TEST(notes_of_segment)
{
	struct file f = notes_new(1, 0);
	unsigned bad;

	notes_end(&f);
	put(&f, 40, 8, 0);
	CHECK_EQ(read_notes(&f, SIZE, &bad), 0);
	CHECK(strstr(seen, "pp:one 1010/1010 3010/2010 0 -4@%edx\n"));
	CHECK(strstr(seen, "pp:two 1020/1020 2f20/0 0 \n"));
}

TEST(notes_malformed)
{
	struct file f = notes_new(1, 0);
	int first = notes_size, header;
	unsigned bad;

	note(&f, 0x1050, 0, 0, "q\0unended\0@@@", 13);
	note(&f, 0x1050, 0, 0, "q\0", 2);
	note(&f, 0x1050, 0, 0, "\0noprovider\0", 13);
	note(&f, 0x1060, 0, 0, "q\0last\0", 8);
	header = notes_end(&f);
	CHECK_EQ(read_notes(&f, SIZE, &bad), 0);
	CHECK_EQ(bad, 3);
	CHECK(strstr(seen, "q:last 1060"));
	put(&f, NOTES + first + 4, 4, UINT32_MAX);
	CHECK_EQ(read_notes(&f, SIZE, &bad), 0);
	CHECK_EQ(bad, 1);
	CHECK_STR(seen, notes_seen);
	put(&f, NOTES + first, 4, UINT32_MAX);
	CHECK_EQ(read_notes(&f, SIZE, &bad), 0);
	CHECK_EQ(bad, 1);
	put(&f, header + 32, 8, UINT64_MAX);		/* sh_size */
	CHECK_EQ(read_notes(&f, SIZE, &bad), 0);
	put(&f, header + 24, 8, UINT64_MAX - 7);	/* sh_offset */
	CHECK_EQ(read_notes(&f, SIZE, &bad), 0);
	CHECK_STR(seen, "");
}

TEST(notes_cut)
{
	struct file f = notes_new(1, 0);
	unsigned bad;

	notes_end(&f);
	for (size_t n = 64; n < (size_t)(NOTES + notes_size); n++)
		CHECK_EQ(read_notes(&f, n, &bad), 0);
}

/* Many sections at two places in turn, each read anew, are too much; in one
 * place they are not. */
TEST(notes_far_apart)
{
	enum { N = 20000, AT = 0x10000, ALL = AT + 64 * N };
	struct file f = notes_new(1, 0);
	int header = notes_end(&f), fd;
	uint8_t *p = mem_zalloc(ALL);
	struct elf *e;

	put(&f, 40, 8, AT);			/* e_shoff */
	put(&f, 60, 2, N);			/* e_shnum */
	for (int far = 0; far < 2; far++) {
		fd = memfd_create("notes", MFD_CLOEXEC);
		memcpy(p, f.p, SIZE);
		for (int i = 1; i < N; i++) {
			memcpy(p + AT + 64 * i, f.p + header, 64);
			p[AT + 64 * i + 26] = far && i & 1 ? 1 : 0;
		}
		if (write(fd, p, ALL) != ALL || elf_open(fd, &e))
			abort();
		CHECK_EQ(usdt_each(e, pass, NULL, NULL), far ? -EFBIG : 0);
		elf_close(e);
	}
	mem_free(p);
}

/* Symbols of .symtab: "one" once, "twin" at two places, "same" twice at one,
 * "gone" elsewhere. */
static int see_args(void *arg, const struct usdt_note *n)
{
	struct usdt_args args;

	usdt_args(arg, n, &args);
	for (unsigned i = 0; i < args.n; i++) {
		strcat(seen, told(&args.v[i]));
		strcat(seen, "\n");
	}
	return 0;
}

static void symbol_add(struct file *f, int i, int name, int where,
		       uint64_t value)
{
	int at = 0x1100 + 24 * i;

	put(f, at, 4, (uint64_t)name);
	put(f, at + 4, 1, 1);			/* local, object */
	put(f, at + 6, 2, (uint64_t)where);
	put(f, at + 8, 8, value);
}

TEST(symbols_of_arguments)
{
	static const char names[] = "\0one\0twin\0same\0gone";
	static const char args[] = "q\0syms\0" "8@one(%rip) 8@twin(%rip) "
		"8@same+8(%rip) 8@gone(%rip) 8@on(%rip) 8@ones(%rip)";
	struct file f = file_new(X86_64, 1, 0);
	struct usdt_symbols *symbols;
	struct elf *e;

	notes_size = 0;
	note(&f, 0x1000, 0x1800, 0, args, sizeof(args));
	notes_end(&f);
	memcpy(f.p + 0x1200, names, sizeof(names));
	symbol_add(&f, 1, 1, 2, 0x3010);
	symbol_add(&f, 2, 5, 2, 0x3020);
	symbol_add(&f, 3, 5, 2, 0x3030);
	symbol_add(&f, 4, 10, 2, 0x3040);
	symbol_add(&f, 5, 10, 2, 0x3040);
	symbol_add(&f, 6, 15, 0, 0x3050);
	section(&f, ".strtab", 3, 0, 0, 0x1200, sizeof(names), 0);
	section(&f, ".symtab", 2, 0, 0, 0x1100, 24 * 7, 4);
	e = file_open(&f, SIZE);
	symbols = usdt_symbols_new(e);
	for (int i = 0; i < 2; i++) {	/* once more, from what is known */
		seen[0] = '\0';
		CHECK_EQ(usdt_each(e, see_args, symbols, NULL), 0);
		CHECK_STR(seen, "mem +8 r64 8208\nnone\nmem +8 r64 8264\n"
			  "none\nnone\nnone\n");
	}
	usdt_symbols_free(symbols);
	elf_close(e);
}

/* Probes of this very program, with a breakpoint where the nop would be: the
 * registers at a probe and the text that the compiler wrote for it must give
 * what the program passed. */
#if defined(__x86_64__)
#include <fcntl.h>
#include <signal.h>
#include <ucontext.h>

#include "sym/functions.h"

#define PROBE(name, args, ...) __asm__ volatile("990: int3\n" \
	".pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n" \
	".4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n992:\n" \
	".balign 4\n993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte 0\n" \
	".asciz \"pp\"\n.asciz \"" #name "\"\n.asciz \"" args "\"\n994:\n" \
	".balign 4\n.popsection\n.ifndef _.stapsdt.base\n" \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"\
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n" \
	"_.stapsdt.base: .space 1\n.size _.stapsdt.base,1\n.popsection\n" \
	".endif\n" :: __VA_ARGS__)

int gvar = 77;
struct { int a, b; } gs = { 1, 42 };

static long long values[16];
static int nvalues;
static struct elf *self;
static struct usdt_symbols *self_symbols;
static uint64_t bias;
static greg_t regs[18];

static uint64_t reg_value(int number)
{
	static const int greg[16] = {
		REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI,
		REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13,
		REG_R14, REG_R15,
	};

	if (number == USDT_NO_REG)
		return 0;
	return (uint64_t)regs[number == USDT_PC ? REG_RIP : greg[number]];
}

static long long value_of(const struct usdt_arg *a)
{
	uint64_t v = (uint64_t)a->disp, at;
	unsigned bits = 64 - 8 * a->width;

	if (a->kind == USDT_CONST)
		return (long long)v;
	if (a->kind == USDT_REG) {
		v = reg_value(a->base) >> a->shift;
	} else if (a->kind == USDT_MEM) {
		at = reg_value(a->base) + (reg_value(a->index) << a->scale) + v;
		v = 0;
		memcpy(&v, (void *)(uintptr_t)at, a->width);
	} else {
		return -999;
	}
	v <<= bits;
	return a->is_signed ? (int64_t)v >> bits : (long long)(v >> bits);
}

static int hit(void *arg, const struct usdt_note *n)
{
	struct usdt_args args;

	(void)arg;
	if (n->location + bias != (uint64_t)regs[REG_RIP])
		return 0;
	usdt_args(self_symbols, n, &args);
	nvalues = 0;
	for (unsigned i = 0; i < args.n; i++)
		values[nvalues++] = value_of(&args.v[i]);
	return 1;
}

static void trapped(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	memcpy(regs, ((ucontext_t *)context)->uc_mcontext.gregs, sizeof(regs));
	regs[REG_RIP]--;
	nvalues = -1;
	usdt_each(self, hit, NULL, NULL);
}

static void check_values(const char *what, int n, const long long *want)
{
	if (nvalues != n)
		FAIL("%s: %d values", what, nvalues);
	for (int i = 0; i < n && i < nvalues; i++)
		if (values[i] != want[i])
			FAIL("%s: value %d is %lld, not %lld", what, i,
			     values[i], want[i]);
}

#define VALUES(what, ...) do { \
	long long want_[] = { __VA_ARGS__ }; \
	check_values(what, (int)(sizeof(want_) / sizeof(*want_)), want_); \
} while (0)

int main(void);

static int self_open(void)
{
	struct function_list list = { 0 };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), err;

	err = elf_open(fd, &self);
	if (!err)
		err = functions_find(self, "main", &list);
	if (!err)
		bias = (uintptr_t)main - list.v[0].addr;
	functions_free(&list);
	self_symbols = err ? NULL : usdt_symbols_new(self);
	return err;
}

TEST(live_values)
{
	struct sigaction action = { .sa_sigaction = trapped,
				    .sa_flags = SA_SIGINFO | SA_NODEFER };
	long a[4] = { 10, 20, 30, 40 }, i = 2;
	int neg = -5;

	CHECK_EQ(self_open(), 0);
	if (test_bad)
		return;
	sigaction(SIGTRAP, &action, NULL);
	PROBE(reg, "-4@%%edx 8@%%rcx 4@%%edx -1@%%ch 1@%%dl",
	      "d"(neg), "c"(i | 0x8100));
	VALUES("reg", -5, 0x8102, 4294967291, -127, 251);
	PROBE(mem, "8@16(%%rsi) -4@$-7 4@$5 1@8(%%rsi) 8@%%xmm0", "S"(a),
	      "m"(a));
	VALUES("mem", 30, -7, 5, 20, -999);
	PROBE(sib, "8@(%%rsi,%%rcx,8) 8@8(%%rsi,%%rcx,8) 8@(%%rsi,%%rax)",
	      "S"(a), "c"(i), "a"(8L), "m"(a));
	VALUES("sib", 30, 40, 20);
	PROBE(rip, "-4@gvar(%%rip) -4@gs+4(%%rip) 4@nowhere_to_be(%%rip)",
	      "m"(gvar), "m"(gs));
	VALUES("rip", 77, 42, -999);
	PROBE(compiled, "-4@%0 8@%1 -4@%2 8@%3", "nor"(neg), "nor"(i),
	      "nor"(gvar), "nor"(7L));
	VALUES("compiled", -5, 2, 77, 7);
	signal(SIGTRAP, SIG_DFL);
	usdt_symbols_free(self_symbols);
	elf_close(self);
}
#endif

int main(void)
{
	RUN(argument_table);
	RUN(argument_lists);
	RUN(argument_mutations);
	RUN(names);
	RUN(notes);
	RUN(notes_of_segment);
	RUN(notes_malformed);
	RUN(notes_cut);
	RUN(notes_far_apart);
	RUN(symbols_of_arguments);
#if defined(__x86_64__)
	RUN(live_values);
#endif
	return test_failed;
}
