/* advice - (operation, errno, state of the host) to a reason and a remedy.
 *
 * An errno alone says little: EPERM from bpf(2) is a missing capability, a
 * memory lock limit, lockdown, a sysctl or a seccomp filter. Each row names the
 * state that must hold for its hint to be true; several may be true at a time.
 *
 * Rights, by the kernel's own tests (kernel/bpf/syscall.c, kernel/events/core.c
 * and kernel/ksyms_common.c): programs that sample want CAP_BPF and CAP_PERFMON
 * whatever kernel.unprivileged_bpf_disabled says; events of a whole CPU want
 * CAP_PERFMON or kernel.perf_event_paranoid below 1; CAP_SYS_ADMIN stands for
 * both, and is the only one before Linux 5.8. A capability of a user namespace
 * is none of those. */
#include "sys/advice.h"

#include <errno.h>

#include "base/log.h"
#include "sys/host.h"

enum { ENOTSUPP = 524 };	/* the kernel's own: include/linux/errno.h */

enum {
	LINUX_4_9 = 0x409, LINUX_5_2 = 0x502, LINUX_5_8 = 0x508,
	LINUX_5_11 = 0x50b,
};

static const uint64_t small_memory = 256 << 20;

/* Rights */

static bool has(const struct state *s, int capability)
{
	return !s->in_user_namespace && s->capabilities >> capability & 1;
}

static bool may(const struct state *s, int capability)
{
	return has(s, capability) || has(s, CAPABILITY_SYS_ADMIN);
}

static bool lacks_both(const struct state *s)
{
	return !s->in_user_namespace && !may(s, CAPABILITY_BPF) &&
	       !may(s, CAPABILITY_PERFMON);
}

static bool user_lacks_both(const struct state *s)
{
	return !s->is_root && lacks_both(s);
}

static bool root_lacks_both(const struct state *s)
{
	return s->is_root && lacks_both(s);
}

static bool lacks_bpf_alone(const struct state *s)
{
	return !may(s, CAPABILITY_BPF) && has(s, CAPABILITY_PERFMON);
}

static bool lacks_perfmon_alone(const struct state *s)
{
	return !may(s, CAPABILITY_PERFMON) && has(s, CAPABILITY_BPF);
}

static bool in_user_namespace(const struct state *s)
{
	return s->in_user_namespace;
}

static bool has_bpf_rights(const struct state *s)
{
	return may(s, CAPABILITY_BPF) && may(s, CAPABILITY_PERFMON);
}

static bool bpf_is_disabled(const struct state *s)
{
	return s->bpf_disabled > 0 && !may(s, CAPABILITY_BPF);
}

/* Linux 5.11 charges the memory of BPF to the cgroup instead. */
static bool memlock_may_refuse(const struct state *s)
{
	return s->kernel && s->kernel < LINUX_5_11 && s->memlock_is_limited &&
	       has_bpf_rights(s);
}

/* perf events */

static bool paranoid_is(const struct state *s, long long least,
			long long most)
{
	return s->perf_paranoid >= least && s->perf_paranoid <= most &&
	       !may(s, CAPABILITY_PERFMON) && !s->in_user_namespace;
}

static bool user_may_sample_own(const struct state *s)
{
	return !s->is_root && paranoid_is(s, 1, 2);
}

static bool root_lacks_perfmon(const struct state *s)
{
	return s->is_root && paranoid_is(s, 1, INT16_MAX);
}

static bool user_may_not_sample(const struct state *s)
{
	return !s->is_root && paranoid_is(s, 3, INT16_MAX);
}

static bool task_is_anothers(const struct state *s)
{
	return !s->is_root && !s->in_user_namespace &&
	       !may(s, CAPABILITY_PERFMON) &&
	       !has(s, CAPABILITY_SYS_PTRACE) && s->perf_paranoid < 3;
}

static bool root_may_not_trace(const struct state *s)
{
	return s->is_root && !s->in_user_namespace &&
	       !may(s, CAPABILITY_PERFMON) && !has(s, CAPABILITY_SYS_PTRACE);
}

static bool user_may_not_see_kernel(const struct state *s)
{
	return !s->is_root && paranoid_is(s, 2, INT16_MAX);
}

static bool root_may_not_see_kernel(const struct state *s)
{
	return s->is_root && paranoid_is(s, 2, INT16_MAX);
}

static bool may_not_lock(const struct state *s)
{
	return !has(s, CAPABILITY_IPC_LOCK) && s->memlock_is_limited;
}

static bool watchdog_holds_counter(const struct state *s)
{
	return s->nmi_watchdog > 0;
}

/* The kernel */

static bool is_confidential(const struct state *s)
{
	return s->lockdown == LOCKDOWN_CONFIDENTIALITY;
}

static bool confidentiality_may_refuse(const struct state *s)
{
	return is_confidential(s) && has_bpf_rights(s);
}

static bool is_not_confidential(const struct state *s)
{
	return !is_confidential(s);
}

/* Lockdown as distributions patched it in before Linux 5.4 knew it. */
static bool integrity_may_refuse(const struct state *s)
{
	return s->lockdown == LOCKDOWN_INTEGRITY && has_bpf_rights(s) &&
	       !s->has_seccomp_filter && !memlock_may_refuse(s);
}

static bool is_filtered(const struct state *s)
{
	return s->has_seccomp_filter;
}

static bool is_unfiltered(const struct state *s)
{
	return !s->has_seccomp_filter;
}

static bool before_4_9(const struct state *s)
{
	return s->kernel && s->kernel < LINUX_4_9;
}

static bool before_5_2(const struct state *s)
{
	return s->kernel && s->kernel < LINUX_5_2;
}

static bool is_tracing_left_out(const struct state *s)
{
	return s->kernel >= LINUX_4_9 && !is_confidential(s);
}

static bool memory_is_short(const struct state *s)
{
	return s->memory < small_memory;
}

static bool memory_is_ample(const struct state *s)
{
	return s->memory >= small_memory;
}

/* Names and files */

static bool names_are_hidden(const struct state *s)
{
	return s->kptr_restrict >= 2;
}

static bool lacks_syslog(const struct state *s)
{
	return !s->in_user_namespace && !has(s, CAPABILITY_SYSLOG) &&
	       s->kptr_restrict != STATE_UNKNOWN && s->kptr_restrict < 2;
}

static bool root_lacks_syslog(const struct state *s)
{
	return s->is_root && lacks_syslog(s);
}

static bool user_lacks_syslog(const struct state *s)
{
	return !s->is_root && lacks_syslog(s);
}

static bool has_proc(const struct state *s)
{
	return s->has_proc;
}

static bool user_lacks_ptrace(const struct state *s)
{
	return !s->is_root && !s->in_user_namespace &&
	       !has(s, CAPABILITY_SYS_PTRACE);
}

static bool root_lacks_ptrace(const struct state *s)
{
	return s->is_root && !s->in_user_namespace &&
	       !has(s, CAPABILITY_SYS_PTRACE);
}

static bool user_is_shut_out(const struct state *s)
{
	return !s->is_root && !s->in_user_namespace &&
	       !has(s, CAPABILITY_DAC_OVERRIDE) &&
	       !has(s, CAPABILITY_DAC_READ_SEARCH);
}

static bool user_may_not_mount(const struct state *s)
{
	return !s->is_root && !s->in_user_namespace &&
	       !has(s, CAPABILITY_SYS_ADMIN);
}

static bool root_may_not_mount(const struct state *s)
{
	return s->is_root && !s->in_user_namespace &&
	       !has(s, CAPABILITY_SYS_ADMIN);
}

static bool always(const struct state *s)
{
	(void)s;
	return true;
}

#define NAMESPACE_HINT \
	"root of a user namespace has no rights over the kernel: run it as " \
	"root of the host"
#define KALLSYMS_HINT \
	"this kernel is built without CONFIG_KALLSYMS: --system-map FILE of " \
	"its build names its functions"
#define FILES_HINT "too few file descriptors: raise ulimit -n"
#define FILTER_HINT \
	"a seccomp filter is active: allow bpf(2) and perf_event_open(2) for " \
	"this container"
#define OWN_HINT \
	"users may sample their own processes only (-p PID, -- COMMAND): the " \
	"whole host takes root, CAP_PERFMON, or sysctl " \
	"kernel.perf_event_paranoid below 1"
#define PARANOID_3_HINT \
	"sysctl kernel.perf_event_paranoid is above 2, which forbids users " \
	"all sampling on some distributions: lower it to 2 for own " \
	"processes, or run it as root"
#define ROOT_PERFMON_HINT \
	"this root lacks CAP_PERFMON (before Linux 5.8: CAP_SYS_ADMIN): give " \
	"it to the container, or lower sysctl kernel.perf_event_paranoid " \
	"below 1"
#define KERNEL_HINT \
	"sysctl kernel.perf_event_paranoid is above 1, which hides the kernel"
#define OTHERS_HINT \
	"the process belongs to another user, or has more rights: run it as " \
	"root, or with CAP_PERFMON"
#define ROOT_TRACE_HINT \
	"this root lacks CAP_PERFMON (or CAP_SYS_PTRACE), which takes " \
	"processes with more rights: give it to the container"
#define USER_PTRACE_HINT \
	"processes of other users, or with more rights: run it as root, or " \
	"with CAP_SYS_PTRACE"
#define ROOT_PTRACE_HINT \
	"this root lacks CAP_SYS_PTRACE: give it to the container"
#define ROOT_MOUNT_HINT \
	"this root lacks CAP_SYS_ADMIN, which mounting takes: have it " \
	"mounted from outside"

const struct advice_row advice_rows[] = {
	{ OP_BPF, EPERM, user_lacks_both,
	  "run it as root (or with CAP_BPF and CAP_PERFMON, Linux 5.8)" },
	{ OP_BPF, EPERM, root_lacks_both,
	  "this root lacks CAP_SYS_ADMIN (CAP_BPF and CAP_PERFMON are enough "
	  "from Linux 5.8): give it to the container" },
	{ OP_BPF, EPERM, lacks_bpf_alone,
	  "CAP_BPF is missing beside CAP_PERFMON" },
	{ OP_BPF, EPERM, lacks_perfmon_alone,
	  "CAP_PERFMON is missing beside CAP_BPF" },
	{ OP_BPF, EPERM, in_user_namespace, NAMESPACE_HINT },
	{ OP_BPF, EPERM, bpf_is_disabled,
	  "sysctl kernel.unprivileged_bpf_disabled is set, so bpf(2) is for "
	  "privileged users" },
	{ OP_BPF, EPERM, confidentiality_may_refuse,
	  "kernel lockdown=confidentiality forbids reading kernel memory" },
	{ OP_BPF, EPERM, integrity_may_refuse,
	  "kernel lockdown=integrity is on, and some kernels then refuse "
	  "bpf(2): boot without it" },
	{ OP_BPF, EPERM, memlock_may_refuse,
	  "before Linux 5.11 BPF memory counts as locked: raise the limit "
	  "(ulimit -l unlimited)" },
	{ OP_BPF, EPERM, is_filtered, FILTER_HINT },
	{ OP_BPF, ENOSYS, is_unfiltered,
	  "this kernel is built without CONFIG_BPF_SYSCALL" },
	{ OP_BPF, ENOSYS, is_filtered,
	  "a seccomp filter may hide bpf(2) from this container" },
	{ OP_BPF, EINVAL, is_confidential,
	  "kernel lockdown=confidentiality forbids reading kernel memory" },
	{ OP_BPF, EINVAL, before_4_9,
	  "Linux 4.9 is the first with programs for perf events" },
	{ OP_BPF, EINVAL, is_tracing_left_out,
	  "this kernel may be built without CONFIG_BPF_EVENTS" },
	{ OP_BPF, ENOMEM, memory_is_short,
	  "this host has little memory: make the tables smaller "
	  "(--stack-storage-size, --hash-storage-size)" },
	{ OP_BPF, ENOMEM, memory_is_ample,
	  "memory is short, or the limit of this cgroup is reached: make the "
	  "tables smaller (--stack-storage-size, --hash-storage-size)" },
	{ OP_BPF, E2BIG, before_5_2,
	  "before Linux 5.2 a program has at most 4096 instructions" },
	{ OP_BPF, E2BIG, always,
	  "the tables' sizes are --stack-storage-size and "
	  "--hash-storage-size" },
	{ OP_BPF, EBUSY, always,
	  "another program holds it just then: try again" },
	{ OP_BPF, ENOSPC, always,
	  "the kernel has no number left for it: end other users of BPF" },
	{ OP_BPF, EMFILE, always, FILES_HINT },
	{ OP_BPF, ENFILE, always,
	  "the host is out of open files: raise sysctl fs.file-max" },

	{ OP_PERF_OPEN, EACCES, user_may_sample_own, OWN_HINT },
	{ OP_PERF_OPEN, EPERM, user_may_sample_own, OWN_HINT },
	{ OP_PERF_OPEN, EACCES, user_may_not_sample, PARANOID_3_HINT },
	{ OP_PERF_OPEN, EPERM, user_may_not_sample, PARANOID_3_HINT },
	{ OP_PERF_OPEN, EACCES, root_lacks_perfmon, ROOT_PERFMON_HINT },
	{ OP_PERF_OPEN, EPERM, root_lacks_perfmon, ROOT_PERFMON_HINT },
	{ OP_PERF_OPEN, EACCES, in_user_namespace, NAMESPACE_HINT },
	{ OP_PERF_OPEN, EPERM, in_user_namespace, NAMESPACE_HINT },
	{ OP_PERF_OPEN, EPERM, is_confidential,
	  "kernel lockdown=confidentiality forbids reading registers of the "
	  "kernel" },
	{ OP_PERF_OPEN, EPERM, is_filtered, FILTER_HINT },
	{ OP_PERF_OPEN, ENOSYS, is_unfiltered,
	  "this kernel is built without CONFIG_PERF_EVENTS" },
	{ OP_PERF_OPEN, ENOSYS, is_filtered,
	  "a seccomp filter may hide perf_event_open(2) from this "
	  "container" },
	{ OP_PERF_OPEN, ENOENT, always,
	  "this host does not offer that event (virtual machines often have "
	  "no hardware counters): -e cpu-clock works everywhere" },
	{ OP_PERF_OPEN, EOPNOTSUPP, always,
	  "this event cannot be sampled here: -e cpu-clock works everywhere" },
	{ OP_PERF_OPEN, EBUSY, watchdog_holds_counter,
	  "the NMI watchdog holds a hardware counter: sysctl "
	  "kernel.nmi_watchdog=0 frees it" },
	{ OP_PERF_OPEN, EBUSY, always,
	  "another profiler holds the hardware counters: end it, or take "
	  "-e cpu-clock" },
	{ OP_PERF_OPEN, ENOSPC, always,
	  "the hardware has no counter left for it: end other profilers, or "
	  "take -e cpu-clock" },
	{ OP_PERF_OPEN, ENOMEM, memory_is_short,
	  "this host has little memory: sample fewer CPUs (-C) or "
	  "processes (-p)" },
	{ OP_PERF_OPEN, EMFILE, always, FILES_HINT },
	{ OP_PERF_OPEN, ENFILE, always,
	  "the host is out of open files: raise sysctl fs.file-max" },

	{ OP_PERF_TASK, EACCES, task_is_anothers, OTHERS_HINT },
	{ OP_PERF_TASK, EPERM, task_is_anothers, OTHERS_HINT },
	{ OP_PERF_TASK, EACCES, user_may_not_sample, PARANOID_3_HINT },
	{ OP_PERF_TASK, EPERM, user_may_not_sample, PARANOID_3_HINT },
	{ OP_PERF_TASK, EACCES, root_may_not_trace, ROOT_TRACE_HINT },
	{ OP_PERF_TASK, EPERM, root_may_not_trace, ROOT_TRACE_HINT },
	{ OP_PERF_TASK, EACCES, in_user_namespace, NAMESPACE_HINT },
	{ OP_PERF_TASK, EPERM, in_user_namespace, NAMESPACE_HINT },
	{ OP_PERF_TASK, EPERM, is_filtered, FILTER_HINT },
	{ OP_PERF_TASK, ENOSYS, is_unfiltered,
	  "this kernel is built without CONFIG_PERF_EVENTS" },
	{ OP_PERF_TASK, ENOSYS, is_filtered,
	  "a seccomp filter may hide perf_event_open(2) from this "
	  "container" },
	{ OP_PERF_TASK, ENOENT, always,
	  "this host does not offer that event (virtual machines often have "
	  "no hardware counters): -e cpu-clock works everywhere" },
	{ OP_PERF_TASK, EOPNOTSUPP, always,
	  "this event cannot be sampled here: -e cpu-clock works everywhere" },
	{ OP_PERF_TASK, EMFILE, always, FILES_HINT },

	{ OP_PERF_KERNEL, EACCES, user_may_not_see_kernel, KERNEL_HINT
	  ": run it as root, or with CAP_PERFMON" },
	{ OP_PERF_KERNEL, EACCES, root_may_not_see_kernel, KERNEL_HINT
	  ": this root lacks CAP_PERFMON" },
	{ OP_PERF_KERNEL, EACCES, in_user_namespace, NAMESPACE_HINT },

	{ OP_PERF_RING, EPERM, may_not_lock,
	  "the rings are locked memory: raise sysctl "
	  "kernel.perf_event_mlock_kb or ulimit -l" },
	{ OP_PERF_RING, ENOMEM, memory_is_short,
	  "this host has little memory: sample fewer CPUs (-C)" },

	{ OP_PROC, EACCES, user_lacks_ptrace, USER_PTRACE_HINT },
	{ OP_PROC, EPERM, user_lacks_ptrace, USER_PTRACE_HINT },
	{ OP_PROC, EACCES, root_lacks_ptrace, ROOT_PTRACE_HINT },
	{ OP_PROC, EPERM, root_lacks_ptrace, ROOT_PTRACE_HINT },
	{ OP_PROC, EACCES, in_user_namespace, NAMESPACE_HINT },
	{ OP_PROC, EPERM, in_user_namespace, NAMESPACE_HINT },

	{ OP_KALLSYMS, EACCES, names_are_hidden,
	  "sysctl kernel.kptr_restrict is 2, which hides the kernel's "
	  "addresses from everybody: set it to 0 or 1" },
	{ OP_KALLSYMS, EACCES, root_lacks_syslog,
	  "this root lacks CAP_SYSLOG (or set sysctl kernel.kptr_restrict to 0 "
	  "and kernel.perf_event_paranoid to 1)" },
	{ OP_KALLSYMS, EACCES, user_lacks_syslog,
	  "run it as root or with CAP_SYSLOG (or set sysctl "
	  "kernel.kptr_restrict to 0 and kernel.perf_event_paranoid to 1)" },
	{ OP_KALLSYMS, EACCES, in_user_namespace, NAMESPACE_HINT },
	{ OP_KALLSYMS, ENOENT, has_proc, KALLSYMS_HINT },
	{ OP_KALLSYMS, ENODATA, has_proc, KALLSYMS_HINT },

	{ OP_TRACEFS, EACCES, user_is_shut_out,
	  "tracefs is closed to this user: run it as root or with "
	  "CAP_DAC_READ_SEARCH" },
	{ OP_TRACEFS, EPERM, is_confidential,
	  "kernel lockdown=confidentiality closes tracefs" },
	{ OP_TRACEFS, EPERM, user_may_not_mount,
	  "tracefs is not mounted, and a user may not mount it: run it as "
	  "root" },
	{ OP_TRACEFS, EPERM, root_may_not_mount, ROOT_MOUNT_HINT },
	{ OP_TRACEFS, EPERM, in_user_namespace, NAMESPACE_HINT },
	{ OP_TRACEFS, EACCES, in_user_namespace, NAMESPACE_HINT },
	{ OP_TRACEFS, ENODEV, always,
	  "this kernel is built without CONFIG_FTRACE" },
	{ OP_TRACEFS, ENOENT, is_confidential,
	  "kernel lockdown=confidentiality empties tracefs" },
	{ OP_TRACEFS, ENOENT, is_not_confidential,
	  "this kernel has no such tracepoint (CONFIG_EVENT_TRACING)" },

	{ OP_KPROBE, ENOENT, always,
	  "this kernel is built without CONFIG_KPROBE_EVENTS" },
	{ OP_KPROBE, EOPNOTSUPP, always,
	  "this kernel is built without CONFIG_FPROBE" },
	{ OP_UPROBE, ENOENT, always,
	  "this kernel is built without CONFIG_UPROBE_EVENTS" },
	{ OP_UPROBE, EOPNOTSUPP, always,
	  "this kernel is built without CONFIG_UPROBE_EVENTS" },
	{ OP_FENTRY, EOPNOTSUPP, always,
	  "this kernel is built without CONFIG_DEBUG_INFO_BTF" },
	{ OP_FENTRY, ENOTSUPP, always,
	  "this kernel has no trampolines for BPF on this CPU "
	  "(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS, aarch64: Linux 6.4)" },
	{ OP_BTF, ENOENT, always,
	  "this kernel is built without CONFIG_DEBUG_INFO_BTF" },
	{ OP_BTF, EOPNOTSUPP, always,
	  "this kernel is built without CONFIG_DEBUG_INFO_BTF" },

	{ OP_MOUNT, EPERM, user_may_not_mount,
	  "a user may not mount it: run it as root" },
	{ OP_MOUNT, EPERM, root_may_not_mount, ROOT_MOUNT_HINT },
	{ OP_MOUNT, EPERM, in_user_namespace, NAMESPACE_HINT },
	{ OP_MOUNT, ENODEV, always,
	  "this kernel is built without that file system" },
};
const size_t advice_count = sizeof(advice_rows) / sizeof(*advice_rows);

static bool applies(size_t row, enum operation op, int err,
		    const struct state *s)
{
	return advice_rows[row].op == op &&
	       advice_rows[row].err == (err < 0 ? -err : err) &&
	       advice_rows[row].holds(s);
}

void advice(enum operation op, int err)
{
	struct state s;

	state_read(&s);
	for (size_t i = 0; i < advice_count; i++)
		if (applies(i, op, err, &s))
			log_hint("%s", advice_rows[i].hint);
}

void advice_append(enum operation op, int err, struct buf *to)
{
	const char *between = "";
	struct state s;

	state_read(&s);
	for (size_t i = 0; i < advice_count; i++) {
		if (!applies(i, op, err, &s))
			continue;
		buf_puts(to, between);
		buf_puts(to, advice_rows[i].hint);
		between = ", also: ";
	}
}

const char *advice_reason(enum operation op, int err)
{
	if (err < 0)
		err = -err;
	if (op == OP_BPF && err == E2BIG)
		return "the table is full, or the program too large";
	if ((op == OP_PERF_OPEN || op == OP_PERF_TASK) && err == ENOENT)
		return "no such event on this host";
	if (err == ENOTSUPP)
		return log_errno(EOPNOTSUPP);
	if (op == OP_KALLSYMS && err == EACCES)
		return "addresses are hidden";
	return log_errno(err);
}
