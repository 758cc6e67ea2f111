/* waits - where in the kernel our own thread waits. */
#ifndef SYS_WAITS_H
#define SYS_WAITS_H

#include <stddef.h>
#include <stdint.h>

/* Sleep and poll for a few milliseconds, and take down the return addresses of
 * the kernel's stacks then, each once, at most so many. How many, or -errno. */
int waits_returns(uint64_t *to, size_t most);

#endif
