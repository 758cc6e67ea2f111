/* namer - the addresses of a stack to the frames that are shown. */
#include "sym/namer.h"

#include <errno.h>
#include <string.h>

#include "base/intern.h"
#include "base/log.h"
#include "base/vec.h"
#include "sym/demangle.h"
#include "sym/elf.h"
#include "sym/kallsyms.h"
#include "sym/kernel_list.h"
#include "sym/names.h"
#include "sys/host.h"

enum {
	EM_ARM64 = 183,		/* EM_AARCH64 */
#if defined(__aarch64__)
	HOST_MACHINE = EM_ARM64,
#else
	HOST_MACHINE = 0,	/* none that puts anything into addresses */
#endif
};

#define RELOAD_AFTER (10 * 1000000000ull)	/* ns */

/* What a name is remembered by: an address of a file serves all processes
 * that map it, and a symbol is read once for all of its addresses. */
enum what { FILE_ADDRESS, FILE_SYMBOL, KERNEL_ADDRESS };
struct known_key {
	uint64_t addr;
	uint32_t of;		/* the file; which reading of kallsyms */
	uint32_t what;
};

struct namer {
	struct procs *procs;
	bool mangled;
	unsigned va_bits;	/* of this host's user addresses */
	struct names names;
	struct intern known;
	VEC(uint32_t) name_of;	/* by number in known: id in names */
	struct buf text;
	struct kallsyms *kernel;
	bool listed;		/* that was given: */
	uint64_t shift;		/* addresses there less those here */
	uint32_t reading;	/* how often kallsyms was read */
	uint64_t read_at;	/* host_time() */
};

struct namer *namer_new(struct procs *p, const struct name_options *o)
{
	struct namer *n = mem_zalloc(sizeof(*n));

	if (!n)
		return NULL;
	n->procs = p;
	n->mangled = o->mangled;
	n->va_bits = namer_va_bits();
	return n;
}

void namer_free(struct namer *n)
{
	if (!n)
		return;
	names_free(&n->names);
	intern_free(&n->known);
	vec_free(&n->name_of);
	buf_free(&n->text);
	kallsyms_free(n->kernel);
	mem_free(n);
}

static const struct known_key *key_of(struct known_key *k, enum what what,
				      uint32_t of, uint64_t addr)
{
	*k = (struct known_key){ addr, of, what };
	return k;
}

static int64_t known_find(const struct namer *n, const struct known_key *key)
{
	int64_t at = intern_find(&n->known, key, sizeof(*key));

	if (at < 0 || (size_t)at >= n->name_of.n)
		return -ENOENT;
	return n->name_of.v[at];
}

/* Remembering is a help only: without memory the name is found anew. */
static int64_t known_put(struct namer *n, const struct known_key *key,
			 int64_t name)
{
	int64_t at = name < 0 ? -1 : intern_put(&n->known, key, sizeof(*key));
	uint32_t *to = at >= 0 && (size_t)at == n->name_of.n ?
		       vec_push(&n->name_of) : NULL;

	if (to)
		*to = (uint32_t)name;
	return name;
}

/* The name that n->text holds. */
static int64_t text_id(struct namer *n)
{
	return n->text.err ? n->text.err :
	       names_put(&n->names, n->text.data, n->text.len);
}

/* The same of a symbol, once for all that has it. */
static int64_t symbol_text_id(struct namer *n)
{
	if (!n->mangled)
		demangle_buf(&n->text);
	return text_id(n);
}

static int frame_set(struct namer *n, struct frame *out, int64_t name,
		     enum frame_kind kind)
{
	if (name < 0) {
		out->name = "[unknown]";
		out->kind = FRAME_UNKNOWN;
		return -ENOMEM;
	}
	out->name = names_text(&n->names, (uint32_t)name);
	out->kind = kind;
	return 0;
}

static int frame_address(struct namer *n, struct frame *out,
			 enum frame_kind kind)
{
	buf_reset(&n->text);
	buf_fmt(&n->text, "0x%llx", (unsigned long long)out->addr);
	return frame_set(n, out, text_id(n), kind);
}

static int64_t offset_id(struct namer *n, const struct place *place,
			 uint64_t off)
{
	buf_reset(&n->text);
	buf_putc(&n->text, '[');
	procs_label(n->procs, place, &n->text);
	buf_fmt(&n->text, "+0x%llx]", (unsigned long long)off);
	return text_id(n);
}

static int64_t symbol_id(struct namer *n, struct elf *elf,
			 const struct place *place, uint64_t vaddr)
{
	struct known_key key;
	struct elf_sym sym;
	int64_t id;
	int err = elf_find(elf, vaddr, &sym);

	if (!err) {
		key_of(&key, FILE_SYMBOL, place->file, sym.value);
		id = known_find(n, &key);
		if (id >= 0)
			return id;
		buf_reset(&n->text);
		err = elf_name(elf, &sym, &n->text);
		if (!err && n->text.len)
			return known_put(n, &key, symbol_text_id(n));
	}
	return err == -ENOMEM ? err : offset_id(n, place, vaddr);
}

static int64_t file_id(struct namer *n, struct proc_at at, struct place *place)
{
	struct known_key key;
	struct elf *elf;
	uint64_t vaddr;
	int64_t id;

	key_of(&key, FILE_ADDRESS, place->file, place->off);
	id = known_find(n, &key);
	if (id >= 0)
		return id;
	elf = procs_elf(n->procs, at, place);
	if (!elf)
		return -ENOENT;
	key.of = place->file;
	if (elf_vaddr(elf, place->off, &vaddr))
		id = offset_id(n, place, place->off);
	else
		id = symbol_id(n, elf, place, vaddr);
	return known_put(n, &key, id);
}

static int name_place(struct namer *n, struct proc_at at, uint64_t addr,
		      struct place *place, struct frame *out)
{
	int64_t id;
	int err;

	if (place->kind == MAPS_SPECIAL) {
		buf_reset(&n->text);
		buf_puts(&n->text, place->label);
		return frame_set(n, out, text_id(n), FRAME_USER);
	}
	if (place->kind == MAPS_FILE || place->kind == MAPS_VDSO) {
		id = file_id(n, at, place);
		if (id != -ENOENT)
			return frame_set(n, out, id, FRAME_USER);
	}
	/* Generated code lies in memory, or in a memfd that is no ELF file. */
	buf_reset(&n->text);
	err = procs_jit(n->procs, at, addr, &n->text);
	if (!err && n->text.len)
		return frame_set(n, out, symbol_text_id(n), FRAME_JIT);
	return frame_set(n, out, offset_id(n, place, place->off), FRAME_USER);
}

uint64_t namer_plain(const struct namer *n, uint64_t addr)
{
	return namer_strip(HOST_MACHINE, n->va_bits, addr);
}

int namer_user(struct namer *n, struct proc_at at, uint64_t addr,
	       bool is_return, struct frame *out)
{
	uint64_t plain = namer_plain(n, addr);
	uint64_t inside = plain - (is_return && plain);
	struct place place;
	int err;

	*out = (struct frame){ "[unknown]", plain, FRAME_UNKNOWN };
	err = procs_place(n->procs, at, inside, &place);
	if (err == -ENOENT)
		return 0;
	if (err == -ENOTUNIQ)
		return frame_address(n, out, FRAME_USER);
	return err ? err : name_place(n, at, inside, &place, out);
}

/* The kernel. */

static int kernel_read(struct namer *n)
{
	struct kallsyms *k;
	int err = kernel_list_own(&k);

	if (err && !n->reading)
		kernel_list_own_failed(err);
	n->reading++;
	n->read_at = host_time();
	if (!err) {
		kallsyms_free(n->kernel);
		n->kernel = k;
	}
	return err;
}

int namer_use_list(struct namer *n, const char *path)
{
	int err = kernel_list_read(path, &n->kernel);

	n->listed = true;
	n->reading++;
	return err ? err : kernel_list_place(n->kernel, path, &n->shift);
}

static int64_t kernel_find(struct namer *n, uint64_t addr)
{
	struct known_key key;
	struct ksym sym;
	int64_t id = known_find(n, key_of(&key, KERNEL_ADDRESS, n->reading,
					  addr));

	if (id >= 0)
		return id;
	if (!n->kernel || kallsyms_find(n->kernel, addr + n->shift, &sym) ||
	    (n->listed && sym.module))
		return -ENOENT;
	buf_reset(&n->text);
	buf_puts(&n->text, sym.name);
	return known_put(n, &key, symbol_text_id(n));
}

int namer_kernel(struct namer *n, uint64_t addr, bool is_return,
		 struct frame *out)
{
	uint64_t inside = addr - (is_return && addr);
	int64_t id;

	*out = (struct frame){ "[unknown]", addr, FRAME_KERNEL };
	if (!n->reading)
		kernel_read(n);
	id = kernel_find(n, inside);
	/* A module or BPF program may have come since. */
	if (id == -ENOENT && n->kernel && !n->listed &&
	    kallsyms_can_change(n->kernel, inside) &&
	    host_time() - n->read_at >= RELOAD_AFTER && !kernel_read(n))
		id = kernel_find(n, inside);
	if (id == -ENOENT)
		return frame_address(n, out, FRAME_KERNEL);
	return frame_set(n, out, id, FRAME_KERNEL);
}

uint64_t namer_strip(unsigned machine, unsigned va_bits, uint64_t addr)
{
	if (machine != EM_ARM64 || va_bits >= 64 || addr & (1ull << 55))
		return addr;
	return addr & ((1ull << va_bits) - 1);
}

/* The stack lies at the very top of the user addresses. */
unsigned namer_va_bits(void)
{
	uint64_t top = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	unsigned bits = 0;

	for (; top; top >>= 1)
		bits++;
	return bits;
}
