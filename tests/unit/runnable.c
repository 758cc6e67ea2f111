/* runnable - who wants to run, by /proc's lines; whose numbers are believed. */
#include <errno.h>

#include "test.h"
#include "trace/overload.h"
#include "trace/runnable.h"

#define REST " 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9 10 11 " \
	"18446744073709551615 1 2 3 4 5 0 0 0 0 0 0 0 17"

static struct runnable_task t;

static bool parse(const char *text)
{
	return runnable_parse(text, strlen(text), &t);
}

TEST(a_task_that_runs)
{
	CHECK(parse("77 (cat) R" REST " 3 0 0 0\n"));
	CHECK_EQ(t.tid, 77);
	CHECK_EQ(t.cpu, 3);
	CHECK_STR(t.comm, "cat");
	CHECK_EQ(t.state, RUNNABLE_UNKNOWN);
	CHECK(parse("77 (cat) R" REST " 12"));
	CHECK_EQ(t.cpu, 12);
}

TEST(names_that_look_like_more)
{
	CHECK(parse("8 (a) R (b) S) R" REST " 1 0\n"));
	CHECK_STR(t.comm, "a) R (b) S");
	CHECK(parse("8 () R" REST " 1 0\n"));
	CHECK_STR(t.comm, "");
	CHECK(!parse("8 (a) R b) S" REST " 1 0\n"));
	CHECK(parse("8 (sixteen characters and more) R" REST " 1 0\n"));
	CHECK_EQ(strlen(t.comm), COMM_SIZE);
}

TEST(tasks_that_do_not)
{
	CHECK(!parse("77 (cat) S" REST " 3 0\n"));
	CHECK(!parse("77 (cat) Z" REST " 3 0\n"));
	CHECK(!parse("77 (cat) R 1 2 3\n"));
	CHECK(!parse("77 (cat) R" REST));
	CHECK(!parse("77 (cat) R" REST " x\n"));
	CHECK(!parse("77 (cat)"));
	CHECK(!parse("77 )cat( R" REST " 3\n"));
	CHECK(!parse("x (cat) R" REST " 3\n"));
	CHECK(!parse("99999999999 (cat) R" REST " 3\n"));
	CHECK(!parse(""));
}

static int64_t running(const char *text)
{
	uint64_t n = 0;
	int err = overload_parse(text, strlen(text), &n);

	return err ? err : (int64_t)n;
}

TEST(loadavg)
{
	CHECK_EQ(running("0.20 0.18 0.12 3/80 11206\n"), 3);
	CHECK_EQ(running("120.20 0.18 0.12 1234/8000 11206\n"), 1234);
	CHECK_EQ(running("0.20 0.18 0.12 3"), -EINVAL);
	CHECK_EQ(running("0.20 0.18 0.12 /80"), -EINVAL);
	CHECK_EQ(running("0.20 0.18"), -EINVAL);
	CHECK_EQ(running(""), -EINVAL);
}

static int choose(unsigned rounds, unsigned first, unsigned second)
{
	struct overload_votes v = { rounds, { first, second } };

	return overload_choose(&v);
}

TEST(a_place_is_believed_or_not)
{
	CHECK_EQ(choose(20, 0, 20), 1);
	CHECK_EQ(choose(20, 20, 0), 0);
	CHECK_EQ(choose(20, 2, 12), 1);
	CHECK_EQ(choose(20, 12, 12), -EINVAL);	/* which of them? */
	CHECK_EQ(choose(20, 3, 8), -EINVAL);
	CHECK_EQ(choose(20, 0, 0), -EINVAL);
	CHECK_EQ(choose(3, 0, 3), -EINVAL);	/* too few to tell */
	CHECK_EQ(choose(0, 0, 0), -EINVAL);
}

/* We are not in the list, whatever runs. */
TEST(the_list)
{
	struct runnable r;

	runnable_open(&r, NULL);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(runnable_read(&r), 0);
	for (size_t i = 0; i < r.v.n; i++)
		CHECK(r.v.v[i].tid && r.v.v[i].tgid &&
		      r.v.v[i].state == RUNNABLE_UNKNOWN);
	runnable_close(&r);
	CHECK_EQ(r.v.n, 0);
}

int main(void)
{
	RUN(a_task_that_runs);
	RUN(names_that_look_like_more);
	RUN(tasks_that_do_not);
	RUN(loadavg);
	RUN(a_place_is_believed_or_not);
	RUN(the_list);
	return test_failed;
}
