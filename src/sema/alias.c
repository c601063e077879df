/* SPDX-License-Identifier: MIT */
/*
 * From written probe points to probes. A point that starts with an alias'
 * name stands for the alias' points, with what follows the name appended to
 * each, and for the alias' prologue and epilogue around the handler; other
 * points go to the probe families.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sema/sema.h"

enum {
	ALIAS_DEPTH_MAX = 64, /* a chain of aliases */
	ALIAS_STEPS_MAX = 200000, /* expansions, of all points together */
	ALIAS_PARTS_MAX = 32,
	MISSING_MAX = 500, /* points: each looks for similar names */
};

/*
 * The aliases that an expansion went through, innermost first. On the stack of
 * the expansion: it lasts as long as the probes are being made.
 */
struct link {
	struct decl_probe *alias;
	const char *name;        /* as it was matched: pn() */
	const struct link *from; /* what led here */
	unsigned depth;
	const char *derivation; /* NULL until somebody asks */
};

/* One written probe (or -l pattern) and what it becomes. */
struct expand {
	struct sema *s;
	struct compile *c;
	struct decl_probe *decl; /* the written probe */
	bool listing;            /* -l: derivation only of those of aliases */
	probe_list *out;
	const char *derivation; /* of probes without aliases */
	bool gave_up; /* reported: no more of it */
	bool body_used; /* a probe has decl's own body: others get copies */
	/* process("PATH").begin and the like, while their points are made. */
	const struct point *of_program;
	struct node *filter; /* is it this program's? */
};

/* Returns the number of probes made. */
static unsigned expand_list(struct expand *x, const point_list *l,
			    struct link *link, const struct point *outer,
			    unsigned suffix, bool quiet);

/* --- text ----------------------------------------------------------------- */

/* As it could be written in a script. */
static void put_literal(const struct literal *l, FILE *f)
{
	const char *p;

	if (l->type == TY_LONG) {
		fprintf(f, "%lld", (long long)l->num);
		return;
	}
	fputc('"', f);
	for (p = l->str; *p; p++) {
		if (*p == '"' || *p == '\\')
			fputc('\\', f);
		fputc(*p, f);
	}
	fputc('"', f);
}

static void put_parts(const struct point *pt, FILE *f)
{
	unsigned i;

	for (i = 0; i < pt->parts.n; i++) {
		const struct component *k = &pt->parts.v[i];

		fprintf(f, "%s%s", i ? "." : "", k->name);
		if (k->arg.type == TY_UNKNOWN)
			continue;
		fputc('(', f);
		put_literal(&k->arg, f);
		fputc(')', f);
	}
}

static const char *parts_text(struct compile *c, const struct point *pt)
{
	struct text t;

	text_open(&t);
	put_parts(pt, t.f);
	return text_close(c, &t);
}

static void put_list(const point_list *l, FILE *f)
{
	unsigned i;

	for (i = 0; i < l->n; i++) {
		if (i)
			fputc(',', f);
		put_parts(l->v[i], f);
		if (l->v[i]->sufficient || l->v[i]->optional)
			fputc(l->v[i]->sufficient ? '!' : '?', f);
	}
}

/* --- matching ------------------------------------------------------------- */

enum {
	JOINED_MAX = 256, /* of an alias' name; longer ones meet no `**` */
};

/*
 * Components `from` to `to` - 1 of an alias' name, joined by dots, against a
 * component with `**`, which stands for dots, too.
 */
static bool joined_match(const char *glob, const struct point *name,
			 unsigned from, unsigned to)
{
	char text[JOINED_MAX];
	size_t len = 0;

	for (unsigned k = from; k < to; k++) {
		const char *part = name->parts.v[k].name;
		size_t n = strlen(part);

		if (len + n + 2 > sizeof(text))
			return false;
		if (k > from)
			text[len++] = '.';
		memcpy(text + len, part, n);
		len += n;
	}
	text[len] = 0;
	return probe_glob(glob, text);
}

/* Names of several components that a written one with `**` may stand for. */
static bool fits_joined(const bool *fits_before, unsigned stride,
			const char *glob, const struct point *name, unsigned k)
{
	for (unsigned from = 0; from < k; from++)
		if (fits_before[from * stride] &&
		    joined_match(glob, name, from, k))
			return true;
	return false;
}

/*
 * Does the alias' name match the first components of pt? Returns the number
 * of pt's components used, or -1. fits[k][i]: the first k components of the
 * name match the first i of the point.
 */
static int match_name(const struct point *pt, const struct point *name)
{
	bool fits[ALIAS_PARTS_MAX + 1][ALIAS_PARTS_MAX + 1] = {{true}};
	unsigned i, k, n = pt->parts.n, m = name->parts.n;

	if (n > ALIAS_PARTS_MAX || m > ALIAS_PARTS_MAX)
		return -1;
	for (k = 1; k <= m; k++)
		for (i = 1; i <= n; i++) {
			const struct component *c = &pt->parts.v[i - 1];

			if (c->arg.type != TY_UNKNOWN)
				continue;
			if (strstr(c->name, "**"))
				fits[k][i] = fits_joined(&fits[0][i - 1],
							 ALIAS_PARTS_MAX + 1,
							 c->name, name, k);
			else
				fits[k][i] =
				    fits[k - 1][i - 1] &&
				    probe_glob(c->name,
					       name->parts.v[k - 1].name);
		}
	for (i = n; i > 0; i--) /* the longest match: `**` takes what it can */
		if (fits[m][i])
			return (int)i;
	return -1;
}

static bool has_wildcard(const struct point *pt)
{
	unsigned i;

	for (i = 0; i < pt->parts.n; i++)
		if (strpbrk(pt->parts.v[i].name, "*?"))
			return true;
	return false;
}

static bool in_chain(const struct link *l, const struct decl_probe *alias)
{
	for (; l; l = l->from)
		if (l->alias == alias)
			return true;
	return false;
}

/*
 * Library files whose aliases may start this point. The first component names
 * them; more than that the index does not know.
 */
static void load_aliases(struct sema *s, const struct point *pt)
{
	file_list files = {0};
	const char *first, *any;
	unsigned i;

	if (!pt->parts.n || pt->parts.v[0].arg.type != TY_UNKNOWN)
		return;
	first = pt->parts.v[0].name;
	any = strstr(first, "**");
	/* What follows a `**` may be in a later component: "*sys**pen". */
	if (any)
		first = str_intern(s->c->str, first,
				   (size_t)(any - first) + 2);
	tapset_need(s->lib, TAPSET_ALIAS, first, &files);
	for (i = 0; i < files.n; i++)
		sema_add_file(s, files.v[i]);
}

/* --- making probes -------------------------------------------------------- */

/* a may be changed; b is the script's, so it is cloned. */
static struct node *and_conditions(struct compile *c, struct node *a,
				   const struct node *b)
{
	struct node *n;

	if (!b)
		return a;
	if (!a)
		return node_clone(c->a, b);
	n = node_new(c->a, N_LOGIC, b->span);
	n->u.binary.op = OPER_LAND;
	n->u.binary.a = a;
	n->u.binary.b = node_clone(c->a, b);
	return n;
}

/*
 * if (target_set_pid(pid())) ; else next: the library follows who starts whom.
 */
static struct node *in_target(struct compile *c, const struct point *pt)
{
	struct node *test = node_new(c->a, N_IF, pt->span);
	struct node *call = node_new(c->a, N_CALL, pt->span);
	struct node *pid = node_new(c->a, N_CALL, pt->span);

	call->u.call.name = str_internz(c->str, "target_set_pid");
	pid->u.call.name = str_internz(c->str, "pid");
	vec_push(c->a, &call->u.call.args, pid);
	test->u.ternary.a = call;
	test->u.ternary.b = node_new(c->a, N_BLOCK, pt->span);
	test->u.ternary.c = node_new(c->a, N_NEXT, pt->span);
	return test;
}

/* Each probe has nodes of its own: passes change them in place. */
static void add_block(struct compile *c, struct node *to, struct node *b)
{
	if (b)
		vec_push(c->a, &to->u.block.stmts, node_clone(c->a, b));
}

/* --- @probewrite ---------------------------------------------------------- */

struct written {
	struct node *handler; /* as the script has it, without alias blocks */
	const char *name;
	bool found;
};

static void look_for_write(struct node *n, void *ctx)
{
	struct written *w = ctx;
	const struct node *a = n->kind == N_ASSIGN   ? n->u.binary.a
			       : n->kind == N_INCDEC ? n->u.incdec.a
						     : NULL;

	if (a && a->kind == N_NAME)
		w->found |= a->u.name.name == w->name;
	else if (a && a->kind == N_TARGET)
		w->found |= a->u.target.name == w->name;
}

/* @probewrite(v) in an alias' blocks: does the handler assign to v? */
static void decide_probewrite(struct node *n, void *ctx)
{
	struct written *w = ctx;
	const struct node *a;

	if (n->kind != N_ATWORD || strcmp(n->u.atword.word, "@probewrite") ||
	    n->u.atword.args.n != 1)
		return;
	a = n->u.atword.args.v[0];
	w->name = a->kind == N_NAME	? a->u.name.name
		  : a->kind == N_TARGET ? a->u.target.name
					: NULL;
	w->found = false;
	if (w->name)
		walk_nodes(w->handler, look_for_write, w);
	n->kind = N_NUM;
	n->type = TY_LONG;
	n->u.num = w->found;
}

/* Prologues from the innermost alias out, the handler, and epilogues back. */
static struct node *make_body(struct expand *x, const struct link *link,
			      struct node *filter)
{
	struct compile *c = x->c;
	struct node *body;
	const struct link *l;
	/* innermost first; epilogues go the other way */
	const struct link *stack[ALIAS_DEPTH_MAX];
	struct written w = {.handler = x->decl->body};
	unsigned n = 0;

	if (!link && !filter) {
		/*
		 * No pass has changed it yet: all probes of a declaration are
		 * made before the first one is resolved.
		 */
		if (x->body_used)
			return node_clone(c->a, x->decl->body);
		x->body_used = true;
		return x->decl->body;
	}
	body = node_new(c->a, N_BLOCK, x->decl->body->span);
	add_block(c, body, filter);
	for (l = link; l; l = l->from) {
		stack[n++] = l;
		if (!l->alias->is_epilogue)
			add_block(c, body, l->alias->body);
	}
	add_block(c, body, x->decl->body);
	while (n-- > 0) {
		l = stack[n];
		add_block(c, body,
			  l->alias->is_epilogue ? l->alias->body
						: l->alias->epilogue);
	}
	walk_nodes(body, decide_probewrite, &w);
	return body;
}

/*
 * Same for all probes of a link, and long for long lists: made once.
 * "kernel.trace(\"x\") <- alias <- written", from what was resolved back to the
 * script.
 */
static const char *make_derivation(struct expand *x, struct link *link)
{
	const char **keep = link ? &link->derivation : &x->derivation;
	const struct link *l;
	struct text t;

	if (*keep)
		return *keep;
	text_open(&t);
	for (l = link; l; l = l->from) {
		put_list(&l->alias->points, t.f);
		fputs(" <- ", t.f);
	}
	put_list(&x->decl->points, t.f);
	*keep = text_close(x->c, &t);
	return *keep;
}

/*
 * process.begin and its kin are points of the language, which the library makes
 * of others: pp() shows them.
 */
static bool is_process_point(const struct link *l)
{
	return !strncmp(l->name, "process.", strlen("process.")) &&
	       sema_source_of(&l->alias->points.v[0]->span)->is_library;
}

/* Completes the probes that a family made for pt. */
static void finish(struct expand *x, unsigned from, struct point *pt,
		   struct link *link)
{
	const struct link *l;
	unsigned i;

	for (i = from; i < x->out->n; i++) {
		struct probe *p = x->out->v[i];

		p->written = pt;
		if (!p->pn)
			p->pn = parts_text(x->c, pt);
		/* the outermost name is what pn() shows */
		for (l = link; l; l = l->from) {
			p->pn = l->name;
			if (is_process_point(l))
				p->pp = l->name;
		}
		if (x->of_program)
			p->pp = p->pn = parts_text(x->c, x->of_program);
		p->span = pt->span;
		if (link) /* messages are about the script's own point */
			p->span = x->decl->points.v[0]->span;
		p->cond = and_conditions(x->c, NULL, pt->cond);
		p->body = make_body(x, link, p->in_target ? in_target(x->c, pt)
							  : x->filter);
		/* blocks of aliases are copied: deep chains count more */
		x->s->steps += link ? link->depth : 0;
		if (!x->listing || link)
			p->derivation = make_derivation(x, link);
	}
}

/* Names that could start a point, for "similar": of the files that are loaded
 * in full, "syscall.open", so that each component has its near ones. */
static void alias_names(struct expand *x, name_list *out)
{
	unsigned i;

	for (i = 0; i < x->s->aliases.n; i++)
		vec_push(x->c->a, out,
			 parts_text(x->c, x->s->aliases.v[i].name));
}

struct name_ctx {
	struct compile *c;
	name_list *out;
};

static void library_name(void *ctx, const char *name)
{
	struct name_ctx *nc = ctx;

	vec_push(nc->c->a, nc->out, name);
}

/* A point that is not an alias' name. quiet: what is not there is no error. */
static unsigned expand_family(struct expand *x, struct point *pt,
			      struct link *link, bool quiet)
{
	unsigned before = x->out->n;
	name_list names = {0};
	struct name_ctx nc = {x->c, &names};

	if (!quiet) {
		alias_names(x, &names);
		tapset_names(x->s->lib, TAPSET_ALIAS, library_name, &nc);
	}
	probe_resolve(x->c, pt, names.v, names.n, quiet, x->out);
	finish(x, before, pt, link);
	if (x->out->n > PROBES_MAX && !x->gave_up) {
		complain(x->c, PROBES_MANY, &pt->span, PROBES_MAX);
		x->gave_up = true;
	}
	return x->out->n - before;
}

/* --- expanding ------------------------------------------------------------ */

/* The aliases whose names may match the point's start; NULL: none. */
static const alias_list *candidates(struct sema *s, const struct point *pt)
{
	if (!pt->parts.n)
		return NULL;
	if (strpbrk(pt->parts.v[0].name, "*?[\\"))
		return &s->aliases;
	return map_get(s->alias_named, pt->parts.v[0].name);
}

/* The reference has one message for both. */
static void give_up(struct expand *x, const struct point *pt, bool circle)
{
	struct diag *d = complain(x->c, ALIAS_LOOP, &pt->span);

	if (!circle)
		diag_note(x->c->diag, d, NULL,
			  "at most %u aliases may stand for one another",
			  ALIAS_DEPTH_MAX - 1);
	x->gave_up = true;
}

/*
 * Expands the aliases that match pt. exact: the name uses up the whole point;
 * otherwise the rest is a suffix of the alias' points.
 */
static unsigned expand_aliases(struct expand *x, struct point *pt,
			       struct link *link, bool exact, bool quiet,
			       bool *ret_matched)
{
	const alias_list *l = candidates(x->s, pt);
	unsigned i, made = 0, n = l ? l->n : 0;

	/* n: what is read on the way comes too late for this point */
	for (i = 0; i < n && !x->gave_up; i++) {
		struct decl_probe *a = l->v[i].alias;
		const struct point *name = l->v[i].name;
		struct link link_to = {.alias = a, .from = link};
		int used = match_name(pt, name);

		if (used < 0 || exact != ((unsigned)used == pt->parts.n))
			continue;
		*ret_matched = true;
		link_to.depth = link ? link->depth + 1 : 1;
		/* an alias that stands for itself */
		if (in_chain(link, a) || link_to.depth >= ALIAS_DEPTH_MAX) {
			give_up(x, pt, in_chain(link, a));
			return made;
		}
		link_to.name = parts_text(x->c, name);
		if (!exact) {
			struct point rest = *pt;

			rest.parts.v += used;
			rest.parts.n -= (unsigned)used;
			link_to.name = arena_printf(x->c->a, "%s.%s",
						    link_to.name,
						    parts_text(x->c, &rest));
		}
		/* A local link: expand_list() returns before it is gone. */
		made += expand_list(x, &a->points, &link_to, pt,
				    (unsigned)used, quiet);
	}
	return made;
}

/*
 * Order: an alias by its full name; families, also where a wildcard meets both;
 * at last an alias with a suffix.
 */
static unsigned expand_one(struct expand *x, struct point *pt,
			   struct link *link, bool quiet)
{
	bool matched = false;
	struct point *inner;
	unsigned made = 0;

	if (x->gave_up)
		return 0;
	if (++x->s->steps > ALIAS_STEPS_MAX) {
		complain(x->c, PROBES_MANY, &pt->span, PROBES_MAX);
		x->gave_up = true;
		return 0;
	}
	inner = x->of_program ? NULL : program_point(x->c, pt);
	if (inner) {
		if (program_filter(x->s, pt, quiet, &x->filter))
			return 0;
		x->of_program = pt;
		made = expand_one(x, inner, link, quiet);
		x->of_program = NULL;
		x->filter = NULL;
		return made;
	}
	load_aliases(x->s, pt);
	made = expand_aliases(x, pt, link, true, quiet, &matched);
	if (!matched || has_wildcard(pt))
		made += expand_family(x, pt, link, true);
	if (!made && !matched)
		made = expand_aliases(x, pt, link, false, quiet, &matched);
	if (made || quiet || x->gave_up)
		return made;
	if (!matched) {
		made = expand_family(x, pt, link, false);
		if (!made && ++x->s->missing >= MISSING_MAX)
			x->gave_up = true;
		return made;
	}
	if (!diags_errors(x->c->diag))
		/* else the reason has been said */
		complain(x->c, ALIAS_NONE, &pt->span, parts_text(x->c, pt));
	return 0;
}

/*
 * A copy of an alias' point with outer's suffix and conditions. optional: what
 * led here was.
 */
static struct point *with_suffix(struct compile *c, const struct point *pt,
				 const struct point *outer, unsigned from,
				 bool optional)
{
	struct point *q = arena_new_of(c->a, struct point);
	unsigned i;

	*q = *pt;
	q->optional |= optional;
	q->parts.v = NULL;
	q->parts.n = q->parts.cap = 0;
	for (i = 0; i < pt->parts.n; i++)
		vec_push(c->a, &q->parts, pt->parts.v[i]);
	/* A mistake is in what the script appended, not in the library. */
	if (outer && q->parts.n && pt->span.src && pt->span.src->is_library)
		q->parts.v[0].span = outer->parts.v[0].span;
	for (i = from; outer && i < outer->parts.n; i++)
		vec_push(c->a, &q->parts, outer->parts.v[i]);
	if (outer)
		q->cond = and_conditions(
		    c, pt->cond ? node_clone(c->a, pt->cond) : NULL,
		    outer->cond);
	return q;
}

/* `!`: the first point that gives probes is enough; `?`: it may give none. */
static unsigned expand_list(struct expand *x, const point_list *l,
			    struct link *link, const struct point *outer,
			    unsigned suffix, bool quiet)
{
	unsigned i, made = 0;

	for (i = 0; i < l->n && !x->gave_up; i++) {
		struct point *pt = l->v[i];
		unsigned n;

		if (outer)
			pt = with_suffix(x->c, pt, outer, suffix, quiet);
		n = expand_one(x, pt, link,
			       quiet || pt->optional || pt->sufficient);
		made += n;
		if (n && pt->sufficient)
			break;
	}
	return made;
}

/*
 * All at once, or none: the program is not changed while aliases are followed.
 */
static void expand_decl(struct sema *s, struct decl_probe *d)
{
	probe_list out = {0};
	struct expand x = {.s = s, .c = s->c, .decl = d, .out = &out};
	unsigned i;

	expand_list(&x, &d->points, NULL, NULL, 0, false);
	for (i = 0; i < out.n; i++)
		vec_push(s->c->a, &s->p->probes, out.v[i]);
}

void alias_expand_new(struct sema *s)
{
	unsigned k;

	while (s->expanded < s->p->files.n) {
		struct file *f = s->p->files.v[s->expanded++];

		for (k = 0; k < f->probes.n; k++)
			if (!f->probes.v[k]->is_alias)
				expand_decl(s, f->probes.v[k]);
	}
}

void alias_expand_point(struct sema *s, struct point *pt, probe_list *out)
{
	struct decl_probe d = {.span = pt->span, .src = pt->span.src};
	struct expand x = {
	    .s = s, .c = s->c, .decl = &d, .out = out, .listing = true};

	vec_push(s->c->a, &d.points, pt);
	d.body = node_new(s->c->a, N_BLOCK, pt->span);
	pt->optional = true; /* only what is there is listed */
	expand_one(&x, pt, NULL, true);
}
