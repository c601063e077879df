/* SPDX-License-Identifier: MIT */
/*
 * Numbers. The kernel floor (6.1) has no signed division and no sign-extending
 * moves, so both machines run the portable forms.
 */
#include "gen/isel.h"

#include <assert.h>

static bool is_compare(enum ir_op op)
{
	return op >= OP_EQ && op <= OP_GE;
}

/*
 * OP_BR comparisons and those that give a value share the jumps; strings have
 * no order here (isel_str.c).
 */
int isel_jump_of(enum ir_op op)
{
	switch (op) {
	case OP_EQ:
	case OP_BREQ:
	case OP_SEQ:
		return BPF_JEQ;
	case OP_NE:
	case OP_BRNE:
	case OP_SNE:
		return BPF_JNE;
	case OP_LT:
	case OP_BRLT:
		return BPF_JSLT;
	case OP_LE:
	case OP_BRLE:
		return BPF_JSLE;
	case OP_GT:
	case OP_BRGT:
		return BPF_JSGT;
	case OP_GE:
	case OP_BRGE:
		return BPF_JSGE;
	default:
		assert(!"a comparison");
		return BPF_JEQ;
	}
}

static int alu_of(enum ir_op op)
{
	switch (op) {
	case OP_ADD:
		return BPF_ADD;
	case OP_SUB:
		return BPF_SUB;
	case OP_MUL:
		return BPF_MUL;
	case OP_AND:
		return BPF_AND;
	case OP_OR:
		return BPF_OR;
	case OP_XOR:
		return BPF_XOR;
	case OP_SHL:
		return BPF_LSH;
	case OP_SHR:
		return BPF_ARSH;
	case OP_USHR:
		return BPF_RSH;
	default:
		assert(!"an ALU operation");
		return BPF_ADD;
	}
}

static bool is_shift(enum ir_op op)
{
	return op == OP_SHL || op == OP_SHR || op == OP_USHR;
}

/* The register of an operand that has one, or -1. */
static int reg_home(struct emit *e, const struct ir_val *v)
{
	if (v->kind != VAL_REG || e->homes[v->reg].kind != HOME_REG)
		return -1;
	return e->homes[v->reg].reg;
}

static void alu(struct emit *e)
{
	const struct ir_val *a = &e->ins->args[0], *b = &e->ins->args[1];
	int op = alu_of(e->ins->op);
	int dst = emit_dst(e, R0);
	int rb;

	/* The result must not destroy b before it is read. */
	if (reg_home(e, b) == dst && reg_home(e, a) != dst)
		dst = R0;
	if (is_shift(e->ins->op) && b->kind == VAL_NUM) {
		emit_load(e, dst, a);
		/* the language counts shifts modulo 64, as the machine does */
		if (b->num & 63)
			asm_alui(e->as, op, dst, (int32_t)(b->num & 63));
	} else if (is_shift(e->ins->op)) {
		/* Old verifiers lose track of unmasked counts. */
		emit_load(e, R1, b);
		asm_alui(e->as, BPF_AND, R1, 63);
		emit_load(e, dst, a);
		asm_alu(e->as, op, dst, R1);
	} else if (emit_is_imm(b)) {
		emit_load(e, dst, a);
		asm_alui(e->as, op, dst, (int32_t)b->num);
	} else {
		rb = emit_use(e, b, R1);
		emit_load(e, dst, a);
		asm_alu(e->as, op, dst, rb);
	}
	emit_put(e, dst);
}

/* reg = sign < 0 ? -reg : reg, where sign is 0 or -1: no branches, which would
 * be paths to the verifier. */
static void negate_by(struct emit *e, int sign, int reg)
{
	asm_alu(e->as, BPF_XOR, reg, sign);
	asm_alu(e->as, BPF_SUB, reg, sign);
}

/* reg = |reg| */
static void absolute(struct emit *e, int reg, int tmp)
{
	asm_mov(e->as, tmp, reg);
	asm_alui(e->as, BPF_ARSH, tmp, 63);
	negate_by(e, tmp, reg);
}

/*
 * r0 = |a| / |b| unsigned, then the sign: INT64_MIN is its own absolute value
 * and comes out right. r2 keeps what decides the sign.
 */
static void divide(struct emit *e)
{
	const struct ir_val *a = &e->ins->args[0], *b = &e->ins->args[1];
	bool mod = e->ins->op == OP_MOD;
	int op = mod ? BPF_MOD : BPF_DIV;

	emit_load(e, R0, a);
	asm_mov(e->as, R2, R0);
	absolute(e, R0, R1);
	/* the divisor's sign is known */
	if (b->kind == VAL_NUM && b->num > 0 && b->num <= INT32_MAX) {
		asm_alui(e->as, op, R0, (int32_t)b->num);
	} else {
		emit_load(e, R1, b);
		if (!mod) /* a remainder has the sign of the dividend */
			asm_alu(e->as, BPF_XOR, R2, R1);
		absolute(e, R1, R3);
		asm_alu(e->as, op, R0, R1);
	}
	asm_alui(e->as, BPF_ARSH, R2, 63);
	negate_by(e, R2, R0);
	emit_put(e, R0);
}

/* 1 or 0. */
static void compare(struct emit *e)
{
	const struct ir_val *a = &e->ins->args[0], *b = &e->ins->args[1];
	unsigned yes = asm_label(e->as);
	int ra = emit_unlinked(e, a, R1);

	asm_imm(e->as, R0, 1);
	if (emit_is_imm(b))
		asm_jifi(e->as, isel_jump_of(e->ins->op), ra, (int32_t)b->num,
			 yes);
	else
		asm_jif(e->as, isel_jump_of(e->ins->op), ra,
			emit_unlinked(e, b, R2), yes);
	asm_imm(e->as, R0, 0);
	asm_bind(e->as, yes);
	emit_put(e, R0);
}

static void logical_not(struct emit *e)
{
	unsigned zero = asm_label(e->as);
	int ra = emit_unlinked(e, &e->ins->args[0], R1);

	asm_imm(e->as, R0, 1);
	asm_jifi(e->as, BPF_JEQ, ra, 0, zero);
	asm_imm(e->as, R0, 0);
	asm_bind(e->as, zero);
	emit_put(e, R0);
}

/*
 * Bits first..first+size-1 of dst, sign-extended or not. first counts from the
 * lowest bit.
 */
static void extract(struct emit *e, int dst, int first, int size, bool sign)
{
	if (first + size < 64)
		asm_alui(e->as, BPF_LSH, dst, 64 - first - size);
	if (size < 64)
		asm_alui(e->as, sign ? BPF_ARSH : BPF_RSH, dst, 64 - size);
}

/*
 * OP_EXT: size in bytes, OP_BITS: first bit and size in bits; negative sizes
 * are signed.
 */
static void narrow(struct emit *e)
{
	const struct ir_val *arg = e->ins->args;
	bool bits = e->ins->op == OP_BITS;
	int64_t size = bits ? arg[2].num : arg[1].num;
	bool sign = size < 0;
	int dst = emit_dst(e, R0);

	if (sign)
		size = -size;
	if (!bits)
		size *= 8;
	emit_load(e, dst, &arg[0]);
	if (!sign && !bits && size == 32)
		asm_mov32(e->as, dst, dst);
	else
		extract(e, dst, bits ? (int)arg[1].num : 0, (int)size, sign);
	emit_put(e, dst);
}

static void unary(struct emit *e)
{
	int dst = emit_dst(e, R0);

	emit_load(e, dst, &e->ins->args[0]);
	if (e->ins->op == OP_NEG)
		asm_neg(e->as, dst);
	else if (e->ins->op == OP_INV)
		asm_alui(e->as, BPF_XOR, dst, -1);
	emit_put(e, dst);
}

/* A constant to memory is one instruction. */
static void move(struct emit *e)
{
	int dst = emit_dst(e, R0);
	const struct home *h = &e->homes[e->ins->dst];
	const struct ir_val *v = &e->ins->args[0];

	bool merged = e->kernel && e->merged[e->ins->dst];

	if (h->kind == HOME_FRAME && emit_is_imm(v) && !merged &&
	    !e->f->regs.v[e->ins->dst].shared) {
		asm_storei(e->as, 8, FP, h->off, (int32_t)v->num);
		return;
	}
	if (h->kind != HOME_REG)
		dst = emit_use(e, v, R0);
	else
		emit_load(e, dst, v);
	/* Also in a register: if it were known, a later comparison would have
	 * the verifier walk what is between once per constant. */
	if (merged && v->kind == VAL_NUM && h->kind == HOME_REG)
		emit_opaque(e, dst, R2);
	emit_put(e, dst);
}

void isel_num(struct emit *e)
{
	switch (e->ins->op) {
	case OP_CONST:
	case OP_MOV:
		move(e);
		break;
	case OP_DIV:
	case OP_MOD:
		divide(e);
		break;
	case OP_NOT:
		logical_not(e);
		break;
	case OP_NEG:
	case OP_INV:
		unary(e);
		break;
	case OP_EXT:
	case OP_BITS:
		narrow(e);
		break;
	default:
		if (is_compare(e->ins->op))
			compare(e);
		else
			alu(e);
	}
}
