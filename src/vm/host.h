/* SPDX-License-Identifier: MIT */
/* The host helpers, one per row of gen/host.def; a holds r1 to r5. */
#ifndef VM_HOST_H
#define VM_HOST_H

#include "vm/machine.h"

/* host.c */
vm_helper host_failed, host_takeerr, host_raise, host_uncaught, host_act,
    host_enter_call, host_leave_call, host_builtin, host_match, host_read_mem,
    host_lock, host_unlock, host_resumed;
/* host_print.c */
vm_helper host_print, host_sprint, host_hist_print, host_hist_sprint;
/* host_array.c */
vm_helper host_arr_get, host_arr_set, host_arr_add, host_arr_has, host_arr_del,
    host_arr_clear;
/* host_agg.c */
vm_helper host_agg_add, host_agg_get, host_agg_hist;
/* host_iter.c */
vm_helper host_iter_new, host_iter_next, host_iter_key, host_iter_val,
    host_iter_end;

/* Do two keys agree where wild has no bit? */
bool key_matches(const struct plan_key *k, const uint8_t *a, const uint8_t *b,
		 uint64_t wild);
/*
 * While a lock is held, foreach knows what is in the element it is at: reading
 * it again would be a system call with the lock in hand. The value to dst;
 * false: it has to be looked up.
 */
bool iters_value(const struct vm *vm, const struct plan_global *g,
		 const uint8_t *key, uint8_t *dst);
/* Was the array emptied when the lock was taken? */
bool host_emptied(const struct vm *vm, unsigned g);

/* The array was changed by this handler; NULL: a lock was released. */
void iters_stale(struct vm *vm, const struct plan_global *g);
/* The readable key at addr; NULL for a scalar, or after vm_failed(). */
const uint8_t *host_key(struct vm *vm, const struct plan_global *g,
			uint64_t addr);

#endif
