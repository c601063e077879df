/* SPDX-License-Identifier: MIT */
/* Literals, names, target expressions, @operators: what operators work on. */
#include "front/parser.h"

#include <string.h>

#include "front/foreign.h"

/* --- literals ------------------------------------------------------------ */

/* The value of a number token, or fails: it is none. */
static int64_t token_number(struct parser *p, const struct token *t)
{
	int64_t v = 0;

	if (!number_value(t->span.text, &v))
		fail_as(p, NUMBER_BAD, &t->span);
	return v;
}

/* -9223372036854775808 is the sign and a number that only fits unsigned. */
int64_t parse_number(struct parser *p, const char *what)
{
	bool minus = eat(p, T_MINUS);
	struct token t = need(p, T_NUMLIT, what);
	int64_t v = token_number(p, &t);

	return minus ? (int64_t) - (uint64_t)v : v;
}

/*
 * Adjacent literals are one string, as in C; macros and arguments make use of
 * it.
 */
const char *parse_string(struct parser *p, const char *what)
{
	struct token first = need(p, T_STRLIT, what);
	VEC(char) text = {0};

	if (!at(p, T_STRLIT))
		return first.span.text;
	for (const char *s = first.span.text; *s; s++)
		vec_push(p->c->a, &text, *s);
	while (at(p, T_STRLIT)) {
		for (const char *s = take(p).span.text; *s; s++)
			vec_push(p->c->a, &text, *s);
	}
	return str_intern(p->c->str, text.n ? text.v : "", text.n);
}

struct literal parse_literal(struct parser *p)
{
	struct literal l = {0};

	if (at(p, T_STRLIT)) {
		l.type = TY_STRING;
		l.str = parse_string(p, "literal string or number");
	} else {
		l.type = TY_LONG;
		l.num = parse_number(p, "literal string or number");
	}
	return l;
}

/* --- keys and arguments -------------------------------------------------- */

void parse_keys(struct parser *p, node_list *ret)
{
	do {
		struct token t = *peek(p);

		if (eat(p, T_STAR))
			vec_push(p->c->a, ret,
				 done(p, new_node(p, N_WILD, &t)));
		else
			vec_push(p->c->a, ret, parse_expr(p));
	} while (eat(p, T_COMMA));
	need(p, T_RBRACKET, "',' or ']'");
}

/* f( was taken. */
static void parse_args(struct parser *p, node_list *ret)
{
	if (eat(p, T_RPAREN))
		return;
	do
		vec_push(p->c->a, ret, parse_expr(p));
	while (eat(p, T_COMMA));
	need(p, T_RPAREN, "one of ') ,'");
}

/* --- target expressions -------------------------------------------------- */

/*
 * Takes a pretty-print suffix off a name: "$x$", "mm$$". Fills *part and
 * returns the rest; the name itself when it has none.
 */
static const char *pretty_suffix(struct parser *p, const char *name,
				 struct target_part *part)
{
	size_t len = strlen(name), n = 0, lead = strspn(name, "$");

	while (n < 2 && len - n > lead && name[len - n - 1] == '$')
		n++;
	if (!n)
		return name;
	part->kind = n == 2 ? TP_PRETTY_DEEP : TP_PRETTY;
	return str_intern(p->c->str, name, len - n);
}

static bool is_pretty(const struct target_part *part)
{
	return part->kind == TP_PRETTY || part->kind == TP_PRETTY_DEEP;
}

/*
 * "$" or "$$" by itself: the suffix behind [i]. It follows the bracket without
 * a blank.
 */
static bool pretty_mark(struct parser *p, const struct token *t,
			struct target_part *part)
{
	if (t->id != T_IDENT ||
	    (strcmp(t->span.text, "$") && strcmp(t->span.text, "$$")))
		return false;
	part->kind = t->span.text[1] ? TP_PRETTY_DEEP : TP_PRETTY;
	part->span = t->span;
	return true;
}

/*
 * ->member: pushes one part, or two when it carries a suffix.
 * Keywords are fine as names of members: the kernel has a `next` of its own.
 */
static void parse_member(struct parser *p, struct node *n)
{
	struct target_part member = {.kind = TP_MEMBER}, pretty = {0};
	struct token t;

	take(p);
	if (!at(p, T_IDENT) && peek(p)->span.kind != TOK_KEYWORD)
		fail(p, "identifier or keyword");
	t = take(p);
	if (pretty_mark(p, &t, &member)) {
		vec_push(p->c->a, &n->u.target.parts, member);
		return;
	}
	member.span = pretty.span = t.span;
	member.member = pretty_suffix(p, t.span.text, &pretty);
	vec_push(p->c->a, &n->u.target.parts, member);
	if (is_pretty(&pretty))
		vec_push(p->c->a, &n->u.target.parts, pretty);
}

/*
 * ->m and [i] as often as they come, behind a target or a value.
 * Behind a pretty-print mark nothing more can follow.
 */
static struct node *parse_tails(struct parser *p, struct node *n)
{
	struct target_part part;

	for (;;) {
		if ((at(p, T_ARROW) || at(p, T_LBRACKET)) &&
		    n->u.target.parts.n &&
		    is_pretty(&vec_last(&n->u.target.parts)))
			fail_as(p, PRETTY_TAIL, &peek(p)->span);
		memset(&part, 0, sizeof(part));
		if (at(p, T_ARROW)) {
			parse_member(p, n);
		} else if (at(p, T_LBRACKET)) {
			part.kind = TP_INDEX;
			part.span = take(p).span;
			part.index = parse_expr(p);
			need(p, T_RBRACKET, "']'");
			vec_push(p->c->a, &n->u.target.parts, part);
		} else if (peek(p)->glued &&
			   !(n->u.target.parts.n &&
			     is_pretty(&vec_last(&n->u.target.parts))) &&
			   pretty_mark(p, peek(p), &part)) {
			take(p);
			vec_push(p->c->a, &n->u.target.parts, part);
		} else {
			return done(p, n);
		}
	}
}

/*
 * value->m or value[i] where value is no target itself Before level 2.6 that
 * was no syntax.
 */
static struct node *parse_value_tails(struct parser *p, struct node *base)
{
	struct target_part pretty = {0};
	struct node *n;

	if ((!at(p, T_ARROW) && !at(p, T_LBRACKET) &&
	     !pretty_mark(p, peek(p), &pretty)) ||
	    !compat_at_least(p->c, "2.6"))
		return base;
	n = new_node(p, N_ARROW, peek(p));
	n->u.target.base = base;
	if (is_pretty(&pretty)) {
		/* all of what the value points to; a blank may stand before */
		vec_push(p->c->a, &n->u.target.parts, pretty);
		take(p);
	}
	return parse_tails(p, n);
}

/* $x, $$vars, @parameter-like words; the name keeps its $. */
static struct node *parse_target(struct parser *p)
{
	struct token t = take(p);
	struct node *n = new_node(p, N_TARGET, &t);
	struct target_part pretty = {0};

	n->u.target.name = pretty_suffix(p, t.span.text, &pretty);
	pretty.span = t.span;
	if (is_pretty(&pretty))
		vec_push(p->c->a, &n->u.target.parts, pretty);
	return parse_tails(p, n);
}

/* @cast(value, "type" [, "module"]), @var("name" [, "module"]) */
static struct node *parse_cast(struct parser *p)
{
	struct token t = take(p);
	struct node *n = new_node(p, N_TARGET, &t);

	/* The word itself stands as the name: "@cast", "@var". */
	n->u.target.name = t.span.text;
	need(p, T_LPAREN, "'('");
	if (t.id == T_AT_CAST) {
		n->u.target.base = parse_expr(p);
		need(p, T_COMMA, "','");
	}
	n->u.target.cast = parse_string(p, "string");
	if (eat(p, T_COMMA))
		n->u.target.module = parse_string(p, "string");
	need(p, T_RPAREN, "')'");
	return parse_tails(p, n);
}

/* --- @words -------------------------------------------------------------- */

bool stat_op_of(enum tok_id id, enum stat_op *ret)
{
	static const struct {
		enum tok_id id;
		enum stat_op op;
	} ops[] = {
	    {T_AT_COUNT, STAT_COUNT},   {T_AT_SUM, STAT_SUM},
	    {T_AT_MIN, STAT_MIN},       {T_AT_MAX, STAT_MAX},
	    {T_AT_AVG, STAT_AVG},       {T_AT_VARIANCE, STAT_VARIANCE},
	    {T_AT_STDDEV, STAT_STDDEV}, {T_AT_QUANTILE, STAT_QUANTILE},
	    {T_AT_MEDIAN, STAT_MEDIAN}, {T_AT_DISTINCT, STAT_DISTINCT},
	    {T_AT_MODE, STAT_MODE},     {T_AT_QUANTILES, STAT_QUANTILES},
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (ops[i].id == id) {
			*ret = ops[i].op;
			return true;
		}
	}
	return false;
}

/* p, or p of d: "99" or "999, 1000". An OPER_NONE node holds the two. */
struct node *parse_quantile(struct parser *p)
{
	struct node *part = parse_expr(p), *of;
	struct token comma = *peek(p);

	/* "99.9": two numbers and the operator that joins strings */
	if (part->kind == N_CONCAT && part->u.binary.a->kind == N_NUM &&
	    part->u.binary.b->kind == N_NUM)
		fail_as(p, QUANTILE_FRACTION, &part->span);
	if (!eat(p, T_COMMA))
		return part;
	of = new_node(p, N_BINARY, &comma);
	of->u.binary.op = OPER_NONE;
	of->u.binary.a = part;
	of->u.binary.b = parse_expr(p);
	return done(p, of);
}

/* bare_ok: this is the first value of a print, where @quantiles may stand. */
static struct node *parse_stat(struct parser *p, enum stat_op op, bool bare_ok)
{
	struct token t = take(p), literal;
	struct node *n = new_node(p, N_STAT, &t);

	n->u.stat.op = op;
	need(p, T_LPAREN, "'('");
	n->u.stat.a = parse_expr(p);
	/*
	 * The shift of the reference's incremental variance: read, and not
	 * needed.
	 */
	if (op == STAT_VARIANCE && at(p, T_COMMA)) {
		take(p);
		literal = *peek(p);
		n->u.stat.param = new_node(p, N_NUM, &literal);
		n->u.stat.param->u.num = parse_number(p, "number");
		done(p, n->u.stat.param);
		if (at(p, T_COMMA))
			fail_as(p, VARIANCE_PARAMS, &peek(p)->span);
	} else if (op == STAT_QUANTILE) {
		need(p, T_COMMA, "','");
		n->u.stat.param = parse_quantile(p);
	}
	need(p, T_RPAREN, "')'");
	if (op == STAT_QUANTILES && !(bare_ok && at(p, T_RPAREN)))
		fail_as(p, QUANTILES_ALONE, &n->span);
	return done(p, n);
}

bool at_hist(struct parser *p)
{
	return at(p, T_AT_HIST_LOG) || at(p, T_AT_HIST_LINEAR);
}

/* The parameters of a linear one are literals: they lay out the cell. */
struct node *parse_hist(struct parser *p)
{
	struct token t = take(p);
	struct node *n = new_node(p, N_HIST, &t);

	need(p, T_LPAREN, "'('");
	n->u.hist.kind = t.id == T_AT_HIST_LOG ? HIST_LOG : HIST_LINEAR;
	n->u.hist.a = parse_expr(p);
	if (n->u.hist.kind == HIST_LINEAR) {
		if (at(p, T_RPAREN))
			fail_help(p, "','",
				  "@hist_linear(x, LOW, HIGH, WIDTH)");
		need(p, T_COMMA, "','");
		n->u.hist.lo = parse_number(p, "number");
		need(p, T_COMMA, "','");
		n->u.hist.hi = parse_number(p, "number");
		need(p, T_COMMA, "','");
		n->u.hist.step = parse_number(p, "number");
	}
	need(p, T_RPAREN, "')'");
	return done(p, n);
}

/* A bucket, @hist_log(x)[3], or in print the histogram by itself. */
static struct node *parse_hist_value(struct parser *p, bool bare_ok)
{
	struct node *hist = parse_hist(p), *n;
	struct token t;

	if (!at(p, T_LBRACKET)) {
		if (bare_ok && (at(p, T_RPAREN) || at(p, T_COMMA)))
			return hist;
		fail_as(p, HIST_ALONE, &hist->span);
	}
	t = take(p);
	/* The node's place is the @word's, not the bracket's. */
	t.span = hist->span;
	n = new_node(p, N_HIST_AT, &t);
	n->u.hist_at.hist = hist;
	n->u.hist_at.index = parse_expr(p);
	need(p, T_RBRACKET, "']'");
	return done(p, n);
}

static struct node *string_node(struct parser *p, const char *what)
{
	struct token t = *peek(p);
	struct node *n = new_node(p, N_STR, &t);

	n->u.str = parse_string(p, what);
	return done(p, n);
}

/* @defined(e), @entry(e) */
static struct node *parse_wrap(struct parser *p, enum node_kind kind)
{
	struct token t = take(p);
	struct node *n = new_node(p, kind, &t);

	need(p, T_LPAREN, "'('");
	n->u.unary.a = parse_expr(p);
	need(p, T_RPAREN, "')'");
	return done(p, n);
}

/* A literal number: which register, how many bytes. */
static struct node *number_node(struct parser *p)
{
	struct token t = *peek(p);
	struct node *n = new_node(p, N_NUM, &t);

	n->u.num = parse_number(p, "number");
	return done(p, n);
}

/* These let a script read anything: only with -g, or in the library. */
static bool needs_guru(enum tok_id id)
{
	return id == T_AT_CONST || id == T_AT_KDEREF || id == T_AT_KREGISTER;
}

/* By word: a name, a value with names, a register, a size and an address. */
static void parse_word_args(struct parser *p, enum tok_id id, node_list *args)
{
	struct arena *a = p->c->a;

	switch (id) {
	case T_AT_PERF:
	case T_AT_CONST:
	case T_AT_ENUM:
		vec_push(a, args, string_node(p, "literal string"));
		if (id == T_AT_PERF && !*args->v[0]->u.str)
			fail(p, "non-empty string");
		break;
	case T_AT_ENUMNAME:
		vec_push(a, args, parse_expr(p));
		while (args->n < 3 && eat(p, T_COMMA))
			vec_push(a, args, string_node(p, "string"));
		break;
	case T_AT_KREGISTER:
	case T_AT_UREGISTER:
		vec_push(a, args, number_node(p));
		break;
	case T_AT_KDEREF:
	case T_AT_UDEREF:
		vec_push(a, args, number_node(p));
		need(p, T_COMMA, "','");
		vec_push(a, args, parse_expr(p));
		break;
	default: /* @probewrite */
		if (!at(p, T_IDENT))
			fail(p, "identifier");
		vec_push(a, args, parse_expr(p));
		break;
	}
}

/* The rest: their arguments differ, their shape does not. */
static struct node *parse_atword(struct parser *p)
{
	struct token t = take(p);
	struct node *n = new_node(p, N_ATWORD, &t);

	n->u.atword.word = t.span.text;
	if (needs_guru(t.id) && !(p->flags & (PARSE_LIBRARY | PARSE_GURU)))
		complain(p->c, WORD_GURU, &t.span, t.span.text);
	need(p, T_LPAREN, "'('");
	parse_word_args(p, t.id, &n->u.atword.args);
	need(p, T_RPAREN, "')'");
	return done(p, n);
}

/* --- primaries ----------------------------------------------------------- */

/* Call, element or variable, by what follows; print's names are reserved. */
static struct node *parse_name(struct parser *p)
{
	struct token t;
	struct node *n;

	if (is_print_name(peek(p)->span.text))
		return parse_print(p);
	t = take(p);
	if (eat(p, T_LPAREN)) {
		n = new_node(p, N_CALL, &t);
		n->u.call.name = t.span.text;
		parse_args(p, &n->u.call.args);
	} else if (eat(p, T_LBRACKET)) {
		n = new_node(p, N_INDEX, &t);
		n->u.index.name = t.span.text;
		parse_keys(p, &n->u.index.keys);
	} else {
		n = new_node(p, N_NAME, &t);
		n->u.name.name = t.span.text;
	}
	return parse_value_tails(p, done(p, n));
}

static void __attribute__((noreturn))
unknown_operator(struct parser *p, const struct token *t)
{
	const char *like = lex_atword_like(p->c, t->span.text);
	struct diag *d =
	    complain(p->c, UNKNOWN_OPERATOR, &t->span, t->span.text);

	if (like)
		diag_help(p->c->diag, d, "did you mean %s?", like);
	else if ((like = foreign_operator(p->c->a, &t->span)))
		diag_help(p->c->diag, d, "%s", like);
	give_up(p);
}

/* t is only valid until the next token is read. */
static struct node *parse_at(struct parser *p, bool bare_ok)
{
	const struct token *t = peek(p);
	struct token number;
	struct node *n;
	enum stat_op op;

	if (stat_op_of(t->id, &op))
		return parse_stat(p, op, bare_ok);
	switch (t->id) {
	case T_AT_OTHER:
		unknown_operator(p, t);
	case T_AT_HIST_LOG:
	case T_AT_HIST_LINEAR:
		return parse_hist_value(p, bare_ok);
	case T_AT_CAST:
	case T_AT_VAR:
		return parse_cast(p);
	case T_AT_MAXSTRINGLEN:
		number = take(p);
		n = new_node(p, N_NUM, &number);
		n->u.num = p->c->set.limit[LIMIT_MAXSTRINGLEN];
		return done(p, n);
	case T_AT_DEFINED:
		return parse_value_tails(p, parse_wrap(p, N_DEFINED));
	case T_AT_ENTRY:
		return parse_value_tails(p, parse_wrap(p, N_ENTRY));
	default:
		return parse_value_tails(p, parse_atword(p));
	}
}

/* bare_ok holds for this primary alone: a parenthesis ends it. */
static struct node *parse_primary(struct parser *p)
{
	const struct token *t = peek(p);
	bool bare_ok = p->bare_ok;
	struct token number;
	struct node *n;

	p->bare_ok = false;
	switch (t->id) {
	case T_NUMLIT:
		number = take(p);
		n = new_node(p, N_NUM, &number);
		n->u.num = token_number(p, &number);
		return done(p, n);
	case T_STRLIT:
		return string_node(p, "literal string or number");
	case T_IDENT:
		return t->span.text[0] == '$' ? parse_target(p) : parse_name(p);
	case T_LPAREN:
		take(p);
		n = parse_expr(p);
		need(p, T_RPAREN, "')'");
		return parse_value_tails(p, n);
	case T_EMBEDDED:
		return parse_embedded(p, true);
	default:
		if (t->span.kind == TOK_OPERATOR && t->span.text[0] == '@')
			return parse_at(p, bare_ok);
		fail(p, "literal string or number");
	}
}

/* One postfix operator at the most: x++ has no value that could be changed. */
struct node *parse_postfix(struct parser *p)
{
	struct node *a = parse_primary(p), *n;
	struct token t;

	if (!at(p, T_INC) && !at(p, T_DEC))
		return a;
	t = take(p);
	n = new_node(p, N_INCDEC, &t);
	n->u.incdec.op = t.id == T_INC ? OPER_INC : OPER_DEC;
	n->u.incdec.a = a;
	return done(p, n);
}
