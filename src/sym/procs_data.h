/* procs_data - what procs.c gathers and procs_find.c looks through. */
#ifndef SYM_PROCS_DATA_H
#define SYM_PROCS_DATA_H

#include <sys/types.h>

#include "base/intern.h"
#include "base/vec.h"
#include "sym/files.h"
#include "sym/heads.h"
#include "sym/jitmap.h"
#include "sym/procs.h"

#define NONE UINT32_MAX
#define SECOND 1000000000u
#define JIT_BYTES_MOST (256ull << 20)

enum {
	ROOTS_MOST = 256,	/* root folders kept open */
	ANCESTORS_MOST = 256,	/* forks without exec that are looked through */
	JIT_RANGES_MOST = 4 << 20,
	HOLE_ROWS_MOST = 64,
	JIT_FDS_MOST = 128,
	JIT_PAUSE = 20,		/* times what loading a map took */
	VDSOS_MOST = 256,
	VDSO_MOST = 64 << 10,	/* bytes */
};

struct row {
	uint64_t start, end, off;
	uint64_t time;
	uint64_t last;		/* the same was recorded again, until then */
	uint64_t reach;		/* the largest end of the image's rows so far */
	uint32_t id;		/* number of the file, or of the label */
	uint32_t snap;		/* NONE: from a record */
	uint32_t image;
	uint8_t kind;
	bool exec;
};

struct boundary {
	uint64_t time;
	uint32_t ppid;		/* NONE: an exec */
	size_t first;		/* the image's first row */
};

struct snap {
	uint64_t asked, from, to;	/* T, and when it was read */
	uint64_t time;			/* what it is filed under */
	uint32_t image;			/* NONE: of two images, or none */
	uint32_t root;			/* number of the root folder, or NONE */
	uint32_t nspid, uid;
	uint32_t mark;			/* what proc_mark() told of the image */
	bool whole;			/* what it does not show is not there */
	bool seen;			/* by procs_seen(): begins an image */
	bool made;			/* it has code that no linker made */
};

struct proc {
	uint32_t pid, number;
	VEC(struct row) rows;
	VEC(struct boundary) bounds;	/* [0] is the beginning of time */
	VEC(struct snap) snaps;
	bool unsorted;
	size_t sort_at;			/* so many rows are worth merging */
	uint64_t reread;		/* when the maps were last read again */
	uint64_t left;			/* exit time; 0 = not known */
	int jit_fd;			/* its JIT map as first seen, or -1 */
	struct jitmap *jit;
	bool missed;			/* it was gone when it was seen */
	bool jit_said;			/* what is wrong with it */
	uint64_t jit_next;		/* look again then; 0 = never did */
};

struct root_key {
	uint64_t ns, dev, inode;
};

struct procs {
	struct intern pids, labels, roots, tried, marks;
	VEC(struct proc *) all;		/* by number in pids; NULL: forgotten */
	VEC(uint32_t) tried_as;		/* by number in tried: a file */
	VEC(struct row) scratch;	/* of the snapshot being read */
	int root_fds[ROOTS_MOST];	/* by number in roots */
	int own_root;
	struct files *files;
	unsigned exits;
	unsigned hidden;
	unsigned jit_fds;
	unsigned vdsos;			/* that were read from processes */
	size_t rows, rows_most;		/* of all processes */
	size_t lost_rows;
	unsigned refused;		/* for want of room */
	size_t jit_ranges;
	uint64_t jit_bytes;		/* read in all */
	bool jit_full;			/* no more of that, which was said */
	bool no_map_files;		/* not ours to follow */
	bool keep_heads;		/* see procs_keep_heads() */
	bool no_files;			/* open none */
	struct heads heads;
};

struct proc *proc_find(const struct procs *p, uint32_t pid);

/* /proc/PID, or that of a thread which the leader left behind; what is opened
 * below it is never another process that got the same pid. A descriptor, or
 * -errno. */
int proc_dir(uint32_t pid);

/* Put the records in order, and merge rows that say the same. */
void proc_sort(struct proc *c);

/* procs_room.c: how many rows all processes together may have; may `n` more be
 * added? (If not, they are counted as lost.) Keep one process's within their
 * bounds, now and then. */
size_t procs_rows_most(void);
bool procs_room(struct procs *p, size_t n);
void proc_tidy(struct procs *p, struct proc *c);

/* False for a kernel thread, and for a process that is gone: errno is ENOENT
 * or ESRCH then, but EACCES when we may not know. */
bool proc_has_image(int dir);

/* Read the beginning of a file of the process, NUL-terminated. The length, or
 * -errno. */
ssize_t proc_read(int dir, const char *name, char *to, size_t size);

/* Open a live mapping's file, if it is not open yet. The number of the file
 * that it is, as files_take() says; -ENOMEM. */
int64_t proc_hold(struct procs *p, int dir, const struct map_row *row,
		  uint32_t file);

/* Open a file (`file` and `time` of a place) by its path. The number of the
 * file to use instead, the same one if there is none. */
uint32_t proc_hold_path(struct procs *p, struct proc_at at,
			const struct place *place);

/* A number for the image that runs, another one after an exec. NONE = not
 * known. */
uint32_t proc_mark(struct procs *p, int dir);

/* Read its maps, and file them under `time`. It is the first sight of the
 * image if `mark` is NONE; else nothing is taken unless it still is that image:
 * -ESTALE. 0 or -ENOMEM. */
int proc_snap(struct procs *p, struct proc *c, int dir, uint64_t time,
	      uint32_t mark);

#endif
