/* heads - what files say of themselves in a process's memory: in this one's. */
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_make.h"
#include "sym/heads.h"

enum { NOTE = 0x180, FAR_NOTE = 0x2010 };

static struct heads heads;
static int self;

/* A file with its note at an offset, of which `id` is each byte. */
static struct file program(int note, int note_vaddr, uint8_t id)
{
	struct file f = file_new(X86_64, 1, 0);

	segment(&f, 1, 4, 0, 0, 0x1000);
	segment(&f, 4, 4, note, note_vaddr, 20);
	put(&f, note, 4, 4);
	put(&f, note + 4, 4, 4);
	put(&f, note + 8, 4, 3);
	memcpy(f.p + note + 12, "GNU", 4);
	memset(f.p + note + 16, id, 4);
	put(&f, 40, 8, 0);			/* no section headers */
	return f;
}

/* Map n bytes of it as programs are, with its third page behind the second;
 * the row says what the kernel does. */
static uint8_t *mapped(const void *bytes, size_t n, struct map_row *row)
{
	char path[] = "/tmp/sonde-heads.XXXXXX";
	int fd = mkstemp(path);
	struct stat st;
	uint8_t *p;

	unlink(path);
	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || fstat(fd, &st))
		abort();
	p = mmap(NULL, 0x4000, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	mmap(p + 0x3000, 0x1000, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd,
	     0x2000);
	*row = (struct map_row){ .start = (uintptr_t)p, .exec = true,
				 .end = (uintptr_t)p + 0x4000,
				 .inode = st.st_ino, .path = "/x" };
	close(fd);
	return p;
}

static const struct head *read_row(const struct map_row *row, uint32_t file)
{
	heads_read(&heads, self, row, file);
	heads_end(&heads);
	return heads_get(&heads, file);
}

TEST(a_build_id_is_read_from_memory)
{
	struct file f = program(NOTE, NOTE, 5);
	struct map_row row;
	const struct head *head;
	char hex[BUILD_ID_TEXT];

	mapped(f.p, SIZE, &row);
	head = read_row(&row, 3);
	CHECK(head && head->elf);
	if (!head)
		return;
	CHECK_STR(build_id_text(&head->id, hex), "05050505");
	CHECK_EQ(head->nsegments, 1);
	CHECK_EQ(head->segments[0].offset, 0x1000);
	CHECK_EQ(head->segments[0].size, 0x1000);
	CHECK(!heads_get(&heads, 2));
	CHECK(!heads_get(&heads, 4));
}

TEST(one_behind_the_first_page)
{
	struct file f = program(FAR_NOTE, 0x3010, 6);
	struct map_row row;
	const struct head *head;
	char hex[BUILD_ID_TEXT];

	mapped(f.p, SIZE, &row);
	head = read_row(&row, 5);
	CHECK(head && head->elf);
	if (head)
		CHECK_STR(build_id_text(&head->id, hex), "06060606");
}

/* A record tells of the code alone: the maps have the rest. */
TEST(the_first_page_is_looked_for)
{
	struct file f = program(NOTE, NOTE, 7);
	struct map_row row;
	const struct head *head;

	mapped(f.p, SIZE, &row);
	row.start += 0x3000;
	row.off = 0x2000;
	head = read_row(&row, 6);
	CHECK(head && head->id.len == 4 && head->id.bytes[0] == 7);
}

TEST(what_was_written_over_does_not_count)
{
	struct file f = program(NOTE, NOTE, 8);
	struct map_row row;
	uint8_t *p = mapped(f.p, SIZE, &row);

	p[NOTE + 16] = 9;
	CHECK(!read_row(&row, 7));
	mapped(f.p, SIZE, &row);
	CHECK(read_row(&row, 7));	/* another process has it right */
	p = mapped(f.p, SIZE, &row);
	p[NOTE + 16] = 9;
	for (int i = 0; i < 16; i++)
		CHECK(!read_row(&row, 8));
	mapped(f.p, SIZE, &row);
	CHECK(!read_row(&row, 8));		/* not for ever */
}

TEST(a_file_that_is_none)
{
	char text[0x3000] = "generated code";
	struct map_row row;
	const struct head *head;

	mapped(text, sizeof(text), &row);
	head = read_row(&row, 9);
	CHECK(head && !head->elf && !head->id.len);
}

TEST(notes_of_any_kind)
{
	static const uint8_t notes[] = {
		0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 3, 'L', 'i', 'n', 'u', 'x', 0,
		0, 0, 1, 0, 0, 0,
		0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 3, 'G', 'N', 'U', 0,
		0xab, 0xcd, 0, 0,
	};
	struct build_id id;

	CHECK(build_id_find(notes, sizeof(notes), true, 4, &id));
	CHECK_EQ(id.len, 2);
	CHECK_EQ(id.bytes[1], 0xcd);
	CHECK(!build_id_find(notes, sizeof(notes), false, 4, &id));
	CHECK_EQ(id.len, 0);
	for (size_t n = 0; n < sizeof(notes) - 2; n++)
		build_id_find(notes, n, true, n & 8, &id);
	CHECK(!build_id_same(&id, &id));
}

int main(void)
{
	self = open("/proc/self", O_PATH | O_DIRECTORY);
	RUN(a_build_id_is_read_from_memory);
	RUN(one_behind_the_first_page);
	RUN(the_first_page_is_looked_for);
	RUN(what_was_written_over_does_not_count);
	RUN(a_file_that_is_none);
	RUN(notes_of_any_kind);
	heads_free(&heads);
	close(self);
	return test_failed;
}
