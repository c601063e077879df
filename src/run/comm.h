/* SPDX-License-Identifier: MIT */
/* Where the running kernel's task_struct has the name of the task. */
#ifndef RUN_COMM_H
#define RUN_COMM_H

#include <stdint.h>

/*
 * The offset of comm in task_struct if programs may load from it directly, or
 * 0: then they ask by bpf_get_current_comm(). That helper fills the buffer in
 * ways that cost 30 to 50 ns a call; two loads are two. BTF would tell the
 * offset too, but opening it takes 7 ms, and this less than a tenth of one.
 */
uint32_t comm_find(void);

#endif
