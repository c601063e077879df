/* SPDX-License-Identifier: MIT */
/*
 * needs:  a checked function
 * keeps:  what the function does, and in which order
 * breaks: block ids; registers may no longer be used
 *
 * Copies and constants are carried to where they are used, numbers computed,
 * compares fused with branches, blocks joined, and what no longer matters
 * removed; again, until nothing changes.
 */
#include "ir/pass.h"

#include <string.h>

#include "ir/fold.h"

/*
 * Nearly all functions are done after three or four; the bound is against
 * passes that would undo each other.
 */
enum { ROUNDS = 12 };

/* shared registers get two definitions more, so that "defined once" fails. */
struct reg_use *reg_uses(struct arena *a, const struct ir_func *f)
{
	struct reg_use *u = arena_array(a, struct reg_use, f->regs.n + 1);

	for (unsigned i = 0; i < f->nparams; i++)
		u[i].defs = 1;
	for (struct ir_block *b = f->blocks; b; b = b->next) {
		for (struct ir_ins *i = b->first; i; i = i->next) {
			for (unsigned k = 0; k < i->nargs; k++) {
				if (i->args[k].kind != VAL_REG)
					continue;
				if (i->op == OP_ENTER)
					u[i->args[k].reg].defs++;
				else
					u[i->args[k].reg].uses++;
			}
			if (i->has_dst) {
				u[i->dst].defs++;
				u[i->dst].def = i;
				u[i->dst].block = b;
			}
		}
	}
	/* What lives in a frame that others write is never known. */
	for (unsigned i = 0; i < f->regs.n; i++)
		if (f->regs.v[i].shared)
			u[i].defs += 2;
	return u;
}

/* Huge functions are left as they are: the sets would not fit (ir_is_huge). */
static void fold_func(struct compile *c, struct ir_func *f)
{
	bool changed = true;

	ir_prune(c->a, f);
	if (ir_is_huge(f))
		return;
	for (unsigned n = 0; changed && n < ROUNDS; n++) {
		struct arena *tmp = arena_new();

		changed = fold_copies(tmp, f);
		changed |= fold_numbers(c, f);
		changed |= fold_branches(c, f);
		changed |= fold_blocks(c, tmp, f);
		changed |= fold_dead(tmp, f);
		arena_free(tmp);
	}
}

void opt_fold(struct compile *c, struct ir *ir)
{
	if (c->set.unoptimized)
		return;
	for (unsigned i = 0; i < ir->funcs.n; i++)
		fold_func(c, ir->funcs.v[i]);
}
