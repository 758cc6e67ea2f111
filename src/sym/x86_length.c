/* x86_length - how long an x86_64 instruction is.
 *
 *   prefixes  [REX]  opcode  [ModRM [SIB] [displacement]]  [immediate]
 *   VEX (c4, c5), EVEX (62) or XOP (8f)  opcode  ModRM ...  [immediate]
 *
 * The opcode is of one of several maps: one byte; behind 0f; behind 0f 38; and
 * behind 0f 3a; the long prefixes name theirs by number. Of an opcode two
 * things count: is there a ModRM byte, and how long is the immediate. That is
 * a letter in a table of 256, with a line for each 16:
 *
 *   .  nothing          m  ModRM                  x  no instruction
 *   b  8 bits           B  ModRM, 8 bits          w  16 bits
 *   z  16 or 32 bits    Z  ModRM, 16 or 32 bits   v  16, 32 or 64 bits
 *   e  16 and 8 bits    a  an address             j  32 bits (near branches)
 *   p  a prefix         t  ModRM, 8 bits if ModRM's reg is 0 or 1 (test)
 *   T  the same, 16 or 32 bits
 *
 * From the opcode maps in Intel's Software Developer's Manual, volume 2,
 * appendix A, and AMD's Architecture Programmer's Manual, volume 3.
 */
#include "sym/x86_length.h"

#include <stdbool.h>
#include <string.h>

static const char map_1[] =
	"mmmmbzxxmmmmbzxp"	/* 00 add, or */
	"mmmmbzxxmmmmbzxx"	/* 10 */
	"mmmmbzpxmmmmbzpx"	/* 20 */
	"mmmmbzpxmmmmbzpx"	/* 30 */
	"pppppppppppppppp"	/* 40 REX */
	"................"	/* 50 push, pop */
	"xxxmppppzZbB...."	/* 60 */
	"bbbbbbbbbbbbbbbb"	/* 70 jcc */
	"BZxBmmmmmmmmmmmm"	/* 80 */
	"..........x....."	/* 90 */
	"aaaa....bz......"	/* a0 */
	"bbbbbbbbvvvvvvvv"	/* b0 mov */
	"BBw.ppBZe.w..bx."	/* c0 */
	"mmmmxxx.mmmmmmmm"	/* d0 */
	"bbbbbbbbjjxb...."	/* e0 */
	"p.pp..tT......mm";	/* f0 */

static const char map_0f[] =
	"mmmmx.....x.xm.B"	/* 00 */
	"mmmmmmmmmmmmmmmm"	/* 10 */
	"bbbbxxxxmmmmmmmm"	/* 20 control registers: ModRM alone */
	"......x.pxpxxxxx"	/* 30 */
	"mmmmmmmmmmmmmmmm"	/* 40 */
	"mmmmmmmmmmmmmmmm"	/* 50 */
	"mmmmmmmmmmmmmmmm"	/* 60 */
	"BBBBmmm.mmmmmmmm"	/* 70 */
	"jjjjjjjjjjjjjjjj"	/* 80 jcc */
	"mmmmmmmmmmmmmmmm"	/* 90 */
	"...mBmxx...mBmmm"	/* a0 */
	"mmmmmmmmmmBmmmmm"	/* b0 */
	"mmBmBBBm........"	/* c0 */
	"mmmmmmmmmmmmmmmm"	/* d0 */
	"mmmmmmmmmmmmmmmm"	/* e0 */
	"mmmmmmmmmmmmmmmm";	/* f0 */

struct code {
	const uint8_t *p;
	size_t at, n;
	bool op16, addr32, wide;	/* 66, 67, REX.W */
	bool failed;			/* the bytes end */
};

static uint8_t next(struct code *c)
{
	if (c->at < c->n)
		return c->p[c->at++];
	c->failed = true;
	return 0;
}

/* ModRM, SIB, displacement. Returns ModRM. */
static uint8_t modrm(struct code *c)
{
	uint8_t m = next(c), mod = m >> 6, rm = m & 7, base = rm;

	if (mod == 3)
		return m;
	if (rm == 4)
		base = next(c) & 7;
	if (mod == 1)
		c->at += 1;
	else if (mod == 2 || base == 5)
		c->at += 4;
	return m;
}

static size_t word(const struct code *c)
{
	return c->op16 && !c->wide ? 2 : 4;
}

/* What follows an opcode of the kind. False: it is none. */
static bool operands(struct code *c, char kind)
{
	uint8_t m = 0;

	if (strchr("mBZtT", kind))
		m = modrm(c);
	switch (kind) {
	case '.': case 'm': return true;
	case 'b': case 'B': c->at += 1; return true;
	case 'w': c->at += 2; return true;
	case 'e': c->at += 3; return true;
	case 'j': c->at += 4; return true;
	case 'z': case 'Z': c->at += word(c); return true;
	case 'v': c->at += c->wide ? 8 : word(c); return true;
	case 'a': c->at += c->addr32 ? 4 : 8; return true;
	case 't': c->at += m & 0x30 ? 0 : 1; return true;
	case 'T': c->at += m & 0x30 ? 0 : word(c); return true;
	default: return false;
	}
}

/* An opcode of a numbered map, behind VEX, EVEX or XOP. */
static bool opcode_mapped(struct code *c, unsigned map)
{
	uint8_t op = next(c);

	switch (map) {
	case 1:
		/* Jumps and others of the map without ModRM have no such
		 * form, but for vzeroupper. */
		return op == 0x77 || (strchr("mB", map_0f[op]) &&
				      operands(c, map_0f[op]));
	case 2: case 5: case 6: case 9:
		return operands(c, 'm');
	case 3: case 8:
		return operands(c, 'B');
	case 10:
		c->op16 = c->wide = false;
		return operands(c, 'Z');
	default:
		return false;
	}
}

static bool opcode_vex(struct code *c, uint8_t prefix)
{
	uint8_t first = next(c);

	switch (prefix) {
	case 0xc5:
		return opcode_mapped(c, 1);
	case 0xc4:
		c->at += 1;
		return opcode_mapped(c, first & 31);
	case 0x62:
		c->at += 2;
		return opcode_mapped(c, first & 7);
	default:		/* 8f: pop is there, too */
		c->at += 1;
		return opcode_mapped(c, first & 31);
	}
}

static bool opcode_0f(struct code *c, bool repne)
{
	uint8_t op = next(c);

	if (op == 0x38) {
		next(c);
		return operands(c, 'm');
	}
	if (op == 0x3a) {
		next(c);
		return operands(c, 'B');
	}
	/* extrq, insertq with two immediates; without a prefix: vmread */
	if (op == 0x78 && (c->op16 || repne)) {
		modrm(c);
		c->at += 2;
		return true;
	}
	return operands(c, map_0f[op]);
}

static bool opcode_1(struct code *c, uint8_t op, bool repne)
{
	switch (op) {
	case 0x0f:
		return opcode_0f(c, repne);
	case 0x62: case 0xc4: case 0xc5:
		return opcode_vex(c, op);
	case 0x8f:
		if (c->at < c->n && (c->p[c->at] & 31) >= 8)
			return opcode_vex(c, op);
		return operands(c, 'm');
	default:
		return operands(c, map_1[op]);
	}
}

static bool is_legacy_prefix(uint8_t op)
{
	return op == 0x66 || op == 0x67 || op == 0xf0 || op == 0xf2 ||
		op == 0xf3 || op == 0x26 || op == 0x2e || op == 0x36 ||
		op == 0x3e || op == 0x64 || op == 0x65;
}

size_t x86_length(const uint8_t *p, size_t n)
{
	struct code c = { .p = p, .n = n < X86_LENGTH_MAX ? n :
			  X86_LENGTH_MAX };
	bool repne = false, known;
	uint8_t op = next(&c);

	for (; !c.failed && is_legacy_prefix(op); op = next(&c)) {
		c.op16 |= op == 0x66;
		c.addr32 |= op == 0x67;
		repne |= op == 0xf2;
	}
	if ((op & 0xf0) == 0x40) {
		c.wide = op & 8;
		op = next(&c);
	}
	known = opcode_1(&c, op, repne);
	return known && !c.failed && c.at <= c.n ? c.at : 0;
}

int x86_is_return(const uint8_t *p, size_t length)
{
	while (length > 1 && (is_legacy_prefix(*p) || (*p & 0xf0) == 0x40)) {
		p++;
		length--;
	}
	return (length == 1 && *p == 0xc3) || (length == 3 && *p == 0xc2);
}
