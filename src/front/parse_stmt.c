/* SPDX-License-Identifier: MIT */
/*
 * Statements. Semicolons separate where the writer wants them to: simple
 * statements take one along, and so does a list of statements behind a
 * compound one, so that the printed tree reads back as itself.
 */
#include "front/parser.h"

static struct node *parse_stmt(struct parser *p);

/* Ends with its own brace or statement, not with a semicolon. */
static bool is_compound(enum node_kind k)
{
	return k == N_BLOCK || k == N_IF || k == N_FOR || k == N_FOREACH ||
	       k == N_TRY || k == N_EMPTY;
}

/* What can only follow once all blocks are closed. */
static bool ends_block(enum tok_id id)
{
	return id == T_EOF || id == T_PROBE || id == T_FUNCTION ||
	       id == T_GLOBAL || id == T_PRIVATE;
}

/*
 * Up to its closing brace; a block that is not closed is reported with its
 * beginning.
 */
struct node *parse_block(struct parser *p)
{
	struct token open = need(p, T_LBRACE, "'{'");
	struct node *n = new_node(p, N_BLOCK, &open), *stmt;

	while (!eat(p, T_RBRACE)) {
		if (ends_block(peek(p)->id) && !peek(p)->reported) {
			diag_note(p->c->diag,
				  complain(p->c, EXPECTED, &peek(p)->span,
					   "statement"),
				  &open.span, "this '{' is not closed");
			give_up(p);
		}
		stmt = parse_stmt(p);
		vec_push(p->c->a, &n->u.block.stmts, stmt);
		if (is_compound(stmt->kind))
			eat(p, T_SEMI);
	}
	return done(p, n);
}

/* An else belongs to the nearest if. */
static struct node *parse_if(struct parser *p)
{
	struct token t = take(p);
	struct node *n = new_node(p, N_IF, &t);

	need(p, T_LPAREN, "'('");
	n->u.ternary.a = parse_expr(p);
	need(p, T_RPAREN, "')'");
	/* A statement, not only a block. */
	n->u.ternary.b = parse_stmt(p);
	if (eat(p, T_ELSE))
		n->u.ternary.c = parse_stmt(p);
	return done(p, n);
}

static struct node *parse_while(struct parser *p)
{
	struct token t = take(p);
	struct node *n = new_node(p, N_FOR, &t);

	n->u.loop.is_while = true;
	need(p, T_LPAREN, "'('");
	n->u.loop.cond = parse_expr(p);
	need(p, T_RPAREN, "')'");
	n->u.loop.body = parse_stmt(p);
	return done(p, n);
}

/* Each part may be missing; the semicolons may not. */
static struct node *parse_for(struct parser *p)
{
	struct token t = take(p);
	struct node *n = new_node(p, N_FOR, &t);

	need(p, T_LPAREN, "'('");
	if (!at(p, T_SEMI))
		n->u.loop.init = parse_expr(p);
	if (at(p, T_RPAREN) && n->u.loop.init &&
	    n->u.loop.init->kind == N_IN)
		fail_help(p, "';'", "the keys of an array are visited by "
				    "foreach (KEY in ARRAY)");
	need(p, T_SEMI, "';'");
	if (!at(p, T_SEMI))
		n->u.loop.cond = parse_expr(p);
	need(p, T_SEMI, "';'");
	if (!at(p, T_RPAREN))
		n->u.loop.step = parse_expr(p);
	need(p, T_RPAREN, "')'");
	n->u.loop.body = parse_stmt(p);
	return done(p, n);
}

/* --- foreach ------------------------------------------------------------- */

/*
 * + or - behind what the loop is to be sorted by. sort_dir 1 or -1, sort_key 0
 * for the value, else the key's number. false: no such mark.
 */
static bool parse_sort(struct parser *p, struct node *n, int key)
{
	int dir = at(p, T_PLUS) ? 1 : at(p, T_MINUS) ? -1 : 0;

	if (!dir)
		return false;
	if (n->u.foreach.sort_dir)
		fail_as(p, SORT_TWICE, &peek(p)->span);
	take(p);
	n->u.foreach.sort_dir = dir;
	n->u.foreach.sort_key = key;
	return true;
}

/* A bare name: loop variables and catch variables. */
static struct node *parse_variable(struct parser *p)
{
	struct token t = need(p, T_IDENT, "identifier");
	struct node *n = new_node(p, N_NAME, &t);

	n->u.name.name = t.span.text;
	return done(p, n);
}

static void parse_foreach_list(struct parser *p, struct node *n)
{
	need(p, T_LBRACKET, "'['");
	do {
		vec_push(p->c->a, &n->u.foreach.keys, parse_variable(p));
		parse_sort(p, n, (int)n->u.foreach.keys.n);
	} while (eat(p, T_COMMA));
	need(p, T_RBRACKET, "',' or ']'");
}

/*
 * [VAL [+|-] =] and the keys v = [a, b], [a, b], or a by itself; each may have
 * a sort mark behind it, one at most.
 */
static void parse_foreach_vars(struct parser *p, struct node *n)
{
	struct node *first;

	if (at(p, T_LBRACKET)) {
		parse_foreach_list(p, n);
		return;
	}
	/* The value, or the only key: an = behind it tells. */
	first = parse_variable(p);
	/* `v-=k` comes from the lexer as one operator. */
	if (at(p, T_SET_ADD) || at(p, T_SET_SUB)) {
		n->u.foreach.sort_dir = at(p, T_SET_ADD) ? 1 : -1;
		take(p);
	} else {
		parse_sort(p, n, 0);
		if (!eat(p, T_SET)) {
			vec_push(p->c->a, &n->u.foreach.keys, first);
			/*
			 * `foreach (k+ in a)`: the mark was the key's after
			 * all.
			 */
			if (n->u.foreach.sort_dir)
				n->u.foreach.sort_key = 1;
			return;
		}
	}
	n->u.foreach.value = first;
	if (at(p, T_LBRACKET)) {
		parse_foreach_list(p, n);
		return;
	}
	vec_push(p->c->a, &n->u.foreach.keys, parse_variable(p));
	parse_sort(p, n, 1);
}

/* @op, behind the array */
static void parse_foreach_op(struct parser *p, struct node *n)
{
	struct token t = *peek(p);

	if (t.span.kind != TOK_OPERATOR || t.span.text[0] != '@')
		return;
	/* @quantiles is text, not a number to sort by. */
	if (!stat_op_of(t.id, &n->u.foreach.sort_op) ||
	    n->u.foreach.sort_op == STAT_QUANTILES)
		fail(p, "statistical operation");
	take(p);
	n->u.foreach.sort_by_stat = true;
	if (n->u.foreach.sort_op == STAT_QUANTILE) {
		need(p, T_LPAREN, "'('");
		n->u.foreach.sort_param = parse_quantile(p);
		need(p, T_RPAREN, "')'");
	}
	if (!at(p, T_PLUS) && !at(p, T_MINUS))
		fail(p, "sort directive");
}

/* foreach (VARS in ARRAY[SLICE] @OP SORT limit N) STATEMENT. */
static struct node *parse_foreach(struct parser *p)
{
	struct token t = take(p);
	struct node *n = new_node(p, N_FOREACH, &t);

	need(p, T_LPAREN, "'('");
	parse_foreach_vars(p, n);
	need(p, T_IN, "'in'");
	n->u.foreach.array = parse_array(p);
	if (eat(p, T_LBRACKET))
		parse_keys(p, &n->u.foreach.slice);
	parse_foreach_op(p, n);
	parse_sort(p, n, 0);
	if (eat(p, T_LIMIT))
		n->u.foreach.limit = parse_expr(p);
	need(p, T_RPAREN, "')'");
	n->u.foreach.body = parse_stmt(p);
	return done(p, n);
}

/* --- the rest ------------------------------------------------------------ */

/* Both blocks are needed; the variable of catch is optional. */
static struct node *parse_try(struct parser *p)
{
	struct token t = take(p);
	struct node *n = new_node(p, N_TRY, &t);

	n->u.try.body = parse_block(p);
	need(p, T_CATCH, "'catch'");
	if (eat(p, T_LPAREN)) {
		n->u.try.name = parse_variable(p);
		need(p, T_RPAREN, "')'");
	}
	n->u.try.catcher = parse_block(p);
	return done(p, n);
}

static struct node *parse_return(struct parser *p)
{
	struct token t = take(p);
	struct node *n = new_node(p, N_RETURN, &t);

	/* Reported, but read: what follows may be fine. */
	if (!p->in_function)
		complain(p->c, RETURN_OUTSIDE, &t.span);
	if (!at(p, T_SEMI) && !at(p, T_RBRACE))
		n->u.unary.a = parse_expr(p);
	return done(p, n);
}

static struct node *parse_plain(struct parser *p, enum node_kind kind)
{
	struct token t = take(p);

	return done(p, new_node(p, kind, &t));
}

/* One word decides; everything else is an expression. */
static struct node *parse_simple(struct parser *p)
{
	struct token t = *peek(p);
	struct node *n;

	switch (t.id) {
	case T_RETURN:
		return parse_return(p);
	case T_DELETE:
		take(p);
		n = new_node(p, N_DELETE, &t);
		n->u.unary.a = parse_expr(p);
		return done(p, n);
	case T_BREAK:
		return parse_plain(p, N_BREAK);
	case T_CONTINUE:
		return parse_plain(p, N_CONTINUE);
	case T_NEXT:
		return parse_plain(p, N_NEXT);
	case T_EMBEDDED:
		return parse_embedded(p, false);
	default:
		break;
	}
	if (t.span.kind == TOK_KEYWORD || t.span.kind == TOK_JUNK ||
	    t.id == T_EOF)
		fail(p, "statement");
	/*
	 * A message about the statement points at the expression's own token.
	 */
	n = new_node(p, N_EXPR, &t);
	n->u.unary.a = parse_expr(p);
	n->span = n->u.unary.a->span;
	return done(p, n);
}

/* Counted as a level: a chain of ifs without braces nests, too. */
static struct node *parse_stmt(struct parser *p)
{
	struct node *n;

	enter(p);
	switch (peek(p)->id) {
	case T_SEMI:
		n = parse_plain(p, N_EMPTY);
		break;
	case T_LBRACE:
		n = parse_block(p);
		break;
	case T_IF:
		n = parse_if(p);
		break;
	case T_WHILE:
		n = parse_while(p);
		break;
	case T_FOR:
		n = parse_for(p);
		break;
	case T_FOREACH:
		n = parse_foreach(p);
		break;
	case T_TRY:
		n = parse_try(p);
		break;
	default:
		n = parse_simple(p);
		eat(p, T_SEMI);
		break;
	}
	leave(p);
	return n;
}
