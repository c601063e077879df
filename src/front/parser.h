/* SPDX-License-Identifier: MIT */
/*
 * What the parser's files share. A mistake is reported and then leaves, by
 * longjmp, to parse_file, which goes on at the next declaration: nothing here
 * owns anything but arena memory.
 */
#ifndef FRONT_PARSER_H
#define FRONT_PARSER_H

#include <setjmp.h>

#include "base/compile.h"
#include "front/parse.h"
#include "front/pp.h"

enum { LOOKAHEAD = 2 };

/* One per file; in the arena, so that it survives the longjmp. */
struct parser {
	struct compile *c;
	struct pp pp;
	struct file *file;
	unsigned flags; /* of parse_file() */
	unsigned depth; /* of nesting, in PARSE_DEPTH_MAX */
	bool in_function; /* `return` is right */
	bool bare_ok; /* the next primary may be a histogram alone */
	struct token ahead[LOOKAHEAD];
	unsigned nahead; /* tokens in ahead[] */
	struct map *globals; /* declared names, for duplicates */
	jmp_buf failed;
};

/* --- parser.c: tokens ---------------------------------------------------- */
/* The next token, without taking it. */
const struct token *peek(struct parser *p);
/* Takes the next token, whatever it is. */
struct token take(struct parser *p);
static inline bool at(struct parser *p, enum tok_id id)
{
	return peek(p)->id == id;
}
/* Takes the token if it is that one. */
bool eat(struct parser *p, enum tok_id id);
/* "expected WHAT", at the next token. */
void fail(struct parser *p, const char *what) __attribute__((noreturn));
/* With what to do about it; NULL: as fail(). */
void fail_help(struct parser *p, const char *what, const char *help)
    __attribute__((noreturn));
/* Leaves; the reason was reported. */
void give_up(struct parser *p) __attribute__((noreturn));
/* Takes this token or fails. */
struct token need(struct parser *p, enum tok_id id, const char *what);
/* A name that is declared; a keyword in its place is taken, and reported. */
struct token need_name(struct parser *p);
/* Reports something else than "expected", and leaves. */
#define fail_as(p, id, ...)                                                    \
	do {                                                                   \
		complain((p)->c, id, __VA_ARGS__);                             \
		give_up(p);                                                    \
	} while (0)

/* One level further in; leave() takes it back. */
void enter(struct parser *p);
void leave(struct parser *p);
/* A node at t's place; zeroed. */
struct node *new_node(struct parser *p, enum node_kind k,
		      const struct token *t);
/* To be called when a node has its children: checks the tree's height. */
struct node *done(struct parser *p, struct node *n);

/* --- parse_expr.c, parse_value.c ----------------------------------------- */
struct node *parse_expr(struct parser *p);
/* Value with its tails and postfix operators. */
struct node *parse_postfix(struct parser *p);
struct node *parse_hist(struct parser *p);
struct node *parse_quantile(struct parser *p);
/* A global array or a histogram: what `in` looks into. */
struct node *parse_array(struct parser *p);
/* expr or *, by commas, up to and with the bracket. */
void parse_keys(struct parser *p, node_list *ret);
/* An adjacent run of string literals. what: the message without one. */
const char *parse_string(struct parser *p, const char *what);
/* [-] NUMBER */
int64_t parse_number(struct parser *p, const char *what);
/* STRING or [-] NUMBER */
struct literal parse_literal(struct parser *p);
bool at_hist(struct parser *p);
/* The extractor an @word names; false: it is none. */
bool stat_op_of(enum tok_id id, enum stat_op *ret);

/* --- parse_print.c ------------------------------------------------------- */
/* At the word; is_print_name() says that it is one. */
struct node *parse_print(struct parser *p);
bool is_print_name(const char *name);

/* --- parse_stmt.c -------------------------------------------------------- */
/* With its braces. */
struct node *parse_block(struct parser *p);

/* --- parse_point.c ------------------------------------------------------- */
/* Up to what is no comma; adds to *ret. */
void parse_points(struct parser *p, point_list *ret);

/* --- parse_decl.c -------------------------------------------------------- */
void parse_declaration(struct parser *p);
/* %{ }, in a place that may hold it; reports when the user may not. */
struct node *parse_embedded(struct parser *p, bool expression);

#endif
