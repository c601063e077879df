/* SPDX-License-Identifier: MIT */
/*
 * needs:  host functions as built, or as split made them
 * keeps:  everything else
 * breaks: nothing; adds blocks
 *
 * On the host every failed instruction leaves an error pending. Where the
 * script goes on after a failure (a catch block that does not ask for the text)
 * the error must be taken, or the next call would seem to have failed.
 */
#include "ir/pass.h"
#include "ir/util.h"

/* Does the failure block end in an error of its own, which replaces this? */
static bool replaces(const struct ir_block *b)
{
	return b->first->op == OP_TAKEERR || b->last->op == OP_RAISE;
}

/* Puts a TAKEERR on the failure edge of each instruction that needs it. */
static void take_func(struct arena *a, struct ir_func *f)
{
	struct ir_block *next;

	for (struct ir_block *b = f->blocks; b; b = next) {
		struct ir_ins *i = b->last, *t, *j;
		struct ir_block *edge;

		next = b->next;
		if (!(op_info(i->op)->flags & OPF_E) || !i->target[0] ||
		    replaces(i->target[1]))
			continue;
		edge = arena_new_of(a, struct ir_block);
		edge->loop_depth = b->loop_depth;
		t = ins_new(a, OP_TAKEERR, 0);
		t->loc = i->loc;
		t->dst = func_reg(a, f, STR_ALIGN, NULL);
		t->has_dst = true;
		block_append(edge, t);
		j = ins_new(a, OP_JMP, 0);
		j->loc = i->loc;
		j->target[0] = i->target[1];
		block_append(edge, j);
		i->target[1] = edge;
		edge->next = next;
		b->next = edge;
	}
	ir_number(f);
}

void opt_take(struct compile *c, struct ir *ir)
{
	for (unsigned i = 0; i < ir->funcs.n; i++)
		if (ir->funcs.v[i]->place != PLACE_KERNEL)
			take_func(c->a, ir->funcs.v[i]);
}
