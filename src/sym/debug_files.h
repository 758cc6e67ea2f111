/* debug_files - the files that have the symbols of stripped ones. */
#ifndef SYM_DEBUG_FILES_H
#define SYM_DEBUG_FILES_H

#include <stdbool.h>
#include <sys/stat.h>

#include "sym/build_id.h"
#include "sym/name_options.h"

struct elf;

/* Where they may lie is said once for all of sonde: below o->symfs, and in
 * o->debug_dir (NULL = /usr/lib/debug), both of which are our own folders. 0 or
 * -errno, reported; debug_files_close() in any case, which who has closed
 * what names stacks, or sets probes, has done. */
int debug_files_open(const struct name_options *o);
void debug_files_close(void);

/* Give a file that has no .symtab the one that was taken out of it, before its
 * table is loaded: found in the folders above, or in `root` (a folder, an
 * O_PATH descriptor will do; -1: o->symfs, or our own "/"), where the file has
 * this path. False: it has its own, or there is none. */
bool debug_files_attach(struct elf *e, const char *path, int root);

/* The same of a file in our own root folder; fd is one of its. */
bool debug_files_attach_own(struct elf *e, int fd);

/* Note a file that was found, and why it is not used: not it by its build-id,
 * or another reason. debug_files_report() names the first of them. */
void debug_files_refused(int fd, const char *why);
void debug_files_other(int fd, const struct build_id *id,
		       const struct build_id *wanted, const char *of);
void debug_files_report(void);

/* The places one by one, for who knows a build-id and not the file. Each calls
 * fn, until it returns true, with a file that may be it: fd is taken over by
 * fn; `where` is the folder that was given. */
typedef bool debug_files_fn(void *arg, int fd, const struct stat *st,
			    const char *where);
bool debug_files_by_path(const char *path, debug_files_fn *fn, void *arg);
bool debug_files_in_tree(const struct build_id *id, debug_files_fn *fn,
			 void *arg);
bool debug_files_in_dir(const struct build_id *id, debug_files_fn *fn,
			void *arg);

/* What was given as o->symfs. */
const char *debug_files_symfs(void);

#endif
