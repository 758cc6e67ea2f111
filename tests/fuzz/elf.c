/* elf - fuzzes the reader of ELF files and its symbol table. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/vec.h"
#include "sym/build_id.h"
#include "sym/code.h"
#include "sym/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is found must contain what was asked for. */
static void find(struct elf *e, uint64_t vaddr, struct buf *name)
{
	struct elf_sym sym;
	uint64_t offset;

	elf_offset(e, vaddr, &offset);
	if (elf_find(e, vaddr, &sym))
		return;
	if (vaddr < sym.value || vaddr - sym.value >= sym.size)
		abort();
	if (!elf_is_code(e, vaddr))
		abort();
	if (code_light(e, sym.value, sym.size) >= sym.size)
		abort();
	buf_reset(name);
	if (!elf_name(e, &sym, name) && !name->len)
		abort();
}

static void use(struct elf *e)
{
	struct buf name = { 0 };
	uint64_t vaddr;

	for (uint64_t at = 0; at < 0x3000; at += 24) {
		find(e, at, &name);
		find(e, 0x400000 + at, &name);
		if (!elf_vaddr(e, at, &vaddr))
			find(e, vaddr, &name);
	}
	find(e, UINT64_MAX, &name);
	buf_free(&name);
}

/* What it says of itself. */
static void identify(struct elf *e)
{
	struct elf_extent extents[8];
	struct buf name = { 0 };
	struct build_id id;
	bool symtab, code;

	if (elf_build_id(e, &id) != !!id.len || id.len > BUILD_ID_MOST)
		abort();
	elf_look(e, &symtab, &code);
	if (!elf_soname(e, &name) && !name.len)
		abort();
	buf_free(&name);
	if (elf_notes(e, extents, 8) > 8 || elf_code_extents(e, extents, 8) > 8)
		abort();
}

static struct elf *open_copy(const uint8_t *data, size_t size)
{
	void *image = mem_zalloc(size);
	struct elf *e;

	if (!image)
		abort();
	memcpy(image, data, size);
	if (!elf_open_image(image, size, &e))
		return e;
	mem_free(image);
	return NULL;
}

/* The same file as its own debug file. */
static void use_twice(const uint8_t *data, size_t size)
{
	struct elf *e = open_copy(data, size), *from = open_copy(data, size);
	char link[ELF_LINK_MOST];
	uint32_t sum;

	if (elf_debuglink(e, link, &sum) && !*link)
		abort();
	if (elf_take_symbols(e, from))
		elf_close(from);
	use(e);
	elf_close(e);
}

/* Read by descriptor, through windows. */
static void use_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct elf *e;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (elf_open(fd, &e))
		abort();
	identify(e);
	use(e);
	elf_close(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf *e = open_copy(data, size);

	if (!e)
		return 0;
	identify(e);
	use(e);
	elf_close(e);
	use_twice(data, size);
	use_file(data, size);
	return 0;
}
