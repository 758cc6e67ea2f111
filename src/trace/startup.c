/* startup - holds a new command while its libraries are mapped.
 *
 * What a program is made of is known when its loader has mapped it: after the
 * exec, before the first constructor runs. The loader does that by system calls
 * of a few kinds. So a command is stopped at its exec and at each system call
 * from there on (ptrace(2)), until one comes that no loader makes: then the
 * program runs, and is let go. Nothing is written into it, and should we die
 * meanwhile, the kernel lets it go. */
#include "trace/startup.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum {
	STOPS_MOST = 20000,	/* a loader is done by then */
	SYSCALL_STOP = SIGTRAP | 0x80,
};

static const uint16_t of_loaders[] = {
	SYS_openat, SYS_close, SYS_read, SYS_pread64, SYS_lseek, SYS_fstat,
	SYS_newfstatat, SYS_statx, SYS_faccessat, SYS_readlinkat, SYS_getcwd,
	SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_brk,
	SYS_fcntl, SYS_uname, SYS_set_tid_address, SYS_set_robust_list,
	SYS_prlimit64, SYS_getrandom, SYS_rseq, SYS_futex,
	SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_getpid, SYS_prctl,
#ifdef SYS_arch_prctl
	SYS_arch_prctl,
#endif
#ifdef SYS_open
	SYS_open, SYS_stat, SYS_access, SYS_readlink,
#endif
};

/* struct ptrace_syscall_info (include/uapi/linux/ptrace.h), which neither libc
 * nor <linux/ptrace.h> gives beside the other. */
struct syscall_info {
	uint8_t op;
	uint8_t pad[3];
	uint32_t arch;
	uint64_t ip, sp;
	union {
		struct { uint64_t nr, args[6]; } entry;
		struct { int64_t ret; uint8_t is_error; } exit;
	};
};
enum { AT_ENTRY_STOP = 1, AT_EXIT_STOP = 2 };
#define GET_SYSCALL_INFO 0x420e

int startup_hold(struct startup *s)
{
	unsigned long options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;

	if (ptrace(PTRACE_SEIZE, s->pid, 0, options))
		return -errno;
	s->held = true;
	return 0;
}

static bool is_of_loader(uint64_t nr)
{
	for (size_t i = 0; i < sizeof(of_loaders) / sizeof(*of_loaders); i++)
		if (of_loaders[i] == nr)
			return true;
	return false;
}

/* What a stop means for the search. */
enum stop { STOP_GO_ON, STOP_MAPPED, STOP_DONE };

/* Before Linux 5.3, which call it is is not asked for: any may have mapped
 * something, and the first exec's loader has so many. */
static enum stop syscall_stop(int pid, bool *maps)
{
	struct syscall_info info = { 0 };

	if (ptrace(GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0)
		return STOP_MAPPED;
	if (info.op == AT_ENTRY_STOP) {
		*maps = info.entry.nr == SYS_mmap &&
			info.entry.args[2] & PROT_EXEC;
		return is_of_loader(info.entry.nr) ? STOP_GO_ON : STOP_DONE;
	}
	return info.op == AT_EXIT_STOP && *maps ? STOP_MAPPED : STOP_GO_ON;
}

static int wait_stop(int pid, int *status)
{
	int got;

	do {
		got = waitpid(pid, status, __WALL);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	return WIFSTOPPED(*status) ? 0 : 1;
}

static bool is_event(int status, int event)
{
	return status >> 16 == event;
}

/* The signal to hand on when it goes on after a stop that is not ours. */
static int signal_of(int status)
{
	return status >> 16 || WSTOPSIG(status) == SYSCALL_STOP
		? 0 : WSTOPSIG(status);
}

static int let_go(struct startup *s, int number)
{
	s->held = false;
	return ptrace(PTRACE_DETACH, s->pid, 0, number) && errno != ESRCH
		? -errno : 0;
}

/* From a stop on, until its loader is done. */
static int follow(struct startup *s, int *status)
{
	bool maps = false, began = false;
	int err = 0;

	for (int n = 0; !err && n < STOPS_MOST; n++) {
		enum stop stop = STOP_GO_ON;

		if (is_event(*status, PTRACE_EVENT_EXEC))
			stop = STOP_MAPPED, began = true;
		else if (WSTOPSIG(*status) == SYSCALL_STOP)
			stop = syscall_stop(s->pid, &maps);
		if (stop == STOP_MAPPED && began)
			s->mapped(s->arg);
		if (stop == STOP_DONE && began)
			break;
		if (ptrace(PTRACE_SYSCALL, s->pid, 0, signal_of(*status)))
			return -errno;
		err = wait_stop(s->pid, status);
	}
	if (!err && ptrace(PTRACE_CONT, s->pid, 0, 0))
		err = -errno;
	s->held = !err;
	return err;
}

int startup_follow(struct startup *s, int *status)
{
	int err = wait_stop(s->pid, status);

	return err ? err : follow(s, status);
}

/* A stop that job control wants lasts. */
static bool is_group_stop(int status)
{
	return is_event(status, PTRACE_EVENT_STOP) &&
	       WSTOPSIG(status) != SIGTRAP;
}

int startup_stopped(struct startup *s, int *status)
{
	if (is_event(*status, PTRACE_EVENT_EXEC))
		return follow(s, status);
	if (s->ending)
		return let_go(s, signal_of(*status));
	if (ptrace(is_group_stop(*status) ? PTRACE_LISTEN : PTRACE_CONT,
		   s->pid, 0, signal_of(*status)))
		return -errno;
	return 0;
}

void startup_end(struct startup *s)
{
	if (!s->held || s->ending)
		return;
	s->ending = true;
	ptrace(PTRACE_INTERRUPT, s->pid, 0, 0);
}
