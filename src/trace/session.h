/* session - the life of a trace: maps, load, attach, events, detach. */
#ifndef TRACE_SESSION_H
#define TRACE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf_object.h"
#include "trace/channel.h"

/* What one command has in the kernel. Everything hangs on descriptors that
 * session_free() closes, so nothing outlives the process, however it ends. */
struct session;

/* `command` names the tool in messages. NULL when memory is out. */
struct session *session_new(const char *command,
			    const struct bpf_object *object);
void session_free(struct session *s);

/* Before session_load(): constants (0 by default) and sizes (those of the
 * object by default; bytes for an event map, a power of two). Names that the
 * object does not have are a mistake in the program: they are ignored here
 * and the offline check finds them. */
void session_const(struct session *s, const char *name, uint64_t value);
void session_entries(struct session *s, const char *map, uint32_t entries);
void session_type(struct session *s, const char *map, uint32_t type);
void session_value_size(struct session *s, const char *map, uint32_t bytes);
void session_key_size(struct session *s, const char *map, uint32_t bytes);

/* Where a field ("rq.nr_running") is, in bytes, for FIELD() on kernels without
 * BTF: a layout that the tool has verified. The path is not copied. At most 16
 * of them. */
void session_offset(struct session *s, const char *path, uint32_t offset);

/* The caller has another way where session_is_refused(): then it is told in
 * notices. */
void session_other_way(struct session *s);

/* Leave a program out. */
void session_without(struct session *s, const char *prog);

/* Create the maps, link and load the programs. Those of a kind that the kernel
 * lacks (FEATURE_RAW_TRACEPOINT) are left out. 0 or -errno, reported with
 * hints. */
int session_load(struct session *s);

/* True when -errno means that the kernel wants no such map or program, rather
 * than that it, or we, have no room. */
bool session_is_refused(int err);

/* What a PROG_PROBE program, which session_load() leaves to this, becomes. */
struct prog_as {
	enum prog_kind kind;
	bool is_syscall;	/* its arguments: a struct pt_regs of them */
	unsigned nargs;		/* arguments there are, but for kprobes */
	bool is_user;		/* of a program, not the kernel */
	bool is_go;		/* a function of Go, its g in a register */
	bool no_caller;		/* the constant "caller" is 0 in this copy */
	bool cookie;		/* PROBE() asks the kernel, else it is this: */
	uint64_t probe;
	uint32_t attach_type, btf_id;	/* as in struct bpf_load */
	int btf_fd;
};

/* Load a copy of it. A descriptor, the session's; or -errno, reported. */
int session_prog_as(struct session *s, const char *name,
		    const struct prog_as *as);

/* Attach such a copy to a (raw) tracepoint, named as in struct prog_def. A
 * descriptor, the caller's: closing it detaches; or -errno, unreported. */
int session_attach_as(enum prog_kind kind, const char *where, int prog_fd);

/* True when its array has a PROBE(). */
bool session_asks_probe(const struct session *s, const char *name);

/* Attach the programs that name where (`attach`) and are not yet: all, all but
 * one, one of them alone. 0 or -errno, unreported. */
int session_attach(struct session *s);
int session_attach_but(struct session *s, const char *prog);
int session_attach_one(struct session *s, const char *prog);

/* Descriptors, owned by the session; -ENOENT. */
int session_map(const struct session *s, const char *name);
int session_prog(const struct session *s, const char *name);

/* How often the kernel did not run a program. One at a raw tracepoint: as it
 * was in the middle of another run of it on that CPU (5.12 tells; from 7.0 on
 * a task can be put aside within). One at a tracepoint or kprobe: as the CPU
 * was in any such program, or in a system call about a BPF map (6.7 tells). */
uint64_t session_missed(const struct session *s, const char *prog);

/* Tell what processes may not have been followed as they were: those that the
 * map "targets" had no room for, and what the programs "fork", "exec" and
 * "exit", where the object has them, missed. */
void session_report_followed(const struct session *s);

/* The channel of the object's event map; NULL when it has none. */
struct channel *session_channel(struct session *s);

#endif
