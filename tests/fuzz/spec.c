/* spec - fuzz target: probe specs; what is read, is read back as the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "trace/spec.h"
#include "trace/syscall_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool part_is_regex(const struct spec_part *p)
{
	return p->match == MATCH_REGEX;
}

static void compare_parts(const struct spec_part *a, const struct spec_part *b)
{
	if (strcmp(a->text, b->text) || a->match != b->match)
		abort();
}

static void compare(const struct probe_spec *a, const struct probe_spec *b)
{
	compare_parts(&a->target, &b->target);
	compare_parts(&a->provider, &b->provider);
	compare_parts(&a->name, &b->name);
	if (a->kind != b->kind || a->has_address != b->has_address ||
	    a->address != b->address || a->offset != b->offset ||
	    a->rate != b->rate || a->unit != b->unit)
		abort();
}

static void read_back(const struct probe_spec *s, bool bpftrace)
{
	struct spec_rules rules = { .command = "fuzz", .bpftrace = bpftrace };
	struct probe_specs again = { 0 };
	struct buf text = { 0 };

	rules.regex = part_is_regex(&s->target) ||
		      part_is_regex(&s->provider) || part_is_regex(&s->name);
	spec_print(s, &text);
	if (specs_parse(buf_str(&text), &rules, &again) || again.n != 1)
		abort();
	compare(s, &again.v[0]);
	specs_free(&again);
	buf_free(&text);
}

static void use(const struct probe_spec *s)
{
	static const char *const names[] = { "", "a", "vfs_read", "aaaaaaab" };
	struct buf name = { 0 };
	struct match m;

	if (match_compile(&m, s->name.match, s->name.text, NULL))
		abort();	/* the parser has tried it */
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		match_test(&m, names[i]);
	if (m.kind != MATCH_REGEX)
		match_test(&m, s->text);
	match_free(&m);
	for (size_t i = 0; syscall_candidate(s->name.text, i, &name); i++)
		if (i > 20)
			abort();
	buf_free(&name);
	if (s->rate && s->unit != UNIT_EVENTS && !spec_period_ns(s))
		abort();
	read_back(s, true);
	read_back(s, false);
}

/* The first byte says by which rules the rest is read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct probe_specs specs = { 0 };
	struct spec_rules rules = { .command = "fuzz" };
	char *arg;

	log_set_silent(true);	/* the complaints are not of interest */
	if (!size)
		return 0;
	rules.bpftrace = data[0] & 1;
	rules.regex = data[0] & 2;
	rules.pairs = data[0] & 4;
	arg = malloc(size);
	if (!arg)
		return 0;
	memcpy(arg, data + 1, size - 1);
	arg[size - 1] = '\0';
	specs_parse(arg, &rules, &specs);
	for (size_t i = 0; i < specs.n && i < 64; i++)
		use(&specs.v[i]);
	specs_free(&specs);
	free(arg);
	return 0;
}
