/* SPDX-License-Identifier: MIT */
/*
 * The rules that need types: what a foreach may change, where break stands,
 * the parameters of aggregates, and what is kept per aggregate.
 */
#include <assert.h>
#include <string.h>

#include "sema/effects.h"
#include "sema/sema.h"
#include "stat/cell.h"

struct check {
	struct sema *s;
	struct compile *c;
	struct all_effects *e;
	unsigned loops;         /* around the statement */
	struct var *walked[64]; /* arrays of the foreach around it */
	unsigned nwalked;
};

static void stmt(struct check *k, struct node *n);

static int child_stmt(struct node **child, void *ctx)
{
	if (*child)
		stmt(ctx, *child);
	return 0;
}

/* --- foreach -------------------------------------------------------------- */

/* The walk over an array must not meet changes of it. */
static void written(struct check *k, struct node *a)
{
	struct var *v = node_var(a);
	unsigned i;

	for (i = 0; i < k->nwalked; i++)
		if (v && k->walked[i] == v) {
			complain(k->c, FOREACH_WRITE, &a->span, v->name);
			return;
		}
}

/* A function counts by what it writes, overloads included. */
static void called(struct check *k, struct node *n)
{
	struct function *f;
	unsigned i;

	for (f = n->u.call.fn; f; f = f->overload)
		for (i = 0; i < k->nwalked; i++) {
			struct var *v = k->walked[i];

			if (!effects_bit(k->e->of[f->index].writes, v->index))
				continue;
			complain(k->c, FOREACH_CALL, &n->span, v->name);
			return;
		}
}

/*
 * The array is walked while the body runs, not while its own slice and limit
 * are evaluated: these may change it.
 */
static void foreach (struct check *k, struct node * n)
{
	struct node *arr = n->u.foreach.array;
	unsigned i, before = k->nwalked;

	for (i = 0; i < n->u.foreach.keys.n; i++)
		written(k, n->u.foreach.keys.v[i]);
	if (n->u.foreach.value)
		written(k, n->u.foreach.value);
	for (i = 0; i < n->u.foreach.slice.n; i++)
		stmt(k, n->u.foreach.slice.v[i]);
	if (n->u.foreach.limit)
		stmt(k, n->u.foreach.limit);
	stmt(k, arr);
	if (arr->kind == N_NAME && k->nwalked < 64)
		k->walked[k->nwalked++] = arr->u.name.var;
	k->loops++;
	stmt(k, n->u.foreach.body);
	k->loops--;
	k->nwalked = before;
}

/* --- aggregates ----------------------------------------------------------- */

/* NULL: infer.c has reported that it is none. */
static struct var *aggregate(struct node *a)
{
	struct var *v = node_var(a);

	return v && v->type == TY_STATS ? v : NULL;
}

/* What has to be kept in the cell: stat/cell.c adds what it implies. */
static void uses(struct var *v, enum stat_op op)
{
	v->agg.ops |= 1u << op;
}

/* One histogram per aggregate: its buckets are in the cell. */
static void hist(struct check *k, struct node *n)
{
	struct var *v = aggregate(n->u.hist.a);
	int64_t max = k->c->set.limit[LIMIT_STP_MAX_BUCKETS];
	struct diag *d;

	if (n->u.hist.kind == HIST_LINEAR) {
		if (!n->u.hist.step) {
			complain(k->c, HIST_INTERVAL, &n->span);
			return;
		}
		if (!cell_linear_buckets(n->u.hist.lo, n->u.hist.hi,
					 n->u.hist.step, (uint32_t)max)) {
			d = complain(k->c, HIST_BUCKETS, &n->span,
				     (int)max - 2);
			diag_help(k->c->diag, d,
				  "Number_of_buckets = (stop - start) / "
				  "interval; please adjust your start, stop, "
				  "and interval values%s",
				  n->u.hist.step < 0 ?
				  ": the interval must be positive" : "");
			return;
		}
	}
	if (!v)
		return;
	if (v->agg.hist == HIST_NONE) {
		v->agg.hist = n->u.hist.kind;
		v->agg.lo = n->u.hist.lo;
		v->agg.hi = n->u.hist.hi;
		v->agg.step = n->u.hist.step;
		v->agg.hist_at = n->span;
	} else if (v->agg.hist != n->u.hist.kind || v->agg.lo != n->u.hist.lo ||
		   v->agg.hi != n->u.hist.hi || v->agg.step != n->u.hist.step) {
		d = complain(k->c, HIST_CONFLICT, &n->span,
			     arena_printf(k->c->a, "__global_%s", v->name));
		diag_note(k->c->diag, d, &v->agg.hist_at,
			  "the histogram was first declared here");
	}
}

/* @variance(x, shift): a property of the aggregate; 0 yields to another. */
static void shift(struct check *k, struct node *n, struct var *v)
{
	struct node *p = n->u.stat.param;
	int64_t bits = p ? p->u.num : 0;
	unsigned old = v->agg.shift;

	if (bits < 0 || bits > 62) {
		complain(k->c, SHIFT_RANGE, &n->span, (long long)bits);
		return;
	}
	if (old && old != (unsigned)bits) {
		complain(k->c, SHIFT_CONFLICT, &n->span, (long long)old);
		return;
	}
	v->agg.shift = (unsigned)bits;
}

/*
 * p percent becomes parts per million. The parser gives "p of d" as a BINARY
 * node without an operator.
 */
static void quantile(struct check *k, struct node *p, const struct span *at)
{
	int64_t v, whole = 100;

	if (p->kind == N_BINARY && p->u.binary.op == OPER_NONE &&
	    p->u.binary.a->kind == N_NUM && p->u.binary.b->kind == N_NUM) {
		v = p->u.binary.a->u.num;
		whole = p->u.binary.b->u.num;
	} else if (p->kind == N_NUM) {
		v = p->u.num;
	} else {
		complain(k->c, STAT_PARAM, &p->span,
			 stat_op_name(STAT_QUANTILE));
		return;
	}
	p->kind = N_NUM;
	p->type = TY_LONG;
	p->u.num = 0;
	/* parts of a million are the finest */
	if (whole <= 0 || whole > 1000000 || v < 0 || v > whole)
		complain(k->c, QUANTILE_RANGE, at, (long long)v,
			 (long long)whole);
	else
		p->u.num = v * 1000000 / whole;
}

static void extractor(struct check *k, struct node *n)
{
	struct var *v = aggregate(n->u.stat.a);
	struct node *p = n->u.stat.param;

	if (v)
		uses(v, n->u.stat.op);
	if (n->u.stat.op == STAT_VARIANCE && v)
		shift(k, n, v);
	if (n->u.stat.op == STAT_QUANTILE && p)
		quantile(k, p, &n->span);
}

/* foreach (k in a-) of aggregates goes by @count, as in the reference. An
 * operator that only sorts has to be kept in the cells, too. */
static void sort_order(struct check *k, struct node *n)
{
	struct node *arr = n->u.foreach.array;
	struct node *p = n->u.foreach.sort_param;
	struct var *v = arr->kind == N_NAME ? aggregate(arr) : NULL;

	if (!v || !n->u.foreach.sort_dir || n->u.foreach.sort_key)
		return;
	if (!n->u.foreach.sort_by_stat) {
		n->u.foreach.sort_by_stat = true;
		n->u.foreach.sort_op = STAT_COUNT;
	}
	uses(v, n->u.foreach.sort_op);
	if (n->u.foreach.sort_op == STAT_QUANTILE && p)
		quantile(k, p, &arr->span);
}

/* --- everything else ------------------------------------------------------ */

static void in_loop(struct check *k, struct node *n, const char *what)
{
	if (!k->loops)
		complain(k->c, NOT_IN_LOOP, &n->span, what);
}

/* Registers are read at places that must be known when the program is made. */
static void builtin_call(struct check *k, struct node *n)
{
	const struct builtin *b = n->u.call.builtin;
	unsigned i;

	if (!b || !(b->flags & BF_REGS) || sema_source_of(&n->span)->is_library)
		return;
	for (i = 0; i < n->u.call.args.n; i++)
		if (n->u.call.args.v[i]->kind != N_NUM &&
		    n->u.call.args.v[i]->kind != N_STR)
			complain(k->c, BUILTIN_LITERAL,
				 &n->u.call.args.v[i]->span, i + 1, b->name);
}

static void stmt(struct check *k, struct node *n)
{
	switch (n->kind) {
	case N_FOREACH:
		sort_order(k, n);
		foreach (k, n)
			;
		return;
	case N_FOR:
		if (n->u.loop.init)
			stmt(k, n->u.loop.init);
		if (n->u.loop.cond)
			stmt(k, n->u.loop.cond);
		if (n->u.loop.step)
			stmt(k, n->u.loop.step);
		k->loops++;
		stmt(k, n->u.loop.body);
		k->loops--;
		return;
	case N_ASSIGN:
		written(k, n->u.binary.a);
		break;
	case N_INCDEC:
		written(k, n->u.incdec.a);
		break;
	case N_DELETE:
		written(k, n->u.unary.a);
		break;
	case N_CALL:
		called(k, n);
		builtin_call(k, n);
		break;
	case N_BREAK:
		in_loop(k, n, "break");
		break;
	case N_CONTINUE:
		in_loop(k, n, "continue");
		break;
	case N_STAT:
		extractor(k, n);
		break;
	case N_HIST:
		hist(k, n);
		break;
	default:
		break;
	}
	node_each_child(n, child_stmt, k);
}

/* After this var.agg.ops is complete but for autoprint's. */
void check_program(struct sema *s)
{
	struct check k = {.s = s, .c = s->c};
	struct program *p = s->p;
	unsigned i;

	k.e = effects_make(s->c->a, p, false);
	for (i = 0; i < p->functions.n; i++)
		stmt(&k, p->functions.v[i]->body);
	for (i = 0; i < p->probes.n; i++) {
		if (p->probes.v[i]->cond)
			stmt(&k, p->probes.v[i]->cond);
		stmt(&k, p->probes.v[i]->body);
	}
}
