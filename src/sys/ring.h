/* ring - the BPF ring buffer (5.8), read by its memory map. */
#ifndef SYS_RING_H
#define SYS_RING_H

#include <stddef.h>
#include <stdint.h>

struct ring {
	int fd;			/* the map, not owned; readable = has records */
	volatile unsigned long *consumer;	/* one page, ours to write */
	const char *producer;	/* one page, then the data twice over */
	size_t page, size;	/* bytes of data */
};

/* Map the ring buffer map `fd` of `size` bytes. 0 or -errno. */
int ring_open(struct ring *r, int fd, size_t size);
void ring_close(struct ring *r);

/* Hand every finished record to `take`; its data is valid during the call.
 * Returns how many, or -EBADMSG when the ring holds no sense. */
typedef void ring_take(void *arg, const void *data, size_t len);
int ring_read(struct ring *r, ring_take *take, void *arg);

#endif
