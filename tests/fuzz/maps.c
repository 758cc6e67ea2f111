/* maps - fuzzes the reader of maps files, and what is made of its rows. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/maps.h"
#include "sym/namer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NOBODY = 0x70000000, MOST = 200 };

struct seen {
	struct procs *procs;
	uint64_t at[MOST];
	int n;
};

/* Each row as if it had been recorded, with forks and execs between them. */
static int take(void *arg, const struct map_row *row)
{
	struct seen *s = arg;
	uint32_t pid = NOBODY + (uint32_t)(row->off >> 12 & 3);
	uint64_t time = row->inode & 0xff;

	if (row->start >= row->end || !row->path || s->n == MOST)
		abort();
	s->at[s->n++] = row->start;
	if (row->minor == 1)
		procs_exec(s->procs, pid, time);
	if (row->minor == 2)
		procs_fork(s->procs, pid, pid ^ 1, time);
	procs_map(s->procs, pid, time, row);
	return s->n == MOST;
}

static void name_all(const struct seen *s, struct namer *namer)
{
	for (int i = 0; i < s->n * 4; i++) {
		struct proc_at at = procs_at(s->procs, NOBODY + (i & 3u),
					     (uint64_t)i * 7 & 0xff);
		struct frame f;

		if (namer_user(namer, at, s->at[i / 4], i & 1, &f) || !f.name)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen s = { .procs = procs_new() };
	struct namer *namer = namer_new(s.procs, &(struct name_options){ 0 });
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	unsigned bad = 0;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
	    lseek(fd, 0, SEEK_SET))
		abort();
	maps_read(fd, take, &s, &bad);
	close(fd);
	name_all(&s, namer);
	namer_free(namer);
	procs_free(s.procs);
	return 0;
}
