/* SPDX-License-Identifier: MIT */
/*
 * What the library prepares for a handler (`argstr` of a system call: a
 * microsecond of text) is computed behind the tests that the handler begins
 * with, as nobody asks for it where they end the handler:
 *
 *     prologue                          if (COND) next
 *     if (COND) next              ->    prologue
 *     ...                               ...
 *
 *     prologue                          if (COND) {
 *     if (COND) BODY              ->            prologue
 *                                               BODY
 *                                       }
 *
 * Only of library prologues, which assign to locals and have no effects; what
 * COND asks for stays in front of it.
 */
#include "sema/effects.h"
#include "sema/sema.h"

/* A statement of the prologue. */
struct step {
	struct node *n;
	bool stays;
};

struct sink {
	struct compile *c;
	const struct all_effects *e;
	VEC(struct step) steps;
	node_list guards; /* statements of the handler that go in front */
	VEC(struct var *) needed; /* by what stays in front */
	unsigned nfunctions;
	bool impure;
};

/* --- what may move -------------------------------------------------------- */

static bool is_local_set(const struct node *n)
{
	return n->kind == N_ASSIGN && n->u.binary.op == OPER_SET &&
	       n->u.binary.a->kind == N_NAME && n->u.binary.a->u.name.var &&
	       !n->u.binary.a->u.name.var->is_global;
}

/* Nothing but assignments to locals of values without effects? */
static bool is_pure(const struct sink *k, struct node *n)
{
	struct node *a;

	switch (n->kind) {
	case N_EMPTY:
		return true;
	case N_BLOCK:
		for (unsigned i = 0; i < n->u.block.stmts.n; i++)
			if (!is_pure(k, n->u.block.stmts.v[i]))
				return false;
		return true;
	case N_IF:
		return !effects_any(k->e, n->u.ternary.a) &&
		       is_pure(k, n->u.ternary.b) &&
		       (!n->u.ternary.c || is_pure(k, n->u.ternary.c));
	case N_EXPR:
		a = n->u.unary.a;
		return is_local_set(a) && !effects_any(k->e, a->u.binary.b);
	default:
		return false;
	}
}

/* Blocks of aliases that stand on each other are one list. */
static void add_steps(struct sink *k, struct node *n)
{
	if (n->kind != N_BLOCK) {
		vec_push(k->c->a, &k->steps, ((struct step){n, false}));
		k->impure |= !is_pure(k, n);
		return;
	}
	for (unsigned i = 0; i < n->u.block.stmts.n; i++)
		add_steps(k, n->u.block.stmts.v[i]);
}

/* --- what must stay ------------------------------------------------------- */

static void need_vars(struct node *n, void *ctx)
{
	struct sink *k = ctx;
	struct var *v = node_var(n);

	for (unsigned i = 0; v && i < k->needed.n; i++)
		if (k->needed.v[i] == v)
			return;
	if (v)
		vec_push(k->c->a, &k->needed, v);
}

struct meets {
	const struct sink *k;
	const struct node *other; /* or NULL: the needed ones */
	const struct var *var;
	bool found;
};

static void find_var(struct node *n, void *ctx)
{
	struct meets *m = ctx;

	m->found |= node_var(n) == m->var;
}

/* Does an assignment write what is needed, or what `other` mentions? */
static void meet_write(struct node *n, void *ctx)
{
	struct meets *m = ctx;

	if (!is_local_set(n))
		return;
	m->var = n->u.binary.a->u.name.var;
	if (m->other) {
		walk_nodes((struct node *)(uintptr_t)m->other, find_var, m);
		return;
	}
	for (unsigned i = 0; i < m->k->needed.n; i++)
		m->found |= m->k->needed.v[i] == m->var;
}

static bool writes(const struct sink *k, struct node *n,
		   const struct node *other)
{
	struct meets m = {.k = k, .other = other};

	walk_nodes(n, meet_write, &m);
	return m.found;
}

/* A step stays if it makes what is needed in front, or if one that stays would
 * change what it reads. */
static bool must_stay(const struct sink *k, unsigned at)
{
	struct node *n = k->steps.v[at].n;

	if (writes(k, n, NULL))
		return true;
	for (unsigned i = at + 1; i < k->steps.n; i++)
		if (k->steps.v[i].stays && writes(k, k->steps.v[i].n, n))
			return true;
	return false;
}

/* Returns whether any step may move. */
static bool decide(struct sink *k)
{
	bool changed = true, moves = false;

	while (changed) {
		changed = moves = false;
		for (unsigned i = 0; i < k->steps.n; i++) {
			struct step *s = &k->steps.v[i];

			if (s->stays)
				continue;
			moves = true;
			if (!must_stay(k, i))
				continue;
			s->stays = changed = true;
			walk_nodes(s->n, need_vars, k);
		}
	}
	return moves;
}

/* --- the handler ---------------------------------------------------------- */

static bool is_next(const struct node *n)
{
	return n->kind == N_NEXT ||
	       (n->kind == N_BLOCK && n->u.block.stmts.n == 1 &&
		is_next(n->u.block.stmts.v[0]));
}

static bool is_test(const struct sink *k, struct node *n)
{
	return n->kind == N_IF && !n->u.ternary.c &&
	       !effects_any(k->e, n->u.ternary.a);
}

static void put_steps(struct sink *k, node_list *to, bool staying)
{
	for (unsigned i = 0; i < k->steps.n; i++)
		if (k->steps.v[i].stays == staying)
			vec_push(k->c->a, to, k->steps.v[i].n);
}

struct leaving {
	uint8_t *seen; /* by function.index */
	bool found;
};

static void find_leaving(struct node *n, void *ctx)
{
	struct leaving *l = ctx;
	const struct function *fn;

	if (n->kind != N_CALL)
		return;
	if (n->u.call.builtin && n->u.call.builtin->flags & BF_HOST)
		l->found = true;
	fn = n->u.call.fn;
	if (!fn || l->found || l->seen[fn->index])
		return;
	l->seen[fn->index] = 1;
	walk_nodes(fn->body, find_leaving, l);
}

/*
 * May what stays in front go on on the host? What is behind it would read the
 * target's memory too late, which is worse than a text for nothing.
 */
static bool may_leave(struct sink *k, const struct node *last)
{
	struct leaving l = {0};

	l.seen = arena_alloc(k->c->a, k->nfunctions + 1);
	for (unsigned i = 0; i < k->steps.n; i++)
		if (k->steps.v[i].stays)
			walk_nodes(k->steps.v[i].n, find_leaving, &l);
	for (unsigned i = 0; i < k->guards.n; i++)
		walk_nodes(k->guards.v[i]->u.ternary.a, find_leaving, &l);
	if (last)
		walk_nodes(last->u.ternary.a, find_leaving, &l);
	return l.found;
}

/* The handler's statements from `from` on are neither tests nor moved. */
static void rebuild(struct sink *k, struct node *body, const node_list *rest,
		    unsigned from, struct node *last)
{
	node_list out = {0};

	put_steps(k, &out, true);
	for (unsigned i = 0; i < k->guards.n; i++)
		vec_push(k->c->a, &out, k->guards.v[i]);
	if (last) {
		struct node *in = node_new(k->c->a, N_BLOCK, last->span);

		put_steps(k, &in->u.block.stmts, false);
		vec_push(k->c->a, &in->u.block.stmts, last->u.ternary.b);
		last->u.ternary.b = in;
		vec_push(k->c->a, &out, last);
	} else {
		put_steps(k, &out, false);
		for (unsigned i = from; i < rest->n; i++)
			vec_push(k->c->a, &out, rest->v[i]);
	}
	body->u.block.stmts = out;
}

/* body: library blocks, then the script's as the last one. */
static void sink_body(struct sink *k, struct node *body)
{
	const node_list *l = &body->u.block.stmts;
	struct node *handler, *last = NULL;
	unsigned n = 0;

	if (l->n < 2)
		return;
	handler = l->v[l->n - 1];
	if (handler->kind != N_BLOCK || sema_in_library(handler))
		return;
	for (unsigned i = 0; i + 1 < l->n; i++) {
		if (!sema_in_library(l->v[i]))
			return;
		add_steps(k, l->v[i]);
	}
	l = &handler->u.block.stmts;
	for (; n < l->n && is_test(k, l->v[n]) && is_next(l->v[n]->u.ternary.b);
	     n++) {
		walk_nodes(l->v[n]->u.ternary.a, need_vars, k);
		vec_push(k->c->a, &k->guards, l->v[n]);
	}
	if (n + 1 == l->n && is_test(k, l->v[n])) {
		last = l->v[n];
		walk_nodes(last->u.ternary.a, need_vars, k);
	}
	if (!k->impure && (n || last) && decide(k) && !may_leave(k, last))
		rebuild(k, body, l, n, last);
}

void sink_prologues(struct sema *s, const struct all_effects *e)
{
	for (unsigned i = 0; i < s->p->probes.n; i++) {
		struct sink k = {.c = s->c, .e = e,
				 .nfunctions = s->p->functions.n};

		if (s->p->probes.v[i]->body->kind == N_BLOCK)
			sink_body(&k, s->p->probes.v[i]->body);
	}
}
