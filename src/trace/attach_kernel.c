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

static int set_place(struct attach *a, const struct place *at,
		     const char *prog, size_t number, const char *symbol)
{
	struct prog_as as = {
		.kind = PROG_KPROBE, .no_caller = true,
		.is_syscall = symbol && syscall_is_wrapper(symbol),
	};
	int fd = kprobe_open(a, at);

	return fd < 0 ? fd : attach_event(a, fd, prog, as, number);
}

/* All functions of one name, each by its address. */
struct same_name {
	struct attach *a;
	struct place at;
	const char *prog, *symbol, *module;
	size_t number, found;
	int err;
};

static int take_same(void *arg, const struct kfunc *k)
{
	struct same_name *n = arg;

	if (strcmp(k->name, n->symbol) || !k->addr ||
	    (n->module && (!k->module || strcmp(k->module, n->module))))
		return 0;
	n->at.address = k->addr;
	n->err = set_place(n->a, &n->at, n->prog, n->number, n->symbol);
	n->found += !n->err;
	return n->err;
}

static int set_all(struct attach *a, const struct point *p,
		   const struct place *at, const char *symbol,
		   const char *prog, size_t number)
{
	struct same_name n = {
		.a = a, .at = *at, .prog = prog, .symbol = symbol,
		.module = p->module, .number = number,
	};
	struct kfuncs_facts facts;
	int fd = fs_open(FS_PROC, "kallsyms", O_RDONLY), err;

	if (fd < 0)
		return fd;
	n.at.symbol = NULL;
	err = kfuncs_each_in(fd, KFUNCS_KALLSYMS, -1, take_same, &n, &facts);
	close(fd);
	if (!err && !n.found)
		return -EADDRNOTAVAIL;
	if (!err && !p->many)
		log_notice("%s: %zu functions of the kernel have this name: "
			   "all are probed", symbol, n.found);
	return err;
}

static int set_symbol(struct attach *a, const struct point *p,
		      const char *symbol, const char *prog, size_t number,
		      bool is_return)
{
	char name[256];
	struct place at = {
		.symbol = symbol, .offset = p->offset, .is_return = is_return,
	};
	int err;

	if (p->module) {
		snprintf(name, sizeof(name), "%s:%s", p->module, symbol);
		at.symbol = name;
	}
	err = set_place(a, &at, prog, number, symbol);
	/* From 6.7 on the kernel does not choose among several. */
	return err == -EADDRNOTAVAIL ? set_all(a, p, &at, symbol, prog, number)
				     : err;
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
		return set_place(a, &at, prog, number, p->symbol);
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

bool attach_kernel_explain(const struct attach *a, const struct point *p,
			   int err)
{
	struct similar s = { .near.wanted = p->symbol };
	struct kfuncs_facts facts;

	if ((err != -ENOENT && err != -EINVAL && err != -EADDRNOTAVAIL) ||
	    p->address || !has_kprobes())
		return false;
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
