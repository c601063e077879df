/* SPDX-License-Identifier: MIT */
/*
 * needs:  two versions of timers that need locks, the kernel's one split
 * keeps:  everything else
 * breaks: nothing; removes one version of each such timer
 *
 * A process that holds a lock can be put to sleep by the scheduler, and each
 * element it reads is a system call. A program has neither trouble. So when all
 * that a timer does to locked globals is done before the kernel's version hands
 * over to the host, that version is taken: the host starts it when the time has
 * come. Otherwise the handler would be two pieces with others in between.
 */
#include "ir/pass.h"

#include "ir/util.h"

/* Bytes of strings in registers, and of one of them, that a program should not
 * have to find room for. */
enum { STRINGS_MAX = 1024, STRING_MAX = 128 };

struct kick {
	struct compile *c;
	struct ir *ir;
	uint32_t mask; /* lock groups of the probe at hand */
	bool *calls; /* by ir_func.index: touches guarded globals */
};

/* Does f touch, itself or by calls, what the groups in mask guard? */
static bool guarded(const struct kick *k, const struct ir_func *f,
		    uint32_t mask)
{
	for (const struct ir_block *b = f->blocks; b; b = b->next) {
		for (const struct ir_ins *i = b->first; i; i = i->next) {
			if (i->op == OP_CALL && k->calls[i->callee->index])
				return true;
			if (i->global &&
			    k->ir->lock_of[i->global->index] & mask)
				return true;
		}
	}
	return false;
}

/* A fixed point, since functions may call each other. */
static void find_calls(struct kick *k)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (unsigned n = 0; n < k->ir->funcs.n; n++) {
			const struct ir_func *f = k->ir->funcs.v[n];

			if (f->kind != IR_FUNCTION || k->calls[n] ||
			    !guarded(k, f, UINT32_MAX))
				continue;
			k->calls[n] = changed = true;
		}
	}
}

/*
 * Strings of a program lie on its stack or in scratch memory, of which there is
 * little.
 */
static bool small(const struct ir_func *f)
{
	uint32_t sum = 0;

	for (unsigned r = 0; r < f->regs.n; r++) {
		if (!f->regs.v[r].is_str)
			continue;
		sum += f->regs.v[r].width;
		if (f->regs.v[r].width > STRING_MAX)
			return false;
	}
	return sum <= STRINGS_MAX;
}

/* The version of p for a machine: halves are those that split made. */
static struct ir_func *version(const struct ir *ir, const struct probe *p,
			       enum place place, bool half)
{
	for (unsigned i = 0; i < ir->funcs.n; i++) {
		struct ir_func *f = ir->funcs.v[i];

		if (f->kind == IR_PROBE && f->probe == p && f->place == place &&
		    (place == PLACE_KERNEL || half == (f->nresume > 0)))
			return f;
	}
	return NULL;
}

/* Indices are positions: those behind f move up. */
static void drop(struct ir *ir, const struct ir_func *f)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ir->funcs.n; i++) {
		if (ir->funcs.v[i] == f)
			continue;
		ir->funcs.v[n] = ir->funcs.v[i];
		ir->funcs.v[n]->index = n;
		n++;
	}
	ir->funcs.n = n;
}

/* What the host half touches behind the send would be outside of the lock. */
static void choose(struct kick *k, struct probe *p)
{
	struct ir_func *kernel = version(k->ir, p, PLACE_KERNEL, false);
	struct ir_func *half = version(k->ir, p, PLACE_HOST, true);
	struct ir_func *host = version(k->ir, p, PLACE_HOST, false);
	uint32_t mask = k->ir->probe_locks[p->index];

	if (!kernel || !host)
		return;
	/* without fetching atomics a program cannot lock: the host can */
	if (k->c->set.lacks.fetch || !guarded(k, kernel, mask) ||
	    !small(kernel) ||
	    (half && guarded(k, half, mask))) {
		drop(k->ir, kernel);
		if (half)
			drop(k->ir, half);
		return;
	}
	/*
	 * The probe is a kernel one from here on, to all that follows: started
	 * by BPF_PROG_TEST_RUN as a raw tracepoint, attached to nothing.
	 */
	drop(k->ir, host);
	p->kicked = true;
	p->place = PLACE_KERNEL;
	p->prog = PROG_RAW_TP;
	p->guard = GUARD_SELF;
}

void opt_kick(struct compile *c, struct ir *ir)
{
	struct kick k = {.c = c, .ir = ir};
	struct program *prog = ir->prog;

	if (!ir->lock_of || !ir->probe_locks)
		return;
	for (unsigned i = 0; i < prog->probes.n; i++) {
		if (prog->probes.v[i]->place != PLACE_HOST ||
		    !ir->probe_locks[i])
			continue;
		/* indices change with each version that goes */
		k.calls = arena_array(c->a, bool, ir->funcs.n + 1);
		find_calls(&k);
		choose(&k, prog->probes.v[i]);
	}
}
