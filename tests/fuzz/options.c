/* options - fuzz target: the option parser, as profile uses it. */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/opt.h"

struct settings {
	bool flag;
	uint64_t num;
	const char *text;
	struct num_list list;
};

static const struct opt table[] = {
	{ 'f', "flag", OPT_FLAG, offsetof(struct settings, flag), NULL, "" },
	{ 'n', "num", OPT_NUM, offsetof(struct settings, num), "N", "",
	  .min = 1, .max = 1000, .excludes = 1 },
	{ 't', "text", OPT_TEXT, offsetof(struct settings, text), "T", "",
	  .excludes = 1 },
	{ 'l', "list", OPT_LIST, offsetof(struct settings, list), "L", "",
	  .max = 4194304 },
	{ 0 },
};

/* The input is the arguments, one after another, each ended by a newline. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int quiet = -1;
	char text[4096], *argv[64] = { "fuzz" }, *save = NULL, *word;
	struct settings s = { 0 };
	struct opt_rest rest;
	int argc = 1;

	if (quiet < 0) {	/* the complaints are not of interest */
		quiet = open("/dev/null", O_WRONLY);
		dup2(quiet, STDERR_FILENO);
	}
	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (word = strtok_r(text, "\n", &save); word && argc < 63;
	     word = strtok_r(NULL, "\n", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	opt_parse("fuzz", table, &s, argc, argv, &rest);
	vec_free(&s.list);
	return 0;
}
