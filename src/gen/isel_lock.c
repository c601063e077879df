/* SPDX-License-Identifier: MIT */
/*
 * Locks: a word per group of globals, 0 or 1 + the CPU that holds it. One
 * cmpxchg when it is free. When this CPU holds it, the handler runs on top of
 * the holder: it can only give up at once. Otherwise a subprogram spins by
 * bpf_loop, some looks an iteration, until a deadline of MAXTRYLOCK *
 * TRYLOCKDELAY microseconds. Released by xchg, which also orders what was
 * written under it. Handlers that can be preempted hold off the scheduler,
 * where the kernel lets them (6.10): the others would wait for one that sleeps.
 *
 * A wait that ends in vain means a holder whose CPU does not run (a virtual
 * machine's). Clocks go on meanwhile, thousands of times a second, with
 * interrupts off; if each of their handlers waited in full, nothing else would
 * run on the other CPUs until that one goes on. So for RESPITE times the full
 * wait afterwards a handler of an interrupt waits only 1 / RESPITE of it, still
 * longer than sections take. Threads wait in full: they can be interrupted.
 */
#include "gen/isel.h"

#include <stddef.h>

#include "sema/exclusion.h"

/*
 * An iteration of bpf_loop costs a call and a look at the clock; more looks
 * spread that, but are code in each handler.
 */
enum {
	LOOKS = 4,
	RESPITE = 16,
	GOT = 0, TIMED_OUT = 1, NESTED = 2, /* results of the slow path */
	/* its frame */
	F_LOCK = -8, F_ME = -16, F_DEADLINE = -24, F_RESULT = -32,
	F_FULL = -40, /* 1: a full wait */
	F_TURNS = -48,
	LOCK_SHIFT = 6,
};
_Static_assert(sizeof(uint64_t[8]) == 1 << LOCK_SHIFT, "a line for each");
_Static_assert(!(LOCK_GROUPS & (LOCK_GROUPS - 1)), "bounded by a mask");

/*
 * In MAP_CONTROL: each lock has a cache line for itself, whose second word
 * counts those who gave up.
 */
static uint32_t lock_off(unsigned group)
{
	return (uint32_t)(offsetof(struct control, lock) +
			  group * sizeof(uint64_t[8]));
}

/* 0: nobody waits. */
static int64_t patience_ns(const struct emit *e)
{
	const int64_t *l = e->c->set.limit;

	return l[LIMIT_MAXTRYLOCK] * l[LIMIT_TRYLOCKDELAY] * 1000;
}

bool isel_lock_spins(const struct emit *e)
{
	return patience_ns(e) > 0;
}

/* Can the scheduler put the handler aside while others wait for its lock? */
static bool preemptible(const struct emit *e)
{
	const struct probe *p = e->f->probe;

	return p->guard == GUARD_PREEMPTIBLE || p->prog == PROG_FENTRY ||
	       p->prog == PROG_FEXIT;
}

/* For the time that locks are held. */
static void stay(struct emit *e)
{
	if (preemptible(e))
		asm_kfunc(e->as, KF_PREEMPT_DISABLE);
}

/* In any order: who waits for one has no other of these to wait for. */
static void release(struct emit *e, uint32_t groups)
{
	for (unsigned g = 0; g < LOCK_GROUPS; g++) {
		if (!(groups & 1u << g))
			continue;
		asm_value(e->as, R1, MAP_CONTROL, lock_off(g));
		asm_imm(e->as, R0, 0);
		asm_atomic(e->as, BPF_XCHG, R1, 0, R0);
	}
	if (preemptible(e))
		asm_kfunc(e->as, KF_PREEMPT_ENABLE);
}

/*
 * r2 = me; when other locks are held already, it is only in temporary t. A lock
 * that is free costs a cmpxchg; all else is in the slow path, which has counted
 * why the handler gives up if it must. What was taken so far is released then.
 */
static void take(struct emit *e, unsigned group, uint32_t held, uint32_t t)
{
	unsigned got = asm_label(e->as);
	struct mem m;

	if (held) {
		m = emit_tmp_mem(e, t, R2);
		asm_load(e->as, 8, R2, m.base, m.off);
	}
	asm_value(e->as, R1, MAP_CONTROL, lock_off(group));
	asm_imm(e->as, R0, 0);
	asm_atomic(e->as, BPF_CMPXCHG, R1, 0, R2);
	asm_jifi(e->as, BPF_JEQ, R0, 0, got);
	e->root->slow_lock_used = true;
	asm_imm(e->as, R1, group);
	asm_mov(e->as, R3, R0);
	asm_call_label(e->as, e->root->slow_lock);
	asm_jifi(e->as, BPF_JEQ, R0, GOT, got);
	release(e, held);
	if (e->ins->target[1])
		asm_jmp(e->as, emit_block(e, e->ins->target[1]));
	else
		emit_leave(e);
	asm_bind(e->as, got);
}

/*
 * In ascending order of groups, by everybody: so there is no circle of waiting.
 */
static void lock(struct emit *e)
{
	uint32_t groups = e->ins->locks, held = 0, t = 0;
	struct mem m;

	if (e->c->set.lacks.fetch)
		emit_lacking(e, arena_printf(e->c->a, "it takes a %s",
			     e->g->ir->prog->exclusion->why[
				     e->f->probe->index]), "5.12");
	stay(e);
	asm_call(e->as, KH_CPU);
	asm_mov32(e->as, R2, R0);
	asm_alui(e->as, BPF_ADD, R2, 1); /* 0 means free */
	if (groups & (groups - 1)) {
		t = emit_tmp(e, 8);
		m = emit_tmp_mem(e, t, R1);
		asm_store(e->as, 8, m.base, m.off, R2);
	}
	for (unsigned g = 0; g < LOCK_GROUPS; g++) {
		if (!(groups & 1u << g))
			continue;
		take(e, g, held, t);
		held |= 1u << g;
	}
	emit_ok(e);
}

void isel_lock(struct emit *e)
{
	if (e->ins->op == OP_LOCK)
		lock(e);
	else
		release(e, e->ins->locks);
}

/* F_DEADLINE and F_FULL. A wait of another CPU may have ended after this one's
 * clock was read: less than nothing since then is not long. */
static void deadline(struct emit *e)
{
	struct assembler *as = e->as;
	unsigned end = asm_label(as);
	int64_t full = patience_ns(e);

	asm_call(as, KH_KTIME);
	asm_imm(as, R1, full);
	asm_storei(as, 8, FP, F_FULL, 1);
	if (exclusion_interrupts(e->f->probe)) {
		asm_value(as, R2, MAP_CONTROL, offsetof(struct control, vain));
		asm_load(as, 8, R2, R2, 0);
		asm_mov(as, R3, R0);
		asm_alu(as, BPF_SUB, R3, R2);
		asm_imm(as, R2, full * RESPITE);
		asm_jif(as, BPF_JSGE, R3, R2, end);
		asm_imm(as, R1, full / RESPITE);
		asm_storei(as, 8, FP, F_FULL, 0);
	}
	asm_bind(as, end);
	asm_alu(as, BPF_ADD, R0, R1);
	asm_store(as, 8, FP, F_DEADLINE, R0);
}

/* Spins; control falls through when the time is up, F_LOCK has the word. */
static void spin(struct emit *e, unsigned got, unsigned nested)
{
	struct assembler *as = e->as;
	unsigned vain = asm_label(as);

	asm_store(as, 8, FP, F_ME, R2);
	deadline(e);
	asm_storei(as, 8, FP, F_RESULT, TIMED_OUT);
	/* the deadline ends it much earlier, unless it is a jump back */
	turns_run(e, e->root->slow_lock_body, e->f->index, FP, F_TURNS);
	asm_load(as, 8, R0, FP, F_RESULT);
	asm_jifi(as, BPF_JEQ, R0, GOT, got);
	asm_jifi(as, BPF_JEQ, R0, NESTED, nested);
	asm_load(as, 8, R1, FP, F_FULL);
	asm_jifi(as, BPF_JEQ, R1, 0, vain);
	asm_load(as, 8, R1, FP, F_DEADLINE);
	asm_value(as, R2, MAP_CONTROL, offsetof(struct control, vain));
	asm_store(as, 8, R2, 0, R1);
	asm_bind(as, vain);
}

/*
 * The handler gives up: counted, and the slow path left. Events that tally
 * itself causes while it holds the lock (the system calls by which it reads an
 * array) are not held against MAXSKIPPED: `own`.
 */
static void give_up(struct emit *e, uint32_t field, bool own)
{
	prologue_row(e);
	prologue_count(e, field);
	if (!own) {
		asm_value(e->as, R1, MAP_CONTROL,
			  offsetof(struct control, skipped));
		asm_imm(e->as, R0, 1);
		asm_atomic(e->as, BPF_ADD, R1, 0, R0);
	}
	asm_imm(e->as, R0, TIMED_OUT);
	asm_exit(e->as);
}

/*
 * slow(r1 = group, r2 = me, r3 = what the word was): GOT, or the handler gives
 * up. One for all locks of a handler, out of the way of the usual case. Its
 * parameters are numbers, so that the kernel can check it once and not at every
 * call (gen/btf.c). The upper half of the word is set when tally itself holds
 * the lock on that CPU: with it cleared, an equal number means that the event
 * was caused by tally.
 */
void isel_slow_lock(struct emit *e)
{
	struct assembler *as = e->as;
	unsigned nested = asm_label(as), own = asm_label(as);
	unsigned got = asm_label(as);

	asm_bind(as, e->root->slow_lock);
	asm_jif(as, BPF_JEQ, R3, R2, nested);
	asm_mov32(as, R3, R3);
	asm_jif(as, BPF_JEQ, R3, R2, own);
	asm_alui(as, BPF_AND, R1, LOCK_GROUPS - 1);
	asm_alui(as, BPF_LSH, R1, LOCK_SHIFT);
	asm_value(as, R3, MAP_CONTROL, lock_off(0));
	asm_alu(as, BPF_ADD, R3, R1);
	asm_store(as, 8, FP, F_LOCK, R3);
	if (isel_lock_spins(e))
		spin(e, got, nested);
	asm_load(as, 8, R1, FP, F_LOCK);
	asm_imm(as, R0, 1);
	asm_atomic(as, BPF_ADD, R1, 8, R0);
	give_up(e, offsetof(struct probe_counts, lock_skips), false);
	asm_bind(as, nested);
	give_up(e, offsetof(struct probe_counts, nest_skips), false);
	asm_bind(as, own);
	give_up(e, offsetof(struct probe_counts, nest_skips), true);
	if (isel_lock_spins(e)) {
		asm_bind(as, got);
		asm_imm(as, R0, GOT);
		asm_exit(as);
	}
}

/* An iteration: LOOKS looks, then the clock. Its context is the slow path's
 * frame. */
void isel_slow_lock_body(struct emit *e)
{
	struct assembler *as = e->as;
	unsigned nested = asm_label(as), got = asm_label(as);
	unsigned end = asm_label(as);

	asm_bind(as, e->root->slow_lock_body);
	asm_mov(as, R6, turns_context(e));
	asm_load(as, 8, R3, R6, F_LOCK);
	asm_load(as, 8, R4, R6, F_ME);
	/* unrolled: no counter, no jump back */
	for (int i = 0; i < LOOKS; i++) {
		unsigned next = asm_label(as);

		asm_load(as, 8, R0, R3, 0);
		asm_jif(as, BPF_JEQ, R0, R4, nested);
		asm_jifi(as, BPF_JNE, R0, 0, next);
		asm_atomic(as, BPF_CMPXCHG, R3, 0, R4);
		asm_jifi(as, BPF_JEQ, R0, 0, got);
		asm_bind(as, next);
	}
	asm_call(as, KH_KTIME);
	asm_load(as, 8, R1, R6, F_DEADLINE);
	asm_jif(as, BPF_JGE, R0, R1, end);
	asm_imm(as, R0, 0); /* 0: go on, 1: end the loop */
	asm_exit(as);
	asm_bind(as, nested);
	asm_storei(as, 8, R6, F_RESULT, NESTED);
	asm_jmp(as, end);
	asm_bind(as, got);
	asm_storei(as, 8, R6, F_RESULT, GOT);
	asm_bind(as, end);
	asm_imm(as, R0, 1);
	asm_exit(as);
}
