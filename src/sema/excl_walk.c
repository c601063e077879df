/* SPDX-License-Identifier: MIT */
/*
 * Each handler's accesses to globals, in the order in which they are made and
 * through the functions it calls.
 *
 * Two things are collected at once. The list of accesses, whatever the
 * conditions, is for rule 2: may they be put in any order? The path is for rule
 * 3: how many accesses to globals that are not quiet follow each other at
 * worst. Which are quiet is known after the first walk only, so the second
 * counts. Neither has to be exact; both may only err towards a lock: a loop
 * counts as two rounds, a branch as its worse side, a try as its block and its
 * catcher.
 */
#include "sema/excl.h"

#include <string.h>

static void walk(struct excl *x, struct node *n);

static int walk_child(struct node **child, void *ctx)
{
	if (*child)
		walk(ctx, *child);
	return 0;
}

/* --- going on on the host ------------------------------------------------- */

/* Text that may be too long for the kernel, or has a conversion it has not. */
static bool long_text(const struct fmt *f)
{
	unsigned i, strings = 0;

	for (i = 0; i < f->parts.n; i++) {
		const struct fmt_part *p = &f->parts.v[i];

		if (!p->conv)
			continue;
		if (p->width_arg || p->prec_arg || p->width > 20 ||
		    p->prec > 20 || !strchr("diuxXosc", p->conv))
			return true;
		strings += p->conv == 's';
	}
	return strings > 1;
}

/*
 * May a handler in the kernel go on on the host with this? ir/opt_split.c
 * decides, much later: what it sends there has to be here, the rest may be.
 * The thread that hit the probe runs on meanwhile, and hits others.
 */
static bool goes_on(const struct excl *x, const struct node *n)
{
	const struct var *v;

	switch (n->kind) {
	case N_CALL:
		if (!n->u.call.builtin)
			return false;
		switch (n->u.call.builtin->id) {
		case BI_STRTOL:
		case BI_ISINSTR:
		case BI_STRPOS:
			return true;
		default:
			return n->u.call.builtin->flags & BF_HOST;
		}
	case N_STAT:
		v = node_var(n->u.stat.a);
		return !v || v->mode != AGG_LIVE ||
		       (n->u.stat.op != STAT_COUNT &&
			n->u.stat.op != STAT_SUM && n->u.stat.op != STAT_MIN &&
			n->u.stat.op != STAT_MAX && n->u.stat.op != STAT_AVG);
	case N_PRINT:
		return n->u.print.to_string && long_text(&n->u.print.fmt);
	case N_DELETE:
		v = node_var(n->u.unary.a);
		return v && v->is_global &&
		       ((v->type == TY_STATS && v->mode != AGG_LIVE) ||
			(v->arity > 0 && n->u.unary.a->kind == N_NAME));
	case N_IN:
		v = node_var(n->u.in.array);
		return !v || (v->type == TY_STATS && v->mode != AGG_LIVE);
	case N_HIST:
	case N_MATCH:
	case N_FOREACH:
	case N_WILD:
		return true;
	case N_FOR: /* loops in loops */
		return x->loops > 0;
	default:
		return false;
	}
}

static void find_going(struct node *n, void *ctx)
{
	struct excl *x = ctx;
	const struct function *f;

	x->gone |= goes_on(x, n);
	for (f = n->kind == N_CALL ? n->u.call.fn : NULL; f; f = f->overload)
		x->gone |= !x->fn[f->index].known || x->fn[f->index].gone;
}

/* --- accesses ------------------------------------------------------------- */

/*
 * One access per global, kind, deletion and key: enough for the rules. Whether
 * it is there is seen at once: a handler that calls big functions often would
 * need gigabytes for the rest.
 */
static void add_access(struct excl *x, const struct access_at *at)
{
	struct latest *l = &x->latest[at->v->index];
	struct access_at a = *at;
	unsigned i;

	if (l->walk != x->walks)
		*l = (struct latest){x->walks, 0};
	for (i = l->at; i; i = x->all->v[i - 1].same) {
		const struct access_at *b = &x->all->v[i - 1];

		if (b->kind == a.kind && b->deletes == a.deletes &&
		    b->tids == a.tids)
			return;
	}
	a.same = l->at;
	vec_push(x->c->a, x->all, a);
	l->at = x->all->n;
}

/* Second walk: does this access count, and how much? */
static void count(struct excl *x, const struct access_at *at)
{
	const struct facts *f = &x->f[at->v->index];
	/* between two steps others can come */
	unsigned n = at->torn || !at->once ? 2 : 1;
	bool second = !x->path.second;
	struct access_at *a;

	if (f->quiet)
		return;
	/* An element may become another key's while it is at hand. */
	if (f->deleted && (at->v->arity > 0 || at->v->type == TY_STATS))
		n = 2;
	second = second && (n > 1 || x->path.n == 1);
	if (!x->path.n || second) {
		a = arena_new_of(x->c->a, struct access_at);
		*a = *at;
		if (!x->path.n)
			x->path.first = a;
		if (second)
			x->path.second = a;
	}
	x->path.n += n;
}

/*
 * Notes an access. What needs several steps is torn: a string (in words), a
 * walk over an array, an element that first pushes out another.
 */
static void access(struct excl *x, struct var *v, enum access_kind kind,
		   const struct node *at, bool deletes)
{
	struct access_at a = {
	    .v = v, .kind = kind, .span = at->span, .deletes = deletes};

	if (!v || !v->is_global)
		return;
	/* On the host it is the tid() of a thread that does something else. */
	a.tids = x->gone ? 0 : excl_tid_keys(x, at);
	a.once = !x->loops;
	a.torn = kind == AC_WALK || (v->type == TY_STRING) ||
		 (v->wrap && v->type != TY_STATS);
	/* A count only grows: summing it over CPUs gives a value it had. */
	if (kind == AC_STAT && v->mode == AGG_LIVE)
		a.torn = !x->is_count;
	add_access(x, &a);
	if (x->pass_two)
		count(x, &a);
}

static void touch(struct excl *x, struct var *v, enum access_kind kind,
		  const struct node *at)
{
	access(x, v, kind, at, false);
}

/* Keys are evaluated before the element is touched. */
static void keys(struct excl *x, struct node *a)
{
	if (a->kind == N_INDEX)
		node_each_child(a, walk_child, x);
}

/*
 * Additions to one word are single instructions; other changes are a load and a
 * store.
 */
static bool adds(enum oper op)
{
	return op == OPER_ADD || op == OPER_SUB;
}

static void assign(struct excl *x, struct node *n, bool used)
{
	struct node *a = n->u.binary.a;
	enum oper op = n->u.binary.op;
	struct var *v = node_var(a);

	keys(x, a);
	walk(x, n->u.binary.b);
	if (op == OPER_FEED) {
		touch(x, v, AC_FEED, a);
	} else if (op == OPER_SET) {
		touch(x, v, AC_SET, a);
	} else if (adds(op)) {
		touch(x, v, used ? AC_XADD : AC_ADD, a);
	} else {
		touch(x, v, AC_READ, a);
		touch(x, v, AC_SET, a);
	}
}

/* For an aggregate, deleting changes what others read or feed. */
static void delete (struct excl *x, struct node *a)
{
	struct var *v = node_var(a);
	bool wild = v && a->kind == N_NAME && v->arity > 0;
	unsigned i;

	keys(x, a);
	for (i = 0; a->kind == N_INDEX && i < a->u.index.keys.n; i++)
		wild |= a->u.index.keys.v[i]->kind == N_WILD;
	if (v && v->is_global && v->type == TY_STATS)
		access(x, v, AC_STAT, a, true);
	else
		access(x, v, wild ? AC_WALK : AC_SET, a, v && v->arity > 0);
}

static void in(struct excl *x, struct node *n)
{
	struct var *v = node_var(n->u.in.array);
	bool wild = false;
	unsigned i;

	for (i = 0; i < n->u.in.keys.n; i++) {
		walk(x, n->u.in.keys.v[i]);
		wild |= n->u.in.keys.v[i]->kind == N_WILD;
	}
	if (v && v->type == TY_STATS)
		touch(x, v, AC_STAT, n);
	else if (v)
		touch(x, v, wild ? AC_WALK : AC_READ, n);
	else
		walk(x, n->u.in.array);
}

/* --- control flow --------------------------------------------------------- */

/* Keeps the path that meets more globals. Only whether it is more than one
 * matters; the places are for the reason that is printed. */
static void worse(struct path *a, const struct path *b)
{
	if (b->n > a->n)
		*a = *b;
}

/* Both lists of accesses count, but only one of the two paths is run. */
static void branches(struct excl *x, struct node *then, struct node *other)
{
	struct path before = x->path, one;
	unsigned assigned = x->assigned.n;
	bool gone = x->gone, gone_then;

	if (then)
		walk(x, then);
	gone_then = x->gone;
	x->gone = gone;
	one = x->path;
	x->path = before;
	x->assigned.n = assigned;
	if (other)
		walk(x, other);
	worse(&x->path, &one);
	x->assigned.n = assigned;
	x->gone |= gone_then;
}

/* The block may end anywhere, and what catches goes on from there. */
static void try(struct excl *x, struct node *n)
{
	unsigned assigned = x->assigned.n;

	walk(x, n->u.try.body);
	x->assigned.n = assigned;
	if (n->u.try.name)
		touch(x, node_var(n->u.try.name), AC_SET, n->u.try.name);
	walk(x, n->u.try.catcher);
	x->assigned.n = assigned;
}

/* What is in a loop is met any number of times: at least twice. */
static void loop(struct excl *x, struct node *n)
{
	unsigned assigned;

	if (n->u.loop.init)
		walk(x, n->u.loop.init);
	x->loops++;
	/* What the first round does is there in the second. */
	walk_nodes(n->u.loop.body, find_going, x);
	if (n->u.loop.cond)
		walk_nodes(n->u.loop.cond, find_going, x);
	if (n->u.loop.step)
		walk_nodes(n->u.loop.step, find_going, x);
	if (n->u.loop.cond)
		walk(x, n->u.loop.cond);
	/* perhaps not run, or left by break or continue */
	assigned = x->assigned.n;
	walk(x, n->u.loop.body);
	x->assigned.n = assigned;
	if (n->u.loop.step)
		walk(x, n->u.loop.step);
	x->assigned.n = assigned;
	x->loops--;
}

static void foreach (struct excl *x, struct node * n)
{
	struct node *arr = n->u.foreach.array;
	struct var *v = node_var(arr);
	unsigned i, assigned;

	for (i = 0; i < n->u.foreach.slice.n; i++)
		walk(x, n->u.foreach.slice.v[i]);
	if (n->u.foreach.limit)
		walk(x, n->u.foreach.limit);
	if (arr->kind == N_HIST)
		walk(x, arr);
	else
		touch(x, v, v && v->type == TY_STATS ? AC_STAT : AC_WALK, arr);
	x->loops++;
	for (i = 0; i < n->u.foreach.keys.n; i++)
		touch(x, node_var(n->u.foreach.keys.v[i]), AC_SET,
		      n->u.foreach.keys.v[i]);
	if (n->u.foreach.value)
		touch(x, node_var(n->u.foreach.value), AC_SET,
		      n->u.foreach.value);
	assigned = x->assigned.n;
	walk(x, n->u.foreach.body);
	x->assigned.n = assigned;
	x->loops--;
}

/* A function of a circle, seen from within it: all it may do, many times. */
static void call_unknown(struct excl *x, const struct function *f,
			 const struct node *at)
{
	const struct effects *e = &x->effects->of[f->index];
	unsigned i;

	x->gone = true;
	for (i = 0; i < x->p->globals.n; i++) {
		struct access_at a = {
		    .v = x->p->globals.v[i], .span = at->span, .torn = true};

		if (effects_bit(e->writes, i))
			a.kind = AC_SET;
		else if (effects_bit(e->reads, i))
			a.kind = AC_READ;
		else
			continue;
		a.deletes = a.kind == AC_SET && a.v->arity > 0;
		add_access(x, &a);
		if (x->pass_two)
			count(x, &a);
	}
}

/* The summary's path is appended to the one so far. */
static void call_known(struct excl *x, const struct summary *s)
{
	struct path *p = &x->path;
	unsigned i, n = s->path.n;

	for (i = 0; i < s->all.n; i++) {
		struct access_at a = s->all.v[i];

		if (x->gone)
			a.tids = 0;
		add_access(x, &a);
	}
	x->gone |= s->gone;
	if (n && x->loops)
		n = 2;
	if (!p->first)
		p->first = s->path.first;
	if (!p->second && (p->n || n > 1))
		p->second = p->n ? s->path.first : s->path.second;
	p->n += n;
}

static void call(struct excl *x, struct node *n)
{
	struct function *f;

	node_each_child(n, walk_child, x);
	/* any of the overloads may be the one */
	for (f = n->u.call.fn; f; f = f->overload)
		if (x->fn[f->index].known)
			call_known(x, &x->fn[f->index]);
		else
			call_unknown(x, f, n);
}

static void walk(struct excl *x, struct node *n)
{
	struct var *v = node_var(n);
	struct node *a;

	x->gone |= goes_on(x, n);
	switch (n->kind) {
	case N_NAME:
	case N_INDEX:
		keys(x, n);
		touch(x, v, v && v->type == TY_STATS ? AC_STAT : AC_READ, n);
		return;
	case N_EXPR:
		a = n->u.unary.a;
		if (a->kind == N_ASSIGN) {
			assign(x, a, false);
			v = node_var(a->u.binary.a);
			if (v)
				vec_push(x->c->a, &x->assigned, v);
		} else if (a->kind == N_INCDEC) {
			keys(x, a->u.incdec.a);
			touch(x, node_var(a->u.incdec.a), AC_ADD,
			      a->u.incdec.a);
		} else {
			walk(x, a);
		}
		return;
	case N_ASSIGN:
		assign(x, n, true);
		return;
	case N_INCDEC:
		keys(x, n->u.incdec.a);
		touch(x, node_var(n->u.incdec.a), AC_XADD, n->u.incdec.a);
		return;
	case N_DELETE:
		delete (x, n->u.unary.a);
		return;
	case N_IN:
		in(x, n);
		return;
	case N_STAT:
		a = n->u.stat.a;
		keys(x, a);
		x->is_count = n->u.stat.op == STAT_COUNT;
		touch(x, node_var(a), AC_STAT, a);
		x->is_count = false;
		return;
	case N_IF:
	case N_TERNARY:
		walk(x, n->u.ternary.a);
		branches(x, n->u.ternary.b, n->u.ternary.c);
		return;
	case N_LOGIC: /* the right side may be left out */
		walk(x, n->u.binary.a);
		branches(x, n->u.binary.b, NULL);
		return;
	case N_FOR:
		loop(x, n);
		return;
	case N_TRY:
		try(x, n);
		return;
	case N_FOREACH:
		foreach (x, n)
			;
		return;
	case N_CALL:
		call(x, n);
		return;
	default:
		node_each_child(n, walk_child, x);
		return;
	}
}

/* Empties the list: the second pass makes it again. */
static void walk_start(struct excl *x, access_list *all)
{
	x->all = all;
	x->walks++;
	x->loops = 0;
	x->gone = false;
	x->assigned.n = 0;
	all->n = 0;
	memset(&x->path, 0, sizeof(x->path));
}

/* Functions once, callees first, then each handler. */
void excl_walk_all(struct excl *x)
{
	unsigned i;

	for (i = 0; i < x->p->functions.n; i++)
		x->fn[i].known = false;
	for (i = 0; i < x->order.n; i++) {
		unsigned f = x->order.v[i];

		walk_start(x, &x->fn[f].all);
		walk(x, x->p->functions.v[f]->body);
		x->fn[f].path = x->path;
		x->fn[f].gone = x->gone;
		/* those of circles stay unknown to each other */
		x->fn[f].known = i < x->order.n - x->order.ncircle;
	}
	for (i = 0; i < x->p->probes.n; i++) {
		struct handler *h = &x->h[i];

		walk_start(x, &h->all);
		/* its own system calls are hit, between any two steps */
		x->gone = h->on_host;
		if (h->p->cond)
			walk(x, h->p->cond);
		walk(x, h->p->body);
		h->most = x->path.n;
		h->first = x->path.first;
		h->second = x->path.second;
	}
}
