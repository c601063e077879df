/* SPDX-License-Identifier: MIT */
/* Text to syntax tree. */
#ifndef FRONT_PARSE_H
#define FRONT_PARSE_H

#include <stdio.h>

#include "front/ast.h"

struct compile;
struct macros; /* library macros (*.stpm), shared by all files */

/* Lives in c's arena. */
struct macros *macros_new(struct compile *c);
/* Called with the "@name" of each word that no macro is known of so far: may
 * load the file that defines it. */
void macros_on_miss(struct macros *m, void (*fn)(void *ctx, const char *name),
		    void *ctx);
/* Adds the @defines of a library macro file; mistakes are in c->diag. */
void macros_load(struct compile *c, struct macros *m, struct source *src);

enum {
	/* Flags of parse_file(): who wrote the text, and what he may. */
	PARSE_LIBRARY = 1,
	PARSE_GURU = 2,
	/* Nesting in the text and height of the tree: passes may recurse. */
	PARSE_DEPTH_MAX = 1000,
	PARSE_POINTS_MAX = 10000, /* of one probe, from braces */
	PRINT_ARGS_MAX = 32, /* arguments of one print */
};
/*
 * Always returns a file, holding what could be understood; mistakes are in
 * c->diag. Never recurses deeper than PARSE_DEPTH_MAX.
 */
struct file *parse_file(struct compile *c, struct macros *m, struct source *src,
			unsigned flags);
/* Parses one probe point or expression out of a text: -l, alias prologues made
 * by sema, -G. NULL and a diagnostic when it does not parse whole. */
struct point *parse_point_text(struct compile *c, struct source *src);
struct node *parse_expr_text(struct compile *c, struct source *src);
/* A format string; reports at `at`. false when it is wrong. */
bool parse_format(struct compile *c, const char *fmt, const struct span *at,
		  struct fmt *ret);

/* --dump=tokens: kind, text and place of each token, after preprocessing. */
void tokens_dump(struct compile *c, struct macros *m, struct source *src,
		 FILE *f);
/* -p1: the reference's parse tree dump; re-parseable. */
void ast_print_file(const struct file *file, FILE *f);
void ast_print_node(const struct node *n, FILE *f);
void ast_print_point(const struct point *p, FILE *f);
/* --dump=ast: one node a line, indented, with place, type and width. */
void ast_dump_file(const struct file *file, FILE *f);
void ast_dump_node(const struct node *n, int indent, FILE *f);

#endif
