/* intern - byte strings to dense numbers 0, 1, 2, ...: the program's hash. */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

/* Keys are any bytes: names, or structs without padding. The owner keeps what
 * belongs to a key in an array of its own, indexed by the key's number. All
 * zero is an empty table. */
struct intern {
	char *bytes;			/* the keys, one after another */
	size_t len, bytes_cap;
	struct intern_key *keys;	/* by number */
	size_t n, keys_cap;
	uint32_t *slots;		/* number + 1, 0 = free */
	size_t nslots;			/* power of two */
};

struct intern_key {
	size_t off;
	uint32_t len, hash;
};

void intern_free(struct intern *t);

/* The key's number, adding the key if it is new (then the number is the old
 * t->n); -ENOMEM. Keys are copied. */
int64_t intern_put(struct intern *t, const void *key, size_t len);

/* The key's number, or -ENOENT. */
int64_t intern_find(const struct intern *t, const void *key, size_t len);

/* The bytes of key `id`, followed by a NUL that *len does not count; valid
 * until the next intern_put(). */
const char *intern_bytes(const struct intern *t, uint32_t id, size_t *len);

#endif
