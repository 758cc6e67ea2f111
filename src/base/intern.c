/* intern - byte strings to dense numbers 0, 1, 2, ...: the program's hash. */
#include "base/intern.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/vec.h"

/* Other processes choose the names, so without a secret one of them could send
 * thousands that fall into one slot. The numbers do not depend on it. */
static uint64_t secret[2];

static void secret_make(void)
{
	struct timespec t = { 0 };

	if (getrandom(secret, sizeof(secret), GRND_NONBLOCK) !=
	    sizeof(secret)) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		secret[0] ^= (uint64_t)t.tv_nsec * 0x9e3779b97f4a7c15u;
		secret[1] ^= (uint64_t)(uintptr_t)&t * 0xff51afd7ed558ccdu +
			     (uint64_t)t.tv_sec;
	}
	secret[1] |= 1;
}

/* The halves of the 128-bit product, folded: unlike those of a product that is
 * cut at 64 bits, all bits depend on all bits of both factors. */
static uint64_t fold(uint64_t a, uint64_t b)
{
	uint64_t low = (uint32_t)a, high = a >> 32;
	uint64_t x = low * (uint32_t)b, y = low * (b >> 32);
	uint64_t z = high * (uint32_t)b + (x >> 32);
	uint64_t middle = (uint32_t)z + y;

	return (high * (b >> 32) + (z >> 32) + (middle >> 32)) ^
	       (middle << 32 | (uint32_t)x);
}

/* Eight bytes at a time. */
static uint32_t hash_bytes(const void *key, size_t len)
{
	const unsigned char *p = key;
	uint64_t h, w;

	if (!secret[1])
		secret_make();
	h = secret[0] ^ len;
	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&w, p, 8);
		h = fold(h ^ w, secret[1]);
	}
	w = 0;
	memcpy(&w, p, len);
	return (uint32_t)(fold(h ^ w, secret[1]) >> 16);
}

void intern_free(struct intern *t)
{
	mem_free(t->bytes);
	mem_free(t->keys);
	mem_free(t->slots);
	*t = (struct intern){ 0 };
}

/* The slot that holds the key, or the free one where it belongs. */
static uint32_t *slot_of(const struct intern *t, const void *key, size_t len,
			 uint32_t hash)
{
	size_t i = hash & (t->nslots - 1);

	for (;; i = (i + 1) & (t->nslots - 1)) {
		const struct intern_key *k;

		if (!t->slots[i])
			return &t->slots[i];
		k = &t->keys[t->slots[i] - 1];
		if (k->hash == hash && k->len == len &&
		    !memcmp(t->bytes + k->off, key, len))
			return &t->slots[i];
	}
}

static int slots_grow(struct intern *t)
{
	size_t nslots = t->nslots ? t->nslots * 2 : 64, i;
	uint32_t *slots = mem_zalloc(nslots * sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < t->n; i++) {
		size_t s = t->keys[i].hash & (nslots - 1);

		while (slots[s])
			s = (s + 1) & (nslots - 1);
		slots[s] = (uint32_t)i + 1;
	}
	mem_free(t->slots);
	t->slots = slots;
	t->nslots = nslots;
	return 0;
}

static bool key_room(struct intern *t, size_t len)
{
	return len < UINT32_MAX && t->n < UINT32_MAX - 1 &&
	       vec_room((void **)&t->keys, &t->keys_cap, t->n + 1,
			sizeof(*t->keys)) &&
	       vec_room((void **)&t->bytes, &t->bytes_cap,
			t->len + len + 1, 1);
}

int64_t intern_put(struct intern *t, const void *key, size_t len)
{
	uint32_t hash = hash_bytes(key, len), *slot;

	if (t->n >= t->nslots / 2 && slots_grow(t))
		return -ENOMEM;
	slot = slot_of(t, key, len, hash);
	if (*slot)
		return *slot - 1;
	if (!key_room(t, len))
		return -ENOMEM;
	memcpy(t->bytes + t->len, key, len);
	t->bytes[t->len + len] = '\0';
	t->keys[t->n] = (struct intern_key){ t->len, (uint32_t)len, hash };
	t->len += len + 1;
	*slot = (uint32_t)++t->n;
	return *slot - 1;
}

int64_t intern_find(const struct intern *t, const void *key, size_t len)
{
	uint32_t slot;

	if (!t->n)
		return -ENOENT;
	slot = *slot_of(t, key, len, hash_bytes(key, len));
	return slot ? (int64_t)slot - 1 : -ENOENT;
}

const char *intern_bytes(const struct intern *t, uint32_t id, size_t *len)
{
	if (len)
		*len = t->keys[id].len;
	return t->bytes + t->keys[id].off;
}
