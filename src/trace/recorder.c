/* recorder - the stacks of a session into a raw file, without names.
 *
 * No file of symbols is opened for it, and of the kernel's names no more is
 * read than the row that tells where its text starts: a stack's frame is a file
 * and an offset, or the kernel or a module and an offset. What is nowhere but
 * in a process, the vDSO and what a JIT made, is named here. */
#include "trace/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "sym/build_id.h"
#include "sym/heads.h"
#include "sym/namer.h"
#include "sys/fs.h"
#include "sys/waits.h"

static void host_text(const char **field, char text[65], const char *value)
{
	size_t n = strnlen(value, 64);

	memcpy(text, value, n);
	text[n] = '\0';
	*field = n ? text : NULL;
}

static void boot_text(struct recorder *r)
{
	struct buf text = { 0 };

	if (!fs_read(FS_PROC, "sys/kernel/random/boot_id", 64, &text) &&
	    text.len > 1) {
		text.len--;			/* the newline */
		host_text(&r->head.boot, r->texts[3], buf_str(&text));
	}
	buf_free(&text);
}

static void kernel_place(struct recorder *r)
{
	int fd = fs_open(FS_PROC, "kallsyms", O_RDONLY);
	struct build_id id;

	build_id_kernel(&id);
	memcpy(r->head.kernel_id, id.bytes, id.len);
	r->head.kernel_id_len = id.len;
	if (fd >= 0) {
		kallsyms_text_read(fd, &r->head.text);
		close(fd);
	}
	waits_returns(r->head.waits, RAW_WAITS_MOST);
}

void recorder_host(struct recorder *r)
{
	const uint16_t one = 1;
	struct utsname host;
	struct timespec now;

	r->head = (struct raw_head){
		.width = 8 * sizeof(void *),
		.big_endian = !*(const uint8_t *)&one,
	};
	if (!uname(&host)) {
		host_text(&r->head.host, r->texts[0], host.nodename);
		host_text(&r->head.release, r->texts[1], host.release);
		host_text(&r->head.arch, r->texts[2], host.machine);
	}
	clock_gettime(CLOCK_REALTIME, &now);
	r->head.started = (uint64_t)now.tv_sec * 1000000000u +
			  (uint64_t)now.tv_nsec;
	boot_text(r);
	kernel_place(r);
}

void recorder_prepare(struct recorder *r, struct naming *naming, bool files)
{
	r->naming = naming;
	r->counts = !files;
	procs_keep_heads(naming->procs, files);
}

void recorder_begin(struct recorder *r, FILE *to)
{
	raw_write_begin(&r->to, to, &r->head);
}

void recorder_close(struct recorder *r)
{
	raw_write_free(&r->to);
	kallsyms_free(r->modules);
	intern_free(&r->module_ids);
	vec_free(&r->files);
}

void recorder_side_free(struct recorder_side *side)
{
	vec_free(&side->user);
	vec_free(&side->kernel);
}

static uint32_t put_text(struct recorder *r, const char *s)
{
	return raw_write_string(&r->to, s, strlen(s));
}

/* User frames */

static void file_head(const struct head *head, struct raw_file *file)
{
	memcpy(file->id, head->id.bytes, head->id.len);
	file->id_len = head->id.len;
	for (size_t i = 0; i < head->nsegments && i < RAW_SEGMENTS_MOST; i++) {
		const struct elf_extent *e = &head->segments[i];

		file->segments[file->nsegments++] = (struct raw_segment){
			e->offset, e->size, e->vaddr,
		};
	}
}

/* The number of the file's item. */
static uint32_t file_item(struct recorder *r, uint32_t number)
{
	const struct head *head = procs_head(r->naming->procs, number);
	struct raw_file file = { 0 };
	struct map_row row;

	while (r->files.n <= number) {
		uint32_t *slot = vec_push(&r->files);

		if (!slot) {
			r->to.err = -ENOMEM;
			return 0;
		}
		*slot = 0;
	}
	if (r->files.v[number])
		return r->files.v[number] - 1;
	procs_file(r->naming->procs, number, &row);
	file.path = row.path;
	file.inode = row.inode;
	file.major = row.major;
	file.minor = row.minor;
	file.unread = head ? RAW_READ : RAW_UNREAD;
	if (head && head->elf)
		file_head(head, &file);
	r->unread += !head;
	r->unknown += head && !file.id_len;
	r->files.v[number] = raw_write_file(&r->to, &file) + 1;
	return r->files.v[number] - 1;
}

static struct raw_frame named(struct recorder *r, enum raw_frame_kind kind,
			      const char *name)
{
	return (struct raw_frame){ .kind = kind, .of = put_text(r, name) };
}

/* Generated code, in memory or in a file that is no ELF file, has a name in the
 * JIT's map or none. */
static bool jit_frame(struct recorder *r, struct proc_at at, uint64_t inside,
		      const struct place *place, struct raw_frame *out)
{
	struct procs *p = r->naming->procs;
	const struct head *head = place->kind == MAPS_FILE ?
				  procs_head(p, place->file) : NULL;
	struct buf name = { 0 };
	bool found;

	if (place->kind != MAPS_ANON && (!head || head->elf))
		return false;
	found = !procs_jit(p, at, inside, &name) && name.len;
	if (found)
		*out = named(r, RAW_JIT, buf_str(&name));
	buf_free(&name);
	return found;
}

static struct raw_frame vdso_frame(struct recorder *r, struct proc_at at,
				   uint64_t addr, bool is_return)
{
	struct frame frame;

	namer_user(r->naming->namer, at, addr, is_return, &frame);
	return named(r, RAW_NAMED, frame.name);
}

static struct raw_frame place_frame(struct recorder *r, struct proc_at at,
				    uint64_t addr, bool is_return,
				    const struct place *place)
{
	struct raw_frame frame = { .at = place->off + is_return };

	if (place->kind == MAPS_VDSO)
		return vdso_frame(r, at, addr, is_return);
	if (place->kind == MAPS_SPECIAL)
		return named(r, RAW_NAMED, place->label);
	if (jit_frame(r, at, addr - is_return, place, &frame))
		return frame;
	frame.kind = place->kind == MAPS_FILE ? RAW_IN_FILE : RAW_IN_AREA;
	frame.of = place->kind == MAPS_FILE ? file_item(r, place->file) :
		   put_text(r, place->label[0] == '[' ? place->label : "");
	return frame;
}

/* What one address is. */
static struct raw_frame user_frame(struct recorder *r, struct proc_at at,
				   uint64_t addr, bool is_return)
{
	uint64_t plain = namer_plain(r->naming->namer, addr);
	struct place place;
	int err;

	is_return &= plain != 0;
	err = procs_place(r->naming->procs, at, plain - is_return, &place);
	if (!err)
		return place_frame(r, at, plain, is_return, &place);
	if (err == -ENOMEM)
		r->to.err = err;
	if (err == -ENOTUNIQ)
		return (struct raw_frame){ plain, 0, RAW_UNCERTAIN };
	return (struct raw_frame){ 0, 0, RAW_NO_CODE };
}

/* One that is not sure can only be told by code of the leaf's file. */
static void caller_maybe(struct recorder *r, struct proc_at at, uint64_t ip,
			 uint64_t caller, struct raw_side_out *out)
{
	struct place leaf, place;

	if (procs_place(r->naming->procs, at, ip, &leaf) ||
	    procs_place(r->naming->procs, at, caller - 1, &place) ||
	    leaf.kind != MAPS_FILE || place.kind != MAPS_FILE ||
	    leaf.file != place.file)
		return;
	out->flags |= RAW_CALLER;
	out->caller = (struct raw_frame){
		place.off + 1, file_item(r, place.file), RAW_IN_FILE,
	};
}

/* One more frame; false when it lies in no code. */
static bool user_add(struct recorder *r, struct proc_at at, uint64_t addr,
		     bool is_return, struct recorder_side *side)
{
	struct raw_frame *f = vec_push(&side->user);

	if (!f) {
		r->to.err = -ENOMEM;
		return false;
	}
	*f = user_frame(r, at, addr, is_return);
	return f->kind != RAW_NO_CODE;
}

static void user_stack(struct recorder *r, const struct stack *stack,
		       struct recorder_side *side)
{
	struct naming *n = r->naming;
	struct proc_at at = naming_image(n, stack->key);
	bool sure, known = true;
	uint64_t caller = naming_caller(n, stack, &sure);
	bool returns = n->returned && !stack->key->caller;

	side->user.n = 0;
	if (returns)
		side->out.flags |= RAW_LEAF_RETURNS;
	if (caller && !sure)
		caller_maybe(r, at, stack->user[0], caller, &side->out);
	for (size_t i = 0; known && i < stack->nuser; i++) {
		known = user_add(r, at, stack->user[i], i || returns, side);
		if (known && !i && caller && sure)
			known = user_add(r, at, caller, true, side);
	}
	if (r->counts)
		naming_count(n, stack, !known, side->user.n);
	side->out.user = side->user.v;
	side->out.nuser = side->user.n;
}

/* Kernel frames */

static void modules_read(struct recorder *r)
{
	int fd = fs_open(FS_PROC, "modules", O_RDONLY);

	r->modules_read = true;
	if (fd < 0)
		return;
	kallsyms_load_modules(fd, &r->modules);
	close(fd);
}

static uint32_t module_item(struct recorder *r, const struct ksym *range)
{
	struct raw_module module = {
		.name = range->name, .base = range->start,
		.size = range->end - range->start,
	};
	int64_t id = intern_find(&r->module_ids, range->name,
				 strlen(range->name));
	struct build_id build;

	if (id >= 0)
		return (uint32_t)id;
	id = intern_put(&r->module_ids, range->name, strlen(range->name));
	if (id < 0) {
		r->to.err = (int)id;
		return 0;
	}
	build_id_module(range->name, &build);
	memcpy(module.id, build.bytes, build.len);
	module.id_len = build.len;
	return raw_write_module(&r->to, &module);
}

static struct raw_frame kernel_frame(struct recorder *r, uint64_t addr,
				     bool is_return)
{
	struct ksym range;

	if (!r->modules_read)
		modules_read(r);
	if (r->modules && !kallsyms_module_at(r->modules, addr - is_return,
					      &range))
		return (struct raw_frame){ addr - range.start,
					   module_item(r, &range),
					   RAW_IN_MODULE };
	return (struct raw_frame){ addr - r->head.text, 0, RAW_IN_KERNEL };
}

static void kernel_stack(struct recorder *r, const struct stack *stack,
			 struct recorder_side *side)
{
	side->kernel.n = 0;
	for (size_t i = 0; i < stack->nkernel; i++) {
		struct raw_frame *f = vec_push(&side->kernel);

		if (f)
			*f = kernel_frame(r, stack->kernel[i], i > 0);
		else
			r->to.err = -ENOMEM;
	}
	side->out.kernel = side->kernel.v;
	side->out.nkernel = side->kernel.n;
}

int recorder_stack(struct recorder *r, const struct stack *stack, uint32_t pid,
		   struct recorder_side *side)
{
	const char *comm = stack->key->comm;

	side->out = (struct raw_side_out){
		.task = raw_write_task(&r->to, comm, strnlen(comm, COMM_SIZE),
				       pid),
		.flags = (stack->missed_user ? RAW_MISSED_USER : 0) |
			 (stack->missed_kernel ? RAW_MISSED_KERNEL : 0),
	};
	user_stack(r, stack, side);
	kernel_stack(r, stack, side);
	return r->to.err;
}

void recorder_nobody(struct recorder *r, const char *comm,
		     struct recorder_side *side)
{
	side->out = (struct raw_side_out){
		.task = raw_write_task(&r->to, comm, strlen(comm), 0),
	};
}

void recorder_report(const struct recorder *r)
{
	if (!r->head.text && !r->head.waits[0])
		log_notice("the kernel does not tell where its text starts: "
			   "its functions can be named by this kernel alone");
	log_count(r->unknown, "mapped files without a build-id in memory: "
		  "they are told by path and inode");
	log_count(r->unread, "mapped files that were not read, as their "
		  "processes ended first or hid them: they are told by path "
		  "and inode");
}
