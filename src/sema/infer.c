/* SPDX-License-Identifier: MIT */
/*
 * Types, by inference to a fixpoint: the first use that says what a variable
 * or function is decides. All runs silently until nothing changes; one more
 * round then reports what contradicts what was decided, and what nothing
 * decides.
 */
#include "sema/infer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- statements ----------------------------------------------------------- */

/*
 * Keys and value are assigned to: they get types from the array, or give it
 * theirs.
 */
static void foreach (struct infer *in, struct node * n)
{
	struct node *arr = n->u.foreach.array, *val = n->u.foreach.value;
	unsigned i;

	if (arr->kind == N_HIST) {
		infer_operand(in, arr->u.hist.a);
		for (i = 0; i < n->u.foreach.keys.n; i++)
			infer_variable(in, n->u.foreach.keys.v[i], TY_LONG);
		if (val)
			infer_variable(in, val, TY_LONG);
	} else {
		struct var *v = arr->u.name.var;

		if (n->u.foreach.sort_by_stat) {
			infer_set_var(in, v, TY_STATS, &arr->span);
			if (in->report && v->type != TY_STATS &&
			    v->type != TY_UNKNOWN)
				complain(in->c, TYPE_INVALID, &arr->span,
					 type_name(v->type));
		}
		for (i = 0; i < n->u.foreach.keys.n && i < KEYS_MAX; i++) {
			infer_key(in, v, i, n->u.foreach.keys.v[i]);
			if (in->report && v->key_type[i] == TY_UNKNOWN)
				infer_unresolved(in, n->u.foreach.keys.v[i]);
		}
		infer_keys(in, v, &n->u.foreach.slice);
		if (val && v->type == TY_STATS) {
			in->s->bad_types += in->report;
			if (in->report)
				complain(in->c, TYPE_INVALID, &val->span,
					 type_name(v->type));
		} else if (val) {
			infer_set_var(in, v, infer_variable(in, val, v->type),
				      &val->span);
			if (v->type == TY_UNKNOWN)
				units_ask(in, &v->waiting);
		}
	}
	if (n->u.foreach.limit)
		infer_expr(in, n->u.foreach.limit, TY_LONG);
	if (n->u.foreach.sort_param)
		infer_expr(in, n->u.foreach.sort_param, TY_LONG);
}

/* A bare return in a function with a value. */
static void bad_return(struct infer *in, struct node *n)
{
	struct function *f = in->fn;
	struct diag *d;

	if (!in->report || f->type == TY_UNKNOWN)
		return;
	in->s->bad_types++;
	d = complain(in->c, TYPE_MISMATCH, &n->span, type_name(TY_UNKNOWN));
	diag_note(in->c->diag, d, &f->type_span,
		  "type was first inferred here (%s)", type_name(f->type));
}

static void do_return(struct infer *in, struct node *n)
{
	struct node *a = n->u.unary.a;
	struct function *f = in->fn;
	enum type t;

	assert(f); /* the parser sees to it */
	if (!a) {
		bad_return(in, n);
		return;
	}
	t = infer_expr(in, a, f->type);
	if (t == TY_UNKNOWN)
		infer_unresolved(in, a);
	infer_set_function(in, f, t, &a->span);
	n->type = f->type;
}

/* Any type can be deleted; only keys are looked at. */
static void delete (struct infer *in, struct node *n)
{
	struct node *a = n->u.unary.a;

	if (a->kind == N_INDEX)
		infer_variable(in, a, TY_UNKNOWN);
	else if (a->kind == N_NAME && a->u.name.var)
		infer_variable(in, a, TY_UNKNOWN);
}

void infer_unit(struct infer *in, const struct unit *u)
{
	struct node *n = u->n;

	in->fn = u->fn;
	if (!n) {
		infer_unify(in, u->fn);
		return;
	}
	if (u->is_cond) {
		infer_expr(in, n, TY_LONG);
		return;
	}
	switch (n->kind) {
	case N_EXPR:
		infer_used(in, n->u.unary.a, TY_UNKNOWN, false);
		break;
	case N_IF:
		infer_expr(in, n->u.ternary.a, TY_LONG);
		break;
	case N_FOR:
		if (n->u.loop.init)
			infer_used(in, n->u.loop.init, TY_UNKNOWN, false);
		if (n->u.loop.cond)
			infer_expr(in, n->u.loop.cond, TY_LONG);
		if (n->u.loop.step)
			infer_used(in, n->u.loop.step, TY_UNKNOWN, false);
		break;
	case N_FOREACH:
		foreach (in, n)
			;
		break;
	case N_RETURN:
		do_return(in, n);
		break;
	case N_DELETE:
		delete (in, n);
		break;
	case N_TRY:
		if (n->u.try.name)
			infer_variable(in, n->u.try.name, TY_STRING);
		break;
	default:
		break;
	}
}

/* --- the program ---------------------------------------------------------- */

/* The first of each chain of overloads, which speaks for all. */
static void find_heads(struct program *p)
{
	unsigned i;

	for (i = 0; i < p->functions.n; i++) {
		p->functions.v[i]->head = p->functions.v[i];
		p->functions.v[i]->waiting = NULL;
	}
	for (i = 0; i < p->functions.n; i++)
		if (p->functions.v[i]->overload)
			p->functions.v[i]->overload->head = NULL;
	for (i = 0; i < p->functions.n; i++) {
		struct function *f = p->functions.v[i], *g;

		if (f->head != f)
			continue;
		for (g = f->overload; g; g = g->overload)
			g->head = f;
	}
}

/* What nothing decides and nobody minds is a number. */
static void settle(struct var *v)
{
	unsigned i;

	v->waiting = NULL;
	if (v->arity < 0)
		v->arity = 0;
	if (v->type == TY_UNKNOWN)
		v->type = TY_LONG;
	for (i = 0; i < (unsigned)v->arity; i++)
		if (v->key_type[i] == TY_UNKNOWN)
			v->key_type[i] = TY_LONG;
}

/* A local that nothing assigns to, and no use says what it is: 0. */
static void never_assigned(struct infer *in, struct var **v, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (v[i]->is_open)
			infer_set_var(in, v[i], TY_LONG, &v[i]->span);
}

/* A global's initial value says what it is. */
static void initial(struct infer *in, struct var *v)
{
	if (v->init.type != TY_UNKNOWN)
		infer_set_var(in, v, v->init.type, &v->span);
}

/* So does one from the command line (-G), when the script leaves it open. */
static void given(struct infer *in, struct var *v)
{
	char *end;
	unsigned i;

	for (i = 0; i < in->c->set.globals.n; i++) {
		const struct name_value *nv = &in->c->set.globals.v[i];

		if (strcmp(nv->name, v->name))
			continue;
		strtoll(nv->value, &end, 0);
		infer_set_var(in, v, *nv->value && !*end ? TY_LONG : TY_STRING,
			      &v->span);
	}
}

/*
 * Stages: what the script says; what -G says; the library's own default; what
 * nothing is ever assigned to. Messages come at the end, so that order does not
 * matter.
 */
void infer_program(struct sema *s)
{
	struct infer in = {.s = s, .c = s->c};
	struct program *p = s->p;
	unsigned i, k;

	for (i = 0; i < p->globals.n; i++)
		initial(&in, p->globals.v[i]);
	find_heads(p);
	units_list(&in);
	units_fixpoint(&in);
	for (i = 0; i < p->globals.n; i++)
		given(&in, p->globals.v[i]);
	/* In the library what nobody assigns to is text that is not there:
	 * argv of a script without arguments. */
	for (i = 0; i < p->globals.n; i++)
		if (p->globals.v[i]->is_library)
			infer_set_var(&in, p->globals.v[i], TY_STRING,
				      &p->globals.v[i]->span);
	units_fixpoint(&in);
	for (i = 0; i < p->functions.n; i++)
		never_assigned(&in, p->functions.v[i]->locals.v,
			       p->functions.v[i]->locals.n);
	for (i = 0; i < p->probes.n; i++)
		never_assigned(&in, p->probes.v[i]->locals.v,
			       p->probes.v[i]->locals.n);
	units_fixpoint(&in);
	in.report = true;
	units_all(&in);
	for (i = 0; i < p->globals.n; i++)
		settle(p->globals.v[i]);
	for (i = 0; i < p->functions.n; i++)
		for (k = 0; k < p->functions.v[i]->locals.n; k++)
			settle(p->functions.v[i]->locals.v[k]);
	for (i = 0; i < p->probes.n; i++)
		for (k = 0; k < p->probes.v[i]->locals.n; k++)
			settle(p->probes.v[i]->locals.v[k]);
	in.report = false; /* nodes get the types that settle() has chosen */
	units_all(&in);
}

