/* btf - fuzzes the reader of types, alone and as a module of itself. */
#include <stdint.h>
#include <stdlib.h>

#include "sys/btf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TYPES = 64 };

static const char *const names[] = {
	"s", "a", "int", "s_t", "read", "tick", "ONE", "MINUS", "HUGE", "",
};
static const char *const paths[] = {
	"s.a", "s.b", "s.c", "s.e.x", "s.f.a", "s.g", "s.h", "s_t.i", "s.zz",
	"a.s", ".", "s..a",
};

/* What was found must be possible. */
static void find_fields(const struct btf *b)
{
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct btf_place p;

		if (btf_field(b, paths[i], &p))
			continue;
		if (p.offset > INT32_MAX || (p.bits && (p.size > 8 ||
		    (unsigned)p.shift + p.bits > p.size * 8)))
			abort();
	}
}

static void read_proto(const struct btf *b, const struct btf_proto *p)
{
	struct buf text = { 0 };

	for (unsigned i = 0; i < p->nparams && i < BTF_PARAMS; i++) {
		buf_puts(&text, p->params[i].name);
		btf_type_text(b, p->params[i].type, &text);
	}
	btf_type_text(b, p->ret.type, &text);
	buf_free(&text);
}

static void read_all(const struct btf *b)
{
	struct buf text = { 0 };
	struct btf_proto p;
	int64_t value;

	find_fields(b);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		btf_func(b, names[i]);
		btf_enumerator(b, names[i], &value);
		if (!btf_tracepoint_proto(b, names[i], &p))
			read_proto(b, &p);
	}
	for (uint32_t id = 0; id < TYPES; id++) {
		btf_type_text(b, id, &text);
		if (!btf_func_proto(b, id, &p))
			read_proto(b, &p);
	}
	buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct btf *b, *module;

	if (btf_from_memory(data, size, NULL, &b))
		return 0;
	read_all(b);
	if (!btf_from_memory(data, size, b, &module)) {
		read_all(module);
		btf_close(module);
	}
	btf_close(b);
	return 0;
}
