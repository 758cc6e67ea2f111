/* procs - which file was mapped where, in which process, at which time. */
#ifndef SYM_PROCS_H
#define SYM_PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "sym/maps.h"

struct procs;
struct proc;
struct elf;

/* NULL when memory is out. Descriptors of mapped files are kept within the
 * limit on open files as it is now (RLIMIT_NOFILE): raise it before. */
struct procs *procs_new(void);
void procs_free(struct procs *p);

/* For stacks that are named elsewhere: read what tells a mapped file from all
 * others out of its processes' memory. With `files` false no file is opened
 * at all, and nothing has a name but what is in no file. */
void procs_keep_heads(struct procs *p, bool files);

/* What happened, from perf's records, in any order; `pid` is a process as
 * /proc counts it, times are CLOCK_MONOTONIC in ns. A fork begins a process
 * that has what its parent had mapped, an exec begins it anew; an exit ends
 * nothing by itself, for a leader may leave before its threads; but a process
 * that was never sampled is forgotten 10 seconds after it. 0 or -ENOMEM. */
int procs_fork(struct procs *p, uint32_t pid, uint32_t ppid, uint64_t time);
int procs_exec(struct procs *p, uint32_t pid, uint64_t time);
int procs_map(struct procs *p, uint32_t pid, uint64_t time,
	      const struct map_row *row);
void procs_exit(struct procs *p, uint32_t pid, uint64_t time);

/* An image of a process was sampled for the first time, at `time`: read its
 * maps and open what they name while it lives. One that is gone, or is not
 * ours to read, is no error. 0 or -ENOMEM. */
int procs_seen(struct procs *p, uint32_t pid, uint64_t time);

/* The image that ran as pid at a time (which procs_seen() was told). */
struct proc_at {
	struct proc *proc;	/* NULL: nothing is known of the pid */
	uint64_t time;
};
struct proc_at procs_at(struct procs *p, uint32_t pid, uint64_t time);

/* The image after the first exec that is known of the pid, if the given one is
 * before it. */
struct proc_at procs_after_exec(struct proc_at at);

/* False when another image of the pid came after it. */
bool procs_is_last(struct proc_at at);

/* What an address of an image is. */
struct place {
	enum map_kind kind;
	uint32_t file;		/* MAPS_FILE, and MAPS_VDSO's image */
	const char *label;	/* else: "[heap]", "" ...; valid until the next
				 * procs_ call */
	uint64_t off;		/* of the address: in the file, else in the
				 * mapping */
	uint64_t start, end;	/* the mapping, and when it was seen */
	uint64_t time;
};

/* 0; -ENOENT: in no executable mapping; -ENOTUNIQ: different files were
 * mapped there while the image ran, and nothing tells which one is meant;
 * -ENOMEM. Maps of a live process are read again when the address is new. */
int procs_place(struct procs *p, struct proc_at at, uint64_t addr,
		struct place *out);

/* The symbols of a place's file, opened if it is not yet; NULL: none. The
 * place's file may become another one, which stands for it in this process. */
struct elf *procs_elf(struct procs *p, struct proc_at at, struct place *place);

/* What the kernel says of a file that was mapped; its path is valid until the
 * next procs_ call. And what the file says of itself, if that is known. */
struct head;
void procs_file(const struct procs *p, uint32_t file, struct map_row *out);
const struct head *procs_head(const struct procs *p, uint32_t file);

/* The name to show for a place without a symbol: "libc.so.6", "anon". */
void procs_label(const struct procs *p, const struct place *place,
		 struct buf *name);

/* Append the name that the process's JIT map has for the address. 0, -ENOENT,
 * -ENOMEM. */
int procs_jit(struct procs *p, struct proc_at at, uint64_t addr,
	      struct buf *name);

/* Files that were not opened because of the limit on open files. */
unsigned procs_dropped(const struct procs *p);

/* Mappings that were not kept, to bound memory. */
size_t procs_lost_rows(const struct procs *p);

/* Files that could not be opened or read, of those that names were wanted of;
 * the path and the -errno of the first one. */
unsigned procs_unread(const struct procs *p, const char **first, int *err);

/* Processes that were seen, but are not ours to read. */
unsigned procs_hidden(const struct procs *p);

#endif
