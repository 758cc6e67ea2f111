/* tp_print - how the kernel's own text shows a tracepoint's fields. */
#ifndef SYS_TP_PRINT_H
#define SYS_TP_PRINT_H

#include "sys/tp_format.h"

/* For tp_format.c: read what follows "print fmt: ", in f->text, once the fields
 * are known. 0 or -ENOMEM. */
int tp_print_parse(struct tp_format *f, char *text);

#endif
