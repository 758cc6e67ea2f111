/* behave - spins in hot() after doing what argv[1] names: awkward processes.
 *
 *   spin               nothing else
 *   name TEXT          call the thread so
 *   memfd TEXT         become a memfd of that name that spins
 *   copy [late]        move the page of hot() to anonymous memory; after a
 *                      second of spinning
 *   copy_all [late]    the same of all the mapping that hot() is in
 *   copy_in [late]     put anonymous memory there, and the page into that
 *   writable           make the page of hot() writable, too
 *   heap, stack, anon  run a copy of hot() that lies there
 *   file PATH          run a copy of hot() from a mapping of PATH, no ELF file
 *   leader             the first thread ends, another one spins
 *   fork, vfork        a child spins
 *   deep N, wide N     N calls deep; in a thread with a stack of 1 GiB
 *   user               as user 65534, not dumpable
 *   handler            in a signal handler on a stack of its own
 *   jit KIND           as `anon`, with a JIT map in /tmp; jit_write() has KINDs
 *   rows N PATH        N executable mappings of PATH
 *   crowd N PATH K     the same, and K children that have them, too
 */
/* flags: -O1 -pthread -fno-omit-frame-pointer */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };
static const char *what, *text;
static volatile int forever = 1;

/* At the start of its page, and whole within it. */
__attribute__((noinline, aligned(PAGE))) long hot(long n)
{
	volatile long s = 0;

	while (n--)
		s += n;
	return s;
}
__attribute__((aligned(PAGE))) void after_hot(void)
{
}

static void spin(void)
{
	while (forever)
		hot(100000);
}

static void spin_for(time_t seconds)
{
	time_t end = time(NULL) + seconds;

	while (time(NULL) <= end)
		hot(100000);
}

static void *thread(void *arg)
{
	(void)arg;
	spin();
	return NULL;
}

__attribute__((noinline)) static long down(long n)
{
	volatile long kept = n;

	if (n)
		return down(n - 1) + kept;
	spin();
	return kept;
}

static void *thread_down(void *arg)
{
	(void)arg;
	down(atol(text));
	return NULL;
}

static void become_memfd(char **argv)
{
	char *args[] = { argv[0], "spin", NULL };
	int fd = memfd_create(text, 0), in = open("/proc/self/exe", O_RDONLY);
	struct stat st;

	fstat(in, &st);
	sendfile(fd, in, NULL, (size_t)st.st_size);
	fexecve(fd, args, environ);
	exit(1);
}

static void copy_over(char *at, size_t n)
{
	char *m = mmap(NULL, n, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(m, at, n);
	mprotect(m, n, PROT_READ | PROT_EXEC);
	mremap(m, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, at);
}

/* On a page of its own. */
__attribute__((noinline, aligned(PAGE))) static void copy_in(char *at)
{
	char page[PAGE];

	memcpy(page, at, PAGE);
	mmap(at, PAGE, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memcpy(at, page, PAGE);
	mprotect(at, PAGE, PROT_READ | PROT_EXEC);
}

static void copy_all(void)
{
	unsigned long start, end, at = (unsigned long)hot;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 &&
		    at >= start && at < end)
			break;
	fclose(f);
	copy_over((char *)start, end - start);
}

static void run_copy(char *to)
{
	long (*copy)(long);

	memcpy(to, hot, PAGE);
	mprotect(to, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(&copy, &to, sizeof(copy));
	while (forever)
		copy(100000);
}

static char *page_up(char *p)
{
	return p + (-(unsigned long)p & (PAGE - 1));
}

static char *anonymous(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void on_heap(void)
{
	run_copy(page_up(malloc(3 * PAGE)));
}

static void on_stack(void)
{
	char room[3 * PAGE];

	run_copy(page_up(room));
}

/* Not at the start of the mapping, which no reader may rely on. */
static void in_file(void)
{
	int fd = open(text, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *m;

	if (ftruncate(fd, 3 * PAGE) || pwrite(fd, "no ELF", 6, 0) != 6)
		exit(1);
	m = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	run_copy(m + PAGE);
}

static void jit_lines(FILE *f, unsigned long at)
{
	if (!strcmp(text, "noise"))
		fprintf(f, "zz\n10 5\n10 0 f\nffffffffffffffff 10 g\n\n"
			"%lx 1000 jit_fn\n%lx", at, at);
	else if (!strcmp(text, "overlap"))
		fprintf(f, "%lx 2000 old\n%lx 1000 jit_fn\n", at - PAGE, at);
	else if (!strcmp(text, "name"))
		fprintf(f, "%lx 1000 a;b \033[2J 7\n", at);
	else if (!strcmp(text, "long"))
		fprintf(f, "%lx 1000 %0*d\n%lx 1000 jit_fn\n", at, 1 << 20, 1,
			at);
	else
		fprintf(f, "%lx 1000 jit_fn", at);
}

static void jit_write(unsigned long at)
{
	char path[64], other[80];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	snprintf(other, sizeof(other), "%s.other", path);
	f = fopen(strcmp(text, "link") ? path : other, "w");
	jit_lines(f, at);
	fclose(f);
	if (!strcmp(text, "link") && symlink(other, path))
		exit(1);
	if (!strcmp(text, "owner") && chown(path, 12345, 12345))
		exit(1);
	if (!strcmp(text, "sparse") && truncate(path, 3l << 30))
		exit(1);
	if (!strcmp(text, "fifo") && (unlink(path) || mkfifo(path, 0600)))
		exit(1);
}

static void jit(void)
{
	char *m = anonymous(2 * PAGE);

	jit_write((unsigned long)m + PAGE);
	run_copy(m + PAGE);
}

static void handle(int number)
{
	(void)number;
	spin();
}

static void in_handler(void)
{
	stack_t other = { .ss_sp = anonymous(1 << 16), .ss_size = 1 << 16 };
	struct sigaction sa = { .sa_handler = handle, .sa_flags = SA_ONSTACK };

	sigaltstack(&other, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
}

static void rows(const char *path, long n)
{
	int fd = open(path, O_RDONLY);

	/* Another kind between two, lest the kernel merge them. */
	while (n--) {
		mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
}

static void crowd(long n)
{
	while (n--)
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() == 1)
				_exit(0);
			alarm(120);
			return;
		}
	pause();
}

static void start_thread(void *(*body)(void *), size_t stack)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	if (stack)
		pthread_attr_setstacksize(&attr, stack);
	pthread_create(&t, &attr, body, NULL);
}

static void end(int number)
{
	(void)number;
	_exit(0);
}

static int is(const char *name)
{
	return !strcmp(what, name);
}

static void processes(char **argv)
{
	if (is("memfd"))
		become_memfd(argv);
	if (is("fork")) {
		if (fork())
			pause();
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	}
	if (is("vfork") && !vfork()) {
		/* The parent can only be killed, and must not leave it. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		spin();
	}
	if (is("leader") || is("wide")) {
		start_thread(is("wide") ? thread_down : thread,
			     is("wide") ? 1u << 30 : 0);
		if (is("leader"))
			pthread_exit(NULL);
		pause();
	}
	if (is("user") && (setuid(65534) || prctl(PR_SET_DUMPABLE, 0)))
		exit(1);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	what = argv[1];
	text = argc > 2 ? argv[2] : "";
	/* Whatever becomes of the test, nothing of it stays; and what has no
	 * handler does not reach the first process of a pid namespace. */
	signal(SIGTERM, end);
	signal(SIGALRM, end);
	alarm(120);
	processes(argv);
	alarm(120);		/* a child's, too */
	if (is("name"))
		prctl(PR_SET_NAME, text);
	if (!strcmp(text, "late"))
		spin_for(1);
	if (is("copy"))
		copy_over((char *)hot, PAGE);
	if (is("copy_in"))
		copy_in((char *)hot);
	if (is("copy_all"))
		copy_all();
	if (is("writable"))
		mprotect((void *)hot, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	if (is("heap"))
		on_heap();
	if (is("stack"))
		on_stack();
	if (is("anon"))
		run_copy(anonymous(2 * PAGE) + PAGE);
	if (is("file"))
		in_file();
	if (is("jit"))
		jit();
	if (is("handler"))
		in_handler();
	if (is("deep"))
		down(atol(text));
	if ((is("rows") || is("crowd")) && argc > 3)
		rows(argv[3], atol(text));
	if (is("crowd") && argc > 4)
		crowd(atol(argv[4]));
	spin();
}
