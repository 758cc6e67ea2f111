/* order - records in the order of their times, as they come or not. */
#include "trace/order.h"

#include <errno.h>

#include "test.h"

enum { LENGTH = 15 };

struct taken {
	uint64_t v[1000];
	size_t n, stop;
};

static int check_take(void *arg, const void *data, size_t len)
{
	struct taken *t = arg;
	uint64_t record[2];

	CHECK_EQ(len, LENGTH);
	memcpy(record, data, len);
	CHECK_EQ((record[0] * 7 ^ record[1]) & 0xffff, 0);
	t->v[t->n++] = record[0];
	return t->stop && t->n == t->stop ? -EPIPE : 0;
}

/* Its length is no multiple of eight. */
static void check_put(struct order *o, uint64_t time)
{
	uint64_t record[2] = { time, time * 7 };

	CHECK_EQ(order_put(o, time, record, LENGTH), 0);
}

TEST(sorted_within_what_is_there)
{
	static const uint64_t times[] = { 5, 3, 9, 1, 7, 3 };
	struct order o = { 0 };
	struct taken t = { .n = 0 };

	for (size_t i = 0; i < 6; i++)
		check_put(&o, times[i]);
	CHECK_EQ(order_take(&o, 5, check_take, &t), 0);
	CHECK_EQ(t.n, 4);
	CHECK(t.v[0] == 1 && t.v[1] == 3 && t.v[2] == 3 && t.v[3] == 5);
	check_put(&o, 8);
	check_put(&o, 6);
	CHECK_EQ(order_take(&o, UINT64_MAX, check_take, &t), 0);
	CHECK_EQ(t.n, 8);
	CHECK(t.v[4] == 6 && t.v[5] == 7 && t.v[6] == 8 && t.v[7] == 9);
	CHECK_EQ(o.n, 0);
	order_free(&o);
}

TEST(a_window_moves_over_two_streams)
{
	struct order o = { 0 };
	struct taken t = { .n = 0 };

	for (uint64_t now = 10; now < 500; now += 10) {
		for (uint64_t i = 1; i < 10; i += 2)
			check_put(&o, now + i);
		for (uint64_t i = 0; i < 10; i += 2)
			check_put(&o, now + i);
		CHECK_EQ(order_take(&o, now - 5, check_take, &t), 0);
	}
	CHECK_EQ(order_take(&o, UINT64_MAX, check_take, &t), 0);
	CHECK_EQ(t.n, 490);
	for (size_t i = 0; i < t.n; i++)
		CHECK_EQ(t.v[i], 10 + i);
	order_free(&o);
}

TEST(who_takes_may_end_it)
{
	struct order o = { 0 };
	struct taken t = { .stop = 2 };

	for (uint64_t i = 0; i < 5; i++)
		check_put(&o, i);
	CHECK_EQ(order_take(&o, 4, check_take, &t), -EPIPE);
	CHECK_EQ(t.n, 2);
	CHECK_EQ(o.n, 0);
	order_free(&o);
}

int main(void)
{
	RUN(sorted_within_what_is_there);
	RUN(a_window_moves_over_two_streams);
	RUN(who_takes_may_end_it);
	return test_failed;
}
