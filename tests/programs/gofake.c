/* gofake - what makes a Go program hard to trace, without Go.
 *
 * Eight calls of main.work begin on one thread, all before the first ends.
 * Then their stacks move, as Go's do when they grow, and 20 ms later they go
 * on and return on another thread. r14 holds the goroutine, whose
 * struct begins with its stack's bounds.
 */
/* flags: -O1 -pthread */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { GOROUTINES = 8, STACK = 16384 };

struct g {
	char *lo, *hi;
	char *sp;		/* of the goroutine while it is parked */
	char *back;		/* of the thread that runs it */
};

__attribute__((section(".go.buildinfo"), used, aligned(16)))
static const char build_info[64] =
	"\xff Go buildinf:\x08\x02"
	"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" "\x08go1.21.0";

void go_start(struct g *g);
void go_on(struct g *g);

__asm__(
"	.text\n"
"save:	pop	%rax\n"			/* as a thread, g in rdi */
"	push	%rbx\n	push	%rbp\n	push	%r12\n	push	%r13\n"
"	push	%r14\n	push	%r15\n"
"	mov	%rsp, 24(%rdi)\n"
"	mov	%rdi, %r14\n"
"	jmp	*%rax\n"
"restore:\n"
"	mov	24(%r14), %rsp\n"
"	pop	%r15\n	pop	%r14\n	pop	%r13\n	pop	%r12\n"
"	pop	%rbp\n	pop	%rbx\n"
"	ret\n"
"	.globl	go_start, go_on\n"
"	.type	go_start, @function\n"
"go_start:\n"
"	call	save\n"
"	mov	8(%rdi), %rsp\n"
"	sub	$64, %rsp\n"
"	call	main.work\n"
"	jmp	restore\n"
"	.type	go_on, @function\n"
"go_on:\n"
"	call	save\n"
"	mov	16(%rdi), %rsp\n"
"	ret\n"
"	.globl	main.work\n"
"	.type	main.work, @function\n"
"main.work:\n"
"	sub	$40, %rsp\n"
"	call	park\n"
"	add	$40, %rsp\n"
"	ret\n"
"	.size	main.work, . - main.work\n"
"	.type	park, @function\n"
"park:	mov	%rsp, 16(%r14)\n"
"	jmp	restore\n"
"	.size	park, . - park\n");

static struct g gs[GOROUTINES];

static void stack_move(struct g *g)
{
	char *to = malloc(2 * STACK);
	size_t used = (size_t)(g->hi - g->sp);

	memcpy(to + 2 * STACK - used, g->sp, used);
	memset(g->lo, 0xaa, (size_t)(g->hi - g->lo));
	g->lo = to;
	g->hi = to + 2 * STACK;
	g->sp = g->hi - used;
}

static void *others(void *arg)
{
	usleep(20000);
	for (int i = 0; i < GOROUTINES; i++) {
		stack_move(&gs[i]);
		go_on(&gs[i]);
	}
	return arg;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < GOROUTINES; i++) {
		gs[i].lo = malloc(STACK);
		gs[i].hi = gs[i].lo + STACK;
		go_start(&gs[i]);
	}
	pthread_create(&thread, NULL, others, NULL);
	pthread_join(thread, NULL);
	return build_info[0] == 0;
}
#else
int main(void)
{
	return 0;
}
#endif
