/* SPDX-License-Identifier: MIT */
/*
 * Register allocation: linear scan over intervals by start. r6 to r9 keep their
 * value across anything; r3 to r5 only where no heavy instruction comes. When
 * none is free, the interval that is used least for its length goes to memory.
 */
#include "gen/live.h"

#include <stdlib.h>

enum { FIRST_PHYS = R3, LAST_PHYS = R9, FIRST_SAVED = R6 };

/* active: what has each register at this position. */
struct scan {
	struct emit *e;
	struct live *l;
	struct interval *active[LAST_PHYS + 1];
};

/*
 * By register where two start together, so that the result is always the same.
 */
static int by_start(const void *pa, const void *pb)
{
	const struct interval *a = *(struct interval *const *)pa;
	const struct interval *b = *(struct interval *const *)pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->reg < b->reg ? -1 : a->reg > b->reg;
}

/*
 * Does the interval touch a heavy instruction? Being its result is no harm:
 * results are stored last.
 */
static bool crosses_heavy(const struct emit *e, const struct live *l,
			  const struct interval *iv)
{
	uint32_t first = (iv->start + 1) / 2; /* a result: the next one */
	unsigned lo = 0, hi = l->nheavy;

	/* it begins as a result: from the next instruction on */
	if (iv->start & 1)
		first = iv->start / 2 + 1;
	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;

		if (l->heavy[mid] < first)
			lo = mid + 1;
		else
			hi = mid;
	}
	/*
	 * The prologue calls a helper after it has saved the context. r1 to r5
	 * are lost by that.
	 */
	if (iv->reg == e->nregs + PS_CTX)
		return true;
	return lo < l->nheavy && 2 * l->heavy[lo] <= iv->end;
}

/* Strings do not fit, and what bodies share must be in memory. */
static bool may_have_register(const struct emit *e, const struct interval *iv)
{
	if (iv->start > iv->end)
		return false;
	if (iv->reg >= e->nregs)
		return e->homes[iv->reg].kind == HOME_NONE;
	return !e->f->regs.v[iv->reg].is_str && !e->f->regs.v[iv->reg].shared;
}

/* Uses per position: what having a register is worth. */
static double worth(const struct interval *iv)
{
	return (double)iv->weight / (iv->end - iv->start + 2);
}

/* Whoever had it goes to memory, for all of its life: nothing is split. */
static void give(struct scan *s, struct interval *iv, int phys)
{
	if (s->active[phys])
		s->active[phys]->phys = -1;
	s->active[phys] = iv;
	iv->phys = phys;
}

static void place(struct scan *s, struct interval *iv)
{
	int lowest = crosses_heavy(s->e, s->l, iv) ? FIRST_SAVED : FIRST_PHYS;
	int worst = -1;

	for (int p = FIRST_PHYS; p <= LAST_PHYS; p++)
		if (s->active[p] && s->active[p]->end < iv->start)
			s->active[p] = NULL;
	if (iv->hint != UINT32_MAX) { /* saves the move between the two */
		int p = s->l->iv[iv->hint].phys;

		/* the hint's register must be free by now */
		if (p >= lowest && !s->active[p]) {
			give(s, iv, p);
			return;
		}
	}
	for (int p = lowest; p <= LAST_PHYS; p++) {
		if (!s->active[p]) {
			give(s, iv, p);
			return;
		}
		if (worst < 0 || worth(s->active[p]) < worth(s->active[worst]))
			worst = p;
	}
	/* else this one stays in memory */
	if (worth(s->active[worst]) < worth(iv))
		give(s, iv, worst);
}

void regalloc_run(struct emit *e, struct live *l)
{
	struct scan s = {.e = e, .l = l};
	struct interval **order = arena_array(e->c->a, struct interval *, l->n);
	unsigned n = 0;

	for (uint32_t r = 0; r < l->n; r++)
		if (may_have_register(e, &l->iv[r]))
			order[n++] = &l->iv[r];
	qsort(order, n, sizeof(*order), by_start);
	for (unsigned i = 0; i < n; i++)
		place(&s, order[i]);
	for (unsigned i = 0; i < n; i++) {
		struct interval *iv = order[i];

		if (iv->phys >= 0)
			e->homes[iv->reg] = (struct home){
				.kind = HOME_REG, .reg = iv->phys};
	}
}
