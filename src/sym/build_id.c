/* build_id - build-ids of files: in notes, as text, of the kernel. */
#include "sym/build_id.h"

#include <string.h>

#include "base/buf.h"
#include "sys/fs.h"

enum { NOTES_MOST = 1 << 16, NT_GNU_BUILD_ID = 3, HEADER = 12 };

static uint32_t word_at(const uint8_t *p, bool big)
{
	uint32_t n = 0;

	for (int i = 0; i < 4; i++)
		n |= (uint32_t)p[i] << 8 * (big ? 3 - i : i);
	return n;
}

/* n, or the end of what is left. */
static size_t padded(uint64_t n, uint64_t align, size_t left)
{
	n = (n + align - 1) & ~(align - 1);
	return n < left ? (size_t)n : left;
}

bool build_id_find(const uint8_t *p, size_t n, bool big, uint64_t align,
		   struct build_id *out)
{
	align = align == 8 ? 8 : 4;
	while (n >= HEADER) {
		uint32_t name = word_at(p, big), desc = word_at(p + 4, big);
		uint32_t type = word_at(p + 8, big);
		size_t at = padded((uint64_t)HEADER + name, align, n);

		if (desc > n - at)
			break;
		/* Where there is a description, there is all of the name. */
		if (type == NT_GNU_BUILD_ID && name == 4 && desc &&
		    desc <= BUILD_ID_MOST && !memcmp(p + HEADER, "GNU", 4)) {
			memcpy(out->bytes, p + at, desc);
			out->len = desc;
			return true;
		}
		at += padded(desc, align, n - at);
		p += at;
		n -= at;
	}
	out->len = 0;
	return false;
}

bool build_id_same(const struct build_id *a, const struct build_id *b)
{
	return a->len && a->len == b->len &&
	       !memcmp(a->bytes, b->bytes, a->len);
}

const char *build_id_text(const struct build_id *id, char text[BUILD_ID_TEXT])
{
	char *p = text;

	for (size_t i = 0; i < id->len; i++) {
		*p++ = "0123456789abcdef"[id->bytes[i] >> 4];
		*p++ = "0123456789abcdef"[id->bytes[i] & 15];
	}
	*p = '\0';
	return text;
}

/* A file of notes that the kernel gives, in its own byte order. */
static void notes_read(const char *path, struct build_id *out)
{
	struct buf notes = { 0 };
	const uint16_t one = 1;

	out->len = 0;
	if (!fs_read(FS_SYS, path, NOTES_MOST, &notes))
		build_id_find((const uint8_t *)notes.data, notes.len,
			      !*(const uint8_t *)&one, 4, out);
	buf_free(&notes);
}

void build_id_kernel(struct build_id *out)
{
	notes_read("kernel/notes", out);
}

void build_id_module(const char *name, struct build_id *out)
{
	struct buf path = { 0 };

	out->len = 0;
	if (strchr(name, '/'))
		return;
	buf_fmt(&path, "module/%s/notes/.note.gnu.build-id", name);
	notes_read(buf_str(&path), out);
	buf_free(&path);
}
