/* SPDX-License-Identifier: MIT */
/*
 * Collects each handler's accesses to globals, in the order they are made and
 * through the functions it calls, and applies the rules of exclusion.h.
 */
#include "sema/exclusion.h"

#include <string.h>

#include "sema/agg_mode.h"
#include "sema/calls.h"
#include "sema/effects.h"
#include "sema/sema.h"

enum kind {
	AC_READ, /* a number, or whether an element exists */
	AC_ADD,  /* atomic, old value not used */
	AC_XADD, /* atomic, old value used */
	AC_SET,  /* also delete */
	AC_FEED,
	AC_STAT, /* extract, print, delete an aggregate */
	AC_WALK, /* foreach, wildcards, delete of a whole array */
	AC_KINDS
};

static const char *const kind_text[AC_KINDS] = {
    "reads", "adds to", "changes", "sets", "feeds", "reads", "walks",
};

/* One access to one global. */
struct access_at {
	struct var *v;
	enum kind kind;
	bool by_tid;   /* its key holds tid() where all others do too */
	unsigned tids; /* bit n: key n is tid() */
	bool deletes;  /* removes an element */
	bool torn;     /* takes several steps */
	bool once;     /* false: in a loop */
	struct span span;
};
typedef VEC(struct access_at) access_list;

/*
 * How often a path through the handler meets globals that are not quiet. More
 * than one such meeting, and others could come between: the handler needs a
 * lock.
 */
struct path {
	unsigned n;
	const struct access_at *first, *second;
};

/*
 * What is found out about one probe; most, first, second are of its worst path.
 */
struct handler {
	struct probe *p;
	bool runs; /* together with others */
	bool on_host;
	access_list all;
	unsigned most; /* accesses to globals that are not quiet */
	const struct access_at *first, *second;
};

/* What is found out about one global, by var.index. */
struct facts {
	bool quiet;
	bool banked; /* an aggregate that only the host reads */
	unsigned tids; /* keys that are tid() in every access */
	bool has_key;  /* accessed by key at all */
	bool deleted;  /* elements go away while handlers run */
	bool locked;
	bool written;   /* by a handler that runs together with others */
	unsigned group; /* union-find parent, then group number */
	/* the first that needs the lock: for -v */
	const struct handler *because;
};

/* What a call of a function comes to. */
struct summary {
	bool known; /* false while a circle of calls is walked */
	access_list all;
	struct path path;
};

struct excl {
	struct compile *c;
	struct program *p;
	struct handler *h; /* by probe.index */
	struct facts *f; /* by var.index */
	struct summary *fn; /* by function.index */
	struct call_order order;
	struct all_effects *effects;
	/*
	 * The walk. The first pass finds all accesses, from which judge_all()
	 * says which globals are quiet; the second counts the accesses to the
	 * others.
	 */
	bool pass_two;
	bool is_count; /* the aggregate at hand is read by @count */
	unsigned loops;
	access_list *all; /* of the function or handler that is walked */
	struct path path;
	/* local -> itself: only ever tid(); -> the struct excl: not */
	struct map *tid_locals;
};

static void walk(struct excl *x, struct node *n);

static int walk_child(struct node **child, void *ctx)
{
	if (*child)
		walk(ctx, *child);
	return 0;
}

/* --- keys ----------------------------------------------------------------- */

/* A thread has its elements for itself where all keys hold its tid. */
static bool is_tid_call(const struct node *n)
{
	return n->kind == N_CALL && n->u.call.builtin &&
	       n->u.call.builtin->id == BI_TID;
}

/* tid(), or a local that is only ever assigned tid(). */
static bool is_tid(struct excl *x, const struct node *n)
{
	const struct var *v;

	if (is_tid_call(n))
		return true;
	v = n->kind == N_NAME ? n->u.name.var : NULL;
	if (!v || v->is_global || v->is_param)
		return false;
	return map_get_num(x->tid_locals, (uintptr_t)v) == v;
}

/* Notes locals that are assigned tid() and nothing else. */
static void note_assign(struct node *n, void *ctx)
{
	struct excl *x = ctx;
	struct var *v = NULL;
	bool tid = false;
	unsigned i;

	if (n->kind == N_ASSIGN) {
		v = node_var(n->u.binary.a);
		tid = n->u.binary.op == OPER_SET && is_tid_call(n->u.binary.b);
	} else if (n->kind == N_INCDEC) {
		v = node_var(n->u.incdec.a);
	} else if (n->kind == N_DELETE) {
		v = node_var(n->u.unary.a);
	} else if (n->kind == N_FOREACH) {
		/* a key of an array is anything */
		for (i = 0; i < n->u.foreach.keys.n; i++)
			map_set_num(x->tid_locals,
				    (uintptr_t)node_var(n->u.foreach.keys.v[i]),
				    x);
		if (n->u.foreach.value)
			v = node_var(n->u.foreach.value);
	}
	if (!v || v->is_global)
		return;
	if (!tid || map_get_num(x->tid_locals, (uintptr_t)v))
		map_set_num(x->tid_locals, (uintptr_t)v, x);
	else
		map_set_num(x->tid_locals, (uintptr_t)v, v);
}

/* Bit i: key i of the access is tid(). */
static unsigned tid_keys(struct excl *x, const struct node *n)
{
	const node_list *keys = n->kind == N_INDEX ? &n->u.index.keys
						   : &n->u.in.keys;
	unsigned i, bits = 0;

	if (n->kind != N_INDEX && n->kind != N_IN)
		return 0;
	for (i = 0; i < keys->n; i++)
		if (is_tid(x, keys->v[i]))
			bits |= 1u << i;
	return bits;
}

/* --- accesses ------------------------------------------------------------- */

/* Second walk: does this access count, and how much? The list that it is in
 * will be shortened, so a copy is kept. */
static void count(struct excl *x, const struct access_at *at)
{
	const struct facts *f = &x->f[at->v->index];
	/* between two steps others can come */
	unsigned n = at->torn || !at->once ? 2 : 1;
	struct access_at *a;

	if (f->quiet)
		return;
	a = arena_new_of(x->c->a, struct access_at);
	*a = *at;
	/* An element may become another key's while it is at hand. */
	if (f->deleted && (a->v->arity > 0 || a->v->type == TY_STATS))
		n = 2;
	if (!x->path.n)
		x->path.first = a;
	if (n > 1 || x->path.n == 1)
		if (!x->path.second)
			x->path.second = a;
	x->path.n += n;
}

/*
 * Notes an access. What needs several steps is torn: a string (in words), a
 * walk over an array, an element that first pushes out another.
 */
static void touch(struct excl *x, struct var *v, enum kind kind,
		  const struct node *at)
{
	struct access_at a = {.v = v, .kind = kind, .span = at->span};

	if (!v || !v->is_global)
		return;
	a.tids = tid_keys(x, at);
	a.once = !x->loops;
	a.torn = kind == AC_WALK || (v->type == TY_STRING) ||
		 (v->wrap && v->type != TY_STATS);
	/* A count only grows: summing it over CPUs gives a value it had. */
	if (kind == AC_STAT && v->mode == AGG_LIVE)
		a.torn = !x->is_count;
	vec_push(x->c->a, x->all, a);
	if (x->pass_two)
		count(x, &vec_last(x->all));
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
		touch(x, v, AC_STAT, a);
	else
		touch(x, v, wild ? AC_WALK : AC_SET, a);
	if (v && v->is_global && (v->arity > 0 || v->type == TY_STATS))
		vec_last(x->all).deletes = true;
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

/* Keeps the path that meets more globals. */
static void worse(struct path *a, const struct path *b)
{
	if (b->n > a->n)
		*a = *b;
}

/* Both lists of accesses count, but only one of the two paths is run. */
static void branches(struct excl *x, struct node *then, struct node *other)
{
	struct path before = x->path, one;

	if (then)
		walk(x, then);
	one = x->path;
	x->path = before;
	if (other)
		walk(x, other);
	worse(&x->path, &one);
}

/* What is in a loop is met any number of times: at least twice. */
static void loop(struct excl *x, struct node *n)
{
	if (n->u.loop.init)
		walk(x, n->u.loop.init);
	x->loops++;
	if (n->u.loop.cond)
		walk(x, n->u.loop.cond);
	walk(x, n->u.loop.body);
	if (n->u.loop.step)
		walk(x, n->u.loop.step);
	x->loops--;
}

static void foreach (struct excl *x, struct node * n)
{
	struct node *arr = n->u.foreach.array;
	struct var *v = node_var(arr);
	unsigned i;

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
	walk(x, n->u.foreach.body);
	x->loops--;
}

/* A function of a circle, seen from within it: all it may do, many times. */
static void call_unknown(struct excl *x, const struct function *f,
			 const struct node *at)
{
	const struct effects *e = &x->effects->of[f->index];
	unsigned i;

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
		vec_push(x->c->a, x->all, a);
		if (x->pass_two)
			count(x, &vec_last(x->all));
	}
}

/* The summary's path is appended to the one so far. */
static void call_known(struct excl *x, const struct summary *s)
{
	struct path *p = &x->path;
	unsigned i, n = s->path.n;

	for (i = 0; i < s->all.n; i++)
		vec_push(x->c->a, x->all, s->all.v[i]);
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

	switch (n->kind) {
	case N_NAME:
	case N_INDEX:
		keys(x, n);
		touch(x, v, v && v->type == TY_STATS ? AC_STAT : AC_READ, n);
		return;
	case N_EXPR:
		a = n->u.unary.a;
		if (a->kind == N_ASSIGN)
			assign(x, a, false);
		else if (a->kind == N_INCDEC) {
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
	x->loops = 0;
	all->n = 0;
	memset(&x->path, 0, sizeof(x->path));
}

/* One access per global, kind, deletion and key: enough for the rules. */
static void shorten(access_list *l)
{
	unsigned i, k, n = 0;

	for (i = 0; i < l->n; i++) {
		const struct access_at *a = &l->v[i];

		for (k = 0; k < n; k++)
			if (l->v[k].v == a->v && l->v[k].kind == a->kind &&
			    l->v[k].deletes == a->deletes &&
			    l->v[k].tids == a->tids)
				break;
		if (k == n)
			l->v[n++] = *a;
	}
	l->n = n;
}

/* Functions once, callees first, then each handler. */
static void walk_all(struct excl *x)
{
	unsigned i;

	for (i = 0; i < x->p->functions.n; i++)
		x->fn[i].known = false;
	for (i = 0; i < x->order.n; i++) {
		unsigned f = x->order.v[i];

		walk_start(x, &x->fn[f].all);
		walk(x, x->p->functions.v[f]->body);
		shorten(&x->fn[f].all);
		x->fn[f].path = x->path;
		/* those of circles stay unknown to each other */
		x->fn[f].known = i < x->order.n - x->order.ncircle;
	}
	for (i = 0; i < x->p->probes.n; i++) {
		struct handler *h = &x->h[i];

		walk_start(x, &h->all);
		if (h->p->cond)
			walk(x, h->p->cond);
		walk(x, h->p->body);
		shorten(&h->all);
		h->most = x->path.n;
		h->first = x->path.first;
		h->second = x->path.second;
	}
}

/* --- rules ---------------------------------------------------------------- */

/* Rule 1. */
static bool runs_with_others(const struct probe *p)
{
	if (p->place == PLACE_KERNEL)
		return true;
	if (p->place == PLACE_NEVER)
		return false;
	return p->when == WHEN_TIMER || p->when >= WHEN_FILE;
}

/* Can the two be put in either order without anybody noticing? */
static bool commute(const struct access_at *a, const struct access_at *b)
{
	if (a->kind != b->kind)
		return false;
	/* What makes an element may take another's place. */
	if (a->v->wrap && a->v->type != TY_STATS && a->kind != AC_READ &&
	    a->kind != AC_WALK)
		return false;
	return a->kind == AC_READ || a->kind == AC_ADD || a->kind == AC_FEED ||
	       ((a->kind == AC_STAT || a->kind == AC_WALK) && !a->deletes &&
		!b->deletes);
}

/*
 * Interrupts of a thread see its tid() too: perf events, and tracepoints but
 * those that only a thread comes to. A function that is probed is taken to be
 * called by threads: for an interrupt, tid() would mean nothing.
 */
bool exclusion_interrupts(const struct probe *p)
{
	/* as in the point: of a thread that knows what it does */
	static const char *const of_threads[] = {
	    "sys_enter", "sys_exit", "sched_switch", "sched_process_exec",
	    "sched_process_exit", "sched_process_fork", "signal_deliver",
	};
	const char *s, *colon;
	unsigned i;

	if (p->prog == PROG_PERF_EVENT)
		return true;
	if (!p->family || strcmp(p->family->name, "trace"))
		return false;
	s = strchr(p->pp, '"');
	if (!s)
		return false;
	colon = strchr(++s, ':');
	/* syscalls:sys_enter_read and the like */
	if (colon && !strncmp(s, "syscalls:", 9))
		return false;
	s = colon ? colon + 1 : s;
	for (i = 0; i < sizeof(of_threads) / sizeof(*of_threads); i++) {
		size_t n = strlen(of_threads[i]);

		if (!strncmp(s, of_threads[i], n) && s[n] == '"')
			return false;
	}
	return true;
}

/* The host runs one handler at a time. */
static bool together(const struct handler *a, const struct handler *b)
{
	if (!a->runs || !b->runs)
		return false;
	return !(a->on_host && b->on_host);
}

/*
 * One representative access of each kind per (handler, global). Enough to
 * decide whether any two of them disturb each other.
 */
struct seen {
	const struct handler *h;
	struct access_at a;
};
typedef VEC(struct seen) seen_list;

static void add_seen(struct excl *x, seen_list *l, const struct handler *h,
		     const struct access_at *a)
{
	struct seen s = {h, *a};
	unsigned i;

	for (i = 0; i < l->n; i++)
		if (l->v[i].h == h && l->v[i].a.kind == a->kind &&
		    l->v[i].a.deletes == a->deletes)
			return;
	vec_push(x->c->a, l, s);
}

/*
 * Rule 2. By tid: no other thread has the element; an interrupt has, whose
 * handler sees the same tid.
 */
static void judge(struct facts *f, const seen_list *l, const struct var *v)
{
	bool by_tid = f->has_key && f->tids && !v->wrap;
	unsigned i, k;

	f->quiet = true;
	/* Feeding and reporting never disturb each other. */
	f->banked = v->type == TY_STATS && v->mode == AGG_BANKED;
	for (i = 0; i < l->n; i++) {
		by_tid = by_tid && !exclusion_interrupts(l->v[i].h->p);
		if (l->v[i].h->runs && l->v[i].a.kind != AC_READ &&
		    l->v[i].a.kind != AC_STAT)
			f->written = true;
	}
	for (i = 0; i < l->n && !by_tid && !f->banked; i++)
		for (k = i; k < l->n; k++)
			if (together(l->v[i].h, l->v[k].h) &&
			    !commute(&l->v[i].a, &l->v[k].a))
				f->quiet = false;
	for (i = 0; i < l->n && !f->quiet; i++)
		/* a key may be gone between two steps of another handler */
		if (l->v[i].a.deletes && l->v[i].h->runs &&
		    (l->v[i].a.v->type != TY_STATS ||
		     l->v[i].a.v->mode == AGG_LIVE))
			f->deleted = true;
}

static void judge_all(struct excl *x)
{
	unsigned i, k, n = x->p->globals.n;
	seen_list *l = arena_array(x->c->a, seen_list, n + 1);

	/* every access takes away what it does not have */
	for (i = 0; i < n; i++)
		x->f[i].tids = ~0u;
	for (i = 0; i < x->p->probes.n; i++) {
		struct handler *h = &x->h[i];

		for (k = 0; h->runs && k < h->all.n; k++) {
			const struct access_at *a = &h->all.v[k];
			struct facts *f = &x->f[a->v->index];

			f->tids &= a->tids;
			f->has_key = true;
			add_seen(x, &l[a->v->index], h, a);
		}
	}
	for (i = 0; i < n; i++)
		judge(&x->f[i], &l[i], x->p->globals.v[i]);
}

/* Union-find with path halving (Tarjan and van Leeuwen, J. ACM 31(2), 1984). */
static unsigned find(struct excl *x, unsigned i)
{
	while (x->f[i].group != i)
		i = x->f[i].group = x->f[x->f[i].group].group;
	return i;
}

/* Rule 4: the globals of handlers that need a lock, joined to groups. */
static void join(struct excl *x)
{
	unsigned i, k, first;

	for (i = 0; i < x->p->globals.n; i++)
		x->f[i].group = i;
	for (i = 0; i < x->p->probes.n; i++) {
		struct handler *h = &x->h[i];

		first = UINT32_MAX;
		for (k = 0; h->runs && h->most > 1 && k < h->all.n; k++) {
			unsigned v = h->all.v[k].v->index;

			if (x->f[v].quiet)
				continue;
			x->f[v].locked = true;
			if (!x->f[v].because)
				x->f[v].because = h;
			if (first == UINT32_MAX)
				first = v;
			x->f[find(x, v)].group = find(x, first);
		}
	}
}

/*
 * Groups beyond the last lock share it: more is locked than has to be, never
 * less.
 */
static void number_groups(struct excl *x, struct exclusion *e)
{
	unsigned i, n = x->p->globals.n;
	unsigned *no = arena_array(x->c->a, unsigned, n + 1);

	for (i = 0; i < n; i++) {
		unsigned root = find(x, i), g;

		if (!x->f[i].locked)
			continue;
		if (!no[root])
			no[root] = ++e->ngroups;
		g = no[root] > LOCK_GROUPS ? LOCK_GROUPS : no[root];
		e->lock_of[i] = 1u << (g - 1);
	}
	if (e->ngroups > LOCK_GROUPS) {
		e->nshared = e->ngroups - LOCK_GROUPS + 1;
		e->ngroups = LOCK_GROUPS;
	}
}

/* --- words ---------------------------------------------------------------- */

/* "line:column" */
static const char *place(struct excl *x, const struct span *at)
{
	return arena_printf(x->c->a, "%u:%u", at->line, at->col);
}

static const char *names_locked(struct excl *x, const struct exclusion *e,
				const struct handler *h)
{
	const char *text = "";
	unsigned i, k, n = 0;

	for (i = 0; i < x->p->globals.n; i++) {
		for (k = 0; k < h->all.n; k++)
			if (h->all.v[k].v->index == i)
				break;
		if (k == h->all.n || !e->lock_of[i])
			continue;
		text = arena_printf(x->c->a, "%s%s%s", text, n++ ? ", " : "",
				    x->p->globals.v[i]->name);
	}
	return text;
}

/*
 * Why the handler locks: its own two accesses, or another handler that needs
 * it.
 */
static const char *lock_text(struct excl *x, const struct exclusion *e,
			     const struct handler *h)
{
	const char *names = names_locked(x, e, h);
	const struct handler *b = NULL;
	unsigned k;

	if (h->most > 1 && h->first && h->second && h->first != h->second)
		return arena_printf(
		    x->c->a, "lock {%s}: %s %s (%s), then %s %s (%s)", names,
		    kind_text[h->first->kind], h->first->v->name,
		    place(x, &h->first->span), kind_text[h->second->kind],
		    h->second->v->name, place(x, &h->second->span));
	if (h->most > 1 && h->first)
		return arena_printf(x->c->a, "lock {%s}: %s %s %s (%s)", names,
				    kind_text[h->first->kind],
				    h->first->v->name,
				    h->first->torn || !h->first->once
					? "in several steps"
					: "while elements are deleted",
				    place(x, &h->first->span));
	for (k = 0; k < h->all.n && !b; k++)
		b = x->f[h->all.v[k].v->index].because;
	return arena_printf(x->c->a, "lock {%s}: %s needs it undisturbed (%s)",
			    names, b ? b->p->pp : "another handler",
			    b ? place(x, &b->p->span) : "?");
}

/* Why it does not, global by global. */
static const char *free_text(struct excl *x, const struct handler *h)
{
	const char *text = "no lock", *sep = ": ";
	unsigned i, k;

	if (!h->runs)
		return "no lock: runs alone";
	for (i = 0; i < x->p->globals.n; i++) {
		const struct facts *f = &x->f[i];
		const char *what;

		for (k = 0; k < h->all.n; k++)
			if (h->all.v[k].v->index == i)
				break;
		if (k == h->all.n)
			continue;
		if (!f->quiet)
			what = "is touched once";
		else if (f->banked)
			what = h->all.v[k].kind == AC_FEED
				   ? "is only fed"
				   : "is reported as of one instant";
		else if (!f->written)
			what = "does not change";
		else if (f->tids && f->has_key)
			what = "is keyed by tid()";
		else if (h->all.v[k].kind == AC_FEED)
			what = "is only fed";
		else if (h->all.v[k].kind == AC_ADD)
			what = "is only added to";
		else
			what = "is used here only";
		text = arena_printf(x->c->a, "%s%s%s %s", text, sep,
				    x->p->globals.v[i]->name, what);
		sep = ", ";
	}
	return h->all.n ? text : "no lock: no globals";
}

/* Tests of the tests: invariants must break without locks. */
static bool forced_off(const struct compile *c)
{
	unsigned i;

	for (i = 0; i < c->set.defines.n; i++)
		if (!strcmp(c->set.defines.v[i].name, "TALLY_NO_LOCKS"))
			return true;
	return false;
}

/* --- all of it ------------------------------------------------------------ */

struct exclusion *exclusion_analyse(struct compile *c, struct program *p)
{
	struct exclusion *e = arena_new_of(c->a, struct exclusion);
	struct excl x = {.c = c, .p = p};
	/*
	 * calls_order() and agg_modes() come first: the walk asks for the mode.
	 */
	unsigned i, k;

	x.order = calls_order(c, p);
	x.effects = effects_make(c->a, p, false);
	x.fn = arena_array(c->a, struct summary, p->functions.n + 1);
	agg_modes(c, p, &x.order);
	e->lock_of = arena_array(c->a, uint32_t, p->globals.n + 1);
	e->probe_locks = arena_array(c->a, uint32_t, p->probes.n + 1);
	e->why = arena_array(c->a, const char *, p->probes.n + 1);
	x.h = arena_array(c->a, struct handler, p->probes.n + 1);
	x.f = arena_array(c->a, struct facts, p->globals.n + 1);
	x.tid_locals = map_new(c->a);
	walk_program(p, note_assign, &x);
	for (i = 0; i < p->probes.n; i++) {
		x.h[i].p = p->probes.v[i];
		x.h[i].runs = runs_with_others(p->probes.v[i]);
		x.h[i].on_host = p->probes.v[i]->place == PLACE_HOST;
	}
	walk_all(&x);
	judge_all(&x);
	x.pass_two = true;
	walk_all(&x);
	join(&x);
	number_groups(&x, e);
	for (i = 0; i < p->probes.n; i++) {
		const struct handler *h = &x.h[i];

		for (k = 0; h->runs && k < h->all.n; k++)
			e->probe_locks[i] |= e->lock_of[h->all.v[k].v->index];
		if (forced_off(c)) {
			e->probe_locks[i] = 0;
			e->why[i] = "no lock: -D TALLY_NO_LOCKS";
			continue;
		}
		e->why[i] =
		    e->probe_locks[i] ? lock_text(&x, e, h) : free_text(&x, h);
	}
	return e;
}

void exclusion_print(const struct program *p, FILE *f)
{
	unsigned i;

	for (i = 0; p->exclusion && i < p->probes.n; i++)
		fprintf(f, "%s: %s\n", p->probes.v[i]->pp,
			p->exclusion->why[i]);
	if (p->exclusion && p->exclusion->nshared)
		fprintf(f, "%u unconnected groups of globals share a lock: "
			"there are %u\n", p->exclusion->nshared,
			(unsigned)LOCK_GROUPS);
}
