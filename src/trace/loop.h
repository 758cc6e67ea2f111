/* loop - waits while a trace runs: events, signals, the end. */
#ifndef TRACE_LOOP_H
#define TRACE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/* Why a trace ended. */
enum loop_end { LOOP_RUNNING, LOOP_TIME, LOOP_SIGNAL, LOOP_CHILD, LOOP_ASKED };

struct loop {
	int epoll_fd;		/* add what should wake the loop */
	int signal_fd;
	uint64_t start, deadline;	/* CLOCK_MONOTONIC, ns; 0 = none */
	int child;		/* pid whose end ends the loop; 0 = none */
	int child_status;	/* of waitpid(), once it ended; 0 = unknown */
	void (*stopped)(void *arg, int status);	/* it is traced, and stops */
	void *arg;
	enum loop_end end;
};

/* Take over SIGINT, SIGTERM, SIGHUP and SIGCHLD. The first of the former three
 * ends the loop, one after loop_finish() the process. 0 or -errno;
 * loop_close() gives the signals back. */
int loop_open(struct loop *l);
void loop_close(struct loop *l);

/* In a child between fork and exec: signals as they were before. */
void loop_child_signals(void);

/* The waiting is over: from here on a signal kills, for results may take long
 * to make and to write. */
void loop_finish(struct loop *l);

/* Sleep until something watched is readable, at most `ms`, and not beyond the
 * deadline. Sets l->end when it is time to stop. 0 or -errno. */
int loop_wait(struct loop *l, int ms);

#endif
