/* trial - which way of sampling this host allows, found out by trying. */
#ifndef TRACE_TRIAL_H
#define TRACE_TRIAL_H

#include <stdbool.h>

struct bpf_object;

enum trial_way {
	TRIAL_NONE,
	TRIAL_IN_KERNEL,	/* counted by the program */
	TRIAL_IN_RINGS,		/* counted in user space, whatever runs */
	TRIAL_OWN,		/* the same, of own processes alone */
};

struct trial {
	enum trial_way way;
	bool has_kernel_stacks;
	int error;		/* of the try to sample whatever runs, -errno */
	int own_error;		/* of the try to sample oneself */
	int refused;		/* bpf(2) works, but not for these programs */
};

/* Sets all up as a profile with these programs does, starts nothing, and takes
 * it down. Silent. */
struct trial trial_sampling(const struct bpf_object *object);

#endif
