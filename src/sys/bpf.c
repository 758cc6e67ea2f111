/* bpf - the bpf(2) system call. */
#include "sys/bpf.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/vec.h"

/* Older kernels take logs of less than 16 MiB. */
enum { LOG_FIRST = 64 << 10, LOG_LAST = (16 << 20) - 1 };

enum { LOAD_TRIES = 10 };

/* The verifier gives up with EAGAIN when a signal comes. */
static long bpf_call(int cmd, union bpf_attr *attr)
{
	int tries = cmd == BPF_PROG_LOAD ? LOAD_TRIES : 1;
	long ret;

	do {
		ret = syscall(SYS_bpf, cmd, attr, sizeof(*attr));
	} while (ret < 0 && errno == EAGAIN && --tries);
	return ret < 0 ? -errno : ret;
}

static uint64_t as_u64(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* Raise the limit once; true when another try makes sense. */
static bool memlock_raise(void)
{
	static bool tried;
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	if (tried)
		return false;
	tried = true;
	return setrlimit(RLIMIT_MEMLOCK, &all) == 0;
}

static long bpf_call_memlock(int cmd, union bpf_attr *attr)
{
	long ret = bpf_call(cmd, attr);

	if (ret == -EPERM && memlock_raise())
		ret = bpf_call(cmd, attr);
	return ret;
}

static void name_set(char to[BPF_OBJ_NAME_LEN], const char *name)
{
	size_t n = strnlen(name, BPF_OBJ_NAME_LEN - 1);

	memcpy(to, name, n);
	to[n] = '\0';
}

int bpf_map_create(const char *name, uint32_t type, uint32_t key_size,
		   uint32_t value_size, uint32_t max_entries, uint32_t flags)
{
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = key_size;
	attr.value_size = value_size;
	attr.max_entries = max_entries;
	attr.map_flags = flags;
	name_set(attr.map_name, name);
	fd = bpf_call_memlock(BPF_MAP_CREATE, &attr);
	if (fd == -E2BIG || fd == -EINVAL) {	/* names came with 4.15 */
		memset(attr.map_name, 0, sizeof(attr.map_name));
		fd = bpf_call_memlock(BPF_MAP_CREATE, &attr);
	}
	return (int)fd;
}

static int map_elem(int cmd, int fd, const void *key, const void *value)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)fd;
	attr.key = as_u64(key);
	attr.value = as_u64(value);
	return (int)bpf_call(cmd, &attr);
}

int bpf_map_lookup(int fd, const void *key, void *value)
{
	return map_elem(BPF_MAP_LOOKUP_ELEM, fd, key, value);
}

int bpf_map_update(int fd, const void *key, const void *value)
{
	return map_elem(BPF_MAP_UPDATE_ELEM, fd, key, value);
}

int bpf_map_delete(int fd, const void *key)
{
	return map_elem(BPF_MAP_DELETE_ELEM, fd, key, NULL);
}

int bpf_map_next_key(int fd, const void *key, void *next)
{
	return map_elem(BPF_MAP_GET_NEXT_KEY, fd, key, next);
}

int bpf_map_lookup_batch(int fd, uint32_t *at, void *keys, void *values,
			 uint32_t *count)
{
	union bpf_attr attr;
	int err;

	memset(&attr, 0, sizeof(attr));
	attr.batch.map_fd = (uint32_t)fd;
	attr.batch.in_batch = *at ? as_u64(at) : 0;
	attr.batch.out_batch = as_u64(at);
	attr.batch.keys = as_u64(keys);
	attr.batch.values = as_u64(values);
	attr.batch.count = *count;
	err = (int)bpf_call(BPF_MAP_LOOKUP_BATCH, &attr);
	*count = err && err != -ENOENT ? 0 : attr.batch.count;
	return err;
}

/* Ask again with a log buffer, four times as large each time, until it fits. */
static long load_with_log(union bpf_attr *attr, struct buf *log)
{
	uint32_t size = LOG_FIRST;

	for (;;) {
		char *text = mem_zalloc(size);
		long fd;

		if (!text)
			return -ENOMEM;
		attr->log_buf = as_u64(text);
		attr->log_size = size;
		attr->log_level = 1;
		fd = bpf_call_memlock(BPF_PROG_LOAD, attr);
		if (fd != -ENOSPC || size == LOG_LAST) {
			buf_mem(log, text, strnlen(text, size));
			mem_free(text);
			return fd;
		}
		mem_free(text);
		size = size > LOG_LAST / 4 ? LOG_LAST : size * 4;
	}
}

int bpf_prog_load(const struct bpf_load *load, struct buf *log)
{
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = load->type;
	attr.insns = as_u64(load->insns);
	attr.insn_cnt = (uint32_t)load->n;
	attr.license = as_u64("Dual BSD/GPL");
	attr.expected_attach_type = load->attach_type;
	attr.attach_btf_id = load->btf_id;
	attr.attach_btf_obj_fd = (uint32_t)load->btf_fd;
	name_set(attr.prog_name, load->name);
	fd = bpf_call_memlock(BPF_PROG_LOAD, &attr);
	if (fd == -E2BIG) {			/* names came with 4.15 */
		memset(attr.prog_name, 0, sizeof(attr.prog_name));
		fd = bpf_call_memlock(BPF_PROG_LOAD, &attr);
	}
	if ((fd == -EACCES || fd == -EINVAL) && log)
		fd = load_with_log(&attr, log);
	return (int)fd;
}

/* Links */

int bpf_raw_tracepoint_open(const char *tracepoint, int prog_fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = as_u64(tracepoint);
	attr.raw_tracepoint.prog_fd = (uint32_t)prog_fd;
	return (int)bpf_call(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

int bpf_link_perf(int prog_fd, int perf_fd, uint64_t cookie)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (uint32_t)prog_fd;
	attr.link_create.target_fd = (uint32_t)perf_fd;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	attr.link_create.perf_event.bpf_cookie = cookie;
	return (int)bpf_call(BPF_LINK_CREATE, &attr);
}

int bpf_link_kprobes(int prog_fd, const struct bpf_kprobes *k)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (uint32_t)prog_fd;
	attr.link_create.attach_type = BPF_TRACE_KPROBE_MULTI;
	attr.link_create.kprobe_multi.flags = k->is_return ?
		BPF_F_KPROBE_MULTI_RETURN : 0;
	attr.link_create.kprobe_multi.cnt = k->count;
	attr.link_create.kprobe_multi.syms = as_u64(k->names);
	attr.link_create.kprobe_multi.addrs = as_u64(k->addrs);
	attr.link_create.kprobe_multi.cookies = as_u64(k->cookies);
	return (int)bpf_call(BPF_LINK_CREATE, &attr);
}

int bpf_link_uprobes(int prog_fd, const struct bpf_uprobes *u)
{
	struct bpf_uprobe_multi_attr attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = BPF_TRACE_UPROBE_MULTI,
		.path = as_u64(u->path),
		.offsets = as_u64(u->offsets),
		.ref_ctr_offsets = as_u64(u->semaphores),
		.cookies = as_u64(u->cookies),
		.cnt = u->count,
		.flags = u->is_return ? BPF_F_UPROBE_MULTI_RETURN : 0,
		.pid = u->pid,
	};
	union bpf_attr all;

	memset(&all, 0, sizeof(all));
	memcpy(&all, &attr, sizeof(attr));
	return (int)bpf_call(BPF_LINK_CREATE, &all);
}

/* What is loaded */

static const struct {
	uint8_t next, open;
} id_calls[] = {
	[BPF_PROGS] = { BPF_PROG_GET_NEXT_ID, BPF_PROG_GET_FD_BY_ID },
	[BPF_MAPS] = { BPF_MAP_GET_NEXT_ID, BPF_MAP_GET_FD_BY_ID },
	[BPF_BTFS] = { BPF_BTF_GET_NEXT_ID, BPF_BTF_GET_FD_BY_ID },
	[BPF_LINKS] = { BPF_LINK_GET_NEXT_ID, BPF_LINK_GET_FD_BY_ID },
};

int bpf_next_id(enum bpf_kind kind, uint32_t id, uint32_t *next)
{
	union bpf_attr attr;
	long ret;

	memset(&attr, 0, sizeof(attr));
	attr.start_id = id;
	ret = bpf_call(id_calls[kind].next, &attr);
	if (!ret)
		*next = attr.next_id;
	return (int)ret;
}

int bpf_fd_by_id(enum bpf_kind kind, uint32_t id)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.start_id = id;
	return (int)bpf_call(id_calls[kind].open, &attr);
}

/* How many bytes the kernel filled in, or -errno. */
static int info_get(int fd, void *info, size_t size)
{
	union bpf_attr attr;
	long ret;

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = (uint32_t)size;
	attr.info.info = as_u64(info);
	ret = bpf_call(BPF_OBJ_GET_INFO_BY_FD, &attr);
	return ret ? (int)ret : (int)attr.info.info_len;
}

int bpf_prog_info(int fd, struct bpf_prog_info *info)
{
	int n;

	memset(info, 0, sizeof(*info));
	n = info_get(fd, info, sizeof(*info));
	return n < 0 ? n : 0;
}

uint64_t bpf_prog_missed(int fd)
{
	struct bpf_prog_info info;

	return bpf_prog_info(fd, &info) ? 0 : info.recursion_misses;
}

int bpf_map_info(int fd, struct bpf_map_info *info)
{
	int n;

	memset(info, 0, sizeof(*info));
	n = info_get(fd, info, sizeof(*info));
	return n < 0 ? n : 0;
}

int bpf_link_iter(int prog_fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (uint32_t)prog_fd;
	attr.link_create.attach_type = BPF_TRACE_ITER;
	return (int)bpf_call(BPF_LINK_CREATE, &attr);
}

int bpf_iter_create(int link_fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.iter_create.link_fd = (uint32_t)link_fd;
	return (int)bpf_call(BPF_ITER_CREATE, &attr);
}

int bpf_link_missed(int link_fd, uint64_t *missed)
{
	struct bpf_missed_info info = { 0 };
	int n = info_get(link_fd, &info, sizeof(info));

	if (n < 0)
		return n;
	if (n < (int)sizeof(info))		/* before 6.7 */
		return -EOPNOTSUPP;
	if (info.type == BPF_LINK_TYPE_KPROBE_MULTI)
		*missed = info.kprobe_multi.missed;
	else if (info.type == BPF_LINK_TYPE_PERF_EVENT &&
		 (info.kprobe.type == BPF_MISSED_KPROBE ||
		  info.kprobe.type == BPF_MISSED_KRETPROBE))
		*missed = info.kprobe.missed;
	else
		return -EOPNOTSUPP;
	return 0;
}

static bool btf_is(int fd, const char *module)
{
	struct bpf_btf_info info = { 0 };
	char name[64] = "";

	info.name = as_u64(name);
	info.name_len = sizeof(name);
	return info_get(fd, &info, sizeof(info)) > 0 && info.kernel_btf &&
	       !strcmp(name, module);
}

int bpf_btf_fd(const char *module)
{
	uint32_t id = 0;
	int err, fd;

	while (!(err = bpf_next_id(BPF_BTFS, id, &id))) {
		fd = bpf_fd_by_id(BPF_BTFS, id);
		if (fd == -ENOENT)		/* gone since */
			continue;
		if (fd < 0 || btf_is(fd, module))
			return fd;
		close(fd);
	}
	return err;
}
