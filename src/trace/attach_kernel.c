/* attach_kernel - probes of kernel functions.
 *
 * One at a time: by the kprobe PMU (4.17), else a name in tracefs, else fentry
 * and fexit, for kernels without kprobes. Some kernels before 6.2 have hardly
 * room for calls in a return probe, unless it has a name. Many: by one link
 * (5.18), by names, where no two have the same: at the addresses that tracefs
 * lists (6.5) the kernel sets them as well, but then finds no cookie.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "base/near.h"
#include "sys/bpf.h"
#include "sys/btf.h"
#include "sys/feature.h"
#include "sys/fs.h"
#include "sys/host.h"
#include "sys/kfuncs.h"
#include "sys/perf.h"
#include "trace/attach_room.h"
#include "trace/same_name.h"
#include "trace/syscall_name.h"

enum {				/* calls at a time that return probes follow */
	ROOM_ALL = 16384,	/* about 100 bytes each */
	ROOM_MOST = 4096,	/* KRETPROBE_MAXACTIVE_MAX, trace_kprobe.c */
	ROOMY_MOST = 256,	/* probes; a name in tracefs takes its time */
};

enum { VARIANTS_SAID = 8 };

/* Where exactly: a symbol ("module:symbol") or an address. */
struct place {
	const char *symbol;		/* NULL = by address */
	uint64_t address, offset;
	bool is_return;
};

static int pmu_open(const struct place *at)
{
	struct perf_event_attr attr = { 0 };
	long long type, bit;
	int err = fs_read_num(FS_SYS, "bus/event_source/devices/kprobe/type",
			      &type);

	if (err)
		return err;
	/* format/retprobe is "config:0" on every kernel so far */
	bit = at->is_return;
	attr.type = (uint32_t)type;
	attr.config = (uint64_t)bit;
	attr.kprobe_func = (uint64_t)(uintptr_t)at->symbol;
	if (at->symbol)
		attr.probe_offset = at->offset;
	else
		attr.kprobe_addr = at->address + at->offset;
	return attach_perf(&attr, 0);
}

static int named_open(struct attach *a, const struct place *at,
		      const char *type)
{
	char text[512];

	if (at->symbol)
		snprintf(text, sizeof(text), "%s+%llu", at->symbol,
			 (unsigned long long)at->offset);
	else
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)
			 (at->address + at->offset));
	return attach_named(a, "kprobe_events", type, text, 0);
}

/* Before 6.2 a kernel that does not preempt follows one call of a function at a
 * time for each CPU: few threads that sleep there, and it misses the returns of
 * all others. */
static bool is_short_of_room(void)
{
	struct utsname u;

	return host_kernel() < 0x602 && !uname(&u) &&
	       !strstr(u.version, "PREEMPT");
}

/* Only a name takes along for how many calls there is to be room. */
static int roomy_open(struct attach *a, const struct place *at)
{
	char type[16];
	size_t n = a->points->v.n, room;
	int fd;

	if (n > ROOMY_MOST || !is_short_of_room())
		return -EOPNOTSUPP;
	room = ROOM_ALL / n;
	snprintf(type, sizeof(type), "r%zu", room < ROOM_MOST ? room :
		 (size_t)ROOM_MOST);
	fd = named_open(a, at, type);
	if (fd < 0)
		log_verbose("no return probe with room for more calls: %s",
			    log_errno(fd));
	return fd;
}

static int kprobe_open(struct attach *a, const struct place *at)
{
	int fd = at->is_return ? roomy_open(a, at) : -EOPNOTSUPP;

	if (fd >= 0)
		return fd;
	if (feature_has(FEATURE_KPROBE_PMU))
		return pmu_open(at);
	return named_open(a, at, at->is_return ? "r" : "p");
}

static int set_event(struct attach *a, int fd, const char *prog, size_t number,
		     const char *symbol)
{
	struct prog_as as = {
		.kind = PROG_KPROBE, .no_caller = true,
		.is_syscall = symbol && syscall_is_wrapper(symbol),
	};

	return fd < 0 ? fd : attach_event(a, fd, prog, as, number);
}

static void say_several(const char *symbol, int64_t n, int64_t refused)
{
	if (refused)
		log_notice("%s: %lld functions of the kernel have this name, "
			   "of which %lld cannot be probed", symbol,
			   (long long)n, (long long)refused);
	else if (n > 1)
		log_notice("%s: %lld functions of the kernel have this name: "
			   "all are probed", symbol, (long long)n);
}

/* All functions that a name means, each by its address, as far as they can be
 * probed; -EADDRNOTAVAIL when none is known. */
static int set_all(struct attach *a, const struct place *named,
		   const char *symbol, const char *prog, size_t number)
{
	const struct point *p = &a->points->v.v[number];
	struct place at = *named;
	uint64_t *to = NULL;
	int64_t n = same_names_of(&a->same, a->points, p, symbol, &to);
	int64_t refused = 0;
	int err = n < 0 ? (int)n : -EADDRNOTAVAIL, why = err;

	at.symbol = NULL;
	for (int64_t i = 0; err != ATTACH_REPORTED && i < n; i++) {
		at.address = to[i];
		err = set_event(a, kprobe_open(a, &at), prog, number, symbol);
		refused += err != 0;
		why = err ? err : why;
	}
	mem_free(to);
	if (n <= 0 || err == ATTACH_REPORTED || refused == n)
		return err;
	for (int64_t i = 0; p->many && i < refused; i++)
		attach_left_out(a, number, why);
	if (!p->many)
		say_several(symbol, n, refused);
	return 0;
}

/* Before 6.7 the kernel may have chosen one of several. */
static bool is_of_several(struct attach *a, const struct point *p,
			  const char *symbol)
{
	uint64_t *to = NULL;
	int64_t n;

	if (host_kernel() >= 0x607 || (p->many && !p->repeated) ||
	    syscall_of(symbol))
		return false;
	n = same_names_of(&a->same, a->points, p, symbol, &to);
	mem_free(to);
	return n > 1;
}

/* Why it was refused: to be one of several is an invalid name in tracefs, and
 * some kernels (6.7) count none where a module stands before it. */
static bool may_be_of_several(const struct point *p, int err)
{
	return err == -EADDRNOTAVAIL || (err == -ENOENT && p->module) ||
	       (err == -EINVAL && !feature_has(FEATURE_KPROBE_PMU));
}

static int set_symbol(struct attach *a, const struct point *p,
		      const char *symbol, const char *prog, size_t number,
		      bool is_return)
{
	char name[256];
	struct place at = {
		.symbol = symbol, .offset = p->offset, .is_return = is_return,
	};
	int fd, err;

	if (p->module) {
		snprintf(name, sizeof(name), "%s:%s", p->module, symbol);
		at.symbol = name;
	}
	fd = kprobe_open(a, &at);
	if (fd >= 0 && is_of_several(a, p, symbol)) {
		close(fd);
		return set_all(a, &at, symbol, prog, number);
	}
	if (!may_be_of_several(p, fd))
		return set_event(a, fd, prog, number, symbol);
	err = set_all(a, &at, symbol, prog, number);
	return err == -EADDRNOTAVAIL ? fd : err;
}

/* fentry or fexit, by the kernel's types. */
static int set_by_btf(struct attach *a, const char *symbol, const char *module,
		      const char *prog, size_t number, bool is_return)
{
	struct prog_as as = {
		.kind = is_return ? PROG_FEXIT : PROG_FENTRY,
		.no_caller = true,
		.attach_type = is_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY,
		.is_syscall = syscall_is_wrapper(symbol),
	};
	struct btf_proto proto;
	struct btf *btf;
	int err = btf_open(module, &btf), id, fd;

	if (err)
		return err;
	id = btf_func(btf, symbol);
	err = id < 0 ? id : btf_func_proto(btf, (uint32_t)id, &proto);
	btf_close(btf);
	if (err)
		return err;
	as.btf_id = (uint32_t)id;
	as.nargs = proto.nparams;
	as.btf_fd = module ? bpf_btf_fd(module) : 0;
	if (as.btf_fd < 0)
		return as.btf_fd;
	fd = attach_program(a, prog, as, number);
	if (as.btf_fd > 0)
		close(as.btf_fd);
	if (fd < 0)
		return ATTACH_REPORTED;
	fd = bpf_raw_tracepoint_open(NULL, fd);
	return fd < 0 ? fd : attach_keep(a, fd);
}

static bool wants_btf(const struct point *p)
{
	return p->kind == PROBE_FENTRY || p->kind == PROBE_FEXIT;
}

static int set_name(struct attach *a, const struct point *p,
		    const char *symbol, const char *prog, size_t number,
		    bool is_return)
{
	int err;

	if (wants_btf(p))
		return set_by_btf(a, symbol, p->module, prog, number,
				  is_return);
	err = set_symbol(a, p, symbol, prog, number, is_return);
	if ((err == -EOPNOTSUPP || err == -ENODEV) && !p->offset &&
	    feature_has(FEATURE_FENTRY))
		return set_by_btf(a, symbol, p->module, prog, number,
				  is_return);
	return err;
}

int attach_kernel(struct attach *a, size_t number, const char *prog,
		  bool is_return)
{
	const struct point *p = &a->points->v.v[number];
	struct place at = {
		.address = p->address, .offset = p->offset,
		.is_return = is_return,
	};
	struct buf name = { 0 };
	int err = -ENOENT;

	if (p->address && !wants_btf(p))
		return set_event(a, kprobe_open(a, &at), prog, number,
				 p->symbol);
	for (size_t i = 0; err == -ENOENT &&
			   syscall_candidate(p->symbol, i, &name); i++)
		err = set_name(a, p, buf_str(&name), prog, number, is_return);
	if (!err && syscall_of(buf_str(&name)))
		err = attach_note(a, (struct attach_fact){
			.point = (uint32_t)number, .is_syscall = true });
	buf_free(&name);
	return err;
}

static bool has_kprobes(void)
{
	int fd;

	if (feature_has(FEATURE_KPROBE_PMU))
		return true;
	fd = fs_open(FS_TRACE, "kprobe_events", O_RDONLY);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The most similar of the names that can be probed; what a compiler made of the
 * function, as f.isra.0 or f.cold, is said at once. */
struct similar {
	struct near near;
	char best[128];
	unsigned variants;
};

static int take_similar(void *arg, const struct kfunc *k)
{
	struct similar *s = arg;
	size_t n = strlen(s->near.wanted);

	if (!strncmp(k->name, s->near.wanted, n) && k->name[n] == '.' &&
	    s->variants++ < VARIANTS_SAID)
		log_hint("there is %s", k->name);
	near_offer(&s->near, k->name);
	if (s->near.best == k->name) {
		snprintf(s->best, sizeof(s->best), "%s", k->name);
		s->near.best = s->best;
	}
	return 0;
}

/* Where else there is a function of that name. */
struct elsewhere {
	const struct point *p;
	bool here, say;
	unsigned said;
};

static int take_elsewhere(void *arg, const struct kfunc *k)
{
	struct elsewhere *e = arg;

	if (strcmp(k->name, e->p->symbol))
		return 0;
	if (k->module && !strcmp(k->module, e->p->module))
		e->here = true;
	else if (e->say && e->said++ < VARIANTS_SAID)
		log_hint("there is kprobe:%s%s%s", k->module ? k->module : "",
			 k->module ? ":" : "", k->name);
	return 0;
}

/* A module's function that is not there; false when it is. */
static bool explain_module(const struct attach *a, const struct point *p)
{
	struct elsewhere e = { .p = p };
	struct kfuncs_facts facts;
	struct buf path = { 0 };
	int fd;

	if (kfuncs_each(take_elsewhere, &e, &facts) || e.here)
		return false;
	buf_fmt(&path, "module/%s", p->module);
	fd = fs_open(FS_SYS, buf_str(&path), O_RDONLY | O_DIRECTORY);
	buf_free(&path);
	if (fd >= 0) {
		close(fd);
		log_error("%s: %s: no such function in the module %s",
			  a->command, p->symbol, p->module);
	} else {
		log_error("%s: %s: no module %s is loaded", a->command,
			  p->symbol, p->module);
	}
	e.say = true;
	kfuncs_each(take_elsewhere, &e, &facts);
	return true;
}

bool attach_kernel_explain(const struct attach *a, const struct point *p,
			   int err)
{
	struct similar s = { .near.wanted = p->symbol };
	struct kfuncs_facts facts;

	if ((err != -ENOENT && err != -EINVAL && err != -EADDRNOTAVAIL) ||
	    p->address || !has_kprobes())
		return false;
	if (p->module && explain_module(a, p))
		return true;
	switch (kfunc_judge(p->symbol)) {
	case KFUNC_BLACKLISTED:
		log_error("%s: %s: the kernel forbids probes in this function",
			  a->command, p->symbol);
		return true;
	case KFUNC_NOTRACE:
		log_error("%s: %s: the kernel keeps this function from being "
			  "traced", a->command, p->symbol);
		return true;
	case KFUNC_UNKNOWN:
		log_error("%s: %s: no such function in the kernel; the "
			  "compiler may have put it into its callers",
			  a->command, p->symbol);
		if (!kfuncs_each(take_similar, &s, &facts) && s.near.best &&
		    !s.variants)
			log_hint("the nearest is: %s", s.best);
		return true;
	default:
		return false;
	}
}

/* Whether a link of many can take this point along. */
static bool is_plain(const struct point *p, const struct point *first)
{
	return p->many && p->kind == first->kind && !p->offset &&
	       !p->repeated && !first->repeated &&
	       syscall_is_wrapper(p->symbol) ==
	       syscall_is_wrapper(first->symbol);
}

int attach_kernel_link(struct attach *a, size_t from, size_t n,
		       const char *prog, bool is_return)
{
	const struct point *first = &a->points->v.v[from];
	struct prog_as as = {
		.kind = PROG_KPROBE, .attach_type = BPF_TRACE_KPROBE_MULTI,
		.no_caller = true,
		.cookie = true, .is_syscall = syscall_is_wrapper(first->symbol),
	};
	const char **names = mem_zalloc(n * sizeof(*names));
	uint64_t *cookies = mem_zalloc(n * sizeof(*cookies));
	struct bpf_kprobes k = {
		.names = names, .cookies = cookies, .count = (uint32_t)n,
		.is_return = is_return,
	};
	int fd = -ENOMEM;

	for (size_t i = 0; names && cookies && i < n; i++) {
		names[i] = first[i].symbol;
		cookies[i] = from + i;
	}
	if (names && cookies)
		fd = attach_program(a, prog, as, from);
	if (fd >= 0)
		fd = bpf_link_kprobes(fd, &k);
	mem_free(names);
	mem_free(cookies);
	return fd < 0 ? fd : attach_keep_link(a, fd);
}

size_t attach_kernel_run(const struct attach *a, size_t number)
{
	const struct point *first = &a->points->v.v[number];
	size_t n = 1;

	if ((first->kind != PROBE_KPROBE && first->kind != PROBE_KRETPROBE) ||
	    !feature_has(FEATURE_KPROBE_MULTI))
		return 1;
	while (number + n < a->points->v.n && is_plain(first + n, first) &&
	       !a->refused.v[number + n])
		n++;
	return n;
}
