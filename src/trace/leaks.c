/* leaks - the blocks that memleak's program keeps, summed up by stack. */
#include "trace/leaks.h"

#include <errno.h>
#include <string.h>

#include "sys/bpf.h"
#include "sys/feature.h"
#include "sys/host.h"
#include "trace/target.h"

enum { BATCH = 4096 };			/* blocks read at a time */

/* What becomes of the blocks of an image. */
enum image_state {
	IMAGE_GONE = 1,		/* another program runs there now */
	IMAGE_RUNS,
	IMAGE_ENDED,
};

/* What identifies a block for all time. */
struct block_id {
	struct leak_key key;
	uint64_t time;
};

void leaks_take(struct leaks *l, const void *data, size_t len)
{
	const struct leak_frames *f = data;
	struct block_id id = { 0 };
	int64_t stack, block;
	uint32_t *slot;
	size_t bytes;

	if (len < sizeof(*f) || f->type != EVENT_LEAK_FRAMES)
		return;
	bytes = f->bytes < 0 ? 0 : (size_t)f->bytes;
	if (bytes > sizeof(f->frames))
		bytes = sizeof(f->frames);
	id.key = f->key;
	id.time = f->time;
	if (l->sent.len + l->blocks.len >= l->limit) {
		l->unread++;
		return;
	}
	stack = intern_put(&l->sent, f->frames, bytes);
	block = stack < 0 ? stack : intern_put(&l->blocks, &id, sizeof(id));
	if (block < 0)
		l->unread++;
	if (block < 0 || (size_t)block < l->sent_of.n)
		return;
	slot = vec_push(&l->sent_of);
	if (slot)
		*slot = (uint32_t)stack + 1;
}

static int state_find(const struct leaks *l, const struct image_key *image)
{
	int fd = session_map(l->session, "gens");
	uint32_t gen = 0;
	uint64_t began;

	if (l->kernel)
		return IMAGE_RUNS;
	bpf_map_lookup(fd, &image->tgid, &gen);
	if (gen != image->gen)
		return IMAGE_GONE;
	return target_began(image->tgid, &began) == -ESRCH ? IMAGE_ENDED
							   : IMAGE_RUNS;
}

static int state_of(struct leaks *l, const struct leak_key *key)
{
	struct image_key image = { key->tgid, key->gen };
	int64_t id = intern_put(&l->images, &image, sizeof(image));
	uint8_t *slot;

	if (id < 0)
		return (int)id;
	if ((size_t)id == l->states.n) {
		slot = vec_push(&l->states);
		if (!slot)
			return -ENOMEM;
		*slot = (uint8_t)state_find(l, &image);
	}
	return l->states.v[id];
}

static int add(struct leaks *l, const struct leak_key *key,
	       const struct leak_block *b)
{
	struct leak_group group = {
		key->tgid, key->gen, b->stack, 0, b->leaf,
	};
	struct block_id which = { *key, b->time };
	int64_t id = b->stack >= 0 || b->stack == -EFAULT ? -ENOENT :
		     intern_find(&l->blocks, &which, sizeof(which));
	struct leak_sum *sum;

	if (id >= 0 && (size_t)id < l->sent_of.n)
		group.sent = l->sent_of.v[id];
	id = intern_put(&l->groups, &group, sizeof(group));
	if (id < 0)
		return (int)id;
	if ((size_t)id == l->sums.n) {
		sum = vec_push(&l->sums);
		if (!sum)
			return -ENOMEM;
		*sum = (struct leak_sum){ 0 };
	}
	sum = &l->sums.v[id];
	sum->bytes += b->size;
	sum->blocks++;
	return 0;
}

/* A block of a program that is no more goes from the table, too. */
static int take(struct leaks *l, const struct leak_key *key,
		const struct leak_block *b, leaks_show *fn, void *arg)
{
	int state = state_of(l, key), err;

	if (state < 0)
		return state;
	if (state == IMAGE_GONE) {
		bpf_map_delete(session_map(l->session, "blocks"), key);
		return 0;
	}
	if (state == IMAGE_RUNS && b->time + l->older > l->now)
		return 0;
	err = add(l, key, b);
	return err || !fn ? err : fn(arg, key, b);
}

/* Before Linux 5.6, one by one: where the last one read is gone meanwhile, the
 * kernel begins anew. */
static int read_slowly(struct leaks *l, leaks_show *fn, void *arg)
{
	int fd = session_map(l->session, "blocks"), err;
	struct leak_key key, next, first;
	struct leak_block block;
	bool any = false;

	while (!(err = bpf_map_next_key(fd, any ? &key : NULL, &next))) {
		if (any && !memcmp(&next, &first, sizeof(first))) {
			l->cut = true;
			return 0;
		}
		if (!any)
			first = next;
		any = true;
		key = next;
		if (bpf_map_lookup(fd, &key, &block))
			continue;
		err = take(l, &key, &block, fn, arg);
		if (err)
			return err;
	}
	return err == -ENOENT ? 0 : err;
}

static int read_batches(struct leaks *l, leaks_show *fn, void *arg)
{
	int fd = session_map(l->session, "blocks"), err = 0;
	struct leak_key *keys = mem_zalloc(BATCH * sizeof(*keys));
	struct leak_block *blocks = mem_zalloc(BATCH * sizeof(*blocks));
	uint32_t at = 0, n;
	bool last = false;

	if (!keys || !blocks)
		err = -ENOMEM;
	while (!err && !last) {
		n = BATCH;
		err = bpf_map_lookup_batch(fd, &at, keys, blocks, &n);
		last = err == -ENOENT;
		if (last)
			err = 0;
		for (uint32_t i = 0; !err && i < n; i++)
			err = take(l, &keys[i], &blocks[i], fn, arg);
	}
	mem_free(keys);
	mem_free(blocks);
	return err;
}

int leaks_read(struct leaks *l, leaks_show *fn, void *arg)
{
	int err;

	l->now = host_time();
	l->cut = false;
	intern_free(&l->images);
	vec_free(&l->states);
	for (size_t i = 0; i < l->sums.n; i++)
		l->sums.v[i] = (struct leak_sum){ 0 };
	err = feature_is_hidden("map_batch") ? -EINVAL
					     : read_batches(l, fn, arg);
	return err == -EINVAL ? read_slowly(l, fn, arg) : err;
}

static void set_stack(const struct leaks *l, const struct image_key *image,
		      size_t n, bool missed, struct leak_stack *to)
{
	to->key = (struct stack_key){
		.tgid = image->tgid, .gen = image->gen,
		.user = -EFAULT, .kernel = -EFAULT,
	};
	to->stack = (struct stack){ .key = &to->key, .count = 1 };
	if (l->kernel) {
		to->stack.kernel = to->frames;
		to->stack.nkernel = n;
		to->stack.missed_kernel = missed;
	} else {
		to->stack.user = to->frames;
		to->stack.nuser = n;
		to->stack.missed_user = missed;
	}
}

void leaks_table_stack(const struct leaks *l, const struct image_key *image,
		       int32_t stack, uint64_t leaf, uint64_t caller,
		       struct leak_stack *to)
{
	uint32_t depth = stacks_depth_limit();
	size_t n = 0;

	memset(to->frames, 0, sizeof(to->frames));
	if (leaf)
		to->frames[n++] = leaf;
	if (stack >= 0 && !bpf_map_lookup(session_map(l->session, "stacks"),
					  &stack, to->frames + n))
		while (n < depth && to->frames[n])
			n++;
	set_stack(l, image, n, !n && stack != -EFAULT, to);
	to->key.caller = caller;
}

void leaks_stack(const struct leaks *l, uint32_t id, struct leak_stack *to)
{
	struct leak_group group;
	struct image_key image;
	const char *bytes;
	size_t n;

	memcpy(&group, intern_bytes(&l->groups, id, NULL), sizeof(group));
	image = (struct image_key){ group.tgid, group.gen };
	if (!group.sent) {
		leaks_table_stack(l, &image, group.stack, group.leaf, 0, to);
		return;
	}
	bytes = intern_bytes(&l->sent, group.sent - 1, &n);
	memcpy(to->frames, bytes, n);
	set_stack(l, &image, n / sizeof(to->frames[0]), false, to);
}

void leaks_free(struct leaks *l)
{
	intern_free(&l->groups);
	vec_free(&l->sums);
	intern_free(&l->sent);
	intern_free(&l->blocks);
	vec_free(&l->sent_of);
	intern_free(&l->images);
	vec_free(&l->states);
}
