/* usdt - fuzzes what probes read of ELF files: notes, functions, code. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "sym/code.h"
#include "sym/elf.h"
#include "sym/functions.h"
#include "sym/usdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A note's place is in the file, and its arguments are what they may be. */
static int note(void *arg, const struct usdt_note *n)
{
	struct usdt_args args;

	if (!*n->provider || !*n->name)
		abort();
	usdt_args(arg, n, &args);
	for (unsigned i = 0; i < args.n; i++) {
		struct usdt_arg *a = &args.v[i];

		if (a->width > a->size || a->size > 8 ||
		    !a->kind != (a->why != NULL))
			abort();
	}
	return 0;
}

static bool want(void *arg, const char *name)
{
	(void)arg;
	return *name;
}

static void functions(struct elf *e)
{
	struct function_list list = { 0 };

	functions_collect(e, want, NULL, &list);
	for (size_t i = 0; i < list.n && i < 64; i++) {
		struct code_places places = { 0 };
		struct function *f = &list.v[i];

		code_returns(e, f->addr, f->size & 0xfff, &places);
		for (size_t j = 0; j < places.n; j++)
			if (code_boundary(e, f->addr, f->size & 0xfff,
					  places.v[j] - f->addr))
				abort();
		vec_free(&places);
	}
	functions_free(&list);
	functions_find(e, "outer@@V", &list);
	functions_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *image = mem_zalloc(size);
	struct usdt_symbols *symbols;
	struct code_go go;
	struct elf *e;

	if (!image)
		abort();
	memcpy(image, data, size);
	if (elf_open_image(image, size, &e)) {
		mem_free(image);
		return 0;
	}
	symbols = usdt_symbols_new(e);
	if (!symbols)
		abort();
	usdt_each(e, note, symbols, NULL);
	usdt_symbols_free(symbols);
	functions(e);
	code_go(e, &go);
	elf_close(e);
	return 0;
}
