/* callchains - samples from perf rings, counted in user space.
 *
 * Each CPU has a ring of its own, and a process moves between CPUs, so an exec
 * in one ring may come before a sample in another. What is read is therefore
 * put in the order of its times before it is used. A record can only be older
 * than what was already used if it was on its way into its ring while that was
 * read: those of the last milliseconds wait for the next reading.
 */
#include "trace/callchains.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/vec.h"
#include "sym/caller.h"
#include "sys/advice.h"
#include "sys/fs.h"
#include "sys/host.h"
#include "trace/records.h"
#include "trace/sampling.h"

enum {
	RING_ORDER = 7,			/* pages a CPU, as a power of two: what
					 * a user may lock by default */
	RING_ORDER_SMALL = 4,
	SETTLE_NS = 5000000,		/* a record is in its ring by then */
};

struct pending_record {
	uint64_t time;
	size_t at;			/* in pending */
};

struct chain_event {
	int fd;
	uint64_t cpu;
};

struct task_comm {
	char text[COMM_SIZE];
};

/* PERF_RECORD_SAMPLE as asked for: TID, TIME, CALLCHAIN; where there is a link
 * register, REGS_USER follows the frames: what kind, and that register. Else,
 * for samples that are not counted, STACK_USER does: size, the word that the
 * stack pointer points at, how much of it was read. */
struct body_sample {
	uint32_t pid, tid;
	uint64_t time;
	uint64_t n;
	uint64_t frames[];
};

enum { REG_LR = 30 };	/* PERF_REG_ARM64_LR: asm/perf_regs.h of aarch64 */

/* The other records end with it (sample_id_all). */
struct body_id {
	uint32_t pid, tid;
	uint64_t time;
};

/* Opening */

static void set_attr(const struct callchains *c, struct perf_event_attr *attr)
{
	const struct sample_spec *sample = &c->spec->sample;

	memset(attr, 0, sizeof(*attr));
	sample_spec_apply(sample, attr);
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			    PERF_SAMPLE_CALLCHAIN;
	if (caller_is_linked()) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user = 1ull << REG_LR;
	} else if (c->spec->take && !c->spec->switches) {
		attr->sample_type |= PERF_SAMPLE_STACK_USER;
		attr->sample_stack_user = 8;
	}
	attr->sample_id_all = 1;
	attr->disabled = 1;
	attr->exclude_kernel = !c->kernel;
	attr->exclude_hv = 1;
	attr->exclude_callchain_kernel = !c->spec->kernel || !c->kernel;
	attr->exclude_callchain_user = !c->spec->user;
	attr->mmap = attr->mmap2 = 1;
	attr->comm = attr->comm_exec = attr->task = 1;
	attr->context_switch = c->spec->switches != NULL;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->inherit = !c->everything;
	attr->inherit_thread = attr->inherit && !sample->child;
	attr->enable_on_exec = sample->child != 0;
	attr->watermark = 1;
	attr->wakeup_watermark = (uint32_t)sysconf(_SC_PAGESIZE) << 2;
}

static struct perf_ring *ring_of(struct callchains *c, uint64_t cpu)
{
	for (size_t i = 0; i < c->rings.n; i++)
		if (c->cpus.v[i] == cpu)
			return &c->rings.v[i];
	return NULL;
}

/* A ring as large as the host lets us have. */
static int ring_add(struct callchains *c, uint64_t cpu, int fd)
{
	unsigned order = host_memory() < (uint64_t)256 << 20 ? RING_ORDER_SMALL
							    : RING_ORDER;
	struct perf_ring *ring = vec_push(&c->rings);
	uint64_t *of = vec_push(&c->cpus);
	int err = ring && of ? -EPERM : -ENOMEM;

	for (; err == -EPERM && order; order--)
		err = perf_ring_open(ring, fd, order);
	if (err) {
		c->rings.n -= ring != NULL;
		c->cpus.n -= of != NULL;
		c->ring_failed = true;
		return err;
	}
	*of = cpu;
	return 0;
}

static int ring_share(struct callchains *c, uint64_t cpu, int fd)
{
	struct perf_ring *ring = ring_of(c, cpu);

	if (!ring)
		return ring_add(c, cpu, fd);
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) ? -errno : 0;
}

static int open_event(const struct callchains *c,
		      struct perf_event_attr *attr, int pid, uint64_t cpu)
{
	int cgroup = c->spec->sample.cgroup_fd;

	return cgroup >= 0 ? perf_open_cgroup(attr, cgroup, (int)cpu) :
			     perf_open(attr, pid, (int)cpu);
}

static int open_one(struct callchains *c, int pid, uint64_t cpu)
{
	struct perf_event_attr attr;
	struct chain_event *slot;
	int fd, err;

	set_attr(c, &attr);
	fd = open_event(c, &attr, pid, cpu);
	/* Before 5.13 other processes inherit it as well, and are left out. */
	if (fd == -EINVAL && attr.inherit_thread) {
		attr.inherit_thread = 0;
		fd = open_event(c, &attr, pid, cpu);
	}
	if (fd < 0)
		return fd;
	slot = vec_push(&c->events);
	err = slot ? ring_share(c, cpu, fd) : -ENOMEM;
	if (err) {
		close(fd);
		c->events.n -= slot != NULL;
		return err;
	}
	*slot = (struct chain_event){ fd, cpu };
	return 0;
}

/* Every thread of a process; those that start later inherit the event. */
static int open_process(struct callchains *c, uint64_t pid, uint64_t cpu)
{
	struct num_list tids = { 0 };
	int err = host_threads(pid, &tids);

	for (size_t i = 0; !err && i < tids.n; i++) {
		err = open_one(c, (int)tids.v[i], cpu);
		if (err == -ESRCH)	/* ended meanwhile */
			err = 0;
	}
	vec_free(&tids);
	return err;
}

static int open_cpu(struct callchains *c, uint64_t cpu)
{
	const struct sampling_spec *spec = c->spec;
	int err = 0;

	if (spec->sample.cpu >= 0 && (uint64_t)spec->sample.cpu != cpu)
		return 0;
	if (c->everything)
		return open_one(c, -1, cpu);
	if (spec->sample.child)
		return open_one(c, spec->sample.child, cpu);
	for (size_t i = 0; !err && i < spec->pids.n; i++)
		err = open_process(c, spec->pids.v[i], cpu);
	for (size_t i = 0; !err && i < spec->tids.n; i++)
		err = open_one(c, (int)spec->tids.v[i], cpu);
	return err;
}

static int open_cpus(struct callchains *c)
{
	struct num_list cpus = { 0 };
	int err = host_cpus_online(&cpus);

	for (size_t i = 0; !err && i < cpus.n; i++) {
		err = open_cpu(c, cpus.v[i]);
		if (err == -ENODEV)	/* went offline meanwhile */
			err = 0;
	}
	vec_free(&cpus);
	return err ? err : c->rings.n ? 0 : -ENODEV;
}

/* Nobody but a privileged user may sample all processes, or the kernel. */
static void set_scope(struct callchains *c)
{
	const struct sampling_spec *spec = c->spec;
	struct pid_namespace ns = { .initial = true };
	long long paranoid = 2;
	bool privileged = host_has_capability(CAPABILITY_SYS_ADMIN) ||
			  host_has_capability(CAPABILITY_PERFMON);

	fs_read_num(FS_PROC, "sys/kernel/perf_event_paranoid", &paranoid);
	host_pid_namespace(&ns);
	c->in_namespace = !ns.initial;
	c->kernel = privileged || paranoid < 2;
	c->everything = (privileged || paranoid < 1) && !spec->sample.child;
}

/* What runs in the kernel is then not even counted. */
static void say_scope(const struct callchains *c)
{
	if (c->kernel || !c->spec->kernel)
		return;
	log_notice("time in the kernel is left out: user stacks only");
	advice(OP_PERF_KERNEL, -EACCES);
}

/* What happens in the kernel alone would be an empty result. */
static int refuse_kernel(const struct callchains *c)
{
	const struct sampling_spec *spec = c->spec;

	log_error("%s: %s: only the kernel has these, and it is not ours to "
		  "see", spec->command,
		  spec->user ? spec->sample.event->name : "kernel stacks");
	advice(OP_PERF_KERNEL, -EACCES);
	return -EACCES;
}

static void say_ring_failed(const char *command, int err)
{
	log_error("%s: cannot map a ring for samples: %s", command,
		  log_errno(err));
	advice(OP_PERF_RING, err);
}

int callchains_open(struct callchains *c, const struct sampling_spec *spec,
		    struct naming *naming, struct stacks *stacks)
{
	bool tasks = spec->sample.child || spec->pids.n || spec->tids.n;
	int err;

	*c = (struct callchains){
		.spec = spec, .naming = naming, .stacks = stacks,
	};
	set_scope(c);
	if (!c->kernel && (!spec->user || sample_is_kernels(&spec->sample)))
		return refuse_kernel(c);
	if (!c->everything && !tasks)
		err = -EACCES;
	else
		err = open_cpus(c);
	if (err && c->ring_failed)
		say_ring_failed(spec->command, err);
	else if (err)
		sample_spec_failed(&spec->sample, spec->command,
				   c->everything || !tasks ? OP_PERF_OPEN
							   : OP_PERF_TASK,
				   err);
	else
		say_scope(c);
	return err;
}

void callchains_close(struct callchains *c)
{
	for (size_t i = 0; i < c->rings.n; i++)
		perf_ring_close(&c->rings.v[i]);
	for (size_t i = 0; i < c->events.n; i++)
		close(c->events.v[i].fd);
	vec_free(&c->rings);
	vec_free(&c->cpus);
	vec_free(&c->events);
	buf_free(&c->pending);
	vec_free(&c->order);
	intern_free(&c->tasks);
	vec_free(&c->comms);
	intern_free(&c->processes);
	vec_free(&c->gens);
	intern_free(&c->gone);
}

static int ring_watch(const struct perf_ring *ring, int epoll_fd)
{
	struct epoll_event e = { .events = EPOLLIN };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, ring->fd, &e) ? -errno : 0;
}

int callchains_watch(const struct callchains *c, int epoll_fd)
{
	int err = 0;

	for (size_t i = 0; !err && i < c->rings.n; i++)
		err = ring_watch(&c->rings.v[i], epoll_fd);
	return err;
}

static int enable_from(struct callchains *c, size_t first)
{
	int err = 0;

	for (; !err && first < c->events.n; first++)
		err = perf_enable(c->events.v[first].fd);
	return err;
}

int callchains_enable(struct callchains *c)
{
	return enable_from(c, 0);
}

void callchains_disable(struct callchains *c)
{
	for (size_t i = 0; i < c->events.n; i++)
		perf_disable(c->events.v[i].fd);
}

int callchains_period(struct callchains *c, uint64_t ns)
{
	int err = 0;

	for (size_t i = 0; !err && i < c->events.n; i++)
		err = perf_set_period(c->events.v[i].fd, ns);
	return err;
}

void callchains_cpu_gone(struct callchains *c, uint64_t cpu)
{
	size_t n = 0;

	callchains_read(c, false);
	for (size_t i = 0; i < c->rings.n; i++) {
		if (c->cpus.v[i] != cpu)
			continue;
		perf_ring_close(&c->rings.v[i]);
		c->rings.v[i] = c->rings.v[--c->rings.n];
		c->cpus.v[i] = c->cpus.v[--c->cpus.n];
	}
	for (size_t i = 0; i < c->events.n; i++) {
		if (c->events.v[i].cpu == cpu)
			close(c->events.v[i].fd);
		else
			c->events.v[n++] = c->events.v[i];
	}
	c->events.n = n;
}

int callchains_cpu_come(struct callchains *c, uint64_t cpu, int epoll_fd)
{
	size_t events = c->events.n, rings = c->rings.n;
	int err = open_cpu(c, cpu);

	if (!err && c->rings.n > rings)
		err = ring_watch(&c->rings.v[rings], epoll_fd);
	return err ? err : enable_from(c, events);
}

/* Who runs: names of threads, images of processes */

/* The number of a key in `t`, whose items are `size` bytes at *v; *is_new tells
 * that the item is. -ENOMEM. */
static int64_t item_of(struct intern *t, uint32_t id, void **v, size_t *n,
		       size_t *cap, size_t size, bool *is_new)
{
	int64_t at = intern_put(t, &id, sizeof(id));

	*is_new = at >= 0 && (size_t)at == *n;
	if (!*is_new)
		return at;
	if (!vec_room(v, cap, *n + 1, size))
		return -ENOMEM;
	memset((char *)*v + *n * size, 0, size);
	++*n;
	return at;
}

static struct task_comm *comm_of(struct callchains *c, uint32_t tid,
				 bool *is_new)
{
	int64_t at = item_of(&c->tasks, tid, (void **)&c->comms.v,
			     &c->comms.n, &c->comms.cap, sizeof(*c->comms.v),
			     is_new);

	return at < 0 || (size_t)at >= c->comms.n ? NULL : &c->comms.v[at];
}

static uint32_t *gen_of(struct callchains *c, uint32_t pid, bool *is_new)
{
	int64_t at = item_of(&c->processes, pid, (void **)&c->gens.v,
			     &c->gens.n, &c->gens.cap, sizeof(*c->gens.v),
			     is_new);

	return at < 0 || (size_t)at >= c->gens.n ? NULL : &c->gens.v[at];
}

static void comm_read(struct task_comm *comm, uint32_t pid, uint32_t tid)
{
	struct buf text = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "%u/task/%u/comm", pid, tid);
	if (!fs_read(FS_PROC, path, 64, &text) && text.len) {
		text.len--;		/* the newline */
		if (text.len >= COMM_SIZE)
			text.len = COMM_SIZE - 1;
		memcpy(comm->text, text.data, text.len);
	}
	buf_free(&text);
}

static void comm_set(struct callchains *c, uint32_t tid, const char *text,
		     size_t n)
{
	bool is_new;
	struct task_comm *comm = comm_of(c, tid, &is_new);

	if (!comm)
		return;
	memset(comm->text, 0, COMM_SIZE);
	memcpy(comm->text, text, strnlen(text, n < COMM_SIZE ? n
						: COMM_SIZE - 1));
}

/* The pid now belongs to another image; one that nobody asked for yet has no
 * number to change. */
static void new_image(struct callchains *c, uint32_t pid)
{
	int64_t at = intern_find(&c->processes, &pid, sizeof(pid));

	if (at >= 0 && (size_t)at < c->gens.n)
		c->gens.v[at]++;
}

static void apply_fork(struct callchains *c, const uint32_t *b)
{
	uint32_t pid = b[0], ppid = b[1], tid = b[2], ptid = b[3];
	int64_t at = intern_find(&c->tasks, &ptid, sizeof(ptid));
	char text[COMM_SIZE];

	if (pid != ppid)
		new_image(c, pid);
	if (at < 0 || (size_t)at >= c->comms.n)
		return;
	memcpy(text, c->comms.v[at].text, COMM_SIZE);
	comm_set(c, tid, text, COMM_SIZE);
}

/* Counting */

void callchains_forget(struct callchains *c, uint32_t id)
{
	intern_put(&c->gone, &id, sizeof(id));
}

static bool is_wanted(const struct callchains *c, const struct body_sample *b)
{
	const struct sampling_spec *spec = c->spec;
	const uint32_t *id = spec->tids.n ? &b->tid : &b->pid;

	if (spec->sample.child)
		return true;
	if (c->gone.n && intern_find(&c->gone, id, sizeof(*id)) >= 0)
		return false;
	for (size_t i = 0; i < spec->pids.n; i++)
		if (spec->pids.v[i] == b->pid)
			return true;
	for (size_t i = 0; i < spec->tids.n; i++)
		if (spec->tids.v[i] == b->tid)
			return true;
	return !spec->pids.n && !spec->tids.n;
}

/* Split the chain at the marks that say whose frames follow. */
static void split(const struct body_sample *b, struct stack_key *key,
		  uint64_t *user, uint64_t *kernel)
{
	int32_t nuser = 0, nkernel = 0;
	uint64_t mark = 0;

	for (uint64_t i = 0; i < b->n; i++) {
		uint64_t frame = b->frames[i];

		if (frame >= (uint64_t)PERF_CONTEXT_MAX)
			mark = frame;
		else if (mark == (uint64_t)PERF_CONTEXT_USER &&
			 nuser < STACKS_FRAMES)
			user[nuser++] = frame;
		else if (mark == (uint64_t)PERF_CONTEXT_KERNEL &&
			 nkernel < STACKS_FRAMES)
			kernel[nkernel++] = frame;
	}
	key->user = nuser ? nuser : -EFAULT;
	key->kernel = nkernel ? nkernel : -EFAULT;
}

/* Where a function without a frame may have its caller: the user's link
 * register, without what may stand above an address, or the top of the stack. 0
 * when the record has none. `words` are those after the chain. */
static uint64_t caller_of(const struct body_sample *b, size_t words)
{
	const uint64_t *more = b->frames + b->n;

	if (caller_is_linked())
		return words < 2 || more[0] != PERF_SAMPLE_REGS_ABI_64 ? 0 :
		       more[1] << 16 >> 16;
	return words < 3 || more[0] != 8 || more[2] != 8 ? 0 : more[1];
}

static void tell_seen(struct callchains *c, const struct body_sample *b,
		      uint32_t gen)
{
	struct image_key image = { b->pid, gen };
	struct seen_event seen = {
		.type = EVENT_SEEN, .tgid = b->pid, .gen = gen, .tid = b->tid,
		.time = b->time,
	};

	if (intern_find(&c->naming->images, &image, sizeof(image)) < 0)
		naming_seen(c->naming, &seen);
}

static void count(struct callchains *c, const struct body_sample *b,
		  size_t words)
{
	uint64_t user[STACKS_FRAMES], kernel[STACKS_FRAMES];
	const struct sampling_spec *spec = c->spec;
	struct stack_key key = { .tgid = b->pid };
	bool new_comm, new_gen;
	struct task_comm *comm = comm_of(c, b->tid, &new_comm);
	uint32_t *gen = gen_of(c, b->pid, &new_gen);

	if (!comm || !gen) {
		c->lost++;
		return;
	}
	if (new_comm)
		comm_read(comm, b->pid, b->tid);
	if (spec->comm && strncmp(spec->comm, comm->text, COMM_SIZE))
		return;
	key.gen = *gen;
	memcpy(key.comm, comm->text, COMM_SIZE);
	tell_seen(c, b, key.gen);
	split(b, &key, user, kernel);
	key.caller = key.user > 0 ? caller_of(b, words) : 0;
	if (spec->take)
		spec->take(spec->taker, b->tid, b->time, &key, user, kernel);
	else
		stacks_add(c->stacks, &key, 1, user, kernel);
	c->kept++;
}

static void take_sample(struct callchains *c, const struct body_sample *b,
			size_t len)
{
	if (len < sizeof(*b) || b->n > (len - sizeof(*b)) / 8) {
		c->lost++;
		return;
	}
	c->taken++;
	if (!b->pid && c->in_namespace)
		c->outside++;	/* 0 stands for whom it has no pid for, too */
	else if (!b->pid && !c->spec->idle)
		c->idle++;
	else if (is_wanted(c, b))
		count(c, b, (len - sizeof(*b)) / 8 - (size_t)b->n);
}

/* Who comes back, who exits, what is lost. */
static void tell_switches(struct callchains *c,
			  const struct perf_event_header *h, uint64_t lost)
{
	const struct chain_switches *tell = c->spec->switches;
	void *arg = c->spec->taker;
	const uint32_t *b = (const void *)(h + 1);
	bool is_in = h->type == PERF_RECORD_SWITCH ||
		     h->type == PERF_RECORD_SWITCH_CPU_WIDE;
	struct body_id id;

	if (c->lost != lost)
		tell->lost(arg, c->lost - lost);
	if (h->size < sizeof(*h) + sizeof(id))
		return;
	memcpy(&id, (const char *)h + h->size - sizeof(id), sizeof(id));
	if (is_in && !(h->misc & PERF_RECORD_MISC_SWITCH_OUT))
		tell->on(arg, id.time, id.tid);
	else if (h->type == PERF_RECORD_EXIT && h->size >= sizeof(*h) + 16)
		tell->exit(arg, b[2]);
}

static void apply(struct callchains *c, const struct perf_event_header *h)
{
	uint64_t lost = c->lost;
	size_t len = h->size - sizeof(*h);
	const uint32_t *b = (const void *)(h + 1);

	if (h->type == PERF_RECORD_SAMPLE) {
		take_sample(c, (const void *)(h + 1), len);
		return;
	}
	records_apply(c->naming->procs, h, &c->lost);
	if (c->spec->switches)
		tell_switches(c, h, lost);
	if (h->type == PERF_RECORD_COMM && len >= 8 + sizeof(struct body_id)) {
		comm_set(c, b[1], (const char *)(b + 2),
			 len - 8 - sizeof(struct body_id));
		if (h->misc & PERF_RECORD_MISC_COMM_EXEC)
			new_image(c, b[0]);
	} else if (h->type == PERF_RECORD_FORK && len >= 16) {
		apply_fork(c, b);
	}
}

/* The order of time */

static uint64_t record_time(const struct perf_event_header *h)
{
	const char *p = (const char *)h;
	struct body_id id;

	if (h->size < sizeof(*h) + sizeof(id))
		return 0;
	memcpy(&id, h->type == PERF_RECORD_SAMPLE ? p + sizeof(*h)
		: p + h->size - sizeof(id), sizeof(id));
	return id.time;
}

static void keep(void *arg, const struct perf_event_header *h)
{
	static const char zeros[8];
	struct callchains *c = arg;
	struct pending_record *r = vec_push(&c->order);
	size_t at = c->pending.len;

	if (r) {
		buf_mem(&c->pending, h, h->size);
		buf_mem(&c->pending, zeros, -h->size & 7);
		*r = (struct pending_record){ record_time(h), at };
	}
	if (!r || c->pending.err) {
		c->order.n -= r != NULL;
		c->pending.len = at;
		c->pending.err = 0;
		c->lost++;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct pending_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* What is younger than the others stays for the next time. */
static void keep_rest(struct callchains *c, size_t from)
{
	struct buf rest = { 0 };
	size_t n = 0;

	for (size_t i = from; i < c->order.n; i++) {
		const struct perf_event_header *h =
			(const void *)(c->pending.data + c->order.v[i].at);
		size_t at = rest.len;

		buf_mem(&rest, h, (h->size + 7u) & ~7u);
		if (rest.err) {
			c->lost += c->order.n - i;
			rest.len = at;
			rest.err = 0;
			break;
		}
		c->order.v[n++] = (struct pending_record){
			c->order.v[i].time, at,
		};
	}
	c->order.n = n;
	buf_free(&c->pending);
	c->pending = rest;
}

void callchains_read(struct callchains *c, bool all)
{
	uint64_t until = all ? UINT64_MAX : host_time() - SETTLE_NS;
	size_t i;

	for (i = 0; i < c->rings.n; i++)
		if (perf_ring_read(&c->rings.v[i], keep, c) < 0)
			c->lost++;
	if (!c->order.n)
		return;
	qsort(c->order.v, c->order.n, sizeof(*c->order.v), by_time);
	for (i = 0; i < c->order.n && c->order.v[i].time <= until; i++)
		apply(c, (const void *)(c->pending.data + c->order.v[i].at));
	keep_rest(c, i);
}
