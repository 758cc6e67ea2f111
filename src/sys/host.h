/* host - the machine that sonde runs on: CPUs, memory, namespaces, rights. */
#ifndef SYS_HOST_H
#define SYS_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/num.h"

/* The online CPUs' numbers, appended to *out (vec_free() it); -errno. */
int host_cpus_online(struct num_list *out);

/* CPUs that could ever be there: per-CPU map values have so many slots. */
unsigned host_cpus_possible(void);

/* The threads of a process, appended to *out; -errno. */
int host_threads(uint64_t pid, struct num_list *out);

/* RAM in bytes. */
uint64_t host_memory(void);

/* The kernel's version, 5.15 is 0x50f; 0 = not known. */
unsigned host_kernel(void);

/* The pid namespace of this process. */
struct pid_namespace {
	uint64_t dev, ino;
	bool initial;		/* kernel and user number tasks alike */
};
int host_pid_namespace(struct pid_namespace *ns);

/* True when a process is known to be in another one. */
bool host_is_elsewhere(const struct pid_namespace *ns, uint64_t pid);

/* Effective capabilities, by their numbers in linux/capability.h; the set has
 * a bit for each. */
enum {
	CAPABILITY_DAC_OVERRIDE = 1,
	CAPABILITY_DAC_READ_SEARCH = 2,
	CAPABILITY_IPC_LOCK = 14,
	CAPABILITY_SYS_PTRACE = 19,
	CAPABILITY_SYS_ADMIN = 21,
	CAPABILITY_SYSLOG = 34,
	CAPABILITY_PERFMON = 38,
	CAPABILITY_BPF = 39,
};
uint64_t host_capabilities(void);

/* True when those are good for a user namespace only, not for the host. */
bool host_in_user_namespace(void);

/* One of them, over the host. */
bool host_has_capability(int number);

/* Be scheduled before all ordinary tasks, for a watcher that they crowd out
 * sees nothing; or only before most of them. Children are ordinary. 0 or
 * -errno. */
int host_hurry(bool all);

/* More descriptors: soft limit to the hard one. */
void host_raise_files(void);

/* Time that a CPU (-1: all) has spent on other things than idling, ns, as
 * /proc/stat tells it; 0 = unknown. */
uint64_t host_busy_time(int cpu);

/* CLOCK_MONOTONIC in ns, the clock of every record. */
uint64_t host_time(void);

#endif
