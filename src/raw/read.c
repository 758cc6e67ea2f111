/* read - reads raw files, which may be cut off, damaged, or not honest.
 *
 * Memory is in proportion to the file: no item costs more than a few dozen
 * times what it takes there. Depths of stacks are bounded, or a file that makes
 * one deep chain and many rows of it would take the square of its size to be
 * named. */
#include "raw/read.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/crc.h"
#include "raw/fields.h"

enum {
	ROOM = RAW_RECORD_MOST + 64,
	ITEMS_MOST = 1 << 26,		/* of each kind */
	CRC_SIZE = 4,
};

void raw_read_free(struct raw_reader *r)
{
	intern_free(&r->texts);
	intern_free(&r->end_texts);
	buf_free(&r->strings);
	vec_free(&r->string_at);
	vec_free(&r->files);
	vec_free(&r->file_paths);
	vec_free(&r->modules);
	vec_free(&r->module_names);
	vec_free(&r->tasks);
	vec_free(&r->frames);
	vec_free(&r->nodes);
	mem_free(r->bytes);
	r->bytes = NULL;
}

const char *raw_string(const struct raw_reader *r, uint32_t id)
{
	return r->strings.data + r->string_at.v[id];
}

struct raw_file raw_file(const struct raw_reader *r, uint32_t id)
{
	struct raw_file file = r->files.v[id];

	file.path = raw_string(r, r->file_paths.v[id]);
	return file;
}

struct raw_module raw_module(const struct raw_reader *r, uint32_t id)
{
	struct raw_module module = r->modules.v[id];

	module.name = raw_string(r, r->module_names.v[id]);
	return module;
}

/* Bytes */

/* The next n bytes (<= ROOM), or NULL: there are not so many. */
static const uint8_t *peek(struct raw_reader *r, size_t n)
{
	ssize_t got;

	if (r->have - r->at < n) {
		memmove(r->bytes, r->bytes + r->at, r->have - r->at);
		r->have -= r->at;
		r->at = 0;
	}
	while (r->have - r->at < n) {
		got = read(r->fd, r->bytes + r->have, r->room - r->have);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			r->err = -errno;
		if (got <= 0)
			return NULL;
		r->have += (size_t)got;
	}
	return r->bytes + r->at;
}

static void take(struct raw_reader *r, size_t n)
{
	r->crc = crc32_add(r->crc, r->bytes + r->at, n);
	r->at += n;
	r->offset += n;
}

/* Items */

/* False when they make no sense, or memory is out. */
static bool sensible(const struct raw_reader *r, const struct raw_cursor *in)
{
	return !in->bad && !r->err;
}

/* One more item of a kind, all zero; NULL, and r->err, when there are too
 * many. */
static void *item_new(struct raw_reader *r, void **v, size_t *n, size_t *cap,
		      size_t size)
{
	if (*n >= ITEMS_MOST || !vec_room(v, cap, *n + 1, size)) {
		r->err = -ENOMEM;
		return NULL;
	}
	return memset((char *)*v + size * (*n)++, 0, size);
}
#define ITEM_NEW(r, items) \
	item_new(r, (void **)&(items).v, &(items).n, &(items).cap, \
		 sizeof(*(items).v))

static void get_id(struct raw_cursor *in, uint8_t id[RAW_ID_MOST], size_t *len)
{
	const uint8_t *p = raw_get_bytes(in, len);

	if (*len > RAW_ID_MOST) {
		in->bad = true;
		*len = 0;
	}
	memcpy(id, p, *len);
}

static void get_string(struct raw_reader *r, struct raw_cursor *in)
{
	size_t n, *at;
	const uint8_t *p = raw_get_bytes(in, &n);

	if (n > RAW_STRING_MOST || memchr(p, '\0', n))
		in->bad = true;
	at = ITEM_NEW(r, r->string_at);
	if (!at)
		return;
	*at = r->strings.len;
	buf_mem(&r->strings, p, n);
	buf_putc(&r->strings, '\0');
	if (r->strings.err)
		r->err = r->strings.err;
}

static void get_file(struct raw_reader *r, struct raw_cursor *in)
{
	uint32_t *path = ITEM_NEW(r, r->file_paths);
	struct raw_file *f = ITEM_NEW(r, r->files);

	if (!path || !f)
		return;
	*path = raw_get_below(in, r->string_at.n);
	f->unread = raw_get(in);
	f->inode = raw_get(in);
	f->major = raw_get32(in);
	f->minor = raw_get32(in);
	get_id(in, f->id, &f->id_len);
	f->nsegments = raw_get_below(in, RAW_SEGMENTS_MOST + 1);
	for (size_t i = 0; i < f->nsegments; i++) {
		f->segments[i].offset = raw_get(in);
		f->segments[i].size = raw_get(in);
		f->segments[i].vaddr = raw_get(in);
	}
}

static void get_module(struct raw_reader *r, struct raw_cursor *in)
{
	uint32_t *name = ITEM_NEW(r, r->module_names);
	struct raw_module *m = ITEM_NEW(r, r->modules);

	if (!name || !m)
		return;
	*name = raw_get_below(in, r->string_at.n);
	m->base = raw_get(in);
	m->size = raw_get(in);
	get_id(in, m->id, &m->id_len);
}

static void get_task(struct raw_reader *r, struct raw_cursor *in)
{
	struct raw_task *t = ITEM_NEW(r, r->tasks);

	if (!t)
		return;
	t->comm = raw_get_below(in, r->string_at.n);
	t->pid = raw_get32(in);
}

/* How many things there are that a frame of the kind can be of. */
static size_t frame_ofs(const struct raw_reader *r, uint32_t kind)
{
	switch (kind) {
	case RAW_IN_FILE:
		return r->files.n;
	case RAW_IN_AREA:
	case RAW_NAMED:
	case RAW_JIT:
		return r->string_at.n;
	case RAW_IN_MODULE:
		return r->modules.n;
	default:
		return 1;
	}
}

/* The number of the frame. */
static uint32_t get_frame(struct raw_reader *r, struct raw_cursor *in)
{
	uint64_t code = raw_get(in), of = code >> 4;
	uint32_t kind = code >> 1 & 7;
	struct raw_frame *f;

	if (!(code & 1) && code >> 1 < r->frames.n)
		return (uint32_t)(code >> 1);
	if (!(code & 1) || of >= frame_ofs(r, kind)) {
		in->bad = true;
		return 0;
	}
	f = ITEM_NEW(r, r->frames);
	if (!f)
		return 0;
	*f = (struct raw_frame){ .of = (uint32_t)of, .kind = kind };
	if (kind == RAW_IN_KERNEL)
		f->at = (uint64_t)raw_get_signed(in);
	else if (raw_has_place(kind))
		f->at = raw_get(in);
	return (uint32_t)r->frames.n - 1;
}

static uint32_t get_stack(struct raw_reader *r, struct raw_cursor *in)
{
	uint32_t node = raw_get_below(in, r->nodes.n + 1);
	uint64_t n = raw_get(in);
	uint32_t depth = node ? r->nodes.v[node - 1].depth : 0;

	while (n-- && sensible(r, in)) {
		uint32_t frame = get_frame(r, in);
		struct raw_node *to = ITEM_NEW(r, r->nodes);

		if (!to)
			return 0;
		*to = (struct raw_node){ node, frame, ++depth };
		in->bad |= depth > RAW_DEPTH_MOST;
		node = (uint32_t)r->nodes.n;
	}
	return node;
}

static void get_side(struct raw_reader *r, struct raw_cursor *in,
		     uint64_t flags, struct raw_side *side)
{
	in->bad |= flags > UINT32_MAX;
	side->flags = (uint32_t)flags;
	side->task = raw_get_below(in, r->tasks.n);
	if (flags & RAW_USER)
		side->user = get_stack(r, in);
	if (flags & RAW_KERNEL)
		side->kernel = get_stack(r, in);
	if (flags & RAW_CALLER)
		side->caller = get_frame(r, in);
}

static int get_row(struct raw_reader *r, struct raw_cursor *in, uint64_t flags,
		   const struct raw_sink *sink)
{
	struct raw_row row = { { 0 } };

	get_side(r, in, flags, &row.side);
	for (unsigned i = 0; i < r->units; i++)
		row.values[i] = raw_get(in);
	if (flags & RAW_WAKER)
		get_side(r, in, raw_get(in), &row.waker);
	if (!sensible(r, in))
		return 0;
	r->rows++;
	return sink->row(sink->arg, r, &row);
}

static int get_item(struct raw_reader *r, struct raw_cursor *in,
		    const struct raw_sink *sink)
{
	uint64_t code = raw_get(in);

	switch (code & ((1 << RAW_ITEM_BITS) - 1)) {
	case RAW_STRING:
		get_string(r, in);
		break;
	case RAW_FILE:
		get_file(r, in);
		break;
	case RAW_MODULE:
		get_module(r, in);
		break;
	case RAW_TASK:
		get_task(r, in);
		break;
	case RAW_ROW:
		return get_row(r, in, code >> RAW_ITEM_BITS, sink);
	default:
		in->bad = true;
	}
	return 0;
}

/* Records. Of all that follow: 0; 1 when the content makes no sense; what is
 * negative ends the reading. */

enum { SENSELESS = 1 };

static int record_data(struct raw_reader *r, struct raw_cursor *in,
		       const struct raw_sink *sink)
{
	int err = 0;

	while (!err && in->p < in->end && sensible(r, in))
		err = get_item(r, in, sink);
	return err ? err : r->err ? r->err : in->bad ? SENSELESS : 0;
}

static int record_head(struct raw_reader *r, struct raw_cursor *in,
		       const struct raw_sink *sink)
{
	int err = raw_get_head(in, &r->texts, &r->head);

	while (r->units < RAW_UNITS_MOST && r->head.units[r->units])
		r->units++;
	if (err == -EINVAL || (!err && (!r->units || !r->head.command)))
		return SENSELESS;
	return err || !sink->head ? err : sink->head(sink->arg, r);
}

static int record_note(struct raw_cursor *in, const struct raw_sink *sink)
{
	struct buf text = { 0 };
	int err;

	if (!sink->note)
		return 0;
	buf_mem(&text, in->p, (size_t)(in->end - in->p));
	err = sink->note(sink->arg, buf_str(&text));
	if (text.err)
		err = text.err;
	buf_free(&text);
	return err;
}

static int record_end(struct raw_reader *r, struct raw_cursor *in)
{
	int err = raw_get_end(in, &r->end_texts, &r->end);

	return err == -EINVAL ? SENSELESS : err;
}

static int record_use(struct raw_reader *r, uint8_t type,
		      struct raw_cursor *in, const struct raw_sink *sink)
{
	if ((type == RAW_HEAD) != !r->head.command)
		return SENSELESS;
	switch (type) {
	case RAW_HEAD:
		return record_head(r, in, sink);
	case RAW_DATA:
		return record_data(r, in, sink);
	case RAW_NOTE:
		return record_note(in, sink);
	case RAW_END:
		return record_end(r, in);
	default:
		return 0;
	}
}

/* How long the record's start is and its content; 0: the file ends, or
 * (r->state) there is none. */
static size_t record_measure(struct raw_reader *r, size_t *content)
{
	for (size_t n = 2; n <= 4; n++) {
		const uint8_t *p = peek(r, n);
		struct raw_cursor in;

		if (!p)
			return 0;
		in = (struct raw_cursor){ .p = p + 1, .end = p + n };
		*content = (size_t)raw_get(&in);
		if (!in.bad && *content <= RAW_RECORD_MOST)
			return n;
	}
	r->state = RAW_DAMAGED;
	return 0;
}

static uint32_t crc_at(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

/* One record; *type 0 at the end of the file, in whatever state. */
static int record_read(struct raw_reader *r, const struct raw_sink *sink,
		       uint8_t *type)
{
	size_t content = 0, start = record_measure(r, &content);
	const uint8_t *p = start ? peek(r, start + content + CRC_SIZE) : NULL;
	struct raw_cursor in;
	int err;

	*type = 0;
	if (!p)
		return r->err;
	if (crc32_add(r->crc, p, start + content) !=
	    crc_at(p + start + content)) {
		r->state = RAW_DAMAGED;
		return 0;
	}
	in = (struct raw_cursor){ .p = p + start, .end = p + start + content };
	err = record_use(r, p[0], &in, sink);
	if (err == SENSELESS && !r->err) {
		r->state = RAW_SENSELESS;
		return 0;
	}
	*type = p[0];
	if (!err)
		take(r, start + content + CRC_SIZE);
	return err;
}

/* A serial line adds a carriage return to each end of a line, or takes it. */
static enum raw_state state_of_start(const uint8_t *p, size_t n)
{
	static const char *const edited[] = {
		"\223sonde\n", "\223sonde\r\r\n", "\023sonde",
	};

	for (size_t i = 0; i < sizeof(edited) / sizeof(*edited); i++)
		if (n >= strlen(edited[i]) &&
		    !memcmp(p, edited[i], strlen(edited[i])))
			return RAW_NO_CLEAR_LINE;
	return n < RAW_MAGIC_SIZE && !memcmp(p, RAW_MAGIC, n) ?
	       RAW_CUT : RAW_NO_RAW;
}

static bool start_read(struct raw_reader *r)
{
	const uint8_t *p = peek(r, RAW_MAGIC_SIZE + 2);
	size_t have = r->have - r->at;

	if (have < RAW_MAGIC_SIZE || memcmp(r->bytes, RAW_MAGIC,
					    RAW_MAGIC_SIZE)) {
		r->state = state_of_start(r->bytes, have);
		r->offset = r->state == RAW_CUT ? have : 0;
		return false;
	}
	if (!p) {
		r->offset = have;
		return false;
	}
	r->major = p[RAW_MAGIC_SIZE];
	r->minor = p[RAW_MAGIC_SIZE + 1];
	r->state = r->major == RAW_MAJOR ? RAW_CUT : RAW_NEWER;
	take(r, RAW_MAGIC_SIZE + 2);
	return r->state == RAW_CUT;
}

bool raw_begins(const void *p, size_t n)
{
	enum { BEFORE_LINE_END = 6 };

	return n >= BEFORE_LINE_END && !memcmp(p, RAW_MAGIC, BEFORE_LINE_END);
}

static int records_read(struct raw_reader *r, const struct raw_sink *sink)
{
	uint8_t type = 0;
	int err;

	do
		err = record_read(r, sink, &type);
	while (!err && type && type != RAW_END);
	if (err || r->state != RAW_CUT)
		return err;
	if (type == RAW_END) {
		r->state = RAW_WHOLE;
		r->more = peek(r, 1) != NULL;
		peek(r, RAW_MAGIC_SIZE);
		r->another = raw_begins(r->bytes + r->at, r->have - r->at);
		r->err = 0;
		return 0;
	}
	r->offset += r->have - r->at;
	return 0;
}

int raw_read(struct raw_reader *r, int fd, const void *start, size_t n,
	     const struct raw_sink *sink)
{
	*r = (struct raw_reader){
		.fd = fd, .state = RAW_CUT, .room = ROOM + n, .have = n,
	};
	r->bytes = mem_zalloc(r->room);
	if (!r->bytes)
		return -ENOMEM;
	if (n)
		memcpy(r->bytes, start, n);
	if (!start_read(r))
		return r->err;
	return records_read(r, sink);
}
