/* histogram - rows, widths and bars of the power-of-two histogram. */
#include <stdlib.h>

#include "render/histogram.h"
#include "test.h"

static char *text;

static const char *print(const uint64_t *slots)
{
	size_t n;
	FILE *out;

	free(text);
	text = NULL;
	out = open_memstream(&text, &n);
	histogram_print(out, "nsecs", slots);
	fclose(out);
	return text;
}

static const char *line(int n)
{
	static char copy[256];
	const char *p = text;

	while (n-- && p)
		p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL;
	snprintf(copy, sizeof(copy), "%.*s", p ? (int)strcspn(p, "\n") : 0,
		 p ? p : "");
	return copy;
}

static int lines(void)
{
	int n = 0;

	for (const char *p = text; *p; p++)
		n += *p == '\n';
	return n;
}

TEST(empty)
{
	uint64_t slots[HISTOGRAM_SLOTS] = { 0 };

	CHECK_STR(print(slots), "");
}

TEST(layout)
{
	uint64_t slots[HISTOGRAM_SLOTS] = { [0] = 1, [2] = 40, [3] = 7 };

	CHECK_STR(print(slots),
"     nsecs               : count     distribution\n"
"         0 -> 1          : 1        "
"|*                                       |\n"
"         2 -> 3          : 0        "
"|                                        |\n"
"         4 -> 7          : 40       "
"|****************************************|\n"
"         8 -> 15         : 7        "
"|*******                                 |\n"
	);
}

TEST(first_row_alone)
{
	uint64_t slots[HISTOGRAM_SLOTS] = { [0] = 3 };

	print(slots);
	CHECK_EQ(lines(), 2);
	CHECK_STR(line(1), "         0 -> 1          : 3        |"
		  "****************************************|");
}

TEST(last_narrow)
{
	uint64_t slots[HISTOGRAM_SLOTS] = { [31] = 1 };

	print(slots);
	CHECK_EQ(lines(), 33);
	CHECK_STR(line(32), "2147483648 -> 4294967295 : 1        |"
		  "****************************************|");
}

TEST(wide)
{
	uint64_t slots[HISTOGRAM_SLOTS] = { [32] = 1, [34] = 2 };

	print(slots);
	CHECK_STR(line(0), "               nsecs                         : "
		  "count     distribution");
	CHECK_STR(line(33), "          4294967296 -> 8589934591           : "
		  "1        |**********          |");
	CHECK_STR(line(35), "         17179869184 -> 34359738367          : "
		  "2        |********************|");
}

TEST(top)
{
	uint64_t slots[HISTOGRAM_SLOTS] = {
		[0] = UINT64_MAX / 2, [62] = 1, [63] = UINT64_MAX,
	};

	print(slots);
	CHECK_EQ(lines(), 65);
	CHECK_STR(line(63), " 4611686018427387904 -> 9223372036854775807  : "
		  "1        |                    |");
	CHECK_STR(line(64), " 9223372036854775808 -> 18446744073709551615 : "
		  "18446744073709551615 |********************|");
	CHECK(strstr(line(1), "|*********           |") ||
	      strstr(line(1), "|**********          |"));
}

int main(void)
{
	RUN(empty);
	RUN(layout);
	RUN(first_row_alone);
	RUN(last_narrow);
	RUN(wide);
	RUN(top);
	free(text);
	return test_failed;
}
