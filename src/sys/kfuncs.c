/* kfuncs - the functions of the kernel that can be probed.
 *
 * tracefs lists what the function tracer can hook, "vfs_read" or "ext4_sync_fs
 * [ext4]". A page of it is a read, and for each the kernel counts its functions
 * from the first one, so the list with addresses (Linux 6.5), twice as long,
 * takes three times as long: 3.5 s against 1 s for 44,000 in an emulated
 * guest. It does not have the starts of functions anyway, but the places where
 * the tracer hooks them.
 *
 * A kernel without that tracer has kprobes all the same; then the names are
 * those of kallsyms, which also has what no probe may touch. Some of it lies
 * between markers in the kernel's text; the rest is on the blacklist of
 * kprobes, in debugfs, which may be out of reach.
 */
#include "sys/kfuncs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/intern.h"
#include "base/log.h"
#include "base/num.h"
#include "base/vec.h"
#include "sys/feature.h"
#include "sys/fs.h"

enum { CHUNK = 64 << 10 };		/* bytes; a longer line loses some */

/* Lines. A line is NUL-terminated in place of its newline. What `line` returns
 * other than 0 ends it. */
typedef int line_fn(void *arg, char *line);

static int lines_split(line_fn *line, void *arg, char *data, size_t *n)
{
	char *p = data, *end = data + *n, *nl;
	int ret = 0;

	while (!ret && (nl = memchr(p, '\n', (size_t)(end - p)))) {
		*nl = '\0';
		ret = line(arg, p);
		p = nl + 1;
	}
	*n = (size_t)(end - p);
	if (*n == CHUNK)
		*n = 0;
	memmove(data, p, *n);
	return ret;
}

static int lines_each(int fd, line_fn *line, void *arg)
{
	char *data = mem_zalloc(CHUNK + 1);
	ssize_t got = 1;
	size_t n = 0;
	int ret = 0;

	if (!data)
		return -ENOMEM;
	while (!ret && got) {
		got = read(fd, data + n, CHUNK - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			ret = -errno;
			break;
		}
		n += (size_t)got;
		ret = lines_split(line, arg, data, &n);
	}
	if (!ret && n) {			/* no newline at the end */
		data[n] = '\0';
		ret = line(arg, data);
	}
	mem_free(data);
	return ret;
}

/* The blacklist */

/* "0xffffffff81000000-0xffffffff81000010\tname", perhaps " [module]" */
static int blacklist_line(void *arg, char *line)
{
	char *name = strchr(line, '\t');
	int64_t id = 0;

	if (name++)
		id = intern_put(arg, name, strcspn(name, " "));
	return id < 0 ? (int)id : 0;
}

static int blacklist_open(void)
{
	int err;

	if (fs_way(FS_DEBUG, &err) == FS_NO_WAY)
		return err;
	return fs_open(FS_DEBUG, "kprobes/blacklist", O_RDONLY);
}

/* Rows */

struct walk {
	kfuncs_take *take;
	void *arg;
	struct kfuncs_facts *facts;
	struct intern blacklist;
	int section;		/* of kallsyms that no probe may touch, + 1 */
	unsigned ended;		/* 1 << section, once its end was seen */
};

static int func_take(struct walk *w, const struct kfunc *f)
{
	if (w->blacklist.n &&
	    intern_find(&w->blacklist, f->name, strlen(f->name)) >= 0) {
		w->facts->blacklisted++;
		return 0;
	}
	w->facts->listed++;
	return w->take(w->arg, f);
}

/* Cut "name [module]" or "name\t[module]" into both. */
static void module_cut(char *name, struct kfunc *f)
{
	char *end = name + strcspn(name, " \t");
	char *module = *end ? end + 1 : end;
	size_t n = strlen(module);

	*end = '\0';
	f->name = name;
	if (n > 2 && module[0] == '[' && module[n - 1] == ']') {
		module[n - 1] = '\0';
		f->module = module + 1;
	}
}

static bool starts_with(const char *s, const char *start)
{
	return !strncmp(s, start, strlen(start));
}

/* A weak function that another replaced has a name made up by the kernel. */
static int tracefs_line(void *arg, char *line)
{
	struct kfunc f = { 0 };

	module_cut(line, &f);
	if (!*f.name || starts_with(f.name, "__ftrace_invalid_address__"))
		return 0;
	return func_take(arg, &f);
}

/* Between these lies code that is gone after boot, or that would probe itself:
 * include/asm-generic/vmlinux.lds.h. Rows of the kernel proper come sorted. */
static const struct {
	const char *start, *end;
	bool always;		/* no blacklist has it */
} sections[] = {
	{ "_sinittext", "_einittext", true },
	{ "__kprobes_text_start", "__kprobes_text_end", false },
	{ "__noinstr_text_start", "__noinstr_text_end", false },
	{ "__entry_text_start", "__entry_text_end", false },
	{ "__irqentry_text_start", "__irqentry_text_end", false },
	{ "__softirqentry_text_start", "__softirqentry_text_end", false },
	{ "__cpuidle_text_start", "__cpuidle_text_end", false },
};
enum { SECTIONS = sizeof(sections) / sizeof(*sections) };

/* Is the row within a section, or a marker? The markers of an empty section
 * have one address, and may come in reverse order. */
static bool section_holds(struct walk *w, const char *name)
{
	for (int i = 0; *name == '_' && i < SECTIONS; i++) {
		if (!strcmp(name, sections[i].end)) {
			w->ended |= 1u << i;
			if (w->section == i + 1)
				w->section = 0;
			return true;
		}
		if (w->section || strcmp(name, sections[i].start))
			continue;
		if (!(w->ended & 1u << i) &&
		    (sections[i].always || !w->facts->has_blacklist))
			w->section = i + 1;
		return true;
	}
	return w->section;
}

/* Neither BPF programs and trampolines, nor what marks a place. */
static bool kallsyms_is_func(const struct kfunc *f)
{
	if (f->module && (!strcmp(f->module, "bpf") ||
			  starts_with(f->module, "__builtin__")))
		return false;
	return *f->name && *f->name != '.' && *f->name != '$' &&
	       !starts_with(f->name, "__pfx_") &&
	       !starts_with(f->name, "__cfi_");
}

/* "ffffffff8137bb40 T vfs_read", perhaps "\t[module]" */
static int kallsyms_line(void *arg, char *line)
{
	char *blank = strchr(line, ' ');
	struct kfunc f = { 0 };

	if (!blank || num_hex(line, blank, &f.addr) != blank || !blank[1] ||
	    blank[2] != ' ')
		return 0;
	module_cut(blank + 3, &f);
	if (section_holds(arg, f.name) || !strchr("tTwW", blank[1]) ||
	    !kallsyms_is_func(&f))
		return 0;
	return func_take(arg, &f);
}

/* Lists */

int kfuncs_each_in(int list_fd, enum kfuncs_source source, int blacklist_fd,
		   kfuncs_take *take, void *arg, struct kfuncs_facts *facts)
{
	struct walk w = { .take = take, .arg = arg, .facts = facts };
	int ret = 0;

	*facts = (struct kfuncs_facts) { .source = source };
	if (blacklist_fd >= 0) {
		ret = lines_each(blacklist_fd, blacklist_line, &w.blacklist);
		facts->has_blacklist = !ret;
		if (ret != -ENOMEM)	/* lockdown: it can be read, or not */
			ret = 0;
	}
	if (!ret)
		ret = lines_each(list_fd, source == KFUNCS_KALLSYMS ?
				 kallsyms_line : tracefs_line, &w);
	intern_free(&w.blacklist);
	return ret;
}

static int tracefs_open(void)
{
	int err;

	if (feature_is_hidden("tracefs"))
		return -ENOENT;
	if (fs_way(FS_TRACE, &err) == FS_NO_WAY)
		return err;
	return fs_open(FS_TRACE, "available_filter_functions", O_RDONLY);
}

static int list_each(int fd, enum kfuncs_source source, kfuncs_take *take,
		     void *arg, struct kfuncs_facts *facts)
{
	int blacklist = blacklist_open();
	int ret = kfuncs_each_in(fd, source, blacklist, take, arg, facts);

	if (blacklist >= 0)
		close(blacklist);
	close(fd);
	return ret;
}

static int kallsyms_each(kfuncs_take *take, void *arg,
			 struct kfuncs_facts *facts)
{
	int fd = fs_open(FS_PROC, "kallsyms", O_RDONLY);

	return fd < 0 ? fd :
		list_each(fd, KFUNCS_KALLSYMS, take, arg, facts);
}

int kfuncs_each(kfuncs_take *take, void *arg, struct kfuncs_facts *facts)
{
	int fd = tracefs_open();

	*facts = (struct kfuncs_facts) { 0 };
	if (fd >= 0)
		return list_each(fd, KFUNCS_TRACEFS, take, arg, facts);
	log_notice("functions of the kernel: tracefs does not list them (%s): "
		   "as /proc/kallsyms has them, some cannot be probed",
		   fd == -ENOENT ? "CONFIG_DYNAMIC_FTRACE" : log_errno(fd));
	return kallsyms_each(take, arg, facts);
}

/* Judging one */

static int name_is(void *arg, const struct kfunc *f)
{
	return !strcmp(f->name, arg);
}

static bool is_blacklisted(const char *name)
{
	struct intern names = { 0 };
	int fd = blacklist_open();
	bool found;

	if (fd < 0)
		return false;
	lines_each(fd, blacklist_line, &names);
	close(fd);
	found = intern_find(&names, name, strlen(name)) >= 0;
	intern_free(&names);
	return found;
}

enum kfunc_verdict kfunc_judge(const char *name)
{
	struct kfuncs_facts facts;

	if (is_blacklisted(name))
		return KFUNC_BLACKLISTED;
	if (kfuncs_each(name_is, (void *)(uintptr_t)name, &facts) == 1)
		return KFUNC_GOOD;
	if (facts.source != KFUNCS_KALLSYMS &&
	    kallsyms_each(name_is, (void *)(uintptr_t)name, &facts) == 1)
		return KFUNC_NOTRACE;
	return KFUNC_UNKNOWN;
}
