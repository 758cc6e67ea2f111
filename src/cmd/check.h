/* check - what `sonde doctor` says of a command, in parts to share. */
#ifndef CMD_CHECK_H
#define CMD_CHECK_H

#include <stdbool.h>

#include "base/buf.h"
#include "sys/advice.h"

/* One line. A command's check() calls those of the functions below that it
 * depends on. */
struct check {
	bool works;			/* true unless somebody denies it */
	const char *rung;		/* how it would work; static */
	struct buf missing, remedy;	/* "; " between, as many in each */
};

/* One more thing that is missing, and what helps. */
void check_missing(struct check *c, const char *what, const char *remedy);

/* The same with the table's remedies for an errno, or `otherwise`. */
void check_failed(struct check *c, const char *what, enum operation op,
		  int err, const char *otherwise);

/* Sampling by these programs, or without them; sets works and rung. */
struct bpf_object;
void check_sampling(struct check *c, const struct bpf_object *object);

/* Probes of functions, by whatever way; sets works and rung. */
void check_probes(struct check *c);

/* A command of probes: those, and all that names what they hit. */
void check_probing(struct check *c);

void check_file_systems(struct check *c);	/* /proc and /sys */
void check_fork_tracepoint(struct check *c);	/* for -- COMMAND */
void check_kernel_names(struct check *c);
void check_other_processes(struct check *c);	/* their names */

/* 0, or the errno of it as the kernel's names are read; found out once. */
int check_kernel_names_error(void);

/* The same for what another user's process has mapped. */
int check_other_processes_error(void);

/* The same for the tracepoint. */
int check_fork_tracepoint_error(void);

#endif
