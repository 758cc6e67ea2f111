/* attach_name - probes by a name in tracefs: before 4.17, without its PMU, and
 * returns that need room for more calls than that gives them.
 *
 * They are the one thing that outlives a process which is killed: their group
 * carries the process's number, and whoever comes next removes those of
 * processes that are gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "sys/fs.h"
#include "sys/tracefs.h"
#include "trace/attach_room.h"

static const char *const files[] = { "kprobe_events", "uprobe_events" };
static const char group[] = "sonde_";

static int command_write(const char *file, const char *text)
{
	int fd = fs_open(FS_TRACE, file, O_WRONLY | O_APPEND), err = 0;

	if (fd < 0)
		return fd;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* "p:sonde_123/p123_4 vfs_read+0": true when process 123 is gone; the name's
 * part goes to `name`. */
static bool is_stale(const char *line, char *name, size_t size)
{
	const char *at = strchr(line, ':'), *end;
	uint64_t pid;

	if (!at || strncmp(at + 1, group, sizeof(group) - 1))
		return false;
	end = num_dec(at + sizeof(group), at + strlen(at), &pid);
	if (!end || *end != '/' || pid > 0x7fffffff ||
	    !kill((pid_t)pid, 0) || errno != ESRCH)
		return false;
	snprintf(name, size, "-:%.*s\n", (int)strcspn(at + 1, " \n"), at + 1);
	return true;
}

static void remove_stale(const char *file)
{
	struct buf text = { 0 };
	char name[256];

	if (!fs_read(FS_TRACE, file, 4 << 20, &text)) {
		char *line = (char *)buf_str(&text), *end;

		for (; *line; line = end + 1) {
			end = strchrnul(line, '\n');
			if (!*end)
				break;
			*end = '\0';
			if (is_stale(line, name, sizeof(name)))
				command_write(file, name);
		}
	}
	buf_free(&text);
}

/* "  p123_4      120      55": the last is what was missed. The file names no
 * groups, therefore the process's number is in the name as well. */
uint64_t attach_named_missed(const struct attach *a)
{
	struct buf text = { 0 };
	uint64_t missed = 0, n;
	const char *p = "";
	char name[32];

	if (a->named.n && !fs_read(FS_TRACE, "kprobe_profile", 4 << 20, &text))
		p = buf_str(&text);
	snprintf(name, sizeof(name), " p%d_", (int)getpid());
	while ((p = strstr(p, name))) {
		const char *end = strchrnul(p, '\n'), *last = end;

		while (last[-1] >= '0' && last[-1] <= '9')
			last--;
		if (num_dec(last, end, &n))
			missed += n;
		p = end;
	}
	buf_free(&text);
	return missed;
}

int attach_named(struct attach *a, const char *file, const char *type,
		 const char *place, uint32_t pid)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT };
	unsigned number = a->next_name++, *slot;
	struct buf text = { 0 };
	char event[64];
	int id, err;

	if (!number)
		for (size_t i = 0; i < 2; i++)
			remove_stale(files[i]);
	snprintf(event, sizeof(event), "%s%d/p%d_%u", group, (int)getpid(),
		 (int)getpid(), number);
	buf_fmt(&text, "%s:%s %s\n", type, event, place);
	err = text.err ? text.err : command_write(file, buf_str(&text));
	buf_free(&text);
	if (err)
		return err;
	slot = vec_push(&a->named);
	if (slot)
		*slot = number;
	id = tracefs_id(event);
	if (id < 0)
		return id;
	attr.config = (uint64_t)id;
	return attach_perf(&attr, pid);
}

void attach_unname(struct attach *a)
{
	for (size_t i = 0; i < a->named.n; i++) {
		char text[64];

		snprintf(text, sizeof(text), "-:%s%d/p%d_%u\n", group,
			 (int)getpid(), (int)getpid(), a->named.v[i]);
		for (size_t f = 0; f < 2; f++)
			command_write(files[f], text);
	}
	a->named.n = 0;
}
