/* feature - what the running kernel has, asked when somebody needs it. */
#ifndef SYS_FEATURE_H
#define SYS_FEATURE_H

#include <stdbool.h>

#include "sys/advice.h"

enum feature {
	FEATURE_BPF,		/* bpf(2) for tracing, at all */
	FEATURE_RINGBUF,	/* BPF ring buffer, 5.8 */
	FEATURE_GET_STACK,	/* bpf_get_stack in perf events, 4.18 */
	FEATURE_NS_PID,		/* bpf_get_ns_current_pid_tgid, 5.7 */
	FEATURE_READ_USER,	/* bpf_probe_read_user, 5.5 */
	FEATURE_RAW_TRACEPOINT,	/* BPF_RAW_TRACEPOINT_OPEN, 4.17 */
	FEATURE_READ_KERNEL,	/* bpf_probe_read_kernel, 5.5 */
	FEATURE_KPROBE_PMU,	/* perf events of kernel functions, 4.17 */
	FEATURE_UPROBE_PMU,	/* perf events of user functions, 4.17 */
	FEATURE_KPROBE_STACK,	/* bpf_get_stackid in programs of probes */
	FEATURE_PERF_LINK,	/* BPF_LINK_CREATE on a perf event, 5.15 */
	FEATURE_ATTACH_COOKIE,	/* bpf_get_attach_cookie, 5.15 */
	FEATURE_FUNC_IP,	/* bpf_get_func_ip, 5.15 */
	FEATURE_KPROBE_MULTI,	/* many kernel functions at once, 5.18 */
	FEATURE_UPROBE_MULTI,	/* many user functions at once, 6.6 */
	FEATURE_BTF,		/* the kernel's types, 5.4 */
	FEATURE_FENTRY,		/* fentry and fexit, 5.5 */
	FEATURE_TASK_ITER,	/* BPF iterator over tasks, 5.8 */
	FEATURE_REF_CTR,	/* semaphores of USDT probes, 4.20 */
	FEATURE_MAX,
};

/* Probed once by loading a tiny program or creating a tiny map. A failure for
 * another reason than the feature's absence (no permission) is false, too. */
bool feature_has(enum feature f);

/* Why it is not there: the errno of the last try, negative; 0 when it is. */
int feature_error(enum feature f);

/* The name in SONDE_WITHOUT. */
const char *feature_name(enum feature f);

/* What failed, for advice; the first kernel that has it, 5.15 is 0x50f. */
enum operation feature_operation(enum feature f);
unsigned feature_since(enum feature f);

/* True when SONDE_WITHOUT=a,b,... (for tests) lists the name: the feature then
 * counts as missing, whatever the kernel has. */
bool feature_is_hidden(const char *name);

#endif
