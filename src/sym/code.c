/* code - what the instructions of a function tell to who sets probes in it. */
#include "sym/code.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "sym/elf_file.h"
#include "sym/x86_length.h"

enum { CODE_MAX = 64 << 20, RETURNS_MAX = 1 << 14 };

/* A function's bytes, instruction by instruction. */
struct walk {
	struct elf *e;
	struct elf_window w;
	uint64_t offset, size;		/* of the function in the file */
	const uint8_t *p;		/* the instruction */
	uint64_t at;			/* where it is in the function */
	size_t left, length;
};

static int walk_start(struct walk *w, struct elf *e, uint64_t addr,
		      uint64_t size)
{
	struct elf_sym sym;
	uint64_t last;

	*w = (struct walk){ .e = e };
	if (e->machine != EM_X86_64 && e->machine != EM_AARCH64 &&
	    e->machine != EM_RISCV)
		return -ENOTSUP;
	if (!size && !elf_find(e, addr, &sym))
		size = sym.value + sym.size - addr;
	if (size > CODE_MAX)
		return -EFBIG;
	if (!size || addr > UINT64_MAX - size ||
	    elf_offset_in(e, addr, PF_X, &w->offset) ||
	    elf_offset_in(e, addr + size - 1, PF_X, &last) ||
	    last != w->offset + size - 1)
		return -ERANGE;
	w->size = size;
	return 0;
}

static size_t length(const struct walk *w)
{
	switch (w->e->machine) {
	case EM_X86_64:
		return x86_length(w->p, w->left);
	case EM_AARCH64:
		return 4;
	default:	/* RISC-V's low bits tell; above 32 none is in use */
		return (w->p[0] & 3) != 3 ? 2 : (w->p[0] & 0x1f) != 0x1f ? 4 :
			0;
	}
}

/* Look at the instruction at w->at. -EILSEQ: there is none. */
static int walk_look(struct walk *w)
{
	uint64_t left = w->size - w->at;

	w->left = left < X86_LENGTH_MAX ? (size_t)left : X86_LENGTH_MAX;
	w->p = elf_peek(w->e, &w->w, w->offset + w->at, w->left);
	w->length = w->p ? length(w) : 0;
	return w->length && w->length <= w->left ? 0 : -EILSEQ;
}

int code_boundary(struct elf *e, uint64_t addr, uint64_t size, uint64_t off)
{
	struct walk w;
	int err = walk_start(&w, e, addr, size);

	if (!err && off >= w.size)
		err = -ERANGE;
	while (!err && w.at < off) {
		err = walk_look(&w);
		w.at += w.length;
	}
	if (!err && w.at != off)
		err = -EINVAL;
	if (!err)
		err = walk_look(&w);
	elf_window_free(&w.w);
	return err;
}

static bool is_return(const struct walk *w)
{
	uint32_t word;

	if (w->e->machine == EM_X86_64)
		return x86_is_return(w->p, w->length);
	if (w->length == 2)		/* c.jr ra */
		return w->p[0] == 0x82 && w->p[1] == 0x80;
	/* Instructions are little endian, whatever the data are. */
	word = (uint32_t)w->p[3] << 24 | (uint32_t)w->p[2] << 16 |
		(uint32_t)w->p[1] << 8 | w->p[0];
	if (w->e->machine == EM_RISCV)
		return word == 0x00008067;	/* jalr zero, 0(ra) */
	return (word & 0xfffffc1f) == 0xd65f0000 ||	/* ret xN */
		word == 0xd65f0bff || word == 0xd65f0fff; /* retaa, retab */
}

int code_returns(struct elf *e, uint64_t addr, uint64_t size,
		 struct code_places *out)
{
	struct walk w;
	int err = walk_start(&w, e, addr, size);

	while (!err && w.at < w.size) {
		uint64_t *slot;

		err = walk_look(&w);
		if (!err && is_return(&w)) {
			slot = out->n < RETURNS_MAX ? vec_push(out) : NULL;
			if (slot)
				*slot = addr + w.at;
			else
				err = out->n < RETURNS_MAX ? -ENOMEM : -EFBIG;
		}
		w.at += w.length;
	}
	elf_window_free(&w.w);
	return err;
}

/* What the kernel emulates (arch/x86/kernel/uprobes.c): near jumps, push. */
static bool is_emulated(const uint8_t *p, size_t n)
{
	return (p[0] & 0xf0) == 0x70 || p[0] == 0xeb || p[0] == 0xe9 ||
	       (p[0] == 0x0f && n == 6 && (p[1] & 0xf0) == 0x80) ||
	       (p[0] & 0xf8) == 0x50 ||
	       (p[0] == 0x41 && n == 2 && (p[1] & 0xf8) == 0x50);
}

/* endbr64; test of registers. */
static bool is_harmless(const uint8_t *p, size_t n)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	if (n == sizeof(endbr))
		return !memcmp(p, endbr, n);
	if (n == 3 && (p[0] & 0xf0) == 0x40)
		p++, n--;
	return n == 2 && p[0] == 0x85 && p[1] >= 0xc0;
}

/* Where a jump goes that says how far; itself when it is none. */
static uint64_t jump_target(const struct walk *w)
{
	const uint8_t *p = w->p;
	uint64_t next = w->at + w->length;
	uint32_t far;

	if ((p[0] & 0xf0) == 0x70 || p[0] == 0xeb || (p[0] & 0xfc) == 0xe0)
		return next + (uint64_t)(int8_t)p[w->length - 1];
	if (p[0] != 0xe9 && (p[0] != 0x0f || (p[1] & 0xf0) != 0x80))
		return w->at;
	p += w->length - 4;
	far = (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 |
	      (uint32_t)p[1] << 8 | p[0];
	return next + (uint64_t)(int32_t)far;
}

uint64_t code_light(struct elf *e, uint64_t addr, uint64_t size)
{
	uint64_t light = 0;
	struct walk w;
	int err = e->machine == EM_X86_64 ? walk_start(&w, e, addr, size)
					  : -ENOTSUP;

	if (err)
		return 0;
	err = walk_look(&w);
	while (!err && is_harmless(w.p, w.length)) {
		w.at += w.length;
		err = walk_look(&w);
	}
	if (!err && is_emulated(w.p, w.length))
		light = w.at;
	for (w.at = 0; !err && light && w.at < w.size; w.at += w.length) {
		err = walk_look(&w);
		if (!err && w.at && jump_target(&w) == light &&
		    w.at != light)
			light = 0;
	}
	elf_window_free(&w.w);
	return err ? 0 : light;
}

/* Go
 *
 * .go.buildinfo begins with a magic text, the size of a pointer, and flags: 1,
 * big endian; 2, the version's text itself follows at offset 32, after its
 * length. Before 1.18 there is a pointer at offset 16, to a pointer and a
 * length. (Go's own package debug/buildinfo reads the same.)
 */
static const char go_magic[] = "\xff Go buildinf:";

enum { GO_BIG = 1, GO_INLINE = 2, GO_TEXT = 32, GO_VERSION_MAX = 64,
       GO_SEARCH = 1 << 16 };

/* "go1.21.3", "devel go1.22-2e1003e2f7" */
static void go_version(struct code_go *go, const char *text)
{
	const char *p = strstr(text, "go"), *end = text + strlen(text);
	uint64_t major, minor;

	p = p ? num_dec(p + 2, end, &major) : NULL;
	p = p && *p == '.' ? num_dec(p + 1, end, &minor) : NULL;
	if (!p || major > 99 || minor > 9999)
		return;
	go->major = (unsigned)major;
	go->minor = (unsigned)minor;
}

static void go_text(struct elf *e, struct code_go *go, uint64_t at, uint64_t n)
{
	char text[GO_VERSION_MAX + 1] = "";

	if (n > GO_VERSION_MAX)
		n = GO_VERSION_MAX;
	elf_read(e, at, text, (size_t)n);
	go_version(go, text);
}

static void go_pointed(struct elf *e, struct code_go *go, const uint8_t *info)
{
	uint8_t header[16];
	uint64_t text;
	size_t word = e->wide ? 8 : 4;

	if (info[14] != word || elf_bytes(e, elf_word(e, info + 16), header,
					  2 * word) ||
	    elf_offset(e, elf_word(e, header), &text))
		return;
	go_text(e, go, text, elf_word(e, header + word));
}

static bool go_info(struct elf *e, struct code_go *go, uint64_t at)
{
	uint8_t info[GO_TEXT + 1] = { 0 };

	if (elf_read(e, at, info, sizeof(info)) != sizeof(info) ||
	    memcmp(info, go_magic, sizeof(go_magic) - 1))
		return false;
	if (info[15] & GO_INLINE)
		go_text(e, go, at + sizeof(info), info[GO_TEXT] & 0x7f);
	else
		go_pointed(e, go, info);
	return true;
}

/* Without section headers: it is at the start of the data. */
static bool go_search(struct elf *e, struct code_go *go)
{
	bool found = false;

	for (size_t i = 0; i < e->segments.n; i++) {
		const struct elf_segment *s = &e->segments.v[i];

		if (s->type != PT_LOAD || !(s->flags & PF_W))
			continue;
		for (uint64_t at = 0; !found && at < s->filesz &&
		     at < GO_SEARCH; at += 16)
			found = go_info(e, go, s->offset + at);
		break;
	}
	return found;
}

int code_go(struct elf *e, struct code_go *out)
{
	struct elf_section s;

	*out = (struct code_go){ 0 };
	if (elf_section_named(e, ".go.buildinfo", NULL, &s))
		out->is_go = go_info(e, out, s.offset);
	else if (!e->shnum)
		out->is_go = go_search(e, out);
	if (!out->is_go)
		out->is_go = elf_section_named(e, ".note.go.buildid", NULL,
					       &s) ||
			elf_section_named(e, ".gopclntab", NULL, &s);
	out->g_in_register = out->is_go && (e->machine == EM_AARCH64 ||
		(e->machine == EM_X86_64 && (out->major > 1 ||
					     out->minor >= 17)));
	return e->err;
}
