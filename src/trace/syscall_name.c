/* syscall_name - the names that kernels gave to the function of a syscall.
 *
 * Until Linux 4.17 it was sys_NAME (and SyS_NAME, the same code). Since then
 * each architecture that has wrappers calls them by its own prefix: x86 from
 * 4.17, arm64 from 4.19, s390 from 5.x, riscv from 6.6. Inside the wrapper are
 * __se_sys_NAME, which takes each argument as a long, and __do_sys_NAME, which
 * the compiler mostly leaves no trace of. */
#include "trace/syscall_name.h"

#include <string.h>

/* In order of preference. A 64-bit x86 kernel has both of x86's. */
static const struct {
	const char *prefix;
	bool wrapper;
} forms[] = {
	{ "__x64_sys_", true },
	{ "__arm64_sys_", true },
	{ "__riscv_sys_", true },
	{ "__s390x_sys_", true },
	{ "sys_", false },
	{ "SyS_", false },
	{ "__se_sys_", false },
	{ "__do_sys_", false },
	{ "__ia32_sys_", true },
};

enum { FORMS = sizeof(forms) / sizeof(*forms), SYSCALL_NAME_MAX = 64 };

/* The form of a function's name, -1 = none; a syscall's name must follow. */
static int form_of(const char *function)
{
	for (int i = 0; i < FORMS; i++) {
		size_t n = strlen(forms[i].prefix);

		if (!strncmp(function, forms[i].prefix, n) && function[n])
			return i;
	}
	return -1;
}

const char *syscall_of(const char *function)
{
	int form = form_of(function);

	return form < 0 ? NULL : function + strlen(forms[form].prefix);
}

bool syscall_is_wrapper(const char *function)
{
	int form = form_of(function);

	return form >= 0 && forms[form].wrapper;
}

/* Names of syscalls, and patterns of them. */
static bool is_possible(const char *name)
{
	static const char chars[] = "abcdefghijklmnopqrstuvwxyz0123456789_*?[]";
	size_t n = strspn(name, chars);

	return n && n <= SYSCALL_NAME_MAX && !name[n];
}

bool syscall_candidate(const char *name, size_t i, struct buf *to)
{
	int own = form_of(name);
	const char *base = own < 0 ? name : syscall_of(name);

	buf_reset(to);
	if (!i) {
		buf_puts(to, name);
		return true;
	}
	i--;
	if (own >= 0 && i >= (size_t)own)	/* it has been the first */
		i++;
	if (i >= FORMS || !is_possible(base))
		return false;
	buf_puts(to, forms[i].prefix);
	buf_puts(to, base);
	return true;
}
