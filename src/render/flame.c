/* flame - stacks merged by common ancestry: what a flame graph draws.
 *
 * A tree with a node per frame would take three million nodes for 100,000
 * unlike stacks of 30 frames. Most of them form chains without a branch, so a
 * node here is a whole chain: a run of labels in one common array, four bytes
 * a frame. A stack that leaves a chain in its middle splits it in two: the new
 * node takes the upper (root) part, the old one keeps its number and with it
 * its children. A million unlike stacks need at most two million nodes.
 *
 *	a;b;c;d 1			[a b c d]
 *	a;b;x 2		[a b] -+- [c d]
 *			       `- [x]
 *
 * Children are found by hash while stacks arrive; they are also linked, and
 * the links are sorted by name when the graph is drawn. Nothing recurses, so
 * depth costs memory only.
 */
#include "render/flame.h"

#include <errno.h>
#include <string.h>

const char *const flame_kind_names[FLAME_KINDS] = {
	[FLAME_USER] = "user", [FLAME_KERNEL] = "kernel", [FLAME_JIT] = "JIT",
	[FLAME_UNKNOWN] = "unknown", [FLAME_INLINED] = "inlined",
	[FLAME_WAKER] = "waker", [FLAME_DELIMITER] = "delimiter",
};

enum { NONE = 0, ROOT = 0 };	/* node 0 is the root and nobody's child */

struct flame_node {
	uint64_t total;
	uint32_t labels, nlabels;	/* slice of flame.labels */
	uint32_t child, next;		/* first child, next sibling */
};

struct edge {
	uint32_t parent, label;
};

void flame_free(struct flame *f)
{
	intern_free(&f->names);
	intern_free(&f->edges);
	vec_free(&f->child);
	vec_free(&f->labels);
	vec_free(&f->nodes);
	vec_free(&f->old);
	*f = (struct flame){ 0 };
}

static void add_saturating(struct flame *f, uint64_t *sum, uint64_t value)
{
	if (*sum > UINT64_MAX - value) {
		*sum = UINT64_MAX;
		f->saturated = true;
	} else {
		*sum += value;
	}
}

/* What a stack adds to the frames on its way. */
struct amount {
	uint64_t total, old;
};

static struct amount node_amount(const struct flame *f, uint32_t node)
{
	return (struct amount){
		f->nodes.v[node].total, f->diff ? f->old.v[node] : 0,
	};
}

static void node_add(struct flame *f, uint32_t node, struct amount amount)
{
	add_saturating(f, &f->nodes.v[node].total, amount.total);
	if (f->diff)
		add_saturating(f, &f->old.v[node], amount.old);
}

/* A new node without links; NONE when memory is out. */
static uint32_t node_new(struct flame *f, struct amount amount, size_t labels,
			 size_t nlabels)
{
	struct flame_node *n;
	uint64_t *old;

	if (f->nodes.n >= UINT32_MAX || labels + nlabels > UINT32_MAX)
		return NONE;
	if (f->diff) {
		old = vec_push(&f->old);
		if (!old)
			return NONE;
		*old = amount.old;
	}
	n = vec_push(&f->nodes);
	if (!n)
		return NONE;
	*n = (struct flame_node){
		.total = amount.total,
		.labels = (uint32_t)labels,
		.nlabels = (uint32_t)nlabels,
	};
	return (uint32_t)(f->nodes.n - 1);
}

/* The place that names the child of `parent` which begins with `label`: it
 * holds NONE when there is none yet. NULL when memory is out. */
static uint32_t *child_slot(struct flame *f, uint32_t parent, uint32_t label)
{
	struct edge e = { parent, label };
	int64_t id = intern_put(&f->edges, &e, sizeof(e));
	uint32_t *slot;

	if (id < 0)
		return NULL;
	if ((size_t)id < f->child.n)
		return &f->child.v[id];
	slot = vec_push(&f->child);
	if (slot)
		*slot = NONE;
	return slot;
}

/* Cut `node`, a child of `parent`, after its first `keep` labels. Returns the
 * new upper part. */
static uint32_t node_split(struct flame *f, uint32_t parent, uint32_t node,
			   uint32_t keep)
{
	uint32_t first = f->nodes.v[node].labels, *slot, upper;

	upper = node_new(f, node_amount(f, node), first, keep);
	slot = child_slot(f, parent, f->labels.v[first]);
	if (upper == NONE || !slot)
		return NONE;
	*slot = upper;
	slot = child_slot(f, upper, f->labels.v[first + keep]);
	if (!slot)
		return NONE;
	*slot = node;
	f->nodes.v[node].labels += keep;
	f->nodes.v[node].nlabels -= keep;
	return upper;
}

/* How many labels the node shares with the n at p. */
static uint32_t labels_shared(const struct flame *f, uint32_t node,
			      const uint32_t *p, size_t n)
{
	const struct flame_node *c = &f->nodes.v[node];
	const uint32_t *q = f->labels.v + c->labels;
	uint32_t i;

	for (i = 0; i < c->nlabels && i < n && p[i] == q[i]; i++)
		;
	return i;
}

/* Merge the stack whose labels stand at the end of the array, from `at` on. */
static int stack_merge(struct flame *f, size_t at, struct amount amount)
{
	size_t end = f->labels.n;
	uint32_t parent = ROOT;

	while (at < end) {
		uint32_t label = f->labels.v[at], shared;
		uint32_t *slot = child_slot(f, parent, label), node;

		if (!slot)
			return -ENOMEM;
		node = *slot;
		if (node == NONE) {
			node = *slot = node_new(f, amount, at, end - at);
			return node == NONE ? -ENOMEM : 0;
		}
		shared = labels_shared(f, node, f->labels.v + at, end - at);
		if (shared < f->nodes.v[node].nlabels)
			node = node_split(f, parent, node, shared);
		if (node == NONE)
			return -ENOMEM;
		node_add(f, node, amount);
		parent = node;
		at += shared;
	}
	return 0;
}

static int label_push(struct flame *f, const struct flame_frame *frame)
{
	int64_t id = intern_put(&f->names, frame->name, frame->len);
	uint32_t *label;

	if (id < 0 || id > UINT32_MAX >> 3)
		return -ENOMEM;
	label = vec_push(&f->labels);
	if (!label)
		return -ENOMEM;
	*label = (uint32_t)id << 3 | (uint32_t)frame->kind;
	return 0;
}

/* Of the labels from `start` on keep those that the newest node refers to, in
 * the place of those that were found in the tree. A split makes a new node,
 * too, but its labels are older. */
static void labels_trim(struct flame *f, size_t start, bool grown)
{
	struct flame_node *n = &f->nodes.v[f->nodes.n - 1];

	f->labels.n = start;
	if (!grown || n->labels < start)
		return;
	memmove(f->labels.v + start, f->labels.v + n->labels,
		n->nlabels * sizeof(*f->labels.v));
	n->labels = (uint32_t)start;
	f->labels.n += n->nlabels;
}

static int stack_add(struct flame *f, const struct flame_frame *frames,
		     size_t n, struct amount amount)
{
	size_t start = f->labels.n, nodes, i;
	int err = 0;

	f->linked = false;
	if (!f->nodes.n)
		node_new(f, (struct amount){ 0 }, 0, 0);
	if (!f->nodes.n)
		return -ENOMEM;
	for (i = 0; i < n && !err; i++)
		err = label_push(f, &frames[i]);
	nodes = f->nodes.n;
	if (!err)
		err = stack_merge(f, start, amount);
	if (err)
		return err;
	labels_trim(f, start, f->nodes.n > nodes);
	add_saturating(f, &f->total, amount.total);
	add_saturating(f, &f->old_total, amount.old);
	return 0;
}

int flame_add(struct flame *f, const struct flame_frame *frames, size_t n,
	      uint64_t value)
{
	return value ? stack_add(f, frames, n, (struct amount){ value, 0 }) : 0;
}

int flame_add_old(struct flame *f, const struct flame_frame *frames, size_t n,
		  uint64_t value)
{
	return value ? stack_add(f, frames, n, (struct amount){ 0, value }) : 0;
}

struct flame_frame flame_label(const struct flame *f, uint32_t label)
{
	struct flame_frame frame = { .kind = label & 7 };

	frame.name = intern_bytes(&f->names, label >> 3, &frame.len);
	return frame;
}

/* Drawing */

/* Siblings are linked only now: while stacks arrive, a split would have to
 * search its place in the list. */
static void nodes_link(struct flame *f)
{
	size_t i;

	for (i = 0; i < f->nodes.n; i++)
		f->nodes.v[i].child = NONE;
	for (i = 0; i < f->child.n; i++) {
		const void *key = intern_bytes(&f->edges, (uint32_t)i, NULL);
		uint32_t child = f->child.v[i];
		struct edge e;

		memcpy(&e, key, sizeof(e));
		f->nodes.v[child].next = f->nodes.v[e.parent].child;
		f->nodes.v[e.parent].child = child;
	}
	f->linked = true;
}

/* The order of two siblings: bytes of the name, then kind. */
static int node_compare(const struct flame *f, uint32_t a, uint32_t b)
{
	uint32_t la = f->labels.v[f->nodes.v[a].labels];
	uint32_t lb = f->labels.v[f->nodes.v[b].labels];
	size_t na, nb;
	const char *sa = intern_bytes(&f->names, la >> 3, &na);
	const char *sb = intern_bytes(&f->names, lb >> 3, &nb);
	int c = memcmp(sa, sb, na < nb ? na : nb);

	if (!c)
		c = (na > nb) - (na < nb);
	return c ? c : (int)(la & 7) - (int)(lb & 7);
}

/* Take `size` nodes off the list at *from. */
static uint32_t list_cut(struct flame_node *v, uint32_t *from, size_t size)
{
	uint32_t head = *from, last = NONE;

	while (*from != NONE && size--) {
		last = *from;
		*from = v[last].next;
	}
	if (last != NONE)
		v[last].next = NONE;
	return head;
}

/* Merge two sorted lists behind *tail; returns the new tail link. */
static uint32_t *list_merge(const struct flame *f, uint32_t *tail, uint32_t a,
			    uint32_t b)
{
	struct flame_node *v = f->nodes.v;

	while (a != NONE || b != NONE) {
		bool first = b == NONE ||
			     (a != NONE && node_compare(f, a, b) <= 0);
		uint32_t *from = first ? &a : &b;

		*tail = *from;
		*from = v[*from].next;
		tail = &v[*tail].next;
	}
	*tail = NONE;
	return tail;
}

static bool children_sorted(const struct flame *f, uint32_t c)
{
	uint32_t next;

	for (; c != NONE; c = next) {
		next = f->nodes.v[c].next;
		if (next != NONE && node_compare(f, c, next) > 0)
			return false;
	}
	return true;
}

/* Merge sort of linked children, bottom up: runs of 1, 2, 4, ... */
static void children_sort(struct flame *f, uint32_t *head)
{
	size_t size, merges = children_sorted(f, *head) ? 0 : 2;

	for (size = 1; merges > 1; size *= 2) {
		uint32_t rest = *head, *tail = head;

		for (merges = 0; rest != NONE; merges++) {
			uint32_t a = list_cut(f->nodes.v, &rest, size);
			uint32_t b = list_cut(f->nodes.v, &rest, size);

			tail = list_merge(f, tail, a, b);
		}
	}
}

struct place {
	uint32_t node, depth;
	double left, width;
};

struct walk {
	struct flame *f;
	double min_width;
	VEC(struct place) todo;
};

/* The width that a child of value 1 has at this place, if any of its children
 * is wide enough to be shown, else 0. A saturated parent can be less than its
 * children's sum: they share its width then. */
static double walk_scale(const struct walk *w, const struct place *p)
{
	const struct flame_node *v = w->f->nodes.v;
	double sum = 0, most = 0, whole;
	uint32_t c;

	for (c = v[p->node].child; c != NONE; c = v[c].next) {
		double value = (double)v[c].total;

		sum += value;
		most = value > most ? value : most;
	}
	whole = p->node == ROOT ? (double)w->f->total
				: (double)v[p->node].total;
	whole = sum > whole ? sum : whole;
	return p->width * (most / whole) < w->min_width ? 0
						       : p->width / whole;
}

/* Queue the wide enough children of a place, last first, so that the first is
 * taken next. */
static int walk_children(struct walk *w, const struct place *p)
{
	struct flame_node *v = w->f->nodes.v;
	double scale = walk_scale(w, p), left = p->left;
	size_t from = w->todo.n, to;
	uint32_t c;

	if (!(scale > 0))
		return 0;
	children_sort(w->f, &v[p->node].child);
	for (c = v[p->node].child; c != NONE; c = v[c].next) {
		double width = scale * (double)v[c].total;
		struct place *todo;

		if (width >= w->min_width) {
			todo = vec_push(&w->todo);
			if (!todo)
				return -ENOMEM;
			*todo = (struct place){ c, p->depth, left, width };
		}
		left += width;
	}
	for (to = w->todo.n; from + 1 < to; from++) {
		struct place swap = w->todo.v[from];

		w->todo.v[from] = w->todo.v[--to];
		w->todo.v[to] = swap;
	}
	return 0;
}

/* Show the frames of one chain, which are all equally wide. */
static int walk_chain(const struct walk *w, struct place *p,
		      int (*fn)(void *arg, const struct flame_box *box),
		      void *arg)
{
	const struct flame_node *n = &w->f->nodes.v[p->node];
	struct flame_box box = {
		.value = n->total, .left = p->left, .width = p->width,
		.old = w->f->diff ? w->f->old.v[p->node] : 0,
	};
	uint32_t i;
	int err = 0;

	for (i = 0; i < n->nlabels && !err; i++) {
		struct flame_frame frame;

		box.label = w->f->labels.v[n->labels + i];
		frame = flame_label(w->f, box.label);
		box.name = frame.name;
		box.len = frame.len;
		box.kind = frame.kind;
		box.depth = p->depth++;
		err = fn(arg, &box);
	}
	return err;
}

int flame_walk(struct flame *f, double min_width,
	       int (*fn)(void *arg, const struct flame_box *box), void *arg)
{
	struct walk w = { .f = f, .min_width = min_width };
	struct place at = { ROOT, 0, 0, 1 };
	int err = 0;

	if (!f->total)
		return 0;
	if (!f->linked)
		nodes_link(f);
	while (!err) {
		err = walk_children(&w, &at);
		if (err || !w.todo.n)
			break;
		at = w.todo.v[--w.todo.n];
		err = walk_chain(&w, &at, fn, arg);
	}
	vec_free(&w.todo);
	return err;
}
