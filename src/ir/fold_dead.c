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

/*
 * t = a + b; r = t: r = a + b. t has no other use, and nothing between the two
 * touches r.
 */
static bool straighten(const struct ir_func *f, struct ir_block *b,
		       const struct reg_use *u)
{
	bool changed = false;

	for (struct ir_ins *d = b->first; d; d = d->next) {
		struct ir_ins *m = d->next;
		bool clear = true;
		uint32_t r;

		/*
		 * Not for what may fail: the failure edge would see r changed.
		 */
		if (!d->has_dst || d->target[0] || u[d->dst].defs != 1 ||
		    u[d->dst].uses != 1)
			continue;
		for (; m; m = m->next) {
			if ((m->op == OP_MOV || m->op == OP_SMOV) &&
			    m->args[0].kind == VAL_REG &&
			    m->args[0].reg == d->dst)
				break;
		}
		if (!m || f->regs.v[m->dst].shared ||
		    f->regs.v[m->dst].width != f->regs.v[d->dst].width)
			continue;
		r = m->dst;
		for (struct ir_ins *i = d->next; i != m; i = i->next) {
			if (i->has_dst && i->dst == r)
				clear = false;
			for (unsigned k = 0; k < i->nargs; k++)
				if (i->args[k].kind == VAL_REG &&
				    i->args[k].reg == r)
					clear = false;
		}
		if (!clear)
			continue;
		d->dst = r;
		m->args[0] = val_reg(r); /* a copy to itself: goes next */
		changed = true;
	}
	return changed;
}

bool fold_dead(struct arena *tmp, struct ir_func *f)
{
	struct reg_use *u;
	struct ir_ins **list;
	struct ir_live *l;
	bool changed = false;

	ir_number(f);
	u = reg_uses(tmp, f);
	for (struct ir_block *b = f->blocks; b; b = b->next)
		changed |= straighten(f, b, u);
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
