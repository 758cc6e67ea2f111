/* inject - runs the program once, and makes one of its calls fail.
 *
 * ptrace stops the program at each system call. One that shall fail gets the
 * number -1, which the kernel refuses without doing anything, and its result
 * is then replaced by the errno. A close(2) is carried out all the same: the
 * descriptor is gone whatever it returns. What the program forks is followed
 * until it becomes another program. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "faults.h"

enum {
	LIMIT = 10,			/* seconds that a run may take */
	OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL |
		  PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		  PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC,
};

static volatile sig_atomic_t late;

static void on_alarm(int number)
{
	(void)number;
	late = 1;
}

#if defined(__x86_64__)
static void set_number(pid_t pid, long nr)
{
	ptrace(PTRACE_POKEUSER, pid,
	       offsetof(struct user_regs_struct, orig_rax), nr);
}

static void set_result(pid_t pid, long value)
{
	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rax),
	       value);
}
#elif defined(__aarch64__)
static void set_number(pid_t pid, long nr)
{
	int n = (int)nr;
	struct iovec io = { &n, sizeof(n) };

	ptrace(PTRACE_SETREGSET, pid, (void *)0x404, &io);
}

static void set_result(pid_t pid, long value)
{
	struct user_regs_struct regs;
	struct iovec io = { &regs, sizeof(regs) };

	ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &io);
	regs.regs[0] = (unsigned long)value;
	ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &io);
}
#else
#error "registers of this machine are not known"
#endif

/* What is followed: the program and what it forks. */
enum { TASKS = 8 };
struct tasks {
	pid_t pid[TASKS];
	bool failing[TASKS];		/* the call that it is in */
};

static int task_of(const struct tasks *t, pid_t pid)
{
	for (int i = 0; i < TASKS; i++)
		if (t->pid[i] == pid)
			return i;
	return -1;
}

static unsigned count_call(struct run *r, const struct call *c)
{
	struct count *slot;

	for (size_t i = 0; i < r->ncounts; i++) {
		slot = &r->counts[i];
		if (!memcmp(&slot->call, c, sizeof(*c)))
			return ++slot->n;
	}
	if (r->ncounts == CALLS_MAX)
		return 0;
	slot = &r->counts[r->ncounts++];
	*slot = (struct count){ *c, 1 };
	return 1;
}

static bool is_faulty(const struct run *r, const struct call *c, unsigned n)
{
	const struct fault *f = &r->fault;

	return f->nth && !memcmp(&f->call, c, sizeof(*c)) &&
	       (n == f->nth || (f->onward && n > f->nth));
}

static void at_entry(struct run *r, struct tasks *t, int task,
		     const struct __ptrace_syscall_info *info)
{
	struct call c;
	unsigned n;

	memset(&c, 0, sizeof(c));	/* compared by its bytes */
	c.nr = (long)info->entry.nr;
	c.sub = c.nr == SYS_bpf ? (long)info->entry.args[0] : 0;
	c.in_child = task > 0;
	n = count_call(r, &c);
	t->failing[task] = is_faulty(r, &c, n);
	if (!t->failing[task])
		return;
	r->hit = true;
	if (c.nr == SYS_write && info->entry.args[0] == STDERR_FILENO)
		r->hit_stderr = true;
	if (c.nr != SYS_close)
		set_number(t->pid[task], -1);
}

static void at_syscall(struct run *r, struct tasks *t, int task)
{
	struct __ptrace_syscall_info info;
	pid_t pid = t->pid[task];

	memset(&info, 0, sizeof(info));
	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) < 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		at_entry(r, t, task, &info);
	} else if (info.op == PTRACE_SYSCALL_INFO_EXIT && t->failing[task]) {
		set_result(pid, -r->fault.err);
		t->failing[task] = false;
	}
}

/* One stop; false when the task is let go. */
static bool at_stop(struct run *r, struct tasks *t, int task, int status)
{
	int event = status >> 16, sig = WSTOPSIG(status);
	pid_t pid = t->pid[task];

	if (event == PTRACE_EVENT_EXEC && task > 0) {
		ptrace(PTRACE_DETACH, pid, 0, 0);
		t->pid[task] = 0;
		return false;
	}
	if (sig == (SIGTRAP | 0x80))
		at_syscall(r, t, task);
	if (event || sig == (SIGTRAP | 0x80) || sig == SIGSTOP)
		sig = 0;
	ptrace(PTRACE_SYSCALL, pid, 0, sig);
	return true;
}

static bool follow_one(struct run *r, struct tasks *t, pid_t pid, int status)
{
	int task = task_of(t, pid);

	if (task < 0 && WIFSTOPPED(status)) {	/* forked just now */
		task = task_of(t, 0);
		if (task < 0)
			return true;
		t->pid[task] = pid;
		t->failing[task] = false;
	}
	if (task < 0)
		return true;			/* not followed */
	if (WIFSTOPPED(status)) {
		at_stop(r, t, task, status);
		return true;
	}
	t->pid[task] = 0;
	if (task > 0)
		return true;
	r->status = status;
	return false;
}

static void follow(struct run *r, pid_t pid)
{
	struct tasks t = { .pid = { pid } };
	int status;

	while (!late) {
		pid_t got = waitpid(-1, &status, __WALL);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || !follow_one(r, &t, got, status))
			break;
	}
	r->hung = late;			/* perhaps in a loop of calls */
	for (int i = 0; i < TASKS; i++)
		if (t.pid[i] > 0 && late)
			kill(t.pid[i], SIGKILL);
}

static void add_args(const struct places *at, const struct run *r, pid_t target,
		     const char **argv)
{
	static char pid[16];

	*argv++ = at->sonde;
	*argv++ = "profile";
	for (const char *const *a = r->scenario->args; *a; a++)
		*argv++ = strcmp(*a, "SVG") ? *a : at->svg;
	if (target) {
		snprintf(pid, sizeof(pid), "%d", target);
		*argv++ = "-p";
		*argv++ = pid;
	} else {
		*argv++ = "--";
		*argv++ = at->chain;
		*argv++ = "-20";
		if (r->scenario->kernel)
			*argv++ = "1000";
	}
	*argv = NULL;
}

static void become(const struct places *at, const struct run *r, pid_t target,
		   int out, int err, bool traced)
{
	const char *argv[20];
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	add_args(at, r, target, argv);
	dup2(null, 0);
	dup2(out, 1);
	dup2(err, 2);
	unsetenv("SONDE_WITHOUT");
	if (r->scenario->without)
		setenv("SONDE_WITHOUT", r->scenario->without, 1);
	if (traced) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
	}
	execv(at->sonde, (char **)argv);
	_exit(126);
}

static size_t take_output(int fd, char *to, size_t size)
{
	ssize_t n = pread(fd, to, size - 1, 0);

	to[n > 0 ? n : 0] = '\0';
	close(fd);
	return n > 0 ? (size_t)n : 0;
}

static pid_t start_target(const struct places *at)
{
	pid_t pid = fork();

	if (!pid) {
		execl(at->chain, at->chain, "-150", (char *)NULL);
		_exit(126);
	}
	return pid;
}

static bool reap(void)
{
	pid_t pid;

	do {
		pid = waitpid(-1, NULL, WNOHANG | __WALL);
	} while (pid > 0);
	return pid < 0;
}

/* We are the reaper of orphans: the command may run on for its few ms, but
 * nothing may stay. */
static bool all_ended(void)
{
	struct timespec ms = { .tv_nsec = 2000000 };
	char path[64], children[256];
	ssize_t n;
	int fd;

	for (int i = 0; i < 1500; i++) {
		if (reap())
			return true;
		nanosleep(&ms, NULL);
	}
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, children, sizeof(children) - 1);
	children[n > 0 ? n : 0] = '\0';
	close(fd);
	for (char *p = children, *end; strtol(p, &end, 10) > 1; p = end)
		kill((pid_t)strtol(p, NULL, 10), SIGKILL);
	while (!reap())
		nanosleep(&ms, NULL);
	return false;
}

static void run_begin(struct run *r)
{
	struct sigaction sa = { .sa_handler = on_alarm };

	r->ncounts = 0;
	r->status = 0;
	r->hit = r->hit_stderr = r->hung = r->left = false;
	late = 0;
	sigaction(SIGALRM, &sa, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	alarm(LIMIT);
}

static void run_end(const struct places *at, struct run *r, pid_t target,
		    int out, int err)
{
	alarm(0);
	if (target)
		kill(target, SIGKILL);
	r->left = !all_ended();
	if (r->scenario->format == SVG_FILE) {
		close(out);
		out = open(at->svg, O_RDONLY | O_CLOEXEC);
		unlink(at->svg);
	}
	r->out_len = take_output(out, r->out, sizeof(r->out));
	r->err_len = take_output(err, r->err, sizeof(r->err));
}

static pid_t run_start(const struct places *at, const struct run *r,
		       pid_t *target, int *out, int *err, bool traced)
{
	pid_t pid;

	*target = r->scenario->attach ? start_target(at) : 0;
	*out = memfd_create("stdout", MFD_CLOEXEC);
	*err = memfd_create("stderr", MFD_CLOEXEC);
	pid = fork();
	if (!pid)
		become(at, r, *target, *out, *err, traced);
	return pid;
}

void run_traced(const struct places *at, struct run *r)
{
	pid_t target, pid;
	int out, err, status;

	run_begin(r);
	pid = run_start(at, r, &target, &out, &err, true);
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, 0, OPTIONS);
	ptrace(PTRACE_CONT, pid, 0, 0);
	waitpid(pid, &status, 0);	/* it became the program */
	ptrace(PTRACE_SYSCALL, pid, 0, 0);
	follow(r, pid);
	run_end(at, r, target, out, err);
}

static void set_fault(const struct run *r, int report)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", report);
	setenv("FAULT_REPORT", text, 1);
	snprintf(text, sizeof(text), "%u%s", r->fault.nth,
		 r->fault.onward ? "+" : "");
	setenv("FAULT_ALLOCATION", text, 1);
}

void run_plain(const struct places *at, struct run *r)
{
	int out, err, report = memfd_create("report", 0);
	pid_t target, pid;
	char text[32];

	run_begin(r);
	set_fault(r, report);
	pid = run_start(at, r, &target, &out, &err, false);
	while (waitpid(pid, &r->status, 0) < 0 && errno == EINTR && !late)
		;
	r->hung = late;
	if (late)
		kill(pid, SIGKILL);
	take_output(report, text, sizeof(text));
	r->counts[r->ncounts++].n = (unsigned)strtoul(text, NULL, 10);
	r->hit = r->fault.nth && r->counts[0].n >= r->fault.nth;
	run_end(at, r, target, out, err);
}
