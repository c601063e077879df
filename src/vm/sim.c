/* SPDX-License-Identifier: MIT */
/* The table of simulated helpers; maps and loops. */
#include "vm/sim.h"

#include <errno.h>
#include <stdlib.h>

#include <linux/bpf.h>

#include "base/xalloc.h"

/* The kernel's BPF_MAX_LOOPS: more is -E2BIG there as well. */
enum { LOOP_MAX = 1 << 23 };

/* NULL: generated code never calls it, or nobody has simulated it yet. */
vm_helper *sim_helper_at(int64_t id)
{
	switch (id) {
	case BPF_FUNC_map_lookup_elem:
		return sim_map_lookup;
	case BPF_FUNC_map_update_elem:
		return sim_map_update;
	case BPF_FUNC_map_delete_elem:
		return sim_map_delete;
	case BPF_FUNC_map_lookup_percpu_elem:
		return sim_lookup_percpu;
	case BPF_FUNC_loop:
		return sim_loop;
	case BPF_FUNC_for_each_map_elem:
		return sim_for_each;
	case BPF_FUNC_ktime_get_ns:
	case BPF_FUNC_ktime_get_boot_ns:
		return sim_ktime;
	case BPF_FUNC_get_prandom_u32:
		return sim_prandom;
	case BPF_FUNC_get_smp_processor_id:
		return sim_cpu;
	case BPF_FUNC_get_current_pid_tgid:
		return sim_pid_tgid;
	case BPF_FUNC_get_current_uid_gid:
		return sim_uid_gid;
	case BPF_FUNC_get_current_comm:
		return sim_comm;
	case BPF_FUNC_get_current_task:
	case BPF_FUNC_get_current_task_btf:
		return sim_task;
	case BPF_FUNC_jiffies64:
		return sim_jiffies;
	case BPF_FUNC_get_stack:
		return sim_get_stack;
	case BPF_FUNC_snprintf:
		return sim_snprintf;
	case BPF_FUNC_probe_read_user:
		return sim_read_user;
	case BPF_FUNC_probe_read:
	case BPF_FUNC_probe_read_kernel:
		return sim_read_kernel;
	case BPF_FUNC_probe_read_user_str:
		return sim_read_user_str;
	case BPF_FUNC_probe_read_kernel_str:
		return sim_read_kernel_str;
	case BPF_FUNC_ringbuf_reserve:
		return sim_ring_reserve;
	case BPF_FUNC_ringbuf_submit:
		return sim_ring_submit;
	case BPF_FUNC_ringbuf_query:
		return sim_ring_query;
	case BPF_FUNC_ringbuf_discard:
		return sim_ring_discard;
	case BPF_FUNC_ringbuf_output:
		return sim_ring_output;
	default:
		return NULL;
	}
}

bool sim_on_host(int64_t id)
{
	return id == BPF_FUNC_probe_read_kernel ||
	       id == BPF_FUNC_probe_read_kernel_str;
}

const struct plan_map *sim_map(struct vm *vm, uint64_t handle,
			       unsigned *ret_map)
{
	const struct plan *p = vm->s ? vm->s->plan : NULL;
	uint32_t map = (uint32_t)handle;

	if (!p || (handle & VM_TAG_MASK) != VM_MAP_TAG ||
	    (map & 0xffff) >= p->maps.n) {
		vm_failed(vm, "%#llx is not a map", (unsigned long long)handle);
		return NULL;
	}
	*ret_map = map;
	return &p->maps.v[map & 0xffff];
}

/* Element 0 of one of the areas. */
static uint64_t area(struct vm *vm, unsigned map)
{
	const uint8_t *p = map == MAP_CONTROL  ? vm->s->control
			   : map == MAP_ROWS   ? vm->s->rows
			   : map == MAP_RODATA ? vm->s->rodata
					       : NULL;

	return (uint64_t)(uintptr_t)p;
}

/* cpu: whose value of a per-CPU map. 0: NULL, as the kernel's helper. */
static uint64_t lookup(struct vm *vm, const uint64_t *a, uint64_t cpu)
{
	const struct plan_map *m;
	const uint8_t *key;
	unsigned map = 0;
	uint32_t bank;

	m = sim_map(vm, a[0], &map);
	if (!m)
		return 0;
	key = mem_at(vm, a[1], m->key_size ? m->key_size : 4, false);
	if (!key)
		return 0;
	/* Arrays of one element, with index 0. */
	if (map < MAP_FIRST_ARRAY)
		return *(const uint32_t *)(const void *)key ? 0 : area(vm, map);
	if (m->kind == PM_BANKS && map <= 0xffff) {
		/* The outer map: its value is the inner map itself. */
		key = mem_at(vm, a[1], 4, false);
		if (!key)
			return 0;
		bank = *(const uint32_t *)(const void *)key;
		return bank > 1 ? 0 : VM_MAP_TAG | STORE_BANK(map, bank);
	}
	return (uint64_t)(uintptr_t)store_mem_lookup(vm->s, map, key,
						     (unsigned)cpu);
}

uint64_t sim_map_lookup(struct vm *vm, const uint64_t *a)
{
	return lookup(vm, a, sim_cpu(vm, a));
}

uint64_t sim_lookup_percpu(struct vm *vm, const uint64_t *a)
{
	return a[2] >= vm->s->plan->ncpus ? 0 : lookup(vm, a, a[2]);
}

/*
 * a: map, key, value, flags. The kernel refuses these maps when it loads the
 * program; here it is a fault.
 */
uint64_t sim_map_update(struct vm *vm, const uint64_t *a)
{
	const struct plan_map *m;
	const uint8_t *key, *value;
	unsigned map;

	m = sim_map(vm, a[0], &map);
	if (!m)
		return 0;
	if (map < MAP_FIRST_ARRAY || (m->kind == PM_BANKS && map <= 0xffff))
		return vm_failed(vm, "update of map %u", map);
	key = mem_at(vm, a[1], m->key_size, false);
	value = mem_at(vm, a[2], m->value_size, false);
	if (!key || !value)
		return 0;
	return (uint64_t)store_mem_update(vm->s, map, key, value, a[3],
					  (unsigned)sim_cpu(vm, a));
}

uint64_t sim_map_delete(struct vm *vm, const uint64_t *a)
{
	const struct plan_map *m;
	const uint8_t *key;
	unsigned map;

	m = sim_map(vm, a[0], &map);
	if (!m)
		return 0;
	key = mem_at(vm, a[1], m->key_size, false);
	if (!key)
		return 0;
	return (uint64_t)store_mem_delete(vm->s, map, key);
}

/*
 * bpf_loop(count, callback, context, flags): iterations done. The callback gets
 * index and context and ends the loop by returning 1.
 */
uint64_t sim_loop(struct vm *vm, const uint64_t *a)
{
	uint64_t r0 = 0, i;
	struct image *img = vm->current;

	if ((a[1] & VM_TAG_MASK) != (VM_FUNC_TAG & VM_TAG_MASK))
		return vm_failed(vm, "%#llx is not a callback",
				 (unsigned long long)a[1]);
	if (a[3])
		return (uint64_t)-EINVAL;
	if ((uint32_t)a[0] > LOOP_MAX)
		return (uint64_t)-E2BIG;
	if (vm->loops == VM_MAX_LOOPS)
		return vm_failed(vm, "loops nest too deep");
	vm->loops++;
	/* exec_run() has a frame of its own below the program's. */
	for (i = 0; i < (uint32_t)a[0] && !r0 && vm->halt == HALT_NO; i++) {
		const uint64_t args[4] = {i, a[2]};

		exec_run(vm, img, (uint32_t)a[1], args, vm->stack_lo, &r0);
		/* The callback's own calls of helpers do not change it. */
		vm->current = img;
	}
	vm->loops--;
	return i;
}

/* The map's elements do nothing but count rounds, so there are none here. */
static uint64_t count_turns(struct vm *vm, const uint64_t *a, uint32_t most)
{
	struct image *img = vm->current;
	const uint64_t args[4] = {a[0], 0, 0, a[2]};
	uint64_t r0 = 0, i;

	vm->loops++;
	for (i = 0; i < most && !r0 && vm->halt == HALT_NO; i++) {
		exec_run(vm, img, (uint32_t)a[1], args, vm->stack_lo, &r0);
		vm->current = img;
	}
	vm->loops--;
	return i;
}

/* bpf_for_each_map_elem(map, callback, context, flags): elements visited. The
 * callback may remove the one it is at, and then has to end the walk. */
uint64_t sim_for_each(struct vm *vm, const uint64_t *a)
{
	struct image *img = vm->current;
	unsigned map, n = vm->nregions;
	const struct plan_map *m = sim_map(vm, a[0], &map);
	uint64_t r0 = 0, i;
	uint32_t at = UINT32_MAX;
	uint8_t *key;
	void *value;

	if (!m)
		return 0;
	if ((a[1] & VM_TAG_MASK) != (VM_FUNC_TAG & VM_TAG_MASK))
		return vm_failed(vm, "%#llx is not a callback",
				 (unsigned long long)a[1]);
	if (a[3])
		return (uint64_t)-EINVAL;
	if (vm->loops == VM_MAX_LOOPS)
		return vm_failed(vm, "loops nest too deep");
	if (m->kind == PM_TURNS)
		return count_turns(vm, a, m->max_entries);
	key = xmalloc(m->key_size);
	mem_region(vm, (uint64_t)(uintptr_t)key, key, m->key_size, false);
	vm->loops++;
	for (i = 0; !r0 && vm->halt == HALT_NO; i++) {
		value = store_mem_next(vm->s, map, &at, key);
		if (!value)
			break;
		exec_run(vm, img, (uint32_t)a[1],
			 (const uint64_t[4]){a[0], (uint64_t)(uintptr_t)key,
					     (uint64_t)(uintptr_t)value, a[2]},
			 vm->stack_lo, &r0);
		vm->current = img;
	}
	vm->loops--;
	vm->nregions = n;
	vm->last = (struct region){0};
	free(key);
	return i;
}
