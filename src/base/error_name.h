/* error_name - the names of error numbers, as programs write them. */
#ifndef BASE_ERROR_NAME_H
#define BASE_ERROR_NAME_H

/* "ENOENT" for 2; also what only the kernel itself sees ("ERESTARTSYS", 512).
 * NULL when there is none. */
const char *error_name(unsigned number);

#endif
