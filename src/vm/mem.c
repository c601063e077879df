/* SPDX-License-Identifier: MIT */
/* What a program may touch, and reading what a script's addresses point to. */
#include "vm/machine.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static bool inside(const struct region *r, uint64_t addr, uint64_t n,
		   bool write)
{
	/* One comparison for both ends: below the base it wraps. */
	uint64_t off = addr - r->base;

	return off < r->size && r->size - off >= n && (!write || r->writable);
}

/* Regions beyond the limit are not there: a program that wants them faults. */
void mem_region(struct vm *vm, uint64_t base, const void *host, uint64_t size,
		bool writable)
{
	if (!size || vm->nregions == VM_MAX_REGIONS)
		return;
	vm->region[vm->nregions++] = (struct region){
	    .base = base,
	    .size = size,
	    .host = (uint8_t *)(uintptr_t)host,
	    .writable = writable,
	};
}

/* A region at its own address. */
static void own_region(struct vm *vm, const void *p, uint64_t size,
		       bool writable)
{
	mem_region(vm, (uint64_t)(uintptr_t)p, p, size, writable);
}

/* Of a machine without a store (bare instructions) only the context. */
void mem_setup(struct vm *vm)
{
	const struct plan *p = vm->s ? vm->s->plan : NULL;

	vm->nregions = 0;
	own_region(vm, vm->zero_ctx, sizeof(vm->zero_ctx), true);
	if (p) {
		own_region(vm, vm->s->control,
			   p->control_size < sizeof(struct control)
			       ? sizeof(struct control)
			       : p->control_size,
			   true);
		own_region(vm, vm->s->rows, (uint64_t)p->nrows * p->row_size,
			   true);
		own_region(vm, vm->s->rodata, p->rodata_size, false);
	}
	vm->nfixed = vm->nregions;
}

/*
 * In the order of how often each is hit: the stack, fixed regions (control,
 * rows, literals, the event), reserved ring records, elements of maps. Elements
 * are last because finding their owner is a search.
 */
uint8_t *mem_find(struct vm *vm, uint64_t addr, uint64_t n, bool write)
{
	uint64_t base, size;
	unsigned i;

	if (addr - vm->stack_lo < vm->stack_size &&
	    vm->stack_size - (addr - vm->stack_lo) >= n)
		return (uint8_t *)(uintptr_t)addr;
	for (i = 0; i < vm->nregions; i++) {
		if (!inside(&vm->region[i], addr, n, write))
			continue;
		vm->last = vm->region[i];
		return vm->last.host + (addr - vm->last.base);
	}
	for (i = 0; i < VM_MAX_RESERVED; i++) {
		struct vm_reserved *r = &vm->reserved[i];

		base = (uint64_t)(uintptr_t)r->bytes;
		if (r->bytes && addr - base < r->n && r->n - (addr - base) >= n)
			return (uint8_t *)(uintptr_t)addr;
	}
	if (vm->in_kernel && vm->s &&
	    store_mem_owner(vm->s, addr, &base, &size) &&
	    size - (addr - base) >= n && addr - base < size) {
		/* exec forgets it at the next helper call, which may delete
		 * the element. */
		vm->last = (struct region){
		    .base = base,
		    .size = size,
		    .host = (uint8_t *)(uintptr_t)base,
		    /*
		     * The owner is only asked in kernel code: host code has
		     * copies of elements.
		     */
		    .writable = true,
		};
		return (uint8_t *)(uintptr_t)addr;
	}
	return NULL;
}

uint8_t *mem_at(struct vm *vm, uint64_t addr, uint64_t n, bool write)
{
	uint8_t *p;

	if (!n)
		return (uint8_t *)vm->zero_ctx;
	p = mem_find(vm, addr, n, write);
	if (!p)
		vm_failed(vm, "a helper's argument: %llu bytes at %#llx",
			  (unsigned long long)n, (unsigned long long)addr);
	return p;
}

/*
 * How many bytes follow addr in its region. After a successful mem_at(), which
 * set vm->last, or for the stack.
 */
static uint64_t mem_rest(struct vm *vm, uint64_t addr)
{
	uint64_t off = addr - vm->stack_lo;

	if (off < vm->stack_size)
		return vm->stack_size - off;
	return vm->last.base + vm->last.size - addr;
}

const char *mem_str(struct vm *vm, uint64_t addr, size_t max, size_t *ret_n)
{
	const char *s;
	uint64_t rest;

	*ret_n = 0;
	vm->last.size = 0;
	s = (const char *)mem_at(vm, addr, 1, false);
	if (!s)
		return "";
	/* A reserved record sets no region: one byte at a time is fine there,
	 * programs do not pass strings in records. */
	rest = vm->last.size || addr - vm->stack_lo < vm->stack_size
		   ? mem_rest(vm, addr)
		   : 1;
	*ret_n = strnlen(s, rest < max ? rest : max);
	return s;
}

/* dst must have width bytes. memmove: it may be part of s. */
void mem_put_str(struct vm *vm, uint64_t dst, uint64_t width, const char *s,
		 size_t n)
{
	uint8_t *to;

	if (!width)
		return;
	/* Padded in full: keys and values are compared by all their bytes. */
	to = mem_at(vm, dst, width, true);
	if (!to)
		return;
	if (n > width - 1)
		n = width - 1;
	memmove(to, s, n);
	memset(to + n, 0, width - n);
}

bool vm_event_memory(const struct vm_event *e, uint64_t addr, void *dst,
		     size_t n)
{
	unsigned i;

	for (i = 0; e && i < e->nmem; i++) {
		uint64_t off = addr - e->mem[i].addr;

		if (off >= e->mem[i].n || e->mem[i].n - off < n)
			continue;
		memcpy(dst, (const char *)e->mem[i].bytes + off, n);
		return true;
	}
	return false;
}

/*
 * user: an address of the process that hit the probe, read through the kernel:
 * it may have ended.
 */
int mem_read_target(struct vm *vm, uint64_t addr, void *dst, size_t n, int user)
{
	struct iovec to = {dst, n};
	struct iovec from = {(void *)(uintptr_t)addr, n};
	pid_t pid = getpid();

	if (!n || vm_event_memory(vm->event, addr, dst, n))
		return 0;
	/*
	 * A simulated run sees nothing but its event: results are the same
	 * anywhere.
	 */
	if (vm->event || vm->c->set.runtime == RUNTIME_VM)
		return -EFAULT;
	if (!user)
		return vm->hooks.read_kernel
			   ? vm->hooks.read_kernel(vm->hooks.ctx, addr, dst, n)
			   : -EFAULT;
	if (vm->ctx)
		pid = (pid_t)(vm->ctx->pid_tgid >> 32);
	/* Reading even our own memory this way turns a wild address into an
	 * error instead of a signal. */
	if (process_vm_readv(pid, &to, 1, &from, 1, 0) != (ssize_t)n)
		return -EFAULT;
	return 0;
}

int64_t mem_read_target_str(struct vm *vm, uint64_t addr, char *dst, size_t n,
			    int user)
{
	size_t i, step;

	/* By pieces that do not cross a page (the string may end just before
	 * memory that is not there), by bytes where a piece fails. */
	for (i = 0; i < n; i += step) {
		step = 4096 - ((addr + i) & 4095);
		if (step > n - i)
			step = n - i;
		if (step > 64)
			step = 64;
		if (mem_read_target(vm, addr + i, dst + i, step, user)) {
			step = 1;
			/*
			 * At the first NUL the rest of the piece does not
			 * matter.
			 */
			if (mem_read_target(vm, addr + i, dst + i, 1, user))
				return -EFAULT;
		}
		if (memchr(dst + i, 0, step))
			return (int64_t)strlen(dst);
	}
	dst[n] = '\0';
	return (int64_t)n;
}
