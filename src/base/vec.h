/* vec - growable arrays, and the only callers of malloc. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

/* Every allocation of the program passes here, so that tests can make the
 * Nth one fail. mem_zalloc() gives zeroed memory or NULL. */
void *mem_zalloc(size_t n);
void mem_free(void *p);

/* Make room for `need` items of `size` bytes at *v, growing by half. False
 * when memory is out: *v and *cap are then as they were. */
bool vec_room(void **v, size_t *cap, size_t need, size_t size);

/* A typed array: `VEC(int) a = {0};`. All zero is empty. */
#define VEC(type) struct { type *v; size_t n, cap; }

/* A pointer to one more item, uninitialized; NULL when memory is out. */
#define vec_push(a) \
	(vec_room((void **)&(a)->v, &(a)->cap, (a)->n + 1, sizeof(*(a)->v)) \
	 ? &(a)->v[(a)->n++] : NULL)

#define vec_free(a) \
	do { mem_free((a)->v); (a)->v = NULL; (a)->n = (a)->cap = 0; } while (0)

#endif
