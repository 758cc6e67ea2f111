/* demangle - what C++ and Rust compilers made of names, made readable. */
#ifndef SYM_DEMANGLE_H
#define SYM_DEMANGLE_H

#include "base/buf.h"

/* Append what `name`, a string, stands for: C++ as the Itanium C++ ABI encodes
 * it, in the words of binutils' c++filt; Rust, legacy and v0 (RFC 2603), in
 * those of rustfilt. Other processes chose the bytes: they are as hostile after
 * as before. Takes no memory but out's, at most 300 KiB of stack, and no more
 * than some milliseconds.
 *
 * 0; -ENOENT: no such name, or one that is malformed or beyond the limits, and
 * out is as it was. out->err as ever. */
int demangle(const char *name, struct buf *out);

/* The same in place, of the name that is all of `text`, if it can be; that of a
 * stub keeps its "@plt". */
void demangle_buf(struct buf *text);

#endif
