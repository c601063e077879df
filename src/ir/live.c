/* SPDX-License-Identifier: MIT */
/* Which registers are live where: backward data flow over blocks. */
#include "ir/ir.h"

#include <string.h>

#include "ir/util.h"

/*
 * Backward over one instruction: its result is dead before it, its operands are
 * alive. ENTER defines its operands.
 */
void ins_flow(const struct ir_ins *i, uint64_t *live)
{
	if (i->has_dst)
		live[i->dst / 64] &= ~(1ULL << (i->dst % 64));
	for (unsigned k = 0; k < i->nargs; k++) {
		uint64_t bit;

		if (i->args[k].kind != VAL_REG)
			continue;
		bit = 1ULL << (i->args[k].reg % 64);
		if (i->op == OP_ENTER)
			live[i->args[k].reg / 64] &= ~bit;
		else
			live[i->args[k].reg / 64] |= bit;
	}
}

/* Backward through the block, recursion-free: instructions are singly linked,
 * so they are listed first. */
static void block_flow(const struct ir_block *b, struct ir_ins **list,
		       uint64_t *live)
{
	unsigned n = 0;

	for (struct ir_ins *i = b->first; i; i = i->next)
		list[n++] = i;
	while (n)
		ins_flow(list[--n], live);
}

/* For callers that allocate one list for all blocks. */
unsigned block_longest(const struct ir_func *f)
{
	unsigned most = 0;

	for (const struct ir_block *b = f->blocks; b; b = b->next) {
		unsigned n = 0;

		for (const struct ir_ins *i = b->first; i; i = i->next)
			n++;
		most = n > most ? n : most;
	}
	return most;
}

/* What the frame keeps beyond this function: what loop bodies share. */
static void live_at_end(const struct ir_func *f, const struct ir_block *b,
			uint64_t *out)
{
	if (f->kind != IR_LOOP_BODY || b->last->op != OP_RET)
		return;
	for (unsigned r = 0; r < f->regs.n; r++)
		if (f->regs.v[r].shared)
			out[r / 64] |= 1ULL << (r % 64);
}

/* A LOOP runs its body on the frame: shared registers are read and kept. */
static void live_at_loop(const struct ir_func *f, const struct ir_block *b,
			 uint64_t *in)
{
	for (const struct ir_ins *i = b->first; i; i = i->next) {
		if (i->op != OP_LOOP)
			continue;
		for (unsigned r = 0; r < f->regs.n; r++)
			if (f->regs.v[r].shared)
				in[r / 64] |= 1ULL << (r % 64);
	}
}

/*
 * Until nothing changes; blocks are visited backward in layout, which is near
 * the order in which values flow, so a few rounds do.
 */
struct ir_live *ir_liveness(struct arena *a, const struct ir_func *f)
{
	struct ir_live *l = arena_new_of(a, struct ir_live);
	struct ir_block **order = arena_array(a, struct ir_block *,
					      f->nblocks + 1);
	struct ir_ins **list = arena_array(a, struct ir_ins *,
					   block_longest(f) + 1);
	uint64_t *set;
	unsigned n = 0;
	bool changed = true;

	l->words = f->regs.n / 64 + 1;
	l->in = arena_array(a, uint64_t *, f->nblocks + 1);
	l->out = arena_array(a, uint64_t *, f->nblocks + 1);
	set = arena_array(a, uint64_t, l->words);
	for (struct ir_block *b = f->blocks; b; b = b->next) {
		l->in[b->id] = arena_array(a, uint64_t, l->words);
		l->out[b->id] = arena_array(a, uint64_t, l->words);
		order[n++] = b;
	}
	while (changed) {
		changed = false;
		for (unsigned k = n; k-- > 0;) {
			struct ir_block *b = order[k], *s[2];
			unsigned ns = ir_succ(b, s);
			uint64_t *out = l->out[b->id];

			for (unsigned q = 0; q < ns; q++)
				for (unsigned w = 0; w < l->words; w++)
					out[w] |= l->in[s[q]->id][w];
			live_at_end(f, b, out);
			memcpy(set, out, l->words * sizeof(*set));
			block_flow(b, list, set);
			live_at_loop(f, b, set);
			if (memcmp(set, l->in[b->id],
				   l->words * sizeof(*set))) {
				memcpy(l->in[b->id], set,
				       l->words * sizeof(*set));
				changed = true;
			}
		}
	}
	return l;
}
