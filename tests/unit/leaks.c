/* leaks - which functions allocate, the kernel's records, what is sent. */
#include <errno.h>

#include "leak.h"
#include "sys/tp_format.h"
#include "test.h"
#include "trace/allocators.h"
#include "trace/kmem.h"
#include "trace/leaks.h"

TEST(names)
{
	static const struct {
		const char *name, *prefix;
		int call;
	} rows[] = {
		{ "malloc", NULL, LEAK_SIZE },
		{ "calloc", NULL, LEAK_PRODUCT },
		{ "posix_memalign", NULL, LEAK_THIRD },
		{ "pvalloc", NULL, LEAK_PAGES },
		{ "free", NULL, LEAK_FREE },
		{ "malloc_usable_size", NULL, -ENOENT },
		{ "__libc_malloc", NULL, -ENOENT },
		{ "je_malloc", NULL, -ENOENT },
		{ "je_malloc", "je_", LEAK_SIZE },
		{ "malloc", "je_", -ENOENT },
		{ "je_", "je_", -ENOENT },
		{ "", NULL, -ENOENT },
		{ "_Znwm", NULL, LEAK_SIZE },
		{ "_Znwm", "je_", LEAK_SIZE },
		{ "_ZnamRKSt9nothrow_t", NULL, LEAK_SIZE },
		{ "_ZnwmSt11align_val_tRKSt9nothrow_t", NULL, LEAK_SIZE },
		{ "_ZdlPv", NULL, LEAK_FREE },
		{ "_ZdaPvm", NULL, LEAK_FREE },
		{ "_ZdlPvmSt11align_val_t", NULL, LEAK_FREE },
		/* placement; a class's own; cut */
		{ "_ZnwmPv", NULL, -ENOENT },
		{ "_ZdlPvS_", NULL, -ENOENT },
		{ "_ZN3FoonwEm", NULL, -ENOENT },
		{ "_Znw", NULL, -ENOENT },
		{ "_ZdlP", NULL, -ENOENT },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (allocators_call(rows[i].name, rows[i].prefix) !=
		    rows[i].call)
			FAIL("%s", rows[i].name);
}

static struct leak_probe probe;

static bool record(const char *event, const char *lines)
{
	struct tp_format f;
	bool ok = !tp_format_parse(lines, strlen(lines), &f) &&
		  kmem_probe(event, &f, &probe);

	tp_format_free(&f);
	return ok;
}

#define PTR(at) \
	"\tfield:const void * ptr;\toffset:" at ";\tsize:8;\tsigned:0;\n"
#define BYTES(name, at, size) \
	"\tfield:size_t " name ";\toffset:" at ";\tsize:" size ";\tsigned:0;\n"

TEST(records)
{
	CHECK(record("kmem/kmalloc", PTR("16") BYTES("bytes_req", "24", "8")
		     BYTES("bytes_alloc", "32", "8")));
	CHECK_EQ(probe.block_at, 16);
	CHECK_EQ(probe.size_at, 32);
	CHECK_EQ(probe.size_bytes, 8);
	CHECK_EQ(probe.call, LEAK_KERNEL);
	/* moved */
	CHECK(record("kmem/kmalloc", BYTES("bytes_alloc", "8", "8")
		     PTR("40")));
	CHECK_EQ(probe.block_at, 40);
	CHECK_EQ(probe.size_at, 8);
	CHECK(record("kmem/mm_page_alloc", BYTES("pfn", "8", "8")
		     BYTES("order", "16", "4")));
	CHECK_EQ(probe.size_bytes, 4);
	CHECK_EQ(probe.is_order, 1);
	CHECK(record("percpu/percpu_alloc_percpu", PTR("8")
		     BYTES("size", "16", "8")));
	CHECK_EQ(probe.size_at, 16);
	CHECK(record("kmem/kfree", PTR("16")));
	CHECK_EQ(probe.size_bytes, 0);
	/* without what is needed, or of no sane size */
	CHECK(!record("kmem/kmalloc", PTR("16")));
	CHECK(!record("kmem/kmalloc", BYTES("bytes_alloc", "8", "8")));
	CHECK(!record("kmem/kmalloc", PTR("16")
		      BYTES("bytes_alloc", "24", "2")));
	CHECK(!record("kmem/kmalloc", PTR("70000")
		      BYTES("bytes_alloc", "8", "8")));
	CHECK(!record("kmem/kfree", BYTES("ptr", "8", "4")));
	CHECK(!record("kmem/nothing", PTR("16")));
}

TEST(sent_stacks)
{
	struct leak_frames f = {
		.type = EVENT_LEAK_FRAMES, .bytes = 16,
		.key = { 1, 0, 0x1000 }, .time = 5, .frames = { 7, 8 },
	};
	struct leaks l = { .limit = 4096 };

	leaks_take(&l, &f, sizeof(f) - 1);
	CHECK_EQ(l.sent.n, 0);
	leaks_take(&l, &f, sizeof(f));
	CHECK_EQ(l.sent.n, 1);
	CHECK_EQ(l.sent_of.v[0], 1);
	f.key.addr++;
	leaks_take(&l, &f, sizeof(f));		/* the same stack */
	CHECK_EQ(l.sent.n, 1);
	CHECK_EQ(l.blocks.n, 2);
	f.key.addr++;
	f.bytes = 1 << 20;
	leaks_take(&l, &f, sizeof(f));
	f.key.addr++;
	f.bytes = -EFAULT;
	leaks_take(&l, &f, sizeof(f));
	CHECK_EQ(l.sent.n, 3);
	CHECK_EQ(l.unread, 0);
	l.limit = l.sent.len + l.blocks.len;
	leaks_take(&l, &f, sizeof(f));
	CHECK_EQ(l.unread, 1);
	leaks_free(&l);
}

int main(void)
{
	RUN(names);
	RUN(records);
	RUN(sent_stacks);
	return test_failed;
}
