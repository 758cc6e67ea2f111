/* base - the base room: escaping, numbers, options, the hash, near names. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/intern.h"
#include "base/near.h"
#include "base/num.h"
#include "base/opt.h"
#include "test.h"

static const char *escaped(const char *s, size_t n, enum escape how)
{
	static struct buf out;

	buf_reset(&out);
	escape(&out, s, n, how);
	return buf_str(&out);
}
#define ESCAPED(text, how) escaped(text, sizeof(text) - 1, how)

TEST(control_bytes_are_escaped)
{
	CHECK_STR(ESCAPED("a\033[31m\n\r\t\177\0b", ESCAPE_TEXT),
		  "a\\x1b[31m\\x0a\\x0d\\x09\\x7f\\x00b");
	CHECK_STR(ESCAPED("\xc2\x9b" "31m", ESCAPE_TEXT), "\\xc2\\x9b31m");
}

TEST(hexadecimal)
{
	struct buf b = { 0 };

	buf_hex(&b, 0);
	buf_hex(&b, 0x1f);
	buf_hex(&b, UINT64_MAX);
	CHECK_STR(buf_str(&b), "0x00x1f0xffffffffffffffff");
	buf_free(&b);
}

TEST(broken_utf8_is_escaped)
{
	CHECK_STR(ESCAPED("k\377\260", ESCAPE_TEXT), "k\\xff\\xb0");
	CHECK_STR(ESCAPED("\xc0\xaf", ESCAPE_TEXT), "\\xc0\\xaf");
	CHECK_STR(ESCAPED("\xed\xa0\x80", ESCAPE_TEXT), "\\xed\\xa0\\x80");
	CHECK_STR(ESCAPED("\xf4\x90\x80\x80", ESCAPE_TEXT),
		  "\\xf4\\x90\\x80\\x80");
	CHECK_STR(ESCAPED("caf\xc3", ESCAPE_TEXT), "caf\\xc3");
	CHECK_STR(ESCAPED("caf\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x94\xa5",
			  ESCAPE_TEXT),
		  "caf\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x94\xa5");
}

TEST(hiding_characters_are_escaped)
{
	/* right-to-left override, zero-width space, byte order mark, U+FFFE */
	CHECK_STR(ESCAPED("\xe2\x80\xae", ESCAPE_TEXT), "\\xe2\\x80\\xae");
	CHECK_STR(ESCAPED("\xe2\x80\x8b", ESCAPE_TEXT), "\\xe2\\x80\\x8b");
	CHECK_STR(ESCAPED("\xef\xbb\xbf", ESCAPE_TEXT), "\\xef\\xbb\\xbf");
	CHECK_STR(ESCAPED("\xef\xbf\xbe", ESCAPE_XML), "\\xef\\xbf\\xbe");
}

static const char *semicolons(const char *s)
{
	static char back[64];

	strcpy(back, s);
	back[escape_semicolons_back(back, strlen(back))] = '\0';
	return back;
}

TEST(formats_quote_what_they_use)
{
	CHECK_STR(ESCAPED("a;b", ESCAPE_TEXT), "a;b");
	CHECK_STR(ESCAPED("a;b", ESCAPE_FOLDED), "a\\x3bb");
	CHECK_STR(semicolons("\\x3ba\\x3b\\x3b\\x3B\\x1b\\x3"),
		  ";a;;\\x3B\\x1b\\x3");
	CHECK_STR(semicolons(""), "");
	CHECK_STR(ESCAPED("<a&'b\">", ESCAPE_XML),
		  "&lt;a&amp;&#39;b&quot;&gt;");
	CHECK_STR(ESCAPED("\"\\\n", ESCAPE_JSON), "\\\"\\\\\\\\x0a");
}

TEST(escaping_twice_changes_nothing)
{
	char once[64];

	strcpy(once, ESCAPED("x;\033\\y", ESCAPE_FOLDED));
	CHECK_STR(escaped(once, strlen(once), ESCAPE_FOLDED), once);
}

static int number(const char *s, uint64_t min, uint64_t max)
{
	uint64_t n = 0;
	int err = num_u64(s, min, max, &n);

	return err ? err : (int)n;
}

TEST(numbers_are_strict)
{
	CHECK_EQ(number("42", 0, 100), 42);
	CHECK_EQ(number("0", 0, 0), 0);
	CHECK_EQ(number("", 0, 100), -EINVAL);
	CHECK_EQ(number("-1", 0, 100), -EINVAL);
	CHECK_EQ(number("+1", 0, 100), -EINVAL);
	CHECK_EQ(number(" 1", 0, 100), -EINVAL);
	CHECK_EQ(number("1x", 0, 100), -EINVAL);
	CHECK_EQ(number("0x10", 0, 100), -EINVAL);
	CHECK_EQ(number("101", 0, 100), -ERANGE);
	CHECK_EQ(number("18446744073709551616", 0, UINT64_MAX), -ERANGE);
	CHECK_EQ(number("9", 10, 100), -ERANGE);
}

/* The list as "1 2 3", or the error. */
static const char *list(const char *s, bool ranges)
{
	static struct buf out;
	struct num_list l = { 0 };
	int err = num_list(s, ranges, 4095, &l);

	buf_reset(&out);
	if (err)
		buf_fmt(&out, "%d", err);
	for (size_t i = 0; !err && i < l.n; i++)
		buf_fmt(&out, "%s%d", i ? " " : "", (int)l.v[i]);
	vec_free(&l);
	return buf_str(&out);
}

TEST(lists)
{
	CHECK_STR(list("1", false), "1");
	CHECK_STR(list("3,1", false), "3 1");
	CHECK_STR(list("0-2,7", true), "0 1 2 7");
	CHECK_EQ(atoi(list("1-2", false)), -EINVAL);
	CHECK_EQ(atoi(list("2-1", true)), -ERANGE);
	CHECK_EQ(atoi(list("1,", false)), -EINVAL);
	CHECK_EQ(atoi(list(",", false)), -EINVAL);
	CHECK_EQ(atoi(list("5000", true)), -ERANGE);
	CHECK_EQ(strlen(list("0-4095", true)),
		 10 + 180 + 2700 + 4 * 3096 + 4095);
}

TEST(intern_numbers_keys)
{
	struct intern t = { 0 };
	char key[32];
	size_t len;

	CHECK_EQ(intern_find(&t, "a", 1), -ENOENT);
	for (int i = 0; i < 10000; i++) {
		int n = snprintf(key, sizeof(key), "key %d", i);

		CHECK_EQ(intern_put(&t, key, (size_t)n), i);
	}
	CHECK_EQ(intern_put(&t, "key 77", 6), 77);
	CHECK_EQ(intern_find(&t, "key 9999", 8), 9999);
	CHECK_EQ(intern_find(&t, "key 99990", 9), -ENOENT);
	CHECK_STR(intern_bytes(&t, 1234, &len), "key 1234");
	CHECK_EQ(len, 8);
	CHECK_EQ(intern_put(&t, "", 0), 10000);
	CHECK_EQ(intern_put(&t, "\0", 1), 10001);
	intern_free(&t);
}

/* Two blocks each: the second one takes back what the first one did to a hash
 * that multiplies by a known factor and folds, whatever it began with. */
static void collide(char *key, uint64_t i, bool flip)
{
	uint64_t a = i * 0x9e3779b97f4a7c15u, b = ~i;

	if (flip) {
		a ^= 1ull << 63;
		b ^= 1ull << 63 | 1ull << 31;
	}
	memcpy(key, &a, 8);
	memcpy(key + 8, &b, 8);
}

/* Keys that all met in one slot of the hash as it was before it had a secret:
 * the first block is free, the second one leads to the same state. */
static void collide_unkeyed(char *key, uint64_t i)
{
	const uint64_t by = 0xff51afd7ed558ccdu;
	uint64_t h = ((0x9e3779b97f4a7c15u ^ 16) ^ i) * by;

	h = h ^ h >> 32 ^ 0x123456789abcdef0u;
	memcpy(key, &i, 8);
	memcpy(key + 8, &h, 8);
}

TEST(intern_stays_fast)
{
	enum { N = 60000 };
	struct intern t = { 0 };
	clock_t start = clock();
	char key[16];
	int same = 0;

	for (uint64_t i = 0; i < N; i++) {
		collide_unkeyed(key, i);
		CHECK_EQ(intern_put(&t, key, 16), i);
	}
	for (uint64_t i = 0; i < N; i++) {
		collide(key, i / 2, i & 1);
		CHECK_EQ(intern_put(&t, key, 16), N + i);
	}
	for (size_t i = 0; i < t.n; i++)
		same += t.keys[i].hash == t.keys[i ^ 1].hash;
	CHECK(same < 10);	/* by chance: hardly ever one */
	CHECK(clock() - start < 2 * CLOCKS_PER_SEC);
	intern_free(&t);
}

TEST(near_names)
{
	struct near near = { .wanted = "frequenci" };

	near_offer(&near, "folded");
	CHECK(!near.best);
	near_offer(&near, "frequency");
	CHECK_STR(near.best, "frequency");
	CHECK_EQ(near_distance("abcd", "abdc"), 1);
	CHECK_EQ(near_distance("", "abc"), 3);
}

struct settings {
	bool fold, delimit;
	uint64_t hz;
	const char *out;
	struct num_list pids;
};

static const struct opt table[] = {
	{ 'f', "folded", OPT_FLAG, offsetof(struct settings, fold), NULL, "" },
	{ 'd', NULL, OPT_FLAG, offsetof(struct settings, delimit), NULL, "" },
	{ 'F', "frequency", OPT_NUM, offsetof(struct settings, hz), "HZ", "",
	  .min = 1, .max = 1000 },
	{ 'o', "output", OPT_TEXT, offsetof(struct settings, out), "FILE", "" },
	{ 'p', "pid", OPT_LIST, offsetof(struct settings, pids), "PID", "" },
	{ 0 },
};

TEST(options_in_every_spelling)
{
	char *argv[] = {
		"t", "first", "-fd", "-F99", "--output=x", "-p", "1,2",
		"--pid", "3", "second", "--", "cmd", "-f", NULL,
	};
	struct settings s = { 0 };
	struct opt_rest rest;

	CHECK_EQ(opt_parse("t", table, &s, 13, argv, &rest), 0);
	CHECK(s.fold && s.delimit);
	CHECK_EQ(s.hz, 99);
	CHECK_STR(s.out, "x");
	CHECK_EQ(s.pids.n, 3);
	CHECK_EQ(rest.nargs, 2);
	CHECK_STR(rest.args[1], "second");
	CHECK_STR(rest.command[0], "cmd");
	CHECK_STR(rest.command[1], "-f");
	CHECK(!rest.command[2]);
	vec_free(&s.pids);
}

int main(void)
{
	RUN(control_bytes_are_escaped);
	RUN(hexadecimal);
	RUN(broken_utf8_is_escaped);
	RUN(hiding_characters_are_escaped);
	RUN(formats_quote_what_they_use);
	RUN(escaping_twice_changes_nothing);
	RUN(numbers_are_strict);
	RUN(lists);
	RUN(intern_numbers_keys);
	RUN(intern_stays_fast);
	RUN(near_names);
	RUN(options_in_every_spelling);
	return test_failed;
}
