/* check - what can be said about an object's programs without a kernel.
 *
 * The kernel's verifier walks every path of a program; this walks every
 * instruction once. Before each instruction stands a state: what each register
 * holds and which stack bytes are written, on every path that leads there.
 * Where paths join, the states are intersected. Without jumps backwards, all
 * predecessors of an instruction have been there when it is reached in order,
 * and one pass is the fixed point; a loop takes more, until no state changes.
 * That it ends is left to the kernel (5.3; before that, it takes none).
 *
 * What is reserved in a ring has to be sent on every path, so it is the one
 * thing that counts when it may be so on any path.
 *
 * Load-time constants count as unknown: a program must be right whatever they
 * are. What the kernel knows and this does not (types of pointers, bounds of
 * values) is left to the kernel.
 */
#include "asm/check.h"

#include <errno.h>
#include <string.h>

#include "asm/helper.h"
#include "base/vec.h"

enum { NREGS = 11, STACK = 512 };

/* What a register holds. */
enum holds {
	UNREACHED = 0,	/* no path has come here yet */
	UNWRITTEN,
	LOST,		/* r1 to r5 after a call */
	ANY,		/* something */
	NUMBER,		/* n */
	FRAME,		/* r10 + n */
	A_MAP,		/* map number n of the object */
	RESERVED,	/* memory of the ring, or 0 */
};

struct value {
	uint8_t holds;
	int32_t n;
};

struct state {
	struct value r[NREGS];
	uint8_t written[STACK];		/* [i]: the byte at r10 - STACK + i */
	bool reserved;			/* memory may be, and not sent yet */
};

struct check {
	const struct bpf_object *object;
	const struct prog_def *prog;
	const struct linked *l;
	struct buf *why;
	struct state *at;	/* by instruction: before it */
	struct state s;		/* of the instruction being followed */
	size_t i;		/* its index */
	bool again;		/* a jump backwards has changed a state */
	int err;
};

/* Start a complaint about the current instruction; the caller ends it. */
static struct buf *complain(struct check *c)
{
	c->err = -EINVAL;
	buf_fmt(c->why, "%s:%d: %s: ", c->l->notes[c->i].file,
		c->l->notes[c->i].line, c->prog->name);
	return c->why;
}

static bool is_reached(const struct state *s)
{
	return s->r[10].holds != UNREACHED;
}

static bool value_is(struct value a, struct value b)
{
	return a.holds == b.holds && a.n == b.n;
}

static struct value value_join(struct value a, struct value b)
{
	if (value_is(a, b))
		return a;
	if (a.holds == UNWRITTEN || b.holds == UNWRITTEN)
		return (struct value) { .holds = UNWRITTEN };
	if (a.holds == LOST || b.holds == LOST)
		return (struct value) { .holds = LOST };
	return (struct value) { .holds = ANY };
}

/* The current state flows to instruction `to`. */
static void flow(struct check *c, int64_t to)
{
	bool back = to <= (int64_t)c->i;
	struct state *t = &c->at[to];

	if (!is_reached(t)) {
		*t = c->s;
		c->again |= back;
		return;
	}
	for (int r = 0; r < NREGS; r++) {
		struct value v = value_join(t->r[r], c->s.r[r]);

		c->again |= back && !value_is(v, t->r[r]);
		t->r[r] = v;
	}
	for (int i = 0; i < STACK; i++) {
		c->again |= back && t->written[i] > c->s.written[i];
		t->written[i] &= c->s.written[i];
	}
	c->again |= back && t->reserved < c->s.reserved;
	t->reserved |= c->s.reserved;
}

/* A complaint about a register or byte comes once: then it counts as good. */
static void reg_read(struct check *c, int r)
{
	struct value *v = &c->s.r[r];

	if (v->holds >= ANY)
		return;
	if (v->holds == LOST)
		buf_fmt(complain(c), "r%d read after a call\n", r);
	else
		buf_fmt(complain(c), "r%d read before it is written\n", r);
	v->holds = ANY;
}

static void reg_write(struct check *c, int r, enum holds holds, int32_t n)
{
	if (r == 10) {
		buf_fmt(complain(c), "r10 written\n");
		return;
	}
	c->s.r[r] = (struct value) { .holds = holds, .n = n };
}

/* Is [off, off + size) within the stack? */
static bool stack_holds(struct check *c, int64_t off, int64_t size)
{
	if (size > 0 && off >= -STACK && off + size <= 0)
		return true;
	buf_fmt(complain(c), "%lld bytes at r10%+lld are not in the stack\n",
		(long long)size, (long long)off);
	return false;
}

static void stack_read(struct check *c, int64_t off, int64_t size)
{
	uint8_t *byte;

	if (!stack_holds(c, off, size))
		return;
	byte = c->s.written + STACK + off;
	for (int64_t i = 0; i < size; i++) {
		if (byte[i])
			continue;
		buf_fmt(complain(c), "stack byte r10%+lld read before it is "
			"written\n", (long long)(off + i));
		break;
	}
	memset(byte, 1, size);
}

static void stack_write(struct check *c, int64_t off, int64_t size)
{
	if (stack_holds(c, off, size))
		memset(c->s.written + STACK + off, 1, size);
}

/* Memory at register r plus off; only the stack is followed. */
static void memory_read(struct check *c, int r, int off, int64_t size)
{
	reg_read(c, r);
	if (c->s.r[r].holds == FRAME)
		stack_read(c, (int64_t)c->s.r[r].n + off, size);
}

static void memory_write(struct check *c, int r, int off, int64_t size)
{
	reg_read(c, r);
	if (c->s.r[r].holds == FRAME)
		stack_write(c, (int64_t)c->s.r[r].n + off, size);
}

static int access_size(const struct bpf_insn *insn)
{
	switch (BPF_SIZE(insn->code)) {
	case BPF_B: return 1;
	case BPF_H: return 2;
	case BPF_W: return 4;
	default: return 8;
	}
}

static void follow_alu(struct check *c, const struct bpf_insn *insn)
{
	bool reg = BPF_SRC(insn->code) == BPF_X;
	bool wide = BPF_CLASS(insn->code) == BPF_ALU64;
	struct value *dst = &c->s.r[insn->dst_reg];

	if (reg)
		reg_read(c, insn->src_reg);
	if (BPF_OP(insn->code) != BPF_MOV)
		reg_read(c, insn->dst_reg);
	if (BPF_OP(insn->code) == BPF_ADD && c->l->notes[c->i].name &&
	    dst->holds != ANY)
		buf_fmt(complain(c), "FIELD of \"%s\": r%d is no address of "
			"the kernel's\n", c->l->notes[c->i].name,
			insn->dst_reg);
	if (wide && reg && BPF_OP(insn->code) == BPF_MOV)
		reg_write(c, insn->dst_reg, c->s.r[insn->src_reg].holds,
			  c->s.r[insn->src_reg].n);
	else if (wide && !reg && BPF_OP(insn->code) == BPF_MOV)
		reg_write(c, insn->dst_reg, NUMBER, insn->imm);
	else if (wide && !reg && BPF_OP(insn->code) == BPF_ADD &&
		 dst->holds == FRAME && insn->imm >= -STACK &&
		 insn->imm <= STACK && dst->n >= -STACK && dst->n <= STACK)
		reg_write(c, insn->dst_reg, FRAME, dst->n + insn->imm);
	else
		reg_write(c, insn->dst_reg, ANY, 0);
}

static void follow_wide(struct check *c, const struct bpf_insn *insn)
{
	const char *name = c->l->notes[c->i].name;

	if (insn->src_reg == BPF_PSEUDO_MAP_FD)
		reg_write(c, insn->dst_reg, A_MAP,
			  object_map(c->object, name));
	else
		reg_write(c, insn->dst_reg, ANY, 0);
}

/* The map that a helper gets, NULL when it depends on the path. */
static const struct map_def *map_of(struct check *c, const char *args)
{
	const char *m = strchr(args, 'm');
	const struct value *v = m ? &c->s.r[1 + (m - args)] : NULL;

	return v && v->holds == A_MAP ? &c->object->maps[v->n] : NULL;
}

/* Argument i of a helper, counted from 0: register i + 1. Its size stands in
 * the register after it. */
static void follow_argument(struct check *c, const char *args, int i)
{
	const struct map_def *map = map_of(c, args);
	const struct value *arg = &c->s.r[i + 1], *size = arg + 1;
	int r = i + 1;

	reg_read(c, r);
	if (args[i] == 'm' && (arg->holds == NUMBER || arg->holds == FRAME))
		buf_fmt(complain(c), "r%d is not a map\n", r);
	else if (args[i] == 'k' && map)
		memory_read(c, r, 0, map->key_size);
	else if (args[i] == 'u' && map)
		memory_read(c, r, 0, map->value_size);
	else if (args[i] == 'r' && size->holds == NUMBER)
		memory_read(c, r, 0, size->n);
	else if (args[i] == 'w' && size->holds == NUMBER)
		memory_write(c, r, 0, size->n);
}

/* Nothing is reserved any more; what pointed there holds this instead. */
static void release(struct check *c, struct value now)
{
	c->s.reserved = false;
	for (int r = 0; r < NREGS; r++)
		if (c->s.r[r].holds == RESERVED)
			c->s.r[r] = now;
}

static void follow_ring(struct check *c, int32_t helper)
{
	if (helper == BPF_FUNC_ringbuf_reserve) {
		if (c->s.reserved)
			buf_fmt(complain(c), "reserved twice\n");
		c->s.reserved = true;
		reg_write(c, 0, RESERVED, 0);
	} else if (helper == BPF_FUNC_ringbuf_submit) {
		if (c->s.r[1].holds != RESERVED)
			buf_fmt(complain(c), "r1 is not what was reserved\n");
		release(c, (struct value) { .holds = LOST });
		reg_write(c, 0, LOST, 0);
	}
}

static void follow_call(struct check *c, const struct bpf_insn *insn)
{
	const struct helper *h = helper_find(insn->imm);

	if (h)
		for (int i = 0; h->args[i]; i++)
			follow_argument(c, h->args, i);
	else
		buf_fmt(complain(c), "helper #%d is not in src/asm/helper.c\n",
			insn->imm);
	reg_write(c, 0, ANY, 0);
	follow_ring(c, insn->imm);
	for (int r = 1; r <= 5; r++)
		c->s.r[r] = (struct value) { .holds = LOST };
}

/* Does the jump ask whether what was to be reserved is 0? */
static bool asks_reserved(const struct check *c, const struct bpf_insn *insn)
{
	return c->s.r[insn->dst_reg].holds == RESERVED && !insn->imm &&
	       BPF_SRC(insn->code) == BPF_K &&
	       (BPF_OP(insn->code) == BPF_JEQ ||
		BPF_OP(insn->code) == BPF_JNE);
}

static void follow_jump(struct check *c, const struct bpf_insn *insn)
{
	const struct value none = { .holds = NUMBER };
	int64_t to = (int64_t)c->i + 1 + insn->off;
	struct state before;

	if (BPF_OP(insn->code) != BPF_JA) {
		reg_read(c, insn->dst_reg);
		if (BPF_SRC(insn->code) == BPF_X)
			reg_read(c, insn->src_reg);
	}
	before = c->s;
	if (asks_reserved(c, insn) && BPF_OP(insn->code) == BPF_JEQ) {
		release(c, none);
		flow(c, to);
		c->s = before;
		return;
	}
	flow(c, to);
	if (asks_reserved(c, insn))
		release(c, none);
}

static void follow_memory(struct check *c, const struct bpf_insn *insn)
{
	int size = access_size(insn);

	switch (BPF_CLASS(insn->code)) {
	case BPF_LDX:
		memory_read(c, insn->src_reg, insn->off, size);
		reg_write(c, insn->dst_reg, ANY, 0);
		return;
	case BPF_STX:
		reg_read(c, insn->src_reg);
		if (BPF_MODE(insn->code) == BPF_ATOMIC)
			memory_read(c, insn->dst_reg, insn->off, size);
	}
	memory_write(c, insn->dst_reg, insn->off, size);
}

/* What the current instruction does to the state. False: nothing falls
 * through to the next one. */
static bool follow_insn(struct check *c, const struct bpf_insn *insn)
{
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		follow_alu(c, insn);
		return true;
	case BPF_LD:
		follow_wide(c, insn);
		return true;
	case BPF_LDX:
	case BPF_ST:
	case BPF_STX:
		follow_memory(c, insn);
		return true;
	}
	if (BPF_OP(insn->code) == BPF_EXIT) {
		reg_read(c, 0);
		if (c->s.reserved)
			buf_fmt(complain(c), "what was reserved is not "
				"sent\n");
		return false;
	}
	if (BPF_OP(insn->code) == BPF_CALL) {
		follow_call(c, insn);
		return true;
	}
	follow_jump(c, insn);
	return BPF_OP(insn->code) != BPF_JA;
}

static void follow_once(struct check *c)
{
	size_t width;
	bool dead = false;

	c->again = false;
	for (c->i = 0; c->i < c->l->n; c->i += width) {
		const struct bpf_insn *insn = &c->l->insns[c->i];

		width = insn_is_wide(insn) ? 2 : 1;
		if (!is_reached(&c->at[c->i])) {
			if (!dead)
				buf_fmt(complain(c), "no path comes here\n");
			dead = true;
			continue;
		}
		dead = false;
		c->s = c->at[c->i];
		if (follow_insn(c, insn) && c->i + width < c->l->n)
			flow(c, c->i + width);
	}
}

/* What is said before the states are final may not hold. */
static void follow_all(struct check *c)
{
	size_t before = c->why->len;

	do {
		if (!c->why->err)
			c->why->len = before;
		c->err = 0;
		follow_once(c);
	} while (c->again);
}

int linked_check(const struct bpf_object *object, const struct prog_def *prog,
		 const struct linked *l, struct buf *why)
{
	struct check c = {
		.object = object, .prog = prog, .l = l, .why = why,
	};

	if (l->n > BPF_MAXINSNS) {
		buf_fmt(complain(&c), "%zu instructions; before Linux 5.2 a "
			"program has at most %d\n", l->n, BPF_MAXINSNS);
		return c.err;
	}
	c.at = mem_zalloc(l->n * sizeof(*c.at));
	if (!c.at)
		return -ENOMEM;
	for (int r = 0; r < NREGS; r++)
		c.at[0].r[r].holds = UNWRITTEN;
	c.at[0].r[1].holds = ANY;
	c.at[0].r[10].holds = FRAME;
	follow_all(&c);
	mem_free(c.at);
	return why->err ? why->err : c.err;
}

static int prog_check(const struct bpf_object *object,
		      const struct prog_def *prog, bool ringbuf,
		      struct buf *why)
{
	struct link_env env = { .ringbuf = ringbuf };
	struct linked l;
	int err = link_prog(object, prog, &env, &l, why);

	if (!err)
		err = linked_check(object, prog, &l, why);
	linked_free(&l);
	return err;
}

/* A name that the kernel takes: BPF_OBJ_NAME_LEN - 1 of these characters. */
static bool name_is_good(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz"
			  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return n && n < BPF_OBJ_NAME_LEN && !name[n];
}

static bool uses_map(const struct insn *in, const void *name)
{
	return (in->kind == INSN_MAP || in->kind == INSN_LOOKUP ||
		in->kind == INSN_COUNT || in->kind == INSN_OUTPUT ||
		in->kind == INSN_RESERVE || in->kind == INSN_SUBMIT) &&
	       !strcmp(insn_name(in), name);
}

static bool sends_record(const struct insn *in, const void *unused)
{
	(void)unused;
	return in->kind == INSN_SUBMIT;
}

static bool uses_const(const struct insn *in, const void *name)
{
	return in->kind == INSN_CONST && !strcmp(insn_name(in), name);
}

static bool object_any(const struct bpf_object *object,
		       bool (*is)(const struct insn *in, const void *arg),
		       const char *name)
{
	for (size_t p = 0; p < object_nprogs(object); p++) {
		const struct prog_def *prog = &object->progs[p];

		if (insns_any(prog->insns, prog_count(prog), is, name))
			return true;
	}
	return false;
}

/* Records go to the event map without its name. */
static bool map_is_used(const struct bpf_object *object,
			const struct map_def *map)
{
	return object_any(object, uses_map, map->name) ||
	       (map->type == MAP_EVENTS &&
		object_any(object, sends_record, NULL));
}

static void name_check(const char *file, const char *kind, const char *name,
		       bool first, struct buf *why)
{
	if (!first)
		buf_fmt(why, "%s: %s \"%s\" is declared twice\n", file, kind,
			name);
	if (strcmp(kind, "constant") && !name_is_good(name))
		buf_fmt(why, "%s: %s \"%s\": the kernel takes 15 letters, "
			"digits and _\n", file, kind, name);
}

static void names_check(const struct bpf_object *o, struct buf *why)
{
	const char *file = o->progs[0].file;

	for (size_t i = 0; i < object_nmaps(o); i++) {
		const char *name = o->maps[i].name;

		name_check(file, "map", name,
			   object_map(o, name) == (int)i, why);
		if (!map_is_used(o, &o->maps[i]))
			buf_fmt(why, "%s: no program uses the map \"%s\"\n",
				file, name);
	}
	for (size_t i = 0; i < object_nconsts(o); i++) {
		const char *name = o->consts[i];

		name_check(file, "constant", name,
			   object_const(o, name) == (int)i, why);
		if (!object_any(o, uses_const, name))
			buf_fmt(why, "%s: no program uses the constant "
				"\"%s\"\n", file, name);
	}
	for (size_t i = 0; i < object_nprogs(o); i++)
		name_check(file, "program", o->progs[i].name, true, why);
}

/* A complaint that both kinds of event map bring is said once. */
int object_check(const struct bpf_object *object, struct buf *why)
{
	size_t before = why->len;
	int err;

	names_check(object, why);
	for (size_t i = 0; i < object_nprogs(object); i++) {
		err = prog_check(object, &object->progs[i], true, why);
		if (!err)
			err = prog_check(object, &object->progs[i], false,
					 why);
		if (err == -ENOMEM)
			return err;
	}
	if (why->err)
		return why->err;
	return why->len > before ? -EINVAL : 0;
}
