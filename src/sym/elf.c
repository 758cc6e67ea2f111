/* elf - the file: bounded reads, headers, segments. */
#include "sym/elf.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym/elf_file.h"

/* Reading */

bool elf_afford(uint64_t *work, uint64_t cost)
{
	bool enough = *work >= cost;

	*work = enough ? *work - cost : 0;
	return enough;
}

size_t elf_read(struct elf *e, uint64_t offset, void *to, size_t n)
{
	size_t done = 0;
	ssize_t got;

	if (offset >= e->size)
		return 0;
	if (n > e->size - offset)
		n = (size_t)(e->size - offset);
	if (e->image) {
		memcpy(to, e->image + offset, n);
		return n;
	}
	while (done < n) {
		got = pread(e->fd, (char *)to + done, n - done,
			    (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && !e->err)
			e->err = -errno;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

const uint8_t *elf_peek(struct elf *e, struct elf_window *w,
			uint64_t offset, size_t n)
{
	if (e->image)
		return offset <= e->size && n <= e->size - offset ?
			e->image + offset : NULL;
	if (offset >= w->offset && offset - w->offset <= w->len &&
	    n <= w->len - (offset - w->offset))
		return w->data + (offset - w->offset);
	if (!w->data)
		w->data = mem_zalloc(ELF_WINDOW);
	if (!w->data) {
		e->err = -ENOMEM;
		return NULL;
	}
	if (w->work)
		elf_afford(w->work, ELF_COST_MOVE);
	w->offset = offset;
	w->len = elf_read(e, offset, w->data, ELF_WINDOW);
	return n <= w->len ? w->data : NULL;
}

void elf_window_free(struct elf_window *w)
{
	mem_free(w->data);
	*w = (struct elf_window){ .work = w->work };
}

uint16_t elf_u16(const struct elf *e, const uint8_t *p)
{
	return (uint16_t)(e->big ? p[0] << 8 | p[1] : p[1] << 8 | p[0]);
}

uint32_t elf_u32(const struct elf *e, const uint8_t *p)
{
	uint32_t a = elf_u16(e, p), b = elf_u16(e, p + 2);

	return e->big ? a << 16 | b : b << 16 | a;
}

uint64_t elf_u64(const struct elf *e, const uint8_t *p)
{
	uint64_t a = elf_u32(e, p), b = elf_u32(e, p + 4);

	return e->big ? a << 32 | b : b << 32 | a;
}

uint64_t elf_word(const struct elf *e, const uint8_t *p)
{
	return e->wide ? elf_u64(e, p) : elf_u32(e, p);
}

/* Headers */

bool elf_section_read(struct elf *e, struct elf_window *w, uint64_t i,
		      struct elf_section *out)
{
	size_t size = e->wide ? 64 : 40;
	const uint8_t *p;

	if (i >= ELF_SECTIONS_MAX || e->shoff > UINT64_MAX - i * size)
		return false;
	p = elf_peek(e, w, e->shoff + i * size, size);
	if (!p)
		return false;
	*out = (struct elf_section){
		.name = elf_u32(e, p),
		.type = elf_u32(e, p + 4),
		.flags = elf_word(e, p + 8),
		.addr = elf_word(e, p + (e->wide ? 16 : 12)),
		.offset = elf_word(e, p + (e->wide ? 24 : 16)),
		.size = elf_word(e, p + (e->wide ? 32 : 20)),
		.link = elf_u32(e, p + (e->wide ? 40 : 24)),
		.info = elf_u32(e, p + (e->wide ? 44 : 28)),
	};
	return true;
}

static struct elf_segment segment_parse(const struct elf *e, const uint8_t *p)
{
	return (struct elf_segment){
		.type = elf_u32(e, p),
		.flags = elf_u32(e, p + (e->wide ? 4 : 24)),
		.offset = elf_word(e, p + (e->wide ? 8 : 4)),
		.vaddr = elf_word(e, p + (e->wide ? 16 : 8)),
		.filesz = elf_word(e, p + (e->wide ? 32 : 16)),
		.memsz = elf_word(e, p + (e->wide ? 40 : 20)),
		.align = elf_word(e, p + (e->wide ? 48 : 28)),
	};
}

/* A segment is kept as far as neither its bytes nor its addresses wrap. */
static void segment_clamp(struct elf_segment *s)
{
	if (s->filesz > UINT64_MAX - s->offset)
		s->filesz = UINT64_MAX - s->offset;
	if (s->memsz < s->filesz)
		s->memsz = s->filesz;
	if (s->memsz > UINT64_MAX - s->vaddr)
		s->memsz = UINT64_MAX - s->vaddr;
	if (s->filesz > s->memsz)
		s->filesz = s->memsz;
}

/* As many of n headers as the file holds, and most. */
static uint64_t headers_count(struct elf *e, uint64_t offset, uint64_t n,
			      size_t size, uint64_t most)
{
	uint64_t room = offset < e->size ? (e->size - offset) / size : 0;

	if (n > room)
		n = room;
	if (n <= most)
		return n;
	e->err = -EFBIG;
	return most;
}

static int segments_read(struct elf *e, uint64_t phoff, uint64_t n)
{
	size_t size = e->wide ? 56 : 32;
	struct elf_window w = { 0 };
	int err = 0;

	n = headers_count(e, phoff, n, size, ELF_SEGMENTS_MAX);
	for (uint64_t i = 0; i < n && phoff <= UINT64_MAX - i * size; i++) {
		const uint8_t *p = elf_peek(e, &w, phoff + i * size, size);
		struct elf_segment s, *slot;

		if (!p)
			break;
		s = segment_parse(e, p);
		if (s.type != PT_LOAD && s.type != PT_DYNAMIC &&
		    s.type != PT_NOTE)
			continue;
		slot = vec_push(&e->segments);
		if (!slot) {
			err = -ENOMEM;
			break;
		}
		segment_clamp(&s);
		*slot = s;
	}
	elf_window_free(&w);
	return err;
}

static bool ident_parse(struct elf *e, const uint8_t *p)
{
	if (memcmp(p, "\177ELF", 4) || p[4] < 1 || p[4] > 2 || p[5] < 1 ||
	    p[5] > 2)
		return false;
	e->wide = p[4] == 2;
	e->big = p[5] == 2;
	return true;
}

/* Counts that do not fit their 16 bits stand in section header 0. */
static void counts_extend(struct elf *e, uint64_t *phnum)
{
	struct elf_window w = { 0 };
	struct elf_section zero;

	if (e->shoff && elf_section_read(e, &w, 0, &zero)) {
		if (!e->shnum)
			e->shnum = zero.size;
		if (*phnum == PN_XNUM)
			*phnum = zero.info;
		if (e->shstrndx == SHN_XINDEX)
			e->shstrndx = zero.link;
	}
	elf_window_free(&w);
	e->shnum = e->shoff ? headers_count(e, e->shoff, e->shnum,
					    e->wide ? 64 : 40,
					    ELF_SECTIONS_MAX) : 0;
}

static int header_read(struct elf *e)
{
	uint8_t p[64] = { 0 };
	size_t n = elf_read(e, 0, p, sizeof(p)), at;
	uint64_t phoff, phnum;

	if (n < 16 || !ident_parse(e, p) || n < (e->wide ? 64 : 52))
		return -ENOEXEC;
	e->type = elf_u16(e, p + 16);
	e->machine = elf_u16(e, p + 18);
	phoff = elf_word(e, p + (e->wide ? 32 : 28));
	e->shoff = elf_word(e, p + (e->wide ? 40 : 32));
	at = e->wide ? 56 : 44;		/* after e_phentsize */
	phnum = elf_u16(e, p + at);
	e->shnum = elf_u16(e, p + at + 4);
	e->shstrndx = elf_u16(e, p + at + 6);
	counts_extend(e, &phnum);
	return segments_read(e, phoff, phnum);
}

static int elf_start(struct elf *e, struct elf **out)
{
	int err = header_read(e);

	if (!err) {
		*out = e;
		return 0;
	}
	e->fd = -1;
	e->image = NULL;
	elf_close(e);
	return err;
}

int elf_open(int fd, struct elf **out)
{
	struct stat st;
	struct elf *e;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	e = mem_zalloc(sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->fd = fd;
	e->size = (uint64_t)st.st_size;
	return elf_start(e, out);
}

int elf_open_image(void *image, size_t size, struct elf **out)
{
	struct elf *e = mem_zalloc(sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->fd = -1;
	e->image = image;
	e->size = size;
	return elf_start(e, out);
}

int elf_open_view(const void *image, size_t size, struct elf **out)
{
	int err = elf_open_image((void *)(uintptr_t)image, size, out);

	if (!err)
		(*out)->view = true;
	return err;
}

void elf_close(struct elf *e)
{
	if (!e)
		return;
	if (e->fd >= 0)
		close(e->fd);
	if (!e->view)
		mem_free(e->image);
	vec_free(&e->segments);
	vec_free(&e->code);
	vec_free(&e->entries);
	vec_free(&e->parts);
	elf_strings_free(&e->strings);
	elf_strings_free(&e->plt_strings);
	elf_strings_free(&e->go_strings);
	elf_close(e->debugdata);
	mem_free(e);
}

int elf_error(const struct elf *e)
{
	return e->err;
}

bool elf_is_object(const struct elf *e)
{
	return e->type == ET_REL;
}

/* Offsets and addresses */

/* Bytes before the first of a segment that are mapped with it, because a
 * mapping starts on a page. Pages have 4 KiB to 64 KiB; a linker that counts
 * on larger ones says so in p_align. */
static uint64_t segment_lead(const struct elf_segment *s)
{
	uint64_t page = s->align > 65536 ? 65536 : s->align;

	if (page < 4096 || page & (page - 1))
		page = 4096;
	return s->offset & (page - 1);
}

/* 0: the offset is not in the segment; else the better, the higher. */
static int segment_match(const struct elf_segment *s, uint64_t offset)
{
	int exec = s->flags & PF_X ? 2 : 0;

	if (s->type != PT_LOAD || !s->filesz)
		return 0;
	if (offset >= s->offset)
		return offset - s->offset < s->filesz ? exec + 2 : 0;
	if (s->offset - offset > segment_lead(s) ||
	    s->offset - offset > s->vaddr)
		return 0;
	return exec + 1;
}

int elf_vaddr(const struct elf *e, uint64_t offset, uint64_t *vaddr)
{
	int best = 0;

	for (size_t i = 0; i < e->segments.n; i++) {
		const struct elf_segment *s = &e->segments.v[i];
		int match = segment_match(s, offset);

		if (match <= best)
			continue;
		best = match;
		*vaddr = s->vaddr + (offset - s->offset);
	}
	return best ? 0 : -ENOENT;
}

int elf_offset_in(const struct elf *e, uint64_t vaddr, uint32_t flags,
		  uint64_t *offset)
{
	for (size_t i = 0; i < e->segments.n; i++) {
		const struct elf_segment *s = &e->segments.v[i];

		if (s->type != PT_LOAD || vaddr < s->vaddr ||
		    vaddr - s->vaddr >= s->filesz ||
		    (s->flags & flags) != flags)
			continue;
		*offset = s->offset + (vaddr - s->vaddr);
		return 0;
	}
	return -ENOENT;
}

int elf_code_offset(const struct elf *e, uint64_t vaddr, uint64_t *offset)
{
	return elf_offset_in(e, vaddr, PF_X, offset);
}

int elf_offset(const struct elf *e, uint64_t vaddr, uint64_t *offset)
{
	return elf_offset_in(e, vaddr, 0, offset);
}

int elf_bytes(struct elf *e, uint64_t vaddr, void *to, size_t n)
{
	uint64_t offset;

	if (elf_offset(e, vaddr, &offset) || elf_read(e, offset, to, n) != n)
		return -ENOENT;
	return 0;
}
