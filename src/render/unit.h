/* unit - what the widths of a flame graph are, and the tones it has then. */
#ifndef RENDER_UNIT_H
#define RENDER_UNIT_H

#include <stddef.h>
#include <stdint.h>

struct unit {
	const char *name;	/* as tooltips say it: "1,234 us" */
	const char *colors;	/* its palette: on-CPU, off-CPU, memory */

	/* As other viewers call it. */
	const char *speedscope;
	const char *firefox;
	uint32_t firefox_part;	/* as many of ours are one there: 1, 1000 */
	const char *pprof_type, *pprof_unit;
};

extern const struct unit unit_samples, unit_us, unit_bytes;

/* By name, and the i-th from 0 on; NULL when there is none. */
const struct unit *unit_find(const char *name);
const struct unit *unit_at(size_t i);

#endif
