/* host - the machine that sonde runs on: CPUs, memory, namespaces, rights. */
#include "sys/host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "sys/fs.h"
#include "uapi.h"

/* The inodes of the first namespaces: PROC_PID_INIT_INO and
 * PROC_USER_INIT_INO, include/linux/proc_ns.h. */
static const uint64_t initial_pid_namespace = 0xeffffffc;
static const uint64_t initial_user_namespace = 0xeffffffd;

/* A file under /sys with a list such as "0-3,7". */
static int cpu_list(const char *path, struct num_list *out)
{
	struct buf text = { 0 };
	int err = fs_read(FS_SYS, path, 4096, &text);

	if (!err) {
		while (text.len && (text.data[text.len - 1] == '\n' ||
				    text.data[text.len - 1] == ' '))
			text.len--;
		err = num_list(buf_str(&text), true, 65535, out);
	}
	buf_free(&text);
	return err;
}

/* The lines "cpuN ..." of /proc/stat are of the CPUs that are online. */
static int cpus_of_stat(struct num_list *out)
{
	struct buf text = { 0 };
	int err = fs_read(FS_PROC, "stat", 1 << 20, &text);
	const char *p = err ? "" : buf_str(&text);
	uint64_t n, *cpu;

	while (!err && (p = strstr(p, "\ncpu"))) {
		p += 4;
		if (!num_dec(p, p + strlen(p), &n))
			continue;
		cpu = vec_push(out);
		if (cpu)
			*cpu = n;
		else
			err = -ENOMEM;
	}
	buf_free(&text);
	return err ? err : out->n ? 0 : -ENOENT;
}

int host_cpus_online(struct num_list *out)
{
	int err = cpu_list("devices/system/cpu/online", out);

	if (!err)
		return 0;
	vec_free(out);
	if (!cpus_of_stat(out))
		return 0;
	/* Neither sysfs nor proc: numbers up to the count; one that is not
	 * online makes perf_event_open() say so. */
	vec_free(out);
	for (long i = 0, n = sysconf(_SC_NPROCESSORS_CONF); i < n; i++) {
		uint64_t *cpu = vec_push(out);

		if (!cpu)
			return -ENOMEM;
		*cpu = (uint64_t)i;
	}
	return out->n ? 0 : err;
}

unsigned host_cpus_possible(void)
{
	struct num_list cpus = { 0 };
	unsigned n = 0;

	if (!cpu_list("devices/system/cpu/possible", &cpus) && cpus.n)
		n = (unsigned)cpus.v[cpus.n - 1] + 1;
	vec_free(&cpus);
	return n ? n : (unsigned)sysconf(_SC_NPROCESSORS_CONF);
}

int host_threads(uint64_t pid, struct num_list *out)
{
	const struct dirent *entry;
	uint64_t tid, *slot;
	char path[64];
	int fd, err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%llu/task", (unsigned long long)pid);
	fd = fs_open(FS_PROC, path, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	for (errno = 0; !err && (entry = readdir(dir)); errno = 0) {
		if (num_u64(entry->d_name, 1, UINT32_MAX, &tid))
			continue;	/* "." and ".." */
		slot = vec_push(out);
		if (slot)
			*slot = tid;
		else
			err = -ENOMEM;
	}
	if (!err && !entry)
		err = -errno;
	closedir(dir);
	return err;
}

uint64_t host_memory(void)
{
	struct sysinfo info;

	return sysinfo(&info) ? 0 : (uint64_t)info.totalram * info.mem_unit;
}

unsigned host_kernel(void)
{
	uint64_t major, minor;
	struct utsname u;
	const char *p, *end;

	if (uname(&u))
		return 0;
	end = u.release + strlen(u.release);
	p = num_dec(u.release, end, &major);
	if (!p || *p != '.' || !num_dec(p + 1, end, &minor) || minor > 255)
		return 0;
	return (unsigned)(major << 8 | minor);
}

static int namespace_stat(const char *path, struct stat *st)
{
	int fd = fs_open(FS_PROC, path, O_RDONLY), err = 0;

	if (fd < 0)
		return fd;
	if (fstat(fd, st))
		err = -errno;
	close(fd);
	return err;
}

int host_pid_namespace(struct pid_namespace *ns)
{
	struct stat st;
	int err = namespace_stat("self/ns/pid", &st);

	if (err)
		return err;
	ns->dev = st.st_dev;
	ns->ino = st.st_ino;
	ns->initial = ns->ino == initial_pid_namespace;
	return 0;
}

bool host_is_elsewhere(const struct pid_namespace *ns, uint64_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "%llu/ns/pid", (unsigned long long)pid);
	return !namespace_stat(path, &st) && st.st_ino != ns->ino;
}

bool host_in_user_namespace(void)
{
	struct stat st;

	return !namespace_stat("self/ns/user", &st) &&
	       st.st_ino != initial_user_namespace;
}

/* Asked of the kernel, not of /proc, which may be out of reach just then. */
uint64_t host_capabilities(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct set[_LINUX_CAPABILITY_U32S_3];

	memset(set, 0, sizeof(set));
	if (syscall(SYS_capget, &head, set))
		return 0;
	return set[0].effective | (uint64_t)set[1].effective << 32;
}

bool host_has_capability(int number)
{
	return host_capabilities() >> number & 1 && !host_in_user_namespace();
}

/* The C library has no sched_setscheduler() of its own. */
int host_hurry(bool all)
{
	struct sched_param param = { .sched_priority = all };
	long policy = (all ? SCHED_RR : SCHED_OTHER) | SCHED_RESET_ON_FORK;

	if (setpriority(PRIO_PROCESS, 0, -20))
		return -errno;
	return syscall(SYS_sched_setscheduler, 0, policy, &param) ? -errno : 0;
}

void host_raise_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

uint64_t host_busy_time(int cpu)
{
	/* user, nice, system, then idle and iowait, then irq and softirq */
	static const bool busy[] = { 1, 1, 1, 0, 0, 1, 1 };
	struct buf text = { 0 };
	uint64_t ticks = 0, n;
	char label[32];
	const char *p;

	snprintf(label, sizeof(label), cpu < 0 ? "cpu " : "\ncpu%d ", cpu);
	fs_read(FS_PROC, "stat", 1 << 20, &text);
	p = strstr(buf_str(&text), label);
	p = p ? p + strlen(label) : "";
	for (size_t i = 0; i < sizeof(busy); i++) {
		p += strspn(p, " ");
		p = num_dec(p, p + strlen(p), &n);
		if (!p)
			break;
		ticks += busy[i] ? n : 0;
	}
	buf_free(&text);
	return ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

uint64_t host_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
