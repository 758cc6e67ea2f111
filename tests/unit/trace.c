/* trace - records from the kernel: stacks that were sent, and hostile ones. */
#include <errno.h>
#include <stdlib.h>

#include "sys/feature.h"
#include "sys/fs.h"
#include "sys/host.h"
#include "test.h"
#include "trace/sampler.h"
#include "trace/stacks.h"

static struct stack_event event;

static void make(int32_t user, int32_t kernel)
{
	memset(&event, 0, sizeof(event));
	event.type = EVENT_STACK;
	event.amount = 1;
	event.user_bytes = user;
	event.kernel_bytes = kernel;
	strcpy(event.key.comm, "test");
	for (int i = 0; i < STACK_DEPTH; i++) {
		event.user[i] = 0x1000 + (uint64_t)i;
		event.kernel[i] = UINT64_MAX - (uint64_t)i;
	}
}

TEST(equal_stacks_are_counted_once)
{
	struct stacks s;

	stacks_init(&s, 1 << 20, STACK_DEPTH, STACK_DEPTH);
	make(24, 16);
	stacks_take(&s, &event, sizeof(event));
	stacks_take(&s, &event, sizeof(event));
	event.user[3] = 7;	/* beyond what the record says it holds */
	stacks_take(&s, &event, sizeof(event));
	CHECK_EQ(s.sent.n, 1);
	CHECK_EQ(s.counts.v[0], 3);
	make(32, 16);
	stacks_take(&s, &event, sizeof(event));
	CHECK_EQ(s.sent.n, 2);
	CHECK_EQ(s.lost, 0);
	stacks_free(&s);
}

/* The last frame record of an aarch64 stack holds a return address of 0. */
TEST(the_end_of_a_chain_is_no_frame)
{
	struct stacks s;

	stacks_init(&s, 1 << 20, STACK_DEPTH, STACK_DEPTH);
	make(24, 16);
	stacks_take(&s, &event, sizeof(event));
	make(40, 16);
	event.user[3] = event.user[4] = 0;
	stacks_take(&s, &event, sizeof(event));
	CHECK_EQ(s.sent.n, 1);
	make(16, 8);
	event.user[0] = event.user[1] = event.kernel[0] = 0;
	stacks_take(&s, &event, sizeof(event));
	CHECK_EQ(s.sent.n, 2);
	stacks_free(&s);
}

TEST(hostile_records_stay_in_bounds)
{
	static const int32_t sizes[] = {
		INT32_MIN, -EFAULT, -1, 0, 1, 7, 8, 1016, 1017, 1024, 65536,
		INT32_MAX,
	};
	struct stacks s;

	stacks_init(&s, 1 << 20, STACK_DEPTH, STACK_DEPTH);
	for (size_t i = 0; i < 12; i++) {
		for (size_t k = 0; k < 12; k++) {
			make(sizes[i], sizes[k]);
			stacks_take(&s, &event, sizeof(event));
		}
	}
	stacks_take(&s, &event, sizeof(event) - 1);
	event.type = 77;
	stacks_take(&s, &event, sizeof(event));
	stacks_take(&s, "", 0);
	CHECK_EQ(s.lost, 0);
	stacks_free(&s);
}

TEST(memory_for_sent_stacks_is_bounded)
{
	struct stacks s;

	stacks_init(&s, 10000, STACK_DEPTH, STACK_DEPTH);
	make(800, 0);
	for (int i = 0; i < 100; i++) {
		event.user[0] = (uint64_t)i;
		stacks_take(&s, &event, sizeof(event));
	}
	CHECK(s.sent.len <= 10000 && s.sent.n > 5);
	CHECK_EQ(s.lost, 100 - s.sent.n);
	stacks_free(&s);
}

TEST(hidden_features)
{
	setenv("SONDE_WITHOUT", "ring,fsopen,ringbuf2", 1);
	CHECK(feature_is_hidden("ring"));
	CHECK(feature_is_hidden("fsopen"));
	CHECK(feature_is_hidden("ringbuf2"));
	CHECK(!feature_is_hidden("ringbuf"));
	CHECK(!feature_is_hidden("fs"));
	setenv("SONDE_WITHOUT", ",,", 1);
	CHECK(!feature_is_hidden("ring"));
	unsetenv("SONDE_WITHOUT");
	CHECK(!feature_is_hidden("ring"));
}

TEST(files_below_proc)
{
	struct buf text = { 0 };
	long long n;
	char link[8];

	CHECK_EQ(fs_read(FS_PROC, "self/status", 100000, &text), 0);
	CHECK(strstr(buf_str(&text), "\nTgid:"));
	CHECK_EQ(fs_read(FS_PROC, "self/status", 10, &text), -EFBIG);
	CHECK_EQ(fs_read(FS_PROC, "nothing", 10, &text), -ENOENT);
	CHECK_EQ(fs_read_num(FS_PROC, "sys/kernel/pid_max", &n), 0);
	CHECK(n > 300);
	CHECK_EQ(fs_read_num(FS_PROC, "version", &n), -EFBIG);
	CHECK_EQ(fs_readlink(FS_PROC, "self/exe", link, sizeof(link)),
		 -ENAMETOOLONG);
	buf_free(&text);
}

TEST(this_host)
{
	struct num_list cpus = { 0 };
	struct pid_namespace ns;

	CHECK_EQ(host_cpus_online(&cpus), 0);
	CHECK(cpus.n >= 1 && host_cpus_possible() >= cpus.n);
	CHECK(host_memory() > 1 << 24);
	CHECK_EQ(host_pid_namespace(&ns), 0);
	CHECK(ns.ino);
	CHECK(host_busy_time(-1) >= host_busy_time((int)cpus.v[0]));
	CHECK_EQ(host_busy_time(60000), 0);
	vec_free(&cpus);
}

TEST(events_by_name)
{
	CHECK(sample_event_find("test", "cpu-clock")->is_clock);
	CHECK(sample_event_find("test", "page-faults")->per_event);
	CHECK(!sample_event_find("test", "page-fault"));
	CHECK(!sample_event_find("test", ""));
}

int main(void)
{
	RUN(equal_stacks_are_counted_once);
	RUN(the_end_of_a_chain_is_no_frame);
	RUN(hostile_records_stay_in_bounds);
	RUN(memory_for_sent_stacks_is_bounded);
	RUN(hidden_features);
	RUN(files_below_proc);
	RUN(this_host);
	RUN(events_by_name);
	return test_failed;
}
