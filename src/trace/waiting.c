/* waiting - how long threads are off the CPUs, summed up by stack.
 *
 * What a thread's state is when it goes, the kernel says in two ways: to
 * programs as it stands in its task_struct, and in the tracepoint's record,
 * since 4.14, with one bit for each letter that ps shows. Users mean the
 * former. The bits of both, 4.14 and later:
 *
 *	task_struct	1 S, 2 D, 4 T, 8 t, 10 and 20 exiting, 40 parked,
 *			80 dead, 100 may be killed, 400 no load (with 2: I)
 *	record		1 S, 2 D, 4 T, 8 t, 10 X, 20 Z, 40 P, 80 I, 100 = it
 *			could have run on
 */
#include "trace/waiting.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/vec.h"
#include "sys/advice.h"
#include "sys/bpf.h"
#include "sys/btf.h"
#include "sys/feature.h"
#include "sys/fs.h"
#include "sys/host.h"
#include "sys/tracefs.h"

enum {
	STATE_TOLD = 0x4f,		/* bits that a record has as they are */
	STATE_D = 0x2, STATE_NOLOAD = 0x400, STATE_I = 0x80,
	STATE_DEAD = 0x80,
	RECORD_DEAD = 0x30, RECORD_LETTERS = 0xff,
	OLD_DEAD = 0x70, OLD_LETTERS = 0xfff,	/* before 4.14 */
	PF_KTHREAD = 0x00200000,	/* linux/sched.h of the kernel */
	SMALL_HOST = 256 << 20,		/* bytes of memory */
	THREADS_MOST = 1 << 20,
};

struct waiting_half {
	uint64_t user[STACKS_FRAMES], kernel[STACKS_FRAMES];
};

struct waiting_thread {
	uint64_t start;			/* ns; 0 = it does not wait */
	bool exits, is_known, is_kernel;
	struct stack_key key;		/* user, kernel: numbers of frames */
	uint64_t *frames;		/* user's, then the kernel's */
};

static struct session *session_of(const struct waiting *w)
{
	return w->watch->session;
}

static bool is_long_enough(const struct waiting *w, uint64_t ns)
{
	return ns >= w->spec.least && ns <= w->spec.most;
}

/* Where the first rung finds what */

/* Numbers of 32 bits are read; of a longer one, its lower half. */
static uint64_t low_half(uint64_t at, uint32_t size)
{
	static const uint16_t one = 1;

	return *(const uint8_t *)&one ? at : at + size - 4;
}

static int field_const(struct waiting *w, const struct btf *btf,
		       const char *path, const char *constant)
{
	struct btf_place place;
	int err = btf_field(btf, path, &place);

	if (!err)
		session_const(session_of(w), constant,
			      low_half(place.offset, place.size));
	return err;
}

/* Do programs get (preempt, prev, next[, state])? */
static bool proto_is_known(const struct btf *btf, bool *state)
{
	struct btf_proto p;

	if (btf_tracepoint_proto(btf, "sched_switch", &p) || p.nparams < 3 ||
	    p.params[0].class != BTF_INTEGER ||
	    p.params[1].class != BTF_POINTER ||
	    p.params[2].class != BTF_POINTER)
		return false;
	*state = p.nparams > 3 && p.params[3].class == BTF_INTEGER;
	return true;
}

static int set_raw(struct waiting *w)
{
	struct session *s = session_of(w);
	bool state = false;
	struct btf *btf;
	int err = btf_open(NULL, &btf);

	if (err)
		return err;
	if (!proto_is_known(btf, &state))
		err = -ENOENT;
	if (!err)
		err = field_const(w, btf, "task_struct.pid", "pid_at");
	if (!err)
		err = field_const(w, btf, "task_struct.pid", "woken_at");
	if (!err)
		err = field_const(w, btf, "task_struct.flags", "flags_at");
	if (!err && field_const(w, btf, "task_struct.__state", "state_at"))
		err = field_const(w, btf, "task_struct.state", "state_at");
	btf_close(btf);
	if (err)
		return err;
	session_const(s, "raw", 1);
	session_const(s, "state_given", state);
	session_const(s, "dead", STATE_DEAD);
	session_const(s, "states", w->spec.state ? w->spec.state : UINT32_MAX);
	return 0;
}

static int record_const(struct waiting *w, const char *tracepoint,
			const char *name, const char *constant)
{
	struct tp_format f;
	const struct tp_field *field = NULL;
	int err = tracefs_format(tracepoint, &f);

	if (!err)
		field = tp_field_find(&f, name);
	if (!err && (!field || field->size < 4))
		err = -ENOENT;
	if (!err)
		session_const(session_of(w), constant,
			      low_half(field->offset, field->size));
	tp_format_free(&f);
	return err;
}

/* A bit that the record has no letter for cannot be asked for there. */
static int set_record_states(struct waiting *w)
{
	struct session *s = session_of(w);
	unsigned kernel = host_kernel();
	bool old = kernel && kernel < 0x40e;
	uint64_t state = w->spec.state, bits = state;

	session_const(s, "dead", old ? OLD_DEAD : RECORD_DEAD);
	if (!old)
		bits = (state & STATE_TOLD) |
		       (state & (STATE_D | STATE_NOLOAD) ? STATE_I : 0);
	if (!old && state & ~(uint64_t)(STATE_TOLD | STATE_NOLOAD)) {
		log_error("%s: --state: the record of sched_switch does not "
			  "tell the bits 0x%llx", w->watch->command,
			  (unsigned long long)(state & ~(uint64_t)
					       (STATE_TOLD | STATE_NOLOAD)));
		log_hint("a kernel with BTF (CONFIG_DEBUG_INFO_BTF) tells all");
		return -EOPNOTSUPP;
	}
	session_const(s, "states", state ? bits : old ? OLD_LETTERS
						      : RECORD_LETTERS);
	return 0;
}

static int set_record(struct waiting *w)
{
	static const char at[] = "sched/sched_switch";
	int err = record_const(w, at, "next_pid", "pid_at");

	if (!err)
		err = record_const(w, at, "prev_state", "state_at");
	if (!err && w->spec.wakers)
		err = record_const(w, "sched/sched_waking", "pid", "woken_at");
	if (err) {
		log_notice("the tracepoint %s: %s: sleeps are summed up in "
			   "user space", at, log_errno(err));
		advice(OP_TRACEFS, err);
		w->watch->here = true;
		return 0;
	}
	if (w->spec.threads != THREADS_ALL &&
	    !feature_has(FEATURE_GET_STACK)) {
		log_error("%s: -u, -k: programs of this kernel cannot tell "
			  "kernel threads", w->watch->command);
		log_hint("that came with Linux 4.18, or with BTF");
		return -EOPNOTSUPP;
	}
	return w->spec.by_state ? set_record_states(w) : 0;
}

/* Opening */

/* As many as run now, and as many again. */
static uint32_t threads_room(void)
{
	uint32_t room = host_memory() < SMALL_HOST ? 2048 : 16384;
	struct buf text = { 0 };
	const char *p;
	uint64_t n = 0;

	fs_read(FS_PROC, "loadavg", 256, &text);
	p = strchr(buf_str(&text), '/');
	if (p)
		num_dec(p + 1, text.data + text.len, &n);
	buf_free(&text);
	while (room < 2 * n && room < THREADS_MOST)
		room *= 2;
	return room;
}

static int open_in_kernel(struct waiting *w)
{
	const struct waiting_spec *spec = &w->spec;
	struct session *s = session_of(w);
	size_t keys = 1 + (size_t)spec->wakers;
	int err;

	session_other_way(s);
	session_const(s, "dead", RECORD_DEAD);
	session_const(s, "by_state", !spec->by_state ? STATE_ANY :
				     spec->state ? STATE_BITS : STATE_RUNNABLE);
	session_const(s, "threads", spec->threads);
	session_const(s, "least", spec->least);
	session_const(s, "most", spec->most);
	session_const(s, "wakers", spec->wakers);
	session_entries(s, "sleeps", threads_room());
	session_value_size(s, "sleeps", (uint32_t)
			   (offsetof(struct sleep, key) +
			    keys * sizeof(struct stack_key)));
	session_key_size(s, "counts", (uint32_t)
			 (keys * sizeof(struct stack_key)));
	w->raw = feature_has(FEATURE_RAW_TRACEPOINT) &&
		 feature_has(FEATURE_BTF);
	err = w->raw ? set_raw(w) : -EOPNOTSUPP;
	w->raw = !err;
	return err ? set_record(w) : 0;
}

static int out_of_memory(const struct waiting *w)
{
	log_error("%s: out of memory", w->watch->command);
	return -ENOMEM;
}

int waiting_open(struct waiting *w, const struct waiting_spec *spec,
		 struct watch *watch)
{
	const struct counted_spec counted = {
		.user = spec->user, .kernel = spec->kernel,
		.names = spec->names, .stack_entries = spec->stack_entries,
	};
	int err;

	*w = (struct waiting){
		.spec = *spec, .watch = watch, .links = { -1, -1 },
	};
	w->halves = mem_zalloc(2 * sizeof(*w->halves));
	if (!w->halves)
		return out_of_memory(w);
	err = counted_open(&w->counted, watch->command, watch->session,
			   &counted);
	if (err)
		return err;
	err = feature_error(FEATURE_BPF);
	if (!err)
		return open_in_kernel(w);
	log_notice("bpf(2) cannot be used (%s): sleeps are summed up in user "
		   "space", advice_reason(OP_BPF, err));
	advice(OP_BPF, err);
	watch->here = true;
	return 0;
}

/* The first rung */

static int attach_one(struct waiting *w, enum sched_probe probe,
		      const char *name)
{
	struct prog_as as = {
		.kind = w->raw ? PROG_RAW_TRACEPOINT : PROG_TRACEPOINT,
		.probe = probe,
	};
	char where[64] = "sched/";
	int prog = session_prog_as(session_of(w), "sched", &as), fd;

	if (prog < 0)
		return prog;
	strcat(where, name);
	fd = session_attach_as(as.kind, w->raw ? name : where, prog);
	if (fd < 0) {
		log_notice("%s: cannot attach to %s: %s", w->watch->command,
			   name, log_errno(fd));
		advice(OP_TRACEFS, fd);
		return fd;
	}
	w->links[probe] = fd;
	w->progs[probe] = prog;
	return 0;
}

static int load_in_kernel(struct waiting *w)
{
	int err = watch_load(w->watch);

	if (err)
		return err;
	counted_follow(&w->counted, &w->watch->loop);
	if (w->spec.wakers)
		err = attach_one(w, SCHED_WAKING, "sched_waking");
	return err ? err : attach_one(w, SCHED_SWITCH, "sched_switch");
}

static void unlink_all(struct waiting *w)
{
	for (int i = 0; i < 2; i++) {
		if (w->links[i] >= 0)
			close(w->links[i]);
		w->links[i] = -1;
	}
}

/* The second rung */

static struct waiting_thread *thread_of(struct waiting *w, uint32_t tid,
					bool add)
{
	int64_t id = add ? intern_put(&w->tids, &tid, sizeof(tid))
			 : intern_find(&w->tids, &tid, sizeof(tid));
	struct waiting_thread *t;

	if (id < 0)
		return NULL;
	if ((size_t)id < w->threads.n)
		return &w->threads.v[id];
	t = add ? vec_push(&w->threads) : NULL;
	if (t)
		*t = (struct waiting_thread){ 0 };
	return t;
}

static size_t frames_of(int32_t n)
{
	return n > 0 ? (size_t)n : 0;
}

/* By its flags, the ninth field of its stat: a program's thread that has left
 * its memory has no user stack either. */
static bool is_kernel_thread(uint32_t tid)
{
	struct buf text = { 0 };
	const char *p = NULL, *end;
	uint64_t flags = 0;		/* it is gone */
	char path[32];
	int field;

	snprintf(path, sizeof(path), "%u/stat", tid);
	if (!fs_read(FS_PROC, path, 4096, &text))
		p = strrchr(buf_str(&text), ')');
	end = text.data + text.len;
	for (field = 2; p && field < 9; field++)
		p = strchr(p + 1, ' ');
	if (p)
		num_dec(p + 1, end, &flags);
	buf_free(&text);
	return flags & PF_KTHREAD;
}

static bool is_wanted_thread(const struct waiting *w, uint32_t tid,
			     struct waiting_thread *t,
			     const struct stack_key *key)
{
	if (w->spec.threads == THREADS_ALL)
		return true;
	if (!t->is_known)
		t->is_kernel = key->user <= 0 && is_kernel_thread(tid);
	t->is_known = true;
	return t->is_kernel == (w->spec.threads == THREADS_KERNEL);
}

static void thread_off(void *arg, uint32_t tid, uint64_t time,
		       const struct stack_key *key, const uint64_t *user,
		       const uint64_t *kernel)
{
	struct waiting *w = arg;
	struct waiting_thread *t = thread_of(w, tid, true);
	size_t nuser = frames_of(key->user), nkernel = frames_of(key->kernel);

	if (!t) {
		w->no_room++;
		return;
	}
	t->start = 0;
	if (t->exits || !is_wanted_thread(w, tid, t, key) ||
	    (key->tgid == (uint32_t)getpid() && !w->watch->filter.with_self))
		return;
	mem_free(t->frames);
	t->frames = mem_zalloc((1 + nuser + nkernel) * sizeof(*t->frames));
	if (!t->frames) {
		w->no_room++;
		return;
	}
	memcpy(t->frames, user, nuser * sizeof(*user));
	memcpy(t->frames + nuser, kernel, nkernel * sizeof(*kernel));
	t->key = *key;
	t->key.caller = tid;
	t->start = time;
}

static void thread_add(struct waiting *w, struct waiting_thread *t,
		       uint64_t end)
{
	uint64_t ns = end - t->start;

	if (t->start && end > t->start && is_long_enough(w, ns))
		stacks_add(&w->counted.stacks, &t->key, ns, t->frames,
			   t->frames + frames_of(t->key.user));
	t->start = 0;
}

static void thread_on(void *arg, uint64_t time, uint32_t tid)
{
	struct waiting *w = arg;
	struct waiting_thread *t = thread_of(w, tid, false);

	if (!t)
		return;
	if (t->exits)			/* another one of that number */
		t->is_known = t->exits = false;
	thread_add(w, t, time);
}

static void thread_exit(void *arg, uint32_t tid)
{
	struct waiting_thread *t = thread_of(arg, tid, true);

	if (!t)
		return;
	t->start = 0;
	t->exits = true;
}

/* A sleep of which the end was lost would grow by what its thread ran. */
static void records_lost(void *arg, uint64_t n)
{
	struct waiting *w = arg;

	(void)n;
	for (size_t i = 0; i < w->threads.n; i++) {
		w->broken_off += w->threads.v[i].start != 0;
		w->threads.v[i].start = 0;
	}
}

int waiting_start(struct waiting *w)
{
	return w->watch->child.pid ? 0 : callchains_enable(&w->chains);
}

static int refuse_here(const struct waiting *w, const char *what)
{
	log_error("%s: %s: that cannot be done without bpf(2)",
		  w->watch->command, what);
	return -EOPNOTSUPP;
}

static int load_here(struct waiting *w)
{
	static const struct sample_event switches = {
		.name = "context-switches", .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
	};
	const struct waiting_spec *spec = &w->spec;
	static const struct chain_switches switches_told = {
		thread_on, thread_exit, records_lost,
	};
	struct watch *watch = w->watch;
	struct sampling_spec *s = &w->chain_spec;
	int err;

	if (spec->wakers || spec->by_state || watch->filter.cpu >= 0)
		return refuse_here(w, spec->wakers ? "--wakers" :
				   spec->by_state ? "--state" : "--cpu");
	*s = (struct sampling_spec){
		.command = watch->command, .take = thread_off, .taker = w,
		.switches = &switches_told,
		.pids = watch->filter.pids, .tids = watch->filter.tids,
		.comm = watch->filter.comm, .kernel = spec->kernel,
		.user = spec->user || spec->threads != THREADS_ALL,
		.sample = {
			.event = &switches, .period = 1, .cpu = -1,
			.cgroup_fd = watch->filter.cgroup_fd,
			.child = watch->child.pid,
		},
	};
	stacks_free(&w->counted.stacks);
	stacks_init(&w->counted.stacks, stacks_memory(), stacks_depth_limit(),
		    stacks_depth_limit());
	err = callchains_open(&w->chains, s, &w->counted.naming,
			      &w->counted.stacks);
	if (!err)
		err = callchains_watch(&w->chains, watch->loop.epoll_fd);
	return err ? err : watch_load(watch);
}

/* Both */

int waiting_load(struct waiting *w)
{
	int err = w->watch->here ? 0 : load_in_kernel(w);

	if (!w->watch->here && !session_is_refused(err))
		return err;
	if (!w->watch->here)
		log_notice("sleeps are summed up in user space instead");
	unlink_all(w);
	w->watch->here = true;
	return load_here(w);
}

void waiting_forget(struct waiting *w, uint64_t id)
{
	if (w->watch->here)
		callchains_forget(&w->chains, (uint32_t)id);
	else
		filter_forget(session_of(w), id);
}

void waiting_turn(struct waiting *w)
{
	if (w->watch->here)
		callchains_read(&w->chains, false);
	else
		counted_drain(&w->counted);
}

void waiting_detach(struct waiting *w)
{
	if (w->watch->here) {
		callchains_disable(&w->chains);
		callchains_read(&w->chains, true);
		return;
	}
	unlink_all(w);
	counted_drain(&w->counted);
}

/* A CPU that is in the middle of another program's work runs none. */
static uint64_t runs_missed(const struct waiting *w)
{
	uint64_t n = 0;

	for (int i = 0; i < 2; i++)
		if (w->progs[i])
			n += bpf_prog_missed(w->progs[i]);
	return n;
}

uint64_t waiting_lost(struct waiting *w)
{
	uint32_t room = SLEEP_LOST_ROOM, end = SLEEP_LOST_END;
	int fd;

	if (w->watch->here)
		return w->chains.lost + w->no_room + w->broken_off;
	counted_hits(&w->counted);
	w->unseen = runs_missed(w);
	fd = session_map(session_of(w), "lost");
	bpf_map_lookup(fd, &room, &w->no_room);
	bpf_map_lookup(fd, &end, &w->no_end);
	return w->no_room + w->no_end + w->counted.counters[COUNTER_NO_SLOT];
}

/* The result */

static int hand_over(struct waiting *w, struct waiting_row *row,
		     int (*fn)(void *, const struct waiting_row *), void *arg)
{
	const struct stack *s = &row->stack;
	uint32_t most = w->counted.stacks.depth;

	w->total += row->ns;
	if (s->missed_user || s->missed_kernel ||
	    (row->woken && (row->waker.missed_user ||
			    row->waker.missed_kernel)))
		w->missed += row->ns;
	if (s->nuser >= most || s->nkernel >= most)
		w->cut += row->ns;
	return fn(arg, row);
}

/* The number of the thread goes from the key to the row. For an idle task that
 * an interrupt has hit, kernels give several errors in place of no stack. */
static int half_read(struct waiting *w, struct stack_key *key, int i,
		     struct stack *stack, uint32_t *tid)
{
	*tid = (uint32_t)key->caller;
	key->caller = 0;
	if (!key->tgid && key->user < 0)
		key->user = -EFAULT;
	return stacks_find(&w->counted.stacks, session_of(w), key, stack,
			   w->halves[i].user, w->halves[i].kernel);
}

static int row_read(struct waiting *w, struct sleep *sleep, uint64_t ns,
		    struct waiting_row *row)
{
	int err;

	*row = (struct waiting_row){
		.ns = ns, .woken = sleep->waker.caller & SLEEP_WOKEN,
	};
	err = half_read(w, &sleep->key, 0, &row->stack, &row->tid);
	row->stack.count = ns;
	if (!err && row->woken)
		err = half_read(w, &sleep->waker, 1, &row->waker,
				&row->waker_tid);
	return err == -ENOENT ? -EIO : err;
}

static int each_counted(struct waiting *w,
			int (*fn)(void *, const struct waiting_row *),
			void *arg)
{
	int fd = session_map(session_of(w), "counts");
	struct sleep sleep = { 0 }, last;
	const void *key = NULL;
	int err;

	while (!(err = bpf_map_next_key(fd, key, &sleep.key))) {
		struct waiting_row row;
		uint64_t ns;

		last = sleep;
		key = &last.key;
		err = bpf_map_lookup(fd, key, &ns);
		if (!err)
			err = row_read(w, &sleep, ns, &row);
		if (!err)
			err = hand_over(w, &row, fn, arg);
		if (err)
			return err == -ENOENT ? -EIO : err;
	}
	return err == -ENOENT ? 0 : err;
}

/* Those that wait still: up to the trace's end. */
static int each_asleep(struct waiting *w,
		       int (*fn)(void *, const struct waiting_row *),
		       void *arg)
{
	int fd = session_map(session_of(w), "sleeps");
	uint64_t end = w->watch->stopped;
	uint32_t tid, *last = NULL;
	int err;

	while (!(err = bpf_map_next_key(fd, last, &tid))) {
		struct sleep sleep = { 0 };
		struct waiting_row row;

		last = &tid;
		if (bpf_map_lookup(fd, &tid, &sleep) || !sleep.start ||
		    sleep.start >= end ||
		    !is_long_enough(w, end - sleep.start))
			continue;
		sleep.waker.caller = 0;
		err = row_read(w, &sleep, end - sleep.start, &row);
		if (!err) {
			w->asleep += row.ns;
			w->sleepers++;
			err = hand_over(w, &row, fn, arg);
		}
		if (err)
			return err;
	}
	return err == -ENOENT ? 0 : err;
}

struct each {
	struct waiting *w;
	int (*fn)(void *arg, const struct waiting_row *row);
	void *arg;
};

static int take_stack(void *arg, const struct stack *stack)
{
	struct each *e = arg;
	struct stack_key key = *stack->key;
	struct waiting_row row = {
		.ns = stack->count, .tid = (uint32_t)key.caller,
		.stack = *stack,
	};

	key.caller = 0;
	row.stack.key = &key;
	if (!e->w->spec.user) {
		row.stack.nuser = 0;
		row.stack.missed_user = false;
	}
	return hand_over(e->w, &row, e->fn, e->arg);
}

static void end_threads(struct waiting *w)
{
	uint64_t end = w->watch->stopped;

	for (size_t i = 0; i < w->threads.n && !w->spec.finished; i++) {
		struct waiting_thread *t = &w->threads.v[i];

		if (!t->start || t->start >= end ||
		    !is_long_enough(w, end - t->start))
			continue;
		w->sleepers++;
		w->asleep += end - t->start;
		thread_add(w, t, end);
	}
}

int waiting_each(struct waiting *w,
		 int (*fn)(void *arg, const struct waiting_row *row),
		 void *arg)
{
	struct each each = { w, fn, arg };
	int err;

	w->total = w->asleep = w->sleepers = w->missed = w->cut = 0;
	if (w->watch->here) {
		end_threads(w);
		return stacks_each(&w->counted.stacks, NULL, take_stack,
				   &each);
	}
	err = each_counted(w, fn, arg);
	if (!err && !w->spec.finished)
		err = each_asleep(w, fn, arg);
	return err;
}

static void report_ms(uint64_t ns, const char *what)
{
	if (ns)
		log_notice("%s: %.3f ms", what, (double)ns / 1e6);
}

void waiting_report(struct waiting *w)
{
	struct counted *c = &w->counted;

	log_count(w->no_room, "sleeps lost, the table of threads is full");
	log_count(w->no_end, "sleeps lost, their end was not seen");
	log_count(w->unseen, "switches or wake-ups not seen, their CPU was at "
		  "work for another program");
	log_count(w->broken_off, "sleeps given up, for records of the ring "
		  "were lost meanwhile");
	report_ms(w->missed, "time without one of the stacks, which found no "
		  "place in the stack table (--stack-storage-size)");
	report_ms(w->cut, "time with a stack deeper than the limit (sysctl "
		  "kernel.perf_event_max_stack)");
	report_ms(c->stacks.lost, "time lost, too many different stacks for "
		  "the memory of this host");
	c->stacks.missed = c->stacks.cut = c->stacks.lost = 0;
	if (!w->watch->here) {
		counted_report(c);
		return;
	}
	log_count(w->chains.lost, "records lost, a ring to user space was "
		  "full");
	log_count(w->chains.outside, "switches of tasks outside this pid "
		  "namespace, left out");
	naming_report(&c->naming);
}

void waiting_close(struct waiting *w)
{
	unlink_all(w);
	callchains_close(&w->chains);
	counted_close(&w->counted);
	for (size_t i = 0; i < w->threads.n; i++)
		mem_free(w->threads.v[i].frames);
	vec_free(&w->threads);
	intern_free(&w->tids);
	mem_free(w->halves);
}
