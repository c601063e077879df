/* SPDX-License-Identifier: MIT */
/* The kernel's helpers as far as generated kernel code calls them, on a
 * simulated event. */
#ifndef VM_SIM_H
#define VM_SIM_H

#include "vm/machine.h"

/* sim.c: maps and loops */
vm_helper sim_map_lookup, sim_map_update, sim_map_delete, sim_lookup_percpu,
    sim_loop, sim_for_each;
/* sim_event.c: who, when, memory */
vm_helper sim_ktime, sim_prandom, sim_cpu, sim_pid_tgid, sim_uid_gid, sim_comm,
    sim_task, sim_jiffies, sim_read_user, sim_read_kernel, sim_read_user_str,
    sim_read_kernel_str, sim_get_stack, sim_snprintf;
/* sim_ring.c */
vm_helper sim_ring_reserve, sim_ring_submit, sim_ring_query,
	sim_ring_discard, sim_ring_output;

/* The plan's map that a register names; NULL after vm_failed(). *ret_map: as
 * the store numbers it. */
const struct plan_map *sim_map(struct vm *vm, uint64_t handle,
			       unsigned *ret_map);

#endif
