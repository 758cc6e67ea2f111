/* filter - whose hits count: the common options, told to a session. */
#include "trace/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/log.h"
#include "events.h"
#include "sys/advice.h"
#include "sys/bpf.h"
#include "sys/feature.h"
#include "sys/host.h"
#include "uapi.h"

enum {
	TREE_MAX = 32768,		/* threads of a command at a time */
	CGROUP_MAGIC = 0x27e0eb,	/* include/uapi/linux/magic.h */
	CGROUP2_MAGIC = 0x63677270,
};

/* Numbers that the user types and reads are those of his pid namespace. */
static int set_namespace(struct filter *f, struct session *s)
{
	struct pid_namespace ns;

	if (host_pid_namespace(&ns) || ns.initial)
		return 0;
	if (feature_has(FEATURE_NS_PID)) {
		session_const(s, "ns_dev", ns.dev);
		session_const(s, "ns_ino", ns.ino);
		return 0;
	}
	log_error("%s: programs of this kernel cannot tell the pids of this "
		  "pid namespace", f->command);
	log_hint("that came with Linux 5.7: run it in the host's pid "
		 "namespace");
	return -EOPNOTSUPP;
}

static void set_comm(const char *comm, struct session *s)
{
	uint64_t words[2] = { 0 };

	memcpy(words, comm, strnlen(comm, COMM_SIZE - 1));
	session_const(s, "by_comm", 1);
	session_const(s, "comm_head", words[0]);
	session_const(s, "comm_tail", words[1]);
}

/* A perf event can be of a version 1 cgroup, but a program on it runs for all
 * tasks (trace_call_bpf), and its helper knows version 2 alone. */
static void cgroup_refused(const struct filter *f, bool is_v1)
{
	if (!is_v1) {
		log_error("%s: --cgroup %s: not a folder of a cgroup2 file "
			  "system", f->command, f->cgroup);
		return;
	}
	log_error("%s: --cgroup %s: a cgroup of version 1: programs of probes "
		  "can ask for those of version 2 alone", f->command,
		  f->cgroup);
	log_hint("-p takes the processes that its cgroup.procs lists; sonde "
		 "profile takes a version 1 cgroup of perf_event");
}

static int open_cgroup(struct filter *f)
{
	struct statfs st;
	int fd = open(f->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && !fstatfs(fd, &st)) {
		f->cgroup_fd = fd;
		if ((long)st.f_type == CGROUP2_MAGIC)
			return 0;
		cgroup_refused(f, (long)st.f_type == CGROUP_MAGIC);
		return -EINVAL;
	}
	log_error("%s: --cgroup %s: %s", f->command, f->cgroup,
		  log_errno(errno));
	if (fd >= 0)
		close(fd);
	return -EINVAL;
}

void filter_consts(const struct filter *f, struct session *s)
{
	uint64_t targets = f->pids.n + f->tids.n;

	session_const(s, "self", f->with_self ? 0 : (uint64_t)getpid());
	session_const(s, "by", f->root ? BY_TREE : f->tids.n ? BY_TID :
			       f->pids.n ? BY_TGID : BY_NOTHING);
	session_const(s, "root", (uint64_t)f->root);
	if (!f->root)			/* no target's children are meant */
		session_without(s, "fork");
	session_const(s, "by_cpu", (uint64_t)(f->cpu + 1));
	session_const(s, "by_cgroup", f->cgroup_fd >= 0);
	/* A map of cgroups exists only where the kernel has them: without a
	 * use for it, any map stands in. */
	if (f->cgroup_fd < 0)
		session_type(s, "cgroup", BPF_MAP_TYPE_ARRAY);
	if (f->comm)
		set_comm(f->comm, s);
	session_entries(s, "targets", f->root ? TREE_MAX :
			targets ? (uint32_t)targets : 1);
}

int filter_set(struct filter *f, struct session *s)
{
	int err = set_namespace(f, s);

	f->cgroup_fd = -1;
	if (!err && f->cgroup)
		err = open_cgroup(f);
	if (!err)
		filter_consts(f, s);
	return err;
}

int filter_fill(struct filter *f, struct session *s)
{
	const struct num_list *ids = f->tids.n ? &f->tids : &f->pids;
	int fd = session_map(s, "targets"), err = 0;
	uint64_t one = 1;
	uint32_t zero = 0;

	for (size_t i = 0; !err && i < ids->n; i++) {
		uint32_t id = (uint32_t)ids->v[i];

		err = bpf_map_update(fd, &id, &one);
	}
	if (!err && f->cgroup_fd >= 0)
		err = bpf_map_update(session_map(s, "cgroup"), &zero,
				     &f->cgroup_fd);
	if (err)
		log_error("%s: cannot set the filter: %s", f->command,
			  advice_reason(OP_BPF, err));
	return err;
}

void filter_close(struct filter *f)
{
	if (f->cgroup_fd > 0)
		close(f->cgroup_fd);
	f->cgroup_fd = -1;
}

void filter_forget(const struct session *s, uint64_t id)
{
	uint32_t key = (uint32_t)id;

	bpf_map_delete(session_map(s, "targets"), &key);
}
