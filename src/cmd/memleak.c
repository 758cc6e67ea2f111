/* memleak - memory that was allocated and not freed, by stack. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/intern.h"
#include "base/log.h"
#include "base/out.h"
#include "base/vec.h"
#include "bpf_object.h"
#include "cmd/check.h"
#include "cmd/cmd.h"
#include "cmd/probing.h"
#include "cmd/raw_output.h"
#include "cmd/stack_output.h"
#include "leak.h"
#include "sym/caller.h"
#include "sym/debug_files.h"
#include "sys/advice.h"
#include "sys/bpf.h"
#include "sys/feature.h"
#include "sys/host.h"
#include "trace/allocators.h"
#include "trace/counted.h"
#include "trace/kmem.h"
#include "trace/leaks.h"
#include "trace/startup.h"

extern const struct bpf_object object_memleak;

enum {
	WORDS = 64,			/* of -c COMMAND */
	HOLD_SECONDS = 2,		/* that a wrapper has to exec */
	DOUBLES_MOST = 10000,		/* double frees kept for an output */
	SMALL_HOST = 256 << 20,		/* bytes of memory */
	BLOCK_BYTES = 112,		/* that an entry of "blocks" takes */
	BLOCKS_MOST = 1 << 20,
	TREE_MOST = 1024,		/* threads looked at for late files */
};

struct settings {
	struct name_options names;
	struct probing_options common;
	uint64_t older, every, top, min, max, blocks, interval, count;
	bool each, show, combined, missing_free, percpu, growth, no_doubles;
	const char *object, *prefix, *sort, *command, *output, *title, *raw;
};

#define AT(member) offsetof(struct settings, member)

static const struct opt options[] = {
	PROBING_OPTIONS(struct settings, common, 'p', 0, 0, 0, 0, 'd', 'v'),
	{ 'c', "command", OPT_TEXT, AT(command), "COMMAND",
	  "run it and trace it, as after --" },
	{ 't', "trace", OPT_FLAG, AT(each), NULL,
	  "a line for each block that begins or ends", .excludes = 1 },
	{ 'a', "show-allocs", OPT_FLAG, AT(show), NULL,
	  "address and size of each block, too", .excludes = 2 },
	{ 'o', "older", OPT_NUM, AT(older), "MS",
	  "blocks of at least this age, 500 by default" },
	{ 0, "combined-only", OPT_FLAG, AT(combined), NULL,
	  "blocks of any age" },
	{ 's', "sample-rate", OPT_NUM, AT(every), "N",
	  "one allocation of so many, by chance", .min = 1, .max = 1 << 30 },
	{ 'T', "top", OPT_NUM, AT(top), "N",
	  "print the N largest, 10 by default", .min = 1 },
	{ 'z', "min-size", OPT_NUM, AT(min), "BYTES",
	  "no smaller blocks" },
	{ 'Z', "max-size", OPT_NUM, AT(max), "BYTES",
	  "no larger blocks" },
	{ 'O', "obj", OPT_TEXT, AT(object), "OBJ",
	  "the allocator of this program or library alone" },
	{ 'S', "symbols-prefix", OPT_TEXT, AT(prefix), "PREFIX",
	  "of its functions' names: je_ for je_malloc" },
	{ 0, "percpu", OPT_FLAG, AT(percpu), NULL,
	  "the kernel's per-CPU memory, too" },
	{ 0, "sort", OPT_TEXT, AT(sort), "BY", "size (default) or count" },
	{ 0, "growth", OPT_FLAG, AT(growth), NULL,
	  "what has grown since the output before", .excludes = 4 },
	{ 0, "no-double-frees", OPT_FLAG, AT(no_doubles), NULL,
	  "do not look for blocks that are freed twice: cheaper" },
	{ 0, "blocks", OPT_NUM, AT(blocks), "N",
	  "outstanding blocks that the kernel's table holds", .min = 1,
	  .max = 1 << 27 },
	{ 0, "output", OPT_TEXT, AT(output), "FILE",
	  "at the end: .svg (flame graph), .folded, .txt, .json, .pb" },
	RAW_OPTION(struct settings, raw, 1 | 2 | 4),
	{ 0, "title", OPT_TEXT, AT(title), "TEXT",
	  "title of the flame graph" },
	NAME_OPTIONS(AT(names)),
	{ 0, "wa-missing-free", OPT_FLAG, AT(missing_free), NULL,
	  "as always: a block at the place of another ends it" },
	{ 0 },
};

/* Stacks that print alike. */
struct row {
	struct leak_sum now, before;
};

/* What was freed twice, by its three stacks. */
struct twice {
	struct leak_double first;	/* of them */
	uint64_t times, told;
};

struct alloc {
	uint64_t size, addr;
};

struct tracing {
	struct settings set;
	struct probing probing;
	struct counted counted;
	struct allocators allocators;
	struct startup startup;
	struct leaks leaks;
	struct stack_output output;	/* of a file */
	struct raw_output raw;
	struct out out;
	char *words[WORDS + 1];
	char *word_bytes;
	bool kernel;
	uint64_t mapped;		/* records.mapped when last looked */
	uint64_t late;			/* files found after they were mapped */
	uint64_t printed;
	struct intern texts;
	VEC(struct row) rows;		/* by text */
	VEC(struct leak_double) doubles;	/* since the last output */
	struct intern twice_texts;
	VEC(struct twice) twice;	/* by text */
	uint64_t doubles_lost, doubles_unsure, doubles_own;
	VEC(struct alloc) allocs;		/* of -a */
	uint64_t counters[LEAK_COUNTERS];
	uint64_t missed;		/* hits, before probes are detached */
	bool tree_cut;			/* the command had more threads */
	struct leak_stack stack;
	int err;
};

/* -- what is lost --------------------------------------------------------- */

static void counters_read(struct tracing *t)
{
	int fd = session_map(t->probing.watch.session, "counters");

	for (uint32_t i = 0; i < LEAK_COUNTERS; i++)
		bpf_map_lookup(fd, &i, &t->counters[i]);
	t->missed = attach_missed(&t->allocators.enter) +
		    attach_missed(&t->allocators.leave);
}

static bool is_partial(const struct tracing *t)
{
	const uint64_t *n = t->counters;

	return n[LEAK_FULL] || n[LEAK_NO_THREAD] || n[LEAK_MISSED] ||
	       n[LEAK_UNSENT] || n[COUNTER_EVENT_LOST] ||
	       n[COUNTER_CHILD_LOST] || t->missed || t->late || t->leaks.cut ||
	       t->leaks.unread || t->doubles_lost || t->tree_cut ||
	       session_missed(t->probing.watch.session, "fork");
}

/* Nothing of what the command mapped could be traced. */
static bool is_idle(const struct tracing *t)
{
	return !t->allocators.points.v.n;
}

static void report(struct tracing *t)
{
	const uint64_t *n = t->counters;

	counters_read(t);
	if (is_idle(t)) {
		log_error("memleak: no function of an allocator is named in "
			  "what the command mapped: nothing was traced");
		log_hint("a stripped static program names none; "
			 "--symbols-prefix says what else to look for");
	}
	if (is_partial(t))
		log_notice("the result is partial:");
	if (n[LEAK_FULL])
		log_notice("blocks not tracked, for the table of blocks is "
			   "full: %llu, of %llu bytes (--blocks)",
			   (unsigned long long)n[LEAK_FULL],
			   (unsigned long long)n[LEAK_FULL_BYTES]);
	log_count(n[LEAK_NO_THREAD], "calls not followed, too many threads");
	log_count(n[LEAK_MISSED], "allocations whose return was not seen");
	log_count(t->leaks.unread, "blocks without their stack, too many "
		  "different stacks for the memory of this host");
	log_count(t->late, "files with an allocator that were mapped before "
		  "they were found, what they did before is not known");
	if (t->tree_cut)
		log_notice("the command had more than %d threads at a time: "
			   "allocators that some of them mapped late may not "
			   "have been found", TREE_MOST);
	if (t->leaks.cut)
		log_notice("blocks changed while they were read: not all are "
			   "in the last output (Linux 5.6 reads them at once)");
	log_count(t->allocators.foreign, "programs and libraries of another "
		  "word size, whose allocators are not traced");
	if (t->set.every == 1 && !t->set.min && t->set.max == UINT64_MAX)
		log_count(n[LEAK_UNKNOWN], "frees of blocks whose allocation "
			  "was not seen: from before the trace, of a parent "
			  "process, or the allocator's own");
	log_count(n[LEAK_UNSENT] + t->doubles_lost,
		  "double frees not told, too many at a time");
	if (t->doubles_own)
		log_verbose("frees by the allocator itself of what was free: "
			    "%llu", (unsigned long long)t->doubles_own);
	log_count(t->doubles_unsure, "double frees not told for sure, an "
		  "allocation in between may not have been seen");
	watch_report(&t->probing.watch);
	counted_hits(&t->counted);
	counted_report(&t->counted);
}

/* -- stacks as text -------------------------------------------------------- */

static void put_frame(struct tracing *t, const struct frame *f, bool is_leaf,
		      struct buf *to)
{
	const struct stack_key *key = &t->stack.key;
	struct buf where = { 0 };

	buf_fmt(to, "\t\t0x%016llx\t", (unsigned long long)f->addr);
	escape(to, f->name, strlen(f->name), ESCAPE_TEXT);
	if (f->kind == FRAME_KERNEL)
		buf_puts(to, " [kernel]");
	else if (f->kind == FRAME_USER && *f->name != '[')
		naming_where(&t->counted.naming, key, f->addr,
			     !is_leaf || !key->caller, &where);
	escape(to, where.data, where.len, ESCAPE_TEXT);
	buf_free(&where);
	buf_putc(to, '\n');
}

/* The stack in t->stack, a line each. 0 or -ENOMEM. */
static int put_stack(struct tracing *t, struct buf *to)
{
	struct named_stack named;
	int err = naming_stack(&t->counted.naming, &t->stack.stack, &named);

	for (size_t i = 0; !err && i < named.nkernel; i++)
		put_frame(t, &named.kernel[i], false, to);
	for (size_t i = 0; !err && i < named.nuser; i++)
		put_frame(t, &named.user[i], !i, to);
	if (!named.nkernel && !named.nuser)
		buf_puts(to, "\t\t[stack not recorded]\n");
	return err ? err : to->err;
}

static struct row *row_of(struct tracing *t, struct buf *text)
{
	int64_t id = intern_put(&t->texts, text->data, text->len);
	struct row *row;

	if (id < 0)
		return NULL;
	if ((size_t)id < t->rows.n)
		return &t->rows.v[id];
	row = vec_push(&t->rows);
	if (row)
		*row = (struct row){ 0 };
	return row;
}

static int add_row(struct tracing *t, uint32_t group)
{
	struct buf text = { 0 };
	struct row *row;
	int err;

	leaks_stack(&t->leaks, group, &t->stack);
	err = put_stack(t, &text);
	row = err ? NULL : row_of(t, &text);
	buf_free(&text);
	if (!row)
		return -ENOMEM;
	row->now.bytes += t->leaks.sums.v[group].bytes;
	row->now.blocks += t->leaks.sums.v[group].blocks;
	return 0;
}

/* -- outputs --------------------------------------------------------------- */

static int keep_alloc(void *arg, const struct leak_key *key,
		      const struct leak_block *block)
{
	struct tracing *t = arg;
	struct alloc *slot = vec_push(&t->allocs);

	if (!slot)
		return -ENOMEM;
	*slot = (struct alloc){ block->size, key->addr };
	return 0;
}

static int by_size(const void *a, const void *b)
{
	const struct alloc *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void print_allocs(struct tracing *t)
{
	if (t->allocs.n)
		qsort(t->allocs.v, t->allocs.n, sizeof(*t->allocs.v), by_size);
	for (size_t i = 0; i < t->allocs.n; i++)
		fprintf(t->out.file, "\taddr = %llx size = %llu\n",
			(unsigned long long)t->allocs.v[i].addr,
			(unsigned long long)t->allocs.v[i].size);
	vec_free(&t->allocs);
}

/* A row to print. */
struct shown {
	uint64_t by;
	uint32_t row;
};

static int by_rank(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;

	if (x->by != y->by)
		return x->by < y->by ? -1 : 1;
	return x->row < y->row ? 1 : -1;
}

static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* What the row counts for; nothing: it is not shown. */
static uint64_t rank(const struct tracing *t, const struct row *row)
{
	bool by_count = t->set.sort && !strcmp(t->set.sort, "count");
	uint64_t now = by_count ? row->now.blocks : row->now.bytes;

	if (t->set.growth)
		return grown(now, by_count ? row->before.blocks
					   : row->before.bytes);
	return now;
}

static void print_row(struct tracing *t, uint32_t id)
{
	const struct row *row = &t->rows.v[id];
	const char *plus = t->set.growth ? "+" : "";
	uint64_t bytes = row->now.bytes, blocks = row->now.blocks;

	if (t->set.growth) {
		bytes = grown(bytes, row->before.bytes);
		blocks = grown(blocks, row->before.blocks);
	}
	fprintf(t->out.file,
		"\t%s%llu bytes in %s%llu allocations from stack\n%s", plus,
		(unsigned long long)bytes, plus, (unsigned long long)blocks,
		intern_bytes(&t->texts, id, NULL));
}

static void print_time(FILE *out)
{
	time_t now = time(NULL);
	char text[16] = "";
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(text, sizeof(text), "%H:%M:%S", &tm);
	fprintf(out, "[%s] ", text);
}

static int print_rows(struct tracing *t)
{
	struct shown *v = mem_zalloc((t->rows.n + 1) * sizeof(*v));
	size_t n = 0, first;

	if (!v)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->rows.n; i++) {
		const struct row *row = &t->rows.v[i];

		v[n] = (struct shown){ rank(t, row), i };
		n += v[n].by || (!t->set.growth && row->now.blocks);
	}
	qsort(v, n, sizeof(*v), by_rank);
	first = n > t->set.top ? n - (size_t)t->set.top : 0;
	print_time(t->out.file);
	fprintf(t->out.file, "Top %llu stacks %s%s:\n",
		(unsigned long long)t->set.top, t->set.growth ? "that grew"
		: "with outstanding allocations",
		is_partial(t) ? " (partial)" : "");
	print_allocs(t);
	for (size_t i = first; i < n; i++)
		print_row(t, v[i].row);
	mem_free(v);
	return 0;
}

/* -- double frees ---------------------------------------------------------- */

static void put_end(struct tracing *t, const struct leak_double *d,
		    const struct leak_freed *f, const char *what,
		    struct buf *to)
{
	struct image_key image = { d->key.tgid, d->key.gen };

	buf_fmt(to, "\t    %s\n", what);
	leaks_table_stack(&t->leaks, &image, f->time ? f->stack : -EEXIST,
			  f->time ? f->leaf : 0, f->caller, &t->stack);
	naming_learn(&t->counted.naming, &t->stack.stack);
	put_stack(t, to);
}

static int add_double(struct tracing *t, const struct leak_double *d)
{
	const struct leak_block *block = &d->second.block;
	struct leak_freed alloc = {
		.time = block->time, .stack = block->stack,
		.leaf = block->leaf,
	};
	struct buf text = { 0 };
	struct twice *twice;
	int64_t id;

	put_end(t, d, &alloc, "allocated", &text);
	put_end(t, d, &d->first, "freed", &text);
	put_end(t, d, &d->second, "freed again", &text);
	id = text.err ? text.err : intern_put(&t->twice_texts, text.data,
					      text.len);
	buf_free(&text);
	if (id < 0)
		return (int)id;
	if ((size_t)id == t->twice.n) {
		twice = vec_push(&t->twice);
		if (!twice)
			return -ENOMEM;
		*twice = (struct twice){ .first = *d };
	}
	t->twice.v[id].times++;
	return 0;
}

/* An allocator frees blocks that it has set aside for a thread when that ends,
 * by the function that programs call (glibc). It does so from a function of its
 * own that the file does not name, or by one of these names. */
static bool is_own(struct tracing *t, const struct leak_double *d)
{
	static const char *const names[] = {
		"__malloc_arena_thread_freeres", "tcache_thread_shutdown",
		"__libc_thread_freeres",
	};
	struct image_key image = { d->key.tgid, d->key.gen };
	struct buf where[2] = { { 0 }, { 0 } };
	struct named_stack named;
	const char *name = "";
	bool own = false;

	leaks_table_stack(&t->leaks, &image, d->second.stack, d->second.leaf,
			  d->second.caller, &t->stack);
	naming_learn(&t->counted.naming, &t->stack.stack);
	if (naming_stack(&t->counted.naming, &t->stack.stack, &named) ||
	    named.nuser < 2)
		return false;
	name = named.user[1].name;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		own |= !strcmp(name, names[i]);
	for (int i = 0; i < 2; i++)
		naming_file(&t->counted.naming, &t->stack.key,
			    named.user[i].addr, &where[i]);
	own |= *name == '[' && !strcmp(buf_str(&where[0]), buf_str(&where[1]));
	buf_free(&where[0]);
	buf_free(&where[1]);
	return own;
}

/* One is told when nothing can have been allocated at its place in between. */
static int add_doubles(struct tracing *t)
{
	int err = 0;

	for (size_t i = 0; !err && i < t->doubles.n; i++) {
		const struct leak_double *d = &t->doubles.v[i];

		if (d->first.time && d->first.time <
		    t->counters[LEAK_MISSED_AT])
			t->doubles_unsure++;
		else if (is_own(t, d))
			t->doubles_own++;
		else
			err = add_double(t, d);
	}
	t->doubles.n = 0;
	return err;
}

static int print_doubles(struct tracing *t)
{
	bool any = false;
	int err = add_doubles(t);

	for (size_t i = 0; !err && i < t->twice.n; i++) {
		struct twice *w = &t->twice.v[i];
		const struct leak_double *d = &w->first;

		if (w->times == w->told)
			continue;
		if (!any) {
			print_time(t->out.file);
			fprintf(t->out.file, "Double frees:\n");
		}
		any = true;
		fprintf(t->out.file, "\t%llu of %llu bytes at 0x%llx of "
			"process %u\n%s", (unsigned long long)
			(w->times - w->told),
			(unsigned long long)d->second.block.size,
			(unsigned long long)d->key.addr, d->key.tgid,
			intern_bytes(&t->twice_texts, (uint32_t)i, NULL));
		w->told = w->times;
	}
	return err;
}

/* -- in between ------------------------------------------------------------ */

static int read_sums(struct tracing *t)
{
	vec_free(&t->allocs);
	counters_read(t);
	return leaks_read(&t->leaks, t->set.show ? keep_alloc : NULL, t);
}

static int read_rows(struct tracing *t)
{
	int err;

	for (size_t i = 0; i < t->rows.n; i++) {
		t->rows.v[i].before = t->rows.v[i].now;
		t->rows.v[i].now = (struct leak_sum){ 0 };
	}
	err = read_sums(t);
	for (uint32_t i = 0; !err && i < t->leaks.sums.n; i++)
		if (t->leaks.sums.v[i].blocks)
			err = add_row(t, i);
	return err;
}

static void print(void *arg)
{
	struct tracing *t = arg;

	if (!t->raw.alone)
		t->err = read_rows(t);
	if (!t->err && !t->raw.alone)
		t->err = print_rows(t);
	if (!t->err && !t->raw.alone)
		t->err = print_doubles(t);
	if (t->err)
		log_error("memleak: cannot read the blocks: %s",
			  log_errno(t->err));
	if (!t->err && out_flush(&t->out))
		t->err = -EPIPE;
	t->printed++;
	if (t->err || t->printed == t->set.count)
		watch_end(&t->probing.watch);
}

static void take_double(struct tracing *t, const void *data, size_t len)
{
	struct leak_double *slot;

	if (len < sizeof(*slot))
		return;
	slot = t->doubles.n < DOUBLES_MOST ? vec_push(&t->doubles) : NULL;
	if (slot)
		memcpy(slot, data, sizeof(*slot));
	else
		t->doubles_lost++;
}

/* -t: in bcc's words. */
static void print_told(struct tracing *t, const void *data, size_t len)
{
	struct leak_told told;

	if (len < sizeof(told))
		return;
	memcpy(&told, data, sizeof(told));
	fprintf(t->out.file, told.freed ?
		"%.6f %-7u %-7u free entered, address = %llx, size = %llu\n" :
		"%.6f %-7u %-7u alloc exited, result = %llx, size = %llu\n",
		(double)told.time / 1e9, told.key.tgid, told.tid,
		(unsigned long long)told.key.addr,
		(unsigned long long)told.size);
}

static void record(void *arg, const void *data, size_t len)
{
	struct tracing *t = arg;
	uint32_t type = 0;

	if (len >= sizeof(type))
		memcpy(&type, data, sizeof(type));
	if (type == EVENT_LEAK_FRAMES)
		leaks_take(&t->leaks, data, len);
	else if (type == EVENT_LEAK_DOUBLE)
		take_double(t, data, len);
	else if (type == EVENT_LEAK_CALL)
		print_told(t, data, len);
	else
		counted_take(&t->counted, data, len);
}

static void say_found(struct tracing *t, size_t from)
{
	struct buf text = { 0 };
	const char *line, *end;

	allocators_list(&t->allocators, from, &text);
	for (line = buf_str(&text); (end = strchr(line, '\n')); line = end + 1)
		log_notice("%.*s", (int)(end - line), line);
	buf_free(&text);
}

/* Probe what a process has mapped since. How many files, or -errno. */
static int look(struct tracing *t, uint32_t pid)
{
	size_t from = t->allocators.points.v.n;
	int found = allocators_scan(&t->allocators, pid), err = 0;

	if (found > 0)
		err = allocators_attach(&t->allocators);
	if (found > 0 && !err)
		say_found(t, from);
	return err ? err : found;
}

/* The command stands still. */
static void mapped(void *arg)
{
	struct tracing *t = arg;
	int err = look(t, (uint32_t)t->startup.pid);

	if (err == -ENOMEM || err == -EINVAL)
		t->err = err;
}

static void startup_result(struct tracing *t, int result, int status)
{
	struct loop *loop = &t->probing.watch.loop;

	if (result == 1) {
		loop->child = 0;
		loop->child_status = status;
		loop->end = LOOP_CHILD;
	} else if (result < 0 && result != -ESRCH) {
		log_notice("the command cannot be held at its start: %s",
			   log_errno(result));
	}
}

static void let_go(void *arg)
{
	struct tracing *t = arg;
	int status = 0;

	if (t->startup.held)
		startup_result(t, startup_follow(&t->startup, &status),
			       status);
	if (t->err)
		watch_end(&t->probing.watch);
}

static void stopped(void *arg, int status)
{
	struct tracing *t = arg;

	startup_result(t, startup_stopped(&t->startup, &status), status);
}

static void look_late(struct tracing *t, uint32_t pid)
{
	int found = look(t, pid);

	if (found > 0)
		t->late += (uint64_t)found;
}

static bool is_leader(uint32_t tid)
{
	return !syscall(SYS_tgkill, tid, tid, 0) || errno != ESRCH;
}

/* The command's descendants, by the kernel's numbers. */
static void look_at_tree(struct tracing *t)
{
	int fd = session_map(t->probing.watch.session, "targets");
	struct pid_namespace ns;
	uint32_t tid = 0, next;
	bool any = false;

	if (host_pid_namespace(&ns) || !ns.initial) {
		look_late(t, (uint32_t)t->probing.watch.filter.root);
		return;
	}
	for (int n = 0; !bpf_map_next_key(fd, any ? &tid : NULL, &next); n++) {
		if (n == TREE_MOST) {
			t->tree_cut = true;
			break;
		}
		tid = next;
		any = true;
		if (is_leader(tid))
			look_late(t, tid);
	}
}

static void turn(void *arg)
{
	struct tracing *t = arg;
	const struct filter *f = &t->probing.watch.filter;

	counted_drain(&t->counted);
	if (t->set.each && out_flush(&t->out))
		watch_end(&t->probing.watch);
	if (watch_seconds(&t->probing.watch) > HOLD_SECONDS)
		startup_end(&t->startup);
	if (t->counted.records.mapped == t->mapped || t->set.object ||
	    t->kernel)
		return;
	t->mapped = t->counted.records.mapped;
	for (size_t i = 0; i < f->pids.n; i++)
		look_late(t, (uint32_t)f->pids.v[i]);
	for (size_t i = 0; i < f->tids.n; i++)
		look_late(t, (uint32_t)f->tids.v[i]);
	if (f->root)
		look_at_tree(t);
}

static void detach(void *arg)
{
	struct tracing *t = arg;

	allocators_detach(&t->allocators);
	counted_drain(&t->counted);
}

/* -- the beginning --------------------------------------------------------- */

static uint32_t blocks_most(const struct settings *set)
{
	uint64_t room = host_memory() / 32 / BLOCK_BYTES;

	if (set->blocks)
		return (uint32_t)set->blocks;
	return room < BLOCKS_MOST ? (uint32_t)room : BLOCKS_MOST;
}

static void set_consts(struct tracing *t)
{
	struct session *s = t->probing.watch.session;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	bool doubles = !t->kernel && !t->set.no_doubles && !t->raw.alone;

	session_const(s, "stack_flags", t->kernel ? 0 : BPF_F_USER_STACK);
	session_const(s, "doubles", doubles);
	session_const(s, "linked", caller_is_linked());
	session_const(s, "pops", caller_is_linked() ? 0 : sizeof(uint64_t));
	session_const(s, "page", page);
	session_const(s, "min", t->set.min);
	session_const(s, "max", t->set.max);
	session_const(s, "every", t->set.every);
	session_const(s, "trace", t->set.each);
	session_entries(s, "blocks", blocks_most(&t->set));
	if (!doubles)
		session_entries(s, "freed", 1);
	else if (host_memory() < SMALL_HOST)
		session_entries(s, "freed", 4096);
	if (t->kernel || host_memory() < SMALL_HOST)
		session_entries(s, "threads", 1024);
}

/* Every file of the processes that are there already. */
static int find_user(struct tracing *t)
{
	const struct filter *f = &t->probing.watch.filter;
	const struct num_list *ids = f->pids.n ? &f->pids : &f->tids;
	struct allocators *a = &t->allocators;
	int err = 0;

	a->pid = f->pids.n == 1 ? (uint32_t)f->pids.v[0] : 0;
	if (t->set.object && !ids->n)
		err = allocators_scan(a, 0);
	for (size_t i = 0; err >= 0 && i < ids->n; i++)
		err = allocators_scan(a, (uint32_t)ids->v[i]);
	if (err < 0) {
		if (!t->set.object && err != -ENOMEM)
			log_error("memleak: cannot see what the process maps: "
				  "%s", log_errno(err));
		return err;
	}
	if (a->points.v.n || (f->root && !t->set.object))
		return 0;
	log_error("memleak: %s: no function of an allocator is named there",
		  t->set.object ? t->set.object : "the process");
	log_hint("a stripped static program names none; -O and "
		 "--symbols-prefix say where else, and what else to look for");
	return -ENOENT;
}

static int load(struct tracing *t)
{
	struct watch *w = &t->probing.watch;
	struct counted_spec spec = {
		.user = !t->kernel, .kernel = t->kernel, .at_entry = !t->kernel,
		.names = &t->set.names,
	};
	int err = counted_open(&t->counted, "memleak", w->session, &spec);

	if (err)
		return err;
	t->counted.naming.returned = true;
	raw_output_prepare(&t->raw, &t->counted.naming);
	err = raw_output_begin(&t->raw, &t->output, 0, "blocks");
	if (err)
		return err;
	t->leaks.session = w->session;
	t->leaks.kernel = t->kernel;
	t->leaks.limit = stacks_memory();
	t->leaks.older = t->set.combined ? 0 : t->set.older * 1000000;
	set_consts(t);
	err = watch_load(w);
	if (err)
		return err;
	if (!t->kernel)
		counted_follow(&t->counted, &w->loop);
	allocators_begin(&t->allocators, w->session);
	return 0;
}

static void hold(struct tracing *t)
{
	struct watch *w = &t->probing.watch;
	int err;

	t->startup = (struct startup){
		.pid = w->child.pid, .mapped = mapped, .arg = t,
	};
	w->let_go = let_go;
	w->loop.stopped = stopped;
	w->loop.arg = t;
	err = startup_hold(&t->startup);
	if (!err)
		return;
	log_notice("the command cannot be held at its start, its first "
		   "allocations may be missed: %s", log_errno(err));
}

static int begin(struct tracing *t)
{
	struct watch *w = &t->probing.watch;
	int err = watch_open(w);

	if (err)
		return err;
	if (!feature_has(FEATURE_BPF)) {
		err = feature_error(FEATURE_BPF);
		log_error("memleak: bpf(2) cannot be used: %s",
			  advice_reason(OP_BPF, err));
		advice(OP_BPF, err);
		return err;
	}
	err = t->kernel ? kmem_find(&t->allocators, t->set.percpu)
			: find_user(t);
	if (!err)
		err = load(t);
	if (err)
		return err;
	err = t->kernel ? kmem_attach(&t->allocators)
			: allocators_attach(&t->allocators);
	if (!err && !t->kernel)
		say_found(t, 0);
	if (!err && w->child.pid)
		hold(t);
	return err;
}

/* -- the end --------------------------------------------------------------- */

static int add_to_file(struct tracing *t)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < t->leaks.sums.n; i++) {
		struct stack_row row = { .value = t->leaks.sums.v[i].bytes };
		struct named_stack named;

		if (!row.value)
			continue;
		leaks_stack(&t->leaks, i, &t->stack);
		if (t->kernel)
			memcpy(t->stack.key.comm, "kernel", 6);
		err = raw_output_stack(&t->raw, &t->stack.stack,
				       t->stack.key.tgid, row.value,
				       t->leaks.sums.v[i].blocks);
		if (err || !t->set.output)
			continue;
		err = naming_stack(&t->counted.naming, &t->stack.stack,
				   &named);
		row.comm = t->kernel ? "kernel" : "";
		row.pid = t->stack.key.tgid;
		row.user = named.user;
		row.nuser = named.nuser;
		row.kernel = named.kernel;
		row.nkernel = named.nkernel;
		row.missed_user = t->stack.stack.missed_user;
		row.missed_kernel = t->stack.stack.missed_kernel;
		if (!err)
			err = stack_output_add(&t->output, &row);
	}
	return err;
}

/* The line about it is left in `subtitle`. */
static int write_files(struct tracing *t, char subtitle[96])
{
	struct leak_sum sum = { 0 };
	int err;

	for (size_t i = 0; i < t->leaks.sums.n; i++) {
		sum.bytes += t->leaks.sums.v[i].bytes;
		sum.blocks += t->leaks.sums.v[i].blocks;
	}
	snprintf(subtitle, 96, "%llu bytes in %llu allocations "
		 "after %.1f s%s", (unsigned long long)sum.bytes,
		 (unsigned long long)sum.blocks,
		 watch_seconds(&t->probing.watch),
		 is_partial(t) ? ", partial" : "");
	t->output.subtitle = subtitle;
	err = add_to_file(t);
	if (err)
		log_error("memleak: cannot write the result: %s",
			  log_errno(err));
	return err || !t->set.output ? err : stack_output_write(&t->output);
}

static int finish(struct tracing *t)
{
	char subtitle[96] = "";
	int err = 0, raw;

	if (!t->raw.alone && (!t->set.count || t->printed < t->set.count))
		print(t);
	else if (t->set.output || t->set.raw)
		t->err = t->raw.alone ? read_sums(t) : read_rows(t);
	if (t->err)
		return t->err;
	if (t->set.output || t->set.raw)
		err = write_files(t, subtitle);
	report(t);
	raw = err ? 0 : raw_output_finish(&t->raw, subtitle,
					  watch_seconds(&t->probing.watch));
	return err ? err : raw;
}

static void say_header(struct tracing *t)
{
	const struct filter *f = &t->probing.watch.filter;

	if (t->raw.alone)
		return;
	if (t->kernel)
		fprintf(t->out.file, "Attaching to kernel allocators");
	else if (f->root)
		fprintf(t->out.file, "Attaching to pid %d", f->root);
	else if (f->pids.n == 1)
		fprintf(t->out.file, "Attaching to pid %llu",
			(unsigned long long)f->pids.v[0]);
	else
		fprintf(t->out.file, "Attaching to user allocators");
	fprintf(t->out.file, ", Ctrl+C to quit.\n");
}

static int trace(struct tracing *t)
{
	int err = raw_output_open(&t->raw, "memleak", t->set.raw,
				  t->set.output != NULL, NULL);

	if (!err)
		err = out_open(&t->out, NULL);
	if (!err && t->set.output)
		err = stack_output_open(&t->output, "memleak", t->set.output,
					false);
	t->output.title = t->set.title ? t->set.title : "Outstanding memory";
	t->output.unit = &unit_bytes;
	t->output.how.hits = true;
	if (!err)
		err = begin(t);
	if (!err) {
		say_header(t);
		err = out_flush(&t->out);
	}
	if (!err)
		err = watch_run(&t->probing.watch, detach);
	if (!err)
		err = t->err ? t->err : finish(t);
	return err ? err : out_close(&t->out);
}

/* -- the command line ------------------------------------------------------ */

static int usage(const char *what, const char *why)
{
	log_error("memleak: %s: %s", what, why);
	return -EINVAL;
}

/* -c "COMMAND ARGUMENTS", at its blanks. */
static int split(struct tracing *t, struct opt_rest *rest)
{
	size_t n = strlen(t->set.command) + 1, words = 0;
	char *p;

	if (rest->command)
		return usage("-c", "excludes -- COMMAND");
	t->word_bytes = mem_zalloc(n);
	if (!t->word_bytes)
		return -ENOMEM;
	memcpy(t->word_bytes, t->set.command, n);
	for (p = strtok(t->word_bytes, " "); p && words < WORDS;
	     p = strtok(NULL, " "))
		t->words[words++] = p;
	if (p || !words)
		return usage("-c", p ? "too many words: use -- COMMAND"
				     : "no command");
	rest->command = t->words;
	return 0;
}

static int numbers(struct settings *set, const struct opt_rest *rest)
{
	static const char *const names[] = { "INTERVAL", "COUNT" };
	uint64_t *to[] = { &set->interval, &set->count };

	if (rest->nargs > 2)
		return usage(rest->args[2], "too many arguments");
	for (int i = 0; i < rest->nargs; i++)
		if (num_u64(rest->args[i], 1, 99999999, to[i])) {
			log_error("memleak: %s '%s': a number from 1 on "
				  "expected", names[i], rest->args[i]);
			return -EINVAL;
		}
	return 0;
}

static int check(struct tracing *t, struct opt_rest *rest)
{
	struct settings *set = &t->set;
	int err = set->command ? split(t, rest) : 0;

	if (!err)
		err = numbers(set, rest);
	if (err)
		return err;
	if (set->min > set->max)
		return usage("-z", "is more than -Z: no block is so large");
	if (set->sort && strcmp(set->sort, "size") &&
	    strcmp(set->sort, "count"))
		return usage("--sort", "size or count");
	t->kernel = !set->common.pids.n && !set->common.tids.n &&
		    !rest->command && !set->object;
	if (t->kernel && set->prefix)
		return usage("--symbols-prefix",
			     "needs -p, -O or -- COMMAND");
	if (t->kernel && (set->common.comm || set->common.cgroup ||
			  set->common.cpu != UINT64_MAX))
		return usage("--comm, --cgroup and --cpu",
			     "need -p, -O or -- COMMAND");
	return 0;
}

static int parse(struct tracing *t, int argc, char **argv)
{
	const struct spec_rules rules = { .command = "memleak" };
	struct watch *w = &t->probing.watch;
	struct opt_rest rest;
	int err = opt_parse("memleak", options, &t->set, argc, argv, &rest);

	if (!err)
		err = debug_files_open(&t->set.names);
	if (!err)
		err = check(t, &rest);
	if (err)
		return err;
	t->allocators.command = "memleak";
	t->allocators.prefix = t->set.prefix;
	t->allocators.object = t->set.object;
	w->object = &object_memleak;
	w->argv = rest.command;
	w->arg = t;
	w->tick = print;
	w->turn = turn;
	w->exits = !t->kernel;
	w->record = record;
	w->interval_ms = t->set.each ? 0 : t->set.interval * 1000;
	return probing_parse(&t->probing, &t->set.common, &rules, NULL, 0);
}

static void release(struct tracing *t)
{
	stack_output_close(&t->output);
	raw_output_close(&t->raw);
	allocators_free(&t->allocators);
	leaks_free(&t->leaks);
	counted_close(&t->counted);
	probing_close(&t->probing);
	intern_free(&t->texts);
	intern_free(&t->twice_texts);
	vec_free(&t->rows);
	vec_free(&t->doubles);
	vec_free(&t->twice);
	vec_free(&t->allocs);
	mem_free(t->word_bytes);
}

static int run(int argc, char **argv)
{
	struct tracing t = {
		.set = {
			.common = PROBING_START, .older = 500, .every = 1,
			.top = 10, .max = UINT64_MAX, .interval = 5,
		},
	};
	int err = parse(&t, argc, argv), status = cmd_refused(err);

	if (!err) {
		err = trace(&t);
		status = (err && err != -EPIPE) || is_idle(&t) ? EXIT_FAIL
								: EXIT_OK;
	}
	release(&t);
	return status;
}

const struct cmd cmd_memleak = {
	.name = "memleak",
	.usage = "[options] [INTERVAL [COUNT]] [-- COMMAND [ARGUMENTS]]",
	.summary = "memory that was allocated and not freed, by stack",
	.about =
	"Follows each block of memory from its allocation to its free, and\n"
	"shows what is outstanding by the stack that allocated it, every\n"
	"INTERVAL seconds (5), COUNT times or until the end: of a process or\n"
	"COMMAND by the allocators that it has mapped, whichever these are;\n"
	"else of the kernel. Blocks that are freed twice are shown with the\n"
	"stacks of both frees. What a process leaves when it ends, counts\n"
	"whatever its age. Options are those of bcc's memleak.\n",
	.examples =
	"  sonde memleak -- ./leaky          a command, from its start\n"
	"  sonde memleak -p 1234 10          a process, every 10 seconds\n"
	"  sonde memleak -p 1234 --growth    what grows from 5 s to 5 s\n"
	"  sonde memleak -o 60000            the kernel: older than a minute\n"
	"  sonde memleak -p 1234 -S je_ --output m.svg 60 1\n",
	.options = options,
	.object = &object_memleak,
	.run = run,
	.check = check_probing,
};
