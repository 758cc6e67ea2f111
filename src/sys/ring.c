/* ring - the BPF ring buffer (5.8), read by its memory map.
 *
 * Layout (kernel/bpf/ringbuf.c): a page with the consumer's position, a page
 * with the producer's, then the data, mapped twice in a row so that a record
 * is contiguous even where it wraps. A record is an 8-byte header, whose first
 * word is the length with two flag bits, and the data, rounded up to 8. */
#include "sys/ring.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "uapi.h"

int ring_open(struct ring *r, int fd, size_t size)
{
	void *p;

	*r = (struct ring){ .fd = fd, .size = size };
	r->page = (size_t)sysconf(_SC_PAGESIZE);
	p = mmap(NULL, r->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	r->consumer = p;
	p = mmap(NULL, r->page + 2 * size, PROT_READ, MAP_SHARED, fd,
		 (off_t)r->page);
	if (p == MAP_FAILED) {
		int err = errno;

		ring_close(r);
		return -err;
	}
	r->producer = p;
	return 0;
}

void ring_close(struct ring *r)
{
	if (r->consumer)
		munmap((void *)r->consumer, r->page);
	if (r->producer)
		munmap((void *)r->producer, r->page + 2 * r->size);
	*r = (struct ring){ .fd = -1 };
}

int ring_read(struct ring *r, ring_take *take, void *arg)
{
	/* What comes meanwhile waits for the next call: a reader that is
	 * slower than the writers must not stay here for good. */
	unsigned long end = __atomic_load_n(
		(const unsigned long *)(const void *)r->producer,
		__ATOMIC_ACQUIRE);
	const char *data = r->producer + r->page;
	unsigned long at = *r->consumer;
	int n = 0;

	while ((long)(end - at) > 0) {	/* 32 bits wrap around */
		const uint32_t *header =
			(const void *)(data + (at & (r->size - 1)));
		uint32_t word = __atomic_load_n(header, __ATOMIC_ACQUIRE);
		size_t len = word & ~(BPF_RINGBUF_BUSY_BIT |
				      BPF_RINGBUF_DISCARD_BIT);

		if (word & BPF_RINGBUF_BUSY_BIT)
			break;		/* still being written */
		if (len > r->size)
			return -EBADMSG;
		if (!(word & BPF_RINGBUF_DISCARD_BIT)) {
			take(arg, header + 2, len);
			n++;
		}
		at += (BPF_RINGBUF_HDR_SZ + len + 7) & ~7ul;
		__atomic_store_n(r->consumer, at, __ATOMIC_RELEASE);
	}
	return n;
}
