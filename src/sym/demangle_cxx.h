/* demangle_cxx - a mangled C++ name as a tree: from the reader to the writer.
 *
 * A C++ declaration is written from its middle outwards, so a name is read as a
 * whole before it is written. The parts are nodes in an array; a part that is
 * named again, by a substitution, is one node that is written again. Node 0 is
 * none.
 */
#ifndef SYM_DEMANGLE_CXX_H
#define SYM_DEMANGLE_CXX_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "sym/demangle_text.h"

enum {
	CXX_NODES = 8192,
	CXX_SUBS = 2048,	/* that substitutions can name */
	CXX_LONGEST = 32 << 10,	/* bytes of a mangled name */
	CXX_SCOPES = 256,
};

/* What follows is a, b and c of a node; + marks those that are nodes. */
enum cxx_kind {
	CXX_NAME,		/* offset in the input, length */
	CXX_TEXT,		/* number of cxx_texts, offset, length */
	CXX_BUILTIN,		/* the same: it can have literals */
	CXX_FLOAT,		/* offset and length of N in _FloatN */

	CXX_QUALIFIED,		/* +scope, +name; from here on, framed */
	CXX_LOCAL,		/* +function, +name */
	CXX_CTOR,		/* +name */
	CXX_DTOR,		/* +name */
	CXX_LITERAL_OPERATOR,	/* +name */
	CXX_VENDOR_OPERATOR,	/* +name */
	CXX_TAGGED,		/* +name, +tag */
	CXX_IN_MODULE,		/* +name, +MODULE */
	CXX_BINDING,		/* +LIST of names */
	CXX_DECLTYPE,		/* +expression */
	CXX_BRACES,		/* +type or 0, +LIST; to here */

	CXX_FUNCTION,		/* +result or 0, +LIST; has right halves */
	CXX_OF_THIS,		/* +function or name, enum cxx_mark, +more */
	CXX_MARKED,		/* +type, enum cxx_mark */
	CXX_VENDOR_MARKED,	/* +type, +name */
	CXX_VECTOR,		/* +type, +dimension */
	CXX_MEMBER,		/* +type, +class */
	CXX_ARRAY,		/* +type, +dimension or 0 */
	CXX_PARAM,		/* number of a template's parameter; to here */

	CXX_TEMPLATE,		/* +name, +LIST of arguments */
	CXX_LIST,		/* +item or 0, +LIST or 0 */
	CXX_ENCODING,		/* +name, +FUNCTION */
	CXX_DEFAULT_ARG,	/* +name, number */
	CXX_UNNAMED,		/* 0, number */
	CXX_LAMBDA,		/* +LIST of parameters, number, +LIST of HEAD */
	CXX_HEAD,		/* letter of what it is, +type or LIST or 0 */
	CXX_OPERATOR,		/* offset of its entry in cxx_operators */
	CXX_CONVERSION,		/* +type: a name */
	CXX_MODULE,		/* +name, +outer module or 0, partition? */
	CXX_SPECIAL,		/* +what, offset of its entry in cxx_specials,
				 * +second or number */
	CXX_VARIANT,		/* +function, offset, length */

	CXX_PACK,		/* +pattern */
	CXX_CAST,		/* +type; from here on, of expressions only */
	CXX_ARGUMENT,		/* number of a function's parameter; 0 = this */
	CXX_LITERAL,		/* +type, +NAME of digits, negative? */
	CXX_UNARY,		/* +operator, +operand, postfix? */
	CXX_BINARY,		/* +operator, +left, +right */
	CXX_TERNARY,		/* +operator, +first, +LIST of the others */
	CXX_CALL,		/* +name, +LIST */
	CXX_KINDS
};

enum cxx_mark {
	CXX_POINTER, CXX_REFERENCE, CXX_RVALUE, CXX_COMPLEX, CXX_IMAGINARY,
	CXX_CONST, CXX_VOLATILE, CXX_RESTRICT,
	CXX_NOEXCEPT, CXX_THROW, CXX_TRANSACTION,
};

enum cxx_text {
	CXX_ANONYMOUS, CXX_STRING, CXX_STD, CXX_BFLOAT, CXX_AUTO,
	CXX_DECLTYPE_AUTO,
	CXX_ABBREVIATED,	/* Sa and so on, in the order of "absiod" */
	CXX_LETTERS = CXX_ABBREVIATED + 6,	/* builtin types a to z */
	CXX_TWO_LETTERS = CXX_LETTERS + 26,	/* of cxx_two_letters */
	CXX_HALF = CXX_TWO_LETTERS + 3, CXX_NULLPTR = CXX_TWO_LETTERS + 7,
};

struct cxx_node {
	uint8_t kind;
	bool busy;		/* is being written */
	uint16_t a, b, c;
};

struct cxx_scope {
	uint16_t template, outer;	/* a node; a scope or 0 */
};

struct cxx {
	/* the reader */
	const char *in, *p, *end;	/* *end is the NUL */
	uint16_t nnodes, nsubs;
	uint16_t last_name;		/* constructors are called like it */
	unsigned depth, steps;		/* of both */
	bool failed, in_expression, in_conversion;
	bool old, maybe_old;		/* how it has names in expressions */

	/* the writer */
	struct demangle_text *t;
	unsigned pending;		/* marks that enclose what is written */
	unsigned params;		/* 1 + those that a lambda's head
					 * declares; 0 = in no lambda's list */
	uint16_t heads;			/* the LIST of these */
	uint16_t scope, nscopes, kept;	/* scopes up to `kept` stay */
	uint16_t template;		/* that is being written */
	int pack;			/* element of packs; -1 = all */

	struct cxx_scope scopes[CXX_SCOPES];
	uint16_t sub[CXX_SUBS];
	struct cxx_node node[CXX_NODES];
};

/* Operators and special names: entries of two letters that stand for it, one
 * that says what it goes with, and its text, each with a NUL; the last entry is
 * empty. */
extern const char cxx_operators[], cxx_specials[];
const char *cxx_entry(const char *table, const char *code);	/* or NULL */

/* Of operators, what they go with in an expression. */
enum cxx_syntax {
	CXX_OP_NAME = '-',	/* nothing: a name only */
	CXX_OP_ALONE = '0',	/* nothing */
	CXX_OP_PREFIX = '1',	/* an expression */
	CXX_OP_BINARY = '2',	/* two expressions */
	CXX_OP_GREATER = '>',	/* the same, in parentheses of its own */
	CXX_OP_INDEX = '[',	/* the same, the second in brackets */
	CXX_OP_CHOICE = '?',	/* three expressions */
	CXX_OP_GLOBAL = ':',	/* an expression, without parentheses */
	CXX_OP_STEP = '+',	/* an expression, behind it or in front of it */
	CXX_OP_TYPE = 't',	/* a type, in parentheses */
	CXX_OP_WHOLE = 'w',	/* an expression, in parentheses */
	CXX_OP_CAST = 'c',	/* an expression; a type is part of it */
	CXX_OP_NAMED_CAST = '<',	/* a type, an expression */
	CXX_OP_COUNT = '#',	/* a pack */
	CXX_OP_COUNT_ARGS = 'A',	/* arguments of a template */
	CXX_OP_CALL = '(',	/* an expression, a list */
	CXX_OP_MEMBER = '.',	/* an expression, a name */
	CXX_OP_NEW = 'n',	/* a list, a type, a list or none */
	CXX_OP_FIELD = 'f',	/* .name=expression */
	CXX_OP_ELEMENT = 'e',	/* [expression]=expression */
	CXX_OP_RANGE = 'r',	/* [expression ... expression]=expression */
	CXX_OP_FOLD_LEFT = 'l',	/* an operator, an expression */
	CXX_OP_FOLD_RIGHT = 'R',	/* the same */
	CXX_OP_FOLD = 'F',	/* an operator, two expressions */
	CXX_OP_LITERAL = '"',	/* nothing: operator "" name */
};

static inline const char *cxx_op_text(const struct cxx_node *op)
{
	return cxx_operators + op->a + 3;
}

static inline enum cxx_syntax cxx_op_syntax(const struct cxx_node *op)
{
	return op->kind == CXX_CAST ? CXX_OP_CAST :
	       op->kind != CXX_OPERATOR ? CXX_OP_NAME :
	       (enum cxx_syntax)cxx_operators[op->a + 2];
}

/* Not sizeof, and what else is no operator function's. */
static inline bool cxx_op_is_function(const struct cxx_node *op)
{
	return op->kind != CXX_OPERATOR ||
	       strchr("12>[+(.n", cxx_operators[op->a + 2]);
}

/* Texts of builtin types that begin with D, by their second letters. */
extern const char cxx_two_letters[];
extern const char *const cxx_texts[];

static inline bool cxx_at_digit(const struct cxx *c)
{
	return demangle_is_digit(*c->p);
}

/* For the parts of the reader. What fails sticks: then the input is at its end,
 * and nodes are 0. */
struct cxx_list {
	uint16_t first, last;
};

uint16_t cxx_fail(struct cxx *c);
uint16_t cxx_node(struct cxx *c, enum cxx_kind kind, unsigned a, unsigned b,
		  unsigned third);
void cxx_append(struct cxx *c, struct cxx_list *list, uint16_t item);
void cxx_chain(struct cxx *c, struct cxx_list *chain, uint16_t inner);
uint16_t cxx_list_until(struct cxx *c, uint16_t (*item)(struct cxx *),
			char end);
uint16_t cxx_substitutable(struct cxx *c, uint16_t id);	/* id */
void cxx_enter(struct cxx *c);			/* what can nest: a step */
void cxx_leave(struct cxx *c);
bool cxx_skip(struct cxx *c, char want);	/* true: it was there */
bool cxx_skip_two(struct cxx *c, const char *want);
void cxx_expect(struct cxx *c, char want);
unsigned cxx_number(struct cxx *c);		/* at least one digit */
unsigned cxx_index(struct cxx *c);		/* "_" 0, "0_" 1, ... */
uint16_t cxx_span(struct cxx *c, const char *start);	/* up to here */

uint16_t cxx_encoding(struct cxx *c);
uint16_t cxx_name(struct cxx *c);
uint16_t cxx_source_name(struct cxx *c);
uint16_t cxx_unqualified(struct cxx *c);
uint16_t cxx_module(struct cxx *c, uint16_t outer);	/* W...; or outer */
uint16_t cxx_operator(struct cxx *c);
uint16_t cxx_substitution(struct cxx *c);		/* behind S */
uint16_t cxx_template(struct cxx *c, uint16_t name);	/* name<arguments> */
uint16_t cxx_maybe_template(struct cxx *c, uint16_t name);
uint16_t cxx_template_arg(struct cxx *c);
uint16_t cxx_param(struct cxx *c);			/* T_ */
uint16_t cxx_mark(struct cxx *c);	/* r, V or K: an OF_THIS of 0; or 0 */
unsigned cxx_reference(struct cxx *c);	/* R or O: an enum cxx_mark; or 0 */
uint16_t cxx_type(struct cxx *c);
uint16_t cxx_types(struct cxx *c);	/* of parameters, as a LIST */
uint16_t cxx_signature(struct cxx *c, bool has_result);	/* a FUNCTION */
uint16_t cxx_expression(struct cxx *c);
uint16_t cxx_literal(struct cxx *c);			/* behind L */

/* The writer: of the whole tree. */
void cxx_write(struct cxx *c, uint16_t id);

#endif
