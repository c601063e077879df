/* SPDX-License-Identifier: MIT */
/*
 * Topological order by counting: functions whose callees are all done come
 * next. What is left then is recursive, or calls something that is.
 */
#include "sema/calls.h"

#include "sema/sema.h"

typedef VEC(unsigned) edge_list;

struct calls {
	struct compile *c;
	edge_list *to, *from; /* callees and callers, by function.index */
	unsigned at;          /* whose body is walked */
	unsigned *noted;      /* by function.index: 1 + the last caller noted */
};

/* Each pair once, so that the counts are right. */
static void note_call(struct node *n, void *ctx)
{
	struct calls *k = ctx;
	struct function *f;

	if (n->kind != N_CALL)
		return;
	for (f = n->u.call.fn; f; f = f->overload) {
		if (k->noted[f->index] == k->at + 1)
			continue;
		k->noted[f->index] = k->at + 1;
		vec_push(k->c->a, &k->to[k->at], f->index);
		vec_push(k->c->a, &k->from[f->index], k->at);
	}
}

/* Overloads are run in place of each other: each can be where the first is. */
static unsigned deepest(const struct calls *k, unsigned i,
			const unsigned *depth)
{
	unsigned j, most = 0;

	for (j = 0; j < k->to[i].n; j++)
		if (depth[k->to[i].v[j]] > most)
			most = depth[k->to[i].v[j]];
	return most + 1;
}

/* Takes away, from those in circles, what nobody in a circle calls. */
static void find_recursive(struct calls *k, struct program *p, const bool *done)
{
	unsigned n = p->functions.n, i, j;
	unsigned *left = arena_array(k->c->a, unsigned, n + 1);
	bool changed = true;

	for (i = 0; i < n; i++)
		p->functions.v[i]->is_recursive = !done[i];
	while (changed) {
		changed = false;
		for (i = 0; i < n; i++) {
			struct function *f = p->functions.v[i];

			left[i] = 0;
			for (j = 0; j < k->from[i].n; j++)
				left[i] += p->functions.v[k->from[i].v[j]]
					       ->is_recursive;
			if (f->is_recursive && !left[i]) {
				f->is_recursive = false;
				changed = true;
			}
		}
	}
}

/*
 * depth is exact for those without circles; the others are bounded at run time
 * by MAXNESTING.
 */
struct call_order calls_order(struct compile *c, struct program *p)
{
	unsigned n = p->functions.n, i, j, next;
	struct calls k = {.c = c};
	struct call_order o = {.n = n};
	unsigned *waits = arena_array(c->a, unsigned, n + 1);
	unsigned *depth = arena_array(c->a, unsigned, n + 1);
	bool *done = arena_array(c->a, bool, n + 1);

	k.to = arena_array(c->a, edge_list, n + 1);
	k.from = arena_array(c->a, edge_list, n + 1);
	k.noted = arena_array(c->a, unsigned, n + 1);
	o.v = arena_array(c->a, unsigned, n + 1);
	for (k.at = 0; k.at < n; k.at++)
		walk_nodes(p->functions.v[k.at]->body, note_call, &k);
	o.n = 0;
	for (i = 0; i < n; i++) {
		waits[i] = k.to[i].n;
		if (!waits[i])
			o.v[o.n++] = i;
	}
	for (next = 0; next < o.n; next++) {
		i = o.v[next];
		done[i] = true;
		depth[i] = deepest(&k, i, depth);
		for (j = 0; j < k.from[i].n; j++)
			if (!--waits[k.from[i].v[j]])
				o.v[o.n++] = k.from[i].v[j];
	}
	o.ncircle = n - o.n; /* those without are in the list now */
	for (i = 0; i < n; i++)
		if (!done[i]) {
			o.v[o.n++] = i;
			depth[i] = deepest(&k, i, depth);
		}
	p->recurses = o.ncircle > 0;
	for (i = 0; i < n; i++)
		if (depth[i] > p->call_depth)
			p->call_depth = depth[i];
	find_recursive(&k, p, done);
	return o;
}
