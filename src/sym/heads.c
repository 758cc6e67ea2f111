/* heads - what files say of themselves, read where a process maps them.
 *
 * Any user can run a process that maps a library of all and writes another
 * build-id into its copy of the page. Such a page is not the file's any more,
 * and /proc/PID/pagemap tells so (bit 61; Documentation/admin-guide/mm/
 * pagemap.rst): it is looked at before and after. */
#include "sym/heads.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, TRIES = 16, NOTES = 8, NO_PAGEMAP = -2 };
#define PAGE_IS_FILE (1ull << 61)
#define PAGE_IS_PRESENT (1ull << 63)

void heads_free(struct heads *h)
{
	elf_close(h->last);
	vec_free(&h->v);
}

void heads_pass(struct heads *h, const struct map_row *row)
{
	if (row->off || map_kind(row) != MAPS_FILE)
		return;
	h->first = *row;
	h->first.path = NULL;
}

static bool same_file(const struct map_row *a, const struct map_row *b)
{
	return a->inode == b->inode && a->major == b->major &&
	       a->minor == b->minor;
}

static struct head *head_of(struct heads *h, uint32_t file)
{
	while (h->v.n <= file) {
		struct head *head = vec_push(&h->v);

		if (!head)
			return NULL;
		memset(head, 0, sizeof(*head));
	}
	return &h->v.v[file];
}

const struct head *heads_get(const struct heads *h, uint32_t file)
{
	return file < h->v.n && h->v.v[file].known ? &h->v.v[file] : NULL;
}

/* A record tells of an executable mapping alone: look for the file's first. */
struct search {
	const struct map_row *row;
	struct map_row found;
};

/* The last one before it, if a file is mapped more than once. */
static int search_row(void *arg, const struct map_row *row)
{
	struct search *s = arg;

	if (row->start > s->row->start)
		return 1;
	if (!row->off && row->inode == s->row->inode && row->inode)
		s->found = *row;
	return 0;
}

static bool find_first(int dir, const struct map_row *row,
		       struct map_row *first)
{
	struct search s = { .row = row };
	int fd = openat(dir, "maps", O_RDONLY | O_CLOEXEC);
	unsigned bad = 0;

	if (fd < 0)
		return false;
	maps_read(fd, search_row, &s, &bad);
	close(fd);
	*first = s.found;
	return s.found.end != 0;
}

static void memory_open(struct memory *m, int dir)
{
	if (m->open)
		return;
	m->mem = openat(dir, "mem", O_RDONLY | O_CLOEXEC);
	m->pages = openat(dir, "pagemap", O_RDONLY | O_CLOEXEC);
	if (m->pages < 0 && errno == ENOENT)
		m->pages = NO_PAGEMAP;
	m->open = true;
}

/* Is it the file's page? True where the kernel does not tell. */
static bool page_is_file(const struct memory *m, uint64_t addr)
{
	uint64_t page = 0, size = (uint64_t)sysconf(_SC_PAGESIZE);

	if (m->pages == NO_PAGEMAP)
		return true;
	return pread(m->pages, &page, sizeof(page),
		     (off_t)(addr / size * 8)) == sizeof(page) &&
	       (page & PAGE_IS_FILE || !(page & PAGE_IS_PRESENT));
}

/* As many bytes of it as there are at the address. */
static size_t memory_read(const struct memory *m, uint64_t addr, void *to,
			  size_t n)
{
	ssize_t got = 0;

	if (page_is_file(m, addr))
		got = pread(m->mem, to, n, (off_t)addr);
	return got > 0 && page_is_file(m, addr) ? (size_t)got : 0;
}

/* Notes beyond the first page, by where the file is mapped. */
static void notes_read(struct elf *e, const struct memory *m, uint64_t start,
		       struct build_id *id)
{
	struct elf_extent notes[NOTES];
	size_t n = elf_notes(e, notes, NOTES);
	uint8_t bytes[PAGE];
	uint64_t vaddr;

	if (elf_vaddr(e, 0, &vaddr))
		return;
	for (size_t i = 0; i < n; i++) {
		size_t size = notes[i].size < PAGE ? (size_t)notes[i].size
						   : PAGE;

		size = memory_read(m, start - vaddr + notes[i].vaddr, bytes,
				   size);
		if (build_id_find(bytes, size, elf_is_big(e), notes[i].align,
				  id))
			return;
	}
}

/* Each goes when there is another one: that an allocator gives the memory back,
 * and asks for it anew, costs more than all the rest of it. */
static void head_parse(struct heads *h, struct head *head,
		       const uint8_t *image, size_t n, uint64_t start)
{
	struct elf *e;
	int err = elf_open_view(image, n, &e);

	head->known = !err || err == -ENOEXEC;
	if (err)
		return;
	head->elf = true;
	head->nsegments = elf_code_extents(e, head->segments, HEAD_SEGMENTS);
	if (!elf_build_id(e, &head->id))
		notes_read(e, &h->memory, start, &head->id);
	elf_close(h->last);
	h->last = e;
}

void heads_read(struct heads *h, int dir, const struct map_row *row,
		uint32_t file)
{
	struct head *head = head_of(h, file);
	struct map_row first = row->off ? h->first : *row;
	uint8_t image[PAGE];
	size_t n;

	if (!head || head->known || head->tries >= TRIES)
		return;
	head->tries++;
	if ((!first.end || first.start > row->start ||
	     !same_file(&first, row)) && !find_first(dir, row, &first))
		return;
	memory_open(&h->memory, dir);
	n = memory_read(&h->memory, first.start, image, PAGE);
	if (n)
		head_parse(h, head, image, n, first.start);
}

void heads_end(struct heads *h)
{
	struct memory *m = &h->memory;

	h->first = (struct map_row){ 0 };
	if (m->open && m->mem >= 0)
		close(m->mem);
	if (m->open && m->pages >= 0)
		close(m->pages);
	m->open = false;
}
