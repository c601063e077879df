/* SPDX-License-Identifier: MIT */
/*
 * Effects of expressions, statements and functions. All of it errs on one side:
 * what might be read, written or fail does. Functions are taken together with
 * what they call, by rounds that end when no set grows any more; the sets are
 * bits by var.index, so they can grow only so often.
 */
#include "sema/effects.h"

#include <string.h>

#include "base/arena.h"
#include "sema/builtin.h"
#include "sema/sema.h"

/* A walk that adds to one struct effects. */
struct collect {
	const struct all_effects *e;
	struct effects *into;
	bool changed;
};

/* Locals are nobody else's business. */
static void set_bit(struct collect *k, uint64_t *set, const struct var *v)
{
	uint64_t bit;

	if (!v || !v->is_global)
		return;
	bit = 1ull << (v->index % 64);
	if (set[v->index / 64] & bit)
		return;
	set[v->index / 64] |= bit;
	k->changed = true;
}

/* Something that is noticed outside: output, exit(), a system call. */
static void act(struct collect *k)
{
	k->changed |= !k->into->acts;
	k->into->acts = true;
}

/* May raise a run-time error, which ends the handler: code that can must stay,
 * though nobody uses its value. */
static void fail(struct collect *k)
{
	k->changed |= !k->into->fails;
	k->into->fails = true;
}

/* Division or remainder by what is perhaps 0. */
static bool divides(const struct node *n)
{
	const struct node *by = n->u.binary.b;

	if (n->u.binary.op != OPER_DIV && n->u.binary.op != OPER_MOD)
		return false;
	return by->kind != N_NUM || !by->u.num;
}

/* A built-in that fails on its operands; the others with BF_FAIL read memory
 * or are effects anyway. */
static bool may_refuse(const struct builtin *b)
{
	return (b->flags & (BF_FAIL | BF_CTX)) == BF_FAIL;
}

/* @count and @sum of nothing are 0, the others an error. */
static bool wants_samples(const struct node *n)
{
	return n->kind == N_HIST_AT || (n->u.stat.op != STAT_COUNT &&
					n->u.stat.op != STAT_SUM);
}

/* What a call may do: the union over its overloads. */
static void add_function(struct collect *k, const struct function *f)
{
	const struct effects *from;
	unsigned i;

	for (; f; f = f->overload) {
		from = &k->e->of[f->index];
		for (i = 0; i < k->e->words; i++) {
			uint64_t r = k->into->reads[i] | from->reads[i];
			uint64_t w = k->into->writes[i] | from->writes[i];

			k->changed |=
			    r != k->into->reads[i] || w != k->into->writes[i];
			k->into->reads[i] = r;
			k->into->writes[i] = w;
		}
		if (from->acts)
			act(k);
		/* The last one has nothing to go on to. */
		if (from->fails || (from->nexts && !f->overload))
			fail(k);
	}
}

static void collect(struct collect *k, struct node *n);

static int child(struct node **c, void *ctx)
{
	if (*c)
		collect(ctx, *c);
	return 0;
}

/* A left side: written, not read. Its keys are evaluated. */
static void written(struct collect *k, struct node *a)
{
	set_bit(k, k->into->writes, node_var(a));
	if (a->kind == N_INDEX)
		node_each_child(a, child, k);
	else if (a->kind != N_NAME)
		collect(k, a);
}

static void collect_call(struct collect *k, struct node *n)
{
	const struct builtin *b = n->u.call.builtin;

	if (n->u.call.fn)
		add_function(k, n->u.call.fn);
	if (b && (b->flags & BF_EFFECT))
		act(k);
	if (b && may_refuse(b))
		fail(k);
}

/* Keys and value are assigned to in each round; they may be globals. */
static void collect_foreach(struct collect *k, struct node *n)
{
	unsigned i;

	for (i = 0; i < n->u.foreach.keys.n; i++)
		written(k, n->u.foreach.keys.v[i]);
	if (n->u.foreach.value)
		written(k, n->u.foreach.value);
	for (i = 0; i < n->u.foreach.slice.n; i++)
		collect(k, n->u.foreach.slice.v[i]);
	collect(k, n->u.foreach.array);
	if (n->u.foreach.limit)
		collect(k, n->u.foreach.limit);
	collect(k, n->u.foreach.body);
}

/* Everything that is evaluated, whatever the conditions. */
static void collect(struct collect *k, struct node *n)
{
	switch (n->kind) {
	case N_NAME:
		set_bit(k, k->into->reads, n->u.name.var);
		return;
	case N_INDEX:
		set_bit(k, k->into->reads, n->u.index.var);
		break;
	case N_CALL:
		collect_call(k, n);
		break;
	case N_ASSIGN:
		written(k, n->u.binary.a);
		if (n->u.binary.op != OPER_SET && n->u.binary.op != OPER_FEED)
			set_bit(k, k->into->reads, node_var(n->u.binary.a));
		if (divides(n))
			fail(k);
		collect(k, n->u.binary.b);
		return;
	case N_INCDEC:
		written(k, n->u.incdec.a);
		set_bit(k, k->into->reads, node_var(n->u.incdec.a));
		return;
	case N_DELETE:
		written(k, n->u.unary.a);
		return;
	case N_FOREACH:
		collect_foreach(k, n);
		return;
	case N_PRINT:
		if (!n->u.print.to_string)
			act(k);
		break;
	case N_BINARY:
		if (divides(n))
			fail(k);
		break;
	case N_STAT:
	case N_HIST_AT:
		if (wants_samples(n))
			fail(k);
		break;
	case N_NEXT:
		k->changed |= !k->into->nexts;
		k->into->nexts = true;
		break;
	case N_MATCH:
		if (k->e->has_matched)
			act(k);
		break;
	case N_TRY:
		if (n->u.try.name)
			written(k, n->u.try.name);
		break;
	default:
		break;
	}
	node_each_child(n, child, k);
}

/* --- aggregates read raw ------------------------------------------------- */

/* <<< and the operators tell aggregates, before types are known. */
static void note_stats(struct node *n, void *ctx)
{
	struct node *a = NULL;

	(void)ctx;
	if (n->kind == N_ASSIGN && n->u.binary.op == OPER_FEED)
		a = n->u.binary.a;
	else if (n->kind == N_STAT)
		a = n->u.stat.a;
	else if (n->kind == N_HIST)
		a = n->u.hist.a;
	if (a && node_var(a))
		node_var(a)->is_stats |= node_var(a)->is_global;
}

/* True when an aggregate stands where a value is wanted. */
static bool raw(struct node *n);

static int raw_child(struct node **c, void *ctx)
{
	(void)ctx;
	return *c && raw(*c);
}

/* What may name an aggregate: only its keys are evaluated. */
static bool raw_operand(struct node *a)
{
	if (a->kind == N_NAME)
		return false;
	if (a->kind == N_INDEX)
		return node_each_child(a, raw_child, NULL);
	return raw(a);
}

static bool raw(struct node *n)
{
	unsigned i;

	switch (n->kind) {
	case N_NAME:
		return n->u.name.var && n->u.name.var->is_stats;
	case N_INDEX:
		if (n->u.index.var && n->u.index.var->is_stats)
			return true;
		break;
	case N_STAT:
		return raw_operand(n->u.stat.a) ||
		       (n->u.stat.param && raw(n->u.stat.param));
	case N_HIST:
		return raw_operand(n->u.hist.a);
	case N_DELETE:
		return raw_operand(n->u.unary.a);
	case N_IN:
		for (i = 0; i < n->u.in.keys.n; i++)
			if (raw(n->u.in.keys.v[i]))
				return true;
		return raw_operand(n->u.in.array);
	case N_ASSIGN:
		if (n->u.binary.op == OPER_FEED)
			return raw_operand(n->u.binary.a) ||
			       raw(n->u.binary.b);
		break;
	case N_FOREACH:
		/* A value of an aggregate is what inference refuses. */
		return raw(n->u.foreach.body);
	default:
		break;
	}
	return node_each_child(n, raw_child, NULL);
}

bool effects_raw(struct node *n)
{
	return raw(n);
}

static void note_all_stats(struct program *p)
{
	unsigned i;

	for (i = 0; i < p->functions.n; i++)
		walk_nodes(p->functions.v[i]->body, note_stats, NULL);
	for (i = 0; i < p->probes.n; i++)
		walk_nodes(p->probes.v[i]->body, note_stats, NULL);
}

/*
 * Rounds until nothing grows: functions may call each other in circles. From
 * the last one on, since callees tend to come later.
 */
struct all_effects *effects_make(struct arena *a, struct program *p,
				 bool has_matched)
{
	struct all_effects *e = arena_new_of(a, struct all_effects);
	struct collect k = {.e = e, .changed = true};
	unsigned i;

	note_all_stats(p);
	e->has_matched = has_matched;
	e->words = p->globals.n / 64 + 1;
	e->of = arena_array(a, struct effects, p->functions.n + 1);
	for (i = 0; i < p->functions.n; i++) {
		e->of[i].reads = arena_array(a, uint64_t, e->words);
		e->of[i].writes = arena_array(a, uint64_t, e->words);
		/* a mistake in it must be reported: keep its calls */
		e->of[i].acts = raw(p->functions.v[i]->body);
	}
	while (k.changed) {
		k.changed = false;
		for (i = p->functions.n; i-- > 0;) {
			k.into = &e->of[i];
			collect(&k, p->functions.v[i]->body);
		}
	}
	return e;
}

/* --- can it be noticed ---------------------------------------------------- */

static bool any(const struct all_effects *e, struct node *n);

struct any_ctx {
	const struct all_effects *e;
};

static int any_child(struct node **c, void *ctx)
{
	struct any_ctx *a = ctx;

	return *c && any(a->e, *c);
}

static bool function_acts(const struct all_effects *e, const struct function *f)
{
	unsigned i;

	for (; f; f = f->overload) {
		if (e->of[f->index].acts || e->of[f->index].fails ||
		    (e->of[f->index].nexts && !f->overload))
			return true;
		for (i = 0; i < e->words; i++)
			if (e->of[f->index].writes[i])
				return true;
	}
	return false;
}

bool effects_fails(const struct node *n)
{
	switch (n->kind) {
	case N_BINARY:
	case N_ASSIGN:
		return divides(n) && !sema_in_library(n);
	case N_STAT:
	case N_HIST_AT:
		return wants_samples(n) && !sema_in_library(n);
	case N_CALL:
		return n->u.call.builtin && may_refuse(n->u.call.builtin) &&
		       !sema_in_library(n);
	default:
		return false;
	}
}

static bool any(const struct all_effects *e, struct node *n)
{
	struct any_ctx ctx = {e};

	if (effects_fails(n))
		return true;
	switch (n->kind) {
	case N_ASSIGN:
	case N_INCDEC:
	case N_DELETE:
	case N_FOREACH:
	case N_RETURN:
	case N_NEXT:
	case N_BREAK:
	case N_CONTINUE:
		return true;
	case N_CALL:
		if (n->u.call.fn && function_acts(e, n->u.call.fn))
			return true;
		if (n->u.call.builtin && (n->u.call.builtin->flags & BF_EFFECT))
			return true;
		break;
	case N_PRINT:
		if (!n->u.print.to_string)
			return true; /* each =~ sets what matched() returns */
		break;
	case N_MATCH:
		if (e->has_matched)
			return true;
		break;
	default:
		break;
	}
	return node_each_child(n, any_child, &ctx);
}

bool effects_any(const struct all_effects *e, struct node *n)
{
	return any(e, n) || raw(n);
}
