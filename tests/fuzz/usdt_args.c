/* usdt_args - fuzzes the parser of USDT arguments, for each machine. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "sym/usdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int symbol(void *arg, const char *name, size_t n, uint64_t *vaddr)
{
	(void)arg;
	*vaddr = n * 16;
	return n > 8 ? -ENOENT : n && name[0] == 't' ? -ENOTUNIQ : 0;
}

static void check(const struct usdt_arg *a)
{
	if (a->kind > USDT_MEM || !a->kind != (a->why != NULL))
		abort();
	if (a->kind && ((a->size & (a->size - 1)) || !a->size || a->size > 8 ||
			a->width > a->size))
		abort();
	if (a->kind == USDT_REG && a->base > 31 && a->base != USDT_PC)
		abort();
	if (a->scale > 31 || (a->index != USDT_NO_REG && a->index > 31))
		abort();
}

/* A byte for the machine, then the text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t machines[] = { 62, 3, 183, 40, 243, 21 };
	struct usdt_cpu cpu = { .location = 64, .symbol = symbol };
	struct usdt_args args;
	char *text;

	if (!size)
		return 0;
	text = mem_zalloc(size);
	if (!text)
		abort();
	memcpy(text, data + 1, size - 1);
	cpu.machine = machines[data[0] % 6];
	cpu.wide = cpu.machine != 3 && cpu.machine != 40;
	cpu.fixed = data[0] & 0x80;
	usdt_args_parse(&cpu, text, &args);
	if (args.n > USDT_ARGS_MAX)
		abort();
	for (unsigned i = 0; i < args.n; i++)
		check(&args.v[i]);
	mem_free(text);
	return 0;
}
