/* notes - has USDT probes: notes [NAME...] sleeps for a minute.
 *
 * The notes are written by hand, as <sys/sdt.h> would write them. */
#include <unistd.h>

#define NOTE(name, semaphore, args) \
	__asm__ volatile("990: nop\n" \
		".pushsection .note.stapsdt,\"\",\"note\"\n" \
		".balign 4\n" \
		".4byte 992f-991f, 994f-993f, 3\n" \
		"991: .asciz \"stapsdt\"\n" \
		"992: .balign 4\n" \
		"993: .8byte 990b, 0, " semaphore "\n" \
		".asciz \"notes\"\n" \
		".asciz \"" name "\"\n" \
		".asciz \"" args "\"\n" \
		"994: .balign 4\n" \
		".popsection\n")

unsigned short notes_sema __attribute__((section(".probes"))) = 0;

#if defined(__x86_64__)
#define TWO "8@%rdi -4@-20(%rbp)"
#define ODD "1@%al 8@%xmm0 4@$7"
#else
#define TWO "8@x0 -4@[sp, 8]"
#define ODD "1@w1 8@v0 4@7"
#endif

int main(void)
{
	NOTE("first", "0", TWO);
	NOTE("second", "notes_sema", ODD);
	NOTE("first", "0", ODD);
	sleep(60);
	return 0;
}
