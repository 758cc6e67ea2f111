/* target - whom a trace is about: processes, threads, or a new command. */
#include "trace/target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/out.h"
#include "sys/fs.h"
#include "trace/loop.h"

/* The thread group leader of a task, 0 when /proc does not tell. */
static uint64_t leader_of(uint64_t tid)
{
	struct buf text = { 0 };
	uint64_t tgid = 0;
	char path[64];
	const char *p;

	snprintf(path, sizeof(path), "%llu/status", (unsigned long long)tid);
	if (!fs_read(FS_PROC, path, 16384, &text)) {
		p = strstr(buf_str(&text), "\nTgid:\t");
		if (p)
			num_dec(p + 7, p + strlen(p), &tgid);
	}
	buf_free(&text);
	return tgid;
}

/* The kernel's own word on it, wherever /proc is. */
static bool is_leader(uint64_t tid)
{
	return !syscall(SYS_tgkill, (pid_t)tid, (pid_t)tid, 0) ||
	       errno != ESRCH;
}

static bool task_is_there(uint64_t tid)
{
	return tid && (!kill((pid_t)tid, 0) || errno == EPERM);
}

/* The line of /proc/TID/stat; it needs no memory. 0 or -errno. */
static int stat_read(uint64_t tid, char *to, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%llu/stat", (unsigned long long)tid);
	fd = fs_open(FS_PROC, path, O_RDONLY);
	if (fd < 0)
		return fd;
	do {
		n = read(fd, to, size - 1);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		n = -errno;
	close(fd);
	to[n < 0 ? 0 : n] = '\0';
	return n < 0 ? (int)n : 0;
}

int target_began(uint64_t tid, uint64_t *out)
{
	uint64_t began = 0;
	char text[2048];
	const char *p;
	int err = stat_read(tid, text, sizeof(text));

	if (err)
		return err == -ENOENT ? -ESRCH : err;
	p = strrchr(text, ')');		/* the name may hold anything */
	if (p && p[1] && !strchr("ZX", p[2])) {
		/* field 22; the state is the third */
		for (int field = 2; p && field < 22; field++)
			p = strchr(p + 1, ' ');
		if (p)
			num_dec(p + 1, p + strlen(p), &began);
	}
	*out = began;
	return began ? 0 : -ESRCH;
}

int target_is_same(uint64_t tid, uint64_t began)
{
	uint64_t now;
	int err = target_began(tid, &now);

	if (!err)
		return now == began;
	return err == -ESRCH || !task_is_there(tid) ? 0 : err;
}

static bool exists(const char *command, const char *option, uint64_t id,
		   bool threads)
{
	unsigned long long n = id;
	uint64_t leader, began;

	/* A zombie is no more than a number. */
	if (!task_is_there(id) || (fs_dir(FS_PROC) >= 0 &&
				   target_began(id, &began) == -ESRCH)) {
		log_error("%s: %s %llu: no such %s", command, option, n,
			  threads ? "thread" : "process");
		return false;
	}
	if (threads || is_leader(id))
		return true;
	leader = leader_of(id);
	if (!leader) {
		log_error("%s: %s %llu: a thread, not a process", command,
			  option, n);
		log_hint("-L %llu samples that thread", n);
		return false;
	}
	log_error("%s: %s %llu: a thread of process %llu, not a process",
		  command, option, n, (unsigned long long)leader);
	log_hint("-L %llu samples that thread, -p %llu its process", n,
		 (unsigned long long)leader);
	return false;
}

bool target_exist(const char *command, const char *option,
		  const struct num_list *ids, bool threads)
{
	for (size_t i = 0; i < ids->n; i++)
		if (!exists(command, option, ids->v[i], threads))
			return false;
	return true;
}

/* In the child: wait for the parent's byte, then become the command; without
 * it the parent died. An errno in the other pipe tells that exec failed. */
static void child_run(int go, int report, char **argv)
{
	ssize_t n;
	char byte;
	int err;

	loop_child_signals();
	out_give_signal();
	do {
		n = read(go, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (!n)
		_exit(126);
	if (n > 0)
		execvp(argv[0], argv);
	err = errno;
	if (write(report, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

int target_spawn(struct target_child *c, const char *command, char **argv)
{
	int go[2], report[2], err;

	if (pipe2(go, O_CLOEXEC))
		goto failed;
	if (pipe2(report, O_CLOEXEC)) {
		err = errno;
		close(go[0]);
		close(go[1]);
		errno = err;
		goto failed;
	}
	c->pid = fork();
	if (!c->pid) {
		close(go[1]);
		close(report[0]);
		child_run(go[0], report[1], argv);
	}
	err = errno;
	close(go[0]);
	close(report[1]);
	c->go_fd = go[1];
	c->error_fd = report[0];
	if (c->pid > 0)
		return 0;
	c->pid = 0;
	close(c->go_fd);
	close(c->error_fd);
	errno = err;
failed:
	err = errno;
	log_error("%s: cannot start '%s': %s", command, argv[0],
		  log_errno(err));
	return -err;
}

int target_go(struct target_child *c, const char *command,
	      const char *program)
{
	int err = 0;
	ssize_t n;

	do {
		n = write(c->go_fd, "", 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		err = errno;
	close(c->go_fd);
	c->go_fd = -1;
	do {
		n = read(c->error_fd, &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	if (n < 0) {			/* does it run? better not */
		err = errno;
		kill(c->pid, SIGKILL);
	}
	close(c->error_fd);
	c->error_fd = -1;
	if (!err)
		return 0;
	waitpid(c->pid, NULL, 0);
	c->pid = 0;
	log_error("%s: cannot run '%s': %s", command, program,
		  log_errno(err));
	return -err;
}

void target_abandon(struct target_child *c)
{
	if (!c->pid || c->go_fd < 0)
		return;
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->go_fd);
	close(c->error_fd);
	*c = (struct target_child){ 0 };
}
