/* SPDX-License-Identifier: MIT */
/*
 * Loops. The kernel refuses a jump back unless it can follow each round of it,
 * so the body is a subprogram that is called again and again:
 *
 *   bpf_loop()             by the kernel, which checks the body once (5.17);
 *   bpf_for_each_map_elem  by the kernel, once for each element of an array
 *                          that is there to be counted (5.13);
 *   a jump back            where it has no callbacks. It walks each round, up
 *                          to its limit of a million instructions, so the
 *                          loader finds out how many rounds it takes
 *                          (run/load.c).
 */
#include "gen/isel.h"

/* bpf_loop(MAX, body, context, 0); the body gets number and context. */
static void by_kernel(struct emit *e, unsigned label, uint32_t func)
{
	asm_imm(e->as, R1, LOOP_MAX);
	asm_func(e->as, R2, func, label);
	asm_imm(e->as, R4, 0);
	asm_call(e->as, KH_LOOP);
}

/* The body gets map, key, value and context. */
static void by_elements(struct emit *e, unsigned label, uint32_t func)
{
	asm_map(e->as, R1, e->plan->turns_map);
	asm_func(e->as, R2, func, label);
	asm_imm(e->as, R4, 0);
	asm_call(e->as, KH_FOR_EACH);
}

static int put_context(struct emit *e, int ctx, int reg)
{
	if (ctx == TURNS_ROOT)
		ctx = e->body ? emit_pseudo(e, PS_ROOT, reg) : FP;
	if (ctx != reg)
		asm_mov(e->as, reg, ctx);
	return reg;
}

/* What is left of the rounds is in this frame, as a number that the kernel
 * knows: by that it sees the loop end. */
static void by_jumps(struct emit *e, unsigned label, int ctx, int turns_off)
{
	struct assembler *as = e->as;
	unsigned again = asm_label(as), end = asm_label(as);

	asm_turns(as, R1);
	asm_store(as, 8, FP, turns_off, R1);
	asm_bind(as, again);
	put_context(e, ctx, R2);
	asm_call_label(as, label);
	asm_jifi(as, BPF_JNE, R0, 0, end);
	asm_load(as, 8, R1, FP, turns_off);
	asm_alui(as, BPF_SUB, R1, 1);
	asm_store(as, 8, FP, turns_off, R1);
	asm_jifi(as, BPF_JNE, R1, 0, again);
	asm_bind(as, end);
}

void turns_run(struct emit *e, unsigned label, uint32_t func, int ctx,
	      int turns_off)
{
	if (e->c->set.lacks.each) {
		by_jumps(e, label, ctx, turns_off);
		return;
	}
	put_context(e, ctx, R3);
	if (e->c->set.lacks.loop)
		by_elements(e, label, func);
	else
		by_kernel(e, label, func);
}

int turns_context(const struct emit *e)
{
	const struct lacks *l = &e->c->set.lacks;

	return l->loop && !l->each ? R4 : R2;
}

/*
 * The iterations are bounded by MAXACTION, which every body counts; how often
 * it can be called only has to be more.
 */
void isel_loop(struct emit *e)
{
	int off = e->root->exit_off, root;
	const uint32_t body = e->ins->callee->index;
	unsigned go_on = asm_label(e->as);

	e->root->exit_used = true;
	e->turns_used = true;
	root = e->body ? emit_pseudo(e, PS_ROOT, R3) : FP;
	/* cleared: 0 means that all iterations were done */
	emit_unknown_zero(e, R0);
	asm_store(e->as, 8, root, off, R0);
	turns_run(e, e->root->labels[body], body, TURNS_ROOT, e->turns_off);
	root = e->body ? emit_pseudo(e, PS_ROOT, R3) : FP;
	asm_load(e->as, 8, R0, root, off);
	/* The loop around this one has the same word: it was not left yet. */
	if (e->body) {
		emit_unknown_zero(e, R1);
		asm_store(e->as, 8, root, off, R1);
	}
	/* a body asked for the end of the handler */
	asm_jifi(e->as, BPF_JNE, R0, BODY_LEAVES, go_on);
	if (e->body)
		ctl_body_exit(e);
	else
		emit_leave(e);
	asm_bind(e->as, go_on);
	emit_put(e, R0);
}
