/* advice - every row of the table of hints, in states made for it. */
#include <errno.h>

#include "sys/advice.h"
#include "sys/host.h"
#include "test.h"

#define CAP(name) ((uint64_t)1 << CAPABILITY_##name)
enum { ROWS_MAX = 256 };

static bool was_tried[ROWS_MAX];

/* Hosts. A row's test starts from one and changes one thing. */
static const struct state root = {
	.is_root = true, .capabilities = ~(uint64_t)0, .kernel = 0x601,
	.has_proc = true, .bpf_disabled = 2, .perf_paranoid = 2,
	.kptr_restrict = 0, .nmi_watchdog = 0,
	.memory = (uint64_t)4 << 30,
};
static struct state host;

static void be_root(void)
{
	host = root;
}

static void be_user(void)
{
	host = root;
	host.is_root = false;
	host.capabilities = 0;
}

static void be_container(void)
{
	host = root;
	host.capabilities = CAP(DAC_OVERRIDE);
}

/* Is there a hint that holds this text? Every such row counts as tried. */
static bool hints(enum operation op, int err, const char *text, bool note)
{
	bool found = false;

	for (size_t i = 0; i < advice_count; i++) {
		const struct advice_row *row = &advice_rows[i];

		if (row->op != op || row->err != err ||
		    !strstr(row->hint, text) || !row->holds(&host))
			continue;
		if (note)
			was_tried[i] = true;
		found = true;
	}
	return found;
}

#define THERE(op, err, text) do { \
	if (!hints(op, err, text, true)) \
		FAIL("%s %s: no hint \"%s\"", #op, #err, text); \
} while (0)
#define ABSENT(op, err, text) do { \
	if (hints(op, err, text, false)) \
		FAIL("%s %s: a hint \"%s\"", #op, #err, text); \
} while (0)

TEST(bpf_rights)
{
	be_root();
	ABSENT(OP_BPF, EPERM, "");
	be_user();
	THERE(OP_BPF, EPERM, "run it as root (or");
	ABSENT(OP_BPF, EPERM, "this root");
	ABSENT(OP_BPF, EPERM, "beside");
	be_container();
	THERE(OP_BPF, EPERM, "this root lacks CAP_SYS_ADMIN");
	ABSENT(OP_BPF, EPERM, "run it as root (or");
	be_user();
	host.capabilities = CAP(PERFMON);
	THERE(OP_BPF, EPERM, "CAP_BPF is missing");
	ABSENT(OP_BPF, EPERM, "run it as root");
	host.capabilities = CAP(BPF);
	THERE(OP_BPF, EPERM, "CAP_PERFMON is missing");
	ABSENT(OP_BPF, EPERM, "CAP_BPF is missing");
	ABSENT(OP_BPF, EPERM, "unprivileged_bpf_disabled");
	host.capabilities = CAP(BPF) | CAP(PERFMON);
	ABSENT(OP_BPF, EPERM, "");
	host.capabilities = CAP(SYS_ADMIN);
	ABSENT(OP_BPF, EPERM, "");
}

TEST(user_namespace)
{
	static const struct {
		enum operation op;
		int err;
	} cases[] = {
		{ OP_BPF, EPERM },
		{ OP_PERF_OPEN, EPERM }, { OP_PERF_OPEN, EACCES },
		{ OP_PERF_TASK, EPERM }, { OP_PERF_TASK, EACCES },
		{ OP_PERF_KERNEL, EACCES },
		{ OP_PROC, EPERM }, { OP_PROC, EACCES },
		{ OP_KALLSYMS, EACCES },
		{ OP_TRACEFS, EPERM }, { OP_TRACEFS, EACCES },
		{ OP_MOUNT, EPERM },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		be_root();
		ABSENT(cases[i].op, cases[i].err, "user namespace");
		host.in_user_namespace = true;
		THERE(cases[i].op, cases[i].err, "user namespace");
		ABSENT(cases[i].op, cases[i].err, "this root");
		ABSENT(cases[i].op, cases[i].err, "run it as root,");
	}
}

TEST(bpf_sysctl)
{
	be_user();
	THERE(OP_BPF, EPERM, "unprivileged_bpf_disabled");
	host.bpf_disabled = 0;
	ABSENT(OP_BPF, EPERM, "unprivileged_bpf_disabled");
	host.bpf_disabled = STATE_UNKNOWN;
	ABSENT(OP_BPF, EPERM, "unprivileged_bpf_disabled");
}

TEST(memlock)
{
	be_root();
	host.memlock_is_limited = true;
	host.kernel = 0x50b;
	ABSENT(OP_BPF, EPERM, "ulimit -l");
	host.kernel = 0x50a;
	THERE(OP_BPF, EPERM, "ulimit -l");
	host.memlock_is_limited = false;
	ABSENT(OP_BPF, EPERM, "ulimit -l");
	be_user();
	host.memlock_is_limited = true;
	host.kernel = 0x50a;
	ABSENT(OP_BPF, EPERM, "ulimit -l");
}

TEST(lockdown)
{
	be_root();
	ABSENT(OP_BPF, EPERM, "lockdown");
	ABSENT(OP_BPF, EINVAL, "lockdown");
	host.lockdown = LOCKDOWN_INTEGRITY;
	THERE(OP_BPF, EPERM, "lockdown=integrity");
	ABSENT(OP_BPF, EPERM, "lockdown=confidentiality");
	ABSENT(OP_PERF_OPEN, EPERM, "lockdown");
	ABSENT(OP_TRACEFS, EPERM, "lockdown");
	ABSENT(OP_TRACEFS, ENOENT, "lockdown");
	host.lockdown = LOCKDOWN_CONFIDENTIALITY;
	ABSENT(OP_BPF, EPERM, "lockdown=integrity");
	THERE(OP_BPF, EPERM, "lockdown=confidentiality");
	THERE(OP_BPF, EINVAL, "lockdown=confidentiality");
	THERE(OP_PERF_OPEN, EPERM, "lockdown=confidentiality");
	THERE(OP_TRACEFS, EPERM, "lockdown=confidentiality");
	THERE(OP_TRACEFS, ENOENT, "lockdown=confidentiality");
	ABSENT(OP_TRACEFS, ENOENT, "CONFIG_EVENT_TRACING");
	be_container();
	host.lockdown = LOCKDOWN_INTEGRITY;
	ABSENT(OP_BPF, EPERM, "lockdown");
	host.lockdown = LOCKDOWN_CONFIDENTIALITY;
	ABSENT(OP_BPF, EPERM, "lockdown");
}

TEST(seccomp)
{
	static const enum operation ops[] = {
		OP_BPF, OP_PERF_OPEN, OP_PERF_TASK,
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		be_root();
		ABSENT(ops[i], EPERM, "seccomp");
		ABSENT(ops[i], ENOSYS, "seccomp");
		THERE(ops[i], ENOSYS, "built without CONFIG_");
		host.has_seccomp_filter = true;
		THERE(ops[i], EPERM, "seccomp");
		THERE(ops[i], ENOSYS, "seccomp");
		ABSENT(ops[i], ENOSYS, "built without CONFIG_");
	}
}

TEST(kernel_config)
{
	be_root();
	THERE(OP_BPF, ENOSYS, "CONFIG_BPF_SYSCALL");
	THERE(OP_PERF_OPEN, ENOSYS, "CONFIG_PERF_EVENTS");
	THERE(OP_BPF, EINVAL, "CONFIG_BPF_EVENTS");
	ABSENT(OP_BPF, EINVAL, "Linux 4.9");
	host.kernel = 0x408;
	THERE(OP_BPF, EINVAL, "Linux 4.9");
	ABSENT(OP_BPF, EINVAL, "CONFIG_BPF_EVENTS");
	THERE(OP_KALLSYMS, ENOENT, "CONFIG_KALLSYMS");
	THERE(OP_KALLSYMS, ENODATA, "CONFIG_KALLSYMS");
	host.has_proc = false;
	ABSENT(OP_KALLSYMS, ENOENT, "CONFIG_KALLSYMS");
	ABSENT(OP_KALLSYMS, ENODATA, "CONFIG_KALLSYMS");
	THERE(OP_TRACEFS, ENODEV, "CONFIG_FTRACE");
	THERE(OP_TRACEFS, ENOENT, "CONFIG_EVENT_TRACING");
	THERE(OP_MOUNT, ENODEV, "without that file system");
}

static void check_paranoid(int err)
{
	be_root();
	ABSENT(OP_PERF_OPEN, err, "");
	be_user();
	for (int level = 1; level <= 2; level++) {
		host.perf_paranoid = level;
		THERE(OP_PERF_OPEN, err, "own processes only");
		ABSENT(OP_PERF_OPEN, err, "is above 2");
		ABSENT(OP_PERF_TASK, err, "is above 2");
	}
	host.perf_paranoid = 0;
	ABSENT(OP_PERF_OPEN, err, "");
	host.perf_paranoid = STATE_UNKNOWN;
	ABSENT(OP_PERF_OPEN, err, "");
	host.perf_paranoid = 3;		/* Debian's */
	THERE(OP_PERF_OPEN, err, "is above 2");
	THERE(OP_PERF_TASK, err, "is above 2");
	ABSENT(OP_PERF_OPEN, err, "own processes only");
	ABSENT(OP_PERF_TASK, err, "another user");
	host.capabilities = CAP(PERFMON);
	ABSENT(OP_PERF_OPEN, err, "");
	ABSENT(OP_PERF_TASK, err, "");
	be_container();
	THERE(OP_PERF_OPEN, err, "this root lacks CAP_PERFMON");
	THERE(OP_PERF_TASK, err, "this root lacks CAP_PERFMON");
	ABSENT(OP_PERF_OPEN, err, "run it as root");
	be_user();
	THERE(OP_PERF_TASK, err, "another user");
	host.capabilities = CAP(SYS_PTRACE);
	ABSENT(OP_PERF_TASK, err, "another user");
}

TEST(perf_event_paranoid)
{
	check_paranoid(EACCES);
	check_paranoid(EPERM);
}

TEST(kernel_half)
{
	be_root();
	ABSENT(OP_PERF_KERNEL, EACCES, "");
	be_user();
	THERE(OP_PERF_KERNEL, EACCES, "run it as root");
	ABSENT(OP_PERF_KERNEL, EACCES, "this root");
	host.perf_paranoid = 1;
	ABSENT(OP_PERF_KERNEL, EACCES, "");
	be_container();
	THERE(OP_PERF_KERNEL, EACCES, "this root lacks CAP_PERFMON");
	ABSENT(OP_PERF_KERNEL, EACCES, "run it as root");
	host.perf_paranoid = 1;
	ABSENT(OP_PERF_KERNEL, EACCES, "");
}

TEST(hidden_names)
{
	be_root();
	ABSENT(OP_KALLSYMS, EACCES, "");
	host.kptr_restrict = 2;
	THERE(OP_KALLSYMS, EACCES, "kptr_restrict is 2");
	ABSENT(OP_KALLSYMS, EACCES, "CAP_SYSLOG");
	be_container();
	THERE(OP_KALLSYMS, EACCES, "this root lacks CAP_SYSLOG");
	ABSENT(OP_KALLSYMS, EACCES, "run it as root");
	be_user();
	host.kptr_restrict = 1;
	THERE(OP_KALLSYMS, EACCES, "run it as root or with CAP_SYSLOG");
	ABSENT(OP_KALLSYMS, EACCES, "this root");
	ABSENT(OP_KALLSYMS, EACCES, "kptr_restrict is 2");
	host.capabilities = CAP(SYSLOG);
	ABSENT(OP_KALLSYMS, EACCES, "");
	host.capabilities = 0;
	host.kptr_restrict = STATE_UNKNOWN;
	ABSENT(OP_KALLSYMS, EACCES, "");
}

static void check_proc(int err)
{
	be_root();
	ABSENT(OP_PROC, err, "");
	be_container();
	THERE(OP_PROC, err, "this root lacks CAP_SYS_PTRACE");
	ABSENT(OP_PROC, err, "other users");
	be_user();
	THERE(OP_PROC, err, "other users");
	ABSENT(OP_PROC, err, "this root");
	host.capabilities = CAP(SYS_PTRACE);
	ABSENT(OP_PROC, err, "");
}

TEST(processes)
{
	check_proc(EACCES);
	check_proc(EPERM);
}

TEST(tracefs_and_mounts)
{
	be_root();
	ABSENT(OP_TRACEFS, EACCES, "");
	ABSENT(OP_TRACEFS, EPERM, "");
	ABSENT(OP_MOUNT, EPERM, "");
	be_user();
	THERE(OP_TRACEFS, EACCES, "closed to this user");
	THERE(OP_TRACEFS, EPERM, "a user may not mount");
	THERE(OP_MOUNT, EPERM, "a user may not mount");
	ABSENT(OP_MOUNT, EPERM, "this root");
	host.capabilities = CAP(DAC_READ_SEARCH);
	ABSENT(OP_TRACEFS, EACCES, "");
	host.capabilities = CAP(DAC_OVERRIDE);
	ABSENT(OP_TRACEFS, EACCES, "");
	host.capabilities = CAP(SYS_ADMIN);
	ABSENT(OP_TRACEFS, EPERM, "");
	ABSENT(OP_MOUNT, EPERM, "");
	be_container();
	THERE(OP_TRACEFS, EPERM, "this root lacks CAP_SYS_ADMIN");
	THERE(OP_MOUNT, EPERM, "this root lacks CAP_SYS_ADMIN");
	ABSENT(OP_MOUNT, EPERM, "a user");
}

TEST(room)
{
	be_root();
	THERE(OP_BPF, ENOMEM, "memory is short");
	ABSENT(OP_BPF, ENOMEM, "little memory");
	ABSENT(OP_PERF_OPEN, ENOMEM, "");
	ABSENT(OP_PERF_RING, ENOMEM, "");
	host.memory = 64 << 20;
	THERE(OP_BPF, ENOMEM, "little memory");
	ABSENT(OP_BPF, ENOMEM, "memory is short");
	THERE(OP_PERF_OPEN, ENOMEM, "little memory");
	THERE(OP_PERF_RING, ENOMEM, "little memory");
	be_root();
	host.memlock_is_limited = true;
	ABSENT(OP_PERF_RING, EPERM, "");
	be_user();
	ABSENT(OP_PERF_RING, EPERM, "");
	host.memlock_is_limited = true;
	THERE(OP_PERF_RING, EPERM, "perf_event_mlock_kb");
	THERE(OP_BPF, EMFILE, "ulimit -n");
	THERE(OP_PERF_OPEN, EMFILE, "ulimit -n");
	THERE(OP_PERF_TASK, EMFILE, "ulimit -n");
	THERE(OP_BPF, ENFILE, "fs.file-max");
	THERE(OP_PERF_OPEN, ENFILE, "fs.file-max");
	THERE(OP_BPF, ENOSPC, "no number left");
	THERE(OP_PERF_OPEN, ENOSPC, "no counter left");
	THERE(OP_BPF, EBUSY, "try again");
	THERE(OP_BPF, E2BIG, "--hash-storage-size");
	ABSENT(OP_BPF, E2BIG, "Linux 5.2");
	host.kernel = 0x501;
	THERE(OP_BPF, E2BIG, "Linux 5.2");
}

TEST(counters)
{
	be_root();
	THERE(OP_PERF_OPEN, EBUSY, "another profiler");
	ABSENT(OP_PERF_OPEN, EBUSY, "nmi_watchdog");
	host.nmi_watchdog = STATE_UNKNOWN;
	ABSENT(OP_PERF_OPEN, EBUSY, "nmi_watchdog");
	host.nmi_watchdog = 1;
	THERE(OP_PERF_OPEN, EBUSY, "nmi_watchdog");
	THERE(OP_PERF_OPEN, ENOENT, "no hardware counters");
	THERE(OP_PERF_TASK, ENOENT, "no hardware counters");
	THERE(OP_PERF_OPEN, EOPNOTSUPP, "cannot be sampled here");
	THERE(OP_PERF_TASK, EOPNOTSUPP, "cannot be sampled here");
}

TEST(probes)
{
	be_root();
	THERE(OP_KPROBE, ENOENT, "CONFIG_KPROBE_EVENTS");
	THERE(OP_KPROBE, EOPNOTSUPP, "CONFIG_FPROBE");
	THERE(OP_UPROBE, ENOENT, "CONFIG_UPROBE_EVENTS");
	THERE(OP_UPROBE, EOPNOTSUPP, "CONFIG_UPROBE_EVENTS");
	THERE(OP_FENTRY, EOPNOTSUPP, "CONFIG_DEBUG_INFO_BTF");
	THERE(OP_FENTRY, 524, "no trampolines");
	THERE(OP_BTF, ENOENT, "CONFIG_DEBUG_INFO_BTF");
	THERE(OP_BTF, EOPNOTSUPP, "CONFIG_DEBUG_INFO_BTF");
	ABSENT(OP_FENTRY, EPERM, "");
	CHECK_STR(advice_reason(OP_FENTRY, -524),
		  advice_reason(OP_FENTRY, EOPNOTSUPP));
}

/* No row that no test above made appear; none without a word to say. */
TEST(every_row_is_tried)
{
	CHECK(advice_count <= ROWS_MAX);
	for (size_t i = 0; i < advice_count; i++)
		if (!was_tried[i])
			FAIL("row %zu is not tried: %s", i,
			     advice_rows[i].hint);
}

/* One line, no bare errno, no mark of the list that doctor makes of them. */
TEST(texts)
{
	for (size_t i = 0; i < advice_count; i++) {
		CHECK(!strchr(advice_rows[i].hint, '\n'));
		CHECK(!strstr(advice_rows[i].hint, "; "));
		CHECK(!strstr(advice_rows[i].hint, "  "));
		CHECK(!strstr(advice_rows[i].hint, "errno"));
	}
}

/* The running host's state, whatever it is, gives texts and no mishap. */
TEST(this_host)
{
	struct buf text = { 0 };
	struct state s;

	state_read(&s);
	CHECK(s.kernel >= 0x409);
	CHECK(s.memory > 0);
	advice_append(OP_BPF, -EMFILE, &text);
	CHECK_STR(buf_str(&text), "too few file descriptors: raise ulimit -n");
	buf_free(&text);
	CHECK_STR(advice_reason(OP_PERF_TASK, -ENOENT),
		  "no such event on this host");
	CHECK_STR(advice_reason(OP_KALLSYMS, EACCES), "addresses are hidden");
}

int main(void)
{
	RUN(bpf_rights);
	RUN(user_namespace);
	RUN(bpf_sysctl);
	RUN(memlock);
	RUN(lockdown);
	RUN(seccomp);
	RUN(kernel_config);
	RUN(perf_event_paranoid);
	RUN(kernel_half);
	RUN(hidden_names);
	RUN(processes);
	RUN(tracefs_and_mounts);
	RUN(room);
	RUN(counters);
	RUN(probes);
	RUN(every_row_is_tried);
	RUN(texts);
	RUN(this_host);
	return test_failed;
}
