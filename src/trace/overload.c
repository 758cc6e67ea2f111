/* overload - tells when more tasks may want to run than a limit, cheaply.
 *
 * Either a program at update_rq_clock(), which the scheduler calls before it
 * changes a run queue and at each tick, keeps account of rq->nr_running; or
 * /proc/loadavg is read. User space looks at the one or the other every now and
 * then, and lists the tasks when there may be too many: the list decides, so
 * that both ways come to the same verdict.
 *
 * Where nr_running is, BTF tells. Without BTF it is at one of the places that
 * it has had so far: behind the queue's lock, of four bytes, or since 7.0 at
 * the very start. Which one, is found out by going to each CPU, yielding there,
 * for which the kernel updates that queue's clock, and adding up what stood at
 * each place; only the right one is about as many as /proc/loadavg tells before
 * and after. It is not exactly that, for others come and go meanwhile; a few
 * busy tasks more see to it that it is far from 1 for each queue, as a lock is
 * that is held.
 */
#include "trace/overload.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"
#include "events.h"
#include "sys/bpf.h"
#include "sys/btf.h"
#include "sys/feature.h"
#include "sys/fs.h"
#include "sys/host.h"

enum {
	ROUNDS = 20,			/* that can be compared */
	ROUNDS_LEAST = 4,
	TRIES = 80,
	SPINNERS = 4,
	FAKED_HEAD = 64,		/* nowhere near, for tests */
};

/* /proc/loadavg */

int overload_parse(const char *text, size_t n, uint64_t *running)
{
	const char *end = text + n, *p = text;

	for (int field = 0; field < 3; field++) {
		p = memchr(p, ' ', (size_t)(end - p));
		if (!p)
			return -EINVAL;
		p++;
	}
	p = num_dec(p, end, running);
	return p && p < end && *p == '/' ? 0 : -EINVAL;
}

/* This task among them, for it reads. */
static int64_t read_loadavg(const struct overload *o)
{
	char text[128];
	ssize_t n = pread(o->loadavg_fd, text, sizeof(text), 0);
	uint64_t running;
	int err = n < 0 ? -errno : overload_parse(text, (size_t)n, &running);

	return err ? err : (int64_t)running;
}

int64_t overload_running(const struct overload *o)
{
	int64_t n = read_loadavg(o);

	return n > 0 ? n - 1 : n;
}

/* The scheduler's numbers */

static int sum_read(const struct overload *o, uint32_t sum, uint64_t *to)
{
	return bpf_map_lookup(session_map(o->session, "sums"), &sum, to);
}

static int sum_clear(const struct overload *o, uint32_t sum)
{
	static const uint64_t zero;

	return bpf_map_update(session_map(o->session, "sums"), &sum, &zero);
}

int overload_choose(const struct overload_votes *v)
{
	for (int i = 0; i < OVERLOAD_PLACES; i++)
		if (v->rounds >= ROUNDS_LEAST &&
		    v->near[i] * 2 >= v->rounds &&
		    v->near[!i] * 4 < v->rounds)
			return i;
	return -EINVAL;
}

/* Busy tasks of our own, which hold nobody up; they end with us. */
static int spin_start(pid_t pids[SPINNERS])
{
	for (int i = 0; i < SPINNERS; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			return -errno;
		if (pids[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpriority(PRIO_PROCESS, 0, 19);
		for (;;)
			;
	}
	return 0;
}

static void spin_end(const pid_t pids[SPINNERS])
{
	for (int i = 0; i < SPINNERS && pids[i] > 0; i++) {
		kill(pids[i], SIGKILL);
		while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR)
			;
	}
}

struct cpu_mask {
	unsigned long bits[65536 / 8 / sizeof(long)];
};

static int go_to(uint64_t cpu)
{
	enum { BITS = 8 * sizeof(long) };
	static struct cpu_mask mask;

	if (cpu >= 8 * sizeof(mask))
		return -EINVAL;
	memset(&mask, 0, sizeof(mask));
	mask.bits[cpu / BITS] |= 1ul << cpu % BITS;
	return syscall(SYS_sched_setaffinity, 0, sizeof(mask), &mask) ? -errno
								      : 0;
}

/* What both places of all queues add up to; this task is on each in turn. */
static int add_heads(struct overload *o, const struct num_list *cpus,
		     uint64_t sums[OVERLOAD_PLACES])
{
	uint32_t words[OVERLOAD_PLACES];
	uint64_t head;
	int err = 0;

	memset(sums, 0, OVERLOAD_PLACES * sizeof(*sums));
	for (size_t i = 0; !err && i < cpus->n; i++) {
		err = go_to(cpus->v[i]);
		if (!err)
			err = sched_yield() ? -errno : 0;
		if (!err)
			err = sum_read(o, LOAD_HEAD, &head);
		memcpy(words, &head, sizeof(words));
		for (int k = 0; !err && k < OVERLOAD_PLACES; k++)
			sums[k] += words[k];
	}
	return err;
}

/* Within a quarter. */
static bool is_near(uint64_t n, uint64_t load)
{
	return (n > load ? n - load : load - n) <= load / 4;
}

static int vote(struct overload *o, struct overload_votes *v)
{
	struct num_list cpus = { 0 };
	uint64_t sums[OVERLOAD_PLACES];
	int err = host_cpus_online(&cpus);

	for (int i = 0; !err && i < TRIES && v->rounds < ROUNDS; i++) {
		int64_t before = read_loadavg(o), after;

		err = add_heads(o, &cpus, sums);
		after = read_loadavg(o);
		if (err || before < 0 || before != after)
			continue;
		v->rounds++;
		for (int k = 0; k < OVERLOAD_PLACES; k++)
			v->near[k] += is_near(sums[k] - (cpus.n - 1),
					      (uint64_t)before);
	}
	vec_free(&cpus);
	return err;
}

static int vote_with_load(struct overload *o, struct overload_votes *v)
{
	static struct cpu_mask before;
	long n = syscall(SYS_sched_getaffinity, 0, sizeof(before), &before);
	pid_t busy[SPINNERS] = { 0 };
	int err;

	if (n < 0)
		return -errno;
	err = spin_start(busy);
	if (!err)
		err = vote(o, v);
	spin_end(busy);
	syscall(SYS_sched_setaffinity, 0, n, &before);
	return err;
}

static int probe_set(struct overload *o, const char *prog)
{
	attach_init(&o->attach, o->session, o->command, &o->points);
	return attach_points(&o->attach, prog, ATTACH_AS_SAID);
}

static void probe_end(struct overload *o)
{
	attach_detach(&o->attach);
	attach_close(&o->attach);
}

/* nr_running's place without BTF: 0 or -errno, which was told. */
static int find_place(struct overload *o)
{
	struct overload_votes v = { 0 };
	int err = probe_set(o, "head"), place;

	log_set_silent(false);
	if (!err) {
		err = vote_with_load(o, &v);
		probe_end(o);
	}
	place = err ? err : overload_choose(&v);
	if (place < 0) {
		log_notice("the probe of update_rq_clock is not used: this "
			   "kernel does not tell where rq->nr_running is (no "
			   "BTF), and the places that are known disagree with "
			   "/proc/loadavg: %u and %u of %u readings were "
			   "near it", v.near[0], v.near[1], v.rounds);
		return -EINVAL;
	}
	log_verbose("rq->nr_running is at byte %d: %u of %u readings were "
		    "near /proc/loadavg", 4 * place, v.near[place],
		    v.rounds);
	session_const(o->session, "nr_running", 4 * (uint64_t)place);
	return 0;
}

void overload_consts(struct session *s, bool single)
{
	session_const(s, "single", single);
	session_const(s, "self", (uint64_t)getpid() << 32 |
				 (uint32_t)getpid());
	session_const(s, "head", feature_is_hidden("rq_layout") ? FAKED_HEAD
								: 0);
	session_entries(s, "queues", host_cpus_possible());
}

static bool place_is_known(struct session *s)
{
	struct btf_place at;
	struct btf *b;
	int err = feature_is_hidden("rq_layout") ? -EOPNOTSUPP
						 : btf_open(NULL, &b);

	if (err)
		return false;
	err = btf_field(b, "rq.nr_running", &at);
	btf_close(b);
	if (!err)
		session_const(s, "nr_running", at.offset);
	return !err;
}

static int find_points(struct overload *o, const char *spec)
{
	struct spec_rules rules = { .command = o->command };
	int err = specs_parse(spec, &rules, &o->specs);

	return err ? err : points_find(&o->points, o->command, &o->specs, 0);
}

/* Silent, for there is another way; the reasons that the user may not expect
 * are told by who finds them. */
static int probe_by(struct overload *o, const char *spec)
{
	int err;

	log_set_silent(true);
	err = find_points(o, spec);
	if (!err && !place_is_known(o->session))
		err = find_place(o);
	log_set_silent(true);
	if (!err)
		err = probe_set(o, "queue");
	log_set_silent(false);
	if (!err)
		return 0;
	attach_close(&o->attach);
	points_free(&o->points);
	specs_free(&o->specs);
	o->attach = (struct attach){ 0 };
	o->points = (struct points){ 0 };
	o->specs = (struct probe_specs){ 0 };
	return err;
}

/* The cheaper one first. */
static int probe(struct overload *o)
{
	int err = -EOPNOTSUPP;

	if (o->session && feature_has(FEATURE_FENTRY)) {
		o->way = "rq->nr_running, by fentry";
		err = probe_by(o, "fentry:update_rq_clock");
	}
	/* A layout that was refused is no better there. */
	if (o->session && err && err != -EINVAL &&
	    !feature_is_hidden("kprobe")) {
		o->way = "rq->nr_running, by kprobe";
		err = probe_by(o, "kprobe:update_rq_clock");
	}
	return err;
}

int overload_open(struct overload *o, const char *command, struct session *s)
{
	int err;

	o->command = command;
	o->session = s;
	o->loadavg_fd = fs_open(FS_PROC, "loadavg", O_RDONLY);
	if (o->loadavg_fd < 0) {
		log_error("%s: /proc/loadavg: %s", command,
			  log_errno(o->loadavg_fd));
		return o->loadavg_fd;
	}
	err = probe(o);
	o->probed = !err;
	if (err) {
		o->way = "/proc/loadavg";
		log_verbose("update_rq_clock is not probed: %s",
			    log_errno(err));
	}
	return 0;
}

void overload_close(struct overload *o)
{
	attach_close(&o->attach);
	points_free(&o->points);
	specs_free(&o->specs);
	if (o->loadavg_fd > 0)
		close(o->loadavg_fd);
}

/* Verdicts */

/* What is not known may be too many. */
static bool numbers_suspect(struct overload *o, size_t cpus)
{
	uint64_t now = 0, peak = 0, room = o->single ? o->limit :
			(o->limit ? o->limit - 1 : 0) * cpus;

	if (sum_read(o, LOAD_PEAK, &peak) ||
	    (!o->single && sum_read(o, LOAD_WAITING, &now)))
		return true;
	if (peak && sum_clear(o, LOAD_PEAK))
		return true;
	o->peak = peak;
	return peak > room || now > room;
}

bool overload_suspected(struct overload *o, size_t cpus)
{
	int64_t n;

	if (o->probed)
		return numbers_suspect(o, cpus);
	n = overload_running(o);
	return n < 0 || (uint64_t)n > o->limit * (o->single ? 1 : cpus);
}
