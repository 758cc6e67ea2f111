/* name_options - where the names of functions come from, as a user says. */
#ifndef SYM_NAME_OPTIONS_H
#define SYM_NAME_OPTIONS_H

#include <stdbool.h>

/* Texts may be NULL, and stay the caller's. */
struct name_options {
	const char *symfs;		/* a folder with files not stripped */
	const char *debug_dir;		/* one with .build-id/12/3456.debug */
	const char *kernel;		/* a list of its symbols */
	bool mangled;			/* as the compilers encode them */
};

#endif
