/* elf - addresses inside an ELF file to the names of its symbols. */
#ifndef SYM_ELF_H
#define SYM_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Layout and constants: System V ABI (gABI) chapters 4 and 5. The file belongs
 * to somebody else: it is read by pread() in bounded windows, may be malformed,
 * and may shrink or change at any time; the worst outcome is -ENOENT. */
struct elf;

/* A symbol found by elf_find(). */
struct elf_sym {
	uint64_t value;		/* where it starts, a vaddr of the file */
	uint64_t size;		/* bytes to its end, known or assumed */
	uint32_t name;		/* for elf_name() alone */
	uint8_t kind;
};

enum { ELF_NAME_MAX = 4096 };	/* longer names are cut, "..." says so */

/* Read the header and the segments. On success the struct takes the descriptor
 * over, and elf_close() closes it; on failure it stays the caller's.
 * -ENOEXEC: not an ELF file; -EINVAL: not a regular file; -ENOMEM; errors of
 * fstat(2) and pread(2). */
int elf_open(int fd, struct elf **out);

/* The same from memory (a vDSO) that mem_zalloc() gave; taken over likewise. */
int elf_open_image(void *image, size_t size, struct elf **out);

/* The same from memory that stays the caller's, and as it is. */
int elf_open_view(const void *image, size_t size, struct elf **out);

void elf_close(struct elf *e);

/* The vaddr that the kernel maps the byte at a file offset to, load bias apart:
 * start of a mapping - elf_vaddr(its offset) is the bias. Executable segments
 * come first; the part of a page before a segment's first byte counts as the
 * segment, as in mappings. -ENOENT: the offset is in no segment. */
int elf_vaddr(const struct elf *e, uint64_t offset, uint64_t *vaddr);

/* The reverse, for bytes that the file holds. -ENOENT: in no segment, or in
 * its part without file content. */
int elf_offset(const struct elf *e, uint64_t vaddr, uint64_t *offset);

/* The same of code: in an executable segment. */
int elf_code_offset(const struct elf *e, uint64_t vaddr, uint64_t *offset);

/* Copy n bytes at a vaddr. -ENOENT: the file does not hold them. */
int elf_bytes(struct elf *e, uint64_t vaddr, void *to, size_t n);

/* Read and sort the symbol table, as the first of the calls below does. It may
 * cost *work, and ELF_WORK_MOST for one file: bytes that are looked at, and
 * what takes as long; what is left is put back. -EFBIG: that is not enough, and
 * the file has no symbols; -ENOMEM. */
#define ELF_WORK_MOST (2ull << 30)
int elf_load(struct elf *e, uint64_t *work);

/* The innermost function that contains the address. -ENOENT: none surely
 * contains it; -EFBIG, -ENOMEM: from the table, the first time. */
int elf_find(struct elf *e, uint64_t vaddr, struct elf_sym *out);

/* Append the raw bytes of the name: "name", "name@plt", "[plt]".
 * -ENOENT: the file holds no such name (any more); -ENOMEM. */
int elf_name(struct elf *e, const struct elf_sym *sym, struct buf *out);

/* Append the raw bytes of what the file calls itself as a library (DT_SONAME).
 * -ENOENT: nothing; -ENOMEM. */
int elf_soname(struct elf *e, struct buf *out);

/* True when executable code is, or may be, at the address. */
bool elf_is_code(struct elf *e, uint64_t vaddr);

/* The first failure to read the file so far, or -ENOMEM, or -EFBIG: it has too
 * many headers; 0 = none. After one in loading there are no symbols; later ones
 * cost a name each. */
int elf_error(const struct elf *e);

/* A notice, when symbols in .gnu_debugdata could not be read, which are missing
 * then. False: nothing was in the way of them. */
bool elf_debugdata_say(const struct elf *e, const char *path);

/* Name its addresses by the .symtab of `from`, which was taken out of it: taken
 * over, unless -EINVAL: it is of another machine. Before elf_load(). */
int elf_take_symbols(struct elf *e, struct elf *from);

/* True for a relocatable object (.o, .ko): its addresses are not final, and
 * elf_find() finds nothing. */
bool elf_is_object(const struct elf *e);

/* elf_ident.c: the EM_ number, the byte order, the build-id (false: none). */
struct build_id;
unsigned elf_machine(const struct elf *e);
bool elf_is_big(const struct elf *e);
bool elf_build_id(struct elf *e, struct build_id *id);

/* Has it a .symtab, and the bytes of its code? */
void elf_look(struct elf *e, bool *symtab, bool *code);

/* What .gnu_debuglink has: the name of the file with the symbols (never with
 * folders), and the CRC-32 of it. False: nothing of the kind. */
enum { ELF_LINK_MOST = 256 };
bool elf_debuglink(struct elf *e, char name[ELF_LINK_MOST], uint32_t *sum);

/* Its first notes, and executable segments; how many. */
struct elf_extent {
	uint64_t offset, size, vaddr, align;
};
size_t elf_notes(const struct elf *e, struct elf_extent *to, size_t most);
size_t elf_code_extents(const struct elf *e, struct elf_extent *to,
			size_t most);

/* Symbols known, and what else they take in memory, as a number of symbols.
 * Loads the table. */
size_t elf_symbols(struct elf *e);

#endif
