/* SPDX-License-Identifier: MIT */
/* Why a handler takes locks or none, for -v and --dump=locks. */
#include "sema/excl.h"

static const char *const kind_text[AC_KINDS] = {
    "reads", "adds to", "changes", "sets", "feeds", "reads", "walks",
};

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

const char *excl_why(struct excl *x, const struct exclusion *e,
		     const struct handler *h)
{
	return e->probe_locks[h->p->index] ? lock_text(x, e, h)
					   : free_text(x, h);
}
