/* list_bpf - the BPF programs and maps that are loaded, by process.
 *
 * A descriptor's file under /proc/PID/fdinfo has a line "prog_id:" or
 * "map_id:"; that of a link has one of its program. The kernel's own numbers
 * tell what else there is: pinned, or attached, and held by no descriptor.
 */
#include "cmd/list_bpf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/log.h"
#include "base/num.h"
#include "base/vec.h"
#include "sys/advice.h"
#include "sys/bpf.h"
#include "sys/fs.h"

/* One thing that a process holds, or nobody (pid 0). */
struct held {
	uint32_t pid, kind, id;		/* kind: BPF_PROGS or BPF_MAPS */
};

struct held_list {
	VEC(struct held) v;
	size_t hidden;			/* processes not ours to read */
};

static int add(struct held_list *l, uint32_t pid, uint32_t kind, uint32_t id)
{
	struct held *h = vec_push(&l->v);

	if (h)
		*h = (struct held){ pid, kind, id };
	return h ? 0 : -ENOMEM;
}

static int put_number(struct held_list *l, uint32_t pid, const char *text,
		      const char *key, enum bpf_kind kind)
{
	const char *p = strstr(text, key);
	uint64_t id;

	if (!p || !num_dec(p + strlen(key), p + strlen(p), &id) ||
	    id > UINT32_MAX)
		return 0;
	return add(l, pid, kind, (uint32_t)id);
}

static int read_fd(struct held_list *l, uint32_t pid, const char *fd)
{
	struct buf text = { 0 };
	char path[64], link[64];
	int err = 0;

	snprintf(path, sizeof(path), "%u/fd/%s", pid, fd);
	if (fs_readlink(FS_PROC, path, link, sizeof(link)) < 0 ||
	    strncmp(link, "anon_inode:bpf", 14))
		return 0;
	snprintf(path, sizeof(path), "%u/fdinfo/%s", pid, fd);
	if (!fs_read(FS_PROC, path, 65536, &text)) {
		err = put_number(l, pid, buf_str(&text), "\nprog_id:\t",
				 BPF_PROGS);
		if (!err)
			err = put_number(l, pid, buf_str(&text),
					 "\nmap_id:\t", BPF_MAPS);
	}
	err = text.err ? text.err : err;
	buf_free(&text);
	return err;
}

/* Call `each` for the entries of a folder that are numbers. */
static int each_number(const char *path, void *arg,
		       int (*each)(void *arg, const char *name, uint32_t n))
{
	int fd = fs_open(FS_PROC, path, O_RDONLY | O_DIRECTORY), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	uint64_t n;

	if (!dir) {
		err = fd < 0 ? fd : -ENOMEM;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (e = readdir(dir)))
		if (!num_u64(e->d_name, 0, UINT32_MAX, &n))
			err = each(arg, e->d_name, (uint32_t)n);
	closedir(dir);
	return err;
}

struct process {
	struct held_list *list;
	uint32_t pid;
};

static int each_fd(void *arg, const char *name, uint32_t n)
{
	struct process *p = arg;

	(void)n;
	return read_fd(p->list, p->pid, name);
}

static int each_process(void *arg, const char *name, uint32_t pid)
{
	struct process p = { arg, pid };
	char path[32];
	int err;

	snprintf(path, sizeof(path), "%.10s/fd", name);
	err = each_number(path, &p, each_fd);
	if (err == -EACCES || err == -EPERM)
		p.list->hidden++;
	return err == -ENOMEM ? err : 0;
}

static int by_pid(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct held));
}

static int by_number(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static bool is_held(const struct held_list *l, size_t n, uint32_t kind,
		    uint32_t id)
{
	for (size_t i = 0; i < n; i++)
		if (l->v.v[i].kind == kind && l->v.v[i].id == id)
			return true;
	return false;
}

/* What is loaded and was not met; -errno: the kernel does not tell. */
static int add_rest(struct held_list *l)
{
	static const enum bpf_kind kinds[] = { BPF_PROGS, BPF_MAPS };
	size_t n = l->v.n;
	int err = 0;

	for (int k = 0; k < 2; k++) {
		uint32_t id = 0;

		while (!(err = bpf_next_id(kinds[k], id, &id))) {
			if (!is_held(l, n, kinds[k], id))
				err = add(l, 0, kinds[k], id);
			if (err)
				return err;
		}
		if (err != -ENOENT)
			return err;
	}
	return 0;
}

/* Each once, in order. */
static void sort(struct held_list *l)
{
	size_t n = 0;

	if (!l->v.n)
		return;
	qsort(l->v.v, l->v.n, sizeof(*l->v.v), by_number);
	for (size_t i = 0; i < l->v.n; i++)
		if (!n || by_pid(&l->v.v[n - 1], &l->v.v[i]))
			l->v.v[n++] = l->v.v[i];
	l->v.n = n;
}

static void put_name(FILE *out, const char *name, size_t n)
{
	struct buf text = { 0 };

	escape(&text, name, strnlen(name, n), ESCAPE_TEXT);
	fprintf(out, " %s\n", text.len ? buf_str(&text) : "-");
	buf_free(&text);
}

static const char *const prog_types[] = {
	"unspec", "socket_filter", "kprobe", "sched_cls", "sched_act",
	"tracepoint", "xdp", "perf_event", "cgroup_skb", "cgroup_sock",
	"lwt_in", "lwt_out", "lwt_xmit", "sock_ops", "sk_skb",
	"cgroup_device", "sk_msg", "raw_tracepoint", "cgroup_sock_addr",
	"lwt_seg6local", "lirc_mode2", "sk_reuseport", "flow_dissector",
	"cgroup_sysctl", "raw_tracepoint_writable", "cgroup_sockopt",
	"tracing", "struct_ops", "ext", "lsm", "sk_lookup", "syscall",
	"netfilter",
};

/* One line below its process's: number, type, name. */
static void print_one(FILE *out, const struct held *h)
{
	int fd = bpf_fd_by_id((enum bpf_kind)h->kind, h->id);
	struct bpf_prog_info prog = { 0 };
	struct bpf_map_info map = { 0 };

	if (h->kind == BPF_PROGS) {
		bool known = fd >= 0 && !bpf_prog_info(fd, &prog) &&
			     prog.type < sizeof(prog_types) / sizeof(char *);

		fprintf(out, "       prog %u %s", h->id,
			known ? prog_types[prog.type] : "?");
		put_name(out, prog.name, sizeof(prog.name));
	} else {
		if (fd >= 0)
			bpf_map_info(fd, &map);
		fprintf(out, "       map %u", h->id);
		put_name(out, map.name, sizeof(map.name));
	}
	if (fd >= 0)
		close(fd);
}

static void print_group(FILE *out, const struct held *h, size_t n, bool names)
{
	struct buf comm = { 0 }, text = { 0 };
	char path[32], pid[16] = "-";

	if (h->pid) {
		snprintf(path, sizeof(path), "%u/comm", h->pid);
		snprintf(pid, sizeof(pid), "%u", h->pid);
		if (!fs_read(FS_PROC, path, 64, &comm) && comm.len)
			comm.len--;	/* the newline */
		escape(&text, comm.data ? comm.data : "", comm.len,
		       ESCAPE_TEXT);
	} else {
		buf_puts(&text, "(no process)");
	}
	fprintf(out, "%-6s %-16s %-8s %-4zu\n", pid, buf_str(&text),
		h->kind == BPF_PROGS ? "prog" : "map", n);
	for (size_t i = 0; names && i < n; i++)
		print_one(out, &h[i]);
	buf_free(&comm);
	buf_free(&text);
}

static void print(FILE *out, const struct held_list *l, bool names)
{
	fprintf(out, "%-6s %-16s %-8s %-4s\n", "PID", "COMM", "TYPE", "COUNT");
	for (size_t i = 0, n; i < l->v.n; i += n) {
		const struct held *h = &l->v.v[i];

		for (n = 1; i + n < l->v.n && h[n].pid == h->pid &&
		     h[n].kind == h->kind; n++)
			;
		print_group(out, h, n, names);
	}
}

int list_bpf(struct out *o, bool names)
{
	struct held_list l = { 0 };
	int err = each_number(".", &l, each_process), rest = 0;

	if (!err) {
		rest = add_rest(&l);
		sort(&l);
		print(o->file, &l, names);
	}
	if (l.hidden)
		log_notice("%zu processes of others cannot be looked into",
			   l.hidden);
	if (rest)
		log_notice("programs that no process holds are not listed: "
			   "%s", advice_reason(OP_BPF, rest));
	if (err)
		log_error("list: /proc: %s", log_errno(err));
	vec_free(&l.v);
	return err;
}
