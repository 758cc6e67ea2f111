/* waiting - how long threads are off the CPUs, summed up by stack. */
#ifndef TRACE_WAITING_H
#define TRACE_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "events.h"
#include "trace/callchains.h"
#include "trace/counted.h"
#include "trace/sampling.h"
#include "trace/watch.h"

/* What counts. */
struct waiting_spec {
	bool user, kernel;		/* halves of the stacks */
	bool wakers;			/* those of who woke them, too */
	bool finished;			/* only what ended during the trace */
	const struct name_options *names;	/* see counted_spec */
	enum sched_threads threads;
	bool by_state;
	uint64_t state;			/* bits of TASK_... as this kernel's
					 * linux/sched.h numbers them; 0 =
					 * could have run on */
	uint64_t least, most;		/* ns that it lasts, both included */
	uint64_t stack_entries;		/* 0 = as fits the host */
};

/* A row of the result; valid during the call that hands it over. Of the keys,
 * tgid, gen and comm are meant. */
struct waiting_row {
	uint64_t ns;
	uint32_t tid, waker_tid;
	struct stack stack;		/* .count as ns, too */
	bool woken;			/* .waker is there */
	struct stack waker;
};

/* What the first rung reads of a thread and the second keeps of it. */
struct waiting_half;
struct waiting_thread;

/* The first rung sums in the kernel: a program on the tracepoint sched_switch,
 * raw where BTF tells what it is given, else on its record. The second, for
 * hosts and users without bpf(2), sums here what perf's context switches write
 * into their rings: their call chains, and who came when. */
struct waiting {
	struct waiting_spec spec;
	struct watch *watch;
	struct counted counted;		/* naming, and the stacks */
	bool raw;			/* the first rung's kind */
	int links[2], progs[2];		/* its descriptors; programs are the
					 * session's */

	struct sampling_spec chain_spec;	/* the second rung's */
	struct callchains chains;
	struct intern tids;
	struct {
		struct waiting_thread *v;
		size_t n, cap;
	} threads;			/* by number in tids */

	struct waiting_half *halves;	/* where stacks are read to */
	uint64_t total, asleep;		/* ns of waiting_each(); of it, of those
					 * that wait still */
	uint64_t sleepers;		/* these */
	uint64_t missed;		/* ns without one of the stacks */
	uint64_t cut;			/* ns with one that is too deep */
	uint64_t broken_off;		/* sleeps whose end may be lost */
	uint64_t no_room;		/* sleeps of too many threads */
	uint64_t no_end;		/* whose end was not seen */
	uint64_t unseen;		/* what other programs' use hid */
};

/* Between watch_open() and watch_load(), which waiting_load() calls: the filter
 * and the arguments are the watch's. 0 or -errno, reported; waiting_close()
 * always. */
int waiting_open(struct waiting *w, const struct waiting_spec *spec,
		 struct watch *watch);
int waiting_load(struct waiting *w);

/* For the watch's functions of these names. */
int waiting_start(struct waiting *w);
void waiting_forget(struct waiting *w, uint64_t id);
void waiting_turn(struct waiting *w);
void waiting_detach(struct waiting *w);

/* Read again what was lost so far; sleeps, of either kind. */
uint64_t waiting_lost(struct waiting *w);

/* After waiting_detach(): hand over every row; fn returns other than 0 to stop,
 * which is then the result. 0 or -errno. */
int waiting_each(struct waiting *w,
		 int (*fn)(void *arg, const struct waiting_row *row),
		 void *arg);

/* Notices about each kind of loss. */
void waiting_report(struct waiting *w);
void waiting_close(struct waiting *w);

#endif
