/* link - instruction arrays to struct bpf_insn, names resolved.
 *
 * Two passes: the first emits every instruction and notes where the labels
 * stand; the second fills in the jumps, which may go forward. Offsets count
 * what the kernel counts: an ld_imm64 (maps, constants) takes two places, so
 * they are only known after the first pass.
 */
#include "asm/link.h"

#include <errno.h>
#include <string.h>

#include "asm/helper.h"
#include "asm/regs.h"
#include "base/log.h"
#include "base/near.h"
#include "base/vec.h"

struct linker {
	const struct bpf_object *object;
	const struct prog_def *prog;
	const struct link_env *env;
	struct buf *why;
	int err;
	const char *file;	/* of the instruction being emitted */
	int line;
	uint32_t count;		/* elements of the array */
	uint32_t at, again;	/* in the array; where a repeated part begins */
	int round, rounds;	/* of it; round is -1 outside of one */
	VEC(struct bpf_insn) insns;
	VEC(struct link_note) notes;
	VEC(struct link_label) labels;
};

size_t object_nmaps(const struct bpf_object *object)
{
	size_t n = 0;

	while (object->maps && object->maps[n].name)
		n++;
	return n;
}

size_t object_nprogs(const struct bpf_object *object)
{
	size_t n = 0;

	while (object->progs && object->progs[n].name)
		n++;
	return n;
}

size_t object_nconsts(const struct bpf_object *object)
{
	size_t n = 0;

	while (object->consts && object->consts[n])
		n++;
	return n;
}

uint32_t prog_count(const struct prog_def *prog)
{
	uint32_t n = 0;

	if (prog->count != TO_END)
		return prog->count;
	while (prog->insns[n].kind != INSN_END)
		n += insn_size(&prog->insns[n]);
	return n;
}

bool insns_any(const struct insn *insns, uint32_t count,
	       bool (*is)(const struct insn *in, const void *arg),
	       const void *arg)
{
	const struct insn *in;

	for (uint32_t i = 0; i < count; i += insn_size(in)) {
		in = &insns[i];
		if (in->kind == INSN_END)
			break;
		if (in->kind == INSN_SHARED
		    ? insns_any(in[1].insns, TO_END, is, arg)
		    : is(in, arg))
			return true;
	}
	return false;
}

int object_map(const struct bpf_object *object, const char *name)
{
	size_t n = object_nmaps(object);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(object->maps[i].name, name))
			return i;
	return -ENOENT;
}

int object_const(const struct bpf_object *object, const char *name)
{
	size_t n = object_nconsts(object);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(object->consts[i], name))
			return i;
	return -ENOENT;
}

bool insn_is_wide(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

bool insn_is_jump(const struct bpf_insn *insn)
{
	int class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	return (class == BPF_JMP || class == BPF_JMP32) &&
	       op != BPF_CALL && op != BPF_EXIT;
}

/* Start a complaint about a line; the caller ends it with a newline. */
static struct buf *wrong(struct linker *l, const char *file, int line)
{
	if (!l->err)
		l->err = -EINVAL;
	buf_fmt(l->why, "%s:%d: %s: ", file, line, l->prog->name);
	return l->why;
}

static void wrong_name(struct linker *l, const char *file, int line,
		       const char *kind, const struct near *near)
{
	struct buf *why = wrong(l, file, line);

	buf_fmt(why, "no %s \"%s\"", kind, near->wanted);
	if (near->best)
		buf_fmt(why, "; the nearest is \"%s\"", near->best);
	buf_putc(why, '\n');
}

static void emit(struct linker *l, struct bpf_insn insn, const char *name)
{
	struct bpf_insn *slot = vec_push(&l->insns);
	struct link_note *note = vec_push(&l->notes);

	if (!slot || !note) {
		l->err = -ENOMEM;
		return;
	}
	*slot = insn;
	*note = (struct link_note) {
		.file = l->file, .line = l->line, .name = name,
		.round = l->round,
	};
}

static void emit_wide(struct linker *l, int dst, int src, uint64_t value,
		      const char *name)
{
	emit(l, (struct bpf_insn) {
		.code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = dst,
		.src_reg = src, .imm = (int32_t)(uint32_t)value,
	}, name);
	emit(l, (struct bpf_insn) {
		.imm = (int32_t)(uint32_t)(value >> 32),
	}, NULL);
}

static void emit_move(struct linker *l, int dst, int src)
{
	emit(l, (struct bpf_insn) {
		.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = dst,
		.src_reg = src,
	}, NULL);
}

static void emit_number(struct linker *l, int dst, int32_t imm)
{
	emit(l, (struct bpf_insn) {
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = dst,
		.imm = imm,
	}, NULL);
}

static void emit_call(struct linker *l, int32_t helper, const char *name)
{
	emit(l, (struct bpf_insn) {
		.code = BPF_JMP | BPF_CALL, .imm = helper,
	}, name);
}

/* Before 5.5 there was one helper for the memory of either side. */
static void emit_helper(struct linker *l, int32_t helper)
{
	const struct helper *known = helper_find(helper);

	if (l->env->old_reads && (helper == BPF_FUNC_probe_read_kernel ||
				  helper == BPF_FUNC_probe_read_user))
		emit_call(l, BPF_FUNC_probe_read, "probe_read");
	else if (l->env->old_reads &&
		 (helper == BPF_FUNC_probe_read_kernel_str ||
		  helper == BPF_FUNC_probe_read_user_str))
		emit_call(l, BPF_FUNC_probe_read_str, "probe_read_str");
	else
		emit_call(l, helper, known ? known->name : "?");
}

static void emit_map(struct linker *l, int dst, const char *name)
{
	int i = object_map(l->object, name);
	struct near near = { .wanted = name };
	uint32_t fd;

	if (i < 0) {
		for (size_t k = 0; k < object_nmaps(l->object); k++)
			near_offer(&near, l->object->maps[k].name);
		wrong_name(l, l->file, l->line, "map", &near);
		return;
	}
	fd = l->env->map_fds ? l->env->map_fds[i] : i;
	emit_wide(l, dst, BPF_PSEUDO_MAP_FD, fd, name);
}

static void emit_const(struct linker *l, int dst, const char *name)
{
	int i = object_const(l->object, name);
	struct near near = { .wanted = name };

	if (i < 0) {
		for (size_t k = 0; k < object_nconsts(l->object); k++)
			near_offer(&near, l->object->consts[k]);
		wrong_name(l, l->file, l->line, "constant", &near);
		return;
	}
	emit_wide(l, dst, 0, l->env->consts ? l->env->consts[i] : 0, name);
}

static bool output_is_right(struct linker *l, const struct insn *in,
			    const char *what)
{
	if (in->dst >= 6 && in->dst <= 9 && in->src >= 6 && in->src <= 9)
		return true;
	buf_fmt(wrong(l, l->file, in->line),
		"%s takes r6 to r9, not r%d and r%d\n", what, in->dst,
		in->src);
	return false;
}

/* A perf buffer has its wake-up in the event's attributes. */
static int32_t wake_flags(const struct insn *in)
{
	return in->code == QUIET ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP;
}

static void emit_perf_output(struct linker *l, const struct insn *in,
			     const char *events, uint32_t size)
{
	emit_move(l, BPF_REG_1, in->dst);
	emit_map(l, BPF_REG_2, events);
	emit_wide(l, BPF_REG_3, 0, BPF_F_CURRENT_CPU, NULL);
	emit_move(l, BPF_REG_4, in->src);
	emit_number(l, BPF_REG_5, (int32_t)size);
	emit_call(l, BPF_FUNC_perf_event_output, "perf_event_output");
}

/* asm.h: dst = ctx, src = data, off = size, code = an enum output_mode. */
static void emit_output(struct linker *l, const struct insn *in)
{
	int i = object_map(l->object, insn_name(in));

	if (!output_is_right(l, in, "OUTPUT"))
		return;
	if (i >= 0 && l->object->maps[i].type != MAP_EVENTS) {
		buf_fmt(wrong(l, l->file, in->line),
			"OUTPUT to \"%s\", which is not an event map\n",
			insn_name(in));
		return;
	}
	if (!l->env->ringbuf) {
		emit_perf_output(l, in, insn_name(in), in->off);
		return;
	}
	emit_map(l, BPF_REG_1, insn_name(in));
	emit_move(l, BPF_REG_2, in->src);
	emit_number(l, BPF_REG_3, in->off);
	emit_number(l, BPF_REG_4, wake_flags(in));
	emit_call(l, BPF_FUNC_ringbuf_output, "ringbuf_output");
}

/* A label of a repeated part is another one each time. */
static struct link_label *label_find(struct linker *l, const char *name,
				     int round)
{
	for (size_t i = 0; i < l->labels.n; i++)
		if (l->labels.v[i].round == round &&
		    !strcmp(l->labels.v[i].name, name))
			return &l->labels.v[i];
	return round < 0 ? NULL : label_find(l, name, -1);
}

static void add_label(struct linker *l, const struct insn *in)
{
	struct link_label *label;

	label = label_find(l, insn_name(in), l->round);
	if (label && label->round == l->round) {
		buf_fmt(wrong(l, l->file, in->line),
			"label \"%s\" stands twice\n", insn_name(in));
		return;
	}
	label = vec_push(&l->labels);
	if (!label) {
		l->err = -ENOMEM;
		return;
	}
	*label = (struct link_label) {
		.name = insn_name(in), .round = l->round, .at = l->insns.n,
		.file = l->file, .line = in->line,
	};
}

/* What a program of the kind "whatever the probe is" becomes. */
static enum prog_kind kind_of(const struct linker *l)
{
	enum prog_kind kind = l->prog->kind;

	if (kind != PROG_PROBE)
		return kind;
	return l->env->kind == PROG_PERF_EVENT ? PROG_KPROBE : l->env->kind;
}

static void emit_load(struct linker *l, int dst, int src, int16_t off,
		      const char *name)
{
	emit(l, (struct bpf_insn) {
		.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = dst,
		.src_reg = src, .off = off,
	}, name);
}

/* Where the ctx is none of registers, there is none of them. */
static int16_t reg_offset(const struct linker *l, const char *name)
{
	enum prog_kind kind = kind_of(l);

	if (kind != PROG_PERF_EVENT && kind != PROG_KPROBE)
		return -1;
	switch (*name) {
	case 'g':
		return l->env->is_go ? cpu_regs.g : -1;
	case 's':
		return l->env->is_multi && !cpu_regs.multi_sp ? -1
							      : cpu_regs.sp;
	case 'l':
		return cpu_regs.lr;
	default:
		return cpu_regs.ip;
	}
}

static void emit_reg(struct linker *l, const struct insn *in)
{
	int16_t off = reg_offset(l, insn_name(in));

	if (off < 0)
		emit(l, (struct bpf_insn) {
			.code = BPF_ALU64 | BPF_K | BPF_MOV,
			.dst_reg = in->dst,
		}, insn_name(in));
	else
		emit_load(l, in->dst, in->src, off, insn_name(in));
}

/* A system call's function gets one argument, a pointer to the registers that
 * user space entered with; their place is SCRATCH for a moment (asm.h). */
static void emit_syscall_arg(struct linker *l, const struct insn *in, int n)
{
	enum { SLOT = -8 };

	emit_load(l, BPF_REG_3, in->src, cpu_regs.args[0], "regs");
	emit(l, (struct bpf_insn) {
		.code = BPF_ALU64 | BPF_K | BPF_ADD, .dst_reg = BPF_REG_3,
		.imm = cpu_regs.syscall_args[n],
	}, NULL);
	emit_move(l, BPF_REG_1, BPF_REG_10);
	emit(l, (struct bpf_insn) {
		.code = BPF_ALU64 | BPF_K | BPF_ADD, .dst_reg = BPF_REG_1,
		.imm = SLOT,
	}, NULL);
	emit_number(l, BPF_REG_2, 8);
	emit_helper(l, BPF_FUNC_probe_read_kernel);
	emit_load(l, in->dst, BPF_REG_10, SLOT, "arg");
}

static void emit_arg(struct linker *l, const struct insn *in)
{
	int n = in->imm - 1;

	if (n < 0 || n >= CPU_ARGS) {
		buf_fmt(wrong(l, l->file, in->line), "ARG is one of 1 to %d\n",
			CPU_ARGS);
		return;
	}
	switch (kind_of(l)) {
	case PROG_KPROBE:
		if (l->env->is_syscall)
			emit_syscall_arg(l, in, n);
		else
			emit_load(l, in->dst, in->src, cpu_regs.args[n],
				  "arg");
		break;
	case PROG_RAW_TRACEPOINT:
	case PROG_FENTRY:
	case PROG_FEXIT:
		if (l->prog->kind == PROG_PROBE && l->env->map_fds &&
		    (unsigned)n >= l->env->nargs)
			emit_number(l, in->dst, 0);	/* or it is refused */
		else
			emit_load(l, in->dst, in->src, (int16_t)(8 * n),
				  "arg");
		break;
	default:
		emit_number(l, in->dst, 0);
	}
}

static void emit_retval(struct linker *l, const struct insn *in)
{
	switch (kind_of(l)) {
	case PROG_KPROBE:
		emit_load(l, in->dst, in->src, cpu_regs.retval, insn_name(in));
		break;
	case PROG_FEXIT:
		emit_load(l, in->dst, in->src, (int16_t)(8 * l->env->nargs),
			  insn_name(in));
		break;
	default:
		emit_number(l, in->dst, 0);
	}
}

static void emit_probe(struct linker *l, const struct insn *in)
{
	if (!l->env->cookie) {
		emit_wide(l, in->dst, 0, l->env->probe, insn_name(in));
		return;
	}
	emit_move(l, BPF_REG_1, in->src);
	emit_call(l, BPF_FUNC_get_attach_cookie, "get_attach_cookie");
	emit_move(l, in->dst, BPF_REG_0);
}

static void emit_field(struct linker *l, const struct insn *in)
{
	static const unsigned sizes[] = {
		[BPF_W >> 3] = 4, [BPF_H >> 3] = 2, [BPF_B >> 3] = 1,
		[BPF_DW >> 3] = 8,
	};
	int off = 0;

	if (l->env->field)
		off = l->env->field(l->prog->attach, insn_name(in),
				    sizes[BPF_SIZE(in->code) >> 3]);
	if (off < 0 || off > INT16_MAX) {
		buf_fmt(wrong(l, l->file, in->line),
			"tracepoint %s has no such field \"%s\" here\n",
			l->prog->attach, insn_name(in));
		return;
	}
	emit(l, (struct bpf_insn) {
		.code = in->code, .dst_reg = in->dst, .src_reg = in->src,
		.off = off,
	}, insn_name(in));
}

static void offset_wrong(struct linker *l, const struct insn *in, int err)
{
	struct buf *why = wrong(l, l->file, in->line);

	if (err == -ENOMEM)
		l->err = err;
	if (err == -EOPNOTSUPP)
		buf_fmt(why, "where \"%s\" is, this kernel does not tell: "
			"it has no BTF (CONFIG_DEBUG_INFO_BTF)\n",
			insn_name(in));
	else if (err == -ENOENT)
		buf_fmt(why, "this kernel has no \"%s\"\n", insn_name(in));
	else
		buf_fmt(why, "cannot find \"%s\" in this kernel's BTF: %s\n",
			insn_name(in), log_errno(err));
}

static void emit_offset(struct linker *l, const struct insn *in)
{
	int off = 0;

	if (l->env->offset)
		off = l->env->offset(l->env->offset_arg, insn_name(in));
	if (off < 0) {
		offset_wrong(l, in, off);
		return;
	}
	emit_move(l, in->dst, in->src);
	emit(l, (struct bpf_insn) {
		.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = in->dst,
		.imm = off,
	}, insn_name(in));
}

static void emit_add(struct linker *l, int dst, int src, int32_t imm)
{
	emit_move(l, dst, src);
	emit(l, (struct bpf_insn) {
		.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = dst,
		.imm = imm,
	}, NULL);
}

static void emit_lookup(struct linker *l, const char *map, int key)
{
	emit_map(l, BPF_REG_1, map);
	emit_add(l, BPF_REG_2, BPF_REG_10, key);
	emit_call(l, BPF_FUNC_map_lookup_elem, "map_lookup_elem");
}

/* The number stands in the stack's top eight bytes for a moment (asm.h). */
static void emit_count(struct linker *l, const struct insn *in)
{
	enum { SLOT = -8 };

	emit(l, (struct bpf_insn) {
		.code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10,
		.off = SLOT, .imm = in->off,
	}, NULL);
	emit_lookup(l, insn_name(in), SLOT);
	emit(l, (struct bpf_insn) {
		.code = BPF_JMP | BPF_K | BPF_JEQ, .off = 2,
	}, NULL);
	emit_number(l, BPF_REG_1, 1);
	emit(l, (struct bpf_insn) {
		.code = BPF_STX | BPF_ATOMIC | BPF_DW, .src_reg = BPF_REG_1,
		.imm = BPF_ADD,
	}, NULL);
}

/* The object's event map; it has one, or this is a complaint. */
static const char *events_of(struct linker *l, const struct insn *in)
{
	for (size_t i = 0; i < object_nmaps(l->object); i++)
		if (l->object->maps[i].type == MAP_EVENTS)
			return l->object->maps[i].name;
	buf_fmt(wrong(l, l->file, in->line),
		"no event map for the records of \"%s\"\n", insn_name(in));
	return NULL;
}

/* The map of RESERVE and SUBMIT, as sized for the host; NULL: complained. */
static const struct map_def *record_of(struct linker *l, const struct insn *in)
{
	int i = object_map(l->object, insn_name(in));

	if (i < 0) {
		emit_map(l, BPF_REG_1, insn_name(in));	/* says so */
		return NULL;
	}
	if (l->object->maps[i].type != MAP_RECORD) {
		buf_fmt(wrong(l, l->file, in->line),
			"\"%s\" is not a map of records\n", insn_name(in));
		return NULL;
	}
	return l->env->maps ? &l->env->maps[i] : &l->object->maps[i];
}

/* The value is there, and used when it begins with anything but 0. */
static void emit_reserve_value(struct linker *l, const char *map)
{
	enum { SLOT = -8 };

	emit(l, (struct bpf_insn) {
		.code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10,
		.off = SLOT,
	}, NULL);
	emit_lookup(l, map, SLOT);
	emit(l, (struct bpf_insn) {
		.code = BPF_JMP | BPF_K | BPF_JEQ, .off = 3,
	}, NULL);
	emit(l, (struct bpf_insn) {
		.code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_1,
	}, NULL);
	emit(l, (struct bpf_insn) {
		.code = BPF_JMP | BPF_K | BPF_JEQ, .dst_reg = BPF_REG_1,
		.off = 1,
	}, NULL);
	emit_number(l, BPF_REG_0, 0);
}

static void emit_reserve(struct linker *l, const struct insn *in)
{
	const struct map_def *record = record_of(l, in);
	const char *events = record ? events_of(l, in) : NULL;

	if (!events)
		return;
	if (!l->env->ringbuf) {
		emit_reserve_value(l, insn_name(in));
		return;
	}
	emit_map(l, BPF_REG_1, events);
	emit_number(l, BPF_REG_2, (int32_t)record->value_size);
	emit_number(l, BPF_REG_3, 0);
	emit_call(l, BPF_FUNC_ringbuf_reserve, "ringbuf_reserve");
}

/* dst = ctx, src = the record; what the ring has taken it cannot lose. */
static void emit_submit(struct linker *l, const struct insn *in)
{
	const struct map_def *record = record_of(l, in);
	const char *events = record ? events_of(l, in) : NULL;

	if (!events || !output_is_right(l, in, "SUBMIT"))
		return;
	if (l->env->ringbuf) {
		emit_move(l, BPF_REG_1, in->src);
		emit_number(l, BPF_REG_2, wake_flags(in));
		emit_call(l, BPF_FUNC_ringbuf_submit, "ringbuf_submit");
		emit_number(l, BPF_REG_0, 0);
		return;
	}
	emit_perf_output(l, in, events, record->value_size);
	emit(l, (struct bpf_insn) {		/* the next may use it */
		.code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = in->src,
	}, NULL);
}

static void emit_return(struct linker *l, int32_t value)
{
	emit_number(l, BPF_REG_0, value);
	emit(l, (struct bpf_insn) { .code = BPF_JMP | BPF_EXIT }, NULL);
}

static void emit_again(struct linker *l, const struct insn *in)
{
	if (l->round < 0) {
		buf_fmt(wrong(l, l->file, in->line),
			"AGAIN without a REPEAT\n");
		return;
	}
	if (++l->round < l->rounds)
		l->at = l->again;
	else
		l->round = -1;
}

static void emit_repeat(struct linker *l, const struct insn *in)
{
	if (l->round >= 0) {
		buf_fmt(wrong(l, l->file, in->line),
			"REPEAT within a REPEAT\n");
		return;
	}
	l->round = 0;
	l->rounds = in->imm;
	l->again = l->at;
}

static void emit_insn(struct linker *l, const struct insn *in);

/* A file that is said within holds up to its end. */
static void emit_shared(struct linker *l, const struct insn *in)
{
	const char *file = l->file;

	for (; in->kind != INSN_END; in += insn_size(in))
		emit_insn(l, in);
	l->file = file;
}

/* What are several instructions wherever they stand; false: it is none. */
static bool emit_idiom(struct linker *l, const struct insn *in)
{
	switch (in->kind) {
	case INSN_SHARED:
		emit_shared(l, in[1].insns);
		return true;
	case INSN_LEA:
		emit_add(l, in->dst, in->src, in->imm);
		return true;
	case INSN_LOOKUP:
		emit_lookup(l, insn_name(in), in->off);
		return true;
	case INSN_COUNT:
		emit_count(l, in);
		return true;
	case INSN_RESERVE:
		emit_reserve(l, in);
		return true;
	case INSN_SUBMIT:
		emit_submit(l, in);
		return true;
	case INSN_RETURN:
		emit_return(l, in->imm);
		return true;
	case INSN_ROUND:
		emit_number(l, in->dst, l->round);
		return true;
	default:
		return false;
	}
}

static void emit_plain(struct linker *l, const struct insn *in)
{
	bool memory = in->kind == INSN_MEMORY;

	emit(l, (struct bpf_insn) {
		.code = in->code, .dst_reg = in->dst, .src_reg = in->src,
		.off = memory ? in->off : 0,
		.imm = memory ? in->small : in->imm,
	}, NULL);
}

static void emit_insn(struct linker *l, const struct insn *in)
{
	l->line = in->line;
	if (emit_idiom(l, in))
		return;
	switch (in->kind) {
	case INSN_REPEAT:
		emit_repeat(l, in);
		break;
	case INSN_AGAIN:
		emit_again(l, in);
		break;
	case INSN_FILE:
		l->file = insn_name(in) ? insn_name(in) : l->prog->file;
		break;
	case INSN_LABEL:
		add_label(l, in);
		break;
	case INSN_MAP:
		emit_map(l, in->dst, insn_name(in));
		break;
	case INSN_CONST:
		emit_const(l, in->dst, insn_name(in));
		break;
	case INSN_REG:
		emit_reg(l, in);
		break;
	case INSN_FIELD:
		emit_field(l, in);
		break;
	case INSN_ARG:
		emit_arg(l, in);
		break;
	case INSN_RETVAL:
		emit_retval(l, in);
		break;
	case INSN_PROBE:
		emit_probe(l, in);
		break;
	case INSN_CALL:
		emit_helper(l, in->imm);
		break;
	case INSN_OFFSET:
		emit_offset(l, in);
		break;
	case INSN_OUTPUT:
		emit_output(l, in);
		break;
	case INSN_JUMP:
		emit(l, (struct bpf_insn) {
			.code = in->code, .dst_reg = in->dst,
			.src_reg = in->src, .imm = in->off,
		}, insn_name(in));
		break;
	default:
		emit_plain(l, in);
	}
}

static void jump_to_label(struct linker *l, size_t i)
{
	const struct link_note *note = &l->notes.v[i];
	struct link_label *label = label_find(l, note->name, note->round);
	struct near near = { .wanted = note->name };
	int64_t away;

	if (!label) {
		for (size_t k = 0; k < l->labels.n; k++)
			near_offer(&near, l->labels.v[k].name);
		wrong_name(l, note->file, note->line, "label", &near);
		return;
	}
	label->uses++;
	away = (int64_t)label->at - (int64_t)i - 1;
	if (away < INT16_MIN || away > INT16_MAX)
		buf_fmt(wrong(l, note->file, note->line),
			"label \"%s\" is %lld instructions away\n",
			note->name, (long long)away);
	l->insns.v[i].off = away;
}

/* A jump by number, as the idioms of asm.h have it, is checked here; one to a
 * label can only miss by a label at the very end. */
static void check_target(struct linker *l, size_t i)
{
	int64_t to = (int64_t)i + 1 + l->insns.v[i].off;

	if (to < 0 || to >= (int64_t)l->insns.n)
		buf_fmt(wrong(l, l->notes.v[i].file,
			      l->notes.v[i].line),
			"jump past the end of the program\n");
	else if (to > 0 && insn_is_wide(&l->insns.v[to - 1]))
		buf_fmt(wrong(l, l->notes.v[i].file,
			      l->notes.v[i].line),
			"jump into the middle of an ld_imm64\n");
}

static void resolve_jumps(struct linker *l)
{
	for (size_t i = 0; i < l->insns.n; i++) {
		if (!insn_is_jump(&l->insns.v[i]))
			continue;
		if (l->notes.v[i].name)
			jump_to_label(l, i);
		if (!l->err)
			check_target(l, i);
	}
}

static void check_labels(struct linker *l)
{
	for (size_t i = 0; i < l->labels.n; i++) {
		const struct link_label *label = &l->labels.v[i];

		if (!label->uses)
			buf_fmt(wrong(l, label->file, label->line),
				"no jump to label \"%s\"\n", label->name);
	}
}

static void check_end(struct linker *l)
{
	uint8_t code;

	if (!l->insns.n) {
		buf_fmt(wrong(l, l->file, 0), "no instructions\n");
		return;
	}
	code = l->insns.v[l->insns.n - 1].code;
	if (code != (BPF_JMP | BPF_EXIT) && code != (BPF_JMP | BPF_JA))
		buf_fmt(wrong(l, l->notes.v[l->insns.n - 1].file,
			      l->notes.v[l->insns.n - 1].line),
			"the program ends without EXIT or JMP\n");
}

static void finish(struct linker *l, struct linked *out)
{
	out->insns = l->insns.v;
	out->notes = l->notes.v;
	out->n = l->insns.n;
	out->labels = l->labels.v;
	out->nlabels = l->labels.n;
	if (l->err)
		linked_free(out);
}

/* Since 6.13 a program's stack may belong to the CPU, as is right for those
 * that do not run there twice at once; at uprobes, which nothing keeps from it,
 * too. What holds a tail call has the task's: one that is never made will do.
 * (kernel/bpf/verifier.c: bpf_enable_priv_stack, check_max_stack_depth) */
static void emit_own_stack(struct linker *l)
{
	emit_number(l, BPF_REG_0, 0);
	emit(l, (struct bpf_insn) {
		.code = BPF_JMP | BPF_K | BPF_JEQ, .off = 1,
	}, NULL);
	emit_call(l, BPF_FUNC_tail_call, "tail_call");
}

int link_prog(const struct bpf_object *object, const struct prog_def *prog,
	      const struct link_env *env, struct linked *out,
	      struct buf *why)
{
	struct linker l = {
		.object = object, .prog = prog, .env = env, .why = why,
		.file = prog->file, .count = prog_count(prog), .round = -1,
	};

	if (env->is_user)
		emit_own_stack(&l);
	for (l.at = 0; l.at < l.count; l.at += insn_size(&prog->insns[l.at]))
		emit_insn(&l, &prog->insns[l.at]);
	if (l.err != -ENOMEM) {
		resolve_jumps(&l);
		check_labels(&l);
		check_end(&l);
	}
	if (why->err)
		l.err = -ENOMEM;
	finish(&l, out);
	return l.err;
}

void linked_free(struct linked *l)
{
	mem_free(l->insns);
	mem_free(l->notes);
	mem_free(l->labels);
	*l = (struct linked) { 0 };
}
