/* SPDX-License-Identifier: MIT */
/* Carries copies and constants to their uses. */
#include "ir/fold.h"

#include <string.h>

/* --- may an operand be replaced? ------------------------------------------ */

/*
 * Where the operand's width is part of what was agreed on, only the same width
 * will do.
 */
static bool may_replace(const struct ir_func *f, const struct ir_ins *i,
			unsigned k, const struct ir_val *by)
{
	bool str = val_is_str(f, by);

	switch (i->op) {
	case OP_ENTER:
	case OP_RESUME: /* both sides agree on registers */
		return false;
	case OP_PRINT:
	case OP_SPRINT: /* the record's layout is made */
		return !str || (by->kind == VAL_REG &&
				val_width(f, by) == i->fmt->width[k]);
	case OP_CALL: /* the callee expects its parameters' widths */
		return !str || (by->kind == VAL_REG &&
				val_width(f, by) == val_width(f, &i->args[k]));
	default:
		return true;
	}
}

/* A copy that keeps all of the value. */
static bool whole_copy(const struct ir_func *f, const struct ir_ins *i)
{
	if (i->op == OP_MOV || i->op == OP_CONST)
		return true;
	return i->op == OP_SMOV &&
	       val_width(f, &i->args[0]) <= f->regs.v[i->dst].width;
}

/* --- within a block ------------------------------------------------------- */

/* Within one block, in order: what each register is a copy of just now. */
struct known {
	struct ir_val *val; /* by register; VAL_NONE: not known */
	uint32_t *list;	    /* registers with something known */
	unsigned n;
};

/* r is written: what it was, and copies of it, are no longer known. */
static void forget(struct known *k, uint32_t r)
{
	unsigned out = 0;

	for (unsigned i = 0; i < k->n; i++) {
		uint32_t q = k->list[i];

		if (q == r || (k->val[q].kind == VAL_REG &&
			       k->val[q].reg == r))
			k->val[q].kind = VAL_NONE;
		else
			k->list[out++] = q;
	}
	k->n = out;
}

/* Values are carried forward until their source or copy is written. */
static bool copy_block(struct ir_func *f, struct ir_block *b, struct known *k)
{
	bool changed = false;

	for (unsigned i = 0; i < k->n; i++)
		k->val[k->list[i]].kind = VAL_NONE;
	k->n = 0;
	for (struct ir_ins *i = b->first; i; i = i->next) {
		for (unsigned n = 0; n < i->nargs; n++) {
			struct ir_val *v = &i->args[n];

			if (v->kind != VAL_REG ||
			    k->val[v->reg].kind == VAL_NONE ||
			    !may_replace(f, i, n, &k->val[v->reg]))
				continue;
			*v = k->val[v->reg];
			changed = true;
		}
		if (i->op == OP_LOOP) /* runs on the frame */
			for (unsigned r = 0; r < f->regs.n; r++)
				if (f->regs.v[r].shared)
					forget(k, r);
		if (!i->has_dst)
			continue;
		forget(k, i->dst);
		if (!whole_copy(f, i) ||
		    (i->args[0].kind == VAL_REG && i->args[0].reg == i->dst))
			continue;
		k->val[i->dst] = i->args[0];
		k->list[k->n++] = i->dst;
	}
	return changed;
}

/* --- across blocks: registers that are set in one place ------------------- */

/* Can control come from the end of `from` to the start of `to`? */
static bool leads_to(struct ir_block *from, const struct ir_block *to,
		     uint8_t *seen, struct ir_block **stack, unsigned nblocks)
{
	unsigned n = 0;

	memset(seen, 0, nblocks);
	stack[n++] = from;
	while (n) {
		struct ir_block *s[2];
		unsigned ns = ir_succ(stack[--n], s);

		for (unsigned i = 0; i < ns; i++) {
			if (s[i] == to)
				return true;
			if (seen[s[i]->id])
				continue;
			seen[s[i]->id] = 1;
			stack[n++] = s[i];
		}
	}
	return false;
}

/*
 * The value that register r always has when it is read, or VAL_NONE. One
 * definition alone is not enough: a loop could run the source's definition
 * again between copy and use, so it must not be reachable from the copy.
 */
static struct ir_val always(struct ir_func *f, const struct reg_use *u,
			    uint32_t r, uint8_t *seen,
			    struct ir_block **stack)
{
	const struct ir_ins *d = u[r].def;
	struct ir_val v = {0};
	uint32_t s;

	if (u[r].defs != 1 || !u[r].uses || !d || !whole_copy(f, d))
		return v;
	if (d->args[0].kind != VAL_REG)
		return d->args[0];
	s = d->args[0].reg;
	if (u[s].defs != 1 || s == r)
		return v;
	/* The source must keep its value for as long as the copy does. */
	if (u[s].def && leads_to(u[r].block, u[s].block, seen, stack,
				 f->nblocks))
		return v;
	return d->args[0];
}

/*
 * Only registers with one definition, which is most of them: temporaries are
 * written once.
 */
static bool copy_across(struct arena *tmp, struct ir_func *f)
{
	struct reg_use *u = reg_uses(tmp, f);
	struct ir_val *val = arena_array(tmp, struct ir_val, f->regs.n + 1);
	uint8_t *seen = arena_alloc(tmp, f->nblocks + 1);
	struct ir_block **stack = arena_array(tmp, struct ir_block *,
					      f->nblocks + 1);
	bool changed = false, any = false;

	for (unsigned r = 0; r < f->regs.n; r++) {
		if (u[r].defs != 1 || !u[r].def)
			continue;
		val[r] = always(f, u, r, seen, stack);
		any |= val[r].kind != VAL_NONE;
	}
	for (struct ir_block *b = f->blocks; b && any; b = b->next) {
		for (struct ir_ins *i = b->first; i; i = i->next) {
			for (unsigned n = 0; n < i->nargs; n++) {
				struct ir_val *v = &i->args[n];

				if (v->kind != VAL_REG ||
				    val[v->reg].kind == VAL_NONE ||
				    !may_replace(f, i, n, &val[v->reg]))
					continue;
				*v = val[v->reg];
				changed = true;
			}
		}
	}
	return changed;
}

bool fold_copies(struct arena *tmp, struct ir_func *f)
{
	struct known k = {0};
	bool changed;

	ir_number(f);
	changed = copy_across(tmp, f);
	k.val = arena_array(tmp, struct ir_val, f->regs.n + 1);
	k.list = arena_array(tmp, uint32_t, f->regs.n + 1);
	for (struct ir_block *b = f->blocks; b; b = b->next)
		changed |= copy_block(f, b, &k);
	return changed;
}
