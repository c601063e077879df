/* SPDX-License-Identifier: MIT */
/* Expressions: operators, conditions, order of evaluation. */
#include "ir/build.h"

#include <assert.h>

/* --- order of evaluation -------------------------------------------------- */

/* Evaluating a leaf changes nothing. */
static bool is_leaf(const struct node *n)
{
	return n->kind == N_NUM || n->kind == N_STR || n->kind == N_NAME;
}

/* `x++ + x`: what an operand was worth when its turn came. Copies that turn
 * out to be needless are swept by the fold pass. */
static struct ir_val capture(struct build *b, struct ir_val v)
{
	uint32_t r;

	if (v.kind != VAL_REG || !b->f->regs.v[v.reg].name)
		return v;
	r = b->f->regs.v[v.reg].is_str ?
	    tmp_str(b, b->f->regs.v[v.reg].width) : tmp_num(b);
	emit_mov(b, r, v);
	return val_reg(r);
}

/*
 * Operands before the last one that may have effects are captured: `x + x++`
 * adds x's old value.
 */
void expr_list(struct build *b, struct node **n, unsigned count,
	       struct ir_val *ret)
{
	unsigned last = 0; /* operands before this one may be changed */

	for (unsigned i = 0; i < count; i++)
		if (!is_leaf(n[i]))
			last = i;
	for (unsigned i = 0; i < count; i++) {
		ret[i] = expr(b, n[i], true);
		if (i < last)
			ret[i] = capture(b, ret[i]);
	}
}

/* --- operators ------------------------------------------------------------ */

static enum ir_op num_op(enum oper op)
{
	switch (op) {
	case OPER_ADD: return OP_ADD;
	case OPER_SUB: return OP_SUB;
	case OPER_MUL: return OP_MUL;
	case OPER_DIV: return OP_DIV;
	case OPER_MOD: return OP_MOD;
	case OPER_AND: return OP_AND;
	case OPER_OR: return OP_OR;
	case OPER_XOR: return OP_XOR;
	case OPER_SHL: return OP_SHL;
	case OPER_SHR: return OP_SHR;
	case OPER_USHR: return OP_USHR;
	case OPER_EQ: return OP_EQ;
	case OPER_NE: return OP_NE;
	case OPER_LT: return OP_LT;
	case OPER_LE: return OP_LE;
	case OPER_GT: return OP_GT;
	case OPER_GE: return OP_GE;
	default: break;
	}
	assert(!"an operator on numbers");
	return OP_ADD;
}

/* Strings compare with ops in the same order as numbers do. */
static enum ir_op str_op(enum oper op)
{
	return num_op(op) - OP_EQ + OP_SEQ;
}

/*
 * Division by 0 is an error of the script, found before dividing. In both
 * machines: eBPF itself gives 0, which the language does not want.
 */
static void check_divisor(struct build *b, struct ir_val y)
{
	struct ir_block *bad, *ok;
	struct ir_ins *i;

	if (y.kind == VAL_NUM && y.num)
		return;
	bad = block_new(b);
	ok = block_new(b);
	i = emit(b, OP_BREQ, y, val_num(0), NOVAL);
	i->target[0] = bad;
	i->target[1] = ok;
	b->cur = NULL;
	block_start(b, bad);
	emit_raise(b, val_str(build_text(b, "division by 0")), 0);
	block_start(b, ok);
}

/* Concatenation is cut at MAXSTRINGLEN, as everywhere. */
struct ir_val expr_arith(struct build *b, enum oper op, struct ir_val x,
			 struct ir_val y, const struct span *at)
{
	struct span old = build_at(b, at);
	struct ir_val ret;

	if (op == OPER_CONCAT) {
		uint32_t w = val_width(b->f, &x) + val_width(b->f, &y);
		uint32_t max = str_round(b->c->set.limit[LIMIT_MAXSTRINGLEN]);
		uint32_t r = tmp_str(b, w < max ? w : max);

		emit_to(b, OP_SCAT, r, x, y);
		ret = val_reg(r);
	} else {
		if (op == OPER_DIV || op == OPER_MOD)
			check_divisor(b, y);
		ret = emit_num(b, num_op(op), x, y, NOVAL);
	}
	b->here = old;
	return ret;
}

static struct ir_val expr_binary(struct build *b, struct node *n)
{
	struct node *ops[2] = {n->u.binary.a, n->u.binary.b};
	struct ir_val v[2];
	struct span old;
	struct ir_val ret;

	expr_list(b, ops, 2, v);
	if (!val_is_str(b->f, &v[0]))
		return expr_arith(b, n->u.binary.op, v[0], v[1], &n->span);
	old = build_at(b, &n->span);
	ret = emit_num(b, str_op(n->u.binary.op), v[0], v[1], NOVAL);
	b->here = old;
	return ret;
}

static struct ir_val expr_concat(struct build *b, struct node *n)
{
	struct node *ops[2] = {n->u.binary.a, n->u.binary.b};
	struct ir_val v[2];
	struct span old;
	uint32_t r;

	expr_list(b, ops, 2, v);
	old = build_at(b, &n->span);
	r = tmp_str(b, n->width);
	emit_to(b, OP_SCAT, r, v[0], v[1]);
	b->here = old;
	return val_reg(r);
}

static struct ir_val expr_unary(struct build *b, struct node *n)
{
	struct ir_val v = expr(b, n->u.unary.a, true);
	struct span old;

	if (n->u.unary.op == OPER_PLUS)
		return v;
	old = build_at(b, &n->span);
	v = emit_num(b, n->u.unary.op == OPER_MINUS ? OP_NEG :
		     n->u.unary.op == OPER_NOT ? OP_NOT : OP_INV,
		     v, NOVAL, NOVAL);
	b->here = old;
	return v;
}

/* a && b, a || b as a value. */
static struct ir_val expr_logic(struct build *b, struct node *n)
{
	struct ir_block *yes = block_new(b), *no = block_new(b);
	struct ir_block *end = block_new(b);
	uint32_t r = tmp_num(b);

	cond(b, n, yes, no);
	block_start(b, yes);
	emit_mov(b, r, val_num(1));
	emit_jmp(b, end);
	block_start(b, no);
	emit_mov(b, r, val_num(0));
	emit_jmp(b, end);
	block_start(b, end);
	return val_reg(r);
}

/*
 * Only one side is evaluated. r is written on both paths, which is why
 * registers are not SSA values.
 */
static struct ir_val expr_ternary(struct build *b, struct node *n, bool want)
{
	struct ir_block *yes = block_new(b), *no = block_new(b);
	struct ir_block *end = block_new(b);
	uint32_t r = want ? tmp_of(b, n->type, n->width) : 0;
	struct ir_val v;

	cond(b, n->u.ternary.a, yes, no);
	block_start(b, yes);
	v = expr(b, n->u.ternary.b, want);
	if (want && v.kind != VAL_NONE)
		emit_mov(b, r, v);
	emit_jmp(b, end);
	block_start(b, no);
	v = expr(b, n->u.ternary.c, want);
	if (want && v.kind != VAL_NONE)
		emit_mov(b, r, v);
	emit_jmp(b, end);
	block_start(b, end);
	return want ? val_reg(r) : NOVAL;
}

/*
 * Equal patterns are one regex (sema compiles each once), so comparing pointers
 * does.
 */
static struct ir_val expr_match(struct build *b, struct node *n)
{
	struct ir_val v = expr(b, n->u.match.a, true);
	struct span old = build_at(b, &n->span);
	struct ir_ins *i = emit(b, OP_MATCH, v, NOVAL, NOVAL);
	unsigned k = 0;

	i->dst = tmp_num(b);
	i->has_dst = true;
	/*
	 * The table of regexes is what OP_MATCH's number refers to in the text
	 * form.
	 */
	i->re = n->u.match.re;
	while (k < b->ir->regexes.n && b->ir->regexes.v[k] != i->re)
		k++;
	if (k == b->ir->regexes.n) {
		vec_push(b->a, &b->ir->regexes, i->re);
		vec_push(b->a, &b->ir->patterns, n->u.match.pattern);
	}
	v = val_reg(i->dst);
	if (n->u.match.op == OPER_NOMATCH)
		v = emit_num(b, OP_NOT, v, NOVAL, NOVAL);
	b->here = old;
	return v;
}

static struct ir_val expr_name(struct build *b, struct node *n)
{
	struct var *v = n->u.name.var;
	struct span old;
	struct ir_ins *i;

	if (!v->is_global)
		return val_reg(local_reg(b, v));
	old = build_at(b, &n->span);
	i = emit_n(b, OP_GLD, 0, NULL);
	i->global = v;
	i->dst = tmp_of(b, v->type, v->width);
	i->has_dst = true;
	b->here = old;
	return val_reg(i->dst);
}

/* --- conditions ----------------------------------------------------------- */

/* BREQ and the others stand in the order of EQ and the others. */
static enum ir_op branch_op(enum oper op)
{
	return num_op(op) - OP_EQ + OP_BREQ;
}

/* Strings are compared to a number first, then branched on. */
static bool is_compare(const struct node *n)
{
	return n->kind == N_BINARY && n->u.binary.op >= OPER_EQ &&
	       n->u.binary.op <= OPER_GE &&
	       n->u.binary.a->type != TY_STRING;
}

/*
 * No value is made: control goes to yes or no. Recursion is bounded by the
 * tree's height (PARSE_DEPTH_MAX).
 */
void cond(struct build *b, struct node *n, struct ir_block *yes,
	  struct ir_block *no)
{
	struct ir_block *mid;

	if (n->kind == N_LOGIC) {
		mid = block_new(b);
		if (n->u.binary.op == OPER_LAND)
			cond(b, n->u.binary.a, mid, no);
		else
			cond(b, n->u.binary.a, yes, mid);
		block_start(b, mid);
		cond(b, n->u.binary.b, yes, no);
	} else if (n->kind == N_UNARY && n->u.unary.op == OPER_NOT) {
		cond(b, n->u.unary.a, no, yes);
	} else if (is_compare(n)) {
		struct node *ops[2] = {n->u.binary.a, n->u.binary.b};
		struct ir_val v[2];
		struct span old;
		struct ir_ins *i;

		expr_list(b, ops, 2, v);
		old = build_at(b, &n->span);
		i = emit(b, branch_op(n->u.binary.op), v[0], v[1], NOVAL);
		i->target[0] = yes;
		i->target[1] = no;
		b->here = old;
	} else {
		struct ir_val v = expr(b, n, true);
		struct span old = build_at(b, &n->span);

		emit_br(b, v, yes, no);
		b->here = old;
	}
}

/* --- all of them ---------------------------------------------------------- */

/* A value that fits where something could not be built; the message is out. */
static struct ir_val dummy(struct build *b, const struct node *n)
{
	return n->type == TY_STRING ? val_str(build_text(b, "")) : val_num(0);
}

/* exit(), print() and the like are 0 where a number is wanted. */
static struct ir_val or_zero(const struct node *n, struct ir_val v, bool want)
{
	return want && v.kind == VAL_NONE && n->type == TY_LONG ? val_num(0)
								 : v;
}

/* sema has typed every node: what comes here is right, or was reported. */
struct ir_val expr(struct build *b, struct node *n, bool want)
{
	switch (n->kind) {
	case N_NUM:
		return val_num(n->u.num);
	case N_STR:
		return val_str(n->u.str);
	case N_NAME:
		return want ? expr_name(b, n) : NOVAL;
	case N_INDEX:
		return expr_index(b, n);
	case N_CALL:
		return or_zero(n, expr_call(b, n, want), want);
	case N_UNARY:
		return expr_unary(b, n);
	case N_INCDEC:
		return expr_incdec(b, n, want);
	case N_BINARY:
		return expr_binary(b, n);
	case N_LOGIC:
		return expr_logic(b, n);
	case N_CONCAT:
		return expr_concat(b, n);
	case N_TERNARY:
		return expr_ternary(b, n, want);
	case N_ASSIGN:
		return expr_assign(b, n, want);
	case N_IN:
		return expr_in(b, n);
	case N_MATCH:
		return expr_match(b, n);
	case N_STAT:
		return expr_stat(b, n);
	case N_HIST_AT:
		return expr_hist_at(b, n->u.hist_at.hist, n->u.hist_at.index,
				    &n->u.hist_at.hist->span);
	case N_PRINT:
		return or_zero(n, expr_print(b, n, want), want);
	case N_TARGET:
	case N_ARROW:
		return expr_target(b, n, false);
	case N_ADDRESS:
		return expr_target(b, n->u.unary.a, true);
	default:
		/* statements, and what sema has made others of */
		assert(!"no expression");
		return dummy(b, n);
	}
}
