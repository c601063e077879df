/* SPDX-License-Identifier: MIT */
/*
 * Types of expressions. An expression is visited with what its place wants and
 * says what it is; either may be unknown as yet, and what one side knows is
 * offered to the other. So a round may learn something late that an earlier
 * place needs: the next round takes it there.
 */
#include "sema/infer.h"

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

/* A variable that is read: an aggregate has no value. */
static enum type value(struct infer *in, struct node *n, enum type want)
{
	enum type t = infer_variable(in, n, want);

	if (t != TY_STATS || want != TY_UNKNOWN)
		return t;
	if (in->report) {
		in->s->bad_types++;
		complain(in->c, TYPE_INVALID, &n->span, type_name(t));
	}
	return TY_UNKNOWN; /* it makes nobody else an aggregate */
}

/* Gives n its type, which must fit. */
static enum type is(struct infer *in, struct node *n, enum type t,
		    enum type want)
{
	n->type = t;
	if (want != TY_UNKNOWN && t != TY_UNKNOWN && t != want)
		infer_mismatch(in, n, want, t);
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
	enum type tb = infer_expr(in, b, want), ta;

	if (!names_itself(a) && !names_itself(b)) {
		ta = infer_expr(in, a, want);
		if (in->report && ta != tb && ta != TY_UNKNOWN &&
		    tb != TY_UNKNOWN) {
			in->s->bad_types++;
			complain(in->c, TYPE_SIDES, &n->span, type_name(ta),
				 type_name(tb));
			return ta;
		}
	}
	ta = infer_expr(in, a, tb != TY_UNKNOWN ? tb : want);
	if (tb == TY_UNKNOWN && ta != TY_UNKNOWN)
		tb = infer_expr(in, b, ta);
	return tb != TY_UNKNOWN ? tb : ta;
}

static enum type assign(struct infer *in, struct node *n, enum type want)
{
	struct node *a = n->u.binary.a, *b = n->u.binary.b;
	enum type t;

	if (!node_var(a)) { /* not a variable: resolve.c has reported it */
		infer_expr(in, b, TY_UNKNOWN);
		return is(in, n, TY_LONG, TY_UNKNOWN);
	}
	switch (n->u.binary.op) {
	case OPER_FEED:
		infer_variable(in, a, TY_STATS);
		infer_expr(in, b, TY_LONG);
		return is(in, n, TY_LONG, want);
	case OPER_CONCAT:
		infer_variable(in, a, TY_STRING);
		infer_expr(in, b, TY_STRING);
		return is(in, n, TY_STRING, want);
	case OPER_SET:
		t = infer_expr(in, b, want);
		t = infer_variable(in, a, t);
		if (b->type == TY_UNKNOWN && t != TY_UNKNOWN)
			infer_expr(in, b, t);
		n->type = t;
		if (in->report && t == TY_UNKNOWN)
			infer_unresolved(in, a);
		return t;
	default:
		infer_variable(in, a, TY_LONG);
		infer_expr(in, b, TY_LONG);
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
			infer_unresolved(in, a);
			infer_unresolved(in, b);
		}
		break;
	default:
		infer_expr(in, a, TY_LONG);
		infer_expr(in, b, TY_LONG);
		break;
	}
	return is(in, n, TY_LONG, want);
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
			infer_expr(in, a, builtin_arg(b, i));
		} else if (f) {
			enum type t = infer_expr(in, a, f->params.v[i]->type);

			infer_set_var(in, f->params.v[i], t, &a->span);
			if (f->params.v[i]->type == TY_UNKNOWN)
				units_ask(in, &f->params.v[i]->waiting);
			if (t == TY_UNKNOWN)
				infer_unresolved(in, a);
		} else {
			infer_expr(in, a, TY_UNKNOWN);
		}
	}
	if (f) {
		infer_set_function(in, f, want, &n->span);
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
		infer_mismatch(in, n, want, n->type);
	return n->type;
}

/* x of @op(x): an aggregate. */
void infer_operand(struct infer *in, struct node *a)
{
	if (node_var(a))
		infer_variable(in, a, TY_STATS);
}

static void format_arg(struct infer *in, struct node *n, bool text)
{
	in->last = NULL;
	infer_expr(in, n, text ? TY_STRING : TY_LONG);
	/* of a $target it is said what its text is */
	if (in->report && in->last && n->kind != N_TARGET)
		diag_help(in->c->diag, in->last, text ?
			  "%%d prints a number" : "%%s prints a string");
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
			infer_expr(in, args->v[k++], TY_LONG);
		if (p->prec_arg && k < args->n)
			infer_expr(in, args->v[k++], TY_LONG);
		if (k < args->n)
			format_arg(in, args->v[k++], p->conv == 's');
		else /* too few: counted as a mismatch below */
			k = args->n + 1;
	}
	if (k != args->n && in->report)
		complain(in->c, PRINT_ARGS, &n->span);
	for (; k < args->n; k++)
		infer_expr(in, args->v[k], TY_UNKNOWN);
}

/* People from other tracers print them whole. */
static void print_stats(struct infer *in, const struct node *a,
			const struct var *v)
{
	const char *key = a->kind == N_INDEX ? "[KEY]" : "";

	diag_help(in->c->diag, complain(in->c, PRINT_STATS, &a->span),
		  "ask for what is in it: @count(%s%s), @avg(%s%s), "
		  "print(@hist_log(%s%s))",
		  v->name, key, v->name, key, v->name, key);
}

static enum type print_call(struct infer *in, struct node *n, enum type want,
			    bool used)
{
	node_list *args = &n->u.print.args;
	enum type want_each = n->u.print.kind == PRINT_CHAR ? TY_LONG
							    : TY_UNKNOWN;
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
					print_stats(in, a, v);
				if (a->kind == N_INDEX)
					infer_keys(in, v, &a->u.index.keys);
				continue;
			}
			t = infer_expr(in, a, want_each);
			if (t == TY_UNKNOWN)
				infer_unresolved(in, a);
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
	infer_operand(in, n->u.hist.a);
	return n->type = TY_UNKNOWN;
}

static enum type in_array(struct infer *in, struct node *n, enum type want)
{
	struct node *arr = n->u.in.array;

	if (arr->kind == N_HIST) {
		infer_operand(in, arr->u.hist.a);
		if (n->u.in.keys.n)
			infer_expr(in, n->u.in.keys.v[0], TY_LONG);
	} else {
		infer_keys(in, arr->u.name.var, &n->u.in.keys);
	}
	return is(in, n, TY_LONG, want);
}

static int child_expr(struct node **child, void *ctx)
{
	if (*child)
		infer_expr(ctx, *child, TY_LONG);
	return 0;
}

/* $x, @cast, @var and their like. */
static enum type target(struct infer *in, struct node *n, enum type want)
{
	/* The base and the indices are numbers; the family gave the type. */
	node_each_child(n, child_expr, in);
	if (n->type == TY_UNKNOWN)
		n->type = TY_LONG;
	return is(in, n, n->type, want);
}

static enum type ternary(struct infer *in, struct node *n, enum type want,
			 bool used)
{
	struct node *b = n->u.ternary.b, *c = n->u.ternary.c;
	enum type t, tb;

	infer_expr(in, n->u.ternary.a, TY_LONG);
	tb = infer_used(in, b, want, used);
	t = infer_used(in, c, tb != TY_UNKNOWN ? tb : want, used);
	if (tb == TY_UNKNOWN && t != TY_UNKNOWN)
		tb = infer_used(in, b, t, used);
	n->type = tb != TY_UNKNOWN ? tb : t;
	return n->type;
}

/* In other languages a point finds a member, or makes a fraction. */
static void concat(struct infer *in, struct node *a, struct node *b)
{
	const struct var *v = b->kind == N_NAME ? b->u.name.var : NULL;

	in->last = NULL;
	infer_expr(in, a, TY_STRING);
	if (in->report && in->last) {
		if (a->kind == N_NUM && b->kind == N_NUM)
			diag_help(in->c->diag, in->last,
				  "numbers have no fraction; . joins strings");
		else if (a->kind == N_TARGET && v && !v->is_global &&
			 !v->is_written)
			diag_help(in->c->diag, in->last,
				  "a member is %s->%s; . joins strings",
				  a->u.target.name, v->name);
	}
	infer_expr(in, b, TY_STRING);
}

/* Every kind of expression; kinds without a case have numbers as operands. */
enum type infer_used(struct infer *in, struct node *n, enum type want,
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
		infer_expr(in, n->u.unary.a, TY_LONG);
		return is(in, n, TY_LONG, want);
	case N_INCDEC:
		if (node_var(n->u.incdec.a))
			infer_variable(in, n->u.incdec.a, TY_LONG);
		return is(in, n, TY_LONG, want);
	case N_BINARY:
		return binary(in, n, want);
	case N_LOGIC:
		infer_expr(in, n->u.binary.a, TY_LONG);
		infer_expr(in, n->u.binary.b, TY_LONG);
		return is(in, n, TY_LONG, want);
	case N_CONCAT:
		concat(in, n->u.binary.a, n->u.binary.b);
		return is(in, n, TY_STRING, want);
	case N_TERNARY:
		return ternary(in, n, want, used);
	case N_ASSIGN:
		return assign(in, n, want);
	case N_IN:
		return in_array(in, n, want);
	case N_MATCH:
		infer_expr(in, n->u.match.a, TY_STRING);
		return is(in, n, TY_LONG, want);
	case N_STAT:
		infer_operand(in, n->u.stat.a);
		if (n->u.stat.param)
			infer_expr(in, n->u.stat.param, TY_LONG);
		return is(in, n, TY_LONG, want);
	case N_HIST:
		return hist(in, n, want);
	case N_HIST_AT:
		infer_operand(in, n->u.hist_at.hist->u.hist.a);
		infer_expr(in, n->u.hist_at.index, TY_LONG);
		return is(in, n, TY_LONG, want);
	case N_PRINT:
		return print_call(in, n, want, used);
	default:
		return target(in, n, want);
	}
}

enum type infer_expr(struct infer *in, struct node *n, enum type want)
{
	return infer_used(in, n, want, true);
}
