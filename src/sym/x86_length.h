/* x86_length - how long an x86_64 instruction is. */
#ifndef SYM_X86_LENGTH_H
#define SYM_X86_LENGTH_H

#include <stddef.h>
#include <stdint.h>

enum { X86_LENGTH_MAX = 15 };

/* The length of the instruction at p, of which n bytes are there. 0: it is
 * none that is known, or does not end within them. */
size_t x86_length(const uint8_t *p, size_t n);

/* Does the instruction that begins so leave the function? ret, ret imm16, with
 * prefixes as in "rep ret"; not far or interrupt returns. */
int x86_is_return(const uint8_t *p, size_t length);

#endif
