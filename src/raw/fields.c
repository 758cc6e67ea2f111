/* fields - heads and ends of raw files as fields, and back. */
#include "raw/fields.h"

#include <errno.h>
#include <string.h>

void raw_put(struct buf *to, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		buf_putc(to, (char)(n | 0x80));
	buf_putc(to, (char)n);
}

void raw_put_signed(struct buf *to, int64_t n)
{
	raw_put(to, (uint64_t)n << 1 ^ (n < 0 ? UINT64_MAX : 0));
}

void raw_put_bytes(struct buf *to, const void *p, size_t n)
{
	raw_put(to, n);
	buf_mem(to, p, n);
}

uint64_t raw_get(struct raw_cursor *in)
{
	uint64_t n = 0;

	for (unsigned shift = 0; shift < 64 && in->p < in->end; shift += 7) {
		uint8_t byte = *in->p++;

		if (shift == 63 && byte > 1)
			break;
		n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return n;
	}
	in->bad = true;
	in->p = in->end;
	return 0;
}

int64_t raw_get_signed(struct raw_cursor *in)
{
	uint64_t n = raw_get(in);

	return (int64_t)(n >> 1 ^ (n & 1 ? UINT64_MAX : 0));
}

uint32_t raw_get_below(struct raw_cursor *in, size_t end)
{
	uint64_t n = raw_get(in);

	if (n < end && n <= UINT32_MAX)
		return (uint32_t)n;
	in->bad = true;
	return 0;
}

uint32_t raw_get32(struct raw_cursor *in)
{
	uint64_t n = raw_get(in);

	if (n <= UINT32_MAX)
		return (uint32_t)n;
	in->bad = true;
	return 0;
}

const uint8_t *raw_get_bytes(struct raw_cursor *in, size_t *n)
{
	uint64_t len = raw_get(in);
	const uint8_t *p = in->p;

	if (len > (uint64_t)(in->end - in->p)) {
		in->bad = true;
		len = 0;
	}
	in->p += len;
	*n = (size_t)len;
	return p;
}

/* The fields of a struct. What may be there more than once has as many places,
 * one after the other. */
enum kind { TEXT, NUMBER, ID };
struct field {
	uint8_t number;			/* enum raw_field */
	uint8_t kind, places;
	uint16_t at;
};

#define HEAD(number, kind, member) \
	{ number, kind, 1, offsetof(struct raw_head, member) }

static const struct field head_fields[] = {
	HEAD(RAW_COMMAND, TEXT, command),
	HEAD(RAW_HOST, TEXT, host),
	HEAD(RAW_RELEASE, TEXT, release),
	HEAD(RAW_ARCH, TEXT, arch),
	HEAD(RAW_BOOT, TEXT, boot),
	HEAD(RAW_STARTED, NUMBER, started),
	HEAD(RAW_WIDTH, NUMBER, width),
	HEAD(RAW_BIG_ENDIAN, NUMBER, big_endian),
	HEAD(RAW_KERNEL_ID, ID, kernel_id),
	HEAD(RAW_TEXT, NUMBER, text),
	{ RAW_UNIT, TEXT, RAW_UNITS_MOST, offsetof(struct raw_head, units) },
	HEAD(RAW_COUNTNAME, TEXT, countname),
	HEAD(RAW_TITLE, TEXT, title),
	HEAD(RAW_LAYOUT, NUMBER, layout),
	HEAD(RAW_SKIP, NUMBER, skip),
	HEAD(RAW_DEPTH, NUMBER, depth),
	HEAD(RAW_PERIOD, NUMBER, period),
	HEAD(RAW_EVENT, TEXT, event),
	{ RAW_WAIT, NUMBER, RAW_WAITS_MOST, offsetof(struct raw_head, waits) },
	{ 0 },
};

static const struct field end_fields[] = {
	{ RAW_TOLD, TEXT, 1, offsetof(struct raw_end, told) },
	{ RAW_LASTED, NUMBER, 1, offsetof(struct raw_end, lasted) },
	{ RAW_ROWS, NUMBER, 1, offsetof(struct raw_end, rows) },
	{ 0 },
};

static void put_number(struct buf *to, const struct field *f, uint64_t n)
{
	struct buf bytes = { 0 };

	if (!n)
		return;
	raw_put(&bytes, n);
	raw_put(to, f->number);
	raw_put_bytes(to, bytes.data, bytes.len);
	if (bytes.err)
		to->err = bytes.err;
	buf_free(&bytes);
}

static void put_field(struct buf *to, const struct field *f, const void *from)
{
	const char *const *text = from;
	const uint64_t *number = from;
	const struct raw_head *head;

	for (int i = 0; f->kind == NUMBER && i < f->places; i++)
		put_number(to, f, number[i]);
	for (int i = 0; f->kind == TEXT && i < f->places && text[i]; i++) {
		raw_put(to, f->number);
		raw_put_bytes(to, text[i], strlen(text[i]));
	}
	if (f->kind != ID)
		return;
	head = (const void *)((const char *)from - f->at);
	if (!head->kernel_id_len)
		return;
	raw_put(to, f->number);
	raw_put_bytes(to, head->kernel_id, head->kernel_id_len);
}

static void put_fields(struct buf *to, const struct field *f, const void *from)
{
	for (; f->number; f++)
		put_field(to, f, (const char *)from + f->at);
}

void raw_put_head(struct buf *to, const struct raw_head *head)
{
	put_fields(to, head_fields, head);
}

void raw_put_end(struct buf *to, const struct raw_end *end)
{
	put_fields(to, end_fields, end);
}

static int get_text(const uint8_t *p, size_t n, const struct field *f,
		    struct intern *texts, uint32_t *ids)
{
	int64_t id;
	int i = 0;

	while (i < f->places && ids[i])
		i++;
	if (i == f->places || memchr(p, '\0', n))
		return -EINVAL;
	id = intern_put(texts, p, n);
	if (id < 0)
		return (int)id;
	ids[i] = (uint32_t)id + 1;
	return 0;
}

static int get_id(const uint8_t *p, size_t n, struct raw_head *head)
{
	if (n > RAW_ID_MOST)
		return -EINVAL;
	memcpy(head->kernel_id, p, n);
	head->kernel_id_len = n;
	return 0;
}

static int get_number(const uint8_t *p, size_t n, const struct field *f,
		      uint64_t *to)
{
	struct raw_cursor in = { .p = p, .end = p + n };
	int i = 0;

	while (i < f->places - 1 && to[i])
		i++;
	to[i] = raw_get(&in);
	return in.bad ? -EINVAL : 0;
}

static int get_field(const uint8_t *p, size_t n, const struct field *f,
		     struct intern *texts, uint32_t *ids, void *to)
{
	if (f->kind == TEXT)
		return get_text(p, n, f, texts, ids);
	if (f->kind == ID)
		return get_id(p, n, to);
	return get_number(p, n, f, (void *)((char *)to + f->at));
}

/* The texts move as long as more come, so they are pointed to at the end. */
static int get_fields(struct raw_cursor *in, const struct field *fields,
		      struct intern *texts, void *to)
{
	uint32_t ids[sizeof(head_fields) / sizeof(*head_fields)]
		    [RAW_UNITS_MOST] = { { 0 } };
	const struct field *f;

	while (in->p < in->end) {
		uint64_t number = raw_get(in);
		size_t n;
		const uint8_t *p = raw_get_bytes(in, &n);
		int err;

		if (in->bad)
			return -EINVAL;
		for (f = fields; f->number && f->number != number; f++)
			;
		err = f->number ? get_field(p, n, f, texts, ids[f - fields],
					    to) : 0;
		if (err)
			return err;
	}
	for (f = fields; f->number; f++)
		for (int i = 0; f->kind == TEXT && i < f->places; i++)
			if (ids[f - fields][i])
				((const char **)(void *)((char *)to + f->at))[i]
					= intern_bytes(texts, ids[f - fields]
						       [i] - 1, NULL);
	return 0;
}

int raw_get_head(struct raw_cursor *in, struct intern *texts,
		 struct raw_head *head)
{
	*head = (struct raw_head){ 0 };
	return get_fields(in, head_fields, texts, head);
}

int raw_get_end(struct raw_cursor *in, struct intern *texts,
		struct raw_end *end)
{
	*end = (struct raw_end){ 0 };
	return get_fields(in, end_fields, texts, end);
}
