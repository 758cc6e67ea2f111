/* raw - raw files: written and read, cut, flipped, newer; named on a desk. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cmd/raw_names.h"
#include "elf_make.h"
#include "raw/read.h"
#include "raw/write.h"
#include "raw_make.h"
#include "said.h"

static void numbers(struct bytes *b, size_t n, const uint64_t *values)
{
	for (size_t i = 0; i < n; i++)
		number(b, values[i]);
}
#define NUMBERS(b, ...) \
	numbers(b, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8, \
		(uint64_t[]){ __VA_ARGS__ })

static void text(struct bytes *b, const char *s)
{
	number(b, strlen(s));
	memcpy(b->p + b->n, s, strlen(s));
	b->n += strlen(s);
}

static void field(struct bytes *b, unsigned which, const char *s)
{
	number(b, which);
	text(b, s);
}

static void field_number(struct bytes *b, unsigned which, uint64_t value)
{
	struct bytes inner = { .n = 0 };

	number(&inner, value);
	number(b, which);
	number(b, inner.n);
	memcpy(b->p + b->n, inner.p, inner.n);
	b->n += inner.n;
}

/* What a reader handed over, as text. */
static char seen[1 << 14];
static size_t rows;
static bool full;			/* no more is kept */

static void see(const char *s)
{
	full = full || strlen(seen) + strlen(s) + 1 >= sizeof(seen);
	if (!full)
		strcat(seen, s);
}

static void see_number(const char *before, uint64_t n)
{
	char line[64];

	snprintf(line, sizeof(line), "%s%llx", before, (unsigned long long)n);
	see(line);
}

static int see_head(void *arg, const struct raw_reader *r)
{
	(void)arg;
	see(r->head.command);
	see(" ");
	see(r->head.host ? r->head.host : "?");
	see_number(" text ", r->head.text);
	see("\n");
	return 0;
}

static void see_stack(const struct raw_reader *r, uint32_t node)
{
	see(" |");
	for (; node && !full; node = r->nodes.v[node - 1].parent) {
		const struct raw_frame *f =
			&r->frames.v[r->nodes.v[node - 1].frame];

		see_number(" ", f->kind);
		see_number(":", f->of);
		see_number("+", f->at);
	}
}

static void see_side(const struct raw_reader *r, const struct raw_side *side)
{
	const struct raw_task *task = &r->tasks.v[side->task];

	see(raw_string(r, task->comm));
	see_number("-", task->pid);
	see_number(" ", side->flags);
	see_stack(r, side->user);
	see_stack(r, side->kernel);
	if (side->flags & RAW_CALLER)
		see_number(" caller ", r->frames.v[side->caller].at);
}

static int see_row(void *arg, const struct raw_reader *r,
		   const struct raw_row *row)
{
	(void)arg;
	rows++;
	see_side(r, &row->side);
	for (unsigned i = 0; i < r->units; i++)
		see_number(" = ", row->values[i]);
	if (row->side.flags & RAW_WAKER) {
		see(" < ");
		see_side(r, &row->waker);
	}
	see("\n");
	return 0;
}

static int see_note(void *arg, const char *s)
{
	(void)arg;
	see("note ");
	see(s);
	see("\n");
	return 0;
}

static struct raw_reader reader;

/* Read n bytes, some of which another one has read before; the state. */
static int read_bytes(const void *p, size_t n)
{
	size_t before = n < 20 ? n : 20;
	const struct raw_sink sink = { see_head, see_row, see_note, NULL };
	int fd = file_of(p, n), err;

	seen[0] = '\0';
	full = false;
	rows = 0;
	raw_read_free(&reader);
	lseek(fd, (off_t)before, SEEK_SET);
	err = raw_read(&reader, fd, p, before, &sink);
	close(fd);
	CHECK_EQ(err, 0);
	return (int)reader.state;
}

/* A file with something of each kind. */
static void write_sample(FILE *to)
{
	const struct raw_head head = {
		.command = "test", .host = "there", .text = 0xffffffff81000000,
		.units = { "bytes", "blocks" }, .skip = 300,
	};
	const struct raw_file file = {
		.path = "/bin/x", .unread = RAW_UNREAD, .inode = 77, .major = 8,
		.minor = 1, .id = { 1, 2, 3 }, .id_len = 3, .nsegments = 1,
		.segments = { { 0x1000, 0x2000, 0x401000 } },
	};
	const struct raw_module module = { .name = "ext4", .base = 1ull << 63,
					   .size = 4096 };
	const struct raw_frame user[] = {
		{ 0x1010, 0, RAW_IN_FILE }, { 0x1020, 0, RAW_IN_FILE },
		{ 0, 0, RAW_NO_CODE },
	};
	const struct raw_frame kernel[] = {
		{ (uint64_t)-16, 0, RAW_IN_KERNEL }, { 5, 0, RAW_IN_MODULE },
	};
	struct raw_side_out side = {
		.flags = RAW_CALLER | RAW_MISSED_KERNEL,
		.user = user, .nuser = 3, .caller = { 0x1030, 0, RAW_IN_FILE },
	};
	struct raw_side_out waker = { .kernel = kernel, .nkernel = 2 };
	const uint64_t values[] = { 4096, 3 };
	struct raw_end end = { .told = "all", .lasted = 5000000000 };
	struct raw_writer w;

	raw_write_begin(&w, to, &head);
	CHECK_EQ(raw_write_file(&w, &file), 0);
	CHECK_EQ(raw_write_module(&w, &module), 0);
	side.task = raw_write_task(&w, "sh", 2, 12);
	waker.task = raw_write_task(&w, "ksoftirqd/0", 11, 9);
	raw_write_row(&w, &side, NULL, values, 2);
	raw_write_row(&w, &side, &waker, values, 2);
	side.user++;			/* from the middle of it */
	side.nuser = 2;
	side.flags = 0;
	raw_write_row(&w, &side, NULL, values, 2);
	raw_write_note(&w, "3 samples lost");
	CHECK_EQ(raw_write_end(&w, &end), 0);
	raw_write_free(&w);
}

static const char sample_seen[] =
	"test there text ffffffff81000000\n"
	"sh-c 25 | 0:0+1010 0:0+1020 5:0+0 | caller 1030 = 1000 = 3\n"
	"sh-c 2d | 0:0+1010 0:0+1020 5:0+0 | caller 1030 = 1000 = 3"
	" < ksoftirqd/0-9 2 | | 1:0+fffffffffffffff0 2:0+5\n"
	"sh-c 1 | 0:0+1020 5:0+0 | = 1000 = 3\n"
	"note 3 samples lost\n";

/* The sample's bytes; *n of them. */
static const uint8_t *sample(size_t *n)
{
	static uint8_t p[4096];
	FILE *to = tmpfile();

	write_sample(to);
	rewind(to);
	*n = fread(p, 1, sizeof(p), to);
	fclose(to);
	return p;
}

TEST(what_is_written_is_read)
{
	size_t n;
	const uint8_t *p = sample(&n);

	CHECK_EQ(read_bytes(p, n), RAW_WHOLE);
	CHECK_STR(seen, sample_seen);
	CHECK_EQ(reader.offset, n);
	CHECK_EQ(reader.more, false);
	CHECK_EQ(reader.head.skip, 300);
	CHECK_STR(reader.head.units[1], "blocks");
	CHECK_STR(reader.end.told, "all");
	CHECK_EQ(reader.end.rows, 3);
	CHECK_EQ(reader.end.lasted, 5000000000);
	CHECK_STR(raw_file(&reader, 0).path, "/bin/x");
	CHECK_EQ(raw_file(&reader, 0).segments[0].vaddr, 0x401000);
	CHECK_EQ(raw_file(&reader, 0).id[2], 3);
	CHECK_EQ(raw_file(&reader, 0).unread, RAW_UNREAD);
	CHECK_STR(raw_module(&reader, 0).name, "ext4");
	CHECK_EQ(raw_module(&reader, 0).base >> 63, 1);
	CHECK_EQ(crc_of((const uint8_t *)"123456789", 9), 0xcbf43926);
}

TEST(what_arrived_whole_is_used)
{
	size_t n, last = 0;
	const uint8_t *p = sample(&n);

	for (size_t cut = 0; cut < n; cut++) {
		CHECK_EQ(read_bytes(p, cut), RAW_CUT);
		CHECK_EQ(reader.offset, cut);
		CHECK(rows >= last);
		CHECK(!strncmp(seen, sample_seen, strlen(seen)));
		last = rows;
	}
	CHECK_EQ(last, 3);
}

/* A flipped version is another version; all else is found out, at the place of
 * the record or before. */
TEST(flipped_bits_are_found)
{
	size_t n;
	const uint8_t *p = sample(&n);
	uint8_t copy[4096];

	for (size_t i = 0; i < n; i++) {
		memcpy(copy, p, n);
		copy[i] ^= (uint8_t)(1 << i % 8);
		CHECK(read_bytes(copy, n) != RAW_WHOLE);
		CHECK(reader.offset <= i || reader.state == RAW_CUT || i < 10);
		CHECK(!strncmp(seen, sample_seen, strlen(seen)));
	}
}

TEST(bytes_behind_the_end)
{
	size_t n;
	uint8_t copy[4097] = { 0 };

	memcpy(copy, sample(&n), 4096);
	CHECK_EQ(read_bytes(copy, n + 1), RAW_WHOLE);
	CHECK_EQ(reader.more, true);
	CHECK_EQ(reader.offset, n);
}

TEST(other_files)
{
	CHECK_EQ(read_bytes("", 0), RAW_CUT);
	CHECK_EQ(read_bytes("main;a 3\n", 9), RAW_NO_RAW);
	CHECK_EQ(read_bytes("\223sonde\n\1\0\1", 10), RAW_NO_CLEAR_LINE);
	CHECK_EQ(read_bytes("\223sonde\r\r\n\1\0\1", 12), RAW_NO_CLEAR_LINE);
}

/* Versions */

static struct bytes file, part;

static void put_head(void)
{
	part.n = 0;
	field(&part, 1, "test");
	field(&part, 11, "samples");
	record(&file, 1, &part);
}

TEST(newer_versions)
{
	start(&file, 2, 0);
	put_head();
	CHECK_EQ(read_bytes(file.p, file.n), RAW_NEWER);
	CHECK_EQ(reader.major, 2);
	CHECK_STR(seen, "");

	start(&file, 1, 9);
	field(&part, 99, "what may that be");
	field(&part, 1, "test");
	field(&part, 11, "samples");
	record(&file, 1, &part);
	text(&part, "of a kind that is not known");
	record(&file, 77, &part);
	field(&part, 98, "");
	record(&file, 4, &part);
	CHECK_EQ(read_bytes(file.p, file.n), RAW_WHOLE);
	CHECK_STR(seen, "test ? text 0\n");
	CHECK_EQ(reader.minor, 9);
}

/* Content that was never written so. */
static int items(size_t n, const uint64_t *values)
{
	start(&file, 1, 0);
	put_head();
	NUMBERS(&part, 1);
	text(&part, "a");			/* string 0 */
	NUMBERS(&part, 4, 0, 1);		/* task 0 */
	numbers(&part, n, values);
	record(&file, 2, &part);
	return read_bytes(file.p, file.n);
}
#define ITEMS(...) \
	items(sizeof((uint64_t[]){ __VA_ARGS__ }) / 8, \
	      (uint64_t[]){ __VA_ARGS__ })

enum { ROW = 5, U = 1 << 3, K = 2 << 3, CALLER_FLAG = 4 << 3 };

TEST(senseless_content)
{
	CHECK_EQ(ITEMS(ROW, 0, 7), RAW_CUT);		/* sense, no end */
	CHECK_EQ(rows, 1);
	CHECK_EQ(ITEMS(ROW, 1, 7), RAW_SENSELESS);	/* no such task */
	CHECK_EQ(ITEMS(0, 1, 7), RAW_SENSELESS);	/* no such item */
	CHECK_EQ(ITEMS(7), RAW_SENSELESS);
	CHECK_EQ(ITEMS(ROW), RAW_SENSELESS);		/* ends within */
	CHECK_EQ(ITEMS(4, 1, 0), RAW_SENSELESS);	/* no such string */
	CHECK_EQ(ITEMS(1, 3, 'a', 0, 'b'), RAW_SENSELESS);	/* a NUL */
	CHECK_EQ(ITEMS(1, UINT64_MAX), RAW_SENSELESS);
	CHECK_EQ(ITEMS(ROW | U, 0, 1, 0, 7), RAW_SENSELESS);	/* node */
	CHECK_EQ(ITEMS(ROW | U, 0, 0, 1, 0, 7), RAW_SENSELESS);	/* frame */
	CHECK_EQ(ITEMS(ROW | U, 0, 0, 1, 1, 0, 7), RAW_SENSELESS); /* file */
	CHECK_EQ(ITEMS(ROW | U, 0, 0, 1, 5 << 1 | 1, 7), RAW_CUT);
	CHECK_EQ(ITEMS(ROW | U, 0, 0, UINT64_MAX, 11), RAW_SENSELESS);
	CHECK_EQ(ITEMS(ROW | CALLER_FLAG, 0, 0, 7), RAW_SENSELESS);
	CHECK_EQ(ITEMS(ROW | UINT64_MAX << 40, 0, 7), RAW_SENSELESS);
	CHECK_EQ(ITEMS(2, 0, 0, 1, 1, 1, 33), RAW_SENSELESS);	/* build-id */
	CHECK_EQ(ITEMS(2, 0, 0, 1, 1, 1, 0, 5), RAW_SENSELESS);	/* segments */
	CHECK_EQ(reader.offset, 10 + 2 + 15 + 4);
}

/* Chains of any depth, each stack a frame deeper. */
TEST(depth_is_bounded)
{
	start(&file, 1, 0);
	put_head();
	NUMBERS(&part, 1, 0, 4, 0, 1, ROW | U, 0, 0, 1, 11, 1);
	for (unsigned i = 1; i <= RAW_DEPTH_MOST; i++) {
		NUMBERS(&part, ROW | U, 0, i, 1, 0, 1);
		if (part.n > 1000)
			record(&file, 2, &part);
	}
	if (part.n)
		record(&file, 2, &part);
	CHECK_EQ(read_bytes(file.p, file.n), RAW_SENSELESS);
	CHECK_EQ(rows, RAW_DEPTH_MOST);
}

TEST(heads_that_are_none)
{
	start(&file, 1, 0);
	field(&part, 1, "test");
	record(&file, 1, &part);		/* no unit */
	CHECK_EQ(read_bytes(file.p, file.n), RAW_SENSELESS);
	start(&file, 1, 0);
	put_head();
	put_head();				/* two */
	CHECK_EQ(read_bytes(file.p, file.n), RAW_SENSELESS);
	start(&file, 1, 0);
	record(&file, 4, &part);		/* another one first */
	CHECK_EQ(read_bytes(file.p, file.n), RAW_SENSELESS);
	start(&file, 1, 0);
	field(&part, 1, "a");
	field(&part, 1, "b");			/* twice */
	field(&part, 11, "samples");
	record(&file, 1, &part);
	CHECK_EQ(read_bytes(file.p, file.n), RAW_SENSELESS);
}

/* Names. The device is a big-endian one of 32 bits; its files are made here. */

enum { SYMTAB = 0x800, STRTAB = 0x900, NOTE = 0xa00, PPC = 20 };

static char tree[64];

static void add_symbol(struct file *f, int i, const char *name, int value,
		       int size)
{
	static int next;
	int at = SYMTAB + 16 * i;

	next = i == 1 ? 1 : next;
	strcpy((char *)f->p + STRTAB + next, name);
	put(f, at, 4, (uint64_t)next);
	put(f, at + 4, 4, (uint64_t)value);
	put(f, at + 8, 4, (uint64_t)size);
	put(f, at + 12, 1, 1 << 4 | 2);		/* global, a function */
	put(f, at + 14, 2, 2);			/* .text */
	next += (int)strlen(name) + 1;
}

/* main > inner, of the build that `id` names. */
static struct file program(uint8_t id, bool stripped)
{
	struct file f = file_new(PPC, 0, 1);

	section(&f, ".text", 1, 6, 0x1000, 0x1000, 0x1000, 0);
	section(&f, ".note", 7, 2, NOTE, NOTE, 20, 0);
	put(&f, NOTE, 4, 4);
	put(&f, NOTE + 4, 4, 4);
	put(&f, NOTE + 8, 4, 3);
	memcpy(f.p + NOTE + 12, "GNU", 4);
	memset(f.p + NOTE + 16, id, 4);
	if (stripped)
		return f;
	section(&f, ".strtab", 3, 0, 0, STRTAB, 0x100, 0);
	section(&f, ".symtab", 2, 0, 0, SYMTAB, 48, 4);
	add_symbol(&f, 1, "main", 0x1000, 0x100);
	add_symbol(&f, 2, "inner", 0x1100, 0x100);
	return f;
}

static void save(const char *name, const struct file *f)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", tree, name);
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0777);
		*p = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || write(fd, f->p, SIZE) != SIZE)
		abort();
	close(fd);
}

TEST(files_say_what_they_are)
{
	struct file f = program(7, true);
	struct elf *e = file_open(&f, SIZE);
	struct build_id id;
	struct elf_extent code[2];
	bool symtab, code_there;
	char hex[BUILD_ID_TEXT];

	CHECK(elf_build_id(e, &id));
	CHECK_STR(build_id_text(&id, hex), "07070707");
	CHECK_EQ(elf_machine(e), PPC);
	CHECK(elf_is_big(e));
	CHECK_EQ(elf_code_extents(e, code, 2), 1);
	CHECK_EQ(code[0].vaddr, 0x1000);
	elf_look(e, &symtab, &code_there);
	CHECK(code_there && !symtab);
	elf_close(e);
	f = program(7, false);
	e = file_open(&f, SIZE);
	elf_look(e, &symtab, &code_there);
	CHECK(code_there && symtab);
	elf_close(e);
}

/* leaf at 0x1110 in inner, called from 0x1010 in main, of a file whose build-id
 * is four bytes of 7; and in the kernel 0x110 and 0x210 behind its text. */
static const char *device_path = "/bin/prog";
static const char *device_id = "\7\7\7\7";
static bool device_unread;

/* It knows where its waits are, and not (or also) where its text starts. */
static bool device_waits, device_text = true;

static void put_kernel(void)
{
	static const uint64_t waits[] = {
		0xc0009110, 0xc000a110, 0xc000b110, 0xc000c110,
	};

	for (size_t i = 0; device_waits && i < 4; i++)
		field_number(&part, 22, waits[i]);
	if (device_text)
		field_number(&part, 10, 0xc0008000);
}

static void put_device(void)
{
	uint64_t kernel = device_text ? 0 : 0xc0008000;

	start(&file, 1, 0);
	part.n = 0;
	field(&part, 1, "profile");
	field(&part, 2, "router");
	field(&part, 4, "ppc");
	field_number(&part, 7, 32);
	field_number(&part, 8, 1);
	put_kernel();
	field(&part, 11, "samples");
	field(&part, 13, "CPU flame graph");
	record(&file, 1, &part);
	number(&part, 1);
	text(&part, device_path);
	NUMBERS(&part, 2, 0, device_unread, 5, 8, 1);	/* file 0 */
	text(&part, device_id);
	NUMBERS(&part, 1, 0x1000, 0x1000, 0x1000);
	number(&part, 1);
	text(&part, "prog");
	NUMBERS(&part, 4, 1, 42);			/* task 0 */
	NUMBERS(&part, ROW | U | K, 0,
		0, 2, 1, 0x1010, 1, 0x1110,
		0, 2, 3, (kernel + 0x210) << 1, 3, (kernel + 0x110) << 1, 3);
	record(&file, 2, &part);
	field(&part, 17, "99 Hz");
	record(&file, 4, &part);
}

static struct buf folded;
static bool folds = true;

static int fold_head(void *arg, const struct raw_head *head)
{
	(void)arg;
	(void)head;
	return 0;
}

static int fold_row(void *arg, const struct stack_row *row,
		    const uint64_t *values)
{
	const struct stack_options how = { .annotate = true };

	(void)arg;
	if (!folds)
		return 0;
	stack_folded(&folded, row, &how);
	buf_fmt(&folded, " %llu\n", (unsigned long long)values[0]);
	return 0;
}

/* Said of a kernel that is not this one, and cut out of the rest. */
static const char other_kernel[] =
	"note: not recorded on this kernel: kernel functions are shown as "
	"addresses\nhint: --kallsyms FILE, a copy of the device's, or "
	"--system-map FILE of its build names them\n";
static bool other_said;

static const char *without_kernel(char *all)
{
	char *at = strstr(all, other_kernel);

	other_said = at;
	if (at)
		memmove(at, at + sizeof(other_kernel) - 1,
			strlen(at + sizeof(other_kernel) - 1) + 1);
	return all;
}

/* What a desk makes of it: folded, and what it says. */
static const char *named(const struct name_options *from)
{
	struct raw_names n = { .head = fold_head, .row = fold_row };
	struct raw_reader r = { .fd = -1 };
	int fd = file_of(file.p, file.n);

	buf_reset(&folded);
	listen();
	if (!raw_names_open(&n, from) &&
	    !raw_names_read(&n, fd, NULL, 0, "x.raw", &r))
		raw_names_report(&n);
	raw_read_free(&r);
	raw_names_close(&n);
	close(fd);
	return without_kernel((char *)heard());
}

static const char unnamed[] =
	"prog;[prog+0x100f];[prog+0x1110];0xc0008210_[k];0xc0008110_[k] 3\n";
static const char in_full[] =
	"prog;main;inner;0xc0008210_[k];0xc0008110_[k] 3\n";

static void forget_tree(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", tree);
	if (system(command))
		abort();
	mkdir(tree, 0777);
}

TEST(a_big_endian_device_is_named)
{
	struct name_options from = { .symfs = tree };
	struct file f = program(7, false);
	const char *said_then;

	forget_tree();
	put_device();
	said_then = named(&from);
	CHECK_STR(buf_str(&folded), unnamed);
	CHECK(strstr(said_then, "/bin/prog not found"));
	save("bin/prog", &f);
	CHECK_STR(named(&from), "");
	CHECK(other_said);
	CHECK_STR(buf_str(&folded), in_full);
}

TEST(files_are_found_by_their_build_id)
{
	struct name_options from = { .symfs = tree };
	struct file right = program(7, false), stripped = program(7, true);
	struct file other = program(8, false);
	const char *heard_then;

	put_device();
	forget_tree();
	save("bin/prog", &other);		/* of another build */
	heard_then = named(&from);
	CHECK(strstr(heard_then, "/bin/prog: its build-id is 08080808, not "
			   "07070707 as was recorded: not used"));
	CHECK_STR(buf_str(&folded), unnamed);
	save("build/obj/prog.unstripped", &right);
	CHECK_STR(named(&from), "");
	CHECK_STR(buf_str(&folded), in_full);
	save("bin/prog", &stripped);		/* as on the device */
	CHECK_STR(named(&from), "");
	CHECK_STR(buf_str(&folded), in_full);
	forget_tree();
	save(".build-id/07/070707.debug", &right);
	from = (struct name_options){ .debug_dir = tree };
	CHECK_STR(named(&from), "");
	CHECK_STR(buf_str(&folded), in_full);
	save(".build-id/07/070707.debug", &other);
	heard_then = named(&from);
	CHECK(strstr(heard_then, "not found"));
	CHECK_STR(buf_str(&folded), unnamed);
}

/* What has the build-id alone, neither code nor symbols, is met first. */
TEST(an_empty_file_hides_no_other)
{
	struct name_options from = { .symfs = tree };
	struct file empty = file_new(PPC, 0, 1), whole = program(7, true);

	section(&empty, ".text", 8, 6, 0x1000, 0x1000, 0x1000, 0);
	section(&empty, ".note", 7, 2, NOTE, NOTE, 20, 0);
	memcpy(empty.p + NOTE, whole.p + NOTE, 20);
	section(&whole, ".dynstr", 3, 2, 0, STRTAB, 0x100, 0);
	section(&whole, ".dynsym", 11, 2, 0, SYMTAB, 48, 4);
	add_symbol(&whole, 1, "main", 0x1000, 0x100);
	add_symbol(&whole, 2, "inner", 0x1100, 0x100);
	put_device();
	forget_tree();
	save("bin/prog", &empty);
	named(&from);
	CHECK_STR(buf_str(&folded), unnamed);
	save("bin/prog", &whole);
	CHECK_STR(named(&from), "");
	CHECK_STR(buf_str(&folded), in_full);
	save("bin/prog", &empty);
	save("build/prog", &whole);
	CHECK_STR(named(&from), "");
	CHECK_STR(buf_str(&folded), in_full);
}

/* A few bytes a row, each of which means a deep chain of long names. */
TEST(stacks_are_in_proportion)
{
	static char name[RAW_STRING_MOST + 2];
	struct name_options from = { 0 };
	const char *heard_then;

	memset(name, 'f', sizeof(name) - 1);
	start(&file, 1, 0);
	put_head();
	number(&part, 1);
	text(&part, name + 1);
	NUMBERS(&part, 4, 0, 1, ROW | U, 0, 0, 4000, 6 << 1 | 1);
	for (int i = 1; i < 4000; i++)
		number(&part, 0);
	number(&part, 7);
	for (int i = 0; i < 100; i++)
		NUMBERS(&part, ROW | U, 0, 4000, 0, 7);
	record(&file, 2, &part);
	record(&file, 4, &part);
	folds = false;
	heard_then = named(&from);
	folds = true;
	CHECK(strstr(heard_then, "more stacks than so few bytes can mean"));
	CHECK(strstr(heard_then, "is used, 16 stacks"));
	start(&file, 1, 0);
	put_head();
	number(&part, 1);
	text(&part, name);
	record(&file, 2, &part);
	CHECK_EQ(read_bytes(file.p, file.n), RAW_SENSELESS);
}

/* The right one at the same path here does not hide that --symfs has another
 * one there. */
TEST(another_build_is_told_whatever_is_here)
{
	static char here[96], below[128], symfs[96];
	struct name_options from = { .symfs = symfs };
	struct file right = program(7, false), other = program(8, false);
	const char *said_then;

	snprintf(here, sizeof(here), "%s/here/prog", tree);
	snprintf(below, sizeof(below), "fs%s", here);
	snprintf(symfs, sizeof(symfs), "%s/fs", tree);
	forget_tree();
	save(below, &other);
	device_path = here;
	put_device();
	said_then = named(&from);
	CHECK(strstr(said_then, "its build-id is 08080808, not 07070707"));
	CHECK_STR(buf_str(&folded), unnamed);
	save("here/prog", &right);
	said_then = named(&from);
	CHECK(strstr(said_then, "its build-id is 08080808, not 07070707"));
	CHECK_STR(buf_str(&folded), in_full);
	save("here/prog", &other);
	said_then = named(&from);
	CHECK(strstr(said_then, "its build-id is 08080808, not 07070707"));
	CHECK(strstr(said_then, "not found"));
	device_path = "/bin/prog";
}

TEST(files_without_a_build_id)
{
	struct name_options from = { .symfs = tree };
	struct file f = program(7, false);

	forget_tree();
	save("bin/prog", &f);
	device_id = "";
	put_device();
	CHECK_STR(named(&from), "note: files without a build-id, which were "
		  "taken by their path alone: 1\n");
	CHECK_STR(buf_str(&folded), in_full);
	device_unread = true;
	put_device();
	CHECK_STR(named(&from), "note: files that were not read on the "
		  "device, which were taken by their path alone: 1\n");
	CHECK_STR(buf_str(&folded), in_full);
	device_unread = false;
	device_id = "\7\7\7\7";
}

static const char *with_map(const char *text_of_map)
{
	char path[128];
	struct name_options from = { .symfs = tree, .kernel = path };
	FILE *to;

	snprintf(path, sizeof(path), "%s/System.map", tree);
	to = fopen(path, "w");
	fputs(text_of_map, to);
	fclose(to);
	return named(&from);
}

TEST(a_system_map_is_moved)
{
	struct file f = program(7, false);

	put_device();
	forget_tree();
	save("bin/prog", &f);
	/* Where it was linked to, and where it ran. */
	CHECK_STR(with_map("80000000 T _text\n80001000 T _stext\n"
			   "80001100 T inner\n80001200 t outer\n"
			   "80001300 T _etext\n"), "");
	CHECK_STR(buf_str(&folded),
		  "prog;main;inner;outer_[k];inner_[k] 3\n");
	CHECK_STR(with_map("c0008000 T _stext\nc0008100 T f\n"
			   "c0008300 T _etext\n"), "");
	CHECK_STR(buf_str(&folded), "prog;main;inner;f_[k];f_[k] 3\n");
	/* Beyond the end of the text. */
	CHECK_STR(with_map("80001000 T _stext\n80001100 T inner\n"
			   "80001200 T _etext\n"), "");
	CHECK_STR(buf_str(&folded),
		  "prog;main;inner;0xc0008210_[k];inner_[k] 3\n");
	CHECK(strstr(with_map("80001010 T _stext\n80001100 T inner\n"),
		     "its kernel is another one"));
	CHECK_STR(buf_str(&folded), in_full);
	CHECK(strstr(with_map("80001000 T f\n80001100 T inner\n"),
		     "System.map: not a list of a kernel's symbols with "
		     "_stext"));
	CHECK_STR(buf_str(&folded), "");
	CHECK(strstr(with_map("00000000 T _stext\n"),
		     "all addresses are zero"));
	CHECK(strstr(with_map("hello\n"), "not a list"));
}

TEST(a_kernel_without_a_list)
{
	static const char map[] = "80001000 T _stext\n80001100 T inner\n"
		"80001200 t outer\n80001300 T more\n"
		"80002100 t do_nanosleep\n80002200 t more\n"
		"80003100 T hrtimer_nanosleep\n80003200 t more\n"
		"80004100 t do_sys_poll\n80004200 t more\n"
		"80005100 T schedule\n80005200 T _etext\n";
	char other[sizeof(map)];
	struct file f = program(7, false);

	forget_tree();
	save("bin/prog", &f);
	device_waits = true;
	device_text = false;
	put_device();
	CHECK_STR(with_map(map), "");
	CHECK_STR(buf_str(&folded),
		  "prog;main;inner;outer_[k];inner_[k] 3\n");
	memcpy(other, map, sizeof(map));
	memcpy(strstr(other, "80004100"), "80004180", 8);
	CHECK(strstr(with_map(other), "functions of its kernel do not lie as "
		     "in the list"));
	CHECK_STR(buf_str(&folded), "prog;main;inner;0xc0008210_[k];"
		  "0xc0008110_[k] 3\n");
	/* The text starts as it should in both. */
	device_text = true;
	put_device();
	CHECK_STR(with_map(map), "");
	CHECK_STR(buf_str(&folded),
		  "prog;main;inner;outer_[k];inner_[k] 3\n");
	CHECK(strstr(with_map(other), "do not lie as in the list"));
	CHECK(strstr(with_map("80001000 T _stext\n80001200 T outer\n"),
		     "do not lie as in the list"));
	device_waits = false;
}

TEST(damage_is_told_with_its_place)
{
	struct name_options from = { .symfs = tree };
	size_t whole;

	put_device();
	whole = file.n;
	file.p[whole - 1] ^= 1;
	CHECK(strstr(named(&from), "x.raw: damaged at byte"));
	CHECK_STR(buf_str(&folded), in_full);
	file.n = whole - 9;
	CHECK(strstr(named(&from), "x.raw: cut off at byte"));
	CHECK_STR(buf_str(&folded), in_full);
	file.n = 40;
	CHECK(strstr(named(&from), "what came before it is used, 0 stacks"));
	file.p[8] = 3;
	CHECK(strstr(named(&from), "x.raw: of version 3 of the format; this "
		     "sonde reads version 1"));
}

int main(void)
{
	snprintf(tree, sizeof(tree), "/tmp/sonde-raw.%d", getpid());
	RUN(what_is_written_is_read);
	RUN(what_arrived_whole_is_used);
	RUN(flipped_bits_are_found);
	RUN(bytes_behind_the_end);
	RUN(other_files);
	RUN(newer_versions);
	RUN(senseless_content);
	RUN(depth_is_bounded);
	RUN(heads_that_are_none);
	RUN(files_say_what_they_are);
	RUN(a_big_endian_device_is_named);
	RUN(files_are_found_by_their_build_id);
	RUN(an_empty_file_hides_no_other);
	RUN(stacks_are_in_proportion);
	RUN(another_build_is_told_whatever_is_here);
	RUN(files_without_a_build_id);
	RUN(a_system_map_is_moved);
	RUN(a_kernel_without_a_list);
	RUN(damage_is_told_with_its_place);
	forget_tree();
	rmdir(tree);
	raw_read_free(&reader);
	buf_free(&folded);
	return test_failed;
}
