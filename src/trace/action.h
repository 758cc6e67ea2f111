/* action - the filter and the format behind a probe, as bcc's trace has them.
 *
 *   action = [signature] [ "(" filter ")" ] [ "format" { "," expression } ]
 *
 * Expressions are those of C on integers, with its types and conversions; what
 * a value's type is, the hit's own knowledge says. */
#ifndef TRACE_ACTION_H
#define TRACE_ACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"

enum expr_op {
	EXPR_NUMBER, EXPR_VALUE, EXPR_STRCMP,
	EXPR_NOT, EXPR_INVERT, EXPR_NEGATE, EXPR_CAST,
	EXPR_OR, EXPR_AND, EXPR_BIT_OR, EXPR_BIT_XOR, EXPR_BIT_AND,
	EXPR_EQ, EXPR_NE, EXPR_LT, EXPR_LE, EXPR_GT, EXPR_GE,
	EXPR_LEFT, EXPR_RIGHT, EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_DIV,
	EXPR_MOD,
};

/* An integer as C has it: `v` is extended from `size` bytes (1, 2, 4, 8) to
 * 64 bits. */
struct number {
	uint64_t v;
	uint8_t size;
	bool is_signed;
};

struct number number_as(uint64_t v, uint8_t size, bool is_signed);

/* The type of what two are calculated or compared as. */
struct number number_common(const struct number *a, const struct number *b);

/* A node, by its number in action.exprs. It is small, for it is handed over by
 * value. */
struct expr {
	uint8_t op;			/* enum expr_op */
	bool closed;			/* it stands in parentheses */
	uint8_t size;			/* EXPR_NUMBER, EXPR_CAST: the type */
	bool is_signed;
	uint16_t left, right;		/* nodes; EXPR_VALUE, EXPR_STRCMP:
					 * left is one of action.values */
	uint64_t v;			/* EXPR_NUMBER; EXPR_STRCMP: where its
					 * text is in action.text */
};

/* What an expression takes from a hit. */
enum value_source {
	VALUE_ARG,			/* argument `number`, 1 is the first */
	VALUE_RETVAL,
	VALUE_FIELD,			/* a tracepoint's, by its name */
	VALUE_TID, VALUE_TGID, VALUE_CPU, VALUE_UID, VALUE_GID, VALUE_COMM,
};
struct action_value {
	uint8_t source;			/* enum value_source */
	uint8_t number;
	bool is_string;			/* that it points to is wanted */
	bool of_user;			/* ... and is a program's */
	uint32_t name;			/* in action.text */
	uint32_t at;			/* where it stands in the argument */
};

struct action_piece {
	char conversion;		/* d u x p s c K U, 0 = text alone */
	uint8_t size;			/* of d, u, x: bytes */
	bool left, zeros;
	uint8_t width;
	uint16_t expr;
	uint32_t text;			/* in front of it, in action.text */
};

enum { ACTION_NONE = UINT16_MAX };

struct action {
	const char *command, *arg;	/* for messages */
	VEC(struct expr) exprs;
	VEC(struct action_value) values;
	VEC(struct action_piece) pieces;
	struct buf text;		/* strings, each with its NUL */
	uint16_t filter;		/* a node, or ACTION_NONE */
	bool has_format;
	size_t longest;			/* text that a string is compared to */
};

/* How long the probes at the start of an argument are: up to their action, if
 * they have one. */
size_t action_find(const char *arg);

/* Read what begins at `at` in the argument, which stays the caller's. 0,
 * -EINVAL after one error with the position marked, or -ENOMEM after one.
 * action_free() always. */
int action_parse(struct action *a, const char *command, const char *arg,
		 size_t at);
void action_free(struct action *a);

bool action_converts(const struct action *a, char conversion);

/* What one hit has. */
struct action_hit {
	void *arg;
	/* 0; -ENODATA: it cannot be had. */
	int (*number)(void *arg, const struct action_value *value,
		      struct number *out);
	/* A string's bytes, without a NUL; there may be more of them. */
	int (*string)(void *arg, const struct action_value *value,
		      const char **s, size_t *len);
	/* Append a string as it is shown, or the name of an address. */
	void (*show)(void *arg, const struct action_value *value,
		     struct buf *to);
	void (*name)(void *arg, char conversion, uint64_t address,
		     struct buf *to);
};

/* The value of an expression; -ENODATA when it depends on what cannot be had,
 * or divides by zero. */
int action_eval(const struct action *a, unsigned expr,
		const struct action_hit *hit, struct number *out);

/* Append what the format says; returns how many values could not be had, and
 * are shown as "?". */
size_t action_print(const struct action *a, const struct action_hit *hit,
		    struct buf *to);

#endif
