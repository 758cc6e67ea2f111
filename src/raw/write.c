/* write - writes raw files: what format.h describes. */
#include "raw/write.h"

#include <errno.h>
#include <string.h>

#include "base/crc.h"
#include "raw/fields.h"

enum {
	DATA_ENOUGH = 1024,	/* bytes of items that make a record */
};

static void put_bytes(struct raw_writer *w, const void *p, size_t n)
{
	fwrite(p, 1, n, w->to);
	w->crc = crc32_add(w->crc, p, n);
}

static void put_record(struct raw_writer *w, enum raw_record type,
		       const struct buf *content)
{
	struct buf start = { 0 };
	uint8_t crc[4];

	buf_putc(&start, (char)type);
	raw_put(&start, content->len);
	if (!w->err)
		w->err = content->err ? content->err : start.err;
	if (!w->err) {
		put_bytes(w, start.data, start.len);
		put_bytes(w, content->data, content->len);
		for (int i = 0; i < 4; i++)
			crc[i] = (uint8_t)(w->crc >> 8 * i);
		put_bytes(w, crc, sizeof(crc));
	}
	buf_free(&start);
}

static void data_flush(struct raw_writer *w)
{
	if (w->data.len || w->data.err)
		put_record(w, RAW_DATA, &w->data);
	buf_reset(&w->data);
}

/* An item is complete. */
static void item_end(struct raw_writer *w)
{
	if (w->data.len >= DATA_ENOUGH || w->data.err)
		data_flush(w);
}

/* The key's number, in *id; true when it is new. */
static bool is_new(struct raw_writer *w, struct intern *t, const void *key,
		   size_t n, uint32_t *id)
{
	size_t before = t->n;
	int64_t put = w->err ? w->err : intern_put(t, key, n);

	*id = put < 0 ? 0 : (uint32_t)put;
	if (put < 0)
		w->err = (int)put;
	return put >= 0 && t->n > before;
}

void raw_write_begin(struct raw_writer *w, FILE *to,
		     const struct raw_head *head)
{
	static const uint8_t version[] = { RAW_MAJOR, RAW_MINOR };
	struct buf content = { 0 };

	*w = (struct raw_writer){ .to = to };
	put_bytes(w, RAW_MAGIC, RAW_MAGIC_SIZE);
	put_bytes(w, version, sizeof(version));
	raw_put_head(&content, head);
	put_record(w, RAW_HEAD, &content);
	buf_free(&content);
}

void raw_write_free(struct raw_writer *w)
{
	buf_free(&w->data);
	intern_free(&w->strings);
	intern_free(&w->tasks);
	intern_free(&w->frames);
	intern_free(&w->nodes);
}

uint32_t raw_write_string(struct raw_writer *w, const char *s, size_t n)
{
	uint32_t id;

	if (n > RAW_STRING_MOST)
		n = RAW_STRING_MOST;
	if (!is_new(w, &w->strings, s, n, &id))
		return id;
	buf_putc(&w->data, RAW_STRING);
	raw_put_bytes(&w->data, s, n);
	item_end(w);
	return id;
}

uint32_t raw_write_file(struct raw_writer *w, const struct raw_file *file)
{
	uint32_t path = raw_write_string(w, file->path, strlen(file->path));
	struct buf *to = &w->data;

	buf_putc(to, RAW_FILE);
	raw_put(to, path);
	raw_put(to, file->unread);
	raw_put(to, file->inode);
	raw_put(to, file->major);
	raw_put(to, file->minor);
	raw_put_bytes(to, file->id, file->id_len);
	raw_put(to, file->nsegments);
	for (size_t i = 0; i < file->nsegments; i++) {
		raw_put(to, file->segments[i].offset);
		raw_put(to, file->segments[i].size);
		raw_put(to, file->segments[i].vaddr);
	}
	item_end(w);
	return w->files++;
}

uint32_t raw_write_module(struct raw_writer *w,
			  const struct raw_module *module)
{
	uint32_t name = raw_write_string(w, module->name,
					 strlen(module->name));

	buf_putc(&w->data, RAW_MODULE);
	raw_put(&w->data, name);
	raw_put(&w->data, module->base);
	raw_put(&w->data, module->size);
	raw_put_bytes(&w->data, module->id, module->id_len);
	item_end(w);
	return w->modules++;
}

uint32_t raw_write_task(struct raw_writer *w, const char *comm, size_t n,
			uint32_t pid)
{
	uint32_t key[2] = { raw_write_string(w, comm, n), pid }, id;

	if (!is_new(w, &w->tasks, key, sizeof(key), &id))
		return id;
	buf_putc(&w->data, RAW_TASK);
	raw_put(&w->data, key[0]);
	raw_put(&w->data, key[1]);
	item_end(w);
	return id;
}

static uint32_t put_frame(struct raw_writer *w, const struct raw_frame *f)
{
	struct buf *to = &w->data;
	uint32_t id;

	if (!is_new(w, &w->frames, f, sizeof(*f), &id)) {
		raw_put(to, (uint64_t)id << 1);
		return id;
	}
	raw_put(to, (uint64_t)f->of << 4 | f->kind << 1 | 1);
	if (f->kind == RAW_IN_KERNEL)
		raw_put_signed(to, (int64_t)f->at);
	else if (raw_has_place(f->kind))
		raw_put(to, f->at);
	return id;
}

/* The node that a frame makes if it is called from a node; 0: none yet. */
static uint32_t node_find(const struct raw_writer *w, uint32_t from,
			  const struct raw_frame *f)
{
	int64_t frame = intern_find(&w->frames, f, sizeof(*f));
	uint32_t key[2] = { from, (uint32_t)frame };
	int64_t id = frame < 0 ? frame :
		     intern_find(&w->nodes, key, sizeof(key));

	return id < 0 ? 0 : (uint32_t)id + 1;
}

static void put_stack(struct raw_writer *w, const struct raw_frame *frames,
		      size_t n)
{
	uint32_t node = 0, next;

	while (n && (next = node_find(w, node, &frames[n - 1]))) {
		node = next;
		n--;
	}
	raw_put(&w->data, node);
	raw_put(&w->data, n);
	while (n--) {
		uint32_t key[2] = { node, put_frame(w, &frames[n]) };

		is_new(w, &w->nodes, key, sizeof(key), &next);
		node = next + 1;
	}
}

static void put_side(struct raw_writer *w, const struct raw_side_out *side)
{
	raw_put(&w->data, side->task);
	if (side->nuser)
		put_stack(w, side->user, side->nuser);
	if (side->nkernel)
		put_stack(w, side->kernel, side->nkernel);
	if (side->flags & RAW_CALLER)
		put_frame(w, &side->caller);
}

static uint32_t flags_of(const struct raw_side_out *side)
{
	return side->flags | (side->nuser ? RAW_USER : 0) |
	       (side->nkernel ? RAW_KERNEL : 0);
}

void raw_write_row(struct raw_writer *w, const struct raw_side_out *side,
		   const struct raw_side_out *waker, const uint64_t *values,
		   unsigned units)
{
	uint32_t flags = flags_of(side) | (waker ? RAW_WAKER : 0);

	raw_put(&w->data, RAW_ROW | flags << RAW_ITEM_BITS);
	put_side(w, side);
	for (unsigned i = 0; i < units; i++)
		raw_put(&w->data, values[i]);
	if (waker) {
		raw_put(&w->data, flags_of(waker));
		put_side(w, waker);
	}
	w->rows++;
	item_end(w);
}

void raw_write_note(struct raw_writer *w, const char *text)
{
	struct buf content = { 0 };
	size_t n = strlen(text);

	data_flush(w);
	buf_mem(&content, text, n < RAW_STRING_MOST ? n : RAW_STRING_MOST);
	put_record(w, RAW_NOTE, &content);
	buf_free(&content);
}

int raw_write_end(struct raw_writer *w, struct raw_end *end)
{
	struct buf content = { 0 };

	data_flush(w);
	end->rows = w->rows;
	raw_put_end(&content, end);
	put_record(w, RAW_END, &content);
	buf_free(&content);
	return w->err;
}
