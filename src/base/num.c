/* num - numbers from text, strictly: the whole text, in range, or an error. */
#include "base/num.h"

#include <errno.h>
#include <string.h>

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

static const char *digits(const char *p, const char *end, int base,
			  uint64_t *out)
{
	const char *start = p;
	uint64_t n = 0;

	for (; p < end && digit_value(*p) < base; p++) {
		uint64_t d = (uint64_t)digit_value(*p);

		if (n > (UINT64_MAX - d) / (uint64_t)base)
			return NULL;
		n = n * (uint64_t)base + d;
	}
	if (p == start)
		return NULL;
	*out = n;
	return p;
}

const char *num_hex(const char *p, const char *end, uint64_t *out)
{
	return digits(p, end, 16, out);
}

const char *num_dec(const char *p, const char *end, uint64_t *out)
{
	return digits(p, end, 10, out);
}

/* The whole of s..end as one number. */
static int whole(const char *s, const char *end, int base, uint64_t *out)
{
	const char *p;

	for (p = s; p < end; p++)
		if (digit_value(*p) >= base)
			return -EINVAL;
	if (p == s)
		return -EINVAL;
	return digits(s, end, base, out) ? 0 : -ERANGE;
}

int num_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t n = 0;
	int err = whole(s, s + strlen(s), 10, &n);

	if (err)
		return err;
	if (n < min || n > max)
		return -ERANGE;
	*out = n;
	return 0;
}

static int list_add(struct num_list *out, uint64_t from, uint64_t to)
{
	for (uint64_t n = from; n <= to; n++) {
		uint64_t *item;

		if (out->n >= 65536)
			return -E2BIG;
		item = vec_push(out);
		if (!item)
			return -ENOMEM;
		*item = n;
		if (n == UINT64_MAX)
			break;
	}
	return 0;
}

int num_list(const char *s, bool ranges, uint64_t max, struct num_list *out)
{
	for (;;) {
		const char *end = s + strcspn(s, ",");
		const char *dash = ranges ? memchr(s, '-', (size_t)(end - s))
					  : NULL;
		uint64_t from = 0, to = 0;
		int err = whole(s, dash ? dash : end, 10, &from);

		to = from;
		if (!err && dash)
			err = whole(dash + 1, end, 10, &to);
		if (!err && (from > to || to > max))
			err = -ERANGE;
		if (!err)
			err = list_add(out, from, to);
		if (err)
			return err;
		if (!*end)
			return 0;
		s = end + 1;
	}
}
