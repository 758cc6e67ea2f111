/* names - names that stay where they are, each kept once. */
#include "sym/names.h"

#include <errno.h>
#include <string.h>

enum { CHUNK = 32 << 10 };

void names_free(struct names *n)
{
	for (size_t i = 0; i < n->chunks.n; i++)
		mem_free(n->chunks.v[i]);
	vec_free(&n->chunks);
	vec_free(&n->text);
	intern_free(&n->ids);
	n->room = 0;
}

static char *place_for(struct names *n, size_t size)
{
	char **chunk, *place;

	if (size <= n->room) {
		place = n->chunks.v[n->chunks.n - 1] + CHUNK - n->room;
		n->room -= size;
		return place;
	}
	chunk = vec_push(&n->chunks);
	if (!chunk)
		return NULL;
	*chunk = mem_zalloc(size > CHUNK ? size : CHUNK);
	if (!*chunk) {
		n->chunks.n--;
		return NULL;
	}
	n->room = size > CHUNK ? 0 : CHUNK - size;
	return *chunk;
}

int64_t names_put(struct names *n, const char *name, size_t len)
{
	int64_t id;
	const char **text;
	char *place;

	len = strnlen(name, len);
	id = intern_put(&n->ids, name, len);
	if (id < 0 || (size_t)id < n->text.n)
		return id;
	/* Memory was out for an earlier one: that number has no text. */
	if ((size_t)id > n->text.n)
		return -ENOMEM;
	place = place_for(n, len + 1);
	text = place ? vec_push(&n->text) : NULL;
	if (!text)
		return -ENOMEM;
	*text = memcpy(place, name, len);
	return id;
}

const char *names_text(const struct names *n, uint32_t id)
{
	return n->text.v[id];
}
