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

/*
 * Within one block, in order: what each register is a copy of just now. A note
 * holds until its source is written again, so each write is a new version:
 * nothing has to be searched for notes that no longer hold.
 */
struct note {
	struct ir_val val;  /* VAL_NONE: not known */
	uint64_t source;    /* version of val.reg that was copied */
	uint64_t version;   /* of this register */
	unsigned block;	    /* 1 + id: where val was noted */
};

static const struct ir_val *known(const struct note *k, uint32_t r,
				  const struct ir_block *b)
{
	const struct note *n = &k[r];

	if (n->block != b->id + 1 || n->val.kind == VAL_NONE ||
	    (n->val.kind == VAL_REG && k[n->val.reg].version != n->source))
		return NULL;
	return &n->val;
}

/* r is written: what it was, and copies of it, are no longer known. */
static void forget(struct note *k, uint32_t r)
{
	k[r].version++;
	k[r].val.kind = VAL_NONE;
}

/* Values are carried forward until their source or copy is written. */
static bool copy_block(struct ir_func *f, struct ir_block *b, struct note *k)
{
	bool changed = false;

	for (struct ir_ins *i = b->first; i; i = i->next) {
		for (unsigned n = 0; n < i->nargs; n++) {
			struct ir_val *v = &i->args[n];
			const struct ir_val *by;

			if (v->kind != VAL_REG)
				continue;
			by = known(k, v->reg, b);
			if (!by || !may_replace(f, i, n, by))
				continue;
			*v = *by;
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
		k[i->dst].val = i->args[0];
		k[i->dst].block = b->id + 1;
		if (i->args[0].kind == VAL_REG)
			k[i->dst].source = k[i->args[0].reg].version;
	}
	return changed;
}

/* --- across blocks: registers that are set in one place ------------------- */

/*
 * The strongly connected parts of the graph, numbered so that control never
 * goes from one to a higher one; and which of them are loops (Tarjan's walk
 * with a stack of its own, as blocks follow each other thousands deep).
 */
struct parts {
	unsigned *of; /* by block id: 1 + part */
	bool *loop;   /* by part */
};

struct walk {
	struct ir_block **path, **open; /* being visited; not yet in a part */
	unsigned *next;	 /* by depth of path: which successor is next */
	unsigned *seen;	 /* by block id: 1 + order of the visits, 0: not yet */
	unsigned *low;	 /* by block id: the oldest open one that it reaches */
	unsigned depth, nopen, count, nparts;
};

static void enter_block(struct walk *w, struct ir_block *b)
{
	w->path[w->depth] = b;
	w->next[w->depth++] = 0;
	w->open[w->nopen++] = b;
	w->seen[b->id] = w->low[b->id] = ++w->count;
}

/* b, the last of the path, is done; it may be the oldest of its part. */
static void leave_block(struct walk *w, struct parts *p, struct ir_block *b)
{
	struct ir_block *s[2], *q;
	unsigned n = ir_succ(b, s), members = 0;

	w->depth--;
	if (w->depth) {
		unsigned *up = &w->low[w->path[w->depth - 1]->id];

		*up = w->low[b->id] < *up ? w->low[b->id] : *up;
	}
	if (w->low[b->id] != w->seen[b->id])
		return;
	do {
		q = w->open[--w->nopen];
		p->of[q->id] = w->nparts + 1;
		members++;
	} while (q != b);
	p->loop[w->nparts] = members > 1;
	for (unsigned i = 0; i < n; i++)
		p->loop[w->nparts] |= s[i] == b;
	w->nparts++;
}

static void visit_from(struct walk *w, struct parts *p, struct ir_block *b)
{
	enter_block(w, b);
	while (w->depth) {
		struct ir_block *top = w->path[w->depth - 1], *s[2];
		unsigned n = ir_succ(top, s);
		struct ir_block *to;

		if (w->next[w->depth - 1] == n) {
			leave_block(w, p, top);
			continue;
		}
		to = s[w->next[w->depth - 1]++];
		if (!w->seen[to->id])
			enter_block(w, to);
		else if (!p->of[to->id] && w->seen[to->id] < w->low[top->id])
			w->low[top->id] = w->seen[to->id];
	}
}

static struct parts *parts_of(struct arena *tmp, const struct ir_func *f)
{
	struct parts *p = arena_new_of(tmp, struct parts);
	unsigned n = f->nblocks + 1;
	struct walk w = {
		.path = arena_array(tmp, struct ir_block *, n),
		.open = arena_array(tmp, struct ir_block *, n),
		.next = arena_array(tmp, unsigned, n),
		.seen = arena_array(tmp, unsigned, n),
		.low = arena_array(tmp, unsigned, n),
	};

	p->of = arena_array(tmp, unsigned, n);
	p->loop = arena_array(tmp, bool, n);
	for (struct ir_block *b = f->blocks; b; b = b->next)
		if (!w.seen[b->id])
			visit_from(&w, p, b);
	return p;
}

/*
 * Could control come from the end of one block to the start of the other? Yes
 * in doubt: the order of two parts that do not lead to each other is chance.
 */
static bool leads_to(const struct parts *p, const struct ir_block *from,
		     const struct ir_block *to)
{
	unsigned a = p->of[from->id], b = p->of[to->id];

	return a == b ? p->loop[a - 1] : a > b;
}

/*
 * The value that register r always has when it is read, or VAL_NONE. One
 * definition alone is not enough: a loop could run the source's definition
 * again between copy and use, so it must not be reachable from the copy.
 */
static struct ir_val always(const struct reg_use *u, uint32_t r,
			    const struct ir_func *f, const struct parts *p)
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
	if (u[s].def && leads_to(p, u[r].block, u[s].block))
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
	const struct parts *p = parts_of(tmp, f);
	bool changed = false, any = false;

	for (unsigned r = 0; r < f->regs.n; r++) {
		if (u[r].defs != 1 || !u[r].def)
			continue;
		val[r] = always(u, r, f, p);
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
	struct note *k = arena_array(tmp, struct note, f->regs.n + 1);
	bool changed;

	ir_number(f);
	changed = copy_across(tmp, f);
	for (struct ir_block *b = f->blocks; b; b = b->next)
		changed |= copy_block(f, b, k);
	return changed;
}
