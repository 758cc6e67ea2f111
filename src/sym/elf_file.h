/* elf_file - what the elf_*.c files share: the struct, bounded reads. */
#ifndef SYM_ELF_FILE_H
#define SYM_ELF_FILE_H

#include "base/vec.h"
#include "sym/elf.h"

/* Of <elf.h> only what is used here; gABI, and the psABI of each machine. */
enum {
	ET_REL = 1, ET_EXEC = 2,
	EM_386 = 3, EM_ARM = 40, EM_X86_64 = 62, EM_AARCH64 = 183,
	EM_RISCV = 243,
	PT_LOAD = 1, PT_DYNAMIC = 2, PT_NOTE = 4, PF_X = 1, PF_W = 2,
	PN_XNUM = 0xffff, SHN_XINDEX = 0xffff, SHN_LORESERVE = 0xff00,
	SHN_ABS = 0xfff1,
	SHT_SYMTAB = 2, SHT_STRTAB = 3, SHT_RELA = 4,
	SHT_NOTE = 7, SHT_NOBITS = 8, SHT_DYNSYM = 11,
	SHT_GNU_VERDEF = 0x6ffffffd, SHT_GNU_VERSYM = 0x6fffffff,
	SHF_EXECINSTR = 4, SHF_COMPRESSED = 0x800,
	STT_NOTYPE = 0, STT_OBJECT = 1, STT_FUNC = 2, STT_COMMON = 5,
	STT_GNU_IFUNC = 10,
	STB_LOCAL = 0, STB_WEAK = 2,
	DT_HASH = 4, DT_STRTAB = 5, DT_SYMTAB = 6, DT_RELA = 7,
	DT_RELASZ = 8, DT_STRSZ = 10, DT_SONAME = 14,
	DT_GNU_HASH = 0x6ffffef5,
	SHT_GO = 1,	/* of elf_symtab_open() alone: .gopclntab, PROGBITS */
};

/* Limits that no honest file meets; they bound time and memory. Only objects
 * with a section for each function have that many sections, and they have no
 * addresses to name. */
enum {
	ELF_SEGMENTS_MAX = 2048,	/* Linux runs nothing with more */
	ELF_SECTIONS_MAX = 1 << 16,	/* with more of either it counts as
					 * unreadable */
	ELF_SYMBOLS_MAX = 1 << 23,
	ELF_RELOCS_MAX = 1 << 20,
	ELF_PLT_MAX = 1 << 24,		/* bytes of a .plt section */
	ELF_WINDOW = 1 << 15,
};

/* What the parts of the work cost, beside one for each byte of a name. A name
 * is read only where names decide; what is kept costs memory, too. */
enum {
	ELF_COST_LOOK = 32,		/* a symbol, a relocation */
	ELF_COST_KEEP = 512,		/* one that is kept */
	ELF_COST_MOVE = 4096,		/* a window that is filled anew */
	ELF_COST_PAGE = 128,		/* the same of a page of strings */
};

struct elf_segment {
	uint64_t offset, vaddr, filesz, memsz, align;
	uint32_t type, flags;
};

struct elf_section {
	uint64_t flags, addr, offset, size;
	uint32_t name, type, link, info;
};

/* Where code is: an executable section, or segment when there are none. */
struct elf_range {
	uint64_t start, end;
	uint32_t section;	/* its number; 0 = a segment */
};

/* One part of the file in memory. */
struct elf_window {
	uint64_t *work;		/* what filling it costs; NULL = nothing, for
				 * it moves forward through what is read */
	uint64_t offset;
	size_t len;
	uint8_t *data;		/* ELF_WINDOW bytes; NULL until used */
};

/* A string table, read in pages that are kept: names are asked for again and
 * again. Small pages, for a name or two is what most are read for; two that
 * meet in a slot replace each other, so that a table costs 4 MiB at most. */
enum { STRINGS_PAGE = 1024, STRINGS_SLOTS = 4096 };

struct elf_strings {
	uint64_t *work;			/* what reading a page costs; NULL =
					 * nothing */
	uint64_t offset, size;		/* in the file; size 0 = none */
	struct strings_page {
		uint64_t number;
		size_t len;
		char data[STRINGS_PAGE];
	} **pages;			/* NULL until used */
};

/* What a name belongs to. */
enum elf_kind {
	KIND_SYMBOL,	/* name is an offset into `strings` */
	KIND_PLT,	/* name is an offset into `plt_strings`, or NAME_NONE */
	KIND_PART,	/* name is a number in `parts` */
	KIND_GO,	/* name is an offset into `go_strings` */
};
#define NAME_NONE UINT32_MAX
enum { KIND_DEBUGDATA = 4 };	/* added when its symbols were taken */

/* A symbol, later a piece of one; 16 bytes, for there may be millions. */
struct elf_entry {
	uint64_t addr;
	uint32_t name;
	uint32_t size : 27;	/* 0 only while the table is built */
	uint32_t kind : 2;	/* enum elf_kind */
	uint32_t rank : 3;	/* lower is better; elf_table.c */
};
enum { ENTRY_SIZE_MAX = (1 << 27) - 1 };
_Static_assert(sizeof(struct elf_entry) == 16, "an entry is 16 bytes");

struct elf_entries {
	struct elf_entry *v;
	size_t n, cap;
};

struct elf {
	uint64_t work;			/* that loading may still cost */
	int fd;				/* -1 = image */
	int err;			/* the first of reading; 0 = none */
	uint8_t *image;
	bool view;			/* which is not ours */
	uint64_t size;
	bool wide, big;			/* ELFCLASS64, ELFDATA2MSB */
	uint16_t type, machine;
	uint64_t shoff, shnum;
	uint32_t shstrndx;
	VEC(struct elf_segment) segments;
	bool loaded;			/* what follows is valid */
	VEC(struct elf_range) code;	/* sorted, apart from each other */
	struct elf_entries entries;	/* sorted, apart from each other */
	struct elf_entries parts;	/* symbols with others inside */
	struct elf_strings strings, plt_strings, go_strings;
	struct elf *debugdata;		/* with symbols for this one; NULL =
					 * none, or not asked for yet */
	int debugdata_err;
	bool within;			/* it is another one's debugdata */
};

/* elf.c: the file as bytes */

/* Take a cost from the work that is left. False: that is less, now 0. */
bool elf_afford(uint64_t *work, uint64_t cost);

/* Up to n bytes at an offset; less at the end of the file or after an error. */
size_t elf_read(struct elf *e, uint64_t offset, void *to, size_t n);

/* n (<= ELF_WINDOW) bytes at an offset, valid until the window moves; NULL when
 * the file does not hold them, or memory is out. */
const uint8_t *elf_peek(struct elf *e, struct elf_window *w,
			uint64_t offset, size_t n);
void elf_window_free(struct elf_window *w);

uint16_t elf_u16(const struct elf *e, const uint8_t *p);
uint32_t elf_u32(const struct elf *e, const uint8_t *p);
uint64_t elf_u64(const struct elf *e, const uint8_t *p);
uint64_t elf_word(const struct elf *e, const uint8_t *p); /* class-sized */

/* Section number i (< e->shnum). False when the file does not hold it. */
bool elf_section_read(struct elf *e, struct elf_window *w, uint64_t i,
		      struct elf_section *out);

/* As elf_offset(), but in a segment that has all of `flags` (PF_X, PF_W). */
int elf_offset_in(const struct elf *e, uint64_t vaddr, uint32_t flags,
		  uint64_t *offset);

/* elf_strings.c */

/* A table that the file can hold, at least in part; false: it is none. */
bool elf_strings_open(const struct elf *e, struct elf_strings *s,
		      const struct elf_section *section);

/* Append the string at an offset of the table. -ENOENT: it is empty, does not
 * end within the table, or the file does not hold it. elf_strings_head(): its
 * first `max` bytes alone. */
int elf_strings_get(struct elf *e, struct elf_strings *s, uint32_t at,
		    struct buf *out);
int elf_strings_head(struct elf *e, struct elf_strings *s, uint32_t at,
		     size_t max, struct buf *out);
void elf_strings_free(struct elf_strings *s);

/* elf_symtab.c: symbol tables as they stand in the file, one after another. */

/* Go's table of functions; file offsets. */
struct elf_go {
	uint64_t functab, funcs;
	uint64_t text;		/* what its addresses count from */
	uint32_t n;		/* functions; 0 = it is another table */
	uint8_t field;		/* bytes of an address */
	bool relative;		/* to the text */
};

struct elf_symbol {
	uint64_t value, size;
	uint32_t name;			/* in the table's strings */
	uint16_t section;
	uint8_t type, bind;
};
struct elf_symbol elf_symbol_parse(const struct elf *e, const uint8_t *p);

struct elf_symtab {
	struct elf_section section;	/* type 0 = there is none */
	struct elf_strings strings;
	struct elf_window window;
	struct elf_section versym, verdef;	/* of .dynsym; type 0 = none */
	struct elf_go go;
};

/* Open .symtab, or .dynsym (what PT_DYNAMIC tells, without section headers), or
 * Go's table, which may have to be looked for: that costs *work, as names that
 * are read later do. False: the file has none. The window and the strings are
 * to be freed. */
bool elf_symtab_open(struct elf *e, uint32_t type, struct elf_symtab *t,
		     uint64_t *work);
void elf_symtab_free(struct elf_symtab *t);

/* Call fn for each symbol but number 0, until it returns nonzero. Each costs
 * *work. 0, fn's result, -EFBIG, -ENOMEM. */
int elf_symtab_each(struct elf *e, struct elf_symtab *t, uint64_t *work,
		    int (*fn)(void *arg, const struct elf_symbol *s,
			      uint32_t number), void *arg);

/* The section with that name (up to 31 bytes). False: none, or none that *work
 * is enough to find; work may be NULL where one look for it is all. */
bool elf_section_named(struct elf *e, const char *name, uint64_t *work,
		       struct elf_section *out);

/* elf_debugdata.c: the file that .gnu_debugdata has; unpacking it costs *work.
 * NULL: there is none, or none that can be read. Lives as long as e. */
struct elf *elf_debugdata(struct elf *e, uint64_t *work);

/* elf_go.c: what elf_symtab_open() and elf_symtab_each() do for Go's table. */
bool elf_go_open(struct elf *e, struct elf_symtab *t, uint64_t *work);
int elf_go_each(struct elf *e, struct elf_symtab *t, uint64_t *work,
		int (*fn)(void *arg, const struct elf_symbol *s,
			  uint32_t number), void *arg);

/* elf_table.c: building the table; 0, -ENOMEM, -EFBIG. */

/* Count what the work costs, in bytes as elf_load() says. -EFBIG: too much. */
int elf_spend(struct elf *e, uint64_t cost);

/* Add a symbol, as far as it is in code; name and kind as in elf_entry. */
int elf_entry_add(struct elf *e, uint64_t addr, uint64_t size, uint32_t name,
		  enum elf_kind kind, unsigned rank);

/* elf_dynamic.c: symbols and strings of a file without section headers, from
 * PT_DYNAMIC. False when it names none. */
bool elf_dynamic(struct elf *e, struct elf_section *symbols,
		 struct elf_section *strings);

/* The word that the loader finds at a vaddr, or puts there by a relocation that
 * no symbol takes part in, which costs *work to find; 0 when the file does not
 * tell. */
uint64_t elf_relocated(struct elf *e, uint64_t vaddr, uint64_t *work);

/* elf_plt.c: name the stubs of one .plt* section, after all relocations are
 * there. 0, -ENOMEM, -EFBIG. */
struct elf_plt {
	struct elf_section symbols;	/* .dynsym */
	VEC(struct elf_reloc {
		uint64_t slot;
		uint32_t symbol;
	}) relocs;			/* sorted by elf_plt_sort() */
	VEC(uint32_t) order;		/* symbols of .rela.plt as they come */
};
int elf_plt_relocs(struct elf *e, struct elf_plt *plt,
		   const struct elf_section *rela, bool is_plt);
int elf_plt_stubs(struct elf *e, struct elf_plt *plt,
		  const struct elf_section *section);
void elf_plt_sort(struct elf_plt *plt);
void elf_plt_free(struct elf_plt *plt);

#endif
