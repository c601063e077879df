/* SPDX-License-Identifier: MIT */
/* Why a handler takes locks or none, for -v and --dump=locks. */
#include "sema/excl.h"

#include <stdlib.h>

static const char *const kind_text[AC_KINDS] = {
    "reads", "adds to", "changes", "sets", "feeds", "reads", "walks",
};

/* "line:column" */
static const char *place(struct excl *x, const struct span *at)
{
	return arena_printf(x->c->a, "%u:%u", at->line, at->col);
}

static int by_var(const void *pa, const void *pb)
{
	const struct access_at *a = *(struct access_at *const *)pa;
	const struct access_at *b = *(struct access_at *const *)pb;

	if (a->v->index != b->v->index)
		return a->v->index < b->v->index ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* The first access to each of the handler's globals, in order of these. */
static unsigned first_accesses(struct excl *x, const struct handler *h,
			       const struct access_at ***ret)
{
	const struct access_at **v =
	    arena_array(x->c->a, const struct access_at *, h->all.n + 1);
	unsigned i, n = 0;

	for (i = 0; i < h->all.n; i++)
		v[i] = &h->all.v[i];
	qsort(v, h->all.n, sizeof(*v), by_var);
	for (i = 0; i < h->all.n; i++)
		if (!n || v[n - 1]->v != v[i]->v)
			v[n++] = v[i];
	*ret = v;
	return n;
}

static const char *names_locked(struct excl *x, const struct exclusion *e,
				const struct handler *h)
{
	const struct access_at **v;
	unsigned i, n = first_accesses(x, h, &v), shown = 0;
	struct text t;

	text_open(&t);
	for (i = 0; i < n; i++)
		if (e->lock_of[v[i]->v->index])
			fprintf(t.f, "%s%s", shown++ ? ", " : "",
				v[i]->v->name);
	return text_close(x->c, &t);
}

/* Why one access is more than one step; as excl_walk.c counts. */
static const char *how_often(const struct excl *x, const struct access_at *a)
{
	if (a->torn || !a->once)
		return "in several steps";
	if (x->f[a->v->index].deleted)
		return "while elements are deleted";
	return "more than once"; /* in a function that is called again */
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
				    h->first->v->name, how_often(x, h->first),
				    place(x, &h->first->span));
	for (k = 0; k < h->all.n && !b; k++)
		b = x->f[h->all.v[k].v->index].because;
	return arena_printf(x->c->a, "lock {%s}: %s needs it undisturbed (%s)",
			    names, b ? b->p->pp : "another handler",
			    b ? place(x, &b->p->span) : "?");
}

/* Why the accesses to one global that begin with a need no lock. */
static const char *free_because(const struct excl *x, const struct access_at *a)
{
	const struct facts *f = &x->f[a->v->index];

	if (!f->quiet)
		return "is touched once";
	if (f->banked)
		return a->kind == AC_FEED ? "is only fed"
					  : "is reported as of one instant";
	if (!f->written)
		return "does not change";
	if (f->tids && f->has_key)
		return "is keyed by tid()";
	if (a->kind == AC_FEED)
		return "is only fed";
	return a->kind == AC_ADD ? "is only added to" : "is used here only";
}

/* Why it does not, global by global. */
static const char *free_text(struct excl *x, const struct handler *h)
{
	const struct access_at **v;
	struct text t;
	unsigned i, n;

	if (!h->runs)
		return "no lock: runs alone";
	if (!h->all.n)
		return "no lock: no globals";
	n = first_accesses(x, h, &v);
	text_open(&t);
	fputs("no lock", t.f);
	for (i = 0; i < n; i++)
		fprintf(t.f, "%s%s %s", i ? ", " : ": ", v[i]->v->name,
			free_because(x, v[i]));
	return text_close(x->c, &t);
}

const char *excl_why(struct excl *x, const struct exclusion *e,
		     const struct handler *h)
{
	return e->probe_locks[h->p->index] ? lock_text(x, e, h)
					   : free_text(x, h);
}
