/* SPDX-License-Identifier: MIT */
/*
 * needs:  kernel handlers after split
 * keeps:  the limit: what cannot exceed it is not counted
 * breaks: nothing; removes ACT
 *
 * A handler without loops and calls runs each of its statements once at most.
 */
#include "ir/pass.h"

#include "ir/util.h"

/*
 * Blocks are not laid out in the order they run: look for a cycle. Counting
 * predecessors down (Kahn's topological order).
 */
static bool has_cycle(struct arena *a, struct ir_func *f)
{
	unsigned *preds = arena_array(a, unsigned, f->nblocks + 1);
	struct ir_block **ready = arena_array(a, struct ir_block *,
					      f->nblocks + 1);
	unsigned n = 0, done = 0;

	for (struct ir_block *b = f->blocks; b; b = b->next) {
		struct ir_block *s[2];
		unsigned k = ir_succ(b, s);

		while (k--)
			preds[s[k]->id]++;
	}
	for (struct ir_block *b = f->blocks; b; b = b->next)
		if (!preds[b->id])
			ready[n++] = b;
	/* What is left when no block without predecessors is, is a cycle. */
	while (n) {
		struct ir_block *s[2];
		unsigned k = ir_succ(ready[--n], s);

		done++;
		while (k--)
			if (!--preds[s[k]->id])
				ready[n++] = s[k];
	}
	return done < f->nblocks;
}

/* The sum of all ACTs is the most that can be counted on any path. */
static void act_func(struct compile *c, struct ir_func *f)
{
	int64_t sum = 0;

	for (struct ir_block *b = f->blocks; b; b = b->next) {
		for (struct ir_ins *i = b->first; i; i = i->next) {
			if (i->op == OP_CALL)
				return;
			if (i->op == OP_ACT)
				sum += i->args[0].num;
		}
	}
	if (!sum || sum >= c->set.limit[LIMIT_MAXACTION_INTERRUPTIBLE])
		return;
	ir_number(f);
	if (has_cycle(c->a, f))
		return;
	for (struct ir_block *b = f->blocks; b; b = b->next) {
		if (b->last->op != OP_ACT)
			continue;
		b->last->op = OP_JMP;
		b->last->nargs = 0;
		b->last->target[1] = NULL;
	}
	ir_prune(c->a, f);
}

void opt_act(struct compile *c, struct ir *ir)
{
	for (unsigned i = 0; i < ir->funcs.n; i++)
		if (ir->funcs.v[i]->kind == IR_PROBE)
			act_func(c, ir->funcs.v[i]);
}
