/* order - records of all CPUs, in the order of their times. */
#include "trace/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void order_free(struct order *o)
{
	mem_free(o->bytes);
	mem_free(o->items);
	*o = (struct order){ 0 };
}

int order_put(struct order *o, uint64_t time, const void *data, size_t len)
{
	size_t room = (len + 7) & ~(size_t)7;

	if (!vec_room((void **)&o->bytes, &o->bytes_cap, o->len + room, 1) ||
	    !vec_room((void **)&o->items, &o->items_cap, o->n + 1,
		      sizeof(*o->items)))
		return -ENOMEM;
	memcpy(o->bytes + o->len, data, len);
	o->items[o->n++] = (struct order_item){
		.time = time, .len = (uint32_t)len, .off = o->len,
	};
	o->len += room;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct order_item *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->off < y->off ? -1 : x->off > y->off;
}

/* Records of one ring come nearly sorted: they are sorted only from the first
 * one on that is out of order, and there is mostly none. */
static void order_sort(struct order *o)
{
	size_t i = 1;

	while (i < o->n && o->items[i - 1].time <= o->items[i].time)
		i++;
	if (i < o->n)
		qsort(o->items, o->n, sizeof(*o->items), by_time);
}

/* What is left moves to the front; its bytes in the order of the items. */
static int order_keep(struct order *o, size_t from)
{
	size_t left = o->n - from, len = 0;
	char *bytes;

	for (size_t i = from; i < o->n; i++)
		len += (o->items[i].len + 7u) & ~7u;
	bytes = left ? mem_zalloc(len) : NULL;
	if (left && !bytes)
		return -ENOMEM;
	len = 0;
	for (size_t i = from; i < o->n; i++) {
		struct order_item *item = &o->items[i - from];

		*item = o->items[i];
		memcpy(bytes + len, o->bytes + item->off, item->len);
		item->off = len;
		len += (item->len + 7u) & ~7u;
	}
	if (left)
		memcpy(o->bytes, bytes, len);
	mem_free(bytes);
	o->n = left;
	o->len = len;
	return 0;
}

int order_take(struct order *o, uint64_t until,
	       int (*fn)(void *arg, const void *data, size_t len), void *arg)
{
	size_t i;
	int err = 0;

	order_sort(o);
	for (i = 0; !err && i < o->n && o->items[i].time <= until; i++)
		err = fn(arg, o->bytes + o->items[i].off, o->items[i].len);
	if (!err)
		return order_keep(o, i);
	o->n = o->len = 0;
	return err;
}
