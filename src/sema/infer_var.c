/* SPDX-License-Identifier: MIT */
/* Types of variables and functions: deciding them, and what contradicts. */
#include "sema/infer.h"

#include "types/ctype.h"

static struct diag *mismatch_var(struct infer *in, const struct span *at,
				 enum type want, const struct var *v)
{
	struct diag *d;

	d = complain(in->c, TYPE_MISMATCH, at, type_name(want));
	if (v->type_span.line)
		diag_note(in->c->diag, d, &v->type_span,
			  "type was first inferred here (%s)",
			  type_name(v->type));
	return d;
}

/* A C programmer's string is an address here, with the text at it. */
static void help_chars(struct infer *in, struct diag *d,
		       const struct access *a)
{
	const struct ctype *t = a ? ctype_strip(a->type) : NULL;

	if (!t || (t->kind != CT_ARRAY && t->kind != CT_PTR))
		return;
	t = ctype_strip(ctype_fill(t)->to);
	if (t && t->kind == CT_INT && t->repr == REPR_CHAR)
		diag_help(in->c->diag, d,
			  "this is an address; its text is %s_string(...)",
			  a->user ? "user" : "kernel");
}


/* n is of type got where want must be. */
void infer_mismatch(struct infer *in, struct node *n, enum type want,
		    enum type got)
{
	struct function *f = n->kind == N_CALL ? n->u.call.fn : NULL;
	struct diag *d;

	if (!in->report)
		return;
	in->s->bad_types++;
	if (n->kind == N_NAME) {
		d = mismatch_var(in, &n->span, want, n->u.name.var);
	} else if (n->kind == N_INDEX) {
		d = mismatch_var(in, &n->span, want, n->u.index.var);
	} else if (f) {
		d = complain(in->c, TYPE_MISMATCH, &n->span, type_name(want));
		diag_note(in->c->diag, d, &f->type_span,
			  "type was first inferred here (%s)",
			  type_name(f->type));
	} else {
		d = complain(in->c, TYPE_EXPECTED, &n->span, type_name(want),
			     type_name(got));
		if (want == TY_STRING && n->kind == N_TARGET)
			help_chars(in, d, n->u.target.access);
	}
	in->last = d;
}

/*
 * Nothing says what the variable n is. Said once. After a mismatch it would be
 * noise: what is unknown may follow from that.
 */
void infer_unresolved(struct infer *in, struct node *n)
{
	struct var *v = node_var(n);

	if (!in->report || in->s->bad_types || !v || v->broken)
		return;
	v->broken = true;
	complain(in->c, TYPE_UNRESOLVED, &n->span);
}

/* --- variables ------------------------------------------------------------ */

/*
 * Decides a variable's type, if nothing has yet. Locals are never aggregates.
 */
void infer_set_var(struct infer *in, struct var *v, enum type t,
		   const struct span *at)
{
	if (v->type != TY_UNKNOWN || t == TY_UNKNOWN || v->broken)
		return;
	if (t == TY_STATS && !v->is_global)
		return;
	v->type = t;
	v->type_span = *at;
	units_wake(in, &v->waiting);
}

/*
 * The i-th key of v is e. The notes about both places are added to the message
 * that infer_expr() has made.
 */
void infer_key(struct infer *in, struct var *v, unsigned i, struct node *e)
{
	enum type want, got;
	struct diag *d;

	if (i >= KEYS_MAX || e->kind == N_WILD)
		return;
	want = v->key_type[i];
	in->last = NULL;
	got = infer_expr(in, e, want);
	if (want == TY_UNKNOWN && (got == TY_LONG || got == TY_STRING)) {
		v->key_type[i] = got;
		v->key_span[i] = e->span;
		units_wake(in, &v->waiting);
		return;
	}
	if (want == TY_UNKNOWN)
		units_ask(in, &v->waiting);
	if (want == TY_UNKNOWN || got == want || !in->last)
		return;
	/* infer_expr() has said that it is one: say where it comes from. */
	d = in->last;
	diag_note(in->c->diag, d, &e->span, "index %u type mismatch (%s)", i,
		  type_name(got));
	diag_note(in->c->diag, d, &v->key_span[i],
		  "type of index %u was first inferred here (%s)", i,
		  type_name(want));
}

void infer_keys(struct infer *in, struct var *v, node_list *l)
{
	unsigned i;

	for (i = 0; i < l->n; i++)
		infer_key(in, v, i, l->v[i]);
}

/* A variable as a value, or as the left side of an assignment. */
enum type infer_variable(struct infer *in, struct node *n, enum type want)
{
	struct var *v = node_var(n);

	if (n->kind == N_INDEX)
		infer_keys(in, v, &n->u.index.keys);
	infer_set_var(in, v, want, &n->span);
	n->type = v->type;
	if (v->type == TY_UNKNOWN)
		units_ask(in, &v->waiting);
	if (want == TY_STATS && !v->is_global && v->type == TY_UNKNOWN &&
	    in->report && !v->broken) {
		in->s->bad_types++;
		v->broken = true;
		complain(in->c, STAT_LOCAL, &n->span);
	}
	if (v->broken)
		return n->type = want;
	if (want != TY_UNKNOWN && v->type != TY_UNKNOWN && v->type != want)
		infer_mismatch(in, n, want, v->type);
	return v->type;
}

/* --- functions ------------------------------------------------------------ */

/* Gives one type to all overloads of a function. */
void infer_set_function(struct infer *in, struct function *f, enum type t,
			const struct span *at)
{
	if (f->type == TY_UNKNOWN && (t == TY_UNKNOWN || t == TY_STATS))
		units_ask(in, &f->waiting);
	/* One that is known has told the others: infer_unify() */
	if (t == TY_UNKNOWN || t == TY_STATS || f->type != TY_UNKNOWN)
		return;
	for (f = f->head; f; f = f->overload) {
		if (f->type != TY_UNKNOWN)
			continue;
		f->type = t;
		f->type_span = *at;
		units_wake(in, &f->waiting);
	}
}

/* The i-th parameters of all overloads of f. */
static void unify_param(struct infer *in, struct function *f, unsigned i)
{
	struct var *known = NULL;
	struct function *g;

	for (g = f; g && !known; g = g->overload)
		if (g->params.v[i]->type != TY_UNKNOWN)
			known = g->params.v[i];
	for (g = f; g; g = g->overload) {
		struct var *w = g->params.v[i];

		if (!known) {
			units_ask(in, &w->waiting);
			continue;
		}
		infer_set_var(in, w, known->type, &known->type_span);
		if (in->report && w->type != known->type &&
		    w->type != TY_UNKNOWN) {
			in->s->bad_types++;
			mismatch_var(in, &w->span, known->type, w);
		}
	}
}

/* They stand for one another, so callers see one type. */
void infer_unify(struct infer *in, struct function *f)
{
	struct function *g;
	unsigned i;

	for (g = f; g && g->type == TY_UNKNOWN; g = g->overload)
		continue;
	if (g)
		infer_set_function(in, f, g->type, &g->type_span);
	for (g = f->overload; g && f->type != TY_UNKNOWN; g = g->overload)
		infer_set_function(in, g, f->type, &f->type_span);
	for (i = 0; i < f->params.n; i++)
		unify_param(in, f, i);
}
