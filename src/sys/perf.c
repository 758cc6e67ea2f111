/* perf - the perf_event_open(2) system call and its rings. */
#include "sys/perf.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/vec.h"

enum { RECORD_MAX = 64 << 10 };		/* the header's size is 16 bits */

static int open_event(struct perf_event_attr *attr, int pid, int cpu,
		      unsigned long flags)
{
	long fd;

	attr->size = sizeof(*attr);
	fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1,
		     flags | PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

int perf_open(struct perf_event_attr *attr, int pid, int cpu)
{
	return open_event(attr, pid, cpu, 0);
}

int perf_open_cgroup(struct perf_event_attr *attr, int cgroup_fd, int cpu)
{
	return open_event(attr, cgroup_fd, cpu, PERF_FLAG_PID_CGROUP);
}

int perf_enable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

int perf_disable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}

int perf_set_bpf(int fd, int prog_fd)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd) ? -errno : 0;
}

int perf_set_period(int fd, uint64_t period)
{
	return ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) ? -errno : 0;
}

int perf_ring_open(struct perf_ring *r, int fd, unsigned order)
{
	*r = (struct perf_ring){ .fd = fd };
	r->page = (size_t)sysconf(_SC_PAGESIZE);
	r->size = r->page << order;
	r->record = mem_zalloc(RECORD_MAX);
	if (!r->record)
		return -ENOMEM;
	r->base = mmap(NULL, r->page + r->size, PROT_READ | PROT_WRITE,
		       MAP_SHARED, fd, 0);
	if (r->base == MAP_FAILED) {
		int err = errno;

		r->base = NULL;
		perf_ring_close(r);
		return -err;
	}
	return 0;
}

void perf_ring_close(struct perf_ring *r)
{
	if (r->base)
		munmap(r->base, r->page + r->size);
	mem_free(r->record);
	r->base = r->record = NULL;
}

/* Copy n bytes from the data at `pos`, which counts on beyond the end. */
static void ring_copy(const struct perf_ring *r, uint64_t pos, void *to,
		      size_t n)
{
	const char *data = (const char *)r->base + r->page;
	size_t at = (size_t)(pos & (r->size - 1));
	size_t first = n < r->size - at ? n : r->size - at;

	memcpy(to, data + at, first);
	memcpy((char *)to + first, data, n - first);
}

int perf_ring_read(struct perf_ring *r, perf_take *take, void *arg)
{
	struct perf_event_mmap_page *ctl = r->base;
	uint64_t head = __atomic_load_n(&ctl->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ctl->data_tail;
	int n = 0;

	while (tail < head) {
		struct perf_event_header h;

		ring_copy(r, tail, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - tail) {
			n = -EBADMSG;
			tail = head;
			break;
		}
		ring_copy(r, tail, r->record, h.size);
		take(arg, r->record);
		tail += h.size;
		n++;
	}
	__atomic_store_n(&ctl->data_tail, tail, __ATOMIC_RELEASE);
	return n;
}
