/* elf_make - writes small ELF files of any class and byte order. */
#ifndef TESTS_UNIT_ELF_MAKE_H
#define TESTS_UNIT_ELF_MAKE_H

#include <stdint.h>
#include <string.h>

#include "base/vec.h"
#include "sym/elf.h"

enum { X86_64 = 62, I386 = 3, AARCH64 = 183, ARM = 40, RISCV = 243 };

/* Section headers are at SECTIONS, their names at SHSTR; the segments' follow
 * the file's. An executable segment at 0x1000, its offset likewise, and a
 * writable one at 0x3000, offset 0x2000. */
enum { SIZE = 0x2400, SHSTR = 0x200, SHSTR_SIZE = 0x80, SECTIONS = 0x280 };

struct file {
	uint8_t p[SIZE];
	int wide, big;
	int segments, sections, names;
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

static void segment(struct file *f, int type, int flags, int offset, int vaddr,
		    int size)
{
	int w = word(f), at = f->wide ? 64 + f->segments * 56 :
		52 + f->segments * 32;

	put(f, at, 4, (uint64_t)type);
	put(f, at + (f->wide ? 4 : 24), 4, (uint64_t)flags);
	at += w;
	put(f, at, w, (uint64_t)offset);
	put(f, at + w, w, (uint64_t)vaddr);
	put(f, at + 3 * w, w, (uint64_t)size);
	put(f, at + 4 * w, w, (uint64_t)size);
	put(f, 24 + 3 * w + 8, 2, (uint64_t)++f->segments);
}

/* Returns where the header is. */
static int section(struct file *f, const char *name, int type, int flags,
		   int addr, int offset, int size, int link)
{
	int w = word(f), at = SECTIONS + f->sections * (f->wide ? 64 : 40);

	put(f, at, 4, (uint64_t)f->names);
	strcpy((char *)f->p + SHSTR + f->names, name);
	f->names += (int)strlen(name) + 1;
	put(f, at + 4, 4, (uint64_t)type);
	put(f, at + 8, w, (uint64_t)flags);
	put(f, at + 8 + w, w, (uint64_t)addr);
	put(f, at + 8 + 2 * w, w, (uint64_t)offset);
	put(f, at + 8 + 3 * w, w, (uint64_t)size);
	put(f, at + 8 + 4 * w, 4, (uint64_t)link);
	put(f, 24 + 3 * w + 12, 2, (uint64_t)++f->sections);
	return at;
}

static struct file file_new(int machine, int wide, int big)
{
	struct file f = { .wide = wide, .big = big, .names = 1,
			  .sections = 1 };
	int w = word(&f), at = 24 + 3 * w + 4;

	memcpy(f.p, "\177ELF", 4);
	f.p[4] = wide ? 2 : 1;
	f.p[5] = big ? 2 : 1;
	put(&f, 16, 2, 3);			/* ET_DYN */
	put(&f, 18, 2, (uint64_t)machine);
	put(&f, 24 + w, w, wide ? 64 : 52);
	put(&f, 24 + 2 * w, w, SECTIONS);
	section(&f, ".shstrtab", 3, 0, 0, SHSTR, SHSTR_SIZE, 0);
	put(&f, at + 10, 2, 1);			/* e_shstrndx */
	segment(&f, 1, 5, 0x1000, 0x1000, 0x1000);
	segment(&f, 1, 6, 0x2000, 0x3000, 0x100);
	return f;
}

/* Its first n bytes as a file; NULL: they are none. */
__attribute__((unused))
static struct elf *file_open(const struct file *f, size_t n)
{
	void *image = mem_zalloc(n);
	struct elf *e;

	memcpy(image, f->p, n);
	if (!elf_open_image(image, n, &e))
		return e;
	mem_free(image);
	return NULL;
}

#endif
