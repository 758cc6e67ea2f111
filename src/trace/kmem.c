/* kmem - the tracepoints of the kernel's allocators. */
#include "trace/kmem.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "sys/advice.h"
#include "sys/bpf.h"
#include "sys/tracefs.h"

/* Fields by their names, the first of two that is there: kernels move, add and
 * rename them, and 6.1 did away with some of the events. */
static const struct {
	const char *name;
	const char *block;
	const char *sizes[2];	/* none: it frees */
	bool is_order, percpu;
} events[] = {
	{ "kmem/kmalloc", "ptr", { "bytes_alloc" }, false, false },
	{ "kmem/kmalloc_node", "ptr", { "bytes_alloc" }, false, false },
	{ "kmem/kmem_cache_alloc", "ptr", { "bytes_alloc" }, false, false },
	{ "kmem/kmem_cache_alloc_node", "ptr", { "bytes_alloc" }, false,
	  false },
	{ "kmem/mm_page_alloc", "pfn", { "order" }, true, false },
	{ "percpu/percpu_alloc_percpu", "ptr", { "bytes_alloc", "size" },
	  false, true },
	{ "kmem/kfree", "ptr", { NULL }, false, false },
	{ "kmem/kmem_cache_free", "ptr", { NULL }, false, false },
	{ "kmem/mm_page_free", "pfn", { NULL }, false, false },
	{ "percpu/percpu_free_percpu", "ptr", { NULL }, false, true },
};
enum { EVENTS = sizeof(events) / sizeof(*events) };

static bool take_field(const struct tp_format *f, const char *name,
		       uint16_t *at, uint32_t *size)
{
	const struct tp_field *field = tp_field_find(f, name);

	if (!field || field->offset > UINT16_MAX ||
	    (field->size != 4 && field->size != 8))
		return false;
	*at = (uint16_t)field->offset;
	*size = field->size;
	return true;
}

static bool probe_of(size_t i, const struct tp_format *f,
		     struct leak_probe *out)
{
	uint32_t size = 0;

	*out = (struct leak_probe){
		.call = LEAK_KERNEL, .is_order = events[i].is_order,
	};
	if (!take_field(f, events[i].block, &out->block_at, &size) ||
	    size != 8)
		return false;
	size = 0;
	for (int k = 0; k < 2 && events[i].sizes[k] && !size; k++)
		take_field(f, events[i].sizes[k], &out->size_at, &size);
	out->size_bytes = (uint8_t)size;
	return size || !events[i].sizes[0];
}

bool kmem_probe(const char *event, const struct tp_format *f,
		struct leak_probe *out)
{
	for (size_t i = 0; i < EVENTS; i++)
		if (!strcmp(events[i].name, event))
			return probe_of(i, f, out);
	return false;
}

static int add(struct allocators *a, size_t i, const struct leak_probe *p)
{
	const char *slash = strchr(events[i].name, '/');
	size_t n = (size_t)(slash - events[i].name);
	struct leak_probe *probe = vec_push(&a->probes);
	struct point *to = probe ? vec_push(&a->points.v) : NULL;
	struct buf module = { 0 };

	if (!to)
		return -ENOMEM;
	*probe = *p;
	buf_mem(&module, events[i].name, n);
	*to = (struct point){
		.kind = PROBE_TRACEPOINT, .usdt = POINT_NO_USDT,
		.module = points_text(&a->points, buf_str(&module)),
		.symbol = slash + 1, .name = events[i].name, .many = true,
	};
	buf_free(&module);
	return to->module ? 0 : -ENOMEM;
}

static int find_one(struct allocators *a, size_t i)
{
	struct tp_format f;
	struct leak_probe probe;
	int err = tracefs_format(events[i].name, &f);

	if (!err && probe_of(i, &f, &probe))
		err = add(a, i, &probe);
	else if (!err)
		log_notice("%s: its record does not tell block and size: left "
			   "out", events[i].name);
	tp_format_free(&f);
	return err;
}

int kmem_find(struct allocators *a, bool percpu)
{
	int err = 0, first = 0;

	a->points.command = a->command;
	for (size_t i = 0; i < EVENTS && err != -ENOMEM; i++) {
		if (events[i].percpu && !percpu)
			continue;
		err = find_one(a, i);
		if (err)
			log_verbose("%s: %s", events[i].name, log_errno(err));
		first = first ? first : err;
	}
	if (err == -ENOMEM || !a->points.v.n) {
		err = first ? first : -ENOENT;
		log_error("%s: no tracepoint of the kernel's allocators can "
			  "be used: %s", a->command, log_errno(err));
		advice(OP_TRACEFS, err);
		return err;
	}
	return 0;
}

static int attach(struct allocators *a, struct attach *to, const char *prog,
		  bool frees)
{
	bool any = false;

	for (size_t i = 0; i < a->points.v.n; i++) {
		uint8_t *slot = vec_push(&to->refused);

		if (!slot)
			return -ENOMEM;
		*slot = !a->probes.v[i].size_bytes != frees;
		any |= !*slot;
	}
	to->fields = true;
	return any ? attach_points(to, prog, ATTACH_ENTRY) : 0;
}

int kmem_attach(struct allocators *a)
{
	int fd = session_map(a->enter.session, "probes"), err = 0;

	for (uint32_t i = 0; !err && i < a->probes.n; i++)
		err = bpf_map_update(fd, &i, &a->probes.v[i]);
	if (!err)
		err = attach(a, &a->leave, "kernel_free", true);
	return err ? err : attach(a, &a->enter, "leave", false);
}
