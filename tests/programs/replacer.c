/* replacer - maps a library, and at once another file to the same place.
 *
 *   replacer LIBRARY OTHER: is sampled for 2 s, maps, and goes on spinning
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

static void spin(int seconds)
{
	time_t end = time(NULL) + seconds;
	volatile long sum = 0;

	while (time(NULL) < end)
		for (long i = 0; i < 1000000; i++)
			sum += i;
}

int main(int argc, char **argv)
{
	int library, other;
	void *at;

	if (argc != 3)
		return 2;
	library = open(argv[1], O_RDONLY);
	other = open(argv[2], O_RDONLY);
	spin(2);
	for (int i = 0; i < 50; i++) {
		at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			  library, 4096);
		mmap(at, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
		     other, 4096);
	}
	spin(4);
	return 0;
}
