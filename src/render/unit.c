/* unit - what the widths of a flame graph are, and the tones it has then. */
#include "render/unit.h"

#include <string.h>

const struct unit unit_samples = {
	"samples", "hot", "none", "samples", 1, "samples", "count",
};
const struct unit unit_us = {
	"us", "offcpu", "microseconds", "tracing-ms", 1000, "off-cpu",
	"microseconds",
};
const struct unit unit_bytes = {
	"bytes", "mem", "bytes", "bytes", 1, "space", "bytes",
};

const struct unit *unit_at(size_t i)
{
	static const struct unit *const units[] = {
		&unit_samples, &unit_us, &unit_bytes,
	};

	return i < sizeof(units) / sizeof(*units) ? units[i] : NULL;
}

const struct unit *unit_find(const char *name)
{
	const struct unit *u;

	for (size_t i = 0; (u = unit_at(i)); i++)
		if (!strcmp(u->name, name))
			break;
	return u;
}
