/* ldcache - glibc's /etc/ld.so.cache: which library is in which file.
 *
 * Two formats; a file may have the old one with the new one behind it, at a
 * multiple of 8. Numbers are the host's, 32 bits but for the last:
 *
 *   old  "ld.so-1.7.0", 1 byte of padding, entries
 *        { flags, soname, path } each; texts begin behind the last
 *   new  "glibc-ld.so.cache1.1", entries, size of the texts, byte order (8
 *        bits), 3 bytes, extensions, 3 words
 *        { flags, soname, path, OS version, hwcap (64 bits) } each;
 *        texts are counted from the header
 *
 * (glibc, sysdeps/generic/dl-cache.h.) What flags say of the CPU is left
 * alone: the files tell.
 */
#include "sym/ldcache.h"

#include <errno.h>
#include <string.h>

static const char old_magic[] = "ld.so-1.7.0";
static const char new_magic[] = "glibc-ld.so.cache1.1";

enum {
	OLD_HEADER = 16, OLD_ENTRY = 12,
	NEW_HEADER = 48, NEW_ENTRY = 24, NEW_ORDER = 28,
	TEXT_MAX = 4096,		/* PATH_MAX */
	ORDER_UNSET = 0, ORDER_LITTLE = 2, ORDER_BIG = 3,
};

struct cache {
	const uint8_t *data;
	size_t size;
	size_t entries, entry;		/* the first one, and bytes of each */
	uint32_t n;
	size_t texts;			/* what offsets count from */
};

static uint32_t word_at(const uint8_t *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

static const char *text_at(const struct cache *c, uint32_t at)
{
	size_t left = c->size - c->texts;
	const uint8_t *text;

	if (at >= left)
		return NULL;
	text = c->data + c->texts + at;
	left -= at;
	if (left > TEXT_MAX)
		left = TEXT_MAX;
	return memchr(text, '\0', left) ? (const char *)text : NULL;
}

static bool order_is_ours(uint8_t order)
{
	const uint16_t one = 1;
	uint8_t first;

	memcpy(&first, &one, 1);
	order &= 3;
	return order == ORDER_UNSET ||
		order == (first ? ORDER_LITTLE : ORDER_BIG);
}

static bool open_new(struct cache *c, size_t at)
{
	const uint8_t *p;

	if (at > c->size || c->size - at < NEW_HEADER)
		return false;
	p = c->data + at;
	if (memcmp(p, new_magic, sizeof(new_magic) - 1) ||
	    !order_is_ours(p[NEW_ORDER]))
		return false;
	c->n = word_at(p + 20);
	c->entries = at + NEW_HEADER;
	c->entry = NEW_ENTRY;
	c->texts = at;
	return c->n <= (c->size - c->entries) / NEW_ENTRY;
}

static bool open_old(struct cache *c)
{
	size_t end;

	if (c->size < OLD_HEADER ||
	    memcmp(c->data, old_magic, sizeof(old_magic) - 1))
		return false;
	c->n = word_at(c->data + 12);
	if (c->n > (c->size - OLD_HEADER) / OLD_ENTRY)
		return false;
	end = OLD_HEADER + (size_t)c->n * OLD_ENTRY;
	if (open_new(c, (end + 7) & ~(size_t)7))
		return true;
	c->n = word_at(c->data + 12);
	c->entries = OLD_HEADER;
	c->entry = OLD_ENTRY;
	c->texts = end;
	return true;
}

int ldcache_each(const uint8_t *data, size_t size,
		 int (*fn)(void *arg, const char *soname, const char *path),
		 void *arg)
{
	struct cache c = { .data = data, .size = size };
	int err = 0;

	if (!open_new(&c, 0) && !open_old(&c))
		return -EINVAL;
	for (uint32_t i = 0; !err && i < c.n; i++) {
		const uint8_t *p = data + c.entries + (size_t)i * c.entry;
		const char *soname = text_at(&c, word_at(p + 4));
		const char *path = text_at(&c, word_at(p + 8));

		if (soname && path)
			err = fn(arg, soname, path);
	}
	return err;
}
