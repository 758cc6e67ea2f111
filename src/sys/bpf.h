/* bpf - the bpf(2) system call. */
#ifndef SYS_BPF_H
#define SYS_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "uapi.h"

/* All return -errno on failure; descriptors are close-on-exec. A call that
 * RLIMIT_MEMLOCK refuses (EPERM before Linux 5.11) is made again after the
 * limit has been raised. */

int bpf_map_create(const char *name, uint32_t type, uint32_t key_size,
		   uint32_t value_size, uint32_t max_entries, uint32_t flags);
int bpf_map_lookup(int fd, const void *key, void *value);
int bpf_map_update(int fd, const void *key, const void *value);
int bpf_map_delete(int fd, const void *key);

/* The key after *key (the first for NULL); -ENOENT at the end. */
int bpf_map_next_key(int fd, const void *key, void *next);

/* Many entries of a hash at once (5.6), in its own order: *count = how many
 * there is room for, then how many came; *at = where to go on, 0 at first.
 * -ENOENT: those were the last. */
int bpf_map_lookup_batch(int fd, uint32_t *at, void *keys, void *values,
			 uint32_t *count);

/* A program to load, under "Dual BSD/GPL". */
struct bpf_load {
	const char *name;
	uint32_t type;			/* BPF_PROG_TYPE_... */
	const struct bpf_insn *insns;
	size_t n;
	uint32_t attach_type;		/* BPF_TRACE_...; 0 = none */
	uint32_t btf_id;		/* what it is for: btf_func() */
	int btf_fd;			/* bpf_btf_fd() of the module; 0 = the
					 * kernel's */
};

/* A descriptor. On rejection the verifier's log is appended to `log` (may be
 * NULL); its buffer grows only as needed. */
int bpf_prog_load(const struct bpf_load *load, struct buf *log);

/* Links: the program is attached as long as the descriptor is open. */

/* To the raw tracepoint `tracepoint` (4.17). NULL: to what a program of type
 * TRACING (fentry, fexit, 5.5) was loaded for. */
int bpf_raw_tracepoint_open(const char *tracepoint, int prog_fd);

/* To a perf event (5.15), with the number that bpf_get_attach_cookie gives. */
int bpf_link_perf(int prog_fd, int perf_fd, uint64_t cookie);

/* To many functions of the kernel at once (5.18): by name or by address. The
 * program was loaded for BPF_TRACE_KPROBE_MULTI. */
struct bpf_kprobes {
	const char *const *names;	/* either */
	const unsigned long *addrs;	/* or: where they start, as kallsyms
					 * says; the cookies of other places
					 * are lost without a word */
	const uint64_t *cookies;	/* may be NULL */
	uint32_t count;
	bool is_return;
};
int bpf_link_kprobes(int prog_fd, const struct bpf_kprobes *k);

/* To many places of a file at once (6.6). The program was loaded for
 * BPF_TRACE_UPROBE_MULTI. */
struct bpf_uprobes {
	const char *path;
	const unsigned long *offsets;	/* in the file, bytes */
	const unsigned long *semaphores; /* the same, 0 = none; may be NULL */
	const uint64_t *cookies;	/* may be NULL */
	uint32_t count;
	uint32_t pid;			/* 0 = every process */
	bool is_return;
};
int bpf_link_uprobes(int prog_fd, const struct bpf_uprobes *u);

/* Of an iterator's program (5.8; loaded for BPF_TRACE_ITER); and a descriptor
 * from which one walk over all its objects is read. */
int bpf_link_iter(int prog_fd);
int bpf_iter_create(int link_fd);

/* How often a link's kprobes did not run their program (6.7): -EOPNOTSUPP where
 * the kernel does not say. */
int bpf_link_missed(int link_fd, uint64_t *missed);

/* What is loaded on this host, by rising numbers. The number after `id` (the
 * first after 0); -ENOENT at the end. */
enum bpf_kind { BPF_PROGS, BPF_MAPS, BPF_BTFS, BPF_LINKS };
int bpf_next_id(enum bpf_kind kind, uint32_t id, uint32_t *next);

/* A descriptor for a number; -ENOENT when it is gone. */
int bpf_fd_by_id(enum bpf_kind kind, uint32_t id);

/* Facts of a descriptor; what the kernel does not know stays 0. `name` is not
 * always ended by a NUL. */
int bpf_prog_info(int fd, struct bpf_prog_info *info);
int bpf_map_info(int fd, struct bpf_map_info *info);

/* How often the kernel left out a run of the program; 0 where it does not tell
 * (before 5.12). */
uint64_t bpf_prog_missed(int fd);

/* The types of a loaded module, for bpf_load.btf_fd; -ENOENT. */
int bpf_btf_fd(const char *module);

#endif
