/* pprof - a flame graph as the protocol buffer that go tool pprof reads.
 *
 * A message is a row of fields, in any order: a tag (number << 3 | type), then
 * a number (type 0: seven bits a byte, the lowest first, the high bit set on
 * all but the last) or a length and as many bytes (type 2: texts, messages,
 * lists of numbers). Texts are said once, in a table, and meant by their
 * index. The file is not compressed, which pprof takes as well.
 *
 *	Profile    1 sample_type*  2 sample*  3 mapping*  4 location*
 *		   5 function*  6 string_table*  11 period_type  12 period
 *		   13 comment*
 *	ValueType  1 type  2 unit
 *	Sample     1 location_id* (leaf first)  2 value*
 *	Mapping    1 id  5 filename  7 has_functions
 *	Location   1 id  2 mapping_id  4 line*
 *	Line       1 function_id
 *	Function   1 id  2 name
 *
 * Locations and functions are numbered by frames, mappings by kinds; none may
 * be 0. Functions have their names, so pprof looks for no file. They have no
 * system_name (3), or pprof would take names for mangled ones and drop from
 * them what looks like a template's arguments.
 */
#include "render/pprof.h"

#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/out.h"
#include "render/samples.h"

enum { FLUSH = 1 << 16, NUMBER = 0, BYTES = 2 };

/* The table of texts; what follows are the frames' names. */
enum text {
	NOTHING, TYPE, UNIT, PERIOD_TYPE, PERIOD_UNIT, TITLE, SUBTITLE, KINDS,
	NAMES = KINDS + FLAME_KINDS,
};

struct pprof {
	FILE *out;
	struct buf buf;
	struct buf part;		/* scratch: the message within */
	struct samples samples;
	unsigned kinds;			/* seen, a bit each */
	uint64_t room;			/* up to the largest sum */
};

static void put_varint(struct buf *b, uint64_t n)
{
	for (; n > 0x7f; n >>= 7)
		buf_putc(b, (char)(n | 0x80));
	buf_putc(b, (char)n);
}

static void put_number(struct buf *b, unsigned field, uint64_t n)
{
	put_varint(b, field << 3 | NUMBER);
	put_varint(b, n);
}

static void put_bytes(struct buf *b, unsigned field, const void *p, size_t n)
{
	put_varint(b, field << 3 | BYTES);
	put_varint(b, n);
	buf_mem(b, p, n);
}

/* End the message that is in p->part; it is a field of the profile. */
static int put_part(struct pprof *p, unsigned field)
{
	int err = p->part.err;

	put_bytes(&p->buf, field, p->part.data, p->part.len);
	buf_reset(&p->part);
	return err ? err : out_buf(p->out, &p->buf, FLUSH);
}

static int put_pair(struct pprof *p, unsigned field, uint64_t a, uint64_t b)
{
	put_number(&p->part, 1, a);
	put_number(&p->part, 2, b);
	return put_part(p, field);
}

static int put_text(struct pprof *p, const char *s, size_t n)
{
	escape(&p->part, s, n, ESCAPE_TEXT);
	return put_part(p, 6);
}

/* Values are signed, and pprof adds them up. */
static int put_sample(void *arg, const struct sample_frame *path, size_t n)
{
	struct pprof *p = arg;
	uint64_t self = path[n - 1].self;

	if (!self)
		return 0;
	while (n--)
		put_number(&p->part, 1, (uint64_t)path[n].frame + 1);
	if (self > p->room)
		self = p->room;
	p->room -= self;
	put_number(&p->part, 2, self);
	return put_part(p, 2);
}

static int put_frame(struct pprof *p, uint32_t frame)
{
	enum flame_kind kind = samples_frame(&p->samples, frame).kind;
	uint64_t id = (uint64_t)frame + 1;
	char line[16];
	struct buf *b = &p->part;
	size_t n;
	int err;

	p->kinds |= 1u << kind;
	put_number(b, 1, id);			/* the line, which is kept */
	n = b->len < sizeof(line) ? b->len : 0;
	if (n)
		memcpy(line, b->data, n);
	put_number(b, 2, (uint64_t)kind + 1);
	put_bytes(b, 4, line, n);
	err = put_part(p, 4);
	put_number(b, 1, id);
	put_number(b, 2, NAMES + (uint64_t)frame);
	return err ? err : put_part(p, 5);
}

static int put_mappings(struct pprof *p)
{
	int err = 0;

	for (unsigned kind = 0; kind < FLAME_KINDS && !err; kind++) {
		if (!(p->kinds & 1u << kind))
			continue;
		put_number(&p->part, 1, kind + 1);
		put_number(&p->part, 5, KINDS + kind);
		put_number(&p->part, 7, true);
		err = put_part(p, 3);
	}
	return err;
}

/* In the order of enum text. */
static int put_texts(struct pprof *p, const struct graph_options *o)
{
	const char *const texts[KINDS] = {
		[NOTHING] = "",
		[TYPE] = o->countname ? o->countname : o->unit->pprof_type,
		[UNIT] = o->unit->pprof_unit,
		[PERIOD_TYPE] = "cpu", [PERIOD_UNIT] = "nanoseconds",
		[TITLE] = o->title,
		[SUBTITLE] = o->subtitle ? o->subtitle : "",
	};
	int err = 0;

	for (size_t i = 0; i < KINDS && !err; i++)
		err = put_text(p, texts[i], strlen(texts[i]));
	for (size_t i = 0; i < FLAME_KINDS && !err; i++) {
		buf_fmt(&p->part, "[%s]", flame_kind_names[i]);
		err = put_part(p, 6);
	}
	for (size_t i = 0; i < p->samples.frames.n && !err; i++) {
		struct flame_frame f = samples_frame(&p->samples, (uint32_t)i);

		err = put_text(p, f.name, f.len);
	}
	return err;
}

static int put_profile(struct pprof *p, const struct graph_options *o)
{
	int err = put_pair(p, 1, TYPE, UNIT);

	if (!err)
		err = samples_walk(&p->samples);
	for (size_t i = 0; i < p->samples.frames.n && !err; i++)
		err = put_frame(p, (uint32_t)i);
	if (!err)
		err = put_mappings(p);
	if (!err)
		err = put_texts(p, o);
	if (!err && o->period) {
		err = put_pair(p, 11, PERIOD_TYPE, PERIOD_UNIT);
		put_number(&p->buf, 12, o->period);
	}
	put_number(&p->buf, 13, TITLE);
	if (o->subtitle)
		put_number(&p->buf, 13, SUBTITLE);
	return err ? err : out_buf(p->out, &p->buf, 0);
}

int pprof_write(FILE *out, struct flame *f, const struct graph_options *o)
{
	struct pprof p = { .out = out, .room = INT64_MAX };
	int err;

	p.samples.flame = f;
	p.samples.arg = &p;
	p.samples.leave = put_sample;
	err = put_profile(&p, o);
	samples_free(&p.samples);
	buf_free(&p.buf);
	buf_free(&p.part);
	return err;
}
