/* startup - holds a new command while its libraries are mapped. */
#ifndef TRACE_STARTUP_H
#define TRACE_STARTUP_H

#include <stdbool.h>

/* Set the first group, zero the rest. */
struct startup {
	int pid;
	void (*mapped)(void *arg);	/* it has mapped code, none of which
					 * ran yet; it stands still */
	void *arg;

	bool held, ending;
};

/* A command that waits for its exec is to stop there. 0 or -errno. */
int startup_hold(struct startup *s);

/* It execs. 0: it runs; 1: it has ended, with this status of waitpid(2);
 * -errno: it could not be followed, and runs. */
int startup_follow(struct startup *s, int *status);

/* It stopped later, by this status: a signal goes on to it, another exec is
 * followed as the first. As startup_follow(). */
int startup_stopped(struct startup *s, int *status);

/* It is to stop no more. */
void startup_end(struct startup *s);

#endif
