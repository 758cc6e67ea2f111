/* bpfids - prints how many BPF programs, maps and links the kernel has. */
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int count(int command)
{
	union bpf_attr attr;
	int n = 0;

	memset(&attr, 0, sizeof(attr));
	while (!syscall(SYS_bpf, command, &attr, sizeof(attr))) {
		attr.start_id = attr.next_id;
		n++;
	}
	return n;
}

int main(void)
{
	printf("%d\n", count(BPF_PROG_GET_NEXT_ID) +
	       count(BPF_MAP_GET_NEXT_ID) + count(BPF_LINK_GET_NEXT_ID));
	return 0;
}
