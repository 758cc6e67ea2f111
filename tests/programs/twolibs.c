/* twolibs - load A.so and B.so in turns, each at the address of the other, and
 * spin in its function: phase_a() calls only fa(), phase_b() only fb(). */
/* flags: -O1 -pthread -fno-omit-frame-pointer */
#include <dlfcn.h>
#include <stdio.h>

static volatile long sink;

__attribute__((noinline)) static void phase_a(void (*fa)(long))
{
	fa(3000000);
	sink++;
}

__attribute__((noinline)) static void phase_b(void (*fb)(long))
{
	fb(3000000);
	sink++;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	for (int i = 0;; i++) {
		void *lib = dlopen(argv[1 + i % 2], RTLD_NOW);
		void (*f)(long);

		if (!lib)
			return 1;
		*(void **)&f = dlsym(lib, i % 2 ? "fb" : "fa");
		if (i < 2) {
			printf("%p\n", *(void **)&f);
			fflush(stdout);
		}
		if (i % 2)
			phase_b(f);
		else
			phase_a(f);
		dlclose(lib);
	}
}
