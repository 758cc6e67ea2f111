/* btf - types made by hand, those of the running kernel, and FIELD(). */
#include "sys/btf.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "asm.h"
#include "sys/bpf.h"
#include "sys/feature.h"
#include "test.h"
#include "trace/session.h"

enum {
	K_INT = 1, K_PTR, K_ARRAY, K_STRUCT, K_UNION, K_ENUM, K_FWD,
	K_TYPEDEF, K_VOLATILE, K_CONST, K_RESTRICT, K_FUNC, K_PROTO, K_VAR,
	K_DATASEC, K_FLOAT, K_DECL_TAG, K_TYPE_TAG, K_ENUM64,
};
enum { FLAG = 1 << 7 };		/* of a kind */

/* Types and strings being made. */
struct maker {
	uint32_t words[512];
	size_t n;
	char strings[1024];
	uint32_t len, base;	/* base: of the strings below */
	uint32_t types;
};

static uint32_t string(struct maker *m, const char *s)
{
	uint32_t at = m->len;

	if (!*s)
		return 0;
	strcpy(m->strings + at, s);
	m->len += (uint32_t)strlen(s) + 1;
	return m->base + at;
}

static void word(struct maker *m, uint32_t w)
{
	m->words[m->n++] = w;
}

/* Returns the new type's number. */
static uint32_t add(struct maker *m, int kind, const char *name,
		    uint32_t count, uint32_t size)
{
	word(m, string(m, name));
	word(m, (uint32_t)kind << 24 | count);
	word(m, size);
	return ++m->types;
}

static uint32_t integer(struct maker *m, const char *name, uint32_t size,
			bool is_signed)
{
	uint32_t id = add(m, K_INT, name, 0, size);

	word(m, (uint32_t)is_signed << 24 | size * 8);
	return id;
}

static void member(struct maker *m, const char *name, uint32_t type,
		   uint32_t bit)
{
	word(m, string(m, name));
	word(m, type);
	word(m, bit);
}

static void param(struct maker *m, const char *name, uint32_t type)
{
	word(m, string(m, name));
	word(m, type);
}

static uint32_t turn(uint32_t w)
{
	return w >> 24 | (w >> 8 & 0xff00) | (w << 8 & 0xff0000) | w << 24;
}

/* The file; *n bytes, free() it. */
static void *bytes(const struct maker *m, bool turned, size_t *n)
{
	uint32_t head[6] = { 0, 24, 0, (uint32_t)m->n * 4,
			     (uint32_t)m->n * 4, m->len };
	uint16_t magic = turned ? 0x9feb : 0xeb9f;
	char *data;
	uint32_t w;

	*n = sizeof(head) + m->n * 4 + m->len;
	data = malloc(*n);
	for (size_t i = 0; i < 6 + m->n; i++) {
		w = i < 6 ? head[i] : m->words[i - 6];
		w = turned ? turn(w) : w;
		memcpy(data + i * 4, &w, 4);
	}
	memcpy(data, &magic, sizeof(magic));
	data[2] = 1;
	memcpy(data + 24 + m->n * 4, m->strings, m->len);
	return data;
}

static struct btf *make_btf(const struct maker *m, bool turned,
			const struct btf *base)
{
	struct btf *b = NULL;
	size_t n;
	void *data = bytes(m, turned, &n);

	CHECK_EQ(btf_from_memory(data, n, base, &b), 0);
	free(data);
	return b;
}

static void maker_start(struct maker *m)
{
	*m = (struct maker) { .len = 1 };
}

static void place_is(const struct btf *b, const char *path, unsigned offset,
		     unsigned size)
{
	struct btf_place p = { 0 };
	int err = btf_field(b, path, &p);

	if (err || p.offset != offset || p.size != size || p.bits)
		FAIL("%s: %d: %u, %u bytes, %u bits", path, err, p.offset,
		     p.size, p.bits);
}

static void bits_are(const struct btf *b, const char *path, unsigned offset,
		     unsigned size, unsigned first, unsigned bits)
{
	struct btf_place p = { 0 };
	int err = btf_field(b, path, &p);

	if (*(unsigned char *)(uint16_t[]) { 1 } == 0)
		first = size * 8 - first - bits;
	if (err || p.offset != offset || p.size != size || p.bits != bits ||
	    p.shift != first)
		FAIL("%s: %d: %u, %u bytes, %u bits >> %u", path, err,
		     p.offset, p.size, p.bits, p.shift);
}

static int no_field(const struct btf *b, const char *path)
{
	struct btf_place p;

	return btf_field(b, path, &p);
}

/* struct s { int a; union { int b; struct { char c; short d; }; };
 *	      struct in { int x; } e; s_t *f; int g[3][2]; unsigned h:3, i:7; }
 * typedef const struct s s_t; */
static void structs(struct maker *m)
{
	uint32_t i, c, s, in, inner, either, array, array2, def, ptr;

	maker_start(m);
	i = integer(m, "int", 4, true);
	c = integer(m, "char", 1, true);
	s = integer(m, "short", 2, true);
	inner = add(m, K_STRUCT, "", 2, 4);
	member(m, "c", c, 0);
	member(m, "d", s, 16);
	either = add(m, K_UNION, "", 2, 4);
	member(m, "b", i, 0);
	member(m, "", inner, 0);
	in = add(m, K_STRUCT, "in", 1, 4);
	member(m, "x", i, 0);
	array = add(m, K_ARRAY, "", 0, 0);
	word(m, i), word(m, i), word(m, 2);
	array2 = add(m, K_ARRAY, "", 0, 0);
	word(m, array), word(m, i), word(m, 3);
	def = add(m, K_CONST, "", 0, m->types + 4);
	def = add(m, K_TYPEDEF, "s_t", 0, def);
	ptr = add(m, K_PTR, "", 0, def);
	add(m, K_STRUCT | FLAG, "s", 7, 56);
	member(m, "a", i, 0);
	member(m, "", either, 32);
	member(m, "e", in, 64);
	member(m, "f", ptr, 128);
	member(m, "g", array2, 192);
	member(m, "h", i, 384 | 3u << 24);
	member(m, "i", i, 387 | 7u << 24);
	add(m, K_FWD, "s", 0, 0);
	add(m, K_FLOAT, "double", 0, 8);
}

TEST(fields)
{
	struct maker m;

	structs(&m);
	for (int turned = 0; turned < 2; turned++) {
		struct btf *b = make_btf(&m, turned, NULL);

		if (!b)
			continue;
		place_is(b, "s.a", 0, 4);
		place_is(b, "s.b", 4, 4);
		place_is(b, "s.c", 4, 1);
		place_is(b, "s.d", 6, 2);
		place_is(b, "s.e", 8, 4);
		place_is(b, "s.e.x", 8, 4);
		place_is(b, "s_t.e.x", 8, 4);
		place_is(b, "s.f", 16, sizeof(void *));
		place_is(b, "s.g", 24, 24);
		bits_are(b, "s.h", 48, 4, 0, 3);
		bits_are(b, "s.i", 48, 4, 3, 7);
		CHECK_EQ(no_field(b, "s.z"), -ENOENT);
		CHECK_EQ(no_field(b, "z.a"), -ENOENT);
		CHECK_EQ(no_field(b, "s.e.y"), -ENOENT);
		CHECK_EQ(no_field(b, "s"), -EINVAL);
		CHECK_EQ(no_field(b, "s."), -EINVAL);
		CHECK_EQ(no_field(b, ".a"), -EINVAL);
		CHECK_EQ(no_field(b, ""), -EINVAL);
		CHECK_EQ(no_field(b, "s.a.x"), -EINVAL);
		CHECK_EQ(no_field(b, "s.f.a"), -EINVAL);
		CHECK_EQ(no_field(b, "s.h.a"), -EINVAL);
		CHECK_EQ(no_field(b, "s.a."), -EINVAL);
		CHECK_EQ(no_field(b, "s..a"), -EINVAL);
		CHECK_EQ(no_field(b, "ss.a"), -ENOENT);
		btf_close(b);
	}
}

/* Before Linux 5.0 the int type told of bits: here 4 of them, 2 bits in. */
TEST(old_bit_fields)
{
	struct maker m;
	uint32_t id;
	struct btf *b;

	maker_start(&m);
	id = add(&m, K_INT, "unsigned int", 0, 4);
	word(&m, 2 << 16 | 4);
	add(&m, K_STRUCT, "s", 1, 8);
	member(&m, "x", id, 33);
	b = make_btf(&m, false, NULL);
	if (!b)
		return;
	bits_are(b, "s.x", 4, 4, 3, 4);
	btf_close(b);
}

/* Two structs of one name: the one that has the field; both, if they agree. */
TEST(same_names)
{
	struct maker m;
	struct btf *b;
	uint32_t i;

	maker_start(&m);
	i = integer(&m, "int", 4, true);
	add(&m, K_STRUCT, "s", 2, 8);
	member(&m, "a", i, 0);
	member(&m, "b", i, 32);
	add(&m, K_STRUCT, "s", 3, 12);
	member(&m, "a", i, 0);
	member(&m, "c", i, 32);
	member(&m, "b", i, 64);
	b = make_btf(&m, false, NULL);
	if (!b)
		return;
	place_is(b, "s.a", 0, 4);
	place_is(b, "s.c", 4, 4);
	CHECK_EQ(no_field(b, "s.b"), -ENOTUNIQ);
	btf_close(b);
}

static void text_is(const struct btf *b, uint32_t type, const char *want)
{
	struct buf text = { 0 };

	CHECK_EQ(btf_type_text(b, type, &text), 0);
	CHECK_STR(buf_str(&text), want);
	buf_free(&text);
}

TEST(texts)
{
	struct maker m;
	uint32_t c, file, cc, p, pp, cp, array, proto;
	struct btf *b;

	maker_start(&m);
	c = integer(&m, "char", 1, true);			/* 1 */
	file = add(&m, K_FWD, "file", 0, 0);			/* 2 */
	p = add(&m, K_PTR, "", 0, file);				/* 3 */
	pp = add(&m, K_PTR, "", 0, p);				/* 4 */
	cc = add(&m, K_CONST, "", 0, c);				/* 5 */
	cp = add(&m, K_PTR, "", 0, cc);				/* 6 */
	add(&m, K_CONST, "", 0, cp);				/* 7 */
	array = add(&m, K_ARRAY, "", 0, 0);			/* 8 */
	word(&m, c), word(&m, c), word(&m, 16);
	proto = add(&m, K_PROTO, "", 0, 0);			/* 9 */
	add(&m, K_PTR, "", 0, proto);				/* 10 */
	add(&m, K_PTR, "", 0, 0);					/* 11 */
	add(&m, K_TYPEDEF, "size_t", 0, c);			/* 12 */
	add(&m, K_ENUM, "", 0, 4);				/* 13 */
	add(&m, K_FWD | FLAG, "u", 0, 0);				/* 14 */
	add(&m, K_VOLATILE, "", 0, 0);				/* 15 */
	add(&m, K_TYPE_TAG, "user", 0, c);			/* 16 */
	add(&m, K_PTR, "", 0, 16);				/* 17 */
	add(&m, K_ENUM64, "e", 0, 8);				/* 18 */
	b = make_btf(&m, false, NULL);
	if (!b)
		return;
	text_is(b, 0, "void");
	text_is(b, c, "char");
	text_is(b, p, "struct file *");
	text_is(b, pp, "struct file **");
	text_is(b, cp, "const char *");
	text_is(b, 7, "const char *const");
	text_is(b, array, "char[16]");
	text_is(b, 10, "void (*)()");
	text_is(b, 11, "void *");
	text_is(b, 12, "size_t");
	text_is(b, 13, "enum {}");
	text_is(b, 14, "union u");
	text_is(b, 15, "volatile void");
	text_is(b, 17, "char *");
	text_is(b, 18, "enum e");
	btf_close(b);
}

/* ssize_t read(struct file *file, const char *buf, u64 n, ...), twice() twice,
 * void tracepoint(void *, bool on), enum { ONE = 1, MINUS = -1 } */
static uint32_t functions(struct maker *m)
{
	uint32_t c, file, p, cc, cp, n, ssize, proto, event, v;

	maker_start(m);
	c = integer(m, "char", 1, true);
	n = integer(m, "long unsigned int", 8, false);
	ssize = integer(m, "long int", 8, true);
	ssize = add(m, K_TYPEDEF, "ssize_t", 0, ssize);
	file = add(m, K_STRUCT, "file", 0, 8);
	p = add(m, K_PTR, "", 0, file);
	cc = add(m, K_CONST, "", 0, c);
	cp = add(m, K_PTR, "", 0, cc);
	proto = add(m, K_PROTO, "", 4, ssize);
	param(m, "file", p);
	param(m, "buf", cp);
	param(m, "n", n);
	param(m, "", 0);
	v = add(m, K_FUNC, "read", 1, proto);
	add(m, K_FUNC, "twice", 0, proto);
	add(m, K_FUNC, "twice", 0, proto);
	event = add(m, K_PROTO, "", 2, 0);
	param(m, "", cp);
	param(m, "on", n);
	add(m, K_PTR, "", 0, event);
	add(m, K_TYPEDEF, "btf_trace_tick", 0, m->types);
	add(m, K_ENUM | FLAG, "", 2, 4);
	param(m, "ONE", 1);
	param(m, "MINUS", (uint32_t)-1);
	add(m, K_ENUM, "", 2, 4);
	param(m, "BIG", (uint32_t)-1);
	param(m, "TWICE", 1);
	add(m, K_ENUM64, "e", 2, 8);
	member(m, "HUGE_ONE", 2, 1);
	member(m, "TWICE", 2, 1);
	return v;
}

static void enumerator_is(const struct btf *b, const char *name,
			  int64_t want)
{
	int64_t v = 0;

	CHECK_EQ(btf_enumerator(b, name, &v), 0);
	CHECK_EQ(v, want);
}

TEST(enumerators)
{
	struct maker m;
	struct btf *b;
	int64_t v;

	functions(&m);
	b = make_btf(&m, false, NULL);
	if (!b)
		return;
	enumerator_is(b, "ONE", 1);
	enumerator_is(b, "MINUS", -1);
	enumerator_is(b, "BIG", UINT32_MAX);
	enumerator_is(b, "HUGE_ONE", 0x100000002);
	CHECK_EQ(btf_enumerator(b, "TWICE", &v), -ENOTUNIQ);
	CHECK_EQ(btf_enumerator(b, "ON", &v), -ENOENT);
	CHECK_EQ(btf_enumerator(b, "", &v), -ENOENT);
	btf_close(b);
}

static void value_is(const struct btf_value *v, const char *name,
		     enum btf_class class, uint32_t size, bool is_signed)
{
	CHECK_STR(v->name, name);
	CHECK_EQ(v->class, class);
	CHECK_EQ(v->size, size);
	CHECK_EQ(v->is_signed, is_signed);
}

TEST(functions)
{
	struct maker m;
	uint32_t id = functions(&m);
	struct btf *b = make_btf(&m, false, NULL);
	struct btf_proto p;

	if (!b)
		return;
	CHECK_EQ(btf_func(b, "read"), id);
	CHECK_EQ(btf_func(b, "rea"), -ENOENT);
	CHECK_EQ(btf_func(b, "file"), -ENOENT);
	CHECK_EQ(btf_func(b, ""), -ENOENT);
	CHECK_EQ(btf_func(b, "twice"), -ENOTUNIQ);
	CHECK_EQ(btf_func_proto(b, id, &p), 0);
	CHECK_EQ(p.nparams, 3);
	CHECK(p.is_variadic);
	value_is(&p.params[0], "file", BTF_POINTER, sizeof(void *), false);
	value_is(&p.params[1], "buf", BTF_STRING, sizeof(void *), false);
	value_is(&p.params[2], "n", BTF_INTEGER, 8, false);
	value_is(&p.ret, "", BTF_INTEGER, 8, true);
	text_is(b, p.params[0].type, "struct file *");
	text_is(b, p.ret.type, "ssize_t");
	CHECK_EQ(btf_func_proto(b, id - 1, &p), -EINVAL);
	CHECK_EQ(btf_func_proto(b, 0, &p), -EINVAL);
	CHECK_EQ(btf_func_proto(b, 1 << 30, &p), -EINVAL);
	CHECK_EQ(btf_tracepoint_proto(b, "tick", &p), 0);
	CHECK_EQ(p.nparams, 1);
	CHECK(!p.is_variadic);
	value_is(&p.params[0], "on", BTF_INTEGER, 8, false);
	CHECK_EQ(p.ret.class, BTF_VOID);
	CHECK_EQ(btf_tracepoint_proto(b, "tock", &p), -ENOENT);
	btf_close(b);
}

/* A module's types and strings go on where the kernel's end. */
TEST(modules)
{
	struct maker m, k;
	struct btf *kernel, *module;
	struct btf_proto p;
	uint32_t s, id;

	functions(&k);
	kernel = make_btf(&k, false, NULL);
	m = (struct maker) { .len = 1, .base = k.len, .types = k.types };
	s = add(&m, K_STRUCT, "s", 2, 16);
	member(&m, "p", 5, 0);		/* struct file * of the kernel */
	word(&m, 1), word(&m, 2), word(&m, 64);
	word(&m, 1);			/* the kernel's string: "char" */
	word(&m, (uint32_t)K_PROTO << 24 | 1), word(&m, 0), m.types++;
	param(&m, "s", s);
	id = add(&m, K_FUNC, "read", 0, m.types);
	module = make_btf(&m, true, kernel);
	if (!kernel || !module)
		return;
	place_is(module, "s.p", 0, 8);
	place_is(module, "s.char", 8, 8);
	CHECK_EQ(no_field(module, "file.x"), -ENOENT);
	CHECK_EQ(no_field(kernel, "s.p"), -ENOENT);
	CHECK_EQ(btf_func(module, "read"), id);
	CHECK_EQ(btf_func(module, "twice"), -ENOENT);
	CHECK_EQ(btf_func_proto(module, id, &p), 0);
	CHECK_EQ(p.nparams, 1);
	value_is(&p.params[0], "s", BTF_OTHER, 16, false);
	CHECK_EQ(btf_func_proto(module, (uint32_t)btf_func(kernel, "read"),
				&p), 0);
	CHECK_STR(p.params[1].name, "buf");
	enumerator_is(module, "MINUS", -1);
	btf_close(module);
	btf_close(kernel);
}

/* Circles and numbers that lead nowhere end. */
TEST(circles)
{
	struct maker m;
	struct buf text = { 0 };
	struct btf_proto p;
	struct btf *b;
	uint32_t f;

	maker_start(&m);
	add(&m, K_TYPEDEF, "t", 0, 2);				/* 1 */
	add(&m, K_CONST, "", 0, 1);				/* 2 */
	add(&m, K_PTR, "", 0, 3);				/* 3 */
	add(&m, K_ARRAY, "", 0, 0);				/* 4 */
	word(&m, 4), word(&m, 4), word(&m, 2);
	add(&m, K_STRUCT, "s", 4, 8);				/* 5 */
	member(&m, "", 5, 0);
	member(&m, "", 5, 0);
	member(&m, "a", 4, 0);
	member(&m, "t", 1, 0);
	add(&m, K_PROTO, "", 1, 1);				/* 6 */
	param(&m, "x", 0x7fffffff);
	f = add(&m, K_FUNC, "f", 0, 6);				/* 7 */
	add(&m, K_FUNC, "g", 0, 7);				/* 8 */
	b = make_btf(&m, false, NULL);
	if (!b)
		return;
	CHECK_EQ(no_field(b, "s.zz"), -ENOENT);
	CHECK_EQ(no_field(b, "t.a"), -EINVAL);
	CHECK_EQ(no_field(b, "s.t.a"), -EINVAL);
	place_is(b, "s.a", 0, 0);
	for (uint32_t id = 1; id <= 4; id++)
		CHECK_EQ(btf_type_text(b, id, &text), id <= 2 ? 0 : -EINVAL);
	CHECK_EQ(btf_func_proto(b, f, &p), 0);
	CHECK_EQ(p.params[0].class, BTF_OTHER);
	CHECK_EQ(p.ret.class, BTF_OTHER);
	CHECK_EQ(btf_func_proto(b, f + 1, &p), -EINVAL);
	buf_free(&text);
	btf_close(b);
}

/* Cut short anywhere, or with any byte of the header changed, it is refused or
 * read without a step beyond its end. */
TEST(cut_short)
{
	struct maker m;
	struct btf *b;
	size_t n;
	char *data;

	functions(&m);
	data = bytes(&m, false, &n);
	for (size_t i = 0; i < n; i++) {
		char *copy = malloc(i + !i);

		memcpy(copy, data, i);
		CHECK_EQ(btf_from_memory(copy, i, NULL, &b), -EINVAL);
		free(copy);
	}
	for (size_t i = 0; i < 24 * 256; i++) {
		char was = data[i / 256];

		data[i / 256] = (char)i;
		if (!btf_from_memory(data, n, NULL, &b)) {
			no_field(b, "file.x");
			btf_close(b);
		}
		data[i / 256] = was;
	}
	free(data);
}

/* -- the running kernel -------------------------------------------------- */

static const struct insn read_tgid[] = {
	CALL (get_current_task),
	FIELD(R3, R0, "task_struct.tgid"),
	LEA  (R1, R10, -8),
	ST   (DW, R10, -8, 0),
	MOVI (R2, 4),
	CALL (probe_read_kernel),
	LDX  (W, R0, R10, -8),
	EXIT,
};

static const struct bpf_object object = {
	.progs = PROGS({ "tgid", PROG_RAW_TRACEPOINT, NULL,
			 INSNS(read_tgid) }),
};

/* Run it here and now: what it returned, or -errno. */
static int64_t prog_run(int fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)fd;
	if (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr)))
		return -errno;
	return attr.test.retval;
}

TEST(field_of_kernel)
{
	struct session *s = session_new("test", &object);

	if (!feature_has(FEATURE_BTF) || !feature_has(FEATURE_READ_KERNEL)) {
		printf("SKIP field_of_kernel: no BTF, or no rights\n");
		session_free(s);
		return;
	}
	CHECK_EQ(session_load(s), 0);
	CHECK_EQ(prog_run(session_prog(s, "tgid")), getpid());
	session_free(s);
}

/* Without BTF the tool's word counts; without that there is none. */
TEST(field_without_btf)
{
	struct btf_place place = { 0 };
	struct session *s;
	struct btf *b;

	if (btf_open(NULL, &b) || !feature_has(FEATURE_READ_KERNEL)) {
		printf("SKIP field_without_btf: no BTF, or no rights\n");
		return;
	}
	CHECK_EQ(btf_field(b, "task_struct.tgid", &place), 0);
	btf_close(b);
	setenv("SONDE_WITHOUT", "btf", 1);
	CHECK_EQ(btf_open(NULL, &b), -EOPNOTSUPP);
	s = session_new("test", &object);
	CHECK(session_load(s) < 0);
	session_free(s);
	s = session_new("test", &object);
	session_offset(s, "task_struct.pid", 0);
	session_offset(s, "task_struct.tgid", place.offset);
	CHECK_EQ(session_load(s), 0);
	CHECK_EQ(prog_run(session_prog(s, "tgid")), getpid());
	session_free(s);
	unsetenv("SONDE_WITHOUT");
}

TEST(kernel)
{
	struct buf text = { 0 };
	struct btf *b, *again;
	struct btf_proto p;
	int64_t v;
	int id;

	if (btf_open(NULL, &b)) {
		printf("SKIP kernel: no BTF\n");
		return;
	}
	CHECK_EQ(btf_open(NULL, &again), 0);
	CHECK(b == again);
	btf_close(again);
	CHECK_EQ(btf_open("no_such_module", &again), -ENOENT);
	CHECK_EQ(btf_open("../btf/vmlinux", &again), -ENOENT);
	id = btf_func(b, "vfs_read");
	CHECK(id > 0);
	CHECK_EQ(btf_func_proto(b, (uint32_t)id, &p), 0);
	CHECK_EQ(p.nparams, 4);
	CHECK_STR(p.params[0].name, "file");
	CHECK_EQ(p.params[1].class, BTF_STRING);
	CHECK_EQ(p.params[2].size, sizeof(size_t));
	CHECK_EQ(btf_type_text(b, p.params[0].type, &text), 0);
	CHECK_STR(buf_str(&text), "struct file *");
	CHECK_EQ(btf_tracepoint_proto(b, "sched_process_exit", &p), 0);
	CHECK_EQ(p.params[0].class, BTF_POINTER);
	CHECK_EQ(btf_enumerator(b, "PIDTYPE_TGID", &v), 0);
	CHECK_EQ(v, 1);
	CHECK_EQ(no_field(b, "task_struct.no_such_field"), -ENOENT);
	place_is(b, "list_head.prev", sizeof(void *), sizeof(void *));
	buf_free(&text);
	btf_close(b);
}

int main(void)
{
	RUN(fields);
	RUN(old_bit_fields);
	RUN(same_names);
	RUN(texts);
	RUN(enumerators);
	RUN(functions);
	RUN(modules);
	RUN(circles);
	RUN(cut_short);
	RUN(field_of_kernel);
	RUN(field_without_btf);
	RUN(kernel);
	return test_failed;
}
