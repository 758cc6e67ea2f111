/* attach - sets the probes of points, by the best way that the host has.
 *
 * A probe is a perf event with a program on it, or a link. Which of the points
 * was hit, the kernel tells by a cookie (5.15); before that, each point gets a
 * copy of the program with its number in it. The ways to the kernel's
 * functions are in attach_kernel.c, those to programs in attach_user.c.
 */
#include "trace/attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "asm/regs.h"
#include "base/log.h"
#include "sys/advice.h"
#include "sys/bpf.h"
#include "sys/feature.h"
#include "sys/host.h"
#include "sys/perf.h"
#include "sys/tracefs.h"
#include "trace/attach_room.h"

enum { SLOW_NS = 1000000000 };

void attach_init(struct attach *a, struct session *s, const char *command,
		 const struct points *points)
{
	*a = (struct attach){
		.command = command, .session = s, .points = points,
	};
}

int attach_keep(struct attach *a, int fd)
{
	int *slot = vec_push(&a->fds);

	if (slot) {
		*slot = fd;
		return 0;
	}
	close(fd);
	return -ENOMEM;
}

int attach_note(struct attach *a, struct attach_fact fact)
{
	struct attach_fact *slot = vec_push(&a->facts);

	if (!slot)
		return -ENOMEM;
	*slot = fact;
	return 0;
}

const struct attach_fact *attach_fact(const struct attach *a, size_t point)
{
	for (size_t i = 0; i < a->facts.n; i++)
		if (a->facts.v[i].point == point)
			return &a->facts.v[i];
	return NULL;
}

int attach_keep_link(struct attach *a, int fd)
{
	int *slot = vec_push(&a->links);

	if (slot)
		*slot = fd;
	return attach_keep(a, fd);
}

static bool is_same(const struct prog_as *a, const struct prog_as *b)
{
	return a->kind == b->kind && a->is_syscall == b->is_syscall &&
	       a->nargs == b->nargs && a->is_user == b->is_user &&
	       a->is_go == b->is_go &&
	       a->cookie == b->cookie &&
	       a->probe == b->probe && a->attach_type == b->attach_type &&
	       a->btf_id == b->btf_id && a->btf_fd == b->btf_fd &&
	       a->no_caller == b->no_caller;
}

int attach_program(struct attach *a, const char *prog, struct prog_as as,
		   size_t number)
{
	struct attach_copy *copy;
	uint64_t began;
	int fd;

	as.cookie &= session_asks_probe(a->session, prog);
	if (session_asks_probe(a->session, prog) && !as.cookie)
		as.probe = number;
	for (size_t i = 0; i < a->copies.n; i++)
		if (!strcmp(a->copies.v[i].prog, prog) &&
		    is_same(&a->copies.v[i].as, &as))
			return a->copies.v[i].fd;
	began = host_time();
	fd = session_prog_as(a->session, prog, &as);
	a->loading += host_time() - began;
	if (fd < 0)
		return fd;
	copy = vec_push(&a->copies);
	if (!copy)
		return -ENOMEM;
	*copy = (struct attach_copy){ .prog = prog, .as = as, .fd = fd };
	return fd;
}

int attach_event(struct attach *a, int event_fd, const char *prog,
		 struct prog_as as, size_t number)
{
	int prog_fd, fd, err;

	as.cookie = feature_has(FEATURE_PERF_LINK) &&
		    feature_has(FEATURE_ATTACH_COOKIE) &&
		    session_asks_probe(a->session, prog);
	prog_fd = attach_program(a, prog, as, number);
	if (prog_fd < 0) {
		close(event_fd);
		return ATTACH_REPORTED;
	}
	if (!as.cookie) {
		err = perf_set_bpf(event_fd, prog_fd);
		if (!err)
			return attach_keep(a, event_fd);
		close(event_fd);
		return err;
	}
	fd = bpf_link_perf(prog_fd, event_fd, number);
	close(event_fd);
	return fd < 0 ? fd : attach_keep_link(a, fd);
}

static int first_cpu(void)
{
	struct num_list cpus = { 0 };
	int cpu = host_cpus_online(&cpus) ? 0 : (int)cpus.v[0];

	vec_free(&cpus);
	return cpu;
}

int attach_perf(struct perf_event_attr *attr, uint32_t pid)
{
	attr->sample_period = 1;
	return pid ? perf_open(attr, (int)pid, -1)
		   : perf_open(attr, -1, first_cpu());
}

/* The kernel refuses a program that asks for more arguments than there are
 * (kernel/trace/bpf_trace.c), and does not say how many that is. */
static int raw_tracepoint_open(struct attach *a, const struct point *p,
			       const char *prog, size_t number)
{
	struct prog_as as = { .no_caller = true, .kind = PROG_RAW_TRACEPOINT };
	int fd = -EINVAL;

	for (as.nargs = CPU_ARGS; fd == -EINVAL; as.nargs--) {
		int prog_fd = attach_program(a, prog, as, number);

		if (prog_fd < 0)
			return ATTACH_REPORTED;
		fd = bpf_raw_tracepoint_open(p->symbol, prog_fd);
		if (fd != -EINVAL || !as.nargs)
			break;
	}
	if (fd >= 0 && attach_note(a, (struct attach_fact){
			.point = (uint32_t)number,
			.nargs = (uint8_t)as.nargs })) {
		close(fd);
		return -ENOMEM;
	}
	return fd;
}

/* The same event without its record is cheaper: the program hangs on the
 * tracepoint itself. Syscalls have no tracepoints of their own. */
static int raw_tracepoint(struct attach *a, const struct point *p,
			  const char *prog, size_t number)
{
	int fd;

	if (!feature_has(FEATURE_RAW_TRACEPOINT))
		return -EOPNOTSUPP;
	fd = raw_tracepoint_open(a, p, prog, number);
	return fd < 0 ? fd : attach_keep(a, fd);
}

static int tracepoint(struct attach *a, const struct point *p,
		      const char *prog, size_t number)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT };
	struct prog_as as = { .no_caller = true, .kind = PROG_TRACEPOINT };
	char path[256];
	int id, fd;

	if (!a->fields && strcmp(p->module, "syscalls") &&
	    !raw_tracepoint(a, p, prog, number))
		return 0;
	snprintf(path, sizeof(path), "%s/%s", p->module, p->symbol);
	id = tracefs_id(path);
	if (id < 0)
		return id;
	attr.config = (uint64_t)id;
	fd = attach_perf(&attr, 0);
	return fd < 0 ? fd : attach_event(a, fd, prog, as, number);
}

static bool is_at_return(const struct point *p, enum attach_end end)
{
	return end == ATTACH_AS_SAID ? probe_is_return(p->kind)
				     : end == ATTACH_RETURN;
}

static int attach_one(struct attach *a, size_t number, const char *prog,
		      enum attach_end end)
{
	const struct point *p = &a->points->v.v[number];
	bool is_return = is_at_return(p, end);

	if (probe_is_kernel(p->kind))
		return attach_kernel(a, number, prog, is_return);
	if (probe_is_user(p->kind))
		return attach_user(a, number, prog, is_return);
	if (p->kind == PROBE_RAW_TRACEPOINT)
		return raw_tracepoint(a, p, prog, number);
	if (p->kind == PROBE_TRACEPOINT)
		return tracepoint(a, p, prog, number);
	return -EOPNOTSUPP;
}

static enum operation operation_of(enum probe_kind kind)
{
	if (probe_is_user(kind))
		return OP_UPROBE;
	if (probe_is_kernel(kind))
		return OP_KPROBE;
	return OP_TRACEFS;
}

static int failed(struct attach *a, const struct point *p, int err)
{
	enum operation op = operation_of(p->kind);

	if (err == ATTACH_REPORTED)
		return -EINVAL;
	if (probe_is_kernel(p->kind) && attach_kernel_explain(a, p, err))
		return err;
	log_error("%s: cannot set the probe %s:%s: %s", a->command,
		  probe_kind_name(p->kind), p->name, advice_reason(op, err));
	advice(op, err);
	return err;
}

/* The kernel's own ENOTSUPP: uprobes cannot run what is there out of line. */
enum { NO_INSTRUCTION = 524 };

/* A function may vanish between the list and the probe: it is counted. What
 * holds for all of them is an error. */
static bool is_ones_own(const struct point *p, int err)
{
	return p->many && (err == -ENOENT || err == -EINVAL ||
			   err == -NO_INSTRUCTION ||
			   err == -EADDRNOTAVAIL || err == -ESRCH ||
			   err == -EOPNOTSUPP || err == -EILSEQ ||
			   err == -EBUSY || err == -ENODEV);
}

void attach_left_out(struct attach *a, size_t number, int err)
{
	if (a->vanished++)
		return;
	a->first = number;
	a->first_err = err;
}

static int set_one(struct attach *a, size_t number, const char *prog,
		   enum attach_end end)
{
	const struct point *p = &a->points->v.v[number];
	int err;

	if (a->refused.v[number])
		return 0;
	err = attach_one(a, number, prog, end);
	if (err && !is_ones_own(p, err))
		return failed(a, p, err);
	if (!err) {
		a->done++;
		return 0;
	}
	attach_left_out(a, number, err);
	a->refused.v[number] = 1;
	return 0;
}

/* The first that was refused, and why. */
static const char *refusal(const struct attach *a, const char **name)
{
	const struct point *p = &a->points->v.v[a->first];

	*name = p->name;
	return a->first_err == -NO_INSTRUCTION
		? "the kernel cannot run what is there elsewhere"
		: advice_reason(operation_of(p->kind), a->first_err);
}

/* One link for all of them. What one of them spoils is tried by halves, until
 * that one is alone. */
static int set_range(struct attach *a, size_t from, size_t n,
		     const char *prog, enum attach_end end)
{
	const struct point *p = &a->points->v.v[from];
	int err;

	if (n < 2)
		return set_one(a, from, prog, end);
	err = probe_is_kernel(p->kind) ?
	      attach_kernel_link(a, from, n, prog, is_at_return(p, end)) :
	      attach_user_link(a, from, n, prog, is_at_return(p, end));
	if (!err)
		a->done += n;
	if (!err)
		return 0;
	if (err == -ENOMEM || err == ATTACH_REPORTED)
		return failed(a, p, err);
	log_verbose("%zu probes at once: %s; by halves", n, log_errno(err));
	err = set_range(a, from, n / 2, prog, end);
	return err ? err : set_range(a, from + n / 2, n - n / 2, prog, end);
}

/* How many points from this one on go into one link. */
static size_t run_of(const struct attach *a, size_t number)
{
	const struct point *p = &a->points->v.v[number];

	if (!p->many || a->refused.v[number])
		return 1;
	if (probe_is_kernel(p->kind))
		return attach_kernel_run(a, number);
	return probe_is_user(p->kind) ? attach_user_run(a, number) : 1;
}

static int none_set(const struct attach *a)
{
	const char *name, *why;

	if (!a->vanished) {
		log_error("%s: nothing to attach to", a->command);
		return -ENOENT;
	}
	why = refusal(a, &name);
	log_error("%s: none of the %zu probes that match can be set, such as "
		  "%s: %s", a->command, a->vanished, name, why);
	advice(operation_of(a->points->v.v[a->first].kind), a->first_err);
	return -ENOENT;
}

int attach_points(struct attach *a, const char *prog, enum attach_end end)
{
	uint64_t began = host_time(), loading = a->loading;
	size_t done = a->done, n;

	while (a->refused.n < a->points->v.n) {
		uint8_t *slot = vec_push(&a->refused);

		if (!slot)
			return failed(a, &a->points->v.v[0], -ENOMEM);
		*slot = 0;
	}
	for (size_t i = 0; i < a->points->v.n; i += n) {
		int err;

		n = run_of(a, i);
		err = set_range(a, i, n, prog, end);
		if (err)
			return err;
	}
	log_verbose("setting %zu probes took %.1f ms", a->done - done,
		    (double)(host_time() - began - a->loading + loading) /
		    1e6);
	return a->done > done ? 0 : none_set(a);
}

/* The kernel waits for all CPUs at each of some kinds of probes: hundreds of
 * them are told apart from a hang. */
void attach_detach(struct attach *a)
{
	uint64_t began = host_time(), told = began + SLOW_NS;
	size_t n = a->fds.n;

	attach_lower(a);
	for (size_t i = n; i > 0; i--) {
		close(a->fds.v[i - 1]);
		if (i == 1 || !told || host_time() < told)
			continue;
		log_notice("detaching: the kernel takes its time, about %llu s "
			   "for the %zu probes that are left",
			   (unsigned long long)((host_time() - began) /
						(n - i + 1) * (i - 1) /
						1000000000 + 1), i - 1);
		told = 0;
	}
	a->fds.n = a->links.n = 0;
	attach_unname(a);
}

void attach_report(const struct attach *a)
{
	const char *name, *why;

	if (a->points->left_out)
		log_notice("left out, for the kernel forbids probes there: "
			   "%zu functions", a->points->left_out);
	if (a->vanished) {
		why = refusal(a, &name);
		log_notice("%zu of the probes that match could not be set, "
			   "such as %s: %s", a->vanished, name, why);
	}
}

static uint64_t recursions(const struct attach *a)
{
	uint64_t n = 0;

	for (size_t i = 0; i < a->copies.n; i++)
		n += bpf_prog_missed(a->copies.v[i].fd);
	return n;
}

uint64_t attach_missed(const struct attach *a)
{
	uint64_t missed = recursions(a) + attach_named_missed(a), one;

	for (size_t i = 0; i < a->links.n; i++)
		if (!bpf_link_missed(a->links.v[i], &one))
			missed += one;
	return missed;
}

void attach_report_missed(const struct attach *a)
{
	uint64_t missed = attach_missed(a);

	if (missed)
		log_notice("hits missed, for another program ran on that CPU "
			   "or the kernel had no return probe to spare: %llu",
			   (unsigned long long)missed);
}

void attach_close(struct attach *a)
{
	attach_detach(a);
	vec_free(&a->fds);
	vec_free(&a->facts);
	vec_free(&a->links);
	vec_free(&a->refused);
	vec_free(&a->copies);
	vec_free(&a->named);
	same_names_free(&a->same);
}
