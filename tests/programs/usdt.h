/* usdt - a USDT probe without <sys/sdt.h>, its arguments' text as it comes. */
#ifndef USDT_H
#define USDT_H

#define USDT_TEXT_(x) #x
#define USDT_TEXT(x) USDT_TEXT_(x)

/* `args` are the note's; `semaphore` is a symbol or 0; then the operands. */
#define USDT(provider, name, args, semaphore, ...) \
	__asm__ volatile("990: nop\n" \
	".pushsection .note.stapsdt,\"?\",\"note\"\n" \
	".balign 4\n" \
	".4byte 992f-991f, 994f-993f, 3\n" \
	"991: .asciz \"stapsdt\"\n" \
	"992: .balign 4\n" \
	"993: .8byte 990b, _.stapsdt.base, " USDT_TEXT(semaphore) "\n" \
	".asciz \"" #provider "\"\n" \
	".asciz \"" #name "\"\n" \
	".asciz \"" args "\"\n" \
	"994: .balign 4\n" \
	".popsection\n" \
	".ifndef _.stapsdt.base\n" \
	".pushsection .stapsdt.base,\"aG\",\"progbits\"," \
		".stapsdt.base,comdat\n" \
	".weak _.stapsdt.base\n" \
	".hidden _.stapsdt.base\n" \
	"_.stapsdt.base: .space 1\n" \
	".size _.stapsdt.base, 1\n" \
	".popsection\n" \
	".endif\n" :: __VA_ARGS__)

#endif
