/* storm - calls getppid() and hot(), one after the other, for a minute; storm N
 * READY: N times of each, after it read a byte of the file READY. */
/* flags: -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) int hot(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : -1;
	int fd = argc > 2 ? open(argv[2], O_RDONLY) : -1;
	char byte;

	alarm(60);
	if (argc > 2 && read(fd, &byte, 1) != 1)
		return 1;
	while (n--) {
		syscall(SYS_getppid);
		hot(1);
	}
	return 0;
}
