/* SPDX-License-Identifier: MIT */
/*
 * Code that does nothing is removed, with the warnings of the reference:
 * assignments that nobody reads, values that nobody uses, handlers that are
 * left empty. Runs before types are inferred, and again until nothing changes.
 */
#include <string.h>

#include "sema/effects.h"
#include "sema/sema.h"

/* each round removes something; a handler of 50 levels is rare */
enum { ROUNDS_MAX = 50 };

/*
 * One round. What it removes makes more useless: a variable that was read only
 * there, a function that was called only there.
 */
struct elide {
	struct sema *s;
	struct compile *c;
	struct all_effects *e;
	bool changed;
};

/* --- who is read and written ---------------------------------------------- */

/*
 * The flags are counted from nothing each time: what was removed used
 * variables, too.
 */

static void count(struct node *n, bool used);

static int count_child(struct node **child, void *ctx)
{
	(void)ctx;
	if (*child)
		count(*child, true);
	return 0;
}

/* read: the value is used as well (x++ in an expression). */
static void count_write(struct node *a, bool read)
{
	struct var *v = node_var(a);

	if (v) {
		v->is_written = true;
		v->is_read |= read;
	}
	if (a->kind != N_NAME)
		node_each_child(a, count_child, NULL);
}

/* Keys and value are written; walking over an array reads it. */
static void count_foreach(struct node *n)
{
	unsigned i;

	count(n->u.foreach.array, true);
	for (i = 0; i < n->u.foreach.keys.n; i++)
		count_write(n->u.foreach.keys.v[i], false);
	if (n->u.foreach.value)
		count_write(n->u.foreach.value, false);
	for (i = 0; i < n->u.foreach.slice.n; i++)
		count(n->u.foreach.slice.v[i], true);
	if (n->u.foreach.limit)
		count(n->u.foreach.limit, true);
	count(n->u.foreach.body, true);
}

/* used: is n's value wanted? */
static void count(struct node *n, bool used)
{
	enum oper op;

	switch (n->kind) {
	case N_NAME:
	case N_INDEX:
		if (node_var(n))
			node_var(n)->is_read = true;
		if (n->kind == N_NAME)
			return;
		break;
	case N_ASSIGN:
		op = n->u.binary.op;
		count_write(n->u.binary.a,
			    used && op != OPER_SET && op != OPER_FEED);
		count(n->u.binary.b, true);
		return;
	case N_INCDEC:
		count_write(n->u.incdec.a, used);
		return;
	case N_EXPR:
		count(n->u.unary.a, false);
		return;
	case N_FOR:
		if (n->u.loop.init)
			count(n->u.loop.init, false);
		if (n->u.loop.cond)
			count(n->u.loop.cond, true);
		if (n->u.loop.step)
			count(n->u.loop.step, false);
		count(n->u.loop.body, true);
		return;
	case N_DELETE:
		count_write(n->u.unary.a, false);
		return;
	case N_FOREACH:
		count_foreach(n);
		return;
	case N_TRY:
		if (n->u.try.name)
			count_write(n->u.try.name, false);
		count(n->u.try.body, true);
		if (n->u.try.catcher)
			count(n->u.try.catcher, true);
		return;
	default:
		break;
	}
	node_each_child(n, count_child, NULL);
}

/* Parameters are written by every call. */
static void clear(struct var **v, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		v[i]->is_read = false;
		v[i]->is_written = v[i]->is_param;
	}
}

static void count_all(struct program *p)
{
	unsigned i;

	clear(p->globals.v, p->globals.n);
	for (i = 0; i < p->functions.n; i++)
		clear(p->functions.v[i]->locals.v, p->functions.v[i]->locals.n);
	for (i = 0; i < p->probes.n; i++)
		clear(p->probes.v[i]->locals.v, p->probes.v[i]->locals.n);
	for (i = 0; i < p->functions.n; i++)
		count(p->functions.v[i]->body, true);
	for (i = 0; i < p->probes.n; i++) {
		if (p->probes.v[i]->cond)
			count(p->probes.v[i]->cond, true);
		count(p->probes.v[i]->body, true);
	}
}

/* --- removing ------------------------------------------------------------- */

/*
 * Nodes are changed, never taken out: lists keep their length until block()
 * packs them.
 */
static void drop(struct elide *x, struct node *n)
{
	n->kind = N_EMPTY;
	x->changed = true;
}

/* Before block() has packed it, or after. */
static bool is_empty(const struct node *n)
{
	return !n || n->kind == N_EMPTY ||
	       (n->kind == N_BLOCK && !n->u.block.stmts.n);
}

/* A variable whose value nobody asks for. */
static bool unread_local(const struct node *n)
{
	return n->kind == N_NAME && n->u.name.var &&
	       !n->u.name.var->is_global && !n->u.name.var->is_read &&
	       !n->u.name.var->broken;
}

/* Of the library, with a name that tally has made (sema/entry.c), or one that
 * @defined has asked about: no mistake of the user's. */
static bool is_ours(const struct node *v)
{
	return sema_in_library(v) || strchr(v->u.name.name, '.') ||
	       v->u.name.var->is_asked;
}

static void expr(struct elide *x, struct node *n);

static int child_expr(struct node **child, void *ctx)
{
	if (*child)
		expr(ctx, *child);
	return 0;
}

/* Inside expressions: x = e where nobody reads x is e. */
static void expr(struct elide *x, struct node *n)
{
	struct node *a;

	node_each_child(n, child_expr, x);
	if (n->kind != N_ASSIGN || n->u.binary.op != OPER_SET)
		return;
	a = n->u.binary.a;
	if (!unread_local(a))
		return;
	if (!is_ours(a))
		complain(x->c, ELIDE_ASSIGN, &a->span, a->u.name.name);
	*n = *n->u.binary.b;
	x->changed = true;
}

/* An expression that is a statement. Returns true when it can go. */
static bool useless(struct elide *x, struct node *a)
{
	if (effects_raw(a))
		return false;
	if (a->kind == N_INCDEC && unread_local(a->u.incdec.a)) {
		if (!sema_in_library(a))
			complain(x->c, ELIDE_ASSIGN, &a->u.incdec.a->span,
				 a->u.incdec.a->u.name.name);
		return true;
	}
	if (a->kind == N_ASSIGN && unread_local(a->u.binary.a) &&
	    !effects_fails(a)) {
		struct node *v = a->u.binary.a;

		if (!is_ours(v))
			complain(x->c, ELIDE_ASSIGN, &v->span, v->u.name.name);
		/* the value is still computed, where that can be noticed */
		*a = *a->u.binary.b;
		x->changed = true;
		return !effects_any(x->e, a);
	}
	expr(x, a);
	if (effects_any(x->e, a))
		return false;
	/* A function may have nothing to do in this of several probes. */
	if (!sema_in_library(a) &&
	    !(a->kind == N_CALL && a->u.call.fn && a->u.call.fn->probe)) {
		if (a->kind == N_CALL && a->u.call.fn)
			complain(x->c, PURE_FUNCTION, &a->span, a->u.call.name);
		complain(x->c, ELIDE_EXPR, &a->span);
	}
	return true;
}

/* Nothing behind the statement is reached. */
static bool leaves(const struct node *n)
{
	switch (n->kind) {
	case N_NEXT:
	case N_RETURN:
	case N_BREAK:
	case N_CONTINUE:
		return true;
	case N_BLOCK:
		return n->u.block.stmts.n &&
		       leaves(vec_last(&n->u.block.stmts));
	case N_IF:
		return n->u.ternary.c && leaves(n->u.ternary.b) &&
		       leaves(n->u.ternary.c);
	default:
		return false;
	}
}

static void stmt(struct elide *x, struct node *n);

static void block(struct elide *x, struct node *n)
{
	node_list *l = &n->u.block.stmts;
	unsigned i, k = 0;

	for (i = 0; i < l->n; i++) {
		struct node *s = l->v[i];

		stmt(x, s);
		if (s->kind == N_EMPTY) {
			x->changed = true;
			continue;
		}
		l->v[k++] = s;
		if (!leaves(s) || i + 1 == l->n)
			continue;
		for (i++; i < l->n && is_empty(l->v[i]); i++)
			continue;
		if (i < l->n && !sema_in_library(l->v[i]))
			complain(x->c, UNREACHED, &l->v[i]->span);
		x->changed = true;
		break;
	}
	l->n = k;
	if (!k)
		n->kind = N_EMPTY;
}

/* An if without branches is its condition. */
static void conditional(struct elide *x, struct node *n)
{
	struct node *cond = n->u.ternary.a;

	expr(x, cond);
	stmt(x, n->u.ternary.b);
	if (n->u.ternary.c) {
		stmt(x, n->u.ternary.c);
		if (is_empty(n->u.ternary.c))
			n->u.ternary.c = NULL;
	}
	if (!is_empty(n->u.ternary.b) || n->u.ternary.c)
		return;
	n->kind = N_EXPR;
	n->u.unary.a = cond;
	x->changed = true;
	stmt(x, n);
}

static bool acts(struct elide *x, struct node *n)
{
	return n && effects_any(x->e, n);
}

/* Without a body it can still wait for something (while (read()) ;) or assign.
 * One that does neither would only burn its MAXACTION. */
static void loop(struct elide *x, struct node *n)
{
	if (n->u.loop.init)
		expr(x, n->u.loop.init);
	if (n->u.loop.cond)
		expr(x, n->u.loop.cond);
	if (n->u.loop.step)
		expr(x, n->u.loop.step);
	stmt(x, n->u.loop.body);
	if (is_empty(n->u.loop.body) && !acts(x, n->u.loop.init) &&
	    !acts(x, n->u.loop.cond) && !acts(x, n->u.loop.step))
		drop(x, n);
}

/* Walking alone is no effect, nor are the last key and value it leaves. */
static void foreach_loop(struct elide *x, struct node *n)
{
	stmt(x, n->u.foreach.body);
	if (is_empty(n->u.foreach.body) && !acts(x, n->u.foreach.limit))
		drop(x, n);
}

static void stmt(struct elide *x, struct node *n)
{
	switch (n->kind) {
	case N_BLOCK:
		block(x, n);
		break;
	case N_EXPR:
		if (useless(x, n->u.unary.a))
			drop(x, n);
		break;
	case N_IF:
		conditional(x, n);
		break;
	case N_FOR:
		loop(x, n);
		break;
	case N_FOREACH:
		foreach_loop(x, n);
		break;
	case N_TRY:
		/* A catcher whose body is gone is never reached. */
		stmt(x, n->u.try.body);
		if (n->u.try.catcher)
			stmt(x, n->u.try.catcher);
		if (is_empty(n->u.try.body))
			drop(x, n);
		break;
	case N_RETURN:
		if (n->u.unary.a)
			expr(x, n->u.unary.a);
		break;
	default:
		break;
	}
}

/* --- the program ---------------------------------------------------------- */

/* Indices are positions in the list: they are given again. */
void drop_locals(struct var **v, unsigned *n)
{
	unsigned i, k = 0;

	for (i = 0; i < *n; i++) {
		if (!v[i]->is_read && !v[i]->is_written && !v[i]->is_param)
			continue;
		v[i]->index = k;
		v[k++] = v[i];
	}
	*n = k;
}

struct called {
	struct compile *c;
	VEC(struct function *) todo;
};

static void mark_called(struct node *n, void *ctx)
{
	struct called *k = ctx;
	struct function *f;

	if (n->kind != N_CALL)
		return;
	for (f = n->u.call.fn; f; f = f->overload) {
		if (f->is_used)
			continue;
		f->is_used = true;
		vec_push(k->c->a, &k->todo, f);
	}
}

/* Reached from probes; functions that only call each other go, too. */
static void drop_functions(struct elide *x)
{
	struct program *p = x->s->p;
	struct called called = {.c = x->c};
	struct map *used = map_new(x->c->a); /* declarations */
	unsigned i, k = 0;

	for (i = 0; i < p->functions.n; i++)
		p->functions.v[i]->is_used = false;
	for (i = 0; i < p->probes.n; i++)
		walk_nodes(p->probes.v[i]->body, mark_called, &called);
	for (i = 0; i < called.todo.n; i++)
		walk_nodes(called.todo.v[i]->body, mark_called, &called);
	for (i = 0; i < p->functions.n; i++)
		if (p->functions.v[i]->is_used)
			map_set_num(used, (uintptr_t)p->functions.v[i]->decl,
				    p);
	for (i = 0; i < p->functions.n; i++) {
		struct function *f = p->functions.v[i];

		if (!f->is_used) {
			if (!f->is_library &&
			    !map_get_num(used, (uintptr_t)f->decl))
				complain(x->c, ELIDE_FUNCTION, &f->span,
					 f->name);
			continue;
		}
		f->index = k;
		p->functions.v[k++] = f;
	}
	p->functions.n = k;
}

/* Of one point with a wildcard there may be hundreds: one message. */
static void report_dropped(struct elide *x, const struct probe *first,
			   unsigned more)
{
	struct diag *d;

	if (!first)
		return;
	d = complain(x->c, ELIDE_PROBE, &first->span, first->pp);
	if (more)
		diag_note(x->c->diag, d, NULL,
			  "and %u more that the point stands for", more);
}

static bool same_point(const struct probe *a, const struct probe *b)
{
	return a->span.src == b->span.src && a->span.line == b->span.line &&
	       a->span.col == b->span.col;
}

static void drop_probes(struct elide *x)
{
	struct program *p = x->s->p;
	const struct probe *first = NULL;
	unsigned i, k = 0, more = 0;

	for (i = 0; i < p->probes.n; i++) {
		struct probe *pr = p->probes.v[i];

		if (pr->counter || !is_empty(pr->body)) {
			p->probes.v[k++] = pr;
			continue;
		}
		pr->elided = true;
		if (pr->is_entry || sema_in_library(pr->body))
			continue;
		if (first && same_point(first, pr)) {
			more++;
			continue;
		}
		report_dropped(x, first, more);
		first = pr;
		more = 0;
	}
	report_dropped(x, first, more);
	p->probes.n = k;
}

static void fold_all(struct elide *x)
{
	struct program *p = x->s->p;
	unsigned i;

	for (i = 0; i < p->functions.n; i++)
		fold_node(x->c, p->functions.v[i]->body);
	for (i = 0; i < p->probes.n; i++) {
		if (p->probes.v[i]->cond)
			fold_node(x->c, p->probes.v[i]->cond);
		fold_node(x->c, p->probes.v[i]->body);
	}
}

/*
 * A body stays a block whatever was dropped in it. Later passes expect a block.
 */
static void keep_block(struct compile *c, struct node *n)
{
	if (n->kind == N_EMPTY) {
		n->kind = N_BLOCK;
		n->u.block.stmts.n = 0;
	}
}

static void round_over(struct elide *x)
{
	struct program *p = x->s->p;
	unsigned i;

	for (i = 0; i < p->functions.n; i++) {
		stmt(x, p->functions.v[i]->body);
		keep_block(x->c, p->functions.v[i]->body);
	}
	for (i = 0; i < p->probes.n; i++) {
		stmt(x, p->probes.v[i]->body);
		keep_block(x->c, p->probes.v[i]->body);
	}
}

static bool acts_at_entry(void *ctx, struct node *e)
{
	struct elide *x = ctx;

	return effects_any(x->e, e);
}

static bool calls(const struct sema *s, enum builtin_id id)
{
	return s->builtins[id / 64] >> (id % 64) & 1;
}

/*
 * The order matters: names that nobody assigns become 0 before code is looked
 * at, as that folds conditions.
 */
void fold_program(struct sema *s)
{
	struct elide x = {.s = s, .c = s->c, .changed = true};
	struct program *p = s->p;
	bool matched = calls(s, BI_MATCHED) || calls(s, BI_NGROUPS);
	unsigned i, rounds;

	for (i = 0; i < p->functions.n; i++)
		p->functions.v[i]->index = i;
	fold_all(&x);
	/* -u keeps everything, but later passes need to know who is read. */
	if (s->c->set.unoptimized) {
		count_all(p);
		return;
	}
	count_all(p);
	never_find(s);
	fold_all(&x);
	for (rounds = 0; x.changed && rounds < ROUNDS_MAX; rounds++) {
		x.changed = false;
		x.e = effects_make(s->c->a, p, matched);
		count_all(p);
		round_over(&x);
		x.changed |= entry_trim(s, acts_at_entry, &x);
		fold_all(&x);
	}
	sink_prologues(s, x.e);
	count_all(p);
	drop_functions(&x);
	drop_probes(&x);
	for (i = 0; i < p->functions.n; i++)
		drop_locals(p->functions.v[i]->locals.v,
			    &p->functions.v[i]->locals.n);
	for (i = 0; i < p->probes.n; i++)
		drop_locals(p->probes.v[i]->locals.v,
			    &p->probes.v[i]->locals.n);
}
