/* attach_user - probes of the functions and USDT probes of programs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/vec.h"
#include "sym/code.h"
#include "sym/elf.h"
#include "sym/functions.h"
#include "sys/bpf.h"
#include "sys/feature.h"
#include "sys/fs.h"
#include "sys/perf.h"
#include "trace/attach_room.h"

enum { REF_CTR_SHIFT = 32 };	/* uprobe/format/ref_ctr_offset: config:32-63 */

/* What the kernel is to count up while the probe is set; 0 = nothing. */
static uint64_t ref_ctr(const struct point *p)
{
	return feature_has(FEATURE_REF_CTR) ? p->semaphore : 0;
}

static int pmu_open(const struct point_file *f, const struct point *p,
		    uint32_t pid, bool is_return)
{
	struct perf_event_attr attr = { 0 };
	long long type;
	int err = fs_read_num(FS_SYS, "bus/event_source/devices/uprobe/type",
			      &type);

	if (err)
		return err;
	attr.type = (uint32_t)type;
	attr.config = is_return | ref_ctr(p) << REF_CTR_SHIFT;
	attr.uprobe_path = (uint64_t)(uintptr_t)f->probe_path;
	attr.probe_offset = p->offset;
	return attach_perf(&attr, pid);
}

static int uprobe_open(struct attach *a, const struct point_file *f,
		       const struct point *p, bool is_return)
{
	uint32_t pid = a->points->pid;
	struct buf place = { 0 };
	int fd;

	if (feature_has(FEATURE_UPROBE_PMU))
		return pmu_open(f, p, pid, is_return);
	buf_fmt(&place, "%s:0x%llx", f->probe_path,
		(unsigned long long)p->offset);
	if (ref_ctr(p))
		buf_fmt(&place, "(0x%llx)", (unsigned long long)p->semaphore);
	fd = place.err ? place.err :
	     attach_named(a, "uprobe_events", is_return ? "r" : "p",
			  buf_str(&place), pid);
	buf_free(&place);
	return fd;
}

/* C functions of a Go program, of cgo, have no dot in their names. */
static bool is_go(const struct point_file *f, const struct point *p)
{
	return f->is_go && p->usdt == POINT_NO_USDT &&
	       (strchr(p->name, '.') || !strncmp(p->name, "0x", 2));
}

static int set_place(struct attach *a, const struct point *p,
		     const char *prog, size_t number, bool is_return)
{
	const struct point_file *f = &a->points->files.v[p->file];
	struct prog_as as = {
		.kind = PROG_KPROBE, .is_user = true,
		.is_go = f->knows_g && is_go(f, p),
		.no_caller = is_return || !point_at_entry(p),
	};
	int fd = uprobe_open(a, f, p, is_return), err;

	err = fd < 0 ? fd : attach_event(a, fd, prog, as, number);
	return !err && p->semaphore && !ref_ctr(p) ? attach_raise(a, p) : err;
}

static int file_open(const struct point_file *f, struct elf **elf)
{
	int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	err = elf_open(fd, elf);
	if (err)
		close(fd);
	return err;
}

/* What catches or cleans up in code of C++ or Rust. */
static int is_personality(void *arg, const struct function *f)
{
	(void)arg;
	return !strcmp(f->name, "__gxx_personality_v0") ||
	       !strcmp(f->name, "rust_eh_personality");
}

/* The kernel has its own address where a call is to return to; who unwinds the
 * stack for an exception does not know it and ends the program. */
static void warn_of_exceptions(struct attach *a, size_t file)
{
	const struct point_file *f = &a->points->files.v[file];
	struct elf *elf;
	int found;

	if (f->is_go || a->looked == file + 1)
		return;
	a->looked = file + 1;
	if (file_open(f, &elf))
		return;
	found = functions_each(elf, is_personality, NULL);
	elf_close(elf);
	if (found != 1)
		return;
	log_notice("%s: an exception that passes a function whose return is "
		   "probed ends the program: the kernel's return probes do "
		   "not bear it", f->label);
	log_hint("where exceptions pass, probe entries alone (funccount, "
		 "stackcount, trace without r:)");
}

/* Where a function returns, in a file whose stacks move. */
static int find_returns(const struct point_file *f, const struct point *p,
			struct code_places *out)
{
	struct elf *elf;
	int err = file_open(f, &elf);

	if (err)
		return err;
	err = code_returns(elf, p->address, p->size, out);
	for (size_t i = 0; !err && i < out->n; i++)
		err = elf_offset(elf, out->v[i], &out->v[i]);
	elf_close(elf);
	if (err == -ENOMEM || err == -EFBIG)
		return err;
	return err || !out->n ? -ENOENT : 0;
}

static int go_refused(const struct attach *a, const struct point *p,
		      const char *why)
{
	log_error("%s: %s: a probe at the return of a Go function would kill "
		  "the program, and %s", a->command, p->name, why);
	return ATTACH_REPORTED;
}

/* A plain probe at each return instruction. */
static int set_go_returns(struct attach *a, const struct point_file *f,
			  const struct point *p, const char *prog,
			  size_t number)
{
	struct code_places places = { 0 };
	struct point at = *p;
	int err;

	if (is_go(f, p) && !f->knows_g)
		return go_refused(a, p, "its Go is older than 1.17, or does "
				  "not tell: it has no register that says "
				  "which goroutine it is");
	err = find_returns(f, p, &places);
	if (err)
		places.n = 0;
	if (err == -EFBIG && !p->many)
		err = go_refused(a, p, "it claims to be longer, or to return "
				 "in more places, than any function");
	else if (err == -EFBIG)
		err = -ENOENT;
	for (size_t i = 0; !err && i < places.n; i++) {
		at.offset = places.v[i];
		err = set_place(a, &at, prog, number, false);
	}
	vec_free(&places);
	if (err == -ENOENT && !places.n && !p->many)
		return go_refused(a, p, "its return instructions cannot be "
				  "found");
	return err;
}

int attach_user(struct attach *a, size_t number, const char *prog,
		bool is_return)
{
	const struct point *p = &a->points->v.v[number];
	const struct point_file *f = &a->points->files.v[p->file];

	if (is_return && !p->at_entry) {
		log_error("%s: %s: only a whole function has a return: there "
			  "does not begin one", a->command, p->name);
		return ATTACH_REPORTED;
	}
	if (is_return && f->is_go)
		return set_go_returns(a, f, p, prog, number);
	if (is_return)
		warn_of_exceptions(a, p->file);
	return set_place(a, p, prog, number, is_return);
}

/* Whether a link of many can take this point along. With -p each has its own
 * event, for some kernels take the pid of a link for that of one thread. */
static bool is_plain(const struct point *p, const struct point *first)
{
	return p->many && p->kind == first->kind && p->file == first->file &&
	       p->semaphore == ref_ctr(p) &&
	       point_at_entry(p) == point_at_entry(first);
}

int attach_user_link(struct attach *a, size_t from, size_t n,
		     const char *prog, bool is_return)
{
	const struct point *first = &a->points->v.v[from];
	struct prog_as as = {
		.kind = PROG_KPROBE, .attach_type = BPF_TRACE_UPROBE_MULTI,
		.is_user = true, .cookie = true,
		.no_caller = is_return || !point_at_entry(first),
	};
	unsigned long *offsets = mem_zalloc(n * sizeof(*offsets));
	unsigned long *semaphores = mem_zalloc(n * sizeof(*semaphores));
	uint64_t *cookies = mem_zalloc(n * sizeof(*cookies));
	struct bpf_uprobes u = {
		.path = a->points->files.v[first->file].probe_path,
		.offsets = offsets, .semaphores = semaphores,
		.cookies = cookies, .count = (uint32_t)n,
		.is_return = is_return,
	};
	int fd = -ENOMEM;

	if (is_return)
		warn_of_exceptions(a, first->file);
	for (size_t i = 0; offsets && semaphores && cookies && i < n; i++) {
		offsets[i] = (unsigned long)first[i].offset;
		semaphores[i] = (unsigned long)first[i].semaphore;
		cookies[i] = from + i;
	}
	if (offsets && semaphores && cookies)
		fd = attach_program(a, prog, as, from);
	if (fd >= 0)
		fd = bpf_link_uprobes(fd, &u);
	mem_free(offsets);
	mem_free(semaphores);
	mem_free(cookies);
	return fd < 0 ? fd : attach_keep(a, fd);
}

size_t attach_user_run(const struct attach *a, size_t number)
{
	const struct point *first = &a->points->v.v[number];
	size_t n = 1;

	if (a->points->pid || a->points->files.v[first->file].is_go ||
	    (first->semaphore && !ref_ctr(first)) ||
	    !feature_has(FEATURE_UPROBE_MULTI))
		return 1;
	while (number + n < a->points->v.n && is_plain(first + n, first) &&
	       !a->refused.v[number + n])
		n++;
	return n;
}
