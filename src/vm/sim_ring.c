/* SPDX-License-Identifier: MIT */
/* The ring buffer: what a handler sends is kept until it has ended, then given
 * to the session in order. */
#include "vm/sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

/* Takes the bytes over. */
static void enqueue(struct vm *vm, uint8_t *bytes, uint32_t n)
{
	if (vm->nqueue == vm->queue_cap) {
		vm->queue_cap = vm->queue_cap ? vm->queue_cap * 2 : 16;
		vm->queue =
		    xrealloc(vm->queue, vm->queue_cap * sizeof(*vm->queue));
	}
	vm->queue[vm->nqueue++] = (struct vm_reserved){bytes, n};
}

/* Does the register name the ring, and does a record of n bytes fit it? */
static bool ring_takes(struct vm *vm, uint64_t handle, uint64_t n)
{
	unsigned map = 0, i;
	uint64_t used = n;

	if (!sim_map(vm, handle, &map))
		return false;
	if (map != MAP_RING) {
		vm_failed(vm, "map %u is not the ring", map);
		return false;
	}
	/* Nothing is taken out while the handler runs, so what waits counts. */
	for (i = 0; i < vm->nqueue; i++)
		used += vm->queue[i].n + 8;
	/* A plan without programs that send has no size: then 1 MiB. */
	return used <=
	       (vm->s->plan->ring_bytes ? vm->s->plan->ring_bytes : 1u << 20);
}

/* a: map, size. 0: no room; the program counts that. */
uint64_t sim_ring_reserve(struct vm *vm, const uint64_t *a)
{
	unsigned i;

	if (!ring_takes(vm, a[0], a[1]) || !a[1])
		return 0;
	for (i = 0; i < VM_MAX_RESERVED; i++)
		if (!vm->reserved[i].bytes)
			break;
	if (i == VM_MAX_RESERVED)
		return vm_failed(vm, "reserved records are never submitted");
	vm->reserved[i].n = (uint32_t)a[1];
	vm->reserved[i].bytes = xcalloc(1, a[1]);
	return (uint64_t)(uintptr_t)vm->reserved[i].bytes;
}

/* The reservation that starts at addr, taken out; 0 bytes: none. */
static struct vm_reserved take(struct vm *vm, uint64_t addr)
{
	struct vm_reserved r = {0};
	unsigned i;

	for (i = 0; i < VM_MAX_RESERVED; i++) {
		if (!addr || (uint64_t)(uintptr_t)vm->reserved[i].bytes != addr)
			continue;
		r = vm->reserved[i];
		vm->reserved[i] = (struct vm_reserved){0};
		return r;
	}
	vm_failed(vm, "%#llx is not a reserved record",
		  (unsigned long long)addr);
	return r;
}

/* a: the record. */
uint64_t sim_ring_submit(struct vm *vm, const uint64_t *a)
{
	struct vm_reserved r = take(vm, a[0]);

	if (r.bytes)
		enqueue(vm, r.bytes, r.n);
	return 0;
}

/* a: map, what is asked: only how many bytes wait is. */
uint64_t sim_ring_query(struct vm *vm, const uint64_t *a)
{
	uint64_t n = 0;

	if (!ring_takes(vm, a[0], 0))
		return 0;
	for (unsigned i = 0; i < vm->nqueue; i++)
		n += vm->queue[i].n + 8;
	return n;
}

uint64_t sim_ring_discard(struct vm *vm, const uint64_t *a)
{
	free(take(vm, a[0]).bytes);
	return 0;
}

/* a: map, data, size: a whole record at once. */
uint64_t sim_ring_output(struct vm *vm, const uint64_t *a)
{
	const uint8_t *data;
	uint8_t *copy;

	if (!ring_takes(vm, a[0], a[2]))
		return (uint64_t)-EAGAIN;
	data = mem_at(vm, a[1], a[2], false);
	if (!data || !a[2])
		return (uint64_t)-EINVAL;
	copy = xmalloc(a[2]);
	memcpy(copy, data, a[2]);
	enqueue(vm, copy, (uint32_t)a[2]);
	return 0;
}
