/* SPDX-License-Identifier: MIT */
/* The order in which inference looks at statements: infer.h. */
#include "sema/infer.h"

/* --- the list ------------------------------------------------------------- */

static void add(struct infer *in, struct node *n, bool is_cond)
{
	struct unit u = {n, in->fn, is_cond};

	vec_push(in->c->a, &in->units, u);
}

static void list_body(struct infer *in, struct node *n);

static int child_body(struct node **child, void *ctx)
{
	if (*child)
		list_body(ctx, *child);
	return 0;
}

static void list_body(struct infer *in, struct node *n)
{
	switch (n->kind) {
	case N_IF:
		add(in, n, false);
		list_body(in, n->u.ternary.b);
		if (n->u.ternary.c)
			list_body(in, n->u.ternary.c);
		break;
	case N_FOR:
		add(in, n, false);
		list_body(in, n->u.loop.body);
		break;
	case N_FOREACH:
		add(in, n, false);
		list_body(in, n->u.foreach.body);
		break;
	case N_TRY:
		list_body(in, n->u.try.body);
		add(in, n, false); /* the catcher's variable */
		if (n->u.try.catcher)
			list_body(in, n->u.try.catcher);
		break;
	case N_EXPR:
	case N_RETURN:
	case N_DELETE:
		add(in, n, false);
		break;
	default:
		node_each_child(n, child_body, in);
		break;
	}
}

void units_list(struct infer *in)
{
	struct program *p = in->s->p;
	unsigned i;

	for (i = 0; i < p->functions.n; i++) {
		in->fn = p->functions.v[i];
		list_body(in, in->fn->body);
		if (in->fn->overload && in->fn->head == in->fn)
			add(in, NULL, false);
	}
	in->fn = NULL;
	for (i = 0; i < p->probes.n; i++) {
		if (p->probes.v[i]->cond)
			add(in, p->probes.v[i]->cond, true);
		list_body(in, p->probes.v[i]->body);
	}
	for (i = 0; i < 2; i++)
		in->heap[i].is_in =
		    arena_array(in->c->a, uint8_t, in->units.n + 1);
}

/* --- the order ------------------------------------------------------------ */

static void heap_push(struct infer *in, struct unit_heap *h, unsigned unit)
{
	unsigned i = h->v.n;

	if (h->is_in[unit])
		return;
	h->is_in[unit] = 1;
	vec_push(in->c->a, &h->v, unit);
	for (; i && h->v.v[(i - 1) / 2] > unit; i = (i - 1) / 2)
		h->v.v[i] = h->v.v[(i - 1) / 2];
	h->v.v[i] = unit;
}

static unsigned heap_pop(struct unit_heap *h)
{
	unsigned top = h->v.v[0], last = h->v.v[--h->v.n], i = 0, k;

	while ((k = 2 * i + 1) < h->v.n) {
		if (k + 1 < h->v.n && h->v.v[k + 1] < h->v.v[k])
			k++;
		if (last <= h->v.v[k])
			break;
		h->v.v[i] = h->v.v[k];
		i = k;
	}
	if (h->v.n)
		h->v.v[i] = last;
	h->is_in[top] = 0;
	return top;
}

static void look_at(struct infer *in, unsigned unit)
{
	in->now = unit;
	infer_unit(in, &in->units.v[unit]);
}

void units_all(struct infer *in)
{
	unsigned i;

	in->all = true;
	for (i = 0; i < in->units.n; i++)
		look_at(in, i);
	in->all = false;
}

void units_fixpoint(struct infer *in)
{
	if (!in->started)
		units_all(in);
	in->started = true;
	while (in->heap[1].v.n) {
		struct unit_heap h = in->heap[0];

		in->heap[0] = in->heap[1];
		in->heap[1] = h;
		while (in->heap[0].v.n)
			look_at(in, heap_pop(&in->heap[0]));
	}
	/* between two of these all is still to come: the next round's */
	in->now = in->units.n;
}

void units_ask(struct infer *in, struct waiting **list)
{
	struct waiting *w;

	if (in->report || in->now >= in->units.n)
		return;
	if (*list && (*list)->unit == in->now)
		return;
	w = arena_new_of(in->c->a, struct waiting);
	w->unit = in->now;
	w->next = *list;
	*list = w;
}

void units_wake(struct infer *in, struct waiting **list)
{
	struct waiting *w;

	for (w = *list; w; w = w->next) {
		if (w->unit <= in->now)
			heap_push(in, &in->heap[1], w->unit);
		else if (!in->all) /* else it is on the way to it */
			heap_push(in, &in->heap[0], w->unit);
	}
	*list = NULL;
}
