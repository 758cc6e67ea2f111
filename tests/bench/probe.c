/* probe - a function that is called often, and probes of it that do nothing.
 *
 *   probe spin N             call hot() N times; print CPU ns for each call
 *   probe calls N            the same of the system call getppid()
 *   probe offer RATE SECS    call that so often a second; print how often it
 *                            came to, and how many calls there were
 *   probe bare u|r OFFSET    put a program that only returns on hot()'s entry
 *                            or return, as sonde does, until it is ended
 *   probe stacks k|u         put one that counts kernel or user stacks on
 *                            raw_syscalls:sys_enter, and does no more: its
 *                            calls are those that nobody can do without
 */
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline, noclone)) void hot(void)
{
	__asm__ volatile("");
}

static void spin(long n)
{
	struct timespec a, b;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (long i = 0; i < n; i++)
		hot();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	printf("%.1f\n", ((double)(b.tv_sec - a.tv_sec) * 1e9 +
			  (double)(b.tv_nsec - a.tv_nsec)) / (double)n);
}

static void calls(long n)
{
	struct timespec a, b;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	printf("%.1f\n", ((double)(b.tv_sec - a.tv_sec) * 1e9 +
			  (double)(b.tv_nsec - a.tv_nsec)) / (double)n);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void offer(double rate, double secs)
{
	double start = now(), t;
	long n = 0;

	while ((t = now() - start) < secs)
		for (; (double)n < t * rate; n++)
			syscall(SYS_getppid);
	printf("%.0f %ld\n", (double)n / (now() - start), n);
}

static int bpf(int cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int load(enum bpf_prog_type type, const struct bpf_insn *insns, size_t n)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.insns = (uint64_t)(uintptr_t)insns;
	attr.insn_cnt = (uint32_t)n;
	attr.license = (uint64_t)(uintptr_t)"GPL";
	return bpf(BPF_PROG_LOAD, &attr);
}

static int program(void)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load(BPF_PROG_TYPE_KPROBE, insns, 2);
}

static int event(int is_return, uint64_t offset)
{
	struct perf_event_attr attr;
	FILE *type = fopen("/sys/bus/event_source/devices/uprobe/type", "r");

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	if (!type || fscanf(type, "%u", &attr.type) != 1)
		return -1;
	fclose(type);
	attr.config = (uint64_t)is_return;
	attr.uprobe_path = (uint64_t)(uintptr_t)"/proc/self/exe";
	attr.probe_offset = offset;
	attr.sample_period = 1;
	return (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
}

/* Put the program on the event, and wait. */
static int stay(int prog_fd, int event_fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (uint32_t)prog_fd;
	attr.link_create.target_fd = (uint32_t)event_fd;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	if (prog_fd < 0 || event_fd < 0 || bpf(BPF_LINK_CREATE, &attr) < 0) {
		perror("probe");
		return 1;
	}
	puts("Tracing");
	fflush(stdout);
	return pause();
}

static int map(enum bpf_map_type type, uint32_t key, uint32_t value)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = key;
	attr.value_size = value;
	attr.max_entries = 16384;
	return bpf(BPF_MAP_CREATE, &attr);
}

#define OP(code_, dst, src, off_, imm_) \
	{ .code = (code_), .dst_reg = (dst), .src_reg = (src), \
	  .off = (off_), .imm = (imm_) }
#define SET(dst, imm)	OP(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm)
#define COPY(dst, src)	OP(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0)
#define STACK(dst, off) COPY(dst, 10), \
	OP(BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, off)
#define CALL(name)	OP(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_##name)
#define MAP(dst, fd)	OP(BPF_LD | BPF_IMM | BPF_DW, dst, \
			   BPF_PSEUDO_MAP_FD, 0, fd), OP(0, 0, 0, 0, 0)

/* Key: the stack's number; of a user stack, the process and its name, too. */
static int stacks(int is_user)
{
	int table = map(BPF_MAP_TYPE_STACK_TRACE, 4, 127 * 8);
	int counts = map(BPF_MAP_TYPE_HASH, 32, 8);
	struct bpf_insn insns[] = {
		COPY(6, 1),
		OP(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -8, 1),
		OP(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -16, 0),
		OP(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -24, 0),
		OP(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -32, 0),
		OP(BPF_ST | BPF_MEM | BPF_DW, 10, 0, -40, 0),
		SET(0, is_user), OP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 6, 0),
		CALL(get_current_pid_tgid),
		OP(BPF_STX | BPF_MEM | BPF_DW, 10, 0, -32, 0),
		STACK(1, -24), SET(2, 16), CALL(get_current_comm),
		COPY(1, 6), MAP(2, table),
		SET(3, is_user ? BPF_F_USER_STACK : 0), CALL(get_stackid),
		OP(BPF_STX | BPF_MEM | BPF_DW, 10, 0, -40, 0),
		MAP(1, counts), STACK(2, -40), CALL(map_lookup_elem),
		OP(BPF_JMP | BPF_JNE | BPF_K, 0, 0, 9, 0),
		MAP(1, counts), STACK(2, -40), STACK(3, -8), SET(4, 0),
		CALL(map_update_elem), OP(BPF_JMP | BPF_JA, 0, 0, 2, 0),
		SET(1, 1),
		OP(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, 0, BPF_ADD),
		SET(0, 0), OP(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT };
	FILE *id = fopen("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id",
			 "r");

	attr.size = sizeof(attr);
	attr.sample_period = 1;
	if (!id || fscanf(id, "%llu", &attr.config) != 1)
		return 1;
	fclose(id);
	return stay(load(BPF_PROG_TYPE_TRACEPOINT, insns,
			 sizeof(insns) / sizeof(*insns)),
		    (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0));
}

int main(int argc, char **argv)
{
	if (argc > 3 && !strcmp(argv[1], "bare"))
		return stay(program(), event(*argv[2] == 'r',
					     strtoull(argv[3], NULL, 0)));
	if (argc > 2 && !strcmp(argv[1], "stacks"))
		return stacks(*argv[2] == 'u');
	if (argc > 3 && !strcmp(argv[1], "offer"))
		offer(atof(argv[2]), atof(argv[3]));
	else if (argc > 2 && !strcmp(argv[1], "calls"))
		calls(atol(argv[2]));
	else if (argc > 2)
		spin(atol(argv[2]));
	return 0;
}
