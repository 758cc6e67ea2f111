/* profile - a profile that another command keeps. */
#ifndef CMD_PROFILE_H
#define CMD_PROFILE_H

#include <stdint.h>

/* What is different then; it also shows no live line. */
struct profile_keeper {
	uint64_t seconds;		/* that it takes, if no option says */
	void (*begun)(void *arg);	/* called when it samples */
	int (*locate)(const char *path);	/* see cmd/stack_output.h */
	void *arg;
};

/* Run it with profile's own options; the exit status. */
int profile_keep(const struct profile_keeper *keeper, int argc, char **argv);

#endif
