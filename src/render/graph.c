/* graph - a flame graph as a file, of the kind that its ending says. */
#include "render/graph.h"

#include <string.h>

#include "base/log.h"
#include "render/folded.h"
#include "render/pprof.h"
#include "render/svg.h"
#include "render/viewers.h"

struct graph_format {
	const char *ending;
	int (*write)(FILE *out, struct flame *f,
		     const struct graph_options *options);
	uint64_t exact;		/* counts up to it */
};

const struct graph_format graph_svg = { ".svg", svg_write, UINT64_MAX };
const struct graph_format graph_folded = {
	".folded", folded_write, UINT64_MAX
};
static const struct graph_format graph_json = {
	".json", viewers_write, (uint64_t)1 << 53
};
static const struct graph_format graph_pprof = {
	".pb", pprof_write, INT64_MAX
};

const struct graph_format *graph_format_of(const char *path)
{
	static const struct graph_format *const all[] = {
		&graph_svg, &graph_folded, &graph_json, &graph_pprof,
	};
	size_t n = strlen(path);

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		size_t len = strlen(all[i]->ending);

		if (n > len && !strcmp(path + n - len, all[i]->ending))
			return all[i];
	}
	return NULL;
}

int graph_write(const struct graph_format *format, FILE *out, struct flame *f,
		const struct graph_options *options)
{
	struct graph_options o = *options;

	if (!o.title)
		o.title = "Flame Graph";
	if (!o.unit)
		o.unit = &unit_samples;
	if (f->total > format->exact)
		log_notice("counts beyond %llu are not exact in a %s file",
			   (unsigned long long)format->exact, format->ending);
	return format->write(out, f, &o);
}
