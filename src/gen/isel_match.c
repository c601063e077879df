/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions in the kernel: a walk through the pattern's automaton,
 * whose tables lie in RODATA, one look-up a byte (front/regex.h). The loop is
 * bounded by the string's width.
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

/* States rounded up to a power of two: a state is then inside by a mask, where
 * a comparison would wait in the verifier for the rest of the handler. */
static uint32_t pow2(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/*
 * Table `from` of n bytes in one of size bytes. The rest is zero: state 0 and
 * class 0, which exist in every automaton.
 */
static uint32_t padded(struct emit *e, const void *from, uint32_t n,
		       uint32_t size)
{
	uint8_t *t = arena_alloc(e->c->a, size);

	memcpy(t, from, n);
	return table(e, t, size);
}

/* r2 = state, r3 = address of the byte, r4 = how many were read. */
void isel_match(struct emit *e)
{
	const struct regex_dfa *d = regex_dfa(e->ins->re);
	const struct ir_val *v = &e->ins->args[0];
	struct assembler *as = e->as;
	unsigned loop = asm_label(as), done = asm_label(as);
	unsigned yes = asm_label(as);
	uint32_t states, next;

	assert(d); /* gen_kernel_can() */
	states = pow2(d->nstates); /* every state is less than this */
	/* a class read as a byte may be beyond the last, for the verifier */
	next = padded(e, d->next, d->nstates * d->nclasses * 2,
		      (states * d->nclasses + 256) * 2);
	emit_addr(e, R3, v);
	asm_imm(as, R2, d->start);
	asm_imm(as, R4, 0);
	asm_bind(as, loop);
	/* A state that matched is never left: on to the end. */
	asm_load(as, 1, R1, R3, 0);
	asm_jifi(as, BPF_JEQ, R1, 0, done);
	index_table(e, table(e, d->class_of, sizeof(d->class_of)), R1);
	asm_load(as, 1, R1, R5, 0);
	asm_alui(as, BPF_MUL, R2, (int32_t)d->nclasses);
	asm_alu(as, BPF_ADD, R2, R1);
	asm_alui(as, BPF_LSH, R2, 1); /* entries are 2 bytes */
	index_table(e, next, R2);
	asm_load(as, 2, R2, R5, 0);
	asm_alui(as, BPF_AND, R2, (int32_t)states - 1);
	asm_alui(as, BPF_ADD, R3, 1);
	asm_alui(as, BPF_ADD, R4, 1);
	asm_jifi(as, BPF_JLT, R4, (int32_t)emit_width(e, v), loop);
	asm_bind(as, done);
	/* a match at the end counts too, now that the end is reached */
	index_table(e, padded(e, d->flags, d->nstates, states), R2);
	asm_load(as, 1, R0, R5, 0);
	asm_alui(as, BPF_AND, R0, DFA_MATCH | DFA_MATCH_END);
	asm_jifi(as, BPF_JEQ, R0, 0, yes);
	asm_imm(as, R0, 1);
	asm_bind(as, yes);
	emit_put(e, R0);
}
