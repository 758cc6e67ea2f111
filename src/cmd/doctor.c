/* doctor - says of each command whether and how it would work here. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "base/out.h"
#include "base/vec.h"
#include "cmd/check.h"
#include "cmd/cmd.h"
#include "sys/feature.h"
#include "sys/fs.h"
#include "sys/host.h"
#include "sys/perf.h"
#include "sys/state.h"

struct settings {
	bool verbose;
};

static const struct opt options[] = {
	{ 'v', "verbose", OPT_FLAG, offsetof(struct settings, verbose), NULL,
	  "every feature that was tried, too, with its reason" },
	{ 0 },
};

/* Columns are apart by two spaces or more; within one there is never more than
 * one, so that awk -F '  +' takes them apart. */
enum { FEATURE_WIDTH = 36 };

/* -- a line for each command -------------------------------------------- */

static void check_run(const struct cmd *command, struct check *c)
{
	*c = (struct check){ .works = true, .rung = "nothing needed" };
	if (command->check)
		command->check(c);
}

static const char *or_dash(struct buf *text)
{
	return text->len ? buf_str(text) : "-";
}

static int width_of(const char *text, int width)
{
	int n = (int)strlen(text);

	return n > width ? n : width;
}

static void print_commands(struct check *checks, FILE *out)
{
	int name = 7, rung = 4, missing = 7;	/* of the headings */

	for (size_t i = 0; i < cmd_count; i++) {
		name = width_of(cmd_all[i]->name, name);
		rung = width_of(checks[i].rung, rung);
		missing = width_of(or_dash(&checks[i].missing), missing);
	}
	fprintf(out, "%-*s  WORKS  %-*s  %-*s  REMEDY\n", name, "COMMAND",
		rung, "RUNG", missing, "MISSING");
	for (size_t i = 0; i < cmd_count; i++)
		fprintf(out, "%-*s  %-5s  %-*s  %-*s  %s\n", name,
			cmd_all[i]->name, checks[i].works ? "yes" : "no",
			rung, checks[i].rung,
			missing, or_dash(&checks[i].missing),
			or_dash(&checks[i].remedy));
}

/* -- a line for each feature -------------------------------------------- */

static void print_fact(FILE *out, const char *name, const char *here,
		       const char *reason)
{
	fprintf(out, "%-*s  %-4s  %s\n", FEATURE_WIDTH, name, here, reason);
}

static void print_feature(FILE *out, const char *name, enum operation op,
			  int err)
{
	struct buf text = { 0 };

	buf_puts(&text, err ? advice_reason(op, err) : "-");
	if (err) {
		struct buf hints = { 0 };

		advice_append(op, err, &hints);
		if (hints.len)
			buf_fmt(&text, ": %s", buf_str(&hints));
		buf_free(&hints);
	}
	print_fact(out, name, err ? "no" : "yes", buf_str(&text));
	buf_free(&text);
}

static void print_file_system(FILE *out, enum fs_root root, const char *name)
{
	static const char *const how[] = {
		[FS_MOUNTED] = "mounted",
		[FS_DETACHED] = "not mounted, reached by fsopen",
		[FS_PRIVATE] = "not mounted, reached in a private mount "
			       "namespace",
	};
	int err;
	enum fs_way way = fs_way(root, &err);

	if (way == FS_NO_WAY)
		print_feature(out, name, root == FS_TRACE ? OP_TRACEFS
							  : OP_MOUNT, err);
	else
		print_fact(out, name, "yes", how[way]);
}

/* Can the clock be sampled: of the first CPU that is online, or of us? */
static int try_event(bool whole)
{
	struct perf_event_attr attr;
	struct num_list cpus = { 0 };
	int fd, err = whole ? host_cpus_online(&cpus) : 0;

	if (err)
		return err;
	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.disabled = 1;
	attr.exclude_kernel = !whole;
	fd = whole ? perf_open(&attr, -1, (int)cpus.v[0])
		   : perf_open(&attr, 0, -1);
	vec_free(&cpus);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void print_sysctl(FILE *out, const char *name, long long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", value);
	print_fact(out, name, value == STATE_UNKNOWN ? "no" : "yes",
		   value == STATE_UNKNOWN ? "-" : text);
}

static void print_rights(FILE *out, const struct state *s)
{
	static const struct {
		int number;
		const char *name;
	} wanted[] = {
		{ CAPABILITY_SYS_ADMIN, "CAP_SYS_ADMIN" },
		{ CAPABILITY_BPF, "CAP_BPF" },
		{ CAPABILITY_PERFMON, "CAP_PERFMON" },
		{ CAPABILITY_SYS_PTRACE, "CAP_SYS_PTRACE" },
		{ CAPABILITY_SYSLOG, "CAP_SYSLOG" },
		{ CAPABILITY_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH" },
	};

	print_fact(out, "root", s->is_root ? "yes" : "no",
		   s->in_user_namespace ? "of a user namespace" : "-");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		print_fact(out, wanted[i].name,
			   s->capabilities >> wanted[i].number & 1 ? "yes"
								   : "no",
			   "-");
}

/* Returns the kernel's version, 5.15 as 0x50f. */
static unsigned print_host(FILE *out)
{
	static const char *const modes[] = {
		[LOCKDOWN_INTEGRITY] = "integrity",
		[LOCKDOWN_CONFIDENTIALITY] = "confidentiality",
		[LOCKDOWN_UNKNOWN] = "-", [LOCKDOWN_NONE] = "none",
	};
	struct buf kernel = { 0 };
	struct utsname u;
	struct state s;

	state_read(&s);
	if (!uname(&u))
		buf_fmt(&kernel, "%s %s %s", u.sysname, u.release, u.machine);
	print_fact(out, "kernel", "yes", or_dash(&kernel));
	buf_free(&kernel);
	print_rights(out, &s);
	print_fact(out, "lockdown",
		   s.lockdown == LOCKDOWN_UNKNOWN ? "no" : "yes",
		   modes[s.lockdown]);
	print_fact(out, "seccomp filter", s.has_seccomp_filter ? "yes" : "no",
		   "-");
	print_sysctl(out, "kernel.perf_event_paranoid", s.perf_paranoid);
	print_sysctl(out, "kernel.unprivileged_bpf_disabled", s.bpf_disabled);
	print_sysctl(out, "kernel.kptr_restrict", s.kptr_restrict);
	return s.kernel;
}

/* An older kernel says EINVAL, or something else: its age says more. */
static void print_bpf_feature(FILE *out, enum feature f, unsigned kernel)
{
	int err = feature_error(f);
	unsigned since = feature_since(f);
	char text[64];

	if (!err || !kernel || kernel >= since) {
		print_feature(out, feature_name(f), feature_operation(f), err);
		return;
	}
	snprintf(text, sizeof(text), "Linux %u.%u is the first that has it",
		 since >> 8, since & 0xff);
	print_fact(out, feature_name(f), "no", text);
}

static void print_features(FILE *out)
{
	unsigned kernel;

	fprintf(out, "\n%-*s  HERE  REASON\n", FEATURE_WIDTH, "FEATURE");
	kernel = print_host(out);
	print_file_system(out, FS_PROC, "/proc");
	print_file_system(out, FS_SYS, "/sys");
	print_file_system(out, FS_TRACE, "tracefs");
	for (int f = 0; f < FEATURE_MAX; f++)
		print_bpf_feature(out, (enum feature)f, kernel);
	print_feature(out, "perf events of CPUs", OP_PERF_OPEN,
		      try_event(true));
	print_feature(out, "perf events of own processes", OP_PERF_TASK,
		      try_event(false));
	print_feature(out, "tracepoint sched_process_fork", OP_TRACEFS,
		      check_fork_tracepoint_error());
	print_feature(out, "kernel names", OP_KALLSYMS,
		      check_kernel_names_error());
	print_feature(out, "names of others' processes", OP_PROC,
		      check_other_processes_error());
}

/* -- run ---------------------------------------------------------------- */

static int print_all(struct check *checks, bool verbose)
{
	struct out o;
	int err = out_open(&o, NULL);

	if (err)
		return err;
	print_commands(checks, o.file);
	if (verbose) {
		log_set_silent(true);
		print_features(o.file);
		log_set_silent(false);
	}
	return out_close(&o);
}

/* The first of all commands is what the exit status is about. */
static bool profile_works(const struct check *checks)
{
	for (size_t i = 0; i < cmd_count; i++)
		if (!strcmp(cmd_all[i]->name, "profile"))
			return checks[i].works;
	return false;
}

static int diagnose(bool verbose)
{
	struct check *checks = mem_zalloc(cmd_count * sizeof(*checks));
	int err = checks ? 0 : -ENOMEM, status = EXIT_FAIL;

	for (size_t i = 0; !err && i < cmd_count; i++) {
		check_run(cmd_all[i], &checks[i]);
		err = checks[i].missing.err ? checks[i].missing.err
					    : checks[i].remedy.err;
	}
	if (err)
		log_error("doctor: %s", log_errno(err));
	else if (!print_all(checks, verbose) && profile_works(checks))
		status = EXIT_OK;
	for (size_t i = 0; checks && i < cmd_count; i++) {
		buf_free(&checks[i].missing);
		buf_free(&checks[i].remedy);
	}
	mem_free(checks);
	return status;
}

static int run(int argc, char **argv)
{
	struct settings set = { 0 };
	struct opt_rest rest;

	if (opt_parse("doctor", options, &set, argc, argv, &rest))
		return EXIT_USAGE;
	if (rest.nargs || rest.command) {
		log_error("doctor: %s: takes options only",
			  rest.nargs ? rest.args[0] : "-- COMMAND");
		return EXIT_USAGE;
	}
	host_raise_files();
	return diagnose(set.verbose);
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.usage = "[options]",
	.summary = "say which commands work on this host, how, and what helps",
	.about =
	"Tries what each command needs and prints one line for each: whether\n"
	"it works, the way it would take, what is missing, and the remedy.\n"
	"Changes nothing. Columns are apart by two spaces or more; several\n"
	"things in a column by \"; \". Exit status 0: profile works, 1: not.",
	.examples =
	"  sonde doctor              will it work here?\n"
	"  sonde doctor --verbose    every feature tried, and why not\n",
	.options = options,
	.run = run,
};
