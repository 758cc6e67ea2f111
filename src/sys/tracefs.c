/* tracefs - tracepoints: which there are, their numbers and formats. */
#include "sys/tracefs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sys/feature.h"
#include "sys/fs.h"

enum {
	FORMAT_MAX = 256 << 10,	/* bytes of a format file */
	EVENTS_MAX = 16 << 20,	/* of the list of all tracepoints */
};

/* "events/CATEGORY/NAME/FILE"; -ENAMETOOLONG. */
static int event_path(const char *tracepoint, const char *file, char *to,
		      size_t size)
{
	int n = snprintf(to, size, "events/%s/%s", tracepoint, file);

	if (feature_is_hidden("tracefs"))
		return -ENOENT;
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int tracefs_id(const char *tracepoint)
{
	char path[512];
	long long id;
	int err = event_path(tracepoint, "id", path, sizeof(path));

	if (!err)
		err = fs_read_num(FS_TRACE, path, &id);
	if (!err && (id < 0 || id > 0x7fffffff))
		err = -EINVAL;
	return err ? err : (int)id;
}

int tracefs_format(const char *tracepoint, struct tp_format *out)
{
	struct buf text = { 0 };
	char path[512];
	int err = event_path(tracepoint, "format", path, sizeof(path));

	*out = (struct tp_format){ .name = "", .id = -1 };
	if (!err)
		err = fs_read(FS_TRACE, path, FORMAT_MAX, &text);
	if (!err)
		err = tp_format_parse(text.data, text.len, out);
	buf_free(&text);
	return err;
}

int tracefs_field(const char *tracepoint, const char *field, unsigned size)
{
	const struct tp_field *f;
	struct tp_format format;
	int ret = tracefs_format(tracepoint, &format);

	if (!ret) {
		f = tp_field_find(&format, field);
		ret = !f ? -ENOENT : f->kind == TP_BAD || f->size != size
			? -EINVAL : (int)f->offset;
	}
	tp_format_free(&format);
	return ret;
}

/* "CATEGORY:NAME" lines; what is none is passed over. */
static int visit_events(char *line, tracefs_visit *visit, void *arg)
{
	int ret = 0;

	while (!ret && *line) {
		char *end = line + strcspn(line, "\n");
		char *next = *end ? end + 1 : end;
		char *colon = memchr(line, ':', (size_t)(end - line));

		*end = '\0';
		if (colon)
			*colon = '\0';
		if (colon && colon > line && colon[1])
			ret = visit(arg, line, colon + 1);
		line = next;
	}
	return ret;
}

int tracefs_events(tracefs_visit *visit, void *arg)
{
	struct buf text = { 0 };
	int ret;

	if (feature_is_hidden("tracefs"))
		return -ENOENT;
	ret = fs_read(FS_TRACE, "available_events", EVENTS_MAX, &text);
	buf_putc(&text, '\0');
	if (!ret)
		ret = text.err;
	if (!ret)
		ret = visit_events(text.data, visit, arg);
	buf_free(&text);
	return ret;
}
