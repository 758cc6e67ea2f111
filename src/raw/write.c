/* write - writes raw files: what format.h describes. */
#include "raw/write.h"

#include <errno.h>
#include <string.h>

#include "raw/crc.h"
#include "raw/fields.h"

enum {
	DATA_ENOUGH = 1024,	/* bytes of items that make a record */
	STRING_MOST = 8192,	/* longer ones are cut */
};

static void put_bytes(struct raw_writer *w, const void *p, size_t n)
{
	fwrite(p, 1, n, w->to);
	w->crc = crc_add(w->crc, p, n);
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
	intern_free(&w->frames);
	intern_free(&w->nodes);
}

uint32_t raw_write_string(struct raw_writer *w, const char *s, size_t n)
{
	uint32_t id;

	if (n > STRING_MOST)
		n = STRING_MOST;
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
	raw_put(to, 0);
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

uint32_t raw_write_frame(struct raw_writer *w, const struct raw_frame *frame)
{
	uint32_t id;

	if (!is_new(w, &w->frames, frame, sizeof(*frame), &id))
		return id;
	buf_putc(&w->data, RAW_FRAME);
	raw_put(&w->data, frame->kind);
	raw_put(&w->data, frame->of);
	if (frame->kind == RAW_IN_KERNEL)
		raw_put_signed(&w->data, (int64_t)frame->at);
	else
		raw_put(&w->data, frame->at);
	item_end(w);
	return id;
}

uint32_t raw_write_stack(struct raw_writer *w, const uint32_t *frames,
			 size_t n)
{
	uint32_t node = 0, next;
	bool made = false;

	while (n--) {
		uint32_t key[2] = { node, frames[n] };

		if (is_new(w, &w->nodes, key, sizeof(key), &next) && !made) {
			made = true;	/* and so are all that follow */
			buf_putc(&w->data, RAW_CHAIN);
			raw_put(&w->data, node);
			raw_put(&w->data, n + 1);
		}
		if (made)
			raw_put(&w->data, frames[n]);
		node = next + 1;
	}
	item_end(w);
	return w->err ? 0 : node;
}

static void put_side(struct buf *to, const struct raw_side *side)
{
	raw_put(to, side->flags);
	raw_put(to, side->comm);
	raw_put(to, side->pid);
	raw_put(to, side->user);
	raw_put(to, side->kernel);
	if (side->flags & RAW_CALLER)
		raw_put(to, side->caller);
}

void raw_write_row(struct raw_writer *w, const struct raw_row *row,
		   unsigned units)
{
	buf_putc(&w->data, RAW_ROW);
	put_side(&w->data, &row->side);
	for (unsigned i = 0; i < units; i++)
		raw_put(&w->data, row->values[i]);
	if (row->side.flags & RAW_WAKER)
		put_side(&w->data, &row->waker);
	w->rows++;
	item_end(w);
}

void raw_write_note(struct raw_writer *w, const char *text)
{
	struct buf content = { 0 };
	size_t n = strlen(text);

	data_flush(w);
	buf_mem(&content, text, n < STRING_MOST ? n : STRING_MOST);
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
