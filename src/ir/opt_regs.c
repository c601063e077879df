/* SPDX-License-Identifier: MIT */
/*
 * needs:  functions before outline (registers of loop bodies follow those of
 *         their handler)
 * keeps:  the order of registers; parameters come first
 * breaks: register numbers: those that nothing uses are gone
 */
#include "ir/pass.h"
#include "ir/util.h"

static void touch(uint8_t *used, const struct ir_ins *i)
{
	if (i->has_dst)
		used[i->dst] = 1;
	for (unsigned k = 0; k < i->nargs; k++)
		if (i->args[k].kind == VAL_REG)
			used[i->args[k].reg] = 1;
}

/*
 * Parameters keep their numbers. Fewer registers are smaller sets for all that
 * follows.
 */
static void compact(struct arena *a, struct ir_func *f)
{
	uint8_t *used = arena_alloc(a, f->regs.n + 1);
	uint32_t *to = arena_array(a, uint32_t, f->regs.n + 1);
	uint32_t n = 0;

	for (struct ir_block *b = f->blocks; b; b = b->next)
		for (struct ir_ins *i = b->first; i; i = i->next)
			touch(used, i);
	for (unsigned r = 0; r < f->regs.n; r++) {
		if (!used[r] && r >= f->nparams)
			continue;
		f->regs.v[n] = f->regs.v[r];
		to[r] = n++;
	}
	f->regs.n = n;
	for (struct ir_block *b = f->blocks; b; b = b->next) {
		for (struct ir_ins *i = b->first; i; i = i->next) {
			if (i->has_dst)
				i->dst = to[i->dst];
			for (unsigned k = 0; k < i->nargs; k++)
				if (i->args[k].kind == VAL_REG)
					i->args[k].reg = to[i->args[k].reg];
		}
	}
}

void opt_regs(struct compile *c, struct ir *ir)
{
	for (unsigned i = 0; i < ir->funcs.n; i++)
		compact(c->a, ir->funcs.v[i]);
}
