/* pairs - malloc() and free(), by two threads; or blocks that stay.
 *
 *   pairs N          N pairs for each thread; prints CPU ns a pair
 *   pairs keep N     N blocks of 16 bytes that are never freed
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long n;

static void *work(void *arg)
{
	for (long i = 0; i < n; i++) {
		void *volatile p = malloc(64);

		free(p);
	}
	return arg;
}

static void keep(void)
{
	for (long i = 0; i < n; i++) {
		void *volatile p = malloc(16);

		if (!p)
			abort();
	}
}

int main(int argc, char **argv)
{
	struct timespec a, b;
	pthread_t t[2];

	if (argc > 2) {
		n = atol(argv[2]);
		keep();
		return 0;
	}
	n = argc > 1 ? atol(argv[1]) : 1000000;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	printf("%.0f ns/pair\n", ((double)(b.tv_sec - a.tv_sec) * 1e9 +
				  (double)(b.tv_nsec - a.tv_nsec)) /
				 (2 * (double)n));
	return 0;
}
