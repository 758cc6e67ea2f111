/* caller - is a value that lay on the stack the caller of a function? */
#ifndef SYM_CALLER_H
#define SYM_CALLER_H

#include <stdbool.h>
#include <stdint.h>

#include "sym/procs.h"

struct elf;

/* Can a function return to `addr`? */
enum caller_kind {
	CALLER_NONE,		/* no: in front of it is no call */
	CALLER_AFTER_CALL,	/* yes; or the code cannot be read */
	CALLER_AT_START,	/* a signal's trampoline: it begins there */
};
enum caller_kind caller_kind(struct procs *p, struct proc_at at,
			     uint64_t addr);

/* True where calls leave the return address in a link register. */
bool caller_is_linked(void);

/* `ret` lay where a call leaves the return address (at the stack pointer, in
 * the link register) while `ip` ran. True when it surely is that of the
 * function that ip is in: it stands behind a call of just this function, which
 * has no frame of its own at ip. */
bool caller_is_sure(struct procs *p, struct proc_at at, uint64_t ip,
		    uint64_t ret);

/* The same of a file of any machine that is here, by its vaddrs. */
enum caller_kind caller_kind_in(struct elf *e, uint64_t ret);
bool caller_calls(struct elf *e, uint64_t ip, uint64_t ret);

#endif
