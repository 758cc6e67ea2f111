/* bpfspin - run a BPF program named argv[1] for argv[2] milliseconds, then
 * keep it loaded for argv[3] ms; prints its name in kallsyms. */
/* flags: -O1 */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LENGTH = 4000 };

static int load(const char *name)
{
	static struct bpf_insn code[LENGTH];
	union bpf_attr attr;

	code[0] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K };
	for (int i = 1; i < LENGTH - 1; i++)
		code[i] = (struct bpf_insn){
			.code = BPF_ALU64 | BPF_ADD | BPF_K, .imm = i,
		};
	code[LENGTH - 1].code = BPF_JMP | BPF_EXIT;
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = LENGTH;
	attr.license = (uintptr_t)"Dual BSD/GPL";
	strncpy(attr.prog_name, name, sizeof(attr.prog_name) - 1);
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int run(int fd)
{
	static char packet[64];
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)fd;
	attr.test.data_in = (uintptr_t)packet;
	attr.test.data_size_in = sizeof(packet);
	attr.test.repeat = 1000;
	return (int)syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr));
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	struct bpf_prog_info info;
	union bpf_attr attr;
	long end;
	int fd;

	if (argc < 4)
		return 2;
	fd = load(argv[1]);
	if (fd < 0)
		return 1;
	memset(&attr, 0, sizeof(attr));
	memset(&info, 0, sizeof(info));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uintptr_t)&info;
	if (syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)))
		return 1;
	printf("bpf_prog_");
	for (int i = 0; i < 8; i++)
		printf("%02x", info.tag[i]);
	printf("_%s\n", argv[1]);
	fflush(stdout);
	end = now_ms() + atol(argv[2]);
	while (now_ms() < end)
		if (run(fd))
			return 1;
	usleep((useconds_t)atol(argv[3]) * 1000);
	return 0;
}
