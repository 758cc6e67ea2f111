/* state - what of the host decides why a system call was refused. */
#ifndef SYS_STATE_H
#define SYS_STATE_H

#include <stdbool.h>
#include <stdint.h>

enum lockdown {
	LOCKDOWN_UNKNOWN,		/* or the kernel knows no such thing */
	LOCKDOWN_NONE,
	LOCKDOWN_INTEGRITY,
	LOCKDOWN_CONFIDENTIALITY,
};

enum { STATE_UNKNOWN = -1000 };		/* of a sysctl that is not there */

/* Facts, no judgement: advice.c makes the judgement, and tests make facts. */
struct state {
	bool is_root;			/* effective user 0 */
	bool in_user_namespace;		/* rights are good in there only */
	uint64_t capabilities;		/* effective, a bit each */
	unsigned kernel;		/* 5.11 is 0x50b; 0 = unknown */
	bool memlock_is_limited;	/* RLIMIT_MEMLOCK */
	bool has_seccomp_filter;
	bool has_proc;			/* /proc can be reached */
	enum lockdown lockdown;
	long long bpf_disabled;		/* kernel.unprivileged_bpf_disabled */
	long long perf_paranoid;	/* kernel.perf_event_paranoid */
	long long kptr_restrict;
	long long nmi_watchdog;
	uint64_t memory;		/* bytes */
};

/* The running host's; the second asks for that alone. */
void state_read(struct state *s);
enum lockdown state_lockdown(void);

#endif
