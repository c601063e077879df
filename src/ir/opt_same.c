/* SPDX-License-Identifier: MIT */
/*
 * needs:  kernel handlers as built, calls inlined
 * keeps:  everything that can be noticed
 * breaks: nothing; a repeated read of what cannot change while a handler runs
 *         (who it runs for, the context's words) becomes a copy of the first
 */
#include "ir/pass.h"

#include <string.h>

#include "ir/fold.h"

/*
 * Reads that give the same every time within one handler: who and where do not
 * change while it runs. Clocks do, so they are not here.
 */
static bool is_fixed(const struct ir_ins *i)
{
	if (!i->has_dst || i->target[0])
		return false;
	if (i->op == OP_ARG || i->op == OP_REG || i->op == OP_CTX)
		return true;
	if (i->op != OP_BCALL || i->nargs)
		return false;
	switch (i->builtin->id) {
	case BI_PID: case BI_TID: case BI_PPID: case BI_PGRP: case BI_SID:
	case BI_UID: case BI_EUID: case BI_GID: case BI_EGID:
	case BI_EXECNAME: case BI_PEXECNAME: case BI_CPU: case BI_CPUID:
	case BI_TASK_CURRENT: case BI_ADDR: case BI_UADDR:
	case BI_USER_MODE: case BI_RETURNVAL:
		return true;
	default:
		return false;
	}
}

/*
 * Operands are constants (which argument, which register), or there are none.
 */
static bool is_same(const struct ir_ins *x, const struct ir_ins *y)
{
	if (x->op != y->op || x->builtin != y->builtin ||
	    x->nargs != y->nargs)
		return false;
	for (unsigned k = 0; k < x->nargs; k++)
		if (x->args[k].kind != VAL_NUM || y->args[k].kind != VAL_NUM ||
		    x->args[k].num != y->args[k].num)
			return false;
	return true;
}

/*
 * By block id: the set of blocks that every path to it passes. The usual fixed
 * point over sets of bits; all ones is "not known yet".
 */
static uint64_t *dominators(struct arena *a, const struct ir_func *f,
			    unsigned *ret_words)
{
	unsigned w = f->nblocks / 64 + 1;
	uint64_t *dom = arena_array(a, uint64_t, (size_t)w * f->nblocks);
	uint64_t *set = arena_array(a, uint64_t, w);
	bool changed = true;

	memset(dom, 0xff, sizeof(*dom) * w * f->nblocks);
	memset(dom, 0, sizeof(*dom) * w);
	while (changed) {
		changed = false;
		for (struct ir_block *b = f->blocks; b; b = b->next) {
			struct ir_block *s[2];
			unsigned n = ir_succ(b, s);

			memcpy(set, dom + (size_t)b->id * w, sizeof(*set) * w);
			set[b->id / 64] |= 1ULL << (b->id % 64);
			for (unsigned i = 0; i < n; i++) {
				uint64_t *to = dom + (size_t)s[i]->id * w;

				for (unsigned k = 0; k < w; k++) {
					uint64_t v = to[k] & set[k];

					changed |= v != to[k];
					to[k] = v;
				}
			}
		}
	}
	*ret_words = w;
	return dom;
}

/* First reads that are remembered; later ones are just not shared. */
enum { FIRSTS_MAX = 64 };

/*
 * A read becomes a copy of one that every path to it has passed. The first
 * one's register must be written nowhere else, or it might hold something else
 * by now.
 */
static void same_func(struct arena *a, struct ir_func *f)
{
	struct { struct ir_ins *ins; struct ir_block *b; } first[FIRSTS_MAX];
	struct reg_use *u;
	unsigned n = 0, w;
	uint64_t *dom;

	ir_prune(a, f);
	if (ir_is_huge(f))
		return;
	u = reg_uses(a, f);
	dom = dominators(a, f, &w);
	for (struct ir_block *b = f->blocks; b; b = b->next) {
		const uint64_t *over = dom + (size_t)b->id * w;

		for (struct ir_ins *i = b->first; i; i = i->next) {
			unsigned k = 0;

			if (!is_fixed(i))
				continue;
			for (; k < n; k++)
				if (is_same(first[k].ins, i) &&
				    (first[k].b == b ||
				     (over[first[k].b->id / 64] >>
				      (first[k].b->id % 64) & 1)))
					break;
			if (k < n) {
				uint32_t r = first[k].ins->dst;

				i->op = f->regs.v[r].is_str ? OP_SMOV : OP_MOV;
				i->builtin = NULL;
				i->nargs = 1;
				i->args = arena_array(a, struct ir_val, 1);
				i->args[0] = val_reg(r);
			} else if (n < FIRSTS_MAX && u[i->dst].defs == 1) {
				first[n].ins = i;
				first[n++].b = b;
			}
		}
	}
}

void opt_same(struct compile *c, struct ir *ir)
{
	if (c->set.unoptimized)
		return;
	for (unsigned i = 0; i < ir->funcs.n; i++)
		if (ir->funcs.v[i]->place == PLACE_KERNEL)
			same_func(c->a, ir->funcs.v[i]);
}
