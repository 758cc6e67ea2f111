/* clock - the time of day, as commands print it. */
#include "cmd/clock.h"

#include <time.h>

void clock_print(FILE *out)
{
	time_t now = time(NULL);
	struct tm tm;
	char text[16];

	if (localtime_r(&now, &tm) &&
	    strftime(text, sizeof(text), "%H:%M:%S", &tm))
		fprintf(out, "%s\n", text);
}
