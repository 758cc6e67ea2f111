/* asm - link errors, the offline check, the dump and the verifier's log. */
#include "asm.h"

#include <stdio.h>
#include <stdlib.h>

#include "asm/check.h"
#include "asm/dump.h"
#include "asm/link.h"
#include "asm/verifier.h"
#include "test.h"

/* The case stands in line `line` of this file. */
static void test_case(int line, const char *got, const char *want)
{
	FAIL("line %d: got\n%swanted\n%s", line, got, want);
}

/* Of the object that is tested; one at a time. */
static struct map_def object_maps[5];
static struct prog_def object_prog[2];
static const char *object_consts[3];

static struct bpf_object object_of(const struct insn *insns, size_t count)
{
	static const struct map_def maps[5] = {
		{ "counts", HASH, 4, 8, 16, 0 },
		{ "wide", HASH, 16, 8, 16, 0 },
		{ "events", EVENTS, 0, 0, 4096, 0 },
		{ "frames", RECORD, 4, 48, 1, 0 },
	};

	memcpy(object_maps, maps, sizeof(maps));
	object_prog[0] = (struct prog_def){
		"p", PROG_PERF_EVENT, NULL, __FILE__, insns, count,
	};
	object_consts[0] = "tgid";
	object_consts[1] = "limit";
	return (struct bpf_object){ object_maps, object_prog, object_consts };
}

enum { LINE = 7 };	/* where all instructions of a case claim to stand */

static void flatten(struct insn *insns, size_t count)
{
	for (size_t i = 0; i < count; i += insn_size(&insns[i]))
		insns[i].line = LINE;
}

/* "a|b" as two complaints. */
static void expect(struct buf *want, const char *texts)
{
	while (*texts) {
		size_t n = strcspn(texts, "|");

		buf_fmt(want, "%s:%d: p: %.*s\n", __FILE__, LINE, (int)n,
			texts);
		texts += n + (texts[n] == '|');
	}
}

static void same(struct buf *why, int line, const char *texts)
{
	struct buf want = { 0 };

	expect(&want, texts);
	if (strcmp(buf_str(why), buf_str(&want)))
		test_case(line, buf_str(why), buf_str(&want));
	buf_free(&want);
	buf_free(why);
}

static void link_says(const struct insn *insns, size_t count, int line,
		      const char *texts)
{
	const struct bpf_object o = object_of(insns, count);
	const struct link_env env = { .ringbuf = true };
	struct buf why = { 0 };
	struct linked l;
	int err = link_prog(&o, &o.progs[0], &env, &l, &why);

	CHECK_EQ(err, *texts ? -EINVAL : 0);
	if (err)
		CHECK(!l.insns && !l.notes && !l.labels && !l.n);
	linked_free(&l);
	same(&why, line, texts);
}

static void check_says(const struct insn *insns, size_t count, bool ringbuf,
		       int line, const char *texts)
{
	const struct bpf_object o = object_of(insns, count);
	const struct link_env env = { .ringbuf = ringbuf };
	struct buf why = { 0 };
	struct linked l;

	CHECK_EQ(link_prog(&o, &o.progs[0], &env, &l, &why), 0);
	if (l.n)
		CHECK_EQ(linked_check(&o, &o.progs[0], &l, &why),
			 *texts ? -EINVAL : 0);
	linked_free(&l);
	same(&why, line, texts);
}

#define PROG_(f, ...) do { \
	static struct insn p_[] = { __VA_ARGS__ }; \
	flatten(p_, COUNT_); \
	f; \
} while (0)
#define COUNT_ (sizeof(p_) / sizeof(p_[0]))
#define LINK(texts, ...) \
	PROG_(link_says(p_, COUNT_, __LINE__, texts), __VA_ARGS__)
#define FOLLOW(texts, ...) \
	PROG_(check_says(p_, COUNT_, true, __LINE__, texts), __VA_ARGS__)
#define FOLLOW_PERF(texts, ...) \
	PROG_(check_says(p_, COUNT_, false, __LINE__, texts), __VA_ARGS__)

TEST(link_names)
{
	LINK("", RETURN(0));
	LINK("no label \"oot\"; the nearest is \"out\"",
	     JEQI(R1, 0, "out"), JMP("oot"), LABEL("out"), RETURN(0));
	LINK("no label \"nowhere\"", JMP("nowhere"));
	LINK("no map \"count\"; the nearest is \"counts\"",
	     MAP(R1, "count"), RETURN(0));
	LINK("no map \"qqqqqq\"", MAP(R1, "qqqqqq"), RETURN(0));
	LINK("no constant \"tgit\"; the nearest is \"tgid\"",
	     CONST(R1, "tgit"), RETURN(0));
	LINK("no map \"event\"; the nearest is \"events\"",
	     OUTPUT(R6, R7, "event", 8, WAKE), RETURN(0));
	LINK("no map \"a1b2c3\"|no constant \"z9z9z9\"|no label \"l0l0l0\"",
	     MAP(R1, "a1b2c3"), CONST(R1, "z9z9z9"), JMP("l0l0l0"));
}

TEST(link_structure)
{
	LINK("label \"out\" stands twice", JMP("out"), LABEL("out"),
	     LABEL("out"), RETURN(0));
	LINK("no jump to label \"out\"", LABEL("out"), RETURN(0));
	LINK("the program ends without EXIT or JMP", MOVI(R0, 0));
	LINK("the program ends without EXIT or JMP", MAP(R1, "counts"));
	LINK("jump past the end of the program", JMP("end"), LABEL("end"));
	LINK("jump past the end of the program",
	     MEMORY_(BPF_JMP | BPF_JA, 0, 0, 2, 0), RETURN(0));
	LINK("jump past the end of the program",
	     MEMORY_(BPF_JMP | BPF_JA, 0, 0, -2, 0), RETURN(0));
	LINK("jump into the middle of an ld_imm64",
	     MEMORY_(BPF_JMP | BPF_JA, 0, 0, 1, 0), MAP(R1, "counts"),
	     RETURN(0));
	LINK("OUTPUT takes r6 to r9, not r1 and r7",
	     OUTPUT(R1, R7, "events", 8, WAKE), RETURN(0));
	LINK("OUTPUT takes r6 to r9, not r6 and r10",
	     OUTPUT(R6, R10, "events", 8, WAKE), RETURN(0));
	LINK("OUTPUT to \"counts\", which is not an event map",
	     OUTPUT(R6, R7, "counts", 8, WAKE), RETURN(0));
	LINK("SUBMIT takes r6 to r9, not r6 and r0",
	     SUBMIT(R6, R0, "frames", WAKE), RETURN(0));
	LINK("no map \"frame\"; the nearest is \"frames\"",
	     RESERVE("frame"), RETURN(0));
	LINK("\"events\" is not a map of records", RESERVE("events"),
	     RETURN(0));
	LINK("\"counts\" is not a map of records",
	     SUBMIT(R6, R7, "counts", WAKE), RETURN(0));
}

TEST(link_record)
{
	static const struct insn insns[] = { RESERVE("frames"), RETURN(0) };
	struct bpf_object o = object_of(insns,
					sizeof(insns) / sizeof(insns[0]));
	struct link_env env = { .ringbuf = true };
	struct map_def maps[4];
	struct buf why = { 0 };
	struct linked l;

	memcpy(maps, o.maps, sizeof(maps));
	maps[3].value_size = 56;
	CHECK_EQ(link_prog(&o, &o.progs[0], &env, &l, &why), 0);
	CHECK_EQ(l.insns[2].imm, 48);
	linked_free(&l);
	env.maps = maps;
	CHECK_EQ(link_prog(&o, &o.progs[0], &env, &l, &why), 0);
	CHECK_EQ(l.insns[2].imm, 56);
	linked_free(&l);
	object_maps[2] = object_maps[0];
	CHECK_EQ(link_prog(&o, &o.progs[0], &env, &l, &why), -EINVAL);
	CHECK(strstr(buf_str(&why),
		     ": p: no event map for the records of \"frames\"\n"));
	buf_free(&why);
}

TEST(link_empty)
{
	const struct bpf_object o = object_of(NULL, 0);
	const struct link_env env = { 0 };
	struct buf why = { 0 };
	struct linked l;

	CHECK_EQ(link_prog(&o, &o.progs[0], &env, &l, &why), -EINVAL);
	CHECK_STR(buf_str(&why), __FILE__ ":0: p: no instructions\n");
	buf_free(&why);
}

/* FIELD() */

static int give_offset(void *arg, const char *path)
{
	CHECK_STR(path, "rq.nr_running");
	return *(int *)arg;
}

static void field_says(int offset, const char *text)
{
	static const struct insn insns[] = {
		FIELD(R2, R1, "rq.nr_running"), RETURN(0),
	};
	const struct bpf_object o = object_of(insns,
					sizeof(insns) / sizeof(insns[0]));
	const struct link_env env = {
		.offset = give_offset, .offset_arg = &offset,
	};
	struct buf why = { 0 };
	struct linked l;

	CHECK_EQ(link_prog(&o, &o.progs[0], &env, &l, &why),
		 offset == -ENOMEM ? -ENOMEM : *text ? -EINVAL : 0);
	if (*text)
		CHECK(strstr(buf_str(&why), text));
	if (l.n == 4) {
		CHECK_EQ(l.insns[0].code, BPF_ALU64 | BPF_MOV | BPF_X);
		CHECK_EQ(l.insns[0].dst_reg, 2);
		CHECK_EQ(l.insns[0].src_reg, 1);
		CHECK_EQ(l.insns[1].code, BPF_ALU64 | BPF_ADD | BPF_K);
		CHECK_EQ(l.insns[1].dst_reg, 2);
		CHECK_EQ(l.insns[1].imm, offset);
	} else {
		CHECK((*text || offset < 0) && !l.n);
	}
	linked_free(&l);
	buf_free(&why);
}

TEST(link_field)
{
	field_says(0, "");
	field_says(0x12345, "");
	field_says(-ENOENT, ": p: this kernel has no \"rq.nr_running\"\n");
	field_says(-EOPNOTSUPP, "it has no BTF (CONFIG_DEBUG_INFO_BTF)\n");
	field_says(-ENOTUNIQ, "\"rq.nr_running\" in this kernel's BTF: ");
	field_says(-ENOMEM, "");
}

/* Offsets count an ld_imm64 as two. */
TEST(link_offsets)
{
	static const struct insn insns[] = {
		JEQI(R1, 0, "far"),
		MAP(R1, "counts"),
		CONST(R2, "limit"),
		JNE(R1, R2, "near"),
	LABEL("near"),
		MOVI(R0, 1),
	LABEL("far"), LABEL("also"),
		MOVI(R0, 0),
		JMP("also"),
	};
	const struct bpf_object o = object_of(insns,
					sizeof(insns) / sizeof(insns[0]));
	const uint64_t consts[] = { 7, 0x8000000180000002 };
	const int fds[] = { 70, 71, 72 };
	const struct link_env env = { .map_fds = fds, .consts = consts };
	struct buf why = { 0 };
	struct linked l;

	CHECK_EQ(link_prog(&o, &o.progs[0], &env, &l, &why), 0);
	CHECK_EQ(l.n, 9);
	CHECK_EQ(l.insns[0].off, 6);
	CHECK_EQ(l.insns[5].off, 0);
	CHECK_EQ(l.insns[8].off, -2);
	CHECK_EQ(l.insns[1].imm, 70);
	CHECK_EQ(l.insns[1].src_reg, BPF_PSEUDO_MAP_FD);
	CHECK_EQ(l.insns[2].code, 0);
	CHECK_EQ(l.insns[3].imm, (int32_t)0x80000002);
	CHECK_EQ(l.insns[4].imm, (int32_t)0x80000001);
	CHECK_EQ(l.notes[4].line, l.notes[3].line);
	CHECK_EQ(l.nlabels, 3);
	CHECK_EQ(l.labels[1].at, 7);
	CHECK_EQ(l.labels[2].at, 7);
	linked_free(&l);
	buf_free(&why);
}

/* What keeps the stack from belonging to the CPU is reached by no path. */
TEST(link_user)
{
	static const struct insn insns[] = { RETURN(0) };
	const struct bpf_object o = object_of(insns, 1);
	const struct link_env env = { .is_user = true };
	struct buf why = { 0 };
	struct linked l;

	CHECK_EQ(link_prog(&o, &o.progs[0], &env, &l, &why), 0);
	CHECK_EQ(l.n, 5);
	CHECK_EQ(l.insns[1].code, BPF_JMP | BPF_JEQ | BPF_K);
	CHECK_EQ(l.insns[1].dst_reg, BPF_REG_0);
	CHECK_EQ(l.insns[1].imm, l.insns[0].imm);
	CHECK_EQ(l.insns[1].off, 1);
	CHECK_EQ(l.insns[2].imm, BPF_FUNC_tail_call);
	linked_free(&l);
	buf_free(&why);
}

TEST(link_repeat)
{
	const struct insn insns[] = {
		MOVI (R2, 0),
		REPEAT(3),
		ROUND(R1),
		JEQI (R1, 1, "next"),
		JEQI (R2, 9, "out"),
		ADD  (R2, R1),
	LABEL("next"),
		AGAIN,
	LABEL("out"),
		RETURN(0),
	};
	const struct bpf_object o = object_of(insns,
					     sizeof(insns) / sizeof(*insns));
	const struct link_env env = { 0 };
	struct buf why = { 0 };
	struct linked l;

	CHECK_EQ(link_prog(&o, &o.progs[0], &env, &l, &why), 0);
	CHECK_EQ(l.n, 1 + 3 * 4 + 2);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(l.insns[1 + 4 * i].imm, i);
		CHECK_EQ(l.insns[2 + 4 * i].off, 2);
		CHECK_EQ(l.insns[3 + 4 * i].off, 13 - (4 + 4 * i));
	}
	linked_free(&l);
	buf_free(&why);
}

TEST(link_repeat_errors)
{
	LINK("AGAIN without a REPEAT", AGAIN, RETURN(0));
	LINK("REPEAT within a REPEAT|REPEAT within a REPEAT", REPEAT(2),
	     REPEAT(2), AGAIN, RETURN(0));
	LINK("label \"x\" stands twice", REPEAT(1), JMP("x"), LABEL("x"),
	     LABEL("x"), AGAIN, RETURN(0));
}

TEST(link_far)
{
	enum { N = 33000 };
	struct insn *insns = calloc(N + 5, sizeof(*insns));
	const struct insn start[] = { JMP("out"), MOVI(R0, 0) };
	const struct insn end[] = { LABEL("out"), RETURN(0) };
	struct bpf_object o = object_of(insns, N + 5);
	const struct link_env env = { 0 };
	struct buf why = { 0 };
	struct linked l;
	char *found;

	memcpy(insns, start, sizeof(start));
	for (int i = 3; i < N + 2; i++)
		insns[i] = start[2];
	memcpy(insns + N + 2, end, sizeof(end));
	CHECK_EQ(link_prog(&o, &o.progs[0], &env, &l, &why), -EINVAL);
	found = strstr(buf_str(&why), "label \"out\" is 33000 instr");
	CHECK(found);
	buf_free(&why);
	free(insns);
}

TEST(check_size)
{
	static struct insn insns[BPF_MAXINSNS + 1];
	const struct insn exit[] = { MOVI(R0, 0), EXIT };
	struct bpf_object o = object_of(insns, BPF_MAXINSNS + 1);
	const struct link_env env = { 0 };
	struct buf why = { 0 };
	struct linked l;

	for (int i = 0; i < BPF_MAXINSNS; i++)
		insns[i] = exit[0];
	insns[BPF_MAXINSNS] = exit[1];
	flatten(insns, BPF_MAXINSNS + 1);
	CHECK_EQ(link_prog(&o, &o.progs[0], &env, &l, &why), 0);
	CHECK_EQ(linked_check(&o, &o.progs[0], &l, &why), -EINVAL);
	linked_free(&l);
	same(&why, __LINE__, "4097 instructions; before Linux 5.2 a program "
	     "has at most 4096");
}

TEST(check_registers)
{
	FOLLOW("", MOV(R0, R1), EXIT);
	FOLLOW("r0 read before it is written", EXIT);
	FOLLOW("r2 read before it is written", MOV(R0, R2), EXIT);
	FOLLOW("r3 read before it is written", ADDI(R3, 1), RETURN(0));
	FOLLOW("r3 read before it is written", MOVI(R0, 1), ADD(R0, R3),
	       MOV(R0, R3), EXIT);
	FOLLOW("r1 read after a call", CALL(ktime_get_ns), MOV(R0, R1), EXIT);
	FOLLOW("r5 read after a call", CALL(ktime_get_ns),
	       JEQ(R0, R5, "out"), LABEL("out"), RETURN(0));
	FOLLOW("r10 written", MOV(R10, R1), RETURN(0));
	FOLLOW("r10 written", ADDI(R10, -8), RETURN(0));
	FOLLOW("r10 written", LDX(DW, R10, R1, 0), RETURN(0));
	FOLLOW("r10 written", CONST(R10, "tgid"), RETURN(0));
	FOLLOW("r7 read before it is written", JEQI(R1, 0, "set"), JMP("use"),
	       LABEL("set"), MOVI(R7, 1), LABEL("use"), MOV(R0, R7), EXIT);
	FOLLOW("", JEQI(R1, 0, "a"), MOVI(R7, 2), JMP("use"), LABEL("a"),
	       MOVI(R7, 1), LABEL("use"), MOV(R0, R7), EXIT);
	FOLLOW("", FIELD(R2, R1, "a.b"), MOV(R0, R2), EXIT);
	FOLLOW("r3 read before it is written", FIELD(R2, R3, "a.b"),
	       RETURN(0));
	FOLLOW("FIELD of \"a.b\": r2 is no address of the kernel's",
	       FIELD(R2, R10, "a.b"), RETURN(0));
	FOLLOW("r0 read before it is written", JSETI(R1, 3, "out"),
	       MOVI(R0, 1), LABEL("out"), EXIT);
}

TEST(check_stack)
{
	FOLLOW("", ST(W, R10, -4, 1), LDX(W, R0, R10, -4), EXIT);
	FOLLOW("", ST(B, R10, -512, 1), LDX(B, R0, R10, -512), EXIT);
	FOLLOW("stack byte r10-4 read before it is written",
	       LDX(W, R0, R10, -4), EXIT);
	FOLLOW("stack byte r10-4 read before it is written",
	       ST(W, R10, -8, 1), LDX(DW, R0, R10, -8), EXIT);
	FOLLOW("8 bytes at r10-520 are not in the stack",
	       ST(DW, R10, -520, 1), RETURN(0));
	FOLLOW("4 bytes at r10-2 are not in the stack",
	       ST(W, R10, -2, 1), RETURN(0));
	FOLLOW("1 bytes at r10+0 are not in the stack",
	       LEA(R2, R10, -8), ST(B, R2, 8, 1), RETURN(0));
	FOLLOW("stack byte r10-8 read before it is written", MOVI(R1, 1),
	       XADD(DW, R10, -8, R1), RETURN(0));
	FOLLOW("stack byte r10-4 read before it is written",
	       JEQI(R1, 0, "no"), ST(W, R10, -4, 1), LABEL("no"),
	       LDX(W, R0, R10, -4), EXIT);
	FOLLOW("", JEQI(R1, 0, "no"), ST(W, R10, -4, 1), JMP("use"),
	       LABEL("no"), ST(DW, R10, -8, 1), LABEL("use"),
	       LDX(W, R0, R10, -4), EXIT);
}

TEST(check_paths)
{
	FOLLOW("no path comes here", MOVI(R0, 0), EXIT, MOVI(R0, 1), EXIT);
	FOLLOW("no path comes here", JMP("out"), MAP(R1, "counts"),
	       LABEL("out"), RETURN(0));
	FOLLOW("", MOVI(R0, 0), LABEL("again"), ADDI(R0, 1),
	       JLTI(R0, 9, "again"), EXIT);
	FOLLOW("r1 read after a call", MOVI(R1, 0), LABEL("again"),
	       MOV(R6, R1), CALL(ktime_get_ns), JLTI(R0, 9, "again"),
	       RETURN(0));
	FOLLOW("", MOVI(R1, 0), LABEL("again"), MOV(R6, R1),
	       CALL(ktime_get_ns), MOV(R1, R6), JLTI(R0, 9, "again"),
	       RETURN(0));
}

TEST(check_helper_reads)
{
	FOLLOW("", ST(W, R10, -4, 1), LEA(R2, R10, -4), MAP(R1, "counts"),
	       CALL(map_lookup_elem), RETURN(0));
	FOLLOW("stack byte r10-4 read before it is written",
	       LEA(R2, R10, -4), MAP(R1, "counts"), CALL(map_lookup_elem),
	       RETURN(0));
	FOLLOW("stack byte r10-8 read before it is written",
	       ST(DW, R10, -16, 1), LEA(R2, R10, -16), MAP(R1, "wide"),
	       CALL(map_lookup_elem), RETURN(0));
	FOLLOW("16 bytes at r10-8 are not in the stack",
	       ST(DW, R10, -8, 1), LEA(R2, R10, -8), MAP(R1, "wide"),
	       CALL(map_lookup_elem), RETURN(0));
	FOLLOW("stack byte r10-12 read before it is written",
	       ST(W, R10, -4, 1), LEA(R2, R10, -4), LEA(R3, R10, -16),
	       ST(W, R10, -16, 1), MOVI(R4, 0), MAP(R1, "counts"),
	       CALL(map_update_elem), RETURN(0));
	FOLLOW("r4 read before it is written",
	       ST(DW, R10, -8, 1), LEA(R2, R10, -8), LEA(R3, R10, -8),
	       MAP(R1, "counts"), CALL(map_update_elem), RETURN(0));
	FOLLOW("r1 is not a map", ST(W, R10, -4, 1), LEA(R2, R10, -4),
	       MOVI(R1, 1), CALL(map_lookup_elem), RETURN(0));
	FOLLOW("stack byte r10-8 read before it is written",
	       MOV(R6, R1), LEA(R7, R10, -16), ST(DW, R10, -16, 1),
	       OUTPUT(R6, R7, "events", 16, QUIET), RETURN(0));
	FOLLOW_PERF("stack byte r10-8 read before it is written",
	       MOV(R6, R1), LEA(R7, R10, -16), ST(DW, R10, -16, 1),
	       OUTPUT(R6, R7, "events", 16, QUIET), RETURN(0));
	FOLLOW("helper #12 is not in src/asm/helper.c",
	       CALL(tail_call), RETURN(0));
}

TEST(check_helper_writes)
{
	FOLLOW("", LEA(R1, R10, -16), MOVI(R2, 16), CALL(get_current_comm),
	       LDX(DW, R0, R10, -8), EXIT);
	FOLLOW("stack byte r10-17 read before it is written",
	       LEA(R1, R10, -16), MOVI(R2, 16), CALL(get_current_comm),
	       LDX(B, R0, R10, -17), EXIT);
	FOLLOW("16 bytes at r10-8 are not in the stack",
	       LEA(R1, R10, -8), MOVI(R2, 16), CALL(get_current_comm),
	       RETURN(0));
	FOLLOW("", MOVI(R1, 1), MOVI(R2, 1), LEA(R3, R10, -8), MOVI(R4, 8),
	       CALL(get_ns_current_pid_tgid), LDX(DW, R0, R10, -8), EXIT);
	FOLLOW("", LEA(R2, R10, -8), MOVI(R3, 8), MOVI(R4, 0),
	       CALL(get_stack), LDX(DW, R0, R10, -8), EXIT);
	FOLLOW("stack byte r10-4 read before it is written",
	       LEA(R2, R10, -8), MOVI(R3, 4), MOVI(R4, 0), CALL(get_stack),
	       LDX(DW, R0, R10, -8), EXIT);
}

#define HAVE(label) \
	MOV(R6, R1), RESERVE("frames"), JEQI(R0, 0, label), MOV(R7, R0)
#define SEND SUBMIT(R6, R7, "frames", WAKE)

TEST(check_reserved)
{
	FOLLOW("", HAVE("out"), SEND, LABEL("out"), EXIT);
	FOLLOW_PERF("", HAVE("out"), SEND, LABEL("out"), EXIT);
	FOLLOW("what was reserved is not sent", HAVE("out"), LABEL("out"),
	       RETURN(0));
	FOLLOW("what was reserved is not sent", HAVE("out"),
	       LDX(W, R1, R7, 0), JEQI(R1, 0, "out"), SEND, LABEL("out"),
	       RETURN(0));
	FOLLOW("what was reserved is not sent", MOV(R6, R1),
	       RESERVE("frames"), MOV(R7, R0), JNEI(R7, 1, "have"), RETURN(0),
	       LABEL("have"), SEND, EXIT);
	FOLLOW("", MOV(R6, R1), RESERVE("frames"), MOV(R7, R0),
	       JNEI(R7, 0, "have"), RETURN(0), LABEL("have"), SEND, EXIT);
	FOLLOW("", HAVE("out"), LDX(W, R1, R7, 0), JEQI(R1, 0, "quiet"), SEND,
	       JMP("out"), LABEL("quiet"), SUBMIT(R6, R7, "frames", QUIET),
	       LABEL("out"), EXIT);
	FOLLOW("r7 read after a call", HAVE("out"), SEND, ST(W, R7, 0, 1),
	       LABEL("out"), RETURN(0));
	FOLLOW("r1 is not what was reserved", HAVE("out"), MOV(R7, R6), SEND,
	       LABEL("out"), RETURN(0));
	FOLLOW("r7 read after a call|r1 is not what was reserved", HAVE("out"),
	       SEND, SEND, LABEL("out"), RETURN(0));
	FOLLOW("reserved twice", HAVE("out"), RESERVE("frames"), SEND,
	       LABEL("out"), RETURN(0));
	FOLLOW("r0 read after a call", MOVI(R2, 0), MAP(R1, "events"),
	       MOVI(R3, 0), MOVI(R2, 8), CALL(ringbuf_reserve), MOV(R1, R0),
	       MOVI(R2, 0), CALL(ringbuf_submit), EXIT);
	FOLLOW("reserved twice|what was reserved is not sent",
	       LABEL("again"), MAP(R1, "events"), MOVI(R2, 8), MOVI(R3, 0),
	       CALL(ringbuf_reserve), JNEI(R0, 1, "again"), RETURN(0));
}

TEST(check_object)
{
	static const struct insn insns[] = {
		MAP(R1, "counts"), CONST(R2, "tgid"), RETURN(0),
	};
	struct bpf_object o = object_of(insns,
					sizeof(insns) / sizeof(insns[0]));
	struct buf why = { 0 };

	object_maps[1].name = "counts";
	object_maps[2].name = "sixteen_bytes_xx";
	object_consts[1] = "tgid";
	object_prog[0].name = "a-b";
	CHECK_EQ(object_check(&o, &why), -EINVAL);
	CHECK_STR(buf_str(&why),
		__FILE__ ": map \"counts\" is declared twice\n"
		__FILE__ ": map \"sixteen_bytes_xx\": the kernel takes "
			"15 letters, digits and _\n"
		__FILE__ ": no program uses the map \"sixteen_bytes_xx\"\n"
		__FILE__ ": no program uses the map \"frames\"\n"
		__FILE__ ": constant \"tgid\" is declared twice\n"
		__FILE__ ": program \"a-b\": the kernel takes 15 letters, "
			"digits and _\n");
	buf_reset(&why);
	o = object_of(insns, sizeof(insns) / sizeof(insns[0]));
	memset(object_maps + 1, 0, 3 * sizeof(*object_maps));
	CHECK_EQ(object_check(&o, &why), -EINVAL);
	CHECK_STR(buf_str(&why),
		__FILE__ ": no program uses the constant \"limit\"\n");
	buf_reset(&why);
	object_consts[1] = NULL;
	CHECK_EQ(object_check(&o, &why), 0);
	buf_free(&why);
}

/* Records go to the event map, whose name they do not say. */
TEST(check_object_record)
{
	static const struct insn insns[] = {
		MOV(R6, R1), RESERVE("frames"), JEQI(R0, 0, "out"),
		MOV(R7, R0), ST(W, R7, 0, 1),
		SUBMIT(R6, R7, "frames", WAKE), LABEL("out"), RETURN(0),
	};
	struct bpf_object o = object_of(insns,
					sizeof(insns) / sizeof(insns[0]));
	struct buf why = { 0 };

	object_consts[0] = NULL;
	object_maps[0] = object_maps[3];
	object_maps[1] = object_maps[2];
	memset(object_maps + 2, 0, 2 * sizeof(*object_maps));
	CHECK_EQ(object_check(&o, &why), 0);
	CHECK_STR(buf_str(&why), "");
	buf_free(&why);
}

/* Instruction by instruction, separated by newlines. */
static void dump_says(const struct insn *insns, size_t count, bool ringbuf,
		      int line, const char *want)
{
	const struct bpf_object o = object_of(insns, count);
	const uint64_t consts[] = { 7, 0x123456789a };
	const struct link_env env = { .ringbuf = ringbuf, .consts = consts };
	struct buf why = { 0 }, got = { 0 };
	struct linked l;

	CHECK_EQ(link_prog(&o, &o.progs[0], &env, &l, &why), 0);
	for (size_t i = 0; i < l.n; i++) {
		dump_insn(&l, i, &got);
		buf_putc(&got, '\n');
		i += insn_is_wide(&l.insns[i]);
	}
	if (strcmp(buf_str(&got), want))
		test_case(line, buf_str(&got), want);
	linked_free(&l);
	buf_free(&why);
	buf_free(&got);
}

#define DUMP(want, ...) \
	PROG_(dump_says(p_, COUNT_, true, __LINE__, want "(95) exit\n"), \
	      __VA_ARGS__, EXIT)
#define DUMP_PERF(want, ...) \
	PROG_(dump_says(p_, COUNT_, false, __LINE__, want "(95) exit\n"), \
	      __VA_ARGS__, EXIT)

TEST(dump_memory)
{
	DUMP("(71) r1 = *(u8 *)(r6 +8)\n", LDX(B, R1, R6, 8));
	DUMP("(69) r1 = *(u16 *)(r6 +8)\n", LDX(H, R1, R6, 8));
	DUMP("(61) r1 = *(u32 *)(r6 +8)\n", LDX(W, R1, R6, 8));
	DUMP("(79) r1 = *(u64 *)(r6 -8)\n", LDX(DW, R1, R6, -8));
	DUMP("(63) *(u32 *)(r10 -16) = r0\n", STX(W, R10, -16, R0));
	DUMP("(73) *(u8 *)(r10 -16) = r0\n", STX(B, R10, -16, R0));
	DUMP("(7a) *(u64 *)(r10 -8) = -14\n", ST(DW, R10, -8, -14));
	DUMP("(6a) *(u16 *)(r10 -8) = 3\n", ST(H, R10, -8, 3));
	DUMP("(db) lock *(u64 *)(r0 +0) += r1\n", XADD(DW, R0, 0, R1));
	DUMP("(c3) lock *(u32 *)(r0 +4) += r1\n", XADD(W, R0, 4, R1));
}

TEST(dump_arithmetic)
{
	DUMP("(bf) r6 = r1\n", MOV(R6, R1));
	DUMP("(b7) r6 = -1\n", MOVI(R6, -1));
	DUMP("(bf) r2 = r10\n(07) r2 += -4\n", LEA(R2, R10, -4));
	DUMP("(0f) r1 += r2\n(07) r1 += 3\n", ADD(R1, R2), ADDI(R1, 3));
	DUMP("(1f) r1 -= r2\n(17) r1 -= 3\n", SUB(R1, R2), SUBI(R1, 3));
	DUMP("(2f) r1 *= r2\n(27) r1 *= 3\n", MUL(R1, R2), MULI(R1, 3));
	DUMP("(3f) r1 /= r2\n(37) r1 /= 3\n", DIV(R1, R2), DIVI(R1, 3));
	DUMP("(4f) r1 |= r2\n(47) r1 |= 3\n", OR(R1, R2), ORI(R1, 3));
	DUMP("(5f) r1 &= r2\n(57) r1 &= 3\n", AND(R1, R2), ANDI(R1, 3));
	DUMP("(af) r1 ^= r2\n(a7) r1 ^= 3\n", XOR(R1, R2), XORI(R1, 3));
	DUMP("(6f) r1 <<= r2\n(67) r1 <<= 3\n", LSH(R1, R2), LSHI(R1, 3));
	DUMP("(7f) r1 >>= r2\n(77) r1 >>= 3\n", RSH(R1, R2), RSHI(R1, 3));
	DUMP("(cf) r1 s>>= r2\n(c7) r1 s>>= 3\n", ARSH(R1, R2),
	     ARSHI(R1, 3));
}

#define JUMPS(code, op, icode, M) \
	DUMP("(" code ") if r1 " op " r2 goto out\n" \
	     "(" icode ") if r1 " op " 0xffffffef goto out\n", \
	     M(R1, R2, "out"), M##I(R1, -17, "out"), LABEL("out"))

TEST(dump_jumps)
{
	JUMPS("1d", "==", "15", JEQ);
	JUMPS("5d", "!=", "55", JNE);
	JUMPS("2d", ">", "25", JGT);
	JUMPS("3d", ">=", "35", JGE);
	JUMPS("ad", "<", "a5", JLT);
	JUMPS("bd", "<=", "b5", JLE);
	JUMPS("4d", "&", "45", JSET);
	JUMPS("6d", "s>", "65", JSGT);
	JUMPS("7d", "s>=", "75", JSGE);
	JUMPS("cd", "s<", "c5", JSLT);
	JUMPS("dd", "s<=", "d5", JSLE);
	DUMP("(05) goto out\n", JMP("out"), LABEL("out"));
}

TEST(dump_names)
{
	DUMP("(85) call bpf_get_stackid#27\n", CALL(get_stackid));
	DUMP("(18) r1 = map[counts]\n", MAP(R1, "counts"));
	DUMP("(18) r1 = const[tgid]=0x7\n", CONST(R1, "tgid"));
	DUMP("(18) r1 = const[limit]=0x123456789a\n", CONST(R1, "limit"));
	DUMP("(bf) r2 = r1\n(07) r2 += task_struct.tgid\n",
	     FIELD(R2, R1, "task_struct.tgid"));
	DUMP("(b7) r0 = 3\n(95) exit\n(b7) r0 = 0\n", RETURN(3),
	     MOVI(R0, 0));
	DUMP("(62) *(u32 *)(r10 -8) = 2\n(18) r1 = map[counts]\n"
	     "(bf) r2 = r10\n(07) r2 += -8\n"
	     "(85) call bpf_map_lookup_elem#1\n"
	     "(15) if r0 == 0x0 goto pc+2\n(b7) r1 = 1\n"
	     "(db) lock *(u64 *)(r0 +0) += r1\n", COUNT("counts", 2));
}

TEST(dump_output)
{
	DUMP("(18) r1 = map[events]\n(bf) r2 = r7\n(b7) r3 = 24\n"
	     "(b7) r4 = 2\n(85) call bpf_ringbuf_output#130\n",
	     OUTPUT(R6, R7, "events", 24, WAKE));
	DUMP("(18) r1 = map[events]\n(bf) r2 = r7\n(b7) r3 = 24\n"
	     "(b7) r4 = 1\n(85) call bpf_ringbuf_output#130\n",
	     OUTPUT(R6, R7, "events", 24, QUIET));
	DUMP_PERF("(bf) r1 = r6\n(18) r2 = map[events]\n"
	     "(18) r3 = 0xffffffff\n(bf) r4 = r7\n(b7) r5 = 24\n"
	     "(85) call bpf_perf_event_output#25\n",
	     OUTPUT(R6, R7, "events", 24, WAKE));
}

TEST(dump_record)
{
	DUMP("(18) r1 = map[events]\n(b7) r2 = 48\n(b7) r3 = 0\n"
	     "(85) call bpf_ringbuf_reserve#131\n", RESERVE("frames"));
	DUMP("(bf) r1 = r7\n(b7) r2 = 1\n(85) call bpf_ringbuf_submit#132\n"
	     "(b7) r0 = 0\n", SUBMIT(R6, R7, "frames", QUIET));
	DUMP_PERF("(62) *(u32 *)(r10 -8) = 0\n(18) r1 = map[frames]\n"
	     "(bf) r2 = r10\n(07) r2 += -8\n"
	     "(85) call bpf_map_lookup_elem#1\n"
	     "(15) if r0 == 0x0 goto pc+3\n(61) r1 = *(u32 *)(r0 +0)\n"
	     "(15) if r1 == 0x0 goto pc+1\n(b7) r0 = 0\n",
	     RESERVE("frames"));
	DUMP_PERF("(bf) r1 = r6\n(18) r2 = map[events]\n"
	     "(18) r3 = 0xffffffff\n(bf) r4 = r7\n(b7) r5 = 48\n"
	     "(85) call bpf_perf_event_output#25\n"
	     "(62) *(u32 *)(r7 +0) = 0\n", SUBMIT(R6, R7, "frames", WAKE));
}

TEST(dump_program)
{
	static const struct insn insns[] = {
		JEQI(R1, 0, "a"), MAP(R1, "counts"), JMP("b"),
	LABEL("a"), LABEL("b"), RETURN(0),
	};
	const struct bpf_object o = object_of(insns,
					sizeof(insns) / sizeof(insns[0]));
	const struct link_env env = { 0 };
	struct buf got = { 0 };
	struct linked l;
	char want[512];
	int n = insns[0].line;

	CHECK_EQ(link_prog(&o, &o.progs[0], &env, &l, &got), 0);
	dump_prog(&o.progs[0], &l, &got);
	snprintf(want, sizeof(want),
		"\nprogram p: 6 instructions of %s\n"
		"%-56s; line %d\n%-56s; line %d\n%-56s; line %d\n"
		"a:\nb:\n%-56s; line %d\n%-56s; line %d\n", __FILE__,
		"   0: (15) if r1 == 0x0 goto a", n,
		"   1: (18) r1 = map[counts]", n,
		"   3: (05) goto b", n, "   4: (b7) r0 = 0", n + 1,
		"   5: (95) exit", n + 1);
	CHECK_STR(buf_str(&got), want);
	linked_free(&l);
	buf_free(&got);
}

static void explain(const char *log, size_t len, const char *want)
{
	static const struct insn insns[] = {
		MAP(R1, "counts"),
		ST(W, R10, -4, 1), LEA(R2, R10, -4), CALL(map_lookup_elem),
		LDX(DW, R0, R0, 0),
		EXIT,
	};
	struct bpf_object o = object_of(insns,
					sizeof(insns) / sizeof(insns[0]));
	const struct link_env env = { 0 };
	struct buf got = { 0 };
	struct linked l;
	struct insn moved[sizeof(insns) / sizeof(insns[0])];

	memcpy(moved, insns, sizeof(insns));
	for (size_t i = 0; i < o.progs[0].count; i += insn_size(&insns[i]))
		moved[i].line += 100 - insns[0].line;
	object_prog[0].insns = moved;
	object_prog[0].file = "bpfasm/x.c";
	CHECK_EQ(link_prog(&o, &o.progs[0], &env, &l, &got), 0);
	verifier_explain(log, len, &o.progs[0], &l, &got);
	CHECK_STR(buf_str(&got), want);
	linked_free(&l);
	buf_free(&got);
}

TEST(verifier_log)
{
	static const char log[] =
		"0: R1=ctx() R10=fp0\n"
		"0: (18) r1 = 0xffff888003ddc400\n"
		"2: (62) *(u32 *)(r10 -4) = 1\n"
		"3: (bf) r2 = r10\n"
		"4: (07) r2 += -4\n"
		"5: (85) call bpf_map_lookup_elem#1\n"
		"6: R0_w=map_value_or_null(id=1)\n"
		"6: (79) r0 = *(u64 *)(r0 +0)\n"
		"R0 invalid mem access 'map_value_or_null'\n"
		"verification time 61 usec\n"
		"stack depth 4\n"
		"processed 6 insns (limit 1000000) max_states_per_insn 0\n";

	explain(log, sizeof(log),
		"bpfasm/x.c:100: p: 0: (18) r1 = 0xffff888003ddc400\n"
		"bpfasm/x.c:101: p: 2: (62) *(u32 *)(r10 -4) = 1\n"
		"bpfasm/x.c:101: p: 3: (bf) r2 = r10\n"
		"bpfasm/x.c:101: p: 4: (07) r2 += -4\n"
		"bpfasm/x.c:101: p: 5: (85) call bpf_map_lookup_elem#1\n"
		"bpfasm/x.c:102: p: 6: R0_w=map_value_or_null(id=1)\n"
		"bpfasm/x.c:102: p: 6: (79) r0 = *(u64 *)(r0 +0)\n"
		"R0 invalid mem access 'map_value_or_null'\n");
}

TEST(verifier_log_odd)
{
	explain("", 0, "");
	explain("", 1, "");
	explain("\n\n", 2, "");
	explain("no newline", 10, "no newline\n");
	explain("7: (95) exit", 12, "bpfasm/x.c:103: p: 7: (95) exit\n");
	explain("8: beyond\n", 10, "8: beyond\n");
	explain("99999999999999999999999: x", 26,
		"99999999999999999999999: x\n");
	explain("12", 2, "12\n");
	explain("from 5 to 6: R0=0\n", 18, "from 5 to 6: R0=0\n");
}

int main(void)
{
	RUN(link_names);
	RUN(link_structure);
	RUN(link_record);
	RUN(link_empty);
	RUN(link_field);
	RUN(link_offsets);
	RUN(link_user);
	RUN(link_repeat);
	RUN(link_repeat_errors);
	RUN(link_far);
	RUN(check_size);
	RUN(check_registers);
	RUN(check_stack);
	RUN(check_paths);
	RUN(check_helper_reads);
	RUN(check_helper_writes);
	RUN(check_reserved);
	RUN(check_object);
	RUN(check_object_record);
	RUN(dump_memory);
	RUN(dump_arithmetic);
	RUN(dump_jumps);
	RUN(dump_names);
	RUN(dump_output);
	RUN(dump_record);
	RUN(dump_program);
	RUN(verifier_log);
	RUN(verifier_log_odd);
	return test_failed;
}
