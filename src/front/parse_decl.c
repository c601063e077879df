/* SPDX-License-Identifier: MIT */
/* Declarations: probes and aliases, globals, functions, embedded code. */
#include "front/parser.h"

#include <limits.h>

#include "base/map.h"
#include "front/foreign.h"

/* expression: in the middle of one, where the message differs. */
struct node *parse_embedded(struct parser *p, bool expression)
{
	struct token t = take(p);
	struct node *n = new_node(p, N_EMBEDDED, &t);

	n->u.str = t.span.text;
	if (!(p->flags & (PARSE_LIBRARY | PARSE_GURU))) {
		if (expression)
			complain(p->c, EMBEDDED_EXPR_GURU, &t.span);
		else
			complain(p->c, EMBEDDED_GURU, &t.span);
	}
	return done(p, n);
}

/* --- probes -------------------------------------------------------------- */

/* = or +=: an alias that comes before, or after, what its users do. */
static bool at_alias_mark(struct parser *p)
{
	return at(p, T_SET) || at(p, T_SET_ADD);
}

/* NAMES = [NAMES =] POINTS: what was read so far are names. */
static void parse_alias(struct parser *p, struct decl_probe *d)
{
	struct arena *a = p->c->a;

	d->is_alias = true;
	while (at_alias_mark(p)) {
		d->is_epilogue |= at(p, T_SET_ADD);
		/*
		 * All but the last list are names: they are moved over when the
		 * next mark comes.
		 */
		for (unsigned i = 0; i < d->points.n; i++) {
			struct point *name = d->points.v[i];

			if (name->optional || name->sufficient)
				fail_as(p, ALIAS_OPTIONAL, &name->span);
			vec_push(a, &d->names, name);
		}
		take(p);
		d->points.v = NULL;
		d->points.n = d->points.cap = 0;
		parse_points(p, &d->points);
	}
}

/* `probe` before another tracer's point, or its condition behind one. */
static void __attribute__((noreturn))
no_handler(struct parser *p, const struct decl_probe *d)
{
	const char *help = NULL;

	if (at(p, T_SLASH))
		help = "a condition is a part of the handler: "
		       "{ if (CONDITION) ... }";
	else if (at(p, T_COLON) && d->points.n)
		help = foreign_point(p->c->a,
				     &d->points.v[d->points.n - 1]->span);
	fail_help(p, "one of ', { } = +='", help);
}

static void parse_probe(struct parser *p)
{
	struct decl_probe *d = arena_new_of(p->c->a, struct decl_probe);
	struct token t = take(p);

	d->span = t.span;
	d->src = p->file->src;
	parse_points(p, &d->points);
	if (at_alias_mark(p))
		parse_alias(p, d);
	if (!at(p, T_LBRACE))
		no_handler(p, d);
	d->body = parse_block(p);
	/* A second block runs behind the user's handler. */
	if (d->is_alias && at(p, T_COMMA)) {
		if (d->is_epilogue)
			fail_as(p, ALIAS_EPILOGUE, &peek(p)->span);
		take(p);
		d->epilogue = parse_block(p);
	}
	vec_push(p->c->a, &p->file->probes, d);
}

/* --- globals ------------------------------------------------------------- */

/* Twice is reported with the first place; the second one is not there. */
static void declare(struct parser *p, struct decl_global *g)
{
	const struct decl_global *old = map_get(p->globals, g->name);
	struct diag *d;

	if (old) {
		if (old->is_private != g->is_private)
			d = complain(p->c, GLOBAL_PRIVATE, &g->span);
		else
			d = complain(p->c, GLOBAL_TWICE, &g->span);
		diag_note(p->c->diag, d, &old->span, "first declared here");
		return;
	}
	map_set(p->globals, g->name, g);
	vec_push(p->c->a, &p->file->globals, g);
}

static void parse_global(struct parser *p, bool is_private)
{
	struct decl_global *g = arena_new_of(p->c->a, struct decl_global);
	struct token t = need_name(p), size;

	g->name = t.span.text;
	g->span = t.span;
	g->src = p->file->src;
	g->is_private = is_private;
	g->wrap = eat(p, T_PERCENT);
	/*
	 * [N] is the number of elements, and % makes the array drop its oldest.
	 */
	if (eat(p, T_LBRACKET)) {
		size = *peek(p);
		g->size = parse_number(p, "number");
		if (g->size < 1 || g->size > INT_MAX)
			fail_as(p, ARRAY_SIZE, &size.span);
		need(p, T_RBRACKET, "']'");
	}
	/* Arrays have no initial value. */
	if (at(p, T_SET)) {
		if (g->size || g->wrap)
			fail_as(p, ARRAY_INIT, &peek(p)->span);
		take(p);
		g->init = parse_literal(p);
	}
	declare(p, g);
}

static void parse_globals(struct parser *p, bool is_private)
{
	do
		parse_global(p, is_private);
	while (eat(p, T_COMMA));
	eat(p, T_SEMI);
}

/* --- functions ----------------------------------------------------------- */

static enum type parse_type(struct parser *p)
{
	if (eat(p, T_STRING))
		return TY_STRING;
	if (eat(p, T_LONG))
		return TY_LONG;
	fail(p, "'string' or 'long'");
}

static void parse_param(struct parser *p, struct decl_function *f,
			struct map *names)
{
	struct token t = need(p, T_IDENT, "identifier");
	struct decl_param param = {.name = t.span.text, .span = t.span};

	if (map_has(names, param.name))
		fail_as(p, PARAM_TWICE, &t.span);
	map_set(names, param.name, f);
	if (eat(p, T_COLON))
		param.type = parse_type(p);
	vec_push(p->c->a, &f->params, param);
}

/* Parentheses are needed also without parameters. */
static void parse_params(struct parser *p, struct decl_function *f)
{
	struct map *names = map_new(p->c->a);

	need(p, T_LPAREN, "'('");
	if (eat(p, T_RPAREN))
		return;
	do
		parse_param(p, f, names);
	while (eat(p, T_COMMA));
	need(p, T_RPAREN, "',' or ')'");
}

static void parse_function(struct parser *p, bool is_private)
{
	struct decl_function *f = arena_new_of(p->c->a, struct decl_function);
	struct token t, number;

	take(p);
	t = need_name(p);
	f->name = t.span.text;
	f->span = t.span;
	f->src = p->file->src;
	f->is_private = is_private;
	f->priority = -1;
	if (eat(p, T_COLON))
		f->type = parse_type(p);
	parse_params(p, f);
	/*
	 * : N behind the parameters is the priority among functions of one
	 * name.
	 */
	if (eat(p, T_COLON)) {
		number = *peek(p);
		f->priority = parse_number(p, "literal string or number");
		if (f->priority < 1)
			fail_as(p, PRIORITY, &number.span);
	}
	/* return is only right in here. */
	p->in_function = true;
	f->body = at(p, T_EMBEDDED) ? parse_embedded(p, false) : parse_block(p);
	p->in_function = false;
	vec_push(p->c->a, &p->file->functions, f);
}

/* --- file level ---------------------------------------------------------- */

static void parse_private(struct parser *p)
{
	take(p);
	if (at(p, T_FUNCTION)) {
		parse_function(p, true);
		return;
	}
	/* "private" alone is "private global". */
	eat(p, T_GLOBAL);
	if (!at(p, T_IDENT))
		fail(p, "'function' or identifier");
	parse_globals(p, true);
}

/* People come from other tracers; those have other words for the same. */
static void no_declaration(struct parser *p)
{
	static const char what[] =
		"'probe', 'global', 'private', 'function', or '%{'";
	const struct token *t = peek(p);

	fail_help(p, what, t->id == T_IDENT ?
		  foreign_point(p->c->a, &t->span) : NULL);
}

/* One declaration; leaves by longjmp when it is wrong. */
void parse_declaration(struct parser *p)
{
	switch (peek(p)->id) {
	case T_PROBE:
		parse_probe(p);
		break;
	case T_GLOBAL:
		take(p);
		parse_globals(p, false);
		break;
	case T_PRIVATE:
		parse_private(p);
		break;
	case T_FUNCTION:
		parse_function(p, false);
		break;
	case T_EMBEDDED:
		vec_push(p->c->a, &p->file->embedded, parse_embedded(p, false));
		break;
	default:
		no_declaration(p);
	}
}
