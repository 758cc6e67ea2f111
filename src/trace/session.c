/* session - the life of a trace: maps, load, attach, events, detach. */
#include "trace/session.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "asm/link.h"
#include "asm/verifier.h"
#include "base/log.h"
#include "base/vec.h"
#include "events.h"
#include "sys/advice.h"
#include "sys/bpf.h"
#include "sys/btf.h"
#include "sys/feature.h"
#include "sys/host.h"
#include "sys/perf.h"
#include "sys/tracefs.h"

enum {
	MAPS = OBJECT_MAPS, PROGS = OBJECT_PROGS, CONSTS = OBJECT_CONSTS,
	OFFSETS = 16,
};

struct session {
	const char *command;
	const struct bpf_object *object;
	struct map_def maps[MAPS];	/* the object's, sized for the host */
	uint64_t consts[CONSTS];
	int map_fds[MAPS], prog_fds[PROGS], link_fds[PROGS];
	bool left_out[PROGS];
	bool has_other_way;
	VEC(int) copies;		/* of PROG_PROBE programs */
	struct {
		const char *path;
		uint32_t offset;
	} offsets[OFFSETS];
	int noffsets;
	struct btf *btf;	/* while programs are linked; NULL = closed */
	struct channel channel;
	bool has_channel;
};

struct session *session_new(const char *command,
			    const struct bpf_object *object)
{
	struct session *s = mem_zalloc(sizeof(*s));

	if (!s)
		return NULL;
	s->command = command;
	s->object = object;
	for (size_t i = 0; i < object_nmaps(object); i++)
		s->maps[i] = object->maps[i];
	memset(s->map_fds, -1, sizeof(s->map_fds));
	memset(s->prog_fds, -1, sizeof(s->prog_fds));
	memset(s->link_fds, -1, sizeof(s->link_fds));
	return s;
}

static void close_all(const int *fds, int n)
{
	for (int i = 0; i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

void session_free(struct session *s)
{
	if (!s)
		return;
	close_all(s->link_fds, PROGS);
	if (s->has_channel)
		channel_close(&s->channel);
	close_all(s->copies.v, (int)s->copies.n);
	vec_free(&s->copies);
	close_all(s->prog_fds, PROGS);
	close_all(s->map_fds, MAPS);
	mem_free(s);
}

void session_const(struct session *s, const char *name, uint64_t value)
{
	int i = object_const(s->object, name);

	if (i >= 0)
		s->consts[i] = value;
}

void session_entries(struct session *s, const char *map, uint32_t entries)
{
	int i = object_map(s->object, map);

	if (i >= 0)
		s->maps[i].max_entries = entries;
}

void session_type(struct session *s, const char *map, uint32_t type)
{
	int i = object_map(s->object, map);

	if (i >= 0)
		s->maps[i].type = type;
}

void session_value_size(struct session *s, const char *map, uint32_t bytes)
{
	int i = object_map(s->object, map);

	if (i >= 0)
		s->maps[i].value_size = bytes;
}

void session_key_size(struct session *s, const char *map, uint32_t bytes)
{
	int i = object_map(s->object, map);

	if (i >= 0)
		s->maps[i].key_size = bytes;
}

void session_offset(struct session *s, const char *path, uint32_t offset)
{
	if (s->noffsets == OFFSETS || offset > INT32_MAX)
		return;
	s->offsets[s->noffsets].path = path;
	s->offsets[s->noffsets++].offset = offset;
}

bool session_is_refused(int err)
{
	return err == -EPERM || err == -EACCES || err == -EINVAL ||
	       err == -ENOSYS || err == -EOPNOTSUPP;
}

/* How a failure is told. */
static void (*complaint(const struct session *s, int err))(const char *, ...)
{
	return s->has_other_way && session_is_refused(err) ? log_notice
							   : log_error;
}

static int map_create(struct session *s, int i)
{
	const struct map_def *m = &s->maps[i];

	if (m->type != MAP_EVENTS)
		return bpf_map_create(m->name, m->type == MAP_RECORD ?
				      BPF_MAP_TYPE_PERCPU_ARRAY : m->type,
				      m->key_size, m->value_size,
				      m->max_entries, m->flags);
	if (feature_has(FEATURE_RINGBUF))
		return bpf_map_create(m->name, BPF_MAP_TYPE_RINGBUF, 0, 0,
				      m->max_entries, m->flags);
	return bpf_map_create(m->name, BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4,
			      host_cpus_possible(), m->flags);
}

static int channel_start(struct session *s, int i)
{
	int err = channel_open(&s->channel, s->map_fds[i],
			       s->maps[i].max_entries,
			       feature_has(FEATURE_RINGBUF));

	if (err)
		complaint(s, err)("%s: cannot read the map '%s': %s",
				  s->command, s->maps[i].name, log_errno(err));
	s->has_channel = !err;
	return err;
}

static int maps_create(struct session *s)
{
	for (int i = 0; i < MAPS && s->maps[i].name; i++) {
		int fd, err = 0;

		if (s->maps[i].type == MAP_RECORD &&
		    feature_has(FEATURE_RINGBUF))
			continue;
		fd = map_create(s, i);
		if (fd < 0) {
			complaint(s, fd)("%s: cannot create the map '%s' of %u "
				      "entries: %s", s->command,
				      s->maps[i].name, s->maps[i].max_entries,
				      advice_reason(OP_BPF, fd));
			advice(OP_BPF, fd);
			return fd;
		}
		s->map_fds[i] = fd;
		if (s->maps[i].type == MAP_EVENTS)
			err = channel_start(s, i);
		if (err)
			return err;
	}
	return 0;
}

/* FIELD(): the kernel's word, else the tool's. */
static int offset_find(void *arg, const char *path)
{
	struct session *s = arg;
	struct btf_place place;
	int err = s->btf ? 0 : btf_open(NULL, &s->btf);

	if (!err)
		err = btf_field(s->btf, path, &place);
	if (!err)
		return place.offset > INT32_MAX ? -ERANGE : (int)place.offset;
	for (int i = 0; err == -EOPNOTSUPP && i < s->noffsets; i++)
		if (!strcmp(s->offsets[i].path, path))
			return (int)s->offsets[i].offset;
	return err;
}

static const uint32_t prog_types[] = {
	[PROG_PERF_EVENT] = BPF_PROG_TYPE_PERF_EVENT,
	[PROG_RAW_TRACEPOINT] = BPF_PROG_TYPE_RAW_TRACEPOINT,
	[PROG_TRACEPOINT] = BPF_PROG_TYPE_TRACEPOINT,
	[PROG_KPROBE] = BPF_PROG_TYPE_KPROBE,
	[PROG_FENTRY] = BPF_PROG_TYPE_TRACING,
	[PROG_FEXIT] = BPF_PROG_TYPE_TRACING,
};

static void report_lines(const struct session *s, int err,
			 struct buf *text)
{
	const char *line, *end;

	for (line = buf_str(text); *line; line = end + (*end == '\n')) {
		end = line + strcspn(line, "\n");
		complaint(s, err)("%.*s", (int)(end - line), line);
	}
}

/* What the kernel says of a program it refuses, by the array's own lines. */
static void report_rejected(const struct session *s, const struct prog_def *p,
			    const struct linked *l, struct buf *log,
			    int err)
{
	struct buf text = { 0 };

	complaint(s, err)("%s: the kernel refused the program '%s': %s",
		       s->command, p->name, advice_reason(OP_BPF, err));
	verifier_explain(buf_str(log), log->len, p, l, &text);
	report_lines(s, err, &text);
	buf_free(&text);
	advice(OP_BPF, err);
}

/* Link and load one program; a descriptor or -errno, reported. */
static int prog_make(struct session *s, int i, const struct prog_as *as)
{
	const struct prog_def *p = &s->object->progs[i];
	struct link_env env = {
		.ringbuf = feature_has(FEATURE_RINGBUF),
		.map_fds = s->map_fds, .maps = s->maps,
		.field = tracefs_field,
		.offset = offset_find, .offset_arg = s,
		.old_reads = !feature_has(FEATURE_READ_KERNEL),
		.kind = as->kind, .is_syscall = as->is_syscall,
		.nargs = as->nargs, .is_user = as->is_user, .is_go = as->is_go,
		.is_multi = as->attach_type == BPF_TRACE_KPROBE_MULTI,
		.cookie = as->cookie, .probe = as->probe,
	};
	struct bpf_load load = {
		.name = p->name, .type = prog_types[as->kind],
		.attach_type = as->attach_type, .btf_id = as->btf_id,
		.btf_fd = as->btf_fd,
	};
	struct linked linked = { 0 };
	struct buf text = { 0 };
	int caller = object_const(s->object, "caller"), fd;
	uint64_t consts[CONSTS];

	memcpy(consts, s->consts, sizeof(consts));
	if (as->no_caller && caller >= 0)
		consts[caller] = 0;
	env.consts = consts;
	fd = link_prog(s->object, p, &env, &linked, &text);

	if (fd == -ENOMEM) {
		log_error("%s: cannot link the program '%s': out of memory",
			  s->command, p->name);
	} else if (fd) {
		log_error("%s: cannot link the program '%s':", s->command,
			  p->name);
		report_lines(s, 0, &text);
	} else {
		buf_reset(&text);
		load.insns = linked.insns;
		load.n = linked.n;
		fd = bpf_prog_load(&load, &text);
		if (fd < 0)
			report_rejected(s, p, &linked, &text, fd);
	}
	linked_free(&linked);
	buf_free(&text);
	return fd;
}

static int prog_load(struct session *s, int i)
{
	struct prog_as as = { .kind = s->object->progs[i].kind };
	int fd = prog_make(s, i, &as);

	s->prog_fds[i] = fd;
	return fd < 0 ? fd : 0;
}

static bool prog_is_possible(const struct session *s, int i)
{
	return !s->left_out[i] && s->object->progs[i].kind != PROG_PROBE &&
	       (s->object->progs[i].kind != PROG_RAW_TRACEPOINT ||
		feature_has(FEATURE_RAW_TRACEPOINT));
}

int session_load(struct session *s)
{
	int err = maps_create(s);

	for (int i = 0; !err && s->object->progs[i].name; i++)
		if (prog_is_possible(s, i))
			err = prog_load(s, i);
	btf_close(s->btf);
	s->btf = NULL;
	return err;
}

/* One event is enough: the program runs whatever CPU the tracepoint is hit on
 * (kernel/events/core.c: it hangs on the tracepoint, not on the event). */
static int tracepoint_open(const char *tracepoint, int prog_fd)
{
	struct perf_event_attr attr;
	struct num_list cpus = { 0 };
	int id = tracefs_id(tracepoint), fd, err;

	if (id < 0)
		return id;
	err = host_cpus_online(&cpus);
	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = (uint64_t)id;
	attr.sample_period = 1;
	fd = err ? err : perf_open(&attr, -1, (int)cpus.v[0]);
	vec_free(&cpus);
	if (fd < 0)
		return fd;
	err = perf_set_bpf(fd, prog_fd);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int session_attach_as(enum prog_kind kind, const char *where, int prog_fd)
{
	return kind == PROG_TRACEPOINT ? tracepoint_open(where, prog_fd)
				       : bpf_raw_tracepoint_open(where,
								 prog_fd);
}

static int attach(struct session *s, int i)
{
	const struct prog_def *p = &s->object->progs[i];

	if (s->prog_fds[i] < 0)
		return -EOPNOTSUPP;
	if (s->link_fds[i] >= 0)
		return 0;
	s->link_fds[i] = session_attach_as(p->kind, p->attach,
					   s->prog_fds[i]);
	return s->link_fds[i] < 0 ? s->link_fds[i] : 0;
}

int session_attach_but(struct session *s, const char *prog)
{
	int err = 0;

	for (int i = 0; s->object->progs[i].name; i++) {
		int one = 0;

		if (s->object->progs[i].attach && !s->left_out[i] &&
		    strcmp(s->object->progs[i].name, prog) &&
		    s->link_fds[i] < 0)
			one = attach(s, i);
		if (one)
			err = one;
	}
	return err;
}

static int prog_index(const struct session *s, const char *name)
{
	for (int i = 0; s->object->progs[i].name; i++)
		if (!strcmp(s->object->progs[i].name, name))
			return i;
	return -ENOENT;
}

int session_attach(struct session *s)
{
	return session_attach_but(s, "");
}

int session_attach_one(struct session *s, const char *prog)
{
	int i = prog_index(s, prog);

	return i < 0 ? i : attach(s, i);
}

int session_prog_as(struct session *s, const char *name,
		    const struct prog_as *as)
{
	int i = prog_index(s, name), fd, *slot;

	if (i < 0)
		return i;
	fd = prog_make(s, i, as);
	btf_close(s->btf);
	s->btf = NULL;
	if (fd < 0)
		return fd;
	slot = vec_push(&s->copies);
	if (slot) {
		*slot = fd;
		return fd;
	}
	close(fd);
	log_error("%s: out of memory", s->command);
	return -ENOMEM;
}

static bool is_probe(const struct insn *in, const void *arg)
{
	(void)arg;
	return in->kind == INSN_PROBE;
}

bool session_asks_probe(const struct session *s, const char *name)
{
	int i = prog_index(s, name);

	return i >= 0 && insns_any(s->object->progs[i].insns,
				   prog_count(&s->object->progs[i]), is_probe,
				   NULL);
}

void session_other_way(struct session *s)
{
	s->has_other_way = true;
}

void session_without(struct session *s, const char *prog)
{
	int i = prog_index(s, prog);

	if (i >= 0)
		s->left_out[i] = true;
}

int session_map(const struct session *s, const char *name)
{
	int i = object_map(s->object, name);

	return i < 0 ? i : s->map_fds[i];
}

int session_prog(const struct session *s, const char *name)
{
	int i = prog_index(s, name);

	return i < 0 ? i : s->prog_fds[i];
}

uint64_t session_missed(const struct session *s, const char *prog)
{
	int fd = session_prog(s, prog);

	return fd < 0 ? 0 : bpf_prog_missed(fd);
}

void session_report_followed(const struct session *s)
{
	uint32_t key = COUNTER_CHILD_LOST;
	uint64_t lost = 0;

	bpf_map_lookup(session_map(s, "counters"), &key, &lost);
	log_count(lost, "descendants of the command not followed, too many at "
		  "a time");
	log_count(session_missed(s, "fork"), "forks not seen, their CPU was at "
		  "work on another: descendants of the command may be missing");
	log_count(session_missed(s, "exec") + session_missed(s, "exit"),
		  "execs or exits not seen, their CPU was at work on another: "
		  "those processes may be named wrongly");
}

struct channel *session_channel(struct session *s)
{
	return s->has_channel ? &s->channel : NULL;
}
