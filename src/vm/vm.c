/* SPDX-License-Identifier: MIT */
/* The machine from outside: making it, and the kinds of run. */
#include "vm/vm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/xalloc.h"
#include "types/symbol.h"
#include "vm/machine.h"

enum { MEGA = 1 << 20 };

/* Instructions: far more than the kernel's verifier would let a program run. */
static const uint64_t KERNEL_BUDGET = 1ull << 32;

/*
 * MAXNESTING: calls in progress. Only recursion can reach the default, which is
 * the reference's measured one: a function that calls itself may be entered 13
 * times.
 */
static unsigned nesting_limit(const struct vm *vm)
{
	const struct program *p = vm->g && vm->g->ir ? vm->g->ir->prog : NULL;
	int64_t given = vm_limit(vm, LIMIT_MAXNESTING);

	if (given > 0)
		return (unsigned)given;
	if (!p)
		return 10;
	return (p->call_depth ? p->call_depth : p->functions.n) + 12;
}

/*
 * MAXACTION: host handlers, which do the reports, may do ten times what kernel
 * handlers may.
 */
static int64_t action_limit(const struct vm *vm)
{
	int64_t n = vm_limit(vm, LIMIT_MAXACTION_INTERRUPTIBLE);

	if (vm->c->set.suppress_time_limits || n > INT64_MAX / 10)
		return INT64_MAX;
	return n * 10;
}

/*
 * The kernel's tick is the coarse clock's; made-up events have one of 4 ms.
 * Reading the clock's resolution needs neither /proc nor a guess.
 */
static int64_t tick_of(const struct vm *vm)
{
	struct timespec ts;

	if (vm->c->set.runtime == RUNTIME_VM ||
	    clock_getres(CLOCK_MONOTONIC_COARSE, &ts) || ts.tv_sec ||
	    !ts.tv_nsec)
		return 4000000;
	return ts.tv_nsec;
}

/* All hooks may be NULL; g and s too, for bare instructions. */
struct vm *vm_new(struct compile *c, struct gen *g, struct store *s,
		  const struct vm_hooks *h)
{
	struct vm *vm = xcalloc(1, sizeof(*vm));

	vm->c = c;
	vm->g = g;
	vm->s = s;
	if (h)
		vm->hooks = *h;
	/* NORESERVE: recursion may use it, and hardly any script does. */
	vm->stack = mmap(NULL, VM_STACK, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (vm->stack == MAP_FAILED)
		xalloc_fail(VM_STACK);
	vm->nimages = g ? g->codes.n : 0;
	vm->images = xcalloc(vm->nimages + 1, sizeof(*vm->images));
	vm->err.text = xcalloc(1, (size_t)vm_limit(vm, LIMIT_MAXSTRINGLEN) + 1);
	vm->warned_full =
	    xcalloc(s ? s->plan->nglobals + 1 : 1, sizeof(*vm->warned_full));
	vm->warned_stat =
	    xcalloc(s ? s->plan->nglobals + 1 : 1, sizeof(*vm->warned_stat));
	/* Arrays of the host get the user's MAXMAPENTRIES from here. */
	if (s)
		store_set_entries(s,
				  (uint32_t)vm_limit(vm, LIMIT_MAXMAPENTRIES));
	vm->max_nesting = nesting_limit(vm);
	vm->max_actions = action_limit(vm);
	vm->tick_ns = tick_of(vm);
	mem_setup(vm);
	symbols_prepare(vm);
	return vm;
}

/*
 * Also records that were reserved and never submitted: the kernel refuses such
 * programs, but a bug here must not leak.
 */
static void records_drop(struct vm *vm)
{
	unsigned i;

	for (i = 0; i < VM_MAX_RESERVED; i++) {
		free(vm->reserved[i].bytes);
		vm->reserved[i] = (struct vm_reserved){0};
	}
	for (i = 0; i < vm->nqueue; i++)
		free(vm->queue[i].bytes);
	vm->nqueue = 0;
}

void vm_free(struct vm *vm)
{
	unsigned i;

	if (!vm)
		return;
	for (i = 0; i < vm->nimages; i++)
		image_free(vm->images[i]);
	iters_free(vm);
	symbol_book_free(vm->symbols);
	records_drop(vm);
	free(vm->queue);
	free(vm->images);
	free(vm->iters);
	free(vm->calls);
	free(vm->err.text);
	free(vm->warned_full);
	free(vm->warned_stat);
	free(vm->match.text);
	free(vm->tokens.text);
	text_free(&vm->text);
	munmap(vm->stack, VM_STACK);
	free(vm);
}

int64_t vm_limit(const struct vm *vm, enum limit l)
{
	return vm->c->set.limit[l];
}

const char *vm_fault(const struct vm *vm)
{
	return vm->fault;
}

uint64_t vm_steps(const struct vm *vm)
{
	return vm->steps;
}

void vm_set_budget(struct vm *vm, uint64_t insns)
{
	vm->max_steps = insns;
}

/* State that no handler inherits from the one before. */
static void run_reset(struct vm *vm)
{
	vm->stack_lo = vm->stack_size = 0;
	vm->last.size = 0;
	vm->nregions = vm->nfixed;
	vm->probe = NULL;
	vm->ctx = NULL;
	vm->ctx_size = 0;
	vm->in_kernel = vm->drained = vm->skipped = false;
	vm->halt = HALT_NO;
	vm->result = 0;
	vm->err.pending = false;
	vm->actions = 0;
	vm->ncalls = 0;
	vm->loops = 0;
	vm->match.re = NULL;
	vm->tokens.n = vm->tokens.pos = 0;
	vm->budget = vm->max_steps ? vm->max_steps : UINT64_MAX;
	vm->fault[0] = '\0';
}

/* The stack grows downwards, as the kernel's. */
static uint64_t stack_top(const struct vm *vm)
{
	return (uint64_t)(uintptr_t)vm->stack + VM_STACK;
}

/* Host probes are counted like kernel ones, by the host alone in row 0. */
static struct probe_counts *counts_of(struct vm *vm, const struct probe *p)
{
	if (!vm->s || !vm->s->plan->row_size || !p)
		return NULL;
	return (struct probe_counts *)(vm->s->rows + vm->s->plan->counts_off) +
	       p->index;
}

/*
 * -t. The host's own clock, whatever the script's says; only the host writes
 * the times of its probes, in row 0.
 */
static uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void count_time(struct vm *vm, uint64_t ns)
{
	struct probe_times *t = (struct probe_times *)
		(vm->s->rows + vm->s->plan->times_off) + vm->probe->index;

	t->n++;
	t->ns += ns;
	if (ns > t->most)
		t->most = ns;
	if (~ns > t->least_inv)
		t->least_inv = ~ns;
}

/* A handler that gave up a lock. The half of a kernel probe's is the session's
 * to count: its row has another writer. */
static void count_skip(struct vm *vm)
{
	struct probe_counts *counts = counts_of(vm, vm->probe);

	if (counts && !vm->ctx)
		counts->lock_skips++;
}

/*
 * Runs with r1 = arg, then ends the handler: errors, locks, iterations. However
 * the handler ended, nothing of it stays: what it held would block all others.
 */
static int run_from(struct vm *vm, struct image *img, uint32_t pc, uint64_t arg)
{
	const uint64_t args[4] = {arg};
	uint64_t r0;

	vm->running = true;
	exec_run(vm, img, pc, args, stack_top(vm), &r0);
	vm->running = false;
	/* A fault has a message of its own: vm_fault(). */
	if (vm->halt != HALT_FAULT)
		vm_uncaught(vm);
	iters_free(vm);
	if (vm->held)
		locks_release(vm, vm->held);
	if (vm->skipped && !vm->in_kernel)
		count_skip(vm);
	return vm->halt == HALT_FAULT ? -1 : vm->result;
}

/*
 * 0; 1: it failed; -1: a bug. A handler is never started inside another: that
 * is what running says.
 */
int vm_run_probe(struct vm *vm, const struct code *code)
{
	struct probe_counts *counts;
	struct image *img;
	uint64_t start = 0;
	bool timed;
	int err;

	if (vm->running) {
		vm_failed(vm, "a handler started inside another");
		return -1;
	}
	run_reset(vm);
	vm->event = NULL;
	vm->probe = code->fn->probe;
	img = image_of(vm, code);
	if (!img)
		return -1;
	counts = counts_of(vm, vm->probe);
	if (counts)
		counts->hits++;
	timed = counts && vm->s->plan->timed;
	if (timed)
		start = clock_ns();
	/* r1 points to zeros: generated code expects a context to be there. */
	err = run_from(vm, img, 0, (uint64_t)(uintptr_t)vm->zero_ctx);
	if (timed)
		count_time(vm, clock_ns() - start);
	if (err == 1 && counts)
		counts->errors++;
	return err;
}

/*
 * The host version of a kernel handler. Linear: few codes, and resuming costs a
 * record anyway.
 */
static const struct code *host_code(const struct vm *vm, const struct probe *p)
{
	unsigned i;

	for (i = 0; i < vm->g->codes.n; i++) {
		const struct code *code = vm->g->codes.v[i];

		if (code && code->fn->kind == IR_PROBE &&
		    code->fn->place == PLACE_HOST && code->fn->probe == p)
			return code;
	}
	return NULL;
}

/* point: number of the continuation (code->resume). */
int vm_resume(struct vm *vm, const struct probe *p, unsigned point,
	      const struct record_ctx *ctx, size_t n)
{
	const struct code *code = host_code(vm, p);
	uint64_t *copy;
	struct image *img;
	int ret;

	if (vm->running) {
		vm_failed(vm, "a handler resumed inside another");
		return -1;
	}
	run_reset(vm);
	if (!code || point >= code->resume.n || n < sizeof(*ctx)) {
		vm_failed(vm, "no resume point %u in %s", point, p->pp);
		return -1;
	}
	img = image_of(vm, code);
	if (!img)
		return -1;
	/* A record may lie anywhere in the ring: the program wants words. */
	copy = xcalloc((n + 15) / 8, 8);
	memcpy(copy, ctx, n);
	vm->probe = p;
	vm->ctx = (const struct record_ctx *)copy;
	vm->ctx_size = n;
	/* Read only: it is the record. */
	mem_region(vm, (uint64_t)(uintptr_t)copy, copy, n, false);
	ret = run_from(vm, img, code->resume.v[point],
		       (uint64_t)(uintptr_t)vm->zero_ctx);
	vm->ctx = NULL;
	free(copy);
	return ret;
}

/* Gives what the handler sent to the ring to the session, in order; a record
 * may resume a handler, so the queue is taken over first. */
static void records_deliver(struct vm *vm)
{
	struct vm_reserved *queue = vm->queue;
	unsigned n = vm->nqueue, i;

	vm->queue = NULL;
	vm->nqueue = vm->queue_cap = 0;
	for (i = 0; i < n; i++) {
		if (vm->hooks.record)
			vm->hooks.record(vm->hooks.ctx,
					 (struct record *)queue[i].bytes,
					 queue[i].n);
		free(queue[i].bytes);
	}
	free(queue);
}

/* On a simulated event; the script's clock is the event's. */
int vm_run_kernel(struct vm *vm, const struct code *code,
		  const struct vm_event *e)
{
	struct image *img;
	char fault[sizeof(vm->fault)];
	unsigned i;
	int ret;

	if (vm->running) {
		vm_failed(vm, "a handler started inside another");
		return -1;
	}
	run_reset(vm);
	vm->event = e;
	vm->probe = code->fn->probe;
	vm->in_kernel = true;
	vm->budget = vm->max_steps ? vm->max_steps : KERNEL_BUDGET;
	img = image_of(vm, code);
	if (!img)
		return -1;
	/* Kernel code makes the wall clock from the monotonic one. */
	if (e->who.wall_ns)
		((struct control *)vm->s->control)->start_wall_ns =
		    (uint64_t)(e->who.wall_ns - e->who.mono_ns);
	/*
	 * Regions of this run, behind the fixed ones: run_reset() forgets them.
	 */
	mem_region(vm, (uint64_t)(uintptr_t)e->ctx, e->ctx, e->ctx_size, false);
	for (i = 0; i < e->nmem; i++)
		mem_region(vm, e->mem[i].addr, e->mem[i].bytes, e->mem[i].n,
			   false);
	ret = run_from(vm, img, 0, (uint64_t)(uintptr_t)e->ctx);
	/* Records may resume handlers, which have faults of their own. */
	memcpy(fault, vm->fault, sizeof(fault));
	records_deliver(vm);
	/* A resumed handler's own fault is the session's to see there. */
	memcpy(vm->fault, fault, sizeof(fault));
	records_drop(vm);
	vm->event = NULL;
	return ret;
}

/* Without probe, store or hooks: what the instructions do and nothing else. */
int vm_run_insns(struct vm *vm, const struct bpf_insn *insns, uint32_t n,
		 void *ctx, size_t ctx_size, uint64_t *ret_r0)
{
	const uint64_t args[4] = {(uint64_t)(uintptr_t)ctx, ctx_size};
	struct image *img;
	int err;

	run_reset(vm);
	if (!vm->max_steps)
		vm->budget = 64 * (uint64_t)MEGA;
	*ret_r0 = 0;
	img = image_bare(vm, insns, n);
	if (!img)
		return -1;
	mem_region(vm, (uint64_t)(uintptr_t)ctx, ctx, ctx_size, true);
	vm->running = true;
	err = exec_run(vm, img, 0, args, stack_top(vm), ret_r0);
	vm->running = false;
	image_free(img);
	iters_free(vm);
	return err ? -1 : 0;
}

/* Any seed, 0 included: the state must not be all zero. */
void vm_seed(struct vm *vm, uint64_t seed)
{
	vm->rng[0] = seed ^ 0x9e3779b97f4a7c15ull;
	vm->rng[1] = seed * 0xbf58476d1ce4e5b9ull + 1;
	vm->seeded = true;
}
