/* faults - what the parts of the fault sweep share. */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which call: by number, of bpf(2) by command, too, and whether the program
 * made it or the process that it forked to become the command. */
struct call {
	long nr;
	long sub;			/* of bpf(2): the command; else 0 */
	bool in_child;
};

struct fault {
	struct call call;
	unsigned nth;			/* 1 = the first; 0 = none */
	bool onward;			/* and all that follow */
	int err;
};

struct count {
	struct call call;
	unsigned n;
};

enum { CALLS_MAX = 128, OUTPUT_MAX = 1 << 20 };

/* One way to run the program. */
struct scenario {
	const char *name;
	const char *without;		/* SONDE_WITHOUT, or NULL */
	const char *args[8];		/* of profile; SVG stands for a file */
	bool attach;			/* to a process that runs, by -p */
	bool kernel;			/* half of the time in the kernel */
	bool addresses;			/* the result has them */
	enum { TEXT, FOLDED, SVG_FILE } format;
};

/* What one run came to. */
struct run {
	const struct scenario *scenario;
	struct fault fault;
	struct count counts[CALLS_MAX];
	size_t ncounts;
	bool hit;			/* the fault happened */
	bool hit_stderr;		/* to a write to stderr */
	bool hung, left;		/* left: a process outlived it */
	int status;			/* as of waitpid() */
	size_t out_len, err_len;
	char out[OUTPUT_MAX], err[1 << 16];
};

/* Where things are. */
struct places {
	const char *sonde, *chain;
	char svg[256];			/* of this worker */
};

/* inject.c: one run under ptrace; counts calls, and makes one fail. */
void run_traced(const struct places *at, struct run *r);
/* The same without ptrace: the Nth allocation fails (fault.nth). The number of
 * allocations is in counts[0]. */
void run_plain(const struct places *at, struct run *r);

/* judge.c */
void judge_init(const char *chain);
/* Keep what an undisturbed run says, which is no news of a fault. */
void judge_baseline(const struct run *r);
/* NULL, or what is wrong with the result. */
const char *judge(const struct run *r);

/* calls.c: names, and whether a call can fail at all. */
const char *call_name(const struct call *c);
bool call_can_fail(const struct call *c);

#endif
