/* SPDX-License-Identifier: MIT */
/* Assignments, ++ and --. */
#include "ir/build.h"

/* A global is memory, a local is a register. */
void assign_var(struct build *b, struct var *v, struct ir_val val)
{
	if (!v->is_global) {
		emit_mov(b, local_reg(b, v), val);
		return;
	}
	emit(b, OP_GST, val, NOVAL, NOVAL)->global = v;
}

static struct ir_val load_global(struct build *b, struct var *g)
{
	struct ir_ins *i = emit_n(b, OP_GLD, 0, NULL);

	i->global = g;
	i->dst = tmp_of(b, g->type, g->width);
	i->has_dst = true;
	return val_reg(i->dst);
}

/* An instruction with a number result on a global. */
static struct ir_val global_num(struct build *b, enum ir_op op,
				struct var *g, struct ir_val x)
{
	struct ir_ins *i = emit(b, op, x, NOVAL, NOVAL);

	i->global = g;
	i->dst = tmp_num(b);
	i->has_dst = true;
	return val_reg(i->dst);
}

/* -INT64_MIN wraps, as the language has it. */
static struct ir_val negated(struct build *b, struct ir_val v)
{
	if (v.kind == VAL_NUM)
		return val_num((int64_t)(0 - (uint64_t)v.num));
	return emit_num(b, OP_NEG, v, NOVAL, NOVAL);
}

/*
 * g op= v on a global scalar. += and -= are one atomic addition (GADD, GXADD):
 * no lock is needed for them (sema/exclusion.c). So are &=, |=, ^= whose value
 * nobody uses. The rest reads and writes.
 */
static struct ir_val compound_global(struct build *b, enum oper op,
				     struct var *g, struct ir_val v,
				     const struct span *at, bool want)
{
	struct ir_val old;

	if (op == OPER_ADD || op == OPER_SUB) {
		if (op == OPER_SUB)
			v = negated(b, v);
		if (!want) {
			emit(b, OP_GADD, v, NOVAL, NOVAL)->global = g;
			return NOVAL;
		}
		old = global_num(b, OP_GXADD, g, v);
		/*
		 * The new value from the old one: what others add in between is
		 * not ours.
		 */
		return emit_num(b, OP_ADD, old, v, NOVAL);
	}
	if (!want && (op == OPER_AND || op == OPER_OR || op == OPER_XOR)) {
		emit(b, OP_GRMW, v, val_num(op - OPER_AND), NOVAL)->global =
		    g;
		return NOVAL;
	}
	v = expr_arith(b, op, load_global(b, g), v, at);
	emit(b, OP_GST, v, NOVAL, NOVAL)->global = g;
	return v;
}

/* What was set is the value of the assignment. */
static struct ir_val set_element(struct build *b, struct var *g,
				 const struct ir_val *keys, unsigned nkeys,
				 struct ir_val v)
{
	struct ir_ins *i = emit_keyed(b, OP_ASET, g, keys, nkeys, &v, 1);

	emit_fail_full(b, i, g);
	return v;
}

/* The array's element op= v. As for scalars, += is one addition in place. */
static struct ir_val compound_element(struct build *b, enum oper op,
				      struct var *g,
				      const struct ir_val *keys,
				      unsigned nkeys, struct ir_val v,
				      const struct span *at, bool want)
{
	struct ir_ins *i;

	if (op == OPER_ADD || op == OPER_SUB) {
		if (op == OPER_SUB)
			v = negated(b, v);
		i = emit_keyed(b, want ? OP_AXADD : OP_AADD, g, keys, nkeys,
			       &v, 1);
		if (want) {
			i->dst = tmp_num(b);
			i->has_dst = true;
		}
		emit_fail_full(b, i, g);
		return want ? emit_num(b, OP_ADD, val_reg(i->dst), v, NOVAL) :
		       NOVAL;
	}
	i = emit_keyed(b, OP_AGET, g, keys, nkeys, NULL, 0);
	i->dst = tmp_of(b, g->type, g->width);
	i->has_dst = true;
	v = expr_arith(b, op, val_reg(i->dst), v, at);
	return set_element(b, g, keys, nkeys, v);
}

/* x op= v on a local: straight into its register. */
static struct ir_val compound_local(struct build *b, enum oper op,
				    struct var *x, struct ir_val v,
				    const struct span *at)
{
	uint32_t r = local_reg(b, x);

	if (op == OPER_CONCAT)
		emit_to(b, OP_SCAT, r, val_reg(r), v);
	else
		emit_mov(b, r, expr_arith(b, op, val_reg(r), v, at));
	return val_reg(r);
}

/*
 * x <<< v: worth v. The sample goes in after the operands of keys were
 * evaluated.
 */
static struct ir_val feed(struct build *b, struct node *n)
{
	struct ir_val keys[KEYS_MAX + 1];
	unsigned nkeys;
	struct var *g = lvalue(b, n->u.binary.a, keys, &nkeys, NULL);
	struct ir_val v = expr(b, n->u.binary.b, true);
	struct span old = build_at(b, &n->u.binary.a->span);
	struct ir_ins *i = emit_keyed(b, OP_SADD, g, keys, nkeys, &v, 1);

	/*
	 * Full arrays of aggregates count in "other" unless the script asks for
	 * an error.
	 */
	if (nkeys && b->c->set.limit[LIMIT_STP_STRICT_OVERFLOW])
		emit_fail_full(b, i, g);
	b->here = old;
	return v;
}

struct ir_val expr_assign(struct build *b, struct node *n, bool want)
{
	struct node *lhs = n->u.binary.a;
	enum oper op = n->u.binary.op;
	struct ir_val keys[KEYS_MAX + 1], v;
	/* The reference reports a division by 0 at the divisor. */
	const struct span *at = &n->u.binary.b->span;
	unsigned nkeys;
	struct var *x;
	struct span old;

	if (op == OPER_FEED)
		return feed(b, n);
	if (lhs->kind != N_NAME && lhs->kind != N_INDEX) {
		complain(b->c, TARGET_WRITE, &lhs->span);
		return expr(b, n->u.binary.b, want);
	}
	/* The left side's keys come before the right side, as written. */
	x = lvalue(b, lhs, keys, &nkeys, NULL);
	v = expr(b, n->u.binary.b, true);
	old = build_at(b, &lhs->span);
	if (op == OPER_SET && nkeys)
		v = set_element(b, x, keys, nkeys, v);
	else if (op == OPER_SET)
		assign_var(b, x, v);
	else if (nkeys)
		v = compound_element(b, op, x, keys, nkeys, v, at, want);
	else if (x->is_global)
		v = compound_global(b, op, x, v, at, want);
	else
		v = compound_local(b, op, x, v, at);
	/* x = y is worth what x holds: y, cut to x's width. */
	if (want && op == OPER_SET && !nkeys && !x->is_global)
		v = val_reg(local_reg(b, x));
	b->here = old;
	return v;
}

/*
 * Post-increments of a local copy the old value when it is wanted; globals give
 * it back from the addition.
 */
struct ir_val expr_incdec(struct build *b, struct node *n, bool want)
{
	bool prefix = n->u.incdec.prefix;
	struct ir_val one = val_num(n->u.incdec.op == OPER_INC ? 1 : -1);
	struct ir_val keys[KEYS_MAX + 1], ret = NOVAL;
	struct node *lhs = n->u.incdec.a;
	unsigned nkeys;
	struct span old;
	struct var *x;

	if (lhs->kind != N_NAME && lhs->kind != N_INDEX) {
		complain(b->c, TARGET_WRITE, &lhs->span);
		return val_num(0);
	}
	x = lvalue(b, lhs, keys, &nkeys, NULL);
	old = build_at(b, &lhs->span);
	if (!nkeys && !x->is_global) {
		uint32_t r = local_reg(b, x);

		ret = val_reg(r);
		if (want && !prefix) {
			ret = val_reg(tmp_num(b));
			emit_mov(b, ret.reg, val_reg(r));
		}
		emit_to(b, OP_ADD, r, val_reg(r), one);
	} else if (!want) {
		if (nkeys)
			compound_element(b, OPER_ADD, x, keys, nkeys, one,
					 &lhs->span, false);
		else
			emit(b, OP_GADD, one, NOVAL, NOVAL)->global = x;
	} else {
		if (nkeys) {
			struct ir_ins *i = emit_keyed(b, OP_AXADD, x, keys,
						      nkeys, &one, 1);

			i->dst = tmp_num(b);
			i->has_dst = true;
			emit_fail_full(b, i, x);
			ret = val_reg(i->dst);
		} else {
			ret = global_num(b, OP_GXADD, x, one);
		}
		if (prefix)
			ret = emit_num(b, OP_ADD, ret, one, NOVAL);
	}
	b->here = old;
	return ret;
}
