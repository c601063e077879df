/* SPDX-License-Identifier: MIT */
/*
 * Variables that nothing assigns to: the warning, and what becomes of them. A
 * local is 0 or "" from the start, as its uses say (a name that only some
 * aliases set is one in the others). Where all its uses ask for a number it is
 * replaced before types are inferred, so that code that depends on it goes;
 * otherwise when its type is known.
 */
#include <string.h>

#include "front/foreign.h"
#include "sema/sema.h"

struct never {
	struct sema *s;
	struct var **locals;
	unsigned nlocals;
};

/*
 * Other names that were perhaps meant. At half of the letters different it is
 * another word.
 */
static const char *similar(struct never *v, const char *name)
{
	struct near_names nn = {.want = name, .max = 5};
	struct program *p = v->s->p;
	unsigned i, most = (unsigned)strlen(name) / 2;

	if (!near_names_worth(v->s, v->nlocals + p->globals.n))
		return "";
	if (most < 1)
		most = 1;
	for (i = 0; i < v->nlocals; i++)
		if (v->locals[i]->is_written &&
		    str_distance(name, v->locals[i]->name) <= most)
			near_names_add(&nn, v->locals[i]->name);
	for (i = 0; i < p->globals.n; i++)
		if (p->globals.v[i]->is_written &&
		    !p->globals.v[i]->is_library &&
		    str_distance(name, p->globals.v[i]->name) <= most)
			near_names_add(&nn, p->globals.v[i]->name);
	return near_names_text(v->s->c, &nn);
}

/* Its value comes from the command line. */
bool never_is_given(const struct compile *c, const struct var *v)
{
	unsigned i;

	for (i = 0; i < c->set.globals.n; i++)
		if (!strcmp(c->set.globals.v[i].name, v->name))
			return true;
	return false;
}

/* Does nothing assign to the local that n names? NULL: no, or not a local. */
static struct var *never_local(const struct node *n)
{
	struct var *w = n && n->kind == N_NAME ? n->u.name.var : NULL;

	if (!w || w->is_global || w->is_written || w->is_param || w->broken)
		return NULL;
	return w;
}

/* n stands where a number and a string both can. */
static void may_be_text(const struct node *n)
{
	struct var *w = never_local(n);

	if (w)
		w->is_open = true;
}

static void may_be_texts(const node_list *l)
{
	unsigned i;

	for (i = 0; i < l->n; i++)
		may_be_text(l->v[i]);
}

/* What is compared with a number is one. */
static void compared(const struct node *n)
{
	if (n->u.binary.op < OPER_EQ || n->u.binary.op > OPER_GE)
		return;
	if (n->u.binary.b->kind != N_NUM)
		may_be_text(n->u.binary.a);
	if (n->u.binary.a->kind != N_NUM)
		may_be_text(n->u.binary.b);
}

/* All places that do not ask for a number. */
static void find_open(struct node *n, void *ctx)
{
	(void)ctx;
	switch (n->kind) {
	case N_BINARY:
		compared(n);
		break;
	case N_CONCAT:
	case N_ASSIGN:
		may_be_text(n->u.binary.a);
		may_be_text(n->u.binary.b);
		break;
	case N_TERNARY:
		may_be_text(n->u.ternary.b);
		may_be_text(n->u.ternary.c);
		break;
	case N_MATCH:
		may_be_text(n->u.match.a);
		break;
	case N_RETURN:
		may_be_text(n->u.unary.a);
		break;
	case N_CALL:
		may_be_texts(&n->u.call.args);
		break;
	case N_PRINT:
		may_be_texts(&n->u.print.args);
		break;
	case N_INDEX:
		may_be_texts(&n->u.index.keys);
		break;
	case N_IN:
		may_be_texts(&n->u.in.keys);
		break;
	default:
		break;
	}
}

/*
 * A number that is always 0 is what becomes of execname without (), and of
 * comm: the counts are then all of one key, so what was meant is said.
 */
static void never_assigned(struct never *v, const struct node *n,
			   const struct var *w)
{
	struct compile *c = v->s->c;
	const char *here = foreign_word(w->name);
	const struct builtin *b = builtin_find(w->name, 0);
	const struct name_fns *nf = map_get(v->s->fns, w->name);
	struct diag *d = complain(c, NEVER_LOCAL, &n->span, w->name,
				  similar(v, w->name));

	if ((b && !(b->flags & BF_INTERNAL)) || (nf && nf->list.n))
		diag_help(c->diag, d, "the function is %s(%s)", w->name,
			  !b && nf->list.v[0]->params.n ? "..." : "");
	else if (here)
		diag_help(c->diag, d, "here it is %s", here);
}

/* Open ones wait for their type: never_settle(). */
static void warn_local(struct node *n, void *ctx)
{
	struct never *v = ctx;
	struct var *w = never_local(n);

	if (!w)
		return;
	if (!sema_in_library(n))
		never_assigned(v, n, w);
	if (w->is_open)
		return;
	n->kind = N_NUM;
	n->type = TY_LONG;
	n->u.num = 0;
}

/* All places first: one that is open anywhere is replaced nowhere. */
static void body(struct never *v, struct node *n, struct var **locals,
		 unsigned nlocals)
{
	v->locals = locals;
	v->nlocals = nlocals;
	walk_nodes(n, find_open, v);
	walk_nodes(n, warn_local, v);
}

void never_find(struct sema *s)
{
	struct never v = {.s = s};
	struct program *p = s->p;
	unsigned i;

	for (i = 0; i < p->functions.n; i++)
		body(&v, p->functions.v[i]->body, p->functions.v[i]->locals.v,
		     p->functions.v[i]->locals.n);
	for (i = 0; i < p->probes.n; i++)
		body(&v, p->probes.v[i]->body, p->probes.v[i]->locals.v,
		     p->probes.v[i]->locals.n);
	v.nlocals = 0;
	for (i = 0; i < p->globals.n; i++) {
		struct var *g = p->globals.v[i];

		if (g->is_written || !g->is_read || g->is_library ||
		    g->init.type != TY_UNKNOWN || never_is_given(s->c, g))
			continue;
		complain(s->c, NEVER_GLOBAL, &g->span, g->name,
			 similar(&v, g->name));
	}
}

/* What was open has its type now. */
static void settle(struct node *n, void *ctx)
{
	struct sema *s = ctx;
	struct var *w = n->kind == N_NAME ? n->u.name.var : NULL;

	if (!w || !w->is_open)
		return;
	w->is_read = false;
	n->type = w->type;
	if (w->type == TY_STRING) {
		n->kind = N_STR;
		n->u.str = str_internz(s->c->str, "");
	} else {
		n->kind = N_NUM;
		n->u.num = 0;
	}
}

void never_settle(struct sema *s)
{
	struct program *p = s->p;
	unsigned i;

	walk_program(p, settle, s);
	for (i = 0; i < p->functions.n; i++) {
		struct function *f = p->functions.v[i];

		fold_node(s->c, f->body);
		drop_locals(f->locals.v, &f->locals.n);
	}
	for (i = 0; i < p->probes.n; i++) {
		struct probe *pr = p->probes.v[i];

		fold_node(s->c, pr->body);
		drop_locals(pr->locals.v, &pr->locals.n);
	}
}
