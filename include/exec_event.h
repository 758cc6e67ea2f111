/* exec_event - what execsnoop's programs tell of the execution of a program. */
#ifndef EXEC_EVENT_H
#define EXEC_EVENT_H

#include <stdint.h>

#include "events.h"

enum { EVENT_EXEC = 16 };	/* in the place of an enum event_type */

/* An execution comes in parts, numbered from 0, which have `task` in common:
 * the file, then arguments one by one or as the memory that holds them, each
 * ended by a NUL. The last part says so, and only that one and the parts of
 * memory hold more of the header than their time and numbers. */
enum exec_part { EXEC_FILE, EXEC_ARG, EXEC_AREA, EXEC_END };

enum {
	EXEC_SMALL = 184,	/* bytes of data in a short record */
	EXEC_DATA = 4096,	/* and in a long one */
	EXEC_HEAD = 72,
};

struct exec_event {
	uint32_t type;
	uint8_t part;		/* enum exec_part */
	uint8_t last;
	uint8_t unread;		/* the memory was not there: no data */
	uint8_t script;		/* memory: an interpreter's arguments */
	uint32_t number;
	uint32_t len;		/* bytes of data; a text that fills EXEC_DATA
				 * was longer */
	uint64_t time;		/* CLOCK_MONOTONIC, ns */
	uint64_t area;		/* bytes of memory that hold arguments */
	uint32_t task;		/* thread that called, in the first pid
				 * namespace */
	uint32_t pid;		/* process, in the user's */
	uint32_t ppid;		/* its parent, in the first; 0 = not known */
	uint32_t uid;
	int32_t ret;
	char comm[COMM_SIZE];
	uint32_t zero;
	char data[EXEC_DATA];
};
_Static_assert(sizeof(struct exec_event) == EXEC_HEAD + EXEC_DATA,
	       "no padding");

#endif
