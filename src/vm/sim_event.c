/* SPDX-License-Identifier: MIT */
/* Who, when, and reading memory, as the simulated event has it. */
#include "vm/sim.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Some address in the kernel's half, the same for a thread. A handler may print
 * it or compare it; there is nothing at that address.
 */
static const uint64_t TASKS = 0xffff888000000000ull;

uint64_t sim_ktime(struct vm *vm, const uint64_t *a)
{
	struct vm_who w;

	vm_whoami(vm, &w);
	return (uint64_t)w.mono_ns;
}

uint64_t sim_jiffies(struct vm *vm, const uint64_t *a)
{
	return sim_ktime(vm, a) / (uint64_t)vm->tick_ns;
}

/* Seeded by tests, so that a golden output can hold what follows from it. */
uint64_t sim_prandom(struct vm *vm, const uint64_t *a)
{
	return (uint32_t)vm_random(vm);
}

uint64_t sim_cpu(struct vm *vm, const uint64_t *a)
{
	struct vm_who w;

	vm_whoami(vm, &w);
	/* An event file may come from a bigger machine than the plan is for. */
	return w.cpu % (vm->s && vm->s->plan->ncpus ? vm->s->plan->ncpus : 1);
}

uint64_t sim_pid_tgid(struct vm *vm, const uint64_t *a)
{
	struct vm_who w;

	vm_whoami(vm, &w);
	return (uint64_t)w.pid << 32 | w.tid;
}

uint64_t sim_uid_gid(struct vm *vm, const uint64_t *a)
{
	struct vm_who w;

	vm_whoami(vm, &w);
	return (uint64_t)w.gid << 32 | w.uid;
}

/*
 * a: buffer, its size. Always ends with a NUL, zeros behind, as the kernel's.
 */
uint64_t sim_comm(struct vm *vm, const uint64_t *a)
{
	struct vm_who w;
	uint8_t *dst = mem_at(vm, a[0], (uint32_t)a[1], true);
	uint32_t n = (uint32_t)a[1];

	if (!dst || !n)
		return (uint64_t)-EINVAL;
	vm_whoami(vm, &w);
	memset(dst, 0, n);
	memcpy(dst, w.comm, strnlen(w.comm, n < 16 ? n - 1 : 15));
	return 0;
}

uint64_t sim_task(struct vm *vm, const uint64_t *a)
{
	return TASKS + ((sim_pid_tgid(vm, a) & 0xffffff) << 14);
}

/* The program's own memory counts: the kernel could read it too. */
static int read_some(struct vm *vm, uint64_t addr, uint8_t *dst, size_t n,
		     int user)
{
	const uint8_t *own = user ? NULL : mem_find(vm, addr, n, false);

	if (own) {
		memmove(dst, own, n);
		return 0;
	}
	return mem_read_target(vm, addr, dst, n, user);
}

/*
 * a: where to, how many, from where. On a fault the buffer is zeroed, as the
 * kernel does: nothing old is taken for what was read.
 */
static uint64_t read_bytes(struct vm *vm, const uint64_t *a, int user)
{
	uint32_t n = (uint32_t)a[1];
	uint8_t *dst = mem_at(vm, a[0], n, true);

	if (!dst || !n)
		return 0;
	if (!read_some(vm, a[2], dst, n, user))
		return 0;
	memset(dst, 0, n);
	return (uint64_t)-EFAULT;
}

uint64_t sim_read_user(struct vm *vm, const uint64_t *a)
{
	return read_bytes(vm, a, 1);
}

uint64_t sim_read_kernel(struct vm *vm, const uint64_t *a)
{
	return read_bytes(vm, a, 0);
}

/*
 * The length with its NUL, which is always there. By bytes: strings of events
 * are short, and the end may be anywhere.
 */
static uint64_t read_string(struct vm *vm, const uint64_t *a, int user)
{
	uint32_t n = (uint32_t)a[1], i;
	uint8_t *dst = mem_at(vm, a[0], n, true);

	if (!dst || !n)
		return 0;
	for (i = 0; i < n; i++) {
		if (read_some(vm, a[2] + i, dst + i, 1, user)) {
			memset(dst, 0, n);
			return (uint64_t)-EFAULT;
		}
		if (!dst[i])
			return i + 1;
	}
	dst[n - 1] = 0;
	return n;
}

uint64_t sim_read_user_str(struct vm *vm, const uint64_t *a)
{
	return read_string(vm, a, 1);
}

uint64_t sim_read_kernel_str(struct vm *vm, const uint64_t *a)
{
	return read_string(vm, a, 0);
}

/* bpf_get_stack(ctx, buffer, size, flags): bytes written. */
uint64_t sim_get_stack(struct vm *vm, const uint64_t *a)
{
	bool user = a[3] & BPF_F_USER_STACK;
	uint64_t skip = a[3] & BPF_F_SKIP_FIELD_MASK;
	const uint64_t *from = NULL;
	unsigned n = 0, max = (unsigned)(a[2] / 8);
	uint8_t *dst = mem_at(vm, a[1], a[2], true);

	if (!dst)
		return (uint64_t)-EINVAL;
	/* Of the program itself the event file says nothing. */
	if (!user && vm->probe) {
		unsigned own = gen_own_frames(vm->probe->prog);

		skip -= skip < own ? skip : own;
	}
	if (vm->event) {
		from = user ? vm->event->ustack : vm->event->stack;
		n = user ? vm->event->nustack : vm->event->nstack;
	}
	if (n <= skip)
		return (uint64_t)-EFAULT;
	n -= (unsigned)skip;
	if (n > max)
		n = max;
	memcpy(dst, from + skip, 8ull * n);
	return 8ull * n;
}

/* bpf_snprintf() of one address, the only format that is made for it. */
uint64_t sim_snprintf(struct vm *vm, const uint64_t *a)
{
	uint8_t *dst = mem_at(vm, a[0], a[1], true);
	const uint8_t *v = mem_at(vm, a[3], 8, false);
	size_t n;
	const char *fmt = mem_str(vm, a[2], 16, &n);
	uint64_t addr;

	if (!dst || !v)
		return (uint64_t)-EINVAL;
	if (a[4] != 8 || (strcmp(fmt, "0x%llx") && strcmp(fmt, " 0x%llx")))
		return vm_failed(vm, "format '%s'", fmt);
	memcpy(&addr, v, 8);
	return 1 + (uint64_t)snprintf((char *)dst, a[1], "%s0x%llx",
				      *fmt == ' ' ? " " : "",
				      (unsigned long long)addr);
}
