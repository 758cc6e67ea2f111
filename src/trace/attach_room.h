/* attach_room - what the files of attach share. */
#ifndef TRACE_ATTACH_ROOM_H
#define TRACE_ATTACH_ROOM_H

#include "trace/attach.h"
#include "uapi.h"

/* An error that is on stderr already. */
enum { ATTACH_REPORTED = -4000 };

/* The program for one kind of probe: the copy that is there, or a new one. A
 * descriptor or -errno, reported. */
int attach_program(struct attach *a, const char *prog, struct prog_as as,
		   size_t number);

/* Note a fact; 0 or -ENOMEM. */
int attach_note(struct attach *a, struct attach_fact fact);

/* Count what a pattern matched and could not be set there, for attach_report().
 */
void attach_left_out(struct attach *a, size_t number, int err);

/* Own a descriptor; closed when memory is out. The second is for a link that
 * tells what it missed. */
int attach_keep(struct attach *a, int fd);
int attach_keep_link(struct attach *a, int fd);

/* Open a perf event of probes: of one process, or of all. */
int attach_perf(struct perf_event_attr *attr, uint32_t pid);

/* Put the program on such an event, which is owned or closed. */
int attach_event(struct attach *a, int event_fd, const char *prog,
		 struct prog_as as, size_t number);

/* Set one point. 0, -errno, ATTACH_REPORTED. */
int attach_kernel(struct attach *a, size_t number, const char *prog,
		  bool is_return);
/* Say why a kernel function of that point cannot be probed; false when the
 * errno has to tell. */
bool attach_kernel_explain(const struct attach *a, const struct point *p,
			   int err);
int attach_user(struct attach *a, size_t number, const char *prog,
		bool is_return);

/* How many points from this one on a link could take at once; 1 = itself. */
size_t attach_kernel_run(const struct attach *a, size_t number);
size_t attach_user_run(const struct attach *a, size_t number);

/* Set them so; 0 or -errno, for one of them spoils it for all. */
int attach_kernel_link(struct attach *a, size_t from, size_t n,
		       const char *prog, bool is_return);
int attach_user_link(struct attach *a, size_t from, size_t n,
		     const char *prog, bool is_return);

/* Count up a USDT probe's semaphore where the kernel does not; 0 or -errno. All
 * of them down again: first of all, for they are all that outlives us. */
int attach_raise(struct attach *a, const struct point *p);
void attach_lower(struct attach *a);

/* The way of older kernels: name a probe in tracefs. Its event, or -errno.
 * attach_unname() removes those of this process. The type is "p", "r", or "r20"
 * with room for 20 calls at a time (4.12). */
int attach_named(struct attach *a, const char *file, const char *type,
		 const char *place, uint32_t pid);
void attach_unname(struct attach *a);
/* Hits that the kernel counts as missed by those of its functions. */
uint64_t attach_named_missed(const struct attach *a);

#endif
