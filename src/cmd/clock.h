/* clock - the time of day, as commands print it. */
#ifndef CMD_CLOCK_H
#define CMD_CLOCK_H

#include <stdio.h>

/* A line "HH:MM:SS". */
void clock_print(FILE *out);

#endif
