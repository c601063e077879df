/* SPDX-License-Identifier: MIT */
/* Probe points: dotted components, wildcards, braces, ? ! and if (...). */
#include "front/parser.h"

/* Points under construction: braces make several of one. */
typedef VEC(struct point *) points;

/*
 * identifier, keyword, '*' and number pieces that stand side by side. *span
 * covers the whole name.
 */
static const char *parse_component_name(struct parser *p, struct span *span)
{
	VEC(char) name = {0};
	const struct token *t = peek(p);
	bool star = false;

	*span = t->span;
	for (;; t = peek(p)) {
		if (name.n && !t->glued)
			break;
		if (t->id == T_STAR)
			star = true;
		/* A number can go on a name ("sys_*64") but not begin one. */
		else if (t->id != T_IDENT && t->span.kind != TOK_KEYWORD &&
			 !(t->id == T_NUMLIT && name.n))
			break;
		/* Two words can only be glued by a star between them. */
		for (const char *s = t->span.text; *s; s++)
			vec_push(p->c->a, &name, *s);
		take(p);
	}
	if (!name.n)
		fail(p, "identifier or '*' or '{'");
	if (star) {
		span->text = str_intern(p->c->str, name.v, name.n);
		span->kind = TOK_IDENT;
	}
	return str_intern(p->c->str, name.v, name.n);
}

/*
 * The list of components is the copy's own; components themselves are values.
 */
static struct point *point_copy(struct parser *p, const struct point *from)
{
	struct point *to = arena_new_of(p->c->a, struct point);

	*to = *from;
	to->parts.v = NULL;
	to->parts.n = to->parts.cap = 0;
	if (from->cond)
		to->cond = node_clone(p->c->a, from->cond);
	for (unsigned i = 0; i < from->parts.n; i++)
		vec_push(p->c->a, &to->parts, from->parts.v[i]);
	return to;
}

static void add_component(struct parser *p, points *ps,
			  const struct component *comp)
{
	for (unsigned i = 0; i < ps->n; i++) {
		if (!ps->v[i]->parts.n)
			ps->v[i]->span = comp->span;
		vec_push(p->c->a, &ps->v[i]->parts, *comp);
	}
}

/*
 * Every point so far followed by every alternative. a.{b,c}.{d,e} gives a.b.d,
 * a.b.e, a.c.d, a.c.e.
 */
static void multiply(struct parser *p, points *ps, const point_list *alts,
		     const struct span *at)
{
	points product = {0};

	if ((uint64_t)ps->n * alts->n > PARSE_POINTS_MAX)
		fail_as(p, TOO_MANY_POINTS, at, PARSE_POINTS_MAX);
	for (unsigned i = 0; i < ps->n; i++) {
		for (unsigned k = 0; k < alts->n; k++) {
			struct point *pt = point_copy(p, ps->v[i]);
			const struct point *alt = alts->v[k];

			if (!pt->parts.n)
				/*
				 * The place of a point is its first
				 * component's.
				 */
				pt->span = alt->span;
			for (unsigned m = 0; m < alt->parts.n; m++)
				vec_push(p->c->a, &pt->parts, alt->parts.v[m]);
			/*
			 * What was before the braces has no suffix
			 * (check_no_suffix).
			 */
			pt->optional = alt->optional;
			pt->sufficient = alt->sufficient;
			if (alt->cond)
				pt->cond = node_clone(p->c->a, alt->cond);
			vec_push(p->c->a, &product, pt);
		}
	}
	*ps = product;
}

static void parse_braces(struct parser *p, points *ps)
{
	struct token open = take(p);
	point_list alts = {0};

	parse_points(p, &alts);
	need(p, T_RBRACE, "one of ', }'");
	multiply(p, ps, &alts, &open.span);
}

/* More is to come: no alternative may have had its suffix already. */
static void check_no_suffix(struct parser *p, const points *ps)
{
	for (unsigned i = 0; i < ps->n; i++) {
		const struct point *pt = ps->v[i];

		if (pt->optional || pt->sufficient || pt->cond)
			fail_as(p, POINT_SUFFIX, &pt->span);
	}
}

/* (literal), for the last component of each point */
static void parse_point_arg(struct parser *p, points *ps)
{
	struct span at;
	struct literal arg;

	take(p);
	at = peek(p)->span;
	arg = parse_literal(p);
	need(p, T_RPAREN, "')'");
	for (unsigned i = 0; i < ps->n; i++) {
		struct component *last = &vec_last(&ps->v[i]->parts);

		last->arg = arg;
		last->arg_span = at;
	}
}

static struct node *parse_point_cond(struct parser *p)
{
	struct node *n;

	need(p, T_LPAREN, "'('");
	n = parse_expr(p);
	need(p, T_RPAREN, "')'");
	return n;
}

/* ? or !, then if (...); braces may have brought one for some points. */
static void parse_point_suffix(struct parser *p, points *ps)
{
	struct token mark = *peek(p), cond_mark;
	bool optional = eat(p, T_QUESTION);
	bool sufficient = !optional && eat(p, T_BANG);
	struct node *cond = NULL;

	if ((optional || sufficient) && (at(p, T_QUESTION) || at(p, T_BANG)))
		fail_as(p, POINT_SUFFIX_AGAIN, &peek(p)->span);
	cond_mark = *peek(p);
	if (eat(p, T_IF))
		cond = parse_point_cond(p);
	if (cond && at(p, T_IF))
		fail_as(p, POINT_COND_AGAIN, &peek(p)->span);
	if (at(p, T_DOT) && (optional || sufficient || cond))
		fail_as(p, POINT_SUFFIX, &peek(p)->span);
	for (unsigned i = 0; i < ps->n; i++) {
		struct point *pt = ps->v[i];

		if ((optional || sufficient) &&
		    (pt->optional || pt->sufficient))
			fail_as(p, POINT_SUFFIX_AGAIN, &mark.span);
		if (cond && pt->cond)
			fail_as(p, POINT_COND_AGAIN, &cond_mark.span);
		pt->optional |= optional;
		pt->sufficient |= sufficient;
		/* Passes annotate trees in place: no two points share one. */
		if (cond)
			pt->cond = i ? node_clone(p->c->a, cond) : cond;
	}
}

/*
 * Builds all points that one written point stands for, component by component.
 */
static void parse_point(struct parser *p, points *ps)
{
	vec_push(p->c->a, ps, arena_new_of(p->c->a, struct point));
	ps->v[0]->span = peek(p)->span;
	do {
		struct component comp = {0};

		check_no_suffix(p, ps);
		if (at(p, T_LBRACE)) {
			enter(p);
			parse_braces(p, ps);
			leave(p);
		} else {
			comp.name = parse_component_name(p, &comp.span);
			add_component(p, ps, &comp);
		}
		if (at(p, T_LPAREN))
			parse_point_arg(p, ps);
	} while (eat(p, T_DOT));
	parse_point_suffix(p, ps);
}

void parse_points(struct parser *p, point_list *ret)
{
	do {
		points ps = {0};

		parse_point(p, &ps);
		for (unsigned i = 0; i < ps.n; i++)
			vec_push(p->c->a, ret, ps.v[i]);
		if (ret->n > PARSE_POINTS_MAX)
			fail_as(p, TOO_MANY_POINTS, &peek(p)->span,
				PARSE_POINTS_MAX);
	} while (eat(p, T_COMMA));
}
