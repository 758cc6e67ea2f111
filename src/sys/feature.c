/* feature - what the running kernel has, asked when somebody needs it. */
#include "sys/feature.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/bpf.h"
#include "sys/btf.h"
#include "sys/fs.h"
#include "sys/host.h"

enum { R0, R1, R2, R3, R4, R10 = 10 };

#define OP(code, dst, src, off, imm) { code, dst, src, off, imm }
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MOVI(dst, imm) OP(BPF_ALU64 | BPF_K | BPF_MOV, dst, 0, 0, imm)
#define FRAME_SLOT(dst) \
	OP(BPF_ALU64 | BPF_X | BPF_MOV, dst, R10, 0, 0), \
	OP(BPF_ALU64 | BPF_K | BPF_ADD, dst, 0, 0, -8)
#define CALL(func) OP(BPF_JMP | BPF_CALL, 0, 0, 0, func)
#define RETURN MOVI(R0, 0), OP(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* What a try gave, a descriptor or -errno, as 0 or -errno. */
static int tried(int fd)
{
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int load(uint32_t type, const struct bpf_insn *insns, size_t n)
{
	const struct bpf_load load = {
		.name = "probe", .type = type, .insns = insns, .n = n,
	};

	return bpf_prog_load(&load, NULL);
}

static int loads(uint32_t type, const struct bpf_insn *insns, size_t n)
{
	return tried(load(type, insns, n));
}

static const struct bpf_insn nothing[] = { RETURN };

static int has_bpf(void)
{
	return loads(BPF_PROG_TYPE_PERF_EVENT, nothing, COUNT(nothing));
}

static int has_ringbuf(void)
{
	uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);

	return tried(bpf_map_create("probe", BPF_MAP_TYPE_RINGBUF, 0, 0, page,
				    0));
}

static int has_get_stack(void)
{
	static const struct bpf_insn prog[] = {
		FRAME_SLOT(R2),
		MOVI(R3, 8),
		MOVI(R4, 0),
		CALL(BPF_FUNC_get_stack),
		RETURN,
	};

	return loads(BPF_PROG_TYPE_PERF_EVENT, prog, COUNT(prog));
}

static int has_read(int32_t helper)
{
	const struct bpf_insn prog[] = {
		FRAME_SLOT(R1),
		MOVI(R2, 8),
		MOVI(R3, 0),
		CALL(helper),
		RETURN,
	};

	return loads(BPF_PROG_TYPE_PERF_EVENT, prog, COUNT(prog));
}

static int has_read_user(void)
{
	return has_read(BPF_FUNC_probe_read_user);
}

static int has_read_kernel(void)
{
	return has_read(BPF_FUNC_probe_read_kernel);
}

static int has_ns_pid(void)
{
	static const struct bpf_insn prog[] = {
		MOVI(R1, 0),
		MOVI(R2, 0),
		FRAME_SLOT(R3),
		MOVI(R4, 8),
		CALL(BPF_FUNC_get_ns_current_pid_tgid),
		RETURN,
	};

	return loads(BPF_PROG_TYPE_PERF_EVENT, prog, COUNT(prog));
}

static int has_raw_tracepoint(void)
{
	return loads(BPF_PROG_TYPE_RAW_TRACEPOINT, nothing, COUNT(nothing));
}

static int has_pmu(const char *path)
{
	long long type;

	return fs_read_num(FS_SYS, path, &type);
}

static int has_kprobe_pmu(void)
{
	return has_pmu("bus/event_source/devices/kprobe/type");
}

static int has_uprobe_pmu(void)
{
	return has_pmu("bus/event_source/devices/uprobe/type");
}

/* Programs of probes; r1 is the ctx that the helper takes. */
static int has_probe_helper(int32_t helper)
{
	const struct bpf_insn prog[] = { CALL(helper), RETURN };

	return loads(BPF_PROG_TYPE_KPROBE, prog, COUNT(prog));
}

static int has_attach_cookie(void)
{
	return has_probe_helper(BPF_FUNC_get_attach_cookie);
}

static int has_func_ip(void)
{
	return has_probe_helper(BPF_FUNC_get_func_ip);
}

static int has_kprobe_stack(void)
{
	int map = bpf_map_create("probe", BPF_MAP_TYPE_STACK_TRACE, 4, 8, 1, 0);
	const struct bpf_insn prog[] = {
		OP(BPF_LD | BPF_IMM | BPF_DW, R2, BPF_PSEUDO_MAP_FD, 0, map),
		OP(0, 0, 0, 0, 0),
		MOVI(R3, 0),
		CALL(BPF_FUNC_get_stackid),
		RETURN,
	};
	int err = map < 0 ? map :
		loads(BPF_PROG_TYPE_KPROBE, prog, COUNT(prog));

	if (map >= 0)
		close(map);
	return err;
}

/* Links are tried with what cannot be meant: a kernel that knows them says so
 * (`wanted`), one that does not has nothing but EINVAL. */
static int link_refusal(int prog, int err, int wanted)
{
	close(prog);
	if (err >= 0)
		close(err);
	return err == wanted || err >= 0 ? 0 : err;
}

static int has_perf_link(void)
{
	int prog = load(BPF_PROG_TYPE_PERF_EVENT, nothing, COUNT(nothing));

	return prog < 0 ? prog :
		link_refusal(prog, bpf_link_perf(prog, -1, 0), -EBADF);
}

static int load_multi(uint32_t attach_type)
{
	const struct bpf_load load = {
		.name = "probe", .type = BPF_PROG_TYPE_KPROBE,
		.insns = nothing, .n = COUNT(nothing),
		.attach_type = attach_type,
	};

	return bpf_prog_load(&load, NULL);
}

/* No program has memory there. */
#define BAD_ADDRESS ((void *)(uintptr_t)8)

static int has_kprobe_multi(void)
{
	const struct bpf_kprobes k = { .addrs = BAD_ADDRESS, .count = 1 };
	int prog = load_multi(BPF_TRACE_KPROBE_MULTI);

	return prog < 0 ? prog :
		link_refusal(prog, bpf_link_kprobes(prog, &k), -EFAULT);
}

static int has_uprobe_multi(void)
{
	const struct bpf_uprobes u = {
		.path = BAD_ADDRESS, .offsets = BAD_ADDRESS, .count = 1,
	};
	int prog = load_multi(BPF_TRACE_UPROBE_MULTI);

	return prog < 0 ? prog :
		link_refusal(prog, bpf_link_uprobes(prog, &u), -EFAULT);
}

static int has_btf(void)
{
	return tried(fs_open(FS_SYS, "kernel/btf/vmlinux", O_RDONLY));
}

/* A program for one function of the kernel, by its types. */
static int load_tracing(uint32_t attach_type, const char *func)
{
	struct bpf_load load = {
		.name = "probe", .type = BPF_PROG_TYPE_TRACING,
		.insns = nothing, .n = COUNT(nothing),
		.attach_type = attach_type,
	};
	struct btf *btf;
	int id = btf_open(NULL, &btf);

	if (id)
		return id;
	id = btf_func(btf, func);
	btf_close(btf);
	if (id < 0)
		return id;
	load.btf_id = (uint32_t)id;
	return bpf_prog_load(&load, NULL);
}

/* Attached for a moment: the kernel needs its function tracer, and rights, for
 * that alone. The first function is there to be tried on, and never runs. */
static int has_fentry(void)
{
	int prog = load_tracing(BPF_TRACE_FENTRY, "bpf_fentry_test1");

	if (prog == -ENOENT)
		prog = load_tracing(BPF_TRACE_FENTRY, "vfs_fallocate");
	return prog < 0 ? prog :
		link_refusal(prog, bpf_raw_tracepoint_open(NULL, prog), 0);
}

/* The PMU's file, or where there is no PMU, the version. */
static int has_ref_ctr(void)
{
	int err = tried(fs_open(FS_SYS, "bus/event_source/devices/uprobe/"
				"format/ref_ctr_offset", O_RDONLY));

	return host_kernel() >= 0x414 ? 0 : err;
}

static int has_task_iter(void)
{
	return tried(load_tracing(BPF_TRACE_ITER, "bpf_iter_task"));
}

#define PART(name, major, minor, op) \
	{ #name, has_##name, (major) << 8 | (minor), op }

static const struct {
	const char *name;
	int (*probe)(void);	/* 0 or -errno */
	unsigned since;
	enum operation op;
} features[FEATURE_MAX] = {
	[FEATURE_BPF] = PART(bpf, 4, 9, OP_BPF),
	[FEATURE_RINGBUF] = PART(ringbuf, 5, 8, OP_BPF),
	[FEATURE_GET_STACK] = PART(get_stack, 4, 18, OP_BPF),
	[FEATURE_READ_USER] = PART(read_user, 5, 5, OP_BPF),
	[FEATURE_READ_KERNEL] = PART(read_kernel, 5, 5, OP_BPF),
	[FEATURE_NS_PID] = PART(ns_pid, 5, 7, OP_BPF),
	[FEATURE_RAW_TRACEPOINT] = PART(raw_tracepoint, 4, 17, OP_BPF),
	[FEATURE_KPROBE_PMU] = PART(kprobe_pmu, 4, 17, OP_KPROBE),
	[FEATURE_UPROBE_PMU] = PART(uprobe_pmu, 4, 17, OP_UPROBE),
	[FEATURE_KPROBE_STACK] = PART(kprobe_stack, 4, 9, OP_BPF),
	[FEATURE_PERF_LINK] = PART(perf_link, 5, 15, OP_BPF),
	[FEATURE_ATTACH_COOKIE] = PART(attach_cookie, 5, 15, OP_BPF),
	[FEATURE_FUNC_IP] = PART(func_ip, 5, 15, OP_BPF),
	[FEATURE_KPROBE_MULTI] = PART(kprobe_multi, 5, 18, OP_KPROBE),
	[FEATURE_UPROBE_MULTI] = PART(uprobe_multi, 6, 6, OP_UPROBE),
	[FEATURE_BTF] = PART(btf, 5, 4, OP_BTF),
	[FEATURE_FENTRY] = PART(fentry, 5, 5, OP_FENTRY),
	[FEATURE_REF_CTR] = PART(ref_ctr, 4, 20, OP_UPROBE),
	[FEATURE_TASK_ITER] = PART(task_iter, 5, 8, OP_BTF),
};

bool feature_is_hidden(const char *name)
{
	const char *list = getenv("SONDE_WITHOUT");
	size_t n = strlen(name);

	while (list && *list) {
		size_t len = strcspn(list, ",");

		if (len == n && !memcmp(list, name, n))
			return true;
		list += len + (list[len] == ',');
	}
	return false;
}

int feature_error(enum feature f)
{
	static int known[FEATURE_MAX];	/* 1 = has it, -errno, 0 = not asked */

	if (!known[f]) {
		int err = feature_is_hidden(features[f].name)
			? -EOPNOTSUPP : features[f].probe();

		known[f] = err ? err : 1;
	}
	return known[f] < 0 ? known[f] : 0;
}

bool feature_has(enum feature f)
{
	return !feature_error(f);
}

const char *feature_name(enum feature f)
{
	return features[f].name;
}

enum operation feature_operation(enum feature f)
{
	return feature_error(f) == -EPERM ? OP_BPF : features[f].op;
}

unsigned feature_since(enum feature f)
{
	return features[f].since;
}
