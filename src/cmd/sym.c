/* sym - the names of addresses: in a file, a process, the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/log.h"
#include "base/num.h"
#include "base/out.h"
#include "cmd/check.h"
#include "cmd/cmd.h"
#include "sym/debug_files.h"
#include "sym/demangle.h"
#include "sym/elf.h"
#include "sym/kallsyms.h"
#include "sym/kernel_list.h"
#include "sym/namer.h"
#include "sys/advice.h"
#include "sys/fs.h"
#include "sys/host.h"
#include "trace/target.h"

struct sym_options {
	struct name_options names;
	bool kernel, here, offset;
	uint64_t pid;
	const char *modules;
};

static const struct opt sym_opts[] = {
	{ .letter = 'k', .name = "kernel", .kind = OPT_FLAG,
	  .at = offsetof(struct sym_options, here),
	  .help = "addresses of the kernel that runs here" },
	{ .letter = 'p', .name = "pid", .kind = OPT_NUM, .arg = "PID",
	  .at = offsetof(struct sym_options, pid),
	  .help = "addresses of a process that runs here",
	  .min = 1, .max = 4194304 },
	{ .name = "modules", .kind = OPT_TEXT, .arg = "FILE",
	  .at = offsetof(struct sym_options, modules),
	  .help = "a copy of its /proc/modules: where modules end" },
	{ .name = "offset", .kind = OPT_FLAG,
	  .at = offsetof(struct sym_options, offset),
	  .help = "numbers are offsets in the file" },
	NAME_OPTIONS(offsetof(struct sym_options, names)),
	{ 0 }
};

/* Where names come from, and where they go. */
struct sym {
	struct sym_options opt;
	struct kallsyms *kernel;
	bool placed;			/* a list, for the kernel that runs: */
	uint64_t shift;			/* its addresses, less the given; or: */
	struct procs *procs;
	struct namer *namer;
	struct proc_at at;		/* or: */
	struct elf *elf;
	const char *file;		/* its name without folders */
	struct buf name, line;
	FILE *to;
	int failed;			/* a bad line of standard input */
};

/* Addresses are hexadecimal with or without 0x, as in nm, kallsyms and
 * addr2line. */
static bool parse_addr(const char *s, uint64_t *addr)
{
	const char *end = s + strlen(s);

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		s += 2;
	return num_hex(s, end, addr) == end;
}

/* "name+0x1f": what s->name holds. */
static void put_name(struct sym *s, uint64_t offset)
{
	if (!s->opt.names.mangled)
		demangle_buf(&s->name);
	escape(&s->line, s->name.data, s->name.len, ESCAPE_TEXT);
	buf_putc(&s->line, '+');
	buf_hex(&s->line, offset);
}

static int find_kernel(struct sym *s, uint64_t addr)
{
	struct ksym found;
	int err = kallsyms_find(s->kernel, addr + s->shift, &found);

	/* A module lies where it was loaded, which a list does not know. */
	if (err || (found.module && s->placed))
		return err ? err : -ENOENT;
	buf_reset(&s->name);
	buf_puts(&s->name, found.name);
	put_name(s, addr + s->shift - found.start);
	if (!found.module)
		return s->name.err;
	buf_puts(&s->line, " [");
	escape(&s->line, found.module, strlen(found.module), ESCAPE_TEXT);
	buf_putc(&s->line, ']');
	return 0;
}

/* The symbol of a file that an address is in. */
static int put_symbol(struct sym *s, struct elf *elf, uint64_t addr)
{
	struct elf_sym found;
	int err = elf_find(elf, addr, &found);

	buf_reset(&s->name);
	if (!err)
		err = elf_name(elf, &found, &s->name);
	if (err)
		return err;
	put_name(s, addr - found.value);
	return s->name.err;
}

static int find_process(struct sym *s, uint64_t addr)
{
	struct place place;
	struct frame frame;
	struct elf *elf = NULL;
	uint64_t vaddr;
	int err;

	if (!procs_place(s->procs, s->at, addr, &place) &&
	    (place.kind == MAPS_FILE || place.kind == MAPS_VDSO))
		elf = procs_elf(s->procs, s->at, &place);
	if (elf && !elf_vaddr(elf, place.off, &vaddr) &&
	    !put_symbol(s, elf, vaddr))
		return 0;
	err = namer_user(s->namer, s->at, addr, false, &frame);
	if (err || frame.kind == FRAME_UNKNOWN)
		return err ? err : -ENOENT;
	escape(&s->line, frame.name, strlen(frame.name), ESCAPE_TEXT);
	return 0;
}

/* `given` is what the user wrote, of which no name becomes [file+0x...]. */
static int find_file(struct sym *s, uint64_t given)
{
	uint64_t addr = given;
	int err;

	if (s->opt.offset && elf_vaddr(s->elf, given, &addr))
		return -ENOENT;
	err = put_symbol(s, s->elf, addr);
	if (err == -ENOENT && elf_is_code(s->elf, addr)) {
		buf_putc(&s->line, '[');
		escape(&s->line, s->file, strlen(s->file), ESCAPE_TEXT);
		buf_fmt(&s->line, "+0x%llx]", (unsigned long long)given);
		err = 0;
	}
	return err;
}

static int print_addr(struct sym *s, uint64_t addr)
{
	int err;

	buf_reset(&s->line);
	err = s->kernel ? find_kernel(s, addr) :
	      s->procs ? find_process(s, addr) : find_file(s, addr);
	if (err && err != -ENOENT)
		return err;
	if (err)
		buf_fmt(&s->line, "0x%llx", (unsigned long long)addr);
	buf_putc(&s->line, '\n');
	if (s->line.err)
		return s->line.err;
	fwrite(s->line.data, 1, s->line.len, s->to);
	return ferror(s->to) ? -EPIPE : 0;	/* out_close() says which */
}

/* The words on a line: trims it in place. */
static char *trim(char *line)
{
	char *end = line + strlen(line);

	while (end > line && strchr(" \t\r\n", end[-1]))
		*--end = '\0';
	return line + strspn(line, " \t");
}

static void bad_line(struct sym *s, unsigned long number, const char *why)
{
	log_error("sym: standard input, line %lu: %s", number, why);
	s->failed = EXIT_FAIL;
}

/* One address a line. A program may write a line and wait for the answer, so
 * unless the input is a file, each answer goes out at once. */
static int print_stdin(struct sym *s)
{
	unsigned long number = 0;
	bool whole = true;
	struct stat st;
	char line[256];
	int err = 0;

	if (fstat(STDIN_FILENO, &st) || !S_ISREG(st.st_mode))
		setvbuf(s->to, NULL, _IOLBF, 0);
	while (!err && fgets(line, sizeof(line), stdin)) {
		bool start = whole;
		uint64_t addr;
		char *word;

		whole = strchr(line, '\n') || strlen(line) + 1 < sizeof(line);
		number += start;
		word = trim(line);
		if (start && !whole)
			bad_line(s, number, "too long");
		else if (start && *word && !parse_addr(word, &addr))
			bad_line(s, number, "not a hexadecimal address");
		else if (start && *word)
			err = print_addr(s, addr);
	}
	if (!err && ferror(stdin)) {
		log_error("sym: standard input: %s", log_errno(errno));
		s->failed = EXIT_FAIL;
	}
	return err;
}

static int print_args(struct sym *s, char **args, int n)
{
	uint64_t addr = 0;
	int err = 0;

	for (int i = 0; !err && i < n; i++)
		if (parse_addr(args[i], &addr))
			err = print_addr(s, addr);
	return err;
}

/* Say why kallsyms_load() gave no names. */
static void kernel_failed(const struct sym *s, const char *name, int err)
{
	if (err == -ENODATA)
		log_error("sym: %s: no line of it is a symbol", name);
	else if (err == -EACCES)
		log_error("sym: %s: every address is hidden (zero)", name);
	else
		log_error("sym: %s: %s", name, log_errno(err));
	if (!s->opt.names.kernel)
		advice(OP_KALLSYMS, err);
}

static int open_input(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

static int open_modules(const struct sym *s)
{
	int fd = -1;

	if (s->opt.modules) {
		fd = kernel_list_open(s->opt.modules);
		if (fd < 0)
			log_error("sym: %s: %s", s->opt.modules, log_errno(fd));
	} else if (!s->opt.names.kernel) {
		/* A kernel without modules has no list of them. */
		fd = fs_open(FS_PROC, "modules", O_RDONLY);
		if (fd < 0)
			fd = -1;
	}
	return fd;
}

static int open_kernel(struct sym *s)
{
	const char *given = s->opt.names.kernel;
	const char *name = given ? given : "/proc/kallsyms";
	const struct kallsyms_counts *n;
	int modules = open_modules(s), fd, err;

	if (s->opt.modules && modules < 0)
		return modules;
	fd = given ? kernel_list_open(name) :
		fs_open(FS_PROC, "kallsyms", O_RDONLY);
	err = fd < 0 ? fd : kallsyms_load(fd, modules, &s->kernel);
	if (fd < 0)
		log_error("sym: %s: %s", name, log_errno(fd));
	else if (err)
		kernel_failed(s, name, err);
	if (fd < 0 && !given)
		advice(OP_KALLSYMS, fd);
	if (fd >= 0)
		close(fd);
	if (modules >= 0)
		close(modules);
	if (err)
		return err;
	n = kallsyms_counts(s->kernel);
	if (n->bad_rows)
		log_notice("%s: %zu malformed lines skipped", name,
			   n->bad_rows);
	if (n->bad_modules)
		log_notice("%s: %zu malformed lines skipped", s->opt.modules ?
			   s->opt.modules : "/proc/modules", n->bad_modules);
	s->placed = given && s->opt.here;
	return s->placed ? kernel_list_place(s->kernel, given, &s->shift) : 0;
}

static int open_process(struct sym *s)
{
	struct num_list pids = { .v = &s->opt.pid, .n = 1 };
	uint32_t pid = (uint32_t)s->opt.pid;
	uint64_t now = host_time();
	char maps[32];
	int fd;

	if (!target_exist("sym", "-p", &pids, false))
		return -ESRCH;
	snprintf(maps, sizeof(maps), "%u/maps", pid);
	fd = fs_open(FS_PROC, maps, O_RDONLY);
	if (fd < 0) {
		log_error("sym: -p %u: cannot read its mappings: %s", pid,
			  log_errno(fd));
		advice(OP_PROC, fd);
		return fd;
	}
	close(fd);
	s->procs = procs_new();
	s->namer = s->procs ? namer_new(s->procs, &s->opt.names)
			      : NULL;
	if (!s->namer || procs_seen(s->procs, pid, now)) {
		log_error("sym: out of memory");
		return -ENOMEM;
	}
	s->at = procs_at(s->procs, pid, now);
	return 0;
}

static int load_file(struct sym *s, const char *path)
{
	uint64_t work = ELF_WORK_MOST;
	int err = elf_load(s->elf, &work);

	if (err == -EFBIG)
		log_notice("%s: too large a symbol table: not used", path);
	else if (err)
		log_error("sym: %s: its symbols cannot be read: %s", path,
			  log_errno(err));
	return err == -EFBIG ? 0 : err;
}

static int open_file(struct sym *s, const char *path)
{
	const char *slash = strrchr(path, '/');
	int fd = open_input(path), err;

	s->file = slash ? slash + 1 : path;
	err = fd < 0 ? fd : elf_open(fd, &s->elf);
	if (!err && !elf_is_object(s->elf)) {
		debug_files_attach_own(s->elf, fd);
		return load_file(s, path);
	}
	if (!err)
		log_error("sym: %s: a relocatable object: its addresses are "
			  "not final", path);
	else if (err == -ENOEXEC)
		log_error("sym: %s: not an ELF file", path);
	else if (err == -EINVAL)
		log_error("sym: %s: not a regular file", path);
	else
		log_error("sym: %s: %s", path, log_errno(err));
	if (err && fd >= 0)
		close(fd);
	return err ? err : -ENOEXEC;
}

/* 0, or -EINVAL after the reason went to stderr. */
static int check_usage(const struct sym *s, char **args, int n)
{
	bool file = !s->opt.kernel && !s->opt.pid;
	uint64_t addr;

	if (s->opt.kernel && s->opt.pid) {
		log_error("sym: -k and -p exclude each other");
		return -EINVAL;
	}
	if (file && !n) {
		log_error("sym: which file? (or -k for the kernel, -p for a "
			  "process)");
		return -EINVAL;
	}
	if (!file && s->opt.offset) {
		log_error("sym: --offset is about a file");
		return -EINVAL;
	}
	for (int i = file; i < n; i++) {
		if (parse_addr(args[i], &addr))
			continue;
		log_error("sym: '%s': not a hexadecimal address", args[i]);
		return -EINVAL;
	}
	return 0;
}

static int print_all(struct sym *s, char **args, int n)
{
	struct out out;
	int err;

	out_open(&out, NULL);
	s->to = out.file;
	err = n ? print_args(s, args, n) : print_stdin(s);
	if (err == -ENOMEM)
		log_error("sym: out of memory");
	if (out_close(&out) || err)
		return EXIT_FAIL;
	return s->failed;
}

static int sym_run(int argc, char **argv)
{
	struct sym s = { 0 };
	struct opt_rest rest;
	int status = EXIT_FAIL, err, first;

	err = opt_parse("sym", sym_opts, &s.opt, argc, argv, &rest);
	if (!err)
		err = debug_files_open(&s.opt.names);
	if (err)
		return cmd_refused(err);
	s.opt.kernel = s.opt.here || s.opt.names.kernel || s.opt.modules;
	if (rest.command || check_usage(&s, rest.args, rest.nargs)) {
		if (rest.command)
			log_error("sym: takes no command");
		return EXIT_USAGE;
	}
	first = !s.opt.kernel && !s.opt.pid;
	err = s.opt.kernel ? open_kernel(&s) :
	      s.opt.pid ? open_process(&s) : open_file(&s, rest.args[0]);
	if (!err)
		status = print_all(&s, rest.args + first, rest.nargs - first);
	if (s.elf)
		elf_debugdata_say(s.elf, rest.args[0]);
	debug_files_report();
	debug_files_close();
	kallsyms_free(s.kernel);
	namer_free(s.namer);
	procs_free(s.procs);
	elf_close(s.elf);
	buf_free(&s.name);
	buf_free(&s.line);
	return status;
}

/* Files need nothing; -k and -p have names to read. */
static void check(struct check *c)
{
	check_kernel_names(c);
	check_other_processes(c);
}

const struct cmd cmd_sym = {
	.name = "sym",
	.usage = "[options] FILE|-k|-p PID [ADDR...]",
	.summary = "names of addresses in a file, a process or the kernel",
	.about =
"Prints one line for each address: name+0xoffset, and for code of a kernel\n"
"module or BPF program its [module]. An address whose name is not certain\n"
"stays a number: [file+0x...] where the file has code, else 0x... .\n"
"Addresses are hexadecimal, 0x or not; without any on the command line they\n"
"are read from standard input, one a line. The addresses of a file are those\n"
"that nm and objdump show; debug information is not needed. Of a stripped\n"
"file the debug file is looked for; else these names are left: .dynsym,\n"
".gnu_debugdata, and Go's .gopclntab.\n"
"With --kallsyms, only --modules tells how far a module's last function\n"
"reaches; addresses are those of that list, with -k those of the kernel that\n"
"runs here, which may have moved since: its modules stay addresses then.",
	.examples =
"  sonde sym /usr/bin/python3.11 0x51f2a0\n"
"      the function at an address of a program\n"
"  sonde sym --offset /lib/libc.so.6 0x9ee10\n"
"      the same for an offset in the file, as in /proc/PID/maps\n"
"  sonde sym -p 1234 0x7f52c8a3d1b0\n"
"      what is at an address of a process: a library, the vDSO, a JIT's code\n"
"  dmesg | grep -o 'ffff[0-9a-f]\\{12\\}' | sonde sym -k\n"
"      names for the kernel addresses in a log\n"
"  sonde sym --kallsyms board/kallsyms --modules board/modules c0123456\n"
"      an address of another machine's kernel, from copies of its files\n",
	.options = sym_opts,
	.run = sym_run,
	.check = check,
};
