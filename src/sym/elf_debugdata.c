/* elf_debugdata - the symbols that were taken out of a file before.
 *
 * They are in a file of their own (debug_files.c finds it), which has all of
 * .symtab. Or some distributions keep the names of functions that .dynsym lacks
 * ("MiniDebugInfo"): .gnu_debugdata is an ELF file that xz packed, which has a
 * .symtab. Either has sections at the addresses of those of the stripped file;
 * what its program headers say of offsets is meaningless.
 */
#include <errno.h>

#include "base/log.h"
#include "base/xz.h"
#include "sym/elf_file.h"

enum {
	PACKED_MOST = 32 << 20, UNPACKED_MOST = 64 << 20,
	COST_UNPACK = 32,		/* for a byte */
};

static bool is_of(const struct elf *e, const struct elf *within)
{
	return within->wide == e->wide && within->big == e->big &&
		within->machine == e->machine && !elf_is_object(within);
}

int elf_take_symbols(struct elf *e, struct elf *from)
{
	if (!is_of(e, from))
		return -EINVAL;
	from->within = true;
	e->debugdata = from;
	return 0;
}

static int image_open(struct elf *e, uint8_t *image, size_t size)
{
	struct elf *within;
	int err = elf_open_image(image, size, &within);

	if (err) {
		mem_free(image);
		return err;
	}
	err = elf_take_symbols(e, within);
	if (err)
		elf_close(within);
	return err;
}

static int section_unpack(struct elf *e, const struct elf_section *s,
			  uint64_t *work)
{
	uint64_t most = *work / COST_UNPACK;
	uint8_t *packed, *image;
	size_t size;
	int err;

	if (s->size > PACKED_MOST)
		return -EFBIG;
	packed = mem_zalloc((size_t)s->size);
	if (!packed)
		return -ENOMEM;
	err = elf_read(e, s->offset, packed, (size_t)s->size) != s->size ?
		-EINVAL : xz_unpack(packed, (size_t)s->size, most <
				    UNPACKED_MOST ? (size_t)most :
				    UNPACKED_MOST, &image, &size);
	mem_free(packed);
	if (err)
		return err;
	*work -= size * COST_UNPACK;
	return image_open(e, image, size);
}

struct elf *elf_debugdata(struct elf *e, uint64_t *work)
{
	struct elf_section s;

	if (e->debugdata || e->debugdata_err || e->within ||
	    !elf_section_named(e, ".gnu_debugdata", work, &s) || !s.size ||
	    s.type == SHT_NOBITS || s.flags & SHF_COMPRESSED)
		return e->debugdata;
	e->debugdata_err = section_unpack(e, &s, work);
	return e->debugdata;
}

bool elf_debugdata_say(const struct elf *e, const char *path)
{
	int err = e->debugdata_err;

	if (err)
		log_notice("%s: .gnu_debugdata: %s: not used", path,
			   err == -EINVAL ? "malformed" :
			   err == -EFBIG ? "too large" :
			   err == -ENOMEM ? log_errno(err) :
			   "packed in a way that is not supported");
	return err;
}
