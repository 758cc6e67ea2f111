/* verifier - the kernel's complaint about a program, with source lines. */
#ifndef ASM_VERIFIER_H
#define ASM_VERIFIER_H

#include "asm/link.h"

/* Append the last lines of the verifier's log of this program (len bytes, as
 * BPF_PROG_LOAD left it) to `out`. A line about instruction N begins with its
 * place in the array: "bpfasm/x.c:131: enter: 57: (85) call ...". Statistics
 * are left out. The log is the kernel's text: escape it when printing. */
void verifier_explain(const char *log, size_t len, const struct prog_def *prog,
		      const struct linked *l, struct buf *out);

#endif
