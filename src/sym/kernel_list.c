/* kernel_list - a list of the kernel's symbols that somebody brings along.
 *
 * A kernel without CONFIG_KALLSYMS tells no symbol's address, and where it lies
 * in memory may have been drawn at boot. But stacks of our own waits can be
 * had, and which functions wait is known. They all moved by as much, a number
 * of whole pages: the one by which most of these functions come to lie around
 * an address of the stacks is it. That four do so by chance does not happen.
 * In another build some may lie as they do here, those of one source file; so
 * a few that are far from each other must be among them.
 */
#include "sym/kernel_list.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "sym/kallsyms.h"
#include "sys/advice.h"
#include "sys/fs.h"
#include "sys/waits.h"

enum {
	PAGE = 4096,
	RETURNS_MOST = 64,
	FUNCTION_MOST = 1 << 16,	/* bytes; none of these is larger */
	SURE = 4,
	NEEDED = 3,		/* of `waiting`, if the list has them; */
	ENTRIES = 2,		/* and of those behind them, one */
};

/* What waits as waits.c does, on x86 and on ARM, since 4.9. CPUs with FRED come
 * in by another entry, of which the kernel has both; and some kernels before
 * 4.16 called what need not be traced past do_syscall_64(). */
static const char *const waiting[] = {
	"schedule", "do_nanosleep", "do_sys_poll",
	"entry_SYSCALL_64_after_hwframe", "asm_fred_entrypoint_user",
	"do_syscall_64", "hrtimer_nanosleep", "common_nsleep", "do_poll",
	"schedule_hrtimeout_range_clock", "schedule_hrtimeout_range",
	"invoke_syscall", "do_el0_svc", "el0_svc",
};
enum { WAITING = sizeof(waiting) / sizeof(*waiting) };

/* Without O_NONBLOCK, to open a pipe waits for its other end. */
int kernel_list_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	int err;

	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) || fcntl(fd, F_SETFL, 0) ? -errno :
	      S_ISDIR(st.st_mode) ? -EISDIR :
	      S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) ? 0 : -EINVAL;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int kernel_list_read(const char *path, struct kallsyms **out)
{
	int fd = kernel_list_open(path);
	int err = fd < 0 ? fd : kallsyms_load(fd, -1, out);

	if (fd < 0) {
		log_error("%s: %s", path, fd == -EINVAL ?
			  "neither a file nor a pipe" : log_errno(fd));
		return fd;
	}
	close(fd);
	if (!err && kallsyms_text(*out))
		return 0;
	log_error("%s: %s", path, !err || err == -ENODATA ?
		  "not a list of a kernel's symbols with _stext: what it names "
		  "cannot be placed" : err == -EACCES ?
		  "all addresses are zero: they were hidden where it was "
		  "copied (sysctl kernel.kptr_restrict)" : log_errno(err));
	if (!err)
		kallsyms_free(*out);
	*out = NULL;
	return err ? err : -EINVAL;
}

int kernel_list_own(struct kallsyms **out)
{
	int names = fs_open(FS_PROC, "kallsyms", O_RDONLY);
	int modules = fs_open(FS_PROC, "modules", O_RDONLY);
	int err = names < 0 ? names : kallsyms_load(names, modules, out);

	if (names >= 0)
		close(names);
	if (modules >= 0)
		close(modules);
	if (err)
		*out = NULL;
	return err;
}

void kernel_list_own_failed(int err)
{
	log_notice("/proc/kallsyms: %s: kernel functions are shown as "
		   "addresses",
		   err == -EACCES ? "addresses are hidden" : log_errno(err));
	advice(OP_KALLSYMS, err);
}

/* The match */

struct match {
	struct ksym functions[WAITING];
	size_t nfunctions, nneeded;	/* the first so many are needed, */
	size_t nentries;		/* and one of so many behind them */
	const uint64_t *returns;
	size_t nreturns;
	uint64_t best;
	unsigned votes;
	bool unsure;			/* another one has as many */
};

/* The byte before a return address is of the call. */
static bool is_in(const struct match *m, const struct ksym *f, uint64_t shift)
{
	for (size_t i = 0; i < m->nreturns; i++)
		if (m->returns[i] - 1 + shift - f->start < f->end - f->start)
			return true;
	return false;
}

static void judge(struct match *m, uint64_t shift)
{
	unsigned votes = 0, entries = 0;

	for (size_t i = 0; i < m->nfunctions; i++) {
		bool in = is_in(m, &m->functions[i], shift);

		if (!in && i < m->nneeded)
			return;
		entries += in && i < m->nneeded + m->nentries;
		votes += in;
	}
	if (m->nentries && entries == m->nneeded)
		return;
	if (votes < m->votes || (votes == m->votes && shift == m->best))
		return;
	m->unsure = votes == m->votes;
	m->votes = votes;
	m->best = shift;
}

int kernel_list_match(const struct kallsyms *k, const uint64_t *returns,
		      size_t n, uint64_t *shift)
{
	struct match m = { .returns = returns, .nreturns = n };

	for (size_t i = 0; i < WAITING; i++) {
		struct ksym *f = &m.functions[m.nfunctions];

		if (kallsyms_named(k, waiting[i], f) ||
		    f->end - f->start > FUNCTION_MOST)
			continue;
		m.nfunctions++;
		m.nneeded += i < NEEDED;
		m.nentries += i >= NEEDED && i < NEEDED + ENTRIES;
	}
	for (size_t f = 0; f < m.nfunctions; f++)
		for (size_t i = 0; i < n; i++) {
			uint64_t from = m.functions[f].start - returns[i] + 1;

			/* The whole pages between its start and its end. */
			for (uint64_t by = (from + PAGE - 1) & -(uint64_t)PAGE;
			     by - from < m.functions[f].end -
					 m.functions[f].start; by += PAGE)
				judge(&m, by);
		}
	*shift = m.best;
	return m.votes < SURE || m.unsure ? -EINVAL : 0;
}

int kernel_list_place(const struct kallsyms *k, const char *path,
		      uint64_t *shift)
{
	uint64_t returns[RETURNS_MOST];
	int n = waits_returns(returns, RETURNS_MOST), err;

	if (n < 0) {
		log_error("%s: where the running kernel lies in it is not "
			  "known: its stacks cannot be read: %s", path,
			  log_errno(n));
		return n;
	}
	err = kernel_list_match(k, returns, (size_t)n, shift);
	if (err)
		log_error("%s: not of the kernel that runs: its functions do "
			  "not lie as in this list", path);
	return err;
}
