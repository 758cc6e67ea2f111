/* dump - linked programs as text, in the notation of the kernel's verifier. */
#include "asm/dump.h"

#include <string.h>

enum { LINE_COLUMN = 56 };	/* where the source line stands */

static const char *const alu_op[16] = {
	"+=", "-=", "*=", "/=", "|=", "&=", "<<=", ">>=", "neg", "%=", "^=",
	"=", "s>>=", "endian", "?", "?",
};

static const char *const jump_op[16] = {
	"jmp", "==", ">", ">=", "&", "!=", "s>", "s>=", "call", "exit", "<",
	"<=", "s<", "s<=", "?", "?",
};

const char *prog_kind_name(enum prog_kind kind)
{
	switch (kind) {
	case PROG_PERF_EVENT: return "perf_event";
	case PROG_RAW_TRACEPOINT: return "raw_tracepoint";
	case PROG_TRACEPOINT: return "tracepoint";
	case PROG_KPROBE: return "kprobe";
	case PROG_FENTRY: return "fentry";
	case PROG_FEXIT: return "fexit";
	case PROG_PROBE: return "probe";
	}
	return "?";
}

const char *map_type_name(uint32_t type)
{
	switch (type) {
	case BPF_MAP_TYPE_HASH: return "hash";
	case BPF_MAP_TYPE_ARRAY: return "array";
	case BPF_MAP_TYPE_PERCPU_HASH: return "percpu_hash";
	case BPF_MAP_TYPE_PERCPU_ARRAY: return "percpu_array";
	case BPF_MAP_TYPE_STACK_TRACE: return "stack_trace";
	case BPF_MAP_TYPE_CGROUP_ARRAY: return "cgroup_array";
	case BPF_MAP_TYPE_LRU_HASH: return "lru_hash";
	case MAP_EVENTS: return "events";
	case MAP_RECORD: return "record";
	}
	return "?";
}

static const char *size_name(uint8_t code)
{
	switch (BPF_SIZE(code)) {
	case BPF_B: return "u8";
	case BPF_H: return "u16";
	case BPF_W: return "u32";
	default: return "u64";
	}
}

static void dump_alu(const struct bpf_insn *insn, const char *name,
		     struct buf *out)
{
	char r = BPF_CLASS(insn->code) == BPF_ALU64 ? 'r' : 'w';
	const char *op = alu_op[BPF_OP(insn->code) >> 4];

	buf_fmt(out, "%c%d %s ", r, insn->dst_reg, op);
	if (BPF_SRC(insn->code) == BPF_X)
		buf_fmt(out, "%c%d", r, insn->src_reg);
	else if (name && BPF_OP(insn->code) == BPF_ADD)
		buf_puts(out, name);	/* a field's place differs */
	else
		buf_fmt(out, "%d", insn->imm);
}

static void dump_memory(const struct bpf_insn *insn, const char *name,
			struct buf *out)
{
	const char *size = size_name(insn->code);
	bool atomic = BPF_MODE(insn->code) == BPF_ATOMIC;

	switch (BPF_CLASS(insn->code)) {
	case BPF_LDX:
		buf_fmt(out, "r%d = *(%s *)(r%d ", insn->dst_reg, size,
			insn->src_reg);
		if (name)	/* a register's or field's place differs */
			buf_fmt(out, "+%s)", name);
		else
			buf_fmt(out, "%+d)", insn->off);
		break;
	case BPF_STX:
		buf_fmt(out, "%s*(%s *)(r%d %+d) %s r%d",
			atomic ? "lock " : "", size, insn->dst_reg, insn->off,
			atomic ? "+=" : "=", insn->src_reg);
		break;
	default:
		buf_fmt(out, "*(%s *)(r%d %+d) = %d", size, insn->dst_reg,
			insn->off, insn->imm);
	}
}

static void dump_wide(const struct linked *l, size_t i, struct buf *out)
{
	const struct bpf_insn *insn = &l->insns[i];
	const char *name = l->notes[i].name;
	uint64_t value = (uint32_t)insn[0].imm |
			 (uint64_t)(uint32_t)insn[1].imm << 32;

	buf_fmt(out, "r%d = ", insn->dst_reg);
	if (insn->src_reg == BPF_PSEUDO_MAP_FD)
		buf_fmt(out, "map[%s]", name);
	else if (name)
		buf_fmt(out, "const[%s]=0x%llx", name,
			(unsigned long long)value);
	else
		buf_fmt(out, "0x%llx", (unsigned long long)value);
}

static void dump_goto(const struct linked *l, size_t i, struct buf *out)
{
	if (l->notes[i].name)
		buf_fmt(out, "goto %s", l->notes[i].name);
	else
		buf_fmt(out, "goto pc%+d", l->insns[i].off);
}

static void dump_branch(const struct linked *l, size_t i, struct buf *out)
{
	const struct bpf_insn *insn = &l->insns[i];
	char r = BPF_CLASS(insn->code) == BPF_JMP ? 'r' : 'w';

	switch (BPF_OP(insn->code)) {
	case BPF_EXIT:
		buf_puts(out, "exit");
		return;
	case BPF_CALL:
		buf_fmt(out, "call bpf_%s#%d", l->notes[i].name, insn->imm);
		return;
	case BPF_JA:
		dump_goto(l, i, out);
		return;
	}
	buf_fmt(out, "if %c%d %s ", r, insn->dst_reg,
		jump_op[BPF_OP(insn->code) >> 4]);
	if (BPF_SRC(insn->code) == BPF_X)
		buf_fmt(out, "%c%d ", r, insn->src_reg);
	else
		buf_fmt(out, "0x%x ", (uint32_t)insn->imm);
	dump_goto(l, i, out);
}

void dump_insn(const struct linked *l, size_t i, struct buf *out)
{
	const struct bpf_insn *insn = &l->insns[i];

	buf_fmt(out, "(%02x) ", insn->code);
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		dump_alu(insn, l->notes[i].name, out);
		break;
	case BPF_LD:
		dump_wide(l, i, out);
		break;
	case BPF_LDX:
	case BPF_ST:
	case BPF_STX:
		dump_memory(insn, l->notes[i].name, out);
		break;
	default:
		dump_branch(l, i, out);
	}
}

static void pad_to(struct buf *out, size_t start, size_t column)
{
	do
		buf_putc(out, ' ');
	while (!out->err && out->len < start + column);
}

static void dump_line(const struct prog_def *prog, const struct linked *l,
		      size_t i, struct buf *out)
{
	size_t start = out->len;

	buf_fmt(out, "%4zu: ", i);
	dump_insn(l, i, out);
	pad_to(out, start, LINE_COLUMN);
	buf_fmt(out, "; line %d", l->notes[i].line);
	if (strcmp(l->notes[i].file, prog->file))
		buf_fmt(out, " of %s", l->notes[i].file);
	buf_putc(out, '\n');
}

void dump_prog(const struct prog_def *prog, const struct linked *l,
	       struct buf *out)
{
	size_t label = 0;

	buf_fmt(out, "\nprogram %s: %zu instructions of %s\n", prog->name,
		l->n, prog->file);
	for (size_t i = 0; i < l->n; i++) {
		for (; label < l->nlabels && l->labels[label].at == i; label++)
			buf_fmt(out, "%s:\n", l->labels[label].name);
		dump_line(prog, l, i, out);
		i += insn_is_wide(&l->insns[i]);
	}
}

static void dump_map(const struct map_def *map, struct buf *out)
{
	buf_fmt(out, "map %-15s %-13s", map->name, map_type_name(map->type));
	if (map->type == MAP_EVENTS)
		buf_fmt(out, "%u bytes\n", map->max_entries);
	else if (map->type == MAP_RECORD)
		buf_fmt(out, "%u bytes\n", map->value_size);
	else
		buf_fmt(out, "%u entries, key %u, value %u bytes\n",
			map->max_entries, map->key_size, map->value_size);
}

void dump_object(const char *name, const struct bpf_object *object,
		 struct buf *out)
{
	buf_fmt(out, "object %s\n", name);
	for (size_t i = 0; i < object_nmaps(object); i++)
		dump_map(&object->maps[i], out);
	for (size_t i = 0; i < object_nconsts(object); i++)
		buf_fmt(out, "constant %s\n", object->consts[i]);
	for (size_t i = 0; i < object_nprogs(object); i++) {
		const struct prog_def *prog = &object->progs[i];

		buf_fmt(out, "program %-11s %s%s%s\n", prog->name,
			prog_kind_name(prog->kind), prog->attach ? " " : "",
			prog->attach ? prog->attach : "");
	}
}
