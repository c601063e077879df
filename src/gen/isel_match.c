/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions in the kernel: a walk through the pattern's automaton,
 * whose tables lie in RODATA, one look-up a byte (front/regex.h). The loop is
 * bounded by the string's width; the tests of state and class never fail and
 * are there for the verifier.
 */
#include "gen/isel.h"

#include <assert.h>
#include <string.h>

#include "front/regex.h"

static uint32_t table(struct emit *e, const void *bytes, uint32_t n)
{
	return plan_rodata(e->c, e->plan, bytes, n);
}

/* r5 = address of the table at off, plus reg. */
static void index_table(struct emit *e, uint32_t off, int reg)
{
	asm_value(e->as, R5, MAP_RODATA, off);
	asm_alu(e->as, BPF_ADD, R5, reg);
}

/* r0 = flags of the state in r2. r3 is the next byte's address. */
static void step(struct emit *e, const struct regex_dfa *d, unsigned done,
		 unsigned no)
{
	struct assembler *as = e->as;

	index_table(e, table(e, d->flags, d->nstates), R2);
	asm_load(as, 1, R0, R5, 0);
	asm_jifi(as, BPF_JSET, R0, DFA_MATCH, done);
	asm_load(as, 1, R1, R3, 0);
	asm_jifi(as, BPF_JEQ, R1, 0, done);
	index_table(e, table(e, d->class_of, sizeof(d->class_of)), R1);
	asm_load(as, 1, R1, R5, 0);
	asm_jifi(as, BPF_JGE, R1, (int32_t)d->nclasses, no);
	asm_alui(as, BPF_MUL, R2, (int32_t)d->nclasses);
	asm_alu(as, BPF_ADD, R2, R1);
	asm_alui(as, BPF_LSH, R2, 1);
	index_table(e, table(e, d->next, d->nstates * d->nclasses * 2), R2);
	asm_load(as, 2, R2, R5, 0);
	asm_jifi(as, BPF_JGE, R2, (int32_t)d->nstates, no);
	asm_alui(as, BPF_ADD, R3, 1);
}

void isel_match(struct emit *e)
{
	const struct regex_dfa *d = regex_dfa(e->ins->re);
	const struct ir_val *v = &e->ins->args[0];
	unsigned loop = asm_label(e->as), done = asm_label(e->as);
	unsigned no = asm_label(e->as), yes = asm_label(e->as);

	assert(d); /* gen_kernel_can() */
	emit_addr(e, R3, v);
	asm_imm(e->as, R2, d->start);
	asm_imm(e->as, R4, 0);
	asm_bind(e->as, loop);
	step(e, d, done, no);
	asm_alui(e->as, BPF_ADD, R4, 1);
	asm_jifi(e->as, BPF_JLT, R4, (int32_t)emit_width(e, v), loop);
	asm_bind(e->as, no);
	asm_imm(e->as, R0, 0);
	asm_bind(e->as, done);
	asm_alui(e->as, BPF_AND, R0, DFA_MATCH | DFA_MATCH_END);
	asm_jifi(e->as, BPF_JEQ, R0, 0, yes);
	asm_imm(e->as, R0, 1);
	asm_bind(e->as, yes);
	emit_put(e, R0);
}
