/* SPDX-License-Identifier: MIT */
/*
 * Operators. Binary ones by precedence climbing, so that a level of
 * parentheses costs few frames.
 */
#include "front/parser.h"

/* Binary levels, loosest first. */
enum level {
	LV_LOR = 1,
	LV_LAND,
	LV_OR,
	LV_XOR,
	LV_AND,
	LV_IN,
	LV_COMPARE,
	LV_SHIFT,
	LV_CONCAT,
	LV_ADD,
	LV_MUL,
};

struct binary_op {
	enum tok_id tok;
	enum level level;
	enum node_kind kind;
	enum oper op;
};

static const struct binary_op binary_ops[] = {
    {T_LOR, LV_LOR, N_LOGIC, OPER_LOR},
    {T_LAND, LV_LAND, N_LOGIC, OPER_LAND},
    {T_PIPE, LV_OR, N_BINARY, OPER_OR},
    {T_CARET, LV_XOR, N_BINARY, OPER_XOR},
    {T_AMP, LV_AND, N_BINARY, OPER_AND},
    {T_IN, LV_IN, N_IN, OPER_NONE},
    {T_LT, LV_COMPARE, N_BINARY, OPER_LT},
    {T_GT, LV_COMPARE, N_BINARY, OPER_GT},
    {T_LE, LV_COMPARE, N_BINARY, OPER_LE},
    {T_GE, LV_COMPARE, N_BINARY, OPER_GE},
    {T_EQ, LV_COMPARE, N_BINARY, OPER_EQ},
    {T_NE, LV_COMPARE, N_BINARY, OPER_NE},
    {T_MATCH, LV_COMPARE, N_MATCH, OPER_MATCH},
    {T_NOMATCH, LV_COMPARE, N_MATCH, OPER_NOMATCH},
    {T_SHL, LV_SHIFT, N_BINARY, OPER_SHL},
    {T_SHR, LV_SHIFT, N_BINARY, OPER_SHR},
    {T_USHR, LV_SHIFT, N_BINARY, OPER_USHR},
    {T_DOT, LV_CONCAT, N_CONCAT, OPER_CONCAT},
    {T_PLUS, LV_ADD, N_BINARY, OPER_ADD},
    {T_MINUS, LV_ADD, N_BINARY, OPER_SUB},
    {T_STAR, LV_MUL, N_BINARY, OPER_MUL},
    {T_SLASH, LV_MUL, N_BINARY, OPER_DIV},
    {T_PERCENT, LV_MUL, N_BINARY, OPER_MOD},
};

/* Those that assign. `=` binds to the right and has no level of its own. */
static const struct {
	enum tok_id tok;
	enum oper op;
} assign_ops[] = {
    {T_SET, OPER_SET},           {T_FEED, OPER_FEED},   {T_SET_ADD, OPER_ADD},
    {T_SET_SUB, OPER_SUB},       {T_SET_MUL, OPER_MUL}, {T_SET_DIV, OPER_DIV},
    {T_SET_MOD, OPER_MOD},       {T_SET_SHL, OPER_SHL}, {T_SET_SHR, OPER_SHR},
    {T_SET_AND, OPER_AND},       {T_SET_XOR, OPER_XOR}, {T_SET_OR, OPER_OR},
    {T_SET_CONCAT, OPER_CONCAT},
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct binary_op *binary_op(enum tok_id id)
{
	for (size_t i = 0; i < COUNT(binary_ops); i++) {
		if (binary_ops[i].tok == id)
			return &binary_ops[i];
	}
	return NULL;
}

static enum oper assign_op(enum tok_id id)
{
	for (size_t i = 0; i < COUNT(assign_ops); i++) {
		if (assign_ops[i].tok == id)
			return assign_ops[i].op;
	}
	return OPER_NONE;
}

static enum oper prefix_op(enum tok_id id)
{
	switch (id) {
	case T_PLUS:
		return OPER_PLUS;
	case T_MINUS:
		return OPER_MINUS;
	case T_BANG:
		return OPER_NOT;
	case T_TILDE:
		return OPER_BITNOT;
	case T_INC:
		return OPER_INC;
	case T_DEC:
		return OPER_DEC;
	default:
		return OPER_NONE;
	}
}

/* & is an address only where the level has it; before, it was a mistake. */
static struct node *parse_unary(struct parser *p)
{
	enum oper op = prefix_op(peek(p)->id);
	struct token t;
	struct node *n;

	if (op == OPER_NONE &&
	    (!at(p, T_AMP) || !compat_at_least(p->c, "2.6")))
		return parse_postfix(p);
	t = take(p);
	/* A histogram may only stand alone where it is the whole value. */
	p->bare_ok = false;
	enter(p);
	/* ++ and -- take a variable, so no further prefix may follow. */
	if (op == OPER_INC || op == OPER_DEC) {
		n = new_node(p, N_INCDEC, &t);
		n->u.incdec.op = op;
		n->u.incdec.prefix = true;
		n->u.incdec.a = parse_postfix(p);
	} else if (op == OPER_NONE) {
		n = new_node(p, N_ADDRESS, &t);
		n->u.unary.a = parse_postfix(p);
	} else {
		n = new_node(p, N_UNARY, &t);
		n->u.unary.op = op;
		n->u.unary.a = parse_unary(p);
	}
	leave(p);
	return done(p, n);
}

/* An identifier or a histogram: what `in` and foreach go through. */
struct node *parse_array(struct parser *p)
{
	struct token t;
	struct node *n;

	if (at_hist(p))
		return parse_hist(p);
	t = need(p, T_IDENT, "identifier or statistical operation");
	n = new_node(p, N_NAME, &t);
	n->u.name.name = t.span.text;
	return done(p, n);
}

/* [k, *, k] in array */
static struct node *parse_list_in(struct parser *p)
{
	struct token open = take(p);
	node_list keys = {0};
	struct node *n;

	p->bare_ok = false;
	parse_keys(p, &keys);
	/* A list of keys is no value: only `in` can follow. */
	if (!at(p, T_IN)) {
		if (keys.n == 1 || peek(p)->reported)
			fail(p, "'in'");
		fail_as(p, LIST_ALONE, &peek(p)->span);
	}
	open = take(p);
	n = new_node(p, N_IN, &open);
	n->u.in.keys = keys;
	n->u.in.array = parse_array(p);
	return done(p, n);
}

/* Operators of level min and tighter. */
static struct node *parse_binary(struct parser *p, int min);

/* `left op right`; takes the operator. */
static struct node *binary_node(struct parser *p, const struct binary_op *o,
				struct node *left)
{
	struct token t = take(p);
	struct node *n = new_node(p, o->kind, &t);

	if (o->kind == N_IN) {
		vec_push(p->c->a, &n->u.in.keys, left);
		n->u.in.array = parse_array(p);
	} else if (o->kind == N_MATCH) {
		n->u.match.op = o->op;
		n->u.match.a = left;
		/*
		 * The pattern is a literal: it is compiled when the script is.
		 */
		n->u.match.pattern_span = peek(p)->span;
		n->u.match.pattern = parse_string(p, "literal string");
	} else {
		n->u.binary.op = o->op;
		n->u.binary.a = left;
		n->u.binary.b = parse_binary(p, (int)o->level + 1);
	}
	return done(p, n);
}

static struct node *parse_binary(struct parser *p, int min)
{
	const struct binary_op *o;
	struct node *left;
	/*
	 * What came last binds looser than what may still follow. Behind an
	 * `in` only & and looser ones may follow.
	 */
	int max = LV_MUL;

	if (at(p, T_LBRACKET) && min <= LV_IN) {
		left = parse_list_in(p);
		max = LV_AND;
	} else {
		left = parse_unary(p);
	}
	while ((o = binary_op(peek(p)->id)) && (int)o->level >= min &&
	       (int)o->level <= max) {
		left = binary_node(p, o, left);
		max = o->level == LV_IN ? LV_AND : (int)o->level;
	}
	return left;
}

static struct node *parse_ternary(struct parser *p)
{
	struct node *cond = parse_binary(p, LV_LOR), *n;
	struct token t;

	if (!at(p, T_QUESTION))
		return cond;
	t = take(p);
	enter(p);
	n = new_node(p, N_TERNARY, &t);
	n->u.ternary.a = cond;
	/* Anything may stand between ? and :, as between parentheses. */
	n->u.ternary.b = parse_expr(p);
	need(p, T_COLON, "':'");
	/* Before 4.0 the last operand took an assignment along. */
	n->u.ternary.c =
	    compat_at_least(p->c, "4.0") ? parse_ternary(p) : parse_expr(p);
	leave(p);
	return done(p, n);
}

/*
 * Assignments are to the right: a = b = c is a = (b = c). Whether the left side
 * can be assigned to is asked later, with a better message.
 */
struct node *parse_expr(struct parser *p)
{
	struct node *left, *n;
	enum oper op;
	struct token t;

	enter(p);
	left = parse_ternary(p);
	op = assign_op(peek(p)->id);
	if (op != OPER_NONE) {
		t = take(p);
		n = new_node(p, N_ASSIGN, &t);
		n->u.binary.op = op;
		n->u.binary.a = left;
		n->u.binary.b = parse_expr(p);
		left = done(p, n);
	}
	leave(p);
	return left;
}
