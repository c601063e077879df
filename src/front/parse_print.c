/* SPDX-License-Identifier: MIT */
/* The print family, whose names are reserved in expressions. */
#include "front/parser.h"

#include <string.h>

struct print_name {
	const char *name;
	enum print_kind kind;
	bool to_string;
};

static const struct print_name print_names[] = {
    {"print", PRINT_PRINT, false},       {"sprint", PRINT_PRINT, true},
    {"println", PRINT_PRINTLN, false},   {"sprintln", PRINT_PRINTLN, true},
    {"printd", PRINT_PRINTD, false},     {"sprintd", PRINT_PRINTD, true},
    {"printdln", PRINT_PRINTDLN, false}, {"sprintdln", PRINT_PRINTDLN, true},
    {"printf", PRINT_PRINTF, false},     {"sprintf", PRINT_PRINTF, true},
    {"print_char", PRINT_CHAR, false},
};

static const struct print_name *find_name(const char *name)
{
	size_t n = sizeof(print_names) / sizeof(print_names[0]);

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(print_names[i].name, name))
			return &print_names[i];
	}
	return NULL;
}

bool is_print_name(const char *name)
{
	return find_name(name) != NULL;
}

/* What has no value of its own: a histogram, or @quantiles. */
static bool is_bare(const struct node *n)
{
	return n->kind == N_HIST ||
	       (n->kind == N_STAT && n->u.stat.op == STAT_QUANTILES);
}

/* The first value may be a histogram by itself in print and println. */
static void first_value(struct parser *p, struct node *n)
{
	p->bare_ok =
	    n->u.print.kind == PRINT_PRINT || n->u.print.kind == PRINT_PRINTLN;
	vec_push(p->c->a, &n->u.print.args, parse_expr(p));
	p->bare_ok = false;
	if (is_bare(n->u.print.args.v[0]) && !at(p, T_RPAREN))
		fail(p, "')'");
}

static void more_values(struct parser *p, struct node *n)
{
	while (eat(p, T_COMMA))
		vec_push(p->c->a, &n->u.print.args, parse_expr(p));
}

/* The literal that printf and printd begin with. */
static void parse_leading(struct parser *p, struct node *n)
{
	const char *s = parse_string(p, "literal string");

	if (n->u.print.kind != PRINT_PRINTF) {
		n->u.print.delim = s;
		need(p, T_COMMA, "','");
		return;
	}
	n->u.print.format = s;
	/* The reference reports a bad format at the token behind it. */
	if (!parse_format(p->c, s, &peek(p)->span, &n->u.print.fmt))
		give_up(p);
}

struct node *parse_print(struct parser *p)
{
	struct token t = take(p);
	const struct print_name *name = find_name(t.span.text);
	struct node *n = new_node(p, N_PRINT, &t);

	n->u.print.kind = name->kind;
	n->u.print.to_string = name->to_string;
	need(p, T_LPAREN, "'('");
	switch (name->kind) {
	case PRINT_PRINTF:
		parse_leading(p, n);
		more_values(p, n);
		break;
	case PRINT_PRINTD:
	case PRINT_PRINTDLN:
		parse_leading(p, n);
		/*
		 * printd needs at least two: something to put the delimiter
		 * between.
		 */
		first_value(p, n);
		if (!at(p, T_COMMA))
			fail(p, "','");
		more_values(p, n);
		break;
	case PRINT_CHAR:
		first_value(p, n);
		break;
	/* print() of nothing is a mistake, println() is an empty line. */
	case PRINT_PRINT:
	case PRINT_PRINTLN:
		if (name->kind == PRINT_PRINTLN && at(p, T_RPAREN))
			break;
		first_value(p, n);
		more_values(p, n);
		break;
	}
	if (!at(p, T_RPAREN))
		fail(p, "one of ', )'");
	take(p);
	/* Counted after reading: the message says how many there are. */
	if (n->u.print.args.n > PRINT_ARGS_MAX)
		complain(p->c, PRINT_TOO_MANY, &t.span, n->u.print.args.n);
	return done(p, n);
}
