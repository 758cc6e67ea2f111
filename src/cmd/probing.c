/* probing - what the commands of probes share: options, specs, life. */
#include "cmd/probing.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/log.h"
#include "events.h"
#include "sym/debug_files.h"
#include "sys/advice.h"
#include "sys/feature.h"
#include "sys/host.h"

static int usage_error(const char *command, const char *what, const char *why)
{
	log_error("%s: %s: %s", command, what, why);
	return -EINVAL;
}

int probing_cpu(const char *command, uint64_t cpu)
{
	struct num_list cpus = { 0 };
	bool found = cpu == UINT64_MAX || host_cpus_online(&cpus);

	for (size_t i = 0; i < cpus.n; i++)
		found |= cpus.v[i] == cpu;
	vec_free(&cpus);
	if (found)
		return 0;
	log_error("%s: CPU %llu: not online", command,
		  (unsigned long long)cpu);
	return -EINVAL;
}

int probing_wanted(const char *command, int nargs, const char *what)
{
	if (nargs)
		return 0;
	log_error("%s: %s is missing", command, what);
	log_hint("sonde help %s", command);
	return -EINVAL;
}

int probing_no_command(const char *command, char **args, int nargs)
{
	for (int i = 1; i < nargs; i++) {
		struct stat st;

		if (!strchr(args[i], '/') || stat(args[i], &st) ||
		    !S_ISREG(st.st_mode) || access(args[i], X_OK))
			continue;
		log_error("%s: %s: a program, no probe", command, args[i]);
		log_hint("a command that is to be traced goes behind --");
		return -EINVAL;
	}
	return 0;
}

int probing_parse(struct probing *p, const struct probing_options *o,
		  const struct spec_rules *rules, char **args, int nargs)
{
	struct watch *w = &p->watch;
	int err = probing_no_command(rules->command, args, nargs);

	log_set_verbose(o->verbose);
	w->command = rules->command;
	w->seconds = w->seconds ? w->seconds : o->duration;
	w->filter.pids = o->pids;
	w->filter.tids = o->tids;
	w->filter.comm = o->comm;
	w->filter.cgroup = o->cgroup;
	w->filter.cpu = o->cpu == UINT64_MAX ? -1 : (int)o->cpu;
	w->filter.with_self = o->with_self;
	if (w->argv && (o->pids.n || o->tids.n))
		return usage_error(w->command, "-- COMMAND",
				   "excludes a pid or thread");
	if (probing_cpu(w->command, o->cpu))
		return -EINVAL;
	if (o->comm && strlen(o->comm) >= COMM_SIZE)
		return usage_error(w->command, "--comm", "a thread's name has "
				   "at most 15 characters");
	for (int i = 0; !err && i < nargs; i++)
		err = specs_parse(args[i], rules, &p->specs);
	return err;
}

int probing_open(struct probing *p)
{
	const struct num_list *pids = &p->watch.filter.pids;
	uint32_t pid = pids->n ? (uint32_t)pids->v[0] : 0;
	int err = watch_open(&p->watch);

	if (err)
		return err;
	if (!feature_has(FEATURE_BPF)) {
		err = feature_error(FEATURE_BPF);
		log_error("%s: bpf(2) cannot be used: %s", p->watch.command,
			  advice_reason(OP_BPF, err));
		advice(OP_BPF, err);
		return err;
	}
	err = points_find(&p->points, p->watch.command, &p->specs, pid);
	if (pids->n > 1)		/* the probes are for all of them */
		p->points.pid = 0;
	return err;
}

bool probing_filters(const struct probing *p)
{
	const struct filter *f = &p->watch.filter;

	if (f->pids.n || f->tids.n || f->comm || f->cgroup || f->cpu >= 0 ||
	    f->root)
		return true;
	for (size_t i = 0; i < p->points.v.n; i++)
		if (!probe_is_user(p->points.v.v[i].kind))
			return true;
	return false;
}

int probing_load(struct probing *p)
{
	int err = watch_load(&p->watch);

	attach_init(&p->attach, p->watch.session, p->watch.command,
		    &p->points);
	return err;
}

void probing_say(FILE *out, size_t functions, char **args, int nargs)
{
	fprintf(out, "Tracing %zu functions for ", functions);
	for (int i = 0; i < nargs; i++) {
		struct buf text = { 0 };

		escape(&text, args[i], strlen(args[i]), ESCAPE_TEXT);
		fprintf(out, "%s\"%s\"", i ? " " : "", buf_str(&text));
		buf_free(&text);
	}
	fprintf(out, "... Hit Ctrl-C to end.\n");
}

void probing_detach(struct probing *p)
{
	attach_report_missed(&p->attach);
	attach_detach(&p->attach);
}

void probing_report(struct probing *p)
{
	attach_report(&p->attach);
	watch_report(&p->watch);
	debug_files_report();
}

void probing_close(struct probing *p)
{
	attach_close(&p->attach);
	watch_close(&p->watch);
	points_free(&p->points);
	specs_free(&p->specs);
	debug_files_close();
	vec_free(&p->watch.filter.pids);
	vec_free(&p->watch.filter.tids);
}
