/* trial - which way of sampling this host allows, found out by trying. */
#include "trace/trial.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/log.h"
#include "trace/loop.h"
#include "trace/naming.h"
#include "trace/sampling.h"

enum { HZ = 99 };

/* `child` 0 = whatever runs. An event of ourselves waits for an exec that never
 * comes. */
static int try(const struct bpf_object *object, int child, struct loop *loop,
	       struct trial *t)
{
	struct sampling_spec spec = {
		.command = "doctor", .object = object,
		.user = true, .kernel = true, .seconds = 1,
		.sample = {
			.event = sample_event_find("doctor", "cpu-clock"),
			.frequency = HZ, .cpu = -1, .cgroup_fd = -1,
			.child = child,
		},
	};
	struct sampling s = { 0 };
	struct naming naming;
	int err = naming_open(&naming, &(struct name_options){ 0 });

	if (err)
		return err;
	err = sampling_open(&s, &spec, &naming, loop);
	t->refused = s.refused;
	if (!err) {
		t->has_kernel_stacks = s.in_kernel || s.chains.kernel;
		t->way = child ? TRIAL_OWN : s.in_kernel ? TRIAL_IN_KERNEL
							 : TRIAL_IN_RINGS;
	}
	sampling_close(&s);
	naming_close(&naming);
	return err;
}

struct trial trial_sampling(const struct bpf_object *object)
{
	struct trial t = { .way = TRIAL_NONE };
	struct loop loop = {	/* to be added to, never waited for */
		.epoll_fd = epoll_create1(EPOLL_CLOEXEC), .signal_fd = -1,
	};

	if (loop.epoll_fd < 0) {
		t.error = t.own_error = -errno;
		return t;
	}
	log_set_silent(true);
	t.error = try(object, 0, &loop, &t);
	if (t.error)
		t.own_error = try(object, (int)getpid(), &loop, &t);
	log_set_silent(false);
	close(loop.epoll_fd);
	return t;
}
