/* SPDX-License-Identifier: MIT */
/* The table of host helpers, and those about control: errors, limits and
 * calls. */
#include "vm/host.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "store/settled.h"

/*
 * By number: gen/host.def counts from HOST_FIRST, and both lists are checked by
 * the compiler to have the same names.
 */
vm_helper *host_helper_at(int64_t id)
{
	static vm_helper *const table[HOST_END - HOST_FIRST] = {
	    [HOST_FAILED - HOST_FIRST] = host_failed,
	    [HOST_TAKEERR - HOST_FIRST] = host_takeerr,
	    [HOST_RAISE - HOST_FIRST] = host_raise,
	    [HOST_UNCAUGHT - HOST_FIRST] = host_uncaught,
	    [HOST_ACT - HOST_FIRST] = host_act,
	    [HOST_ENTER_CALL - HOST_FIRST] = host_enter_call,
	    [HOST_LEAVE_CALL - HOST_FIRST] = host_leave_call,
	    [HOST_BUILTIN - HOST_FIRST] = host_builtin,
	    [HOST_PRINT - HOST_FIRST] = host_print,
	    [HOST_SPRINT - HOST_FIRST] = host_sprint,
	    [HOST_MATCH - HOST_FIRST] = host_match,
	    [HOST_ARR_GET - HOST_FIRST] = host_arr_get,
	    [HOST_ARR_SET - HOST_FIRST] = host_arr_set,
	    [HOST_ARR_ADD - HOST_FIRST] = host_arr_add,
	    [HOST_ARR_HAS - HOST_FIRST] = host_arr_has,
	    [HOST_ARR_DEL - HOST_FIRST] = host_arr_del,
	    [HOST_ARR_CLEAR - HOST_FIRST] = host_arr_clear,
	    [HOST_AGG_ADD - HOST_FIRST] = host_agg_add,
	    [HOST_AGG_GET - HOST_FIRST] = host_agg_get,
	    [HOST_AGG_HIST - HOST_FIRST] = host_agg_hist,
	    [HOST_HIST_PRINT - HOST_FIRST] = host_hist_print,
	    [HOST_HIST_SPRINT - HOST_FIRST] = host_hist_sprint,
	    [HOST_ITER_NEW - HOST_FIRST] = host_iter_new,
	    [HOST_ITER_NEXT - HOST_FIRST] = host_iter_next,
	    [HOST_ITER_KEY - HOST_FIRST] = host_iter_key,
	    [HOST_ITER_VAL - HOST_FIRST] = host_iter_val,
	    [HOST_ITER_END - HOST_FIRST] = host_iter_end,
	    [HOST_READ_MEM - HOST_FIRST] = host_read_mem,
	    [HOST_LOCK - HOST_FIRST] = host_lock,
	    [HOST_UNLOCK - HOST_FIRST] = host_unlock,
	    [HOST_RESUMED - HOST_FIRST] = host_resumed,
	};

	if (id < HOST_FIRST || id >= HOST_END)
		return NULL;
	return table[id - HOST_FIRST];
}

/* --- errors --------------------------------------------------------------- */

/* Asked after each call that may fail; the generated code branches on it. */
uint64_t host_failed(struct vm *vm, const uint64_t *a)
{
	return vm->err.pending;
}

/* The catch block's variable: the text to a[0], of a[1] bytes. */
uint64_t host_takeerr(struct vm *vm, const uint64_t *a)
{
	const char *text = vm->err.pending ? vm->err.text : "";

	mem_put_str(vm, a[0], a[1], text, strlen(text));
	vm->err.pending = false;
	return 0;
}

/* a: text, RAISE_ flags, place. */
uint64_t host_raise(struct vm *vm, const uint64_t *a)
{
	size_t max = (size_t)vm_limit(vm, LIMIT_MAXSTRINGLEN), n;
	const char *s;

	s = mem_str(vm, a[0], max - 1, &n);
	/*
	 * The text may be vm->err.text's own memory, or in a frame that goes:
	 * copied.
	 */
	if (a[1] & (RAISE_UNCATCHABLE | RAISE_QUIET)) {
		char *copy = xcalloc(1, n + 1);

		memcpy(copy, s, n);
		vm_raise_final(vm, a[2], a[1] & RAISE_QUIET, copy);
		free(copy);
		return 0;
	}
	return vm_raise(vm, a[2], "%.*s", (int)n, s);
}

uint64_t host_uncaught(struct vm *vm, const uint64_t *a)
{
	vm_uncaught(vm);
	return 0;
}

/* --- limits and calls ----------------------------------------------------- */

/*
 * a: statements that are about to run, place. Added before they run, so the
 * limit is exact to the block.
 */
uint64_t host_act(struct vm *vm, const uint64_t *a)
{
	/* Saturated: a count that wraps would never exceed a limit. */
	if (a[0] > (uint64_t)(INT64_MAX - vm->actions))
		vm->actions = INT64_MAX;
	else
		vm->actions += (int64_t)a[0];
	if (vm->actions > vm->max_actions)
		return vm_raise_final(vm, a[1], false, "MAXACTION exceeded");
	return 0;
}

/*
 * a: the function's number, the place of the call. 0, or with an error pending.
 */
uint64_t host_enter_call(struct vm *vm, const uint64_t *a)
{
	const struct code *callee = NULL;
	uint64_t room;

	if (a[0] < vm->g->codes.n)
		callee = vm->g->codes.v[a[0]];
	room = vm->stack_lo - (uint64_t)(uintptr_t)vm->stack;
	/*
	 * A generous limit must not end in a fault: the stack counts too. 4 KiB
	 * are for the helpers' own calls (callbacks) on that stack.
	 */
	if (vm->ncalls >= vm->max_nesting ||
	    room < (callee ? callee->frame : 0) + 4096ull)
		return vm_raise(vm, a[1], "MAXNESTING exceeded");
	if (vm->ncalls == vm->calls_cap) {
		vm->calls_cap = vm->calls_cap ? vm->calls_cap * 2 : 16;
		vm->calls =
		    xrealloc(vm->calls, vm->calls_cap * sizeof(*vm->calls));
	}
	vm->calls[vm->ncalls++] = (uint32_t)a[1];
	return 0;
}

uint64_t host_leave_call(struct vm *vm, const uint64_t *a)
{
	if (vm->ncalls)
		vm->ncalls--;
	return 0;
}

/*
 * a: number of the built-in, address of its argument words, of its result,
 * bytes there, place.
 */
uint64_t host_builtin(struct vm *vm, const uint64_t *a)
{
	const struct builtin_call b = {
	    .args = a[1],
	    .dst = a[2],
	    .width = a[3],
	    .loc = a[4],
	};

	if (a[0] >= BI_MAX)
		return vm_failed(vm, "built-in %llu does not exist",
				 (unsigned long long)a[0]);
	return builtin_run(vm, (enum builtin_id)a[0], &b);
}

/*
 * What the kernel half sent: the values that go on living are read from there.
 */
uint64_t host_resumed(struct vm *vm, const uint64_t *a)
{
	if (!vm->ctx)
		return vm_failed(vm, "not a resumed handler");
	return (uint64_t)(uintptr_t)vm->ctx;
}

/* --- shared by the helpers ------------------------------------------------ */

void vm_whoami(struct vm *vm, struct vm_who *ret)
{
	const struct record_ctx *r = vm->ctx;

	memset(ret, 0, sizeof(*ret));
	/* Inside the event: it is who hit the probe, at its time. */
	if (vm->in_kernel && vm->event) {
		*ret = vm->event->who;
		return;
	}
	if (vm->hooks.who)
		vm->hooks.who(vm->hooks.ctx, ret);
	/*
	 * A resumed handler: the record says who, as far as a program could
	 * find out; the rest (parents, sessions) is tally's own.
	 */
	if (!r)
		return;
	/* The simulated event knows more about the process than a record. */
	if (vm->event)
		*ret = vm->event->who;
	ret->pid = (uint32_t)(r->pid_tgid >> 32);
	ret->tid = (uint32_t)r->pid_tgid;
	ret->gid = (uint32_t)(r->uid_gid >> 32);
	ret->uid = (uint32_t)r->uid_gid;
	if (!vm->event) {
		ret->euid = ret->uid;
		ret->egid = ret->gid;
	}
	ret->cpu = r->cpu;
	memcpy(ret->comm, r->comm, sizeof(ret->comm));
	ret->comm[sizeof(ret->comm) - 1] = '\0';
	ret->mono_ns = (int64_t)r->time_ns;
	/* The record has the monotonic time; CONTROL has the distance. */
	if (vm->s)
		ret->wall_ns =
		    (int64_t)(r->time_ns + ((struct control *)vm->s->control)
					       ->start_wall_ns);
}

const struct plan_global *vm_global(struct vm *vm, uint64_t g)
{
	if (g < vm->s->plan->nglobals)
		return &vm->s->plan->globals[g];
	vm_failed(vm, "no global %llu", (unsigned long long)g);
	return NULL;
}

void vm_warn_full(struct vm *vm, unsigned g)
{
	const struct var *v = vm->s->plan->globals[g].var;
	int64_t size = v->size ? v->size : vm_limit(vm, LIMIT_MAXMAPENTRIES);

	if (vm->warned_full[g] || !vm->s->other_events[g])
		return;
	vm->warned_full[g] = true;
	/*
	 * The totals have room: it was the kernel's map, smaller, that filled
	 * up between two drains.
	 */
	if (settled_count(vm->s->settled[g]) < size)
		vm_warn(vm,
			"array %s filled up faster than it could be emptied: "
			"samples of further keys are counted together as "
			"\"other\"; declare it as %s[%lld] to give it more "
			"room",
			v->name, v->name, (long long)size * 4);
	else
		vm_warn(vm,
			"array %s is full (%lld keys): samples of further keys "
			"are counted together as \"other\"; declare it as "
			"%s[%lld] to keep them apart",
			v->name, (long long)size, v->name, (long long)size * 4);
}

/* At most once a handler: all it reads describes one instant. */
void vm_drain(struct vm *vm)
{
	unsigned g;
	int err;

	if (vm->drained)
		return;
	vm->drained = true;
	err = store_drain(vm->s);
	if (err)
		vm_warn(vm,
			/*
			 * The totals of the last drain are still right, as of
			 * then.
			 */
			"aggregates could not be read (%s): what is shown is "
			"older",
			strerror(-err));
	for (g = 0; g < vm->s->plan->nglobals; g++)
		if (vm->s->settled[g])
			vm_warn_full(vm, g);
}

/*
 * xorshift128+; unseeded it starts from the clock and the process. Vigna's
 * generator: fast and good enough for sampling; no secret depends on it.
 */
uint64_t vm_random(struct vm *vm)
{
	uint64_t a, b;

	if (!vm->seeded) {
		struct timespec t;

		clock_gettime(CLOCK_MONOTONIC, &t);
		vm_seed(vm, (uint64_t)t.tv_nsec << 32 ^ (uint64_t)t.tv_sec ^
				(uint64_t)getpid() << 16);
	}
	a = vm->rng[0];
	b = vm->rng[1];
	vm->rng[0] = b;
	a ^= a << 23;
	vm->rng[1] = a ^ b ^ a >> 17 ^ b >> 26;
	return vm->rng[1] + b;
}
