/* loop - waits while a trace runs: events, signals, the end. */
#include "trace/loop.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sys/host.h"

static sigset_t signals_before;
static void (*sigchld_before)(int);

/* A signal that the parent ignores (nohup) stays ignored. */
static bool is_ignored(int number)
{
	struct sigaction sa;

	return !sigaction(number, NULL, &sa) && sa.sa_handler == SIG_IGN;
}

static void signals_of_loop(sigset_t *set)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!is_ignored(ends[i]))
			sigaddset(set, ends[i]);
}

int loop_open(struct loop *l)
{
	struct epoll_event e = { .events = EPOLLIN };
	sigset_t set;

	*l = (struct loop){ .epoll_fd = -1, .signal_fd = -1 };
	/* Who ignores it gets none, and no status either. */
	sigchld_before = signal(SIGCHLD, SIG_DFL);
	signals_of_loop(&set);
	if (sigprocmask(SIG_BLOCK, &set, &signals_before) ||
	    (l->epoll_fd = epoll_create1(EPOLL_CLOEXEC)) < 0 ||
	    (l->signal_fd = signalfd(-1, &set,
				     SFD_CLOEXEC | SFD_NONBLOCK)) < 0 ||
	    epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, l->signal_fd, &e)) {
		int err = errno;

		loop_close(l);
		return -err;
	}
	l->start = host_time();
	return 0;
}

void loop_close(struct loop *l)
{
	if (l->epoll_fd >= 0)
		close(l->epoll_fd);
	if (l->signal_fd >= 0)
		close(l->signal_fd);
	l->epoll_fd = l->signal_fd = -1;
	loop_child_signals();
}

void loop_child_signals(void)
{
	if (sigchld_before != SIG_ERR)
		signal(SIGCHLD, sigchld_before);
	sigprocmask(SIG_SETMASK, &signals_before, NULL);
}

/* timeout(1) and others send a signal to the process and, right after that, to
 * its group: that is one end, not two. */
void loop_finish(struct loop *l)
{
	static const struct timespec together = { .tv_nsec = 20000000 };
	struct signalfd_siginfo info;

	if (l->end == LOOP_SIGNAL) {
		nanosleep(&together, NULL);
		while (read(l->signal_fd, &info, sizeof(info)) > 0)
			;
	}
	sigprocmask(SIG_SETMASK, &signals_before, NULL);
}

static int child_reap(struct loop *l)
{
	int status = 0;
	pid_t pid = l->child ? waitpid(l->child, &status, WNOHANG) : 0;

	if (pid < 0 && errno != ECHILD)
		return errno == EINTR ? 0 : -errno;
	if (pid > 0 && WIFSTOPPED(status)) {
		if (l->stopped)
			l->stopped(l->arg, status);
	} else if (pid) {
		l->child = 0;	/* or taken from us: it has ended as well */
		l->child_status = status;
		l->end = LOOP_CHILD;
	}
	return 0;
}

static int signals_read(struct loop *l)
{
	struct signalfd_siginfo info;
	ssize_t n;

	while ((n = read(l->signal_fd, &info, sizeof(info))) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;	/* it woke us */
		l->end = LOOP_SIGNAL;
	}
	return n < 0 && errno != EAGAIN && errno != EINTR ? -errno : 0;
}

/* Milliseconds to sleep, rounded up so that the deadline has passed then. */
static int wait_ms(const struct loop *l, int ms)
{
	uint64_t now = host_time(), left;

	if (!l->deadline)
		return ms;
	if (now >= l->deadline)
		return 0;
	left = (l->deadline - now + 999999) / 1000000;
	return left < (uint64_t)ms ? (int)left : ms;
}

int loop_wait(struct loop *l, int ms)
{
	struct epoll_event events[16];
	int n = epoll_wait(l->epoll_fd, events, 16, wait_ms(l, ms)), err = 0;

	if (n < 0 && errno != EINTR)
		return -errno;
	if (n)				/* else there is no signal either */
		err = signals_read(l);
	if (!err)
		err = child_reap(l);
	if (err)
		return err;
	if (!l->end && l->deadline && host_time() >= l->deadline)
		l->end = LOOP_TIME;
	return 0;
}
