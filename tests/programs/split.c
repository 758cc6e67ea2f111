/* split - two functions that share one CPU 70 to 30, in uneven portions. */
static volatile unsigned long sink;

/* The loops must cost the same, so both functions are one text. */
#define WORK(name) \
__attribute__((noinline, aligned(64))) void name(unsigned long n) \
{ \
	while (n--) \
		sink += n; \
}
WORK(seventy)
WORK(thirty)

int main(void)
{
	/* Portions of changing size, so that no sampling rate can keep step
	 * with them. */
	for (unsigned seed = 1;; seed = seed * 1103515245 + 12345) {
		unsigned long unit = 1000 + (seed >> 16) % 9000;

		seventy(7 * unit);
		thirty(3 * unit);
	}
}
