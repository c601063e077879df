/* SPDX-License-Identifier: MIT */
/*
 * How each aggregate is kept. One that a kernel handler reads or deletes is
 * live. What comes after a step that only the host can take runs on the host.
 */
#include "sema/agg_mode.h"

#include "sema/calls.h"
#include "sema/sema.h"

enum { MODE_KERNEL, MODE_HOST };

struct modes {
	bool host;
	uint8_t *fn; /* by function.index: how a call of it ends */
};

/* Statements in order; m->host says whether the host has taken over by now. */
static void mode_walk(struct modes *m, struct node *n);

static int mode_child(struct node **child, void *ctx)
{
	if (*child)
		mode_walk(ctx, *child);
	return 0;
}

/* What needs only 64-bit arithmetic; the rest continues on the host. */
static bool kernel_reads(enum stat_op op)
{
	return op == STAT_COUNT || op == STAT_SUM || op == STAT_MIN ||
	       op == STAT_MAX || op == STAT_AVG;
}

/* Only what the kernel reads has to be live. */
static void live(struct modes *m, struct node *a)
{
	struct var *v = node_var(a);

	if (!m->host && v && v->type == TY_STATS)
		v->mode = AGG_LIVE;
}

/* After both branches the host has surely taken over only if it has in each. */
static void mode_branch(struct modes *m, struct node *a, struct node *b)
{
	bool before = m->host, one;

	mode_walk(m, a);
	one = m->host;
	m->host = before;
	if (b)
		mode_walk(m, b);
	m->host = m->host && one;
}

static void mode_walk(struct modes *m, struct node *n)
{
	struct function *f;
	struct node *a;

	switch (n->kind) {
	case N_STAT:
		if (kernel_reads(n->u.stat.op))
			live(m, n->u.stat.a);
		else
			m->host = true;
		break;
	case N_HIST_AT:
		live(m, n->u.hist_at.hist->u.hist.a);
		break;
	case N_IN:
		live(m, n->u.in.array);
		break;
	case N_PRINT:
		a = n->u.print.args.n == 1 ? n->u.print.args.v[0] : NULL;
		if (a &&
		    (a->kind == N_HIST ||
		     (a->kind == N_STAT && a->u.stat.op == STAT_QUANTILES)))
			m->host = true;
		break;
	case N_DELETE:
		a = n->u.unary.a;
		/* a whole array: the kernel has no walk over it */
		if (a->kind == N_NAME && node_var(a) && node_var(a)->arity > 0)
			m->host = true;
		live(m, a);
		break;
	case N_FOREACH: /* so does this */
		m->host = true;
		break;
	case N_IF:
		mode_walk(m, n->u.ternary.a);
		mode_branch(m, n->u.ternary.b, n->u.ternary.c);
		return;
	case N_CALL:
		if (n->u.call.builtin && (n->u.call.builtin->flags & BF_HOST))
			m->host = true;
		for (f = n->u.call.fn; f && !m->host; f = f->overload)
			m->host = m->fn[f->index] == MODE_HOST;
		break;
	default:
		break;
	}
	node_each_child(n, mode_child, m);
}

static void note_called(struct node *n, void *ctx)
{
	bool *called = ctx;
	struct function *f;

	if (n->kind == N_CALL)
		for (f = n->u.call.fn; f; f = f->overload)
			called[f->index] = true;
}

/* Functions that a kernel handler may reach: callers before callees. */
static void kernel_calls(struct program *p, const struct call_order *order,
			 bool *called)
{
	unsigned i, k;

	for (i = 0; i < p->probes.n; i++)
		if (p->probes.v[i]->place == PLACE_KERNEL)
			walk_nodes(p->probes.v[i]->body, note_called, called);
	/* circles need one round more for each of their functions */
	for (k = 0; k <= order->ncircle; k++)
		for (i = order->n; i-- > 0;)
			if (called[order->v[i]])
				walk_nodes(p->functions.v[order->v[i]]->body,
					   note_called, called);
}

/*
 * Functions are walked callees first, as if called in the kernel: a little too
 * much is live when one is only ever called on the host.
 */
void agg_modes(struct compile *c, struct program *p,
	       const struct call_order *order)
{
	struct modes m = {0};
	bool *called = arena_array(c->a, bool, p->functions.n + 1);
	unsigned i;

	m.fn = arena_array(c->a, uint8_t, p->functions.n + 1);
	kernel_calls(p, order, called);
	for (i = 0; i < order->n; i++) {
		unsigned f = order->v[i];

		m.host = !called[f];
		mode_walk(&m, p->functions.v[f]->body);
		m.fn[f] = m.host && called[f] ? MODE_HOST : MODE_KERNEL;
	}
	for (i = 0; i < p->probes.n; i++) {
		m.host = false;
		if (p->probes.v[i]->place == PLACE_KERNEL)
			mode_walk(&m, p->probes.v[i]->body);
	}
}

