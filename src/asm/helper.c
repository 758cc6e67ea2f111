/* helper - the kernel's BPF helpers that programs here call. */
#include "asm/helper.h"

#include <stddef.h>

#include "uapi.h"

#define HELPER(name, args) { BPF_FUNC_##name, #name, args }

static const struct helper helpers[] = {
	HELPER(map_lookup_elem, "mk"),
	HELPER(map_update_elem, "mkuv"),
	HELPER(map_delete_elem, "mk"),
	HELPER(probe_read, "wsv"),
	HELPER(probe_read_str, "wsv"),
	HELPER(probe_read_user, "wsv"),
	HELPER(probe_read_kernel, "wsv"),
	HELPER(probe_read_user_str, "wsv"),
	HELPER(probe_read_kernel_str, "wsv"),
	HELPER(ktime_get_ns, ""),
	HELPER(get_prandom_u32, ""),
	HELPER(get_smp_processor_id, ""),
	HELPER(get_current_pid_tgid, ""),
	HELPER(get_current_uid_gid, ""),
	HELPER(get_current_comm, "ws"),
	HELPER(get_current_task, ""),
	HELPER(get_current_cgroup_id, ""),
	HELPER(current_task_under_cgroup, "mv"),
	HELPER(get_ns_current_pid_tgid, "vvws"),
	HELPER(get_stackid, "cmv"),
	HELPER(get_stack, "cwsv"),
	HELPER(perf_event_output, "cmvrs"),
	HELPER(ringbuf_output, "mrsv"),
	HELPER(ringbuf_reserve, "mvv"),
	HELPER(ringbuf_submit, "vv"),
	HELPER(ringbuf_query, "mv"),
	HELPER(perf_prog_read_value, "cws"),
	HELPER(get_attach_cookie, "c"),
	HELPER(get_task_stack, "vwsv"),
	HELPER(seq_write, "vrs"),
};

const struct helper *helper_find(int32_t number)
{
	for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++)
		if (helpers[i].number == number)
			return &helpers[i];
	return NULL;
}
