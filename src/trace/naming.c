/* naming - the stacks of a session, frame by frame, with names. */
#include "trace/naming.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/vec.h"
#include "sym/caller.h"
#include "sym/debug_files.h"
#include "sym/elf.h"
#include "sys/advice.h"
#include "trace/own_frames.h"

int naming_open(struct naming *n, const struct name_options *o)
{
	int err;

	*n = (struct naming){ 0 };
	n->procs = procs_new();
	n->namer = n->procs ? namer_new(n->procs, o) : NULL;
	if (!n->namer)
		log_error("cannot name addresses: out of memory");
	err = !n->namer ? -ENOMEM :
	      o->kernel ? namer_use_list(n->namer, o->kernel) : 0;
	if (err)
		naming_close(n);
	return err;
}

void naming_close(struct naming *n)
{
	namer_free(n->namer);
	procs_free(n->procs);
	debug_files_close();
	intern_free(&n->images);
	vec_free(&n->times);
	intern_free(&n->returns);
	intern_free(&n->bare);
	vec_free(&n->kinds);
	vec_free(&n->user);
	vec_free(&n->kernel);
	*n = (struct naming){ 0 };
}

void naming_seen(struct naming *n, const struct seen_event *event)
{
	struct image_key key = { event->tgid, event->gen };
	int64_t id = intern_put(&n->images, &key, sizeof(key));
	uint64_t *time;

	if (id < 0)
		return;
	if ((size_t)id == n->times.n) {
		time = vec_push(&n->times);
		if (!time)
			return;
		*time = event->time;
	}
	procs_seen(n->procs, event->tgid, event->time);
}

/* The process as it was when the image was first seen; nothing when that is not
 * known for sure, for then no name would be. */
struct proc_at naming_image(struct naming *n, const struct stack_key *key)
{
	struct image_key image = { key->tgid, key->gen };
	int64_t id = intern_find(&n->images, &image, sizeof(image));
	struct proc_at at;

	if (id < 0 || (size_t)id >= n->times.n)
		return (struct proc_at){ 0 };
	at = procs_at(n->procs, key->tgid, n->times.v[id]);
	if (n->one_image && key->tgid == n->child)
		at = procs_after_exec(at);
	if (n->one_image && !procs_is_last(at))
		return (struct proc_at){ 0 };
	return at;
}

/* An address in an image. */
struct image_addr {
	struct image_key image;
	uint64_t addr;
};

/* What an address of an image is as a caller; remembered, for the same few come
 * again and again. */
static enum caller_kind kind_of(struct naming *n, const struct stack_key *of,
				struct proc_at at, uint64_t addr)
{
	struct image_addr key = { { of->tgid, of->gen }, addr };
	int64_t id = intern_put(&n->returns, &key, sizeof(key));
	enum caller_kind kind;
	uint8_t *slot;

	if (id >= 0 && (size_t)id < n->kinds.n)
		return n->kinds.v[id];
	kind = caller_kind(n->procs, at, addr);
	slot = id >= 0 && (size_t)id == n->kinds.n ? vec_push(&n->kinds)
						   : NULL;
	if (slot)
		*slot = (uint8_t)kind;
	return kind;
}

/* One more frame of the user stack; *end when it lies in no code, or cannot be
 * a caller. */
static int add_user(struct naming *n, const struct stack_key *of,
		    struct proc_at at, uint64_t addr, bool *end)
{
	bool is_leaf = !n->user.n && (!n->returned || of->caller);
	enum caller_kind kind = is_leaf ? CALLER_AT_START
					: kind_of(n, of, at, addr);
	struct frame *f = vec_push(&n->user);
	int err;

	if (!f)
		return -ENOMEM;
	if (kind == CALLER_NONE) {
		*f = (struct frame){ "[unknown]", addr, FRAME_UNKNOWN };
		*end = true;
		return 0;
	}
	err = namer_user(n->namer, at, addr, kind == CALLER_AFTER_CALL, f);
	*end = err || f->kind == FRAME_UNKNOWN;
	return err;
}

static struct image_addr leaf_of(const struct stack *stack)
{
	return (struct image_addr){
		{ stack->key->tgid, stack->key->gen }, stack->user[0],
	};
}

static bool is_given(const struct stack *stack)
{
	return stack->nuser > 1 && stack->user[1] == stack->key->caller;
}

void naming_learn(struct naming *n, const struct stack *stack)
{
	struct image_addr leaf;

	if (!n->at_entry || !stack->nuser || !stack->key->caller ||
	    is_given(stack))
		return;
	leaf = leaf_of(stack);
	intern_put(&n->bare, &leaf, sizeof(leaf));
}

static bool is_bare(const struct naming *n, const struct stack *stack)
{
	struct image_addr leaf = leaf_of(stack);

	return intern_find(&n->bare, &leaf, sizeof(leaf)) >= 0;
}

uint64_t naming_caller(const struct naming *n, const struct stack *stack,
		       bool *sure)
{
	uint64_t caller = stack->key->caller;

	*sure = n->at_entry;
	if (!caller || !stack->nuser ||
	    (is_given(stack) && !(n->at_entry && is_bare(n, stack))))
		return 0;
	return caller;
}

/* The caller that the frame pointers did not lead to; 0 = there is none. */
static uint64_t hidden_caller(struct naming *n, struct proc_at at,
			      const struct stack *stack)
{
	bool sure;
	uint64_t caller = naming_caller(n, stack, &sure);

	if (!caller || sure ||
	    caller_is_sure(n->procs, at, stack->user[0], caller))
		return caller;
	return 0;
}

void naming_count(struct naming *n, const struct stack *stack, bool end,
		  size_t frames)
{
	n->stacks += stack->nuser ? stack->count : 0;
	/* Where a program runs is its code: the mapping is not known. */
	if (end)
		*(frames > 1 ? &n->broken : &n->unmapped) += stack->count;
}

static int name_user(struct naming *n, const struct stack *stack)
{
	struct proc_at at = naming_image(n, stack->key);
	uint64_t caller = hidden_caller(n, at, stack);
	bool end = false;
	int err = 0;

	n->user.n = 0;
	for (size_t i = 0; !err && !end && i < stack->nuser; i++) {
		err = add_user(n, stack->key, at, stack->user[i], &end);
		if (!err && !end && !i && caller)
			err = add_user(n, stack->key, at, caller, &end);
	}
	naming_count(n, stack, end, n->user.n);
	return err;
}

static int name_kernel(struct naming *n, const struct stack *stack)
{
	n->kernel.n = 0;
	for (size_t i = 0; i < stack->nkernel; i++) {
		struct frame *f = vec_push(&n->kernel);
		int err = f ? namer_kernel(n->namer, stack->kernel[i], i > 0, f)
			    : -ENOMEM;

		if (err)
			return err;
	}
	return 0;
}

int naming_stack(struct naming *n, const struct stack *stack,
		 struct named_stack *out)
{
	int err = name_user(n, stack);
	size_t own = 0;

	if (!err)
		err = name_kernel(n, stack);
	if (!err && n->probes)
		own = own_frames_of_probes(n->kernel.v, n->kernel.n,
					   n->events);
	*out = (struct named_stack){
		.user = n->user.v, .kernel = n->kernel.v + own,
		.nuser = n->user.n, .nkernel = n->kernel.n - own,
	};
	return err;
}

void naming_where(struct naming *n, const struct stack_key *key, uint64_t addr,
		  bool is_return, struct buf *to)
{
	struct proc_at at = naming_image(n, key);
	struct elf_sym sym;
	struct place place;
	struct elf *elf;
	uint64_t vaddr;

	if (procs_place(n->procs, at, addr - is_return, &place) ||
	    (place.kind != MAPS_FILE && place.kind != MAPS_VDSO))
		return;
	elf = procs_elf(n->procs, at, &place);
	if (elf && !elf_vaddr(elf, place.off, &vaddr) &&
	    !elf_find(elf, vaddr, &sym))
		buf_fmt(to, "+0x%llx", (unsigned long long)
			(vaddr + is_return - sym.value));
	buf_puts(to, " [");
	procs_label(n->procs, &place, to);
	buf_putc(to, ']');
}

void naming_file(struct naming *n, const struct stack_key *key, uint64_t addr,
		 struct buf *to)
{
	struct place place;

	if (!procs_place(n->procs, naming_image(n, key), addr, &place))
		procs_label(n->procs, &place, to);
}

static void report_unmapped(const struct naming *n)
{
	if (n->unmapped * 100 < n->stacks || !n->unmapped)
		return;
	log_notice("%.0f %% of the user stacks are of code that is not known "
		   "([unknown])", 100.0 * (double)n->unmapped /
		   (double)n->stacks);
	if (procs_hidden(n->procs)) {
		log_notice("processes that may not be read: %u",
			   procs_hidden(n->procs));
		advice(OP_PROC, -EACCES);
	} else {
		log_hint("it was unmapped, or its process ended, before it "
			 "could be looked up");
	}
}

/* Functions of these are shown as [module+0x...]. */
static void report_unread(const struct naming *n)
{
	unsigned dropped = procs_dropped(n->procs), unread;
	const char *first;
	int err;

	if (dropped) {
		log_notice("%u mapped files not read: too many open files "
			   "(ulimit -n)", dropped);
		return;
	}
	unread = procs_unread(n->procs, &first, &err);
	if (unread)
		log_notice("%s%s cannot be read: %s: functions are shown as "
			   "offsets", first, unread > 1 ? " and other mapped "
			   "files" : "", err == -ESTALE ? "was replaced"
			   : log_errno(err));
}

void naming_report(const struct naming *n)
{
	report_unmapped(n);
	report_unread(n);
	debug_files_report();
	if (procs_lost_rows(n->procs))
		log_notice("mappings not kept, to bound memory, some names "
			   "may be missing: %zu", procs_lost_rows(n->procs));
	if (n->stacks < 20 || n->broken * 10 < n->stacks)
		return;
	log_notice("%.0f %% of the user stacks end in the middle ([unknown])",
		   100.0 * (double)n->broken / (double)n->stacks);
	log_hint("stacks are followed by frame pointers: build those programs "
		 "with -fno-omit-frame-pointer");
}
