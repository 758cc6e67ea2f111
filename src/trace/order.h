/* order - records of all CPUs, in the order of their times. */
#ifndef TRACE_ORDER_H
#define TRACE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* A record waits ORDER_WINDOW_NS after its time, for others that were made
 * before it may still be on their way: between the clock and the ring lie some
 * microseconds, or the time for which a task or a virtual CPU is preempted. */
enum { ORDER_WINDOW_NS = 20000000 };

/* All zero is empty. */
struct order {
	char *bytes;			/* the records, each at 8 bytes */
	size_t len, bytes_cap;
	struct order_item {
		uint64_t time;		/* CLOCK_MONOTONIC, ns */
		uint32_t len;
		size_t off;		/* in `bytes` */
	} *items;
	size_t n, items_cap;
};

void order_free(struct order *o);

/* Keep a copy of a record. 0 or -ENOMEM. */
int order_put(struct order *o, uint64_t time, const void *data, size_t len);

/* Hand over, and forget, the records up to that time, equal times in the order
 * in which they came. What `fn` returns other than 0 ends it and is returned;
 * the rest is then forgotten, too. 0 or -ENOMEM. */
int order_take(struct order *o, uint64_t until,
	       int (*fn)(void *arg, const void *data, size_t len), void *arg);

#endif
