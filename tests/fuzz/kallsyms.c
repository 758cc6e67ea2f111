/* kallsyms - fuzzes both lists; a NUL byte parts modules from symbols. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/kallsyms.h"
#include "sym/kernel_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file_of(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
	    lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

/* What is found must contain what was asked for, and have a name. */
static void find(const struct kallsyms *k, uint64_t addr)
{
	struct ksym sym;

	kallsyms_can_change(k, addr);
	if (kallsyms_find(k, addr, &sym))
		return;
	if (addr < sym.start || addr >= sym.end || !*sym.name ||
	    (sym.module && !*sym.module))
		abort();
}

/* The addresses that the first lines begin with, and beyond them. */
static void find_all(const struct kallsyms *k, const uint8_t *data, size_t n)
{
	const uint8_t *p = data, *end = data + n;

	for (int i = 0; p && p < end && i < 64; i++) {
		char text[17] = { 0 };
		uint64_t addr;

		memcpy(text, p, end - p < 16 ? (size_t)(end - p) : 16);
		addr = strtoull(text, NULL, 16);
		find(k, addr);
		find(k, addr + 4);
		find(k, addr + 8191);
		p = memchr(p, '\n', (size_t)(end - p));
		p = p ? p + 1 : NULL;
	}
}

/* Where it is placed, a return lies in one of its functions. */
static void place(const struct kallsyms *k)
{
	static const char *const names[] = {
		"schedule", "do_nanosleep", "do_sys_poll", "do_poll",
		"hrtimer_nanosleep",
	};
	uint64_t returns[8], shift;
	struct ksym f;
	size_t n = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!kallsyms_named(k, names[i], &f))
			returns[n++] = f.start + 1 + 0x3000;
	if (!kernel_list_match(k, returns, n, &shift) &&
	    kallsyms_find(k, returns[0] - 1 + shift, &f))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, 0, size);
	size_t n = nul ? (size_t)(nul - data) : size;
	int modules = nul ? file_of(nul + 1, size - n - 1) : -1;
	int symbols = file_of(data, n);
	struct kallsyms *k;
	uint64_t text;

	kallsyms_text_read(symbols, &text);
	lseek(symbols, 0, SEEK_SET);
	if (!kallsyms_load(symbols, modules, &k)) {
		kallsyms_text(k);
		kallsyms_module_first(k, "m1");
		place(k);
		find(k, 0);
		find(k, UINT64_MAX);
		find_all(k, data, n);
		kallsyms_free(k);
	}
	close(symbols);
	if (modules >= 0)
		close(modules);
	return 0;
}
