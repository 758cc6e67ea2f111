/* test - the little that a unit test needs: named cases and checks. */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include <stdio.h>
#include <string.h>

/* A unit test is a main() that calls TEST(name) { ... } bodies by RUN(name)
 * and returns test_failed. Output: "PASS name" or "FAIL name: why". */
static int test_failed, test_bad;

#define RUN(name) do { \
	test_bad = 0; \
	test_##name(); \
	if (!test_bad) \
		printf("PASS %s\n", #name); \
	test_failed |= test_bad; \
	fflush(stdout); \
} while (0)

#define TEST(name) static void test_##name(void)

#define FAIL(...) do { \
	printf("FAIL %s: %s:%d: ", __func__ + 5, __FILE__, __LINE__); \
	printf(__VA_ARGS__); \
	printf("\n"); \
	test_bad = 1; \
} while (0)

#define CHECK(cond) do { if (!(cond)) FAIL("%s", #cond); } while (0)

#define CHECK_EQ(got, want) do { \
	long long got_ = (long long)(got), want_ = (long long)(want); \
	if (got_ != want_) \
		FAIL("%s is %lld (0x%llx), not %lld (0x%llx)", #got, \
		     got_, got_, want_, want_); \
} while (0)

#define CHECK_STR(got, want) do { \
	const char *got_ = (got), *want_ = (want); \
	if (!got_ || strcmp(got_, want_)) \
		FAIL("%s is \"%s\", not \"%s\"", #got, \
		     got_ ? got_ : "(null)", want_); \
} while (0)

#endif
