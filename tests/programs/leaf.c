/* leaf - chain, as compilers make it: leaf() has no frame of its own. */
/* flags: -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls */
#include "chain.c"
