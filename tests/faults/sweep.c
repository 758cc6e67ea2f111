/* sweep - makes every system call and every allocation of a profile fail.
 *
 *   sweep SONDE CHAIN TMP [all]               each system call in turn
 *   sweep SONDE CHAIN TMP allocations [all]   each allocation, of a program
 *                                             that has vec_fault.c in it
 *   sweep SONDE CHAIN TMP one SCENARIO CALL N[+] ERRNO   one case, its output
 *
 * An undisturbed run of each scenario tells which calls there are, and how
 * many. All of them times all errnos would take hours; without `all` the first
 * one of each fails in every way, and of the others a spread, each in some.
 * Prints the number of cases tried, and the failures. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults.h"

static const struct scenario scenarios[] = {
	{ "folded", NULL, { "-A", "-f", "-F", "999" }, .addresses = true,
	  .format = FOLDED },
	{ "kernel", NULL, { "-A", "-f", "-F", "999" }, .kernel = true,
	  .addresses = true, .format = FOLDED },
	{ "text-pid", NULL, { "-F", "999" }, .attach = true, .format = TEXT },
	{ "svg", NULL, { "-F", "999", "--output", "SVG" },
	  .format = SVG_FILE },
	{ "here", "bpf", { "-A", "-f", "-F", "999" }, .addresses = true,
	  .format = FOLDED },
	{ "here-pid", "bpf", { "-F", "999" }, .attach = true,
	  .format = TEXT },
	{ "old", "ringbuf,fsopen,get_stack,raw_tracepoint",
	  { "-A", "-f", "-F", "999" }, .addresses = true, .format = FOLDED },
};

enum { SCENARIOS = sizeof(scenarios) / sizeof(*scenarios), WORKERS = 2,
       ATTEMPTS = 3 };

static const struct {
	const char *name;
	int err;
} errors[] = {
	{ "ENOSYS", ENOSYS }, { "EPERM", EPERM }, { "EACCES", EACCES },
	{ "ENOMEM", ENOMEM }, { "EMFILE", EMFILE }, { "EINTR", EINTR },
	{ "E2BIG", E2BIG }, { "ENOSPC", ENOSPC }, { "EBUSY", EBUSY },
	{ "EINVAL", EINVAL }, { "EIO", EIO },
};

enum { ERRORS = sizeof(errors) / sizeof(*errors) };

struct one {
	const struct scenario *scenario;
	struct fault fault;
};

/* Shared by the workers. */
struct progress {
	size_t next, tried, missed, failed, shaky;
};

static struct one *cases;
static size_t ncases;
static struct progress *progress;
static void (*run_case)(const struct places *, struct run *) = run_traced;

static const char *error_name(int err)
{
	for (size_t i = 0; i < ERRORS; i++)
		if (errors[i].err == err)
			return errors[i].name;
	return "";
}

static void add(const struct scenario *s, const struct call *c, unsigned nth,
		bool onward, int err)
{
	if (!(ncases & (ncases + 1)))
		cases = realloc(cases, (2 * ncases + 2) * sizeof(*cases));
	cases[ncases++] = (struct one){ s, { *c, nth, onward, err } };
}

/* The i-th of at most `most` numbers from 1 to n, the first, the second and the
 * last among them; 0 = there are no more. */
static unsigned spread(unsigned n, unsigned i, unsigned most)
{
	if (n <= most)
		return i < n ? i + 1 : 0;
	if (i < 2)
		return i + 1;
	return i < most ? 2 + (n - 2) * (i - 1) / (most - 2) : 0;
}

static void plan_call(const struct scenario *s, const struct count *c,
		      bool all)
{
	static unsigned turn;		/* the errnos take turns */
	bool is_first = s == scenarios;
	unsigned nth, most = all ? 64 : is_first ? 8 : 4;

	if (!call_can_fail(&c->call))
		return;
	for (unsigned e = 0; e < ERRORS; e++) {
		if (all || is_first)
			add(s, &c->call, 1, false, errors[e].err);
		if (errors[e].err == EINTR)
			continue;	/* forever: no kernel does that */
		if (all || (is_first && e % 4 == turn % 4))
			add(s, &c->call, 1, true, errors[e].err);
	}
	for (unsigned i = is_first; (nth = spread(c->n, i, most)); i++)
		for (unsigned e = 0; e < (all ? (unsigned)ERRORS : 1); e++)
			add(s, &c->call, nth, false,
			    errors[turn++ % ERRORS].err);
}

static void undisturbed(const struct places *at, const struct scenario *s,
			struct run *r)
{
	*r = (struct run){ .scenario = s };
	run_case(at, r);
	judge_baseline(r);
}

static void plan(const struct places *at, bool all)
{
	struct run *r = malloc(sizeof(*r));

	for (size_t i = 0; i < SCENARIOS; i++) {
		const char *wrong;

		undisturbed(at, &scenarios[i], r);
		wrong = judge(r);
		if (wrong)
			printf("undisturbed %s: %s\n%s\n", scenarios[i].name,
			       wrong, r->err);
		for (size_t k = 0; k < r->ncounts; k++)
			plan_call(&scenarios[i], &r->counts[k], all);
	}
	free(r);
}

static void plan_allocations(const struct places *at, bool all)
{
	static const struct call none;
	struct run *r = malloc(sizeof(*r));

	for (size_t i = 0; i < SCENARIOS; i++) {
		unsigned n, step;

		undisturbed(at, &scenarios[i], r);
		n = r->counts[0].n;
		printf("%s: %u allocations\n", scenarios[i].name, n);
		step = all ? 1 : n / 25 + 1;
		for (unsigned k = 1; k <= n; k += step) {
			add(&scenarios[i], &none, k, false, ENOMEM);
			if (all || k / step % 4 == 1)
				add(&scenarios[i], &none, k, true, ENOMEM);
		}
	}
	free(r);
}

static void describe(const struct run *r, const char *wrong)
{
	const struct fault *f = &r->fault;
	char text[1024];
	int n = snprintf(text, sizeof(text),
			 "%s %s %u%s %s: %s (status %x): %.400s\n",
			 r->scenario->name, run_case == run_traced
			 ? call_name(&f->call) : "allocation",
			 f->nth, f->onward ? "+" : "", error_name(f->err),
			 wrong, (unsigned)r->status, r->err);

	for (int i = 0; i < n - 1 && i < 1022; i++)
		if (text[i] == '\n')
			text[i] = '|';
	if (write(1, text, (size_t)(n < 1023 ? n : 1023)) < 0)
		exit(1);
}

/* The load of the machine may lose samples, too: what happens once in a few
 * attempts is not the fault's doing. */
static void try(const struct places *at, const struct one *c, struct run *r)
{
	const char *wrong = NULL;
	int bad = 0;

	for (int i = 0; bad < 2 && i < ATTEMPTS && i - bad < 2; i++) {
		const char *now;

		r->scenario = c->scenario;
		r->fault = c->fault;
		run_case(at, r);
		if (!i)
			__atomic_add_fetch(r->hit ? &progress->tried
					   : &progress->missed, 1,
					   __ATOMIC_RELAXED);
		now = judge(r);
		if (!now && !i)
			return;
		bad += now != NULL;
		wrong = now ? now : wrong;
		if (r->hung || WIFSIGNALED(r->status))
			bad = ATTEMPTS;	/* never by chance */
	}
	if (bad > 1) {
		describe(r, wrong);
		__atomic_add_fetch(&progress->failed, 1, __ATOMIC_RELAXED);
	} else {
		__atomic_add_fetch(&progress->shaky, 1, __ATOMIC_RELAXED);
	}
}

static void work(struct places at, const char *tmp, int worker)
{
	struct run *r = malloc(sizeof(*r));
	size_t i;

	snprintf(at.svg, sizeof(at.svg), "%s/%d.svg", tmp, worker);
	while ((i = __atomic_fetch_add(&progress->next, 1,
				       __ATOMIC_RELAXED)) < ncases)
		try(&at, &cases[i], r);
	exit(0);
}

static int sweep(const struct places *at, const char *tmp)
{
	int status, bad = 0;

	printf("%zu cases planned\n", ncases);
	fflush(stdout);
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < WORKERS; i++)
		if (!fork())
			work(*at, tmp, i);
	while (wait(&status) > 0)
		bad |= status;
	printf("%zu cases tried, %zu failed (%zu more were not reached, %zu "
	       "went wrong once of %d times)\n", progress->tried,
	       progress->failed, progress->missed, progress->shaky, ATTEMPTS);
	return bad || progress->failed || !progress->tried;
}

static const struct scenario *scenario_named(const char *name)
{
	for (size_t i = 0; i < SCENARIOS; i++)
		if (!strcmp(scenarios[i].name, name))
			return &scenarios[i];
	fprintf(stderr, "no scenario %s\n", name);
	exit(2);
}

/* A call's name as the failures have it. */
static struct call call_named(const struct run *r, const char *name)
{
	for (size_t i = 0; i < r->ncounts; i++)
		if (!strcmp(call_name(&r->counts[i].call), name))
			return r->counts[i].call;
	return (struct call){ .nr = -1 };
}

static int one_case(const struct places *at, char **args)
{
	struct run *r = malloc(sizeof(*r));
	const char *wrong;

	if (!strcmp(args[1], "allocation"))
		run_case = run_plain;
	undisturbed(at, scenario_named(args[0]), r);
	r->fault = (struct fault){ 0 };
	if (run_case == run_traced)
		r->fault.call = call_named(r, args[1]);
	r->fault.nth = (unsigned)strtoul(args[2], NULL, 10);
	r->fault.onward = strchr(args[2], '+') != NULL;
	for (size_t i = 0; i < ERRORS; i++)
		if (!strcmp(errors[i].name, args[3]))
			r->fault.err = errors[i].err;
	run_case(at, r);
	wrong = judge(r);
	printf("%s%s%s: %s, status %x\n", r->out, r->err,
	       r->hit ? "hit" : "not reached", wrong ? wrong : "well",
	       (unsigned)r->status);
	return wrong != NULL;
}

int main(int argc, char **argv)
{
	struct places at;
	bool all;

	if (argc < 4) {
		fprintf(stderr, "usage: sweep SONDE CHAIN TMP ...\n");
		return 2;
	}
	at = (struct places){ argv[1], argv[2], "" };
	snprintf(at.svg, sizeof(at.svg), "%s/one.svg", argv[3]);
	all = !strcmp(argv[argc - 1], "all");
	judge_init(at.chain);
	if (argc > 8 && !strcmp(argv[4], "one"))
		return one_case(&at, argv + 5);
	if (argc > 4 && !strcmp(argv[4], "allocations")) {
		run_case = run_plain;
		plan_allocations(&at, all);
	} else {
		plan(&at, all);
	}
	return sweep(&at, argv[3]);
}
