/* SPDX-License-Identifier: MIT */
/* Rules 3 and 4 of exclusion.h: handlers that need a lock, and which it is. */
#include "sema/exclusion.h"

#include <string.h>

#include "sema/agg_mode.h"
#include "sema/excl.h"

/* Union-find with path halving (Tarjan and van Leeuwen, J. ACM 31(2), 1984). */
static unsigned find(struct excl *x, unsigned i)
{
	while (x->f[i].group != i)
		i = x->f[i].group = x->f[x->f[i].group].group;
	return i;
}

/*
 * Rule 4: the globals of handlers that need a lock, joined to groups. Whoever
 * touches one of them takes the group's lock, so a handler whose globals were
 * in two groups would hold two; joined, it holds one.
 */
static void join(struct excl *x)
{
	unsigned i, k, first;

	for (i = 0; i < x->p->globals.n; i++)
		x->f[i].group = i;
	for (i = 0; i < x->p->probes.n; i++) {
		struct handler *h = &x->h[i];

		first = UINT32_MAX;
		for (k = 0; h->runs && h->most > 1 && k < h->all.n; k++) {
			unsigned v = h->all.v[k].v->index;

			if (x->f[v].quiet)
				continue;
			x->f[v].locked = true;
			if (!x->f[v].because)
				x->f[v].because = h;
			if (first == UINT32_MAX)
				first = v;
			x->f[find(x, v)].group = find(x, first);
		}
	}
}

/*
 * Groups beyond the last lock share it: more is locked than has to be, never
 * less.
 */
static void number_groups(struct excl *x, struct exclusion *e)
{
	unsigned i, n = x->p->globals.n;
	unsigned *no = arena_array(x->c->a, unsigned, n + 1);

	for (i = 0; i < n; i++) {
		unsigned root = find(x, i), g;

		if (!x->f[i].locked)
			continue;
		if (!no[root])
			no[root] = ++e->ngroups;
		g = no[root] > LOCK_GROUPS ? LOCK_GROUPS : no[root];
		e->lock_of[i] = 1u << (g - 1);
	}
	if (e->ngroups > LOCK_GROUPS) {
		e->nshared = e->ngroups - LOCK_GROUPS + 1;
		e->ngroups = LOCK_GROUPS;
	}
}

/* Tests of the tests: invariants must break without locks. */
static bool forced_off(const struct compile *c)
{
	unsigned i;

	for (i = 0; i < c->set.defines.n; i++)
		if (!strcmp(c->set.defines.v[i].name, "TALLY_NO_LOCKS"))
			return true;
	return false;
}

struct exclusion *exclusion_analyse(struct compile *c, struct program *p)
{
	struct exclusion *e = arena_new_of(c->a, struct exclusion);
	struct excl x = {.c = c, .p = p};
	/*
	 * calls_order() and agg_modes() come first: the walk asks for the mode.
	 */
	unsigned i, k;

	x.order = calls_order(c, p);
	x.effects = effects_make(c->a, p, false);
	x.fn = arena_array(c->a, struct summary, p->functions.n + 1);
	agg_modes(c, p, &x.order);
	e->lock_of = arena_array(c->a, uint32_t, p->globals.n + 1);
	e->probe_locks = arena_array(c->a, uint32_t, p->probes.n + 1);
	e->why = arena_array(c->a, const char *, p->probes.n + 1);
	x.h = arena_array(c->a, struct handler, p->probes.n + 1);
	x.f = arena_array(c->a, struct facts, p->globals.n + 1);
	x.latest = arena_array(c->a, struct latest, p->globals.n + 1);
	for (i = 0; i < p->probes.n; i++) {
		x.h[i].p = p->probes.v[i];
		x.h[i].runs = excl_runs_with_others(p->probes.v[i]);
		x.h[i].on_host = p->probes.v[i]->place == PLACE_HOST;
	}
	excl_note_tids(&x);
	excl_walk_all(&x);
	excl_judge_all(&x);
	x.pass_two = true;
	excl_walk_all(&x);
	join(&x);
	number_groups(&x, e);
	for (i = 0; i < p->probes.n; i++) {
		const struct handler *h = &x.h[i];

		for (k = 0; h->runs && k < h->all.n; k++)
			e->probe_locks[i] |= e->lock_of[h->all.v[k].v->index];
		if (forced_off(c)) {
			e->probe_locks[i] = 0;
			e->why[i] = "no lock: -D TALLY_NO_LOCKS";
			continue;
		}
		e->why[i] = excl_why(&x, e, h);
	}
	return e;
}

void exclusion_print(const struct program *p, FILE *f)
{
	unsigned i;

	for (i = 0; p->exclusion && i < p->probes.n; i++)
		fprintf(f, "%s: %s\n", p->probes.v[i]->pp,
			p->exclusion->why[i]);
	if (p->exclusion && p->exclusion->nshared)
		fprintf(f, "%u unconnected groups of globals share a lock: "
			"there are %u\n", p->exclusion->nshared,
			(unsigned)LOCK_GROUPS);
}
