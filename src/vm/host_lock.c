/* SPDX-License-Identifier: MIT */
/*
 * Locks on the host: the same words that programs take. A word is 0 or, in its
 * low half, 1 + the CPU of its holder; LOCK_HOST says that it is tally.
 *
 * A program that cannot have a lock gives up after a millisecond, so tally must
 * not be put aside while it holds one. It stays on one CPU then, which the word
 * names: whatever handler starts on this CPU knows at once that waiting is in
 * vain. And it has the lowest real-time priority, so no ordinary process takes
 * the CPU from it.
 */
#include "vm/host.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#include "sema/exclusion.h"

/* CONTROL is mapped: the host and programs exchange on one word. */
static uint64_t *lock_word(struct vm *vm, unsigned group)
{
	return &((struct control *)vm->s->control)->lock[group][0];
}

/* Do programs of the kernel take these locks too? */
static bool is_shared(const struct vm *vm)
{
	return vm->s->map_fd[MAP_CONTROL] >= 0;
}

/* Stays on this CPU, ahead of others. What the system refuses is left out: it
 * costs the programs some skips, which they count. */
static void stay(struct vm *vm)
{
	const struct sched_param first = {.sched_priority = 1};
	cpu_set_t here;
	int cpu = sched_getcpu();

	if (!is_shared(vm) || vm->stays || cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	vm->policy = sched_getscheduler(0);
	if (sched_getparam(0, &vm->param) ||
	    sched_getaffinity(0, sizeof(vm->cpus), &vm->cpus))
		return;
	CPU_ZERO(&here);
	CPU_SET(cpu, &here);
	/*
	 * The CPU may have changed since; then it is the new one's number that
	 * would be wrong, so the affinity decides.
	 */
	if (sched_setaffinity(0, sizeof(here), &here))
		return;
	vm->stays = true;
	vm->cpu = (unsigned)cpu;
	/*
	 * A user who runs tally with a real-time policy of his own has chosen.
	 */
	if (vm->policy == SCHED_OTHER || vm->policy == SCHED_BATCH ||
	    vm->policy == SCHED_IDLE)
		vm->first = !sched_setscheduler(
		    0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
}

static void go(struct vm *vm)
{
	if (!vm->stays)
		return;
	if (vm->first)
		sched_setscheduler(0, vm->policy, &vm->param);
	sched_setaffinity(0, sizeof(vm->cpus), &vm->cpus);
	vm->stays = vm->first = false;
}

/* RELEASE: what was written under the lock is seen by the next holder. */
static void free_words(struct vm *vm, uint32_t mask)
{
	unsigned i;

	for (i = 0; i < LOCK_GROUPS; i++)
		if (mask & vm->held & 1u << i)
			__atomic_store_n(lock_word(vm, i), 0, __ATOMIC_RELEASE);
}

static bool emptied(uint64_t empties, unsigned g)
{
	return g < LOCK_NEMPTY && empties & 1ull << (LOCK_EMPTIES + g);
}

bool host_emptied(const struct vm *vm, unsigned g)
{
	return emptied(vm->emptied, g);
}

/* Copies all that the locks guard, empties what the handler ends by emptying,
 * then lets go of them: what the handler reads until it unlocks is of this
 * instant. If an array cannot be copied they stay held, and arrays are emptied
 * where the handler says so. */
static void freeze(struct vm *vm, uint64_t empties)
{
	const struct plan *p = vm->s->plan;
	bool all = vm->s->ops->freeze != NULL;
	uint64_t done = 0;
	unsigned g;

	for (g = 0; g < p->nglobals; g++) {
		const struct plan_global *pg = &p->globals[g];

		if (pg->lock_group >= LOCK_GROUPS || store_is_agg(pg) ||
		    !(vm->held & 1u << pg->lock_group))
			continue;
		if (!pg->key.n) {
			memcpy(vm->s->control + pg->frozen_off,
			       vm->s->control + pg->off, pg->value_width);
			/* The handler's own store goes to the copy. */
			if (emptied(empties, g))
				memset(vm->s->control + pg->off, 0,
				       pg->value_width);
		} else if (all && store_has_map(vm->s, pg)) {
			all = !vm->s->ops->freeze(vm->s, g);
			if (emptied(empties, g))
				done |= 1ull << (LOCK_EMPTIES + g);
		}
	}
	if (!all || !is_shared(vm)) {
		if (vm->s->ops->thaw)
			vm->s->ops->thaw(vm->s);
		return;
	}
	vm->frozen = true;
	vm->emptied = done;
	for (g = 0; g < p->nglobals; g++)
		if (host_emptied(vm, g))
			store_clear(vm->s, g);
	free_words(vm, vm->held);
	go(vm);
}

void locks_release(struct vm *vm, uint32_t mask)
{
	if (vm->frozen)
		vm->s->ops->thaw(vm->s);
	else
		free_words(vm, mask);
	vm->frozen = false;
	vm->emptied = 0;
	vm->held &= ~mask;
	/* From here on others may change what a foreach remembers. */
	iters_stale(vm, NULL);
	if (!vm->held)
		go(vm);
}

/* Our mark in a word; without a CPU of our own, that of none. */
static uint64_t mark(const struct vm *vm)
{
	/*
	 * UINT32_MAX: no CPU has that number, so no program skips at once
	 * because of it.
	 */
	return LOCK_HOST | (vm->stays ? vm->cpu + 1 : UINT32_MAX);
}

static bool lock_try(struct vm *vm, unsigned group)
{
	uint64_t free_word = 0;

	return __atomic_compare_exchange_n(lock_word(vm, group), &free_word,
					   mark(vm), false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/*
 * Programs hold a lock for microseconds: looks are what waiting mostly takes.
 * But one that preemption took the lock's holder from needs the CPU.
 */
static bool lock_wait(struct vm *vm, unsigned group)
{
	enum { LOOKS = 2000 };
	/* TRYLOCKDELAY is in microseconds; MAXTRYLOCK counts the pauses. */
	const struct timespec pause = {
	    .tv_nsec = vm_limit(vm, LIMIT_TRYLOCKDELAY) * 1000};
	int64_t tries = vm_limit(vm, LIMIT_MAXTRYLOCK);
	unsigned i;

	for (;;) {
		for (i = 0; i < (tries > 0 ? LOOKS : 1); i++)
			if (lock_try(vm, group))
				return true;
		if (tries-- <= 0)
			return false;
		nanosleep(&pause, NULL);
	}
}

/* What reading an array at once needs is made before its lock is taken. */
static void make_ready(struct vm *vm, uint32_t want)
{
	const struct plan *p = vm->s->plan;
	unsigned g;

	if (!is_shared(vm))
		return;
	for (g = 0; vm->s->ops->ready && g < p->nglobals; g++) {
		const struct plan_global *pg = &p->globals[g];

		if (pg->key.n && !store_is_agg(pg) &&
		    store_has_map(vm->s, pg) && pg->lock_group < LOCK_GROUPS &&
		    want & 1u << pg->lock_group)
			vm->s->ops->ready(vm->s, g);
	}
}

/* a: groups; LOCK_DRAINS, LOCK_FREEZES, what it empties. */
uint64_t host_lock(struct vm *vm, const uint64_t *a)
{
	uint32_t want = (uint32_t)a[0] & ~vm->held;
	unsigned i;

	if (!want)
		return 0;
	if (a[1] & LOCK_DRAINS)
		vm_drain(vm);
	make_ready(vm, want);
	stay(vm);
	/*
	 * In order of their numbers, as programs take them: no two handlers
	 * wait for each other.
	 */
	for (i = 0; i < LOCK_GROUPS; i++) {
		if (!(want & 1u << i))
			continue;
		if (!lock_wait(vm, i)) {
			__atomic_fetch_add(lock_word(vm, i) + 1, 1,
					   __ATOMIC_RELAXED);
			/* All or nothing: run_from() gives back the rest. */
			if (!vm->held)
				go(vm);
			if (vm->hooks.skip)
				vm->hooks.skip(vm->hooks.ctx, vm->probe);
			vm->skipped = true;
			return vm_raise_final(vm, UINT32_MAX, true, "");
		}
		vm->held |= 1u << i;
	}
	if (a[1] & LOCK_FREEZES)
		freeze(vm, a[1]);
	return 0;
}

uint64_t host_unlock(struct vm *vm, const uint64_t *a)
{
	locks_release(vm, (uint32_t)a[0]);
	return 0;
}
