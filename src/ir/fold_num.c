/* SPDX-License-Identifier: MIT */
/* Computes what is known, and turns branches that are decided into jumps. */
#include "ir/fold.h"

#include <string.h>

static bool is_num(const struct ir_val *v, int64_t n)
{
	return v->kind == VAL_NUM && v->num == n;
}

/*
 * The language's arithmetic: everything wraps, counts are masked. The same as
 * gen/ and the VM do, so that folding cannot be noticed.
 */
static bool compute(enum ir_op op, int64_t x, int64_t y, int64_t *ret)
{
	uint64_t a = (uint64_t)x, b = (uint64_t)y;

	switch (op) {
	case OP_ADD: *ret = (int64_t)(a + b); return true;
	case OP_SUB: *ret = (int64_t)(a - b); return true;
	case OP_MUL: *ret = (int64_t)(a * b); return true;
	case OP_AND: *ret = x & y; return true;
	case OP_OR: *ret = x | y; return true;
	case OP_XOR: *ret = x ^ y; return true;
	case OP_SHL: *ret = (int64_t)(a << (b & 63)); return true;
	case OP_SHR: *ret = x >> (b & 63); return true;
	case OP_USHR: *ret = (int64_t)(a >> (b & 63)); return true;
	case OP_EQ: case OP_BREQ: *ret = x == y; return true;
	case OP_NE: case OP_BRNE: *ret = x != y; return true;
	case OP_LT: case OP_BRLT: *ret = x < y; return true;
	case OP_LE: case OP_BRLE: *ret = x <= y; return true;
	case OP_GT: case OP_BRGT: *ret = x > y; return true;
	case OP_GE: case OP_BRGE: *ret = x >= y; return true;
	/* By 0 stays: it is an error that the script may catch. */
	case OP_DIV:
		if (!y)
			return false;
		*ret = y == -1 ? (int64_t)(0 - a) : x / y;
		return true;
	case OP_MOD:
		if (!y)
			return false;
		*ret = y == -1 ? 0 : x % y;
		return true;
	default:
		return false;
	}
}

static bool compute_one(const struct ir_ins *i, int64_t x, int64_t *ret)
{
	switch (i->op) {
	case OP_NEG: *ret = (int64_t)(0 - (uint64_t)x); return true;
	case OP_NOT: *ret = !x; return true;
	case OP_INV: *ret = ~x; return true;
	default: return false;
	}
}

/* x + 0, x * 1, x & -1, ...: x. */
static bool is_neutral(enum ir_op op, int64_t y)
{
	switch (op) {
	case OP_ADD: case OP_SUB: case OP_OR: case OP_XOR: case OP_SHL:
	case OP_SHR: case OP_USHR:
		return y == 0;
	case OP_MUL: case OP_DIV:
		return y == 1;
	case OP_AND:
		return y == -1;
	default:
		return false;
	}
}

/* Operands keep their array: it has room for at least one. */
static void become_mov(struct ir_ins *i, enum ir_op op, struct ir_val v)
{
	i->op = op;
	i->args[0] = v;
	i->nargs = 1;
}

/* Constants go to the right, where instructions have immediates. */
static bool swap_sides(struct ir_ins *i)
{
	static const enum ir_op mirror[OP_MAX] = {
		[OP_ADD] = OP_ADD, [OP_MUL] = OP_MUL, [OP_AND] = OP_AND,
		[OP_OR] = OP_OR, [OP_XOR] = OP_XOR, [OP_EQ] = OP_EQ,
		[OP_NE] = OP_NE, [OP_LT] = OP_GT, [OP_LE] = OP_GE,
		[OP_GT] = OP_LT, [OP_GE] = OP_LE, [OP_BREQ] = OP_BREQ,
		[OP_BRNE] = OP_BRNE, [OP_BRLT] = OP_BRGT,
		[OP_BRLE] = OP_BRGE, [OP_BRGT] = OP_BRLT,
		[OP_BRGE] = OP_BRLE,
	};
	struct ir_val t;

	if (i->nargs != 2 || !mirror[i->op] ||
	    i->args[0].kind != VAL_NUM || i->args[1].kind != VAL_REG)
		return false;
	t = i->args[0];
	i->args[0] = i->args[1];
	i->args[1] = t;
	i->op = mirror[i->op];
	return true;
}

/* --- strings -------------------------------------------------------------- */

/* As the machines compare: by bytes, up to the NUL. */
static bool fold_compare(struct ir_ins *i)
{
	int d, v;

	if (i->op < OP_SEQ || i->op > OP_SGE ||
	    i->args[0].kind != VAL_STR || i->args[1].kind != VAL_STR)
		return false;
	d = strcmp(i->args[0].str, i->args[1].str);
	v = i->op == OP_SEQ ? d == 0 : i->op == OP_SNE ? d != 0 :
	    i->op == OP_SLT ? d < 0 : i->op == OP_SLE ? d <= 0 :
	    i->op == OP_SGT ? d > 0 : d >= 0;
	become_mov(i, OP_MOV, val_num(v));
	return true;
}

/* Cut to the result's width as SCAT would cut it. */
static bool fold_concat(struct compile *c, const struct ir_func *f,
			struct ir_ins *i)
{
	size_t n, m, max = f->regs.v[i->dst].width - 1;
	const struct ir_val *x = &i->args[0], *y = &i->args[1];
	char *s;

	if (x->kind == VAL_STR && !str_len(x->str)) {
		become_mov(i, OP_SMOV, *y);
		return true;
	}
	if (y->kind == VAL_STR && !str_len(y->str)) {
		become_mov(i, OP_SMOV, *x);
		return true;
	}
	if (x->kind != VAL_STR || y->kind != VAL_STR)
		return false;
	n = strlen(x->str);
	m = strlen(y->str);
	s = arena_alloc(c->a, n + m + 1);
	memcpy(s, x->str, n);
	memcpy(s + n, y->str, m);
	n += m;
	become_mov(i, OP_SMOV, val_str(str_intern(c->str, s,
						  n < max ? n : max)));
	return true;
}

/* true: something changed. Instructions with a failure edge are left alone. */
static bool fold_ins(struct compile *c, struct ir_func *f, struct ir_ins *i)
{
	bool swapped = swap_sides(i);
	int64_t v;

	if (i->op == OP_SCAT)
		return fold_concat(c, f, i);
	if (fold_compare(i))
		return true;
	if (!i->has_dst || i->target[0] || !i->nargs)
		return swapped;
	if (i->nargs == 2 && i->args[0].kind == VAL_NUM &&
	    i->args[1].kind == VAL_NUM &&
	    compute(i->op, i->args[0].num, i->args[1].num, &v)) {
		become_mov(i, OP_MOV, val_num(v));
		return true;
	}
	if (i->nargs == 1 && i->args[0].kind == VAL_NUM &&
	    compute_one(i, i->args[0].num, &v)) {
		become_mov(i, OP_MOV, val_num(v));
		return true;
	}
	if (i->nargs == 2 && i->args[1].kind == VAL_NUM &&
	    is_neutral(i->op, i->args[1].num)) {
		become_mov(i, OP_MOV, i->args[0]);
		return true;
	}
	if ((i->op == OP_MUL || i->op == OP_AND) && i->nargs == 2 &&
	    is_num(&i->args[1], 0)) {
		become_mov(i, OP_MOV, val_num(0));
		return true;
	}
	return swapped;
}

bool fold_numbers(struct compile *c, struct ir_func *f)
{
	bool changed = false;

	for (struct ir_block *b = f->blocks; b; b = b->next)
		for (struct ir_ins *i = b->first; i; i = i->next)
			changed |= fold_ins(c, f, i);
	return changed;
}

/* --- branches ------------------------------------------------------------- */

static void become_jmp(struct ir_ins *i, struct ir_block *to)
{
	i->op = OP_JMP;
	i->nargs = 0;
	i->target[0] = to;
	i->target[1] = NULL;
}

static void swap_targets(struct ir_ins *i)
{
	struct ir_block *t = i->target[0];

	i->target[0] = i->target[1];
	i->target[1] = t;
}

/*
 * The definition of register r in the block that still holds at its end. d is
 * forgotten when one of its operands is written behind it.
 */
static struct ir_ins *def_in(struct ir_block *b, uint32_t r)
{
	struct ir_ins *d = NULL;

	for (struct ir_ins *i = b->first; i != b->last; i = i->next) {
		if (i->has_dst && i->dst == r) {
			d = i;
			continue;
		}
		for (unsigned k = 0; d && i->has_dst && k < d->nargs; k++)
			if (d->args[k].kind == VAL_REG &&
			    d->args[k].reg == i->dst)
				d = NULL;
	}
	/* A result that is its own operand is no longer what it was. */
	for (unsigned k = 0; d && k < d->nargs; k++)
		if (d->args[k].kind == VAL_REG && d->args[k].reg == r)
			return NULL;
	return d;
}

/*
 * br r, where r = x < y; or r = !x. The comparison stays for others that read
 * it; if there are none, fold_dead() takes it.
 */
static bool fuse(struct compile *c, struct ir_block *b)
{
	struct ir_ins *br = b->last, *d;

	/* Compares with 0 are plain tests first. */
	if (br->op == OP_BREQ && is_num(&br->args[1], 0)) {
		br->op = OP_BR;
		br->nargs = 1;
		swap_targets(br);
	} else if (br->op == OP_BRNE && is_num(&br->args[1], 0)) {
		br->op = OP_BR;
		br->nargs = 1;
	}
	if (br->op != OP_BR || br->args[0].kind != VAL_REG)
		return false;
	d = def_in(b, br->args[0].reg);
	if (!d)
		return false;
	if (d->op == OP_NOT) {
		br->args[0] = d->args[0];
		swap_targets(br);
		return true;
	}
	if (d->op < OP_EQ || d->op > OP_GE)
		return false;
	br->op = d->op - OP_EQ + OP_BREQ;
	br->args = arena_array(c->a, struct ir_val, 2);
	br->args[0] = d->args[0];
	br->args[1] = d->args[1];
	br->nargs = 2;
	return true;
}

/* Both ways lead to the same block, or the condition is known. */
static bool decide(struct ir_ins *i)
{
	int64_t v;

	if (i->target[1] && i->target[0] == i->target[1] &&
	    (op_info(i->op)->flags & OPF_B)) {
		become_jmp(i, i->target[0]);
		return true;
	}
	if (i->op == OP_BR && i->args[0].kind == VAL_NUM)
		v = i->args[0].num;
	else if (i->op < OP_BREQ || i->op > OP_BRGE ||
		 i->args[0].kind != VAL_NUM || i->args[1].kind != VAL_NUM ||
		 !compute(i->op, i->args[0].num, i->args[1].num, &v))
		return false;
	become_jmp(i, i->target[v ? 0 : 1]);
	return true;
}

bool fold_branches(struct compile *c, struct ir_func *f)
{
	bool changed = false;

	for (struct ir_block *b = f->blocks; b; b = b->next) {
		changed |= decide(b->last);
		changed |= fuse(c, b);
	}
	return changed;
}
