/* check - what `sonde doctor` says of a command, in parts to share. */
#include "cmd/check.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "sym/kallsyms.h"
#include "sys/feature.h"
#include "sys/fs.h"
#include "sys/host.h"
#include "sys/tracefs.h"
#include "trace/trial.h"

void check_missing(struct check *c, const char *what, const char *remedy)
{
	const char *between = c->missing.len ? "; " : "";

	buf_fmt(&c->missing, "%s%s", between, what);
	buf_fmt(&c->remedy, "%s%s", between, remedy);
}

void check_failed(struct check *c, const char *what, enum operation op,
		  int err, const char *otherwise)
{
	struct buf text = { 0 };

	advice_append(op, err, &text);
	check_missing(c, what, text.len ? buf_str(&text) : otherwise);
	if (text.err)
		c->remedy.err = text.err;
	buf_free(&text);
}

/* Sampling */

/* What the first rung does without, when it must. */
static const struct {
	enum feature feature;
	const char *what, *otherwise;
} parts[] = {
	{ FEATURE_RINGBUF, "BPF ring buffer",
	  "Linux 5.8 has it: perf buffers are used" },
	{ FEATURE_GET_STACK, "bpf_get_stack",
	  "Linux 4.18 has it: stacks that find no place in the table are "
	  "counted without frames" },
	{ FEATURE_READ_USER, "bpf_probe_read_user",
	  "Linux 5.5 has it: callers of functions without a frame are left "
	  "out" },
	{ FEATURE_RAW_TRACEPOINT, "raw tracepoints",
	  "Linux 4.17 has them: processes that exec meanwhile are not "
	  "named" },
};

static void check_parts(struct check *c)
{
	struct pid_namespace ns = { .initial = true };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (!feature_has(parts[i].feature))
			check_missing(c, parts[i].what, parts[i].otherwise);
	host_pid_namespace(&ns);
	if (!ns.initial && !feature_has(FEATURE_NS_PID))
		check_missing(c, "pids of this pid namespace",
			      "Linux 5.7 tells them to programs");
}

static const char *const rungs[] = {
	[TRIAL_NONE] = "none",
	[TRIAL_IN_KERNEL] = "counted in the kernel: BPF",
	[TRIAL_IN_RINGS] = "counted in user space: perf rings",
	[TRIAL_OWN] = "own processes only, user stacks",
};

void check_sampling(struct check *c, const struct bpf_object *object)
{
	struct trial t = trial_sampling(object);
	int bpf = feature_error(FEATURE_BPF);

	c->works = t.way != TRIAL_NONE;
	c->rung = t.way == TRIAL_OWN && t.has_kernel_stacks
		? "own processes only" : rungs[t.way];
	if (bpf)
		check_failed(c, "BPF", OP_BPF, bpf,
			     advice_reason(OP_BPF, bpf));
	else
		check_parts(c);
	if (t.refused && t.refused != -EOPNOTSUPP)
		check_failed(c, "BPF for sampling", OP_BPF, t.refused,
			     advice_reason(OP_BPF, t.refused));
	if (t.error)
		check_failed(c, "whole host", OP_PERF_OPEN,
			     t.error, advice_reason(OP_PERF_OPEN, t.error));
	if (t.own_error)
		check_failed(c, "own processes", OP_PERF_TASK,
			     t.own_error,
			     advice_reason(OP_PERF_TASK, t.own_error));
}

/* Probes */

/* By the PMU, else by a name in tracefs. */
static bool has_probes(enum feature pmu, const char *file)
{
	int fd;

	if (feature_has(pmu))
		return true;
	log_set_silent(true);
	fd = fs_open(FS_TRACE, file, O_WRONLY);
	log_set_silent(false);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void check_feature(struct check *c, enum feature f, const char *what,
			  const char *otherwise)
{
	int err = feature_error(f);

	if (err)
		check_failed(c, what, feature_operation(f), err, otherwise);
}

void check_probes(struct check *c)
{
	bool user = has_probes(FEATURE_UPROBE_PMU, "uprobe_events");
	bool kernel = has_probes(FEATURE_KPROBE_PMU, "kprobe_events") ||
		      feature_has(FEATURE_FENTRY);
	int bpf = feature_error(FEATURE_BPF);

	c->works = !bpf && (user || kernel);
	c->rung = !c->works ? "none" :
		  !kernel ? "user functions and tracepoints" :
		  !user ? "kernel functions only" :
		  "kernel and user functions";
	if (bpf) {
		check_failed(c, "BPF", OP_BPF, bpf,
			     advice_reason(OP_BPF, bpf));
		return;
	}
	if (!kernel)
		check_feature(c, FEATURE_KPROBE_PMU, "kprobes",
			      "a kernel with CONFIG_KPROBE_EVENTS");
	if (!user)
		check_feature(c, FEATURE_UPROBE_PMU, "uprobes",
			      "a kernel with CONFIG_UPROBE_EVENTS");
}

/* Files */

static void check_file_system(struct check *c, enum fs_root root,
			      const char *path)
{
	struct buf what = { 0 };
	int err;
	enum fs_way way = fs_way(root, &err);

	buf_fmt(&what, "%s not mounted", path);
	if (way == FS_NO_WAY)
		check_failed(c, buf_str(&what), OP_MOUNT, err,
			     log_errno(err));
	else if (way == FS_DETACHED)
		check_missing(c, buf_str(&what),
			      "none needed: reached by fsopen");
	else if (way == FS_PRIVATE)
		check_missing(c, buf_str(&what), "none needed: reached in a "
			      "private mount namespace");
	buf_free(&what);
}

void check_file_systems(struct check *c)
{
	check_file_system(c, FS_PROC, "/proc");
	check_file_system(c, FS_SYS, "/sys");
}

int check_fork_tracepoint_error(void)
{
	int off;

	log_set_silent(true);
	off = tracefs_field("sched/sched_process_fork", "child_pid", 4);
	log_set_silent(false);
	return off < 0 ? off : 0;
}

void check_fork_tracepoint(struct check *c)
{
	struct pid_namespace ns = { .initial = true };
	int err = check_fork_tracepoint_error();

	host_pid_namespace(&ns);
	if (!ns.initial)
		check_missing(c, "fork tracepoint in a pid namespace",
			      "perf follows the descendants of a command, but "
			      "hardly sees the short-lived: run it in the "
			      "host's pid namespace");
	else if (err)
		check_failed(c, "fork tracepoint", OP_TRACEFS, err,
			     advice_reason(OP_TRACEFS, err));
}

/* Names; without /proc there are none, and that is said already. */

static bool has_proc(void)
{
	int err;

	return fs_way(FS_PROC, &err) != FS_NO_WAY;
}

static int read_kernel_names(void)
{
	int fd, err;

	log_set_silent(true);
	fd = fs_open(FS_PROC, "kallsyms", O_RDONLY);
	log_set_silent(false);
	err = fd < 0 ? fd : kallsyms_try(fd);
	if (fd >= 0)
		close(fd);
	return err;
}

int check_kernel_names_error(void)
{
	static bool asked;
	static int err;

	if (!asked)
		err = read_kernel_names();
	asked = true;
	return err;
}

void check_kernel_names(struct check *c)
{
	int err = check_kernel_names_error();

	if (err && has_proc())
		check_failed(c, "kernel names", OP_KALLSYMS, err,
			     advice_reason(OP_KALLSYMS, err));
}

/* By the kernel's rule (kernel/ptrace.c): there may be no process just now that
 * a try would fail with. */
int check_other_processes_error(void)
{
	return host_has_capability(CAPABILITY_SYS_PTRACE) ? 0 : -EACCES;
}

void check_other_processes(struct check *c)
{
	int err = check_other_processes_error();

	if (err && has_proc())
		check_failed(c, "names of others' processes", OP_PROC, err,
			     log_errno(err));
}

void check_probing(struct check *c)
{
	check_probes(c);
	check_file_systems(c);
	check_fork_tracepoint(c);
	check_kernel_names(c);
	check_other_processes(c);
}
