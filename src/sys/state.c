/* state - what of the host decides why a system call was refused. */
#include "sys/state.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "sys/fs.h"
#include "sys/host.h"

enum { SECCOMP_FILTERS = 2 };		/* include/uapi/linux/seccomp.h */

static bool memlock_is_limited(void)
{
	struct rlimit l;

	return !getrlimit(RLIMIT_MEMLOCK, &l) && l.rlim_cur != RLIM_INFINITY;
}

/* "none [integrity] confidentiality": the mode is the one in brackets. */
enum lockdown state_lockdown(void)
{
	struct buf text = { 0 };
	enum lockdown mode = LOCKDOWN_UNKNOWN;
	int err;

	if (fs_way(FS_SECURITY, &err) == FS_NO_WAY)
		return mode;
	fs_read(FS_SECURITY, "lockdown", 256, &text);
	if (strstr(buf_str(&text), "[none]"))
		mode = LOCKDOWN_NONE;
	else if (strstr(buf_str(&text), "[confidentiality]"))
		mode = LOCKDOWN_CONFIDENTIALITY;
	else if (strstr(buf_str(&text), "[integrity]"))
		mode = LOCKDOWN_INTEGRITY;
	buf_free(&text);
	return mode;
}

static long long sysctl(const char *path)
{
	long long value;

	return fs_read_num(FS_PROC, path, &value) ? STATE_UNKNOWN : value;
}

void state_read(struct state *s)
{
	*s = (struct state){
		.is_root = geteuid() == 0,
		.in_user_namespace = host_in_user_namespace(),
		.capabilities = host_capabilities(),
		.kernel = host_kernel(),
		.memlock_is_limited = memlock_is_limited(),
		.has_seccomp_filter = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) ==
				      SECCOMP_FILTERS,
		.has_proc = fs_dir(FS_PROC) >= 0,
		.lockdown = state_lockdown(),
		.bpf_disabled = sysctl("sys/kernel/unprivileged_bpf_disabled"),
		.perf_paranoid = sysctl("sys/kernel/perf_event_paranoid"),
		.kptr_restrict = sysctl("sys/kernel/kptr_restrict"),
		.nmi_watchdog = sysctl("sys/kernel/nmi_watchdog"),
		.memory = host_memory(),
	};
}
