/* SPDX-License-Identifier: MIT */
/*
 * @define and the expansion of macros. Expansions form a stack of token lists,
 * not of calls. An argument is a closure: its tokens are read in the scope of
 * the place where they were written.
 */
#include "front/pp.h"

#include <string.h>

#include "base/compile.h"
#include "base/map.h"

/*
 * A body that has been read to its end is left when the next token is asked
 * for: until then its macro counts as being expanded.
 */
void macro_raw(struct pp *pp, struct token *t)
{
	struct expansion *e;

	while ((e = pp->top) && e->next == e->tokens->n)
		pp->top = e->outer;
	if (!e) {
		lex_next(&pp->lex, t);
		return;
	}
	*t = e->tokens->v[e->next++];
	t->span.macro = e->site;
	pp->expanded++;
}

/* A place where something was wrong: the parser sees junk and keeps quiet. */
static void make_junk(struct token *t)
{
	t->id = T_JUNK;
	t->span.kind = TOK_JUNK;
	t->reported = true;
}

/*
 * Names of macros and parameters have their @: they are compared as pointers.
 */
static const char *at_name(struct pp *pp, const char *name)
{
	return str_internz(pp->c->str, arena_printf(pp->c->a, "@%s", name));
}

/* --- definitions --------------------------------------------------------- */

/* Reads ( p, q ) behind its parenthesis. *t: the last token read. */
static bool define_params(struct pp *pp, struct macro *m, struct token *t)
{
	m->has_params = true;
	for (;;) {
		macro_raw(pp, t);
		if (t->id == T_RPAREN && !m->params.n)
			return true;
		if (t->id != T_IDENT) {
			complain(pp->c, EXPECTED, &t->span, "identifier");
			return false;
		}
		vec_push(pp->c->a, &m->params, at_name(pp, t->span.text));
		macro_raw(pp, t);
		if (t->id == T_RPAREN)
			return true;
		if (t->id != T_COMMA) {
			complain(pp->c, EXPECTED, &t->span, "',' or ')'");
			return false;
		}
	}
}

/* Reads up to the %) that closes the body. */
static bool define_body(struct pp *pp, struct macro *m)
{
	unsigned nested = 0;
	bool defines = false;
	struct token t;

	for (;;) {
		macro_raw(pp, &t);
		if (t.id == T_EOF) {
			complain(pp->c, MACRO_UNCLOSED, &m->at);
			return false;
		}
		/*
		 * The body is kept as tokens, not expanded: names in it mean
		 * what they mean where it is used, but for parameters.
		 */
		if (t.id == T_PP_CLOSE && !nested--) {
			/* Uses of it would only repeat the complaint. */
			if (defines)
				m->body.n = 0;
			return true;
		}
		if (t.id == T_PP_OPEN)
			nested++;
		if (t.id == T_AT_OTHER && !strcmp(t.span.text, "@define")) {
			complain(pp->c, MACRO_NESTED, &t.span);
			defines = true;
		}
		vec_push(pp->c->a, &m->body, t);
	}
}

/* Is the name free? Complains where it is not, or hides an operator. */
static bool define_known(struct pp *pp, struct macro *m)
{
	const struct macro *old = map_get(pp->named, m->name);
	struct diag *d;
	bool own = false;

	if (!strcmp(m->name, "@define")) {
		complain(pp->c, MACRO_DEFINE, &m->at);
		return false;
	}
	if (old) {
		d = complain(pp->c, MACRO_REDEFINED, &m->at, m->name);
		diag_note(pp->c->diag, d, &old->at,
			  "macro '%s' first defined here", m->name);
		return false;
	}
	old = pp->defines_library ? map_get(pp->library->named, m->name) : NULL;
	if (old) {
		d = complain(pp->c, MACRO_LIBRARY_TWICE, &m->at, m->name);
		diag_note(pp->c->diag, d, &old->at, "first defined here");
		return false;
	}
	if (lex_atword(pp->c, m->name, &own) != T_AT_OTHER && !own)
		complain(pp->c, MACRO_HIDES, &m->at, m->name);
	return true;
}

/* Behind @define. false: it is wrong, which was reported. */
static bool define(struct pp *pp)
{
	struct macro *m = arena_new_of(pp->c->a, struct macro);
	struct token t;

	macro_raw(pp, &t);
	if (t.id != T_IDENT) {
		complain(pp->c, EXPECTED, &t.span, "identifier");
		return false;
	}
	m->name = at_name(pp, t.span.text);
	m->at = t.span;
	macro_raw(pp, &t);
	if (t.id == T_LPAREN) {
		if (!define_params(pp, m, &t))
			return false;
		macro_raw(pp, &t);
		if (t.id != T_PP_OPEN) {
			complain(pp->c, EXPECTED, &t.span, "'%('");
			return false;
		}
	} else if (t.id != T_PP_OPEN) {
		complain(pp->c, EXPECTED, &t.span, "'%(' or '('");
		return false;
	}
	if (!define_body(pp, m) || !define_known(pp, m))
		return false;
	map_set(pp->named, m->name, m);
	if (pp->defines_library)
		map_set(pp->library->named, m->name, m);
	return true;
}

/* --- use ----------------------------------------------------------------- */

/*
 * Reads on in `tokens`, then where it was. false: too deep or too long, which
 * was reported.
 */
static bool push(struct pp *pp, const token_list *tokens,
		 const struct scope *scope, bool library,
		 const struct token *use)
{
	unsigned depth = pp->top ? pp->top->depth + 1 : 1;
	struct expansion *e;
	struct span *site;

	/*
	 * Both limits: a macro that doubles its argument 30 times is not deep.
	 */
	if (depth > MACRO_DEPTH_MAX || pp->expanded > MACRO_TOKENS_MAX) {
		if (depth > MACRO_DEPTH_MAX)
			complain(pp->c, MACRO_DEPTH, &use->span,
				 MACRO_DEPTH_MAX);
		else
			complain(pp->c, MACRO_SIZE, &use->span,
				 MACRO_TOKENS_MAX);
		/* What is left of the expansion would fail again and again. */
		pp->top = NULL;
		return false;
	}
	/*
	 * The place of use, for "in expansion of macro": copied, since *use is
	 * on a stack.
	 */
	e = arena_new_of(pp->c->a, struct expansion);
	site = arena_new_of(pp->c->a, struct span);
	*site = use->span;
	e->outer = pp->top;
	e->tokens = tokens;
	e->depth = depth;
	e->library = library;
	e->scope = scope;
	e->site = site;
	pp->top = e;
	return true;
}

/*
 * The next token of an invocation, which ends where the text that it stands in
 * ends: a body's last token cannot take its arguments from outside.
 */
static bool invocation_raw(struct pp *pp, struct token *t)
{
	const struct expansion *e = pp->top;

	if (e && e->next == e->tokens->n)
		return false;
	macro_raw(pp, t);
	return t->id != T_EOF;
}

/*
 * Reads the arguments behind '('. Commas inside parentheses or brackets belong
 * to the argument.
 */
static bool read_args(struct pp *pp, const struct macro *m,
		      struct argument *args, const struct token *use)
{
	unsigned n = 0, nested = 0;
	struct token t;

	for (;;) {
		if (!invocation_raw(pp, &t)) {
			complain(pp->c, MACRO_CALL_UNCLOSED, &use->span);
			/*
			 * The first comma of a macro without parameters is one
			 * too many.
			 */
			return false;
		}
		if (!nested && (t.id == T_COMMA || t.id == T_RPAREN)) {
			if (t.id == T_RPAREN)
				break;
			if (++n >= m->params.n) {
				complain(pp->c, MACRO_TOO_MANY, &t.span,
					 m->name, m->params.n);
				return false;
			}
			continue;
		}
		if (t.id == T_LPAREN || t.id == T_LBRACKET)
			nested++;
		else if (nested && (t.id == T_RPAREN || t.id == T_RBRACKET))
			nested--;
		if (n >= m->params.n) {
			complain(pp->c, MACRO_TOO_MANY, &t.span, m->name,
				 m->params.n);
			return false;
		}
		vec_push(pp->c->a, &args[n].tokens, t);
	}
	if (m->params.n && n + 1 < m->params.n) {
		complain(pp->c, MACRO_TOO_FEW, &t.span, m->name, m->params.n);
		return false;
	}
	return true;
}

/*
 * Names in an argument are looked up where it was written: it takes along the
 * scope that was current there.
 */
static bool invoke(struct pp *pp, const struct macro *m, bool library,
		   const struct token *use)
{
	const struct expansion *from = pp->top;
	struct scope *scope = arena_new_of(pp->c->a, struct scope);
	struct argument *args;
	struct token t = *use;

	scope->macro = m;
	if (m->has_params) {
		args = arena_array(pp->c->a, struct argument, m->params.n);
		if (!invocation_raw(pp, &t) || t.id != T_LPAREN) {
			complain(pp->c, MACRO_NO_ARGS, &t.span, m->name,
				 m->params.n, m->params.n == 1 ? "" : "s");
			return false;
		}
		if (!read_args(pp, m, args, use))
			return false;
		for (unsigned i = 0; i < m->params.n; i++) {
			args[i].scope = from ? from->scope : NULL;
			args[i].library = from && from->library;
		}
		scope->args = args;
	}
	return push(pp, &m->body, scope, library, use);
}

/*
 * Parameters of the innermost macro only: its body was written with these in
 * view.
 */
static const struct argument *find_param(const struct pp *pp, const char *name)
{
	const struct scope *s = pp->top ? pp->top->scope : NULL;

	for (unsigned i = 0; s && i < s->macro->params.n; i++) {
		if (s->macro->params.v[i] == name)
			return &s->args[i];
	}
	return NULL;
}

/*
 * The library's files are read when a name is first used that they may define.
 */
static const struct macro *library_macro(struct macros *lib, const char *name)
{
	if (lib->miss && !map_has(lib->named, name))
		lib->miss(lib->miss_ctx, name);
	return map_get(lib->named, name);
}

/*
 * Expands *t when it is a macro's name: 1 expanded, 0 is none, -1 wrong.
 * Parameters first, then the file's own macros, then the library's. Text from a
 * library macro does not see the user's macros: it would mean something else in
 * each script.
 */
static int expand(struct pp *pp, const struct token *t)
{
	const char *name = t->span.text;
	const struct argument *arg = find_param(pp, name);
	const struct macro *m = NULL;
	bool library = false;

	if (arg)
		return push(pp, &arg->tokens, arg->scope, arg->library, t) ? 1
									   : -1;
	if (!pp->top || !pp->top->library)
		m = map_get(pp->named, name);
	if (!m && pp->library) {
		m = library_macro(pp->library, name);
		library = true;
	}
	if (!m)
		return 0;
	return invoke(pp, m, library, t) ? 1 : -1;
}

static void next_expanded(struct pp *pp, struct token *t)
{
	int done;

	/*
	 * Each turn takes one step: a definition is read over, a use is
	 * expanded.
	 */
	for (;;) {
		macro_raw(pp, t);
		if (t->span.kind != TOK_OPERATOR || t->span.text[0] != '@')
			return;
		if (t->id == T_AT_OTHER && !strcmp(t->span.text, "@define")) {
			if (pp->top)
				complain(pp->c, MACRO_NESTED, &t->span);
			if (pp->top || !define(pp)) {
				make_junk(t);
				return;
			}
			continue;
		}
		done = expand(pp, t);
		if (!done)
			return;
		if (done < 0) {
			make_junk(t);
			return;
		}
	}
}

void macro_next(struct pp *pp, struct token *t)
{
	next_expanded(pp, t);
	if (t->held)
		diags_say(pp->c->diag, t->held);
	t->held = NULL;
}

/* --- library ------------------------------------------------------------- */

struct macros *macros_new(struct compile *c)
{
	struct macros *m = arena_new_of(c->a, struct macros);

	m->c = c;
	m->named = map_new(c->a);
	return m;
}

void macros_on_miss(struct macros *m, void (*fn)(void *ctx, const char *name),
		    void *ctx)
{
	m->miss = fn;
	m->miss_ctx = ctx;
}

void macros_load(struct compile *c, struct macros *m, struct source *src)
{
	struct token t;
	struct pp pp;

	pp_init(&pp, c, m, src);
	pp.defines_library = true;
	/* The first token that is no part of a definition is a mistake. */
	pp_next(&pp, &t);
	if (t.id != T_EOF && !t.reported)
		complain(c, MACRO_FILE_TOKEN, &t.span, src->name);
}
