/* xz - unpack what xz packs, in memory.
 *
 * The format: "The .xz File Format" 1.2.1. A stream is a header, blocks and an
 * index, which repeats what is known of the blocks: their number counts. A
 * block has a header, which names the filters, and LZMA2 chunks; each of them
 * tells how much it unpacks to. So two passes over the chunks do: one adds the
 * sizes up, one unpacks, right to where the bytes are to be. All that was
 * unpacked since the last reset is the dictionary, so none is kept beside it.
 *
 * LZMA codes bits by their probability. Each is told by what was before it (the
 * state, the last byte, the place), which chooses one of many counters. What is
 * coded is a byte, a match (length and distance), or a match at one of the last
 * four distances. How the counters are numbered follows the public domain
 * specification of LZMA.
 */
#include "base/xz.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/crc.h"
#include "base/vec.h"

enum {
	CHECK_NONE = 0, CHECK_CRC32 = 1, CHECK_CRC64 = 4,
	FILTER_LZMA2 = 0x21,
	STATES = 12, FIRST_MATCH = 7,	/* those before it: after a byte */
	PLACES = 16, LITERALS = 0x300,
	HALF = 1024,			/* of a probability of 2048 */
	MATCH_LEAST = 2,
};

struct lengths {
	uint16_t choice, choice2;
	uint16_t low[PLACES][8], mid[PLACES][8], high[256];
};

struct counters {
	uint16_t match[STATES][PLACES], rep[STATES];
	uint16_t rep0[STATES], rep1[STATES], rep2[STATES];
	uint16_t rep0_long[STATES][PLACES];
	uint16_t slot[4][64], special[115], align[16];
	struct lengths match_len, rep_len;
	uint16_t literal[16][LITERALS];
};

struct xz {
	const uint8_t *in, *end;	/* what is left */
	unsigned check;
	uint8_t *out;			/* NULL in the first pass */
	size_t n, most;			/* bytes so far */
	size_t dictionary;		/* where it begins */
	uint64_t blocks;
	/* Of LZMA: */
	struct counters *counters;
	bool ready;			/* the next three are known */
	unsigned lc, lp, pb;
	unsigned state;
	uint32_t rep[4];		/* distances less 1 */
	uint32_t range, code;
	bool short_of;			/* bytes of the chunk */
};

/* Reading */

/* A number of n bytes, the lowest first. */
static uint64_t number_read(const uint8_t *p, int n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

/* Seven bits a byte. */
static bool varint_read(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
	*v = 0;
	for (unsigned shift = 0; *p < end && shift < 63; shift += 7) {
		uint8_t byte = *(*p)++;

		*v |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return true;
	}
	return false;
}

/* n bytes of the input; NULL: there are less. */
static const uint8_t *take(struct xz *x, size_t n)
{
	const uint8_t *p = x->in;

	if (n > (size_t)(x->end - p))
		return NULL;
	x->in += n;
	return p;
}

/* Bits */

static void counters_reset(struct xz *x)
{
	uint16_t *p = (uint16_t *)x->counters;

	for (size_t i = 0; i < sizeof(*x->counters) / sizeof(*p); i++)
		p[i] = HALF;
	x->state = 0;
	memset(x->rep, 0, sizeof(x->rep));
}

static void normalize(struct xz *x)
{
	if (x->range >> 24)
		return;
	x->range <<= 8;
	x->code = x->code << 8;
	if (x->in < x->end)
		x->code |= *x->in++;
	else
		x->short_of = true;
}

static unsigned bit_read(struct xz *x, uint16_t *counter)
{
	uint32_t bound;

	normalize(x);
	bound = (x->range >> 11) * *counter;
	if (x->code < bound) {
		x->range = bound;
		*counter = (uint16_t)(*counter + ((2048 - *counter) >> 5));
		return 0;
	}
	x->range -= bound;
	x->code -= bound;
	*counter = (uint16_t)(*counter - (*counter >> 5));
	return 1;
}

/* The highest bit first, or the lowest; counters are told by those before. */
static uint32_t bits_read(struct xz *x, uint16_t *counters, unsigned n)
{
	uint32_t v = 1;

	for (unsigned i = 0; i < n; i++)
		v = v << 1 | bit_read(x, counters + v);
	return v - (1u << n);
}

static uint32_t bits_read_back(struct xz *x, uint16_t *counters, unsigned n)
{
	uint32_t v = 1, out = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned b = bit_read(x, counters + v);

		v = v << 1 | b;
		out |= b << i;
	}
	return out;
}

/* Bits without a counter. */
static uint32_t bits_read_even(struct xz *x, unsigned n)
{
	uint32_t v = 0;

	while (n--) {
		normalize(x);
		x->range >>= 1;
		v <<= 1;
		if (x->code >= x->range) {
			x->code -= x->range;
			v |= 1;
		}
	}
	return v;
}

/* LZMA */

static void byte_read(struct xz *x)
{
	size_t place = x->n - x->dictionary;
	unsigned before = place ? x->out[x->n - 1] : 0;
	uint16_t *counters = x->counters->literal[
		((place << x->lc) | (before >> (8 - x->lc))) &
		((1u << (x->lc + x->lp)) - 1)];
	unsigned v = 1, like = 0x100, match = 0;

	/* After a match, the byte that would have continued it tells. */
	if (x->state >= FIRST_MATCH)
		match = x->out[x->n - 1 - x->rep[0]];
	else
		like = 0;
	while (v < 0x100) {
		unsigned hint, b;

		match <<= 1;
		hint = match & like;
		b = bit_read(x, counters + like + hint + v);
		v = v << 1 | b;
		like &= b ? hint : ~hint;
	}
	x->out[x->n++] = (uint8_t)v;
	x->state -= x->state < 4 ? x->state : x->state < 10 ? 3 : 6;
}

static uint32_t length_read(struct xz *x, struct lengths *l, size_t place)
{
	if (!bit_read(x, &l->choice))
		return MATCH_LEAST + bits_read(x, l->low[place], 3);
	if (!bit_read(x, &l->choice2))
		return MATCH_LEAST + 8 + bits_read(x, l->mid[place], 3);
	return MATCH_LEAST + 16 + bits_read(x, l->high, 8);
}

static uint32_t distance_read(struct xz *x, uint32_t len)
{
	struct counters *c = x->counters;
	uint16_t *slots = c->slot[len < 6 ? len - MATCH_LEAST : 3];
	uint32_t slot = bits_read(x, slots, 6);
	unsigned more = slot / 2 - 1;
	uint32_t d;

	if (slot < 4)
		return slot;
	d = (2 | (slot & 1)) << more;
	if (slot < 14)
		return d + bits_read_back(x, c->special + d - slot, more);
	d += bits_read_even(x, more - 4) << 4;
	return d + bits_read_back(x, c->align, 4);
}

/* One of the last four distances, which becomes the last. */
static void rep_choose(struct xz *x, unsigned i)
{
	uint32_t d = x->rep[i];

	memmove(x->rep + 1, x->rep, i * sizeof(d));
	x->rep[0] = d;
}

/* Returns the length of a match; 1: of a byte at the last distance. */
static uint32_t rep_read(struct xz *x, size_t place)
{
	struct counters *c = x->counters;
	bool far = x->state >= FIRST_MATCH;
	unsigned s = x->state;

	if (!bit_read(x, &c->rep0[s])) {
		if (!bit_read(x, &c->rep0_long[s][place])) {
			x->state = far ? 11 : 9;
			return 1;
		}
	} else if (!bit_read(x, &c->rep1[s])) {
		rep_choose(x, 1);
	} else {
		rep_choose(x, 2 + bit_read(x, &c->rep2[s]));
	}
	x->state = far ? 11 : 8;
	return length_read(x, &c->rep_len, place);
}

static uint32_t match_read(struct xz *x, size_t place)
{
	uint32_t len = length_read(x, &x->counters->match_len, place);

	memmove(x->rep + 1, x->rep, 3 * sizeof(x->rep[0]));
	x->rep[0] = distance_read(x, len);
	x->state = x->state < FIRST_MATCH ? 7 : 10;
	return len;
}

/* Unpack up to x->n == to. */
static int lzma_run(struct xz *x, size_t to)
{
	while (x->n < to && !x->short_of) {
		size_t place = (x->n - x->dictionary) & ((1u << x->pb) - 1);
		struct counters *c = x->counters;
		uint32_t len;

		if (!bit_read(x, &c->match[x->state][place])) {
			byte_read(x);
			continue;
		}
		len = bit_read(x, &c->rep[x->state]) ? rep_read(x, place) :
			match_read(x, place);
		if (x->rep[0] >= x->n - x->dictionary || len > to - x->n)
			return -EINVAL;
		for (; len; len--, x->n++)
			x->out[x->n] = x->out[x->n - 1 - x->rep[0]];
	}
	normalize(x);
	return x->short_of || x->code ? -EINVAL : 0;
}

/* Chunks */

static int properties_set(struct xz *x, uint8_t byte)
{
	x->lc = byte % 9;
	x->lp = byte / 9 % 5;
	x->pb = byte / 45;
	x->ready = true;
	return x->pb > 4 || x->lc + x->lp > 4 ? -EINVAL : 0;
}

/* The control byte's bits 5 and 6 tell what begins anew. */
static int lzma_chunk(struct xz *x, unsigned control, size_t to)
{
	const uint8_t *p = take(x, 2), *end = x->end, *first;
	size_t packed = p ? (size_t)(p[0] << 8 | p[1]) + 1 : 0;
	int err = 0;

	if (control >= 0xc0) {
		p = p ? take(x, 1) : NULL;
		err = p ? properties_set(x, *p) : -EINVAL;
	}
	if (err || !p || !x->ready || packed > (size_t)(x->end - x->in) ||
	    packed < 5 || x->in[0])
		return -EINVAL;
	if (!x->out) {
		x->in += packed;
		x->n = to;
		return 0;
	}
	if (control >= 0xa0)
		counters_reset(x);
	first = x->in;
	x->end = first + packed;
	x->range = UINT32_MAX;
	x->code = 0;
	for (x->in++; x->in < first + 5; x->in++)
		x->code = x->code << 8 | *x->in;
	err = lzma_run(x, to);
	if (x->in != x->end)
		err = -EINVAL;
	x->end = end;
	return err;
}

static int plain_chunk(struct xz *x, size_t n)
{
	const uint8_t *p = take(x, n);

	if (p && x->out)
		memcpy(x->out + x->n, p, n);
	x->n += n;
	return p ? 0 : -EINVAL;
}

/* Returns 1 at the end of the block. */
static int chunk_unpack(struct xz *x)
{
	const uint8_t *p = take(x, 1);
	unsigned control = p ? *p : 3;
	size_t n;

	if (!control)
		return 1;
	p = control < 3 || control >= 0x80 ? take(x, 2) : NULL;
	if (!p)
		return -EINVAL;
	n = (size_t)(p[0] << 8 | p[1]) + 1;
	if (control >= 0x80)
		n += (size_t)(control & 0x1f) << 16;
	if (control == 1 || control >= 0xe0) {
		x->dictionary = x->n;
		x->ready = false;
	} else if (x->dictionary > x->n) {
		return -EINVAL;
	}
	if (n > x->most - x->n)
		return -EFBIG;
	return control < 3 ? plain_chunk(x, n) :
		lzma_chunk(x, control, x->n + n);
}

/* Blocks */

static int header_parse(const uint8_t *p, const uint8_t *end)
{
	uint64_t v;
	uint8_t flags = p[1];

	p += 2;
	if (flags & 0x3f)	/* filters less 1; what is not known */
		return -EOPNOTSUPP;
	if ((flags & 0x40 && !varint_read(&p, end, &v)) ||
	    (flags & 0x80 && !varint_read(&p, end, &v)) ||
	    !varint_read(&p, end, &v))
		return -EINVAL;
	return v == FILTER_LZMA2 ? 0 : -EOPNOTSUPP;
}

static int check_unpacked(struct xz *x, size_t from)
{
	static const uint8_t sizes[16] = {
		0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64,
	};
	const uint8_t *sum = take(x, sizes[x->check]);

	if (!sum)
		return -EINVAL;
	if (!x->out || (x->check != CHECK_CRC32 && x->check != CHECK_CRC64))
		return 0;
	return number_read(sum, sizes[x->check]) ==
		(x->check == CHECK_CRC32 ?
		 crc32_add(0, x->out + from, x->n - from) :
		 crc64_add(0, x->out + from, x->n - from)) ? 0 : -EINVAL;
}

/* Its number of records tells whether blocks are missing. 1, or -EINVAL. */
static int index_check(struct xz *x, const uint8_t *start)
{
	uint64_t records, v;

	x->in = start + 1;
	if (!varint_read(&x->in, x->end, &records) || records != x->blocks)
		return -EINVAL;
	for (records *= 2; records; records--)
		if (!varint_read(&x->in, x->end, &v))
			return -EINVAL;
	if (!take(x, -(size_t)(x->in - start) & 3) || x->end - x->in < 4)
		return -EINVAL;
	return number_read(x->in, 4) ==
		crc32_add(0, start, (size_t)(x->in - start)) ? 1 : -EINVAL;
}

/* Returns 1 when the index follows instead. */
static int block_unpack(struct xz *x)
{
	size_t size = x->in < x->end ? 4 * (size_t)*x->in + 4 : 0;
	size_t from = x->n, padding;
	const uint8_t *p = take(x, size), *start = x->in;
	int err;

	if (!p || !size)
		return -EINVAL;
	if (size == 4)
		return index_check(x, p);
	if (number_read(p + size - 4, 4) != crc32_add(0, p, size - 4))
		return -EINVAL;
	err = header_parse(p, p + size - 4);
	x->blocks++;
	x->dictionary = SIZE_MAX;
	x->ready = false;
	while (!err)
		err = chunk_unpack(x);
	padding = -(size_t)(x->in - start) & 3;
	if (err == 1)
		err = take(x, padding) ? check_unpacked(x, from) : -EINVAL;
	return err;
}

/* The whole stream, once. */
static int stream_unpack(struct xz *x, const uint8_t *in, size_t n)
{
	static const uint8_t magic[] = { 0xfd, '7', 'z', 'X', 'Z', 0, 0 };
	const uint8_t *p;
	int err = 0;

	x->in = in;
	x->end = in + n;
	x->n = 0;
	x->blocks = 0;
	p = take(x, 12);
	if (!p || memcmp(p, magic, sizeof(magic)) || p[7] > 15 ||
	    number_read(p + 8, 4) != crc32_add(0, p + 6, 2))
		return -EINVAL;
	x->check = p[7];
	while (!err)
		err = block_unpack(x);
	return err == 1 ? 0 : err;
}

int xz_unpack(const uint8_t *in, size_t n, size_t most, uint8_t **out,
	      size_t *size)
{
	struct xz x = { .most = most };
	int err = stream_unpack(&x, in, n);

	if (err)
		return err;
	x.most = x.n;
	x.out = mem_zalloc(x.most + !x.most);
	x.counters = mem_zalloc(sizeof(*x.counters));
	err = x.out && x.counters ? stream_unpack(&x, in, n) : -ENOMEM;
	mem_free(x.counters);
	if (err) {
		mem_free(x.out);
		return err;
	}
	*out = x.out;
	*size = x.n;
	return 0;
}
