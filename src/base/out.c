/* out - results: stdout, or the file that --output names.
 *
 * The stream is a stdio one over a write of our own, for stdio forgets why an
 * early write failed, and a full disk shall be called that.
 */
#include "base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/vec.h"

enum { BUFFER_SIZE = 64 << 10 };

static void (*sigpipe_before)(int) = SIG_DFL;

void out_take_signal(void)
{
	sigpipe_before = signal(SIGPIPE, SIG_IGN);
}

void out_give_signal(void)
{
	signal(SIGPIPE, sigpipe_before);
}

static const char *out_name(const struct out *o)
{
	return o->path ? o->path : "standard output";
}

static int out_failed(const struct out *o, int err)
{
	if (err != EPIPE)
		log_error("%s: cannot write: %s", out_name(o), log_errno(err));
	return -err;
}

static ssize_t out_write(void *cookie, const char *p, size_t n)
{
	struct out *o = cookie;
	size_t done = 0;

	while (done < n && !o->err) {
		ssize_t some = write(o->fd, p + done, n - done);

		if (some >= 0)
			done += (size_t)some;
		else if (errno != EINTR)
			o->err = errno;
	}
	o->written += done;
	return o->err ? -1 : (ssize_t)n;
}

static int out_stream(struct out *o)
{
	cookie_io_functions_t io = { .write = out_write };

	o->buffer = mem_zalloc(BUFFER_SIZE);
	o->file = o->buffer ? fopencookie(o, "w", io) : NULL;
	if (o->file && !setvbuf(o->file, o->buffer, _IOFBF, BUFFER_SIZE))
		return 0;
	out_abandon(o);
	return out_failed(o, ENOMEM);
}

/* What is there. Who waits for the reader of a pipe, says so. */
static int out_there(const char *path, int flags)
{
	int fd = open(path, flags | O_NONBLOCK, 0666);

	if (fd < 0 && errno == ENXIO) {
		log_notice("%s: waits for a reader of this pipe", path);
		return open(path, flags, 0666);
	}
	if (fd >= 0)
		fcntl(fd, F_SETFL, 0);
	return fd;
}

int out_open(struct out *o, const char *path)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY;

	*o = (struct out){ .fd = STDOUT_FILENO };
	if (!path || !strcmp(path, "-"))
		return out_stream(o);
	o->path = path;
	o->fd = open(path, flags | O_EXCL, 0666);
	o->created = o->fd >= 0;
	if (o->fd < 0 && errno == EEXIST)
		o->fd = out_there(path, flags);
	if (o->fd < 0)
		return out_failed(o, errno);
	return out_stream(o);
}

int out_begin(struct out *o)
{
	struct stat st;

	if (!o->path || fstat(o->fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	return ftruncate(o->fd, 0) ? out_failed(o, errno) : 0;
}

int out_flush(struct out *o)
{
	if (fflush(o->file) && !o->err)
		o->err = EIO;
	return o->err ? out_failed(o, o->err) : 0;
}

/* Close what is open; the errno of a close that failed, else 0. */
static int out_release(struct out *o)
{
	int err = 0;

	if (o->file)
		fclose(o->file);
	mem_free(o->buffer);
	if (o->path && o->fd >= 0 && close(o->fd))
		err = errno;
	o->file = NULL;
	o->buffer = NULL;
	o->fd = -1;
	return err;
}

/* Half a result is none, but for those that say otherwise. */
static void out_remove(const struct out *o)
{
	if (o->err && o->created && !(o->keep && o->written))
		unlink(o->path);
}

int out_close(struct out *o)
{
	int err;

	if (fflush(o->file) && !o->err)
		o->err = EIO;
	err = out_release(o);
	if (!o->err)
		o->err = err;
	out_remove(o);
	return o->err ? out_failed(o, o->err) : 0;
}

void out_abandon(struct out *o)
{
	bool open = o->buffer || o->file;

	/* Nothing of a failed result shall come out of the buffer. */
	if (open && !o->err)
		o->err = EIO;
	if (open)
		out_release(o);
	if (open && o->path)
		out_remove(o);
}

int out_buf(FILE *file, struct buf *b, size_t least)
{
	if (!b->err && b->len && b->len >= least) {
		fwrite(b->data, 1, b->len, file);
		buf_reset(b);
	}
	return b->err;
}
