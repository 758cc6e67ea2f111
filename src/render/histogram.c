/* histogram - how values spread, a row for each power of two. */
#include "render/histogram.h"

#include <stdbool.h>

/* bcc's widths: of a bar, and the slot from which rows are wide. */
enum { BAR = 40, BAR_WIDE = BAR / 2, FIRST_WIDE = 32 };

/* n of most, as a part of width, rounded down; without overflow. */
static int bar_length(uint64_t n, uint64_t most, int width)
{
	while (most > UINT64_MAX / BAR) {
		n /= 2;
		most /= 2;
	}
	return (int)(n * (uint64_t)width / most);
}

static void print_row(FILE *out, int slot, uint64_t n, uint64_t most,
		      bool wide)
{
	unsigned long long low = slot ? 1ull << slot : 0;
	unsigned long long high = slot ? low + (low - 1) : 1;
	int width = wide ? BAR_WIDE : BAR;
	int length = bar_length(n, most, width);

	fprintf(out, wide ? "%20llu -> %-20llu : %-8llu |"
			  : "%10llu -> %-10llu : %-8llu |", low, high,
		(unsigned long long)n);
	for (int i = 0; i < width; i++)
		fputc(i < length ? '*' : ' ', out);
	fputs("|\n", out);
}

void histogram_print(FILE *out, const char *label,
		     const uint64_t slots[HISTOGRAM_SLOTS])
{
	uint64_t most = 0;
	int last = 0;
	bool wide;

	for (int i = 0; i < HISTOGRAM_SLOTS; i++) {
		if (slots[i])
			last = i;
		if (slots[i] > most)
			most = slots[i];
	}
	if (!most)
		return;
	wide = last >= FIRST_WIDE;
	fprintf(out, wide ? "               %-29s : count     distribution\n"
			  : "     %-19s : count     distribution\n", label);
	for (int i = 0; i <= last; i++)
		print_row(out, i, slots[i], most, wide);
}
