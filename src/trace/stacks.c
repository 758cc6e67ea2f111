/* stacks - the counted stack traces of a session, back in user space. */
#include "trace/stacks.h"

#include <errno.h>
#include <string.h>

#include "base/vec.h"
#include "sys/bpf.h"
#include "sys/feature.h"
#include "sys/fs.h"
#include "sys/host.h"
#include "trace/session.h"

enum {
	DEPTH_MAX = STACKS_FRAMES - 1,
	MEMORY_MAX = 256 << 20,		/* bytes */
	BATCH = 256,			/* rows read at a time */
};

/* What `sent` holds of a stack: the key, whose user and kernel are numbers of
 * frames or -errno, and then the frames of both halves. */
enum { KEY_WORDS = sizeof(struct stack_key) / sizeof(uint64_t) };
_Static_assert(sizeof(struct stack_key) == KEY_WORDS * sizeof(uint64_t),
	       "frames follow");

uint32_t stacks_depth_limit(void)
{
	long long depth;

	if (fs_read_num(FS_PROC, "sys/kernel/perf_event_max_stack", &depth) ||
	    depth < 1)
		return STACK_DEPTH;
	return depth < DEPTH_MAX ? (uint32_t)depth : DEPTH_MAX;
}

size_t stacks_memory(void)
{
	uint64_t most = host_memory() / 16;

	return most < MEMORY_MAX ? (size_t)most : MEMORY_MAX;
}

void stacks_init(struct stacks *s, size_t limit, uint32_t depth,
		 uint32_t sent_depth)
{
	*s = (struct stacks){
		.limit = limit, .depth = depth, .sent_depth = sent_depth,
	};
}

void stacks_free(struct stacks *s)
{
	intern_free(&s->sent);
	vec_free(&s->counts);
}

/* Frames of one half of a record, in bounds; -errno stays. */
static int32_t half_frames(int32_t n, size_t most)
{
	return n > (int32_t)most ? (int32_t)most : n;
}

/* On aarch64 a whole chain ends with a return address of 0: no frame. */
static int32_t half_trim(int32_t n, const uint64_t *frames)
{
	static const uint64_t end = 0;

	while (n > 0 && !memcmp(&frames[n - 1], &end, sizeof(end)))
		n--;
	return n;
}

static void half_add(char *bytes, size_t *at, const uint64_t *frames, int32_t n)
{
	if (n <= 0)
		return;
	memcpy(bytes + *at, frames, (size_t)n * 8);
	*at += (size_t)n * 8;
}

void stacks_add(struct stacks *s, const struct stack_key *key, uint64_t amount,
		const uint64_t *user, const uint64_t *kernel)
{
	uint64_t bytes[KEY_WORDS + 2 * STACKS_FRAMES];
	struct stack_key *to = (void *)bytes;
	size_t n = sizeof(*to);
	uint64_t *count;
	int64_t id;

	*to = *key;
	to->user_leaf = to->kernel_leaf = 0;
	to->user = half_trim(half_frames(key->user, STACKS_FRAMES), user);
	to->kernel = half_trim(half_frames(key->kernel, STACKS_FRAMES),
			       kernel);
	half_add((char *)bytes, &n, user, to->user);
	half_add((char *)bytes, &n, kernel, to->kernel);
	id = intern_find(&s->sent, bytes, n);
	if (id < 0 && s->sent.len + n <= s->limit)
		id = intern_put(&s->sent, bytes, n);
	if (id >= 0 && (size_t)id == s->counts.n) {
		count = vec_push(&s->counts);
		if (count)
			*count = 0;
	}
	if (id < 0 || (size_t)id >= s->counts.n)
		s->lost += amount;
	else
		s->counts.v[id] += amount;
}

void stacks_take(struct stacks *s, const void *data, size_t len)
{
	const struct stack_event *e = data;
	struct stack_key key;

	if (len < sizeof(*e) || e->type != EVENT_STACK)
		return;
	key = e->key;
	key.user = e->user_bytes < 0 ? e->user_bytes
		: half_frames(e->user_bytes / 8, STACK_DEPTH);
	key.kernel = e->kernel_bytes < 0 ? e->kernel_bytes
		: half_frames(e->kernel_bytes / 8, STACK_DEPTH);
	stacks_add(s, &key, e->amount, e->user, e->kernel);
}

uint64_t stacks_records_lost(const struct stacks *s, uint64_t records,
			     uint64_t no_slot)
{
	uint64_t told = feature_has(FEATURE_GET_STACK) ? s->missed + no_slot
						       : 0;

	return records > told ? records - told : 0;
}

static bool is_missed(int32_t id)
{
	return id < 0 && id != -EFAULT;
}

static int hand_over(struct stacks *s, struct stack *stack, uint32_t most,
		     int (*fn)(void *, const struct stack *), void *arg)
{
	s->total += stack->count;
	if (stack->missed_user || stack->missed_kernel)
		s->missed += stack->count;
	if (stack->nuser >= most || stack->nkernel >= most)
		s->cut += stack->count;
	return fn(arg, stack);
}

/* The frames of entry `id`, after the leaf that stood beside it. 0 or -errno:
 * no entry is taken away, so each can be read. */
static int half_read(const struct stacks *s, int stacks_fd, int32_t id,
		     uint64_t leaf, uint64_t *frames, size_t *nframes,
		     bool *missed)
{
	uint64_t *to = frames;
	size_t n = 0;
	int err = 0;

	*missed = is_missed(id);
	if (leaf && !*missed)
		*to++ = leaf;
	if (id >= 0)
		err = bpf_map_lookup(stacks_fd, &id, to);
	while (!err && id >= 0 && n < s->depth && to[n])
		n++;
	*nframes = n + (size_t)(to - frames);
	return err;
}

int stacks_find(const struct stacks *s, const struct session *session,
		const struct stack_key *key, struct stack *stack,
		uint64_t *user, uint64_t *kernel)
{
	int stacks_fd = session_map(session, "stacks");
	int err = half_read(s, stacks_fd, key->user, key->user_leaf, user,
			    &stack->nuser, &stack->missed_user);

	if (!err)
		err = half_read(s, stacks_fd, key->kernel, key->kernel_leaf,
				kernel, &stack->nkernel,
				&stack->missed_kernel);
	stack->key = key;
	stack->user = user;
	stack->kernel = kernel;
	return err;
}

/* Where the rows of the table go to. */
struct counted {
	struct stacks *s;
	const struct session *session;
	int (*fn)(void *arg, const struct stack *stack);
	void *arg;
};

static int row_take(const struct counted *c, const struct stack_key *key,
		    uint64_t count)
{
	uint64_t user[STACKS_FRAMES], kernel[STACKS_FRAMES];
	struct stack stack = { .count = count };
	int err = stacks_find(c->s, c->session, key, &stack, user, kernel);

	if (!err)
		err = hand_over(c->s, &stack, c->s->depth, c->fn, c->arg);
	return err == -ENOENT ? -EIO : err;
}

static int each_slowly(const struct counted *c, int fd)
{
	struct stack_key key, *last = NULL;
	uint64_t count;
	int err;

	while (!(err = bpf_map_next_key(fd, last, &key))) {
		last = &key;
		err = bpf_map_lookup(fd, &key, &count);
		if (err == -ENOENT)
			err = -EIO;
		if (!err)
			err = row_take(c, &key, count);
		if (err)
			return err;
	}
	return err == -ENOENT ? 0 : err;
}

/* Many rows a call. -EINVAL, and nothing was handed over: the kernel cannot. */
static int each_batch(const struct counted *c, int fd)
{
	struct stack_key *keys = mem_zalloc(BATCH * sizeof(*keys));
	uint64_t *counts = mem_zalloc(BATCH * sizeof(*counts));
	int err = keys && counts ? 0 : -ENOMEM;
	uint32_t at = 0, n;
	bool last = false;

	while (!err && !last) {
		n = BATCH;
		err = bpf_map_lookup_batch(fd, &at, keys, counts, &n);
		last = err == -ENOENT;
		if (last)
			err = 0;
		for (uint32_t i = 0; !err && i < n; i++)
			err = row_take(c, &keys[i], counts[i]);
	}
	mem_free(keys);
	mem_free(counts);
	return err;
}

static int each_counted(struct stacks *s, const struct session *session,
			int (*fn)(void *, const struct stack *), void *arg)
{
	const struct counted c = { s, session, fn, arg };
	int fd = session_map(session, "counts"), err = -EINVAL;

	if (!feature_is_hidden("map_batch"))
		err = each_batch(&c, fd);
	return err == -EINVAL && !s->total ? each_slowly(&c, fd) : err;
}

static int each_sent(struct stacks *s,
		     int (*fn)(void *, const struct stack *), void *arg)
{
	for (size_t i = 0; i < s->counts.n; i++) {
		const char *bytes = intern_bytes(&s->sent, (uint32_t)i, NULL);
		uint64_t frames[2 * STACKS_FRAMES];
		struct stack_key key;
		struct stack stack = {
			.key = &key, .count = s->counts.v[i], .user = frames,
		};
		int err;

		memcpy(&key, bytes, sizeof(key));
		stack.nuser = key.user > 0 ? (size_t)key.user : 0;
		stack.nkernel = key.kernel > 0 ? (size_t)key.kernel : 0;
		stack.kernel = frames + stack.nuser;
		stack.missed_user = is_missed(key.user);
		stack.missed_kernel = is_missed(key.kernel);
		memcpy(frames, bytes + sizeof(key),
		       8 * (stack.nuser + stack.nkernel));
		err = hand_over(s, &stack, s->sent_depth, fn, arg);
		if (err)
			return err;
	}
	return 0;
}

int stacks_each(struct stacks *s, const struct session *session,
		int (*fn)(void *arg, const struct stack *stack), void *arg)
{
	int err;

	s->total = s->missed = s->cut = 0;
	err = session ? each_counted(s, session, fn, arg) : 0;

	return err ? err : each_sent(s, fn, arg);
}
