/* tp_format - tracefs's description of a tracepoint's record, parsed. */
#ifndef SYS_TP_FORMAT_H
#define SYS_TP_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum tp_kind {
	TP_BAD,		/* its line says no sane offset and size; these are 0,
			 * or of a word that is none */
	TP_INT,		/* of 1, 2, 4 or 8 bytes */
	TP_POINTER,
	TP_STRING,	/* characters, up to a NUL or the end */
	TP_ARRAY,	/* integers or pointers of elem_size */
	TP_BYTES,	/* anything else: a struct */
};

/* Where the data is: in the field itself, or where the 32-bit word in it says:
 * its low 16 bits are an offset from the record's start (__data_loc) or from
 * the end of the word (__rel_loc), its high 16 bits the length in bytes. */
enum tp_where { TP_FIXED, TP_DATA_LOC, TP_REL_LOC };

/* How the kernel's own text shows the value. */
enum tp_show {
	TP_DECIMAL, TP_HEX,
	TP_SYMBOL,	/* a kernel address, by its symbol */
	TP_DEVICE,	/* dev_t: "major,minor" */
	TP_ENUM,	/* by a name for each value */
	TP_FLAGS,	/* by a name for each bit */
};

/* Strings belong to the format. */
struct tp_field {
	const char *name;
	const char *type;	/* of one element, as C has it: "char *" */
	uint32_t offset, size;	/* bytes; of the word when it is not fixed */
	uint32_t count;		/* elements of a fixed array; 0: up to the
				 * record's end, or no array */
	uint32_t elem_size;	/* of an array, 0 = not known */
	bool is_signed;
	enum tp_kind kind;
	enum tp_where where;
	enum tp_show show;
	/* TP_ENUM, TP_FLAGS: the names are for (value & mask) */
	uint64_t mask;
	const char *delimiter;	/* between flags */
	const char *zero;	/* for 0, NULL = none */
	size_t first, names;	/* in tp_format.names */
};

struct tp_name {
	uint64_t value;
	const char *text;
};

struct tp_format {
	const char *name;	/* "" when it does not say */
	int id;			/* -1 when it does not say */
	struct tp_field *fields;	/* the first ncommon: every record's */
	size_t nfields, fields_cap, ncommon;
	struct tp_name *names;
	size_t nnames, names_cap;
	char *text;
};

/* Parse a `format` file. What it does not understand it leaves out; 0, -E2BIG
 * beyond 256 KiB, or -ENOMEM. tp_format_free() in any case. */
int tp_format_parse(const char *text, size_t len, struct tp_format *out);
void tp_format_free(struct tp_format *f);

/* The field of that name, or NULL. */
const struct tp_field *tp_field_find(const struct tp_format *f,
				     const char *name);

/* Append the value of an integer or pointer, or of an array's element, as
 * field->show says: the name or names for it, any byte but NUL in them. A
 * TP_SYMBOL is a number here: names of addresses are another's knowledge. Bits
 * of `value` beyond the field's size do not matter. */
void tp_value_print(const struct tp_format *f, const struct tp_field *field,
		    uint64_t value, struct buf *to);

#endif
