/* main - runs a fuzz target over the files that are named to it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In memory of just its size, so that ASan sees the first byte too far. */
static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	long size = -1;
	int err = 1;

	if (f && !fseek(f, 0, SEEK_END))
		size = ftell(f);
	if (size >= 0 && !fseek(f, 0, SEEK_SET))
		data = malloc((size_t)size + !size);
	if (data && fread(data, 1, (size_t)size, f) == (size_t)size) {
		LLVMFuzzerTestOneInput(data, (size_t)size);
		err = 0;
	}
	if (err)
		perror(path);
	free(data);
	if (f)
		fclose(f);
	return err;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= run_file(argv[i]);
	return failed || argc < 2;
}
