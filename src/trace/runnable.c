/* runnable - the tasks that run or want to, all of this moment. */
#include "trace/runnable.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/num.h"
#include "sys/bpf.h"
#include "sys/btf.h"
#include "sys/feature.h"
#include "sys/fs.h"
#include "sys/host.h"

/* The iterator */

/* Fields that had other names, places or sizes, the newest first: the state
 * was a long before 5.14, on_cpu an int before 7.2, and kernels for one CPU
 * have neither of the others. */
static const struct {
	const char *constant, *size, *paths[2];
} fields[] = {
	{ "state", "state_size",
	  { "task_struct.__state", "task_struct.state" } },
	{ "cpu", "cpu_size",
	  { "task_struct.thread_info.cpu", "task_struct.cpu" } },
	{ "on_cpu", "on_cpu_size", { "task_struct.on_cpu" } },
};

static int field_find(const struct btf *b, const char *const paths[2],
		      struct btf_place *at)
{
	int err = btf_field(b, paths[0], at);

	return err && paths[1] ? btf_field(b, paths[1], at) : err;
}

void runnable_consts(struct session *s)
{
	struct btf_place at;
	struct btf *b;

	if (btf_open(NULL, &b))
		return;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if (field_find(b, fields[i].paths, &at))
			continue;
		session_const(s, fields[i].constant, at.offset);
		session_const(s, fields[i].size, at.size);
	}
	btf_close(b);
}

static int open_iterator(struct session *s)
{
	struct prog_as as = {
		.kind = PROG_FENTRY, .attach_type = BPF_TRACE_ITER,
	};
	struct pid_namespace ns;
	struct btf *b;
	int fd;

	/* It numbers tasks as the first namespace does. */
	if (host_pid_namespace(&ns) || !ns.initial ||
	    !feature_has(FEATURE_TASK_ITER) || btf_open(NULL, &b))
		return -EOPNOTSUPP;
	fd = btf_func(b, "bpf_iter_task");
	btf_close(b);
	if (fd < 0)
		return fd;
	as.btf_id = (uint32_t)fd;
	fd = session_prog_as(s, "task", &as);
	return fd < 0 ? fd : bpf_link_iter(fd);
}

void runnable_open(struct runnable *r, struct session *s)
{
	*r = (struct runnable){ .link_fd = s ? open_iterator(s) : -1 };
}

void runnable_close(struct runnable *r)
{
	if (r->link_fd > 0)
		close(r->link_fd);
	r->link_fd = -1;
	vec_free(&r->v);
	vec_free(&r->frames);
}

static int read_all(int fd, struct buf *to)
{
	char chunk[16384];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk)))) {
		if (n > 0)
			buf_mem(to, chunk, (size_t)n);
		else if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return to->err;
}

static int add_frames(struct runnable *r, struct runnable_task *t,
		      const struct load_task *l)
{
	size_t n = l->bytes > 0 ? (size_t)l->bytes / 8 : 0;

	t->kernel = r->frames.n;
	for (size_t i = 0; i < n && i < STACK_DEPTH && l->kernel[i]; i++) {
		uint64_t *frame = vec_push(&r->frames);

		if (!frame)
			return -ENOMEM;
		*frame = l->kernel[i];
		t->nkernel++;
	}
	return 0;
}

static int add_task(struct runnable *r, const struct load_task *l)
{
	struct runnable_task *t;

	if (l->tgid == (uint32_t)getpid())
		return 0;
	t = vec_push(&r->v);
	if (!t)
		return -ENOMEM;
	*t = (struct runnable_task){
		.tgid = l->tgid, .tid = l->tid, .cpu = l->cpu,
		.state = l->on_cpu ? RUNNABLE_RUNS : RUNNABLE_WAITS,
	};
	memcpy(t->comm, l->comm, COMM_SIZE);
	return add_frames(r, t, l);
}

static int read_iterator(struct runnable *r)
{
	int fd = bpf_iter_create(r->link_fd), err;
	struct buf bytes = { 0 };
	struct load_task l;

	if (fd < 0)
		return fd;
	err = read_all(fd, &bytes);
	close(fd);
	for (size_t at = 0; !err && at + sizeof(l) <= bytes.len;
	     at += sizeof(l)) {
		memcpy(&l, bytes.data + at, sizeof(l));
		err = add_task(r, &l);
	}
	buf_free(&bytes);
	return err;
}

/* /proc */

enum { FIELD_STATE = 3, FIELD_CPU = 39 };

static const char *find_last(const char *text, size_t n, char c)
{
	while (n && text[n - 1] != c)
		n--;
	return n ? text + n - 1 : NULL;
}

bool runnable_parse(const char *text, size_t n, struct runnable_task *t)
{
	const char *end = text + n, *open = memchr(text, '(', n), *p, *close;
	uint64_t tid, cpu = 0;

	/* The name may hold anything but a NUL. */
	close = find_last(text, n, ')');
	p = num_dec(text, end, &tid);
	if (!p || tid > UINT32_MAX || !open || !close || close < open ||
	    end - close < 4 || close[2] != 'R')
		return false;
	p = close + 2;
	for (int field = FIELD_STATE; field < FIELD_CPU; field++) {
		p = memchr(p, ' ', (size_t)(end - p));
		if (!p)
			return false;
		p++;
	}
	if (!num_dec(p, end, &cpu) || cpu > UINT32_MAX)
		return false;
	*t = (struct runnable_task){
		.tid = (uint32_t)tid, .cpu = (uint32_t)cpu,
		.state = RUNNABLE_UNKNOWN,
	};
	n = (size_t)(close - open - 1);
	memcpy(t->comm, open + 1, n < COMM_SIZE ? n : COMM_SIZE);
	return true;
}

/* One that has ended meanwhile is no error. */
static int read_thread(struct runnable *r, uint64_t tgid, uint64_t tid)
{
	struct runnable_task t, *slot;
	char path[64], text[1024];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%llu/task/%llu/stat",
		 (unsigned long long)tgid, (unsigned long long)tid);
	fd = fs_open(FS_PROC, path, O_RDONLY);
	if (fd < 0)
		return fd == -EMFILE || fd == -ENFILE ? fd : 0;
	n = read(fd, text, sizeof(text));
	close(fd);
	if (n <= 0 || !runnable_parse(text, (size_t)n, &t))
		return 0;
	slot = vec_push(&r->v);
	if (!slot)
		return -ENOMEM;
	*slot = t;
	slot->tgid = (uint32_t)tgid;
	return 0;
}

static int read_process(struct runnable *r, uint64_t pid)
{
	struct num_list tids = { 0 };
	int err = host_threads(pid, &tids);

	if (err && err != -ENOMEM && err != -EMFILE && err != -ENFILE)
		err = 0;
	for (size_t i = 0; !err && i < tids.n; i++)
		err = read_thread(r, pid, tids.v[i]);
	vec_free(&tids);
	return err;
}

static int read_proc(struct runnable *r)
{
	int fd = fs_open(FS_PROC, ".", O_RDONLY | O_DIRECTORY), err = 0;
	struct dirent *entry;
	uint64_t pid;
	DIR *dir;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while (!err && (entry = readdir(dir)))
		if (!num_u64(entry->d_name, 1, UINT32_MAX, &pid) &&
		    pid != (uint64_t)getpid())
			err = read_process(r, pid);
	closedir(dir);
	return err;
}

static int by_cpu(const void *a, const void *b)
{
	const struct runnable_task *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->state != y->state)
		return x->state > y->state ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

int runnable_read(struct runnable *r)
{
	int err = -EOPNOTSUPP;

	r->v.n = r->frames.n = 0;
	if (r->link_fd >= 0)
		err = read_iterator(r);
	if (err && err != -ENOMEM) {
		r->v.n = r->frames.n = 0;
		err = read_proc(r);
	}
	if (!err && r->v.n)
		qsort(r->v.v, r->v.n, sizeof(*r->v.v), by_cpu);
	return err;
}
