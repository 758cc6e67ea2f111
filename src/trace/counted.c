/* counted - the stacks behind hits of probes: set up, named, accounted for. */
#include "trace/counted.h"

#include <errno.h>

#include "base/log.h"
#include "sym/caller.h"
#include "sys/bpf.h"
#include "sys/feature.h"
#include "sys/fs.h"
#include "sys/host.h"

enum {
	TABLE_MIN = 1024,
	TABLE_MAX = 16384,
	SMALL_HOST = 256 << 20,		/* bytes of memory */
};

/* Within a 64th of the memory; what finds no place goes through the ring. */
static uint32_t table_size(uint64_t entry_bytes)
{
	uint64_t room = host_memory() / 64 / entry_bytes;
	uint32_t size = TABLE_MIN;

	while (size * 2 <= room && size < TABLE_MAX)
		size *= 2;
	return size;
}

static void set_sizes(struct counted *c, const struct counted_spec *spec,
		      uint32_t depth)
{
	struct session *s = c->session;

	session_value_size(s, "stacks", 8 * depth);
	session_entries(s, "stacks", spec->stack_entries ?
			(uint32_t)spec->stack_entries
			: table_size(8 * depth + 48));
	session_entries(s, "counts", spec->rows ? (uint32_t)spec->rows
						: 2 * table_size(256));
	if (host_memory() < SMALL_HOST) {
		session_entries(s, "gens", 4096);
		session_entries(s, "seen", 2048);
		session_entries(s, "events", 256 << 10);
	} else {
		session_entries(s, "events", 4 << 20);
	}
}

static uint64_t caller_of(const struct counted_spec *spec)
{
	if (!spec->user || !feature_has(FEATURE_READ_USER))
		return 0;
	if (spec->at_entry)
		return caller_is_linked() ? CALLER_IN_LR_NOW
					  : CALLER_ON_STACK_NOW;
	return 0;
}

int counted_open(struct counted *c, const char *command, struct session *s,
		 const struct counted_spec *spec)
{
	uint32_t depth = stacks_depth_limit();
	int err;

	*c = (struct counted){ .command = command, .session = s };
	stacks_init(&c->stacks, stacks_memory(), depth,
		    depth > STACK_DEPTH ? STACK_DEPTH : depth);
	session_const(s, "user", spec->user);
	session_const(s, "kernel", spec->kernel);
	session_const(s, "get_stack", feature_has(FEATURE_GET_STACK));
	session_const(s, "caller", caller_of(spec));
	set_sizes(c, spec, depth);
	err = naming_open(&c->naming, spec->names);
	if (err)
		return err;
	c->naming.at_entry = spec->at_entry;
	c->naming.probes = true;
	c->naming.events = spec->events;
	return 0;
}

void counted_follow(struct counted *c, struct loop *loop)
{
	int records = records_open(&c->records, c->naming.procs), images;

	if (!records)
		records = records_watch(&c->records, loop->epoll_fd);
	if (records)
		log_notice("cannot follow new mappings (%s): names in "
			   "processes that end meanwhile may be missing",
			   log_errno(records));
	images = session_attach_but(c->session, "exit");
	if (!images)
		return;
	c->naming.one_image = true;
	log_notice("cannot follow execs (%s): processes that exec meanwhile "
		   "are not named", images == -EOPNOTSUPP ?
		   "Linux 4.17 is needed" : log_errno(images));
}

void counted_drain(struct counted *c)
{
	records_read(&c->records);
}

void counted_take(struct counted *c, const void *data, size_t len)
{
	const struct seen_event *seen = data;

	if (len >= sizeof(*seen) && seen->type == EVENT_SEEN)
		naming_seen(&c->naming, seen);
	else
		stacks_take(&c->stacks, data, len);
}

int counted_each(struct counted *c,
		 int (*fn)(void *arg, const struct stack *stack), void *arg)
{
	return stacks_each(&c->stacks, c->session, fn, arg);
}

uint64_t counted_hits(struct counted *c)
{
	int fd = session_map(c->session, "counters");
	const uint64_t *n = c->counters;

	c->counters_bad = false;
	for (uint32_t i = 0; i < COUNTER_MAX; i++)
		if (bpf_map_lookup(fd, &i, &c->counters[i]))
			c->counters_bad = true;
	return n[COUNTER_SAMPLES] - n[COUNTER_FILTERED] - n[COUNTER_OUTSIDE];
}

static uint64_t records_lost(const struct counted *c)
{
	return channel_lost(session_channel(c->session),
			    c->counters[COUNTER_EVENT_LOST]);
}

void counted_report(struct counted *c)
{
	const uint64_t *n = c->counters;

	log_count(n[COUNTER_NO_SLOT],
		    "hits lost, the table of counts is full "
		    "(--hash-storage-size)");
	log_count(c->stacks.missed, "hits without one of their stacks, the "
		    "stack table is full");
	log_count(c->stacks.lost, "hits lost, too many different stacks "
		    "for the memory of this host");
	log_count(c->stacks.cut, "hits with a stack deeper than the limit "
		    "(sysctl kernel.perf_event_max_stack)");
	log_count(stacks_records_lost(&c->stacks, records_lost(c),
				      n[COUNTER_NO_SLOT]),
		    "records lost, the ring to user space was full");
	log_count(n[COUNTER_UNTOLD], "hits in processes beyond the number "
		    "that can be told apart, not named");
	log_count(n[COUNTER_IMAGE_LOST], "execs or exits not noted, names "
		    "of those processes may be wrong");
	log_count(c->records.lost, "records of execs and mappings lost, "
		    "some names may be missing or wrong");
	log_count(n[COUNTER_OUTSIDE], "hits of tasks outside this pid "
		    "namespace, left out");
	if (c->counters_bad)
		log_notice("the counters of what was lost cannot be read: "
			   "more may be lost than is told");
	naming_report(&c->naming);
}

void counted_close(struct counted *c)
{
	records_close(&c->records);
	naming_close(&c->naming);
	stacks_free(&c->stacks);
}
