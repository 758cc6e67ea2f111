/* raw_names - reads raw files and names what is in them.
 *
 * A row here is what it would have been where it was recorded: the same rules
 * name it, judge callers and leave out what is the tracing itself, only later.
 * A frame is named once, however many stacks it is in. */
#include "cmd/raw_names.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/escape.h"
#include "base/log.h"
#include "sym/caller.h"
#include "sym/debug_files.h"
#include "sym/demangle.h"
#include "sym/files.h"
#include "trace/own_frames.h"

enum { AS_LEAF, AS_CALLER };
enum { KNOWN = 1, NO_CALLER = 2 };
enum { USER, KERNEL, WAKER };		/* halves; those of a waker follow */

/* A row takes a few bytes and means a whole stack: as much text as that may be
 * for each byte of a file. One that repeats a deep chain of long names would
 * come to megabytes a row. */
enum { SPENT_BYTE = 8192, FRAME_COST = 16 };

int raw_names_open(struct raw_names *n, const struct name_options *o)
{
	int err = debug_files_open(o);

	n->mangled = o->mangled;
	if (!err)
		err = desk_open(&n->desk);
	return err ? err : desk_kernel_open(&n->kernel, o->kernel);
}

void raw_names_close(struct raw_names *n)
{
	desk_close(n->desk);
	debug_files_close();
	desk_kernel_close(&n->kernel);
	names_free(&n->names);
	buf_free(&n->text);
	buf_free(&n->about);
	vec_free(&n->files);
	vec_free(&n->frames);
	for (size_t i = 0; i < 4; i++)
		vec_free(&n->halves[i]);
}

void raw_names_report(const struct raw_names *n)
{
	desk_report(n->desk);
	if (n->kernel_unnamed)
		desk_kernel_report(&n->kernel);
	debug_files_report();
}

/* One frame */

/* The name that n->text holds. */
static int set_text(struct raw_names *n, struct frame *out)
{
	const char *text = buf_str(&n->text);
	int64_t id = n->text.err ? n->text.err :
		     names_put(&n->names, text, n->text.len);

	if (id < 0)
		return (int)id;
	out->name = names_text(&n->names, (uint32_t)id);
	return 0;
}

/* The same of a symbol. */
static int set_symbol(struct raw_names *n, struct frame *out)
{
	if (!n->mangled)
		demangle_buf(&n->text);
	return set_text(n, out);
}

static int set_name(struct raw_names *n, struct frame *out, const char *name)
{
	buf_reset(&n->text);
	buf_puts(&n->text, name);
	return set_symbol(n, out);
}

static int set_unknown(struct raw_names *n, struct frame *out)
{
	out->kind = FRAME_UNKNOWN;
	return set_name(n, out, "[unknown]");
}

static int set_address(struct raw_names *n, struct frame *out)
{
	buf_reset(&n->text);
	buf_hex(&n->text, out->addr);
	return set_text(n, out);
}

/* "[libx.so+0x12f0]" */
static int set_offset(struct raw_names *n, struct frame *out,
		      const char *label, uint64_t off)
{
	buf_reset(&n->text);
	buf_putc(&n->text, '[');
	files_label(label, &n->text);
	buf_putc(&n->text, '+');
	buf_hex(&n->text, off);
	buf_putc(&n->text, ']');
	return set_text(n, out);
}

static int64_t desk_number(struct raw_names *n, const struct raw_reader *r,
			   uint32_t id)
{
	struct raw_file file = raw_file(r, id);
	struct desk_file to = {
		.path = file.path, .inode = file.inode,
		.here = n->view.same_boot, .unread = file.unread,
		.recorded = r->head.started / 1000000000,
		.nsegments = file.nsegments,
	};
	int64_t number;

	while (n->files.n <= id) {
		uint32_t *slot = vec_push(&n->files);

		if (!slot)
			return -ENOMEM;
		*slot = 0;
	}
	if (n->files.v[id])
		return n->files.v[id] - 1;
	to.id.len = file.id_len;
	memcpy(to.id.bytes, file.id, file.id_len);
	for (size_t i = 0; i < file.nsegments; i++)
		to.segments[i] = (struct elf_extent){
			.offset = file.segments[i].offset,
			.size = file.segments[i].size,
			.vaddr = file.segments[i].vaddr,
		};
	number = desk_put(n->desk, &to);
	if (number >= 0)
		n->files.v[id] = (uint32_t)number + 1;
	return number;
}

static int name_symbol(struct raw_names *n, struct elf *elf, uint64_t vaddr,
		       struct frame *out)
{
	struct elf_sym sym;
	int err = elf_find(elf, vaddr, &sym);

	buf_reset(&n->text);
	if (!err)
		err = elf_name(elf, &sym, &n->text);
	if (!err && !n->text.len)
		err = -ENOENT;
	return err ? err : set_symbol(n, out);
}

/* What an address is as a caller; *inside becomes where its call is. */
static enum caller_kind judge(struct raw_names *n, uint32_t file,
			      uint64_t *inside)
{
	struct elf *code = desk_code(n->desk, file);
	enum caller_kind kind = code ? caller_kind_in(code, *inside) :
				CALLER_AFTER_CALL;

	*inside -= kind == CALLER_AFTER_CALL;
	return kind;
}

static int name_in_file(struct raw_names *n, const struct raw_reader *r,
			const struct raw_frame *f, int as, struct frame *out,
			bool *no_caller)
{
	int64_t file = desk_number(n, r, f->of);
	const char *path = raw_file(r, f->of).path;
	uint64_t before = f->at - (as == AS_CALLER), vaddr;
	struct elf *elf;
	int err;

	if (file < 0)
		return (int)file;
	out->addr = f->at;
	if (!desk_vaddr(n->desk, (uint32_t)file, before, &vaddr))
		return set_offset(n, out, path, before);
	vaddr += as == AS_CALLER;
	out->addr = vaddr;
	*no_caller = as == AS_CALLER &&
		     judge(n, (uint32_t)file, &vaddr) == CALLER_NONE;
	if (*no_caller)
		return set_unknown(n, out);
	elf = desk_names(n->desk, (uint32_t)file);
	err = elf ? name_symbol(n, elf, vaddr, out) : -ENOENT;
	return !err || err == -ENOMEM ? err : set_offset(n, out, path, vaddr);
}

static int name_in_area(struct raw_names *n, const char *label, uint64_t off,
			struct frame *out)
{
	size_t len;

	if (label[0] != '[')
		return set_offset(n, out, "anon", off);
	len = strlen(label);
	buf_reset(&n->text);
	buf_mem(&n->text, label, len - (label[len - 1] == ']'));
	buf_putc(&n->text, '+');
	buf_hex(&n->text, off);
	buf_putc(&n->text, ']');
	return set_text(n, out);
}

static int name_in_kernel(struct raw_names *n, const struct raw_frame *f,
			  int as, struct frame *out)
{
	const char *name;

	out->kind = FRAME_KERNEL;
	out->addr = n->view.text + f->at;
	name = desk_kernel_name(&n->view, out->addr - (as == AS_CALLER));
	n->kernel_unnamed |= !name;
	return name ? set_name(n, out, name) : set_address(n, out);
}

static int name_in_module(struct raw_names *n, const struct raw_reader *r,
			  const struct raw_frame *f, int as, struct frame *out)
{
	struct raw_module m = raw_module(r, f->of);
	uint64_t off = f->at - (as == AS_CALLER);
	struct build_id id = { .len = m.id_len };
	const char *name;

	memcpy(id.bytes, m.id, m.id_len);
	out->kind = FRAME_KERNEL;
	out->addr = m.base + f->at;
	name = desk_kernel_module_name(&n->view, m.name, m.base, off, &id);
	n->kernel_unnamed |= !name;
	return name ? set_name(n, out, name) : set_offset(n, out, m.name, off);
}

static int name_frame(struct raw_names *n, const struct raw_reader *r,
		      const struct raw_frame *f, int as, struct frame *out,
		      bool *no_caller)
{
	*out = (struct frame){ .addr = f->at, .kind = FRAME_USER };
	switch (f->kind) {
	case RAW_IN_FILE:
		return name_in_file(n, r, f, as, out, no_caller);
	case RAW_IN_KERNEL:
		return name_in_kernel(n, f, as, out);
	case RAW_IN_MODULE:
		return name_in_module(n, r, f, as, out);
	case RAW_IN_AREA:
		return name_in_area(n, raw_string(r, f->of),
				    f->at - (as == AS_CALLER), out);
	case RAW_UNCERTAIN:
		return set_address(n, out);
	case RAW_NO_CODE:
		return set_unknown(n, out);
	case RAW_JIT:
		out->kind = FRAME_JIT;
	}
	return set_name(n, out, raw_string(r, f->of));
}

/* Its name, remembered; NULL when memory is out. *no_caller: nobody returns
 * there. */
static const struct frame *frame_get(struct raw_names *n,
				     const struct raw_reader *r, uint32_t id,
				     int as, bool *no_caller)
{
	struct raw_named *named;

	while (n->frames.n <= id) {
		named = vec_push(&n->frames);
		if (!named)
			return NULL;
		memset(named, 0, sizeof(*named));
	}
	named = &n->frames.v[id];
	if (!named->known[as]) {
		*no_caller = false;
		if (name_frame(n, r, &r->frames.v[id], as, &named->frame[as],
			       no_caller))
			return NULL;
		named->known[as] = *no_caller ? NO_CALLER : KNOWN;
	}
	*no_caller = named->known[as] == NO_CALLER;
	return &named->frame[as];
}

/* One row */

/* One more frame of a half; *end when it is in no code or nobody's caller. */
static int half_add(struct raw_names *n, const struct raw_reader *r, int half,
		    uint32_t id, int as, bool *end)
{
	const struct frame *f = frame_get(n, r, id, as, end);
	struct frame *to = f ? vec_push(&n->halves[half]) : NULL;

	if (!to)
		return -ENOMEM;
	*to = *f;
	*end |= f->kind == FRAME_UNKNOWN;
	return 0;
}

/* A caller that is not sure is one if it is right behind a call of the function
 * that the leaf is in. */
static bool is_caller(struct raw_names *n, const struct raw_reader *r,
		      uint32_t leaf, uint32_t caller)
{
	const struct raw_frame *a = &r->frames.v[leaf];
	const struct raw_frame *b = &r->frames.v[caller];
	uint64_t ip, before;
	struct elf *code;
	int64_t file;

	if (a->kind != RAW_IN_FILE || b->kind != RAW_IN_FILE || a->of != b->of)
		return false;
	file = desk_number(n, r, a->of);
	code = file < 0 ? NULL : desk_code(n->desk, (uint32_t)file);
	return code &&
	       desk_vaddr(n->desk, (uint32_t)file, a->at, &ip) &&
	       desk_vaddr(n->desk, (uint32_t)file, b->at - 1, &before) &&
	       caller_calls(code, ip, before + 1);
}

static int user_half(struct raw_names *n, const struct raw_reader *r,
		     const struct raw_side *side, int half)
{
	int as = side->flags & RAW_LEAF_RETURNS ? AS_CALLER : AS_LEAF, err = 0;
	bool first = true, end = false;

	n->halves[half].n = 0;
	for (uint32_t node = side->user; !err && !end && node;
	     node = r->nodes.v[node - 1].parent) {
		uint32_t frame = r->nodes.v[node - 1].frame;

		err = half_add(n, r, half, frame, as, &end);
		if (!err && !end && first && side->flags & RAW_CALLER &&
		    is_caller(n, r, frame, side->caller))
			err = half_add(n, r, half, side->caller, AS_CALLER,
				       &end);
		first = false;
		as = AS_CALLER;
	}
	return err;
}

static int kernel_half(struct raw_names *n, const struct raw_reader *r,
		       const struct raw_side *side, int half)
{
	int as = AS_LEAF, err = 0;
	bool end;

	n->halves[half].n = 0;
	for (uint32_t node = side->kernel; !err && node;
	     node = r->nodes.v[node - 1].parent) {
		err = half_add(n, r, half, r->nodes.v[node - 1].frame, as,
			       &end);
		as = AS_CALLER;
	}
	return err;
}

/* Without names nothing tells what is the tracing itself. */
static size_t own_frames(const struct raw_names *n, uint64_t layout,
			 const struct frame *f, size_t count)
{
	size_t own = 0;

	if (!n->view.table || !count)
		return 0;
	if (layout & RAW_OF_PROBES)
		own = own_frames_of_probes(f, count, layout & RAW_OF_EVENTS);
	if (layout & RAW_OF_SCHEDULER)
		own += own_frames_of_scheduler(f + own, count - own);
	return own;
}

static int side_row(struct raw_names *n, const struct raw_reader *r,
		    const struct raw_side *side, int halves,
		    struct stack_row *row)
{
	const struct raw_task *task = &r->tasks.v[side->task];
	const struct frame *kernel;
	int err = user_half(n, r, side, halves + USER);
	size_t own;

	if (!err)
		err = kernel_half(n, r, side, halves + KERNEL);
	kernel = n->halves[halves + KERNEL].v;
	own = own_frames(n, r->head.layout, kernel,
			 n->halves[halves + KERNEL].n);
	*row = (struct stack_row){
		.comm = raw_string(r, task->comm), .pid = task->pid,
		.user = n->halves[halves + USER].v,
		.nuser = n->halves[halves + USER].n,
		.kernel = own ? kernel + own : kernel,
		.nkernel = n->halves[halves + KERNEL].n - own,
		.missed_user = side->flags & RAW_MISSED_USER,
		.missed_kernel = side->flags & RAW_MISSED_KERNEL,
	};
	return err;
}

static uint64_t row_size(const struct stack_row *row)
{
	uint64_t n = row->waker ? row_size(row->waker) : 0;

	for (size_t i = 0; i < row->nuser; i++)
		n += strlen(row->user[i].name) + FRAME_COST;
	for (size_t i = 0; i < row->nkernel; i++)
		n += strlen(row->kernel[i].name) + FRAME_COST;
	return n;
}

static int take_row(void *arg, const struct raw_reader *r,
		    const struct raw_row *raw)
{
	struct raw_names *n = arg;
	struct stack_row row, waker;
	int err = side_row(n, r, &raw->side, 0, &row);

	if (!err && raw->side.flags & RAW_WAKER) {
		err = side_row(n, r, &raw->waker, WAKER, &waker);
		row.waker = &waker;
	}
	if (err)
		return err;
	n->spent += row_size(&row);
	if (n->spent > SPENT_BYTE * (r->offset + RAW_RECORD_MOST))
		return -E2BIG;
	row.value = raw->values[0];
	stack_row_cut(&row, r->head.skip, r->head.depth);
	return n->row(n->arg, &row, raw->values);
}

/* A file */

/* "profile, cpu-clock, 99 Hz, in samples" */
static void put_what(struct buf *to, const struct raw_head *h)
{
	buf_fmt(to, "%s, ", h->command);
	if (h->event)
		buf_fmt(to, "%s, ", h->event);
	buf_fmt(to, "in %s", h->countname ? h->countname : h->units[0]);
}

static int say_unlike(const struct raw_names *n, const struct raw_head *h)
{
	struct buf what = { 0 };

	buf_fmt(&what, "%s: ", n->path);
	put_what(&what, h);
	buf_fmt(&what, ": cannot be added to %s: ", n->first_path);
	put_what(&what, &n->first);
	log_error("%s", buf_str(&what));
	buf_free(&what);
	return -EINVAL;
}

static bool is_like(const struct raw_head *a, const struct raw_head *b)
{
	return !strcmp(a->units[0], b->units[0]) && a->period == b->period &&
	       !((a->layout ^ b->layout) & RAW_HITS) &&
	       (!a->event || !b->event || !strcmp(a->event, b->event));
}

static int keep_first(struct raw_names *n, const struct raw_head *head)
{
	struct raw_head *f = &n->first;
	const char **const texts[] = {
		&f->command, &f->units[0], &f->countname, &f->title, &f->event,
	};

	*f = *head;
	f->host = f->release = f->arch = f->boot = NULL;
	n->first_path = n->path;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const char *s = *texts[i];
		int64_t id = s ? names_put(&n->names, s, strlen(s)) : 0;

		if (id < 0)
			return (int)id;
		if (s)
			*texts[i] = names_text(&n->names, (uint32_t)id);
	}
	return n->head(n->arg, f);
}

void raw_names_like(const struct raw_head *head, struct graph_options *o,
		    struct stack_options *how)
{
	const struct unit *unit = unit_find(head->units[0]);

	if (!o->title)
		o->title = head->title ? head->title : "Flame graph";
	if (!o->countname)
		o->countname = head->countname ? head->countname :
			       unit ? NULL : head->units[0];
	if (!o->unit)
		o->unit = unit;
	o->period = head->period;
	how->hits |= (head->layout & RAW_HITS) != 0;
	how->delimited |= (head->layout & RAW_DELIMITED) != 0;
	how->annotate |= (head->layout & RAW_ANNOTATED) != 0;
	how->addresses |= (head->layout & RAW_ADDRESSES) != 0;
	how->pids |= (head->layout & RAW_PIDS) != 0;
}

static int take_head(void *arg, const struct raw_reader *r)
{
	struct raw_names *n = arg;
	const struct raw_head *h = &r->head;
	struct desk_kernel_told told = {
		.name = n->path, .id.len = h->kernel_id_len, .boot = h->boot,
		.text = h->text, .waits = h->waits,
	};

	memcpy(told.id.bytes, h->kernel_id, h->kernel_id_len);
	while (told.nwaits < RAW_WAITS_MOST && h->waits[told.nwaits])
		told.nwaits++;
	desk_kernel_view(&n->kernel, &told, &n->view);
	if (!n->first.command)
		return keep_first(n, &r->head);
	return is_like(&n->first, &r->head) ? 0 : say_unlike(n, &r->head);
}

static int take_note(void *arg, const char *text)
{
	const struct raw_names *n = arg;

	log_notice("%s: %s", n->path, text);
	return 0;
}

static int say_partly(struct raw_names *n, const struct raw_reader *r,
		      const char *how)
{
	log_error("%s: %s %llu: what came before it is used, %llu stacks",
		  n->path, how, (unsigned long long)r->offset,
		  (unsigned long long)r->rows);
	n->partly = true;
	return 0;
}

/* What is not as it should be. */
static int say_state(struct raw_names *n, const struct raw_reader *r)
{
	switch (r->state) {
	case RAW_WHOLE:
		n->partly |= r->another;
		if (r->another)
			log_error("%s: another recording begins at byte %llu: "
				  "it is not used, for a file has one", n->path,
				  (unsigned long long)r->offset);
		else if (r->more)
			log_notice("%s: what follows its end, at byte %llu, "
				   "is not used", n->path,
				   (unsigned long long)r->offset);
		return 0;
	case RAW_CUT:
		return say_partly(n, r, "cut off at byte");
	case RAW_DAMAGED:
		return say_partly(n, r, "damaged at byte");
	case RAW_SENSELESS:
		return say_partly(n, r, "makes no sense at byte");
	case RAW_NO_RAW:
		log_error("%s: not a raw file of sonde", n->path);
		break;
	case RAW_NO_CLEAR_LINE:
		log_error("%s: its line ends were changed on the way",
			  n->path);
		log_hint("stty raw makes a serial line clear for all bytes");
		break;
	case RAW_NEWER:
		log_error("%s: of version %u of the format; this sonde reads "
			  "version %u", n->path, r->major, RAW_MAJOR);
		break;
	}
	return -ENODATA;
}

/* "profile of router (Linux 6.1.0 aarch64), 2024-05-01 10:00:00 UTC: 99 Hz" */
static int add_about(struct raw_names *n, const struct raw_reader *r)
{
	const struct raw_head *h = &r->head;
	time_t started = (time_t)(h->started / 1000000000);
	struct buf line = { 0 };
	char when[32] = "";
	struct tm tm;

	if (gmtime_r(&started, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	buf_fmt(&line, "%s of %s (Linux %s %s), %s UTC", h->command,
		h->host ? h->host : "?", h->release ? h->release : "?",
		h->arch ? h->arch : "?", when);
	if (r->end.told)
		buf_fmt(&line, ": %s", r->end.told);
	if (r->state != RAW_WHOLE)
		buf_fmt(&line, ": partial, %llu stacks",
			(unsigned long long)r->rows);
	escape(&n->about, line.data, line.len, ESCAPE_TEXT);
	buf_putc(&n->about, '\n');
	if (line.err)
		n->about.err = line.err;
	buf_free(&line);
	return n->about.err;
}

int raw_names_subtitle(const struct raw_names *n, struct buf *line)
{
	for (size_t i = 0; i + 1 < n->about.len; i++) {
		char c = n->about.data[i];

		if (c == '\n')
			buf_puts(line, "; ");
		else
			buf_putc(line, c);
	}
	return line->err;
}

int raw_names_read(struct raw_names *n, int fd, const void *start,
		   size_t nstart, const char *path, struct raw_reader *r)
{
	const struct raw_sink sink = {
		.head = take_head, .row = take_row, .note = take_note,
		.arg = n,
	};
	int err;

	n->path = path;
	n->spent = 0;
	n->files.n = n->frames.n = 0;
	err = raw_read(r, fd, start, nstart, &sink);
	if (!err) {
		err = say_state(n, r);
		return err || !r->head.command ? err : add_about(n, r);
	}
	if (err == -E2BIG) {
		r->state = RAW_SENSELESS;
		r->rows--;
		say_partly(n, r, "more stacks than so few bytes can mean, at "
			   "byte");
		return add_about(n, r);
	}
	if (err == r->err && err != -ENOMEM)
		log_error("%s: cannot read: %s", path, log_errno(err));
	return err;
}
