/* crypt - has the kernel encrypt, by the crypto module that it is told.
 *
 *   crypt ALGORITHM BLOCKS    so many blocks of 16 bytes, each by one call:
 *                             "ecb(camellia-generic)" and its like
 *   crypt ALGORITHM 0         until killed
 *   crypt ALGORITHM           none: what it takes is loaded and tested
 */
#include <linux/if_alg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BLOCK = 16, AT_A_TIME = 64 };

static char data[BLOCK * AT_A_TIME];

static int cipher_open(const char *name)
{
	struct sockaddr_alg a = { .salg_family = AF_ALG };
	int fd = socket(AF_ALG, SOCK_SEQPACKET, 0);

	strcpy((char *)a.salg_type, "skcipher");
	snprintf((char *)a.salg_name, sizeof(a.salg_name), "%s", name);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    setsockopt(fd, SOL_ALG, ALG_SET_KEY, data, BLOCK))
		return -1;
	return accept(fd, NULL, NULL);
}

static int blocks_encrypt(int fd, size_t blocks)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(__u32))];
	} control = { 0 };
	struct iovec v = { data, blocks * BLOCK };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	__u32 op = ALG_OP_ENCRYPT;

	c->cmsg_level = SOL_ALG;
	c->cmsg_type = ALG_SET_OP;
	c->cmsg_len = CMSG_LEN(sizeof(op));
	memcpy(CMSG_DATA(c), &op, sizeof(op));
	return sendmsg(fd, &m, 0) == (ssize_t)v.iov_len &&
		read(fd, data, v.iov_len) == (ssize_t)v.iov_len ? 0 : -1;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? cipher_open(argv[1]) : -1;
	size_t blocks = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	int err = fd < 0 ? -1 : 0;

	while (!err && argc > 2 && !blocks)
		err = blocks_encrypt(fd, AT_A_TIME);
	while (!err && blocks) {
		size_t n = blocks < AT_A_TIME ? blocks : AT_A_TIME;

		err = blocks_encrypt(fd, n);
		blocks -= n;
	}
	if (err)
		perror("crypt");
	return err ? 1 : 0;
}
