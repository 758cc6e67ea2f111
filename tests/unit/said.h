/* said - what is written to stderr meanwhile, between listen() and heard(). */
#ifndef TESTS_UNIT_SAID_H
#define TESTS_UNIT_SAID_H

#include <sys/mman.h>
#include <unistd.h>

static int said, stderr_was;

static void listen(void)
{
	stderr_was = dup(STDERR_FILENO);
	said = memfd_create("said", 0);
	dup2(said, STDERR_FILENO);
}

static const char *heard(void)
{
	static char text[8192];
	ssize_t n = pread(said, text, sizeof(text) - 1, 0);

	dup2(stderr_was, STDERR_FILENO);
	close(stderr_was);
	close(said);
	text[n < 0 ? 0 : n] = '\0';
	return text;
}

#endif
