/* watch - what all commands of probes do: targets, time, signals, records. */
#include "trace/watch.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/log.h"
#include "base/vec.h"
#include "sys/advice.h"
#include "sys/bpf.h"
#include "sys/fs.h"
#include "sys/host.h"

enum { TURN_MS = 50, SECOND = 1000000000 };

static int failed(const struct watch *w, const char *what, int err)
{
	if (err)
		log_error("%s: cannot %s: %s", w->command, what,
			  log_errno(err));
	return err;
}

static const struct num_list *targets(const struct watch *w)
{
	return w->filter.tids.n ? &w->filter.tids : &w->filter.pids;
}

static int note_targets(struct watch *w)
{
	const struct num_list *ids = targets(w);

	if (fs_dir(FS_PROC) < 0)
		return 0;
	for (size_t i = 0; i < ids->n; i++) {
		uint64_t *began = vec_push(&w->began);
		int err;

		if (!began)
			return failed(w, "note the processes", -ENOMEM);
		err = target_began(ids->v[i], began);
		if (err == -ESRCH)
			*began = 0;
		else if (err)
			return failed(w, "tell when a process began", err);
	}
	return 0;
}

/* A number that another process has by now is not the target any more; when
 * nobody is left, the trace ends. */
static void check_targets(struct watch *w)
{
	const struct num_list *ids = targets(w);
	size_t left = 0;

	for (size_t i = 0; i < w->began.n; i++) {
		int same = w->began.v[i] ?
			   target_is_same(ids->v[i], w->began.v[i]) : 0;

		left += same != 0;
		if (same || !w->began.v[i])
			continue;
		w->began.v[i] = 0;
		if (w->forget)
			w->forget(w->arg, ids->v[i]);
		else if (w->session)
			filter_forget(w->session, ids->v[i]);
	}
	if (w->began.n && !left)
		watch_end(w);
}

int watch_open(struct watch *w)
{
	int err;

	w->opened = host_time();
	w->loop = (struct loop){ .epoll_fd = -1, .signal_fd = -1 };
	w->filter.command = w->command;
	w->filter.cgroup_fd = -1;
	if (!target_exist(w->command, "--pid", &w->filter.pids, false) ||
	    !target_exist(w->command, "--tid", &w->filter.tids, true))
		return -ESRCH;
	err = failed(w, "take over signals", loop_open(&w->loop));
	if (!err && w->argv)
		err = target_spawn(&w->child, w->command, w->argv);
	if (err)
		return err;
	host_raise_files();		/* ours, not the command's */
	w->filter.root = w->child.pid;
	if (!w->object)
		return note_targets(w);
	w->session = session_new(w->command, w->object);
	if (!w->session)
		return failed(w, "begin", -ENOMEM);
	return filter_set(&w->filter, w->session);
}

int watch_load(struct watch *w)
{
	struct channel *channel;
	int err;

	if (w->here)
		return note_targets(w);
	err = session_load(w->session);
	if (!err)
		err = filter_fill(&w->filter, w->session);
	channel = session_channel(w->session);
	if (!err && channel)
		err = failed(w, "wait for records",
			     channel_watch(channel, w->loop.epoll_fd));
	/* Before the tool's own programs on the same tracepoints; what takes
	 * a task away at its exit comes behind them. */
	if (!err && (w->child.pid || w->images))
		err = failed(w, w->child.pid ?
			     "follow the command's descendants" :
			     "follow the images of processes",
			     session_attach_but(w->session, "exit"));
	return err ? err : note_targets(w);
}

static void no_record(void *arg, const void *data, size_t len)
{
	(void)arg, (void)data, (void)len;
}

static void drain(struct watch *w, bool last)
{
	struct channel *channel = w->session ? session_channel(w->session)
					     : NULL;
	uint64_t time = last ? UINT64_MAX : host_time();

	if (channel && channel_read(channel, w->record ? w->record : no_record,
				    w->arg))
		w->channel_bad = true;
	if (w->batch)
		w->batch(w->arg, time);
}

static int begin(struct watch *w)
{
	int err = 0;

	w->started = w->loop.start = host_time();
	log_verbose("ready after %.1f ms of CPU, %.1f ms",
		    (double)clock() * 1e3 / CLOCKS_PER_SEC,
		    (double)(w->started - w->opened) / 1e6);
	if (w->seconds)
		w->loop.deadline = w->started + w->seconds * SECOND;
	if (w->here)
		err = failed(w, "begin", w->start(w->arg));
	else if (w->session && (w->child.pid || w->images))
		err = failed(w, "follow exits", session_attach(w->session));
	else if (w->exits)
		session_attach(w->session);
	if (!err && w->child.pid)
		err = target_go(&w->child, w->command, w->argv[0]);
	w->loop.child = w->child.pid;
	if (!err && w->child.pid && w->let_go)
		w->let_go(w->arg);
	return err;
}

/* Milliseconds until `next`, at most a turn. */
static int turn_ms(const struct watch *w, uint64_t next)
{
	int most = w->turn_ms ? w->turn_ms : TURN_MS;
	uint64_t now = host_time();

	if (!next || next > now + (uint64_t)most * 1000000)
		return most;
	return next > now ? (int)((next - now + 999999) / 1000000) : 0;
}

static int turns(struct watch *w)
{
	uint64_t period = w->interval_ms * 1000000;
	uint64_t next = period ? w->started + period : 0;
	uint64_t live = w->started + SECOND;
	int err = 0;

	while (!err && !w->loop.end) {
		err = failed(w, "wait for events",
			     loop_wait(&w->loop, turn_ms(w, next)));
		drain(w, false);
		if (w->turn)
			w->turn(w->arg);
		check_targets(w);
		if (next && host_time() >= next && !w->loop.end) {
			if (w->tick)
				w->tick(w->arg);
			next += period;
		}
		if (w->live && host_time() >= live && !w->loop.end) {
			w->live(w->arg, watch_seconds(w));
			live += SECOND;
		}
	}
	return err;
}

int watch_run(struct watch *w, void (*detach)(void *arg))
{
	int err = begin(w);

	if (!err)
		err = turns(w);
	w->stopped = host_time();
	if (detach)
		detach(w->arg);
	drain(w, true);
	loop_finish(&w->loop);
	log_live_clear();
	return err;
}

void watch_end(struct watch *w)
{
	w->loop.end = LOOP_ASKED;
}

double watch_seconds(const struct watch *w)
{
	uint64_t now = w->stopped ? w->stopped : host_time();

	return (double)(now - w->started) / 1e9;
}

void watch_report(const struct watch *w)
{
	int status = w->loop.child_status;

	if (w->loop.child)
		log_notice("the command still runs: process %d",
			   w->loop.child);
	else if (w->argv && WIFSIGNALED(status))
		log_notice("the command was ended by a signal: %s",
			   strsignal(WTERMSIG(status)));
	else if (w->argv && WIFEXITED(status) && WEXITSTATUS(status))
		log_notice("the command ended with status %d",
			   WEXITSTATUS(status));
	if (w->session)
		session_report_followed(w->session);
	if (w->channel_bad)
		log_notice("the ring to user space held no sense: some "
			   "records are lost");
}

void watch_close(struct watch *w)
{
	target_abandon(&w->child);
	session_free(w->session);
	filter_close(&w->filter);
	loop_close(&w->loop);
	vec_free(&w->began);
}
