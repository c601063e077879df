/* SPDX-License-Identifier: MIT */
/*
 * Strings: zero-padded to their width, so copies and equality go by words, and
 * order is that of the first differing word, read as a big-endian number.
 */
#include "gen/isel.h"

enum { INLINE_BYTES = 128 }; /* as COPY_INLINE of emit.c, for the same reason */

/* The instruction's string result = the zero-padded string of n bytes at src
 * (a register other than r4, r5, or r10). */
void isel_copy_to_dst(struct emit *e, int src, uint32_t n)
{
	uint32_t w = emit_dst_width(e);
	uint32_t copy = w < n ? w : n;
	struct mem d;

	if (copy <= INLINE_BYTES) {
		d = emit_mem(e, e->ins->dst, R4);
		for (uint32_t i = 0; i < copy; i += 8) {
			asm_load(e->as, 8, R5, src, (int)i);
			asm_store(e->as, 8, d.base, d.off + (int)i, R5);
		}
		if (w < n)
			emit_end_dst(e, d, w);
		if (w > n)
			emit_zero_dst(e, (struct mem){d.base, d.off + (int)n},
				      w - n);
		return;
	}
	d = emit_mem(e, e->ins->dst, R4);
	if (w > n)
		emit_zero_dst(e, (struct mem){d.base, d.off + (int)n}, w - n);
	if (w < n) { /* bytes that the copy does not reach */
		asm_storei(e->as, 1, d.base, d.off + (int)w - 1, 0);
		copy = w - 1;
	}
	asm_mov(e->as, R3, src);
	emit_dst_addr(e, R1);
	asm_imm(e->as, R2, copy);
	asm_call(e->as, KH_READ_KERNEL);
}

static void move(struct emit *e)
{
	struct mem d = emit_mem(e, e->ins->dst, R1);

	emit_put_string(e, d, &e->ins->args[0], emit_dst_width(e));
}

/* --- concatenation ------------------------------------------------------- */

static bool is_reg(const struct ir_val *v, uint32_t reg)
{
	return v->kind == VAL_REG && v->reg == reg;
}

/*
 * Both parts land in memory of wa + wb bytes: the second is copied as a C
 * string to where the first one ends, at most wa - 1, with its full size as the
 * limit. So the verifier sees the end stay inside without having to relate two
 * variables. That memory is the result itself where it is that large.
 */
static void cat(struct emit *e)
{
	uint32_t w = emit_dst_width(e);
	const struct ir_val *a = &e->ins->args[0], *b = &e->ins->args[1];
	uint32_t wa = emit_width(e, a), wb = emit_width(e, b);
	/*
	 * an operand that is the result would be overwritten while it is read
	 */
	bool direct = wa + wb <= w && !is_reg(a, e->ins->dst) &&
		      !is_reg(b, e->ins->dst);
	uint32_t t = direct ? 0 : emit_tmp(e, wa + wb);
	uint32_t zero = direct ? w : wa + wb;
	unsigned done = asm_label(e->as);
	struct mem m;

	m = direct ? emit_mem(e, e->ins->dst, R1) : emit_tmp_mem(e, t, R1);
	emit_put_string(e, m, a, wa);
	m = direct ? emit_mem(e, e->ins->dst, R1) : emit_tmp_mem(e, t, R1);
	emit_zero_dst(e, (struct mem){m.base, m.off + (int)wa}, zero - wa);
	asm_mov(e->as, R1, m.base);
	emit_add(e, R1, m.off);
	asm_imm(e->as, R2, wa);
	emit_addr(e, R3, a);
	asm_call(e->as, KH_READ_KERNEL_STR);
	/* r0: the length, NUL included. It is never out of range, but the
	 * verifier must be told. */
	asm_alui(e->as, BPF_SUB, R0, 1);
	asm_jifi(e->as, BPF_JGT, R0, (int32_t)wa - 1, done);
	if (direct)
		emit_dst_addr(e, R1);
	else
		emit_tmp_addr(e, R1, t);
	asm_alu(e->as, BPF_ADD, R1, R0);
	asm_imm(e->as, R2, wb);
	emit_addr(e, R3, b);
	asm_call(e->as, KH_READ_KERNEL_STR);
	asm_bind(e->as, done);
	if (!direct) {
		emit_tmp_addr(e, R1, t);
		isel_copy_to_dst(e, R1, wa + wb);
	}
}

/* --- comparison ---------------------------------------------------------- */

/* Loads word `at` of v into reg (r1 or r2); zero beyond its width. */
static void word(struct emit *e, int reg, const struct ir_val *v, uint32_t at)
{
	struct mem m;

	if (v->kind == VAL_STR) {
		asm_imm(e->as, reg, emit_literal_word(v->str, at));
		return;
	}
	if (at >= emit_width(e, v)) {
		asm_imm(e->as, reg, 0);
		return;
	}
	m = emit_mem(e, v->reg, reg);
	asm_load(e->as, 8, reg, m.base, m.off + (int)at);
	emit_unlink(e, reg);
}

/*
 * All words, though a difference is mostly in the first: no word behind the
 * first NUL differs by itself, as strings are zero-padded.
 */
static void equal(struct emit *e)
{
	const struct ir_val *a = &e->ins->args[0], *b = &e->ins->args[1];
	uint32_t wa = emit_width(e, a), wb = emit_width(e, b);
	uint32_t n = wa > wb ? wa : wb;
	unsigned differ = asm_label(e->as), done = asm_label(e->as);

	/* a literal second: its words can be immediates */
	if (a->kind == VAL_STR) {
		const struct ir_val *t = a;

		a = b;
		b = t;
	}
	for (uint32_t i = 0; i < n; i += 8) {
		int64_t w;

		word(e, R1, a, i);
		/* 1 << 40: fits no immediate */
		w = b->kind == VAL_STR ? emit_literal_word(b->str, i)
					: 1ll << 40;
		if (w >= INT32_MIN && w <= INT32_MAX) {
			asm_jifi(e->as, BPF_JNE, R1, (int32_t)w, differ);
			continue;
		}
		word(e, R2, b, i);
		asm_jif(e->as, BPF_JNE, R1, R2, differ);
	}
	asm_imm(e->as, R0, e->ins->op == OP_SEQ);
	asm_jmp(e->as, done);
	asm_bind(e->as, differ);
	asm_imm(e->as, R0, e->ins->op != OP_SEQ);
	asm_bind(e->as, done);
	emit_put(e, R0);
}

/*
 * Words are compared for equality as they are; only the pair that differs is
 * swapped to the order of characters.
 */
static void order(struct emit *e)
{
	static const int jump[] = {
		[OP_SLT - OP_SLT] = BPF_JLT,
		[OP_SLE - OP_SLT] = BPF_JLE,
		[OP_SGT - OP_SLT] = BPF_JGT,
		[OP_SGE - OP_SLT] = BPF_JGE,
	};
	const struct ir_val *a = &e->ins->args[0], *b = &e->ins->args[1];
	uint32_t wa = emit_width(e, a), wb = emit_width(e, b);
	uint32_t n = wa > wb ? wa : wb;
	unsigned differ = asm_label(e->as), yes = asm_label(e->as);

	for (uint32_t i = 0; i < n; i += 8) {
		word(e, R1, a, i);
		word(e, R2, b, i);
		if (i + 8 < n) /* the last pair decides in any case */
			asm_jif(e->as, BPF_JNE, R1, R2, differ);
	}
	asm_bind(e->as, differ);
	asm_swap64(e->as, R1);
	asm_swap64(e->as, R2);
	asm_imm(e->as, R0, 1);
	asm_jif(e->as, jump[e->ins->op - OP_SLT], R1, R2, yes);
	asm_imm(e->as, R0, 0);
	asm_bind(e->as, yes);
	emit_put(e, R0);
}

void isel_str(struct emit *e)
{
	switch (e->ins->op) {
	case OP_SMOV:
		move(e);
		break;
	case OP_SCAT:
		cat(e);
		break;
	case OP_SEQ:
	case OP_SNE:
		equal(e);
		break;
	default:
		order(e);
	}
}
