/* SPDX-License-Identifier: MIT */
/*
 * Types, by inference to a fixpoint: the first use that says what a variable
 * or function is decides. Rounds run silently until nothing changes; one more
 * then reports what contradicts what was decided, and what nothing decides.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sema/sema.h"

/* One walk over the program. */
struct infer {
	struct sema *s;
	struct compile *c;
	struct function *fn; /* whose body it is, or NULL */
	/*
	 * report: the last round, with messages; changed: something was decided
	 */
	bool report, changed;
	struct diag
	    *last; /* the latest mismatch: index notes are added to it */
};

/*
 * want: the type that the place asks for, TY_UNKNOWN: any. Returns what n is.
 */
static enum type expr(struct infer *in, struct node *n, enum type want);
static void stmt(struct infer *in, struct node *n);

/* --- contradictions ------------------------------------------------------- */

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

/* n is of type got where want must be. */
static void mismatch(struct infer *in, struct node *n, enum type want,
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
	}
	in->last = d;
}

/*
 * Nothing says what the variable n is. Said once. After a mismatch it would be
 * noise: what is unknown may follow from that.
 */
static void unresolved(struct infer *in, struct node *n)
{
	struct var *v = node_var(n);

	if (!in->report || in->s->bad_types || !v || v->broken)
		return;
	v->broken = true;
	complain(in->c, TYPE_UNRESOLVED, &n->span);
}

/* The value of a function that returns none is used. */
static void no_value(struct infer *in, struct node *n)
{
	struct diag *d;

	if (!in->report || in->s->bad_types)
		return;
	d = complain(in->c, TYPE_UNRESOLVED, &n->span);
	diag_note(in->c->diag, d, NULL, "%s() returns no value",
		  n->u.call.name);
}

/* --- variables ------------------------------------------------------------ */

/*
 * Decides a variable's type, if nothing has yet. Locals are never aggregates.
 */
static void set_var(struct infer *in, struct var *v, enum type t,
		    const struct span *at)
{
	if (v->type != TY_UNKNOWN || t == TY_UNKNOWN || v->broken)
		return;
	if (t == TY_STATS && !v->is_global)
		return;
	v->type = t;
	v->type_span = *at;
	in->changed = true;
}

/*
 * The i-th key of v is e. The notes about both places are added to the message
 * that expr() has made.
 */
static void key(struct infer *in, struct var *v, unsigned i, struct node *e)
{
	enum type want, got;
	struct diag *d;

	if (i >= KEYS_MAX || e->kind == N_WILD)
		return;
	want = v->key_type[i];
	in->last = NULL;
	got = expr(in, e, want);
	if (want == TY_UNKNOWN && (got == TY_LONG || got == TY_STRING)) {
		v->key_type[i] = got;
		v->key_span[i] = e->span;
		in->changed = true;
		return;
	}
	if (want == TY_UNKNOWN || got == want || !in->last)
		return;
	/* expr() has reported the contradiction: say where it comes from. */
	d = in->last;
	diag_note(in->c->diag, d, &e->span, "index %u type mismatch (%s)", i,
		  type_name(got));
	diag_note(in->c->diag, d, &v->key_span[i],
		  "type of index %u was first inferred here (%s)", i,
		  type_name(want));
}

static void keys(struct infer *in, struct var *v, node_list *l)
{
	unsigned i;

	for (i = 0; i < l->n; i++)
		key(in, v, i, l->v[i]);
}

/* A variable as a value, or as the left side of an assignment. */
static enum type variable(struct infer *in, struct node *n, enum type want)
{
	struct var *v = node_var(n);

	if (n->kind == N_INDEX)
		keys(in, v, &n->u.index.keys);
	set_var(in, v, want, &n->span);
	n->type = v->type;
	if (want == TY_STATS && !v->is_global && v->type == TY_UNKNOWN &&
	    in->report && !v->broken) {
		in->s->bad_types++;
		v->broken = true;
		complain(in->c, STAT_LOCAL, &n->span);
	}
	if (v->broken)
		return n->type = want;
	if (want != TY_UNKNOWN && v->type != TY_UNKNOWN && v->type != want)
		mismatch(in, n, want, v->type);
	return v->type;
}

/* A variable that is read: an aggregate has no value. */
static enum type value(struct infer *in, struct node *n, enum type want)
{
	enum type t = variable(in, n, want);

	if (t != TY_STATS || want != TY_UNKNOWN)
		return t;
	if (in->report) {
		in->s->bad_types++;
		complain(in->c, TYPE_INVALID, &n->span, type_name(t));
	}
	return TY_UNKNOWN; /* it makes nobody else an aggregate */
}

/* --- expressions ---------------------------------------------------------- */

/* Gives n its type, which must fit. */
static enum type is(struct infer *in, struct node *n, enum type t,
		    enum type want)
{
	n->type = t;
	if (want != TY_UNKNOWN && t != TY_UNKNOWN && t != want)
		mismatch(in, n, want, t);
	return t;
}

/*
 * Messages about these say where the type comes from; others need both sides
 * named.
 */
static bool names_itself(const struct node *n)
{
	return n->kind == N_NUM || n->kind == N_STR || n->kind == N_NAME ||
	       n->kind == N_INDEX || (n->kind == N_CALL && n->u.call.fn);
}

/*
 * Two operands of one type: the right one decides first. a is looked at again
 * when b had to wait for it.
 */
static enum type same(struct infer *in, struct node *n, struct node *a,
		      struct node *b, enum type want)
{
	enum type tb = expr(in, b, want), ta;

	if (!names_itself(a) && !names_itself(b)) {
		ta = expr(in, a, want);
		if (in->report && ta != tb && ta != TY_UNKNOWN &&
		    tb != TY_UNKNOWN) {
			in->s->bad_types++;
			complain(in->c, TYPE_SIDES, &n->span, type_name(ta),
				 type_name(tb));
			return ta;
		}
	}
	ta = expr(in, a, tb != TY_UNKNOWN ? tb : want);
	if (tb == TY_UNKNOWN && ta != TY_UNKNOWN)
		tb = expr(in, b, ta);
	return tb != TY_UNKNOWN ? tb : ta;
}

static enum type assign(struct infer *in, struct node *n, enum type want)
{
	struct node *a = n->u.binary.a, *b = n->u.binary.b;
	enum type t;

	if (!node_var(a)) { /* not a variable: resolve.c has reported it */
		expr(in, b, TY_UNKNOWN);
		return is(in, n, TY_LONG, TY_UNKNOWN);
	}
	switch (n->u.binary.op) {
	case OPER_FEED:
		variable(in, a, TY_STATS);
		expr(in, b, TY_LONG);
		return is(in, n, TY_LONG, want);
	case OPER_CONCAT:
		variable(in, a, TY_STRING);
		expr(in, b, TY_STRING);
		return is(in, n, TY_STRING, want);
	case OPER_SET:
		t = expr(in, b, want);
		t = variable(in, a, t);
		if (b->type == TY_UNKNOWN && t != TY_UNKNOWN)
			expr(in, b, t);
		n->type = t;
		if (in->report && t == TY_UNKNOWN)
			unresolved(in, a);
		return t;
	default:
		variable(in, a, TY_LONG);
		expr(in, b, TY_LONG);
		return is(in, n, TY_LONG, want);
	}
}

static enum type binary(struct infer *in, struct node *n, enum type want)
{
	struct node *a = n->u.binary.a, *b = n->u.binary.b;

	switch (n->u.binary.op) {
	case OPER_EQ:
	case OPER_NE:
	case OPER_LT:
	case OPER_LE:
	case OPER_GT:
	case OPER_GE:
		if (same(in, n, a, b, TY_UNKNOWN) == TY_UNKNOWN && in->report) {
			unresolved(in, a);
			unresolved(in, b);
		}
		break;
	default:
		expr(in, a, TY_LONG);
		expr(in, b, TY_LONG);
		break;
	}
	return is(in, n, TY_LONG, want);
}

/* Gives one type to all overloads of a function. */
static void set_function(struct infer *in, struct function *f, enum type t,
			 const struct span *at)
{
	if (t == TY_UNKNOWN || t == TY_STATS)
		return;
	for (; f; f = f->overload) {
		if (f->type != TY_UNKNOWN)
			continue;
		f->type = t;
		f->type_span = *at;
		in->changed = true;
	}
}

/*
 * The overloads of f agree on types of result and parameters. They stand for
 * one another, so callers see one type.
 */
static void unify(struct infer *in, struct function *f)
{
	struct function *g;
	unsigned i;

	for (g = f->overload; g; g = g->overload) {
		set_function(in, g, f->type, &f->type_span);
		if (g->type != TY_UNKNOWN && f->type == TY_UNKNOWN)
			set_function(in, f, g->type, &g->type_span);
		for (i = 0; i < f->params.n; i++) {
			struct var *v = f->params.v[i], *w = g->params.v[i];

			set_var(in, v, w->type, &w->type_span);
			set_var(in, w, v->type, &v->type_span);
			if (in->report && v->type != w->type &&
			    w->type != TY_UNKNOWN) {
				in->s->bad_types++;
				mismatch_var(in, &w->span, v->type, w);
			}
		}
	}
}

/*
 * used: the value is wanted. Parameters get their types from arguments, and the
 * other way round.
 */
static enum type call(struct infer *in, struct node *n, enum type want,
		      bool used)
{
	const struct builtin *b = n->u.call.builtin;
	struct function *f = n->u.call.fn;
	unsigned i;

	for (i = 0; i < n->u.call.args.n; i++) {
		struct node *a = n->u.call.args.v[i];

		if (b) {
			expr(in, a, builtin_arg(b, i));
		} else if (f) {
			enum type t = expr(in, a, f->params.v[i]->type);

			set_var(in, f->params.v[i], t, &a->span);
			if (t == TY_UNKNOWN)
				unresolved(in, a);
		} else {
			expr(in, a, TY_UNKNOWN);
		}
	}
	if (f) {
		unify(in, f);
		set_function(in, f, want, &n->span);
		n->type = f->type;
	} else if (b) {
		/* exit() and the like are 0 where a number is wanted. */
		n->type = builtin_type(b);
		if (n->type == TY_UNKNOWN && want == TY_LONG)
			n->type = TY_LONG;
	} else {
		return n->type = want; /* reported */
	}
	if (used && n->type == TY_UNKNOWN)
		no_value(in, n);
	if (want != TY_UNKNOWN && n->type != TY_UNKNOWN && n->type != want)
		mismatch(in, n, want, n->type);
	return n->type;
}

/* x of @op(x): an aggregate. */
static void operand(struct infer *in, struct node *a)
{
	if (node_var(a))
		variable(in, a, TY_STATS);
}

/* Widths and precisions given by * are operands of their own. */
static void print_format(struct infer *in, struct node *n)
{
	struct fmt *f = &n->u.print.fmt;
	node_list *args = &n->u.print.args;
	unsigned i, k = 0;

	for (i = 0; i < f->parts.n; i++) {
		const struct fmt_part *p = &f->parts.v[i];

		if (!p->conv)
			continue;
		if (p->width_arg && k < args->n)
			expr(in, args->v[k++], TY_LONG);
		if (p->prec_arg && k < args->n)
			expr(in, args->v[k++], TY_LONG);
		if (k < args->n)
			expr(in, args->v[k++],
			     p->conv == 's' ? TY_STRING : TY_LONG);
		else /* too few: counted as a mismatch below */
			k = args->n + 1;
	}
	if (k != args->n && in->report)
		complain(in->c, PRINT_ARGS, &n->span);
	for (; k < args->n; k++)
		expr(in, args->v[k], TY_UNKNOWN);
}

static enum type print_call(struct infer *in, struct node *n, enum type want,
			    bool used)
{
	node_list *args = &n->u.print.args;
	unsigned i;

	if (n->u.print.kind == PRINT_PRINTF) {
		print_format(in, n);
	} else {
		for (i = 0; i < args->n; i++) {
			struct node *a = args->v[i];
			struct var *v = node_var(a);
			enum type t;

			if (v && v->type == TY_STATS) {
				if (in->report)
					complain(in->c, PRINT_STATS, &a->span);
				if (a->kind == N_INDEX)
					keys(in, v, &a->u.index.keys);
				continue;
			}
			t = expr(in, a,
				 n->u.print.kind == PRINT_CHAR ? TY_LONG
							       : TY_UNKNOWN);
			if (t == TY_UNKNOWN)
				unresolved(in, a);
		}
	}
	n->type = n->u.print.to_string ? TY_STRING : TY_UNKNOWN;
	if (n->type == TY_UNKNOWN && want == TY_LONG && used)
		n->type = TY_LONG; /* x && println("...") */
	if (used && n->type == TY_UNKNOWN && in->report)
		complain(in->c, TYPE_UNRESOLVED, &n->span);
	return used ? is(in, n, n->type, want) : n->type;
}

/* Is the argument a whole histogram (or its quantiles)? */
static enum type hist(struct infer *in, struct node *n, enum type want)
{
	operand(in, n->u.hist.a);
	return n->type = TY_UNKNOWN;
}

static enum type in_array(struct infer *in, struct node *n, enum type want)
{
	struct node *arr = n->u.in.array;

	if (arr->kind == N_HIST) {
		operand(in, arr->u.hist.a);
		if (n->u.in.keys.n)
			expr(in, n->u.in.keys.v[0], TY_LONG);
	} else {
		keys(in, arr->u.name.var, &n->u.in.keys);
	}
	return is(in, n, TY_LONG, want);
}

static int child_expr(struct node **child, void *ctx)
{
	if (*child)
		expr(ctx, *child, TY_LONG);
	return 0;
}

static enum type target(struct infer *in, struct node *n, enum type want)
{
	/* The base and the indices are numbers; the family gave the type. */
	node_each_child(n, child_expr, in);
	if (n->type == TY_UNKNOWN)
		n->type = TY_LONG;
	return is(in, n, n->type, want);
}

static enum type expr_used(struct infer *in, struct node *n, enum type want,
			   bool used);

static enum type ternary(struct infer *in, struct node *n, enum type want,
			 bool used)
{
	struct node *b = n->u.ternary.b, *c = n->u.ternary.c;
	enum type t, tb;

	expr(in, n->u.ternary.a, TY_LONG);
	tb = expr_used(in, b, want, used);
	t = expr_used(in, c, tb != TY_UNKNOWN ? tb : want, used);
	if (tb == TY_UNKNOWN && t != TY_UNKNOWN)
		tb = expr_used(in, b, t, used);
	n->type = tb != TY_UNKNOWN ? tb : t;
	return n->type;
}

/* Every kind of expression; kinds without a case have numbers as operands. */
static enum type expr_used(struct infer *in, struct node *n, enum type want,
			   bool used)
{
	switch (n->kind) {
	case N_NUM:
	case N_WILD:
		return is(in, n, TY_LONG, want);
	case N_STR:
		return is(in, n, TY_STRING, want);
	case N_NAME:
	case N_INDEX:
		return value(in, n, want);
	case N_CALL:
		return call(in, n, want, used);
	case N_UNARY:
		expr(in, n->u.unary.a, TY_LONG);
		return is(in, n, TY_LONG, want);
	case N_INCDEC:
		if (node_var(n->u.incdec.a))
			variable(in, n->u.incdec.a, TY_LONG);
		return is(in, n, TY_LONG, want);
	case N_BINARY:
		return binary(in, n, want);
	case N_LOGIC:
		expr(in, n->u.binary.a, TY_LONG);
		expr(in, n->u.binary.b, TY_LONG);
		return is(in, n, TY_LONG, want);
	case N_CONCAT:
		expr(in, n->u.binary.a, TY_STRING);
		expr(in, n->u.binary.b, TY_STRING);
		return is(in, n, TY_STRING, want);
	case N_TERNARY:
		return ternary(in, n, want, used);
	case N_ASSIGN:
		return assign(in, n, want);
	case N_IN:
		return in_array(in, n, want);
	case N_MATCH:
		expr(in, n->u.match.a, TY_STRING);
		return is(in, n, TY_LONG, want);
	case N_STAT:
		operand(in, n->u.stat.a);
		if (n->u.stat.param)
			expr(in, n->u.stat.param, TY_LONG);
		return is(in, n, TY_LONG, want);
	case N_HIST:
		return hist(in, n, want);
	case N_HIST_AT:
		operand(in, n->u.hist_at.hist->u.hist.a);
		expr(in, n->u.hist_at.index, TY_LONG);
		return is(in, n, TY_LONG, want);
	case N_PRINT:
		return print_call(in, n, want, used);
	default:
		return target(in, n, want);
	}
}

static enum type expr(struct infer *in, struct node *n, enum type want)
{
	return expr_used(in, n, want, true);
}

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
		operand(in, arr->u.hist.a);
		for (i = 0; i < n->u.foreach.keys.n; i++)
			variable(in, n->u.foreach.keys.v[i], TY_LONG);
		if (val)
			variable(in, val, TY_LONG);
	} else {
		struct var *v = arr->u.name.var;

		if (n->u.foreach.sort_by_stat) {
			set_var(in, v, TY_STATS, &arr->span);
			if (in->report && v->type != TY_STATS &&
			    v->type != TY_UNKNOWN)
				complain(in->c, TYPE_INVALID, &arr->span,
					 type_name(v->type));
		}
		for (i = 0; i < n->u.foreach.keys.n && i < KEYS_MAX; i++) {
			key(in, v, i, n->u.foreach.keys.v[i]);
			if (in->report && v->key_type[i] == TY_UNKNOWN)
				unresolved(in, n->u.foreach.keys.v[i]);
		}
		keys(in, v, &n->u.foreach.slice);
		if (val && v->type == TY_STATS) {
			in->s->bad_types += in->report;
			if (in->report)
				complain(in->c, TYPE_INVALID, &val->span,
					 type_name(v->type));
		} else if (val) {
			set_var(in, v, variable(in, val, v->type), &val->span);
		}
	}
	if (n->u.foreach.limit)
		expr(in, n->u.foreach.limit, TY_LONG);
	if (n->u.foreach.sort_param)
		expr(in, n->u.foreach.sort_param, TY_LONG);
	stmt(in, n->u.foreach.body);
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
	t = expr(in, a, f->type);
	if (t == TY_UNKNOWN)
		unresolved(in, a);
	set_function(in, f, t, &a->span);
	n->type = f->type;
}

/* Any type can be deleted; only keys are looked at. */
static void delete (struct infer *in, struct node *n)
{
	struct node *a = n->u.unary.a;

	if (a->kind == N_INDEX)
		variable(in, a, TY_UNKNOWN);
	else if (a->kind == N_NAME && a->u.name.var)
		variable(in, a, TY_UNKNOWN);
}

static int child_stmt(struct node **child, void *ctx)
{
	if (*child)
		stmt(ctx, *child);
	return 0;
}

static void stmt(struct infer *in, struct node *n)
{
	switch (n->kind) {
	case N_EXPR:
		expr_used(in, n->u.unary.a, TY_UNKNOWN, false);
		break;
	case N_IF:
		expr(in, n->u.ternary.a, TY_LONG);
		stmt(in, n->u.ternary.b);
		if (n->u.ternary.c)
			stmt(in, n->u.ternary.c);
		break;
	case N_FOR:
		if (n->u.loop.init)
			expr_used(in, n->u.loop.init, TY_UNKNOWN, false);
		if (n->u.loop.cond)
			expr(in, n->u.loop.cond, TY_LONG);
		if (n->u.loop.step)
			expr_used(in, n->u.loop.step, TY_UNKNOWN, false);
		stmt(in, n->u.loop.body);
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
		stmt(in, n->u.try.body);
		if (n->u.try.name)
			variable(in, n->u.try.name, TY_STRING);
		if (n->u.try.catcher)
			stmt(in, n->u.try.catcher);
		break;
	default:
		node_each_child(n, child_stmt, in);
		break;
	}
}

/* --- the program ---------------------------------------------------------- */

/* Functions first: their types are what handlers use. */
static void round_over(struct infer *in)
{
	struct program *p = in->s->p;
	unsigned i;

	for (i = 0; i < p->functions.n; i++) {
		in->fn = p->functions.v[i];
		stmt(in, in->fn->body);
		unify(in, in->fn);
	}
	in->fn = NULL;
	for (i = 0; i < p->probes.n; i++) {
		if (p->probes.v[i]->cond)
			expr(in, p->probes.v[i]->cond, TY_LONG);
		stmt(in, p->probes.v[i]->body);
	}
}

/* Ends, since each round decides at least one of finitely many types. */
static void fixpoint(struct infer *in)
{
	do {
		in->changed = false;
		round_over(in);
	} while (in->changed);
}

/* What nothing decides and nobody minds is a number. */
static void settle(struct var *v)
{
	unsigned i;

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
			set_var(in, v[i], TY_LONG, &v[i]->span);
}

/* A global's initial value says what it is. */
static void initial(struct infer *in, struct var *v)
{
	if (v->init.type != TY_UNKNOWN)
		set_var(in, v, v->init.type, &v->span);
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
		set_var(in, v, *nv->value && !*end ? TY_LONG : TY_STRING,
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
	fixpoint(&in);
	for (i = 0; i < p->globals.n; i++)
		given(&in, p->globals.v[i]);
	/* In the library what nobody assigns to is text that is not there:
	 * argv of a script without arguments. */
	for (i = 0; i < p->globals.n; i++)
		if (p->globals.v[i]->is_library)
			set_var(&in, p->globals.v[i], TY_STRING,
				&p->globals.v[i]->span);
	fixpoint(&in);
	for (i = 0; i < p->functions.n; i++)
		never_assigned(&in, p->functions.v[i]->locals.v,
			       p->functions.v[i]->locals.n);
	for (i = 0; i < p->probes.n; i++)
		never_assigned(&in, p->probes.v[i]->locals.v,
			       p->probes.v[i]->locals.n);
	fixpoint(&in);
	in.report = true;
	round_over(&in);
	for (i = 0; i < p->globals.n; i++)
		settle(p->globals.v[i]);
	for (i = 0; i < p->functions.n; i++)
		for (k = 0; k < p->functions.v[i]->locals.n; k++)
			settle(p->functions.v[i]->locals.v[k]);
	for (i = 0; i < p->probes.n; i++)
		for (k = 0; k < p->probes.v[i]->locals.n; k++)
			settle(p->probes.v[i]->locals.v[k]);
	in.report = false; /* nodes get the types that settle() has chosen */
	round_over(&in);
}

void infer_probe(struct sema *s, struct probe *p)
{
	struct infer in = {.s = s, .c = s->c, .report = true};

	stmt(&in, p->body);
}
