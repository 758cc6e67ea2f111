/* calls - names of system calls, and which cannot fail. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "faults.h"

#define CALL(name) { SYS_##name, #name }

static const struct {
	long nr;
	const char *name;
} names[] = {
#ifdef __x86_64__
	CALL(open), CALL(stat), CALL(lstat), CALL(poll), CALL(fork),
	CALL(vfork), CALL(pipe), CALL(readlink), CALL(unlink), CALL(access),
	CALL(epoll_wait), CALL(arch_prctl), CALL(getdents),
#endif
	CALL(read), CALL(write), CALL(readv), CALL(writev), CALL(pread64),
	CALL(close), CALL(openat), CALL(newfstatat), CALL(fstat),
	CALL(statfs), CALL(fstatfs), CALL(lseek), CALL(mmap), CALL(mprotect),
	CALL(munmap), CALL(mremap), CALL(madvise), CALL(brk), CALL(ioctl),
	CALL(fcntl), CALL(dup3), CALL(pipe2), CALL(getdents64),
	CALL(readlinkat), CALL(unlinkat), CALL(ftruncate), CALL(clone),
	CALL(execve), CALL(wait4), CALL(kill), CALL(tkill), CALL(getpid),
	CALL(gettid), CALL(geteuid), CALL(uname), CALL(sysinfo),
	CALL(prlimit64), CALL(rt_sigaction), CALL(rt_sigprocmask),
	CALL(signalfd4), CALL(epoll_create1), CALL(epoll_ctl),
	CALL(epoll_pwait), CALL(perf_event_open), CALL(bpf), CALL(unshare),
	CALL(mount), CALL(clock_gettime), CALL(sched_getaffinity),
	CALL(set_tid_address), CALL(exit), CALL(exit_group), CALL(faccessat),
	CALL(prctl), CALL(getrandom), CALL(pidfd_open),
	{ 430, "fsopen" }, { 431, "fsconfig" }, { 432, "fsmount" },
};

static const char *const bpf_commands[] = {
	"MAP_CREATE", "MAP_LOOKUP_ELEM", "MAP_UPDATE_ELEM", "MAP_DELETE_ELEM",
	"MAP_GET_NEXT_KEY", "PROG_LOAD",
	[17] = "RAW_TRACEPOINT_OPEN",
};

static const char *number_name(long nr)
{
	static char text[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].nr == nr)
			return names[i].name;
	snprintf(text, sizeof(text), "call_%ld", nr);
	return text;
}

const char *call_name(const struct call *c)
{
	static char text[64];
	size_t n = sizeof(bpf_commands) / sizeof(*bpf_commands);
	const char *who = c->in_child ? "child:" : "";

	if (c->nr != SYS_bpf)
		snprintf(text, sizeof(text), "%s%s", who, number_name(c->nr));
	else if ((size_t)c->sub < n && bpf_commands[c->sub])
		snprintf(text, sizeof(text), "%sbpf(%s)", who,
			 bpf_commands[c->sub]);
	else
		snprintf(text, sizeof(text), "%sbpf(%ld)", who, c->sub);
	return text;
}

/* By their manual, or because libc cannot start without them. */
bool call_can_fail(const struct call *c)
{
	static const long never[] = {
		SYS_getpid, SYS_gettid, SYS_geteuid, SYS_set_tid_address,
		SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_munmap,
		SYS_restart_syscall,
#ifdef __x86_64__
		SYS_arch_prctl,
#endif
	};

	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
		if (never[i] == c->nr)
			return false;
	return true;
}
