/* own_frames - what of a kernel stack is the tracing itself. */
#include "trace/own_frames.h"

#include <string.h>

/* bpf_prog_ and 16 digits, its tag. */
static bool is_program(const struct frame *f)
{
	static const char start[] = "bpf_prog_";
	const char *tag = f->name + sizeof(start) - 1;

	return !strncmp(f->name, start, sizeof(start) - 1) &&
	       strspn(tag, "0123456789abcdef") == 16;
}

/* A kernel may keep the names of programs and trampolines to itself (sysctl
 * net.core.bpf_jit_kallsyms). */
static bool is_bare_address(const struct frame *f)
{
	return !strncmp(f->name, "0x", 2);
}

/* What calls a program at a raw tracepoint, in fentry and fexit. */
static bool is_runner(const struct frame *f)
{
	static const char *const starts[] = {
		"bpf_trace_run", "__bpf_trace_", "__traceiter_",
		"bpf_trampoline_", "perf_trace_",
	};

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (!strncmp(f->name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* A probe of such a function has that function on top, and no program above
 * it. */
size_t own_frames_of_probes(const struct frame *f, size_t n, bool events)
{
	size_t i = 0, own;

	while (i < n && (is_program(&f[i]) || is_bare_address(&f[i])))
		i++;
	own = i && is_program(f) ? i : 0;
	while ((i || events) && i < n && is_runner(&f[i]))
		own = ++i;
	return own < n ? own : 0;
}

size_t own_frames_of_scheduler(const struct frame *frames, size_t nframes)
{
	static const char starts[][10] = {	/* behind underscores */
		"bpf_prog", "bpf_trace", "traceiter", "perf_", "trace_call",
		"prepare_t", "0x",
	};
	size_t n = nframes < 12 ? nframes : 12, last = 0;

	for (size_t i = 0; i < n; i++) {
		const char *name = frames[i].name;

		name += strspn(name, "_");
		for (size_t k = 0; k < sizeof(starts) / sizeof(*starts); k++)
			if (!strncmp(name, starts[k], strlen(starts[k])))
				last = i + 1;
	}
	if (last >= nframes)
		return 0;
	/* Old kernels give the innermost function twice, equal names being
	 * one pointer. */
	frames += last;
	return last + (last + 1 < nframes &&
		       frames[0].name == frames[1].name);
}
