/* list_bpf - the BPF programs and maps that are loaded, by process. */
#ifndef CMD_LIST_BPF_H
#define CMD_LIST_BPF_H

#include <stdbool.h>

#include "base/out.h"

/* bcc's bpflist: PID COMM TYPE COUNT, to o->file; with `names`, each program
 * and map below its line. 0 or -errno, reported. */
int list_bpf(struct out *o, bool names);

#endif
