/* viewers - a flame graph as JSON that speedscope and Firefox Profiler open.
 *
 * The two share no format that keeps the counts: what either can import from
 * the other, or both from Chrome, is one sample per unit or a time line that is
 * sampled anew. But each knows its own format by one member of the outermost
 * object and passes over the members that it does not know. So the object is
 * both:
 *
 *	speedscope		"$schema", "name", "profiles", "shared.frames":
 *				each stack as the list of its frames
 *	Firefox Profiler	"meta", "libs", "threads", "shared.stringArray":
 *				its processed format, in a version that it
 *				upgrades; stacks as a tree
 *
 * The order of frames, places and samples is that of samples_walk(), which is
 * taken anew for each list, so nothing of them is held in memory. Firefox
 * Profiler has a time line: there the samples follow one another, each as long
 * as it counts.
 */
#include "render/viewers.h"

#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/out.h"
#include "render/samples.h"

enum { FLUSH = 1 << 16 };

struct viewers {
	FILE *out;
	struct buf buf;
	struct samples samples;
	const struct graph_options *o;
	uint64_t items;			/* of the list so far */
	uint64_t stacks;
	uint32_t part;			/* 1 or 1000 */
	int err;			/* the first */
};

static const char *const colors[FLAME_KINDS] = {
	[FLAME_USER] = "yellow", [FLAME_KERNEL] = "blue",
	[FLAME_JIT] = "green", [FLAME_UNKNOWN] = "grey",
	[FLAME_INLINED] = "lightblue", [FLAME_WAKER] = "purple",
	[FLAME_DELIMITER] = "grey",
};

static void put_string(struct buf *b, const char *s, size_t n)
{
	buf_putc(b, '"');
	escape(b, s, n, ESCAPE_JSON);
	buf_putc(b, '"');
}

/* The comma before all items but the first; the buffer's turn. */
static int next_item(struct viewers *v)
{
	if (v->items++)
		buf_putc(&v->buf, ',');
	return out_buf(v->out, &v->buf, FLUSH);
}

static void list_open(struct viewers *v, const char *name)
{
	buf_fmt(&v->buf, "\"%s\":[", name);
	v->items = 0;
}

/* A list with an item for each place. */
static void put_places(struct viewers *v, const char *name,
		       int (*fn)(void *, const struct sample_frame *, size_t))
{
	list_open(v, name);
	v->samples.enter = fn;
	v->samples.leave = NULL;
	if (!v->err)
		v->err = samples_walk(&v->samples);
	buf_putc(&v->buf, ']');
}

/* A list with an item for each sample, behind `first` and before `last`. */
static void put_samples(struct viewers *v, const char *name, const char *first,
			int (*fn)(void *, const struct sample_frame *, size_t),
			const char *last)
{
	list_open(v, name);
	if (first) {
		next_item(v);
		buf_puts(&v->buf, first);
	}
	v->samples.enter = NULL;
	v->samples.leave = fn;
	if (!v->err)
		v->err = samples_walk(&v->samples);
	if (last) {
		next_item(v);
		buf_puts(&v->buf, last);
	}
	buf_putc(&v->buf, ']');
}

/* Lists with an item for each frame. */

static void frame_string(struct viewers *v, uint32_t frame)
{
	struct flame_frame f = samples_frame(&v->samples, frame);

	put_string(&v->buf, f.name, f.len);
}

static void frame_object(struct viewers *v, uint32_t frame)
{
	struct flame_frame f = samples_frame(&v->samples, frame);

	buf_puts(&v->buf, "{\"name\":");
	put_string(&v->buf, f.name, f.len);
	if (f.kind != FLAME_USER)
		buf_fmt(&v->buf, ",\"file\":\"[%s]\"",
			flame_kind_names[f.kind]);
	buf_putc(&v->buf, '}');
}

static void frame_kind(struct viewers *v, uint32_t frame)
{
	buf_dec(&v->buf, samples_frame(&v->samples, frame).kind);
}

static void frame_number(struct viewers *v, uint32_t frame)
{
	buf_dec(&v->buf, frame);
}

static void put_frames(struct viewers *v, const char *name,
		       void (*fn)(struct viewers *v, uint32_t frame))
{
	list_open(v, name);
	for (size_t i = 0; i < v->samples.frames.n && !v->err; i++) {
		v->err = next_item(v);
		fn(v, (uint32_t)i);
	}
	buf_putc(&v->buf, ']');
}

/* Columns of one value, ",NAME:[VALUE,VALUE...]" each. */
static void put_columns(struct viewers *v, const char *names,
			const char *value)
{
	while (*names) {
		size_t len = strcspn(names, " ");

		buf_fmt(&v->buf, ",\"%.*s\":[", (int)len, names);
		v->items = 0;
		for (size_t i = 0; i < v->samples.frames.n && !v->err; i++) {
			v->err = next_item(v);
			buf_puts(&v->buf, value);
		}
		buf_putc(&v->buf, ']');
		names += len + (names[len] != 0);
	}
}

/* Lists with an item for each sample. */

static int sample_list(void *arg, const struct sample_frame *path, size_t n)
{
	struct viewers *v = arg;
	int err;

	if (!path[n - 1].self)
		return 0;
	err = next_item(v);
	for (size_t i = 0; i < n; i++) {
		buf_putc(&v->buf, i ? ',' : '[');
		buf_dec(&v->buf, path[i].frame);
	}
	buf_putc(&v->buf, ']');
	return err;
}

static int sample_place(void *arg, const struct sample_frame *path, size_t n)
{
	struct viewers *v = arg;
	int err = 0;

	if (path[n - 1].self) {
		err = next_item(v);
		buf_dec(&v->buf, path[n - 1].place);
	}
	return err;
}

/* In units of which v->part of ours are one. */
static int sample_weight(void *arg, const struct sample_frame *path, size_t n)
{
	struct viewers *v = arg;
	uint64_t self = path[n - 1].self;
	int err = 0;

	if (self) {
		err = next_item(v);
		buf_dec(&v->buf, self / v->part);
		if (self % v->part)
			buf_fmt(&v->buf, ".%03u", (unsigned)(self % v->part));
	}
	return err;
}

/* Lists with an item for each place. */

static int place_prefix(void *arg, const struct sample_frame *path, size_t n)
{
	struct viewers *v = arg;
	int err = next_item(v);

	if (n > 1)
		buf_dec(&v->buf, path[n - 2].place);
	else
		buf_puts(&v->buf, "null");
	return err;
}

static int place_frame(void *arg, const struct sample_frame *path, size_t n)
{
	struct viewers *v = arg;
	int err = next_item(v);

	buf_dec(&v->buf, path[n - 1].frame);
	return err;
}

/* The parts of the file, in its order. */

static void put_title(struct viewers *v, const char *before)
{
	buf_puts(&v->buf, before);
	put_string(&v->buf, v->o->title, strlen(v->o->title));
}

static void put_speedscope(struct viewers *v)
{
	buf_puts(&v->buf, "{\"$schema\":"
		 "\"https://www.speedscope.app/file-format-schema.json\","
		 "\"exporter\":\"sonde\",");
	put_title(v, "\"name\":");
	put_title(v, ",\n\"profiles\":[{\"type\":\"sampled\",\"name\":");
	buf_fmt(&v->buf, ",\"unit\":\"%s\",\"startValue\":0,"
		"\"endValue\":%llu,\n", v->o->unit->speedscope,
		(unsigned long long)v->samples.flame->total);
	put_samples(v, "samples", NULL, sample_list, NULL);
	buf_puts(&v->buf, ",\n");
	put_samples(v, "weights", NULL, sample_weight, NULL);
	v->stacks = v->items;
	buf_puts(&v->buf, "}],\n\"shared\":{");
	put_frames(v, "frames", frame_object);
	buf_puts(&v->buf, ",\n");
	put_frames(v, "stringArray", frame_string);
	buf_puts(&v->buf, "},\n");
}

static void put_meta(struct viewers *v)
{
	buf_puts(&v->buf, "\"meta\":{\"preprocessedProfileVersion\":57,"
		 "\"version\":30,\"interval\":1,\"startTime\":0,"
		 "\"processType\":0,\"stackwalk\":1,\"symbolicated\":true,"
		 "\"markerSchema\":[],\"categories\":[");
	for (size_t i = 0; i < FLAME_KINDS; i++)
		buf_fmt(&v->buf, "%s{\"name\":\"%s\",\"color\":\"%s\","
			"\"subcategories\":[\"Other\"]}", i ? "," : "",
			flame_kind_names[i], colors[i]);
	put_title(v, "],\"product\":");
	buf_puts(&v->buf, "},\n\"libs\":[],\n");
}

/* The length column of a table of `n` rows. */
static void put_table(struct viewers *v, const char *name, uint64_t n)
{
	buf_fmt(&v->buf, ",\n\"%s\":{\"length\":%llu", name,
		(unsigned long long)n);
}

/* A sample without stack and weight ends the time line. */
static void put_timeline(struct viewers *v)
{
	v->part = v->o->unit->firefox_part;
	put_table(v, "samples", v->stacks + 1);
	buf_fmt(&v->buf, ",\"weightType\":\"%s\",", v->o->unit->firefox);
	put_samples(v, "stack", NULL, sample_place, "null");
	buf_puts(&v->buf, ",\n");
	put_samples(v, "timeDeltas", "0", sample_weight, NULL);
	buf_puts(&v->buf, ",\n");
	put_samples(v, "weight", NULL, sample_weight, "0");
	buf_putc(&v->buf, '}');
}

static void put_thread(struct viewers *v)
{
	uint64_t frames = v->samples.frames.n;

	put_title(v, "\"threads\":[{\"name\":");
	buf_puts(&v->buf, ",\"processType\":\"default\","
		 "\"processName\":\"sonde\",\"pid\":\"0\","
		 "\"tid\":0,\"isMainThread\":true,\"registerTime\":0,"
		 "\"unregisterTime\":null,\"processStartupTime\":0,"
		 "\"processShutdownTime\":null,\"pausedRanges\":[]");
	put_timeline(v);
	put_table(v, "stackTable", v->samples.places);
	buf_putc(&v->buf, ',');
	put_places(v, "prefix", place_prefix);
	buf_putc(&v->buf, ',');
	put_places(v, "frame", place_frame);
	buf_putc(&v->buf, '}');
	put_table(v, "frameTable", frames);
	buf_putc(&v->buf, ',');
	put_frames(v, "func", frame_number);
	buf_putc(&v->buf, ',');
	put_frames(v, "category", frame_kind);
	put_columns(v, "address", "-1");
	put_columns(v, "inlineDepth subcategory", "0");
	put_columns(v, "nativeSymbol innerWindowID line column", "null");
	buf_putc(&v->buf, '}');
	put_table(v, "funcTable", frames);
	buf_putc(&v->buf, ',');
	put_frames(v, "name", frame_number);
	put_columns(v, "isJS relevantForJS", "false");
	put_columns(v, "resource", "-1");
	put_columns(v, "fileName lineNumber columnNumber", "null");
	buf_putc(&v->buf, '}');
	put_table(v, "markers", 0);
	buf_puts(&v->buf, ",\"data\":[],\"name\":[],\"startTime\":[],"
		 "\"endTime\":[],\"phase\":[],\"category\":[]}");
	put_table(v, "resourceTable", 0);
	buf_puts(&v->buf, ",\"type\":[],\"lib\":[],\"name\":[],\"host\":[]}");
	put_table(v, "nativeSymbols", 0);
	buf_puts(&v->buf, ",\"libIndex\":[],\"address\":[],\"name\":[],"
		 "\"functionSize\":[]}}]}\n");
}

int viewers_write(FILE *out, struct flame *f, const struct graph_options *o)
{
	struct viewers v = { .out = out, .o = o, .part = 1 };

	v.samples.flame = f;
	v.samples.arg = &v;
	put_speedscope(&v);
	put_meta(&v);
	put_thread(&v);
	if (!v.err)
		v.err = out_buf(out, &v.buf, 0);
	samples_free(&v.samples);
	buf_free(&v.buf);
	return v.err;
}
