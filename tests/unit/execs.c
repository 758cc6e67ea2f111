/* execs - parts of executions, put together in every order. */
#include <stdint.h>
#include <stdlib.h>

#include "test.h"
#include "trace/execs.h"

static struct execs execs;
static char shown[4096];

static void show(void *arg, const struct exec *x)
{
	size_t n = strlen(shown);

	(void)arg;
	n += (size_t)snprintf(shown + n, sizeof(shown) - n, "%u %d %s", x->pid,
			      x->ret, x->file ? x->file : "none");
	for (size_t i = 0; i < x->args.n; i++)
		n += (size_t)snprintf(shown + n, sizeof(shown) - n, " [%s]",
				      x->args.v[i]);
	snprintf(shown + n, sizeof(shown) - n, "%s%s;", x->cut ? " cut" : "",
		 x->unread ? " unread" : "");
}

/* A part of a task that has its number as its process's. */
static struct exec_event *part(enum exec_part kind, uint32_t task,
			       uint32_t number, const char *data, size_t len)
{
	static struct exec_event e;

	memset(&e, 0, sizeof(e));
	e.type = EVENT_EXEC;
	e.part = kind;
	e.task = e.pid = task;
	e.number = number;
	e.time = 100 + number;
	e.len = (uint32_t)len;
	e.area = len;
	memcpy(e.data, data, len);
	return &e;
}

static void put(const struct exec_event *e)
{
	size_t len = EXEC_HEAD + e->len;
	void *exact = malloc(len);	/* what is beyond is not read */

	memcpy(exact, e, len);
	execs_put(&execs, exact, len);
	free(exact);
}

static void put_last(struct exec_event *e)
{
	e->last = 1;
	put(e);
}

#define TEXT(s) s, sizeof(s)

static const char *taken(uint64_t before)
{
	shown[0] = '\0';
	execs_take(&execs, before, show, NULL);
	return shown;
}

static void restart(void)
{
	execs_free(&execs);
	execs = (struct execs){ 0 };
}

TEST(memory)
{
	restart();
	put(part(EXEC_FILE, 1, 0, TEXT("/bin/ls")));
	put_last(part(EXEC_AREA, 1, 1, TEXT("ls\0-l\0\0x")));
	CHECK_STR(taken(1000), "1 0 /bin/ls [-l] [] [x];");
	put(part(EXEC_FILE, 1, 0, TEXT("/bin/ls")));
	put_last(part(EXEC_AREA, 1, 1, "", 0));
	CHECK_STR(taken(1000), "1 0 /bin/ls;");
	CHECK_EQ(execs.lost, 0);
}

TEST(memory_in_pieces)
{
	struct exec_event *e;

	restart();
	put(part(EXEC_FILE, 1, 0, TEXT("f")));
	put(part(EXEC_AREA, 1, 1, "f\0ab", 4));
	e = part(EXEC_AREA, 1, 2, "cd\0e", 5);
	e->area = 100;
	put_last(e);
	CHECK_STR(taken(1000), "1 0 f [abcd] [e] cut;");
	put(part(EXEC_FILE, 1, 0, TEXT("f")));
	put(part(EXEC_AREA, 1, 1, "f\0ab", 4));
	e = part(EXEC_AREA, 1, 2, "zzzz", 4);
	e->unread = 1;
	put_last(e);
	CHECK_STR(taken(1000), "1 0 f [ab] cut unread;");
}

TEST(script)
{
	struct exec_event *e;

	restart();
	e = part(EXEC_FILE, 1, 0, TEXT("./x"));
	e->script = 1;
	put(e);
	put_last(part(EXEC_AREA, 1, 1, TEXT("/bin/sh\0-e\0./x\0a\0./x")));
	CHECK_STR(taken(1000), "1 0 ./x [a] [./x];");
}

TEST(calls)
{
	struct exec_event *e;

	restart();
	put(part(EXEC_FILE, 7, 0, TEXT("/no")));
	e = part(EXEC_ARG, 7, 1, "", 0);
	e->unread = 1;
	put(e);
	put(part(EXEC_ARG, 7, 2, TEXT("b")));
	e = part(EXEC_END, 7, 0, "", 0);
	e->time = 200;
	e->ret = -2;
	put_last(e);
	CHECK_STR(taken(1000), "7 -2 /no [?] [b] unread;");
	put_last(e);
	CHECK_STR(taken(1000), "7 -2 none;");
}

TEST(order)
{
	struct exec_event *e;

	restart();
	e = part(EXEC_AREA, 1, 1, TEXT("a\0late"));
	put_last(e);
	put(part(EXEC_FILE, 2, 0, TEXT("b")));
	put(part(EXEC_FILE, 1, 0, TEXT("a")));
	e = part(EXEC_AREA, 2, 1, TEXT("b"));
	e->time = 500;
	put_last(e);
	CHECK_STR(taken(500), "1 0 a [late];");
	CHECK_STR(taken(500), "");
	CHECK_STR(taken(501), "2 0 b;");
	CHECK_EQ(execs.lost, 0);
}

TEST(lost)
{
	restart();
	put(part(EXEC_FILE, 1, 0, TEXT("a")));
	put_last(part(EXEC_AREA, 1, 2, TEXT("rest")));
	CHECK_STR(taken(1000), "1 0 a cut;");
	CHECK_EQ(execs.lost, 1);
	put(part(EXEC_FILE, 1, 0, TEXT("a")));
	taken(1000);
	put(part(EXEC_FILE, 1, 0, TEXT("b")));
	put_last(part(EXEC_AREA, 1, 1, TEXT("b")));
	CHECK_STR(taken(1000), "1 0 b;");
	CHECK_EQ(execs.lost, 2);
	for (uint32_t i = 0; i < 3000; i++)
		put(part(EXEC_FILE, i, 0, TEXT("x")));
	CHECK_STR(taken(1000), "");
	CHECK_EQ(execs.lost, 2 + 3000 - 1024);
	CHECK_EQ(execs.coming.n, 1024);
}

TEST(nonsense)
{
	struct exec_event *e = part(EXEC_FILE, 1, 0, TEXT("a"));

	restart();
	execs_put(&execs, e, 8);
	e->len = 5000;
	execs_put(&execs, e, sizeof(*e));
	e->len = 1;
	e->type = 1;
	execs_put(&execs, e, sizeof(*e));
	CHECK_EQ(execs.lost, 3);
	CHECK_EQ(execs.err, 0);
	restart();
}

int main(void)
{
	RUN(memory);
	RUN(memory_in_pieces);
	RUN(script);
	RUN(calls);
	RUN(order);
	RUN(lost);
	RUN(nonsense);
	return test_failed;
}
