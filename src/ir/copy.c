/* SPDX-License-Identifier: MIT */
/* A second version of a function, block by block. */
#include "ir/util.h"

struct ir_func *func_copy(struct arena *a, struct ir *ir,
			  const struct ir_func *f, struct ir_block ***ret_map)
{
	struct ir_func *n = arena_new_of(a, struct ir_func);
	struct ir_block **map, *last = NULL;

	/*
	 * Tables of the program (formats, iterations) are shared with the
	 * original.
	 */
	*n = *f;
	n->blocks = NULL;
	n->regs.v = NULL;
	n->regs.n = n->regs.cap = 0;
	n->loops.v = NULL;
	n->loops.n = n->loops.cap = 0;
	for (unsigned i = 0; i < f->regs.n; i++)
		vec_push(a, &n->regs, f->regs.v[i]);
	map = arena_array(a, struct ir_block *, f->nblocks + 1);
	for (struct ir_block *b = f->blocks; b; b = b->next) {
		struct ir_block *c = arena_new_of(a, struct ir_block);

		c->id = b->id;
		c->loop_depth = b->loop_depth;
		map[b->id] = c;
		if (last)
			last->next = c;
		else
			n->blocks = c;
		last = c;
		for (struct ir_ins *i = b->first; i; i = i->next)
			block_append(c, ins_copy(a, i));
	}
	/* Targets are translated once all blocks exist. */
	for (struct ir_block *b = n->blocks; b; b = b->next)
		for (unsigned t = 0; t < 2; t++)
			if (b->last->target[t])
				b->last->target[t] =
				    map[b->last->target[t]->id];
	n->index = ir->funcs.n;
	vec_push(a, &ir->funcs, n);
	*ret_map = map;
	return n;
}
