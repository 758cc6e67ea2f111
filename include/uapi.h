/* uapi - the only includer of <linux/...>; adds what an older header lacks. */
#ifndef UAPI_H
#define UAPI_H

#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/perf_event.h>

/* Headers of Linux 6.1 or later build sonde, whatever kernel it runs on. What
 * came later is numbered here; enumerators of newer headers hide behind the
 * macros, with the same values. */
#define BPF_TRACE_UPROBE_MULTI		48	/* 6.6 */
#define BPF_F_UPROBE_MULTI_RETURN	1U

/* BPF_LINK_CREATE of such a link: its part of union bpf_attr. */
struct bpf_uprobe_multi_attr {
	__u32 prog_fd, target_fd, attach_type, link_flags;
	__u64 path, offsets, ref_ctr_offsets, cookies;
	__u32 cnt, flags, pid, unused;
};

/* What BPF_OBJ_GET_INFO_BY_FD says of links to kprobes, since 6.7. */
struct bpf_missed_info {
	__u32 type, id, prog_id, unused;
	union {
		struct {			/* BPF_LINK_TYPE_KPROBE_MULTI */
			__u64 addrs;
			__u32 count, flags;
			__u64 missed;
		} kprobe_multi;
		struct {			/* BPF_LINK_TYPE_PERF_EVENT */
			__u32 type, unused;
			__u64 func_name;
			__u32 name_len, offset;
			__u64 addr, missed;
		} kprobe;
	};
};
enum { BPF_MISSED_KPROBE = 3, BPF_MISSED_KRETPROBE = 4 };	/* its type */

#endif
