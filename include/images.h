/* images - programs that tell the images of processes (bpfasm/follow.c).
 *
 * An object with counted stacks (stack_table.h) lists IMAGE_PROGS and
 * TREE_CONSTS: a process that execs, or a pid that is used again, is another
 * image, with names of its own. They follow a command's descendants, too.
 */
#ifndef IMAGES_H
#define IMAGES_H

#include "tree.h"

extern const struct insn image_exec[], image_exit[];

#define IMAGE_PROGS \
	{ "exec", PROG_RAW_TRACEPOINT, "sched_process_exec", \
	  FOLLOW(image_exec) }, \
	{ "exit", PROG_RAW_TRACEPOINT, "sched_process_exit", \
	  FOLLOW(image_exit) }, \
	{ "fork", PROG_TRACEPOINT, "sched/sched_process_fork", \
	  FOLLOW(tree_fork) }

#endif
