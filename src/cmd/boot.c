/* boot - profiles the boot: samples, while process 1 becomes the real init.
 *
 * Who is process 1 in an initramfs cannot wait for a trace to end, and who is
 * not does not see how it becomes the real init. So the trace is kept by a
 * child, the keeper, and we become the init as soon as that one samples. Or
 * cannot: a boot goes on whatever happens to its trace.
 *
 * The keeper stands in nobody's way. It has no terminal, no folder of ours and
 * no file system that somebody might want to unmount. systemd ends what is
 * left of an initramfs, but for processes whose command line begins with '@'.
 * What an init sends to all at shutdown, SIGTERM, ends the trace, and the
 * result still gets out, if the init waits for as long as that takes.
 *
 * The root folder that we began with may be gone by then, with all its files:
 * the symbols were opened when their processes were seen first, and the result
 * goes where process 1 has its root. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/log.h"
#include "base/out.h"
#include "base/vec.h"
#include "cmd/check.h"
#include "cmd/cmd.h"
#include "cmd/profile.h"
#include "sys/advice.h"
#include "sys/fs.h"
#include "sys/host.h"

extern const struct cmd cmd_profile;

enum {
	DEFAULT_SECONDS = 30,
	WAIT_SECONDS = 20,		/* for the first sample */
	FILES_MOST = 1024,		/* open ones that we may have got */
	EXIT_NOT_RUN = 126, EXIT_NOT_FOUND = 127,	/* as shells say it */
};

/* Of what lies in memory: include/uapi/linux/magic.h. */
enum { TMPFS_MAGIC = 0x01021994 };
#define RAMFS_MAGIC 0x858458f6u

static const char keeper_name[] = "@sonde-boot";

/* What the keeper sends us: a byte, for it samples, or its exit status. */
enum { SAMPLES = 'S' };

/* -- the result ---------------------------------------------------------- */

static bool is_init;		/* we are process 1, or were before the fork */

/* The root folder that process 1 has in the end is the one to write to, if it
 * began with the same one as we did. */
static struct {
	bool followed;
	dev_t dev;
	ino_t inode;
	char folder[4096];		/* for paths that are relative */
} root;

static bool is_root_we_had(const struct stat *st)
{
	return st->st_dev == root.dev && st->st_ino == root.inode;
}

/* Below chroot, say, process 1 is none of our business. */
static bool is_root_of_init(void)
{
	char own[64], init[64];
	struct stat st;
	int proc = fs_dir(FS_PROC);

	return proc >= 0 &&
	       fs_readlink(FS_PROC, "self/ns/mnt", own, sizeof(own)) > 0 &&
	       fs_readlink(FS_PROC, "1/ns/mnt", init, sizeof(init)) > 0 &&
	       !strcmp(own, init) && !fstatat(proc, "1/root", &st, 0) &&
	       is_root_we_had(&st);
}

static void root_note(void)
{
	struct stat st = { 0 };

	if (!stat("/", &st)) {
		root.dev = st.st_dev;
		root.inode = st.st_ino;
	}
	if (!getcwd(root.folder, sizeof(root.folder)) ||
	    root.folder[0] != '/')
		strcpy(root.folder, "/");
}

/* In memory, such a root is on its way out: who looks for the file later looks
 * for it somewhere else. */
static void say_old_root(int fd, const char *path)
{
	struct statfs fs;

	if (!fstatfs(fd, &fs) && ((uint32_t)fs.f_type == RAMFS_MAGIC ||
				  (uint32_t)fs.f_type == TMPFS_MAGIC))
		log_notice("%s: process 1 still has the root folder that it "
			   "began with, which lies in memory", path);
}

static int root_enter(const char *path)
{
	int fd = fs_open(FS_PROC, "1/root", O_PATH | O_DIRECTORY), err = 0;
	struct stat st;

	if (fd < 0) {
		log_error("boot: /proc/1/root: %s", log_errno(fd));
		advice(OP_PROC, fd);
		return fd;
	}
	if (fstat(fd, &st))
		err = -errno;
	else if (is_root_we_had(&st))
		say_old_root(fd, path);
	else if (fchdir(fd) || chroot("."))
		err = -errno;
	if (err)
		log_error("boot: cannot enter the root folder of process 1: "
			  "%s", log_errno(err));
	close(fd);
	return err;
}

/* A terminal that was hung up by who took it over, or none to begin with. */
static bool is_usable(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || flags & O_PATH || (flags & O_ACCMODE) == O_RDONLY)
		return false;
	return isatty(fd) || errno != EIO;
}

/* The console in the place of those that are of no use; but who is not the init
 * may have closed them on purpose. */
static void console_open(void)
{
	int fd = -1;

	if (!is_init)
		return;
	for (int to = STDOUT_FILENO; to <= STDERR_FILENO; to++) {
		if (is_usable(to))
			continue;
		if (fd < 0)
			fd = fs_open(FS_DEV, "console", O_WRONLY | O_NOCTTY);
		if (fd < 0)
			return;
		dup2(fd, to);
	}
	if (fd >= 0)
		close(fd);
}

static int locate(const char *path)
{
	int err = 0;

	console_open();
	if (path && root.followed)
		err = root_enter(path);
	if (err || !path || path[0] == '/' || !chdir(root.folder))
		return err;
	err = -errno;
	log_error("boot: %s: %s", root.folder, log_errno(err));
	return err;
}

/* -- the keeper ---------------------------------------------------------- */

/* The arguments, and where they lie one behind the other. */
struct words {
	int n;
	char **v;			/* NULL-terminated */
	char *start, *end;
};

static void begun(void *arg)
{
	int *report = arg;
	ssize_t n = write(*report, &(char){ SAMPLES }, 1);

	(void)n;			/* it runs, whoever listens */
	close(*report);
	*report = -1;
}

/* What /proc/PID/cmdline and ps show is the place itself where the kernel had
 * put the arguments; they move to another. */
static int words_replace(struct words *w, const char *by)
{
	size_t size = (size_t)(w->end - w->start), n = strlen(by);
	char *copy = mem_zalloc(size), **v;

	v = mem_zalloc(((size_t)w->n + 1) * sizeof(*v));
	if (!copy || !v) {
		mem_free(copy);
		mem_free(v);
		return -ENOMEM;
	}
	memcpy(copy, w->start, size);
	for (int i = 0; i < w->n; i++)
		v[i] = copy + (w->v[i] - w->start);
	w->v = v;
	memset(w->start, 0, size);
	memcpy(w->start, by, n < size ? n : size - 1);
	return 0;
}

/* Nothing that somebody may wait for, or want to unmount, is kept. */
static void let_go(int report)
{
	int null = open("/", O_PATH | O_CLOEXEC);

	setsid();
	if (null >= 0 && null != STDIN_FILENO) {
		dup2(null, STDIN_FILENO);
		close(null);
	}
	for (int fd = STDERR_FILENO + 1; fd < FILES_MOST; fd++)
		if (fd != report)
			close(fd);
	if (chdir("/"))
		log_notice("boot: /: %s", log_errno(errno));
	fs_leave_mounts();
}

/* A signal to end by is waited for; what comes later must not end us before the
 * result is out. */
static void hold_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGHUP, SIG_IGN);
}

static int keep(struct words *w, int report)
{
	struct profile_keeper keeper = {
		.seconds = DEFAULT_SECONDS, .begun = begun,
		.locate = locate, .arg = &report,
	};
	int status = EXIT_FAIL;
	ssize_t n;

	hold_signals();
	let_go(report);
	console_open();
	prctl(PR_SET_NAME, keeper_name);
	root.followed = is_init || is_root_of_init();
	if (words_replace(w, keeper_name))
		log_error("boot: out of memory");
	else
		status = profile_keep(&keeper, w->n, w->v);
	if (report >= 0) {
		n = write(report, &(char){ (char)status }, 1);
		(void)n;
	}
	return status;
}

/* -- process 1 ----------------------------------------------------------- */

/* Until the keeper tells: SAMPLES or its exit status. */
static int await(int report)
{
	uint64_t now = host_time(), end = now + WAIT_SECONDS * 1000000000ull;
	struct pollfd poll_fd = { .fd = report, .events = POLLIN };
	char byte = EXIT_FAIL;
	ssize_t n;

	while (now < end && poll(&poll_fd, 1,
				 (int)((end - now) / 1000000) + 1) < 0 &&
	       errno == EINTR)
		now = host_time();
	if (!poll_fd.revents) {
		log_notice("boot: no sample yet after %d s; going on without "
			   "waiting", WAIT_SECONDS);
		return SAMPLES;
	}
	n = read(report, &byte, 1);
	return n == 1 ? byte : EXIT_FAIL;
}

/* The kernel stops with process 1: let that be read. */
static int end(int status)
{
	if (is_init) {
		log_hint("process 1 ends here, and the kernel with it");
		tcdrain(STDERR_FILENO);
	}
	return status;
}

static int run_failed(const char *init, pid_t keeper)
{
	int err = errno;

	console_open();
	log_error("boot: cannot run '%s': %s", init, log_errno(err));
	if (err == ENOENT && strchr(init, '/') && !access(init, F_OK))
		log_hint("it is there, but its interpreter (#! or the dynamic "
			 "loader) is not");
	if (keeper > 0) {
		kill(keeper, SIGKILL);
		waitpid(keeper, NULL, 0);
	}
	return end(err == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN);
}

/* Start the keeper. Its exit status, or SAMPLES. */
static int start(struct words *w, pid_t *keeper)
{
	int ends[2], status;

	if (pipe2(ends, O_CLOEXEC) || (*keeper = fork()) < 0) {
		log_error("boot: cannot start a process: %s",
			  log_errno(errno));
		return EXIT_FAIL;
	}
	if (!*keeper)
		exit(keep(w, ends[1]));
	close(ends[1]);
	status = await(ends[0]);
	close(ends[0]);
	if (status == SAMPLES)
		return SAMPLES;
	waitpid(*keeper, NULL, 0);
	*keeper = 0;
	return status;
}

/* The command: behind "--", else the last word, for a kernel's command line
 * cannot hold a second "--". What is before it is profile's. */
static char **split(int argc, char **argv, struct words *w)
{
	int at = 1;

	while (at < argc && strcmp(argv[at], "--"))
		at++;
	w->v = argv;
	w->n = at;
	w->start = program_invocation_name;
	w->end = argv[argc - 1] + strlen(argv[argc - 1]) + 1;
	if (at + 1 < argc)
		return argv + at + 1;
	if (at < argc || argc < 2 || argv[argc - 1][0] != '/')
		return NULL;
	w->n--;
	return argv + argc - 1;
}

static int run(int argc, char **argv)
{
	struct words words;
	char **init = split(argc, argv, &words);
	pid_t keeper = 0;
	int status;

	is_init = getpid() == 1;
	if (!init) {
		log_error("boot: -- and the init to become are missing");
		return end(EXIT_USAGE);
	}
	root_note();
	status = start(&words, &keeper);
	if (status == EXIT_USAGE && !is_init)
		return status;
	if (status != SAMPLES)
		log_error("boot: the boot goes on without a trace: %s",
			  init[0]);
	out_give_signal();
	execvp(init[0], init);
	return run_failed(init[0], keeper);
}

static void check(struct check *c)
{
	cmd_profile.check(c);
}

/* Those that only boot has, or that mean something else here. */
static const struct opt options[] = {
	{ 0, "for", OPT_NUM, 0, "SECS", "end after SECS seconds (30)" },
	{ 'o', "output", OPT_TEXT, 0, "FILE",
	  "on the root folder that process 1 has in the end" },
	{ 0 },
};

const struct cmd cmd_boot = {
	.name = "boot",
	.usage = "[options] -- INIT [ARGUMENTS]",
	.summary = "profile the boot: sample while process 1 becomes INIT",
	.about =
	"Starts a profile of the whole machine, leaves it to a child, and\n"
	"becomes INIT as soon as samples are taken; if none can be, it says\n"
	"so and becomes INIT all the same. Works as process 1 in an initramfs\n"
	"where nothing is mounted, and anywhere else.\n\n"
	"The child's name begins with @, so that systemd spares it when it\n"
	"leaves the initramfs. At the end, or at SIGTERM, the result goes to\n"
	"standard output, or to FILE on the root folder that process 1 has\n"
	"by then; where that cannot be written, to standard output, too.\n\n"
	"All other options are those of sonde profile. On a kernel's command\n"
	"line, where no second -- can stand, INIT is the last word and begins\n"
	"with /.",
	.examples =
	"  rdinit=/bin/sonde -- boot --for=20 --output=/boot.svg /init\n"
	"                       on the kernel's command line: the initramfs\n"
	"                       and what follows, with /init as process 1\n"
	"  exec sonde boot -o /var/boot.svg -- switch_root /new /sbin/init\n"
	"                       in the initramfs's script: from here on\n"
	"  sonde boot --for 5 --top 5 -- ./server\n"
	"                       the whole machine while the server starts\n",
	.options = options,
	.run = run,
	.check = check,
};
