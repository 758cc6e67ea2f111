/* gopclntab - fuzzes the reader of Go's table of functions, in a file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/elf_make.h"
#include "sym/functions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The code, and the table after it. */
enum { TEXT = 0x1000, TEXT_SIZE = 0x400, TABLE = 0x1400 };
enum { WIDE = 1, BIG = 2, BARE = 4, MODULE = 8 };

static void use(struct elf *e)
{
	struct buf name = { 0 };
	struct elf_sym sym;

	for (uint64_t at = TEXT - 64; at < TEXT + TEXT_SIZE + 64; at += 5) {
		if (elf_find(e, at, &sym))
			continue;
		if (at < sym.value || at - sym.value >= sym.size ||
		    !elf_is_code(e, at))
			abort();
		buf_reset(&name);
		if (!elf_name(e, &sym, &name) && !name.len)
			abort();
	}
	buf_free(&name);
}

static int function(void *arg, const struct function *f)
{
	uint64_t offset;

	if (!*f->name || elf_code_offset(arg, f->addr, &offset) ||
	    offset != f->offset)
		abort();
	return 0;
}

/* The first byte tells what file it is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int flags = size ? data[0] : 0;
	struct file f = file_new(flags & WIDE ? X86_64 : I386, flags & WIDE,
				 flags & BIG ? 1 : 0);
	struct elf *e;

	if (!size--)
		return 0;
	if (size > SIZE - TABLE)
		size = SIZE - TABLE;
	memcpy(f.p + TABLE, data + 1, size);
	if (flags & BARE) {
		put(&f, 24 + 2 * word(&f), word(&f), 0);
	} else {
		section(&f, ".text", 1, 6, TEXT, TEXT, TEXT_SIZE, 0);
		section(&f, ".gopclntab", 1, 2, TABLE, TABLE, (int)size, 0);
	}
	if ((flags & (BARE | MODULE)) == MODULE) {
		section(&f, ".go.module", 1, 3, 0x3000, 0x2000, 0x100, 0);
		put(&f, 0x2000, word(&f), TABLE);
		put(&f, 0x2000 + 22 * word(&f), word(&f), TEXT);
	}
	e = file_open(&f, flags & MODULE ? SIZE : TABLE + size);
	if (!e)
		abort();
	use(e);
	functions_each(e, function, e);
	elf_close(e);
	return 0;
}
