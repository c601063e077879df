/* SPDX-License-Identifier: MIT */
/* Removes what does not matter, and joins blocks that follow each other. */
#include "ir/fold.h"

#include <string.h>

/* --- instructions --------------------------------------------------------- */

static bool bit(const uint64_t *set, uint32_t r)
{
	return set[r / 64] >> (r % 64) & 1;
}

/*
 * An effect whose result is not used needs no result. A fetching addition
 * becomes a plain one, which the kernel does faster.
 */
static bool drop_result(struct ir_ins *i)
{
	if (!i->has_dst)
		return false;
	switch (i->op) {
	case OP_GXADD:
		i->op = OP_GADD;
		break;
	case OP_AXADD:
		i->op = OP_AADD;
		break;
	case OP_CALL:
		break;
	default:
		return false;
	}
	i->has_dst = false;
	return true;
}

/*
 * Backward, with live holding what is read after each instruction. live is the
 * block's own copy and is used up.
 */
static bool dead_in_block(const struct ir_func *f, struct ir_block *b,
			  struct ir_ins **list, uint64_t *live)
{
	unsigned n = 0, kept = 0;
	bool changed = false;

	for (struct ir_ins *i = b->first; i; i = i->next)
		list[n++] = i;
	for (unsigned k = n; k-- > 0;) {
		struct ir_ins *i = list[k];
		bool unused = i->has_dst && !bit(live, i->dst) &&
			      !f->regs.v[i->dst].shared;
		/* A copy to itself, which straighten() leaves. */
		bool self = (i->op == OP_MOV || i->op == OP_SMOV) &&
			    i->args[0].kind == VAL_REG &&
			    i->args[0].reg == i->dst;

		if (self || (unused && ins_removable(i))) {
			list[k] = NULL;
			changed = true;
			continue;
		}
		if (unused)
			changed |= drop_result(i);
		ins_flow(i, live);
	}
	if (!changed)
		return false;
	b->first = b->last = NULL;
	for (unsigned k = 0; k < n; k++)
		if (list[k])
			list[kept++] = list[k];
	for (unsigned k = 0; k < kept; k++)
		block_append(b, list[k]);
	return true;
}

/* By register, and counted over all blocks, so that nothing need be reset
 * between them: the instruction that last wrote it, that last touched it. */
struct touch {
	struct ir_ins *def;
	uint32_t at;   /* of def */
	uint32_t last;
};

/* t is made by *d, which m copies to r and nobody else reads: can d make r? */
static bool may_straighten(const struct ir_func *f, const struct ir_ins *m,
			   const struct reg_use *u, const struct touch *seen,
			   uint32_t block_start)
{
	const struct touch *t;

	if ((m->op != OP_MOV && m->op != OP_SMOV) ||
	    m->args[0].kind != VAL_REG)
		return false;
	t = &seen[m->args[0].reg];
	if (t->at < block_start || u[m->args[0].reg].defs != 1 ||
	    u[m->args[0].reg].uses != 1)
		return false;
	/* Not what may fail: the failure edge would see r changed. */
	return !t->def->target[0] && !f->regs.v[m->dst].shared &&
	       f->regs.v[m->dst].width ==
		       f->regs.v[m->args[0].reg].width &&
	       seen[m->dst].last <= t->at;
}

/*
 * t = a + b; r = t: r = a + b. t has no other use, and nothing between the two
 * touches r. One walk for all pairs: blocks of generated scripts have tens of
 * thousands of instructions.
 */
static bool straighten(const struct ir_func *f, struct ir_block *b,
		       const struct reg_use *u, struct touch *seen,
		       uint32_t *now)
{
	uint32_t start = *now + 1;
	bool changed = false;

	for (struct ir_ins *m = b->first; m; m = m->next) {
		uint32_t at = ++*now;

		if (may_straighten(f, m, u, seen, start)) {
			seen[m->args[0].reg].def->dst = m->dst;
			m->args[0].reg = m->dst; /* to itself: goes next */
			changed = true;
		}
		for (unsigned k = 0; k < m->nargs; k++)
			if (m->args[k].kind == VAL_REG)
				seen[m->args[k].reg].last = at;
		if (m->has_dst)
			seen[m->dst] = (struct touch){m, at, at};
	}
	return changed;
}

bool fold_dead(struct arena *tmp, struct ir_func *f)
{
	struct reg_use *u;
	struct ir_ins **list;
	struct touch *seen = arena_array(tmp, struct touch, f->regs.n + 1);
	struct ir_live *l;
	uint32_t now = 0;
	bool changed = false;

	ir_number(f);
	u = reg_uses(tmp, f);
	for (struct ir_block *b = f->blocks; b; b = b->next)
		changed |= straighten(f, b, u, seen, &now);
	l = ir_liveness(tmp, f);
	list = arena_array(tmp, struct ir_ins *, block_longest(f) + 1);
	for (struct ir_block *b = f->blocks; b; b = b->next)
		changed |= dead_in_block(f, b, list, l->out[b->id]);
	return changed;
}

/* --- blocks --------------------------------------------------------------- */

/*
 * The block that a chain of bare jumps from b ends at. 64 is more than any real
 * chain, and ends a loop of bare jumps.
 */
static struct ir_block *final(struct ir_block *b)
{
	for (unsigned n = 0; n < 64; n++) {
		if (b->first->op != OP_JMP || b->first->target[0] == b)
			break;
		b = b->first->target[0];
	}
	return b;
}

/* Entered from outside: it must stay a block of its own. */
static bool is_resume(const struct ir_func *f, const struct ir_block *b)
{
	for (unsigned i = 0; i < f->resume.n; i++)
		if (f->resume.v[i] == b)
			return true;
	return false;
}

/* a ends in a jump to s, which has no other way in: s becomes a's tail. */
static bool join(struct arena *mem, struct ir_func *f, struct ir_block *a,
		 const unsigned *preds)
{
	struct ir_block *s = a->last->target[0];

	if (a->last->op != OP_JMP || s == a || preds[s->id] != 1 ||
	    s == f->blocks || is_resume(f, s) || !s->first)
		return false;
	if (a->first == a->last) {
		a->first = s->first;
	} else {
		struct ir_ins *p = a->first;

		while (p->next != a->last)
			p = p->next;
		p->next = s->first;
	}
	a->last = s->last;
	/* Unreachable now, and not to be looked at again. */
	s->first = s->last = ins_new(mem, OP_RET, 0);
	return true;
}

/* Threads jumps, removes what nobody reaches, joins chains. */
bool fold_blocks(struct compile *c, struct arena *tmp, struct ir_func *f)
{
	bool changed = ir_prune(tmp, f);
	unsigned *preds = arena_array(tmp, unsigned, f->nblocks + 1);

	for (struct ir_block *b = f->blocks; b; b = b->next) {
		for (unsigned n = 0; n < 2; n++) {
			struct ir_block *t = b->last->target[n], *to;

			if (!t)
				continue;
			to = final(t);
			if (to != t) {
				b->last->target[n] = to;
				changed = true;
			}
		}
	}
	changed |= ir_prune(tmp, f);
	for (struct ir_block *b = f->blocks; b; b = b->next) {
		struct ir_block *s[2];
		unsigned n = ir_succ(b, s);

		for (unsigned i = 0; i < n; i++)
			preds[s[i]->id]++;
	}
	for (struct ir_block *b = f->blocks; b; b = b->next)
		while (join(c->a, f, b, preds))
			changed = true;
	ir_prune(tmp, f);
	return changed;
}
