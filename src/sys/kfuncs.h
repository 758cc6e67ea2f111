/* kfuncs - the functions of the kernel that can be probed. */
#ifndef SYS_KFUNCS_H
#define SYS_KFUNCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kfunc {
	const char *name;	/* raw; valid during the call */
	const char *module;	/* NULL = the kernel */
	uint64_t addr;		/* where it starts; 0 = unknown, as always from
				 * tracefs */
};

/* Where a list came from, and what was left out of it. */
enum kfuncs_source {
	KFUNCS_NONE,
	KFUNCS_TRACEFS,		/* tracefs/available_filter_functions */
	KFUNCS_KALLSYMS,	/* /proc/kallsyms: some cannot be probed */
};
struct kfuncs_facts {
	enum kfuncs_source source;
	bool has_blacklist;	/* debugfs/kprobes/blacklist was readable; else
				 * what it lists is left out of kallsyms only as
				 * far as its sections are known */
	size_t listed;		/* handed to `take` */
	size_t blacklisted;	/* left out, for kprobes would crash there */
};

/* Hand every function to `take`, in the kernel's order; a name may come more
 * than once. What `take` returns other than 0 ends it and is returned. The
 * kernel makes 60,000 lines in some 30 ms. A list from kallsyms (also for users
 * who may not read tracefs) comes with a notice. Else 0 or -errno,
 * unreported. */
typedef int kfuncs_take(void *arg, const struct kfunc *f);
int kfuncs_each(kfuncs_take *take, void *arg, struct kfuncs_facts *facts);

/* Why one cannot be probed. A name may be there, but have been inlined at some
 * places: that nobody can tell. */
enum kfunc_verdict {
	KFUNC_GOOD,
	KFUNC_UNKNOWN,		/* no function of that name: inlined, perhaps,
				 * or renamed (f.isra.0) by the compiler */
	KFUNC_BLACKLISTED,	/* the kernel's list of what kprobes must not */
	KFUNC_NOTRACE,		/* there, but not in tracefs' list */
};
enum kfunc_verdict kfunc_judge(const char *name);

/* The same as kfuncs_each() of lists read from descriptors, from where they
 * stand; those stay the caller's. blacklist_fd -1 = none. For tests. */
int kfuncs_each_in(int list_fd, enum kfuncs_source source, int blacklist_fd,
		   kfuncs_take *take, void *arg, struct kfuncs_facts *facts);

#endif
