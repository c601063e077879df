/* SPDX-License-Identifier: MIT */
/*
 * Source texts and places in them. It stands in base (not in front) because a
 * diagnostic shows the line it speaks of.
 */
#ifndef BASE_SOURCE_H
#define BASE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct arena;

/* The kinds of token, as the messages name them. */
enum tok_kind {
	TOK_NONE,
	TOK_IDENT,    /* identifier */
	TOK_KEYWORD,  /* keyword */
	TOK_STRING,   /* string */
	TOK_NUMBER,   /* number */
	TOK_OPERATOR, /* operator */
	TOK_EMBEDDED, /* embedded-code */
	TOK_JUNK,     /* junk */
	TOK_EOF,
};

/*
 * A place in a source: the token that a message speaks of. line and col count
 * from 1, col in bytes; line 0 means "no place". text is interned, may be NULL.
 * macro is the place of the macro call that this token was expanded from.
 */
struct span {
	const struct source *src;
	const char *text;
	const struct span *macro;
	uint32_t line, col;
	enum tok_kind kind;
};

struct source {
	const char *name; /* as messages print it: path, <input>, <input1> */
	const char *text;
	size_t len;
	unsigned id;	  /* order of creation */
	int is_library;	  /* a tapset file */
	unsigned nlines;
	const uint32_t *line_off;
};

/* text is not copied and must outlive the arena. */
struct source *source_new(struct arena *a, const char *name, const char *text,
			  size_t len, unsigned id);
/* The line without its newline; *ret_len in bytes. line from 1. */
const char *source_line(const struct source *s, uint32_t line,
			size_t *ret_len);
/* "identifier", "operator", ... */
const char *tok_kind_name(enum tok_kind k);

#endif
