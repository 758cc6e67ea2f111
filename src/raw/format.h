/* format - the raw file: stacks as a device saw them, to be named elsewhere.
 *
 * A device that records has neither symbols nor room for them. So it writes
 * what only it can know, which file was mapped where and what was counted, and
 * leaves the names to whoever has the files.
 *
 * The file
 *
 * 8 bytes of MAGIC, a major and a minor version (a byte each), then records up
 * to the end of the file. Numbers are varints: seven bits a byte, the lowest
 * first, with 0x80 set in all bytes but the last; at most ten bytes. "Signed"
 * ones are zigzag: 0, -1, 1, -2 are 0, 1, 2, 3. Bytes are a length and as many
 * bytes. Nothing in the file depends on the byte order or the word size of who
 * writes or reads it, and all of it is written once, from the beginning to the
 * end: it can go through a pipe or over a serial line.
 *
 * A record is a type (a byte), the length of its content, the content, at most
 * RECORD_MOST bytes, and four bytes of CRC, the lowest first: the CRC-32 of
 * IEEE 802.3 of all bytes of the file before it, checksums included. So a
 * record counts only if it and all before it are as they were written, and a
 * file that was cut off is good up to its last whole record.
 *
 * A reader skips records of types that it does not know, and fields of the head
 * and the end likewise: that is how a new minor version adds to the format. A
 * new major version may change anything, and is refused.
 *
 * The records
 *
 *	HEAD	The first one, once. Fields: a number (enum field), and bytes:
 *		text, or a varint in them.
 *	DATA	Items, each a byte (enum item) and what belongs to it. They are
 *		numbered from 0 on, each kind apart, in the order in which they
 *		come; an item refers to earlier ones alone. Rows come as soon as
 *		all that they refer to is there: every beginning of a file has
 *		some meaning.
 *	NOTE	A text: what the device had to say, what was lost above all.
 *	END	The last one, once. Fields as in HEAD. Without it the file is
 *		not whole.
 *
 * The items
 *
 *	An item begins with a number: its kind (enum item) in the three lowest
 *	bits, and in a row its flags above them.
 *
 *	STRING	bytes, without a NUL.
 *	FILE	A mapped file: path (a string, as the kernel writes it); what is
 *		known of it (enum raw_known; minor version 0 always has 0);
 *		inode; major and minor number of the device; bytes of the
 *		build-id, none if it is not known; how many executable segments
 *		are known of it, and for each of them offset in the file, size
 *		there, and virtual address.
 *	MODULE	Of the kernel: name (a string), base address, size, build-id.
 *	TASK	comm (a string), pid.
 *	ROW	One stack, or several that are alike, with what it counts: a
 *		side; the numbers, as many as the head has units; and, with
 *		RAW_WAKER, flags and a side of who woke it.
 *
 *	A side	a task; with RAW_USER the user stack, with RAW_KERNEL the
 *		kernel's; with RAW_CALLER a frame.
 *	A stack	A node, how many frames follow, and these. Each frame makes one
 *		more node, that is called from the one before it, the first from
 *		the node that was given. Node 0 is there from the beginning, and
 *		nobody: stacks share what they have in common at their roots.
 *	A frame	An even number: twice that of an earlier frame. An odd one: a
 *		new frame; above the lowest bit three of its kind (enum
 *		raw_frame_kind), above them what it is of; and then, if the kind
 *		has one, the place in that. New frames are numbered, too.
 *
 * Addresses in stacks are return addresses, but those of leaves. Of a user
 * frame it is the offset in the file that is told. A frame that is in no code
 * is a stack's last: it was lost there.
 *
 * RAW_CALLER: the frame lay where a call leaves its return address. It is the
 * leaf's caller if the code in front of it calls the function that the leaf is
 * in and that has no frame of its own (src/sym/caller.c), which the device
 * could not look up. */
#ifndef RAW_FORMAT_H
#define RAW_FORMAT_H

#include <stddef.h>
#include <stdint.h>

/* Not ASCII, and with both ends of a line: what a line that is not clear for
 * all bytes makes of it shows at once. */
#define RAW_MAGIC "\223sonde\r\n"
enum {
	RAW_MAGIC_SIZE = 8,
	RAW_MAJOR = 1, RAW_MINOR = 1,
	RAW_RECORD_MOST = 1 << 16,
	RAW_ID_MOST = 32,		/* bytes of a build-id */
	RAW_SEGMENTS_MOST = 4,
	RAW_UNITS_MOST = 2,
	RAW_WAITS_MOST = 32,
	RAW_DEPTH_MOST = 4096,		/* frames of a stack */
	RAW_STRING_MOST = 8192,		/* longer ones are cut */
};

enum raw_record {
	RAW_HEAD = 1, RAW_DATA = 2, RAW_NOTE = 3, RAW_END = 4,
};

enum raw_item {
	RAW_STRING = 1, RAW_FILE = 2, RAW_MODULE = 3, RAW_TASK = 4, RAW_ROW = 5,
	RAW_ITEM_BITS = 3,
};

/* Of a file without a build-id. Other numbers may come, and mean as much as
 * RAW_UNREAD. */
enum raw_known {
	RAW_READ = 0,		/* there is none in it */
	RAW_UNREAD = 1,		/* whether there is one: all processes that
				 * mapped it ended before it was read, or do
				 * not let it be read */
};

/* What a frame is of, and its place in that. */
enum raw_frame_kind {
	RAW_IN_FILE = 0,	/* a file; an offset in it */
	RAW_IN_KERNEL = 1,	/* 0; an address, signed: from where the
				 * kernel's text starts, if the head tells that,
				 * else from 0 */
	RAW_IN_MODULE = 2,	/* a module; from its base */
	RAW_IN_AREA = 3,	/* a string: "[heap]", or "" for other memory
				 * without a file; an offset in the mapping */
	RAW_UNCERTAIN = 4,	/* 0; an address where different files were
				 * mapped */
	RAW_NO_CODE = 5,	/* 0, no place: where no code was mapped */
	RAW_NAMED = 6,		/* a string, the function: of the vDSO ... */
	RAW_JIT = 7,		/* ... or of a JIT's map; no place */
};

enum raw_side_flag {
	RAW_USER = 1, RAW_KERNEL = 2, RAW_CALLER = 4, RAW_WAKER = 8,
	RAW_MISSED_USER = 16,	/* there was a stack, it got lost */
	RAW_MISSED_KERNEL = 32,
	RAW_LEAF_RETURNS = 64,	/* the user stack's leaf is a return address */
};

/* Of the head and the end: what a number means is forever. */
enum raw_field {
	RAW_COMMAND = 1,	/* text: profile ... */
	RAW_HOST = 2,		/* text: its name, release and machine as of */
	RAW_RELEASE = 3,	/* uname(2) */
	RAW_ARCH = 4,
	RAW_BOOT = 5,		/* text: the kernel's random boot_id */
	RAW_STARTED = 6,	/* ns since 1970 */
	RAW_WIDTH = 7,		/* bits of a word */
	RAW_BIG_ENDIAN = 8,	/* 1: so it is; which means nothing here */
	RAW_KERNEL_ID = 9,	/* bytes: the kernel's build-id */
	RAW_TEXT = 10,		/* where its text starts, _stext */
	RAW_UNIT = 11,		/* text: of the numbers of a row, once each */
	RAW_COUNTNAME = 12,	/* text: another name for the first */
	RAW_TITLE = 13,		/* text: of a graph */
	RAW_LAYOUT = 14,	/* enum raw_layout */
	RAW_SKIP = 15,		/* innermost functions to leave out ... */
	RAW_DEPTH = 16,		/* ... and how many of a half to show */
	RAW_TOLD = 17,		/* text, of the end: "99 Hz, 10.0 s, ..." */
	RAW_LASTED = 18,	/* ns, of the end */
	RAW_ROWS = 19,		/* rows in all, of the end */
	RAW_PERIOD = 20,	/* ns that a sample of CPU time stands for */
	RAW_EVENT = 21,		/* text: "cpu-clock, 99 Hz"; since minor 1 */
	RAW_WAIT = 22,		/* where calls of the kernel return to that
				 * sleep in nanosleep(2) and poll(2), once
				 * each: places its text, or proves where it is;
				 * since minor 1 */
};

/* How the command shows its stacks, and what of them is the tracing itself. */
enum raw_layout {
	RAW_HITS = 1,		/* stackcount's layout */
	RAW_DELIMITED = 2, RAW_ANNOTATED = 4, RAW_ADDRESSES = 8, RAW_PIDS = 16,
	RAW_OF_PROBES = 32,	/* kernel stacks begin with a program */
	RAW_OF_EVENTS = 64,	/* ... or with what runs one */
	RAW_OF_SCHEDULER = 128,	/* ... or with a tracepoint in it */
};

/* The head, or the end: absent texts are NULL, absent numbers 0. */
struct raw_head {
	const char *command, *host, *release, *arch, *boot, *countname, *title;
	const char *event;
	const char *units[RAW_UNITS_MOST];
	uint64_t started, width, big_endian, text, layout, skip, depth, period;
	uint64_t waits[RAW_WAITS_MOST];	/* 0 = no more of them */
	uint8_t kernel_id[RAW_ID_MOST];
	size_t kernel_id_len;
};

struct raw_end {
	const char *told;
	uint64_t lasted, rows;
};

struct raw_segment {
	uint64_t offset, size, vaddr;
};

struct raw_file {
	const char *path;
	uint64_t unread;		/* enum raw_known */
	uint64_t inode;
	uint32_t major, minor;
	uint8_t id[RAW_ID_MOST];
	size_t id_len, nsegments;
	struct raw_segment segments[RAW_SEGMENTS_MOST];
};

struct raw_module {
	const char *name;
	uint64_t base, size;
	uint8_t id[RAW_ID_MOST];
	size_t id_len;
};

struct raw_frame {
	uint64_t at;
	uint32_t of, kind;
};

static inline int raw_has_place(uint32_t kind)
{
	return kind < RAW_NO_CODE;
}

#endif
